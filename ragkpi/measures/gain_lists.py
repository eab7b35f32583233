"""Gains of a ranking and of the best one possible, cumulated down the ranks."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from ragkpi.measures.c_rounding import log2
from ragkpi.ranking.judged import FloatArray, IntArray, Judged, shared
from ragkpi.records import dataclass


@dataclass(frozen=True, eq=False)
class GainSequences:
    """Gains in one flat array, cut into one sequence per query.

    Attributes
    ----------
    starts : (Q+1,)
        The gains of query q are ``starts[q]:starts[q + 1]``.
    query, rank, gain : (n,)
        For each gain its query, its 1-based rank and its worth.
    """

    starts: IntArray
    query: IntArray
    rank: IntArray
    gain: FloatArray

    @cached_property
    def length(self) -> IntArray:
        """Gains of each query, (Q,)."""
        return np.diff(self.starts)

    @cached_property
    def discounted(self) -> FloatArray:
        """Each gain over log2(rank + 1), (n,)."""
        return self.gain / log2(self.rank + 1)

    @cached_property
    def dcg(self) -> FloatArray:
        """Discounted cumulated gain of each query, (Q,)."""
        return self.total(self.discounted)

    def total(self, weights: FloatArray) -> FloatArray:
        """Sum (n,) per query, (Q,), from the first rank to the last."""
        sums = np.bincount(self.query, weights=weights, minlength=len(self.length))
        return sums.astype(np.float64, copy=False)

    @cached_property
    def cumulated(self) -> FloatArray:
        """Running sums of `discounted`, for `after`."""
        return self.running(self.discounted)

    def running(self, weights: FloatArray) -> FloatArray:
        """Sums (n+1,) such that ``sums[j + 1]`` adds the weights of a sequence down to gain j.

        Sequential: behind each sequence stands the negative of its sum, which takes the running
        sum back to exactly 0 for the next one.
        """
        position = np.arange(len(weights)) + self.query
        separated = np.zeros(len(weights) + len(self.length))
        separated[position] = weights
        separated[self.starts[1:] + np.arange(len(self.length))] = -self.total(weights)
        return np.append(0.0, np.add.accumulate(separated)[position])

    def after(self, sums: FloatArray, query: IntArray, count: IntArray) -> FloatArray:
        """Look up `running` sums behind the first `count` gains of the given queries."""
        return np.where(count > 0, sums[self.starts[query] + count], 0.0)

    def down_to(self, query: IntArray, rank: IntArray) -> IntArray:
        """Count the gains of the given queries at or above the given ranks."""
        base = max(self.rank.max(initial=0), rank.max(initial=0)) + 1
        counts = np.searchsorted(self.query * base + self.rank, query * base + rank, side="right")
        return np.asarray(counts - self.starts[query])


def worth(levels: IntArray, gains: Mapping[int, float]) -> FloatArray:
    """Gain of each judged level: as given, else the level itself; 0 for negative levels."""
    gain = np.maximum(levels, 0).astype(np.float64)
    for level, given in gains.items():
        gain[levels == level] = given
    return gain


def gains_from_zero(arguments: Mapping[str, Any]) -> bool:
    """Whether no gain of one's own is negative."""
    return all(gain >= 0 for gain in arguments["gains"].values())


def actual(judged: Judged, gains: Mapping[int, float]) -> GainSequences:
    """Gains of the retrieved documents."""
    return _actual(judged, tuple(gains.items()))


def ideal(judged: Judged, gains: Mapping[int, float], depth: int | None = None) -> GainSequences:
    """Positive gains of all judged documents, the best first.

    What stands below a depth is left out if that is most of it; all depths share one list else.
    """
    if depth is not None and judged.level_counts.sum() > 4 * depth * len(judged.queries):
        return _ideal(judged, tuple(gains.items()), depth)
    return _ideal(judged, tuple(gains.items()))


@shared
def _actual(judged: Judged, gains: tuple[tuple[int, float], ...]) -> GainSequences:
    real = judged.gains
    gain = worth(judged.level, dict(gains)) if real is None else real.of_hits
    return GainSequences(judged.starts, judged.query, judged.rank, gain)


@shared
def _ideal(
    judged: Judged, gains: tuple[tuple[int, float], ...], depth: int | None = None
) -> GainSequences:
    if judged.gains is None:
        of_level = worth(judged.levels, dict(gains))
        best_first = np.lexsort((-of_level, judged.level_query))
        counts = judged.level_counts[best_first]
        if depth is not None:  # no level needs more than that
            counts = np.minimum(counts, depth)
        query = np.repeat(judged.level_query[best_first], counts)
        gain = np.repeat(of_level[best_first], counts)
    else:
        gain = judged.gains.best_first
        query = np.repeat(np.arange(len(judged.queries)), np.diff(judged.gains.starts))
    query, gain = query[gain > 0], gain[gain > 0]
    lengths = np.bincount(query, minlength=len(judged.queries))
    starts = np.concatenate([[0], np.cumsum(lengths)])
    rank = np.arange(len(query)) - starts[query] + 1
    return GainSequences(starts, query, rank, gain)
