"""CSV and TSV: a line per row, intervals in columns of their own."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import islice
from typing import Any

from ragkpi.records import replace
from ragkpi.reports.layout import Layout, Report, Table
from ragkpi.wording import Style, exact

# Spreadsheets take a cell that begins so for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

_ROWS_AT_ONCE = 1000


def write_csv(report: Report, layout: Layout) -> Iterator[str]:
    """Write comma-separated values (RFC 4180, with plain newlines).

    A text that begins like a formula gets an apostrophe in front, the convention of spreadsheets.
    """
    return _delimited(report, layout, ",")


def write_tsv(report: Report, layout: Layout) -> Iterator[str]:
    """Write tab-separated values."""
    return _delimited(report, layout, "\t")


def _delimited(report: Report, layout: Layout, delimiter: str) -> Iterator[str]:
    import csv  # takes 1 ms, which an evaluation without CSV does not wait for

    rows = _rows(report.table(replace(layout, notes="columns")), layout.digits)
    while some := list(islice(rows, _ROWS_AT_ONCE)):
        out = io.StringIO()
        csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(some)
        yield out.getvalue()


def _rows(table: Table, digits: int | None) -> Iterator[list[str]]:
    """Yield the texts of the head and of each row; a column with intervals has two more."""
    bounded = [
        any(row[number].interval is not None for row in table.rows)
        for number in range(len(table.columns))
    ]
    yield [
        column.name + end
        for column, wide in zip(table.columns, bounded, strict=True)
        for end in (("", "_low", "_high") if wide else ("",))
    ]
    columns = [(column.style, wide) for column, wide in zip(table.columns, bounded, strict=True)]
    for values in table.plain_rows:
        texts = []
        for value, (style, wide) in zip(values, columns, strict=True):
            texts += [_text(value, style, digits), "", ""][: 3 if wide else 1]
        yield texts
    for row in table.rows:
        texts = []
        for cell, (style, wide) in zip(row, columns, strict=True):
            bounds = (cell.interval or (None, None)) if wide else ()
            texts += [_text(x, cell.style or style, digits) for x in (cell.value, *bounds)]
        yield texts


def _text(value: Any, style: Style, digits: int | None) -> str:
    """Write a value, with an apostrophe before a text that a spreadsheet would compute."""
    text = exact(value, style, digits)
    is_formula = text.startswith(_FORMULA) and not isinstance(value, int | float)
    return f"'{text}" if is_formula else text
