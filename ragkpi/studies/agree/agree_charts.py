"""The charts of `ragkpi agree`: runs under both judgements, and bias by level."""

from __future__ import annotations

from ragkpi.charts.chart import (
    Axis,
    Chart,
    IntervalChart,
    IntervalRow,
    Line,
    PlaneChart,
    Points,
    Rule,
)
from ragkpi.studies.agree.agree_study import Agreement


def agree_charts(agreement: Agreement) -> list[Chart]:
    """Draw a scatter of the runs for each judge and metric, then the bias of every judge."""
    scatters, biases = [], []
    for pair in agreement.with_reference:
        reference, judge = pair.judges
        for order in pair.orders:
            values = [*order.reference, *order.other]
            ends = [min(values), max(values)]
            scatters.append(
                PlaneChart(
                    f"{order.metric.name} of {len(order.runs)} runs",
                    Axis(f"under {reference}"),
                    Axis(f"under {judge}"),
                    lines=[Line("the same value", ends, ends, role="ceiling")],
                    points=[Points("runs", order.reference, order.other, order.runs)],
                )
            )
        rows = [
            IntervalRow(f"level {level}", bias.interval.low, bias.value, bias.interval.high)
            for level, bias in pair.bias.items()
        ]
        title, axis = f"{judge} by level of {reference}", Axis("levels too much")
        biases.append(IntervalChart(title, axis, rows, [Rule("x", 0.0)]))
    return [*scatters, *biases]
