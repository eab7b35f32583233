"""Usual command lines are read as typer reads them; the rest is left to typer."""

import subprocess
import sys

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkpi.cli.command_line import values_of
from ragkpi.cli.commands import COMMANDS, function_of
from ragkpi.cli.option_groups import REQUIRED, parameters_of
from ragkpi.cli.typer_commands import typer_command
from ragkpi.errors import UsageError
from tests.cli.commandline import FIXTURES

# Good and bad for whatever an option takes.
TEXTS = ["1", "0", "7", "3.5", "-1", "-", "", "nan", "1e3", " 2", "1_0", "x", "qrels.txt", "0.2,1"]


def by_typer(name, words):
    """What typer reads; None if it finds something wrong, or prints the help."""
    read = []

    def keep(**values):
        read.append(values)

    keep.parameters = parameters_of(function_of(name))
    try:
        typer_command(name, keep).main(list(words), prog_name=name, standalone_mode=False)
    except (typer.TyperException, UsageError):
        return None
    return read[0] if read else None


@st.composite
def lines(draw):
    """A command with options of its own, right and wrong, in every spelling, and files."""
    name = draw(st.sampled_from(list(COMMANDS)))
    parameters = parameters_of(function_of(name))
    options = [parameter for parameter in parameters if parameter.declared.names]
    words = []
    for _ in range(draw(st.integers(0, 5))):
        if not options or draw(st.integers(0, 3)) == 0:
            words.append(draw(st.sampled_from(["a", "b.run", "-", "", "--", "--nosuch", "-h"])))
            continue
        option = draw(st.sampled_from(options))
        spelling = draw(st.sampled_from(option.declared.names))
        text = draw(st.sampled_from([*TEXTS, *option.choices, *option.choices]))
        if option.type is bool:
            words += draw(st.sampled_from([[spelling], [spelling], [f"{spelling}={text}"]]))
        elif spelling[:2] == "--":
            beginning = spelling[: draw(st.integers(4, len(spelling) + 20))]
            words += draw(st.sampled_from([[beginning, text], [f"{beginning}={text}"], [spelling]]))
        else:
            flags = [one.declared.names[0][1] for one in options if one.type is bool]
            joined = "".join(draw(st.lists(st.sampled_from(flags or [""]), max_size=2)))
            joined = f"-{joined}{spelling[1]}"
            words += draw(st.sampled_from([[joined, text], [f"{joined}{text}"], [spelling]]))
    words += draw(st.lists(st.sampled_from(["qrels", "run", "-"]), max_size=3))
    return name, words


@settings(deadline=None, max_examples=300)
@given(lines())
def test_what_is_read_is_what_typer_reads(line):
    name, words = line
    read = values_of(parameters_of(function_of(name)), words)
    if read is not None:
        # As texts: NaN differs from itself, and 1 from True.
        assert repr(read) == repr({key: by_typer(name, words)[key] for key in read})


@st.composite
def usual_lines(draw):
    """What people type: whole names, values that fit, files behind."""
    name = draw(st.sampled_from(list(COMMANDS)))
    parameters = parameters_of(function_of(name))
    words = []
    for option in parameters:
        if not option.declared.names or (
            option.default is not REQUIRED and draw(st.integers(0, 4))
        ):
            continue
        words.append(draw(st.sampled_from(option.declared.names)))
        if option.type is not bool:
            least = option.declared.min
            fitting = "x" if option.type is str else str(5 if least is None else least)
            fitting = "0.5" if option.name == "confidence" else fitting
            fitting = "5k" if option.name == "corpus_size" else fitting
            words.append(draw(st.sampled_from(option.choices or (fitting,))))
    many = any(one.values == "many" and not one.declared.names for one in parameters)
    single = sum(one.values == "one" and not one.declared.names for one in parameters)
    return name, [*words, *["file"] * (draw(st.integers(1, 4)) if many else single)]


@settings(deadline=None, max_examples=200)
@given(usual_lines())
def test_usual_lines_do_not_need_typer(line):
    name, words = line
    read = values_of(parameters_of(function_of(name)), words)
    assert read is not None
    assert repr(read) == repr({key: by_typer(name, words)[key] for key in read})


@pytest.mark.parametrize("size", ["5k", "", "113.5M", "five"])
def test_a_variable_stands_for_an_option(monkeypatch, size):
    monkeypatch.setenv("RAGKPI_CORPUS_SIZE", size)
    for words in (["a", "b"], ["-N", "7", "a", "b"]):
        read = values_of(parameters_of(function_of("eval")), words)
        assert read == (None if read is None else by_typer("eval", words))
        assert (read is None) == (size == "five" and "-N" not in words)


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["eval", "-h"],
        ["--version"],
        ["eval", "-qcm", "map", "-M", "5", "--level=2", "qrels.txt", "reranked.run"],
        ["convert", "reranked.run", "-", "--to", "csv"],
    ],
)
def test_typer_is_not_imported(words):
    code = "import sys; from ragkpi.cli import main; main(sys.argv[1:]);"
    code += "print(sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=FIXTURES, capture_output=True, check=True
    )
    assert done.stdout
    assert b"'typer'" not in done.stderr
    evaluates = len(words) > 2
    assert evaluates == (b"'numpy'" in done.stderr)
    for heavy in (b"'inspect'", b"'dataclasses'", b"'datetime'"):
        assert evaluates or heavy not in done.stderr  # numpy imports some of them
