"""Search for the assignments of levels to holes that make a value extreme.

`Trials` give the values of assignments, by judging each ranking anew or from the sums of a
`HoleTally`. Sums in another order round differently, so the tally only chooses the extreme
assignments of a search, and the measure itself computes their values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement
from math import comb

import numpy as np

from ragkpi.arrays import ROUNDING, BoolArray, FloatArray, IntArray
from ragkpi.bounds.gain_ratios import OpenRatio
from ragkpi.bounds.open_run import OpenRun
from ragkpi.bounds.tally import Assignments, HoleTally
from ragkpi.measures.gain import gain_of_levels
from ragkpi.measures.measure import Metric, MetricScores, score
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
    def ratio(self) -> OpenRatio | None:
        """The run for a metric that is a sum of gains over an ideal; None for other metrics."""
        ratio_of = self.metric.measure.bounds.ratio
        return ratio_of and OpenRatio(ratio_of(**self.metric.arguments), self.run, self.scale)

    @property
    def is_level(self) -> bool:
        """Whether all levels of the scale have the same value for certain."""
        if self.ratio is not None:
            return self.top == 0
        takes_counts = self.metric.measure.takes_counts
        return takes_counts and self.run.judged.settings.relevance_level <= self.scale[0]

    def values(self, assignments: Assignments) -> FloatArray:
        """Return the statistics of assignments, (V, S); tallied ones are rounded differently."""
        measure = self.metric.measure
        if self.is_level or not (measure.takes_counts or self.ratio):
            return self.judged(assignments)
        if self.ratio is not None:
            return self.ratio.values(assignments)[:, np.newaxis]
        tally = HoleTally(self.run, assignments)
        statistics = np.asarray(measure.function(tally, **self.metric.arguments), dtype=np.float64)
        return statistics if statistics.ndim == 2 else statistics[:, np.newaxis]

    def values_of(self, own: BoolArray, other: IntArray) -> FloatArray:
        """Return the statistics of every query under K assignments, (K, Q, S).

        Own holes at the top are (K, Q, U); the number of others is (K, Q).
        """
        measure = self.metric.measure
        if self.ratio is not None and not self.is_level:
            return self.ratio.values_of(own, other)[:, :, np.newaxis]
        query = np.broadcast_to(self.every, other.shape).ravel()
        if measure.takes_counts and measure.bounds.order == "ignored":
            first = Assignments.first(self.run, query, own.sum(axis=2).ravel(), other.ravel())
            statistics = self.values(first)
        else:
            steps = np.where(own, self.top, 0).reshape(len(query), own.shape[2])
            statistics = self.of_steps(query, steps, self.others(query, other.ravel()))
        return statistics.reshape(*other.shape, statistics.shape[1])

    def judged(self, assignments: Assignments) -> FloatArray:
        """Return the statistics of assignments, (V, S), by judging each ranking."""
        size, parts = 1 + CELLS_AT_ONCE // (1 + self.run.own_rank.shape[1]), []
        for start in range(0, max(1, len(assignments.query)), size):
            some = Assignments._make(field[start : start + size] for field in assignments)
            at_top = some.at_top(self.run.own_rank[some.query])
            others = self.others(some.query, some.other)
            parts.append(self.of_steps(some.query, np.where(at_top, self.top, 0), others))
        return np.concatenate(parts)

    def others(self, query: IntArray, at_top: IntArray | int) -> IntArray:
        """Put some of the other holes of queries, (V,), at the top, the rest at step 0: (V, L)."""
        others = np.zeros((len(query), len(self.scale)), dtype=np.int64)
        others[:, 0] = self.run.num_other[query] - at_top
        others[:, -1] += at_top
        return others

    def of_thresholds(self, query: IntArray, own: IntArray, other: IntArray) -> FloatArray:
        """Return the statistics of assignments of all levels, (V, S).

        The first ``own[:, t]`` own holes have at least step t + 1 of the scale; `other` is the same
        for other holes, (V, T) each.
        """
        places = np.arange(self.run.number.shape[1])
        step = sum(
            (places < threshold[:, np.newaxis] for threshold in own.T), np.zeros_like(places)
        )
        num_other = self.run.num_other[query, np.newaxis]
        others = -np.diff(other, prepend=num_other, append=0, axis=1)
        return self.of_steps(query, np.broadcast_to(step, (len(query), len(places))), others)

    def of_steps(self, query: IntArray, own: IntArray, others: IntArray) -> FloatArray:
        """Return the statistics of V rankings of queries, (V, S).

        Their own holes have steps of the scale, (V, U), and `others`, (V, L), has the number of
        other holes at each step.
        """
        levels, judged = np.asarray(self.scale), self.run.judged
        size = HITS_AT_ONCE // max(1, int(np.diff(judged.starts).max(initial=1)), own.shape[1])
        if self.ratio is not None:
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
    search = trials.metric.measure.bounds.search
    if search == "counts":
        return _every_count(trials) if is_exact(trials) else _outer(trials)
    if search == "staircase" and not trials.is_level:
        return _staircase(trials)
    return np.stack([trials.judged(corner) for corner in _corners(trials.run)], axis=1)


def _corners(run: OpenRun) -> Iterator[Assignments]:
    """Put own holes at one end of the scale, and other holes at one end."""
    every, none = np.arange(len(run.num_own)), np.zeros_like(run.num_own)
    for other in (none, run.num_other) if run.num_other.any() else (none,):
        for own in (none, run.num_own):
            yield Assignments.first(run, every, own, other)


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
        parts.append(trials.of_thresholds(queries, own[left], other[right]))
    return stacked([part[np.newaxis] for part in parts])


def is_exact(trials: Trials) -> bool:
    """Return whether candidates reach the bounds: not if there are too many counts to try."""
    if trials.metric.measure.bounds.search != "counts":
        return True
    numbers, top = (trials.run.num_own.tolist(), trials.run.num_other.tolist()), trials.top
    counts = (
        comb(own + top, top) * comb(other + top, top) for own, other in zip(*numbers, strict=True)
    )
    return sum(counts) <= MOST_COUNTS


def _outer(trials: Trials) -> FloatArray:
    bounds, run = trials.metric.measure.bounds, trials.run
    assert bounds.outer is not None, "a search of counts may be too large"
    return bounds.outer(run.judged, run.num_own, run.num_other, **trials.metric.arguments)


_SIDES: Sequence[Callable[[OpenRun, IntArray, IntArray], Assignments]] = (
    Assignments.first,
    Assignments.last,
)


def _staircase(trials: Trials) -> FloatArray:
    """Put any number of own holes, the first or the last ones, at the top: (Q, C, S).

    Only candidates that can be extremes are returned.
    """
    run, candidates, sides = trials.run, [], _SIDES
    if trials.ratio is not None:
        own, sides = trials.ratio.best_thresholds(), _SIDES[1:]
        candidates.append(trials.of_thresholds(trials.every, own, np.zeros_like(own)))
    query, count = numbered(run.num_own + 1)
    tables = [_padded(trials.values(side(run, query, count)), run.num_own + 1) for side in sides]
    if tables[0].shape[2] > 1 or any(np.isnan(table).any() for table in tables):
        # The extremes of ratios of means, and with NA, depend on all queries.
        return np.concatenate(tables, axis=1)
    for side, table in zip(sides, tables, strict=True):
        for choice in (np.argmin, np.argmax):
            best = side(run, trials.every, choice(table[:, :, 0], axis=1))
            candidates.append(trials.judged(best))
    return np.stack(candidates, axis=1)


def numbered(sizes: IntArray) -> tuple[IntArray, IntArray]:
    """Return the group of each row, for groups of these sizes, and its number there, from 0."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    return group, np.arange(len(group)) - (np.cumsum(sizes) - sizes)[group]


