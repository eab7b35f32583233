"""The answer of `ragkpi calibrate`: coefficients, and the best measure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ragkpi.charts.chart import Axis, Chart, IntervalChart, IntervalRow, Rule
from ragkpi.library.interval_notes import interval_note
from ragkpi.questions.calibrate.study import AHEAD, SIGNIFICANT, Calibration, Correlation, Lead
from ragkpi.reports.layout import Answer, Cell, Column, filled, finite
from ragkpi.wording import counted, joined, p_text, percent, with_interval

_COLUMNS = [
    Column("measure"),
    Column("n", "integer", role="detail", legend="queries"),
    *(
        Column(name, "decimal", digits=3, legend=legend)
        for name, legend in {
            "spearman": "rank correlation (Spearman's rho) with quality, over queries",
            "p": "of rho over all queries; corrected",
            "within": "rho of the distances from each query's mean",
            "p_within": "of rho within queries; corrected",
            "over_runs": "rho of the means of runs; not tested",
            "kendall": "agreement of pairs (Kendall's tau-b) with quality, over queries",
            "pearson": "linear correlation (Pearson's r) with quality, over queries",
        }.items()
    ),
]


def calibration_answer(calibration: Calibration) -> Answer:
    """Put a calibration into words."""
    within = {correlation.metric.name: correlation for correlation in calibration.within}
    rows = []
    for of in calibration.overall:
        name = of.metric.name
        cells = [*map(Cell, (name, of.observations)), *_tested(of)]
        cells += _tested(within[name]) if within else [Cell(), Cell()]
        by_metric = calibration.over_runs, calibration.kendall, calibration.pearson
        rows.append([*cells, *(Cell(values.get(name)) for values in by_metric)])
    return Answer(
        *filled(_COLUMNS, rows),
        list(_notes(calibration)),
        verdict=list(_verdict(calibration)),
        explanation=list(_explanation(calibration)),
        question="calibrate",
        findings=_findings(calibration),
    )


def _tested(correlation: Correlation) -> list[Cell]:
    return [Cell(correlation.rho, finite(correlation.interval)), Cell(correlation.p)]


def _notes(calibration: Calibration) -> Iterator[str]:
    reasons = {correlation.reason for correlation in calibration.overall} - {""}
    for reason in sorted(reasons):
        names = [one.metric.name for one in calibration.overall if one.reason == reason]
        yield f"{_listed(names)}: NA, {reason}"
    if calibration.refused:
        refused = [metric.name for metric in calibration.refused]
        yield f"{', '.join(refused)}: left out, because it has no value per query"
    sizes = np.bincount(calibration.observed.unit)
    alone = np.bincount(sizes)[sizes] == 1
    if alone.any():
        clusters = counted(len(sizes), "cluster")
        yield (
            f"Clusters are permuted only with others of their size, which {alone.sum()} of "
            f"{clusters} do not have: p is larger than with clusters of equal size."
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
        f"p: permutation test of the maximum |rho| over all measures (Westfall-Young, step-down): "
        f"{exchange}; up to {bootstrap.resamples:,} permutations, seed {bootstrap.seed}"
    )
    yield (
        f"a measure tracks quality if p < {SIGNIFICANT:g} and its interval is above 0 (with a "
        "larger p it is extended to 0); it is the best if it is also ahead of every other one in "
        f"{percent(AHEAD)} of the bootstrap samples; 'like': equal to it in all of them"
    )


def _verdict(calibration: Calibration) -> Iterator[str]:
    overall, lead = calibration.overall, calibration.lead
    if all(correlation.reason for correlation in overall):
        reason = overall[0].reason if overall else "no chosen measure has a value per query"
        yield f"No measure can be tested: {reason}."
    elif lead is None:
        yield "No chosen measure has a direction (higher or lower is better)."
    else:
        best = next(c for c in overall if c.metric.name == lead.first[0])
        yield _tracking_sentence(best, lead) if best.finding == "tracks" else _nothing(overall)
        for inside in calibration.within:
            if inside.metric is best.metric and not inside.reason and best.finding == "tracks":
                yield f"{_WITHIN_QUERIES[inside.finding]} ({_figures(inside)})."


_WITHIN_QUERIES = {
    "tracks": "It also does among the runs of one query",
    "runs against": "But among the runs of one query it is negatively correlated with quality",
    "not shown": "Among the runs of one query the correlation is not significant",
}


def _tracking_sentence(best: Correlation, lead: Lead) -> str:
    alike = lead.first[1:]
    name = best.metric.name + (f" (like {_listed(alike, 2)})" if alike else "")
    figures = f"rank correlation {_figures(best)}"
    if math.isnan(lead.share):
        return f"{name} tracks quality: {figures}."
    ahead = f"at least {math.floor(lead.share * 100 + 1e-9)}%"  # 94.9% is not 95%
    if not lead.rivals:
        ahead = f"ahead of every other measure in {ahead} of the bootstrap samples"
        return f"{name} tracks quality best: {figures}, {ahead}."
    return (
        f"{name} tracks quality: {figures}. It is not distinguishable from {_listed(lead.rivals)} "
        f"(ahead in {ahead} of the bootstrap samples)."
    )


def _nothing(overall: Sequence[Correlation]) -> str:
    directed = [c for c in overall if not c.reason and c.metric.measure.better != "neither"]
    against = [c for c in directed if c.finding == "runs against"]
    strongest = max(against or directed, key=lambda c: abs(c.strength))
    name, figures = strongest.metric.name, f"rank correlation {_figures(strongest)}"
    if against:
        return f"{name} is negatively correlated with quality: {figures}."
    if len(directed) == 1:
        return f"{name} does not significantly track quality: {figures}."
    return f"No measure significantly tracks quality (the strongest is {name}: {figures})."


def _figures(correlation: Correlation) -> str:
    p, (low, high) = correlation.p, correlation.interval
    contradiction = ", but the interval contains 0" if p < SIGNIFICANT and low <= 0 <= high else ""
    limit = 0 if p < SIGNIFICANT else None
    rho = with_interval(correlation.rho, (low, high), "decimal", 2, limit=limit)
    return f"{rho}, {p_text(p)}{contradiction}"


def _listed(names: Sequence[str], most: int = 3) -> str:
    """List up to `most` names, then the number of the others."""
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} more"]
    return joined(names)


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
        "left_out": [metric.name for metric in calibration.refused],
    }


def calibration_charts(calibration: Calibration) -> list[Chart]:
    """Draw rho of every metric with its interval."""
    bootstrap = calibration.bootstrap
    return [
        IntervalChart(
            f"Correlation with quality over {len(calibration.observed.queries)} queries",
            Axis("Spearman's rho, bootstrap interval"),
            [
                IntervalRow(of.metric.name, of.interval.low, of.rho, of.interval.high)
                for of in calibration.overall
            ],
            [Rule("x", 0.0)],
            notes=[
                f"intervals: {bootstrap.percent} bootstrap over {bootstrap.units}, "
                f"{bootstrap.resamples:,} resamples, seed {bootstrap.seed}"
            ],
        )
    ]
