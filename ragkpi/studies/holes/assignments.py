"""Values of a run under assignments of levels to its holes, at all that can be extreme."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
BATCH = 1 << 16  # hits judged at once; their arrays fit the cache
MOST_COUNTS = 300_000  # assignments of a set measure that are tried out before it is refused


def scale(metric: Metric, judgements: Judgements, settings: Settings) -> list[int]:
    """Return the levels that a hole may get, the least worthy first, as the measure sees them.

    They are 0 and those of the qrels and -l, for measures of a rubric those of the grade map; of
    levels that are worth the same one.
    """
    if "grade_map" in metric.measure.needs:
        rubric = settings.grade_map.rubric
        by_grade = {grade: level for level, grade in rubric.items()}
        return [by_grade[grade] for grade in sorted(by_grade)]
    present = np.unique(np.append(judgements.level, [0, settings.relevance_level]))
    levels = present[present >= 0]
    gain = gain_of_levels(levels, metric.arguments.get("gains", {}))
    by_gain = dict(zip(gain.tolist(), levels.tolist(), strict=True))
    return [by_gain[gain_] for gain_ in sorted(by_gain)]


OTHER = -2  # in `Case.known`: one of the holes that are counted alone


@dataclass(frozen=True)
class Case:
    """Something to bound: n queries of a run, in each of which one hole may be known.

    Attributes
    ----------
    query : (n,)
        Numbers of queries.
    known, level : (n,)
        The place of the own hole that is known, `OTHER` for another one, -1 for none; its level.
    """

    query: IntArray
    known: IntArray
    level: IntArray

    @classmethod
    def of_all(cls, run: OpenRun) -> Case:
        """Every query, with no hole known."""
        nothing = np.full(len(run.judged.queries), -1)
        return cls(np.arange(len(nothing)), nothing, nothing)


@dataclass(frozen=True)
class Trials:
    """One value of a run, ready to be computed under assignments.

    Levels are given by thresholds: of own holes, ``own[:, t]`` have at least level t + 1 of the
    scale: the first ones of the ranking (``end="top"``) or the last ones. So are levels of other
    holes by ``other``.
    """

    run: OpenRun
    metric: Metric
    scale: Sequence[int]

    @cached_property
    def ratio(self) -> GainRatio | None:
        """What it consists of if it is a sum of gains over an ideal."""
        of_arguments = self.metric.measure.bounds.ratio
        return None if of_arguments is None else of_arguments(**self.metric.arguments)

    @property
    def thresholds(self) -> int:
        """How many steps the scale has."""
        return len(self.scale) - 1

    @property
    def two_levels(self) -> Trials:
        """The same with the ends of the scale alone."""
        return Trials(self.run, self.metric, [self.scale[0], self.scale[-1]])

    def statistics(
        self, case: Case, row: IntArray, own: IntArray, other: IntArray, end: End
    ) -> FloatArray:
        """Return the sufficient statistics of V assignments, (V, S).

        Parameters
        ----------
        case, row
            What each assignment, (V,), is of.
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
        mine = np.flatnonzero(known >= 0)
        levels[mine, known[mine]] = case.level[row[mine]]
        others = -np.diff(other, prepend=self.run.num_other[query, np.newaxis], append=0, axis=1)
        theirs = np.flatnonzero(known == OTHER)
        others[theirs, _steps(np.zeros((len(theirs), 1)), other[theirs])[:, 0]] -= 1
        given = case.level[row[theirs], np.newaxis] == np.asarray(self.scale)
        others[theirs, given.argmax(axis=1)] += 1
        return self.under(query, levels, others)

    def under(self, query: IntArray, levels: IntArray, others: IntArray) -> FloatArray:
        """Return the statistics of queries, (V,), under levels of their holes: (V, S).

        See `OpenRun.assigned`.
        """
        judged = self.run.assigned(query, levels, others, self.scale)
        return np.asarray(score(judged, [self.metric]).columns[0].statistics, dtype=np.float64)


def _steps(place: IntArray | FloatArray, thresholds: IntArray) -> IntArray:
    """Return how many thresholds, (V, T), each place, (V, W), stands above, (V, W)."""
    step = np.zeros((len(thresholds), place.shape[1]), dtype=np.int64)
    for threshold in thresholds.T:
        step += place < threshold[:, np.newaxis]
    return step


