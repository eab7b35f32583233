"""Runs as lines of columns, streamed in blocks of whole queries; above all TREC's.

A TREC run is ``query Q0 document rank score run_id``; trec_eval ignores its ranks.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import numpy as np

from ragkpi.errors import InputError
from ragkpi.formats.blocks import BLOCK_SIZE, Block, BlockReader
from ragkpi.formats.decimals import parse_decimals
from ragkpi.formats.line_scanner import Lines, LineShape, scan
from ragkpi.formats.opening import Source
from ragkpi.formats.score_order import Numbers, parse_ranks, parse_scores
from ragkpi.formats.tokens import BoolArray, FloatArray, IntArray, Tokens
from ragkpi.records import NamedTuple

LINE = LineShape(
    ("query", "Q0", "document", "rank", "score", "run_id"),
    "ignored",
    "first_word",
    {4: " (qrels have 4; they come first)"},
)


class ColumnOrder(NamedTuple):
    """In which columns a run of lines holds what.

    Attributes
    ----------
    scan
        Finds the columns of a block.
    query, document
        Numbers of columns, from 0.
    score, rank
        The same; None where there is none. Ranks without scores become negative scores.
    run_id
        The same; None names the run by its file.
    padded
        Whether scores and ranks may have spaces around them.
    numbers
        Reads them; NaN for what is none.
    """

    scan: Callable[[Block], Lines]
    query: int
    document: int
    score: int | None
    rank: int | None = None
    run_id: int | None = None
    padded: bool = True
    numbers: Numbers = parse_decimals


_LOOKED_AT = 1 << 12  # bytes that hold the first line, or as much of it as matters


def _scan_trec(block: Block) -> Lines:
    """Find the columns; `InputError` for a file whose lines end in carriage returns alone.

    trec_eval takes such a file for one line, and so for one document.
    """
    table = scan(block, LINE)
    if len(table) and table.line[0] == 1:
        begin = table.origin + int(table.begin[0])
        text = block.buffer[begin : min(begin + _LOOKED_AT, block.end)].tobytes()
        line = text.split(b"\n", 1)[0]
        if b"\r" in line.rstrip() and len(line.split(None, 12)) >= 2 * len(LINE.columns):
            raise InputError(
                block.file,
                1,
                "a carriage return inside a line",
                "expected lines that end with a newline",
            )
    return table


TREC = ColumnOrder(_scan_trec, query=0, document=2, score=4, run_id=5, padded=False)


class RunColumns(NamedTuple):
    """Lines of a run as columns of n rows, the lines of a query standing together.

    Attributes
    ----------
    file
        What messages call the run.
    query : Tokens of length G
        The id of each group of lines.
    starts : (G+1,)
        Group g is the rows ``starts[g]:starts[g + 1]``.
    document, score, line : length n
        The retrieved document, its score and the physical line number of each row.
    run_id
        The run id of the last row.
    rank : length n
        The ranks that stand beside the scores, in formats where they mean something; else None.
    by_rank : (n,) bool
        Which scores are negative ranks, of which a query has each once; None if none is.
    where : (n,)
        The byte of the file at which each row begins, where not all of a query is here
        (`ragkpi.formats.line_places`); else None.
    """

    file: str
    query: Tokens
    starts: IntArray
    document: Tokens
    score: FloatArray
    line: IntArray
    run_id: bytes
    rank: FloatArray | None = None
    where: IntArray | None = None
    by_rank: BoolArray | None = None

    def group(self) -> IntArray:
        """Return the group that each row belongs to, (n,)."""
        return np.repeat(np.arange(len(self.query)), np.diff(self.starts))


def stream_run(
    source: Source,
    limit: int | None = None,
    block_size: int = BLOCK_SIZE,
    layout: ColumnOrder = TREC,
    reader: BlockReader | None = None,
    block: Block | None = None,
) -> Iterator[RunColumns]:
    """Read a run in blocks; each holds all neighbouring lines of its queries.

    The columns are valid until the next ones are asked for, because blocks share a buffer. A
    query whose lines do not stand together in the file comes in more than one group; telling and
    mending that is the business of `ragkpi.ranking`.

    Parameters
    ----------
    source
        The opened run.
    limit
        Read no more than this many bytes from where the source stands.
    block_size
        Bytes per block.
    layout
        Where the columns stand.
    reader, block
        What reads the source, and its first block, where that is begun already.

    Raises
    ------
    InputError
        With the physical line, for a wrong number of columns or a score that is no number.
    """
    if reader is None:
        reader = BlockReader(source, block_size, limit)
        block = reader.read()
    for of_block, table, starts, used in scan_whole_queries(
        reader, block, layout.scan, layout.query
    ):
        yield columns_of(of_block, table, starts, used, layout)


def scan_whole_queries(
    reader: BlockReader, block: Block | None, scan_lines: Callable[[Block], Lines], query: int
) -> Iterator[tuple[Block, Lines, IntArray, int]]:
    """Yield blocks, their lines, where queries change in the first lines, and how many those are.

    These lines are all that stand together of their queries. The query of the last line may go on
    in the next block, where its lines then come again.
    """
    while block is not None:
        table = scan_lines(block)
        starts = table.changes(query)
        used = len(table)
        if len(table) and not block.last:
            used = int(starts[-2])  # the last query may go on in the next block
            starts = starts[:-1]
        if used:
            yield block, table, starts, used
        goes_on = None if used or not len(table) else table.column(query)[0]
        block = read_on(reader, block, table, used, goes_on)


def read_on(
    reader: BlockReader, block: Block, table: Lines, used: int, query: bytes | None = None
) -> Block | None:
    """Return the block behind the first `used` lines of one; `query` as `BlockReader.read`."""
    if used == len(table):
        return reader.read(lines=block.count_lines())
    keep_from = table.origin + int(table.begin[used])
    return reader.read(keep_from, int(table.line[used]) - block.first_line, query)


def hold_run(source: Source) -> Iterator[RunColumns]:
    """Read a run in blocks that stay valid together, over one buffer with the whole text.

    A query may go on from one block to the next.
    """
    whole = BlockReader(source, BLOCK_SIZE if source.size is None else source.size + 1).read_all()
    if whole is None:
        return
    yield from held_columns(whole, TREC)


def held_columns(whole: Block, layout: ColumnOrder) -> Iterator[RunColumns]:
    """Yield the columns of a whole run that is in memory, block by block."""
    for block in whole.split(BLOCK_SIZE):
        table = layout.scan(block)
        if len(table):
            starts = table.changes(layout.query)
            yield columns_of(block, table, starts, len(table), layout)


def columns_of(
    block: Block, table: Lines, starts: IntArray, used: int, layout: ColumnOrder
) -> RunColumns:
    """Return the columns of the first `used` lines, whose queries change at `starts`."""
    rows = slice(0, used)
    line = table.line[rows]
    rank = None
    if layout.rank is not None:
        text = table.column(layout.rank, rows)
        text = text.stripped() if layout.padded else text
        rank = parse_ranks(block.file, text, line, layout.numbers)
    if layout.score is not None:
        text = table.column(layout.score, rows)
        text = text.stripped() if layout.padded else text
        score = parse_scores(block.file, text, line, layout.numbers)
    elif rank is not None:
        score = -rank
    else:
        score = -line.astype(np.float64)  # the order of the lines
    columns = RunColumns(
        file=block.file,
        query=table.column(layout.query, starts[:-1]),
        starts=starts,
        document=table.column(layout.document, rows),
        score=score,
        line=line,
        run_id=(
            run_id_of(block.file)
            if layout.run_id is None
            else table.column(layout.run_id, slice(used - 1, used))[0]
        ),
        rank=None if layout.score is None else rank,
        by_rank=(
            np.ones(used, dtype=bool) if layout.score is None and layout.rank is not None else None
        ),
    )
    if layout is not TREC:
        refuse_empty(block.file, columns.document, line, "document id")
        refuse_empty(block.file, columns.query, line[starts[:-1]], "query id")
    return columns


def refuse_empty(file: str, ids: Tokens, line: IntArray, what: str) -> None:
    """Raise `InputError` for an id without a byte."""
    empty = np.flatnonzero(ids.start == ids.end)
    if len(empty):
        raise InputError(file, int(line[empty[0]]), f"an empty {what}", "expected an id")


def run_id_of(file: str) -> bytes:
    """Name a run that does not say its name: by its file, without suffixes and white space."""
    name = os.path.basename(file).split(".")[0]
    return b"_".join(os.fsencode(name).split()) if name.strip(" -") else b"run"


def no_results(file: str) -> InputError:
    """Say that a file is no run: there is not one line in it."""
    return InputError(file, None, "holds no results", "expected a run of at least one line")
