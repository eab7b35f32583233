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
    names = agreement.labels.panel.names
    charts: list[Chart] = []
    for judge, orders in zip(names[1:], agreement.orders, strict=False):
        for order in orders:
            values = [*order.reference.tolist(), *order.other.tolist()]
            ends = [min(values), max(values)]
            charts.append(
                PlaneChart(
                    f"{order.metric.name} of {len(agreement.runs)} runs",
                    Axis(f"under {names[0]}"),
                    Axis(f"under {judge}"),
                    lines=[Line("the same value", ends, ends, role="ceiling")],
                    points=[
                        Points(
                            "runs", order.reference.tolist(), order.other.tolist(), agreement.runs
                        )
                    ],
                )
            )
    for pair in agreement.labels.pairs:
        if pair.first == 0:
            rows = [
                IntervalRow(f"level {level}", bias.interval.low, bias.value, bias.interval.high)
                for level, bias in pair.bias.items()
            ]
            charts.append(
                IntervalChart(
                    f"{names[pair.second]} by level of {names[0]}",
                    Axis("levels too much"),
                    rows,
                    [Rule("x", 0.0)],
                )
            )
    return charts
