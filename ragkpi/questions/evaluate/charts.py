"""The charts of an evaluation."""

from __future__ import annotations

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
from ragkpi.library.evaluation_report import EvaluationReport
from ragkpi.library.interval_notes import interval_notes
from ragkpi.measures.measure import MetricScores
from ragkpi.statistics.bootstrap import Bootstrap
from ragkpi.statistics.replicates import intervals_of
from ragkpi.wording import counted


def evaluation_charts(report: EvaluationReport) -> list[Chart]:
    """Draw a chart per metric: several runs with bootstrap intervals, or the queries of one run.

    `UsageError` if all values are numbers of documents or texts.
    """
    runs = report.runs
    name, scores = next(iter(runs.items()))
    columns = [column for column in scores.estimates() if column.metric.is_comparable]
    if len(runs) == 1:
        columns = [column for column in columns if column.metric.is_printed("query")]
    if not columns:
        names = ", ".join(metric.name for metric in scores.metrics)
        raise UsageError(f"nothing of {names} can be drawn; expected a measure such as map")
    over = counted(scores.divisor, "query", "queries")
    if len(runs) == 1:
        return noted([_queries(name, column) for column in columns], [over])
    bootstrap = report.bootstrap or Bootstrap()
    bounds = report.intervals or {run: intervals_of(of, bootstrap) for run, of in runs.items()}
    notes = interval_notes(bootstrap, list(runs.values()))
    charts: list[Chart] = []
    for name, metric in ((column.name, column.metric) for column in columns):
        rows = [
            IntervalRow(
                run,
                bounds[run][name].low,
                float(of[name].summary),
                bounds[run][name].high,
                series=place,
            )
            for place, (run, of) in enumerate(runs.items())
        ]
        sign = metric.measure.sign
        charts.append(IntervalChart(name, Axis("value of each run"), best_first(rows, sign)))
    return noted(charts, [*(note.replace("[low, high]", "bars") for note in notes), over])


def _queries(run: str, column: MetricScores) -> Chart:
    """Draw the values of all queries, best first, and the value over all queries."""
    better = column.metric.measure.sign
    values = (-better * np.sort(-better * column.per_query[column.has_value])).tolist()
    return PlaneChart(
        f"{column.name} of {run}, query by query",
        Axis("queries, the best first", low=1),
        Axis(column.name),
        [Line(run, range(1, len(values) + 1), values)],
        rules=[Rule("y", float(column.summary), "over all queries")],
    )
