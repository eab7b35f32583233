"""Charts as data: what is drawn, in the field's terms, without saying how.

``picture.draw([chart, …], "depth.png")`` and ``text.text(chart, width)`` render them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ragkpi.wording import visible


@dataclass(frozen=True)
class Axis:
    """What one direction of a chart measures.

    Attributes
    ----------
    label
        The quantity, with its unit if it has one.
    scale
        ``"log"`` only for positive numbers.
    low, high
        Limits; None for what the data need.
    ticks
        Where numbers stand; empty for round ones.
    """

    label: str
    scale: Literal["linear", "log"] = "linear"
    low: float | None = None
    high: float | None = None
    ticks: Sequence[float] = ()

    def place(self, number: float) -> float:
        """Return a number on the scale of the axis; NaN if it has no place there."""
        if self.scale == "linear":
            return number if math.isfinite(number) else math.nan
        return math.log10(number) if 0 < number < math.inf else math.nan


@dataclass(frozen=True)
class Line:
    """A curve through n points; points that are not finite interrupt it.

    Attributes
    ----------
    name
        What the legend calls it.
    x, y : length n
        Its points, x ascending.
    low, high : length n, or empty
        A band around it, such as a bootstrap interval.
    role
        A ``"ceiling"`` is what could be reached at most: dashed, and without markers.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    role: Literal["curve", "ceiling"] = "curve"


@dataclass(frozen=True)
class Points:
    """A group of n points without order, each with a name of its own or none."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    labels: Sequence[str] = ()


@dataclass(frozen=True)
class Rule:
    """A straight line across the chart, at a number of one axis: a threshold, a boundary."""

    axis: Literal["x", "y"]
    at: float
    name: str = ""


@dataclass(frozen=True)
class PlaneChart:
    """Lines and points over two axes.

    Attributes
    ----------
    title
        What the chart shows, in a few words.
    x, y
        The axes.
    lines, points, rules
        What stands in it.
    corners
        Texts for the upper left, upper right, lower left and lower right corner: the names of
        quadrants; empty for none.
    """

    title: str
    x: Axis
    y: Axis
    lines: Sequence[Line] = ()
    points: Sequence[Points] = ()
    rules: Sequence[Rule] = ()
    corners: Sequence[str] = ()

    @property
    def curves(self) -> list[Line]:
        """The lines that are no ceilings."""
        return [line for line in self.lines if line.role == "curve"]

    @property
    def needs_legend(self) -> bool:
        """Whether a single curve or group, which the title names, is not all there is."""
        return len(self.lines) + len(self.points) > 1 or any(
            line.role == "ceiling" for line in self.lines
        )


@dataclass(frozen=True)
class IntervalRow:
    """A row of a chart of intervals: a value, and how far it could be elsewhere."""

    name: str
    low: float
    value: float
    high: float


@dataclass(frozen=True)
class IntervalChart:
    """Horizontal intervals under each other, the first one on top."""

    title: str
    x: Axis
    rows: Sequence[IntervalRow]
    rules: Sequence[Rule] = ()


Chart = PlaneChart | IntervalChart

_LONGEST_NAME = 32


def shortened(name: str, longest: int = _LONGEST_NAME) -> str:
    """Cut the name of a row that would take the room of its interval."""
    name = visible(name)
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def extent(chart: Chart, direction: Literal["x", "y"]) -> tuple[float, float]:
    """Return the limits of an axis on its own scale, from what is drawn where it has none.

    They are never equal. Without anything drawable they are 0 and 1.
    """
    axis = chart.x if direction == "x" or isinstance(chart, IntervalChart) else chart.y
    places = [axis.place(number) for number in _numbers(chart, direction)]
    known = [place for place in places if not math.isnan(place)] or [0.0, 1.0]
    low = min(known) if axis.low is None else axis.place(axis.low)
    high = max(known) if axis.high is None else axis.place(axis.high)
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def _numbers(chart: Chart, direction: Literal["x", "y"]) -> Iterator[float]:
    if isinstance(chart, IntervalChart):
        for row in chart.rows:
            yield from (row.low, row.value, row.high)
    else:
        drawings: list[Line | Points] = [*chart.lines, *chart.points]
        for drawn in drawings:
            yield from drawn.x if direction == "x" else drawn.y
        for line in chart.lines:
            yield from (*line.low, *line.high) if direction == "y" else ()
    for rule in chart.rules:
        if rule.axis == direction:
            yield rule.at
