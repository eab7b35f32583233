"""Text in columns without a string per value: blocks of lines, split into `Tokens`.

A column holds the offsets of its values in a text. Group g is the rows ``starts[g]:starts[g + 1]``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ragkpi import kernel
from ragkpi.arrays import BoolArray, FloatArray, IntArray
from ragkpi.errors import InputError, MapChoice, UnsettledError
from ragkpi.files import opening
from ragkpi.files.opening import BYTE_ORDER_MARK, Source
from ragkpi.wording import shown

ByteArray: TypeAlias = "npt.NDArray[np.uint8]"


# eq=False, as in all classes that hold arrays: comparing two arrays gives an array, not a bool.
@dataclass(frozen=True, eq=False)
class Tokens:
    """A column of n byte strings: ``buffer[start[i]:end[i]]``."""

    buffer: ByteArray
    start: IntArray  # (n,)
    end: IntArray  # (n,)

    def __len__(self) -> int:
        return len(self.start)

    def __getitem__(self, index: int) -> bytes:
        return self.buffer[self.start[index] : self.end[index]].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        text = self.buffer.data
        for start, end in zip(self.start.tolist(), self.end.tolist(), strict=True):
            yield bytes(text[start:end])

    @property
    def column(self) -> tuple[ByteArray, IntArray, IntArray]:
        return self.buffer, np.ascontiguousarray(self.start), np.ascontiguousarray(self.end)

    def take(self, rows: npt.NDArray[np.integer | np.bool_] | slice) -> Tokens:
        """Keep some rows, in the same buffer."""
        return Tokens(self.buffer, self.start[rows], self.end[rows])

    def text(self) -> bytes:
        """Return the concatenated strings."""
        sizes = self.end - self.start
        places = np.repeat(self.start - (np.cumsum(sizes) - sizes), sizes)
        places += np.arange(len(places))
        return bytes(self.buffer[places])

    def changes(self) -> IntArray:
        """Return where each group of equal neighbours starts, and the length, (G+1,)."""
        return np.flatnonzero(np.diff(self.first_rows(), prepend=-1, append=-2))

    def numbers(self) -> FloatArray:
        """Read decimals in ASCII as Python's ``float`` does, (n,); NaN for anything else."""
        return np.frombuffer(kernel.numbers(self.column), np.float64)

    def first_rows(self, group: IntArray | None = None) -> IntArray:
        """Return, for each row, the first row of its group with the same string, (n,)."""
        groups = np.zeros(len(self), dtype=np.int64) if group is None else group
        groups = np.ascontiguousarray(groups, dtype=np.int64)
        return np.frombuffer(kernel.first_rows(self.column, groups), np.int64)

    def tolist(self) -> list[bytes]:
        return list(self)

    @classmethod
    def from_strings(cls, strings: Iterable[bytes]) -> Tokens:
        pieces = list(strings)
        lengths = np.fromiter(map(len, pieces), dtype=np.int64, count=len(pieces))
        return cls.from_text(b"".join(pieces), lengths)

    @classmethod
    def from_text(cls, text: bytes | bytearray, lengths: IntArray) -> Tokens:
        """Build a column from joined strings and their lengths in bytes."""
        end = np.cumsum(lengths)
        return cls(np.frombuffer(text, dtype=np.uint8), end - lengths, end)

    @classmethod
    def repeated(cls, string: bytes, count: int) -> Tokens:
        nothing = np.zeros(count, dtype=np.int64)
        return cls(np.frombuffer(string, dtype=np.uint8), nothing, nothing + len(string))

    @classmethod
    def joined(cls, parts: Sequence[Tokens]) -> Tokens:
        """Concatenate one or more columns, without copying text if all share a buffer."""
        if len(parts) == 1:
            return parts[0]
        buffer = parts[0].buffer
        start = np.concatenate([part.start for part in parts])
        end = np.concatenate([part.end for part in parts])
        if any(part.buffer is not buffer for part in parts):
            # Rows of a large file come in blocks: only the text between a block's ends is copied.
            first = [int(part.start.min(initial=len(part.buffer))) for part in parts]
            placed = zip(parts, first, strict=True)
            texts = [part.buffer[low : int(part.end.max(initial=0))] for part, low in placed]
            buffer = np.concatenate(texts)
            offsets = np.cumsum([0, *map(len, texts[:-1])]) - first
            shift = np.repeat(offsets, [len(part) for part in parts])
            start += shift
            end += shift
        return cls(buffer, start, end)


