"""Holes: the unjudged documents that runs retrieved, and runs judged under any levels for them.

A run is judged once, with its holes among the hits; giving holes levels then only changes levels
and level counts, so thousands of assignments are one batch for the measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ragkpi.formats.tokens import IntArray, Tokens
from ragkpi.ranking.hits import Hits
from ragkpi.ranking.judge import judge
from ragkpi.ranking.judged import BoolArray, Judged
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.settings import Settings

UNRETRIEVED = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Holes:
    """The n unjudged documents that R runs retrieved for judged queries.

    Attributes
    ----------
    judgements
        The qrels with a row for each hole, unjudged.
    runs : list of Hits, length R
        What each run retrieved of them.
    row : (n,)
        The rows of the holes, ascending, hence by query.
    document : list of bytes, length n
        Their ids.
    rank : (n, R)
        Where each run has them; `UNRETRIEVED` where it does not.
    """

    judgements: Judgements
    runs: list[Hits]
    row: IntArray
    document: list[bytes]
    rank: IntArray

    @cached_property
    def query(self) -> IntArray:
        """The query of each hole, as a number in the judgements, (n,)."""
        return self.judgements.query[self.row]

    def within(self, depth: int | None) -> BoolArray:
        """Whether any run has each hole at or above a rank; None is the last, (n,)."""
        best = self.rank.min(axis=1, initial=UNRETRIEVED)
        return np.asarray(best < UNRETRIEVED if depth is None else best <= depth)


def find_holes(judgements: Judgements, runs: Sequence[Hits], settings: Settings) -> Holes:
    """Find the holes of runs that were read with the names of their top documents.

    Unjudged are documents without a judgement and those with a negative level. Ranks below -M
    do not exist. `UsageError` for qrels that have gains and no levels.
    """
    judgements.refuse_gains("holes are filled with levels")
    deepest = UNRETRIEVED if settings.max_retrieved is None else settings.max_retrieved
    number: dict[tuple[int, bytes], int] = {}
    ranks_of_run: list[tuple[IntArray, IntArray]] = []  # per run the number and the rank of each
    for run in runs:
        top = run.top
        unjudged = (top.judgement < 0) | (judgements.level[top.judgement] < 0)
        rows = np.flatnonzero(unjudged & (top.rank <= deepest))
        names = [top.document[row] for row in rows.tolist()]
        keys = zip(top.query[rows].tolist(), names, strict=True)
        numbers = [number.setdefault(key, len(number)) for key in keys]
        ranks_of_run.append((np.array(numbers, dtype=np.int64), top.rank[rows]))
    rank = np.full((len(number), len(runs)), UNRETRIEVED)
    for number_of_run, (numbers_, ranks) in enumerate(ranks_of_run):
        rank[numbers_, number_of_run] = ranks
    query = np.array([query for query, _ in number], dtype=np.int64)
    document = [document for _, document in number]
    order = np.lexsort((_alphabetic(document), query))
    document, rank, query = [document[i] for i in order], rank[order], query[order]
    widened, moved, row = _with_rows(judgements, query, document)
    hits = [
        _hits(run, moved, row, ranks, judgements) for run, ranks in zip(runs, rank.T, strict=True)
    ]
    return Holes(widened, hits, row, document, rank)


def _alphabetic(documents: list[bytes]) -> IntArray:
    order = sorted(range(len(documents)), key=documents.__getitem__)
    places = np.empty(len(documents), dtype=np.int64)
    places[order] = np.arange(len(documents))
    return places


def _with_rows(
    judgements: Judgements, query: IntArray, document: list[bytes]
) -> tuple[Judgements, IntArray, IntArray]:
    """Add unjudged rows; return the judgements, where old rows went, and where the new ones are.

    What had a negative level is taken out, for it is a hole now or was not retrieved.
    """
    kept = np.flatnonzero(judgements.level >= 0)
    names = judgements.document.take(kept).tolist() + document
    queries = np.concatenate([judgements.query[kept], query])
    order = np.argsort(queries, kind="stable")
    new_row = np.empty(len(order), dtype=np.int64)
    new_row[order] = np.arange(len(order))
    moved = np.full(len(judgements.level), -1)
    moved[kept] = new_row[: len(kept)]
    levels = np.concatenate([judgements.level[kept], np.full(len(query), -1)])
    widened = replace(
        judgements,
        starts=np.searchsorted(queries[order], np.arange(len(judgements.queries) + 1)),
        document=Tokens.from_strings(names).take(order),
        level=levels[order],
    )
    return widened, moved, new_row[len(kept) :]


def _hits(
    run: Hits, moved: IntArray, row: IntArray, rank: IntArray, judgements: Judgements
) -> Hits:
    judged = judgements.level[run.judgement] >= 0
    retrieved = rank < UNRETRIEVED
    return replace(
        run,
        judgement=np.concatenate([moved[run.judgement[judged]], row[retrieved]]),
        rank=np.concatenate([run.rank[judged], rank[retrieved]]),
    )


@dataclass(frozen=True)
class OpenRun:
    """A run whose Q queries have holes that may be given any level.

    Attributes
    ----------
    judged
        The run with the holes among its hits, unjudged.
    hole : (H,)
        Which hole of its query each hit is; -1 if it is judged.
    own, other : (Q, W)
        For each of the at most W holes of a query its place from the top among those that this
        run has where it counts, and its place among the others; -1 where it is not one.
    number : (Q, W)
        Which of all holes it is; -1 where a query has fewer.
    """

    judged: Judged
    hole: IntArray
    own: IntArray
    other: IntArray
    number: IntArray

    @cached_property
    def num_own(self) -> IntArray:
        """Holes where they count in this run's ranking, (Q,)."""
        return np.asarray((self.own >= 0).sum(axis=1))

    @cached_property
    def num_other(self) -> IntArray:
        """Holes further down, or in the rankings of other runs alone, (Q,)."""
        return np.asarray((self.other >= 0).sum(axis=1))

    def assigned(self, query: IntArray, levels: IntArray, scale: Sequence[int]) -> Judged:
        """Judge V rankings: for each a query of the run, (V,), with levels for its holes, (V, W).

        Levels are of a scale; a negative one leaves a hole unjudged.
        """
        judged = self.judged
        size = np.diff(judged.starts)[query]
        starts = np.concatenate([[0], np.cumsum(size)])
        of = np.repeat(np.arange(len(query)), size)
        hit = np.arange(starts[-1]) - starts[of] + judged.starts[query][of]
        level, hole = judged.level[hit], self.hole[hit]
        open_ = np.flatnonzero(hole >= 0)
        level[open_] = levels[of[open_], hole[open_]]
        level_starts, present, counts = self._counted(query, levels, scale)
        size_ = None if judged.corpus_size is None else judged.corpus_size[query]
        return replace(
            judged,
            queries=[judged.queries[number] for number in query.tolist()],
            num_ret=judged.num_ret[query],
            level_starts=level_starts,
            levels=present,
            level_counts=counts,
            starts=starts,
            query=of,
            rank=judged.rank[hit],
            level=level,
            judgement=judged.judgement[hit],
            corpus_size=size_,
        )

    def _counted(
        self, query: IntArray, levels: IntArray, scale: Sequence[int]
    ) -> tuple[IntArray, IntArray, IntArray]:
        """Count judged documents per level, sparsely, with those that were given one."""
        judged = self.judged
        known = np.union1d(judged.levels, scale)
        width = len(known)
        table = np.zeros((len(judged.queries), width), dtype=np.int64)
        table[judged.level_query, np.searchsorted(known, judged.levels)] = judged.level_counts
        row, column = np.nonzero((levels >= 0) & (self.number[query] >= 0))
        given = np.searchsorted(known, levels[row, column])
        added = np.bincount(row * width + given, minlength=len(query) * width)
        counts = table[query] + added.reshape(len(query), width)
        row, column = np.nonzero(counts)
        starts = np.searchsorted(row, np.arange(len(query) + 1))
        return starts, known[column], counts[row, column]


