"""Measures such as ndcg, a sum of gains over an ideal, under assignments of levels to holes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ragkpi.arrays import BoolArray, FloatArray, IntArray
from ragkpi.bounds.open_run import OpenRun, running_sums
from ragkpi.bounds.tally import Assignments
from ragkpi.measures.measure import GainRatio
from ragkpi.ranking.judged import quotient

_STEPS = 50


@dataclass(frozen=True, eq=False)
class OpenRatio:
    """A measure of this form, and a run with holes at the levels of a scale."""

    measure: GainRatio
    run: OpenRun
    scale: Sequence[int]

    def values(self, some: Assignments) -> FloatArray:
        """Return the value of each assignment, (V,)."""
        holes, query, weights = self.run.holes, some.query, self._weights
        above, down_to_cut, all_ = (
            holes.sums(weights, query, count)
            for count in (
                holes.count(query, some.cut - 1),
                holes.count(query, some.cut),
                self.run.num_own[query],
            )
        )
        raised = np.where(some.above, above, 0.0) + np.where(some.below, all_ - down_to_cut, 0.0)
        raised += np.where(some.at, down_to_cut - above, 0.0)
        return self._values(query, raised, some.own + some.other)

    def values_of(self, own: BoolArray, other: IntArray) -> FloatArray:
        """Return the values of all queries, (K, Q), with own, (K, Q, U), and others at the top."""
        raised = np.einsum("kqu,qu->kq", own, self._own_weights)
        return self._values(np.arange(len(raised.T)), raised, own.sum(axis=2) + other)

    def _values(self, query: IntArray, raised: FloatArray, num_top: IntArray) -> FloatArray:
        """Return values, (..., V), from the weights and the number of the holes at the top."""
        total: FloatArray = self._worthless[query] + (self._gains[-1] - self._gains[0]) * raised
        if not self.measure.normalised:
            return total
        ideal = self._gains[0] * self._filled[self._reaching[0][query]]
        for step, reaching in zip(np.diff(self._gains), self._reaching[1:], strict=True):
            ideal = ideal + step * self._filled[reaching[query] + num_top]
        return quotient(total, ideal)

    def best_thresholds(self) -> IntArray:
        """Return the number of own holes at or above each level of the best assignment, (Q, T).

        Levels fall down the ranks and other holes are worthless. The value is a ratio N / D of sums
        over the steps of the scale. Dinkelbach's iteration: the assignment with the maximum of
        N - v D, where v is the value so far, has a larger value, until v is the maximum. For a
        fixed v the steps of the scale are independent.
        """
        num_own, gain_steps = self.run.num_own, np.diff(self._gains)
        every, number = np.arange(len(num_own)), np.arange(self.run.own_rank.shape[1] + 1)
        raised = np.zeros((len(every), len(number)))  # by the first holes
        raised[:, 1:] = self._own_weights.cumsum(axis=1)
        raised[number > num_own[:, np.newaxis]] = -np.inf
        ideals = [self._filled[reaching[:, np.newaxis] + number] for reaching in self._reaching[1:]]
        min_ideal = self._gains[0] * self._filled[self._reaching[0]]
        value = np.zeros(len(every))
        chosen = np.zeros((len(every), len(gain_steps)), dtype=np.int64)
        for _ in range(_STEPS):
            total, ideal = self._worthless.copy(), min_ideal.copy()
            best = np.zeros_like(chosen)
            for step, (gain, ideal_sums) in enumerate(zip(gain_steps, ideals, strict=True)):
                rest = value[:, np.newaxis] * gain * ideal_sums
                best[:, step] = (gain * raised - rest).argmax(axis=1)
            np.minimum.accumulate(best, axis=1, out=best)
            for gain, ideal_sums, count in zip(gain_steps, ideals, best.T, strict=True):
                total += gain * raised[every, count]
                ideal += gain * ideal_sums[every, count]
            reached = quotient(total, ideal)
            better = reached > value
            if not better.any():
                break
            value[better], chosen[better] = reached[better], best[better]
        return chosen

    @cached_property
    def _gains(self) -> FloatArray:
        return self.measure.gain(np.asarray(self.scale, dtype=np.int64))

    @cached_property
    def _weights(self) -> FloatArray:
        """Running sums of the weights of own holes."""
        return running_sums(self.measure.weight(self.run.holes.rank))

    @cached_property
    def _own_weights(self) -> FloatArray:
        """The weights of own holes, (Q, U); that of rank 1 for none."""
        ranks = np.maximum(self.run.own_rank, 1)
        return self.measure.weight(ranks.ravel()).reshape(ranks.shape)

    @cached_property
    def _worthless(self) -> FloatArray:
        """Sums of weighted gains if own holes have the minimum gain, (Q,)."""
        judged = self.run.judged
        gain = np.where(self.run.place >= 0, self._gains[0], self.measure.gain(judged.level))
        return judged.per_query(gain * self.measure.weight(judged.rank))

    @cached_property
    def _reaching(self) -> list[IntArray]:
        """The number of documents at or above each gain if holes are worthless, (Q,) each."""
        judged, holes = self.run.judged, self.run.num_own + self.run.num_other
        gain, counts = self.measure.gain(judged.levels), []
        for threshold in self._gains:
            weights = np.where(gain >= threshold, judged.level_counts, 0)
            counts.append(np.bincount(judged.level_query, weights, len(holes)).astype(np.int64))
        counts[0] += holes
        return counts

    @cached_property
    def _filled(self) -> FloatArray:
        """The ideal sums of 0 to n documents of equal gain, (n + 1,)."""
        holes = self.run.num_own + self.run.num_other
        # `best_thresholds` looks up the maximum number of holes for every query.
        maximum = int(self._reaching[0].max(initial=0) + holes.max(initial=0))
        return running_sums(self.measure.weight(np.arange(1, maximum + 1)))
