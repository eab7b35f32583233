"""The searches of `assignments`, for measures that can be computed from a `HoleTally`.

A `HoleTally` says what all assignments of a search are worth, with sums that are made once, where
`assignments` judges the ranking again for each. Sums in another order round otherwise: so it only
proposes which assignments are the extremes, and the measure itself says what they are worth.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ragkpi.formats.groups import spans
from ragkpi.measures.hole_tally import HoleTally, Ways, best_thresholds, ratio_values
from ragkpi.progress import steps
from ragkpi.ranking.judged import FloatArray, IntArray
from ragkpi.records import NamedTuple
from ragkpi.studies.holes.assignments import Case, Trials, padded, ranges

_WAYS = 1 << 17  # tallied at once


def is_tallied(trials: Trials) -> bool:
    """Whether a value of a run can be computed from a `HoleTally`."""
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
    for i in range(0, max(1, len(ways.query)), _WAYS):
        tally = HoleTally.of(trials.run, ways.part(i, i + _WAYS), trials.scale[0], trials.scale[-1])
        if ratio is not None:
            statistics = ratio_values(ratio, tally)
        elif callable(measure.bounds.tallied):
            statistics = measure.bounds.tallied(tally, **arguments)
        else:
            statistics = measure.function(tally, **arguments)
        statistics = np.asarray(statistics, dtype=np.float64)
        parts.append(statistics if statistics.ndim == 2 else statistics[:, np.newaxis])
    return np.concatenate(parts)


class _Extremes(NamedTuple):
    """For n queries an assignment each: thresholds of `Trials`, and the end of the ranking."""

    own: IntArray
    other: IntArray
    bottom: bool


def tallied_staircase(trials: Trials) -> FloatArray:
    """Return what `assignments.staircase` does, but for what cannot be an extreme: (Q, C, S)."""
    run, ratio = trials.run, trials.ratio
    every = np.arange(len(run.judged.queries))
    extremes: list[_Extremes] = []
    if ratio is not None:
        own = best_thresholds(ratio, run, trials.scale)
        extremes.append(_Extremes(own, np.zeros_like(own), bottom=False))
    sides = (True,) if ratio is not None else (False, True)
    # The step that is left is to judge the extremes.
    for bottom in steps(sides, trials.metric.name, len(sides) + 1):
        other = run.num_other if bottom else np.zeros_like(run.num_other)
        tables = list(_along(trials, other, bottom))
        if tables[0].shape[2] > 1 or any(np.isnan(table).any() for table in tables):
            # What is more than a mean, or NA, is settled over all queries: with all assignments.
            return _every_step(trials)
        values = [table[:, :, 0] for table in tables]
        for choice in (np.argmin, np.argmax):
            count = np.concatenate([choice(table, axis=1) for table in values])
            own, others = (
                np.repeat(number[:, np.newaxis], trials.thresholds, axis=1)
                for number in (count, other)
            )
            extremes.append(_Extremes(own, others, bottom))
    return np.stack(
        [
            trials.statistics(Case.of_all(run), every, own, other, "bottom" if bottom else "top")
            for own, other, bottom in extremes
        ],
        axis=1,
    )


def _every_step(trials: Trials) -> FloatArray:
    """Return the statistics of all assignments of the search, (Q, C, S)."""
    run, parts = trials.run, []
    width = int(run.num_own.max(initial=0)) + 1
    for bottom in steps((False, True), trials.metric.name, 2):
        other = run.num_other if bottom else np.zeros_like(run.num_other)
        tables = [
            np.pad(table, ((0, 0), (0, width - table.shape[1]), (0, 0)), mode="edge")
            for table in _along(trials, other, bottom)
        ]
        parts.append(np.concatenate(tables))
    return np.concatenate(parts, axis=1)


def _along(trials: Trials, other: IntArray, bottom: bool) -> Iterator[FloatArray]:
    """Raise one own hole after the other; yield (n, U + 1, S) for some queries after others."""
    run = trials.run
    parts = list(spans(np.cumsum([0, *(run.num_own + 1)]), _WAYS))
    for first, last in steps(parts, trials.metric.name, len(parts)):
        rows = np.arange(first, last)
        most = run.num_own[rows]
        row, count = ranges(most)
        side = Ways.last if bottom else Ways.first
        ways = side(run, rows[row], count, other[rows[row]])
        yield padded(tallied(trials, ways), most)


def tallied_left(trials: Trials, query: IntArray, place: IntArray) -> FloatArray:
    """Return the spread over the corners that is left once an own hole is known, (n,).

    The mean over its being at either end of the scale, as of `assignments.corners`.

    Parameters
    ----------
    query, place : (n,)
        The query of each hole, and its place among the own ones.
    """
    run, name = trials.run, trials.metric.name
    every = np.arange(len(run.num_own))
    ends = []  # of other holes: how many are at the top, and the values with own ones at each end
    for other in (np.zeros_like(every), run.num_other):
        none = tallied(trials, Ways.first(run, every, np.zeros_like(every), other))
        all_ = tallied(trials, Ways.first(run, every, run.num_own, other))
        ends.append((other, none[:, 0], all_[:, 0]))
    left = np.empty(len(query))
    starts = range(0, len(query), _WAYS)
    for i in steps(starts, name, len(starts)):
        rows, number = query[i : i + _WAYS], place[i : i + _WAYS] + 1
        yes = np.ones(len(rows), dtype=bool)
        worthless, best = [], []  # the corners with the hole at the bottom, and at the top
        for other, bottom, top in ends:
            but, only = (
                tallied(trials, Ways.one(run, rows, number, high, other[rows]))[:, 0]
                for high in (~yes, yes)
            )
            worthless += [bottom[rows], but]
            best += [top[rows], only]
        spreads = [spread_of(np.stack(corners, axis=1)) for corners in (worthless, best)]
        left[i : i + _WAYS] = (spreads[0] + spreads[1]) / 2
    return left


def spread_of(values: FloatArray) -> FloatArray:
    """Return the greatest less the least of each row, (n, C) to (n,); 0 where all are NA."""
    known = ~np.isnan(values)
    low = np.where(known, values, np.inf).min(axis=1)
    high = np.where(known, values, -np.inf).max(axis=1)
    return np.where(known.any(axis=1), high - low, 0.0)
