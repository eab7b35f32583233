"""The charts of `ragkpi compare`: differences from a baseline, and all runs with their letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ragkpi.charts.chart import (
    Axis,
    Chart,
    IntervalChart,
    IntervalRow,
    Line,
    PlaneChart,
    Rule,
    gathered,
    noted,
)
from ragkpi.library.interval_notes import interval_notes
from ragkpi.questions.compare.answer import per_query
from ragkpi.questions.compare.verdict import goodness
from ragkpi.reports.names import short_names
from ragkpi.statistics.all_pairs import AllPairs
from ragkpi.statistics.paired import Comparison, Difference
from ragkpi.statistics.replicates import intervals_of
from ragkpi.wording import counted

_IN_LEGENDS = 24  # characters of a run's name, with counts of queries behind it


def comparison_charts(comparison: Comparison) -> list[Chart]:
    """Draw, for each metric, the differences from the baseline by run and by query."""
    charts: list[Chart] = []
    no_curve = []
    names = dict(zip(comparison.names, short_names(comparison.names, _IN_LEGENDS), strict=True))
    from_baseline = f"difference from {names[comparison.names[0]]}"
    for differences in comparison.by_metric:
        metric = differences[0].metric
        title = metric.name + (" (less is better)" if metric.measure.better == "lower" else "")
        differences = sorted(differences, key=goodness, reverse=True)
        rows = [
            IntervalRow(d.run, d.interval.low, d.difference, d.interval.high) for d in differences
        ]
        charts.append(IntervalChart(title, Axis(from_baseline), rows, [Rule("x", 0.0)]))
        if not metric.is_printed("query"):
            no_curve.append(metric.name)
            continue
        lines = _lines_of_queries(comparison, differences, names)
        leader = names[differences[0].run]
        only = f"; {lines[0].name}" if len(lines) == 1 else ""  # one line has no legend
        charts.append(
            PlaneChart(
                f"{title}, query by query{only}",
                Axis(f"queries, the largest difference of {leader} first", low=1),
                Axis(from_baseline),
                gathered(lines, lines[:1]),
                rules=[Rule("y", 0.0)],
            )
        )
    bars = f"bars: {comparison.procedure.bootstrap.percent} intervals of the difference"
    notes = [bars, _over(comparison.differences)]
    if no_curve:
        notes.append(f"no value per query, so no curve: {', '.join(no_curve)}")
    return noted(charts, notes)


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
            )
            for run in by_metric.order
        ]
        charts.append(IntervalChart(name, Axis("value of each run"), rows))
    letters = (
        "runs that share a letter are not shown to differ; that their intervals overlap says "
        "little of that"
    )
    notes = interval_notes(bootstrap, pairs.runs)
    return noted(charts, [letters, *(text.replace("[low, high]", "bars") for text in notes)])


def _over(differences: Sequence[Difference]) -> str:
    numbers = {d.metric.name: d.queries for d in differences}
    if len(set(numbers.values())) == 1:
        return counted(differences[0].queries, "query", "queries")
    return "queries: " + ", ".join(f"{name} {number:,}" for name, number in numbers.items())


def _lines_of_queries(
    comparison: Comparison, differences: Sequence[Difference], names: Mapping[str, str]
) -> list[Line]:
    """Return the differences of all queries, by run, in one order: the first run's, sorted.

    The names count the queries won, equal and lost.
    """
    lines: list[Line] = []
    order = np.empty(0, dtype=np.intp)
    for d in differences:
        has_value, baseline, value = per_query(comparison, d)
        with np.errstate(invalid="ignore"):  # inf - inf, where the values are equal
            apart = np.where(value == baseline, 0.0, value - baseline)[has_value]
        order = order if lines else np.argsort(-apart, kind="stable")
        counts = f"{d.wins} won, {d.ties} equal, {d.losses} lost"
        name = f"{names[d.run]}: {counts}"
        lines.append(Line(name, range(1, len(apart) + 1), apart[order].tolist()))
    return lines
