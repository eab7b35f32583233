"""Extreme assignments of measures of known form, from sums over the ranks of own holes.

Sums in another order round differently, so they only choose the assignments, and say how much a
hole matters. The measure itself computes the bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ragkpi.arrays import FloatArray, IntArray
from ragkpi.bounds.open_run import OpenRun
from ragkpi.measures.measure import GainRatio, Metric, PrecisionSum
from ragkpi.ranking.judged import quotient

_STEPS = 100


@dataclass(frozen=True, eq=False)
class Sweep:
    """The sums of a run's queries with some own holes at the top and the others worthless."""

    value: Callable[[FloatArray, IntArray], FloatArray]  # (Q, n), of sums and all holes at the top
    alone: FloatArray  # (Q, U), with one own hole at the top
    but_one: FloatArray  # (Q, U), with all others at the top
    last: FloatArray  # (Q, U + 1), with those from each place on at the top
    # The maximum: (Q, T), the number of first own holes at or above each step of the scale.
    best: IntArray


def sweep_of(metric: Metric, run: OpenRun, scale: Sequence[int]) -> Sweep | None:
    """Return the sums of a metric; None if its form is not known."""
    form = metric.measure.bounds.form
    if isinstance(form, GainRatio):
        return _of_gains(form, run, scale, metric.depth)
    # If the lowest level is relevant, holes change nothing.
    rise = int(scale[0] < run.judged.settings.relevance_level)
    if isinstance(form, PrecisionSum):
        return _of_precisions(form, run, rise, len(scale) - 1, metric.depth)
    return None if form == "any" else _of_first_rank(run, rise)


def _of_precisions(
    form: PrecisionSum, run: OpenRun, rise: int, steps: int, cutoff: int | None
) -> Sweep:
    judged, count = run.judged, np.arange(run.number.shape[1] + 1)
    num_rel, now = judged.num_rel[:, np.newaxis], judged.precision_sum()[:, np.newaxis]

    def value(total: FloatArray, num_top: IntArray) -> FloatArray:
        R = num_rel + rise * num_top
        if form.beside == "min(R, K)" and cutoff is not None:
            R = np.minimum(R, cutoff)
        total, R = np.broadcast_arrays(total, R)
        return form.value(total.ravel(), R.ravel()).reshape(total.shape)

    # A hole at the top raises the precision at every relevant rank below it by 1 / that rank.
    share, above = _of_own(run, rise / judged.rank), _of_own(run, judged.rel_count)
    relevant = np.flatnonzero(judged.relevant)
    gap = judged.query[relevant], judged.running(run.place >= 0)[relevant]
    shares = np.zeros((len(share), len(count)))
    np.add.at(shares, gap, rise / judged.rank[relevant])
    alone = (above + 1) * share + _from_each(shares)[:, 1:-1]
    below = _from_each(share)[:, 1:]
    first, last = alone + count[:-1] * share, now + _from_each(alone + below)
    falling = now + np.hstack([np.zeros_like(now), first.cumsum(axis=1)])
    best = value(falling, np.minimum(count, run.num_own[:, np.newaxis])).argmax(axis=1)
    but_one = last[:, :1] - (first + below)
    return Sweep(value, now + alone, but_one, last, np.repeat(best[:, np.newaxis], steps, axis=1))


def _of_first_rank(run: OpenRun, rise: int) -> Sweep:
    first, share = run.judged.first_relevant()[:, np.newaxis], _of_own(run, rise / run.judged.rank)
    now = quotient(np.minimum(first, 1), first)
    last = np.hstack([np.maximum(share, now), now])
    but_one = np.repeat(last[:, :1], share.shape[1], axis=1)
    but_one[:, :1] = last[:, 1:2]
    return Sweep(_total, last[:, :-1], but_one, last, run.num_own[:, np.newaxis])


