"""A table for people, drawn by rich."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from typing import TextIO

from ragkpi.reports.layout import Layout, Report
from ragkpi.wording import visible

BEST = "*"


def wants_colour(stream: TextIO) -> bool:
    """Whether to colour: on a terminal, and unless NO_COLOR is set (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


def write_table(report: Report, layout: Layout) -> Iterator[str]:
    """Align the columns; the best values have a star, and on a terminal a colour."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as Drawing
    from rich.text import Text

    table = report.table(layout)
    drawing = Drawing(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    starred = [any(row[place].best for row in table.rows) for place in range(len(table.columns))]
    for column in table.columns:
        drawing.add_column(
            Text(visible(column.name)), justify="right" if column.numeric else "left", no_wrap=True
        )
    columns = []
    for place, column in enumerate(table.columns):
        texts = []
        for cell in (row[place] for row in table.rows):
            star = BEST if cell.best else " " * starred[place]
            text = column.text(cell, layout) + star
            texts.append(Text(text, "bold green" if cell.best else ""))
        columns.append(Text("\n").join(texts))
    if table.rows:
        drawing.add_row(*columns)  # a row of cells with many lines: rich is slow per cell
    out = io.StringIO()
    console = Console(
        file=out,
        width=1 << 16,  # a number cut short is a wrong number: let the terminal wrap
        force_terminal=layout.colour == "always",
        color_system="standard" if layout.colour == "always" else None,
        legacy_windows=False,
    )
    console.print(drawing)
    notes = [*table.notes, *([f"{BEST} best of its column"] if any(starred) else [])]
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    yield "".join(f"{line}\n" for line in lines + [visible(note) for note in notes])
