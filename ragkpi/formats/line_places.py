"""Lines of a TREC run with the bytes where they begin, so that they need not be held.

What is decided later about a few of them is decided by reading those again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import cast

import numpy as np

from ragkpi.formats.blocks import (
    BLOCK_SIZE,
    BYTE_ORDER_MARK,
    Block,
    BlockReader,
    block_size_for,
    refuse_too_much,
)
from ragkpi.formats.line_scanner import Lines
from ragkpi.formats.opening import Source
from ragkpi.formats.tokens import PADDING, FloatArray, IntArray, Tokens
from ragkpi.formats.trec_runs import TREC, RunColumns, columns_of, read_on
from ragkpi.records import NamedTuple

# Bytes that are read in a stream in the time that a line takes which is read alone.
_FAR = 1 << 10


def stream_lines(
    source: Source, limit: int | None = None, block_size: int = BLOCK_SIZE
) -> Iterator[RunColumns]:
    """Read a run in blocks of whole lines, each with `RunColumns.where`.

    A query may go on from one block to the next. The columns are valid until the next ones.
    """
    place = _first_line(source)
    reader = BlockReader(source, block_size, limit)
    block = reader.read()
    while block is not None:
        table = TREC.scan(block)
        if len(table):
            starts = table.changes(TREC.query)
            yield _placed(columns_of(block, table, starts, len(table), TREC), block, table, place)
        place += block.end - block.start
        block = reader.read(lines=block.count_lines())


def stream_queries(
    source: Source, limit: int | None = None, block_size: int | None = None
) -> Iterator[RunColumns]:
    """Read a run as `trec_runs.stream_run`, but a query that is larger than a block in pieces.

    Each piece is of this query alone, and has `RunColumns.where`.
    """
    place = _first_line(source)
    reader = BlockReader(source, block_size or block_size_for(source), limit)
    block = reader.read()
    open_ = b""  # the query that the lines before this block are a piece of
    while block is not None:
        table = TREC.scan(block)
        starts = table.changes(TREC.query)
        if len(table) and table.column(TREC.query)[0] == open_:
            used = int(starts[1])
            yield _placed(columns_of(block, table, starts[:2], used, TREC), block, table, place)
            table, starts = table.behind(used), starts[1:] - used
        used = len(table)
        if used and (block.last or len(starts) > 2):
            if not block.last:  # the last query may go on in the next block
                used, starts = int(starts[-2]), starts[:-1]
            yield columns_of(block, table, starts, used, TREC)
            open_ = b""
        elif used:
            yield _placed(columns_of(block, table, starts, used, TREC), block, table, place)
            open_ = table.column(TREC.query)[0]
        end = block.end if used == len(table) else table.origin + int(table.begin[used])
        place += end - block.start
        block = read_on(reader, block, table, used)


def stream_whole(source: Source, limit: int | None = None) -> Iterator[RunColumns]:
    """Read a run as `trec_runs.stream_run`, in less memory: the text of large queries goes."""
    for large, some in groupby(stream_queries(source, limit), large_query):
        if large is None:
            yield from some
        else:
            yield _joined(large, some)


def large_query(block: RunColumns) -> bytes | None:
    """Return the query that a block of `stream_queries` is a piece of, if it is."""
    return None if block.where is None else block.query[0]


def _joined(query: bytes, pieces: Iterable[RunColumns]) -> RunColumns:
    parts: list[RunColumns] = []
    first_byte = None
    for piece in pieces:
        begin = cast(IntArray, piece.where)
        first_byte = begin[0] if first_byte is None else first_byte
        refuse_too_much(piece.file, int(begin[-1] - first_byte))
        parts.append(piece._replace(document=piece.document.copied()))
    return RunColumns(
        file=parts[0].file,
        query=Tokens.from_strings([query]),
        starts=np.array([0, sum(len(part.score) for part in parts)]),
        document=Tokens.joined([part.document for part in parts]),
        score=np.concatenate([part.score for part in parts]),
        line=np.concatenate([part.line for part in parts]),
        run_id=parts[-1].run_id,
    )


def _first_line(source: Source) -> int:
    """Return the byte at which the first line begins."""
    mark = source.at_start and source.peek(len(BYTE_ORDER_MARK)) == BYTE_ORDER_MARK
    return source.place + (len(BYTE_ORDER_MARK) if mark else 0)


def _placed(columns: RunColumns, block: Block, table: Lines, place: int) -> RunColumns:
    """Say where rows begin, by the byte of the file at which the block does."""
    begin = table.begin[: len(columns.score)]
    return columns._replace(where=begin + (place + table.origin - block.start))


class LinesAgain(NamedTuple):
    """What was read again of n lines."""

    document: Tokens
    score: FloatArray

    def in_order(self, order: IntArray) -> LinesAgain:
        """Return what was put in an order as it was before."""
        before = np.empty_like(order)
        before[order] = np.arange(len(order))
        return LinesAgain(self.document.take(before), self.score[before])


class KeptLines:
    """What `lines_at` would read again, of lines that cannot be."""

    def __init__(self) -> None:
        self._texts: list[bytes] = []  # the documents of each block
        self._lengths: list[IntArray] = []
        self._scores: list[FloatArray] = []
        self._starts = [0]
        self._first_byte = 0

    def keep(self, columns: RunColumns) -> None:
        """Keep the lines of a block; `InputError` for those of a bomb."""
        begin = cast(IntArray, columns.where)
        if not self._texts:
            self._first_byte = int(begin[0])
        refuse_too_much(columns.file, int(begin[-1]) - self._first_byte)
        document = columns.document.copied()
        self._texts.append(document.buffer[PADDING:-PADDING].tobytes())
        self._lengths.append((document.end - document.start).astype(np.int32))
        self._scores.append(columns.score.copy())
        self._starts.append(self._starts[-1] + len(document))

    def at(self, lines: IntArray) -> LinesAgain:
        """Return lines by their numbers."""
        if (lines[1:] < lines[:-1]).any():
            order = np.argsort(lines)
            return self.at(lines[order]).in_order(order)
        bounds = np.searchsorted(lines, self._starts)
        document, score = [], []
        for number, start in enumerate(self._starts[:-1]):
            rows = lines[bounds[number] : bounds[number + 1]] - start
            lengths = self._lengths[number].astype(np.int64)
            document.append(Tokens.from_text(self._texts[number], lengths).take(rows).copied())
            score.append(self._scores[number][rows])
        return LinesAgain(Tokens.joined(document), np.concatenate(score))


def lines_at(source: Source, where: IntArray) -> LinesAgain:
    """Read again the lines of a plain TREC run that begin at some bytes, in any order."""
    if (where[1:] < where[:-1]).any():
        order = np.argsort(where)
        return lines_at(source, where[order]).in_order(order)
    far_apart = where[-1] - where[0] > _FAR * len(where)
    return (_one_by_one if far_apart else _in_a_stream)(source, where)


def _one_by_one(source: Source, where: IntArray) -> LinesAgain:
    text = b"\n".join([*(_line_at(source, begin) for begin in where.tolist()), b""])
    pad = bytes(PADDING)
    buffer = np.frombuffer(pad + text + pad, dtype=np.uint8)
    block = Block(source.name, buffer, PADDING, PADDING + len(text), 2, True)
    table = TREC.scan(block)
    columns = columns_of(block, table, np.arange(len(table) + 1), len(table), TREC)
    return LinesAgain(columns.document, columns.score)


def _in_a_stream(source: Source, where: IntArray) -> LinesAgain:
    """Read all from the first of the lines to the last one."""
    first, last = int(where[0]), int(where[-1])
    # What follows was perhaps not read yet, and has to be right.
    limit = last - first + len(_line_at(source, last)) + 1
    parts = []
    for columns in stream_lines(source.beginning_at(first), limit):
        begin = cast(IntArray, columns.where)
        here = slice(*np.searchsorted(where, [begin[0], begin[-1] + 1]))
        rows = np.searchsorted(begin, where[here])
        parts.append(LinesAgain(columns.document.take(rows).copied(), columns.score[rows]))
    document, score = zip(*parts, strict=True)
    return LinesAgain(Tokens.joined(document), np.concatenate(score))


def _line_at(source: Source, begin: int) -> bytes:
    length = 1 << 8
    while True:
        text = source.look_at(begin, length)
        line, newline, _ = text.partition(b"\n")
        if newline or len(text) < length:
            return line
        length *= 8
