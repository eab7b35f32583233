"""The charts of `ragkpi holes`: what each value could be, measure by measure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ragkpi.charts.chart import Axis, Chart, IntervalChart, IntervalRow
from ragkpi.studies.holes.holes_study import Bounded, HoleBounds

_TITLE = "What unjudged documents could change"
_MOST = 3  # charts side by side


def holes_charts(found: HoleBounds, names: Sequence[str]) -> list[Chart]:
    """Draw the interval of every value.

    With several runs there is a chart per measure, to see overlaps; of one run, values from 0 to 1
    share a chart.
    """
    rows = [
        one for one in found.bounded if one.metric.is_printed("summary") and not math.isnan(one.now)
    ]
    if len(names) > 1:
        charts = [
            _chart(name, [(names[one.run], one) for one in rows if one.metric.name == name])
            for name in dict.fromkeys(one.metric.name for one in rows)
        ]
    else:
        shares = [(one.metric.name, one) for one in rows if one.low >= 0 and one.high <= 1]
        others = [one for one in rows if not (one.low >= 0 and one.high <= 1)]
        charts = [_chart(_TITLE, shares)] if shares else []
        charts += [_chart(_TITLE, [(one.metric.name, one)]) for one in others]
    return charts[:_MOST] or [_chart(_TITLE, [])]


def _chart(title: str, rows: Sequence[tuple[str, Bounded]]) -> Chart:
    intervals = [IntervalRow(name, one.low, one.now, one.high) for name, one in rows]
    return IntervalChart(title, Axis("value now, and what it could be"), intervals)
