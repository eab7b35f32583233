"""A table for people, drawn by rich."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from typing import TextIO

from ragkpi.reports.fitting import fit, lines_of, wrapped
from ragkpi.reports.layout import Layout, Report
from ragkpi.wording import visible

BEST = "*"
# What colours say stands there in words and stars as well.
_STYLES = {"plain": "", "good": "green", "bad": "red", "warning": "yellow"}


def wants_colour(stream: TextIO) -> bool:
    """Whether to colour: on a terminal, and unless NO_COLOR is set (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


def write_table(report: Report, layout: Layout) -> Iterator[str]:
    """Align the columns; the best values have a star, and on a terminal a colour.

    Below them stands what columns hold whose names do not say it, and then the notes.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table as Drawing
    from rich.text import Text

    table = report.table(layout)
    starred = [any(row[number].best for row in table.rows) for number in range(len(table.columns))]
    marked = [
        max((len(row[p].marks) for row in table.rows), default=0) for p in range(len(starred))
    ]
    texts = [
        [
            column.text(cell, layout)
            + cell.marks.ljust(marked[number])
            + (BEST if cell.best else " " * starred[number])
            for cell in (row[number] for row in table.rows)
        ]
        for number, column in enumerate(table.columns)
    ]
    widths = [
        max(map(len, [column.name, *cells]))
        for column, cells in zip(table.columns, texts, strict=True)
    ]
    fitted = fit(table.columns, widths, layout.width)
    drawing = Drawing(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for number in fitted.columns:
        column = table.columns[number]
        drawing.add_column(
            Text(visible(column.name)), justify="right" if column.numeric else "left", no_wrap=True
        )
    cells = [
        [lines_of(text, table.columns[number], width) for text in texts[number]]
        for number, width in zip(fitted.columns, fitted.widths, strict=True)
    ]
    heights = [max(map(len, row)) for row in zip(*cells, strict=True)]
    if table.rows:  # a row of cells with many lines: rich is slow per cell
        drawing.add_row(
            *(
                Text("\n").join(
                    Text(line, "bold green" if row[number].best else _STYLES[row[number].tone])
                    for row, lines, height in zip(table.rows, column, heights, strict=True)
                    for line in [*lines, *[""] * (height - len(lines))]
                )
                for number, column in zip(fitted.columns, cells, strict=True)
            )
        )
    out = io.StringIO()
    console = Console(
        file=out,
        width=1 << 16,  # a number cut short is a wrong number: it is fitted already
        force_terminal=layout.colour == "always",
        color_system="standard" if layout.colour == "always" else None,
        legacy_windows=False,
    )
    console.print(drawing)
    below = [table.caption] if table.caption else []
    legends = [
        f"{table.columns[number].name}: {table.columns[number].legend}"
        for number in fitted.columns
        if table.columns[number].legend
    ]
    best = [f"{BEST} best of its column"] if any(starred) else []
    notes = [*below, *legends, *table.notes, *best]
    if fitted.left_out:
        notes.append(f"Not shown for want of room: {', '.join(fitted.left_out)} (--wide)")
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    lines += [line for note in notes for line in wrapped(visible(note), layout.width)]
    yield "".join(f"{line}\n" for line in lines)
