"""The answer of `ragkpi calibrate`: coefficients, chosen alphas, and the best measure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np

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
from ragkpi.library.evaluation_report import interval_note
from ragkpi.questions.calibrate.study import (
    AHEAD,
    ALL,
    FEWEST_HELD_OUT,
    SIGNIFICANT,
    Calibration,
    Correlation,
    Lead,
    Tuning,
)
from ragkpi.reports.layout import Answer, Cell, Column, filled, finite
from ragkpi.wording import beside, counted, joined, percent, with_interval

_COEFFICIENTS = {
    "spearman": "rank correlation (Spearman's rho)",
    "kendall": "agreement of pairs (Kendall's tau-b)",
    "pearson": "linear correlation (Pearson's r)",
}
_SYMBOLS = {"spearman": "rho", "kendall": "tau-b", "pearson": "r"}
_OF_TUNING = ("chosen", "folds", "held_out", "held_out_before", "gain", "alphas")


def calibration_answer(calibration: Calibration) -> Answer:
    """Put a calibration into words."""
    symbol = _SYMBOLS[calibration.alpha_by]
    of_quality = {
        name: f"{text} with quality, over queries" for name, text in _COEFFICIENTS.items()
    }
    best = f"the one with the greatest {symbol}, [low, high] of the best over resamples"
    folds = f"mean {symbol} over folds of queries that alpha was not chosen on"
    columns = [
        Column("queries", legend="all, or those with so many places K per relevant document"),
        Column("measure"),
        Column("n", "integer", role="detail", legend="queries"),
        _column("spearman", of_quality["spearman"]),
        _column("p", "of rho over all queries; corrected"),
        _column("within", "rho of the distances from each query's mean"),
        _column("p_within", "of rho within queries; corrected"),
        _column("over_runs", "rho of the means of runs; not tested"),
        _column("kendall", of_quality["kendall"], role="detail"),
        _column("pearson", of_quality["pearson"], role="detail"),
        _column("alpha", best, 2, "detail"),
        _column("chosen", "share of resamples in which that alpha is best", 2, "detail"),
        _column("rho_alpha", f"{symbol} with that alpha", role="detail"),
        _column("held_out", folds, role="detail"),
        _column("held_out_before", "the same with the alpha that was asked for", role="detail"),
    ]
    tuned = {(t.metric.name, t.segment): t for t in calibration.tunings if t.matters == "yes"}
    within = {correlation.metric.name: correlation for correlation in calibration.within}
    rows = []
    for of in calibration.correlations:
        name, of_all = of.metric.name, [Cell()] * 4
        if of.segment == ALL:
            inside = within.get(name)
            tested = [_rho(inside), Cell(inside.p)] if inside else [Cell()] * 2
            of_all = [Cell(of.p), *tested, Cell(calibration.over_runs.get(name))]
        cells = [*map(Cell, (of.segment, name, of.observations)), _rho(of), *of_all]
        cells += [_rho(of, "kendall"), _rho(of, "pearson"), *[Cell()] * 5]
        if tuning := tuned.get((name, of.segment)):
            held_out = tuning.held_out, tuning.held_out_before
            chosen = map(Cell, (tuning.chosen, tuning.best, *held_out))
            cells[-5:] = [Cell(tuning.alpha, tuning.range), *chosen]
        rows.append(cells)
    return Answer(
        *filled(columns, rows),
        list(_notes(calibration)),
        verdict=list(_verdict(calibration)),
        explanation=list(_explanation(calibration)),
        question="calibrate",
        findings=_findings(calibration),
        heads=1,
    )


def _column(
    name: str, legend: str, digits: int = 3, role: Literal["core", "detail"] = "core"
) -> Column:
    return Column(name, "decimal", digits=digits, role=role, legend=legend)


def _rho(correlation: Correlation, name: str = "spearman") -> Cell:
    return Cell(correlation.coefficients[name], finite(correlation.intervals[name]))


def _notes(calibration: Calibration) -> Iterator[str]:
    names: dict[str, list[str]] = {}
    for correlation in calibration.overall:
        if correlation.reason:
            names.setdefault(correlation.reason, []).append(correlation.metric.name)
    for reason, of_reason in names.items():
        yield f"{_listed(of_reason)}: NA, {reason}"
    if calibration.refused:
        refused = [metric.name for metric in calibration.refused]
        yield f"{', '.join(refused)}: left out, for there is no value per query"
    sizes = np.bincount(calibration.observed.unit)
    alone = np.bincount(sizes)[sizes] == 1
    if alone.any():
        clusters = counted(len(sizes), "cluster")
        yield (
            f"Clusters exchange quality only with others of their size, which {alone.sum()} of "
            f"{clusters} do not have: p is greater than with clusters of equal size."
        )
    by = calibration.alpha_by
    tracking = {
        c.metric.name: c.metric.measure.sign * c.coefficients[by]
        for c in calibration.overall
        if c.finding == "tracks"
    }
    tunings = [t for t in calibration.overall_tunings if t.better and t.metric.name in tracking]
    if calibration.lead and tunings:
        tuned = max(tunings, key=lambda tuning: tuning.metric.measure.sign * tuning.held_out)
        best = tracking[calibration.lead.first[0]]
        if tuned.metric.measure.sign * tuned.held_out > best:
            yield (
                f"With alpha = {tuned.alpha:g} {tuned.metric.name} tracks it better on held-out "
                f"queries: {_SYMBOLS[by]} {tuned.held_out:.3f}."
            )


def _explanation(calibration: Calibration) -> Iterator[str]:
    runs, bootstrap = len(calibration.observed.runs), calibration.bootstrap
    of_runs = f" of {runs} runs, resampled with all of them" if runs > 1 else ""
    queries = f"{len(calibration.observed.queries)} queries{of_runs}"
    yield interval_note(bootstrap, queries=queries)
    whose = "queries" if bootstrap.clusters is None else "clusters of equal size"
    exchange = f"{whose} exchange their quality"
    if runs > 1:
        unit = "query" if bootstrap.clusters is None else "cluster"
        exchange += f" (p_within: the runs of each {unit} do, so it is about these runs)"
    yield (
        f"p: permutation test of the greatest |rho| of all measures (Westfall-Young, step-down): "
        f"{exchange}; up to {bootstrap.resamples:,} permutations, seed {bootstrap.seed}"
    )
    yield (
        f"a measure tracks quality if p < {SIGNIFICANT:g}; it is the best if it is also ahead of "
        f"every other one in {percent(AHEAD)} of the resamples; 'like': equal to it in all of them"
    )
    if any(correlation.segment != ALL for correlation in calibration.correlations):
        yield "rows of K/R are described, not tested"
    for tuning in calibration.overall_tunings:
        yield _tuning_sentence(tuning, _SYMBOLS[calibration.alpha_by])


def _verdict(calibration: Calibration) -> Iterator[str]:
    overall, lead = calibration.overall, calibration.lead
    if all(correlation.reason for correlation in overall):
        reason = overall[0].reason if overall else "no measure asked for has a value per query"
        yield f"Nothing can be said about any measure: {reason}."
    elif lead is None:
        yield "No measure asked for says whether more or less of it is better."
    else:
        best = next(c for c in overall if c.metric.name == lead.first[0])
        if best.finding != "tracks":
            yield _nothing_sentence(overall)
            return
        yield _tracking_sentence(best, lead)
        for inside in calibration.within:
            if inside.metric is best.metric and not inside.reason:
                yield f"{_WITHIN_QUERIES[inside.finding]} ({_figures(inside)})."


_WITHIN_QUERIES = {
    "tracks": "So it does among the runs of one query",
    "runs against": "But among the runs of one query it runs against quality",
    "not shown": "Among the runs of one query that is not shown",
}


def _tracking_sentence(best: Correlation, lead: Lead) -> str:
    alike = lead.first[1:]
    name = best.metric.name + (f" (like {_listed(alike, 2)})" if alike else "")
    if not lead.second:
        return f"{name} tracks quality: rank correlation {_figures(best)}."
    ahead = f"{math.floor(lead.share * 100 + 1e-9)} % of the resamples"  # 94.9 % is not 95 %
    if not lead.rivals:
        return (
            f"{name} tracks quality best: rank correlation {_figures(best)}, ahead of every other "
            f"measure in at least {ahead}."
        )
    of = f" of {lead.second}" if len(lead.rivals) > 1 else ""
    return (
        f"{name} tracks quality: rank correlation {_figures(best)}. It cannot be told apart from "
        f"{_listed(lead.rivals)}: it is ahead{of} in {ahead}."
    )


def _nothing_sentence(overall: Sequence[Correlation]) -> str:
    directed = [c for c in overall if not c.reason and c.metric.measure.better != "neither"]
    against = [c for c in directed if c.finding == "runs against"]
    strongest = max(against or directed, key=lambda c: abs(c.strength))
    name, figures = strongest.metric.name, _figures(strongest)
    alone = len(directed) == 1
    if against:
        more = f" and {len(against) - 1} more run" if len(against) > 1 else " runs"
        rest = "" if alone else f" {_none_of(directed)} is shown to track it."
        return f"{name}{more} against quality: rank correlation {figures}.{rest}"
    if alone:
        return f"{name} is not shown to track quality: rank correlation {figures}."
    none = f"{_none_of(directed)} is shown to track quality"
    return f"{none} (the strongest is {name}: rank correlation {figures})."


def _none_of(measures: Sequence[Correlation]) -> str:
    return "Neither measure" if len(measures) == 2 else f"None of the {len(measures)} measures"


def _figures(correlation: Correlation) -> str:
    rho, interval = correlation.coefficients["spearman"], correlation.intervals["spearman"]
    p = correlation.p
    p_text = "p < 0.001" if p < 0.001 else f"p = {beside(p, SIGNIFICANT, 3 if p < 0.1 else 2)}"
    return f"{with_interval(rho, interval, 'decimal', 2)}, {p_text}"


def _listed(names: Sequence[str], most: int = 3) -> str:
    """List up to `most` names; the last of more counts the others."""
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} more"]
    return joined(names)


def _tuning_sentence(tuning: Tuning, symbol: str) -> str:
    name = tuning.metric.name
    if tuning.matters == "no":
        return f"{name}: alpha cannot matter here, {symbol} is the same with every alpha."
    current = tuning.metric.arguments["alpha"]
    low, high = tuning.range
    equal = [a for a, rho in zip(tuning.alphas, tuning.curve, strict=True) if rho == tuning.best]
    middle = f", the middle of {equal[0]:g} to {equal[-1]:g}" if len(equal) > 1 else ""
    text = (
        f"{name}: alpha = {tuning.alpha:g} suits best{middle} ({low:g} to {high:g} over resamples)"
    )
    if math.isnan(tuning.held_out):
        fewest = 2 * FEWEST_HELD_OUT
        return (
            f"{text}; fewer than {fewest} queries are too few to hold any out, so keep {current:g}."
        )
    change = tuning.held_out - tuning.held_out_before
    low, high = tuning.gain
    verdict = "a reason" if tuning.better else "no reason"
    return (
        f"{text}; on held-out queries {symbol} changes by {change:+.3f} "
        f"[{low:+.3f}, {high:+.3f}] to {tuning.held_out:.3f}: {verdict} to leave {current:g}."
    )


def _findings(calibration: Calibration) -> dict[str, Any]:
    return {
        "runs": len(calibration.observed.runs),
        "queries": len(calibration.observed.queries),
        "resamples": calibration.bootstrap.resamples,
        "level": calibration.bootstrap.level,
        "seed": calibration.bootstrap.seed,
        "lead": calibration.lead,
        "found": {c.metric.name: c.finding for c in calibration.overall},
        "found_within": {c.metric.name: c.finding for c in calibration.within},
        "alpha_by": calibration.alpha_by,
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
    rhos = [(c, c.coefficients["spearman"], c.intervals["spearman"]) for c in calibration.overall]
    rows = [IntervalRow(c.metric.name, low, rho, high) for c, rho, (low, high) in rhos]
    charts: list[Chart] = [
        IntervalChart(
            f"Correlation with quality over {len(calibration.observed.queries)} queries",
            Axis("Spearman's rho, bootstrap interval"),
            rows,
            [Rule("x", 0.0)],
        )
    ]
    still = []
    for tuning in calibration.overall_tunings:
        if tuning.matters == "yes":
            charts.append(_by_alpha(tuning, _COEFFICIENTS[calibration.alpha_by]))
        else:
            still.append(tuning.metric.name)
    bootstrap = calibration.bootstrap
    notes = [
        f"intervals and bands: {bootstrap.percent} bootstrap over {bootstrap.units}, "
        f"{bootstrap.resamples:,} resamples, seed {bootstrap.seed}"
    ]
    if len(charts) > 1:
        notes.append("from, to: where the best alpha lies in resamples")
    if still:
        notes.append(f"alpha cannot matter here, so it is not drawn, for {', '.join(still)}")
    return noted(charts, notes)


def _by_alpha(tuning: Tuning, coefficient: str) -> PlaneChart:
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
        Axis(f"{coefficient} with quality"),
        [Line(metric.name, tuning.alphas, tuning.curve.tolist(), band, mark=mark)],
        rules=[Rule("x", alpha, ", ".join(here)) for alpha, here in names.items()],
    )