def _of_gains(form: GainRatio, run: OpenRun, scale: Sequence[int], cutoff: int | None) -> Sweep:
    judged, gains = run.judged, form.gain(np.asarray(scale, dtype=np.int64))
    weight, num_holes = form.weight(judged.rank), run.num_own + run.num_other
    gain = np.where(run.place >= 0, gains[0], form.gain(judged.level))
    now = judged.per_query(gain * weight)[:, np.newaxis]
    # The documents at or above each gain if holes are worthless, and the ideal sum of each number.
    reaching = []
    for threshold in gains:
        counts = np.where(form.gain(judged.levels) >= threshold, judged.level_counts, 0)
        reaching.append(np.bincount(judged.level_query, counts, len(now)).astype(np.int64))
    most = int((reaching[0] + num_holes).max(initial=0) + num_holes.max(initial=0))
    weights = form.weight(np.arange(1, most + 1))
    weights[most if cutoff is None else cutoff :] = 0
    filled = np.append(0.0, weights.cumsum())
    lowest = gains[0] * filled[reaching[0] + num_holes][:, np.newaxis]

    def ideals(num_top: IntArray) -> list[FloatArray]:
        steps = zip(np.diff(gains), reaching[1:], strict=True)
        return [step * filled[count[:, np.newaxis] + num_top] for step, count in steps]

    def value(total: FloatArray, num_top: IntArray) -> FloatArray:
        return quotient(total, sum(ideals(num_top), start=lowest))

    own = _of_own(run, weight)
    raised = np.hstack([np.zeros_like(now), own.cumsum(axis=1)])
    count = np.minimum(np.arange(raised.shape[1]), run.num_own[:, np.newaxis])
    steps = [
        (step * raised, ideal) for step, ideal in zip(np.diff(gains), ideals(count), strict=True)
    ]
    added, best = own * np.ptp(gains), _best_thresholds(now, lowest, steps)
    last = now + _from_each(added)
    of_form = value if form.over == "ideal" else _total
    return Sweep(of_form, now + added, last[:, :1] - added, last, best)


def _best_thresholds(
    now: FloatArray, lowest: FloatArray, steps: Sequence[tuple[FloatArray, FloatArray]]
) -> IntArray:
    """Return the number of own holes at or above each level of the best assignment, (Q, T).

    Levels fall down the ranks and other holes are worthless. The value is a ratio N / D: `now`
    over `lowest`, (Q, 1), and what the first 0 to U own holes add to both, (Q, U + 1), at each of
    the T steps of the scale. Dinkelbach's iteration: the assignment with the maximum of
    N - v D, where v is the value so far, has a larger value, until v is the maximum. For a
    fixed v the steps of the scale are independent.
    """
    value, chosen = np.zeros_like(now), np.zeros((len(now), len(steps)), dtype=np.int64)
    for _ in range(_STEPS):
        each = [(total - value * ideal).argmax(axis=1) for total, ideal in steps]
        best = np.minimum.accumulate(np.reshape(each, (len(steps), len(now))).T, axis=1)
        total, ideal = now, lowest
        for step, count in zip(steps, best.T[:, :, np.newaxis], strict=True):
            total = total + np.take_along_axis(step[0], count, axis=1)
            ideal = ideal + np.take_along_axis(step[1], count, axis=1)
        reached = quotient(total, ideal)
        better = reached > value
        if not better.any():
            break
        value, chosen = np.where(better, reached, value), np.where(better, best, chosen)
    return chosen


def _total(total: FloatArray, _: IntArray) -> FloatArray:
    return total


def _of_own(run: OpenRun, numbers: FloatArray | IntArray) -> FloatArray:
    """Return the numbers of own holes from those of all hits, (H,) to (Q, U); 0 for none."""
    own, table = np.flatnonzero(run.place >= 0), np.zeros(run.number.shape)
    table[run.judged.query[own], run.place[own]] = numbers[own]
    return table


def _from_each(table: FloatArray) -> FloatArray:
    """Return the sum from each column on, and 0 after the last, (Q, n) to (Q, n + 1)."""
    return np.pad(table, ((0, 0), (0, 1)))[:, ::-1].cumsum(axis=1)[:, ::-1]
