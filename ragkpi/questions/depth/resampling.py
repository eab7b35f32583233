"""How far a chosen depth could be off: queries drawn again, and the depth chosen again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import compress

import numpy as np

from ragkpi.arrays import BoolArray, IntArray
from ragkpi.questions.depth.samples import queries_of, weigh
from ragkpi.questions.depth.study import (
    Group,
    Limits,
    Stability,
    Study,
    Target,
    depths_to_try,
    study_run,
)
from ragkpi.ranking.judged import Judged
from ragkpi.statistics.bootstrap import Bootstrap, drawn, sums
from ragkpi.statistics.units import Unit, units_of

_RESAMPLES = 1000  # an error of at most 0.016 in a share
_NUMBERS = 5_000_000  # most weights to draw
_AT_ONCE = 1_000_000  # most weights to hold at once
_OUTSIDE = 0.025  # share of the resamples below the range, and above it
_GROUPS = 3  # most groups in a sentence


def decide_depth(
    judged: Judged, depths: Sequence[int], limits: Limits, bootstrap: Bootstrap | None = None
) -> Study:
    """Study a run, and choose its depth again on resampled queries; the default seed is 7.

    Every limit is found again, except whether chance could have done as well.
    """
    study = study_run(judged, depths, limits)
    if study.choice is None:
        return study
    queries, depth = queries_of(judged, limits.needed), study.choice.depth
    n, bootstrap = len(queries.first), bootstrap or Bootstrap()
    unit = _units(judged, judged.num_rel >= limits.m, bootstrap)
    clusters = None if bootstrap.clusters is None else n if unit is None else int(unit.max()) + 1
    if n < 2:
        alone = Stability(n, clusters, 0, depth, depth, 0.0, [], (depth, depth), (0.0, 0.0), 0)
        return replace(study, stability=alone)
    resamples = min(bootstrap.resamples, _RESAMPLES, max(100, _NUMBERS // n))
    again = replace(bootstrap, resamples=resamples)
    chosen = np.sort(depths_chosen(judged, max(depths), limits, again))
    low, high = (int(chosen[int(tail * resamples)]) for tail in (_OUTSIDE, 1 - _OUTSIDE))
    share = float(((depth <= 2 * chosen) & (chosen <= 2 * depth)).mean())
    groups = _groups(chosen)
    beside_low = [group.high for group in groups if group.low <= low <= group.high < high]
    ends = (beside_low[0] if beside_low else low), high
    reached = queries.least_depth(ends[0]), queries.least_depth(ends[1])
    if limits.target is None and reached[0] < reached[1]:
        ends = reached
    first, last = queries.success(np.array(ends)).tolist()
    between = round((last - first) * n)
    stability = Stability(
        n, clusters, resamples, low, high, share, groups, ends, (first, last), between
    )
    return replace(study, stability=stability)


def _units(judged: Judged, chosen: BoolArray, bootstrap: Bootstrap) -> Unit:
    """Return the units of the chosen queries, (Q,)."""
    return units_of(list(compress(judged.queries, chosen)), bootstrap.clusters)


def depths_chosen(judged: Judged, deepest: int, limits: Limits, bootstrap: Bootstrap) -> IntArray:
    """Return the depth that each resample of the queries chooses, 0 for none, (B,)."""
    if limits.target is None:
        chosen = _by_limits(judged, limits.deepest(deepest), limits, bootstrap)
    else:
        chosen = _by_target(judged, limits.target, bootstrap)
    return np.minimum(chosen, deepest if limits.most is None else min(deepest, limits.most))


def _groups(chosen: IntArray) -> list[Group]:
    """Group ascending depths: the doubling with most resamples first, and then the next."""
    groups: list[Group] = []
    left = chosen
    while len(left) and len(groups) < _GROUPS:
        inside = np.searchsorted(left, 2 * left, side="right") - np.arange(len(left))
        start = int(np.argmax(inside))
        group = left[start : start + inside[start]]
        groups.append(Group(int(group[0]), int(group[-1]), len(group) / len(chosen)))
        left = np.delete(left, slice(start, start + len(group)))
    return sorted(groups)


def _by_limits(judged: Judged, deepest: int, limits: Limits, bootstrap: Bootstrap) -> IntArray:
    """Return the depth that each resample chooses by plateau, collapse and loss, (B,)."""
    queries = queries_of(judged, limits.needed)
    unit, chosen = _units(judged, judged.num_rel >= limits.m, bootstrap), []
    n = len(queries.first)
    fewest = max(10, min(100, _AT_ONCE // n))  # a block has a cost of its own
    for weights in drawn(n, bootstrap.resamples, bootstrap.seed, fewest, unit):
        resamples = weigh(queries, weights, deepest)
        depth = np.minimum(resamples.plateau(limits.plateau), resamples.outside_collapse())
        if limits.max_loss is not None:
            depth = np.minimum(depth, resamples.affordable(limits.max_loss)[1])
        chosen.append(np.where(resamples.successes[:, -1] > 0, depth, 0))
    return np.concatenate(chosen)


def _by_target(judged: Judged, target: Target, bootstrap: Bootstrap) -> IntArray:
    """Return the smallest depth at which each resample reaches the target, 0 for none, (B,)."""
    depths, chosen = depths_to_try(judged), np.zeros(bootstrap.resamples, dtype=np.int64)
    has_value = target.scores(judged, depths[-1]).has_value
    unit = _units(judged, has_value, bootstrap)
    rows = drawn(int(has_value.sum()), bootstrap.resamples, bootstrap.seed, unit=unit)
    weights = np.concatenate(list(rows))
    for depth in depths:
        column, pending = target.scores(judged, depth), np.flatnonzero(chosen == 0)
        added = sums([weights[pending]], column.statistics[has_value])
        value = column.metric.measure.aggregate.summary(added, weights[pending].sum(axis=1))
        chosen[pending[value >= target.least - 1e-12]] = depth
    return chosen
