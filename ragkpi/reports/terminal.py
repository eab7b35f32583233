"""The table format: the verdict, then a table that fits a terminal, then notes."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ragkpi.reports.layout import Column, Layout, Report, Table
from ragkpi.reports.names import short_names
from ragkpi.wording import counted, text_lines, visible

_GAP = 3
_SHORTEST_ID = 12  # shorter ids would look alike
_NARROWEST_PROSE = 24
# A label and a colon, or a term and two spaces, before a text that wraps with a hanging indent.
_TERM = r"[A-Z][\w ]{1,10}: +| *\S+(?: \S+)*? {2,}| *"


def terminal_width() -> int:
    """Return the width of the terminal, or a default."""
    from shutil import get_terminal_size  # imports lzma and bz2

    return get_terminal_size().columns


def fit(columns: Sequence[Column], widths: Sequence[int], limit: int | None) -> dict[int, int]:
    """Return the columns that fit into a terminal, by number, with the width of each.

    If even shortened ids and wrapped prose do not fit, drop detail columns from the right, then
    other columns from the right, but never the first two. Texts get the remaining room, first ones
    first. Without a limit, all columns have the widths of their longest texts.
    """
    if limit is None:
        return dict(enumerate(widths))
    smallest = [_smallest(column, width) for column, width in zip(columns, widths, strict=True)]
    fitted = dict(enumerate(smallest))
    details = [number for number in fitted if columns[number].role == "detail"]
    droppable = [*(number for number in list(fitted)[2:] if number not in details), *details]
    while sum(fitted.values()) + _GAP * (len(fitted) - 1) > limit and droppable:
        del fitted[droppable.pop()]
    room = limit - sum(fitted.values()) - _GAP * (len(fitted) - 1)
    for number, width in fitted.items():
        fitted[number] += max(0, min(widths[number] - width, room))
        room -= fitted[number] - width
    return fitted


def cells_of(texts: Sequence[str], column: Column, width: int) -> list[list[str]]:
    """Return the lines of a column's cells: wrap prose; shorten ids, which stay distinct."""
    if column.numeric or all(len(text) <= width for text in texts):
        return [[text] for text in texts]
    if column.role == "prose":
        return [text_lines(text, width) if len(text) > width else [text] for text in texts]
    distinct = list(dict.fromkeys(texts))
    short = dict(zip(distinct, short_names(distinct, width), strict=True))
    return [[short[text]] for text in texts]


def on_terminal(text: str) -> str:
    """Wrap the long lines of a list of terms if standard output is a terminal.

    Wrapped text aligns with the beginning of the text after its term, as in ``map    Average
    precision …`` or ``Source:  …``.
    """
    if not sys.stdout.isatty():
        return text
    width, lines = terminal_width(), []
    for line in re.sub(r"\n {12,}(?=\S)", " ", text).splitlines():  # docstrings break lines, too
        term = re.match(_TERM, line)
        margin = term.end() if term else 0
        below = " " * (margin if margin + _NARROWEST_PROSE <= width else 0)
        lines += text_lines(line, width, below)
    return "".join(f"{line}\n" for line in lines)


def _smallest(column: Column, width: int) -> int:
    minimum = _NARROWEST_PROSE if column.role == "prose" else _SHORTEST_ID
    return width if column.numeric else min(width, max(len(column.name), minimum))


BEST = "*"
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"
# Colours only repeat the information of words and stars.
_STYLES = {"plain": "", "good": "green", "bad": "red", "warning": "yellow"}


_NOTES = 2  # lines of notes below an answer; the rest go into the explanation
_MOST_HIDDEN = 8  # names of columns


def write_table(report: Report, layout: Layout) -> Iterator[str]:
    """Draw the verdict, aligned columns, notes, and the explanation or how to get it.

    The best values have a star, and a colour on a terminal.
    """
    yield from drawn_table(report.table(layout), layout)


