"""Charts as plain text, for terminals and logs."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from itertools import cycle, pairwise

from ragkpi.charts.chart import (
    Chart,
    Extent,
    IntervalChart,
    IntervalRow,
    Line,
    PlaneChart,
    Points,
    extent_of,
    small_print,
    with_markers,
)
from ragkpi.reports.names import short_names
from ragkpi.wording import visible

_MARKERS = "o+x*#@%&"
_BETWEEN, _CEILING, _ACROSS, _DOWN, _BAND = "·", "-", "┄", "┊", ":"
_HEIGHT = 15
_STUCK = "\0"  # a space within an entry of a legend, which stays on one line
_NARROWEST = 24  # columns between the axes, however long the labels are


def texts(charts: Sequence[Chart], width: int = 80) -> str:
    """Draw charts one below the other, then their distinct notes."""
    drawn = "\n".join(text(chart, width) for chart in charts)
    lines = [
        line
        for note in small_print(charts)
        for line in textwrap.wrap(note, max(width, _NARROWEST), break_on_hyphens=False)
    ]
    return drawn + "".join(f"{line}\n" for line in lines)


def text(chart: Chart, width: int = 80) -> str:
    """Draw a chart in lines of at most `width` characters, each with a newline.

    The marked point is in parentheses, and bands are columns of colons. A chart that would be
    unreadable at a narrow `width` is wider.
    """
    lines = _intervals(chart, width) if isinstance(chart, IntervalChart) else _plane(chart, width)
    return "".join(f"{visible(line.rstrip())}\n" for line in [chart.title, *lines])


def _nearest(share: float, cells: int) -> int:
    """Return the index of the cell nearest to a share, 0 to 1, of a row's length."""
    return min(max(round(share * (cells - 1)), 0), cells - 1)


def _write(row: list[str], column: int, words: str) -> bool:
    """Write words into a row if they all fit; return whether they do."""
    inside = column >= 0 and column + len(words) <= len(row)
    free = inside and not "".join(row[column : column + len(words)]).strip()
    if free:
        row[column : column + len(words)] = words
    return free


class _Grid:
    """The characters between two axes; later drawing never overwrites earlier drawing."""

    def __init__(self, chart: PlaneChart, width: int) -> None:
        self.x, self.y = extent_of(chart, "x"), extent_of(chart, "y")
        self.width = width
        self.rows = [[" "] * width for _ in range(_HEIGHT)]

    def column(self, share: float) -> int:
        return _nearest(share, self.width)

    def row(self, share: float) -> int:
        return _nearest(1 - share, _HEIGHT)

    def cells(self, x: Iterable[float], y: Iterable[float]) -> list[tuple[int, int]]:
        """Return the column and row of each point that both axes can show."""
        shares = [(self.x.share(a), self.y.share(b)) for a, b in zip(x, y, strict=True)]
        return [(self.column(a), self.row(b)) for a, b in shares if not math.isnan(a + b)]

    def set(self, column: int, row: int, character: str) -> None:
        if self.rows[row][column] == " ":
            self.rows[row][column] = character


def _plane(chart: PlaneChart, width: int) -> list[str]:
    y = extent_of(chart, "y")
    ticks = {at: _number(at) for at in ticks_of(y)}
    margin = max(map(len, ticks.values()))
    grid = _Grid(chart, max(width - margin - 2, _NARROWEST))
    for group, marker in zip(chart.points, cycle(_MARKERS), strict=False):
        for cell in grid.cells(group.x, group.y):
            grid.set(*cell, marker)
    unnamed = [name for group in chart.points for name in _write_labels(group, grid)]
    curves = list(zip(chart.curves, cycle(_MARKERS), strict=False))
    for line, marker in curves:
        for column, row in grid.cells(*zip(line.marked)) if line.marked else ():
            _write(grid.rows[row], column - 1, f"({marker})")
            grid.set(column, row, marker)
    for number, (line, marker) in enumerate(curves):
        points = with_markers(chart, line, number)
        for cell in grid.cells([line.x[i] for i in points], [line.y[i] for i in points]):
            grid.set(*cell, marker)
    for line in chart.lines:
        if line.role != "others":
            _connect(line, grid)
    _write_corners(chart.corners, grid)
    _draw_rules(chart, grid)
    for line in chart.lines:
        for bounds in line.band:
            ends = grid.cells([bounds.x] * 2, [bounds.high, bounds.low])
            if len(ends) == 2:
                (column, top), (_, bottom) = ends
                for row in range(top, bottom + 1):
                    grid.set(column, row, _BAND)
    heads = [""] * _HEIGHT
    for at, mark in ticks.items():
        heads[grid.row(y.share(at))] = mark
    return [
        chart.y.label,
        *(f"{head:>{margin}} │{''.join(row)}" for head, row in zip(heads, grid.rows, strict=True)),
        *_foot(grid.x, grid.width, margin),
        *_legend(chart, width),
        *([f"  without room for a name: {', '.join(unnamed)}"] if unnamed else []),
    ]


