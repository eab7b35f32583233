"""Finding one's way: tasks, examples that work, `help`, spellings of options."""

import re
import shlex

import pytest

from ragkpi.cli.commands import COMMANDS, TASKS, command_of
from tests.cli.commandline import FIXTURES, trec_values


@pytest.fixture
def folder(tmp_path, ragkpi):
    """The fixtures, and a record of an evaluation."""
    for path in FIXTURES.iterdir():
        (tmp_path / path.name).symlink_to(path)
    files = ("-m", "official", "qrels.txt", "reranked.run")
    assert ragkpi("eval", *files, "--log", "record.jsonl", folder=tmp_path).status == 0
    assert ragkpi("eval", *files, "-o", "main.json", folder=tmp_path).status == 0
    return tmp_path


@pytest.mark.parametrize("line", [line for entry in COMMANDS.values() for line in entry.examples])
def test_examples_work(ragkpi, folder, line):
    words = shlex.split(re.split(" [>|] ", line)[0])
    outcome = ragkpi(*words[1:], folder=folder)
    assert outcome.status == 0, outcome
    if "-o" not in words and "convert" not in words:
        assert outcome.out


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_shows_its_examples(ragkpi, name):
    text = ragkpi("help", name).out.decode()
    assert text == ragkpi(name, "--help").out.decode()
    for line in COMMANDS[name].examples:
        assert f"\n  {line}\n" in text
        assert len(line) < 78, "a line of a terminal"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_usual_options_are_one_screen(ragkpi, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "80")
    lines = ragkpi(name, "-h").out.decode().splitlines()
    assert len(lines) <= 45
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith(f"Usage: ragkpi {name} ")
    assert [f"  {line}" for line in COMMANDS[name].examples] == lines[-5:-2]
    assert lines[-1].endswith(f": ragkpi {name} --help")
    rows = [line for line in lines if line.startswith("  -")]
    assert len(rows) <= 14


def test_the_commands_are_one_screen(ragkpi, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = ragkpi("-h").out.decode().splitlines()
    assert len(lines) <= 45
    assert {f"  {name}" for name in COMMANDS} <= {
        line[: 2 + len(line.split()[0])] for line in lines if line.startswith("  ")
    }
    assert lines[-1].endswith(": ragkpi --help")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_every_option(ragkpi, name):
    """Each under a heading, trec_eval's own under the last."""
    text = ragkpi(name, "--help").out.decode()
    for option in command_of(name).options():
        assert option.help, option
        if option.names:
            assert re.search(rf"^  (-\S, )?{option.names[0]}( |$|,)", text, re.MULTILINE), option
    if name in ("eval", "zscores"):
        last = text[text.index("\nOf trec_eval, for its scripts:\n") :]
        heads = re.findall(r"^  (-\w)", last, re.MULTILINE)
        assert {"-T", "-D", "-R"} <= set(heads)
        assert ("-Z" in heads) == (name == "eval")
        assert re.findall(r"^(\w.*):$", last, re.MULTILINE)[1:] == ["Examples"]


def test_commands_stand_under_their_tasks(ragkpi):
    text = ragkpi("--help").out.decode()
    assert text == ragkpi("help").out.decode()
    places = [text.index(f"\n{heading}:\n") for heading in TASKS.values()]
    assert places == sorted(places)
    for name, entry in COMMANDS.items():
        assert text.index(f"\n  {name} ") > text.index(f"\n{TASKS[entry.task]}:\n")


@pytest.mark.parametrize(
    ("short", "long"),
    [
        (["-c"], ["--complete"]),
        (["-c"], ["--complete_rel_info_wanted"]),
        (["-q"], ["--per-query"]),
        (["-n", "-q"], ["--no-summary", "--per-query"]),
        (["-l", "2"], ["--level", "2"]),
        (["-M", "3"], ["--max-retrieved", "3"]),
        (["-J"], ["--judged-only"]),
        (["-N", "5000", "-m", "bor.10"], ["--corpus-size", "5k", "--measure", "bor.10"]),
        (["-N", "113500000", "-m", "bor.10"], ["-N", "113.5M", "-m", "bor.10"]),
        (["-m", "map", "-m", "F.10,alpha=0.5"], ["-m", "map,F.10,alpha=0.5"]),
        (["-m", "P.5,10", "-m", "Rprec"], ["-m", "P.5,10,Rprec"]),
    ],
)
def test_spellings(ragkpi, short, long):
    files = ("qrels.txt", "runs/dense.run")
    of_short = ragkpi("eval", *short, *files, folder=FIXTURES)
    assert of_short.status == 0
    assert ragkpi("eval", *long, *files, folder=FIXTURES).out == of_short.out
    assert trec_values(of_short.out) or "-n" in short


@pytest.mark.parametrize("text", ["5kk", "k", "-1", "0.5", "1e30", "nan", "infinity", ""])
def test_no_number_of_documents(ragkpi, text):
    outcome = ragkpi("eval", f"-N{text}" if text else "--corpus-size=", "a", "b")
    assert (outcome.status, outcome.out) == (1, b"")
    assert b"expected a number of documents such as 5000, 5k or 113.5M" in outcome.err


def test_a_cutoff_where_there_is_none(ragkpi):
    outcome = ragkpi("eval", "-m", "map.10", "qrels.txt", "reranked.run", folder=FIXTURES)
    assert outcome.status == 1
    assert outcome.err.startswith(b"ragkpi: -m map.10: ")
