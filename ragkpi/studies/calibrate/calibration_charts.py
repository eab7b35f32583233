"""The charts of `ragkpi calibrate`: how values correlate with quality, and what alpha changes."""

from __future__ import annotations

from ragkpi.charts.chart import (
    Axis,
    Chart,
    IntervalChart,
    IntervalRow,
    Line,
    Mark,
    PlaneChart,
    Rule,
    Span,
    noted,
)
from ragkpi.studies.calibrate.calibration_study import Calibration
from ragkpi.studies.calibrate.tuning import Tuning


def calibration_charts(calibration: Calibration) -> list[Chart]:
    """Draw rho of every metric with its interval, and by alpha for each that has one."""
    rows = []
    for correlation in calibration.overall:
        low, high = correlation.intervals["spearman"]
        value = correlation.coefficients["spearman"]
        rows.append(IntervalRow(correlation.metric.name, low, value, high))
    charts: list[Chart] = [
        IntervalChart(
            f"Correlation with quality, {len(calibration.observed.quality)} observations",
            Axis("Spearman's rho, bootstrap interval"),
            rows,
            [Rule("x", 0.0)],
        )
    ]
    still = []
    for tuning in calibration.overall_tunings:
        if tuning.matters == "yes":
            charts.append(_by_alpha(tuning))
        else:
            still.append(tuning.metric.name)
    bootstrap = calibration.bootstrap
    notes = [
        f"intervals and bands: {bootstrap.level:.0%} bootstrap over queries, "
        f"{bootstrap.resamples:,} resamples, seed {bootstrap.seed}"
    ]
    if len(charts) > 1:
        notes.append("from, to: where the best alpha lies in resamples")
    if still:
        notes.append(f"alpha cannot matter here, so it is not drawn, for {', '.join(still)}")
    return noted(charts, notes)


def _by_alpha(tuning: Tuning) -> PlaneChart:
    metric = tuning.metric
    low, high = tuning.range
    names: dict[float, list[str]] = {}
    for name, alpha in (("from", low), ("to", high), ("asked for", metric.arguments["alpha"])):
        names.setdefault(alpha, []).append(name)
    band = [Span(alpha, *bounds) for alpha, bounds in zip(tuning.alphas, tuning.band, strict=True)]
    mark = Mark(tuning.alpha, f"best at alpha = {tuning.alpha:g}")
    return PlaneChart(
        f"What alpha changes for {metric.name}",
        Axis("alpha", low=0, high=1),
        Axis("Spearman's rho with quality"),
        [Line(metric.name, tuning.alphas, tuning.curve.tolist(), band, mark=mark)],
        rules=[Rule("x", alpha, ", ".join(here)) for alpha, here in names.items()],
    )
