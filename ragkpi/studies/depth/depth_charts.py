"""The charts of `ragkpi depth`: what depth costs in bits, and what it gains in success."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import numpy as np

from ragkpi.charts.chart import Axis, Chart, Line, PlaneChart, Rule
from ragkpi.studies.depth.depth_curves import Curve, Curves

_MOST_TICKS = 15
_VISIBLE = 0.02  # relative difference that a line's width does not hide


def depth_charts(curves: Curves) -> list[Chart]:
    """Draw Bits-over-Random under its ceiling, and success above chance, by depth."""
    ticks = curves.depths if len(curves.depths) <= _MOST_TICKS else ()
    depth = Axis("K, documents retrieved", "log", ticks=ticks)
    if curves.corpus_size is not None:
        depth = Axis(f"K, shown of {curves.corpus_size:,}", "log", ticks=ticks)
    rules = list(_rules(curves))
    bits = [
        *_of_runs(curves, "bor"),
        *_shared(curves, "bor_max", "ceiling BoR_max"),
    ]
    rates = [*_of_runs(curves, "p_obs"), *_shared(curves, "p_rand", "chance P_rand")]
    return [
        PlaneChart(
            "Bits-over-Random by depth",
            depth,
            Axis("BoR (bits)", low=_floor(bits)),
            bits,
            rules=rules,
        ),
        PlaneChart(
            "Success and chance by depth",
            depth,
            Axis("share of queries", low=0, high=1),
            rates,
            rules=rules,
        ),
    ]


def _of_runs(curves: Curves, measure: str) -> Iterator[Line]:
    return (_line(curves, curve, measure, curve.name) for curve in curves.curves if curve.name)


def _shared(curves: Curves, measure: str, name: str) -> Iterator[Line]:
    """Draw what the queries alone decide: once, unless the runs have visibly other queries."""
    lines = {c.name: _line(curves, c, measure, name, "ceiling") for c in curves.curves}
    first, *others = lines.values()
    if all(np.allclose(line.y, first.y, rtol=_VISIBLE, equal_nan=True) for line in others):
        return iter([first])
    return (replace(line, name=f"{name} of {run}") for run, line in lines.items())


def _line(
    curves: Curves,
    curve: Curve,
    measure: str,
    name: str,
    role: Literal["curve", "ceiling"] = "curve",
) -> Line:
    values = [curve.value(measure, depth) for depth in curves.depths]
    bounds = [curve.interval(measure, depth) for depth in curves.depths]
    known = [bound for bound in bounds if bound is not None and role == "curve"]
    return Line(
        name,
        curves.depths,
        [math.nan if value is None else value for value in values],
        [bound.low for bound in known],
        [bound.high for bound in known],
        role,
    )


def _floor(lines: list[Line]) -> float | None:
    """Let bits begin at 0, unless some curve is below chance."""
    lowest = min((y for line in lines for y in line.y if math.isfinite(y)), default=0.0)
    return 0.0 if lowest >= 0 else None


def _rules(curves: Curves) -> Iterator[Rule]:
    studies = [curve.study for curve in curves.curves]
    boundaries = {s.collapse.depth: "collapse" for s in studies if s.collapse}
    choice = studies[0].choice
    if choice and choice.limit != "collapse" and not curves.several:
        boundaries[choice.depth] = f"K = {choice.depth}"
    for depth, name in sorted(boundaries.items()):
        if curves.depths[0] <= depth <= curves.depths[-1]:
            yield Rule("x", depth, name)
