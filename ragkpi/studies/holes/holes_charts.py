"""The charts of `ragkpi holes`: the bounds of each value, measure by measure."""

from __future__ import annotations

from collections.abc import Sequence

from ragkpi.charts.chart import Axis, Chart, IntervalChart, IntervalRow, noted
from ragkpi.studies.holes.holes_study import Bounded, HoleBounds
from ragkpi.wording import counted

_TITLE = "What unjudged documents could change"


def holes_charts(bounds: HoleBounds, names: Sequence[str]) -> list[Chart]:
    """Draw the interval of every value.

    Several runs have a chart per measure, which shows overlaps. For one run, all values from 0 to 1
    share a chart.
    """
    shown = [bounded for bounded in bounds.bounded if bounded.metric.is_printed("summary")]
    if len(names) > 1:
        metrics = dict.fromkeys(bounded.metric.name for bounded in shown)
        charts = [
            _chart(name, [(names[b.run], b) for b in shown if b.metric.name == name])
            for name in metrics
        ]
    else:
        shares = [bounded for bounded in shown if _is_share(bounded)]
        groups = [shares, *([bounded] for bounded in shown if not _is_share(bounded))]
        charts = [_chart(_TITLE, [(b.metric.name, b) for b in group]) for group in groups if group]
    holes = counted(len(bounds.holes), "unjudged document")
    notes = [f"{holes} retrieved; point: the value now, bar: what it could be"]
    if bounds.refused:
        refused = ", ".join(metric.name for metric, _ in bounds.refused)
        notes.append(f"not drawn, for they cannot be bounded: {refused}")
    return noted(charts or [_chart(_TITLE, [])], notes)


def _is_share(bounded: Bounded) -> bool:
    return bounded.low >= 0 and bounded.high <= 1


def _chart(title: str, shown: Sequence[tuple[str, Bounded]]) -> Chart:
    intervals = [
        IntervalRow(name, bounded.low, bounded.now, bounded.high) for name, bounded in shown
    ]
    return IntervalChart(title, Axis("value now, and what it could be"), intervals)
