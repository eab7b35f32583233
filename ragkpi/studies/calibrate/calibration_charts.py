"""The charts of `ragkpi calibrate`: how values correlate with quality, and what alpha changes."""

from __future__ import annotations

from ragkpi.charts.chart import Axis, Chart, IntervalChart, IntervalRow, Line, PlaneChart, Rule
from ragkpi.studies.calibrate.calibration_study import Calibration

_MOST_BANDS = 1  # more of them hide each other


def calibration_charts(found: Calibration) -> list[Chart]:
    """Draw rho of every value with its interval, and by alpha where there is one."""
    rows = [
        IntervalRow(
            one.name,
            one.intervals["spearman"].low,
            one.coefficients["spearman"],
            one.intervals["spearman"].high,
        )
        for one in found.correlations
        if one.segment == "all" and not one.reason
    ]
    count = len(found.observed.quality)
    charts: list[Chart] = [
        IntervalChart(
            f"Correlation with quality, {count} observations",
            Axis("Spearman's rho, bootstrap interval"),
            rows,
            [Rule("x", 0.0)],
        )
    ]
    tunings = [one for one in found.tunings if one.segment == "all" and one.matters == "yes"]
    bands = len(tunings) <= _MOST_BANDS
    best: dict[float, list[str]] = {}
    for one in tunings:
        best.setdefault(one.alpha, []).append(one.metric.name)
    curves = [
        Line(
            one.metric.name,
            one.alphas,
            one.curve.tolist(),
            [low for low, _ in one.band if bands],
            [high for _, high in one.band if bands],
        )
        for one in tunings
    ]
    if curves:
        charts.append(
            PlaneChart(
                "What alpha changes",
                Axis("alpha", low=0, high=1),
                Axis("Spearman's rho with quality"),
                curves,
                rules=[
                    Rule("x", alpha, f"best of {', '.join(names)}")
                    for alpha, names in sorted(best.items())
                ],
            )
        )
    return charts