def _write_labels(group: Points, grid: _Grid) -> list[str]:
    """Write names beside their points; return the names that do not fit."""
    unnamed = []
    names = short_names([*map(visible, group.labels)], max(grid.width // 3, 12))
    for name, x, y in zip(names, group.x, group.y, strict=False):
        for column, row in grid.cells([x], [y]):
            places = (column + 2, column - 1 - len(name))
            if not any(_write(grid.rows[row], place, name) for place in places):
                unnamed.append(name)
    return unnamed


def _connect(line: Line, grid: _Grid) -> None:
    stroke = _CEILING if line.role == "ceiling" else _BETWEEN
    points = [(grid.x.share(x), grid.y.share(y)) for x, y in zip(line.x, line.y, strict=True)]
    for (x1, y1), (x2, y2) in pairwise(points):
        if math.isnan(x1 + y1 + x2 + y2):
            continue
        first, last = grid.column(x1), grid.column(x2)
        for column in range(first, last + 1):
            share = (column - first) / max(last - first, 1)
            grid.set(column, grid.row(y1 + share * (y2 - y1)), stroke)


def _write_corners(corners: Sequence[str], grid: _Grid) -> None:
    for corner, words in enumerate(corners):
        right, lower = corner % 2, corner // 2
        column = grid.width - len(words) if right else 0
        rows = grid.rows[::-1] if lower else grid.rows
        for row in rows[:3]:  # a point may be in the corner itself
            _write(row, column, words)
            if "".join(row[max(column, 0) :]).startswith(words):
                break


def _draw_rules(chart: PlaneChart, grid: _Grid) -> None:
    for rule in chart.rules:
        at = (grid.x if rule.axis == "x" else grid.y).share(rule.at)
        if not 0 <= at <= 1:
            continue
        if rule.axis == "x":
            column = grid.column(at)
            after = column + 2 + len(rule.name) <= grid.width
            _write(grid.rows[0], column + 1 if after else column - len(rule.name), rule.name)
            for row in range(_HEIGHT):
                grid.set(column, row, _DOWN)
        else:
            row = grid.row(at)
            _write(grid.rows[row], grid.width - len(rule.name), rule.name)
            for column in range(grid.width):
                grid.set(column, row, _ACROSS)


def _foot(extent: Extent, width: int, margin: int) -> list[str]:
    """Draw the horizontal axis, its numbers and its label."""
    line, numbers = ["─"] * width, [" "] * (width + margin + 2)
    for at in ticks_of(extent):
        column = round(extent.share(at) * (width - 1))
        line[column] = "┴"
        number = _number(at)
        start = min(column + margin + 2 - len(number) // 2, len(numbers) - len(number))
        if not "".join(numbers[max(start - 1, 0) : start]).strip():
            _write(numbers, start, number)
    return [
        f"{'':>{margin}} └{''.join(line)}",
        "".join(numbers),
        f"{extent.axis.label:^{width}}".rjust(width + margin + 2),
    ]


def _legend(chart: PlaneChart, width: int) -> list[str]:
    if not chart.needs_legend:
        return []
    named = [
        *((m, group.name) for m, group in zip(cycle(_MARKERS), chart.points) if len(group.x)),
        *zip(cycle(_MARKERS), (line.label for line in chart.curves), strict=False),
        *((_CEILING * 2, line.label) for line in chart.lines if line.role == "ceiling"),
        *((_BAND * 2, line.label) for line in chart.lines if line.role == "others"),
    ]
    entries = [f"{marker} {visible(name)}".replace(" ", _STUCK) for marker, name in named]
    lines = textwrap.wrap(
        "   ".join(entries),
        max(width, _NARROWEST),
        initial_indent="  ",
        subsequent_indent="  ",
        break_on_hyphens=False,
    )
    return [line.replace(_STUCK, " ") for line in lines]


def _intervals(chart: IntervalChart, width: int) -> list[str]:
    names = short_names([visible(row.name) for row in chart.rows], min(32, max(width // 3, 12)))
    margin = max(map(len, names), default=0)
    inside = max(width - margin - 2, _NARROWEST)
    extent = extent_of(chart, "x")
    rules = [_nearest(extent.share(rule.at), inside) for rule in chart.rules if rule.axis == "x"]
    rows = [
        f"{name:>{margin}} │{_interval(row, extent, inside, rules)}"
        for name, row in zip(names, chart.rows, strict=True)
    ]
    return [*rows, *_foot(extent, inside, margin)]


def _interval(row: IntervalRow, extent: Extent, width: int, rules: Sequence[int]) -> str:
    line = [" "] * width
    for column in rules:
        line[column] = _DOWN
    if not (math.isnan(row.low) or math.isnan(row.high)):
        low, high = (
            (0 if bound < 0 else width - 1)
            if math.isinf(bound)
            else _nearest(extent.share(bound), width)
            for bound in (row.low, row.high)
        )
        line[low : high + 1] = ["─"] * (high + 1 - low)
        line[low] = "◂" if math.isinf(row.low) else "├"
        line[high] = "▸" if math.isinf(row.high) else "┤"
    if not math.isnan(value := extent.share(row.value)):
        line[_nearest(value, width)] = "o"
    return "".join(line)


def ticks_of(extent: Extent) -> list[float]:
    """Return an axis's own ticks, or round numbers between its limits."""
    axis, low, high = extent
    slack = 1e-9 * (high - low)
    if axis.ticks:
        return [at for at in axis.ticks if low - slack <= axis.position(at) <= high + slack]
    if axis.scale == "log":
        return [
            10.0**power for power in range(math.ceil(low - slack), math.floor(high + slack) + 1)
        ]
    step = 10.0 ** math.floor(math.log10((high - low) / 2))
    step *= next((factor for factor in (1, 2, 5) if (high - low) / (factor * step) <= 6), 10)
    first, last = math.ceil((low - slack) / step), math.floor((high + slack) / step)
    return [count * step for count in range(first, last + 1)]


def _number(number: float) -> str:
    return f"{number:.4g}" if abs(number) < 10000 else f"{number:g}"