def stacked(tables: Sequence[FloatArray]) -> FloatArray:
    """Stack tables of candidates, (q, C, S), padded with the last of each."""
    columns = np.arange(max(table.shape[1] for table in tables))
    return np.concatenate([table[:, columns.clip(max=table.shape[1] - 1)] for table in tables])


def _padded(statistics: FloatArray, sizes: IntArray) -> FloatArray:
    """Stack groups of statistics of these sizes, (q, C, S), padded with the last of each."""
    starts = np.cumsum(sizes) - sizes
    index = np.minimum(np.arange(int(sizes.max(initial=1))), sizes[:, np.newaxis] - 1)
    return np.asarray(statistics[starts[:, np.newaxis] + index])


def spreads(trials: Trials, judged: IntArray | int = 0) -> FloatArray:
    """Return the `spread` of the first statistic over the corners, (Q,).

    If some of the other holes are `judged`, return the mean over both ends of the scale as their
    level.
    """
    run, none = trials.run, np.zeros_like(trials.run.num_own)
    by_level = []
    for at_top in (0, judged) if np.any(judged) else (0,):
        values = [
            trials.values(Assignments.first(run, trials.every, own, other + at_top))[:, 0]
            for own in (none, run.num_own)
            for other in (none, run.num_other - judged)
        ]
        by_level.append(spread(np.stack(values, axis=1)))
    return np.asarray(np.mean(by_level, axis=0))


