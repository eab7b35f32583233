"""The answer of `ragkpi calibrate`: coefficients, chosen alphas, and what tracks quality best."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ragkpi.reports.answer import Answer
from ragkpi.reports.layout import Cell, Column, Table
from ragkpi.statistics.correlation import COEFFICIENTS
from ragkpi.studies.calibrate.calibration_study import Calibration, Correlation, Lead
from ragkpi.studies.calibrate.tuning import Segment, Tuning
from ragkpi.studies.evaluate.evaluation_report import interval_note

_FEWEST = 10  # observations of a segment that the best measure is named for
_OF_ALPHA = (
    Column("alpha", "decimal", digits=2),
    Column("chosen", "decimal", digits=2),
    Column("rho_alpha", "decimal", digits=3),
    Column("held_out", "decimal", digits=3),
    Column("held_out_before", "decimal", digits=3),
)


def calibration_answer(found: Calibration) -> Answer:
    """Put a calibration into words."""
    tunings = {(one.metric.name, one.segment): one for one in found.tunings}
    rows = [
        _row(one, tunings.get((one.name, one.segment)))
        for one in found.correlations
        if one.observations or one.segment == "all"
    ]
    tuned = any(one.matters == "yes" for one in found.tunings)
    columns = [
        Column("measure"),
        Column("queries"),
        Column("n", "integer"),
        *(Column(name, "decimal", digits=3) for name in COEFFICIENTS),
        *(_OF_ALPHA if tuned else ()),
    ]
    table = Table(columns, [row[: len(columns)] for row in rows], list(_notes(found)))
    return Answer("calibrate", table, list(_sentences(found)), _findings(found), 1)


def _row(one: Correlation, tuning: Tuning | None) -> list[Cell]:
    cells = [Cell(one.name), Cell(one.segment), Cell(one.observations)]
    for name, coefficient in one.coefficients.items():
        known = not math.isnan(coefficient)
        cells.append(Cell(coefficient, one.intervals[name] if known else None))
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


def _notes(found: Calibration) -> Iterator[str]:
    runs = len(found.observed.runs)
    of_runs = f" of {runs} runs, resampled with all of them" if runs > 1 else ""
    drawn = f"{len(found.observed.queries)} queries{of_runs}"
    yield interval_note(found.bootstrap, queries=drawn)
    if any(one.matters == "yes" for one in found.tunings):
        folds = max(one.folds for one in found.tunings)
        yield (
            "alpha: the one with the greatest Spearman's rho (rho_alpha), [low, high] of the best "
            "over resamples; chosen: share of resamples that it is best in"
        )
        yield (
            f"held_out: mean rho over {folds} folds of queries that alpha was not chosen on; "
            "held_out_before: the same with the alpha that was asked for"
        )
    for name, reason in dict.fromkeys((c.name, c.reason) for c in _overall(found) if c.reason):
        yield f"{name}: NA, {reason}"
    if found.refused:
        names = ", ".join(metric.name for metric in found.refused)
        yield f"{names}: left out, for there is no value per query"


def _overall(found: Calibration) -> list[Correlation]:
    return [one for one in found.correlations if one.segment == "all"]


def _sentences(found: Calibration) -> Iterator[str]:
    known = [one for one in _overall(found) if not one.reason]
    if not known:
        reason = next((one.reason for one in _overall(found)), "no value has one per query")
        yield f"Nothing can be said about any measure: {reason}."
        return
    if found.lead is not None:
        yield _lead_sentence(found.lead, next(c for c in known if c.name == found.lead.first[0]))
    for segment in ("K < R", "K >= R"):
        yield from _segment_sentence(found, segment)
    for tuning in found.tunings:
        if tuning.segment == "all":
            yield _tuning_sentence(tuning)


def _lead_sentence(lead: Lead, best: Correlation) -> str:
    low, high = best.intervals["spearman"]
    same = f" (and {', '.join(lead.first[1:])}, always alike)" if lead.first[1:] else ""
    ahead = f", ahead of {lead.second} in {lead.share:.0%} of the resamples" if lead.second else ""
    return (
        f"{best.name}{same} tracks quality best here: Spearman's rho "
        f"{best.coefficients['spearman']:.3f} [{low:.3f}, {high:.3f}]{ahead}."
    )


def _segment_sentence(found: Calibration, segment: Segment) -> Iterator[str]:
    whole = [one for one in found.correlations if one.segment == segment]
    known = [one for one in whole if not one.reason and one.observations >= _FEWEST]
    if len(known) > 1:
        best = max(known, key=lambda one: one.metric.measure.sign * one.coefficients["spearman"])
        yield (
            f"Where {segment} it is {best.name}: {best.coefficients['spearman']:.3f} over "
            f"{best.observations} observations."
        )
    elif whole:
        most = max(one.observations for one in whole)
        yield f"Where {segment} there are too few observations to name one ({most})."


def _tuning_sentence(tuning: Tuning) -> str:
    name = tuning.metric.name
    if tuning.matters == "only shifts":
        return (
            f"{name}: alpha cannot matter here, it shifts all values alike (as it does t wherever "
            "K documents were retrieved)."
        )
    if tuning.matters == "no":
        return f"{name}: alpha cannot matter here, every alpha orders the observations alike."
    low, high = tuning.range
    equal = [a for a, rho in zip(tuning.alphas, tuning.curve, strict=True) if rho == tuning.best]
    middle = f", the middle of {equal[0]:g} to {equal[-1]:g}" if len(equal) > 1 else ""
    text = (
        f"{name}: alpha = {tuning.alpha:g} suits best{middle} ({low:g} to {high:g} over resamples)"
    )
    if math.isnan(tuning.held_out):
        return f"{text}; too few queries to hold any out."
    gain = tuning.held_out - tuning.held_out_before
    asked = tuning.metric.arguments["alpha"]
    verdict = "" if gain > 0 else f", which is no reason to leave {asked:g}"
    return (
        f"{text}; on held-out queries rho changes by {gain:+.3f} to {tuning.held_out:.3f}{verdict}."
    )


def _findings(found: Calibration) -> dict[str, Any]:
    return {
        "runs": len(found.observed.runs),
        "queries": len(found.observed.queries),
        "resamples": found.bootstrap.resamples,
        "level": found.bootstrap.level,
        "seed": found.bootstrap.seed,
        "lead": found.lead,
        "alpha": [
            {
                "measure": one.metric.name,
                "queries": one.segment,
                "matters": one.matters,
                "alpha": one.alpha,
                "interval": list(one.range),
                "chosen": one.chosen,
                "folds": one.folds,
                "held_out": one.held_out,
                "held_out_before": one.held_out_before,
                "alphas": list(one.alphas),
                "rho": one.curve.tolist(),
            }
            for one in found.tunings
        ],
        "left_out": [metric.name for metric in found.refused],
    }
