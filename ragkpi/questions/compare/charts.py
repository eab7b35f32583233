"""The charts of `ragkpi compare`: differences from a baseline, and all runs with their letters."""

from __future__ import annotations

import numpy as np

from ragkpi.charts.chart import Axis, Chart, IntervalChart, IntervalRow, Rule, noted
from ragkpi.library.ground import Signature
from ragkpi.library.interval_notes import interval_notes
from ragkpi.questions.compare.answer import per_query
from ragkpi.questions.compare.verdict import goodness
from ragkpi.reports.names import short_names
from ragkpi.statistics.all_pairs import AllPairs
from ragkpi.statistics.paired import Comparison, Difference
from ragkpi.statistics.replicates import intervals_of
from ragkpi.wording import counted

_LONGEST_NAME = 20  # characters of a run's name, followed by counts of queries


def charts_of(compared: Comparison | AllPairs, signature: Signature) -> list[Chart]:
    """Draw differences from a baseline, or all runs with their letters."""
    if isinstance(compared, AllPairs):
        return noted(all_pairs_charts(compared), [signature.short()])
    return noted(comparison_charts(compared), [signature.short()])


def comparison_charts(comparison: Comparison) -> list[Chart]:
    """Draw, for each metric, the differences from the baseline by run, and those of its queries."""
    charts: list[Chart] = []
    names = dict(zip(comparison.names, short_names(comparison.names, _LONGEST_NAME), strict=True))
    series = {name: place for place, name in enumerate(comparison.names)}
    axis = Axis(f"difference from {names[comparison.names[0]]}")
    for differences in comparison.by_metric:
        metric = differences[0].metric
        title = metric.name + (" (less is better)" if metric.measure.better == "lower" else "")
        rows = [
            IntervalRow(
                f"{names[d.run]}: {d.wins}, {d.ties}, {d.losses}",
                d.interval.low,
                d.difference,
                d.interval.high,
                _of_queries(comparison, d) if metric.is_printed("query") else (),
                series[d.run],
            )
            for d in sorted(differences, key=goodness, reverse=True)
        ]
        charts.append(IntervalChart(title, axis, rows, [Rule("x", 0.0)]))
    queries = {d.metric.name: d.queries for d in comparison.differences}
    over = counted(comparison.differences[0].queries, "query", "queries")
    if len(set(queries.values())) > 1:
        over = "queries: " + ", ".join(f"{name} {number:,}" for name, number in queries.items())
    notes = [
        f"bars: {comparison.procedure.bootstrap.percent} intervals of the difference; small marks: "
        "differences of single queries; behind a name: queries won, equal and lost",
        over,
    ]
    if no_dots := [m.name for m in comparison.metrics if not m.is_printed("query")]:
        notes.append(f"no value per query, so no small marks: {', '.join(no_dots)}")
    return noted(charts, notes)


def _of_queries(comparison: Comparison, d: Difference) -> list[float]:
    """Return the differences of all queries with a value in both runs."""
    has_value, baseline, value = per_query(comparison, d)
    with np.errstate(invalid="ignore"):  # inf - inf, where the values are equal
        apart = np.where(value == baseline, 0.0, value - baseline)[has_value]
    return [float(x) for x in apart]


def all_pairs_charts(pairs: AllPairs) -> list[Chart]:
    """Draw, for each metric, the runs with their letters, the best at the top."""
    bootstrap = pairs.procedure.bootstrap
    bounds = [intervals_of(scores, bootstrap) for scores in pairs.runs]
    charts: list[Chart] = []
    for by_metric in pairs.by_metric:
        name = by_metric.metric.name
        rows = [
            IntervalRow(
                pairs.names[run] + (f" ({by_metric.letters[run]})" if by_metric.letters else ""),
                bounds[run][name].low,
                float(by_metric.values[run]),
                bounds[run][name].high,
                series=run,
            )
            for run in by_metric.order
        ]
        charts.append(IntervalChart(name, Axis("value of each run"), rows))
    letters = (
        "runs that share a letter are not significantly different; overlapping intervals are "
        "not a test"
    )
    notes = interval_notes(bootstrap, pairs.runs)
    return noted(charts, [letters, *(text.replace("[low, high]", "bars") for text in notes)])
