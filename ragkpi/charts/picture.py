"""Charts as PNG, SVG and PDF through matplotlib: one page, panels in rows, small print below.

Pictures are readable without colour: curves differ in marker and stroke, ceilings are dashed. A
run has one colour and one marker in all panels.
"""

from __future__ import annotations

import importlib.util
import math
import os
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal

from ragkpi.charts.chart import (
    Axis,
    Chart,
    Direction,
    IntervalChart,
    Line,
    PlaneChart,
    Points,
    Rule,
    extent_of,
    noted,
    small_print,
)
from ragkpi.errors import UsageError
from ragkpi.reports.names import short_names
from ragkpi.reports.output_files import replacing
from ragkpi.wording import visible

MOST_PANELS = 60
PlotSize = Literal["screen", "column", "page"]
# Widths of columns and pages of papers, in inches; a screen is as wide as its panels.
_WIDTHS: Mapping[PlotSize, float] = {"column": 3.35, "page": 7.0}
_PANEL = 5.2  # inches, on a screen
_TALLEST = 1.2  # maximum height of a page over its width, if panels have their minimum height
_LEAST_PANEL, _BELOW = 2.2, 1.4  # inches: minimum of a panel; legends and small print
_DPI = 150
_SMALL = 7  # points
_NAME, _NAME_PER_INCH = 60, 13  # characters per line of a legend on wide and narrow pages
_LABEL_LINES = {"x": 3, "y": 2}  # of an axis; more would shrink the chart
_MOST_COLUMNS = 6

# A legend's entries: matplotlib lines or groups of points, by their texts.
Entries = dict[str, Any]


class Page:
    """A matplotlib figure with a panel per chart, in order, for as many charts as fit."""

    def __init__(self, charts: Sequence[Chart], size: PlotSize) -> None:
        matplotlib = _matplotlib()
        self.charts = list(charts[:MOST_PANELS])
        if len(charts) > MOST_PANELS:
            more = len(charts) - MOST_PANELS
            self.charts = noted(self.charts, [f"{more} more charts are not drawn; see the table"])
        count = len(self.charts)
        self._columns = _columns(count, size)
        self._width = _WIDTHS.get(size, _PANEL * self._columns)
        self._panel = self._width / self._columns
        heights = [
            1.2 + _pitch(chart) * len(chart.rows)
            if isinstance(chart, IntervalChart)
            else 0.73 * self._panel
            for chart in self.charts
        ]
        rows = range(0, count, self._columns)
        least = min(_LEAST_PANEL, 0.45 * self._panel)
        most = max(least, (_TALLEST * self._width - _BELOW) / max(len(rows), 1))
        self._heights = [
            min(max(least, *heights[start : start + self._columns]), most) for start in rows
        ]
        inches = self._width, sum(self._heights)
        self.figure = matplotlib.figure.Figure(figsize=inches, layout="constrained", dpi=_DPI)
        matplotlib.backends.backend_agg.FigureCanvasAgg(self.figure)  # measures texts
        grid = self.figure.subplots(
            len(self._heights),
            self._columns,
            squeeze=False,
            gridspec_kw={"height_ratios": self._heights},
        )
        self.panels = list(grid.flat)[:count]
        for empty in list(grid.flat)[count:]:
            empty.remove()

    def draw(self) -> None:
        """Draw every chart into its panel, with legend and small print below on a taller page."""
        room = self._panel / _PANEL
        entries: Entries = {}
        for place, (chart, axes) in enumerate(zip(self.charts, self.panels, strict=True)):
            entries |= _panel(chart, axes, room, self._heights[place // self._columns])
        legend = self._legend(entries) if entries else None
        below = 0.0 if legend is None else _inches(legend)[1] + 0.1
        notes = self._notes()
        printed = len(notes) * _SMALL * 1.35 / 72 + 0.08 if notes else 0.0
        height = sum(self._heights) + below + printed
        self.figure.set_size_inches(self._width, height)
        foot = (below + printed) / height
        layout: Any = self.figure.get_layout_engine()
        layout.set(rect=(0, foot, 1, 1 - foot))
        if legend is not None:
            legend.set_bbox_to_anchor((0.5, printed / height), self.figure.transFigure)
            legend.set_in_layout(False)
        self.figure.text(
            0.08 / self._width,
            0.06 / height,
            "\n".join(notes),
            fontsize=_SMALL,
            color="#555555",
            va="bottom",
            linespacing=1.25,
        )

    def _legend(self, entries: Entries) -> Any:
        longest = min(_NAME, int(_NAME_PER_INCH * self._width))
        texts = [_wrapped(name, longest) for name in entries]
        for columns in range(min(len(entries), _MOST_COLUMNS), 0, -1):
            legend = self.figure.legend(
                entries.values(),
                map(str, range(len(entries))),  # matplotlib hides texts that begin with "_"
                ncols=columns,
                frameon=False,
                fontsize=8,
                loc="lower center",
            )
            for drawn, text in zip(legend.get_texts(), texts, strict=True):
                drawn.set_text(text)
            if _inches(legend)[0] <= 0.97 * self._width or columns == 1:
                break
            legend.remove()
        return legend

    def _notes(self) -> list[str]:
        width = int(self._width * 72 / (_SMALL * 0.56))
        return [
            line
            for note in small_print(self.charts)
            for line in textwrap.wrap(note, width, subsequent_indent="  ")
        ]


def _columns(count: int, size: PlotSize) -> int:
    """Return the number of panels side by side, so that a page is not too tall."""
    if size != "screen":
        return max(1, min(count, 2)) if size == "page" else 1
    columns = max(count, 1) if count <= 3 else 2 + count % 2
    while math.ceil(count / columns) * _LEAST_PANEL > _TALLEST * _PANEL * columns - _BELOW:
        columns += 2
    return columns


def _inches(legend: Any) -> tuple[float, float]:
    box = legend.get_window_extent()
    return float(box.width) / _DPI, float(box.height) / _DPI


_FORMATS = ("png", "svg", "pdf")
_UNDATED = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}  # equal pictures, equal files
_MARKERS = "osD^vPX*"
_MARKERS_OF_A_CURVE = 7
_STROKES = ("-", (0, (1, 1)), "-.", (0, (5, 1)))
# Okabe and Ito's colours, ordered by lightness so that neighbours also differ in greyscale.
_COLOURS = ("#000000", "#D55E00", "#0072B2", "#E69F00", "#009E73", "#56B4E9", "#CC79A7", "#777700")
_GREY = "#777777"
_NEAREST = 0.05  # share of an axis: the minimum distance of two ticks
_LONGEST_TITLE = 60  # characters that fit into a panel
_LONGEST_AXIS = 45  # characters below an axis next to names of rows
_LONGEST_LABEL = 30  # characters that fit into half a panel
_LONGEST_ROW = 32  # characters that leave room for intervals
_NAME_HEIGHT = 0.13  # inches
_PITCH, _STRIP_PITCH = 0.24, 0.5  # inches from row to row, without and with a strip of queries
_STYLE: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "svg.hashsalt": "ragkpi",  # equal pictures give equal files
    "svg.fonttype": "none",
    "pdf.fonttype": 42,  # conferences refuse Type 3
    "text.parse_math": False,  # a dollar in a run's name stays a dollar
}


