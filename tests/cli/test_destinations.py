"""Which format a result has where nobody names one: by what it goes to."""

import csv
import io
import os
import pty
import shlex
import struct
import subprocess
import sys
import termios
from fcntl import ioctl

import pytest

from ragkpi.cli.commands import COMMANDS
from ragkpi.cli.help_pages import page_of_command
from tests.cli.commandline import BM25, FIXTURES, FUSION
from tests.published_schema import valid_document

DEPTH = ("depth", "-N", "5000", "--at", "1,5,10", "qrels.txt", BM25)


def on_a_terminal(*arguments, columns=80, **environment):
    """Return what a terminal of so many columns gets."""
    ours, theirs = pty.openpty()
    done = subprocess.Popen(
        [sys.executable, "-m", "ragkpi", *arguments],
        cwd=FIXTURES,
        stdout=theirs,
        stderr=subprocess.PIPE,
        env={**os.environ, "COLUMNS": str(columns), "TERM": "xterm", **environment},
    )
    os.close(theirs)
    text = b""
    while True:
        try:
            piece = os.read(ours, 1 << 16)
        except OSError:  # Linux: nobody writes any more
            break
        if not piece:
            break
        text += piece
    os.close(ours)
    assert done.wait() == 0, done.stderr.read()
    return text.decode().replace("\r\n", "\n")


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
    "measures": ("map",),
    "log": ("absent",),
}


def test_every_command_with_an_output_is_among_them():
    of = [name for name in COMMANDS if "-o, --output" in page_of_command(name)]
    assert sorted(of) == sorted(WITH_OUTPUT)


@pytest.mark.parametrize("name", WITH_OUTPUT)
@pytest.mark.parametrize("suffix", ["xlsx", "parquet", "json.gz"])
def test_a_suffix_that_no_format_has_is_refused(ragkpi, tmp_path, name, suffix):
    target = tmp_path / f"o.{suffix}"
    found = ragkpi(name, *WITH_OUTPUT[name], "-o", target, folder=FIXTURES)
    assert (found.status, found.out) == (1, b"")
    (line,) = found.err.decode().splitlines()
    assert line.startswith(f"ragkpi: -o {target}: ")
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
    assert b"it is for readers" in found.err


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_a_terminal_gets_a_table_that_fits(columns):
    text = on_a_terminal("compare", "-c", "qrels.txt", BM25, FUSION, columns=columns, NO_COLOR="1")
    assert "fusion" in text
    assert max(map(len, text.splitlines())) <= columns
    wide = on_a_terminal("compare", "-c", "--wide", "qrels.txt", BM25, FUSION, columns=columns)
    assert "losses" in wide


def test_a_message_breaks_at_words_on_a_terminal_and_nowhere_else(ragkpi):
    line = ("eval", "-m", "map", "qrels.txt", "dense.run")
    note = ragkpi(*line, folder=FIXTURES).err.decode()
    assert note.count("\n") == 1
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
    shown = os.read(ours, 1 << 16).decode().replace("\r\n", "\n")
    os.close(ours)
    os.close(theirs)
    assert max(map(len, shown.splitlines())) <= 60
    assert shown.split() == note.split()


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
def test_a_warning_has_a_colour_on_a_terminal(monkeypatch, capfd, more, coloured):
    from ragkpi.cli import messages

    monkeypatch.delenv("NO_COLOR", raising=False)
    if more == ["NO_COLOR"]:
        monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(messages, "_warnings", "coloured")
    messages.colour_warnings("never" if more[:1] == ["--color"] else "auto")
    messages.tell("warning: this")
    messages.tell("note: that")
    said = capfd.readouterr().err.splitlines()
    assert said[0] == (
        "\x1b[33mragkpi: warning: this\x1b[0m" if coloured else "ragkpi: warning: this"
    )
    assert said[1] == "ragkpi: note: that"


def test_colour_may_be_asked_for(ragkpi):
    files = ("-m", "map", "-c", "--format", "table", "qrels.txt", BM25, FUSION)
    assert b"\x1b[" in ragkpi("eval", "--color", "always", *files, folder=FIXTURES).out
    assert b"\x1b[" not in ragkpi("eval", *files, folder=FIXTURES).out


# The record of a log is made first; JSON has lines of its own.
@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("log", "schema")])
def test_no_command_is_wider_than_its_terminal(name, tmp_path):
    words = shlex.split(COMMANDS[name].examples[0])[1:]
    if "-o" in words:
        words[words.index("-o") + 1] = str(tmp_path / "page.html")
    if name == "convert":
        words[-1] = str(tmp_path / words[-1])
    text = on_a_terminal(*words, NO_COLOR="1")
    assert max(map(len, text.splitlines()), default=0) <= 80
