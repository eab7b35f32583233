"""Search for the assignments of levels to holes that make a value extreme.

`Trials` judge every ranking anew under its assignment, and the measure itself computes the value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement
from math import comb

import numpy as np

from ragkpi.arrays import ROUNDING, BoolArray, FloatArray, IntArray
from ragkpi.bounds.open_run import OpenRun
from ragkpi.bounds.sweep import Sweep, sweep_of
from ragkpi.measures.gain import gain_of_levels
from ragkpi.measures.measure import GainRatio, Metric, MetricScores, score
from ragkpi.ranking.judged import Settings
from ragkpi.ranking.judgements import Judgements

MOST_COUNTS = 300_000  # maximum assignments for the queries that are opened at once
HITS_AT_ONCE = 1 << 16  # to be judged: their arrays fit into the cache
CELLS_AT_ONCE = 1 << 21  # of a table of assignments and own holes


def levels_of_holes(metric: Metric, judgements: Judgements, settings: Settings) -> list[int]:
    """Return the possible levels of a hole, its scale, the level with the lowest gain first.

    They are 0, -l and the levels of the qrels; for measures of a rubric, the levels of the grade
    map. Levels with equal gains are one level.
    """
    if metric.is_graded:
        rubric = settings.grade_map.rubric
        by_grade = {grade: level for level, grade in rubric.items()}
        return [by_grade[grade] for grade in sorted(by_grade)]
    present = np.unique(np.append(judgements.level, [0, settings.relevance_level]))
    levels = present[present >= 0]
    gain = gain_of_levels(levels, metric.arguments.get("gains", {}))
    by_gain = dict(zip(gain.tolist(), levels.tolist(), strict=True))
    return [level for _, level in sorted(by_gain.items())]


@dataclass(frozen=True)
class Trials:
    """A run and a metric, to be computed under assignments of levels of a scale to holes."""

    run: OpenRun
    metric: Metric
    scale: Sequence[int]

    @property
    def top(self) -> int:
        """The last step of the scale."""
        return len(self.scale) - 1

    @cached_property
    def every(self) -> IntArray:
        """All queries, (Q,)."""
        return np.arange(len(self.run.num_own))

    @cached_property
    def places(self) -> IntArray:
        """The places of the own holes of a query, (U,)."""
        return np.arange(self.run.number.shape[1])

    @cached_property
    def sweep(self) -> Sweep | None:
        """The sums of the metric's form; None if that is not known."""
        return sweep_of(self.metric, self.run, self.scale)

    @cached_property
    def corners(self) -> list[list[FloatArray]]:
        """The statistics, (Q, S), with own holes at both ends of the scale, by those of others."""
        others = (0, self.run.num_other) if self.run.num_other.any() else (0,)
        return [[self.values(np.asarray(own), other) for own in (False, True)] for other in others]

    def values(
        self, raised: BoolArray, at_top: IntArray | int, query: IntArray | None = None
    ) -> FloatArray:
        """Return the statistics of queries, all or (V,), with holes at the ends of the scale.

        The `raised` own holes, (V, U), are at the top, and `at_top` of the other holes, (V,).
        """
        query = self.every if query is None else query
        others = np.zeros((len(query), len(self.scale)), dtype=np.int64)
        others[:, 0] = self.run.num_other[query] - at_top
        others[:, -1] += at_top
        own = np.broadcast_to(np.where(raised, self.top, 0), (len(query), len(self.places)))
        return self.of_steps(query, own, others)

    def of_thresholds(self, query: IntArray, own: IntArray, other: IntArray) -> FloatArray:
        """Return the statistics of assignments of all levels, (V, S).

        The first ``own[:, t]`` own holes have at least step t + 1 of the scale; `other` is the same
        for other holes, (V, T) each.
        """
        step = np.zeros((len(query), len(self.places)), dtype=np.int64)
        for threshold in own.T:
            step += self.places < threshold[:, np.newaxis]
        num_other = self.run.num_other[query, np.newaxis]
        others = -np.diff(other, prepend=num_other, append=0, axis=1)
        return self.of_steps(query, step, others)

    def of_steps(self, query: IntArray, own: IntArray, others: IntArray) -> FloatArray:
        """Return the statistics of V rankings of queries, (V, S).

        Their own holes have steps of the scale, (V, U), and `others`, (V, L), has the number of
        other holes at each step.
        """
        levels, judged = np.asarray(self.scale), self.run.judged
        size = HITS_AT_ONCE // max(1, int(np.diff(judged.starts).max(initial=1)), own.shape[1])
        if isinstance(self.metric.measure.bounds.form, GainRatio):
            # An ideal has no room for more. The measure sorts the documents that are left.
            others = np.minimum(others, self.metric.depth or others.max(initial=0))
            sorted_ones = judged.num_judged.max(initial=1) + others.sum(axis=1).max(initial=0)
            size = min(size, CELLS_AT_ONCE // int(sorted_ones))
        size, parts = max(1, size), []
        for start in range(0, max(1, len(query)), size):
            some = slice(start, start + size)
            ranked = self.run.under(query[some], levels[own[some]], others[some], self.scale)
            parts.append(score(ranked, [self.metric]).columns[0].statistics)
        return np.concatenate(parts).astype(np.float64, copy=False)


def candidates_of(trials: Trials) -> FloatArray:
    """Return the statistics of assignments that include the extremes of each query, (Q, C, S).

    The measure's `Bounds` declare the search.
    """
    bounds, run = trials.metric.measure.bounds, trials.run
    if bounds.search == "staircase":
        return _staircase(trials)
    if bounds.search == "corners":
        return np.stack([own for of_other in trials.corners for own in of_other], axis=1)
    if is_exact(trials):
        return _every_count(trials)
    assert bounds.outer is not None, "a search of counts may be too large"
    return bounds.outer(run.judged, run.num_own, run.num_other, **trials.metric.arguments)


def is_exact(trials: Trials) -> bool:
    """Return whether candidates reach the bounds: not if there are too many counts to try."""
    if trials.metric.measure.bounds.search != "counts":
        return True
    numbers, top = (trials.run.num_own.tolist(), trials.run.num_other.tolist()), trials.top
    counts = (
        comb(own + top, top) * comb(other + top, top) for own, other in zip(*numbers, strict=True)
    )
    return sum(counts) <= MOST_COUNTS


def _every_count(trials: Trials) -> FloatArray:
    """Try every number of own and of other holes at every level: (Q, C, S)."""
    parts: list[FloatArray] = []
    for query, maxima in enumerate(zip(trials.run.num_own, trials.run.num_other, strict=True)):
        # Falling sequences of thresholds.
        own, other = (
            np.array([*combinations_with_replacement(range(int(number), -1, -1), trials.top)])
            for number in maxima
        )
        left, right = np.divmod(np.arange(len(own) * len(other)), len(other))
        queries = np.full(len(left), query)
        parts.append(trials.of_thresholds(queries, own[left], other[right])[np.newaxis])
    return stacked(parts)


def _staircase(trials: Trials) -> FloatArray:
    """Put any number of own holes, the first or the last ones, at the top: (Q, C, S)."""
    run, places, num_own = trials.run, trials.places, trials.run.num_own[:, np.newaxis]
    if (sweep := trials.sweep) is not None:
        best = trials.of_thresholds(trials.every, sweep.best, np.zeros_like(sweep.best))
        num_top = num_own - np.minimum(np.arange(len(places) + 1), num_own)
        worst = sweep.value(sweep.last, num_top + run.num_other[:, np.newaxis]).argmin(axis=1)
        last = trials.values(places >= worst[:, np.newaxis], run.num_other)
        return np.stack([best, last], axis=1)
    values = []
    for count in range(len(places) + 1):
        values.append(trials.values(places < np.minimum(count, num_own), 0))
        values.append(trials.values(places >= num_own - count, run.num_other))
    return np.stack(values, axis=1)


def stacked(tables: Sequence[FloatArray]) -> FloatArray:
    """Stack tables of candidates, (q, C, S), padded with the last of each."""
    columns = np.arange(max(table.shape[1] for table in tables))
    return np.concatenate([table[:, columns.clip(max=table.shape[1] - 1)] for table in tables])


def spreads(trials: Trials) -> FloatArray:
    """Return the `spread` of the first statistic over the corners, (Q,)."""
    values = [of_own[:, 0] for of_other in trials.corners for of_own in of_other]
    return spread(np.stack(values, axis=1))


def spread_if_other_judged(trials: Trials) -> FloatArray:
    """Return the `spreads` that remain after judging a hole of other runs, (Q,).

    This is the mean over both ends of the scale as its level.
    """
    run, one = trials.run, np.minimum(trials.run.num_other, 1)
    by_level = []
    for others in ((0, run.num_other - one), (one, run.num_other)):
        values = [
            trials.values(np.asarray(own), other)[:, 0] for other in others for own in (False, True)
        ]
        by_level.append(spread(np.stack(values, axis=1)))
    return np.asarray(np.mean(by_level, axis=0))


def spread_if_own_judged(trials: Trials) -> FloatArray:
    """Return the same after judging an own hole, (Q, U)."""
    run, by_level = trials.run, []
    num_other = (np.zeros_like(run.num_other), run.num_other)
    for level in (0, 1):
        values = []
        for other, of_other in zip(num_other, trials.corners, strict=False):
            values += [of_other[level][:, :1], _with_one_apart(trials, level, other)]
        by_level.append(spread(np.stack(np.broadcast_arrays(*values), axis=1)))
    return np.where(run.number >= 0, np.mean(by_level, axis=0), 0.0)


def _with_one_apart(trials: Trials, level: int, other: IntArray) -> FloatArray:
    """Return the value with each own hole at one end of the scale, 0 or 1, (Q, U).

    The remaining ones are at the other end, and `other` of the other holes at the top.
    """
    run = trials.run
    if (sweep := trials.sweep) is not None:
        one, total = (run.number >= 0).astype(np.int64), (sweep.but_one, sweep.alone)[level]
        num_top = one if level else run.num_own[:, np.newaxis] - one
        return sweep.value(total, num_top + other[:, np.newaxis])
    values = np.zeros(run.number.shape)
    # If only numbers count, all own holes of a query give the same value.
    same = trials.metric.measure.bounds.order == "ignored"
    for place in trials.places[:1].tolist() if same else trials.places.tolist():
        query = np.flatnonzero(run.num_own > place)
        raised = (trials.places == place) == bool(level)
        values[query, place:] = trials.values(raised, other[query], query)[:, :1]
    return values


def worse_at_its_best(better: Trials, worse: Trials) -> tuple[FloatArray, IntArray]:
    """Sum the statistics of two runs in the best case of the worse one.

    Holes that only the worse run retrieves get the top level, holes of only the better run are
    worthless, and each query's shared holes get the one of these levels that helps more. Return the
    sums of the worse and the better run, (2, S), and the number of their values, (2,).
    """
    own = worse.run.number >= 0
    shared, of_both = (
        np.isin(one.run.number, other.run.number) & (one.run.number >= 0)
        for one, other in ((worse, better), (better, worse))
    )
    alone = worse.run.num_own - shared.sum(axis=1)
    low = np.stack([worse.values(own & ~shared, 0), better.values(np.zeros_like(of_both), alone)])
    high = np.stack([worse.corners[0][1], better.values(of_both, alone)])
    leads = [worse.metric.measure.sign * (rows[0] - rows[1])[:, :1] for rows in (low, high)]
    rows = np.where(leads[1] > leads[0], high, low)
    has_value: BoolArray = np.asarray(~np.isnan(rows).any(axis=2))
    return np.where(has_value[..., np.newaxis], rows, 0.0).sum(axis=1), has_value.sum(axis=1)


def can_reverse(
    of_blocks: Sequence[tuple[FloatArray, IntArray]], worse: MetricScores, better: MetricScores
) -> bool:
    """Return whether the worse run wins by `worse_at_its_best` over all queries."""
    sums, counts = (np.sum(parts, axis=0) for parts in zip(*of_blocks, strict=True))
    won, lost = (
        float(_summary(*of_run)) for of_run in zip((worse, better), sums, counts, strict=True)
    )
    return worse.metric.measure.sign * (won - lost) > ROUNDING


def _summary(column: MetricScores, sums: FloatArray, count: IntArray) -> FloatArray:
    """Return the summary from sums and numbers of values of the evaluated queries."""
    aggregate, absent = column.metric.measure.aggregate, column.divisor - len(column.statistics)
    with np.errstate(divide="ignore", invalid="ignore"):
        valid = np.asarray(count + absent, dtype=np.float64)
        return aggregate.summary(sums + absent * aggregate.absent, valid)


_STEPS = 100


def extreme_summary(candidates: FloatArray, column: MetricScores, sign: int) -> float:
    """Return the maximum (sign 1) or minimum (-1) summary of one candidate per query, (Q, C, S).

    A summary is a monotone function of a ratio of sums, such as a mean over the queries with a
    value. So change queries as long as that improves the ratio. The result is the extreme: at its
    value v no query has a better numerator - v denominator, and these add up.
    """
    has_value: BoolArray = np.asarray(~np.isnan(candidates).any(axis=2))
    rows = np.where(has_value[:, :, np.newaxis], candidates, 0.0)
    every = np.arange(len(rows))
    chosen = np.argmax(has_value, axis=1)
    current = np.asarray(-np.inf)
    for _ in range(_STEPS):
        sums = rows[every, chosen].sum(axis=0)
        count = has_value[every, chosen].sum()
        others = sums - rows[every, chosen][:, np.newaxis] + rows
        counts = count - has_value[every, chosen][:, np.newaxis] + has_value
        current = _na_last(sign * _summary(column, sums, count))
        tried = _na_last(sign * _summary(column, others, counts))
        best = tried.argmax(axis=1)
        margin = ROUNDING * max(1.0, abs(float(current))) if np.isfinite(current) else 0.0
        better = tried[every, best] > current + margin
        if not better.any():
            break
        chosen = np.where(better, best, chosen)
    return float(replace(column, statistics=candidates[every, chosen]).summary)


def _na_last(values: FloatArray) -> FloatArray:
    return np.where(np.isnan(values), -np.inf, values)


def least_and_greatest(candidates: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the minimum and the maximum candidate of each query, (Q, C) to (Q,).

    NaN is ignored; both are NaN if all candidates are.
    """
    return np.fmin.reduce(candidates, axis=1), np.fmax.reduce(candidates, axis=1)


def spread(values: FloatArray) -> FloatArray:
    """Return the maximum minus the minimum of each row, (n, C) to (n,); 0 if all are NA."""
    low, high = least_and_greatest(values)
    return np.where(np.isnan(low), 0.0, high - low)