def refuse_undrawable(path: str) -> None:
    """Raise `UsageError` early if no picture can be drawn to this path."""
    if path.rpartition(".")[2].lower() not in _FORMATS:
        raise UsageError(
            f"--plot {path}: no such kind of picture; expected a file .png, .svg or .pdf"
        )
    if importlib.util.find_spec("matplotlib") is None:
        raise UsageError(f"--plot {path}: matplotlib is not installed; pip install 'ragkpi[plot]'")


def draw(charts: Sequence[Chart], path: str, size: PlotSize = "screen") -> None:
    """Draw charts side by side into one file, PNG, SVG or PDF by its suffix."""
    refuse_undrawable(path)
    matplotlib = _matplotlib()
    form = path.rpartition(".")[2].lower()
    figure = figure_of(charts, size)
    with matplotlib.rc_context(_STYLE), replacing(path, "--plot") as file:
        figure.savefig(file, format=form, metadata=_UNDATED.get(form))


def figure_of(charts: Sequence[Chart], size: PlotSize = "screen") -> Any:
    """Draw charts side by side as a matplotlib figure, for a screen, or a column or page."""
    matplotlib = _matplotlib()
    with matplotlib.rc_context(_STYLE):
        page = Page(charts, size)
        page.draw()
    return page.figure


@cache
def _matplotlib() -> Any:
    """Import matplotlib, but ignore a ``matplotlibrc`` in the working directory."""
    module = importlib.util.find_spec("matplotlib")
    folders = [] if module is None else module.submodule_search_locations or []
    before = os.open(".", os.O_RDONLY) if hasattr(os, "fchdir") else None  # None on Windows
    try:
        for folder in folders if before is not None else ():
            os.chdir(os.path.join(folder, "mpl-data"))
        for part in ("figure", "ticker", "backends.backend_agg"):
            importlib.import_module(f"matplotlib.{part}")
        return importlib.import_module("matplotlib")
    finally:
        if before is not None:
            os.fchdir(before)
            os.close(before)


