"""The queries that a run won and lost against the baseline."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ragkpi.records import NamedTuple
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

    Values that agree to nine digits are ties, as in `Difference`, and left out. A metric without
    values per query has no outcomes.
    """
    outcomes: tuple[tuple[Literal["won", "lost"], int], ...] = (("won", 1), ("lost", -1))
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
        for outcome, sign in outcomes
        for row in order
        if apart[row] and sign * gain[row] > 0
    ]


def outcome_objects(
    comparison: Comparison, difference: Difference, digits: int | None
) -> list[dict[str, Any]]:
    """Return the queries won and lost as JSON objects."""
    style = difference.metric.measure.style
    return [
        {
            "query": decoded(outcome.query),
            "outcome": outcome.outcome,
            "baseline_value": as_json(outcome.baseline, style, digits),
            "value": as_json(outcome.value, style, digits),
            "difference": as_json(outcome.difference, style, digits),
        }
        for outcome in query_outcomes(comparison, difference)
    ]