def drawn_table(table: Table, layout: Layout) -> Iterator[str]:
    """Draw a table, and the one below it."""
    if table.use == "data" or (table.verdict and not table.rows):
        table = replace(table, columns=[], rows=[])
    above = [line for text in table.verdict for line in text_lines(visible(text), layout.width)]
    if layout.colour == "always":
        above = [f"{_BOLD}{line}{_PLAIN}" for line in above]
    starred = any(cell.best for row in table.rows for cell in row)
    texts = [_texts(table, number, layout) for number in range(len(table.columns))]
    named = zip(table.columns, texts, strict=True)
    widths = [max(map(len, [column.name, *cells])) for column, cells in named]
    fitted = fit(table.columns, widths, layout.width)
    cells = {
        number: cells_of(texts[number], table.columns[number], width)
        for number, width in fitted.items()
    }
    notes = _notes(table, layout, starred)
    left_out = [c.name for number, c in enumerate(table.columns) if number not in fitted]
    below = [line for note in notes for line in text_lines(visible(note), layout.width)]
    if len(left_out) > _MOST_HIDDEN:
        left_out = [f"{len(left_out)} columns"]
    hidden = [f"Columns hidden: {', '.join(left_out)} (--wide shows all)"] if left_out else []
    lines = above
    if table.columns:
        drawn = _drawn(table, cells, layout)
        lines = [*above, *([""] if above else []), *map(str.rstrip, drawn.splitlines())]
    lines += [line for note in hidden for line in text_lines(visible(note), layout.width)]
    yield "".join(f"{line}\n" for line in [*lines, *below])
    if table.below is not None:
        yield "\n"
        yield from drawn_table(table.below, replace(layout, explanation="hidden", call_notes=()))


def _notes(table: Table, layout: Layout, starred: bool) -> list[str]:
    """Return the lines below a table: notes, and the explanation or the option that shows it."""
    warnings = [text for text in layout.call_notes if text.startswith("warning:")]
    lines = [text.removeprefix("note: ") for text in layout.call_notes if text not in warnings]
    others = [*table.notes, *lines]
    star = [f"{BEST} best of its column"] if starred else []
    caption = [table.caption] if table.caption else []
    if layout.explanation != "offered" or not table.verdict:
        return [*caption, *warnings, *replace(table, notes=others).texts(layout), *star]
    more = counted(len(others) - _NOTES, "more note") if len(others) > _NOTES else ""
    how = "how this was computed" if table.explained else ""
    offered = " and ".join(filter(None, [more, how]))
    offer = [f"{offered[0].upper()}{offered[1:]}: --explain"] if offered else []
    return [*caption, *warnings, *others[:_NOTES], *offer]


def _texts(table: Table, number: int, layout: Layout) -> list[str]:
    """Return the texts of a column, with room for marks and stars if any cell has them."""
    cells = [row[number] for row in table.rows]
    marks = max((len(cell.marks or "") for cell in cells), default=0)
    blank = " " * any(cell.best for cell in cells)
    return [
        table.columns[number].text(cell, layout)
        + (cell.marks or "").ljust(marks)
        + (BEST if cell.best else blank)
        for cell in cells
    ]


def _drawn(
    data: Table,
    cells: Mapping[int, Sequence[Sequence[str]]],
    layout: Layout,
) -> str:
    """Draw the rows from `cells`: by column, the lines of each cell."""
    from rich import box, console, table, text

    drawing = table.Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for number in cells:
        column = data.columns[number]
        drawing.add_column(
            text.Text(visible(column.name)),
            justify="right" if column.numeric else "left",
            no_wrap=True,
        )
    heights = [max(map(len, row)) for row in zip(*cells.values(), strict=True)]
    if heights:  # one row of tall cells, since rich is slow per cell
        drawing.add_row(
            *(
                text.Text("\n").join(
                    text.Text(line, "bold green" if row[number].best else _STYLES[row[number].tone])
                    for row, lines, height in zip(data.rows, column_lines, heights, strict=True)
                    for line in [*lines, *[""] * (height - len(lines))]
                )
                for number, column_lines in cells.items()
            )
        )
    out = io.StringIO()
    console.Console(
        file=out,
        width=1 << 16,  # `fit` chose the widths; rich would cut numbers
        force_terminal=layout.colour == "always",
        color_system="standard" if layout.colour == "always" else None,
        legacy_windows=False,
    ).print(drawing)
    return out.getvalue()
