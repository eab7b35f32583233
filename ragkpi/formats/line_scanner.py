"""Lines of white-space separated columns, as arrays of places in the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np

from ragkpi.errors import InputError
from ragkpi.formats.blocks import BLOCK_SIZE, Block, BlockReader
from ragkpi.formats.opening import Source
from ragkpi.formats.tokens import ByteArray, IntArray, Tokens
from ragkpi.records import dataclass
from ragkpi.wording import shown

Comments = Literal["first_column", "first_word"]
Extra = Literal["refused", "ignored"]
_NEWLINE, _SPACE, _TAB, _HASH, _RETURN = b"\n \t#\r"


class LineShape(NamedTuple):
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
    mistaken
        What a file may be whose first line has so many columns instead.
    """

    columns: Sequence[str]
    extra: Extra
    comments: Comments
    mistaken: Mapping[int, str] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Lines:
    """The n data lines of a block, in k columns.

    Attributes
    ----------
    buffer
        The text of the block.
    origin
        The place in the buffer that places are counted from.
    before, ends : (n, k)
        The place before each word's first byte, and the place behind its last one.
    line : (n,)
        Physical line numbers, from 1.
    begin : (n,)
        The place of each line's first byte.
    """

    buffer: ByteArray
    origin: int
    before: IntArray
    ends: IntArray
    line: IntArray
    begin: IntArray

    def __len__(self) -> int:
        return len(self.line)

    def first(self, count: int) -> Lines:
        """Return some lines from the first on."""
        if count == len(self):
            return self
        parts = (array[:count] for array in (self.before, self.ends, self.line, self.begin))
        return Lines(self.buffer, self.origin, *parts)

    def column(self, number: int, rows: slice | IntArray = slice(None)) -> Tokens:
        """Return a column, or some rows of it."""
        start = self.before[rows, number] + (self.origin + 1)
        return Tokens(self.buffer, start, self.ends[rows, number] + self.origin)


class ColumnTable(NamedTuple):
    """The data lines of a file: one `Tokens` per column, and physical line numbers."""

    columns: list[Tokens]
    line: IntArray


def scan(block: Block, shape: LineShape) -> Lines:
    """Find the columns of every data line of a block.

    Blank lines and comments are passed over. Raises `InputError` for the first line with a wrong
    number of columns, and for a NUL byte.
    """
    regular = _scan_regular(block, shape)
    return _scan_general(block, shape) if regular is None else regular


def _scan_regular(block: Block, shape: LineShape) -> Lines | None:
    """Read a block whose lines all have the separators of the first; None if it is not so.

    One look at all bytes finds what may be a separator. Only those are looked at again: by their
    kinds, which must repeat from line to line, and by their distances, which must leave a word
    between any two but a carriage return and its newline.
    """
    origin = block.start - 1  # another newline or padding, both taken for a separator
    text = block.buffer[origin : block.end]
    places = np.flatnonzero(text <= _SPACE)
    kinds = text[places[1:]]
    width = int(np.argmax(kinds == _NEWLINE)) + 1
    rows, rest = divmod(len(kinds), width)
    pattern = kinds[:width].tobytes()
    if rest or pattern.strip() or (kinds[width:] != kinds[:-width]).any():
        return None
    gaps = np.diff(places)
    returns = np.count_nonzero(gaps == 1)
    if returns:
        at_ends = pattern.endswith(b"\r\n") and (gaps[width - 1 :: width] == 1).all()
        if not at_ends or returns != rows:
            return None
    columns = width - (returns > 0)
    wanted = len(shape.columns)
    if columns < wanted or (columns > wanted and shape.extra == "refused"):
        return None
    before = places[:-1].reshape(rows, width)[:, :wanted]
    ends = places[1:].reshape(rows, width)[:, :wanted]
    begin = before[:, 0] + 1
    if (text[begin] == _HASH).any():
        return None
    line = block.first_line + np.arange(rows)
    return Lines(block.buffer, origin, before, ends, line, begin)


def _scan_general(block: Block, shape: LineShape) -> Lines:
    """Read any block: runs of white space, blank lines, comments, more columns than named."""
    text = block.buffer[block.start : block.end]
    white = (text - np.uint8(_TAB)) <= 4
    white |= text == _SPACE
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
    if shape.comments == "first_column":
        data &= text[begin] != _HASH
    else:
        data[data] = text[starts[first_word[data]]] != _HASH
    wanted = len(shape.columns)
    wrong = counts < wanted if shape.extra == "ignored" else counts != wanted
    if (wrong & data).any():
        row = int(np.flatnonzero(wrong & data)[0])
        line = bytes(text[begin[row] : newlines[row]])
        first = block.first_line == 1 and not data[:row].any()
        advice = shape.mistaken.get(int(counts[row]), "") if first else ""
        raise InputError(
            block.file,
            block.first_line + row,
            f"{counts[row]} columns ({shown(line)})",
            f"expected {wanted}: {' '.join(shape.columns)}{advice}",
        )
    rows = np.flatnonzero(data)
    words = first_word[rows, np.newaxis] + np.arange(wanted)
    return Lines(
        block.buffer,
        block.start,
        starts[words] - 1,
        ends[words],
        block.first_line + rows,
        begin[rows],
    )


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
    _refuse_nul(block, text, newlines)
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
    places = np.flatnonzero((text == ord(separator)) | (text == _NEWLINE))
    rows, rest = divmod(len(places), width)
    if rest or width < 2 or text.min() == 0 or (text == _RETURN).any():
        return None
    newlines = text[places] == _NEWLINE
    if np.count_nonzero(newlines) != rows or not newlines[width - 1 :: width].all():
        return None
    before = np.concatenate([[-1], places[:-1]]).reshape(rows, width)
    line = block.first_line + np.arange(rows)
    return Lines(
        block.buffer, block.start, before, places.reshape(rows, width), line, before[:, 0] + 1
    )


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


def read_table(path: str, shape: LineShape) -> ColumnTable:
    """Read a whole file, for relevance files: one table over one buffer.

    Raises `InputError` if the file cannot be read, is empty or malformed.
    """
    with Source(path) as source:
        return table_of(source, shape)


def table_of(source: Source, shape: LineShape) -> ColumnTable:
    """Read all that is left of a source, as `read_table` does."""
    whole = block_of(source, shape)
    # Blocks of it: the temporary arrays of a whole file would not fit the cache.
    parts = list(whole.split(BLOCK_SIZE))
    width, most = len(shape.columns), parts[-1].first_line + parts[-1].count_lines() - 1
    start, end = (np.empty((width, most), dtype=np.int64) for _ in range(2))
    line = np.empty(most, dtype=np.int64)
    count = 0
    for part in parts:
        lines = scan(part, shape)
        rows = slice(count, count + len(lines))
        for number in range(width):
            column = lines.column(number)
            start[number, rows], end[number, rows] = column.start, column.end
        line[rows] = lines.line
        count = rows.stop
    columns = [
        Tokens(whole.buffer, start[number, :count], end[number, :count]) for number in range(width)
    ]
    return ColumnTable(columns, line[:count])


def read_block(path: str, shape: LineShape) -> Block:
    """Read a whole file as one block; `InputError` if it cannot be read or is empty."""
    with Source(path) as source:
        return block_of(source, shape)


def block_of(source: Source, shape: LineShape) -> Block:
    """Read all that is left of a source, as `read_block` does."""
    size = 1 << 16 if source.size is None else source.size + 1
    block = BlockReader(source, size).read_all()
    if block is None:
        expected = f"expected lines of {' '.join(shape.columns)}"
        raise InputError(source.name, None, "is empty", expected)
    return block
