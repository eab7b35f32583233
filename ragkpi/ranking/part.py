"""A part of what was judged: some of its queries, as if the qrels had no others."""

from __future__ import annotations

import numpy as np

from ragkpi.ranking.judged import IntArray, Judged, RealGains
from ragkpi.ranking.order import TiedRanks
from ragkpi.records import replace


def part_of(judged: Judged, queries: IntArray) -> Judged:
    """Keep some queries, by their numbers, ascending.

    Measures of a query depend on that query alone, so values of a part are those of an evaluation
    on qrels with these queries only.
    """
    hits, starts = rows_of(judged.starts, queries)
    levels, level_starts = rows_of(judged.level_starts, queries)
    number = np.full(len(judged.queries), -1, dtype=np.int64)
    number[queries] = np.arange(len(queries))
    outside = judged.outside_pool
    if outside is not None:
        outside = outside[number[outside[:, 0]] >= 0]
        outside = np.column_stack([number[outside[:, 0]], outside[:, 1]])
    return replace(
        judged,
        queries=[judged.queries[query] for query in queries.tolist()],
        num_ret=judged.num_ret[queries],
        level_starts=level_starts,
        levels=judged.levels[levels],
        level_counts=judged.level_counts[levels],
        starts=starts,
        query=number[judged.query[hits]],
        rank=judged.rank[hits],
        level=judged.level[hits],
        judgement=judged.judgement[hits],
        corpus_size=None if judged.corpus_size is None else judged.corpus_size[queries],
        pool=None if judged.pool is None else part_of(judged.pool, queries),
        outside_pool=outside,
        tied=None if judged.tied is None else TiedRanks(*(ranks[hits] for ranks in judged.tied)),
        gains=None if judged.gains is None else _part_of_gains(judged.gains, hits, queries),
    )


def _part_of_gains(gains: RealGains, hits: IntArray, queries: IntArray) -> RealGains:
    judged, starts = rows_of(gains.starts, queries)
    return RealGains(gains.of_hits[hits], starts, gains.best_first[judged])


def rows_of(starts: IntArray, queries: IntArray) -> tuple[IntArray, IntArray]:
    """Return the rows of some groups, and where each group starts among them."""
    sizes = np.diff(starts)[queries]
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    rows = np.arange(bounds[-1]) + np.repeat(starts[queries] - bounds[:-1], sizes)
    return rows, bounds
