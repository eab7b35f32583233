"""The report on a question: rows, what follows from them, and a sentence at the end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ragkpi import __version__
from ragkpi.records import asdict, dataclass
from ragkpi.reports.layout import Cell, Layout, Table
from ragkpi.wording import as_json, decoded


@dataclass(frozen=True)
class Answer:
    """What a command found out.

    Attributes
    ----------
    question
        The command's name.
    rows
        What it computed, a row each; the notes are the reasons, a line each.
    sentences
        What follows from it, one or more lines.
    findings
        The same for programs: by name a dataclass, a list of them, a number, a text or None.
    heads
        Leading columns that many rows share; people see them where they change.
    """

    question: str
    rows: Table
    sentences: Sequence[str]
    findings: Mapping[str, Any]
    heads: int = 0

    def table(self, layout: Layout) -> Table:
        """Lay out the rows, the reasons and the sentences."""
        rows = self.rows.rows if layout.notes == "columns" else _once(self.rows.rows, self.heads)
        return Table(self.rows.columns, rows, [*self.rows.notes, *self.sentences])

    def document(self, layout: Layout) -> dict[str, Any]:
        """Return all as one JSON object."""
        return {
            "ragkpi": __version__,
            "question": self.question,
            "answer": list(self.sentences),
            "findings": _plain(self.findings),
            "notes": list(self.rows.notes),
            "rows": [self._object(row, layout) for row in self.rows.rows],
        }

    def lines(self, layout: Layout) -> Iterator[dict[str, Any]]:
        """Yield a JSON object for the answer, then one per row."""
        whole = self.document(layout)
        rows = whole.pop("rows")
        yield {"kind": "answer", **whole}
        for row in rows:
            yield {"kind": "row", "question": self.question, "values": row}

    def _object(self, row: Sequence[Cell], layout: Layout) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for cell, column in zip(row, self.rows.columns, strict=True):
            style = cell.style or column.style
            if cell.value is None:
                continue
            values[column.name] = as_json(cell.value, style, layout.digits)
            if cell.interval is not None:
                bounds = [as_json(bound, style, layout.digits) for bound in cell.interval]
                values[f"{column.name}_interval"] = bounds
        return values


def _once(rows: Sequence[list[Cell]], heads: int) -> list[list[Cell]]:
    """Empty the leading cells of rows that have the same ones as the row above."""
    kept = list(rows[:1])
    for above, row in pairwise(rows):
        same = heads and above[:heads] == row[:heads]
        kept.append([Cell()] * heads + row[heads:] if same else row)
    return kept


def _plain(value: Any) -> Any:
    """Return what JSON can hold of findings; None for NaN."""
    if hasattr(value, "__dataclass_fields__"):
        value = asdict(value)
    if isinstance(value, Mapping):
        return {name.rstrip("_"): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, bool | str | bytes):
        return decoded(value)
    return as_json(value, "integer" if isinstance(value, int) else "decimal")
