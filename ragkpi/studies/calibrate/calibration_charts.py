"""The charts of `ragkpi calibrate`: how values correlate with quality, and what alpha changes."""

from __future__ import annotations

from ragkpi.charts.chart import Axis, Chart, IntervalChart, IntervalRow, Line, PlaneChart, Rule
from ragkpi.studies.calibrate.calibration_study import Calibration

_MOST_BANDS = 1  # more of them hide each other


def calibration_charts(calibration: Calibration) -> list[Chart]:
    """Draw rho of every value with its interval, and by alpha where there is one."""
    rows = [
        IntervalRow(
            correlation.name,
            correlation.intervals["spearman"].low,
            correlation.coefficients["spearman"],
            correlation.intervals["spearman"].high,
        )
        for correlation in calibration.correlations
        if correlation.segment == "all" and not correlation.reason
    ]
    count = len(calibration.observed.quality)
    charts: list[Chart] = [
        IntervalChart(
            f"Correlation with quality, {count} observations",
            Axis("Spearman's rho, bootstrap interval"),
            rows,
            [Rule("x", 0.0)],
        )
    ]
    tunings = [
        tuning
        for tuning in calibration.tunings
        if tuning.segment == "all" and tuning.matters == "yes"
    ]
    bands = len(tunings) <= _MOST_BANDS
    best: dict[float, list[str]] = {}
    for tuning in tunings:
        best.setdefault(tuning.alpha, []).append(tuning.metric.name)
    curves = [
        Line(
            tuning.metric.name,
            tuning.alphas,
            tuning.curve.tolist(),
            [low for low, _ in tuning.band if bands],
            [high for _, high in tuning.band if bands],
        )
        for tuning in tunings
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
