"""Usual command lines are read as typer reads them; the rest is left to typer."""

import subprocess
import sys
from dataclasses import fields
from typing import Literal, get_args, get_origin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkpi import Estimating
from ragkpi.cli.commands import COMMANDS, command_of
from ragkpi.cli.evaluation_options import evaluation, resampling
from ragkpi.cli.options import REQUIRED, values_of
from ragkpi.cli.typer_commands import values_by_typer
from ragkpi.errors import UsageError
from ragkpi.ranking.judged import Settings
from tests.cli.commandline import FIXTURES
from tests.tries import TRIES

# Good and bad for whatever an option takes.
TEXTS = ["1", "0", "7", "3.5", "-1", "-", "", "nan", "1e3", " 2", "1_0", "x", "qrels.txt", "0.2,1"]


def by_typer(name, words):
    """What typer reads; None if it finds something wrong, or prints the help."""
    try:
        return values_by_typer(name, command_of(name).options(), words)
    except UsageError:
        return None


@st.composite
def lines(draw):
    """A command with options of its own, right and wrong, in every spelling, and files."""
    name = draw(st.sampled_from(list(COMMANDS)))
    options = [option for option in command_of(name).options() if option.names]
    words = []
    for _ in range(draw(st.integers(0, 5))):
        if not options or draw(st.integers(0, 3)) == 0:
            words.append(draw(st.sampled_from(["a", "b.run", "-", "", "--", "--nosuch", "-h"])))
            continue
        option = draw(st.sampled_from(options))
        spelling = draw(st.sampled_from(option.names))
        text = draw(st.sampled_from([*TEXTS, *option.choices, *option.choices]))
        if option.type is bool:
            words += draw(st.sampled_from([[spelling], [spelling], [f"{spelling}={text}"]]))
        elif spelling[:2] == "--":
            beginning = spelling[: draw(st.integers(4, len(spelling) + 20))]
            words += draw(st.sampled_from([[beginning, text], [f"{beginning}={text}"], [spelling]]))
        else:
            flags = [one.names[0][1] for one in options if one.type is bool]
            joined = "".join(draw(st.lists(st.sampled_from(flags or [""]), max_size=2)))
            joined = f"-{joined}{spelling[1]}"
            words += draw(st.sampled_from([[joined, text], [f"{joined}{text}"], [spelling]]))
    words += draw(st.lists(st.sampled_from(["qrels", "run", "-"]), max_size=3))
    return name, words


@settings(max_examples=150 * TRIES)
@given(lines())
def test_what_is_read_is_what_typer_reads(line):
    name, words = line
    read = values_of(command_of(name).options(), words)
    if read is not None:
        by_other = by_typer(name, words)
        # As texts: NaN differs from itself, and 1 from True.
        assert repr(read) == repr({key: by_other[key] for key in read})


@st.composite
def usual_lines(draw):
    """What people type: whole names, values that fit, files behind."""
    name = draw(st.sampled_from(list(COMMANDS)))
    options = command_of(name).options()
    words = []
    for option in options:
        if not option.names or (option.default is not REQUIRED and draw(st.integers(0, 4))):
            continue
        words.append(draw(st.sampled_from(option.names)))
        if option.type is not bool:
            least = option.min
            fitting = "x" if option.type is str else str(5 if least is None else least)
            fitting = "0.5" if option.name == "confidence" else fitting
            fitting = "5k" if option.name == "corpus_size" else fitting
            words.append(draw(st.sampled_from(option.choices or (fitting,))))
    many = any(one.many and not one.names for one in options)
    single = sum(not one.many and not one.names for one in options)
    return name, [*words, *["file"] * (draw(st.integers(1, 4)) if many else single)]


@settings(max_examples=100 * TRIES)
@given(usual_lines())
def test_usual_lines_do_not_need_typer(line):
    name, words = line
    read = values_of(command_of(name).options(), words)
    assert read is not None
    by_other = by_typer(name, words)
    assert repr(read) == repr({key: by_other[key] for key in read})


@pytest.mark.parametrize("size", ["5k", "", "113.5M", "five"])
def test_a_variable_stands_for_an_option(monkeypatch, size):
    monkeypatch.setenv("RAGKPI_CORPUS_SIZE", size)
    for words in (["a", "b"], ["-N", "7", "a", "b"]):
        read = values_of(command_of("eval").options(), words)
        assert read == (None if read is None else by_typer("eval", words))
        assert (read is None) == (size == "five" and "-N" not in words)


