"""The holes of runs: unjudged documents that runs retrieved for judged queries.

There may be millions, so their ids stay in the runs until needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ragkpi.arrays import BoolArray, IntArray
from ragkpi.files.lines import Tokens, rows_of, spans
from ragkpi.ranking.judged import Settings
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.reading import Hits, TopDocuments

UNRETRIEVED = np.iinfo(np.int32).max
ROWS_AT_ONCE = 1 << 17  # sorting the hashes of this many documents fits into the cache

# Numbers of queries, holes or ranks: there may be millions, and int64 takes twice the memory.
SmallInts: TypeAlias = "npt.NDArray[np.int32]"


@dataclass(frozen=True, eq=False)
class Holes:
    """The n unjudged documents that R runs retrieved for judged queries."""

    judgements: Judgements
    runs: Sequence[TopDocuments]  # the names of the runs' documents, length R
    query: SmallInts  # (n,): index of each hole's query in the judgements, ascending
    rank: SmallInts  # (R, n): the rank of each hole in each run; `UNRETRIEVED` if the run lacks it

    def __len__(self) -> int:
        return len(self.query)

    @cached_property
    def best_rank(self) -> SmallInts:
        return np.asarray(self.rank.min(axis=0, initial=UNRETRIEVED))

    def documents(self, chosen: IntArray) -> Tokens:
        query, parts, places = self.query[chosen], [], []
        of_run = (self.rank[:, chosen] < UNRETRIEVED).argmax(axis=0)
        for run, top in enumerate(self.runs):
            mine = np.flatnonzero(of_run == run)
            group = places_of(self.judgements, top)[query[mine]]
            rows = top.starts[group] + self.rank[run, chosen[mine]] - 1
            parts.append(Tokens.from_strings(top.document.take(rows)))
            places.append(mine)
        return Tokens.joined(parts).take(np.argsort(np.concatenate(places)))

    def within(self, depth: int | None) -> BoolArray:
        """Whether any run has each hole down to a depth, (n,); None for any depth."""
        deepest = UNRETRIEVED - 1 if depth is None else depth
        return np.asarray(self.best_rank <= deepest)


def places_of(judgements: Judgements, top: TopDocuments) -> IntArray:
    """Return the index of each judged query in a run, -1 if the run lacks it, (Q,)."""
    places = np.full(len(judgements.queries), -1)
    places[top.query] = np.arange(len(top.query))
    return places


def find_holes(judgements: Judgements, runs: Sequence[Hits], settings: Settings) -> Holes:
    """Find the holes of runs that were read with the names of their top documents.

    Documents without a judgement and those of a negative level are unjudged. Ranks below -M do not
    count. `UsageError` for qrels with gains in place of levels.
    """
    judgements.refuse_gains("holes are filled with levels")
    deepest = UNRETRIEVED if settings.max_retrieved is None else settings.max_retrieved
    tops = [run.top for run in runs]
    places = np.stack([places_of(judgements, top) for top in tops])
    sizes = [np.append(np.diff(top.starts), 0) for top in tops]
    rows = sum(size[group] for size, group in zip(sizes, places, strict=True))
    unjudged = [np.ones(len(top.document), dtype=bool) for top in tops]
    for run, of_run in zip(runs, unjudged, strict=True):
        row = run.rows_of_top(judgements)
        of_run[row[(row >= 0) & (judgements.level[run.judgement] >= 0)]] = False
    parts = []
    for first, last in spans(np.concatenate([[0], np.cumsum(rows)]), ROWS_AT_ONCE):
        groups = zip(tops, unjudged, places[:, first:last], strict=True)
        parts.append(_united([_retrieved(*of_run, deepest) for of_run in groups]))
    query, rank = zip(*parts, strict=True)
    return Holes(judgements, tops, np.concatenate(query), np.concatenate(rank, axis=1))


def _retrieved(
    top: TopDocuments, unjudged: BoolArray, groups: IntArray, deepest: int
) -> tuple[IntArray, IntArray, Tokens]:
    """Return the query, rank and name of the unjudged documents of some queries, (n,) each."""
    groups = groups[groups >= 0]
    rows, starts = rows_of(top.starts, groups)
    group = np.repeat(groups, np.diff(starts))
    rank = rows - top.starts[group] + 1
    kept = np.flatnonzero(unjudged[rows] & (rank <= deepest))
    return top.query[group[kept]], rank[kept], top.document.take(rows[kept])


def _united(runs: Sequence[tuple[IntArray, IntArray, Tokens]]) -> tuple[SmallInts, SmallInts]:
    """Unite the `_retrieved` documents of runs: query, (n,), and rank, (R, n), of each hole."""
    queries, ranks, documents = zip(*runs, strict=True)
    query, of_run = np.concatenate(queries), np.repeat(np.arange(len(runs)), [*map(len, queries)])
    # The first row with the same query and document; a run has each document once.
    first = np.arange(len(query))
    if len(runs) > 1:
        first = Tokens.joined(documents).first_rows(query)
    is_first = first == np.arange(len(first))
    number = np.cumsum(is_first)[first] - 1
    rank = np.full((len(runs), int(is_first.sum())), UNRETRIEVED, dtype=np.int32)
    rank[of_run, number] = np.concatenate(ranks)
    order = np.argsort(query[is_first], kind="stable")
    return query[is_first][order].astype(np.int32), rank[:, order]
