"""Tolerant reading of runs for checks: unreadable lines are noted and skipped, and the mended run.

A run is read in blocks of whole queries, so that checks run in bounded memory.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias, TypeVar

import numpy as np

from ragkpi.arrays import BoolArray, FloatArray, IntArray
from ragkpi.files.formats import Reading, run_format
from ragkpi.files.lines import (
    BLOCK_SIZE,
    Block,
    LineColumns,
    Tokens,
    blocks,
    split_lines,
    whole_text,
)
from ragkpi.files.opening import Source
from ragkpi.files.trec import RUN_LINE as LINE
from ragkpi.files.trec import RunColumns, no_results, ranked, whole_queries
from ragkpi.files.writing import Rankings
from ragkpi.measures.measure import Metric
from ragkpi.ranking.judged import Settings
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.reading import ScatteredQueryError
from ragkpi.wording import counted, named, shown

MOST_EXAMPLES = 3


@dataclass(frozen=True)
class Example:
    """A line number of the run (None for the whole file), and the problem on that line."""

    line: int | None
    text: str


@dataclass(frozen=True)
class CheckRequest:
    """The qrels, measures and limits to check runs against."""

    judgements: Judgements | None = None  # the qrels; None without any
    metrics: Sequence[Metric] = ()  # the measures whose cutoffs and tie ranges are checked
    settings: Settings = field(default_factory=Settings)
    max_hits: int | None = None  # the most documents that a query may retrieve; None for no limit

    @property
    def cutoffs(self) -> list[int]:
        cutoffs = {metric.arguments.get("cutoff") for metric in self.metrics}
        return sorted(cutoff for cutoff in cutoffs if isinstance(cutoff, int))


@dataclass
class LineTally:
    """What all blocks of a run have of a finding about lines."""

    request: CheckRequest
    lines: int = 0
    queries: int = 0
    numbers: Counter[int | str] = field(default_factory=Counter)  # that the sentence needs besides
    examples: list[Example] = field(default_factory=list)  # the first ones in the file

    def add(self, line: int, text: str) -> None:
        """Count a line, with what is wrong."""
        self.lines += 1
        if self.lines <= MOST_EXAMPLES:
            self.examples.append(Example(line, text))


Tallies: TypeAlias = "defaultdict[str, LineTally]"
"""Tallies by the names of findings."""


def scan_tolerantly(block: Block, problems: Tallies) -> LineColumns:
    """Split lines with all columns; note the other lines, and text after the run id."""
    lines, wrong = split_lines(
        block, len(LINE.columns), extra=LINE.extra, comments=LINE.comments, wrong="all"
    )
    for line in wrong:
        nul = b"\0" in line.text
        what = "a NUL byte" if nul else f"{len(line.text.split())} columns"
        problems["nul-byte" if nul else "columns"].add(line.number, f"{what} ({shown(line.text)})")
    end = lines.end[:, -1]
    rows = np.flatnonzero(end < lines.stop)
    rests = Tokens(lines.text, end[rows], lines.stop[rows])
    for number, rest in zip(lines.line[rows].tolist(), rests, strict=True):
        if rest.strip():
            count = len(LINE.columns) + len(rest.split())
            text = f"{count} columns, the last of them {shown(rest.strip())}"
            problems["extra-columns"].add(number, text)
    return lines


@dataclass(frozen=True, eq=False)
class QueryBlock:
    """Whole queries of a run: n readable lines in the order of the file, joined with the qrels."""

    request: CheckRequest
    queries: list[bytes]  # length Q: ids, in order of appearance
    query: IntArray  # (n,): index of each line's query
    document: Tokens  # length n, as in `RunColumns`
    score: FloatArray
    line: IntArray
    rank: Tokens | None  # only in TREC runs
    run_id: Tokens | None  # only in TREC runs
    last_run_id: bytes
    stretches: int  # of neighbouring lines of a query; Q if no query is scattered
    problems: Tallies  # of the unreadable lines of all blocks so far

    def __len__(self) -> int:
        return len(self.line)

    def name_of_query(self, row: int) -> str:
        return named(self.queries[self.query[row]])

    @cached_property
    def order(self) -> IntArray:
        """Rows by query, score descending and id descending: trec_eval's ranking, (n,)."""
        if self._is_by_query and not self._is_tied_or_rising(self.score):
            return np.arange(len(self))
        order: IntArray = np.lexsort((-self.score, self.query))
        query, score = self.query[order], self.score[order]
        ties = np.flatnonzero((query[1:] != query[:-1]) | (score[1:] != score[:-1])) + 1
        bounds = np.concatenate([[0], ties, [len(order)]])
        for tie in np.flatnonzero(np.diff(bounds) > 1).tolist():
            rows = order[bounds[tie] : bounds[tie + 1]]
            ids = self.document.take(rows).tolist()
            by_id = sorted(range(len(ids)), key=ids.__getitem__, reverse=True)
            order[bounds[tie] : bounds[tie + 1]] = rows[by_id]
        return order

    @cached_property
    def ranked(self) -> Tokens:
        return self.document.take(self.order)

    @cached_property
    def order_by_rank(self) -> IntArray:
        """Rows by query, rank column (if it holds numbers) and line, (n,)."""
        return self.ordered(self.line if self.rank_numbers is None else self.rank_numbers[0])

    def ordered(self, key: IntArray) -> IntArray:
        """Return rows by query, a key and line, (n,)."""
        if self._is_by_query and not self._is_tied_or_rising(-key):
            return np.arange(len(self))
        return np.lexsort((self.line, key, self.query))

    @cached_property
    def _is_by_query(self) -> bool:
        return bool((self.query[1:] >= self.query[:-1]).all())

    def _is_tied_or_rising(self, value: FloatArray | IntArray) -> bool:
        """Return whether any value equals or exceeds the previous one of its query."""
        return bool(((self.query[1:] == self.query[:-1]) & (value[1:] >= value[:-1])).any())

    @cached_property
    def starts(self) -> IntArray:
        """The start of each query in `order`, and finally its length, (Q+1,)."""
        return np.append(0, np.cumsum(np.bincount(self.query, minlength=len(self.queries))))

    @cached_property
    def first_row(self) -> IntArray:
        """The first row of each query in the file, (Q,); 0 for a query without rows."""
        first = np.zeros(len(self.queries), dtype=np.int64)
        queries, rows = np.unique(self.query, return_index=True)
        first[queries] = rows
        return first

    @cached_property
    def ranks(self) -> IntArray:
        """The 1-based rank of each place of `order`, (n,)."""
        sizes = np.diff(self.starts)
        ranks: IntArray = np.arange(len(self)) - np.repeat(self.starts[:-1], sizes) + 1
        return ranks

    @cached_property
    def tied_with_above(self) -> BoolArray:
        """Whether each row of `order` has the query and score of the previous row, (n,)."""
        query, score = self.query[self.order], self.score[self.order]
        tied = np.zeros(len(self), dtype=bool)
        tied[1:] = (query[1:] == query[:-1]) & (score[1:] == score[:-1])
        return tied

    @cached_property
    def repeated(self) -> tuple[IntArray, IntArray]:
        """The rows that repeat a document of their query, and the rows of its first appearance."""
        first = self.document.first_rows(self.query)
        again = np.flatnonzero(first != np.arange(len(self)))
        return again, first[again]

    def without_repetitions(self) -> QueryBlock:
        """Keep only the best-ranked row of every document that a query retrieves several times."""
        if not len(self.repeated[0]):
            return self
        again, _ = self._select(self.order).repeated  # all but the best of each document
        kept = np.ones(len(self), dtype=bool)
        kept[self.order[again]] = False
        return self._select(kept)

    def _select(self, rows: IntArray | BoolArray) -> QueryBlock:
        return replace(
            self,
            query=self.query[rows],
            document=self.document.take(rows),
            score=self.score[rows],
            line=self.line[rows],
            rank=None if self.rank is None else self.rank.take(rows),
            run_id=None if self.run_id is None else self.run_id.take(rows),
        )

    @cached_property
    def rank_numbers(self) -> tuple[IntArray, BoolArray] | None:
        """The rank column, and whether each entry is a whole number; None without the column."""
        if self.rank is None:
            return None
        rank = self.rank.numbers()
        whole = np.abs(rank) < 2.0**53
        whole &= rank == np.floor(rank, where=whole, out=np.zeros_like(rank))
        return np.where(whole, rank, 0).astype(np.int64), whole

    @cached_property
    def first_of_run_ids(self) -> dict[int, bytes]:
        """The distinct run ids by their first rows; empty without the column."""
        if self.run_id is None:
            return {}
        rows = np.unique(self.run_id.first_rows())
        return dict(zip(rows.tolist(), self.run_id.take(rows).tolist(), strict=True))

    @property
    def judgements(self) -> Judgements:
        """The qrels, for what is asked only with qrels."""
        assert self.request.judgements is not None
        return self.request.judgements

    @cached_property
    def judged_queries(self) -> IntArray:
        """The index of each query in the judgements, -1 for an unjudged query, (Q,)."""
        index = self.judgements.index
        return np.array([index.get(query, -1) for query in self.queries], dtype=np.int64)

    @cached_property
    def judgement(self) -> IntArray:
        """The row of each line's judgement, -1 for none, (n,)."""
        rows = np.full(len(self), -1, dtype=np.int64)
        place, row = self.judgements.find(self.judged_queries, self.starts, self.ranked)
        rows[self.order[place]] = row
        return rows


