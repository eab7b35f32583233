"""The queries that were served worst, for whoever wants to see why."""

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
from ragkpi.records import dataclass
from ragkpi.wording import counted


@dataclass(frozen=True)
class WorstQueries:
    """Queries in the order of a metric, the worst first, those without a value last.

    Attributes
    ----------
    queries
        Those that are shown.
    metric
        What they are ordered by; of several runs it is the mean of what they scored.
    among
        How many queries there are.
    """

    queries: Sequence[bytes]
    metric: Metric
    among: int

    @property
    def note(self) -> str:
        """Say what the order is by, and how many queries it leaves out."""
        if len(self.queries) == self.among:
            return f"queries by {self.metric.name}, the worst first"
        return (
            f"the worst {len(self.queries)} of {counted(self.among, 'query', 'queries')} by "
            f"{self.metric.name}"
        )


def worst_queries(
    runs: Sequence[Scores], name: str | None = None, most: int | None = None
) -> WorstQueries:
    """Order the queries of runs, the worst first, and keep the first ones.

    Parameters
    ----------
    runs
        Evaluated for the same metrics.
    name
        Of the metric, as it is printed or asked for; None for the first that can be better. Sums
        such as the num_rel_ret of nicknames come last, unless one was asked for first.
    most
        How many queries are kept; None for all.

    Raises
    ------
    UsageError
        If the metric was not evaluated, has no value per query or cannot be better.
    """
    orderable = [
        metric
        for metric in runs[0].metrics
        if metric.is_comparable and metric.is_printed("query") and metric.measure.numeric
    ]
    if name is None:
        if not orderable:
            raise UsageError(
                f"{option('worst')}: no value per query that can be better; ask for more with -m"
            )
        metric = orderable[0]
        if metric is not runs[0].metrics[0]:
            metric = next((one for one in orderable if one.measure.aggregate is not SUM), metric)
    else:
        metric = _named(name, orderable)
    goodness: dict[bytes, list[float]] = {}
    for run in runs:
        values = metric.measure.sign * run[metric.name].per_query
        for query, value in zip(run.queries, values.tolist(), strict=True):
            goodness.setdefault(query, []).append(value)
    queries = sorted(goodness)
    means = np.array([_mean(goodness[query]) for query in queries])
    order = np.argsort(means, kind="stable")[:most].tolist()  # NaN is last
    return WorstQueries([queries[row] for row in order], metric, len(queries))


def _mean(values: Sequence[float]) -> float:
    """Average what is known of a query."""
    known = [value for value in values if value == value]
    return sum(known) / len(known) if known else float("nan")


def _named(name: str, metrics: Sequence[Metric]) -> Metric:
    """Find a metric by its name, as it is printed or asked for."""
    for metric in metrics:
        if metric.name == name:
            return metric
    with contextlib.suppress(UsageError):
        (asked, *_) = find_metrics([name])
        for metric in metrics:
            same = metric.measure.name == asked.measure.name
            if same and metric.arguments == asked.arguments:
                return metric
    names = ", ".join(metric.name for metric in metrics) or "no value"
    raise UsageError(f"{option('sort')} {name}: expected one of {names}")
