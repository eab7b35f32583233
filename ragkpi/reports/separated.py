"""CSV and TSV: a line per row, intervals in columns of their own."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any

from ragkpi.records import replace
from ragkpi.reports.layout import Cell, Column, Layout, Report
from ragkpi.wording import exact, exact_numbers

# With these, spreadsheets take a cell for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

# Rows that are written at a time.
_BLOCK = 1000


def write_csv(report: Report, layout: Layout) -> Iterator[str]:
    """Write comma-separated values (RFC 4180, with plain newlines).

    A text that begins as a formula does has an apostrophe in front, as spreadsheets have it.
    """
    return _delimited(report, layout, ",")


def write_tsv(report: Report, layout: Layout) -> Iterator[str]:
    """Write tab-separated values."""
    return _delimited(report, layout, "\t")


def _delimited(report: Report, layout: Layout, delimiter: str) -> Iterator[str]:
    table = report.table(replace(layout, notes="columns"))
    bounded = [
        any(row[number].interval is not None for row in table.rows)
        for number in range(len(table.columns))
    ]
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    heads = []
    for column, wide in zip(table.columns, bounded, strict=True):
        heads += [column.name, *([f"{column.name}_low", f"{column.name}_high"] if wide else [])]
    writer.writerow(heads)
    yield out.getvalue()
    for block in table.blocks:
        out.seek(0)
        out.truncate()
        columns: list[Sequence[Any]] = []
        for values, column, wide in zip(block, table.columns, bounded, strict=True):
            nothing = [[""] * len(values)] * 2 if wide else []
            columns += [_written(values, column, layout), *nothing]
        writer.writerows(zip(*columns, strict=True))
        yield out.getvalue()
    for start in range(0, len(table.rows), _BLOCK):
        out.seek(0)
        out.truncate()
        for row in table.rows[start : start + _BLOCK]:
            texts = []
            for cell, column, wide in zip(row, table.columns, bounded, strict=True):
                texts += _texts(cell, column, wide, layout)
            writer.writerow(texts)
        yield out.getvalue()


def _written(values: Sequence[Any], column: Column, layout: Layout) -> Sequence[Any]:
    """Return what the writer writes for the values of a column; a float has all its digits."""
    numbers = exact_numbers(values, column.style) if layout.digits is None else None
    return numbers or [_texts(Cell(value), column, False, layout)[0] for value in values]


def _texts(cell: Cell, column: Column, wide: bool, layout: Layout) -> list[str]:
    style = cell.style or column.style
    value = cell.value
    if not wide and type(value) is float and layout.digits is None and style == "decimal":
        # What `exact` does, for the many.
        return [repr(value) if isfinite(value) else exact(value, style)]
    bounds = (cell.interval or (None, None)) if wide else ()
    texts = [exact(value, style, layout.digits) for value in (cell.value, *bounds)]
    return texts if isinstance(cell.value, int | float) else [_inert(text) for text in texts]


def _inert(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would compute, such as ``=cmd|…``."""
    return f"'{text}" if text.startswith(_FORMULA) else text
