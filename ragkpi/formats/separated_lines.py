"""Lines in which one separator ends a column, such as a comma: columns as places in the text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragkpi.errors import InputError
from ragkpi.formats.blocks import Block
from ragkpi.formats.line_scanner import Lines, refuse_nul
from ragkpi.formats.tokens import ByteArray, IntArray
from ragkpi.wording import shown

_NEWLINE, _RETURN = b"\n\r"


def scan_separated(block: Block, separator: bytes, names: Sequence[bytes], header: int) -> Lines:
    """Find the columns of lines in which each single separator ends one; they may be empty.

    Empty lines are passed over, and carriage returns at the ends of lines.

    Parameters
    ----------
    names
        One for each column.
    header
        The line that holds them, for the message.

    Raises
    ------
    InputError
        For the first line with another number of columns, a NUL byte, or a carriage return alone.
    """
    text = block.buffer[block.start : block.end]
    width = len(names)
    regular = _separate_regular(block, text, separator, width)
    if regular is not None:
        return regular
    newlines = np.flatnonzero(text == _NEWLINE)
    refuse_nul(block, text, newlines)
    ends = np.flatnonzero((text == ord(separator)) | (text == _NEWLINE))
    begin = np.concatenate([[0], newlines[:-1] + 1])
    # Where the line ends, without its carriage return.
    stop = newlines - ((newlines > begin) & (text[newlines - 1] == _RETURN))
    returns = np.count_nonzero(text == _RETURN)
    if returns > np.count_nonzero(stop < newlines):
        _refuse_return(block, text, newlines)
    first = np.concatenate([[0], np.searchsorted(ends, newlines[:-1], side="right")])
    counts = np.searchsorted(ends, newlines) - first + 1
    data = stop > begin
    wrong = np.flatnonzero(data & (counts != width))
    if len(wrong):
        row = int(wrong[0])
        line = bytes(text[begin[row] : stop[row]])
        raise InputError(
            block.file,
            block.first_line + row,
            f"{counts[row]} columns ({shown(line.replace(separator, b' '))})",
            f"expected {width}, as line {header} names",
        )
    rows = np.flatnonzero(data)
    place = first[rows, np.newaxis] + np.arange(width)
    column_ends = ends[place]
    before = np.concatenate([(begin[rows] - 1)[:, np.newaxis], column_ends[:, :-1]], axis=1)
    column_ends[:, -1] = stop[rows]
    line_number = block.first_line + rows
    return Lines(block.buffer, block.start, before, column_ends, line_number, begin[rows])


def _separate_regular(block: Block, text: ByteArray, separator: bytes, width: int) -> Lines | None:
    """Read a block whose lines all have the columns, and nothing odd; None if it is not so."""
    if width < 2 or text.min() == 0 or (text == _RETURN).any():
        return None
    ends = block.buffer[block.start - 1 : block.end] == _NEWLINE
    ends[0] = True  # the place before the first line
    rows = np.count_nonzero(ends) - 1
    ends[1:] |= text == ord(separator)
    places = np.flatnonzero(ends)
    if len(places) != rows * width + 1 or (text.take(places[width::width] - 1) != _NEWLINE).any():
        return None
    before, ends = (place.reshape(rows, width) for place in (places[:-1], places[1:]))
    line = block.first_line + np.arange(rows)
    return Lines(block.buffer, block.start - 1, before, ends, line, before[:, 0] + 1)


def _refuse_return(block: Block, text: ByteArray, newlines: IntArray) -> None:
    """Raise `InputError` for a carriage return with no newline behind it."""
    returns = np.flatnonzero(text == _RETURN)
    alone = returns[text[returns + 1] != _NEWLINE]
    if len(alone):
        raise InputError(
            block.file,
            block.first_line + int(np.searchsorted(newlines, alone[0])),
            "a carriage return inside a line",
            "expected lines that end with a newline",
        )
