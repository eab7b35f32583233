"""The charts of `ragkpi depth`: what depth gains in success, and what it costs in bits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragkpi.charts.chart import Axis, Chart, Line, Mark, PlaneChart, Rule, Span, noted
from ragkpi.ranking.judged import FloatArray
from ragkpi.studies.depth.depth_curves import Curve, Curves
from ragkpi.studies.depth.depth_trace import Trace

_MOST_TICKS = 15
_VISIBLE = 0.02  # relative difference that a line's width does not hide


def depth_charts(curves: Curves, traces: Sequence[Trace]) -> list[Chart]:
    """Draw success above chance, the distance of BoR from its ceiling, and the ceiling.

    Parameters
    ----------
    curves
        What the table shows: its depths are numbered on the axis, its intervals are bands.
    traces
        Of the same runs, at more depths.
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
    """Draw a run; intervals are shifted with the values, where these are drawn `below` a curve."""
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
    """Draw a curve that depends on the queries alone: once, if the runs' are visibly the same."""
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
    """Mark where chance alone succeeds, or note that it lies deeper than the chart."""
    deepest = max(int(trace.depths[-1]) for trace in traces)
    collapses = {curve.study.collapse.depth for curve in curves.curves if curve.study.collapse}
    rules = [Rule("x", depth, "collapse") for depth in sorted(collapses) if depth <= deepest]
    beyond = sorted(depth for depth in collapses if depth > deepest)
    notes = (
        [f"collapse: from K = {', '.join(f'{depth:,}' for depth in beyond)} on"] if beyond else []
    )
    return rules, notes