T = TypeVar("T")


class CheckedFile:
    """A file to read for its mistakes, block by block, once or several times.

    Without a `reading`, the format is recognised. If some query's lines are scattered, the whole
    run is one block.
    """

    def __init__(
        self,
        source: Source,
        request: CheckRequest,
        reading: Reading | str | None = None,
        block_size: int = BLOCK_SIZE,
    ) -> None:
        self.name, self.request = source.name, request
        self._source = source
        self._reader = run_format(source, reading)
        if (judgements := request.judgements) is not None:
            self._reader = self._reader._replace(judged=(judgements.file, judgements.origin))
        self._block_size = block_size
        self.scattered = False
        self._read_before = False
        source.keep_copy()

    def through(self, use: Callable[[Iterator[QueryBlock]], T]) -> T:
        """Call a function with the blocks, and return its result.

        If a query turns out to be scattered, call the function again with the whole run as one
        block. Only TREC runs allow skipping unreadable lines; other formats raise `InputError` for
        the first one, as do files that are wholly unreadable.
        """
        try:
            return use(self._blocks())
        except ScatteredQueryError:
            self.scattered = True
            return use(self._blocks())

    def _blocks(self) -> Iterator[QueryBlock]:
        if self._read_before:
            self._source.restart()
        self._read_before = True
        problems: Tallies = defaultdict(lambda: LineTally(self.request))
        queries: set[bytes] = set()
        empty = True
        for block in (self._of_lines if self._reader.has_lines else self._of_columns)(problems):
            again = block.stretches > len(block.queries) or not queries.isdisjoint(block.queries)
            if again and not self.scattered:
                raise ScatteredQueryError
            queries.update(block.queries)
            empty = False
            yield block
        if empty:
            if not problems:
                raise no_results(self.name)
            ids, none = Tokens.from_strings([]), np.zeros(1, dtype=np.int64)
            nothing = RunColumns(self.name, ids, none, ids, np.empty(0), none[1:], b"")
            yield self._block(problems, nothing, ids, ids)

    def _of_columns(self, problems: Tallies) -> Iterator[QueryBlock]:
        """Yield a run that is not in TREC format, or whose documents are filtered."""
        columns = self._reader.stream_columns(self._source)
        if not self.scattered:
            runs = self._sieved(columns)
        elif parts := list(columns):
            run = RunColumns.joined(parts)
            sieved = RunColumns.joined(list(self._sieved([run])))
            runs = iter([sieved if self._reader.sieve else run])
        else:
            return
        for run in runs:
            yield self._block(problems, run)

    def _sieved(self, parts: Iterable[RunColumns]) -> Iterator[RunColumns]:
        parts = whole_queries(parts, held=self.scattered)
        if self._reader.name != "trec":
            parts = ranked(parts)
        return iter(self._reader.sieve.run(parts) if self._reader.sieve else parts)

    def _of_lines(self, problems: Tallies) -> Iterator[QueryBlock]:
        """Yield the lines of a TREC run that have numeric scores; note the others."""
        for lines in self._whole_queries(problems):
            text = lines.column(4)
            score = text.numbers()
            wrong = np.isnan(score)
            for row in np.flatnonzero(wrong).tolist():
                problems["number"].add(int(lines.line[row]), f"score {shown(text[row])}")
            if wrong.all():
                continue
            if wrong.any():
                lines, score = lines.rows(np.flatnonzero(~wrong)), score[~wrong]
            query, document, rank, run_id = map(lines.column, (0, 2, 3, 5))
            each, last = np.arange(len(lines) + 1), run_id[len(lines) - 1]
            run = RunColumns(self.name, query, each, document, score, lines.line, last)
            yield self._block(problems, run, rank, run_id)

    def _whole_queries(self, problems: Tallies) -> Iterator[LineColumns]:
        """Yield the lines of whole queries; those of a scattered run at once."""
        whole = [whole_text(self._source)] if self.scattered else []
        last: LineColumns | None = None  # a block's last query, which may go on in the next block
        for block in whole or blocks(self._source, self._block_size):
            if block is None or not len(lines := scan_tolerantly(block, problems)):
                continue
            lines = lines if last is None else last.joined(lines)
            first = 0 if self.scattered else int(lines.column(0).changes()[-2])
            last = lines.rows(slice(first, None))
            if first:
                yield lines.rows(slice(first))
        if last is not None:
            yield last

    def _block(
        self,
        problems: Tallies,
        run: RunColumns,
        rank: Tokens | None = None,
        run_id: Tokens | None = None,
    ) -> QueryBlock:
        """Number the queries of the groups of a run."""
        first, number = np.unique(run.query.first_rows(), return_inverse=True)
        return QueryBlock(
            request=self.request,
            queries=run.query.take(first).tolist(),
            query=np.repeat(number, np.diff(run.starts)),
            document=run.document,
            score=run.score,
            line=run.line,
            rank=rank,
            run_id=run_id,
            last_run_id=run.run_id,
            stretches=int(np.count_nonzero(np.diff(number, prepend=-1))),
            problems=problems,
        )


