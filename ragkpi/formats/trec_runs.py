"""Runs as lines of columns; above all TREC's.

A TREC run is ``query Q0 document rank score run_id``; trec_eval ignores its ranks.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ragkpi.errors import InputError
from ragkpi.formats.lines import Block, LineColumns, LineShape, blocks, scan
from ragkpi.formats.opening import Source
from ragkpi.formats.score_order import parse_ranks, parse_scores
from ragkpi.formats.tokens import BoolArray, FloatArray, IntArray, Tokens
from ragkpi.records import NamedTuple

if TYPE_CHECKING:
    from ragkpi.formats.shape import Shape

LINE = LineShape(
    ("query", "Q0", "document", "rank", "score", "run_id"),
    "ignored",
    "first_word",
    {4: " (qrels have 4; they come first)"},
)
_HEAD = 1 << 12  # bytes; enough for the first line, or for ten documents of it


class ColumnOrder(NamedTuple):
    """Which column of a run of lines holds what.

    Attributes
    ----------
    scan
        Finds the columns of a block.
    query, document
        Numbers of columns, from 0.
    score, rank
        Numbers of columns, or None. Without scores, ranks become negative scores.
    run_id
        Number of the column; None names the run after its file.
    """

    scan: Callable[[Block], LineColumns]
    query: int
    document: int
    score: int | None
    rank: int | None = None
    run_id: int | None = None


def _unnamed(names: tuple[str, ...], score: int | None, rank: int | None) -> ColumnOrder:
    """Return the order of query, document and other columns that are separated by white space."""
    line = LineShape(names, "refused", "first_column")
    return ColumnOrder(partial(scan, shape=line), 0, 1, score, rank)


TREC = ColumnOrder(partial(scan, shape=LINE), query=0, document=2, score=4, run_id=5)
MSMARCO = _unnamed(("query", "document", "rank"), None, 2)
COLBERT = _unnamed(("query", "document", "rank", "score"), 3, 2)
TEVATRON = _unnamed(("query", "document", "score"), 2, None)


class RunColumns(NamedTuple):
    """Lines of a run as columns of n rows, in the order of the file.

    Attributes
    ----------
    file
        The name of the run in messages.
    query : Tokens of length G
        The id of each group of neighbouring lines with one query.
    starts : (G+1,)
        Group g is the rows ``starts[g]:starts[g + 1]``.
    document, score, line : length n
        The retrieved document, its score and the physical line number of each row.
    run_id
        The run id of the last row.
    rank : length n
        The ranks beside the scores, in formats where ranks have a meaning; else None.
    by_rank : (n,) bool
        Which scores are negative ranks, each of them once per query; None if no score is.
    """

    file: str
    query: Tokens
    starts: IntArray
    document: Tokens
    score: FloatArray
    line: IntArray
    run_id: bytes
    rank: FloatArray | None = None
    by_rank: BoolArray | None = None

    def group(self) -> IntArray:
        """Return the group of each row, (n,)."""
        return np.repeat(np.arange(len(self.query)), np.diff(self.starts))

    @classmethod
    def joined(cls, parts: list[RunColumns]) -> RunColumns:
        """Join neighbouring blocks; a query may continue from one to the next."""
        if len(parts) == 1:
            return parts[0]
        query = Tokens.joined([part.query for part in parts])
        sizes = np.concatenate([np.diff(part.starts) for part in parts])
        first = query.changes()
        ranks = [part.rank for part in parts if part.rank is not None]
        by_rank = [
            np.zeros(len(part.line), dtype=bool) if part.by_rank is None else part.by_rank
            for part in parts
        ]
        return cls(
            parts[0].file,
            query.take(first[:-1]),
            np.append(0, np.cumsum(sizes))[first],
            Tokens.joined([part.document for part in parts]),
            np.concatenate([part.score for part in parts]),
            np.concatenate([part.line for part in parts]),
            parts[-1].run_id,
            np.concatenate(ranks) if len(ranks) == len(parts) else None,
            None if all(part.by_rank is None for part in parts) else np.concatenate(by_rank),
        )

    def groups(self, first: int, last: int) -> RunColumns:
        """Return the groups ``first:last``."""
        rows = slice(int(self.starts[first]), int(self.starts[last]))
        starts = self.starts[first : last + 1] - rows.start
        return self.with_rows(rows, starts)._replace(query=self.query.take(slice(first, last)))

    def with_rows(self, rows: slice | IntArray, starts: IntArray) -> RunColumns:
        """Keep some rows, which the groups are now cut into at `starts`."""
        return self._replace(
            starts=starts,
            document=self.document.take(rows),
            score=self.score[rows],
            line=self.line[rows],
            rank=None if self.rank is None else self.rank[rows],
            by_rank=None if self.by_rank is None else self.by_rank[rows],
        )


def refuse_carriage_returns(source: Source) -> None:
    """Raise `InputError` for a run whose lines end in carriage returns alone.

    trec_eval reads such a file as one line, and so as one document.
    """
    line = source.peek(_HEAD).split(b"\n", 1)[0]
    words = line.split(None, 12)
    if b"\r" in line.rstrip() and len(words) >= 2 * len(LINE.columns) and words[0][:1] != b"#":
        raise InputError(
            source.name,
            1,
            "a carriage return inside a line",
            "expected lines that end with a newline",
        )


def stream_run(source: Source) -> Iterator[RunColumns]:
    """Read a TREC run in blocks; a query may continue from one to the next.

    Raises
    ------
    InputError
        With the physical line, for a wrong number of columns or a score that is no number.
    """
    refuse_carriage_returns(source)
    yield from columns_of_blocks(blocks(source), TREC)


def stream_words(
    source: Source, shape: Shape | None = None, *, columns: ColumnOrder
) -> Iterator[RunColumns]:
    """Read a run of words between white space, which needs no shape; errors as `stream_run`."""
    return columns_of_blocks(blocks(source), columns)


def columns_of_blocks(texts: Iterable[Block], layout: ColumnOrder) -> Iterator[RunColumns]:
    """Turn blocks of lines into columns, as `stream_run`."""
    for block in texts:
        lines = layout.scan(block)
        if len(lines):
            yield columns_of(block, lines, layout)


def columns_of(block: Block, lines: LineColumns, layout: ColumnOrder) -> RunColumns:
    """Return the columns of lines."""
    line = lines.line
    rank = score = None
    if layout.rank is not None:
        rank = parse_ranks(block.file, lines.column(layout.rank), line)
    if layout.score is not None:
        score = parse_scores(block.file, lines.column(layout.score), line)
    run_id = run_id_of(block.file)
    if layout.run_id is not None:
        run_id = lines.column(layout.run_id, slice(len(line) - 1, None))[0]
    query, document = lines.column(layout.query), lines.column(layout.document)
    return run_columns(block.file, query, document, score, rank, line, run_id)


def run_columns(
    file: str,
    query: Tokens,
    document: Tokens,
    score: FloatArray | None,
    rank: FloatArray | None,
    line: IntArray,
    run_id: bytes,
) -> RunColumns:
    """Group rows by query. Without scores the rank counts, without ranks the order of the rows.

    Raises `InputError` for an empty id.
    """
    by_rank = None
    if score is None:
        if rank is not None:
            by_rank = np.ones(len(line), dtype=bool)
        score, rank = -(line.astype(np.float64) if rank is None else rank), None
    starts = query.changes()
    query = query.take(starts[:-1])
    refuse_empty(file, document, line, "document id")
    refuse_empty(file, query, line[starts[:-1]], "query id")
    return RunColumns(file, query, starts, document, score, line, run_id, rank, by_rank)


def whole_queries(parts: Iterable[RunColumns]) -> Iterator[RunColumns]:
    """Regroup blocks so that no query continues from one to the next."""
    open_: list[RunColumns] = []
    for part in parts:
        count = len(part.query)
        if open_ and (count > 1 or part.query[0] != open_[-1].query[-1]):
            same = int(part.query[0] == open_[-1].query[-1])
            yield RunColumns.joined([*open_, part.groups(0, same)] if same else open_)
            part, open_ = part.groups(same, count), []
            count -= same
        if count > 1:
            yield part.groups(0, count - 1)
            part = part.groups(count - 1, count)
        if count:
            open_.append(part)
    if open_:
        yield RunColumns.joined(open_)


def regrouped(run: RunColumns) -> RunColumns:
    """Bring the rows of each query together, queries as they first appear."""
    first, number = np.unique(run.query.first_rows(), return_inverse=True)
    of_rows = np.repeat(number, np.diff(run.starts))
    order = np.argsort(of_rows, kind="stable")
    starts = np.searchsorted(of_rows[order], np.arange(len(first) + 1))
    return run.with_rows(order, starts)._replace(query=run.query.take(first))


def refuse_empty(file: str, ids: Tokens, line: IntArray, what: str) -> None:
    """Raise `InputError` for an empty id."""
    empty = np.flatnonzero(ids.start == ids.end)
    if len(empty):
        raise InputError(file, int(line[empty[0]]), f"an empty {what}", "expected an id")


def run_id_of(file: str) -> bytes:
    """Name a run without a run id after its file, without suffixes and white space."""
    name = os.path.basename(file).split(".")[0]
    return b"_".join(os.fsencode(name).split()) if name.strip(" -") else b"run"


def no_results(file: str) -> InputError:
    """Return the error for a run without a single line."""
    return InputError(file, None, "holds no results", "expected a run of at least one line")
