"""Success, and that of a random draw, over all queries and bootstrap samples, at any depth."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ragkpi.arrays import ROUNDING, BoolArray, FloatArray, IntArray
from ragkpi.measures.chance import (
    CEILING_LIMIT,
    LAMBDA_LIMIT,
    Needed,
    corpus_size,
)
from ragkpi.measures.tied import Tail, tail
from ragkpi.ranking.judged import Judged


class Queries(NamedTuple):
    """The P queries that can succeed, in U different situations.

    Queries in one situation have equal chances of success by a random draw at every depth.
    """

    needed: Needed
    first: FloatArray  # (P,): the depth from which a query succeeds, or inf
    situation: IntArray  # (P,): of a query, from 0 to U - 1
    size: IntArray  # (U,): documents to draw from
    relevant: IntArray  # (U,)
    limit: IntArray  # (U,): the maximum size of a random draw

    def tails(self, depths: IntArray) -> Tail:
        """Return the chances of success, (D, U) each."""
        shape = (len(depths), len(self.size))
        size, relevant = (np.broadcast_to(x, shape).ravel() for x in (self.size, self.relevant))
        drawn = np.minimum(depths[:, np.newaxis], self.limit)
        tails = tail(size, relevant, drawn.ravel(), self.needed.of(relevant))
        return Tail(*(column.reshape(shape) for column in tails))

    def success(self, depths: IntArray) -> FloatArray:
        """Return the share of queries that succeed at each depth, (D,)."""
        succeeded = np.searchsorted(np.sort(self.first), depths, side="right")
        return np.asarray(succeeded / max(len(self.first), 1))

    def least_depth(self, depth: int) -> int:
        """Return the smallest depth at which as many queries succeed as at this one."""
        return int(self.first.max(where=self.first <= depth, initial=min(depth, 1)))


def queries_of(judged: Judged, needed: Needed) -> Queries:
    """Find the depths at which queries succeed, and their situations."""
    least = np.broadcast_to(needed.of(judged.num_rel), len(judged.queries))
    reached = judged.relevant & (judged.rel_count == least[judged.query])
    first = np.full(len(judged.queries), np.inf)
    first[judged.query[reached]] = judged.rank[reached]
    size = corpus_size(judged)
    limit = judged.num_ret if judged.settings.draws == "ret" else size
    cells = np.stack([size, judged.num_rel, np.minimum(limit, size)])
    possible = judged.num_rel >= needed.m
    cells, situation = np.unique(cells[:, possible], axis=1, return_inverse=True)
    return Queries(needed, first[possible], situation.ravel(), *cells)


class Resamples(NamedTuple):
    """B bootstrap samples of the queries; with all weights 1, a sample is all queries."""

    queries: Queries
    deepest: int
    first: FloatArray  # (F,): depths of successes down to the deepest, ascending
    successes: FloatArray  # (B, 1 + F): the number of successes before the first depth, and at each
    counts: FloatArray  # (B, U): queries in each situation

    @property
    def total(self) -> FloatArray:
        """The number of queries in each sample, (B, 1): clusters differ in size."""
        return np.asarray(self.counts.sum(axis=1, keepdims=True))

    def plateau(self, gain: float) -> IntArray:
        """Return the smallest depth below which success gains no more than a share, (B,)."""
        enough = self.successes[:, -1:] - gain * self.total - 1e-9
        depths = np.append(1, self.first).astype(np.int64)
        return np.asarray(depths[np.argmax(self.successes >= enough, axis=1)])

    @np.errstate(divide="ignore")
    def log_chance(self, depths: IntArray) -> FloatArray:
        """Return log2 of the mean chance of success, (B, D), at depths, (B, D) or (1, D)."""
        unique, place = np.unique(depths, return_inverse=True)
        log2 = self.queries.tails(unique).log2
        greatest = np.maximum(log2.max(axis=1, keepdims=True), -1e9)  # -inf without success
        place = place.reshape(depths.shape)
        scaled = np.exp2(log2 - greatest)[place]
        sums = np.einsum("bu,bdu->bd", self.counts, scaled)
        return np.asarray(np.log2(sums / self.total) + greatest[place, 0])

    @np.errstate(divide="ignore", invalid="ignore")
    def bits(self, depths: IntArray) -> FloatArray:
        """Return BoR, (B, D), at depths, (B, D) or (1, D)."""
        place = np.searchsorted(self.first, depths, side="right")
        succeeded = np.take_along_axis(self.successes, place, axis=1)
        return np.asarray(np.log2(succeeded / self.total) - self.log_chance(depths))

    def affordable(self, loss: float) -> tuple[IntArray, IntArray]:
        """Return the depth with most bits, and the deepest one within the loss from it, (B,) each.

        Bits only fall between two successes. So the best depth is one with a success, and the
        deepest one lies between the last success within the loss and the next.
        """
        starts = np.unique(self.first).astype(np.int64)
        bits = self.bits(starts[np.newaxis])
        bits = np.where(np.isfinite(bits), bits, -np.inf)
        most = bits.max(axis=1) - ROUNDING  # the first of equal depths is the best
        enough = most - loss
        last = len(starts) - 1 - np.argmax(bits[:, ::-1] >= enough[:, np.newaxis], axis=1)
        ends = np.append(starts[1:], self.deepest + 1)
        deepest = _last(
            lambda depth: self.bits(depth[:, np.newaxis])[:, 0] >= enough, starts[last], ends[last]
        )
        return starts[np.argmax(bits >= most[:, np.newaxis], axis=1)], deepest

    def outside_collapse(self) -> IntArray:
        """Return the last depth outside the collapse zone, down to the deepest, (B,)."""
        cells, alone = self.queries, self.queries.needed == Needed()

        def outside(depth: IntArray) -> BoolArray:
            expected = np.minimum(depth[:, np.newaxis], cells.limit) * (cells.relevant / cells.size)
            lambda_ = (self.counts * expected).sum(axis=1) / self.total[:, 0]
            crowded = alone & (lambda_ >= LAMBDA_LIMIT * (1 - ROUNDING))
            high = self.log_chance(depth[:, np.newaxis])[:, 0] > -CEILING_LIMIT
            return np.asarray(~(high | crowded))

        deepest = np.full(len(self.counts), self.deepest)
        if outside(deepest).all():
            return deepest
        return _last(outside, np.zeros_like(deepest), deepest + 1)


def weigh(queries: Queries, weights: FloatArray, deepest: int) -> Resamples:
    """Weigh the queries, (B, P), down to a depth."""
    order, by_situation = np.argsort(queries.first), np.argsort(queries.situation, kind="stable")
    order = order[: np.count_nonzero(queries.first <= deepest)]
    successes = np.cumsum(np.insert(weights[:, order], 0, 0, axis=1), axis=1)
    starts = np.searchsorted(queries.situation[by_situation], np.arange(len(queries.size)))
    counts = np.add.reduceat(weights[:, by_situation], starts, axis=1)
    return Resamples(queries, deepest, queries.first[order], successes, counts)


def _last(holds: Callable[[IntArray], BoolArray], low: IntArray, high: IntArray) -> IntArray:
    """Bisect for the last number from `low` to below `high` that fulfils a condition, (B,)."""
    while (high - low > 1).any():
        middle = (low + high) // 2
        inside = holds(np.maximum(middle, 1)) & (middle > low)
        low, high = (
            np.where(inside, middle, low),
            np.where(inside, high, np.maximum(middle, low + 1)),
        )
    return low