def spans(starts: IntArray, most: int) -> Iterator[tuple[int, int]]:
    """Yield spans ``first, last`` of groups: at most `most` rows, or one larger group."""
    first = 0
    while first < len(starts) - 1:
        last = int(np.searchsorted(starts, starts[first] + most, side="right")) - 1
        last = max(last, first + 1)
        yield first, last
        first = last


def rows_of(starts: IntArray, groups: IntArray) -> tuple[IntArray, IntArray]:
    """Return the rows of some groups, group by group, and where each group starts."""
    sizes = np.diff(starts)[groups]
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    rows = np.arange(bounds[-1]) + np.repeat(starts[groups] - bounds[:-1], sizes)
    return rows, bounds


BLOCK_SIZE = 1 << 20
# The longest line of any format, since memory holds whole lines.
LONGEST_LINE = 1 << 26

Comments = Literal["first_column", "first_word"]
Extra = Literal["refused", "ignored"]


class Block(NamedTuple):
    """Whole lines of a file, from number `first_line` on; the last byte is a newline."""

    file: str
    text: bytes | bytearray
    first_line: int

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the number and text of every line, without newline; refuse a NUL byte."""
        for number, line in enumerate(bytes(self.text).split(b"\n")[:-1], start=self.first_line):
            if b"\0" in line:
                raise InputError(self.file, number, "a NUL byte", "expected text")
            yield number, line


def blocks(source: Source, size: int = BLOCK_SIZE) -> Iterator[Block]:
    """Read whole lines, about `size` bytes at a time; `InputError` for a too long line."""
    rest, line, mark_possible = b"", 1, True
    piece = memoryview(bytearray(size))
    while True:
        count = source.fill(piece)
        text = rest + piece[:count]
        if mark_possible:
            text, mark_possible = text.removeprefix(BYTE_ORDER_MARK), False
        if count < size:
            if text:
                yield Block(source.name, text if text.endswith(b"\n") else text + b"\n", line)
            return
        end = text.rfind(b"\n") + 1
        rest = text[end:]
        if len(rest) > LONGEST_LINE:
            line += text.count(b"\n", 0, end)
            fault = f"a line of more than {LONGEST_LINE >> 20} MB"
            raise InputError(source.name, line, fault, "expected lines of text")
        if end:
            yield Block(source.name, text[:end], line)
            line += text.count(b"\n", 0, end)


_BARS = rb"(?=[^\n]*(\||\xe2\x94[\x82\x83]))[^\n]*\n"
# Without words: Markdown's dashes, and the lines of boxes.
_RULE = rb"(?=[^\n]*([-=]|\xe2[\x94\x95][\x80\x81\x90]))([-+|=: \r]|\xe2[\x94\x95][\x80-\xbf])+\n"
# Names between bars, types below them in DuckDB's boxes, and a rule: as Markdown and psql print.
PRINTED = re.compile(rb"\s*(%b)?%b(%b)?%b" % (_RULE, _BARS, _BARS, _RULE))


_HELD = "expected the lines of each query together, or a file that is not compressed"


def whole_text(source: Source) -> Block | None:
    """Read the rest of a source as one block; None if it is empty, `InputError` if too large."""
    text = bytearray()
    for block in blocks(source):  # which refuse a line without an end
        text += block.text
        if source.size is None and len(text) > opening.MOST_HELD:
            raise too_much(source.name)
    if not text:
        return None
    return Block(source.name, text, 1)


def too_much(file: str) -> InputError:
    """Return the error for a file of lines too large for memory."""
    return opening.too_large(file, _HELD)


class LineShape(NamedTuple):
    """The columns of a line."""

    columns: Sequence[str]  # their names, for messages
    extra: Extra = "refused"  # further columns
    # Whether a comment's # is the first character, or in the first word.
    comments: Comments = "first_column"
    # Advice by the number of columns of a file's first line, if that differs.
    mistaken: Mapping[int, str] = MappingProxyType({})
    # An argument, and maps that read a first line by the number of its columns between tabs.
    maps: tuple[str, Mapping[int, Sequence[str]]] = ("", MappingProxyType({}))


@dataclass(frozen=True, eq=False)
class LineColumns:
    """The n data lines of a text, in k columns."""

    text: ByteArray
    start: IntArray  # (n, k), where each value begins
    end: IntArray  # (n, k)
    line: IntArray  # (n,), physical line numbers
    stop: IntArray  # (n,), where the text of each line ends

    def __len__(self) -> int:
        return len(self.line)

    def column(self, number: int) -> Tokens:
        """Copy a column, so that the other columns can be freed."""
        start, end = self.start[:, number], self.end[:, number]
        return Tokens(self.text, np.ascontiguousarray(start), np.ascontiguousarray(end))

    def rows(self, rows: slice | IntArray) -> LineColumns:
        parts = (part[rows] for part in (self.start, self.end, self.line, self.stop))
        return LineColumns(self.text, *parts)


class WrongLine(NamedTuple):
    """A line whose columns do not match its shape."""

    number: int
    text: bytes


def split_lines(
    block: Block,
    width: int,
    separator: int = -1,
    extra: Extra = "refused",
    comments: Comments = "first_column",
    wrong: Literal["first", "all"] = "first",
) -> tuple[LineColumns, list[WrongLine]]:
    """Split the lines of a block, up to the first wrong line, or past ``"all"`` wrong lines.

    Blank lines are skipped, and comments if whitespace (-1) separates the columns.
    """
    choices = extra == "ignored", comments == "first_word", wrong == "all"
    start, end, line, stop, wrong_places = kernel.columns(
        block.text, block.first_line, width, separator, *choices
    )
    lines = LineColumns(
        np.frombuffer(block.text, np.uint8),
        np.frombuffer(start, np.int64).reshape(-1, width),
        np.frombuffer(end, np.int64).reshape(-1, width),
        np.frombuffer(line, np.int64),
        np.frombuffer(stop, np.int64),
    )
    places = np.frombuffer(wrong_places, np.int64).reshape(-1, 3).tolist()
    return lines, [WrongLine(number, bytes(block.text[a:b])) for number, a, b in places]


def scan(block: Block, shape: LineShape) -> LineColumns:
    """Split every data line of a block into columns; `InputError` for a malformed line."""
    width = len(shape.columns)
    lines, wrong = split_lines(block, width, extra=shape.extra, comments=shape.comments)
    if wrong:
        first = block.first_line == 1 and not len(lines)
        raise wrong_columns(block.file, wrong[0], shape, first)
    return lines


def wrong_columns(file: str, line: WrongLine, shape: LineShape, first: bool) -> InputError:
    """Return the error for a line; the `first` line can reveal another kind of file."""
    if b"\0" in line.text:
        return InputError(file, line.number, "a NUL byte", "expected text")
    words = line.text.split()
    count = len(words)
    between_tabs = shape.maps[1].get(line.text.count(b"\t") + 1) if first else None
    is_whole = count in (3, 4) and words[-1].isdigit()  # a rank or a level, and no score
    # A line of three words can be cut off.
    advice = shape.mistaken.get(count, "") if first and (count != 3 or is_whole) else ""
    fault = f"{count} columns ({shown(line.text)})"
    expected = f"expected {len(shape.columns)}: {' '.join(shape.columns)}{advice}"
    if between_tabs and not (is_whole and shape.columns[-1] == "run_id"):
        expected, choices = "expected columns between tabs", list(map(MapChoice, between_tabs))
        return UnsettledError(file, fault, expected, shape.maps[0], choices, line.number)
    return InputError(file, line.number, fault, expected)


def refuse_invalid(
    file: str, line: IntArray, text: Tokens, valid: BoolArray, what: str, expected: str
) -> None:
    """Raise `InputError` for the first invalid row, with its line and text."""
    if not valid.all():
        row = int(np.flatnonzero(~valid)[0])
        raise InputError(file, int(line[row]), f"{what} {shown(text[row])}", expected)


def table_of(source: Source, shape: LineShape) -> LineColumns:
    """Read the rest of a source; `InputError` if it is empty or malformed."""
    whole = whole_text(source)
    if whole is None:
        expected = f"expected lines of {' '.join(shape.columns)}"
        raise InputError(source.name, None, "is empty", expected)
    return scan(whole, shape)


def read_table(path: str, shape: LineShape) -> LineColumns:
    """Read a whole file, like `table_of`."""
    with Source(path) as source:
        return table_of(source, shape)