def _panel(chart: Chart, axes: Any, room: float, height: float) -> Entries:
    """Draw a chart; `room` is its panel's width relative to a screen's."""
    axes.set_title(_wrapped(chart.title, int(_LONGEST_TITLE * room)))
    _set_axis(chart, axes, "x", int(_LONGEST_AXIS * room))
    for rule in chart.rules:
        _rule(rule, axes)
    if isinstance(chart, IntervalChart):
        _intervals(chart, axes, int(_LONGEST_ROW * room), (height - 1.0) / max(len(chart.rows), 1))
        return {}
    _set_axis(chart, axes, "y", int(12 * height))
    return _plane(chart, axes, int(_LONGEST_LABEL * room))


def _wrapped(text: str, longest: int, lines: int | None = None) -> str:
    return "\n".join(textwrap.wrap(visible(text), longest, max_lines=lines, placeholder=" …"))


def _set_axis(chart: Chart, axes: Any, direction: Direction, longest: int) -> None:
    axis = chart.x if direction == "x" or isinstance(chart, IntervalChart) else chart.y
    low, high = extent_of(chart, axis, direction)
    # Texts in corners need room next to points.
    corners = not isinstance(chart, IntervalChart) and chart.corners
    margin = (0.12 if corners else 0.04) * (high - low)
    limits = (low - margin, high + margin)
    if axis.scale == "log":
        axes.set(**{f"{direction}scale": "log"})
        limits = (10 ** limits[0], 10 ** limits[1])
    label = _wrapped(axis.label, longest, _LABEL_LINES[direction])
    axes.set(**{f"{direction}lim": limits, f"{direction}label": label})
    side, ticker = axes.xaxis if direction == "x" else axes.yaxis, _matplotlib().ticker
    if axis.ticks or axis.scale == "log":  # powers of ten would be written in TeX
        side.set_major_formatter(ticker.FuncFormatter(lambda number, _: f"{number:g}"))
        side.set_minor_formatter(ticker.LogFormatter())
    if axis.ticks:
        side.set_major_locator(ticker.FixedLocator(_apart(axis, _NEAREST * (high - low))))
        side.set_minor_locator(ticker.NullLocator())


def _apart(axis: Axis, distance: float) -> list[float]:
    """Drop ticks whose numbers would touch the next tick's number."""
    kept: list[float] = []
    for tick in reversed(axis.ticks):
        if not kept or axis.position(kept[-1]) - axis.position(tick) >= distance:
            kept.append(tick)
    return kept


def _plane(chart: PlaneChart, axes: Any, longest: int) -> Entries:
    """Draw lines, points and corners; return the entries of the legend, if one is needed."""
    entries: Entries = {}
    for line in chart.lines:
        if line.role == "ceiling":
            (drawn,) = axes.plot(line.x, line.y, linestyle="--", color=_GREY, linewidth=1)
        elif line.role == "others":
            x, low, high = zip(*line.band, strict=True)
            drawn = axes.fill_between(x, low, high, color=_GREY, alpha=0.25, linewidth=0)
        else:
            drawn = _curve(line, len(chart.lines), axes)
        entries[line.label] = drawn
    for number, group in enumerate(chart.points):
        if len(group.x):
            entries[group.name] = _points(group, number, axes, longest)
    for corner, text in enumerate(chart.corners):
        right, lower = corner % 2, corner // 2
        axes.annotate(
            text,
            (right, 1 - lower),
            xycoords="axes fraction",
            xytext=(-4 if right else 4, 4 if lower else -4),
            textcoords="offset points",
            ha="right" if right else "left",
            va="bottom" if lower else "top",
            color=_GREY,
        )
    return entries if chart.needs_legend else {}


