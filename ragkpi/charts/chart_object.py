"""Charts as JSON objects, for a page that draws them with a library of its own."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from ragkpi.charts.chart import Chart, PlaneChart


def chart_object(chart: Chart) -> dict[str, Any]:
    """Return a chart, valid under ``schema.json#/$defs/chart``; what is not finite is null."""
    kind = "plane" if isinstance(chart, PlaneChart) else "intervals"
    return {"kind": kind, **_plain(asdict(chart))}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
