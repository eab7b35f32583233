"""The charts of `ragkpi holes`: what each value could be, measure by measure."""

from __future__ import annotations

from collections.abc import Sequence

from ragkpi.charts.chart import Axis, Chart, IntervalChart, IntervalRow, noted
from ragkpi.studies.holes.holes_study import Bounded, HoleBounds
from ragkpi.wording import counted

_TITLE = "What unjudged documents could change"


def holes_charts(bounds: HoleBounds, names: Sequence[str]) -> list[Chart]:
    """Draw the interval of every value.

    With several runs there is a chart per measure, to see overlaps; of one run, values from 0 to 1
    share a chart.
    """
    shown = [bounded for bounded in bounds.bounded if bounded.metric.is_printed("summary")]
    if len(names) > 1:
        charts = [
            _chart(
                name,
                [(names[bounded.run], bounded) for bounded in shown if bounded.metric.name == name],
            )
            for name in dict.fromkeys(bounded.metric.name for bounded in shown)
        ]
    else:
        shares = [bounded for bounded in shown if bounded.low >= 0 and bounded.high <= 1]
        charts = [_chart(_TITLE, [(bounded.metric.name, bounded) for bounded in shares])]
        charts += [
            _chart(_TITLE, [(bounded.metric.name, bounded)])
            for bounded in shown
            if not (bounded.low >= 0 and bounded.high <= 1)
        ]
        charts = charts[0 if shares or len(charts) == 1 else 1 :]
    holes = counted(len(bounds.holes), "unjudged document")
    notes = [f"{holes} retrieved; point: the value now, bar: what it could be"]
    if bounds.refused:
        refused = ", ".join(metric.name for metric, _ in bounds.refused)
        notes.append(f"not drawn, for they cannot be bounded: {refused}")
    return noted(charts or [_chart(_TITLE, [])], notes)


def _chart(title: str, shown: Sequence[tuple[str, Bounded]]) -> Chart:
    intervals = [
        IntervalRow(name, bounded.low, bounded.now, bounded.high) for name, bounded in shown
    ]
    return IntervalChart(title, Axis("value now, and what it could be"), intervals)
