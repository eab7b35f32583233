"""The examiner of runs: blocks of whole queries, in bounded memory, and lines that are wrong.

`check` tallies its findings over the blocks, and `inspect` describes what they hold.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, TypeAlias, TypeVar

import numpy as np

from ragkpi.arrays import BoolArray, FloatArray, IntArray
from ragkpi.files.formats import FileReader
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
from ragkpi.files.trec import Origin, RunColumns, no_results, ranked, whole_queries
from ragkpi.measures.measure import Metric
from ragkpi.ranking.judged import Settings
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.reading import ScatteredQueryError
from ragkpi.wording import named, shown

MOST_EXAMPLES = 3


@dataclass(frozen=True)
class Example:
    """A line number of the run (None for the whole file), and the problem on that line."""

    line: int | None
    text: str


@dataclass(frozen=True)
class Examination:
    """The qrels, measures and limits to examine runs against."""

    judgements: Judgements | None = None  # the qrels; None without any
    metrics: Sequence[Metric] = ()  # the measures whose cutoffs and tie ranges are checked
    settings: Settings = field(default_factory=Settings)
    max_hits: int | None = None  # the most documents that a query may retrieve; None for no limit

    @property
    def qrels(self) -> Judgements:
        """The judgements, for what is asked only with them."""
        assert self.judgements is not None
        return self.judgements

    @property
    def cutoffs(self) -> list[int]:
        cutoffs = {metric.arguments.get("cutoff") for metric in self.metrics}
        return sorted(cutoff for cutoff in cutoffs if isinstance(cutoff, int))


@dataclass
class LineTally:
    """The lines with a finding, of a block or of all blocks of a run."""

    lines: int = 0
    queries: int = 0
    examples: Sequence[Example] = ()  # the first ones in the file
    numbers: Counter[int | str] = field(default_factory=Counter)  # that the sentence needs besides

    def add(self, tally: LineTally) -> None:
        self.lines += tally.lines
        self.queries += tally.queries
        self.examples = [*self.examples, *tally.examples][:MOST_EXAMPLES]
        self.numbers.update(tally.numbers)


Tallies: TypeAlias = "defaultdict[str, LineTally]"
"""Tallies by the names of findings."""


@dataclass(frozen=True, eq=False)
class QueryBlock:
    """Whole queries of a run: n readable lines in the order of the file, joined with the qrels."""

    examination: Examination
    queries: list[bytes]  # length Q: ids, in order of appearance
    query: IntArray  # (n,): index of each line's query
    document: Tokens  # length n, as in `RunColumns`
    score: FloatArray
    line: IntArray
    rank: Tokens | None  # only in TREC runs
    run_id: Tokens | None  # only in TREC runs
    origin: Origin  # what orders the documents

    def __len__(self) -> int:
        return len(self.line)

    def name_of_query(self, row: int) -> str:
        return named(self.queries[self.query[row]])

    def tally(
        self,
        rows: IntArray,
        describe: Callable[[int], str] | None = None,
        numbers: Mapping[int | str, int] | None = None,
    ) -> LineTally:
        """Tally rows with a finding; `describe` says what is wrong with one, for examples."""
        first = rows[np.argsort(self.line[rows], kind="stable")[:MOST_EXAMPLES]].tolist()
        examples = (
            [Example(int(self.line[row]), describe(row)) for row in first] if describe else []
        )
        return LineTally(len(rows), len(np.unique(self.query[rows])), examples, Counter(numbers))

    @cached_property
    def _order_by_score(self) -> IntArray:
        """Rows by query and score descending, (n,)."""
        return np.lexsort((-self.score, self.query))

    @cached_property
    def order(self) -> IntArray:
        """Rows by query, score descending and id descending: trec_eval's ranking, (n,)."""
        ids = np.array(self.document.take(self.tied).tolist(), dtype=object)
        return self.order_among_ties(-np.unique(ids, return_inverse=True)[1])

    def order_among_ties(self, key: IntArray) -> IntArray:
        """Rows by query, score descending and, for the `tied` rows, a key of each, (n,)."""
        order, place = self._order_by_score.copy(), self._tied_places
        group = np.cumsum(~self.tied_with_above)[place]
        order[place] = self.tied[np.lexsort((key, group))]
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
        return np.lexsort((self.line, key, self.query))

    @cached_property
    def starts(self) -> IntArray:
        """The start of each query in `order`, and finally its length, (Q+1,)."""
        return np.append(0, np.cumsum(np.bincount(self.query, minlength=len(self.queries))))

    @cached_property
    def first_row(self) -> IntArray:
        """The first row of each query in the file, (Q,); -1 where a ranking is empty."""
        first: IntArray = np.full(len(self.queries), -1, dtype=np.int64)
        np.put(first, self.query[::-1], np.arange(len(self))[::-1])
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
        query, score = self.query[self._order_by_score], self.score[self._order_by_score]
        tied = np.zeros(len(self), dtype=bool)
        tied[1:] = (query[1:] == query[:-1]) & (score[1:] == score[:-1])
        return tied

    @cached_property
    def _tied_places(self) -> IntArray:
        either = self.tied_with_above.copy()
        either[:-1] |= either[1:]
        return np.flatnonzero(either)

    @property
    def tied(self) -> IntArray:
        """The rows with the score of another one of their query, by query and score."""
        return self._order_by_score[self._tied_places]

    @cached_property
    def repeated(self) -> tuple[IntArray, IntArray]:
        """The rows that repeat a document of their query, and the rows of its first appearance."""
        first = self.document.first_rows(self.query)
        again = np.flatnonzero(first != np.arange(len(self)))
        return again, first[again]

    @property
    def distinct(self) -> QueryBlock:
        """The block with the best row alone of a document that a query retrieves several times."""
        if not len(self.repeated[0]):
            return self
        best = self.ranked.first_rows(self.query[self.order]) == np.arange(len(self))
        rows = np.sort(self.order[best])
        return replace(
            self,
            query=self.query[rows],
            document=self.document.take(rows),
            score=self.score[rows],
            line=self.line[rows],
            rank=self.rank and self.rank.take(rows),
            run_id=self.run_id and self.run_id.take(rows),
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

    @property
    def is_numbered(self) -> bool:
        """Whether the rank column has the ranks by score, if there is one."""
        if self.rank_numbers is None:
            return True
        number, whole = self.rank_numbers
        return bool(whole.all() and (number[self.order] == self.ranks).all())

    @cached_property
    def judged_queries(self) -> IntArray:
        """The index of each query in the judgements, -1 for an unjudged query, (Q,)."""
        index = self.examination.qrels.index
        return np.array([index.get(query, -1) for query in self.queries], dtype=np.int64)

    @cached_property
    def judgement(self) -> IntArray:
        """The row of each line's judgement, -1 for none, (n,)."""
        rows = np.full(len(self), -1, dtype=np.int64)
        place, row = self.examination.qrels.find(self.judged_queries, self.starts, self.ranked)
        rows[self.order[place]] = row
        return rows


T = TypeVar("T")


class ExaminedRun:
    """A file of a run to read block by block, once or several times.

    Lines of TREC runs that cannot be read are skipped and `unreadable`, or refused as in other
    formats, which raise `InputError` for the first one. If some query's lines are scattered, the
    whole run is one block.
    """

    def __init__(
        self,
        source: Source,
        reader: FileReader,
        examination: Examination,
        lines: Literal["tallied", "refused"] = "tallied",
        block_size: int = BLOCK_SIZE,
    ) -> None:
        self.name, self.examination = source.name, examination
        self._source, self._reader, self._lines = source, reader, lines
        if (judgements := examination.judgements) is not None:
            self._reader = reader._replace(judged=(judgements.file, judgements.origin))
        self._block_size = block_size
        self.scattered = False
        self._last_run_id = b""
        self.unreadable: Tallies = defaultdict(LineTally)  # lines that were skipped
        source.keep_copy()

    def through(self, use: Callable[[Iterator[QueryBlock]], T]) -> T:
        """Call a function with the blocks, and return its result.

        If a query turns out to be scattered, call the function again with the whole run as one
        block.
        """
        try:
            return use(self._blocks())
        except ScatteredQueryError:
            self.scattered = True
            return use(self._blocks())

    def mended(self) -> Iterator[RunColumns]:
        """Yield the queries of a run that was gone `through`, with the last run id.

        They come by first appearance, each document once, by score and id, cut at `max_hits`.
        """
        depth, run_id = self.examination.max_hits, self._last_run_id
        for block in (block.distinct for block in self._blocks()):
            query = Tokens.from_strings(block.queries)
            score = block.score[block.order]
            run = RunColumns.of_rankings(query, block.starts, block.ranked, score, run_id)
            yield run if depth is None else run.kept(np.flatnonzero(run.ranks() <= depth))

    def _blocks(self) -> Iterator[QueryBlock]:
        self._source.restart()
        self.unreadable.clear()
        queries: set[bytes] = set()
        by_line = self._lines == "tallied" and self._reader.has_lines
        for block in self._of_lines() if by_line else self._of_columns():
            if not (self.scattered or queries.isdisjoint(block.queries)):
                raise ScatteredQueryError
            queries.update(block.queries)
            yield block
        if not queries and not self.unreadable:
            raise no_results(self.name)

    def _of_columns(self) -> Iterator[QueryBlock]:
        """Yield a run whose lines are not examined, by what its documents are called and score."""
        if self._lines == "refused":  # as evaluation reads it
            parts = self._reader.stream_run(self._source, held=self.scattered)
            return map(self._block, whole_queries(parts, held=self.scattered))
        parts = whole_queries(self._reader.stream_columns(self._source), held=self.scattered)
        if self._reader.name != "trec":
            parts = ranked(parts)
        if self._reader.sieve is not None:
            parts = self._reader.sieve.run(parts)
        if self.scattered:
            parts = iter([RunColumns.joined(list(parts))])
        return map(self._block, parts)

    def _of_lines(self) -> Iterator[QueryBlock]:
        """Yield the lines of a TREC run that have numeric scores; tally the others."""
        for lines in self._whole_queries():
            text = lines.column(4)
            score = text.numbers()
            wrong = np.isnan(score)
            for row in np.flatnonzero(wrong).tolist():
                self._tally("number", int(lines.line[row]), f"score {shown(text[row])}")
            if wrong.all():
                continue
            if wrong.any():
                lines, score = lines.rows(np.flatnonzero(~wrong)), score[~wrong]
            query, document, rank, run_id = map(lines.column, (0, 2, 3, 5))
            each, last = np.arange(len(lines) + 1), run_id[len(lines) - 1]
            scored = np.zeros(len(lines), dtype=bool)
            run = RunColumns(self.name, query, each, document, score, lines.line, last, scored)
            yield self._block(run, rank, run_id)

    def _whole_queries(self) -> Iterator[LineColumns]:
        """Yield the lines of whole queries; those of a scattered run at once."""
        whole = [whole_text(self._source)] if self.scattered else []
        last: LineColumns | None = None  # a block's last query, which may go on in the next block
        for block in whole or blocks(self._source, self._block_size):
            if block is None or not len(lines := self._split(block)):
                continue
            lines = lines if last is None else LineColumns.joined([last, lines])
            first = 0 if self.scattered else int(lines.column(0).changes()[-2])
            last = lines.rows(slice(first, None))
            if first:
                yield lines.rows(slice(first))
        if last is not None:
            yield last

    def _split(self, block: Block) -> LineColumns:
        """Split lines with all columns; tally the other lines, and text after the run id."""
        width = len(LINE.columns)
        lines, wrong = split_lines(
            block, width, extra=LINE.extra, comments=LINE.comments, wrong="all"
        )
        for line in wrong:
            nul = b"\0" in line.text
            what = "a NUL byte" if nul else f"{len(line.text.split())} columns"
            name = "nul-byte" if nul else "columns"
            self._tally(name, line.number, f"{what} ({shown(line.text)})")
        end = lines.end[:, -1]
        rows = np.flatnonzero(end < lines.stop)
        rests = Tokens(lines.text, end[rows], lines.stop[rows])
        for number, rest in zip(lines.line[rows].tolist(), rests, strict=True):
            if words := rest.split():
                text = f"{width + len(words)} columns, the last of them {shown(rest.strip())}"
                self._tally("extra-columns", number, text)
        return lines

    def _tally(self, finding: str, line: int, text: str) -> None:
        self.unreadable[finding].add(LineTally(1, examples=[Example(line, text)]))

    def _block(
        self, run: RunColumns, rank: Tokens | None = None, run_id: Tokens | None = None
    ) -> QueryBlock:
        """Number the queries of the groups of a run; `ScatteredQueryError` if one comes back."""
        self._last_run_id = run.run_id
        first, number = np.unique(run.query.first_rows(), return_inverse=True)
        if not self.scattered and np.count_nonzero(np.diff(number, prepend=-1)) > len(first):
            raise ScatteredQueryError
        return QueryBlock(
            examination=self.examination,
            queries=run.query.take(first).tolist(),
            query=np.repeat(number, np.diff(run.starts)),
            document=run.document,
            score=run.score,
            line=run.line,
            rank=rank,
            run_id=run_id,
            origin=run.origin,
        )
