"""The charts of `ragkpi calibrate`: how values correlate with quality, and what alpha changes."""

from __future__ import annotations

from collections.abc import Iterator

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
    """Draw rho of every value with its interval, and by alpha for each that has one."""
    overall = [c for c in calibration.correlations if c.segment == "all"]
    rows = [
        IntervalRow(
            correlation.name,
            correlation.intervals["spearman"].low,
            correlation.coefficients["spearman"],
            correlation.intervals["spearman"].high,
        )
        for correlation in overall
    ]
    count = len(calibration.observed.quality)
    correlations = IntervalChart(
        f"Correlation with quality, {count} observations",
        Axis("Spearman's rho, bootstrap interval"),
        rows,
        [Rule("x", 0.0)],
    )
    tunings = [tuning for tuning in calibration.tunings if tuning.segment == "all"]
    drawn = [_by_alpha(tuning) for tuning in tunings if tuning.matters == "yes"]
    return noted([correlations, *drawn], list(_notes(calibration, tunings)))


def _by_alpha(tuning: Tuning) -> PlaneChart:
    names: dict[float, list[str]] = {}
    low, high = tuning.range
    for alpha, name in (
        (low, "from"),
        (high, "to"),
        (tuning.metric.arguments["alpha"], "asked for"),
    ):
        names.setdefault(alpha, []).append(name)
    return PlaneChart(
        f"What alpha changes for {tuning.metric.name}",
        Axis("alpha", low=0, high=1),
        Axis("Spearman's rho with quality"),
        [
            Line(
                tuning.metric.name,
                tuning.alphas,
                tuning.curve.tolist(),
                [
                    Span(alpha, *interval)
                    for alpha, interval in zip(tuning.alphas, tuning.band, strict=True)
                ],
                mark=Mark(tuning.alpha, f"best at alpha = {tuning.alpha:g}"),
            )
        ],
        rules=[Rule("x", alpha, ", ".join(here)) for alpha, here in names.items()],
    )


def _notes(calibration: Calibration, tunings: list[Tuning]) -> Iterator[str]:
    bootstrap = calibration.bootstrap
    yield (
        f"intervals and bands: {bootstrap.level:.0%} bootstrap over queries, "
        f"{bootstrap.resamples:,} resamples, seed {bootstrap.seed}"
    )
    if any(tuning.matters == "yes" for tuning in tunings):
        yield "from, to: where the best alpha lies in resamples"
    still = [tuning.metric.name for tuning in tunings if tuning.matters != "yes"]
    if still:
        yield f"alpha cannot matter here, so it is not drawn, for {', '.join(still)}"
