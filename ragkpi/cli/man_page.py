"""The manual page, ragkpi(1), from what help texts are made from.

``python -m ragkpi.cli.man_page`` prints it; setup.py gives it to wheels.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ragkpi import __version__
from ragkpi.cli.commands import COMMANDS, TASKS, function_of
from ragkpi.cli.help_pages import ABOUT, OPTIONS, facts_of, names_of, place_of
from ragkpi.cli.option_groups import Parameter, parameters_of

Rows = Iterable[tuple[str, str]]

_ENVIRONMENT = {
    "RAGKPI_CORPUS_SIZE": "What -N says where it is not given.",
    "RAGKPI_QRELS": "A checkout of anserini-tools, so that qrels may have a name (dl19-passage).",
    "RAGKPI_WORKERS": "How many runs are read side by side; 1 reads one after the other.",
    "RAGKPI_READER": "'plain' reads without the compiled kernel.",
    "RAGKPI_DEBUG": "1 prints the traceback of an internal error.",
    "NO_COLOR": "If it is set, there is no colour.",
    "COLUMNS": "The width of tables and help texts.",
}
_OWN = "Options"


def man_page() -> str:
    """Return the page in roff."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield f'.TH RAGKPI 1 "" "ragkpi {__version__}" "User Commands"'
    yield from (".nh", ".ad l")  # names of options are not hyphenated, lines not filled up
    purpose, *paragraphs = ABOUT.split("\n\n")
    yield ".SH NAME"
    yield f"ragkpi \\- {_text(purpose.rstrip('.'))}"
    yield ".SH SYNOPSIS"
    yield r"\fBragkpi\fR \fICOMMAND\fR [\fIOPTIONS\fR] [\fIFILES\fR]"
    yield ".SH DESCRIPTION"
    for paragraph in paragraphs:
        yield from (".PP", _text(paragraph))
    for option, text in OPTIONS:
        yield from _entry(option, text)
    for task, heading in TASKS.items():
        yield f".SS {_text(heading)}"
        for name, entry in COMMANDS.items():
            if entry.task == task:
                yield from _entry(name, entry.purpose)
    parameters = {name: parameters_of(function_of(name)) for name in COMMANDS}
    for name in COMMANDS:
        yield from _command(name, parameters[name])
    yield ".SH OPTIONS OF SEVERAL COMMANDS"
    yield "The help text of a command says which of these it takes."
    for heading, rows in _shared(parameters).items():
        yield f".SS {_text(heading)}"
        for names, text in rows.items():
            yield from _entry(names, text)
    yield ".SH ENVIRONMENT"
    for variable, text in _ENVIRONMENT.items():
        yield from _entry(variable, text)
    yield ".SH SEE ALSO"
    yield r"\fBragkpi help\fR \fICOMMAND\fR, \fBragkpi measures\fR \fINAME\fR, \fBragkpi formats\fR"


def _command(name: str, parameters: Sequence[Parameter]) -> Iterator[str]:
    arguments = [place_of(parameter) for parameter in parameters if not parameter.declared.names]
    yield f".SH RAGKPI {name.upper()}"
    yield f"\\fBragkpi {name}\\fR {_text(' '.join(['[OPTIONS]', *arguments]))}"
    for paragraph in (inspect.getdoc(function_of(name)) or "").split("\n\n"):
        yield from (".PP", _text(paragraph))
    for parameter in parameters:
        if parameter.heading == _OWN:
            yield from _entry(names_of(parameter), _meaning(parameter))
    shared = dict.fromkeys(parameter.heading for parameter in parameters)
    shared.pop(_OWN, None)
    if shared:
        yield from (".PP", f"And options under: {_text(', '.join(shared))}.")
    yield from (".PP", ".nf", *map(_text, COMMANDS[name].examples), ".fi")


def _shared(parameters: Mapping[str, Sequence[Parameter]]) -> Mapping[str, Mapping[str, str]]:
    """Return the options of groups by heading, each once, by what is shown of its names."""
    found: dict[str, dict[str, str]] = {}
    for of_command in parameters.values():
        for parameter in of_command:
            heading = parameter.heading
            if heading != _OWN:
                rows = found.setdefault(heading, {})
                rows.setdefault(names_of(parameter), _meaning(parameter))
    return found


def _meaning(parameter: Parameter) -> str:
    return f"{parameter.declared.help}{facts_of(parameter)}"


def _entry(head: str, text: str) -> Iterator[str]:
    yield from (".TP", f"\\fB{_text(head)}\\fR", _text(text))


def _text(text: str) -> str:
    """Escape a text: minus signs stay minus signs, and no line of it is a request."""
    text = text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq")
    text = re.sub(r",(?=\S)", r",\:", text)  # a long list may be broken there
    return "\n".join(rf"\&{line}" if line.startswith(".") else line for line in text.split("\n"))


if __name__ == "__main__":
    sys.stdout.write(man_page())
