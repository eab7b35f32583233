"""Blocks of whole lines in one reused buffer, so that a file of any size streams through."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np

from ragkpi.errors import InputError
from ragkpi.formats.opening import MOST_HELD, Source
from ragkpi.formats.tokens import PADDING, ByteArray
from ragkpi.records import NamedTuple

# Fits the second-level cache together with its temporaries: 64 MB is half as fast. 2 MB is no
# faster for large runs, and a small run waits for every byte of memory that is touched first.
BLOCK_SIZE = 3 << 18
# A line longer than this is no line of any format, and would have to be held in memory whole.
LONGEST_LINE = 1 << 26
_WINDOW = 1 << 12  # how far to look for a newline at a time
_LONG = 64  # bytes of a line that is long: few are in a block, and each block costs something
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Block(NamedTuple):
    """Whole lines: ``buffer[start:end]``, the last byte a newline.

    `first_line` is the 1-based physical number of the first of them; `last` says that the input
    ends with this block. It is valid until the next block is read.
    """

    file: str
    buffer: ByteArray
    start: int
    end: int
    first_line: int
    last: bool

    def split(self, size: int) -> Iterator[Block]:
        """Yield the lines in blocks of about `size` bytes over the same buffer."""
        start, line = self.start, self.first_line
        while start < self.end:
            end = min(start + size, self.end)
            end = _first_newline(self.buffer, end - 1, self.end) + 1
            yield Block(self.file, self.buffer, start, end, line, end == self.end)
            line += _count_newlines(self.buffer, start, end)
            start = end

    def count_lines(self) -> int:
        """Count the physical lines."""
        return _count_newlines(self.buffer, self.start, self.end)


def block_size_for(source: Source) -> int:
    """Return how large blocks are to be: of long lines larger ones, but not in a small run."""
    small = source.size is None or source.size < 8 * BLOCK_SIZE
    return BLOCK_SIZE if small or b"\n" in source.peek(_LONG) else 2 * BLOCK_SIZE


class BlockReader:
    """Reads a source block by block; the consumer says how much of a block it leaves over.

    Parameters
    ----------
    source
        What to read.
    size
        Bytes per block; grows when one query or line does not fit.
    limit
        Read no more than this many bytes; None for all.
    """

    def __init__(self, source: Source, size: int = BLOCK_SIZE, limit: int | None = None) -> None:
        self._source = source
        self._size = size
        self._limit = limit
        _keep_freed_memory()
        self._storage = np.zeros(PADDING + size + PADDING, dtype=np.uint8)
        self._text_end = PADDING  # of the bytes that were read
        self._block_end = PADDING  # of the whole lines among them
        self._kept = 0  # bytes left over from the previous block, at the head of this one
        self._next_line = 1
        self._mark_possible = source.at_start
        self._exhausted = False

    def read(
        self, keep_from: int | None = None, lines: int = 0, query: bytes | None = None
    ) -> Block | None:
        """Return the next block, or None at the end.

        Parameters
        ----------
        keep_from
            Where in the previous block's buffer the lines begin that it left over; they come
            again at the head of this block. None if it used all.
        lines
            How many physical lines of the previous block are used up.
        query
            The first word of the lines that were left over, if there was no other one: the block
            then grows until its last line begins with another word. What is of one query is thus
            looked at twice, however long it is, and not again with every doubling.
        """
        used_to = self._block_end if keep_from is None else keep_from
        if self._exhausted and used_to >= self._text_end:
            return None
        self._next_line += lines
        self._move_to_front(used_to)
        newline = -1
        while not self._exhausted:
            self._fill()
            newline = _last_newline(self._storage, PADDING, self._text_end)
            whole = newline >= PADDING + self._kept and not self._goes_on(query, newline)
            if whole or self._exhausted:
                break
            self._grow()
        if self._text_end == PADDING:
            return None
        if self._exhausted:
            self._finish_last_line()
            newline = self._text_end - 1
        self._block_end = newline + 1
        return Block(
            self._source.name,
            self._storage,
            PADDING,
            self._block_end,
            self._next_line,
            self._exhausted,
        )

    def _goes_on(self, query: bytes | None, newline: int) -> bool:
        """Say whether the line that ends there begins with this word."""
        if query is None:
            return False
        begin = _last_newline(self._storage, PADDING, newline) + 1
        line = self._storage[max(begin, PADDING) : newline].tobytes()
        return line.split(None, 1)[:1] == [query]

    def pass_lines(self, count: int) -> None:
        """Count lines that were taken from the head of the block beforehand."""
        self._next_line += count

    def read_all(self) -> Block | None:
        """Return the whole input as one block; None if it is empty."""
        block = self.read()
        while block is not None and not block.last:
            block = self.read(keep_from=block.start)
        return block

    def _move_to_front(self, used_to: int) -> None:
        rest = self._storage[used_to : self._text_end]
        self._kept = len(rest)
        if 2 * len(rest) > self._size:
            self._grow(used_to)
        else:
            self._storage[PADDING : PADDING + len(rest)] = rest.copy()
            self._text_end = PADDING + len(rest)

    def _grow(self, used_to: int = PADDING) -> None:
        """Double the buffer: one line or one query is larger than a block."""
        if self._text_end - used_to > LONGEST_LINE:
            line = _last_newline(self._storage, used_to, self._text_end)
            if self._text_end - line > LONGEST_LINE:
                raise InputError(
                    self._source.name,
                    self._next_line + _count_newlines(self._storage, used_to, self._text_end),
                    f"a line of more than {LONGEST_LINE >> 20} MB",
                    "expected lines of text",
                )
        refuse_too_much(self._source.name, self._text_end - used_to)
        rest = self._storage[used_to : self._text_end]
        self._size *= 2
        storage = np.zeros(PADDING + self._size + PADDING, dtype=np.uint8)
        storage[PADDING : PADDING + len(rest)] = rest
        self._storage, self._text_end = storage, PADDING + len(rest)

    def _fill(self) -> None:
        room = PADDING + self._size - self._text_end
        if self._limit is not None:
            room = min(room, self._limit)
        view = self._storage[self._text_end : self._text_end + room].data
        count = self._source.fill(view)
        if self._limit is not None:
            self._limit -= count
        self._exhausted = count < room or self._limit == 0
        self._text_end += count
        if self._mark_possible:
            self._mark_possible = False
            if self._storage[PADDING : PADDING + 3].tobytes() == BYTE_ORDER_MARK:
                self._move_to_front(PADDING + 3)

    def _finish_last_line(self) -> None:
        if self._storage[self._text_end - 1] != ord("\n"):
            self._storage[self._text_end] = ord("\n")  # the padding has room for it
            self._text_end += 1


def read_lines(source: Source) -> Iterator[tuple[int, bytes]]:
    """Yield every line of a source, without its newline, and its 1-based number.

    Raises `InputError` for a NUL byte and for a line that is too long to be one.
    """
    reader = BlockReader(source)
    return lines_from(reader, reader.read())


def lines_from(reader: BlockReader, block: Block | None) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a block and of all that follow it, as `read_lines` does."""
    while block is not None:
        lines = block.buffer[block.start : block.end].tobytes().split(b"\n")
        for number, line in enumerate(lines[:-1], start=block.first_line):
            if b"\0" in line:
                raise InputError(block.file, number, "a NUL byte", "expected text")
            yield number, line
        block = reader.read(lines=len(lines) - 1)


