"""The charts of an evaluation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragkpi.charts.chart import (
    Axis,
    Chart,
    IntervalChart,
    IntervalRow,
    Line,
    PlaneChart,
    Rule,
    best_first,
    noted,
)
from ragkpi.errors import UsageError
from ragkpi.library.evaluation_report import EvaluatedRun, interval_notes
from ragkpi.measures.measure import MetricScores
from ragkpi.statistics.bootstrap import Bootstrap, intervals
from ragkpi.wording import counted


def evaluation_charts(runs: Sequence[EvaluatedRun], bootstrap: Bootstrap | None) -> list[Chart]:
    """Draw a chart per metric: several runs with bootstrap intervals, or the queries of one run.

    `UsageError` if all values are numbers of documents or texts.
    """
    columns = [column for column in runs[0].scores.estimates() if column.metric.is_comparable]
    if len(runs) == 1:
        columns = [column for column in columns if column.metric.is_printed("query")]
    if not columns:
        names = ", ".join(metric.name for metric in runs[0].scores.metrics)
        raise UsageError(f"nothing of {names} can be drawn; expected a measure such as map")
    over = counted(runs[0].scores.divisor, "query", "queries")
    if len(runs) == 1:
        return noted([_queries(runs[0].name, column) for column in columns], [over])
    bootstrap = bootstrap or Bootstrap()
    bounds = [run.intervals or intervals(run.scores, bootstrap) for run in runs]
    notes = interval_notes(bootstrap, [run.scores for run in runs])
    charts: list[Chart] = []
    for name, metric in ((column.name, column.metric) for column in columns):
        rows = [
            IntervalRow(
                run.name, of_run[name].low, float(run.scores[name].summary), of_run[name].high
            )
            for run, of_run in zip(runs, bounds, strict=True)
        ]
        sign = metric.measure.sign
        charts.append(IntervalChart(name, Axis("value of each run"), best_first(rows, sign)))
    return noted(charts, [*(note.replace("[low, high]", "bars") for note in notes), over])


def _queries(run: str, column: MetricScores) -> Chart:
    """Draw the values of all queries, the best first, and the value over all queries."""
    better = column.metric.measure.sign
    values = (-better * np.sort(-better * column.per_query[column.has_value])).tolist()
    return PlaneChart(
        f"{column.name} of {run}, query by query",
        Axis("queries, the best first", low=1),
        Axis(column.name),
        [Line(run, range(1, len(values) + 1), values)],
        rules=[Rule("y", float(column.summary), "over all queries")],
    )
