"""The help texts: of all commands, and of one by what is declared about its options."""

from __future__ import annotations

import os
import sys

from ragkpi.cli.commands import COMMANDS, TASKS, function_of

TYPE_CHECKING = False  # importing typing takes longer than printing the help text
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ragkpi.cli.option_groups import Parameter

    Rows = Sequence[tuple[str, str]]

ABOUT = """\
trec_eval's numbers, and the ones that retrieval for language models needs.

'ragkpi eval QRELS RUN' prints what trec_eval prints; 'ragkpi help COMMAND' explains a command with
examples, 'ragkpi measures NAME' a measure. eval "$(ragkpi --completion bash)" (zsh; in fish: ragkpi
--completion fish | source) makes a shell complete commands, options and names.

With every command, --max-memory SIZE (512M, 4G) says how much memory may be used; what would need
more is refused. Default: three quarters of what the system has.

Exit status: 0 done, 1 usage, 2 input unreadable or malformed, 3 a gate was missed or check found
errors, 4 inconsistent data, 7 no query in common, 70 an error of ragkpi itself, 130 interrupted,
141 nobody reads the output."""

_HELP = ("-h, --help", "Show this message and exit.")
OPTIONS = [
    ("--version", "Print the version and stop."),
    ("--completion SHELL", "Print a script for bash, zsh, fish."),
    _HELP,
]

_WIDEST = 100
_NARROWEST = 50
_NAMES = 30  # longer names have a line of their own


def overview() -> str:
    """Return the help text that lists all commands."""
    groups: dict[str, Rows] = {"Options": OPTIONS}
    for task, heading in TASKS.items():
        groups[heading] = [
            (name, entry.purpose) for name, entry in COMMANDS.items() if entry.task == task
        ]
    return "".join(_lines("ragkpi [OPTIONS] COMMAND [ARGS]...", ABOUT, groups))


def page_of_command(name: str) -> str:
    """Return the help text of a command."""
    from ragkpi.cli.option_groups import parameters_of

    command = function_of(name)
    parameters = parameters_of(command)
    arguments = [parameter for parameter in parameters if not parameter.declared.names]
    groups: dict[str, list[tuple[str, str]]] = {"Options": []}
    for parameter in parameters:
        row = (names_of(parameter), f"{parameter.declared.help}{facts_of(parameter)}")
        groups.setdefault(parameter.heading, []).append(row)
    if not any("--help" in parameter.declared.names for parameter in parameters):
        groups["Options"].append(_HELP)
    usage = " ".join([f"ragkpi {name} [OPTIONS]", *map(place_of, arguments)])
    lines = list(_lines(usage, (command.__doc__ or "").strip(), groups))
    examples = "".join(f"  {line}\n" for line in COMMANDS[name].examples)
    return "".join([*lines, "\n", _heading("Examples"), examples])


def place_of(argument: Parameter) -> str:
    """Return how an argument stands in a line of usage."""
    from ragkpi.cli.option_groups import REQUIRED

    text = argument.declared.metavar or argument.name.upper()
    return text if argument.default is REQUIRED or text[0] == "[" else f"[{text}]"


def names_of(parameter: Parameter) -> str:
    """Return the names under which an option is shown, and what stands for its value."""
    names, metavar = parameter.declared.names, parameter.declared.metavar
    if not names:
        return metavar or parameter.name.upper()
    long = [name for name in names if name[:2] == "--"]
    # Behind the first long name stand other spellings, such as trec_eval's.
    shown = [name for name in names if name not in long[1:]]
    if parameter.type is bool:
        return ", ".join(shown)
    return f"{', '.join(shown)} {metavar or ('TEXT' if parameter.type is str else 'N')}"


def facts_of(parameter: Parameter) -> str:
    """Return what is declared besides the text: bounds, default, variable."""
    from ragkpi.cli.option_groups import REQUIRED

    declared, facts = parameter.declared, []
    if not declared.names:
        return ""
    if declared.envvar:
        facts.append(f"env var: {declared.envvar}")
    if parameter.default is REQUIRED:
        facts.append("required")
    elif parameter.default not in (None, False, [], ""):
        facts.append(f"default: {str(parameter.default).replace(',', ', ')}")
    if declared.max is not None:
        facts.append(f"{declared.min} to {declared.max}")
    elif declared.min is not None:
        facts.append(f"{declared.min} or more")
    return f" [{'; '.join(facts)}]" if facts else ""


def _lines(
    usage: str, about: str, groups: dict[str, Rows] | dict[str, list[tuple[str, str]]]
) -> Iterator[str]:
    width = max(min(_columns(), _WIDEST) - 2, _NARROWEST)
    yield f"{_bold('Usage:')} {usage}\n"
    for paragraph in about.split("\n\n"):
        yield "\n"
        yield from (f"  {line}\n" for line in _wrapped(paragraph, width - 2))
    for heading, rows in groups.items():
        if not rows:
            continue
        yield f"\n{_heading(heading)}"
        indent = min(max(len(names) for names, _ in rows), _NAMES) + 2
        for names, text in rows:
            first, *others = _wrapped(text, width - 2 - indent)
            if len(names) > _NAMES:
                yield f"  {_bold(names)}\n  {'':{indent}}{first}\n"
            else:
                yield f"  {_bold(names)}{'':{indent - len(names)}}{first}\n"
            yield from (f"  {'':{indent}}{line}\n" for line in others)


def _wrapped(text: str, width: int) -> list[str]:
    """Break a text at spaces; textwrap takes six milliseconds to import."""
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def _columns() -> int:
    """Return the width of the terminal; shutil, which does, imports all that compresses."""
    text = os.environ.get("COLUMNS", "")
    if text.isdecimal() and int(text):
        return int(text)
    try:
        return os.get_terminal_size(1).columns or 80
    except OSError:
        return 80


def _heading(text: str) -> str:
    return f"{_bold(text + ':')}\n"


def _bold(text: str) -> str:
    plain = not sys.stdout.isatty() or os.environ.get("NO_COLOR")
    return text if plain else f"\x1b[1m{text}\x1b[0m"
