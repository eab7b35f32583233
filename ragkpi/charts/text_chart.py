"""Charts as plain text, for terminals and logs."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

from ragkpi.charts.chart import (
    Axis,
    Chart,
    IntervalChart,
    IntervalRow,
    Line,
    PlaneChart,
    Points,
    extent,
    row_names,
    small_print,
    with_markers,
)
from ragkpi.wording import visible

_MARKERS = "o+x*#@%&"
_BETWEEN, _CEILING, _ACROSS, _DOWN, _BAND = "·", "-", "┄", "┊", ":"
_HEIGHT = 15
_NARROWEST = 24  # columns between the axes, however long the labels are


def texts(charts: Sequence[Chart], width: int = 80) -> str:
    """Draw charts below each other, then the small print of all, each note once."""
    notes = dict.fromkeys(visible(note) for chart in charts for note in small_print(chart))
    lines = [
        line
        for note in notes
        for line in textwrap.wrap(note, max(width, _NARROWEST), break_on_hyphens=False)
    ]
    drawn = "\n".join(text(chart, width) for chart in charts)
    return drawn + "".join(f"{line}\n" for line in lines)


def text(chart: Chart, width: int = 80) -> str:
    """Draw a chart in lines of at most `width` characters, with a newline at the end of each.

    The point of a mark stands in parentheses, bands are columns of colons. A narrow width is
    exceeded rather than making the chart unreadable.
    """
    lines = _intervals(chart, width) if isinstance(chart, IntervalChart) else _plane(chart, width)
    return "".join(f"{visible(line.rstrip())}\n" for line in [chart.title, *lines])


class _Grid:
    """Characters at places from 0 to 1 of both directions; what is set first stays."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.rows = [[" "] * width for _ in range(height)]

    def column(self, share: float) -> int:
        return min(max(round(share * (self.width - 1)), 0), self.width - 1)

    def row(self, share: float) -> int:
        return min(max(round((1 - share) * (self.height - 1)), 0), self.height - 1)

    def set(self, column: int, row: int, character: str) -> None:
        if self.rows[row][column] == " ":
            self.rows[row][column] = character

    def write(self, column: int, row: int, words: str) -> bool:
        """Write words where all their places are free; say whether they are."""
        inside = column >= 0 and column + len(words) <= self.width
        free = inside and not "".join(self.rows[row][column : column + len(words)]).strip()
        if free:
            self.rows[row][column : column + len(words)] = words
        return free


def _plane(chart: PlaneChart, width: int) -> list[str]:
    marks = [_number(at) for at in _ticks(chart.y, *extent(chart, "y"))]
    margin = max(map(len, marks))
    grid = _Grid(max(width - margin - 2, _NARROWEST), _HEIGHT)
    for group, marker in zip(chart.points, _markers(chart.points), strict=True):
        for x, y in _positions(chart, group.x, group.y):
            grid.set(grid.column(x), grid.row(y), marker)
    unnamed = [name for group in chart.points for name in _write_labels(chart, group, grid)]
    curves = list(zip(chart.curves, _markers(chart.curves), strict=True))
    for line, marker in curves:
        for x, y in _positions(chart, *([number] for number in line.marked or ())):
            grid.write(grid.column(x) - 1, grid.row(y), f"({marker})")
            grid.set(grid.column(x), grid.row(y), marker)
    for number, (line, marker) in enumerate(curves):
        chosen = with_markers(chart, line, number)
        for x, y in _positions(chart, [line.x[i] for i in chosen], [line.y[i] for i in chosen]):
            grid.set(grid.column(x), grid.row(y), marker)
    for line in chart.lines:
        _connect(chart, line, grid)
    _write_corners(chart.corners, grid)
    _draw_rules(chart, grid)
    for line in chart.lines:
        _fill_band(chart, line, grid)
    heads = [""] * _HEIGHT
    low, high = extent(chart, "y")
    for at, mark in zip(_ticks(chart.y, low, high), marks, strict=True):
        heads[grid.row((chart.y.position(at) - low) / (high - low))] = mark
    return [
        chart.y.label,
        *(f"{head:>{margin}} │{''.join(row)}" for head, row in zip(heads, grid.rows, strict=True)),
        *_foot(chart.x, extent(chart, "x"), grid.width, margin),
        *_legend(chart, width),
        *([f"  without room for a name: {', '.join(unnamed)}"] if unnamed else []),
    ]