def spread_if_one_judged(trials: Trials) -> FloatArray:
    """Return the `spreads` that remain after judging an own hole, (m,).

    This is the mean over both ends of the scale as its level, for each own hole of each query.
    """
    run, none = trials.run, np.zeros_like(trials.run.num_own)
    # If only numbers count, all own holes of a query leave the same spread.
    unranked = trials.metric.measure.bounds.order == "ignored"
    query, number = numbered(np.minimum(run.num_own, 1) if unranked else run.num_own)
    by_end = []
    for own, end in ((none, False), (run.num_own, True)):
        at_end, values = np.full(len(query), end), []
        for other in (none, run.num_other):
            alone = Assignments.first(run, trials.every, own, other)
            assignments = Assignments.one(run, query, number + 1, at_end, other[query])
            values += [trials.values(alone)[query, 0], trials.values(assignments)[:, 0]]
        by_end.append(spread(np.stack(values, axis=1)))
    return np.repeat((by_end[0] + by_end[1]) / 2, run.num_own[run.num_own > 0] if unranked else 1)


def worse_at_its_best(
    pairs: Sequence[tuple[int, int]], trials: Mapping[int, Trials]
) -> tuple[FloatArray, IntArray]:
    """Sum the statistics of pairs of a better and a worse run in the worse run's best case.

    Holes that only the worse run retrieves get the top level, holes of only the better run are
    worthless, and each query's shared holes get the one of these levels that helps more. Return the
    sums of the worse and the better run, (2, P, S), and the numbers of their values, (2, P).
    """
    metric = next(iter(trials.values())).metric
    # Whether each hole is an own hole; number -1 is none.
    last = max(int(of_run.run.number.max(initial=-1)) for of_run in trials.values())
    is_own = {run: np.zeros(last + 2, dtype=bool) for run in trials}
    for run, of_run in trials.items():
        is_own[run][of_run.run.number[of_run.run.number >= 0]] = True
    sides: list[list[FloatArray]] = [[np.empty(0)] * len(pairs), [np.empty(0)] * len(pairs)]
    for run in trials:
        numbers = [number for number, pair in enumerate(pairs) if run in pair]
        rivals = [sum(pairs[number]) - run for number in numbers]
        is_worse = np.array([pairs[number][1] == run for number in numbers])
        shared = np.stack([is_own[rival][trials[run].run.number] for rival in rivals])
        of_rivals = np.stack([trials[rival].run.num_own for rival in rivals])
        of_pairs = _beside(trials[run], shared, of_rivals, is_worse)
        for number, worse, rows in zip(numbers, is_worse, of_pairs, strict=True):
            sides[0 if worse else 1][number] = rows
    worse, better = map(np.stack, sides)  # (P, 2, Q, S)
    first, second = metric.measure.sign * np.moveaxis(worse - better, 1, 0)[..., 0]
    raised = (second > first)[:, :, np.newaxis]
    chosen = np.stack([np.where(raised, rows[:, 1], rows[:, 0]) for rows in (worse, better)])
    has_value = ~np.isnan(chosen).any(axis=3)
    return np.where(has_value[..., np.newaxis], chosen, 0.0).sum(axis=2), has_value.sum(axis=2)


def _beside(
    trials: Trials, shared: BoolArray, of_rivals: IntArray, is_worse: BoolArray
) -> FloatArray:
    """Return a run's statistics with shared holes worthless, and at the top, (m, 2, Q, S).

    The run is the worse or the better one of a pair with each of m rivals, which share some of its
    own holes, (m, Q, U), in these numbers, (m, Q).
    """
    alone = is_worse[:, np.newaxis, np.newaxis] & ~shared & (trials.run.number >= 0)
    own = np.stack([alone, alone | shared], axis=1)
    other = np.where(is_worse[:, np.newaxis], 0, of_rivals - shared.sum(axis=2))
    rows = trials.values_of(np.concatenate(own), np.repeat(other, 2, axis=0))
    return rows.reshape(len(is_worse), 2, *rows.shape[1:])


def can_reverse(
    pairs: Sequence[tuple[int, int]],
    of_blocks: Sequence[tuple[FloatArray, IntArray]],
    columns: Sequence[MetricScores],
) -> Iterator[tuple[int, int]]:
    """Yield the pairs in which the worse run wins by `worse_at_its_best` over all queries.

    `columns` are the scores of each run.
    """
    sums, counts = (np.sum(parts, axis=0) for parts in zip(*of_blocks, strict=True))
    for pair, of_runs, count in zip(pairs, sums.swapaxes(0, 1), counts.T, strict=True):
        runs = zip(reversed(pair), of_runs, count, strict=True)
        won, lost = (float(_summary(columns[run], *of_run)) for run, *of_run in runs)
        if columns[0].metric.measure.sign * (won - lost) > ROUNDING:
            yield pair


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
