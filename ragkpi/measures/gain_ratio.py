"""Measures that are a sum of gains down the ranking over that of an ideal: where they are highest.

What ndcg and its kin have in common is said once, so that thousands of ways to judge a ranking
are look-ups in sums, and the best of all ways is found without trying them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from ragkpi.measures.hole_tally import HoleTally
from ragkpi.measures.open_ranking import OpenRanking, added, level_counts
from ragkpi.ranking.judged import FloatArray, IntArray, quotient
from ragkpi.records import NamedTuple

_STEPS = 50
_CELLS = 1 << 20  # of a table of queries and holes


class GainRatio(NamedTuple):
    """A measure of the form: sum of gain times weight of the rank, over an ideal.

    Attributes
    ----------
    gain
        Of levels, (n,) to (n,). It is not negative.
    weight
        Of ranks, (n,) to (n,): 0 where the measure does not look.
    ideal
        ``"sorted"``: the sum for the same documents, the best ones first; ``"highest"``: the
        highest gain of the query; ``"none"``: 1.
    over
        Whether the ideal has all ``"judged"`` documents, or the ``"retrieved"`` ones alone.
    floor
        What gains in the ideal are at least.
    """

    gain: Callable[[IntArray], FloatArray]
    weight: Callable[[IntArray], FloatArray]
    ideal: Literal["sorted", "highest", "none"] = "sorted"
    over: Literal["judged", "retrieved"] = "judged"
    floor: float = 0.0

    def values(self, tally: HoleTally) -> FloatArray:
        """Return the value of each way to judge a run, (V,)."""
        run, ways = tally.run, tally.ways
        bottom, top = self.gain(np.array([tally.bottom, tally.top])).tolist()
        holes, query = run.holes, ways.query
        weights, worthless = self._of_run(run, bottom)
        down_to = [holes.count(query, ways.cut - 1), holes.count(query, ways.cut)]
        above, at_cut = (holes.sums(weights, query, count) for count in down_to)
        all_ = holes.sums(weights, query, run.num_own[query])
        raised = np.where(ways.above, above, 0.0) + np.where(ways.below, all_ - at_cut, 0.0)
        raised += np.where(ways.at, at_cut - above, 0.0)
        total: FloatArray = worthless[query] + (top - bottom) * raised
        if self.ideal == "none":
            return total
        counts = tally.counts
        if self.over == "retrieved":
            low, high = np.searchsorted(tally.known_levels, [tally.bottom, tally.top])
            counts = _retrieved(run, tally.known_levels)[query]
            counts[:, high] += ways.own
            counts[:, low] += run.num_own[query] - ways.own
        gains = np.maximum(self.gain(tally.known_levels), self.floor)
        filled = self._filled(int(counts.sum(axis=1).max(initial=0)))
        best = np.full(len(query), self.floor)
        below = self.floor
        for gain in np.unique(gains[gains > self.floor]).tolist():
            best += (gain - below) * filled[counts[:, gains >= gain].sum(axis=1)]
            below = gain
        return quotient(total, best)

    def best_thresholds(self, run: OpenRanking, scale: Sequence[int]) -> IntArray:
        """Return how many own holes have at least each level of a scale in the best way, (Q, T).

        Levels fall down the ranks and other holes are worthless. The value is a ratio N / D of
        sums over the steps of the scale. Dinkelbach's iteration: the way that is best by
        N - v D, v the value so far, is a better one, until there is none; and for a given v
        every step of the scale is best by itself.
        """
        thresholds = np.zeros((len(run.judged.queries), len(scale) - 1), dtype=np.int64)
        width = int(run.num_own.max(initial=0)) + 1
        block = max(1, _CELLS // width)
        hole = np.flatnonzero(run.hole >= 0)
        weight = self.weight(run.judged.rank[hole])
        for first in range(0, len(thresholds), block):
            rows = np.arange(first, min(first + block, len(thresholds)))
            inside = (run.judged.query[hole] >= first) & (run.judged.query[hole] <= rows[-1])
            table = np.zeros((len(rows), width))
            some = hole[inside]
            table[run.judged.query[some] - first, run.hole[some] + 1] = weight[inside]
            raised = np.cumsum(table, axis=1)
            raised[np.arange(width) > run.num_own[rows, np.newaxis]] = -np.inf
            thresholds[rows] = self._climb(run, scale, rows, raised)
        return thresholds

    def _climb(
        self, run: OpenRanking, scale: Sequence[int], rows: IntArray, raised: FloatArray
    ) -> IntArray:
        levels = np.asarray(scale, dtype=np.int64)
        gains = self.gain(levels)
        ideal_gains = np.maximum(gains, self.floor)
        known, counts = level_counts(run.judged, rows, scale)
        if self.over == "retrieved":
            counts = _retrieved(run, known)[rows]
        counts[:, np.searchsorted(known, scale[0])] += run.num_own[rows]
        if self.over == "judged":
            counts[:, np.searchsorted(known, scale[0])] += run.num_other[rows]
        worth = self.gain(known)
        filled = self._filled(int(counts.sum(axis=1).max(initial=0)) + raised.shape[1])
        steps = range(1, len(scale))
        above = [counts[:, worth >= gains[step]].sum(axis=1) for step in range(len(scale))]
        ideals = [filled[above[step][:, np.newaxis] + np.arange(raised.shape[1])] for step in steps]
        base = self._worthless(run, float(gains[0]))[rows]
        least = self.floor + (ideal_gains[0] - self.floor) * filled[above[0]]
        value = np.zeros(len(rows))
        chosen = np.zeros((len(rows), len(scale) - 1), dtype=np.int64)
        every = np.arange(len(rows))
        for _ in range(_STEPS):
            total, ideal = base.copy(), least.copy()
            best = np.zeros_like(chosen)
            for step in steps:
                gain = gains[step] - gains[step - 1]
                more = ideal_gains[step] - ideal_gains[step - 1]
                rest = value[:, np.newaxis] * more * ideals[step - 1]
                best[:, step - 1] = (gain * raised - rest).argmax(axis=1)
            np.minimum.accumulate(best, axis=1, out=best)
            for step in steps:
                place = best[:, step - 1]
                total += (gains[step] - gains[step - 1]) * raised[every, place]
                more = ideal_gains[step] - ideal_gains[step - 1]
                ideal += more * ideals[step - 1][every, place]
            reached = quotient(total, ideal)
            better = reached > value
            if not better.any():
                break
            value[better], chosen[better] = reached[better], best[better]
        return chosen

    def _of_run(self, run: OpenRanking, bottom: float) -> tuple[FloatArray, ...]:
        """Return the weights of own holes, `added`, and `_worthless`, made once for many ways."""
        key = self, bottom
        if key not in run.latest:
            run.latest.clear()
            run.latest[key] = added(self.weight(run.holes.rank)), self._worthless(run, bottom)
        return run.latest[key]

    def _worthless(self, run: OpenRanking, bottom: float) -> FloatArray:
        """Sum the gains of a ranking whose own holes are worth the least, (Q,)."""
        judged = run.judged
        gain = np.where(run.hole >= 0, bottom, self.gain(judged.level))
        return judged.per_query(gain * self.weight(judged.rank))

    def _filled(self, most: int) -> FloatArray:
        """Return what 0 to `most` documents of one gain add to the ideal."""
        if self.ideal == "highest":
            return np.minimum(np.arange(most + 1), 1.0)
        return np.concatenate([[0.0], np.cumsum(self.weight(np.arange(1, most + 1)))])


def _retrieved(run: OpenRanking, levels: IntArray) -> IntArray:
    """Count the judged hits of a run per level, (Q, L)."""
    judged, width = run.judged, len(levels)
    hit = np.flatnonzero((run.hole < 0) & (judged.level >= 0))
    cell = judged.query[hit] * width + np.searchsorted(levels, judged.level[hit])
    counts = np.bincount(cell, minlength=len(judged.queries) * width)
    return counts.reshape(len(judged.queries), width)
