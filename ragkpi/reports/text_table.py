"""A table for people, drawn by rich."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TextIO

from ragkpi.reports.fitting import fit, lines_of, wrapped
from ragkpi.reports.layout import Layout, Report, Table
from ragkpi.wording import visible

BEST = "*"
# Colours only repeat what words and stars say.
_STYLES = {"plain": "", "good": "green", "bad": "red", "warning": "yellow"}


def wants_colour(stream: TextIO) -> bool:
    """Whether to colour: on a terminal, and unless NO_COLOR is set (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


def write_table(report: Report, layout: Layout) -> Iterator[str]:
    """Align the columns; the best values have a star, and on a terminal a colour.

    Below the table are the legends of its columns, and the notes.
    """
    table = report.table(layout)
    starred = any(cell.best for row in table.rows for cell in row)
    texts = [_texts(table, number, layout) for number in range(len(table.columns))]
    widths = [
        max(map(len, [column.name, *cells]))
        for column, cells in zip(table.columns, texts, strict=True)
    ]
    fitted = fit(table.columns, widths, layout.width)
    cells = {
        number: [lines_of(text, table.columns[number], width) for text in texts[number]]
        for number, width in fitted.items()
    }
    legends = [
        f"{column.name}: {column.legend}"
        for number, column in enumerate(table.columns)
        if number in fitted and column.legend
    ]
    notes = [table.caption] if table.caption else []
    notes += [*legends, *table.notes]
    notes += [f"{BEST} best of its column"] if starred else []
    left_out = [c.name for number, c in enumerate(table.columns) if number not in fitted]
    if left_out:
        notes.append(f"Not shown for want of room: {', '.join(left_out)} (--wide)")
    lines = [line.rstrip() for line in _drawn(table, cells, layout).splitlines()]
    lines += [line for note in notes for line in wrapped(visible(note), layout.width)]
    yield "".join(f"{line}\n" for line in lines)


def _texts(table: Table, number: int, layout: Layout) -> list[str]:
    """Return the texts of a column, with room for marks and stars where any cell has them."""
    cells = [row[number] for row in table.rows]
    marks = max((len(cell.marks) for cell in cells), default=0)
    blank = " " * any(cell.best for cell in cells)
    return [
        table.columns[number].text(cell, layout)
        + cell.marks.ljust(marks)
        + (BEST if cell.best else blank)
        for cell in cells
    ]


def _drawn(table: Table, cells: Mapping[int, Sequence[Sequence[str]]], layout: Layout) -> str:
    """Draw columns, by number the lines of each cell."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as Drawing
    from rich.text import Text

    drawing = Drawing(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for number in cells:
        column = table.columns[number]
        drawing.add_column(
            Text(visible(column.name)), justify="right" if column.numeric else "left", no_wrap=True
        )
    heights = [max(map(len, row)) for row in zip(*cells.values(), strict=True)]
    if table.rows:  # one row of tall cells: rich is slow per cell
        drawing.add_row(
            *(
                Text("\n").join(
                    Text(line, "bold green" if row[number].best else _STYLES[row[number].tone])
                    for row, lines, height in zip(table.rows, column_lines, heights, strict=True)
                    for line in [*lines, *[""] * (height - len(lines))]
                )
                for number, column_lines in cells.items()
            )
        )
    out = io.StringIO()
    console = Console(
        file=out,
        width=1 << 16,  # `fit` chose the widths; rich would cut numbers
        force_terminal=layout.colour == "always",
        color_system="standard" if layout.colour == "always" else None,
        legacy_windows=False,
    )
    console.print(drawing)
    return out.getvalue()
