"""Which format a result has where nobody names one: by what it goes to."""

import csv
import io
import json
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import termios
from contextlib import suppress
from fcntl import ioctl

import pytest

from ragkpi.cli.app import COMMANDS, command_of
from ragkpi.reports.renderers import REPORT_FORMATS
from tests import processes
from tests.cli.commandline import BM25, FIXTURES, FUSION
from tests.cli.test_command_line import options_of
from tests.published_schema import valid_document

DEPTH = ("depth", "-N", "5000", "--at", "1,5,10", "qrels.txt", BM25)


def on_a_terminal(*arguments, columns=80, folder=FIXTURES, status=0, **environment):
    """Return what a terminal of so many columns gets."""
    environment = {"COLUMNS": str(columns), "TERM": "xterm", **environment}
    done, text, err = processes.on_a_terminal(arguments, folder, pty.openpty(), **environment)
    assert done == status, err
    return text.decode("utf-8", "surrogateescape")


def test_a_pipe_gets_plain_rows_and_the_reader_the_conclusion(ragkpi):
    outcome = ragkpi(*DEPTH, folder=FIXTURES)
    rows = list(csv.DictReader(io.StringIO(outcome.out.decode()), delimiter="\t"))
    assert [row["K"] for row in rows] == ["1", "5", "10"]
    assert b"*" not in outcome.out
    sentences = valid_document(ragkpi(*DEPTH, "--format", "json", folder=FIXTURES).out)["answer"]
    assert outcome.err.decode().splitlines()[-1] == f"ragkpi: answer: {sentences[-1]}"


@pytest.mark.parametrize(
    ("name", "form"), [("o.json", "json"), ("o.csv", "csv"), ("o.tex", "latex"), ("o", "table")]
)
def test_a_file_gets_what_its_suffix_says(ragkpi, tmp_path, name, form):
    ragkpi(*DEPTH, "-o", tmp_path / name, folder=FIXTURES)
    assert (tmp_path / name).read_bytes() == ragkpi(*DEPTH, "--format", form, folder=FIXTURES).out


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("o.json", "json"),
        ("o.jsonl", "jsonl"),
        ("o.CSV", "csv"),
        ("o.tsv", "tsv"),
        ("o.md", "markdown"),
        ("o.tex", "latex"),
        ("o", "trec"),
        ("o.txt", "trec"),
        ("dir.json/o", "trec"),
    ],
)
def test_one_run_has_trec_lines_only_where_no_suffix_decides(ragkpi, tmp_path, name, form):
    (tmp_path / "dir.json").mkdir()
    asked = ("eval", "-q", "-m", "map", "-m", "P.5", "qrels.txt", BM25)
    written = ragkpi(*asked, "-o", tmp_path / name, folder=FIXTURES)
    assert (written.status, written.out) == (0, b"")
    expected = ragkpi(*asked, "--format", form, folder=FIXTURES).out
    assert (tmp_path / name).read_bytes() == expected
    assert expected


def test_a_format_that_is_named_goes_before_the_suffix(ragkpi, tmp_path):
    for name in ("o.json", "o.xlsx"):
        ragkpi(
            "eval",
            "--format",
            "trec",
            "-m",
            "map",
            "-o",
            tmp_path / name,
            "qrels.txt",
            BM25,
            folder=FIXTURES,
        )
        assert (tmp_path / name).read_bytes().startswith(b"map ")


OF_RUNS = ("eval", "compare", "holes", "check", "zscores", "report")
WITH_OUTPUT = {
    **dict.fromkeys(OF_RUNS, ("qrels.txt", BM25, FUSION)),
    "depth": ("-N", "58", "--relevant", "4"),
    "diagnose": ("qrels.txt", "reranked.run", "--pool", "first_stage.run"),
    "calibrate": ("--quality", "quality.tsv", "qrels.txt", "reranked.run"),
    "agree": ("qrels.txt", "qrels.llm.txt"),
    "correct": ("qrels.txt", "qrels.llm.txt", BM25),
    "power": ("--sd", "0.26"),
    "measures": ("map",),
    "inspect": ("qrels.txt",),
    "log": ("absent",),
    "verify": ("absent",),
}


