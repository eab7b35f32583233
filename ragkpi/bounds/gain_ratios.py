"""Measures such as ndcg, a sum of gains over an ideal, under assignments of levels to holes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ragkpi.arrays import FloatArray, IntArray
from ragkpi.bounds.open_run import OpenRun, level_table, running_sums
from ragkpi.bounds.tally import HoleTally
from ragkpi.measures.measure import GainRatio
from ragkpi.ranking.judged import quotient

_STEPS = 50
_CELLS = 1 << 20  # of a table of queries and holes


@dataclass(frozen=True, eq=False)
class OpenRatio:
    """A measure of this form, and a run with holes that get levels of a scale."""

    measure: GainRatio
    run: OpenRun
    scale: Sequence[int]

    def values(self, tally: HoleTally) -> FloatArray:
        """Return the value of each assignment of a tally, (V,)."""
        measure, run, some = self.measure, self.run, tally.assignments
        bottom, top = measure.gain(np.array([tally.bottom, tally.top])).tolist()
        holes, query, weights = run.holes, some.query, self._weights
        above, down_to_cut, all_ = (
            holes.sums(weights, query, count)
            for count in (
                holes.count(query, some.cut - 1),
                holes.count(query, some.cut),
                run.num_own[query],
            )
        )
        raised = np.where(some.above, above, 0.0) + np.where(some.below, all_ - down_to_cut, 0.0)
        raised += np.where(some.at, down_to_cut - above, 0.0)
        total: FloatArray = self._worthless[query] + (top - bottom) * raised
        if not measure.normalised:
            return total
        gains, counts = measure.gain(tally.levels), tally.counts
        filled = self._filled(int(counts.sum(axis=1).max(initial=0)))
        ideal, lower = np.zeros(len(query)), 0.0
        for gain in np.unique(gains[gains > 0]).tolist():
            ideal += (gain - lower) * filled[counts[:, gains >= gain].sum(axis=1)]
            lower = gain
        return quotient(total, ideal)

    def best_thresholds(self) -> IntArray:
        """Return how many own holes have at least each level of the best assignment, (Q, T).

        Levels fall down the ranks and other holes are worthless. The value is a ratio N / D of sums
        over the steps of the scale. Dinkelbach's iteration: the assignment with the greatest
        N - v D, where v is the value so far, has a greater value, until v is the greatest. For a
        fixed v the steps of the scale are independent.
        """
        run, ranks = self.run, self.run.own_rank
        thresholds = np.zeros((len(ranks), len(self.scale) - 1), dtype=np.int64)
        number = np.arange(ranks.shape[1] + 1)
        for rows in np.array_split(np.arange(len(ranks)), 1 + ranks.size // _CELLS):
            weights = self.measure.weight(np.maximum(ranks[rows], 1).ravel())
            raised = np.zeros((len(rows), len(number)))
            raised[:, 1:] = weights.reshape(len(rows), -1).cumsum(axis=1)
            raised[number > run.num_own[rows, np.newaxis]] = -np.inf
            thresholds[rows] = self._climb(rows, raised)
        return thresholds

    def _climb(self, rows: IntArray, raised: FloatArray) -> IntArray:
        """Iterate to the best thresholds of some queries; `raised` sums weights of first holes."""
        measure, run, scale = self.measure, self.run, self.scale
        gains = measure.gain(np.asarray(scale, dtype=np.int64))
        levels, counts = level_table(run.judged, rows, scale)
        counts[:, np.searchsorted(levels, scale[0])] += (run.num_other + run.num_own)[rows]
        worth = measure.gain(levels)
        filled = self._filled(int(counts.sum(axis=1).max(initial=0)) + raised.shape[1])
        steps = range(len(scale) - 1)
        gain_steps = np.diff(gains)
        at_least = [counts[:, worth >= gain].sum(axis=1) for gain in gains]
        ideals = [
            filled[count[:, np.newaxis] + np.arange(raised.shape[1])] for count in at_least[1:]
        ]
        least = gains[0] * filled[at_least[0]]
        value = np.zeros(len(rows))
        chosen = np.zeros((len(rows), len(steps)), dtype=np.int64)
        every = np.arange(len(rows))
        for _ in range(_STEPS):
            total, ideal = self._worthless[rows], least.copy()
            best = np.zeros_like(chosen)
            for step in steps:
                rest = value[:, np.newaxis] * gain_steps[step] * ideals[step]
                best[:, step] = (gain_steps[step] * raised - rest).argmax(axis=1)
            np.minimum.accumulate(best, axis=1, out=best)
            for step in steps:
                count = best[:, step]
                total += gain_steps[step] * raised[every, count]
                ideal += gain_steps[step] * ideals[step][every, count]
            reached = quotient(total, ideal)
            better = reached > value
            if not better.any():
                break
            value[better], chosen[better] = reached[better], best[better]
        return chosen

    @cached_property
    def _weights(self) -> FloatArray:
        """Running sums of the weights of own holes."""
        return running_sums(self.measure.weight(self.run.holes.rank))

    @cached_property
    def _worthless(self) -> FloatArray:
        """Sums of weighted gains if own holes have the least gain, (Q,)."""
        judged, levels = self.run.judged, np.array(self.scale[:1])
        gain = np.where(
            self.run.place >= 0, self.measure.gain(levels), self.measure.gain(judged.level)
        )
        return judged.per_query(gain * self.measure.weight(judged.rank))

    def _filled(self, most: int) -> FloatArray:
        """Return the sum of ideal weights of 0 to `most` documents of equal gain, (most + 1,)."""
        return running_sums(self.measure.weight(np.arange(1, most + 1)))
