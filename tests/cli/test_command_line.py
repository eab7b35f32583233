"""Command lines: trec_eval's habits, one line for a mistake, and one declaration of an option."""

import inspect
import subprocess
import sys
from typing import Annotated, Literal, get_args, get_origin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer import Argument, Context, Option, Typer
from typer.main import get_command

from ragkpi.cli.app import _TREC_EVAL, COMMANDS, _spelled_out, command_of
from ragkpi.cli.signature import command
from ragkpi.library.options import (
    Comparing,
    Flags,
    Gating,
    Measures,
    PerQuery,
    arguments_of,
    names_of,
)
from tests.cli.commandline import FIXTURES
from tests.tries import TRIES


def options_of(name):
    """The options and arguments of a command, as typer made them."""
    app = Typer(add_completion=False)
    app.command(name)(command_of(name))
    return get_command(app).params


def is_flag(option):
    return getattr(option, "is_flag", False)


LEVEL = Option("-l", "--level")


def evaluate(measures: Measures = (), *, relevance_level: Annotated[int, LEVEL] = 1):
    """Stand for a public function."""


def reader():
    """Return a function that reads words as a command, and returns what it gets."""
    got = {}

    @command(evaluate, examples=())
    def shell(
        files: Annotated[list[str], Argument()],
        per_query: PerQuery = False,
        complete: Annotated[bool, Option("-c", "--complete")] = False,
        **arguments,
    ):
        """Take words."""
        got.update(files=files, per_query=per_query, complete=complete, **arguments)

    app = Typer()
    app.command("eval")(shell)

    def of(*words):
        got.clear()
        get_command(app).main(list(words), standalone_mode=False)
        return dict(got)

    return of


FLAGS = [["-q"], ["-c"], ["-qc"], ["--per-query"], ["--complete"]]
LEVELS = [["-l2"], ["-l", "2"], ["--level=2"], ["--level", "2"]]
MEASURES = [["-m", "map"], ["-mmap"], ["--measure", "map"], ["--measure=map"]]
JOINED = [["-qcm", "map"], ["-qcmmap"]]


@settings(max_examples=100 * TRIES)
@given(st.data())
def test_options_may_stand_anywhere_and_letters_may_be_joined(data):
    every = [*FLAGS, *LEVELS, *MEASURES, *JOINED]
    groups = data.draw(st.lists(st.sampled_from(every), max_size=5))
    words = list(groups)
    for number in range(3):
        words.insert(data.draw(st.integers(0, len(words))), [f"file{number}"])
    got = reader()(*(word for group in words for word in group))
    assert sorted(got["files"]) == ["file0", "file1", "file2"]
    asked = [group for group in groups if group in MEASURES or group in JOINED]
    assert got.get("measures", []) == ["map"] * len(asked)
    of_q = [["-q"], ["-qc"], ["--per-query"], *JOINED]
    of_c = [["-c"], ["-qc"], ["--complete"], *JOINED]
    assert got["per_query"] == any(group in of_q for group in groups)
    assert got["complete"] == any(group in of_c for group in groups)
    assert ("relevance_level" in got) == any(group in LEVELS for group in groups)


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["-qcm", "map", "a"], {"per_query": True, "complete": True, "measures": ["map"]}),
        (["a", "-q", "b", "--", "-c"], {"per_query": True, "files": ["a", "b", "-c"]}),
        (["-m", "P", "-m", "-q", "a"], {"measures": ["P", "-q"], "per_query": False}),
        (["-", "a"], {"files": ["-", "a"]}),
        (["-l1", "-l2", "a"], {"relevance_level": 2}),
    ],
    ids=" ".join,
)
def test_words_of_trec_eval(words, values):
    got = reader()(*words)
    assert {name: got[name] for name in values} == values


def test_what_the_line_does_not_give_is_left_to_python():
    assert reader()("a") == {"files": ["a"], "per_query": False, "complete": False}


@pytest.mark.parametrize(
    ("word", "whole"),
    [
        # Of several names that begin so, trec_eval's.
        ("--meas", "--measure"),
        ("--lev=2", "--level=2"),
        ("--level_for_rel=2", "--level=2"),
        ("--comp", "--complete"),
        ("--no", "--no-summary"),
        ("--Max", "--max-retrieved"),
        ("--Debug", "--Debug_level"),
        ("--per", "--per-query"),
        ("--nothing", "--nothing"),
        ("--", "--"),
        ("-q", "-q"),
        ("file", "file"),
    ],
)
def test_long_names_may_be_abbreviated(word, whole):
    assert _spelled_out(word, options_of("eval")) == whole


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_and_the_beginnings_that_tell_it_are_understood(name):
    options = options_of(name)
    names = [long for option in options for long in option.opts if long.startswith("--")]
    for long in names:
        assert _spelled_out(long, options) == long
        for end in range(3, len(long)):
            if any(name.startswith(long[:end]) for name in _TREC_EVAL):
                continue
            if [other for other in names if other.startswith(long[:end])] == [long]:
                assert _spelled_out(f"{long[:end]}=x", options) == f"{long}=x"