def test_every_command_with_an_output_is_among_them():
    of = [name for name in COMMANDS if any("--output" in one.opts for one in options_of(name))]
    assert sorted(of) == sorted(WITH_OUTPUT)


@pytest.mark.parametrize("name", WITH_OUTPUT)
@pytest.mark.parametrize("suffix", ["xlsx", "parquet", "json.gz"])
def test_a_suffix_that_no_format_has_is_refused(ragkpi, tmp_path, name, suffix):
    target = tmp_path / f"o.{suffix}"
    found = ragkpi(name, *WITH_OUTPUT[name], "-o", target, folder=FIXTURES)
    assert (found.status, found.out) == (1, b"")
    (line,) = found.err.decode().splitlines()
    assert line.startswith(f"ragkpi: error: -o {target}: ")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words",
    [
        ("zscores", "-m", "map", "qrels.txt", BM25, FUSION),
        ("measures", "map"),
        ("compare", "-m", "map", "qrels.txt", BM25, FUSION),
    ],
    ids=lambda words: words[0],
)
def test_a_suffix_is_as_good_as_a_format(ragkpi, tmp_path, words):
    for suffix in ("json", "csv"):
        ragkpi(*words, "-o", tmp_path / f"o.{suffix}", folder=FIXTURES)
        expected = ragkpi(*words, "--format", suffix, folder=FIXTURES).out
        assert (tmp_path / f"o.{suffix}").read_bytes() == expected


def test_a_table_for_a_paper_is_not_written_as_json(ragkpi, tmp_path):
    words = (
        "compare",
        "--paper",
        "-m",
        "map",
        "-o",
        tmp_path / "o.json",
        "qrels.txt",
        BM25,
        FUSION,
    )
    found = ragkpi(*words, folder=FIXTURES)
    assert found.status == 1
    assert b"--paper" in found.err


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_a_terminal_gets_a_table_that_fits(columns):
    text = on_a_terminal("compare", "-c", "qrels.txt", BM25, FUSION, columns=columns, NO_COLOR="1")
    assert "fusion" in text
    assert max(map(len, text.splitlines())) <= columns
    wide = on_a_terminal("compare", "-c", "--wide", "qrels.txt", BM25, FUSION, columns=columns)
    assert "losses" in wide


def test_a_message_breaks_at_words_on_a_terminal_and_nowhere_else(ragkpi):
    line = ("eval", "-m", "map", "qrels.txt", "dense.run")
    notes = ragkpi(*line, folder=FIXTURES).err.decode()
    assert max(map(len, notes.splitlines())) > 60
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    subprocess.run(
        [sys.executable, "-m", "ragkpi", *line],
        cwd=FIXTURES,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env={**os.environ, "TERM": "dumb"},  # without a bar
        check=True,
    )
    os.close(theirs)
    octets = b""
    with suppress(OSError):  # at the end
        while piece := os.read(ours, 1 << 16):
            octets += piece
    os.close(ours)
    shown = octets.decode().replace("\r\n", "\n")
    assert max(map(len, shown.splitlines())) <= 60
    assert shown.split() == notes.split()


# Clears the screen, or the line, and turns the text round: as 7 bits, as one character of 8, as a
# byte that is no UTF-8, and as marks of direction.
STEERING = ["\x1b[31m", "\u009b2J", "\udc9b2J", "\u202e", "\u061c", "\u2067", "\x07", "\x7f"]
MOVES = {*map(chr, [*range(32), *range(127, 160), 0x61C, 0x200E, 0x200F]), *"\u2028\u2029"}
MOVES |= {*map(chr, [*range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0xDC80, 0xDD00)])}
MOVES -= {"\n", "\t"}