def open_run(
    holes: Holes, run: int, settings: Settings, depth: int | None, within: int | None = None
) -> OpenRun:
    """Judge a run with holes.

    Parameters
    ----------
    holes, run
        The holes, and the number of the run.
    settings
        Of the evaluation.
    depth
        Holes that the run has below this rank are others; None is the last.
    within
        What all runs have below this rank stays unjudged.
    """
    judged, _ = judge(holes.judgements, holes.runs[run], settings)
    if depth is not None:
        judged = _cut(judged, depth)
    number = holes.judgements.places_among(judged.queries)
    chosen = np.flatnonzero(holes.within(within) & (number[holes.query] >= 0))
    query = number[holes.query[chosen]]
    first = np.searchsorted(query, np.arange(len(judged.queries) + 1))
    column = np.arange(len(chosen)) - first[query]
    rank = holes.rank[chosen, run]
    own = rank < UNRETRIEVED if depth is None else rank <= depth
    shape = (len(judged.queries), int(column.max(initial=-1)) + 1)
    tables = np.full((3, *shape), -1)
    tables[0][query[own], column[own]] = _places(query[own], rank[own])
    tables[1][query[~own], column[~own]] = _places(query[~own], column[~own])
    tables[2][query, column] = chosen
    local = np.full(len(holes.judgements.level), -1)
    local[holes.row[chosen]] = column
    return OpenRun(judged, local[judged.judgement], *tables)


def _cut(judged: Judged, depth: int) -> Judged:
    """Leave out hits that no measure with that reach sees; how much was retrieved stays."""
    kept = judged.rank <= depth
    query = judged.query[kept]
    return replace(
        judged,
        starts=np.searchsorted(query, np.arange(len(judged.queries) + 1)),
        query=query,
        rank=judged.rank[kept],
        level=judged.level[kept],
        judgement=judged.judgement[kept],
    )


def _places(query: IntArray, key: IntArray) -> IntArray:
    """Number rows within their query by a key, from 0."""
    order = np.lexsort((key, query))
    ordered = query[order]
    places = np.empty(len(query), dtype=np.int64)
    places[order] = np.arange(len(query)) - np.searchsorted(ordered, ordered)
    return places
