"""Lines of white-space separated columns, as arrays of places in the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ragkpi.errors import InputError
from ragkpi.formats.blocks import Block, BlockReader
from ragkpi.formats.opening import Source
from ragkpi.formats.tokens import BoolArray, ByteArray, IntArray, Tokens

Comments = Literal["first_column", "first_word"]
Extra = Literal["refused", "ignored"]
_NEWLINE, _SPACE, _TAB, _HASH = b"\n \t#"


@dataclass(frozen=True)
class Layout:
    """What a line of a format consists of.

    Attributes
    ----------
    columns
        Names of the columns, for messages.
    extra
        Whether further columns are ``"refused"`` or ``"ignored"``.
    comments
        Whether a comment's ``#`` must stand in the first column of the line or may be indented.
        A ``#`` anywhere else belongs to an id.
    """

    columns: Sequence[str]
    extra: Extra
    comments: Comments


@dataclass(frozen=True)
class Table:
    """The lines of a block or file: one `Tokens` per column, and physical line numbers.

    `begin` is where each line's text starts in the buffer.
    """

    file: str
    columns: list[Tokens]
    line: IntArray
    begin: IntArray

    def __len__(self) -> int:
        return len(self.line)


def scan(block: Block, layout: Layout) -> Table:
    """Find the columns of every data line of a block.

    Blank lines and comments are passed over. Raises `InputError` for the first line with a wrong
    number of columns, and for a NUL byte.
    """
    text = block.buffer[block.start : block.end]
    white = (text - np.uint8(_TAB)) <= 4
    white |= text == _SPACE
    regular = _scan_regular(block, text, white, len(layout.columns))
    if regular is not None:
        return regular
    return _scan_general(block, text, white, layout)


def _scan_regular(block: Block, text: ByteArray, white: BoolArray, columns: int) -> Table | None:
    """Read a block in which one separator stands between columns; None if it is not so."""
    separators = np.flatnonzero(white)
    rows, rest = divmod(len(separators), columns)
    if rest or rows != np.count_nonzero(text == _NEWLINE) or text.min() == 0:
        return None
    if separators[0] == 0 or np.diff(separators).min(initial=2) < 2:
        return None
    separators += block.start
    places = separators.reshape(rows, columns)
    newline = places[:, -1]
    if (block.buffer[newline] != _NEWLINE).any():
        return None
    begin = np.empty(rows, dtype=np.int64)
    begin[0] = block.start
    begin[1:] = newline[:-1] + 1
    if (block.buffer[begin] == _HASH).any():
        return None
    starts = [begin, *(places[:, column] + 1 for column in range(columns - 1))]
    tokens = [Tokens(block.buffer, starts[c], places[:, c]) for c in range(columns)]
    return Table(block.file, tokens, block.first_line + np.arange(rows), begin)


def _scan_general(block: Block, text: ByteArray, white: BoolArray, layout: Layout) -> Table:
    """Read any block: runs of white space, blank lines, comments, more columns than named."""
    newlines = np.flatnonzero(text == _NEWLINE)
    _refuse_nul(block, text, newlines)
    # A word begins or ends wherever white space changes; the last byte is a newline.
    changes = np.flatnonzero(white[1:] != white[:-1]) + 1
    if not white[0]:
        changes = np.concatenate([[0], changes])
    starts, ends = changes[0::2], changes[1::2]
    first_word = np.searchsorted(starts, np.concatenate([[0], newlines]))
    counts = np.diff(first_word)
    first_word = first_word[:-1]
    begin = np.concatenate([[0], newlines[:-1] + 1])
    data = counts > 0
    if layout.comments == "first_column":
        data &= text[begin] != _HASH
    else:
        data[data] = text[starts[first_word[data]]] != _HASH
    wanted = len(layout.columns)
    wrong = counts < wanted if layout.extra == "ignored" else counts != wanted
    if (wrong & data).any():
        row = int(np.flatnonzero(wrong & data)[0])
        line = bytes(text[begin[row] : newlines[row]])
        raise InputError(
            block.file,
            block.first_line + row,
            f"{counts[row]} columns ({shown(line)})",
            f"expected {wanted}: {' '.join(layout.columns)}",
        )
    rows = np.flatnonzero(data)
    first = first_word[rows]
    columns = [
        Tokens(block.buffer, starts[first + c] + block.start, ends[first + c] + block.start)
        for c in range(wanted)
    ]
    return Table(block.file, columns, block.first_line + rows, begin[rows] + block.start)


def _refuse_nul(block: Block, text: ByteArray, newlines: IntArray) -> None:
    if text.min() > 0:
        return
    place = int(np.flatnonzero(text == 0)[0])
    raise InputError(
        block.file,
        block.first_line + int(np.searchsorted(newlines, place)),
        "a NUL byte",
        "expected text",
    )


def shown(text: bytes, longest: int = 60) -> str:
    """Quote a piece of input for a one-line message, escaped and cut to a readable length."""
    quoted = ascii(text[: longest + 1].decode("utf-8", "backslashreplace"))
    return quoted if len(text) <= longest else quoted[: longest - 2] + "…'"


def read_table(path: str, layout: Layout) -> Table:
    """Read a whole file, for relevance files: one table over one buffer.

    Raises `InputError` if the file cannot be read, is empty or malformed.
    """
    with Source(path) as source:
        size = 1 << 16 if source.size is None else source.size + 1
        block = BlockReader(source, size).read_all()
    if block is None:
        raise InputError(path, None, "is empty", f"expected lines of {' '.join(layout.columns)}")
    return scan(block, layout)