@pytest.fixture
def hostile(tmp_path):
    """Files whose ids would steer a terminal."""
    ids = [f"q{number}{text}" for number, text in enumerate(STEERING)]
    tag = "".join(STEERING)
    qrels = "".join(f"{id_} 0 d{id_} 1\n" for id_ in ids)
    runs = ["", ""]
    for id_ in ids:
        runs[0] += f"{id_} Q0 d{id_} 1 2.0 tag{tag}\n{id_} Q0 x{id_} 2 1.0 tag{tag}\n"
        runs[1] += f"{id_} Q0 y{id_} 1 2.0 other{tag}\n{id_} Q0 d{id_} 2 1.0 other{tag}\n"
    for name, text in [("qrels", qrels), ("run", runs[0]), ("other", runs[1])]:
        (tmp_path / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    return tmp_path


TO_TERMINALS = [
    "eval -q qrels run",
    "eval -q -m runid -m map --ci qrels run",
    "eval -q -o - qrels run",
    "eval -q -o /dev/stdout qrels run",
    *(f"eval -q --format {form} qrels run" for form in REPORT_FORMATS),
    *(f"compare -q --names runid --format {form} qrels run other" for form in REPORT_FORMATS),
    "eval --wide --names runid qrels run other",
    "compare -q --names runid qrels run other",
    "zscores qrels run other",
    "zscores --format csv qrels run other",
    "holes --assess - -o answer qrels run",
    "holes -q qrels run",
    "check --fix - -o findings qrels run",
    "agree -q qrels qrels",
    *(f"convert run - --to {form}" for form in ("trec", "json", "csv", "jsonl", "tsv")),
    *(f"convert --kind qrels qrels - --to {form}" for form in ("trec", "json", "csv")),
]


@pytest.mark.parametrize("line", TO_TERMINALS)
def test_nothing_that_a_file_holds_steers_a_terminal(line, hostile):
    shown = on_a_terminal(*line.split(), folder=hostile, columns=200, NO_COLOR="1")
    assert not MOVES & set(shown), sorted(map(ascii, MOVES & set(shown)))
    assert "u202e" in shown  # it is spelled out


def test_colours_are_of_ragkpi_alone(hostile):
    shown = on_a_terminal("eval", "-q", "--format", "table", "qrels", "run", folder=hostile)
    assert "\x1b[1m" in shown
    assert r"q0\x1b[31m" in shown
    without = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert not MOVES & set(without)


def test_json_on_a_terminal_is_json(hostile, ragkpi):
    line = ("eval", "-q", "--format", "json", "qrels", "run")
    shown = on_a_terminal(*line, folder=hostile)
    assert json.loads(shown) == json.loads(ragkpi(*line, folder=hostile).out)


def test_pipes_and_files_get_the_bytes_of_the_ids(hostile, ragkpi):
    ids = [f"q{n}{text}".encode("utf-8", "surrogateescape") for n, text in enumerate(STEERING)]
    lines = b"".join(b"P_1                   \t%b\t1.0000\n" % id_ for id_ in sorted(ids))
    for more in ((), ("-o", "values"), ("-o", "/dev/stdout")):
        found = ragkpi("eval", "-q", "-n", "-m", "P.1", *more, "qrels", "run", folder=hostile).out
        assert (found or (hostile / "values").read_bytes()) == lines
    table = ragkpi("eval", "-q", "-m", "P.1", "--format", "csv", "qrels", "run", folder=hostile)
    assert all(id_ in table.out for id_ in ids)
    converted = ragkpi("convert", "run", "-", "--to", "trec", folder=hostile)
    assert converted.out == (hostile / "run").read_bytes()
    listed = ragkpi("holes", "--assess", "-", "-o", "answer", "qrels", "run", folder=hostile)
    assert all(b"\tx%b\t" % id_ in listed.out for id_ in ids)
    means = ragkpi("zscores", "-m", "P.1", "qrels", "run", "other", folder=hostile)
    assert all(b"%b P_1 0.5" % id_ in means.out for id_ in ids)


def test_characters_are_whole_wherever_what_is_written_is_cut(hostile):
    """A converted run is copied to a terminal in pieces of a megabyte."""
    line = "q Q0 %s %d %d.0 tag\n"
    text = "".join(line % ("中" * 30 + str(n), n, 20_000 - n) for n in range(1, 20_000))
    (hostile / "long").write_text(text, encoding="utf-8")
    shown = on_a_terminal("convert", "long", "-", "--to", "trec", folder=hostile)
    assert shown.split() == text.split()


def test_colour():
    files = ("-m", "map", "-c", "qrels.txt", BM25, FUSION)
    assert "\x1b[" in on_a_terminal("eval", *files)
    assert "\x1b[" not in on_a_terminal("eval", *files, NO_COLOR="1")
    assert "\x1b[" not in on_a_terminal("eval", "--color", "never", *files)


def test_what_matters_has_a_colour(tmp_path):
    """Better is green, a finding yellow, and a warning on the terminal too."""
    better = on_a_terminal("compare", "-m", "ndcg_cut.10", "qrels.txt", BM25, FUSION)
    (row,) = [line for line in better.splitlines() if line.startswith("ndcg_cut_10   fusion")]
    assert "\x1b[32m+0.2793" in row
    verdicts = on_a_terminal("diagnose", "qrels.txt", "reranked.run", "--pool", "first_stage.run")
    assert "\x1b[33mretriever" in verdicts
    assert "\x1b[33mretriever" not in on_a_terminal(
        "diagnose", "qrels.txt", "reranked.run", "--pool", "first_stage.run", NO_COLOR="1"
    )


@pytest.mark.parametrize(
    ("more", "coloured"), [([], True), (["--color", "never"], False), (["NO_COLOR"], False)]
)
def test_what_kind_of_message_it_is_has_a_colour_on_a_terminal(monkeypatch, capfd, more, coloured):
    from ragkpi.cli import terminal as messages

    monkeypatch.delenv("NO_COLOR", raising=False)
    if more == ["NO_COLOR"]:
        monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(messages, "_messages", "coloured")
    messages.colour_messages("never" if more[:1] == ["--color"] else "auto")
    messages.tell("warning: this")
    messages.tell("error: other")
    messages.tell("note: that")
    said = capfd.readouterr().err.splitlines()
    assert said == (
        [
            "ragkpi: \x1b[1;33mwarning:\x1b[0m this",
            "ragkpi: \x1b[1;31merror:\x1b[0m other",
            "ragkpi: note: that",
        ]
        if coloured
        else ["ragkpi: warning: this", "ragkpi: error: other", "ragkpi: note: that"]
    )


def test_colour_may_be_asked_for(ragkpi):
    files = ("-m", "map", "-c", "--format", "table", "qrels.txt", BM25, FUSION)
    assert b"\x1b[" in ragkpi("eval", "--color", "always", *files, folder=FIXTURES).out
    assert b"\x1b[" not in ragkpi("eval", *files, folder=FIXTURES).out


# A record or a result is made first; JSON has lines of its own; the demo writes where it runs.
@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - {"log", "verify", "schema", "demo"}))
def test_no_command_is_wider_than_its_terminal(name, tmp_path):
    words = shlex.split(command_of(name).examples[0])[1:]
    if "-o" in words:
        words[words.index("-o") + 1] = str(tmp_path / "page.html")
    if name == "convert":
        words[-1] = str(tmp_path / words[-1])
    text = on_a_terminal(*words, NO_COLOR="1")
    assert max(map(len, text.splitlines()), default=0) <= 80


