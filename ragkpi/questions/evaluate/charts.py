"""The charts of an evaluation."""

from __future__ import annotations

from ragkpi.charts.chart import Axis, Chart, IntervalChart, IntervalRow, best_first, noted
from ragkpi.errors import UsageError
from ragkpi.library.evaluation_report import EvaluationReport
from ragkpi.library.interval_notes import interval_notes
from ragkpi.statistics.bootstrap import Bootstrap
from ragkpi.statistics.replicates import intervals_of
from ragkpi.wording import counted


def evaluation_charts(report: EvaluationReport) -> list[Chart]:
    """Draw a chart per metric: the runs, with intervals over queries.

    `UsageError` if all values are numbers of documents or texts.
    """
    runs = report.runs
    scores = next(iter(runs.values()))
    metrics = [of.metric for of in scores.estimates() if of.metric.is_comparable]
    if not metrics:
        names = ", ".join(metric.name for metric in scores.metrics)
        raise UsageError(f"nothing of {names} can be drawn; expected a measure such as map")
    bootstrap = report.bootstrap or Bootstrap()
    bounds = report.intervals or {run: intervals_of(of, bootstrap) for run, of in runs.items()}
    charts: list[Chart] = []
    for name, sign in ((metric.name, metric.measure.sign) for metric in metrics):
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
        charts.append(IntervalChart(name, Axis("value of each run"), best_first(rows, sign)))
    notes = [
        note.replace("[low, high]", "bars") for note in interval_notes(bootstrap, [*runs.values()])
    ]
    return noted(charts, [*notes, counted(scores.divisor, "query", "queries")])
