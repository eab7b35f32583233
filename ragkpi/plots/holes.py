"""The charts of `ragkpi holes`: what each value could be, measure by measure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ragkpi.analysis.holes import Findings
from ragkpi.plots.chart import Axis, Chart, Interval, Intervals

_MOST = 4  # charts side by side


def holes_charts(found: Findings, names: Sequence[str]) -> list[Chart]:
    """Draw the interval of every value; with several runs a chart per measure, to see overlaps."""
    rows = [
        one
        for one in found.bounded
        if one.value.measure.aggregate.prints != "query" and not math.isnan(one.now)
    ]
    axis = Axis("value, and what it could be")
    title = "What unjudged documents could change"
    if len(names) == 1:
        intervals = [Interval(one.value.name, one.low, one.now, one.high) for one in rows]
        return [Intervals(title, axis, intervals)]
    charts: list[Chart] = []
    for name in dict.fromkeys(one.value.name for one in rows):
        of_value = [one for one in rows if one.value.name == name]
        intervals = [Interval(names[one.run], one.low, one.now, one.high) for one in of_value]
        charts.append(Intervals(name, axis, intervals))
    return charts[:_MOST] or [Intervals(title, axis, [])]