def test_a_narrow_table_shows_values_before_counts():
    head = on_a_terminal("eval", "qrels.txt", BM25, FUSION, NO_COLOR="1")
    (names,) = [line.split() for line in head.splitlines() if line.split()[:1] == ["run"]]
    assert names[:3] == ["run", "map", "gm_map"]
    asked = on_a_terminal("eval", "-m", "num_ret,P.5", "qrels.txt", BM25, FUSION, NO_COLOR="1")
    assert "num_ret" in asked


def test_numbers_of_levels_are_not_cut_where_the_screen_is_narrow():
    text = on_a_terminal("inspect", "qrels.txt", "first_stage.run", "quality.tsv", NO_COLOR="1")
    screen = " ".join(text.split())
    for count in ("level 0: 395", "level 1: 16", "level 2: 44", "level 3: 16", "large first"):
        assert count in screen


def test_quiet_hides_notes_but_no_warning_and_no_error(ragkpi):
    files = ("qrels.txt", "dense.run")
    loud = ragkpi("eval", *files, folder=FIXTURES)
    quiet = ragkpi("eval", "--quiet", *files, folder=FIXTURES)
    assert b"ragkpi: note: " in loud.err
    assert (quiet.status, quiet.out, quiet.err) == (loud.status, loud.out, b"")
    wrong = ragkpi("eval", "--quiet", "-m", "nonsense", *files, folder=FIXTURES)
    assert (wrong.status, wrong.err[:15]) == (1, b"ragkpi: error: ")
    assert b"ragkpi: note: " in ragkpi("eval", *files, folder=FIXTURES).err
