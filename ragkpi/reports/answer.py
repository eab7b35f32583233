"""The answer to a question: rows, notes on them, and sentences."""

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
    """The answer of a command.

    Attributes
    ----------
    question
        The name of the command.
    rows
        The computed rows; the notes of the table give the reasons.
    sentences
        The conclusions, one per line.
    findings
        The conclusions for programs: dataclasses, lists, numbers, texts and None by name.
    heads
        How many leading columns repeat from row to row; people see only the changes.
    """

    question: str
    rows: Table
    sentences: Sequence[str]
    findings: Mapping[str, Any]
    heads: int = 0

    def table(self, layout: Layout) -> Table:
        """Lay out the rows, with the notes and the sentences below."""
        rows = self.rows.rows if layout.notes == "columns" else _once(self.rows.rows, self.heads)
        return Table(self.rows.columns, rows, [*self.rows.notes, *self.sentences])

    def document(self, layout: Layout) -> dict[str, Any]:
        """Return the answer as one JSON object."""
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
        document = self.document(layout)
        rows = document.pop("rows")
        yield {"kind": "answer", **document}
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
    """Empty the leading cells of a row that equal those of the row above."""
    return [
        *rows[:1],
        *(
            [Cell()] * heads + row[heads:] if above[:heads] == row[:heads] else row
            for above, row in pairwise(rows)
        ),
    ]


def _plain(value: Any) -> Any:
    """Turn findings into values of JSON; NaN becomes None."""
    if hasattr(value, "__dataclass_fields__"):
        value = asdict(value)
    if isinstance(value, Mapping):
        return {name.rstrip("_"): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, bool | str | bytes):
        return decoded(value)
    return as_json(value, "integer" if isinstance(value, int) else "decimal")
