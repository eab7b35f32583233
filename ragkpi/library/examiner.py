"""The examiner of runs: a run in memory, joined with the qrels, and its invalid lines.

`check` searches it for findings, and `inspect` describes its content.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from ragkpi.arrays import BoolArray, FloatArray, IntArray
from ragkpi.files.formats import FileReader
from ragkpi.files.lines import Tokens, split_lines, whole_text
from ragkpi.files.opening import Source
from ragkpi.files.trec import RUN_LINE as LINE
from ragkpi.files.trec import (
    Origin,
    RunColumns,
    no_results,
    refuse_carriage_returns,
    rows_with_space,
    whole_queries,
)
from ragkpi.measures.measure import Metric
from ragkpi.ranking.judged import Settings
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.reading import JUDGED_ONLY, Hits, hits_of, run_for
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
    max_hits: int | None = None  # maximum documents per query; None for no limit

    @property
    def qrels(self) -> Judgements:
        """The judgements, for findings that need them."""
        assert self.judgements is not None
        return self.judgements

    @property
    def cutoffs(self) -> list[int]:
        cutoffs = {metric.arguments.get("cutoff") for metric in self.metrics}
        return sorted(cutoff for cutoff in cutoffs if isinstance(cutoff, int))


@dataclass(frozen=True, eq=False)
class ExaminedRun:
    """A run in memory: n readable lines in the order of the file, joined with the qrels."""

    file: str
    examination: Examination
    queries: list[bytes]  # length Q: ids, in order of appearance
    query: IntArray  # (n,): index of each line's query
    document: Tokens  # length n, as in `RunColumns`
    score: FloatArray
    line: IntArray
    last_run_id: bytes
    origin: Origin  # the source of the order of documents
    rank: Tokens | None = None  # only in TREC runs
    run_id: Tokens | None = None  # only in TREC runs
    skipped: Sequence[Example] = ()  # unreadable lines

    def __len__(self) -> int:
        return len(self.line)

    def name_of_query(self, row: int) -> str:
        return named(self.queries[self.query[row]])

    def examples(self, rows: IntArray, describe: Callable[[int], str]) -> list[Example]:
        """Return the first rows in the file; `describe` gives the problem of a row."""
        first = rows[np.argsort(self.line[rows], kind="stable")[:MOST_EXAMPLES]].tolist()
        return [Example(int(self.line[row]), describe(row)) for row in first]

    @cached_property
    def _order_by_score(self) -> IntArray:
        """Rows by query and score descending, (n,)."""
        return np.lexsort((-self.score, self.query))

    @cached_property
    def order(self) -> IntArray:
        """Rows by query, score descending and id descending: trec_eval's ranking, (n,)."""
        order, place = self._order_by_score.copy(), self._tied_places
        ids = np.array(self.document.take(self.tied).tolist(), dtype=object)
        group = np.cumsum(~self.tied_with_above)[place]
        order[place] = self.tied[np.lexsort((-np.unique(ids, return_inverse=True)[1], group))]
        return order

    @cached_property
    def ranked(self) -> Tokens:
        return self.document.take(self.order)

    @cached_property
    def order_by_rank(self) -> IntArray:
        """Rows by query, rank column and line, (n,); ranks that are no numbers count as 0."""
        rank = self.line if self.rank is None else np.nan_to_num(self.rank.numbers())
        return np.lexsort((self.line, rank, self.query))

    @cached_property
    def starts(self) -> IntArray:
        """The start of each query in `order`, and finally its length, (Q+1,)."""
        return np.append(0, np.cumsum(np.bincount(self.query, minlength=len(self.queries))))

    @cached_property
    def first_row(self) -> IntArray:
        """The first row of each query in the file, (Q,); -1 for an empty ranking."""
        first: IntArray = np.full(len(self.queries), -1, dtype=np.int64)
        np.put(first, self.query[::-1], np.arange(len(self))[::-1])
        return first

    @cached_property
    def ranks(self) -> IntArray:
        """The 1-based rank of each element of `order`, (n,)."""
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

    @cached_property
    def distinct(self) -> ExaminedRun:
        """The run with only the best row of each document of a query."""
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
    def judged_queries(self) -> IntArray:
        """The index of each query in the judgements, -1 for an unjudged query, (Q,)."""
        index = self.examination.qrels.index
        return np.array([index.get(query, -1) for query in self.queries], dtype=np.int64)

    @cached_property
    def hits(self) -> Hits:
        """The judged documents of `rankings`, as an evaluation finds them."""
        run = run_for(self.examination.qrels, JUDGED_ONLY, held=True)
        for part in self.rankings.pieces():
            run.add(*part.for_kernel)
        return hits_of(self.examination.qrels, run, run.finish(), self.last_run_id)

    @property
    def rankings(self) -> RunColumns:
        """The queries by first appearance, each document once, by score and id."""
        best = self.distinct
        query, score = Tokens.from_strings(best.queries), best.score[best.order]
        return RunColumns.of_rankings(query, best.starts, best.ranked, score, self.last_run_id)