def _write_labels(chart: PlaneChart, group: Points, grid: _Grid) -> list[str]:
    """Name points beside them; return the names that there is no room for."""
    unnamed = []
    names = row_names(group.labels, max(grid.width // 3, 12))
    for name, across, up in zip(names, group.x, group.y, strict=False):
        for x, y in _positions(chart, [across], [up]):
            column, row = grid.column(x), grid.row(y)
            written = grid.write(column + 2, row, name) or grid.write(
                column - 1 - len(name), row, name
            )
            if not written:
                unnamed.append(name)
    return unnamed


def _markers(drawn: Sequence[object]) -> list[str]:
    return [_MARKERS[index % len(_MARKERS)] for index in range(len(drawn))]


def _positions(
    chart: PlaneChart, x: Sequence[float] = (), y: Sequence[float] = ()
) -> list[tuple[float, float]]:
    """Return where points stand, from 0 to 1, those that are finite."""
    left, right = extent(chart, "x")
    bottom, top = extent(chart, "y")
    points = [
        (
            (chart.x.position(across) - left) / (right - left),
            (chart.y.position(up) - bottom) / (top - bottom),
        )
        for across, up in zip(x, y, strict=True)
    ]
    return [point for point in points if not math.isnan(sum(point))]


def _connect(chart: PlaneChart, line: Line, grid: _Grid) -> None:
    stroke = _CEILING if line.role == "ceiling" else _BETWEEN
    finite = [math.isfinite(x + two) for x, two in zip(line.x, line.y, strict=True)]
    for index in range(len(line.x) - 1):
        ends = slice(index, index + 2)
        segment = _positions(chart, line.x[ends], line.y[ends])
        if not all(finite[ends]) or len(segment) < 2:
            continue
        (x1, y1), (x2, y2) = segment
        first, last = grid.column(x1), grid.column(x2)
        for column in range(first, last + 1):
            share = (column - first) / max(last - first, 1)
            grid.set(column, grid.row(y1 + share * (y2 - y1)), stroke)


def _fill_band(chart: PlaneChart, line: Line, grid: _Grid) -> None:
    for bounds in line.band:
        ends = _positions(chart, [bounds.x] * 2, [bounds.low, bounds.high])
        if len(ends) == 2:
            (x, low), (_, high) = ends
            for row in range(grid.row(high), grid.row(low) + 1):
                grid.set(grid.column(x), row, _BAND)


def _write_corners(corners: Sequence[str], grid: _Grid) -> None:
    for corner, words in enumerate(corners):
        right, lower = corner % 2, corner // 2
        column = grid.width - len(words) if right else 0
        rows = range(grid.height)[::-1] if lower else range(grid.height)
        for row in rows[:3]:  # a point may stand in the corner itself
            grid.write(column, row, words)
            if "".join(grid.rows[row][max(column, 0) :]).startswith(words):
                break


def _draw_rules(chart: PlaneChart, grid: _Grid) -> None:
    for rule in chart.rules:
        axis = chart.x if rule.axis == "x" else chart.y
        low, high = extent(chart, rule.axis)
        at = (axis.position(rule.at) - low) / (high - low)
        if not 0 <= at <= 1:
            continue
        if rule.axis == "x":
            column = grid.column(at)
            after = column + 2 + len(rule.name) <= grid.width
            grid.write(column + 1 if after else column - len(rule.name), 0, rule.name)
            for row in range(grid.height):
                grid.set(column, row, _DOWN)
        else:
            row = grid.row(at)
            grid.write(grid.width - len(rule.name), row, rule.name)
            for column in range(grid.width):
                grid.set(column, row, _ACROSS)


def _foot(axis: Axis, limits: tuple[float, float], width: int, margin: int) -> list[str]:
    low, high = limits
    line, numbers = ["─"] * width, _Grid(width + margin + 2, 1)
    for at in _ticks(axis, low, high):
        column = round((axis.position(at) - low) / (high - low) * (width - 1))
        line[column] = "┴"
        mark = _number(at)
        start = min(column + margin + 2 - len(mark) // 2, numbers.width - len(mark))
        before = "".join(numbers.rows[0][max(start - 1, 0) : start])
        if not before.strip():
            numbers.write(start, 0, mark)
    return [
        f"{'':>{margin}} └{''.join(line)}",
        "".join(numbers.rows[0]),
        f"{axis.label:^{width}}".rjust(width + margin + 2),
    ]


def _legend(chart: PlaneChart, width: int) -> list[str]:
    entries = [
        *zip(_markers(chart.points), (group.name for group in chart.points), strict=True),
        *zip(_markers(chart.curves), (line.label for line in chart.curves), strict=True),
        *((_CEILING * 2, line.label) for line in chart.lines if line.role == "ceiling"),
    ]
    if not chart.needs_legend:
        return []
    lines = [""]
    for mark, name in entries:
        entry = f"{mark} {visible(name)}"
        if lines[-1] and len(lines[-1]) + 3 + len(entry) > width:
            lines.append("")
        lines[-1] += f"{'   ' if lines[-1] else '  '}{entry}"
    broken = [
        textwrap.wrap(line, max(width, _NARROWEST), initial_indent="  ", subsequent_indent="    ")
        if len(line) > width
        else [line]
        for line in lines
    ]
    return [line for parts in broken for line in parts]


def _intervals(chart: IntervalChart, width: int) -> list[str]:
    names = row_names([row.name for row in chart.rows], min(32, max(width // 3, 12)))
    margin = max(map(len, names), default=0)
    inside = max(width - margin - 2, _NARROWEST)
    limits = extent(chart, "x")
    zeros = [rule.at for rule in chart.rules if rule.axis == "x"]
    rows = [
        f"{name:>{margin}} │{_interval(row, chart.x, limits, inside, zeros)}"
        for name, row in zip(names, chart.rows, strict=True)
    ]
    return [*rows, *_foot(chart.x, limits, inside, margin)]


def _interval(
    row: IntervalRow, axis: Axis, limits: tuple[float, float], width: int, rules: Sequence[float]
) -> str:
    def column(number: float) -> int:
        if math.isinf(number):
            return 0 if number < 0 else width - 1
        at = (axis.position(number) - limits[0]) / (limits[1] - limits[0])
        return min(max(round(at * (width - 1)), 0), width - 1)

    line = [" "] * width
    for at in rules:
        line[column(at)] = _DOWN
    if not (math.isnan(row.low) or math.isnan(row.high)):
        low, high = column(row.low), column(row.high)
        line[low : high + 1] = ["─"] * (high + 1 - low)
        line[low] = "◂" if math.isinf(row.low) else "├"
        line[high] = "▸" if math.isinf(row.high) else "┤"
    if math.isfinite(axis.position(row.value)):
        line[column(row.value)] = "o"
    return "".join(line)


def _ticks(axis: Axis, low: float, high: float) -> list[float]:
    """Return the numbers at an axis: those it asks for, or round ones between its limits."""
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
