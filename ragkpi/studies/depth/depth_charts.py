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
_CHANCE = "chance P_rand"
_CEILING = "ceiling BoR_max"


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
    rules, notes = _collapse(curves, traces)
    runs = [pair for pair in zip(curves.curves, traces, strict=True) if pair[0].name]
    ceiling = PlaneChart(
        "What depth costs: the most bits a system can have",
        depth,
        Axis("BoR_max (bits)", low=0),
        _shared(curves, traces, "ceiling", _CEILING),
        rules=rules,
    )
    chance = _shared(curves, traces, "chance", _CHANCE)
    rates = Axis("share of queries", low=0, high=1)
    if not runs:
        return noted(
            [ceiling, PlaneChart("Chance by depth", depth, rates, chance, rules=rules)], notes
        )
    notes += [
        f"{curve.name}: no depth can be recommended" for curve, _ in runs if _mark(curve) is None
    ]
    success = [_line(curves, curve, trace, "p_obs", trace.success) for curve, trace in runs]
    distance = [
        _line(curves, curve, trace, "bor", trace.bits - trace.ceiling, trace.ceiling)
        for curve, trace in runs
    ]
    return noted(
        [
            PlaneChart(
                "Success and chance by depth", depth, rates, [*success, *chance], rules=rules
            ),
            PlaneChart(
                "Distance from the ceiling by depth",
                depth,
                Axis("BoR - BoR_max (bits)", high=0),
                distance,
                rules=[*rules, Rule("y", 0, "ceiling")],
            ),
            ceiling,
        ],
        notes,
    )


def _line(
    curves: Curves,
    curve: Curve,
    trace: Trace,
    measure: str,
    y: FloatArray,
    below: FloatArray | None = None,
) -> Line:
    """Draw a run; its intervals are moved as its values are, to lie `below` something."""
    row_of = {depth: row for row, depth in enumerate(trace.depths.tolist())}
    band = []
    for depth in curves.depths:
        interval = curve.interval(measure, depth)
        if interval is not None:
            shift = 0.0 if below is None else float(below[row_of[depth]])
            band.append(Span(depth, interval.low - shift, interval.high - shift))
    return Line(curve.name, trace.depths.tolist(), y.tolist(), band, mark=_mark(curve))


def _mark(curve: Curve) -> Mark | None:
    choice = curve.study.choice
    if choice is None or not choice.grounded:
        return None
    return Mark(choice.depth, f"retrieve {choice.depth:,}")


def _shared(curves: Curves, traces: Sequence[Trace], field: str, name: str) -> list[Line]:
    """Draw what the queries alone decide: once, unless the runs have visibly other queries."""
    values = [getattr(trace, field) for trace in traces]
    x = traces[0].depths.tolist()
    first = Line(name, x, values[0].tolist(), role="ceiling")
    if all(np.allclose(other, values[0], rtol=_VISIBLE, equal_nan=True) for other in values):
        choice = curves.curves[0].study.choice
        if curves.corpus_size is None or choice is None:
            return [first]
        return [Line(name, x, first.y, mark=Mark(choice.depth, f"show at most {choice.depth:,}"))]
    return [
        Line(f"{name} of {curve.name}", x, of_run.tolist(), role="ceiling")
        for curve, of_run in zip(curves.curves, values, strict=True)
    ]


def _collapse(curves: Curves, traces: Sequence[Trace]) -> tuple[list[Rule], list[str]]:
    """Mark where chance alone succeeds, or say that it lies deeper than what is drawn."""
    deepest = max(int(trace.depths[-1]) for trace in traces)
    collapses = {curve.study.collapse.depth for curve in curves.curves if curve.study.collapse}
    rules = [Rule("x", depth, "collapse") for depth in sorted(collapses) if depth <= deepest]
    beyond = sorted(depth for depth in collapses if depth > deepest)
    notes = (
        [f"collapse: from K = {', '.join(f'{depth:,}' for depth in beyond)} on"] if beyond else []
    )
    return rules, notes