class Mender:
    """Mends a run block by block, and counts the changes."""

    def __init__(self, max_hits: int | None = None) -> None:
        self._max_hits = max_hits
        self._problems: Tallies = defaultdict(lambda: LineTally(CheckRequest()))
        self._repeated = self._moved = self._cut = 0
        self._run_ids: set[bytes] = set()
        self._numbered = True

    def rankings(self, blocks: Iterable[QueryBlock]) -> Iterator[Rankings]:
        """Yield queries by first appearance, with documents by score and id."""
        for block in blocks:
            mended = block.without_repetitions()
            self._count(block, mended)
            query = Tokens.from_strings(mended.queries)
            rankings = Rankings(query, mended.starts, mended.ranked, mended.score[mended.order])
            yield rankings if self._max_hits is None else rankings.cut(self._max_hits)

    def _count(self, block: QueryBlock, mended: QueryBlock) -> None:
        self._problems = block.problems  # the reader adds to them to the end
        self._repeated += len(block) - len(mended)
        self._moved += int(np.count_nonzero(block.order != np.arange(len(block))))
        if self._max_hits is not None:
            self._cut += int(np.maximum(np.diff(mended.starts) - self._max_hits, 0).sum())
        self._run_ids.update(block.first_of_run_ids.values())
        if mended.rank_numbers is not None:
            numbers, valid = mended.rank_numbers
            self._numbered &= bool(valid.all() and (numbers[mended.order] == mended.ranks).all())

    @property
    def changes(self) -> list[str]:
        repeated = counted(self._repeated, "repeated document")
        unreadable = sum(self._problems[name].lines for name in ("columns", "number", "nul-byte"))
        changes = {
            f"dropped {counted(unreadable, 'line')} that cannot be read": unreadable,
            f"dropped {repeated}, keeping the highest score of each": self._repeated,
            "sorted the lines by query, score and document": self._moved,
            f"cut {counted(self._cut, 'document')} below rank {self._max_hits}": self._cut,
            "gave all lines the last run id": len(self._run_ids) > 1,
            "numbered the ranks from 1 by the scores": not self._numbered,
        }
        return [change for change, made in changes.items() if made]
