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
from contextlib import chdir
from functools import cache
from typing import Any, Literal

from ragkpi.charts.chart import (
    Chart,
    Direction,
    IntervalChart,
    Line,
    PlaneChart,
    Points,
    Rule,
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
_HANDLE = 6  # characters as wide as an entry's line and gap
_NOTE_PER_INCH = 18

# A legend's entries: matplotlib lines or groups of points, by their texts.
Entries = dict[str, Any]


def _figure(charts: Sequence[Chart], size: PlotSize) -> Any:
    """Draw each chart into a panel, with a legend of all and the small print below."""
    drawn = list(charts[:MOST_PANELS])
    if (more := len(charts) - MOST_PANELS) > 0:
        drawn = noted(drawn, [f"{more} more charts are not drawn; see the table"])
    columns = _columns(len(drawn), size)
    width = _WIDTHS.get(size, _PANEL * columns)
    panel = width / columns
    starts = range(0, len(drawn), columns)
    least = min(_LEAST_PANEL, 0.45 * panel)
    most = max(least, (_TALLEST * width - _BELOW) / max(len(starts), 1))
    heights = [
        min(max(least, *(_height(one, panel) for one in drawn[start : start + columns])), most)
        for start in starts
    ]
    matplotlib = _matplotlib()
    figure = matplotlib.figure.Figure((width, sum(heights)), layout="constrained", dpi=_DPI)
    matplotlib.backends.backend_agg.FigureCanvasAgg(figure)  # measures texts
    ratios = {"height_ratios": heights}
    panels = figure.subplots(len(heights), columns, squeeze=False, gridspec_kw=ratios).flat
    entries: Entries = {}
    for place, axes in enumerate(panels):
        if place < len(drawn):
            height = heights[place // columns]
            entries |= _panel(drawn[place], axes, panel / _PANEL, height)
        else:
            axes.remove()
    notes = [
        line
        for note in small_print(drawn)
        for line in textwrap.wrap(note, int(_NOTE_PER_INCH * width), subsequent_indent="  ")
    ]
    legend = _legend(figure, entries, width) if entries else None
    printed = len(notes) * _SMALL * 1.35 / 72 + 0.08 if notes else 0.0
    foot = printed + (legend.get_window_extent().height / _DPI + 0.1 if legend else 0.0)
    height = sum(heights) + foot
    figure.set_size_inches(width, height)
    figure.get_layout_engine().set(rect=(0, foot / height, 1, 1 - foot / height))
    if legend is not None:
        legend.set_bbox_to_anchor((0.5, printed / height), figure.transFigure)
        legend.set_in_layout(False)
    small = {"fontsize": _SMALL, "color": "#555555", "linespacing": 1.25}
    figure.text(0.08 / width, 0.06 / height, "\n".join(notes), va="bottom", **small)
    return figure


def _height(chart: Chart, panel: float) -> float:
    """Return the inches that a chart needs in a panel of a width."""
    if isinstance(chart, PlaneChart):
        return 0.73 * panel
    pitch = _STRIP_PITCH if any(len(row.queries) for row in chart.rows) else _PITCH
    return 1.2 + pitch * len(chart.rows)


def _legend(figure: Any, entries: Entries, width: float) -> Any:
    longest = int(_NAME_PER_INCH * width)
    texts = [_wrapped(name, min(_NAME, longest)) for name in entries]
    widest = max(len(line) for text in texts for line in text.splitlines())
    legend = figure.legend(
        entries.values(),
        map(str, range(len(entries))),  # matplotlib hides texts that begin with "_"
        ncols=max(1, min(len(entries), longest // (widest + _HANDLE))),
        frameon=False,
        fontsize=8,
        loc="lower center",
    )
    for drawn, text in zip(legend.get_texts(), texts, strict=True):
        drawn.set_text(text)
    return legend


def _columns(count: int, size: PlotSize) -> int:
    """Return the number of panels side by side, so that a page is not too tall."""
    if size != "screen":
        return max(1, min(count, 2)) if size == "page" else 1
    columns = max(count, 1) if count <= 3 else 2 + count % 2
    while math.ceil(count / columns) * _LEAST_PANEL > _TALLEST * _PANEL * columns - _BELOW:
        columns += 2
    return columns


_FORMATS = ("png", "svg", "pdf")
_UNDATED = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}  # equal pictures, equal files
_MARKERS = "osD^vPX*"
_MARKERS_OF_A_CURVE = 7
_STROKES = ("-", (0, (1, 1)), "-.", (0, (5, 1)))
# Okabe and Ito's colours, ordered by lightness so that neighbours also differ in greyscale.
_COLOURS = ("#000000", "#D55E00", "#0072B2", "#E69F00", "#009E73", "#56B4E9", "#CC79A7", "#777700")
_GREY = "#777777"
_MOST_TICKS = 16
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
        return _figure(charts, size)


@cache
def _matplotlib() -> Any:
    """Import matplotlib, but ignore a ``matplotlibrc`` in the working directory."""
    module = importlib.util.find_spec("matplotlib")
    folder = os.path.dirname((module and module.origin) or "")
    with chdir(os.path.join(folder, "mpl-data") if folder else "."):
        for part in ("figure", "ticker", "backends.backend_agg"):
            importlib.import_module(f"matplotlib.{part}")
        return importlib.import_module("matplotlib")


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
    # Texts in corners need room next to points.
    corners = not isinstance(chart, IntervalChart) and chart.corners
    axes.margins(**{direction: 0.12 if corners else 0.04})
    if axis.scale == "log":
        axes.set(**{f"{direction}scale": "log"})
    axes.set(**{f"{direction}label": _wrapped(axis.label, longest, _LABEL_LINES[direction])})
    for bound in (axis.low, axis.high):
        if bound is not None:
            (axes.axvline if direction == "x" else axes.axhline)(bound, alpha=0)
    side, ticker = axes.xaxis if direction == "x" else axes.yaxis, _matplotlib().ticker
    if axis.ticks or axis.scale == "log":  # powers of ten would be written in TeX
        side.set_major_formatter(ticker.FuncFormatter(lambda number, _: f"{number:g}"))
        side.set_minor_formatter(ticker.LogFormatter())
    if axis.ticks:
        side.set_major_locator(ticker.FixedLocator(axis.ticks, _MOST_TICKS))
        side.set_minor_locator(ticker.NullLocator())


def _plane(chart: PlaneChart, axes: Any, longest: int) -> Entries:
    """Draw lines, points and corners; return the entries of the legend, if one is needed."""
    entries: Entries = {}
    for line in chart.lines:
        if not len(line.x):
            continue
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
    # The title names a single curve.
    single = len(entries) == 1 and all(line.mark is None for line in chart.lines)
    return {} if single else entries


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
    if line.mark is not None and line.mark.at in line.x:
        axes.plot(
            line.mark.at,
            line.y[list(line.x).index(line.mark.at)],
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


def _intervals(chart: IntervalChart, axes: Any, longest: int, pitch: float) -> None:
    """Draw evenly spaced rows, with as many names as there is room for."""
    thick = min(3.0, 36 * pitch)
    bar = {"color": _GREY, "linewidth": thick, "solid_capstyle": "butt"}
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
        ends = [bound for bound in (row.low, row.high) if math.isfinite(bound)]
        axes.plot(ends, [height] * len(ends), **bar)
        if math.isfinite(row.value):
            axes.plot(
                [row.value], [height], marker=marker, markersize=1.5 * thick, color=colour, zorder=3
            )
    left, right = axes.get_xlim()
    for height, row in zip(heights, chart.rows, strict=True):
        for bound, other in ((row.low, row.high), (row.high, row.low)):
            if math.isinf(bound):  # the interval leaves the chart
                edge, arrow = (left, "<") if bound < 0 else (right, ">")
                axes.plot([edge, min(max(other, left), right)], [height] * 2, **bar)
                axes.plot([edge], [height], marker=arrow, color=_GREY, clip_on=False)
    axes.set_xlim(left, right)
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
