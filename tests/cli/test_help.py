"""Finding one's way: tasks, examples that work, `help`, spellings of options."""

import ast
import os
import re
import shlex

import pytest

from ragkpi.cli.app import COMMANDS, TASKS, command_of
from ragkpi.cli.program import CommandLine
from tests import processes
from tests.cli.commandline import FIXTURES, trec_values
from tests.cli.test_command_line import options_of


@pytest.fixture
def folder(tmp_path, ragkpi):
    """The fixtures, and a record of an evaluation."""
    for path in (FIXTURES.parents[1] / "fixtures").iterdir():
        (tmp_path / path.name).symlink_to(path)
    files = ("-m", "official", "qrels.txt", "reranked.run")
    assert ragkpi("eval", *files, "--log", "record.jsonl", folder=tmp_path).status == 0
    assert ragkpi("eval", *files, "-o", "main.json", folder=tmp_path).status == 0
    return tmp_path


@pytest.mark.parametrize("line", [line for name in COMMANDS for line in command_of(name).examples])
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
    for line in command_of(name).examples:
        assert f"\n    {line}\n" in text
        assert len(line) <= 76, "a line of a terminal"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_common_options_are_a_short_page(ragkpi, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "80")
    lines = ragkpi(name, "-h").out.decode().splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith(f"Usage: ragkpi {name} ")
    assert [f"    {line}" for line in command_of(name).examples] == lines[-5:-2]
    assert lines[-1].endswith(f": ragkpi {name} --help")
    rows = [line for line in lines if line.startswith("  -")]
    assert len(rows) <= 18
    assert len(rows) <= len(ragkpi(name, "--help").out.decode().splitlines())


def test_an_option_that_a_message_names_exists():
    parameters = [of for name in COMMANDS for of in options_of(name)]
    options = {option for of in parameters for option in (*of.opts, *of.secondary_opts)}
    sources = (FIXTURES.parents[1] / "ragkpi").rglob("*.py")
    calls = [
        node.args[0].value
        for path in sources
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "spell"
        if isinstance(node.args[0], ast.Constant)
    ]
    assert len(calls) > 100
    assert {CommandLine().spell(name, "") for name in calls} <= options


def test_the_commands_are_one_screen(ragkpi, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = ragkpi("-h").out.decode().splitlines()
    assert len(lines) <= 45
    assert {f"  {name}" for name in COMMANDS} <= {
        line[: 2 + len(line.split()[0])] for line in lines if line.startswith("  ")
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_every_option(ragkpi, name):
    text = ragkpi(name, "--help").out.decode()
    for option in options_of(name):
        for spelling in option.opts if hasattr(option, "is_flag") else ():
            assert re.search(rf"^  (-\S, )*(--[\w-]+, )?{spelling}( |$|,)", text, re.MULTILINE)


def on_a_terminal(*words, **environment):
    """What a terminal of 80 columns shows, and what it would without colours."""
    environment = {"COLUMNS": "80", "TERM": "xterm-256color", **environment}
    master, slave = os.openpty()
    status, text, _ = processes.on_a_terminal(words, FIXTURES, (master, slave), **environment)
    assert status == 0
    return text.decode(), re.sub(r"\x1b\[[0-9;]*m", "", text.decode())


@pytest.mark.parametrize("name", ["", *COMMANDS])
@pytest.mark.parametrize("page", ["-h", "--help"])
def test_a_terminal_gets_panels_and_loses_no_word(name, page):
    """Rich takes brackets for its markup."""
    coloured, plain = on_a_terminal(*filter(None, (name, page)))
    assert "\x1b[" in coloured
    assert "╭─ Options ─" in plain
    for option in options_of(name) if name and page == "--help" else ():
        for word in (option.help or "").split():
            assert "[" not in word or word in plain


def test_panels_of_eval_are_its_groups():
    _, plain = on_a_terminal("eval", "--help")
    panels = re.findall(r"╭─ (.*?) ─", plain)
    assert panels[:2] == ["Arguments", "Options"]
    assert {"Reading files", "Evaluation", "Intervals", "Gates", "Output"} <= {*panels}
    of_trec_eval = plain[plain.index("╭─ Of trec_eval") :]
    assert {"-T", "-D", "-R", "-Z"} <= {*re.findall(r"-[A-Z]\b", of_trec_eval.partition("╰")[0])}


def test_no_color_and_a_pipe_have_no_panels(ragkpi):
    coloured, _ = on_a_terminal("eval", "-h", NO_COLOR="1")
    assert "\x1b[" not in coloured
    assert "╭" not in coloured
    assert b"\x1b[" not in ragkpi("eval", "--help").out


def test_commands_stand_under_their_tasks(ragkpi):
    assert ragkpi("--help").out == ragkpi("help").out
    _, plain = on_a_terminal("--help")
    places = [plain.index(f"╭─ {heading} ─") for heading in TASKS.values()]
    assert places == sorted(places)
    for name, entry in COMMANDS.items():
        assert plain.index(f"│ {name} ") > plain.index(f"╭─ {TASKS[entry.task]} ─")


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
    assert outcome.err.startswith(b"ragkpi: error: -m map.10: ")