def test_help_of_the_program_imports_little():
    code = (
        "import sys; from ragkpi.cli.program import main\n"
        "for line in ['--help', '--version']: print(main(line.split()), line)\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)\n"
        "print([name for name in sys.modules if 'ragkpi.questions' in name], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert all(f"0 {line}\n".encode() in done.stdout for line in ("--help", "--version"))
    assert b"'scipy'" not in done.stderr
    assert b"ragkpi.questions" not in done.stderr


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("eval -l x a b", "-l: 'x' is not a valid whole number"),
        ("eval --level -1 a b", "-l: -1 is not in the range x>=0"),
        ("eval --digits=18 a b", "--digits: 18 is not in the range 0<=x<=17"),
        ("eval --ci --confidence much a b", "--confidence much: expected a share such as 0.95"),
        ("eval -T msmarco a b", "-T: 'msmarco' is not one of 'trec_results'"),
        ("eval --fail a b", "option --fail is ambiguous: --fail-under, --fail-under-baseline"),
        ("eval -M", "Option '-M' requires an argument"),
        ("eval --max-ret", "Option '--max-retrieved' requires an argument"),
        ("eval --strict=1 a b", "Option '--strict' does not take a value"),
        (
            "eval -c --strict a b",
            "-c with --strict: they contradict each other; expected one of them",
        ),
        ("eval --comon a b", "--comon: no such option; did you mean --common?"),
        ("eval --bm25 a b", "--bm25: no such option; 'ragkpi eval --help' lists them"),
        ("eval -z a b", "-z: no such option; 'ragkpi eval --help' lists them"),
        (
            "depth --format jso a b",
            "--format: 'jso' is not one of 'table', 'json', 'jsonl', 'csv', 'tsv', 'markdown', "
            "'latex', 'github', 'junit'",
        ),
        ("log", "Missing argument 'FILE'; expected ragkpi log [OPTIONS] {FILE}"),
        (
            "log a b",
            "Got unexpected extra argument(s) (b); expected ragkpi log [OPTIONS] {FILE}",
        ),
        (
            "calibrate a",
            "Missing option '--quality'; expected ragkpi calibrate [OPTIONS] {QRELS RUN...}",
        ),
        ("schema -z", "-z: no such option; 'ragkpi schema --help' lists them"),
        ("--nosuch", "--nosuch: no such option; 'ragkpi --help' lists them"),
        ("evl", "no command is named 'evl'; did you mean eval?"),
    ],
)
def test_a_mistake_is_one_line(ragkpi, line, message):
    outcome = ragkpi(*line.split())
    assert (outcome.status, outcome.out) == (1, b"")
    assert outcome.err.decode() == f"ragkpi: error: {message}\n"


@pytest.mark.parametrize("words", [("eval", "", ""), ("", ""), ("eval", "--", "-q", "x")])
def test_empty_words_and_files_that_begin_with_a_dash(ragkpi, words):
    outcome = ragkpi(*words)
    assert outcome.status in (1, 2)
    assert outcome.err.startswith(b"ragkpi: error: ")
    assert outcome.err.count(b"\n") == 1


def test_words_behind_two_dashes_are_files(ragkpi):
    outcome = ragkpi("eval", "-q", "--", "--lev", "--complete_rel", "x")
    assert outcome.status == 2
    assert outcome.err.startswith(b"ragkpi: error: --lev: cannot be read")


def test_ten_thousand_files(ragkpi):
    outcome = ragkpi("eval", "-m", "map", *(f"no{number}" for number in range(10_000)))
    assert (outcome.status, outcome.out) == (2, b"")


def test_help_is_shown_wherever_it_is_asked_for(ragkpi):
    page = ragkpi("compare", "--help")
    assert ragkpi("compare", "-m", "map", "a", "--help") == page
    assert ragkpi("help", "compare") == page


SHARED = {**arguments_of(Comparing), **arguments_of(Gating)}


@pytest.mark.parametrize("name", SHARED)
def test_the_shell_offers_what_python_takes(name):
    """An option has the type of its argument, and flags stand for values that it has."""
    kind, _, shell, option = SHARED[name]
    if option is None:
        return
    if isinstance(option, Flags):
        assert {*option} <= {*get_args(kind)}
    elif get_origin(shell) is Literal and kind is not str:
        of = next((one for one in (kind, *get_args(kind)) if get_origin(one) is Literal), None)
        assert {*get_args(shell)} <= {*get_args(of)}


def test_a_name_is_of_one_option():
    for name in COMMANDS:
        names = [spelling for option in options_of(name) for spelling in option.opts]
        assert len(names) == len({*names}), name


def test_a_signature_is_what_it_says():
    """An argument of a command is one of typer's, with a help text."""
    for name in COMMANDS:
        for parameter in inspect.signature(command_of(name)).parameters.values():
            if parameter.annotation is not Context:
                option = get_args(parameter.annotation)[1]
                assert option.help, (name, parameter)


def test_spellings_of_an_argument():
    assert names_of(SHARED["relevance_level"].option, "relevance_level") == ["-l", "--level"]
    assert names_of(SHARED["max_passage"].option, "max_passage") == ["--max-passage"]


def test_files_in_the_wrong_order_are_refused_with_the_line_to_paste(ragkpi):
    swapped = ragkpi("eval", "-m", "map", "reranked.run", "qrels.txt", folder=FIXTURES)
    assert (swapped.status, swapped.out) == (2, b"")
    assert swapped.err.decode().endswith("\n  ragkpi eval -m map qrels.txt reranked.run\n")
    files = ("runs/bm25.run", "runs/dense.run", "qrels.txt")
    swapped = ragkpi("compare", *files, folder=FIXTURES)
    assert swapped.err.decode().endswith(f"\n  ragkpi compare qrels.txt {' '.join(files[:2])}\n")
    without = ragkpi("eval", "reranked.run", "runs/bm25.run", folder=FIXTURES)
    assert without.err.count(b"\n") == 1


def test_typer_imports_no_pydantic():
    """Why pyproject.toml bounds it: 0.29 does, at 130 to 180 ms for every command."""
    code = "import sys, typer; typer.main.get_command; print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout == b"False\n"
