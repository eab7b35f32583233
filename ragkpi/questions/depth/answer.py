"""The answer of `ragkpi depth`: a row per depth, limits with reasons, a recommendation, charts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import compress

import numpy as np

from ragkpi.arrays import FloatArray
from ragkpi.charts.chart import Axis, Chart, Line, Mark, PlaneChart, Rule, Span, noted
from ragkpi.library.values import interval_notes
from ragkpi.measures.chance import CEILING_LIMIT, LAMBDA_LIMIT, Needed
from ragkpi.questions.depth.study import (
    CHANCE_LIMIT,
    Choice,
    Collapse,
    Curve,
    Curves,
    Limits,
    Study,
    Trace,
)
from ragkpi.reports.layout import Answer, Cell, Column, Table

_FEW = 4  # most depths in a sentence
_DETAILS = ("ef", "lambda", "collapse", "dbor", "dbor_sparse")


def depth_answer(curves: Curves, tokens_per_passage: float | None = None) -> Answer:
    """Put curves into words; the tokens of a passage add the cost of each depth in tokens."""
    findings = []
    sentences, reasons = [], []
    for curve in curves.curves:
        about = f"{curve.name}: " if curves.several else ""
        findings.append({**({"run": curve.name} if curve.name else {}), **asdict(curve.study)})
        sentences.append(about + _depth_sentence(curves, curve, tokens_per_passage))
        reasons += [about + reason for reason in _reasons(curve, curves.limits)]
    notes = interval_notes(curves.bootstrap, [curve.scores for curve in curves.curves])
    table = _depth_table(curves, tokens_per_passage, [*notes, *reasons])
    heads = 1 if curves.several else 0
    return Answer("depth", table, sentences, {"limits": curves.limits, "depth": findings}, heads)


def _depth_table(curves: Curves, tokens: float | None, notes: list[str]) -> Table:
    measures = curves.curves[0].measures
    shown = (curves.several, True, tokens is not None)
    heads = (
        Column("run"),
        Column("K", "integer", legend="documents retrieved" if curves.curves[0].name else ""),
        Column("tokens", "integer"),
    )
    columns = [
        Column(
            measure.name,
            measure.style,
            signed=measure.name.startswith("dbor"),
            digits=4 if measure.style == "significant" else None,
            role="detail" if measure.name in _DETAILS else "core",
            legend=measure.in_short,
        )
        for measure in measures
    ]
    rows = []
    for curve in curves.curves:
        for depth in curves.depths:
            places = map(Cell, (curve.name, depth, depth * (tokens or 0)))
            values = [
                Cell(curve.value(measure.name, depth), curve.interval(measure.name, depth))
                for measure in measures
            ]
            rows.append([*compress(places, shown), *values])
    return Table([*compress(heads, shown), *columns], rows, notes)


def _reasons(curve: Curve, limits: Limits) -> Iterator[str]:
    study, plateau, affordable = curve.study, curve.study.plateau, curve.study.affordable
    if study.collapse:
        yield f"collapse: {_collapse(study.collapse, limits)}"
    elif affordable:
        yield "collapse: none, however deep"
    if plateau and plateau.final > plateau.success:
        yield (
            f"plateau: K = {plateau.depth:,} succeeds for {plateau.success:.3f} of the queries; "
            f"K = {plateau.deepest:,} for {plateau.final:.3f}, no more than "
            f"{limits.plateau:g} above"
        )
    elif plateau:
        yield f"plateau: from K = {plateau.depth:,} on success stays at {plateau.success:.3f}"
    elif curve.name and affordable:
        deepest = affordable.deepest
        if study.final == 1:
            yield f"plateau: none before K = {deepest:,}, where every query succeeds"
        elif deepest == 1:
            yield "plateau: not known, for nothing below K = 1 was looked at"
        else:
            yield f"plateau: none down to K = {deepest:,}: success still rises there"
    if affordable:
        yield (
            f"max loss: K = {affordable.depth:,} is the deepest within {_allowed(limits)} of the "
            f"best: {affordable.bits:.2f} bits there, {affordable.best:.2f} at "
            f"K = {affordable.best_depth:,}"
        )


def _collapse(collapse: Collapse, limits: Limits) -> str:
    why = f"a ceiling below {CEILING_LIMIT:g} bits"
    if limits.needed == Needed() and collapse.lambda_ >= LAMBDA_LIMIT * (1 - 1e-12):
        why = f"lambda = {collapse.lambda_:.3g} relevant documents (limit {LAMBDA_LIMIT:g})"
    return (
        f"from K = {collapse.depth:,} on chance alone succeeds with probability "
        f"{collapse.p_rand:.3f}: {why}"
    )


def _allowed(limits: Limits) -> str:
    return f"{limits.allowed_loss:g} bit{'s' if limits.allowed_loss != 1 else ''}"


def _depth_sentence(curves: Curves, curve: Curve, tokens: float | None) -> str:
    study, limits = curve.study, curves.limits
    choice, reached = study.choice, study.reached
    if reached is not None and reached.depth is None:
        return (
            f"No depth can be recommended: {reached.measure} is {reached.value:.3f} at most, down "
            f"to K = {reached.deepest:,}; {reached.least:g} was asked for."
        )
    if study.affordable is None:
        return f"No depth can be recommended: nothing succeeds with m = {limits.m}."
    if choice is None:
        return "No depth can be recommended: chance succeeds at K = 1 already."
    cost = "" if tokens is None else f" ({choice.depth * tokens:,.0f} tokens)"
    because = _because(choice, study, limits)
    if choice.success is None:
        return (
            f"Show at most {choice.depth:,} of {curves.corpus_size:,}{cost}: {because}. "
            f"A perfect selector reaches {_ceilings(curves, curve, choice)} bits over random."
        )
    at_least = "a relevant passage" if limits.m == 1 else f"{limits.m} relevant passages"
    if not choice.grounded:
        return (
            f"No depth can be recommended: at K = {choice.depth:,} {choice.success:.3f} of the "
            f"queries have {at_least}, and a random draw gives {choice.chance:.3f}; so good or "
            f"better is chance alone with probability {choice.evidence:.2f} (limit "
            f"{CHANCE_LIMIT:g}). Is the run the right one?"
        )
    return (
        f"Retrieve {choice.depth:,}{cost}: {because}. Success "
        f"({at_least}) is {choice.success:.3f} there, at {choice.bits:.2f} bits over random."
    )


def _ceilings(curves: Curves, curve: Curve, choice: Choice) -> str:
    """List the bits of the best possible selector at the chosen depth and a few others."""
    others = curves.depths if len(curves.depths) <= _FEW else ()
    bits = {depth: curve.value("bor_max", depth) for depth in others} | {choice.depth: choice.bits}
    return ", ".join(
        f"{value:.2f} (K = {depth:,})"
        for depth, value in sorted(bits.items())
        if value is not None and not math.isnan(value)
    )


def _because(choice: Choice, study: Study, limits: Limits) -> str:
    """Give the reason for the limit that set a depth."""
    reached = study.reached
    if choice.limit == "collapse" and study.collapse:
        return _collapse(study.collapse, limits)
    if choice.limit == "plateau" and study.plateau:
        more = study.plateau.final - study.plateau.success
        gain = f"only {more:.3f} more success" if more else "no more success"
        double = choice.doubling
        cost = "" if double is None else f", and twice as many cost {double:.2f} bits"
        return f"deeper lists bring {gain} down to {study.plateau.deepest:,}{cost}"
    if choice.limit == "max_loss":
        return f"no deeper list stays within {_allowed(limits)} of the best"
    if choice.limit == "target" and reached:
        return f"{reached.measure} is {reached.value:.3f} there, and below {reached.least:g} above"
    if choice.limit == "most":
        takes = f"{reached.measure} = {reached.least:g} takes {reached.depth:,}" if reached else ""
        return "there is no room for more" + (f", and {takes}" if reached else "")
    if choice.success == 1:
        return "every query succeeds there"
    if choice.depth == 1:
        return "the run has no more, so whether deeper lists succeed more often is not known"
    return "success still rises there, and nothing deeper was looked at"


_MOST_TICKS = 15
_VISIBLE = 0.02  # least relative difference that a reader sees in a chart


def depth_charts(curves: Curves, traces: Sequence[Trace]) -> list[Chart]:
    """Draw success above chance, the distance of BoR from its ceiling, and the ceiling.

    The table's depths are the ticks, its intervals the bands; traces have more depths.
    """
    ticks = curves.depths if len(curves.depths) <= _MOST_TICKS else ()
    shown = "documents retrieved" if curves.corpus_size is None else "documents shown"
    depth = Axis(f"K, {shown}", "log", ticks=ticks)
    rules, notes = _collapse_rules(curves, traces)
    rates = Axis("share of queries", low=0, high=1)
    chance = _shared(curves, traces, [trace.chance for trace in traces], "chance P_rand")

    def by_depth(title: str, y: Axis, lines: list[Line], *more: Rule) -> PlaneChart:
        return PlaneChart(title, depth, y, lines, rules=[*rules, *more])

    ceiling = by_depth(
        "What depth costs: the most bits a system can have",
        Axis("BoR_max (bits)", low=0),
        _shared(curves, traces, [trace.ceiling for trace in traces], "ceiling BoR_max"),
    )
    if not curves.curves[0].name:
        return noted([ceiling, by_depth("Chance by depth", rates, chance)], notes)
    success, distance = [], []
    for curve, trace in zip(curves.curves, traces, strict=True):
        success.append(_run_line(curves, curve, trace, "p_obs", trace.success))
        below = trace.ceiling
        distance.append(_run_line(curves, curve, trace, "bor", trace.bits - below, below))
        if success[-1].mark is None:
            notes.append(f"{curve.name}: no depth can be recommended")
    charts = [
        by_depth("Success and chance by depth", rates, [*success, *chance]),
        by_depth(
            "Distance from the ceiling by depth",
            Axis("BoR - BoR_max (bits)", high=0),
            distance,
            Rule("y", 0, "ceiling"),
        ),
        ceiling,
    ]
    return noted(charts, notes)


def _run_line(
    curves: Curves,
    curve: Curve,
    trace: Trace,
    measure: str,
    y: FloatArray,
    below: FloatArray | None = None,
) -> Line:
    """Draw a run; for values drawn `below` a curve, shift the intervals with them."""
    x = trace.depths.tolist()
    band = []
    for depth in curves.depths:
        interval = curve.interval(measure, depth)
        if interval is not None:
            shift = 0.0 if below is None else float(below[x.index(depth)])
            band.append(Span(depth, interval.low - shift, interval.high - shift))
    choice = curve.study.choice
    mark = None
    if choice is not None and choice.grounded:
        mark = Mark(choice.depth, f"retrieve {choice.depth:,}")
    return Line(curve.name, x, y.tolist(), band, mark=mark)


def _shared(
    curves: Curves, traces: Sequence[Trace], values: Sequence[FloatArray], name: str
) -> list[Line]:
    """Draw a curve that depends only on the queries, once if all runs' curves look the same."""
    x = traces[0].depths.tolist()
    if not all(np.allclose(other, values[0], rtol=_VISIBLE, equal_nan=True) for other in values):
        return [
            Line(f"{name} of {curve.name}", x, of_run.tolist(), role="ceiling")
            for curve, of_run in zip(curves.curves, values, strict=True)
        ]
    choice = curves.curves[0].study.choice
    if curves.corpus_size is None or choice is None:
        return [Line(name, x, values[0].tolist(), role="ceiling")]
    mark = Mark(choice.depth, f"show at most {choice.depth:,}")
    return [Line(name, x, values[0].tolist(), mark=mark)]


def _collapse_rules(curves: Curves, traces: Sequence[Trace]) -> tuple[list[Rule], list[str]]:
    """Mark the depth where chance alone succeeds, or note that it is deeper than the chart."""
    deepest = max(int(trace.depths[-1]) for trace in traces)
    collapses = {curve.study.collapse.depth for curve in curves.curves if curve.study.collapse}
    rules = [Rule("x", depth, "collapse") for depth in sorted(collapses) if depth <= deepest]
    beyond = sorted(depth for depth in collapses if depth > deepest)
    depths = ", ".join(f"{depth:,}" for depth in beyond)
    return rules, [f"collapse: from K = {depths} on"] if beyond else []
