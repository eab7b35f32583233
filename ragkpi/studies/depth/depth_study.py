"""How deep to retrieve: where chance catches up, where success stops rising, what depth costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ragkpi.measures import chance
from ragkpi.measures.aggregates import Aggregate
from ragkpi.measures.chance import BITS, CEILING, collapse_depth, corpus_size, mean_known
from ragkpi.measures.measure import Metric
from ragkpi.measures.registry import find_metrics
from ragkpi.ranking.judged import Judged
from ragkpi.records import replace
from ragkpi.studies.depth.depth_limits import (
    Affordable,
    Choice,
    Collapse,
    Limit,
    Limits,
    Plateau,
    Study,
)
from ragkpi.studies.depth.depth_target import reach
from ragkpi.studies.depth.depth_trace import EVERY, bits_at, success_at

DEPTHS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)

_OF_RUNS = ("p_obs", "p_rand", "ef", "bor", "bor_max", "lambda", "collapse")
_OF_COUNTS = ("p_rand", "bor_max", "bor_opt", "lambda", "collapse")
_BETWEEN = ("dbor", "dbor_sparse")


def run_values(depths: Sequence[int], m: int) -> list[Metric]:
    """Return the values that describe a run at each depth, and between neighbours."""
    cutoffs = ",".join(map(str, depths))
    names = [*_OF_RUNS, *(_BETWEEN if len(depths) > 1 else ())]
    requests = [f"{name}.{cutoffs},m={m}" for name in names]
    return _in_order([*requests, f"recall.{cutoffs}", f"ra_nwg.{cutoffs}"])


def count_values(depths: Sequence[int], m: int) -> list[Metric]:
    """Return the values that need no run."""
    cutoffs = ",".join(map(str, depths))
    return _in_order([f"{name}.{cutoffs},m={m}" for name in _OF_COUNTS])


def _in_order(requests: Sequence[str]) -> list[Metric]:
    """Resolve requests in their own order, which is not the registry's."""
    return [metric for request in requests for metric in find_metrics([request])]


def study_run(judged: Judged, depths: Sequence[int], limits: Limits) -> Study:
    """Judge the depths of a run, down to the deepest of `depths`."""
    plateau = _plateau(judged, max(depths), limits)
    return _study(judged, depths, limits, BITS, plateau)


def study_counts(judged: Judged, depths: Sequence[int], limits: Limits) -> Study:
    """Judge depths by what chance does, down to the whole corpus, if a system always succeeds."""
    return _study(judged, [*depths, int(corpus_size(judged).max())], limits, CEILING, None)


def _study(
    judged: Judged,
    depths: Sequence[int],
    limits: Limits,
    aggregate: Aggregate,
    plateau: Plateau | None,
) -> Study:
    collapse = _collapse(judged, limits.m)
    affordable = _affordable(judged, depths, limits, aggregate)
    if affordable is None:
        return Study(collapse, plateau, affordable, None)
    limit_of: dict[Limit, int] = {"deepest": max(depths)}
    reached = None
    if limits.target is not None and aggregate is BITS:
        reached = reach(judged, limits.target)
    final = None
    if aggregate is BITS:
        final = float(success_at(judged, np.array([max(depths)]), limits.m)[0])
    study = Study(collapse, plateau, affordable, None, reached, final)
    if limits.most is not None:
        limit_of["most"] = limits.most
    if reached is not None:
        if reached.depth is None:
            return study
        return _chosen(judged, {**limit_of, "target": reached.depth}, limits, aggregate, study)
    if plateau:
        limit_of["plateau"] = plateau.depth
    if collapse:
        limit_of["collapse"] = collapse.depth - 1
    if limits.max_loss is not None:
        limit_of["max_loss"] = affordable.depth
    return _chosen(judged, limit_of, limits, aggregate, study)


def _chosen(
    judged: Judged,
    limit_of: Mapping[Limit, int],
    limits: Limits,
    aggregate: Aggregate,
    study: Study,
) -> Study:
    """Add the smallest of the depths that the limits set; nothing if that is 0."""
    limit = min(reversed(list(limit_of)), key=lambda name: limit_of[name])
    depth = limit_of[limit]
    if not depth:
        return study
    there = np.array([depth])
    success = float(success_at(judged, there, limits.m)[0]) if aggregate is BITS else None
    ceilings = bits_at(judged, np.array([depth, 2 * depth]), limits.m, CEILING)
    possible = 2 * depth <= int(corpus_size(judged).max())
    return replace(
        study,
        choice=Choice(
            depth=depth,
            limit=limit,
            success=success,
            bits=float(bits_at(judged, there, limits.m, aggregate)[0]),
            chance=mean_known(chance.p_rand(judged, depth, limits.m)),
            doubling=float(ceilings[0] - ceilings[1]) if possible else None,
            evidence=_evidence(judged, depth, limits.m) if aggregate is BITS else None,
        ),
    )


def _evidence(judged: Judged, depth: int, m: int) -> float:
    """Return how likely chance would succeed for as many queries as the run, or for more.

    The number of queries that chance succeeds for is a sum of independent trials, each with a
    probability of its own.
    """
    possible = judged.num_rel >= m
    probability = chance.p_rand(judged, depth, m)[possible, 0]
    succeeded = int((judged.found_at(depth)[possible] >= m).sum())
    distribution = np.zeros(len(probability) + 1)
    distribution[0] = 1.0
    for p in probability.tolist():
        distribution[1:] = distribution[1:] * (1 - p) + distribution[:-1] * p
        distribution[0] *= 1 - p
    return float(min(distribution[succeeded:].sum(), 1.0))


def _collapse(judged: Judged, m: int) -> Collapse | None:
    depth = collapse_depth(judged, m)
    if depth is None:
        return None
    return Collapse(
        depth,
        mean_known(chance.lambda_(judged, depth, m)),
        mean_known(chance.p_rand(judged, depth, m)),
    )


def _plateau(judged: Judged, deepest: int, limits: Limits) -> Plateau | None:
    first = judged.rank[judged.relevant & (judged.found == limits.m)]
    every = np.union1d([1, deepest], first[first <= deepest])  # success rises nowhere else
    success = success_at(judged, every, limits.m)
    final = success[-1]
    if not final:
        return None
    # A query less than allowed must not fail by the last bit of the difference.
    index = int(np.argmax(success >= final - limits.plateau - 1e-12))
    if every[index] == deepest:
        return None
    return Plateau(int(every[index]), float(success[index]), deepest, float(final))


def _affordable(
    judged: Judged, depths: Sequence[int], limits: Limits, aggregate: Aggregate
) -> Affordable | None:
    if not (judged.num_rel >= limits.m).any():
        return None
    every = np.union1d(np.arange(1, min(max(depths), EVERY) + 1), depths)
    bits = bits_at(judged, every, limits.m, aggregate)
    if not np.isfinite(bits).any():
        return None
    best = int(np.nanargmax(bits))
    enough = bits[best] - limits.allowed_loss - 1e-12
    index = int(np.flatnonzero(bits >= enough)[-1])
    inside, outside = every[index], every[min(index + 1, len(every) - 1)]
    while outside - inside > 1:  # where depths were left out
        middle = (inside + outside) // 2
        within = bits_at(judged, np.array([middle]), limits.m, aggregate)[0] >= enough
        inside, outside = (middle, outside) if within else (inside, middle)
    bits_there = bits_at(judged, np.array([inside]), limits.m, aggregate)[0]
    return Affordable(
        int(inside), float(bits_there), int(every[best]), float(bits[best]), max(depths)
    )
