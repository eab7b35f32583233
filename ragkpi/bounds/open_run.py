"""A run with its holes among the hits, and the same run under assignments of levels to them.

A run's *own* holes, those within the depth of a measure, join its hits. *Other* holes, further
down or only in other runs, are counted, since they change only the number of documents at each
level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ragkpi.arrays import BoolArray, IntArray
from ragkpi.bounds.unjudged import DEEPEST, Holes
from ragkpi.ranking.judged import Judged, shared


@dataclass(frozen=True, eq=False)
class OpenRun:
    """A run whose Q queries have up to U own holes each, of any level."""

    judged: Judged  # down to the depth of the measure; own holes are hits, unjudged
    place: IntArray  # (H,), of each hit among its query's own holes, from 0; -1 if it is judged
    number: IntArray  # (Q, U), of the own holes of each query among all holes; -1 for none
    num_other: IntArray  # (Q,), other holes
    row: IntArray  # (J,), the number in the run of each judged query, or -1

    @cached_property
    def num_own(self) -> IntArray:
        """The number of own holes, (Q,)."""
        return np.asarray((self.number >= 0).sum(axis=1))

    def under(
        self, query: IntArray, levels: IntArray, others: IntArray, scale: Sequence[int]
    ) -> Judged:
        """Judge V rankings of the given queries, (V,).

        Their own holes have `levels`, (V, U); values after the last own hole are ignored. `others`,
        (V, len(scale)), has the number of other holes at each level of the scale.
        """
        judged = self.judged
        size = np.diff(judged.starts)[query]
        starts = np.concatenate([[0], np.cumsum(size)])
        of = np.repeat(np.arange(len(query)), size)
        hit = np.arange(starts[-1]) - starts[of] + judged.starts[query][of]
        level, place = judged.level[hit], self.place[hit]
        own = np.flatnonzero(place >= 0)
        level[own] = levels[of[own], place[own]]
        all_levels, of_queries = _levels_of_queries(judged, tuple(scale))
        counts = of_queries[query]
        cell = of[own] * len(all_levels) + np.searchsorted(all_levels, level[own])
        counts += np.bincount(cell, minlength=counts.size).reshape(counts.shape)
        for step, count in zip(scale, others.T, strict=True):
            counts[:, np.searchsorted(all_levels, step)] += count
        row, column = np.nonzero(counts)
        return replace(
            judged,
            queries=list(map(judged.queries.__getitem__, query.tolist())),
            num_ret=judged.num_ret[query],
            level_starts=np.searchsorted(row, np.arange(len(counts) + 1)),
            levels=all_levels[column],
            level_counts=counts[row, column],
            starts=starts,
            query=of,
            rank=judged.rank[hit],
            level=level,
            judgement=judged.judgement[hit],
            corpus_size=None if judged.corpus_size is None else judged.corpus_size[query],
            judged_below=None if judged.judged_below is None else judged.judged_below[query],
        )


def open_run(
    holes: Holes, run: int, judged: Judged, depth: int | None, varies: BoolArray
) -> OpenRun:
    """Put the holes of a run, `judged`, with that number, among its hits down to a depth.

    `depth` is None for all ranks. The remaining holes that vary, (n,), are other holes.
    """
    deepest, num_queries = DEEPEST if depth is None else depth, len(judged.queries)
    row = holes.judgements.places_among(judged.queries)
    number, own_rank = holes.of_runs[run]
    query = row[holes.query[number]]
    own = np.flatnonzero((own_rank <= deepest) & (query >= 0))
    query, own_rank = query[own], own_rank[own]
    starts = np.searchsorted(query, np.arange(num_queries + 1))
    place = np.arange(len(own)) - starts[query]
    numbers = np.full((num_queries, int(place.max(initial=-1)) + 1), -1)
    numbers[query, place] = number[own]

    kept = np.flatnonzero((judged.level >= 0) & (judged.rank <= deepest))
    query = np.concatenate([judged.query[kept], query])
    rank = np.concatenate([judged.rank[kept], own_rank])
    # Two ordered parts under one key: a stable sort merges them.
    order = np.argsort(query * np.int64(DEEPEST) + rank, kind="stable")
    hits = np.searchsorted(query[order], np.arange(num_queries + 1))
    unjudged = np.full(len(own), -1)
    opened = replace(
        judged,
        starts=hits,
        query=query[order],
        rank=rank[order],
        level=np.concatenate([judged.level[kept], unjudged])[order],
        judgement=np.concatenate([judged.judgement[kept], unjudged])[order],
        judged_below=None if depth is None else judged.num_ret - np.diff(hits),
    )
    of_hits = np.concatenate([np.full(len(kept), -1), place])[order]
    num_varying = np.bincount(holes.query[varies], minlength=len(row))[row >= 0]
    return OpenRun(opened, of_hits, numbers, num_varying - np.diff(starts), row)


@shared
def _levels_of_queries(judged: Judged, levels: tuple[int, ...]) -> tuple[IntArray, IntArray]:
    """Return judged levels and `levels`, (L,), and the number of documents at each, (Q, L)."""
    columns = np.unique(np.append(judged.levels, np.asarray(levels, dtype=np.int64)))
    table = np.zeros((len(judged.queries), len(columns)), dtype=np.int64)
    table[judged.level_query, np.searchsorted(columns, judged.levels)] = judged.level_counts
    return columns, table
