"""The holes of runs: unjudged documents that runs retrieved for judged queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ragkpi.arrays import BoolArray, IntArray
from ragkpi.files.lines import Tokens
from ragkpi.ranking.judged import Settings
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.reading import Hits

DEEPEST = np.iinfo(np.int32).max


class HolesOfRun(NamedTuple):
    """The m holes that a run retrieves, by query and rank."""

    number: IntArray  # (m,), of each among all holes
    rank: IntArray  # (m,)


@dataclass(frozen=True, eq=False)
class Holes:
    """The n unjudged documents that R runs retrieved for judged queries."""

    judgements: Judgements
    of_runs: Sequence[HolesOfRun]  # length R
    query: IntArray  # (n,), of each hole in the judgements, ascending
    document: Tokens  # (n,)

    def __len__(self) -> int:
        return len(self.query)

    @cached_property
    def best_rank(self) -> IntArray:
        """The best rank of each hole in any run, (n,)."""
        best = np.full(len(self), DEEPEST, dtype=np.int64)
        for number, rank in self.of_runs:
            best[number] = np.minimum(best[number], rank)
        return best

    def within(self, depth: int | None) -> BoolArray:
        """Whether some run retrieves each hole down to a depth, (n,); None for any depth."""
        return np.asarray(self.best_rank <= (DEEPEST if depth is None else depth))

    def num_own(self, depth: int | None) -> IntArray:
        """The number of holes of all runs for each judged query down to a depth, (J,)."""
        deepest, count = DEEPEST if depth is None else depth, len(self.judgements.queries)
        own = np.concatenate([number[rank <= deepest] for number, rank in self.of_runs])
        return np.bincount(self.query[own], minlength=count)

    def of_queries(self, first: int, last: int) -> tuple[Holes, int]:
        """Return the holes of the queries in a range, and the number of holes before them."""
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

    Documents without a judgement or with a negative level are unjudged. Ranks below -M do not
    count. `UsageError` for qrels with gains instead of levels.
    """
    judgements.refuse_gains("holes are filled with levels")
    deepest = DEEPEST if settings.max_retrieved is None else settings.max_retrieved
    queries, ranks, documents = [], [], []
    for run in runs:
        row, rank, query = run.rows_of_top(judgements), run.top.rank, run.top.query[run.top.group]
        unjudged = np.ones(len(run.top.document), dtype=bool)
        unjudged[row[(row >= 0) & (judgements.level[run.judgement] >= 0)]] = False
        rows = np.flatnonzero(unjudged & (rank <= deepest))
        rows = rows[np.argsort(query[rows], kind="stable")]
        queries.append(query[rows])
        ranks.append(rank[rows])
        documents.append(run.top.document.take(rows))
    query, document = np.concatenate(queries), Tokens.joined(documents)
    places = np.arange(len(query))
    first = document.first_rows(query) if len(runs) > 1 else places  # a run has each document once
    holes = np.flatnonzero(first == places)
    holes = holes[np.argsort(query[holes], kind="stable")]
    number = np.empty_like(places)
    number[holes] = np.arange(len(holes))
    of_runs = np.split(number[first], np.cumsum([len(rank) for rank in ranks])[:-1])
    return Holes(
        judgements, list(map(HolesOfRun, of_runs, ranks)), query[holes], document.take(holes)
    )
