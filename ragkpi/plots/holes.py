"""The charts of `ragkpi holes`: what each value could be, measure by measure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ragkpi.analysis.holes import Bounded, Findings
from ragkpi.plots.chart import Axis, Chart, Interval, Intervals

_TITLE = "What unjudged documents could change"
_MOST = 3  # charts side by side


def holes_charts(found: Findings, names: Sequence[str]) -> list[Chart]:
    """Draw the interval of every value.

    With several runs there is a chart per measure, to see overlaps; of one run, values from 0 to 1
    share a chart.
    """
    rows = [
        one for one in found.bounded if one.value.is_printed("summary") and not math.isnan(one.now)
    ]
    if len(names) > 1:
        charts = [
            _chart(name, [(names[one.run], one) for one in rows if one.value.name == name])
            for name in dict.fromkeys(one.value.name for one in rows)
        ]
    else:
        shares = [(one.value.name, one) for one in rows if one.low >= 0 and one.high <= 1]
        others = [one for one in rows if not (one.low >= 0 and one.high <= 1)]
        charts = [_chart(_TITLE, shares)] if shares else []
        charts += [_chart(_TITLE, [(one.value.name, one)]) for one in others]
    return charts[:_MOST] or [_chart(_TITLE, [])]


def _chart(title: str, rows: Sequence[tuple[str, Bounded]]) -> Chart:
    intervals = [Interval(name, one.low, one.now, one.high) for name, one in rows]
    return Intervals(title, Axis("value now, and what it could be"), intervals)
