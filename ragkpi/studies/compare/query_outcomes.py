"""The queries that a run won and lost against the baseline."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from ragkpi.measures.measure import Metric
from ragkpi.records import NamedTuple
from ragkpi.reports.layout import Cell, Column
from ragkpi.statistics.classical_tests import TIED
from ragkpi.statistics.paired import Comparison, Difference
from ragkpi.wording import as_json, decoded


class QueryOutcome(NamedTuple):
    """A query on which a run and the baseline differ, and the values of both."""

    query: bytes
    outcome: Literal["won", "lost"]
    baseline: float
    value: float

    @property
    def difference(self) -> float:
        """The run's value less the baseline's."""
        return self.value - self.baseline


def query_outcomes(comparison: Comparison, difference: Difference) -> list[QueryOutcome]:
    """List the queries won, the largest difference first, then those lost, the largest first.

    Values that agree to nine digits are ties, and left out, as `Difference` counts them; so is all
    of a metric that has no value per query.
    """
    metric = difference.metric
    if not metric.is_printed("query"):
        return []
    run = comparison.names.index(difference.run, 1)
    columns = [scores[metric.name] for scores in comparison.runs]
    known = np.all([column.known for column in columns], axis=0)
    baseline, value = columns[0].per_query, columns[run].per_query
    with np.errstate(invalid="ignore"):
        gain = metric.measure.sign * (value - baseline)
    apart = known & ~np.isclose(baseline, value, rtol=TIED, atol=0)
    order = np.argsort(-np.abs(gain), kind="stable").tolist()
    return [
        QueryOutcome(
            comparison.runs[0].queries[row], outcome, float(baseline[row]), float(value[row])
        )
        for outcome, sign in _OUTCOMES
        for row in order
        if apart[row] and sign * gain[row] > 0
    ]


_OUTCOMES: tuple[tuple[Literal["won", "lost"], int], ...] = (("won", 1), ("lost", -1))


def outcome_columns(corrected: str) -> list[Column]:
    """Return the columns of the table of queries; `corrected` names the p-value, if it is one."""
    return [
        Column("measure"),
        Column("run"),
        Column("query"),
        Column("outcome", legend="queries that are equal are not listed"),
        Column("baseline", "decimal"),
        Column("value", "decimal"),
        Column("difference", "decimal", signed=True),
        Column("p", "decimal", role="detail"),
        *([Column(corrected, "decimal")] if corrected else []),
    ]


def outcome_rows(comparison: Comparison, difference: Difference) -> Iterator[list[Cell]]:
    """Yield a row per query that was won or lost; what stands over all queries is not there."""
    style = difference.metric.measure.style
    for outcome in query_outcomes(comparison, difference):
        yield [
            Cell(difference.metric.name),
            Cell(difference.run),
            Cell(outcome.query),
            Cell(outcome.outcome),
            Cell(outcome.baseline, style=style),
            Cell(outcome.value, style=style),
            Cell(outcome.difference, style=style),
        ]


def outcome_objects(
    comparison: Comparison, difference: Difference, digits: int | None
) -> list[dict[str, Any]]:
    """Return the queries won and lost as JSON objects."""
    metric: Metric = difference.metric
    return [
        {
            "query": decoded(outcome.query),
            "outcome": outcome.outcome,
            "baseline_value": as_json(outcome.baseline, metric.measure.style, digits),
            "value": as_json(outcome.value, metric.measure.style, digits),
            "difference": as_json(outcome.difference, metric.measure.style, digits),
        }
        for outcome in query_outcomes(comparison, difference)
    ]
