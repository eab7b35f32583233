"""A picture's page: panels in rows, legends that fit, and small print at the bottom."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from ragkpi.charts.chart import Chart, IntervalChart, noted, small_print
from ragkpi.wording import visible

MOST_PANELS = 60
_PANEL = 5.2  # inches
_DPI = 150
_SMALL = 7  # points
_NAME = 60  # characters of a legend's line
_MOST_COLUMNS = 6


# The entries of a legend: a line or a group of points of matplotlib, by its text.
Entries = dict[str, Any]


class Page:
    """A figure of matplotlib with a panel per chart.

    Attributes
    ----------
    figure, panels
        Of matplotlib; the panels in the order of the charts.
    charts
        As many as there is room for; the small print says how many are left out.
    """

    def __init__(self, charts: Sequence[Chart]) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        self.charts = list(charts[:MOST_PANELS])
        if len(charts) > MOST_PANELS:
            more = len(charts) - MOST_PANELS
            self.charts = noted(self.charts, [f"{more} more charts are not drawn; see the table"])
        count = len(self.charts)
        self._columns = max(count, 1) if count <= 3 else 2 + count % 2
        self._width = _PANEL * self._columns
        heights = [
            max(2.2, 1.2 + 0.24 * len(chart.rows)) if isinstance(chart, IntervalChart) else 3.8
            for chart in self.charts
        ]
        self._heights = [
            max(heights[start : start + self._columns]) for start in range(0, count, self._columns)
        ]
        size = (self._width, sum(self._heights))
        self.figure = Figure(figsize=size, layout="constrained", dpi=_DPI)
        FigureCanvasAgg(self.figure)  # which measures texts
        grid = self.figure.subplots(
            len(self._heights),
            self._columns,
            squeeze=False,
            gridspec_kw={"height_ratios": self._heights},
        )
        self.panels = list(grid.flat)[:count]
        for empty in list(grid.flat)[count:]:
            empty.remove()

    def finish(self, of_panels: Sequence[Entries]) -> None:
        """Add legends and small print below the panels, and make room for them."""
        most = max(of_panels, key=len)
        alike = all(entries.keys() <= most.keys() for entries in of_panels)
        legend = self._legend(self.figure, most, self._width) if alike and most else None
        below = 0.0 if legend is None else _inches(legend)[1] + 0.1
        if not alike:
            self._legends_of_panels(of_panels)
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

    def _legends_of_panels(self, of_panels: Sequence[Entries]) -> None:
        extra = [0.0] * len(self._heights)
        for panel, (axes, entries) in enumerate(zip(self.panels, of_panels, strict=True)):
            if entries:
                legend = self._legend(axes, entries, _PANEL)
                legend.set_bbox_to_anchor((0.5, -0.16), axes.transAxes)
                row = panel // self._columns
                extra[row] = max(extra[row], _inches(legend)[1])
        self._heights = [height + more for height, more in zip(self._heights, extra, strict=True)]
        self.panels[0].get_gridspec().set_height_ratios(self._heights)

    def _legend(self, owner: Any, entries: Entries, width: float) -> Any:
        """Draw a legend in as many columns as there is room for."""
        texts = ["\n".join(textwrap.wrap(visible(name), _NAME)) for name in entries]
        for columns in range(min(len(entries), _MOST_COLUMNS), 0, -1):
            legend = owner.legend(
                entries.values(),
                map(str, range(len(entries))),  # matplotlib hides texts that begin with "_"
                ncols=columns,
                frameon=False,
                fontsize=8,
                loc="lower center" if owner is self.figure else "upper center",
            )
            for drawn, text in zip(legend.get_texts(), texts, strict=True):
                drawn.set_text(text)
            if _inches(legend)[0] <= 0.97 * width or columns == 1:
                break
            legend.remove()
        return legend

    def _notes(self) -> list[str]:
        """Return the lines of the small print, each note once."""
        width = int(self._width * 72 / (_SMALL * 0.56))
        return [
            line
            for note in small_print(self.charts)
            for line in textwrap.wrap(note, width, subsequent_indent="  ")
        ]


def _inches(legend: Any) -> tuple[float, float]:
    """Return the width and the height of a legend."""
    box = legend.get_window_extent()
    return float(box.width) / _DPI, float(box.height) / _DPI