def examine(
    source: Source,
    reader: FileReader,
    examination: Examination,
    lines: Literal["skipped", "refused"] = "skipped",
) -> ExaminedRun:
    """Read a run into memory, as evaluation reads it.

    Unreadable lines of TREC runs are skipped, or refused as in other formats, which raise
    `InputError` for the first one.
    """
    if (judgements := examination.judgements) is not None:
        reader = reader._replace(judged=(judgements.file, judgements.origin))
    unchanged = reader.scores == "similarity" and not reader.sieve
    if lines == "skipped" and reader.name == "trec" and unchanged:
        run = _of_lines(source, examination)
    else:
        run = _of_columns(source, reader, examination)
    if run is None:
        raise no_results(source.name)
    return run


def _of_columns(source: Source, reader: FileReader, examination: Examination) -> ExaminedRun | None:
    """Read a run without examining lines; None if it has none."""
    parts = whole_queries(reader.stream_run(source, held=True), held=True)
    if (sieve := reader.sieve) is not None:
        parts = sieve.best(sieve.folded(parts) if sieve.in_kernel else parts)
    blocks = list(parts)
    if not blocks:
        return None
    run = RunColumns.joined(blocks)
    return ExaminedRun(
        file=source.name,
        examination=examination,
        queries=run.query.tolist(),
        query=run.group(),
        document=run.document,
        score=run.score,
        line=run.line,
        last_run_id=run.run_id,
        origin=run.origin,
    )


def _of_lines(source: Source, examination: Examination) -> ExaminedRun | None:
    """Read the lines of a TREC run that have all columns and numeric scores; skip the others."""
    refuse_carriage_returns(source)
    text = whole_text(source)
    if text is None:
        return None
    width = len(LINE.columns)
    lines, wrong = split_lines(text, width, extra=LINE.extra, comments=LINE.comments, wrong="all")
    skipped = []
    for line in wrong:
        what = "a NUL byte" if b"\0" in line.text else f"{len(line.text.split())} columns"
        skipped.append(Example(line.number, f"{what} ({shown(line.text)})"))
    spaced = rows_with_space(lines)
    for row in spaced.tolist():
        what = f"rank {shown(lines.column(3)[row])} of more than {width} columns"
        skipped.append(Example(int(lines.line[row]), f"{what}: an id with a space"))
    if len(spaced):
        lines = lines.rows(np.delete(np.arange(len(lines)), spaced))
    score_text = lines.column(4)
    score = score_text.numbers()
    is_wrong = np.isnan(score)
    for row in np.flatnonzero(is_wrong).tolist():
        skipped.append(Example(int(lines.line[row]), f"score {shown(score_text[row])}"))
    if not len(lines) and not skipped:
        return None
    if is_wrong.any():
        lines, score = lines.rows(np.flatnonzero(~is_wrong)), score[~is_wrong]
    query, document, rank, run_id = map(lines.column, (0, 2, 3, 5))
    number = lines.line
    del lines  # the places of all columns, which are the largest arrays
    first_row = query.first_rows()
    is_first = first_row == np.arange(len(number))
    return ExaminedRun(
        file=source.name,
        examination=examination,
        queries=query.take(np.flatnonzero(is_first)).tolist(),
        query=(np.cumsum(is_first) - 1)[first_row],
        document=document,
        score=score,
        line=number,
        last_run_id=run_id[len(number) - 1] if len(number) else b"",
        origin=Origin(),
        rank=rank,
        run_id=run_id,
        skipped=sorted(skipped, key=lambda example: example.line or 0),
    )
