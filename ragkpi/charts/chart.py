"""Charts as data: curves, points and intervals in the field's terms, with no drawing code.

``picture.draw(charts, "depth.png")`` renders them; ``chart_object`` turns one into JSON for a page
that draws with its own library.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from ragkpi.reports.layout import json_value
from ragkpi.wording import visible

Direction = Literal["x", "y"]


@dataclass(frozen=True)
class Axis:
    """The quantity along one axis of a chart."""

    label: str
    scale: Literal["linear", "log"] = "linear"  # `"log"` only for positive numbers
    low: float | None = None  # the axis starts here or lower, if the data are lower
    high: float | None = None  # the axis ends here or higher; None for the maximum of the data
    ticks: Sequence[float] = ()  # the numbers at the axis; empty chooses round numbers

    def position(self, number: float) -> float:
        """Map a number to the scale of the axis; NaN if the scale has no such number."""
        if self.scale == "linear":
            return number if math.isfinite(number) else math.nan
        return math.log10(number) if 0 < number < math.inf else math.nan


class Mark(NamedTuple):
    """A highlighted point of a curve: its number on the horizontal axis, and its name."""

    at: float
    name: str


class Span(NamedTuple):
    """The interval of a curve at one number of the horizontal axis."""

    x: float
    low: float
    high: float


@dataclass(frozen=True)
class Line:
    """A curve through n points; points that are not finite interrupt it."""

    name: str
    x: Sequence[float]  # length n, ascending
    y: Sequence[float]
    band: Sequence[Span] = ()  # intervals at some or all of its points
    role: Literal["curve", "ceiling", "others"] = "curve"  # "others": only the band is drawn
    mark: Mark | None = None  # the point that answers the question, named in the legend
    series: int = 0  # the place of its run in the call, which decides colour and marker

    @property
    def label(self) -> str:
        return self.name if self.mark is None else f"{self.name}, {self.mark.name}"


@dataclass(frozen=True)
class Points:
    """A group of n unordered points, perhaps with names."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    labels: Sequence[str] = ()


@dataclass(frozen=True)
class Rule:
    """A straight line across the chart, at a number of one axis: a threshold, a boundary."""

    axis: Direction
    at: float
    name: str = ""


@dataclass(frozen=True)
class PlaneChart:
    """Lines and points over two axes."""

    title: str
    x: Axis
    y: Axis
    lines: Sequence[Line] = ()
    points: Sequence[Points] = ()
    rules: Sequence[Rule] = ()
    corners: Sequence[str] = ()  # names of quadrants: upper left and right, lower left and right
    notes: Sequence[str] = ()  # small print: sizes, the signature, values that are not drawn

    @property
    def drawn(self) -> list[Line | Points]:
        return [*self.lines, *self.points]


@dataclass(frozen=True)
class IntervalRow:
    """A row of a chart of intervals: a value between its bounds."""

    name: str
    low: float
    value: float
    high: float
    queries: Sequence[float] = ()  # the values of single queries, drawn as a strip of dots
    series: int = 0  # as in `Line`


@dataclass(frozen=True)
class IntervalChart:
    """Horizontal intervals, stacked from the top; `notes` as in `PlaneChart`."""

    title: str
    x: Axis
    rows: Sequence[IntervalRow]
    rules: Sequence[Rule] = ()
    notes: Sequence[str] = ()


_MOST_CURVES = 8  # that readers can distinguish


def gathered(lines: Sequence[Line], leaders: Sequence[Line]) -> list[Line]:
    """Keep the leaders of more than eight curves; draw only the range of the others."""
    if len(lines) <= _MOST_CURVES:
        return list(lines)
    values: dict[float, list[float]] = {}
    others = [line for line in lines if not any(line is leader for leader in leaders)]
    for line in others:
        for x, y in zip(line.x, line.y, strict=True):
            if math.isfinite(y):
                values.setdefault(x, []).append(y)
    band = [Span(x, min(values[x]), max(values[x])) for x in sorted(values)]
    middle = [(span.low + span.high) / 2 for span in band]
    name = f"range of {len(others)} others"
    leading = [line for line in lines if line not in others]
    return [*leading, Line(name, sorted(values), middle, band, "others")]


def best_first(rows: Iterable[IntervalRow], sign: float = 1) -> list[IntervalRow]:
    """Sort rows by value, largest first, or smallest first with a sign of -1; NA last."""
    return sorted(rows, key=lambda row: (math.isnan(row.value), -sign * row.value))


Chart = PlaneChart | IntervalChart
# Makes an answer's charts when they are drawn.
Charts = Callable[[], Sequence[Chart]]


def noted(charts: Sequence[Chart], notes: Sequence[str]) -> list[Chart]:
    """Add small print to all charts of an answer."""
    return [replace(chart, notes=[*chart.notes, *notes]) for chart in charts]


def small_print(charts: Sequence[Chart]) -> list[str]:
    """Return the distinct notes of charts, and name the values that cannot be drawn."""
    notes = [visible(note) for chart in charts for note in (*chart.notes, *_undrawn(chart))]
    return list(dict.fromkeys(notes))


def _undrawn(chart: Chart) -> Iterator[str]:
    if isinstance(chart, IntervalChart):
        undrawable = [row.name for row in chart.rows if math.isnan(chart.x.position(row.value))]
        if undrawable:
            yield f"{chart.title}: no finite value of {', '.join(undrawable)}"
        return
    lacking: dict[str, list[str]] = {}
    for drawn in chart.drawn:
        points = zip(drawn.x, drawn.y, strict=True)
        lacks = sum(math.isnan(chart.x.position(x) + chart.y.position(y)) for x, y in points)
        if lacks:
            lacking.setdefault(f"{lacks:,} of {len(drawn.x):,} points", []).append(drawn.name)
    for where, names in lacking.items():
        have = "has" if len(names) == 1 else "have"
        yield f"{chart.title}: {', '.join(names)} {have} no finite value at {where}"


def chart_object(chart: Chart) -> dict[str, Any]:
    """Return a chart as JSON data, valid under ``schema.json#/$defs/chart``; NaN becomes null."""
    kind = "plane" if isinstance(chart, PlaneChart) else "intervals"
    return {"kind": kind, **json_value(chart)}
