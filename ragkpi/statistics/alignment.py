"""Reduction of several runs to the same queries, over which they can be compared."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Literal

import numpy as np

from ragkpi.errors import NothingInCommonError, RagkpiWarning, UsageError
from ragkpi.interface import option
from ragkpi.measures.scores import Scores
from ragkpi.wording import counted

# The queries of a comparison: all judged ones, where a missing one is an empty ranking, or those
# that all runs have.
Queries = Literal["all", "common"]


def aligned(
    names: Sequence[str], runs: Sequence[Scores], queries: Queries = "common"
) -> list[Scores]:
    """Reduce runs to the same queries, so that their values can be compared.

    Parameters
    ----------
    queries
        ``"common"`` reduces the runs to the queries that all of them have, and warns of dropped
        ones. ``"all"`` expects runs that were evaluated over every judged query
        (``missing="zero"``), as only measures know the value of an empty ranking.

    Raises
    ------
    NothingInCommonError
        If they share no query.
    UsageError
        If they were evaluated for different metrics, or with ``"all"`` over different queries.
    """
    expected = [metric.name for metric in runs[0].metrics]
    for name, run in zip(names, runs, strict=True):
        if [metric.name for metric in run.metrics] != expected:
            raise UsageError(f"{name} was evaluated for other metrics than {names[0]}")
    if all(run.queries == runs[0].queries for run in runs):
        return list(runs)
    if queries == "all":
        fewest = min(range(len(runs)), key=lambda run: len(runs[run].queries))
        raise UsageError(
            f"{names[fewest]} was evaluated over {len(runs[fewest].queries)} queries alone; "
            f"evaluate a missing query as an empty ranking ({option('missing', 'zero')}, "
            f"missing='zero')"
        )
    shared = set(runs[0].queries).intersection(*(run.queries for run in runs))
    if not shared:
        raise NothingInCommonError(f"{', '.join(names)} share no query; nothing can be compared")
    dropped = [
        f"{len(run.queries) - len(shared)} of {name}"
        for name, run in zip(names, runs, strict=True)
        if len(run.queries) > len(shared)
    ]
    number = counted(len(shared), "query", "queries")
    warnings.warn(
        f"compared over the {number} that all runs have, dropping "
        f"{', '.join(dropped)}; {option('missing', 'zero')} evaluates a missing query as an "
        f"empty ranking instead",
        RagkpiWarning,
        stacklevel=3,
    )
    return [run.over(np.flatnonzero([query in shared for query in run.queries])) for run in runs]
