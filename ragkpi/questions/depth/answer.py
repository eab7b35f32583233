"""The answer of `ragkpi depth`: a row per depth, limits with reasons, a recommendation, charts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace

import numpy as np

from ragkpi.arrays import ROUNDING
from ragkpi.charts.chart import Axis, Chart, Line, Mark, PlaneChart, Rule, Span, gathered, noted
from ragkpi.interface import spell
from ragkpi.library.doubts import BY_ID
from ragkpi.library.interval_notes import interval_notes
from ragkpi.measures.chance import CEILING_LIMIT, LAMBDA_LIMIT, Needed
from ragkpi.questions.depth.study import (
    CHANCE_LIMIT,
    Choice,
    Collapse,
    Curve,
    Curves,
    Limits,
    Saturation,
    Stability,
    Study,
)
from ragkpi.reports.layout import Answer, Cell, Column, filled, finite
from ragkpi.statistics.bootstrap import FEW
from ragkpi.statistics.decisions import FEWEST_CLUSTERS, TAIL_ENDS
from ragkpi.wording import beside, counted, p_text, percent, with_interval

_FEW_RATES = 3  # maximum rates with a sentence each
_STEPS = ("dbor", "dbor_sparse")
_DETAILS = ("ef", "bor_max_qmean", "lambda", "collapse", *_STEPS)


def depth_answer(curves: Curves, tokens_per_passage: float | None = None) -> Answer:
    """Put curves into words; the tokens of a passage add the cost of each depth in tokens."""
    findings = []
    for curve in curves.curves:
        run = {"run": curve.name} if curve.name else {}
        over_ties = [study.depth for study in curve.over_ties]
        findings.append(run | asdict(curve.study) | ({"over_ties": over_ties} if over_ties else {}))
    explanation = [
        f"{curve.name}: {reason}" if curves.several else reason
        for curve in curves.curves
        for reason in _reasons(curve.study, curves.limits)
    ]
    notes = []
    stabilities = [curve.study.stability for curve in curves.curves if curve.study.stability]
    if stabilities:
        of = "the queries" if stabilities[0].clusters is None else "clusters of the queries"
        explanation.append(
            f"bootstrap: the depth is chosen again in {stabilities[0].resamples:,} resamples of "
            f"{of} that can succeed; it is decided if 95% of them choose between half and twice "
            "the depth, and if more queries first succeed in its last doubling than below it "
            f"(sign test, p < {TAIL_ENDS:g})"
        )
        fewest = min(stability.queries for stability in stabilities)
        if fewest < FEW:
            notes.append(
                f"With few queries ({fewest}), the bootstrap range of K is probably too narrow."
            )
    intervals = interval_notes(curves.bootstrap, curves.estimated)
    return Answer(
        *_depth_table(curves, tokens_per_passage),
        [*notes, *intervals[1:]],
        verdict=_verdict(curves, tokens_per_passage),
        explanation=[*explanation, *intervals[:1]],
        question="depth",
        findings={"limits": curves.limits, "depth": findings},
        heads=1 if curves.several else 0,
    )


def _verdict(curves: Curves, tokens: float | None) -> list[str]:
    """Say what one run has, and why, or what each of several has."""
    if curves.success == "rates":
        measured = curves.curves[0].at
        most = sorted(curves.depths, key=lambda K: -measured["p_obs", K].queries)
        return [_of_rate(curves.curves[0], depth) for depth in sorted(most[:_FEW_RATES])]
    sentences = []
    for curve in curves.curves:
        outcome, why = _situation(curves, curve, tokens)
        if curve.is_of_ties:
            outcome = f"{outcome} {BY_ID}"
        several = f"{curve.name}: {outcome}."
        one = f"{outcome[0].upper()}{outcome[1:]}: {why}."
        sentences.append(several if curves.several else one)
    return sentences


def _of_rate(curve: Curve, depth: int) -> str:
    """Interpret a published rate of success, or that of logged events."""
    names = ("p_obs", "p_rand", "bor", "bor_max", "collapse")
    success, chance, bits, ceiling, share = (curve.at[name, depth].summary for name in names)
    if math.isnan(bits):
        return f"At K = {depth:,} nothing can succeed."
    interval, who = curve.interval("bor", depth), f"{percent(success, 1)} succeed"
    if interval is not None:
        events = curve.at["bor", depth].queries
        succeed = "succeeds" if events == 1 else "succeed"
        who = f"{percent(success)} of {counted(events, 'event')} {succeed}"
    at = f"At K = {depth:,}, {who}"
    if share >= 0.5 or ceiling < CEILING_LIMIT:
        return f"{at}, as do {percent(chance)} of random draws: uninformative; retrieve fewer."
    figures = f"{bits:.2f}"
    if interval is not None and finite(interval):
        figures = with_interval(bits, interval, "decimal", 2)
    if interval is not None and not interval.low > 0:
        than = f"not significantly more than the {percent(chance)} of random draws"
        return f"{at}, {than} ({figures} bits over random)."
    factor = 2**bits
    times = f"{factor:.3g}" if factor < 1000 else f"{factor:,.0f}"
    return (
        f"{at}, {times} times as often as random draws ({figures} bits over random; a "
        f"perfect system has {ceiling:.2f})."
    )


def _depth_table(curves: Curves, tokens: float | None) -> tuple[list[Column], list[list[Cell]]]:
    measures = curves.curves[0].measures
    columns = [
        Column("run"),
        Column("K", "integer", legend="documents retrieved" if curves.curves[0].name else ""),
        Column("tokens", "integer"),
    ]
    columns += [
        Column(
            measure.name,
            measure.style,
            signed=measure.name in _STEPS,
            digits=4 if measure.style == "significant" else None,
            role="detail" if measure.name in _DETAILS else "core",
            legend=measure.in_short,
        )
        for measure in measures
    ]
    rows = []
    for curve in curves.curves:
        name = curve.name if curves.several else None
        for depth in curves.depths:
            cost = None if tokens is None else depth * tokens
            values = [
                Cell(curve.value(measure.name, depth), curve.interval(measure.name, depth))
                for measure in measures
            ]
            rows.append([*map(Cell, (name, depth, cost)), *values])
    return filled(columns, rows)


def _reasons(study: Study, limits: Limits) -> Iterator[str]:
    plateau, affordable = study.plateau, study.affordable
    if study.collapse:
        yield f"collapse: {_collapse(study.collapse, limits)}"
    elif affordable:
        yield "collapse: none, however deep"
    if plateau:
        yield (
            f"plateau: from K = {plateau.depth:,} on success stays at {plateau.success:.3f} "
            f"({plateau.final:.3f} at K = {plateau.deepest:,})"
        )
    if affordable:
        yield (
            f"max loss: K = {affordable.depth:,} is the deepest within {_allowed(limits)} of the "
            f"best: {affordable.bits:.2f} bits there, {affordable.best:.2f} at "
            f"K = {affordable.best_depth:,}"
        )


def _collapse(collapse: Collapse, limits: Limits) -> str:
    why = f"a perfect system has less than {CEILING_LIMIT:g} bits over it"
    if limits.needed == Needed() and collapse.lambda_ >= LAMBDA_LIMIT * (1 - ROUNDING):
        why = f"finds {collapse.lambda_:.3g} relevant documents on average (lambda)"
    return (
        f"from K = {collapse.depth:,} on a random draw succeeds with probability "
        f"{collapse.p_rand:.3f}, and {why}"
    )


def _allowed(limits: Limits) -> str:
    return f"{limits.allowed_loss:g} bit{'s' if limits.allowed_loss != 1 else ''}"


def _what(limits: Limits) -> str:
    """Name the condition of success."""
    if limits.recall:
        return f"{percent(limits.recall)} of the relevant passages"
    return "a relevant passage" if limits.m == 1 else f"{limits.m} relevant passages"


def _situation(curves: Curves, curve: Curve, tokens: float | None = None) -> tuple[str, str]:
    """Say whether a run has a depth, and why, without a capital letter."""
    study, limits, choice = curve.study, curves.limits, curve.study.choice
    if choice is None or study.outcome == "none":
        return "no depth can be recommended", _void(study, limits)
    if study.saturation:
        return "success cannot choose K here", _saturated(study.saturation, limits)
    stability = study.stability
    if stability and not stability.decided:
        return _undecided(stability, choice, limits)
    sure = [] if tokens is None else [f"{choice.depth * tokens:,.0f} tokens"]
    if stability:
        sure.append(_range(stability))
    bracketed = f" ({'; '.join(sure)})" if sure else ""
    because = _because(choice, study, limits)
    if choice.success is None:
        return (
            f"show at most {choice.depth:,} of {curves.corpus_size:,}{bracketed}",
            f"{because}. A perfect selector reaches {choice.bits:.2f} bits over random there",
        )
    return (
        f"retrieve {choice.depth:,}{bracketed}",
        f"{because}. Success ({_what(limits)}) is {choice.success:.3f} there, at "
        f"{choice.bits:.2f} bits over random",
    )


def _void(study: Study, limits: Limits) -> str:
    """Say why a run has no depth."""
    choice = study.choice
    if study.affordable is None:
        return f"no query finds {_what(limits)}"
    if choice is None:
        return "a random draw already succeeds at K = 1"
    return (
        f"at K = {choice.depth:,}, {choice.success:.3f} of the queries have {_what(limits)}, and "
        f"{choice.chance:.3f} of random draws; a random draw does as well with probability "
        f"{beside(choice.evidence or 0.0, CHANCE_LIMIT, 2)} (limit {CHANCE_LIMIT:g})"
    )


def _span(low: int, high: int) -> str:
    """Write two depths, or one if they are equal; 0 is none."""
    return " to ".join(dict.fromkeys(f"{end:,}" if end else "none" for end in (low, high)))


def _range(stability: Stability) -> str:
    return f"{_span(stability.low, stability.high)} in 95% of bootstrap samples"


def _undecided(stability: Stability, choice: Choice, limits: Limits) -> tuple[str, str]:
    clusters, few = stability.clusters, ""
    if not stability.resamples:
        few, would = "one query cannot choose K", ". It alone would"
    elif clusters is not None and clusters < FEWEST_CLUSTERS:
        few = f"{counted(clusters, 'cluster')} of queries cannot choose K"
        would = f"; expected {FEWEST_CLUSTERS}. All queries together would"
    elif stability.near:
        nouns = ("query", "queries") if clusters is None else ("cluster", "clusters")
        few = (
            f"success may not end there, with {counted(stability.last, *nouns)} that first "
            f"succeed at K = {_span(choice.depth // 2 + 1, choice.depth)}, and {stability.deeper} "
            f"deeper (sign test, {p_text(stability.tail)})"
        )
        would = ". All queries together"
    if few:
        return "undecided", f"{few}{would} choose {choice.depth:,}"
    (low, high), (first, last) = stability.ends, stability.success
    rest = "one query" if stability.between == 1 else f"{stability.between:,} queries"
    only = f"; only K = {high:,} brings {percent(last)}, and that rests on {rest}"
    if not stability.between:
        only = f", and K = {high:,} brings no more"
    at = f"K = {low:,} already" if low else f"K = {high:,}"
    return (
        f"undecided between {_span(low, low)} and {high:,}",
        f"at {at} {percent(first if low else last)} of the queries have {_what(limits)}"
        f"{only if low else ''} ({_range(stability)})",
    )


def _saturated(saturation: Saturation, limits: Limits) -> str:
    """Say that success cannot choose, and name targets that can."""
    everyone = saturation.success == 1
    who = "every query has" if everyone else f"{percent(saturation.success)} of the queries have"
    return (
        f"{who} {_what(limits)} in the top {saturation.depth}, where recall is "
        f"{saturation.recall:.3f} ({saturation.final:.3f} at K = {saturation.deepest:,}); ask for "
        f"more of them, such as {spell('at_least', '50%')}"
    )


def _because(choice: Choice, study: Study, limits: Limits) -> str:
    """Give the reason for the limit that set a depth."""
    if choice.limit == "collapse" and study.collapse:
        return _collapse(study.collapse, limits)
    if choice.limit == "plateau" and study.plateau:
        deepest, more = study.plateau.deepest, study.plateau.final - study.plateau.success
        if deepest < 2 * choice.depth:
            return f"success rises up to there, and below {deepest:,} nothing was tried"
        gain = f"only {more:.3f} more success" if more else "no more success"
        double = choice.doubling
        cost = "" if double is None else f", and twice as many cost {double:.2f} bits"
        return f"deeper lists bring {gain} down to {deepest:,}{cost}"
    if choice.limit == "max_loss":
        return f"no deeper list stays within {_allowed(limits)} of the best"
    if choice.success == 1:
        return "every query succeeds there"
    if choice.depth == 1:
        return "the run is no deeper, so we cannot tell whether deeper lists succeed more often"
    return "success still rises there, and no greater depth was tried"


_MOST_TICKS = 15
_VISIBLE = 0.02  # minimum relative difference visible in a chart


def depth_charts(curves: Curves) -> list[Chart]:
    """Draw success and the random baseline, and BoR under its ceiling, at the table's depths."""
    ticks = curves.depths if len(curves.depths) <= _MOST_TICKS else ()
    unit = "documents retrieved" if curves.corpus_size is None else "documents shown"
    depth = Axis(f"K, {unit}", "log", ticks=ticks)
    rules, notes = _collapse_rules(curves)
    bits, success = [], []
    without: dict[str, list[str]] = {}  # the runs without a depth, by the reason
    for run, curve in enumerate(curves.curves):
        if curve.name or curves.success == "rates":
            bits.append(_line(curve, run, curves.drawn, "bor"))
            success.append(_line(curve, run, curves.drawn, "p_obs"))
        if curve.name and not curve.study.recommended:
            without.setdefault(_situation(curves, curve)[0], []).append(curve.name)
    ceiling = _shared(curves, "bor_max", "ceiling BoR_max")
    chance = _shared(curves, "p_rand", "random baseline P_rand")
    charts = [
        PlaneChart(
            "Success" if success else "Success of a random draw",
            depth,
            Axis("share of queries", low=0, high=1),
            [*gathered(success, _leaders(success)), *chance],
            rules=rules,
        ),
        PlaneChart(
            "Bits over random" if bits else "Maximum bits over random",
            depth,
            Axis("BoR (bits)" if bits else "BoR_max (bits)", low=0),
            [*gathered(bits, _leaders(bits)), *ceiling],
            rules=rules,
        ),
    ]
    notes += [f"{', '.join(names)}: {outcome}" for outcome, names in without.items()]
    return noted(charts, notes)


