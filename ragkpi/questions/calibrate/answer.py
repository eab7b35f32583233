"""The answer of `ragkpi calibrate`: coefficients, chosen alphas, and the best measure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

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
from ragkpi.library.values import interval_note
from ragkpi.questions.calibrate.study import FEWEST_HELD_OUT, Calibration, Correlation, Tuning
from ragkpi.reports.layout import Answer, Cell, Column, Table, known
from ragkpi.statistics.correlation import COEFFICIENTS

_FEWEST = 10  # observations; a smaller segment does not name its best measure
_COEFFICIENTS = {
    "spearman": "rank correlation (Spearman's rho)",
    "kendall": "agreement of pairs (Kendall's tau-b)",
    "pearson": "linear correlation (Pearson's r)",
}
_OF_TUNING = ("chosen", "folds", "held_out", "held_out_before", "gain", "alphas")
_OF_ALPHA = (
    Column("alpha", "decimal", digits=2),
    Column("chosen", "decimal", digits=2),
    Column("rho_alpha", "decimal", digits=3),
    Column("held_out", "decimal", digits=3),
    Column("held_out_before", "decimal", digits=3, role="detail"),
)


def calibration_answer(calibration: Calibration) -> Answer:
    """Put a calibration into words."""
    tuned = {
        (t.metric.name, t.segment): [
            Cell(t.alpha, t.range),
            *map(Cell, (t.chosen, t.best, t.held_out, t.held_out_before)),
        ]
        for t in calibration.tunings
        if t.matters == "yes"
    }
    columns = [
        Column("measure"),
        Column("queries", legend="all, or those with fewer, or as many, places K as relevant R"),
        Column("n", "integer", role="detail", legend="observations: pairs of a query and a run"),
        *(
            Column(name, "decimal", digits=3, legend=f"{_COEFFICIENTS[name]} with quality")
            for name in COEFFICIENTS
        ),
        *(_OF_ALPHA if tuned else ()),
    ]
    rows = []
    for correlation in calibration.correlations:
        name, segment = correlation.metric.name, correlation.segment
        if correlation.observations or segment == "all":
            cells = [*map(Cell, (name, segment, correlation.observations))]
            for coefficient, value in correlation.coefficients.items():
                cells.append(Cell(value, known(correlation.intervals[coefficient])))
            if tuned:
                cells += tuned.get((name, segment), [Cell()] * len(_OF_ALPHA))
            rows.append(cells)
    table = Table(columns, rows, list(_notes(calibration)))
    return Answer("calibrate", table, list(_sentences(calibration)), _findings(calibration), 1)


def _notes(calibration: Calibration) -> Iterator[str]:
    runs = len(calibration.observed.runs)
    of_runs = f" of {runs} runs, resampled with all of them" if runs > 1 else ""
    queries = f"{len(calibration.observed.queries)} queries{of_runs}"
    yield interval_note(calibration.bootstrap, queries=queries)
    if any(tuning.matters == "yes" for tuning in calibration.tunings):
        yield (
            "alpha: the one with the greatest Spearman's rho (rho_alpha), [low, high] of the best "
            "over resamples; chosen: share of resamples that it is best in"
        )
        folds = max(tuning.folds for tuning in calibration.tunings)
        if folds:
            yield (
                f"held_out: mean rho over {folds} folds of queries that alpha was not chosen on; "
                "held_out_before: the same with the alpha that was asked for"
            )
    reasons = {c.metric.name: c.reason for c in calibration.overall if c.reason}
    for name, reason in reasons.items():
        yield f"{name}: NA, {reason}"
    if calibration.refused:
        names = ", ".join(metric.name for metric in calibration.refused)
        yield f"{names}: left out, for there is no value per query"


def _sentences(calibration: Calibration) -> Iterator[str]:
    overall, lead = calibration.overall, calibration.lead
    correlated = [correlation for correlation in overall if not correlation.reason]
    if not correlated:
        reason = overall[0].reason if overall else "no value has one per query"
        yield f"Nothing can be said about any measure: {reason}."
        return
    for segment in ("K < R", "K >= R"):
        of_segment = [c for c in calibration.correlations if c.segment == segment]
        if of_segment:
            yield _segment_sentence(segment, of_segment)
    for tuning in calibration.overall_tunings:
        yield _tuning_sentence(tuning)
    if lead is None:
        return
    best = next(
        correlation for correlation in correlated if correlation.metric.name == lead.first[0]
    )
    low, high = best.intervals["spearman"]
    same = f" (and {', '.join(lead.first[1:])}, always alike)" if lead.first[1:] else ""
    ahead = f", ahead of {lead.second} in {lead.share:.0%} of the resamples" if lead.second else ""
    yield (
        f"{best.metric.name}{same} tracks quality best here: Spearman's rho "
        f"{best.coefficients['spearman']:.3f} [{low:.3f}, {high:.3f}]{ahead}."
    )
    better = [
        tuning
        for tuning in calibration.overall_tunings
        if tuning.better and tuning.metric.measure.sign * tuning.held_out > best.strength
    ]
    if better:
        tuned = max(better, key=lambda tuning: tuning.metric.measure.sign * tuning.held_out)
        yield (
            f"With alpha = {tuned.alpha:g} {tuned.metric.name} tracks it better still: "
            f"{tuned.held_out:.3f} on queries that alpha was not chosen on."
        )


def _segment_sentence(segment: str, correlations: Sequence[Correlation]) -> str:
    enough = [c for c in correlations if not c.reason and c.observations >= _FEWEST]
    if len(enough) < 2:
        most = max(correlation.observations for correlation in correlations)
        return f"Where {segment} there are too few observations to name a measure ({most})."
    best = max(enough, key=lambda correlation: correlation.strength)
    return (
        f"Where {segment} {best.metric.name} tracks quality best: "
        f"{best.coefficients['spearman']:.3f} over {best.observations} observations."
    )


def _tuning_sentence(tuning: Tuning) -> str:
    name = tuning.metric.name
    if tuning.matters == "only shifts":
        return (
            f"{name}: alpha cannot matter here, it shifts all values alike (as it does t wherever "
            "K documents were retrieved)."
        )
    if tuning.matters == "no":
        return f"{name}: alpha cannot matter here, every alpha orders the observations alike."
    asked = tuning.metric.arguments["alpha"]
    low, high = tuning.range
    equal = [a for a, rho in zip(tuning.alphas, tuning.curve, strict=True) if rho == tuning.best]
    middle = f", the middle of {equal[0]:g} to {equal[-1]:g}" if len(equal) > 1 else ""
    text = (
        f"{name}: alpha = {tuning.alpha:g} suits best{middle} ({low:g} to {high:g} over resamples)"
    )
    if math.isnan(tuning.held_out):
        fewest = 2 * FEWEST_HELD_OUT
        return (
            f"{text}; fewer than {fewest} queries are too few to hold any out, so keep {asked:g}."
        )
    change = tuning.held_out - tuning.held_out_before
    low, high = tuning.gain
    verdict = "a reason" if tuning.better else "no reason"
    return (
        f"{text}; on held-out queries rho changes by {change:+.3f} [{low:+.3f}, {high:+.3f}] to "
        f"{tuning.held_out:.3f}: {verdict} to leave {asked:g}."
    )


def _findings(calibration: Calibration) -> dict[str, Any]:
    return {
        "runs": len(calibration.observed.runs),
        "queries": len(calibration.observed.queries),
        "resamples": calibration.bootstrap.resamples,
        "level": calibration.bootstrap.level,
        "seed": calibration.bootstrap.seed,
        "lead": calibration.lead,
        "alpha": [
            {
                "measure": tuning.metric.name,
                "queries": tuning.segment,
                "matters": tuning.matters,
                "alpha": tuning.alpha,
                "interval": tuning.range,
                **{name: getattr(tuning, name) for name in _OF_TUNING},
                "rho": tuning.curve.tolist(),
            }
            for tuning in calibration.tunings
        ],
        "left_out": [metric.name for metric in calibration.refused],
    }


def calibration_charts(calibration: Calibration) -> list[Chart]:
    """Draw rho of every metric with its interval, and rho by alpha for metrics with an alpha."""
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
