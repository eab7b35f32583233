"""The queries that several runs share, because only those can be compared in pairs."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from ragkpi.errors import NothingInCommonError, RagkpiWarning, UsageError
from ragkpi.measures.scores import Scores


def aligned(names: Sequence[str], runs: Sequence[Scores]) -> list[Scores]:
    """Reduce runs to the queries that all of them have, with a warning that says what is dropped.

    Raises
    ------
    NothingInCommonError
        If they share no query.
    UsageError
        If they were evaluated for different metrics.
    """
    asked = [metric.name for metric in runs[0].metrics]
    for name, run in zip(names, runs, strict=True):
        if [metric.name for metric in run.metrics] != asked:
            raise UsageError(f"{name} was evaluated for other values than {names[0]}")
    if all(run.queries == runs[0].queries for run in runs):
        return list(runs)
    shared = set(runs[0].queries).intersection(*(run.queries for run in runs))
    if not shared:
        raise NothingInCommonError(f"{', '.join(names)} share no query; nothing can be compared")
    dropped = [
        f"{len(run.queries) - len(shared)} of {name}"
        for name, run in zip(names, runs, strict=True)
        if len(run.queries) > len(shared)
    ]
    warnings.warn(
        f"compared over the {len(shared)} queries that all runs have, dropping "
        f"{', '.join(dropped)}; -c evaluates a missing query as an empty ranking instead",
        RagkpiWarning,
        stacklevel=3,
    )
    return [run.over(np.flatnonzero([query in shared for query in run.queries])) for run in runs]
