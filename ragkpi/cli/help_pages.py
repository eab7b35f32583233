"""Help texts, made of the list of commands and of what is declared about options.

``-h`` shows the common options on one screen, ``--help`` all of them.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from ragkpi.cli.commands import COMMANDS, TASKS, command_of
from ragkpi.cli.option_groups import REQUIRED, Option

Shown = Literal["common", "all"]
Rows = Sequence[tuple[str, str]]

_ABOUT = """\
trec_eval's numbers, and the ones that retrieval for language models needs.

'ragkpi eval QRELS RUN' prints what trec_eval prints; 'ragkpi help COMMAND' explains a command with
examples, 'ragkpi measures NAME' a measure."""

_MORE = """\
eval "$(ragkpi --completion bash)" (zsh; in fish: ragkpi --completion fish | source) makes a shell
complete commands, options and names.

With every command, --max-memory SIZE (512M, 4G) says how much memory may be used; what would need
more is refused. Default: three quarters of what the system has.

Exit status: 0 done, 1 usage, 2 input unreadable or malformed, 3 a gate was missed or check found
errors, 4 inconsistent data, 7 no query in common, 70 an error of ragkpi itself, 130 interrupted,
141 nobody reads the output."""

_HELP = [
    ("-h", "Show the common options and exit."),
    ("--help", "Show all options and exit."),
]
_TREC_EVAL = "Of trec_eval, for its scripts"

_WIDEST = 100
_NARROWEST = 50
_NAMES = 30  # longer names have a line of their own


def help_page(name: str, shown: Shown = "all") -> str:
    """Return the help text of a command, or for "" the one that lists the commands."""
    if not name:
        return _overview(shown)
    return _whole_page(name) if shown == "all" else _screen(name)


def purpose_of(option: Option) -> str:
    """Return the first sentence about an option."""
    return option.help.partition(". ")[0].rstrip(".") + "."


def _overview(shown: Shown) -> str:
    groups = {"Options": [*map(_row, command_of("").options()), *_HELP]}
    for task, heading in TASKS.items():
        entries = COMMANDS.items()
        groups[heading] = [(name, entry.purpose) for name, entry in entries if entry.task == task]
    about = f"{_ABOUT}\n\n{_MORE}" if shown == "all" else _ABOUT
    lines = _lines("ragkpi [OPTIONS] COMMAND [ARGS]...", about, groups)
    return "".join(lines) if shown == "all" else "".join([*lines, "\nMore: ragkpi --help\n"])


def _screen(name: str) -> str:
    options = [option for option in command_of(name).options() if option.names]
    common = [(_names_of(one), purpose_of(one)) for one in options if one.use == "common"]
    lines = _lines(_usage(name), COMMANDS[name].purpose, {"Options": common})
    more = f"\nMore, and all {len(options)} options: ragkpi {name} --help\n"
    return "".join([*lines, *_examples(name), more])


def _whole_page(name: str) -> str:
    command = command_of(name)
    options = command.options()
    groups: dict[str, list[tuple[str, str]]] = {"Options": []}
    for option in sorted(options, key=lambda option: option.use == "trec_eval"):
        heading = _TREC_EVAL if option.use == "trec_eval" else option.heading
        groups.setdefault(heading, []).append(_row(option))
    if not any("--help" in option.names for option in options):
        groups["Options"] += _HELP
    about = (command.function.__doc__ or "").strip()
    return "".join([*_lines(_usage(name), about, groups), *_examples(name)])


def _usage(name: str) -> str:
    arguments = [option for option in command_of(name).options() if not option.names]
    return " ".join([f"ragkpi {name} [OPTIONS]", *map(_place_of, arguments)])


def _examples(name: str) -> list[str]:
    return [f"\n{_heading('Examples')}", *(f"  {line}\n" for line in COMMANDS[name].examples)]


def _place_of(argument: Option) -> str:
    """Return how an argument is written in a line of usage."""
    optional = argument.default is not REQUIRED and argument.metavar[0] != "["
    return f"[{argument.metavar}]" if optional else argument.metavar


def _row(option: Option) -> tuple[str, str]:
    return _names_of(option), f"{option.help}{_facts(option)}"


def _names_of(option: Option) -> str:
    """Return the names that are shown, and the metavar; other spellings are left out."""
    others = [name for name in option.names if name[:2] == "--"][1:]
    shown = ", ".join(name for name in option.names if name not in others)
    return f"{shown} {option.metavar}".strip()


def _facts(option: Option) -> str:
    """Return what is declared besides the text: bounds, default, variable."""
    facts = []
    if option.envvar:
        facts.append(f"env var: {option.envvar}")
    if option.default is REQUIRED:
        facts.append("required")
    elif option.default not in (None, False, [], ""):
        facts.append(f"default: {str(option.default).replace(',', ', ')}")
    if option.max is not None:
        facts.append(f"{option.min} to {option.max}")
    elif option.min is not None:
        facts.append(f"{option.min} or more")
    return f" [{'; '.join(facts)}]" if facts and option.names else ""


def _lines(usage: str, about: str, groups: Mapping[str, Rows]) -> Iterator[str]:
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
    """Break a text at spaces; importing textwrap takes six milliseconds."""
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
