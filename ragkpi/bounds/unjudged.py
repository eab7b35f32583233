"""The holes of runs: unjudged documents that runs retrieved for judged queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ragkpi.arrays import BoolArray, IntArray
from ragkpi.files.lines import Tokens, spans
from ragkpi.ranking.judged import Settings
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.reading import Hits

DEEPEST = np.iinfo(np.int32).max
ROWS_AT_ONCE = 1 << 17  # sorting the hashes of this many documents fits into the cache

# Numbers of queries, holes or ranks: there may be millions, and int64 takes twice the memory.
SmallInts: TypeAlias = "npt.NDArray[np.int32]"


class HolesOfRun(NamedTuple):
    """The m holes that a run retrieves, by query and rank."""

    number: SmallInts  # (m,), of each among all holes
    rank: SmallInts  # (m,)


@dataclass(frozen=True, eq=False)
class Holes:
    """The n unjudged documents that R runs retrieved for judged queries."""

    judgements: Judgements
    of_runs: Sequence[HolesOfRun]  # length R
    query: SmallInts  # (n,), of each hole in the judgements, ascending
    document: Tokens  # (n,)

    def __len__(self) -> int:
        return len(self.query)

    @cached_property
    def best_rank(self) -> SmallInts:
        """The best rank of each hole in any run, (n,)."""
        best = np.full(len(self), DEEPEST, dtype=np.int32)
        for number, rank in self.of_runs:
            best[number] = np.minimum(best[number], rank)
        return best

    @cached_property
    def num_runs(self) -> IntArray:
        """How many runs retrieve each hole, (n,)."""
        return np.bincount(np.concatenate([of_run.number for of_run in self.of_runs]))

    def within(self, depth: int | None) -> BoolArray:
        """Whether any run has each hole down to a depth, (n,); None for any depth."""
        return np.asarray(self.best_rank <= (DEEPEST if depth is None else depth))

    def num_own(self, depth: int | None) -> IntArray:
        """How many holes all runs together have for each judged query down to a depth, (J,)."""
        deepest, count = DEEPEST if depth is None else depth, len(self.judgements.queries)
        tops = (number[rank <= deepest] for number, rank in self.of_runs)
        numbers = [np.bincount(self.query[number], minlength=count) for number in tops]
        return np.asarray(np.sum(numbers, axis=0))

    def of_queries(self, first: int, last: int) -> tuple[Holes, int]:
        """Return the holes of the queries from one to another, and how many come before."""
        before, end = np.searchsorted(self.query, [first, last]).tolist()
        of_runs = []
        for number, rank in self.of_runs:
            some = slice(*np.searchsorted(self.query[number], [first, last]))
            of_runs.append(HolesOfRun(number[some] - before, rank[some]))
        some = slice(before, end)
        part = Holes(self.judgements, of_runs, self.query[some], self.document.take(some))
        return part, before


def find_holes(judgements: Judgements, runs: Sequence[Hits], settings: Settings) -> Holes:
    """Find the holes of runs that were read with the names of their top documents.

    Documents without a judgement and those of a negative level are unjudged. Ranks below -M do not
    count. `UsageError` for qrels with gains in place of levels.
    """
    judgements.refuse_gains("holes are filled with levels")
    document = Tokens.joined([run.top.document for run in runs])
    before = np.cumsum([0, *(len(run.top.document) for run in runs)])
    unjudged = [
        _unjudged(run, judgements, settings, start)
        for run, start in zip(runs, before.tolist(), strict=False)
    ]
    queries = np.arange(len(judgements.queries) + 1)
    starts = np.array([np.searchsorted(query, queries) for query, _, _ in unjudged])
    number = np.zeros(len(document), dtype=np.int32)
    kept, count = [], 0
    for some in spans(starts.sum(axis=0), ROWS_AT_ONCE):
        parts = [
            of_run[:2, slice(*ends)]
            for of_run, ends in zip(unjudged, starts[:, some].tolist(), strict=True)
        ]
        query, row = np.concatenate(parts, axis=1)
        places = np.arange(len(row))
        first = places  # a run has each document once
        if len(runs) > 1:
            first = document.take(row).first_rows(query.astype(np.int64))
        holes = np.flatnonzero(first == places)
        holes = holes[np.argsort(query[holes], kind="stable")]
        number[row[holes]] = count + np.arange(len(holes))
        number[row] = number[row[first]]
        kept.append(np.stack([query[holes], row[holes]]))
        count += len(holes)
    query, row = np.concatenate([np.empty((2, 0), dtype=np.int32), *kept], axis=1)
    of_runs = [HolesOfRun(number[row], rank.copy()) for _, row, rank in unjudged]
    return Holes(judgements, of_runs, query, document.take(row))


def _unjudged(run: Hits, judgements: Judgements, settings: Settings, before: int) -> SmallInts:
    """Return the query, row and rank of each unjudged document, by query and rank, (3, m).

    Rows of names are counted from `before`.
    """
    row, deepest = run.rows_of_top(judgements), settings.max_retrieved
    unjudged = np.ones(len(run.top.document), dtype=bool)
    unjudged[row[(row >= 0) & (judgements.level[run.judgement] >= 0)]] = False
    rank, query = run.top.rank, run.top.query[run.top.group]
    rows = np.flatnonzero(unjudged & (rank <= (DEEPEST if deepest is None else deepest)))
    rows = rows[np.argsort(query[rows], kind="stable")]
    return np.array([query[rows], before + rows, rank[rows]], dtype=np.int32)
