"""Success and bits at many depths at once, for limits and charts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragkpi.measures.aggregates import Aggregate
from ragkpi.measures.chance import BITS, CEILING, chance_statistics, corpus_size
from ragkpi.measures.hypergeometric import tail
from ragkpi.ranking.judged import FloatArray, IntArray, Judged
from ragkpi.records import NamedTuple

EVERY = 1000  # every depth down to this one is tried
_BELOW = 100  # depths below it that are drawn


class Trace(NamedTuple):
    """Curves of a run, or of chance alone, over D depths.

    Attributes
    ----------
    depths : (D,)
        Ascending.
    success, chance : (D,)
        Shares of the queries that have as many relevant documents as a success takes.
    bits, ceiling : (D,)
        BoR and BoR_max; bits and success mean nothing without a run.
    """

    depths: IntArray
    success: FloatArray
    chance: FloatArray
    bits: FloatArray
    ceiling: FloatArray


def every_depth(depths: Sequence[int]) -> IntArray:
    """Return every depth down to `EVERY` or the deepest, then some, and all of `depths`."""
    deepest = max(depths)
    every = np.arange(1, min(deepest, EVERY) + 1)
    below = np.geomspace(EVERY, max(deepest, EVERY), _BELOW).astype(np.int64)
    return np.union1d(np.union1d(every, below[below <= deepest]), depths)


def trace(judged: Judged, depths: IntArray, m: int) -> Trace:
    """Compute the curves of a run, or of counts of relevant documents, at ascending depths."""
    if not (judged.num_rel >= m).any():  # nothing can succeed
        return Trace(depths, *[np.full(len(depths), np.nan)] * 4)
    ceiling, bits = (bits_at(judged, depths, m, aggregate) for aggregate in (CEILING, BITS))
    chance = np.where(depths < m, 0.0, np.exp2(-ceiling))  # too few to succeed have no ceiling
    return Trace(depths, success_at(judged, depths, m), chance, bits, ceiling)


def success_at(judged: Judged, depths: IntArray, m: int) -> FloatArray:
    """Return the share of queries with m relevant documents down to each depth, (D,)."""
    first = np.sort(judged.rank[judged.relevant & (judged.found == m)])
    possible = max(int((judged.num_rel >= m).sum()), 1)
    return np.asarray(np.searchsorted(first, depths, side="right") / possible)


def bits_at(judged: Judged, depths: IntArray, m: int, aggregate: Aggregate) -> FloatArray:
    """Return BoR, or its ceiling, at each depth, (D,), as `bor` and `bor_max` define them.

    Queries with the same N, R and number of retrieved documents are computed once.
    """
    size = corpus_size(judged)
    limit = judged.num_ret if judged.settings.draws == "ret" else size
    cells = np.stack([size, judged.num_rel, np.minimum(limit, size)])[:, judged.num_rel >= m]
    (N, R, most), count = np.unique(cells, axis=1, return_counts=True)
    shape = (len(depths), len(count))
    drawn = np.minimum(depths[:, np.newaxis], most)
    chances = tail(
        np.broadcast_to(N, shape).ravel(), np.broadcast_to(R, shape).ravel(), drawn.ravel(), m
    )
    statistics = chance_statistics(chances, m).reshape(*shape, -1)
    sums = (statistics * count[:, np.newaxis]).sum(axis=1)
    if aggregate is BITS:
        success = success_at(judged, depths, m) * cells.shape[1]
        sums = np.column_stack([success, sums])
    return np.asarray(aggregate.summary(sums, cells.shape[1]))
