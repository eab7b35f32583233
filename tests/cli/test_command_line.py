"""Command lines are read as getopt_long reads them, and each mistake is said in one line."""

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
from ragkpi.ranking.judged import Settings
from tests.cli.commandline import FIXTURES
from tests.tries import TRIES


def text_for(option, draw):
    """A text that fits an option, and the value that it stands for."""
    if option.choices:
        text = draw(st.sampled_from(option.choices))
        return text, text
    if option.type is str and option.parse is None:
        text = draw(st.sampled_from(["x", "-", "a=b", "-1", "", " 2", "0.2,1"]))
        return text, text
    if option.parse is not None:
        return "5k", 5000 if option.type is int else "5k"
    least = max(1, option.min or 0)
    return f"{least}", least


@st.composite
def lines(draw):
    """A command, its options in any spelling and order among files, and what they mean."""
    name = draw(st.sampled_from(list(COMMANDS)))
    options = command_of(name).options()
    spellings = [spelling for one in options for spelling in one.names]
    values, groups = {}, []
    named = [one for one in options if one.names]
    chosen = [one for one in named if one.default is REQUIRED]
    if named:  # some of them twice
        chosen += draw(st.lists(st.sampled_from(named), max_size=6))
    for option in chosen:
        spelling = draw(st.sampled_from(option.names))
        if spelling[:2] == "--":
            cut = spelling[: draw(st.integers(3, len(spelling)))]
            if [one for one in spellings if one.startswith(cut)] == [spelling]:
                spelling = cut
        if option.type is bool:
            values[option.name] = True
            groups.append([spelling])
            continue
        text, value = text_for(option, draw)
        between = "=" if spelling[:2] == "--" else ""
        joined = draw(st.booleans()) and (text or between)
        groups.append([f"{spelling}{between}{text}"] if joined else [spelling, text])
        values[option.name] = [*values.get(option.name, []), value] if option.many else value
    places = [one for one in options if not one.names]
    files = []
    for number in range(3 if any(one.many for one in places) else len(places)):
        # Before or behind the files that stand there, with options in between.
        groups.insert(draw(st.integers(0, len(groups))), file := [f"file{number}"])
        files.append(file)
    files = [group[0] for group in groups if group in files]
    for one in places:
        values[one.name] = files if one.many else files.pop(0)
    return name, [word for group in groups for word in group], values


@settings(max_examples=150 * TRIES)
@given(lines())
def test_a_line_is_read_as_it_was_made(line):
    name, words, values = line
    options = command_of(name).options()
    defaults = {one.name: one.default for one in options if one.default is not REQUIRED}
    assert values_of(options, words) == {**defaults, **values}


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["-qcm", "map"], {"per_query": True, "complete": True, "measures": ["map"]}),
        (["-qcmmap"], {"per_query": True, "complete": True, "measures": ["map"]}),
        (["-D0.q1", "-M5"], {"debug": "0.q1", "max_retrieved": 5}),
        (["a", "-q", "b", "--", "-c"], {"per_query": True, "files": ["a", "b", "-c"]}),
        (["-m", "P", "-m", "-q"], {"measures": ["P", "-q"]}),
        # Of several names that begin so, trec_eval's.
        (["--meas", "map"], {"measures": ["map"]}),
        (["--lev", "2"], {"relevance_level": 2}),
        (["--comp"], {"complete": True}),
        (["--no"], {"no_summary": True}),
    ],
    ids=" ".join,
)
def test_letters_may_be_joined_and_names_abbreviated(words, values):
    read = values_of(command_of("eval").options(), words)
    assert {name: read[name] for name in values} == values


HEAVY = [b"'numpy'", b"'datetime'"]


@pytest.mark.parametrize(
    ("lines", "unused"),
    [
        (["--help", "--version"], [*HEAVY, b"'inspect'", b"'dataclasses'"]),
        (["eval -h", "compare --help"], HEAVY),  # which know output formats: dataclasses
    ],
    ids=["program", "command"],
)
def test_help_imports_little(lines, unused):
    code = (
        "import sys; from ragkpi.cli.program import main\n"
        "for line in sys.argv[1:]: print(main(line.split()), line)\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *lines], cwd=FIXTURES, capture_output=True, check=True
    )
    assert all(f"0 {line}\n".encode() in done.stdout for line in lines)
    for module in unused:
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
        ("eval -M", "-M: its value is missing; expected -M DEPTH"),
        ("eval --max-ret", "--max-retrieved: its value is missing; expected --max-retrieved DEPTH"),
        ("eval --strict=1 a b", "--strict: it takes no value; expected --strict"),
        ("eval --comon a b", "--comon: no such option; did you mean --common?"),
        ("eval -z a b", "-z: no such option; 'ragkpi eval --help' lists them"),
        ("log", "FILE is missing; expected ragkpi log [OPTIONS] FILE"),
        ("log a b", "b: one file too many; expected ragkpi log [OPTIONS] FILE"),
        (
            "calibrate a",
            "--quality FILE is missing; expected ragkpi calibrate [OPTIONS] QRELS RUN...",
        ),
        ("schema -z", "-z: no such option; 'ragkpi schema --help' lists them"),
        ("--nosuch", "--nosuch: no such option; 'ragkpi --help' lists them"),
    ],
)
def test_a_mistake_is_one_line(ragkpi, line, message):
    outcome = ragkpi(*line.split())
    assert (outcome.status, outcome.out) == (1, b"")
    assert outcome.err.decode() == f"ragkpi: {message}\n"


def test_help_is_shown_wherever_it_is_asked_for(ragkpi):
    page = ragkpi("compare", "--help")
    assert ragkpi("compare", "-m", "map", "a", "--help") == page
    assert ragkpi("help", "compare") == page


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
