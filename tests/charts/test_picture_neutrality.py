"""Names in a picture are names, and the working directory has no say in how it looks."""

import pytest

pytest.importorskip("matplotlib")


DRAWS = """
from ragkpi.charts.chart import Axis, IntervalChart, IntervalRow
from ragkpi.charts.picture import figure_of
figure_of([IntervalChart("t", Axis("x"), [IntervalRow("run", 0.0, 0.5, 1.0)])])
"""


def draw(ragkpi, folder, names):
    (folder / "qrels").write_bytes(b"1 0 d1 1\n2 0 d2 1\n")
    for name in names:
        (folder / name).write_bytes(b"1 Q0 d1 1 1 me\n2 Q0 d1 1 2 me\n")
    arguments = ("depth", "-N", "100", "--plot", "out.svg", "qrels", *names)
    found = ragkpi(*arguments, folder=folder)
    assert found.status == 0
    return (folder / "out.svg").read_text(encoding="utf-8")


def test_control_characters_and_dollars(ragkpi, tmp_path):
    text = draw(ragkpi, tmp_path, ["a\x1b[2J", r"b$\frac$", "c<d>"])
    assert not any(ord(character) < 32 and character not in "\n\t" for character in text)
    assert r"a\x1b[2J" in text
    assert r"b$\frac$" in text
    assert "c&lt;d&gt;" in text


def test_a_file_of_settings_in_the_working_directory(tmp_path):
    import os
    import subprocess
    import sys

    (tmp_path / "matplotlibrc").write_bytes(b"junk: [\n\xff\xfe")
    done = subprocess.run(
        [sys.executable, "-c", DRAWS],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("more", [[], ["--all-pairs"], ["-q"], ["--paper"]])
def test_names_in_comparisons(ragkpi, tmp_path, more):
    names = ["_a\x1b[2J", r"b$\frac$", "c<d>"]
    (tmp_path / "qrels").write_bytes(b"1 0 d1 1\n2 0 d2 1\n")
    for name in names:
        (tmp_path / name).write_bytes(b"1 Q0 d1 1 1 me\n2 Q0 d1 1 2 me\n")
    arguments = ("compare", "-m", "map", *more, "--format", "table", "--plot", "out.svg")
    found = ragkpi(*arguments, "qrels", *names, folder=tmp_path)
    assert found.status == 0
    drawn = (tmp_path / "out.svg").read_bytes()
    assert b"\x1b" not in found.out + found.err + drawn
    assert rb"b$\frac$" in drawn
