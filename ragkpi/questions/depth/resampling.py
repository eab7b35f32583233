"""How far a chosen depth could be off: queries drawn again, and the depth chosen again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ragkpi.arrays import BoolArray, FloatArray, IntArray
from ragkpi.measures.chance import CEILING_LIMIT, LAMBDA_LIMIT, Needed
from ragkpi.measures.measure import score
from ragkpi.questions.depth.study import (
    EVERY,
    Group,
    Limits,
    Situations,
    Stability,
    Study,
    Target,
    first_successes,
    situations_of,
    study_run,
    success_at,
)
from ragkpi.ranking.judged import Judged
from ragkpi.statistics.bootstrap import Bootstrap, drawn

_RESAMPLES = 1000  # an error of at most 0.016 in a share
_NUMBERS = 5_000_000  # most weights to hold at once
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
    sure = _stability(judged, study.choice.depth, max(depths), limits, bootstrap or Bootstrap())
    return replace(study, stability=sure)


def _stability(
    judged: Judged, depth: int, deepest: int, limits: Limits, bootstrap: Bootstrap
) -> Stability:
    queries = int((judged.num_rel >= limits.m).sum())
    if queries < 2:
        return Stability(queries, 0, depth, depth, 0.0, (0.0, 0.0), [])
    resamples = min(bootstrap.resamples, _RESAMPLES, max(100, _NUMBERS // queries))
    chosen = np.sort(depths_chosen(judged, deepest, limits, resamples, bootstrap.seed))
    low, high = (int(chosen[int(tail * resamples)]) for tail in (_OUTSIDE, 1 - _OUTSIDE))
    near = (depth <= 2 * chosen) & (chosen <= 2 * depth)
    first, last = success_at(judged, np.array([low, high]), limits.needed).tolist()
    share = float(near.mean())
    return Stability(queries, resamples, low, high, share, (first, last), _groups(chosen))


def depths_chosen(
    judged: Judged, deepest: int, limits: Limits, resamples: int, seed: int
) -> IntArray:
    """Return the depth that each resample of the queries chooses, 0 for none, (B,)."""
    if limits.target is None:
        chosen = _by_limits(judged, deepest, limits, resamples, seed)
    else:
        chosen = _by_target(judged, limits.target, resamples, seed)
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


def _by_limits(judged: Judged, deepest: int, limits: Limits, resamples: int, seed: int) -> IntArray:
    """Return the depth that each resample chooses by plateau, collapse and loss, (B,)."""
    first, cells = first_successes(judged, limits.needed), situations_of(judged, limits.needed)
    order, by_cell = np.argsort(first), np.argsort(cells.of_query, kind="stable")
    starts = np.searchsorted(cells.of_query[by_cell], np.arange(len(cells.size)))
    order = order[: np.count_nonzero(first <= deepest)]
    first = first[order]
    chosen = []
    for weights in drawn(len(by_cell), resamples, seed, fewest=100):
        rows, n = weights.shape
        found = np.cumsum(weights[:, order], axis=1)
        found = np.concatenate([np.zeros((rows, 1)), found], axis=1)  # before the first, after each
        counts = np.add.reduceat(weights[:, by_cell], starts, axis=1)
        enough = found[:, -1:] - limits.plateau * n - 1e-9
        depth = np.append(1, first)[np.argmax(found >= enough, axis=1)].astype(np.int64)
        depth = np.minimum(depth, _outside_collapse(cells, counts, deepest, limits.needed))
        if limits.max_loss is not None:
            deep = _affordable(cells, counts, first, found, deepest, limits)
            depth = np.minimum(depth, deep)
        chosen.append(np.where(found[:, -1] > 0, depth, 0))
    return np.concatenate(chosen)


def _outside_collapse(
    cells: Situations, counts: FloatArray, deepest: int, needed: Needed
) -> IntArray:
    """Return the last depth outside the collapse zone, down to `deepest`, (B,)."""
    n = counts.sum(axis=1)

    def collapsed(depth: IntArray) -> BoolArray:
        expected = np.minimum(depth[:, np.newaxis], cells.limit) * (cells.relevant / cells.size)
        crowded = (counts * expected).sum(axis=1) >= LAMBDA_LIMIT * (1 - 1e-12) * n
        high = _log_chance(cells, counts, depth, needed) > -CEILING_LIMIT
        return np.asarray(high | (crowded & (needed == Needed())))

    outside = np.full(len(counts), deepest)
    if collapsed(outside).any():
        outside = _last(lambda depth: ~collapsed(depth), np.zeros_like(outside), outside + 1)
    return outside


def _log_chance(
    cells: Situations, counts: FloatArray, depth: IntArray, needed: Needed
) -> FloatArray:
    """Return log2 of the mean chance of success at a depth for each resample, (B,)."""
    depths, place = np.unique(depth, return_inverse=True)
    log2 = cells.tails(depths, needed).log2
    greatest = np.maximum(log2.max(axis=1, keepdims=True), -1e9)  # -inf where nothing succeeds
    scaled = np.exp2(log2 - greatest)[place.ravel()]
    with np.errstate(divide="ignore"):
        mean = np.log2((counts * scaled).sum(axis=1) / counts.sum(axis=1))
    return np.asarray(mean + greatest[place.ravel(), 0])


def _affordable(
    cells: Situations,
    counts: FloatArray,
    first: FloatArray,
    found: FloatArray,
    deepest: int,
    limits: Limits,
) -> IntArray:
    """Return the deepest depth within the allowed loss of the best, (B,).

    Between two successes bits only fall. So the best depth is one of a success, and the deepest one
    lies between the last success within the loss and the next.
    """
    n = counts.sum(axis=1)

    def bits(depth: IntArray) -> FloatArray:
        succeeded = found[np.arange(len(depth)), np.searchsorted(first, depth, side="right")]
        with np.errstate(divide="ignore", invalid="ignore"):
            of_chance = _log_chance(cells, counts, depth, limits.needed)
            return np.asarray(np.log2(succeeded / n) - of_chance)

    starts = np.unique(first).astype(np.int64)
    values = np.stack([bits(np.full(len(n), start)) for start in starts.tolist()], axis=1)
    enough = values.max(axis=1, where=np.isfinite(values), initial=-np.inf) - limits.allowed_loss
    within = values >= enough[:, np.newaxis] - 1e-12
    last = within.shape[1] - 1 - np.argmax(within[:, ::-1], axis=1)
    ends = np.append(starts[1:], deepest + 1)
    return _last(lambda depth: bits(depth) >= enough - 1e-12, starts[last], ends[last])


def _last(holds: Callable[[IntArray], BoolArray], low: IntArray, high: IntArray) -> IntArray:
    """Bisect for the last number from `low` on, below `high`, for which something holds, (B,)."""
    while (high - low > 1).any():
        middle = (low + high) // 2
        inside = holds(np.maximum(middle, 1)) & (middle > low)
        low, high = (
            np.where(inside, middle, low),
            np.where(inside, high, np.maximum(middle, low + 1)),
        )
    return low


def _by_target(judged: Judged, target: Target, resamples: int, seed: int) -> IntArray:
    """Return the smallest depth at which each resample reaches the target, 0 for none, (B,)."""
    deepest = min(int(judged.num_ret.max(initial=1)), EVERY)
    known = score(judged, [target.metric(deepest)]).columns[0].known
    weights = np.concatenate(list(drawn(int(known.sum()), resamples, seed)))
    chosen, pending = np.zeros(resamples, dtype=np.int64), np.arange(resamples)
    before = None
    for depth in range(1, deepest + 1):
        column = score(judged, [target.metric(depth)]).columns[0]
        statistics = column.statistics[known].astype(np.float64)
        if before is not None and np.array_equal(statistics, before):
            continue
        before = statistics
        sums = np.einsum("bn,ns->bs", weights, statistics)
        value = column.metric.measure.aggregate.summary(sums, weights.shape[1])
        reached = value >= target.least - 1e-12
        if reached.any():
            chosen[pending[reached]] = depth
            pending, weights = pending[~reached], weights[~reached]
        if not len(pending):
            break
    return chosen
