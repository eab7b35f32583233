"""The queries with the worst values."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import numpy as np

from ragkpi.errors import UsageError
from ragkpi.interface import option
from ragkpi.measures.aggregates import SUM
from ragkpi.measures.measure import Metric
from ragkpi.measures.registry import find_metrics
from ragkpi.measures.scores import Scores
from ragkpi.records import NamedTuple
from ragkpi.wording import counted


class WorstQueries(NamedTuple):
    """Queries in the order of a metric, the worst first, those without a value last.

    Attributes
    ----------
    queries
        The queries that are shown.
    note
        The metric of the order, and how many queries are left out.
    """

    queries: Sequence[bytes]
    note: str


def worst_queries(
    runs: Sequence[Scores], name: str | None = None, most: int | None = None
) -> WorstQueries:
    """Order the queries of runs, the worst first, and keep the first ones.

    Several runs are ordered by the mean of their values.

    Parameters
    ----------
    runs
        Evaluated for the same metrics.
    name
        The metric, by its printed name or as requested; None for the first metric that has better
        and worse values. Sums such as the num_rel_ret of nicknames come last, unless one was
        requested first.
    most
        How many queries are kept; None for all.

    Raises
    ------
    UsageError
        If the metric was not evaluated, has no value per query or no better and worse values.
    """
    orderable = [
        metric
        for metric in runs[0].metrics
        if metric.is_comparable and metric.is_printed("query") and metric.measure.numeric
    ]
    if name is not None:
        metric = _named(name, orderable)
    elif not orderable:
        raise UsageError(
            f"{option('worst')}: no value per query that can be better; ask for more with -m"
        )
    else:
        means = (metric for metric in orderable if metric.measure.aggregate is not SUM)
        first = orderable[0]
        metric = first if first is runs[0].metrics[0] else next(means, first)
    goodness: dict[bytes, list[float]] = {}
    for run in runs:
        values = metric.measure.sign * run[metric.name].per_query
        for query, value in zip(run.queries, values.tolist(), strict=True):
            goodness.setdefault(query, []).append(value)
    queries = sorted(goodness)
    averages = np.array([_mean(goodness[query]) for query in queries])
    worst = [queries[row] for row in np.argsort(averages, kind="stable")[:most]]  # NaN is last
    if len(worst) == len(queries):
        return WorstQueries(worst, f"queries by {metric.name}, the worst first")
    among = counted(len(queries), "query", "queries")
    return WorstQueries(worst, f"the worst {len(worst)} of {among} by {metric.name}")


def _mean(values: Sequence[float]) -> float:
    """Average the values of a query that are not NaN."""
    known = [value for value in values if value == value]
    return sum(known) / len(known) if known else float("nan")


def _named(name: str, metrics: Sequence[Metric]) -> Metric:
    """Find a metric by its printed name, or by the name in a request."""
    for metric in metrics:
        if metric.name == name:
            return metric
    with contextlib.suppress(UsageError):
        requested = find_metrics([name])[0]
        for metric in metrics:
            same = metric.measure.name == requested.measure.name
            if same and metric.arguments == requested.arguments:
                return metric
    names = ", ".join(metric.name for metric in metrics) or "no value"
    raise UsageError(f"{option('sort')} {name}: expected one of {names}")
