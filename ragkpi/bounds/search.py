"""Search for the assignments of levels to holes that make a value extreme.

`Trials` give the values of assignments, by judging each ranking anew or from the sums of a
`HoleTally`. Sums in another order round differently, so the tally only chooses the extreme
assignments of a search, and the measure itself computes their values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement
from math import comb

import numpy as np

from ragkpi.arrays import BoolArray, FloatArray, IntArray
from ragkpi.bounds.gain_ratios import OpenRatio
from ragkpi.bounds.open_run import OpenRun
from ragkpi.bounds.tally import Assignments, HoleTally
from ragkpi.files.lines import spans
from ragkpi.interface import with_progress
from ragkpi.measures.gain import gain_of_levels
from ragkpi.measures.measure import Metric, MetricScores, Scores, score
from ragkpi.ranking.judged import Settings
from ragkpi.ranking.judgements import Judgements

HITS_AT_ONCE = 1 << 16  # to be judged: their arrays fit into the cache
ASSIGNMENTS_AT_ONCE = 1 << 17  # to be tallied


def levels_of_holes(metric: Metric, judgements: Judgements, settings: Settings) -> list[int]:
    """Return the levels that a hole may get, its scale, the level with the lowest gain first.

    They are 0, -l and the levels of the qrels; for measures of a rubric, the levels of the grade
    map. Of levels with equal gains there is one.
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
    def ratio(self) -> OpenRatio | None:
        """The run for a metric that is a sum of gains over an ideal; None for other metrics."""
        ratio_of = self.metric.measure.bounds.ratio
        return ratio_of and OpenRatio(ratio_of(**self.metric.arguments), self.run, self.scale)

    @property
    def is_level(self) -> bool:
        """Whether all levels of the scale are surely worth the same."""
        if self.ratio is not None:
            return self.top == 0
        tallied = self.metric.measure.bounds.tallied is not None
        return tallied and self.run.judged.settings.relevance_level <= self.scale[0]

    @property
    def is_tallied(self) -> bool:
        """Whether `values` come from a `HoleTally`."""
        return bool(self.ratio or self.metric.measure.bounds.tallied) and not self.is_level

    def values(self, assignments: Assignments) -> FloatArray:
        """Return the statistics of assignments, (V, S): rounded otherwise if they are tallied."""
        if not self.is_tallied:
            return self.judged(assignments)
        measure, parts = self.metric.measure, []
        for first in range(0, max(1, len(assignments.query)), ASSIGNMENTS_AT_ONCE):
            some = assignments.part(slice(first, first + ASSIGNMENTS_AT_ONCE))
            tally = HoleTally.of(self.run, some, self.scale[0], self.scale[-1])
            if self.ratio is not None:
                statistics = self.ratio.values(tally)
            else:
                other = measure.bounds.tallied
                function = other if callable(other) else measure.function
                statistics = np.asarray(function(tally, **self.metric.arguments), dtype=np.float64)
            parts.append(statistics if statistics.ndim == 2 else statistics[:, np.newaxis])
        return np.concatenate(parts)

    def judged(self, assignments: Assignments) -> FloatArray:
        """Return the statistics of assignments, (V, S), by judging each ranking."""

        def of(some: slice) -> FloatArray:
            query, other = assignments.query[some], assignments.other[some]
            at_top = assignments.part(some).at_top(self.run.own_rank[query])
            others = np.stack([self.run.num_other[query] - other, other], axis=1)
            scale = [self.scale[0], self.scale[-1]]
            return self._under(query, np.where(at_top, *reversed(scale)), others, scale)

        return self._in_batches(len(assignments.query), of)

    def of_thresholds(self, query: IntArray, own: IntArray, other: IntArray) -> FloatArray:
        """Return the statistics of assignments of all levels, (V, S).

        The first ``own[:, t]`` own holes have at least step t + 1 of the scale; `other` is the same
        for other holes, (V, T) each.
        """
        scale = np.asarray(self.scale)
        place = np.arange(self.run.number.shape[1])

        def of(some: slice) -> FloatArray:
            step = np.zeros((len(query[some]), len(place)), dtype=np.int64)
            for threshold in own[some].T:
                step += place < threshold[:, np.newaxis]
            num_other = self.run.num_other[query[some], np.newaxis]
            others = -np.diff(other[some], prepend=num_other, append=0, axis=1)
            return self._under(query[some], scale[step], others, self.scale)

        return self._in_batches(len(query), of)

    def of_steps(self, own: IntArray, others: IntArray) -> FloatArray:
        """Return the statistics of all queries, (Q, S).

        Their own holes have steps of the scale, (Q, U), and `others`, (Q, L), has the number of
        other holes at each step.
        """
        query, levels = np.arange(len(own)), np.asarray(self.scale)[own]

        def of(some: slice) -> FloatArray:
            return self._under(query[some], levels[some], others[some], self.scale)

        return self._in_batches(len(own), of)

    def _in_batches(self, count: int, of: Callable[[slice], FloatArray]) -> FloatArray:
        longest = int(np.diff(self.run.judged.starts).max(initial=1))
        size = max(1, HITS_AT_ONCE // max(1, longest, self.run.number.shape[1]))
        starts = range(0, max(1, count), size)
        batches = with_progress(starts, self.metric.name, len(starts))
        return np.concatenate([of(slice(start, start + size)) for start in batches])

    def _under(
        self, query: IntArray, levels: IntArray, others: IntArray, scale: Sequence[int]
    ) -> FloatArray:
        judged = self.run.under(query, levels, others, scale)
        return np.asarray(score(judged, [self.metric]).columns[0].statistics, dtype=np.float64)


def candidates_of(trials: Trials) -> FloatArray:
    """Return the statistics of assignments among which are the extremes of each query, (Q, C, S).

    The search is that of the measure's `Bounds`.
    """
    search = trials.metric.measure.bounds.search
    if search == "counts":
        return _every_count(trials)
    return (
        corners(trials, np.arange(0))
        if search == "corners" or trials.is_level
        else _staircase(trials)
    )


def corners(trials: Trials, known: IntArray, step: int = 0) -> FloatArray:
    """Put own holes at one end of the scale, and other holes at one end: (Q, C, S).

    The holes of the numbers `known` are at a step of it.
    """
    run = trials.run
    is_known = np.zeros(len(run.row), dtype=bool)
    is_known[known] = True
    own_known = is_known[run.number]
    is_known[run.number[run.number >= 0]] = False
    others_known = np.flatnonzero(is_known & (run.row >= 0))
    num_known, num_varying = (
        np.bincount(run.row[some], minlength=len(run.num_own))
        for some in (others_known, others_known[run.varies[others_known]])
    )
    candidates = []
    for of_others in (0, trials.top) if run.num_other.any() else (0,):
        others = np.zeros((len(run.num_own), len(trials.scale)), dtype=np.int64)
        others[:, of_others] = run.num_other - num_varying
        others[:, step] += num_known
        for of_own in (0, trials.top):
            candidates.append(trials.of_steps(np.where(own_known, step, of_own), others))
    return np.stack(candidates, axis=1)


def _every_count(trials: Trials) -> FloatArray:
    """Try every number of own and of other holes at every level: (Q, C, S)."""
    parts: list[FloatArray] = []
    for query, most in enumerate(zip(trials.run.num_own, trials.run.num_other, strict=True)):
        # Falling sequences of thresholds.
        own, other = (
            np.array([*combinations_with_replacement(range(int(number), -1, -1), trials.top)])
            for number in most
        )
        left, right = np.divmod(np.arange(len(own) * len(other)), len(other))
        queries = np.full(len(left), query)
        parts.append(trials.of_thresholds(queries, own[left], other[right]))
    sizes = np.array([len(part) for part in parts], dtype=np.int64)
    return _padded(np.concatenate(parts), sizes)


def num_counts(trials: Trials) -> int:
    """Return how many assignments a search of ``"counts"`` tries out, over all queries."""
    pairs = zip(trials.run.num_own.tolist(), trials.run.num_other.tolist(), strict=True)
    top = trials.top
    return sum(comb(own + top, top) * comb(other + top, top) for own, other in pairs)


Side = Callable[[OpenRun, IntArray, IntArray], Assignments]
_SIDES: Sequence[Side] = (Assignments.first, Assignments.last)


def _staircase(trials: Trials) -> FloatArray:
    """Put any number of own holes, the first or the last ones, at the top: (Q, C, S).

    Only candidates that can be extremes are returned.
    """
    run, candidates = trials.run, []
    every = np.arange(len(run.num_own))
    if trials.ratio is not None:
        own = trials.ratio.best_thresholds()
        candidates.append(trials.of_thresholds(every, own, np.zeros_like(own)))
    sides = _SIDES if trials.ratio is None else _SIDES[1:]
    for side in with_progress(sides, trials.metric.name, len(sides)):
        tables = list(_along(trials, side))
        if tables[0].shape[2] > 1 or any(np.isnan(table).any() for table in tables):
            # The extremes of ratios of means, and with NA, depend on all queries.
            return _every_step(trials)
        for choice in (np.argmin, np.argmax):
            count = np.concatenate([choice(table[:, :, 0], axis=1) for table in tables])
            candidates.append(trials.judged(side(run, every, count)))
    return np.stack(candidates, axis=1)


def _every_step(trials: Trials) -> FloatArray:
    width = int(trials.run.num_own.max(initial=0)) + 1
    parts = []
    for side in with_progress(_SIDES, trials.metric.name, 2):
        tables = [
            np.pad(table, ((0, 0), (0, width - table.shape[1]), (0, 0)), mode="edge")
            for table in _along(trials, side)
        ]
        parts.append(np.concatenate(tables))
    return np.concatenate(parts, axis=1)


def _along(trials: Trials, side: Side) -> Iterator[FloatArray]:
    """Raise one own hole after the other; yield (q, U + 1, S) for some queries after others."""
    sizes = trials.run.num_own + 1
    starts = np.concatenate([[0], np.cumsum(sizes)])
    parts = list(spans(starts, ASSIGNMENTS_AT_ONCE))
    for first, last in with_progress(parts, trials.metric.name, len(parts)):
        query = np.repeat(np.arange(first, last), sizes[first:last])
        count = np.arange(starts[first], starts[last]) - starts[query]
        yield _padded(trials.values(side(trials.run, query, count)), sizes[first:last])


def _padded(statistics: FloatArray, sizes: IntArray) -> FloatArray:
    """Stack groups of statistics of some sizes, (q, C, S), padded with the last of each."""
    starts = np.cumsum(sizes) - sizes
    index = np.minimum(np.arange(int(sizes.max(initial=1))), sizes[:, np.newaxis] - 1)
    return np.asarray(statistics[starts[:, np.newaxis] + index])


def spread_if_known(trials: Trials, query: IntArray, place: IntArray) -> FloatArray:
    """Return the `spread` over the `corners` that is left once an own hole is known, (m,).

    It is the mean over both ends of the scale as the hole's level. `query` and `place`, (m,) each,
    identify own holes.
    """
    run = trials.run
    every, none = np.arange(len(run.num_own)), np.zeros_like(run.num_own)
    at_ends = []  # other holes at the top, and the values with all own holes at each end
    for other in (none, run.num_other):
        low, high = (
            trials.values(Assignments.first(run, every, own, other))[:, 0]
            for own in (none, run.num_own)
        )
        at_ends.append((other, low, high))
    left = np.empty(len(query))
    starts = range(0, len(query), ASSIGNMENTS_AT_ONCE)
    for start in with_progress(starts, trials.metric.name, len(starts)):
        some = slice(start, start + ASSIGNMENTS_AT_ONCE)
        rows, number = query[some], place[some] + 1
        yes = np.ones(len(rows), dtype=bool)
        if_worthless, if_best = [], []
        for other, low, high in at_ends:
            all_but, only = (
                trials.values(Assignments.one(run, rows, number, is_high, other[rows]))[:, 0]
                for is_high in (~yes, yes)
            )
            if_worthless += [low[rows], all_but]
            if_best += [high[rows], only]
        spreads = [spread(np.stack(values, axis=1)) for values in (if_worthless, if_best)]
        left[some] = (spreads[0] + spreads[1]) / 2
    return left


def can_reverse(pair: Sequence[Trials], scores: Sequence[Scores]) -> bool:
    """Return whether the worse run wins under the levels that help it most.

    Holes that only it retrieves get the top level, holes of only the better run are worthless, and
    each query's shared holes get the level that helps more of these two.
    """
    better, worse = pair
    if better.run.judged.queries != worse.run.judged.queries:
        return False
    sign = worse.metric.measure.sign
    of_worse, of_better = (trials.run.number[trials.run.number >= 0] for trials in (worse, better))
    tried = []
    for shared in (0, worse.top):
        step = np.where(worse.run.varies, 0, -1)
        step[of_worse] = worse.top
        step[of_worse[np.isin(of_worse, of_better)]] = shared
        tried.append([_of_every_hole(trials, step) for trials in (worse, better)])
    first, second = (sign * (won[:, 0] - lost[:, 0]) for won, lost in tried)
    rows = np.where((second > first)[:, np.newaxis], tried[1], tried[0])
    won, lost = (
        float(MetricScores(worse.metric, of_run, run.divisor).summary)
        for of_run, run in zip(rows, reversed(scores), strict=True)
    )
    return sign * (won - lost) > _TOLERANCE


def _of_every_hole(trials: Trials, step: IntArray) -> FloatArray:
    """Return the statistics of every query, (Q, S), under a step for each hole, (n,), or -1."""
    run, shape = trials.run, (len(trials.run.num_own), len(trials.scale))
    other = (run.row >= 0) & (step >= 0)
    other[run.number[run.number >= 0]] = False
    cells = np.bincount(run.row[other] * shape[1] + step[other], minlength=shape[0] * shape[1])
    return trials.of_steps(step[run.number], cells.reshape(shape))


_STEPS = 100
_TOLERANCE = 1e-12


def extreme_summary(candidates: FloatArray, column: MetricScores, sign: int) -> float:
    """Return the greatest (sign 1) or least (-1) summary of one candidate per query, (Q, C, S).

    A summary is a monotone function of a ratio of sums, such as a mean over the known queries. So
    change queries as long as that improves the ratio. The result is the extreme: at its value v no
    query has a better numerator - v denominator, and these add up.
    """
    aggregate = column.metric.measure.aggregate
    known: BoolArray = np.asarray(~np.isnan(candidates).any(axis=2))
    rows = np.where(known[:, :, np.newaxis], candidates, 0.0)
    absent = column.divisor - len(column.statistics)
    every = np.arange(len(rows))
    chosen = np.argmax(known, axis=1)
    current = np.asarray(-np.inf)
    for _ in range(_STEPS):
        sums = rows[every, chosen].sum(axis=0) + absent * aggregate.absent
        count = int(known[every, chosen].sum()) + absent
        others = sums - rows[every, chosen][:, np.newaxis] + rows
        counts = count - known[every, chosen][:, np.newaxis] + known
        with np.errstate(divide="ignore", invalid="ignore"):
            current = _na_last(sign * aggregate.summary(sums, count))
            tried = _na_last(sign * aggregate.summary(others, counts))
        best = tried.argmax(axis=1)
        margin = _TOLERANCE * max(1.0, abs(float(current))) if np.isfinite(current) else 0.0
        better = tried[every, best] > current + margin
        if not better.any():
            break
        chosen = np.where(better, best, chosen)
    return float(replace(column, statistics=candidates[every, chosen]).summary)


def _na_last(values: FloatArray) -> FloatArray:
    return np.where(np.isnan(values), -np.inf, values)


def least_and_greatest(candidates: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the least and the greatest candidate of each query, (Q, C) to (Q,).

    NaN is ignored; both are NaN if all candidates are.
    """
    known = ~np.isnan(candidates)
    low = np.where(known, candidates, np.inf).min(axis=1)
    high = np.where(known, candidates, -np.inf).max(axis=1)
    none = ~known.any(axis=1)
    return np.where(none, np.nan, low), np.where(none, np.nan, high)


def spread(values: FloatArray) -> FloatArray:
    """Return the greatest less the least of each row, (n, C) to (n,); 0 where all are NA."""
    low, high = least_and_greatest(values)
    return np.where(np.isnan(low), 0.0, high - low)
