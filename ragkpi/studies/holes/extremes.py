"""Extreme summaries over a choice of statistics per query, and runs that could pass others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragkpi.measures.scores import MetricScores, Scores
from ragkpi.ranking.judged import BoolArray, FloatArray
from ragkpi.records import replace
from ragkpi.studies.holes.assignments import Trials
from ragkpi.studies.holes.unjudged_documents import Holes, SmallInts

_STEPS = 100
_TOLERANCE = 1e-12


def extreme_summary(candidates: FloatArray, column: MetricScores, sign: int) -> float:
    """Return the greatest (sign 1) or least (-1) summary of one candidate per query.

    A summary is a monotone function of a ratio of sums (a mean over the known queries is one). So
    queries are changed as long as a change improves it. The end is the extreme: at its value v no
    query has a better numerator - v denominator, and those add up.

    Parameters
    ----------
    candidates : (Q, C, S)
        Sufficient statistics; NaN is NA.
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
            current = _ranked(sign * aggregate.summary(sums, count))
            tried = _ranked(sign * aggregate.summary(others, counts))
        best = tried.argmax(axis=1)
        margin = _TOLERANCE * max(1.0, abs(float(current))) if np.isfinite(current) else 0.0
        better = tried[every, best] > current + margin
        if not better.any():
            break
        chosen = np.where(better, best, chosen)
    return float(replace(column, statistics=candidates[every, chosen]).summary)


def ends(candidates: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the least and the greatest candidate of each query, (Q, C) to (Q,).

    NaN is ignored; both are NaN if all candidates are.
    """
    known = ~np.isnan(candidates)
    low = np.where(known, candidates, np.inf).min(axis=1)
    high = np.where(known, candidates, -np.inf).max(axis=1)
    none = ~known.any(axis=1)
    return np.where(none, np.nan, low), np.where(none, np.nan, high)


def _ranked(values: FloatArray) -> FloatArray:
    """Rank NA below all values."""
    return np.where(np.isnan(values), -np.inf, values)


def turned(pair: Sequence[Trials], scores: Sequence[Scores], holes: Holes) -> bool:
    """Say whether the worse run wins under the levels that help it most.

    Holes that it alone retrieves get the top level, holes of the better run alone are worthless,
    and each query's shared holes get the one or the other, whichever helps more.
    """
    better, worse = pair
    if better.run.judged.queries != worse.run.judged.queries:
        return False
    sign = worse.metric.measure.sign
    of_worse, of_better = (trials.run.number[trials.run.number >= 0] for trials in (worse, better))
    tried = []
    for shared in (0, len(worse.scale) - 1):
        step = np.zeros(len(holes), dtype=np.int32)
        step[of_worse] = len(worse.scale) - 1
        step[of_worse[np.isin(of_worse, of_better)]] = shared
        tried.append([_under(trials, holes, step) for trials in (worse, better)])
    leads = [sign * (won[:, 0] - lost[:, 0]) for won, lost in tried]
    second = leads[1] > leads[0]
    summaries = []
    for role, of_run in enumerate((scores[1], scores[0])):
        rows = np.where(second[:, np.newaxis], tried[1][role], tried[0][role])
        summaries.append(float(MetricScores(worse.metric, rows, of_run.divisor).summary))
    return sign * (summaries[0] - summaries[1]) > _TOLERANCE


def _under(trials: Trials, holes: Holes, step: SmallInts) -> FloatArray:
    """Return the statistics of every query, (Q, S), under a step of the scale per hole, (n,)."""
    run = trials.run
    others = np.zeros((len(run.num_own), len(trials.scale)), dtype=np.int64)
    others[:, 0] = run.num_other
    other = step.copy()
    other[run.number[run.number >= 0]] = 0
    raised = np.flatnonzero(other)
    row = holes.rows(run.judged.queries, run.cut)[raised]
    raised, row = raised[row >= 0], row[row >= 0]
    np.add.at(others, (row, other[raised]), 1)
    others[:, 0] -= others[:, 1:].sum(axis=1)
    levels = np.asarray(trials.scale)[step[run.number]]
    return trials.under(np.arange(len(others)), levels, others)
