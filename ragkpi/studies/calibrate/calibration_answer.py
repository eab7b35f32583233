"""The answer of `ragkpi calibrate`: coefficients, chosen alphas, and what tracks quality best."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ragkpi.reports.answer import Answer
from ragkpi.reports.layout import Cell, Column, Table
from ragkpi.statistics.correlation import COEFFICIENTS
from ragkpi.studies.calibrate.calibration_study import Calibration, Correlation, Lead
from ragkpi.studies.calibrate.tuning import FEWEST_HELD_OUT, Segment, Tuning
from ragkpi.studies.evaluate.evaluation_report import interval_note

_FEWEST = 10  # observations of a segment that the best measure is named for
_COEFFICIENTS = {
    "spearman": "rank correlation (Spearman's rho)",
    "kendall": "agreement of pairs (Kendall's tau-b)",
    "pearson": "linear correlation (Pearson's r)",
}
_OF_ALPHA = (
    Column("alpha", "decimal", digits=2),
    Column("chosen", "decimal", digits=2),
    Column("rho_alpha", "decimal", digits=3),
    Column("held_out", "decimal", digits=3),
    Column("held_out_before", "decimal", digits=3, role="detail"),
)


def calibration_answer(calibration: Calibration) -> Answer:
    """Put a calibration into words."""
    tunings = {(tuning.metric.name, tuning.segment): tuning for tuning in calibration.tunings}
    rows = [
        _row(correlation, tunings.get((correlation.name, correlation.segment)))
        for correlation in calibration.correlations
        if correlation.observations or correlation.segment == "all"
    ]
    tuned = any(tuning.matters == "yes" for tuning in calibration.tunings)
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
    table = Table(columns, [row[: len(columns)] for row in rows], list(_notes(calibration)))
    return Answer("calibrate", table, list(_sentences(calibration)), _findings(calibration), 1)


def _row(correlation: Correlation, tuning: Tuning | None) -> list[Cell]:
    cells = [Cell(correlation.name), Cell(correlation.segment), Cell(correlation.observations)]
    for name, coefficient in correlation.coefficients.items():
        known = not math.isnan(coefficient)
        cells.append(Cell(coefficient, correlation.intervals[name] if known else None))
    if tuning is None or tuning.matters != "yes":
        return cells + [Cell()] * 5
    return [
        *cells,
        Cell(tuning.alpha, tuning.range),
        Cell(tuning.chosen),
        Cell(tuning.best),
        Cell(tuning.held_out),
        Cell(tuning.held_out_before),
    ]


def _notes(calibration: Calibration) -> Iterator[str]:
    runs = len(calibration.observed.runs)
    of_runs = f" of {runs} runs, resampled with all of them" if runs > 1 else ""
    drawn = f"{len(calibration.observed.queries)} queries{of_runs}"
    yield interval_note(calibration.bootstrap, queries=drawn)
    if any(tuning.matters == "yes" for tuning in calibration.tunings):
        folds = max(tuning.folds for tuning in calibration.tunings)
        yield (
            "alpha: the one with the greatest Spearman's rho (rho_alpha), [low, high] of the best "
            "over resamples; chosen: share of resamples that it is best in"
        )
        if folds:
            yield (
                f"held_out: mean rho over {folds} folds of queries that alpha was not chosen on; "
                "held_out_before: the same with the alpha that was asked for"
            )
    for name, reason in dict.fromkeys(
        (c.name, c.reason) for c in _overall(calibration) if c.reason
    ):
        yield f"{name}: NA, {reason}"
    if calibration.refused:
        names = ", ".join(metric.name for metric in calibration.refused)
        yield f"{names}: left out, for there is no value per query"


def _overall(calibration: Calibration) -> list[Correlation]:
    return [correlation for correlation in calibration.correlations if correlation.segment == "all"]


def _sentences(calibration: Calibration) -> Iterator[str]:
    known = [correlation for correlation in _overall(calibration) if not correlation.reason]
    if not known:
        reason = next(
            (correlation.reason for correlation in _overall(calibration)),
            "no value has one per query",
        )
        yield f"Nothing can be said about any measure: {reason}."
        return
    for segment in ("K < R", "K >= R"):
        yield from _segment_sentence(calibration, segment)
    for tuning in calibration.tunings:
        if tuning.segment == "all":
            yield _tuning_sentence(tuning)
    if calibration.lead is not None:
        yield _lead_sentence(
            calibration.lead, next(c for c in known if c.name == calibration.lead.first[0])
        )
        yield from _tuned_lead(calibration, known)


def _lead_sentence(lead: Lead, best: Correlation) -> str:
    low, high = best.intervals["spearman"]
    same = f" (and {', '.join(lead.first[1:])}, always alike)" if lead.first[1:] else ""
    ahead = f", ahead of {lead.second} in {lead.share:.0%} of the resamples" if lead.second else ""
    return (
        f"{best.name}{same} tracks quality best here: Spearman's rho "
        f"{best.coefficients['spearman']:.3f} [{low:.3f}, {high:.3f}]{ahead}."
    )


def _tuned_lead(calibration: Calibration, known: list[Correlation]) -> Iterator[str]:
    """Name the value that tracks quality better still with an alpha chosen on other queries."""
    greatest = max(
        correlation.metric.measure.sign * correlation.coefficients["spearman"]
        for correlation in known
        if correlation.metric.measure.better != "neither"
    )
    tuned = [
        tuning
        for tuning in calibration.tunings
        if tuning.segment == "all"
        and tuning.better
        and tuning.metric.measure.sign * tuning.held_out > greatest
    ]
    if tuned:
        best = max(tuned, key=lambda tuning: tuning.metric.measure.sign * tuning.held_out)
        yield (
            f"With alpha = {best.alpha:g} {best.metric.name} tracks it better still: "
            f"{best.held_out:.3f} on queries that alpha was not chosen on."
        )


def _segment_sentence(calibration: Calibration, segment: Segment) -> Iterator[str]:
    whole = [
        correlation for correlation in calibration.correlations if correlation.segment == segment
    ]
    known = [
        correlation
        for correlation in whole
        if not correlation.reason and correlation.observations >= _FEWEST
    ]
    if len(known) > 1:
        best = max(
            known,
            key=lambda correlation: (
                correlation.metric.measure.sign * correlation.coefficients["spearman"]
            ),
        )
        yield (
            f"Where {segment} {best.name} tracks quality best: "
            f"{best.coefficients['spearman']:.3f} over {best.observations} observations."
        )
    elif whole:
        most = max(correlation.observations for correlation in whole)
        yield f"Where {segment} there are too few observations to name a measure ({most})."


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
                "interval": list(tuning.range),
                "chosen": tuning.chosen,
                "folds": tuning.folds,
                "held_out": tuning.held_out,
                "held_out_before": tuning.held_out_before,
                "gain": list(tuning.gain),
                "alphas": list(tuning.alphas),
                "rho": tuning.curve.tolist(),
            }
            for tuning in calibration.tunings
        ],
        "left_out": [metric.name for metric in calibration.refused],
    }
