"""The searches of `assignments`, for measures that can be computed from a `HoleTally`.

A `HoleTally` computes the values of all assignments of a search from sums that are made once;
`assignments` judges the ranking again for each. Sums in another order round differently, so the
tally only chooses the extreme assignments, and the measure itself computes their values.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ragkpi.formats.groups import spans
from ragkpi.measures.hole_tally import HoleTally, Ways, best_thresholds, ratio_values
from ragkpi.progress import steps
from ragkpi.ranking.judged import FloatArray, IntArray
from ragkpi.studies.holes.assignments import Case, End, Trials, padded, ranges

WAYS_AT_ONCE = 1 << 17
_ENDS: tuple[End, ...] = ("top", "bottom")


def is_tallied(trials: Trials) -> bool:
    """Say whether a value of a run can be computed from a `HoleTally`."""
    bounds = trials.metric.measure.bounds
    bottom, top = trials.scale[0], trials.scale[-1]
    if bounds.ratio is not None:
        return bottom != top and trials.ratio is not None
    level = trials.run.judged.settings.relevance_level
    return bounds.tallied is not None and bottom < level <= top


def tallied(trials: Trials, ways: Ways) -> FloatArray:
    """Return the sufficient statistics of ways to judge a run, (V, S)."""
    measure, arguments = trials.metric.measure, trials.metric.arguments
    ratio, parts = trials.ratio, []
    for i in range(0, max(1, len(ways.query)), WAYS_AT_ONCE):
        part = ways.part(i, i + WAYS_AT_ONCE)
        tally = HoleTally.of(trials.run, part, trials.scale[0], trials.scale[-1])
        if ratio is not None:
            statistics = ratio_values(ratio, tally)
        elif callable(measure.bounds.tallied):
            statistics = measure.bounds.tallied(tally, **arguments)
        else:
            statistics = measure.function(tally, **arguments)
        statistics = np.asarray(statistics, dtype=np.float64)
        parts.append(statistics if statistics.ndim == 2 else statistics[:, np.newaxis])
    return np.concatenate(parts)


def tallied_staircase(trials: Trials) -> FloatArray:
    """Return the candidates of `assignments.staircase` that can be extremes, (Q, C, S)."""
    run, ratio, ends = trials.run, trials.ratio, _ENDS
    extremes: list[tuple[IntArray, IntArray, End]] = []  # own and other thresholds, and the end
    if ratio is not None:
        own = best_thresholds(ratio, run, trials.scale)
        extremes.append((own, np.zeros_like(own), "top"))
        ends = ("bottom",)
    # One step more, to judge the extremes.
    for end in steps(ends, trials.metric.name, len(ends) + 1):
        tables = list(_tallied_along(trials, end))
        if tables[0].shape[2] > 1 or any(np.isnan(table).any() for table in tables):
            # The extremes of ratios of means, and with NA, depend on all queries.
            return _every_step(trials)
        for choice in (np.argmin, np.argmax):
            count = np.concatenate([choice(table[:, :, 0], axis=1) for table in tables])
            own, other = (
                np.repeat(number[:, np.newaxis], trials.thresholds, axis=1)
                for number in (count, _others(trials, end))
            )
            extremes.append((own, other, end))
    every = Case.of_all(run)
    statistics = [
        trials.statistics(every, every.query, own, other, end) for own, other, end in extremes
    ]
    return np.stack(statistics, axis=1)


def _every_step(trials: Trials) -> FloatArray:
    """Return the statistics of all assignments of the search, (Q, C, S)."""
    width = int(trials.run.num_own.max(initial=0)) + 1
    parts = []
    for end in steps(_ENDS, trials.metric.name, 2):
        tables = [
            np.pad(table, ((0, 0), (0, width - table.shape[1]), (0, 0)), mode="edge")
            for table in _tallied_along(trials, end)
        ]
        parts.append(np.concatenate(tables))
    return np.concatenate(parts, axis=1)


def _others(trials: Trials, end: End) -> IntArray:
    """Return how many other holes are at the top level, (Q,): with own holes at the bottom all."""
    other = trials.run.num_other
    return other if end == "bottom" else np.zeros_like(other)


def _tallied_along(trials: Trials, end: End) -> Iterator[FloatArray]:
    """Raise one own hole after the other; yield (n, U + 1, S) for some queries after others."""
    run, other = trials.run, _others(trials, end)
    side = Ways.last if end == "bottom" else Ways.first
    parts = list(spans(np.cumsum([0, *(run.num_own + 1)]), WAYS_AT_ONCE))
    for first, last in steps(parts, trials.metric.name, len(parts)):
        most = run.num_own[first:last]
        row, count = ranges(most)
        query = first + row
        yield padded(tallied(trials, side(run, query, count, other[query])), most)


def tallied_left(trials: Trials, query: IntArray, place: IntArray) -> FloatArray:
    """Return the spread over the corners that is left once an own hole is known, (n,).

    It is the mean over both ends of the scale as the level of the hole; see `assignments.corners`.

    Parameters
    ----------
    query, place : (n,)
        The query of each hole, and its place among the own holes.
    """
    run, name = trials.run, trials.metric.name
    every = np.arange(len(run.num_own))
    ends = []  # other holes at the top, and the values with all own holes at each end
    for other in (np.zeros_like(every), run.num_other):
        none = tallied(trials, Ways.first(run, every, np.zeros_like(every), other))
        all_ = tallied(trials, Ways.first(run, every, run.num_own, other))
        ends.append((other, none[:, 0], all_[:, 0]))
    left = np.empty(len(query))
    starts = range(0, len(query), WAYS_AT_ONCE)
    for i in steps(starts, name, len(starts)):
        some = slice(i, i + WAYS_AT_ONCE)
        rows, number = query[some], place[some] + 1
        yes = np.ones(len(rows), dtype=bool)
        worthless, best = [], []  # the corners with the hole at the bottom, and at the top
        for other, bottom, top in ends:
            all_but, only = (
                tallied(trials, Ways.one(run, rows, number, high, other[rows]))[:, 0]
                for high in (~yes, yes)
            )
            worthless += [bottom[rows], all_but]
            best += [top[rows], only]
        spreads = [spread_of(np.stack(values, axis=1)) for values in (worthless, best)]
        left[some] = (spreads[0] + spreads[1]) / 2
    return left


def spread_of(values: FloatArray) -> FloatArray:
    """Return the greatest less the least of each row, (n, C) to (n,); 0 where all are NA."""
    known = ~np.isnan(values)
    low = np.where(known, values, np.inf).min(axis=1)
    high = np.where(known, values, -np.inf).max(axis=1)
    return np.where(known.any(axis=1), high - low, 0.0)