def refuse_too_much(file: str, size: int) -> None:
    """Raise `InputError` if more bytes of a file would have to be held than `MOST_HELD`."""
    if size > MOST_HELD:
        raise InputError(
            file,
            None,
            f"more than {MOST_HELD >> 30} GB that have to be held in memory",
            "expected the lines of a query together, or a file that is not compressed",
        )


@functools.cache
def _keep_freed_memory() -> None:
    """Let the C library reuse freed temporaries instead of returning them to the system.

    glibc maps and unmaps every allocation above a threshold, which it raises to the largest one
    freed so far. Without this one, each array of each block costs page faults: a third of the
    time of a big run.
    """
    np.empty(31 << 20, dtype=np.uint8)


def _last_newline(storage: ByteArray, start: int, end: int) -> int:
    """Return the position of the last newline in ``storage[start:end]``; -1 if there is none."""
    for high in range(end, start, -_WINDOW):
        low = max(start, high - _WINDOW)
        newlines = np.flatnonzero(storage[low:high] == ord("\n"))
        if len(newlines):
            return low + int(newlines[-1])
    return -1


def _first_newline(storage: ByteArray, start: int, end: int) -> int:
    """Return the position of the first newline in ``storage[start:end]``, which has one."""
    low = start
    while True:
        newlines = np.flatnonzero(storage[low : min(low + _WINDOW, end)] == ord("\n"))
        if len(newlines):
            return low + int(newlines[0])
        low += _WINDOW


def _count_newlines(storage: ByteArray, start: int, end: int) -> int:
    spans = (storage[low : min(low + BLOCK_SIZE, end)] for low in range(start, end, BLOCK_SIZE))
    return sum(int(np.count_nonzero(span == ord("\n"))) for span in spans)
