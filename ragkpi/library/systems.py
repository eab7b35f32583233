"""Systems of several runs: seeds, folds or repeated answers, with combined scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ragkpi.errors import DataError
from ragkpi.measures.measure import MetricScores, Scores
from ragkpi.reports.names import Seed, system_of
from ragkpi.wording import counted, listed


def systems(runs: Mapping[str, Sequence[Scores]]) -> dict[str, Scores]:
    """Make each system's scores of those of its seeds, by its name; a run alone stays as it is.

    The value is the mean of the seeds' values, and the statistics of a query are the means of
    theirs, NA where those of a seed are. `DataError` for seeds over different queries.
    """
    for name, (first, *others) in runs.items():
        for other in others:
            if apart := sorted(set(first.queries) ^ set(other.queries)):
                number = counted(len(apart), "query", "queries")
                raise DataError(
                    f"{name}: {number} of only some of its seeds ({listed(apart, 3)}); expected "
                    "each seed of a system over the same queries"
                )
    return {name: _system(seeds) if len(seeds) > 1 else seeds[0] for name, seeds in runs.items()}


def _system(seeds: Sequence[Scores]) -> Scores:
    columns = []
    for of_seeds in zip(*(seed.columns for seed in seeds), strict=True):
        first = of_seeds[0]
        if first.metric.measure.numeric:
            mean = np.mean([column.statistics for column in of_seeds], axis=0)
            lacking = np.isnan(mean).any(axis=1, keepdims=True)
            first = MetricScores(
                first.metric,
                mean,
                first.divisor,
                [replace(c, statistics=np.where(lacking, np.nan, c.statistics)) for c in of_seeds],
            )
        columns.append(first)
    return replace(seeds[0], columns=columns)


def by_system(runs: Mapping[str, Scores]) -> dict[str, Scores]:
    """Make systems of the seeds among runs, by their names in the call; leave out incomplete ones.

    A system without one of its seeds would have another value.
    """
    if not any(isinstance(name, Seed) for name in runs):
        return dict(runs)
    of_systems: dict[str, list[Scores]] = {}
    for name, scores in runs.items():
        of_systems.setdefault(system_of(name), []).append(scores)
    expected = {system_of(name): name.seeds for name in runs if isinstance(name, Seed)}
    complete = {n: of for n, of in of_systems.items() if len(of) == expected.get(n, 1)}
    return systems(complete)
