"""How deep to retrieve: where chance catches up, where success stops rising, what depth costs."""

from __future__ import annotations

from collections.abc import Sequence

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

_RUN_MEASURES = ("p_obs", "p_rand", "ef", "bor", "bor_max", "lambda", "collapse")
_COUNT_MEASURES = ("p_rand", "bor_max", "bor_opt", "lambda", "collapse")
_BETWEEN_DEPTHS = ("dbor", "dbor_sparse")


def run_values(depths: Sequence[int], m: int) -> list[Metric]:
    """Return the metrics of a run at each depth, and between neighbouring depths."""
    cutoffs = ",".join(map(str, depths))
    names = [*_RUN_MEASURES, *(_BETWEEN_DEPTHS if len(depths) > 1 else ())]
    requests = [f"{name}.{cutoffs},m={m}" for name in names]
    return _in_order([*requests, f"recall.{cutoffs}", f"ra_nwg.{cutoffs}"])


def count_values(depths: Sequence[int], m: int) -> list[Metric]:
    """Return the metrics that need no run, at each depth."""
    cutoffs = ",".join(map(str, depths))
    return _in_order([f"{name}.{cutoffs},m={m}" for name in _COUNT_MEASURES])


def _in_order(requests: Sequence[str]) -> list[Metric]:
    """Resolve requests in their own order; `find_metrics` would use the registry's."""
    return [metric for request in requests for metric in find_metrics([request])]


def study_run(judged: Judged, depths: Sequence[int], limits: Limits) -> Study:
    """Find the limits of a run's depth, down to the deepest of `depths`."""
    return _study(judged, depths, limits, BITS)


def study_counts(judged: Judged, depths: Sequence[int], limits: Limits) -> Study:
    """Find the limits of depth for a system that always succeeds, down to the whole corpus."""
    return _study(judged, [*depths, int(corpus_size(judged).max())], limits, CEILING)


def _study(judged: Judged, depths: Sequence[int], limits: Limits, aggregate: Aggregate) -> Study:
    deepest = max(depths)
    collapse = _collapse(judged, limits.m)
    affordable = _affordable(judged, depths, limits, aggregate)
    study = Study(collapse=collapse, affordable=affordable)
    if affordable is None:
        return study
    limit_of: dict[Limit, int] = {"deepest": deepest}
    if limits.most is not None:
        limit_of["most"] = limits.most
    if aggregate is BITS:
        study = replace(
            study,
            plateau=_plateau(judged, deepest, limits),
            reached=None if limits.target is None else reach(judged, limits.target),
            final=float(success_at(judged, np.array([deepest]), limits.m)[0]),
        )
    if study.reached is not None:
        if study.reached.depth is None:
            return study
        limit_of["target"] = study.reached.depth
    else:
        if study.plateau:
            limit_of["plateau"] = study.plateau.depth
        if collapse:
            limit_of["collapse"] = collapse.depth - 1
        if limits.max_loss is not None:
            limit_of["max_loss"] = affordable.depth
    limit = min(reversed(list(limit_of)), key=lambda name: limit_of[name])  # of equals the last
    if not limit_of[limit]:
        return study
    return replace(study, choice=_choice(judged, limit_of[limit], limit, limits.m, aggregate))


def _choice(judged: Judged, depth: int, limit: Limit, m: int, aggregate: Aggregate) -> Choice:
    """Describe what a depth gives; that of a run, or the ceiling without one."""
    there = np.array([depth])
    ceilings = bits_at(judged, np.array([depth, 2 * depth]), m, CEILING)
    possible = 2 * depth <= int(corpus_size(judged).max())
    return Choice(
        depth=depth,
        limit=limit,
        success=float(success_at(judged, there, m)[0]) if aggregate is BITS else None,
        bits=float(bits_at(judged, there, m, aggregate)[0]),
        chance=mean_known(chance.p_rand(judged, depth, m)),
        doubling=float(ceilings[0] - ceilings[1]) if possible else None,
        evidence=_evidence(judged, depth, m) if aggregate is BITS else None,
    )


def _evidence(judged: Judged, depth: int, m: int) -> float:
    """Return how likely chance would succeed for as many queries as the run, or for more.

    Each query is an independent trial with its own probability of success.
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
    every = np.union1d([1, deepest], first[first <= deepest])  # success rises at no other depth
    success = success_at(judged, every, limits.m)
    final = success[-1]
    if not final:
        return None
    # The difference of two shares may be wrong in its last bit.
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
    while outside - inside > 1:  # depths between them were not computed
        middle = (inside + outside) // 2
        within = bits_at(judged, np.array([middle]), limits.m, aggregate)[0] >= enough
        inside, outside = (middle, outside) if within else (inside, middle)
    bits_there = bits_at(judged, np.array([inside]), limits.m, aggregate)[0]
    return Affordable(
        int(inside), float(bits_there), int(every[best]), float(bits[best]), max(depths)
    )