def _leaders(lines: Sequence[Line]) -> list[Line]:
    """Return the first curve, and the highest one on average."""

    def height(line: Line) -> float:
        return sum(finite := [y for y in line.y if math.isfinite(y)]) / max(len(finite), 1)

    return [*lines[:1], *([max(lines, key=height)] if lines else [])]


def _line(curve: Curve, run: int, depths: Sequence[int], measure: str) -> Line:
    """Draw a run or published rates, with intervals, and mark the depth to retrieve."""
    estimated = [(depth, curve.interval(measure, depth)) for depth in depths]
    band = [Span(depth, interval.low, interval.high) for depth, interval in estimated if interval]
    choice = curve.study.recommended
    mark = None if choice is None else Mark(choice.depth, f"retrieve {choice.depth:,}")
    values = curve.values(measure, depths)
    return Line(curve.name or "published", depths, values, band, mark=mark, series=run)


def _shared(curves: Curves, measure: str, name: str) -> list[Line]:
    """Draw a curve that depends only on the queries, once if all runs' curves look the same."""
    x = curves.drawn
    lines = [
        Line(f"{name} of {curve.name}", x, curve.values(measure, x), role="ceiling")
        for curve in curves.curves
    ]
    first, choice = lines[0], curves.curves[0].study.recommended
    if not all(np.allclose(line.y, first.y, rtol=_VISIBLE, equal_nan=True) for line in lines):
        return lines
    if curves.corpus_size is None or choice is None:
        return [replace(first, name=name)]
    return [Line(name, x, first.y, mark=Mark(choice.depth, f"show at most {choice.depth:,}"))]


def _collapse_rules(curves: Curves) -> tuple[list[Rule], list[str]]:
    """Mark the depth where a random draw succeeds, or note that it is deeper than the chart."""
    deepest = curves.depths[-1]
    collapses = {curve.study.collapse.depth for curve in curves.curves if curve.study.collapse}
    rules = [Rule("x", depth, "collapse") for depth in sorted(collapses) if depth <= deepest]
    beyond = sorted(depth for depth in collapses if depth > deepest)
    depths = ", ".join(f"{depth:,}" for depth in beyond)
    return rules, [f"collapse: from K = {depths} on"] if beyond else []
