"""Help texts, made of the list of commands and of what is declared about options.

``-h`` shows the common options on one screen, ``--help`` all of them.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from typing import Literal

from ragkpi.cli.commands import COMMANDS, TASKS, command_of
from ragkpi.cli.options import REQUIRED, Declaration

Shown = Literal["common", "all"]
Rows = list[tuple[str, str]]

_HELP = [("-h", "Show the common options and exit."), ("--help", "Show all options and exit.")]
_TREC_EVAL = "Of trec_eval, for its scripts"
_NARROWEST, _WIDEST = 50, 100
_NAMES = 30  # longer names have a line of their own


def help_page(name: str, shown: Shown = "all") -> str:
    """Return the help text of a command, or for "" the one that lists the commands."""
    program, command = f"ragkpi {name}".rstrip(), command_of(name)
    options = command.options()
    # An argument that may be left out is in brackets.
    places = [
        option.metavar
        if option.default is REQUIRED or option.metavar[0] == "["
        else f"[{option.metavar}]"
        for option in options
        if not option.names
    ]
    usage = " ".join([program, "[OPTIONS]", *(places if name else ["COMMAND [ARGS]..."])])
    paragraphs = (command.function.__doc__ or "").strip().split("\n\n")
    if shown == "common":
        paragraphs = paragraphs[:1]
        common = [option for option in options if option.use == "common"]
        groups = {"Options": [(_names_of(option), purpose_of(option)) for option in common]}
    else:
        groups = _explained(options)
    for task, heading in TASKS.items() if not name else ():
        listed = [(other, one.purpose) for other, one in COMMANDS.items() if one.task == task]
        groups[heading] = listed
    lines = list(_lines(usage, paragraphs, groups))
    if name:
        lines += [f"\n{_bold('Examples:')}\n", *(f"  {line}\n" for line in COMMANDS[name].examples)]
    if shown == "common":
        lines += [f"\nMore, with all options: {program} --help\n"]
    return "".join(lines)


def purpose_of(option: Declaration) -> str:
    """Return the first sentence about an option."""
    return option.help.partition(". ")[0].rstrip(".") + "."


def _explained(options: Sequence[Declaration]) -> dict[str, Rows]:
    """Return what is known of options and arguments by heading, trec_eval's own last."""
    groups: dict[str, Rows] = {"Options": []}
    for option in sorted(options, key=lambda option: option.use == "trec_eval"):
        heading = _TREC_EVAL if option.use == "trec_eval" else option.heading
        row = (_names_of(option), f"{option.help}{_facts(option)}")
        groups.setdefault(heading, []).append(row)
    if not any("--help" in option.names for option in options):
        groups["Options"] += _HELP
    return groups


def _names_of(option: Declaration) -> str:
    """Return the names that are shown, and the metavar; other spellings are left out."""
    others = [name for name in option.names if name[:2] == "--"][1:]
    shown = ", ".join(name for name in option.names if name not in others)
    return f"{shown} {option.metavar}".strip()


def _facts(option: Declaration) -> str:
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


def _lines(usage: str, paragraphs: Sequence[str], groups: dict[str, Rows]) -> Iterator[str]:
    width = max(min(_columns(), _WIDEST) - 2, _NARROWEST)
    yield f"{_bold('Usage:')} {usage}\n"
    for paragraph in paragraphs:
        yield "\n"
        yield from (f"  {line}\n" for line in _wrapped(paragraph, width - 2))
    for heading, rows in groups.items():
        if rows:
            yield f"\n{_bold(heading + ':')}\n"
        indent = min(max((len(names) for names, _ in rows), default=0), _NAMES) + 2
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


def _bold(text: str) -> str:
    plain = not sys.stdout.isatty() or os.environ.get("NO_COLOR")
    return text if plain else f"\x1b[1m{text}\x1b[0m"
