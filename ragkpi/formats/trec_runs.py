"""TREC runs: `query Q0 document rank score run_id`, streamed in blocks of whole queries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ragkpi.errors import InputError
from ragkpi.formats.blocks import BLOCK_SIZE, Block, BlockReader
from ragkpi.formats.decimals import parse_decimals
from ragkpi.formats.grouping import group_starts
from ragkpi.formats.line_scanner import Lines, LineShape, scan
from ragkpi.formats.opening import Source
from ragkpi.formats.tokens import FloatArray, IntArray, Tokens
from ragkpi.wording import shown

LINE = LineShape(
    ("query", "Q0", "document", "rank", "score", "run_id"),
    "ignored",
    "first_word",
    {4: " (qrels have 4; they come first)"},
)
_QUERY, _DOCUMENT, _SCORE, _RUN_ID = 0, 2, 4, 5


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
    """

    file: str
    query: Tokens
    starts: IntArray
    document: Tokens
    score: FloatArray
    line: IntArray
    run_id: bytes

    def group(self) -> IntArray:
        """Return the group that each row belongs to, (n,)."""
        return np.repeat(np.arange(len(self.query)), np.diff(self.starts))


def stream_run(
    source: Source, limit: int | None = None, block_size: int = BLOCK_SIZE
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

    Raises
    ------
    InputError
        With the physical line, for a wrong number of columns or a score that is no number.
    """
    reader = BlockReader(source, block_size, limit)
    block = reader.read()
    while block is not None:
        table = scan(block, LINE)
        starts = group_starts(table.column(_QUERY))
        used = len(table)
        if len(table) and not block.last:
            used = int(starts[-2])  # the last query may go on in the next block
            starts = starts[:-1]
        if used:
            yield _columns(block, table, starts, used)
        if block.last or not len(table):
            block = reader.read(lines=block.count_lines())
        else:
            first_kept = int(table.line[used]) - block.first_line
            block = reader.read(keep_from=table.origin + int(table.begin[used]), lines=first_kept)


def hold_run(source: Source) -> Iterator[RunColumns]:
    """Read a run in blocks that stay valid together, over one buffer with the whole text.

    A query may go on from one block to the next.
    """
    whole = BlockReader(source, BLOCK_SIZE if source.size is None else source.size + 1).read_all()
    if whole is None:
        return
    for block in whole.split(BLOCK_SIZE):
        table = scan(block, LINE)
        if len(table):
            yield _columns(block, table, group_starts(table.column(_QUERY)), len(table))


def _columns(block: Block, table: Lines, starts: IntArray, used: int) -> RunColumns:
    rows = slice(0, used)
    line = table.line[rows]
    return RunColumns(
        file=block.file,
        query=table.column(_QUERY, starts[:-1]),
        starts=starts,
        document=table.column(_DOCUMENT, rows),
        score=parse_scores(block.file, table.column(_SCORE, rows), line),
        line=line,
        run_id=table.column(_RUN_ID, slice(used - 1, used))[0],
    )


def no_results(file: str) -> InputError:
    """Say that a file is no run: there is not one line in it."""
    return InputError(file, None, "holds no results", "expected a run of at least one line")


def parse_scores(file: str, text: Tokens, line: IntArray) -> FloatArray:
    """Read scores, (n,); `InputError` with the line for one that is no number."""
    score = parse_decimals(text)
    if np.isnan(score).any():
        row = int(np.flatnonzero(np.isnan(score))[0])
        raise InputError(
            file, int(line[row]), f"score {shown(text[row])}", "expected a decimal number"
        )
    return score
