"""A table that fits a terminal: fewer columns, shorter ids, wrapped prose."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Sequence

from ragkpi.records import dataclass
from ragkpi.reports.layout import Column

GAP = 3
# An id that is shorter than this cannot be told from others any more.
_LEAST = 12
_LEAST_PROSE = 24
# A label and a colon in front of a text that begins at column 12 or 14, or what is far from it.
_TERM = r"[A-Z][\w ]*: +(?:(?<=^.{12})|(?<=^.{14}))(?=\S)| *\S+(?: \S+)*? {2,}"
_WRAPPED_AT = 90  # texts are written in lines of a hundred characters


@dataclass(frozen=True)
class Fitted:
    """What is drawn of a table.

    Attributes
    ----------
    columns
        The places of the columns that fit, ascending.
    widths
        How wide each of them may be.
    left_out
        The names of the others.
    """

    columns: Sequence[int]
    widths: Sequence[int]
    left_out: Sequence[str]


def fit(columns: Sequence[Column], widths: Sequence[int], limit: int | None) -> Fitted:
    """Choose what fits into a terminal.

    Columns of detail go first, the last ones before the others; then ids are shortened and prose
    is wrapped; then further columns go from the right, but never the first two.

    Parameters
    ----------
    columns, widths
        All of them, and how wide they would like to be.
    limit
        The width of the terminal; None for all that there is.
    """
    chosen = list(range(len(columns)))
    allowed = list(widths)
    if limit is None:
        return Fitted(chosen, allowed, [])
    smallest = [_smallest(column, width) for column, width in zip(columns, widths, strict=True)]

    def excess(of: Sequence[int]) -> int:
        return sum(of[number] for number in chosen) + GAP * (len(chosen) - 1) - limit

    details = [number for number in chosen if columns[number].role == "detail"]
    others = [number for number in chosen[2:] if number not in details]
    droppable = [*others, *details]
    while excess(smallest) > 0 and droppable:
        chosen.remove(droppable.pop())
    while excess(allowed) > 0:
        number = max(chosen, key=lambda number: allowed[number] - smallest[number])
        if allowed[number] == smallest[number]:
            break
        allowed[number] = max(smallest[number], allowed[number] - excess(allowed))
    left_out = [column.name for number, column in enumerate(columns) if number not in chosen]
    return Fitted(chosen, [allowed[number] for number in chosen], left_out)


def lines_of(text: str, column: Column, width: int) -> list[str]:
    """Return a cell's lines: prose is wrapped at words, an id loses its middle."""
    if len(text) <= width or column.numeric:
        return [text]
    if column.role == "prose":
        return wrapped(text, width)
    tail = (width - 1) // 2
    return [f"{text[: width - 1 - tail]}…{text[len(text) - tail :]}"]


def wrapped(text: str, width: int | None) -> list[str]:
    """Break a text at spaces: ids and numbers stay whole."""
    if width is None:
        return [text]
    lines = textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False)
    return lines or [""]


def on_terminal(text: str) -> str:
    """Wrap the long lines of a list of terms where standard output is a terminal.

    What stands behind a term, ``map    Average precision …`` or ``Source:  …``, is wrapped below
    its own beginning.
    """
    if not sys.stdout.isatty():
        return text
    import shutil  # which imports all that compresses

    width = shutil.get_terminal_size().columns
    items: list[tuple[int, str]] = []  # where the text of each begins, and all of it
    before = ""
    for line in text.splitlines():
        term = re.match(_TERM, line)
        margin = term.end() if term else len(line) - len(line.lstrip())
        if items and not term and items[-1][0] == margin and _goes_on(before, line, margin):
            items[-1] = (margin, f"{items[-1][1]} {line.strip()}")
        else:
            items.append((margin, line))
        before = line
    return "".join(f"{line}\n" for item in items for line in _hung(*item, width))


def _goes_on(before: str, line: str, margin: int) -> bool:
    """Whether a line continues the one before it, which had no room for its first word."""
    if not before.strip() or not line.strip():
        return False
    return margin > 2 or len(before) + len(line.split()[0]) >= _WRAPPED_AT


def _hung(margin: int, text: str, width: int) -> list[str]:
    if len(text) <= width or margin + _LEAST_PROSE > width:
        return [text]
    first, *others = wrapped(text[margin:], width - margin)
    return [text[:margin] + first, *(" " * margin + line for line in others)]


def _smallest(column: Column, width: int) -> int:
    if column.numeric:
        return width
    return min(width, max(len(column.name), _LEAST_PROSE if column.role == "prose" else _LEAST))
