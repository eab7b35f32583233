"""A table that fits a terminal: fewer columns, shorter ids, wrapped prose."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Mapping, Sequence

from ragkpi.reports.layout import Column

_GAP = 3
_SHORTEST_ID = 12  # shorter ids can no longer be told apart
_NARROWEST_PROSE = 24
# A label and a colon, with the text at column 12 or 14; or a term, two spaces, and the text.
_TERM = r"[A-Z][\w ]*: +(?:(?<=^.{12})|(?<=^.{14}))(?=\S)| *\S+(?: \S+)*? {2,}"
_WRAPPED_AT = 90  # texts are written in lines of a hundred characters


def fit(columns: Sequence[Column], widths: Sequence[int], limit: int | None) -> dict[int, int]:
    """Return the columns that fit into a terminal, by number, with the width of each.

    Columns of detail go first, from the right; then ids are shortened and prose is wrapped; then
    further columns go from the right, but never the first two.

    Parameters
    ----------
    columns, widths
        All columns, and the widths of their longest texts.
    limit
        The width of the terminal; None for no limit.
    """
    fitted = dict(enumerate(widths))
    if limit is None:
        return fitted
    smallest = [_smallest(column, width) for column, width in zip(columns, widths, strict=True)]

    def excess(of: Mapping[int, int] | Sequence[int]) -> int:
        return sum(of[number] for number in fitted) + _GAP * (len(fitted) - 1) - limit

    details = [number for number in fitted if columns[number].role == "detail"]
    others = [number for number in list(fitted)[2:] if number not in details]
    droppable = [*others, *details]
    while excess(smallest) > 0 and droppable:
        del fitted[droppable.pop()]
    while excess(fitted) > 0:
        number = max(fitted, key=lambda number: fitted[number] - smallest[number])
        if fitted[number] == smallest[number]:
            break
        fitted[number] = max(smallest[number], fitted[number] - excess(fitted))
    return fitted


def lines_of(text: str, column: Column, width: int) -> list[str]:
    """Return the lines of a cell: prose is wrapped at words, a long id loses its middle."""
    if len(text) <= width or column.numeric:
        return [text]
    if column.role == "prose":
        return wrapped(text, width)
    tail = (width - 1) // 2
    return [f"{text[: width - 1 - tail]}…{text[len(text) - tail :]}"]


def wrapped(text: str, width: int | None) -> list[str]:
    """Break a text at spaces; ids and numbers stay whole."""
    if width is None:
        return [text]
    lines = textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False)
    return lines or [""]


def on_terminal(text: str) -> str:
    """Wrap the long lines of a list of terms if standard output is a terminal.

    The text after a term, ``map    Average precision …`` or ``Source:  …``, is wrapped below its
    own beginning.
    """
    if not sys.stdout.isatty():
        return text
    import shutil  # slow to import: it needs every compressor

    width = shutil.get_terminal_size().columns
    items: list[tuple[int, str]] = []  # the margin of each text, and the text
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
    """Whether a line continues the line before, which had no room for its first word."""
    if not before.strip() or not line.strip():
        return False
    return margin > 2 or len(before) + len(line.split()[0]) >= _WRAPPED_AT


def _hung(margin: int, text: str, width: int) -> list[str]:
    if len(text) <= width or margin + _NARROWEST_PROSE > width:
        return [text]
    first, *others = wrapped(text[margin:], width - margin)
    return [text[:margin] + first, *(" " * margin + line for line in others)]


def _smallest(column: Column, width: int) -> int:
    if column.numeric:
        return width
    return min(
        width, max(len(column.name), _NARROWEST_PROSE if column.role == "prose" else _SHORTEST_ID)
    )
