"""TREC runs: `query Q0 document rank score run_id`, streamed in blocks of whole queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import numpy as np

from ragkpi.errors import DataError, InputError
from ragkpi.formats.blocks import BLOCK_SIZE, Block, BlockReader
from ragkpi.formats.decimals import parse_decimals
from ragkpi.formats.identity import group_starts
from ragkpi.formats.line_scanner import Lines, LineShape, scan
from ragkpi.formats.opening import Source
from ragkpi.formats.tokens import FloatArray, IntArray, Tokens
from ragkpi.wording import shown

if TYPE_CHECKING:
    from ragkpi.formats.rows import Ranking

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


def write_run(rankings: Iterable[Ranking], run_id: bytes, file: BinaryIO) -> None:
    """Write `query Q0 document rank score run_id`; scores read back as the same doubles."""
    run_id = one_word(run_id)
    for query, documents, scores in rankings:
        query = first_word(query)
        for rank, (document, score) in enumerate(zip(documents, scores, strict=True), start=1):
            number = repr(score).encode()
            file.write(b"%b Q0 %b %d %b %b\n" % (query, one_word(document), rank, number, run_id))


def one_word(text: bytes) -> bytes:
    """Return an id as it is; `DataError` if columns separated by white space cannot hold it."""
    if b"\0" in text or text.split() != [text]:
        raise DataError(
            f"id {shown(text)} is not one word, as TREC and MS MARCO files need it; "
            "expected another format, such as JSON Lines (--to jsonl)"
        )
    return text


# A comment, a byte order mark, gzip and zstandard: what a file that begins so is taken for.
_NO_BEGINNINGS = (b"#", b"\xef\xbb\xbf", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd")


def first_word(query: bytes) -> bytes:
    """Return a query's id as the first word of a line; `DataError` if it would not be read so."""
    if query.startswith(_NO_BEGINNINGS):
        raise DataError(
            f"query id {shown(query)} cannot begin a line of TREC and MS MARCO files; "
            "expected another format, such as JSON Lines (--to jsonl)"
        )
    return one_word(query)