Search = Callable[[Trials, Case], FloatArray]


def corners(trials: Trials, case: Case) -> FloatArray:
    """Own holes all worthless or all at the top, and so the others if there are any: (n, C, S)."""
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
    """Any number of own holes at the top level: the first ones, the last ones: (n, C, S)."""
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
    """Raise one own hole after the other, from an end of the ranking: (n, U + 1, S)."""
    most = trials.run.num_own[case.query]
    row, count = ranges(most)
    others = trials.run.num_other[case.query[row]] * (other == "at the top")
    statistics = trials.statistics(case, row, count[:, np.newaxis], others[:, np.newaxis], end)
    return padded(statistics, most)


def _climbed(trials: Trials, case: Case) -> FloatArray:
    """Find the best staircase of levels by moving one threshold at a time: (n, 1, S).

    A maximum over each threshold is one over all: at its value v no threshold has a better
    numerator - v denominator, and those add up.
    """
    n, steps = len(case.query), trials.thresholds
    best = np.zeros((n, steps), dtype=np.int64)
    statistics = trials.statistics(case, np.arange(n), best, np.zeros_like(best), "top")
    moving = np.ones(n, dtype=bool)
    while moving.any():
        moved = np.zeros(n, dtype=bool)
        for step in range(steps):
            active = np.flatnonzero(moving)
            own = trials.run.num_own[case.query[active]]
            high = best[active, step - 1] if step else own
            low = best[active, step + 1] if step + 1 < steps else np.zeros_like(own)
            at, count = ranges(high - low)
            row = active[at]
            tried = best[row]
            tried[:, step] = low[at] + count
            tables = padded(
                trials.statistics(case, row, tried, np.zeros_like(tried), "top"), high - low
            )
            choice = tables[:, :, 0].argmax(axis=1)
            tried_there = tables[np.arange(len(active)), choice]
            better = tried_there[:, 0] > statistics[active, 0]
            rows = active[better]
            best[rows, step], statistics[rows] = (low + choice)[better], tried_there[better]
            moved[rows] = True
        moving = moved
    return statistics[:, np.newaxis]


def counts(trials: Trials, case: Case) -> FloatArray:
    """Every number of own and of other holes at every level: (n, C, S)."""
    parts: list[FloatArray] = []
    for row in range(len(case.query)):
        query = case.query[row]
        own, other = (
            np.array(list(_staircases(int(most[query]), trials.thresholds)))
            for most in (trials.run.num_own, trials.run.num_other)
        )
        left, right = np.divmod(np.arange(len(own) * len(other)), len(other))
        rows = np.full(len(left), row)
        parts.append(trials.statistics(case, rows, own[left], other[right], "top"))
    sizes = np.array([len(part) for part in parts], dtype=np.int64)
    return padded(np.concatenate(parts), sizes - 1)


def num_counts(trials: Trials) -> int:
    """How many assignments `counts` tries out for all queries."""
    steps = trials.thresholds
    pairs = zip(trials.run.num_own.tolist(), trials.run.num_other.tolist(), strict=True)
    return sum(comb(own + steps, steps) * comb(other + steps, steps) for own, other in pairs)


def _staircases(most: int, steps: int) -> Iterator[tuple[int, ...]]:
    """Yield every falling sequence of `steps` thresholds from 0 to `most`."""
    return combinations_with_replacement(range(most, -1, -1), steps)


def ranges(most: IntArray) -> tuple[IntArray, IntArray]:
    """Return rows and numbers 0..most of each row, flat."""
    row = np.repeat(np.arange(len(most)), most + 1)
    first = np.cumsum(most + 1) - (most + 1)
    return row, np.arange(len(row)) - first[row]


def padded(statistics: FloatArray, most: IntArray) -> FloatArray:
    """Stand `most` + 1 statistics of each row side by side, (n, C, S), the last one repeated."""
    first = np.cumsum(most + 1) - (most + 1)
    index = np.minimum(np.arange(int(most.max(initial=0)) + 1), most[:, np.newaxis])
    return np.asarray(statistics[first[:, np.newaxis] + index])


SEARCHES: dict[str, Search] = {"corners": corners, "staircase": staircase, "counts": counts}
