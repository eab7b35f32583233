"""Runs as lines of columns; above all TREC's.

A TREC run is ``query Q0 document rank score run_id``; trec_eval ignores its ranks.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from ragkpi.errors import InputError
from ragkpi.formats.lines import Block, Lines, LineShape, blocks, scan
from ragkpi.formats.opening import Source
from ragkpi.formats.score_order import parse_ranks, parse_scores
from ragkpi.formats.tokens import BoolArray, FloatArray, IntArray, Tokens
from ragkpi.records import NamedTuple

LINE = LineShape(
    ("query", "Q0", "document", "rank", "score", "run_id"),
    "ignored",
    "first_word",
    {4: " (qrels have 4; they come first)"},
)
_LOOKED_AT = 1 << 12  # bytes that hold the first line, or as much of it as matters


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
    """

    scan: Callable[[Block], Lines]
    query: int
    document: int
    score: int | None
    rank: int | None = None
    run_id: int | None = None


class RunColumns(NamedTuple):
    """Lines of a run as columns of n rows, in the order of the file.

    Attributes
    ----------
    file
        What messages call the run.
    query : Tokens of length G
        The id of each group of neighbouring lines with one query.
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
        """Return the group that each row belongs to, (n,)."""
        return np.repeat(np.arange(len(self.query)), np.diff(self.starts))

    @classmethod
    def joined(cls, parts: list[RunColumns]) -> RunColumns:
        """Put neighbouring blocks together; a query may go on from one to the next."""
        if len(parts) == 1:
            return parts[0]
        query = Tokens.joined([part.query for part in parts])
        sizes = np.concatenate([np.diff(part.starts) for part in parts])
        first = query.changes()
        ranks = [part.rank for part in parts if part.rank is not None]
        return cls(
            parts[0].file,
            query.take(first[:-1]),
            np.append(0, np.cumsum(sizes))[first],
            Tokens.joined([part.document for part in parts]),
            np.concatenate([part.score for part in parts]),
            np.concatenate([part.line for part in parts]),
            parts[-1].run_id,
            np.concatenate(ranks) if len(ranks) == len(parts) else None,
            _joined_by_rank(parts),
        )

    def rows(self, first: int, last: int) -> RunColumns:
        """Return the groups from `first` to `last`, of which the last one is not included."""
        rows = slice(int(self.starts[first]), int(self.starts[last]))
        return self._replace(
            query=self.query.take(slice(first, last)),
            starts=self.starts[first : last + 1] - rows.start,
            document=self.document.take(rows),
            score=self.score[rows],
            line=self.line[rows],
            rank=None if self.rank is None else self.rank[rows],
            by_rank=None if self.by_rank is None else self.by_rank[rows],
        )


def _joined_by_rank(parts: list[RunColumns]) -> BoolArray | None:
    if all(part.by_rank is None for part in parts):
        return None
    return np.concatenate(
        [np.zeros(len(p.line), dtype=bool) if p.by_rank is None else p.by_rank for p in parts]
    )


def refuse_carriage_returns(source: Source) -> None:
    """Raise `InputError` for a run whose lines end in carriage returns alone.

    trec_eval takes such a file for one line, and so for one document.
    """
    line = source.peek(_LOOKED_AT).split(b"\n", 1)[0]
    words = line.split(None, 12)
    if b"\r" in line.rstrip() and len(words) >= 2 * len(LINE.columns) and words[0][:1] != b"#":
        raise InputError(
            source.name,
            1,
            "a carriage return inside a line",
            "expected lines that end with a newline",
        )


def stream_run(source: Source) -> Iterator[RunColumns]:
    """Read a TREC run in columns, block by block; errors as `stream_lines` has them."""
    refuse_carriage_returns(source)
    yield from stream_lines(source, TREC)


def stream_lines(source: Source, layout: ColumnOrder) -> Iterator[RunColumns]:
    """Read a run in blocks; a query may go on from one to the next.

    Raises
    ------
    InputError
        With the physical line, for a wrong number of columns or a score that is no number.
    """
    yield from columns_of_blocks(blocks(source), layout)


def columns_of_blocks(texts: Iterable[Block], layout: ColumnOrder) -> Iterator[RunColumns]:
    """Read blocks of lines, as `stream_lines`."""
    for block in texts:
        lines = layout.scan(block)
        if len(lines):
            yield columns_of(block, lines, layout)


def columns_of(block: Block, lines: Lines, layout: ColumnOrder) -> RunColumns:
    """Return the columns of lines."""
    line = lines.line
    rank = None
    if layout.rank is not None:
        rank = parse_ranks(block.file, lines.column(layout.rank), line)
    if layout.score is not None:
        score = parse_scores(block.file, lines.column(layout.score), line)
    else:
        score = -(line.astype(np.float64) if rank is None else rank)  # or the order of the lines
    query = lines.column(layout.query)
    starts = query.changes()
    columns = RunColumns(
        file=block.file,
        query=query.take(starts[:-1]),
        starts=starts,
        document=lines.column(layout.document),
        score=score,
        line=line,
        run_id=(
            run_id_of(block.file)
            if layout.run_id is None
            else lines.column(layout.run_id, slice(len(line) - 1, None))[0]
        ),
        rank=None if layout.score is None else rank,
        by_rank=(
            np.ones(len(line), dtype=bool)
            if layout.score is None and layout.rank is not None
            else None
        ),
    )
    refuse_empty(block.file, columns.document, line, "document id")
    refuse_empty(block.file, columns.query, line[starts[:-1]], "query id")
    return columns


TREC = ColumnOrder(lambda block: scan(block, LINE), query=0, document=2, score=4, run_id=5)


def whole_queries(parts: Iterable[RunColumns]) -> Iterator[RunColumns]:
    """Put blocks together so that no query goes on from one to the next."""
    open_: list[RunColumns] = []
    for part in parts:
        groups = len(part.query)
        if open_ and (groups > 1 or part.query[0] != open_[-1].query[-1]):
            same = int(part.query[0] == open_[-1].query[-1])
            yield RunColumns.joined([*open_, part.rows(0, same)] if same else open_)
            part, open_ = part.rows(same, groups), []
            groups -= same
        if groups > 1:
            yield part.rows(0, groups - 1)
            part = part.rows(groups - 1, groups)
        if groups:
            open_.append(part)
    if open_:
        yield RunColumns.joined(open_)


def regrouped(run: RunColumns) -> RunColumns:
    """Put the rows of each query together, queries as they first appear."""
    first, number = np.unique(run.query.first_rows(), return_inverse=True)
    of_rows = np.repeat(number, np.diff(run.starts))
    order = np.argsort(of_rows, kind="stable")
    return run._replace(
        query=run.query.take(first),
        starts=np.searchsorted(of_rows[order], np.arange(len(first) + 1)),
        document=run.document.take(order),
        score=run.score[order],
        line=run.line[order],
        rank=None if run.rank is None else run.rank[order],
        by_rank=None if run.by_rank is None else run.by_rank[order],
    )


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