def _curve(line: Line, of_lines: int, axes: Any) -> Any:
    number = line.series
    # A few markers, evenly spaced on the page, at different positions for each curve: coinciding
    # curves show them alternately.
    few = ((number % of_lines + 0.5) / of_lines / _MARKERS_OF_A_CURVE, 1 / _MARKERS_OF_A_CURVE)
    colour, marker = _style(number)
    (drawn,) = axes.plot(
        line.x,
        line.y,
        # From the ninth curve on, markers repeat with other strokes.
        linestyle=_STROKES[(number + number // len(_MARKERS)) % len(_STROKES)],
        marker=marker,
        markevery=few if len(line.x) > 2 * _MARKERS_OF_A_CURVE else None,
        markersize=4.5,
        markerfacecolor=colour if number % 2 == 0 else "white",
        linewidth=1.3,
        color=colour,
        clip_on=False,  # whole markers at the limits
    )
    if line.band:
        x, low, high = zip(*line.band, strict=True)
        axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
    if line.marked is not None:
        axes.plot(
            *line.marked,
            marker="o",
            markersize=11,
            markerfacecolor="none",
            markeredgecolor=colour,
            markeredgewidth=1.4,
            clip_on=False,
            zorder=4,
        )
    return drawn


def _style(series: int) -> tuple[str, str]:
    """Return the colour and the marker of a run, or of a group of points."""
    return _COLOURS[series % len(_COLOURS)], _MARKERS[series % len(_MARKERS)]


def _points(group: Points, number: int, axes: Any, longest: int) -> Any:
    colour, marker = _style(number)
    drawn = axes.scatter(
        group.x,
        group.y,
        s=22,
        marker=marker,
        facecolors=colour if number % 2 == 0 else "none",
        edgecolors=colour,
        linewidths=0.9,
        clip_on=False,
        zorder=3,
    )
    beside = {"textcoords": "offset points", "fontsize": 7}
    points = list(zip(group.x, group.y, strict=True))
    names = short_names([*map(visible, group.labels)], longest)
    labels: dict[tuple[float, float], list[str]] = {}  # of points that can coincide
    for text, point in zip(names, points, strict=False):
        labels.setdefault(point, []).append(text)
    for (x, y), texts in labels.items():
        right, upper = x > sum(axes.get_xlim()) / 2, y > sum(axes.get_ylim()) / 2
        axes.annotate(
            "\n".join(texts),
            (x, y),
            xytext=(-5 if right else 5, -2 if upper else 2),
            ha="right" if right else "left",
            va="top" if upper else "bottom",
            **beside,
        )
    for (x, y), times in Counter(points).items():
        if not group.labels and times > 1 and math.isfinite(x + y):
            axes.annotate(f"×{times}", (x, y), xytext=(4, -9), color=_GREY, **beside)
    return drawn


def _pitch(chart: IntervalChart) -> float:
    return _STRIP_PITCH if any(len(row.queries) for row in chart.rows) else _PITCH


def _intervals(chart: IntervalChart, axes: Any, longest: int, pitch: float) -> None:
    """Draw evenly spaced rows, with as many names as there is room for."""
    thick = min(3.0, 36 * pitch)
    left, right = axes.get_xlim()
    heights = range(len(chart.rows), 0, -1)
    for height, row in zip(heights, chart.rows, strict=True):
        colour, marker = _style(row.series)
        if len(row.queries):
            # From the top of the row down, the largest first: equal values do not hide each other.
            down = [
                height + 0.4 - 0.8 * (n + 0.5) / len(row.queries) for n in range(len(row.queries))
            ]
            strip = {"marker": marker, "s": 9, "color": colour, "alpha": 0.4, "linewidths": 0}
            axes.scatter(sorted(row.queries, reverse=True), down, **strip)
        if not (math.isnan(row.low) or math.isnan(row.high)):
            ends = [min(max(bound, left), right) for bound in (row.low, row.high)]
            axes.plot(ends, [height] * 2, color=_GREY, linewidth=thick, solid_capstyle="butt")
        for bound, arrow in ((row.low, "<"), (row.high, ">")):
            if math.isinf(bound):  # the interval leaves the chart
                edge = left if bound < 0 else right
                axes.plot([edge], [height], marker=arrow, color=_GREY, clip_on=False)
        if math.isfinite(row.value):
            axes.plot([row.value], [height], marker=marker, markersize=1.5 * thick, color=colour)
    names = short_names([visible(row.name) for row in chart.rows], longest)
    step = max(1, math.ceil(_NAME_HEIGHT / pitch))
    axes.set_yticks(list(heights)[::step], names[::step])
    if step > 1:
        axes.set_ylabel(_wrapped(f"{len(names)} rows, one in {step} named", 16))
    axes.set_ylim(0.4, len(chart.rows) + 0.6)


def _rule(rule: Rule, axes: Any) -> None:
    vertical = rule.axis == "x"
    line = axes.axvline if vertical else axes.axhline
    line(rule.at, color=_GREY, linewidth=0.9, linestyle=":")
    if rule.name:
        axes.annotate(
            visible(rule.name),
            (rule.at, 1) if vertical else (1, rule.at),
            xycoords=axes.get_xaxis_transform() if vertical else axes.get_yaxis_transform(),
            xytext=(-2, -3) if vertical else (-2, 1),
            textcoords="offset points",
            fontsize=7.5,
            color=_GREY,
            rotation=90 if vertical else 0,
            ha="right",
            va="top" if vertical else "bottom",
        )
