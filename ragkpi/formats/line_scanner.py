"""Lines of white-space separated columns, as arrays of places in the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from ragkpi.errors import InputError
from ragkpi.formats.blocks import BLOCK_SIZE, Block, BlockReader
from ragkpi.formats.groups import group_starts
from ragkpi.formats.opening import Source
from ragkpi.formats.tokens import ByteArray, IntArray, Tokens
from ragkpi.records import NamedTuple, dataclass
from ragkpi.wording import shown

Comments = Literal["first_column", "first_word"]
Extra = Literal["refused", "ignored"]
_NEWLINE, _SPACE, _TAB, _HASH = b"\n \t#"


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
    records : (R+1,)
        Where the records begin that hold several rows of one query, and n; None where a row is one.
    """

    buffer: ByteArray
    origin: int
    before: IntArray
    ends: IntArray
    line: IntArray
    begin: IntArray
    records: IntArray | None = None

    def __len__(self) -> int:
        return len(self.line)

    def first(self, count: int) -> Lines:
        """Return some lines from the first on."""
        if count == len(self):
            return self
        parts = (array[:count] for array in (self.before, self.ends, self.line, self.begin))
        return Lines(self.buffer, self.origin, *parts)

    def behind(self, count: int) -> Lines:
        """Return the lines behind some from the first on."""
        parts = (array[count:] for array in (self.before, self.ends, self.line, self.begin))
        return Lines(self.buffer, self.origin, *parts)

    def column(self, number: int, rows: slice | IntArray = slice(None)) -> Tokens:
        """Return a column, or some rows of it."""
        start = self.before[rows, number] + (self.origin + 1)
        return Tokens(self.buffer, start, self.ends[rows, number] + self.origin)

    def changes(self, number: int) -> IntArray:
        """Return where a column of queries changes, and the number of rows at the end: (G+1,)."""
        if self.records is None:
            return group_starts(self.column(number))
        return self.records[group_starts(self.column(number, self.records[:-1]))]


class ColumnTable(NamedTuple):
    """The data lines of a file: one `Tokens` per column, and physical line numbers."""

    columns: list[Tokens]
    line: IntArray


def scan(block: Block, shape: LineShape) -> Lines:
    """Find the columns of every data line of a block.

    Blank lines and comments are passed over. Raises `InputError` for the first line with a wrong
    number of columns, and for a NUL byte.
    """
    regular = _scan_regular(block, shape, separators := _separators(block))
    return _scan_general(block, shape, separators) if regular is None else regular


class _Separators(NamedTuple):
    """What may be a separator: all bytes up to the space, beginning before the first line.

    `places` are counted from the byte before the block, `kinds` are the bytes there; the first
    place is that byte, a newline or padding, and has no kind.
    """

    text: ByteArray
    places: IntArray
    kinds: ByteArray


def _separators(block: Block) -> _Separators:
    """Find them: the one look at all bytes."""
    text = block.buffer[block.start - 1 : block.end]
    low = np.empty(2 * len(text), dtype=bool)
    np.less_equal(text, _SPACE, out=low[: len(text)])
    # numpy leaps over what is false only where a tenth or less is true, twice as fast: more that
    # is false is put behind all.
    end = max(len(text), 10 * int(np.count_nonzero(low[: len(text)])) + 1)
    if end > len(low):
        end = len(text)
    low[len(text) : end] = False
    places = np.flatnonzero(low[:end])
    return _Separators(text, places, text[places[1:]])


def _scan_regular(block: Block, shape: LineShape, separators: _Separators) -> Lines | None:
    """Read a block whose lines all have the separators of the first; None if it is not so.

    Their kinds must repeat from line to line, and their distances must leave a word between any
    two but a carriage return and its newline.
    """
    text, places, kinds = separators
    width = int(np.argmax(kinds == _NEWLINE)) + 1
    rows, rest = divmod(len(kinds), width)
    pattern = kinds[:width].tobytes()
    if rest or pattern.strip() or (kinds[width:] != kinds[:-width]).any():
        return None
    # Column by column: each is looked at by itself, again and again.
    by_column = np.empty((width + 1, rows), dtype=np.int64)
    by_column[:-1] = places[:-1].reshape(rows, width).T
    by_column[-1] = places[width::width]
    returns = pattern.endswith(b"\r\n") and (by_column[-1] - by_column[-2]).max() == 1
    columns = width - returns
    if any((by_column[n + 1] - by_column[n]).min() < 2 for n in range(columns)):
        return None
    wanted = len(shape.columns)
    if columns < wanted or (columns > wanted and shape.extra == "refused"):
        return None
    before, ends = by_column[:wanted].T, by_column[1 : wanted + 1].T
    begin = before[:, 0] + 1
    if (text[begin] == _HASH).any():
        return None
    line = block.first_line + np.arange(rows)
    return Lines(block.buffer, block.start - 1, before, ends, line, begin)


def _scan_general(block: Block, shape: LineShape, separators: _Separators) -> Lines:
    """Read any block: runs of white space, blank lines, comments, more columns than named."""
    text, places, kinds = separators
    if (kinds == 0).any():
        refuse_nul(block, text[1:], np.flatnonzero(text[1:] == _NEWLINE))
    white = (kinds - np.uint8(_TAB)) <= 4
    white |= kinds == _SPACE
    if not white.all():  # other control characters are parts of words
        places, kinds = places[np.append(True, white)], kinds[white]
    # A word stands between separators that are not neighbours.
    words = np.flatnonzero(np.diff(places) > 1)
    before, ends = places[words], places[words + 1]
    newlines = np.flatnonzero(kinds == _NEWLINE)
    first_word = np.append(0, np.searchsorted(words, newlines, side="right"))
    counts = np.diff(first_word)
    first_word = first_word[:-1]
    newlines = places[newlines + 1]
    begin = np.append(1, newlines[:-1] + 1)
    data = counts > 0
    if shape.comments == "first_column":
        data &= text[begin] != _HASH
    else:
        data[data] = text[before[first_word[data]] + 1] != _HASH
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
    width = int(counts[0])
    if len(rows) == len(counts) and (counts == width).all():
        cells: Any = np.s_[:, :wanted]
        before, ends = before.reshape(-1, width), ends.reshape(-1, width)
    else:
        cells = first_word[rows, np.newaxis] + np.arange(wanted)
    return Lines(
        block.buffer,
        block.start - 1,
        before[cells],
        ends[cells],
        block.first_line + rows,
        begin[rows],
    )


def refuse_nul(block: Block, text: ByteArray, newlines: IntArray) -> None:
    """Raise `InputError` for the first NUL byte of a block's text."""
    if text.min() > 0:
        return
    place = int(np.flatnonzero(text == 0)[0])
    raise InputError(
        block.file,
        block.first_line + int(np.searchsorted(newlines, place)),
        "a NUL byte",
        "expected text",
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
            np.add(lines.before[:, number], lines.origin + 1, out=start[number, rows])
            np.add(lines.ends[:, number], lines.origin, out=end[number, rows])
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
