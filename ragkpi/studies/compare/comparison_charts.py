"""The charts of `ragkpi compare`: differences with their intervals, and query by query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ragkpi.charts.chart import (
    Axis,
    Chart,
    IntervalChart,
    IntervalRow,
    Line,
    PlaneChart,
    Rule,
    noted,
)
from ragkpi.statistics.all_pairs import AllPairs
from ragkpi.statistics.bootstrap import Bootstrap, few_queries_note, intervals, resampled
from ragkpi.statistics.paired import Comparison, Difference
from ragkpi.wording import counted


def comparison_charts(comparison: Comparison) -> list[Chart]:
    """Draw, for each metric, the runs' differences from the baseline, and those of the queries."""
    charts: list[Chart] = []
    no_curve = []
    for differences in comparison.by_metric:
        metric = differences[0].metric
        title = metric.name + (" (less is better)" if metric.measure.better == "lower" else "")
        charts.append(_means(title, comparison, differences))
        if metric.is_printed("query"):
            charts.append(_queries(title, comparison, differences))
        else:
            no_curve.append(metric.name)
    notes = [_bars(comparison.procedure.bootstrap), _over(comparison.differences)]
    if no_curve:
        notes.append(f"no value per query, so no curve: {', '.join(no_curve)}")
    return noted(charts, notes)


def all_pairs_charts(pairs: AllPairs) -> list[Chart]:
    """Draw, for each metric, the runs with their letters, the best on top."""
    bootstrap = pairs.procedure.bootstrap
    bounds = [intervals(scores, bootstrap) for scores in pairs.runs]
    charts: list[Chart] = []
    for by_metric in pairs.by_metric:
        name = by_metric.metric.name
        rows = [
            IntervalRow(
                f"{pairs.names[run]} ({by_metric.letters[run]})",
                bounds[run][name].low,
                float(by_metric.values[run]),
                bounds[run][name].high,
            )
            for run in by_metric.order
        ]
        charts.append(IntervalChart(name, Axis("value of each run"), rows))
    letters = "runs that share a letter are not shown to differ; that their intervals overlap says "
    few = few_queries_note(resampled(pairs.runs, bootstrap), bootstrap)
    return noted(charts, [f"{letters}little of that", _bars(bootstrap), *([few] if few else [])])


def _bars(bootstrap: Bootstrap) -> str:
    return (
        f"bars: {bootstrap.level * 100:g} % bootstrap intervals, {bootstrap.resamples:,} "
        f"resamples, seed {bootstrap.seed}"
    )


def _over(differences: Sequence[Difference]) -> str:
    numbers = {d.metric.name: d.queries for d in differences}
    if len(set(numbers.values())) == 1:
        return counted(differences[0].queries, "query", "queries")
    return "queries: " + ", ".join(f"{name} {number:,}" for name, number in numbers.items())


def _means(title: str, comparison: Comparison, differences: Sequence[Difference]) -> Chart:
    rows = [IntervalRow(d.run, d.interval.low, d.difference, d.interval.high) for d in differences]
    axis = Axis(f"difference from {comparison.names[0]}")
    return IntervalChart(title, axis, rows, [Rule("x", 0.0)])


def _queries(title: str, comparison: Comparison, differences: Sequence[Difference]) -> Chart:
    lines = list(_sorted_differences(comparison, differences))
    only = f"; {lines[0].name}" if len(lines) == 1 else ""  # one line has no legend
    return PlaneChart(
        f"{title}, query by query{only}",
        Axis("queries, the largest difference first", low=1),
        Axis(f"difference from {comparison.names[0]}"),
        lines,
        rules=[Rule("y", 0.0)],
    )


def _sorted_differences(
    comparison: Comparison, differences: Sequence[Difference]
) -> Iterator[Line]:
    """Yield the sorted differences of each run; the name counts queries won, equal and lost."""
    name = differences[0].metric.name
    columns = [run[name] for run in comparison.runs]
    known = np.all([column.known for column in columns], axis=0)
    for difference, column in zip(differences, columns[1:], strict=True):
        value, baseline = column.per_query[known], columns[0].per_query[known]
        with np.errstate(invalid="ignore"):  # inf - inf, where the values are equal
            apart = np.where(value == baseline, 0.0, value - baseline)
        apart = np.sort(apart)[::-1].tolist()
        counts = f"{difference.wins} won, {difference.ties} equal, {difference.losses} lost"
        yield Line(f"{difference.run}: {counts}", range(1, len(apart) + 1), apart)
