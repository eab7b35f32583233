"""The table format: the verdict, then a table that fits a terminal, then notes."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest

from ragkpi.reports.layout import Column, Layout, Report, Table
from ragkpi.reports.names import short_names
from ragkpi.wording import counted, text_lines, visible

_GAP = 3
_SHORTEST_ID = 12  # shorter ids would look alike
_NARROWEST_PROSE = 24
_HANGS = 12  # spaces before the rest of a line


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
    fitted = {}
    for number, (column, width) in enumerate(zip(columns, widths, strict=True)):
        least = _NARROWEST_PROSE if column.role == "prose" else _SHORTEST_ID
        fitted[number] = width if column.numeric else min(width, max(len(column.name), least))
    details = [number for number in fitted if columns[number].role == "detail"]
    droppable = [*(number for number in list(fitted)[2:] if number not in details), *details]
    while (room := limit - sum(fitted.values()) - _GAP * (len(fitted) - 1)) < 0 and droppable:
        del fitted[droppable.pop()]
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
    """Wrap the lines of a text if standard output is a terminal, the rest of each below it."""
    if not sys.stdout.isatty():
        return text
    lines = re.sub(r"\n {12,}(?=\S)", " ", text).splitlines()  # docstrings break lines, too
    wrapped = (part for line in lines for part in text_lines(line, terminal_width(), " " * _HANGS))
    return "".join(f"{part}\n" for part in wrapped)


BEST = "*"
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"
# Colours only repeat the information of words and stars.
_STYLES = {"plain": "", "good": "\x1b[32m", "bad": "\x1b[31m", "warning": "\x1b[33m"}
_BEST_STYLE = "\x1b[1;32m"

_NOTES = 2  # lines of notes below an answer; the rest go into the explanation
_MOST_HIDDEN = 8  # names of columns


def write_table(report: Report, layout: Layout) -> Iterator[str]:
    """Draw the verdict, aligned columns, notes, and the explanation or how to get it.

    The best values have a star, and a colour on a terminal.
    """
    table = report.table(layout)
    from rich.cells import cell_len  # some characters are two places wide

    if table.use == "data" or (table.verdict and not table.rows):
        table = replace(table, columns=[], rows=[])
    verdict = [line for text in table.verdict for line in text_lines(visible(text), layout.width)]
    lines = [_styled(line, _BOLD, layout) for line in verdict]
    starred = any(cell.best for row in table.rows for cell in row)
    texts = [
        [column.text(cell, layout) + (cell.marks or "") + BEST * cell.best for cell in cells]
        for column, *cells in zip(table.columns, *table.rows, strict=True)
    ]
    named = zip(table.columns, texts, strict=True)
    widths = [max(map(cell_len, [column.name, *cells])) for column, cells in named]
    fitted = fit(table.columns, widths, layout.width)
    notes = _notes(table, layout, starred)
    left_out = [c.name for number, c in enumerate(table.columns) if number not in fitted]
    if len(left_out) > _MOST_HIDDEN:
        left_out = [f"{len(left_out)} columns"]
    hidden = [f"Columns hidden: {', '.join(left_out)} (--wide shows all)"] if left_out else []
    if table.columns:
        lines += [*([""] if lines else []), *_drawn(table, texts, fitted, layout)]
    for text in (*hidden, *notes, *table.below):
        lines += text_lines(visible(text), layout.width)
    yield "".join(f"{line}\n" for line in lines)


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


def _styled(text: str, style: str, layout: Layout) -> str:
    return f"{style}{text}{_PLAIN}" if style and text and layout.colour == "always" else text


def _drawn(
    table: Table, texts: Sequence[Sequence[str]], fitted: Mapping[int, int], layout: Layout
) -> Iterator[str]:
    """Yield the lines of the header and the rows."""
    from rich.cells import cell_len  # some characters are two places wide

    columns = [table.columns[number] for number in fitted]
    heads = [visible(column.name) for column in columns]
    cells = [cells_of(texts[n], table.columns[n], width) for n, width in fitted.items()]
    widths = [
        max(map(cell_len, chain([head], *of_column)))
        for head, of_column in zip(heads, cells, strict=True)
    ]

    def line(of_columns: Sequence[str], styles: Sequence[str]) -> str:
        places = []
        for text, style, column, width in zip(of_columns, styles, columns, widths, strict=True):
            blank, text = " " * (width - cell_len(text)), _styled(text, style, layout)
            places.append(blank + text if column.numeric else text + blank)
        return (" " * _GAP).join(places).rstrip()

    yield line(heads, [_BOLD] * len(heads))
    yield "─" * (sum(widths) + _GAP * (len(widths) - 1))
    for row, *of_row in zip(table.rows, *cells, strict=True):
        styles = [_BEST_STYLE if row[n].best else _STYLES[row[n].tone] for n in fitted]
        for of_columns in zip_longest(*of_row, fillvalue=""):
            yield line(of_columns, styles)
