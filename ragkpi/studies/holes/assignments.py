"""Values of a run under assignments of levels to its holes: all that can be extreme."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import combinations_with_replacement
from math import comb
from typing import Literal

import numpy as np

from ragkpi.measures.gain import gain_of_levels
from ragkpi.measures.measure import GainRatio, Metric
from ragkpi.measures.scores import score
from ragkpi.progress import steps
from ragkpi.ranking.judged import FloatArray, IntArray
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.settings import Settings
from ragkpi.records import dataclass
from ragkpi.studies.holes.open_runs import OpenRun

End = Literal["top", "bottom"]
BATCH = 1 << 16  # hits judged at once: their arrays fit into the cache
MOST_COUNTS = 300_000  # most assignments to try out for a measure; with more it is refused


def scale(metric: Metric, judgements: Judgements, settings: Settings) -> list[int]:
    """Return the levels that a hole may get, the level with the lowest gain first.

    They are 0, -l and the levels of the qrels; for measures of a rubric, the levels of the grade
    map. Of levels with equal gains there is one.
    """
    if "grade_map" in metric.measure.needs:
        rubric = settings.grade_map.rubric
        by_grade = {grade: level for level, grade in rubric.items()}
        return [by_grade[grade] for grade in sorted(by_grade)]
    present = np.unique(np.append(judgements.level, [0, settings.relevance_level]))
    levels = present[present >= 0]
    gain = gain_of_levels(levels, metric.arguments.get("gains", {}))
    by_gain = dict(zip(gain.tolist(), levels.tolist(), strict=True))
    return [level for _, level in sorted(by_gain.items())]


OTHER = -2  # in `Case.known`: another hole, not one of the run's own


@dataclass(frozen=True)
class Case:
    """n queries of a run to bound; in each of them the level of one hole may be known.

    Attributes
    ----------
    query : (n,)
        Numbers of queries.
    known, level : (n,)
        The place of the known own hole, `OTHER` for another hole, -1 for none; and its level.
    """

    query: IntArray
    known: IntArray
    level: IntArray

    @classmethod
    def of_all(cls, run: OpenRun) -> Case:
        """Take every query, without known holes."""
        nothing = np.full(len(run.judged.queries), -1)
        return cls(np.arange(len(nothing)), nothing, nothing)


@dataclass(frozen=True)
class Trials:
    """A run and a metric, to be computed under assignments of levels to holes.

    Thresholds describe an assignment. ``own[:, t]`` own holes have at least level t + 1 of the
    scale: the first of the ranking (``end="top"``) or the last. ``other`` does the same for other
    holes.
    """

    run: OpenRun
    metric: Metric
    scale: Sequence[int]

    @cached_property
    def ratio(self) -> GainRatio | None:
        """The parts of a metric that is a sum of gains over an ideal; None for other metrics."""
        of_arguments = self.metric.measure.bounds.ratio
        return None if of_arguments is None else of_arguments(**self.metric.arguments)

    @property
    def thresholds(self) -> int:
        """The number of steps of the scale."""
        return len(self.scale) - 1

    @property
    def two_levels(self) -> Trials:
        """The same trials with only the ends of the scale."""
        return Trials(self.run, self.metric, [self.scale[0], self.scale[-1]])

    def statistics(
        self, case: Case, row: IntArray, own: IntArray, other: IntArray, end: End
    ) -> FloatArray:
        """Return the sufficient statistics of V assignments, (V, S).

        Parameters
        ----------
        case, row : (V,)
            The queries, and the row of the case for each assignment.
        own, other : (V, T)
            The thresholds.
        """
        longest = int(np.diff(self.run.judged.starts).max(initial=1))
        step = max(1, BATCH // max(1, longest, self.run.number.shape[1]))
        parts = []
        starts = range(0, max(1, len(row)), step)
        for i in steps(starts, self.metric.name, len(starts)):
            some = slice(i, i + step)
            parts.append(self._batch(case, row[some], own[some], other[some], end))
        return np.concatenate(parts)

    def _batch(
        self, case: Case, row: IntArray, own: IntArray, other: IntArray, end: End
    ) -> FloatArray:
        query = case.query[row]
        place = np.arange(self.run.number.shape[1])[np.newaxis]
        if end == "bottom":
            place = self.run.num_own[query, np.newaxis] - 1 - place
        levels = np.asarray(self.scale)[_steps(place, own)]
        known = case.known[row]
        own_known = np.flatnonzero(known >= 0)
        levels[own_known, known[own_known]] = case.level[row[own_known]]
        others = -np.diff(other, prepend=self.run.num_other[query, np.newaxis], append=0, axis=1)
        # Move another hole from its step of the scale to the step of its known level.
        moved = np.flatnonzero(known == OTHER)
        others[moved, _steps(np.zeros((len(moved), 1)), other[moved])[:, 0]] -= 1
        is_level = case.level[row[moved], np.newaxis] == np.asarray(self.scale)
        others[moved, is_level.argmax(axis=1)] += 1
        return self.under(query, levels, others)

    def under(self, query: IntArray, levels: IntArray, others: IntArray) -> FloatArray:
        """Return the statistics of queries, (V, S), under levels of their holes.

        `OpenRun.assigned` describes the parameters.
        """
        judged = self.run.assigned(query, levels, others, self.scale)
        return np.asarray(score(judged, [self.metric]).columns[0].statistics, dtype=np.float64)


def _steps(place: IntArray | FloatArray, thresholds: IntArray) -> IntArray:
    """Return how many thresholds, (V, T), are larger than each place, (V, W): (V, W)."""
    step = np.zeros((len(thresholds), place.shape[1]), dtype=np.int64)
    for threshold in thresholds.T:
        step += place < threshold[:, np.newaxis]
    return step


def corners(trials: Trials, case: Case) -> FloatArray:
    """Put all own holes at one end of the scale, and all other holes at one end: (n, C, S)."""
    two = trials.two_levels
    own, other = two.run.num_own, two.run.num_other
    ends = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[: 4 if other.any() else 2]
    n = len(case.query)
    row = np.repeat(np.arange(n), len(ends))
    query = case.query[row]
    own_end, other_end = np.tile(ends, (n, 1)).T
    own, other = (own_end * own[query])[:, np.newaxis], (other_end * other[query])[:, np.newaxis]
    return two.statistics(case, row, own, other, "top").reshape(n, len(ends), -1)


def staircase(trials: Trials, case: Case) -> FloatArray:
    """Put any number of own holes, the first or the last ones, at the top level: (n, C, S)."""
    two = trials.two_levels
    highest = _along(two, case, "top", other="worthless")
    if trials.metric.measure.bounds.levels == "all":
        highest = _climbed(trials, case)
    return np.concatenate([highest, _along(two, case, "bottom", other="at the top")], axis=1)


def _along(
    trials: Trials,
    case: Case,
    end: End,
    other: Literal["worthless", "at the top"],
) -> FloatArray:
    """Raise one own hole after the other, from one end of the ranking: (n, U + 1, S)."""
    most = trials.run.num_own[case.query]
    row, count = ranges(most)
    others = trials.run.num_other[case.query[row]] * (other == "at the top")
    statistics = trials.statistics(case, row, count[:, np.newaxis], others[:, np.newaxis], end)
    return padded(statistics, most)


def _climbed(trials: Trials, case: Case) -> FloatArray:
    """Find the best staircase of levels by moving one threshold at a time: (n, 1, S).

    When no single threshold can be improved, the maximum is reached: at its value v no threshold
    has a better numerator - v denominator, and those add up.
    """
    n, steps = len(case.query), trials.thresholds
    best = np.zeros((n, steps), dtype=np.int64)
    statistics = trials.statistics(case, np.arange(n), best, np.zeros_like(best), "top")
    moving = np.ones(n, dtype=bool)
    while moving.any():
        moved = np.zeros(n, dtype=bool)
        for step in range(steps):
            active = np.flatnonzero(moving)
            most = trials.run.num_own[case.query[active]]
            high = best[active, step - 1] if step else most
            low = best[active, step + 1] if step + 1 < steps else np.zeros_like(most)
            at, count = ranges(high - low)
            row = active[at]
            own = best[row]
            own[:, step] = low[at] + count
            tried = trials.statistics(case, row, own, np.zeros_like(own), "top")
            tables = padded(tried, high - low)
            choice = tables[:, :, 0].argmax(axis=1)
            chosen = tables[np.arange(len(active)), choice]
            better = chosen[:, 0] > statistics[active, 0]
            rows = active[better]
            best[rows, step], statistics[rows] = (low + choice)[better], chosen[better]
            moved[rows] = True
        moving = moved
    return statistics[:, np.newaxis]


def counts(trials: Trials, case: Case) -> FloatArray:
    """Try every number of own and of other holes at every level: (n, C, S)."""
    parts: list[FloatArray] = []
    for row, query in enumerate(case.query.tolist()):
        # Falling sequences of thresholds.
        own, other = (
            np.array([*combinations_with_replacement(range(most, -1, -1), trials.thresholds)])
            for most in (int(trials.run.num_own[query]), int(trials.run.num_other[query]))
        )
        left, right = np.divmod(np.arange(len(own) * len(other)), len(other))
        rows = np.full(len(left), row)
        parts.append(trials.statistics(case, rows, own[left], other[right], "top"))
    sizes = np.array([len(part) for part in parts], dtype=np.int64)
    return padded(np.concatenate(parts), sizes - 1)


def num_counts(trials: Trials) -> int:
    """Return how many assignments `counts` tries out, over all queries."""
    steps = trials.thresholds
    pairs = zip(trials.run.num_own.tolist(), trials.run.num_other.tolist(), strict=True)
    return sum(comb(own + steps, steps) * comb(other + steps, steps) for own, other in pairs)


def ranges(most: IntArray) -> tuple[IntArray, IntArray]:
    """Return the numbers 0 to `most` of every row, one after another, and the row of each."""
    row = np.repeat(np.arange(len(most)), most + 1)
    first = np.cumsum(most + 1) - (most + 1)
    return row, np.arange(len(row)) - first[row]


def padded(statistics: FloatArray, most: IntArray) -> FloatArray:
    """Stack the `most` + 1 statistics of each row, (n, C, S), padded with the last of them."""
    first = np.cumsum(most + 1) - (most + 1)
    index = np.minimum(np.arange(int(most.max(initial=0)) + 1), most[:, np.newaxis])
    return np.asarray(statistics[first[:, np.newaxis] + index])


SEARCHES: Mapping[str, Callable[[Trials, Case], FloatArray]] = {
    "corners": corners,
    "staircase": staircase,
    "counts": counts,
}