RUNS = "qrels.txt runs/bm25.run runs/dense.run"


HEAVY = [b"'numpy'", b"'datetime'"]


@pytest.mark.parametrize(
    ("lines", "unused"),
    [
        (["--help", "--version"], [*HEAVY, b"'inspect'", b"'dataclasses'"]),
        (["eval -h", "compare --help"], HEAVY),  # which know output formats: dataclasses
        (
            [
                "eval -qcm map -M 5 --level=2 qrels.txt reranked.run",
                f"compare -m map --test sign {RUNS}",
                f"holes -m P.5 {RUNS}",
                f"depth -N 5k {RUNS}",
                "measures map",
                f"check {RUNS}",
                "convert reranked.run - --to csv",
            ],
            [],
        ),
    ],
    ids=["program", "command", "answer"],
)
def test_typer_is_not_imported(lines, unused):
    code = (
        "import sys; from ragkpi.cli.program import main\n"
        "for line in sys.argv[1:]: print(main(line.split()), line)\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *lines], cwd=FIXTURES, capture_output=True, check=True
    )
    assert all(f"0 {line}\n".encode() in done.stdout for line in lines)
    for module in (b"'typer'", b"'click'", b"'pydantic'", *unused):
        assert module not in done.stderr


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("eval -l x a b", "-l x: expected a whole number"),
        ("eval --level -1 a b", "-l -1: too small; expected 0 or more"),
        ("eval --digits=18 a b", "--digits 18: out of range; expected 0 to 17"),
        ("eval --ci --confidence much a b", "--confidence much: expected a number"),
        ("eval -T msmarco a b", "-T msmarco: no such choice; expected trec_results"),
        ("eval --fail a b", "option --fail is ambiguous: --fail-under, --fail-under-baseline"),
        ("eval -M", "Option '-M' requires an argument; 'ragkpi eval --help' shows what there is"),
        ("log", "Missing argument 'FILE'; 'ragkpi log --help' shows what there is"),
        (
            "calibrate a",
            "Missing option '--quality'; 'ragkpi calibrate --help' shows what there is",
        ),
        ("schema -z", "No such option: -z; 'ragkpi schema --help' shows what there is"),
        ("--nosuch", "No such option: --nosuch; 'ragkpi --help' shows what there is"),
    ],
)
def test_every_typer_says_the_same(ragkpi, line, message):
    """The oldest that pyproject.toml allows and the newest: CI runs this file with both."""
    outcome = ragkpi(*line.split())
    assert (outcome.status, outcome.out) == (1, b"")
    assert outcome.err.decode() == f"ragkpi: {message}\n"


def test_typer_reads_what_is_unusual(ragkpi):
    usual = ragkpi("eval", "-m", "map", "-l", "2", "qrels.txt", "reranked.run", folder=FIXTURES)
    assert usual.status == 0
    for words in (["--meas", "map", "--level_for=2"], ["-l2", "-mmap", "--"]):
        assert ragkpi("eval", *words, "qrels.txt", "reranked.run", folder=FIXTURES) == usual


OPTIONS = [*evaluation.options(), *resampling.options()]
DEFAULTS = {one.name: one.default for one in fields(Settings)}
# The first is a parameter of the functions, the other has one choice, which sets nothing.
NO_ARGUMENTS = ("measures", "results_format")


@pytest.mark.parametrize("one", OPTIONS, ids=[one.name for one in OPTIONS])
def test_an_option_sets_the_argument_of_its_name(one):
    for text in one.arguments or [one.name]:
        argument, _, fixed = text.partition("=")
        if argument in NO_ARGUMENTS:
            continue
        kind = Estimating.__annotations__[argument]
        if get_origin(kind) is Literal:
            choices = {fixed.strip('"')} if fixed else {*one.choices}
            assert choices <= {*get_args(kind)}
        if not one.arguments and argument in DEFAULTS and one.default is not None:
            assert one.default in (DEFAULTS[argument], getattr(DEFAULTS[argument], "name", None))


def test_options_without_effect_set_nothing():
    assert evaluation.call({}) == {"names": "file"}
    assert evaluation.call({"ties": "id", "relevance_level": 1}) == {"names": "file"}
    set_ = evaluation.call({"ties": "expected", "complete": True, "pool": "p", "pool_union": True})
    pool = {"pool": "p", "pool_union": "union"}
    assert set_ == {"names": "file", "ties": "expected", "missing": "zero", **pool}
    assert evaluation.call({"strict": True, "complete": True})["missing"] == "error"
