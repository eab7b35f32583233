"""A report on all queries, and the same report on each slice of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from ragkpi.records import NamedTuple, dataclass
from ragkpi.reports.layout import Cell, Column, Layout, Report, Table
from ragkpi.wording import counted

ALL = "all"


class ReportPart(NamedTuple):
    """The report on a slice: the kind of label, the label, and the number of queries."""

    by: str
    label: str
    queries: int
    report: Report

    @property
    def name(self) -> str:
        """The name of the slice, such as ``lang=de``."""
        return f"{self.by}={self.label}" if self.by else self.label


@dataclass(frozen=True)
class SlicedReport:
    """A report on all queries, and one on each slice as if there were no other queries.

    Attributes
    ----------
    whole
        The report on all queries.
    queries
        The number of all queries.
    parts
        The reports on the slices.
    notes
        Notes on the slices, such as which queries are in none, a line each.
    """

    whole: Report
    queries: int
    parts: Sequence[ReportPart]
    notes: Sequence[str] = ()

    @property
    def sentences(self) -> list[str]:
        """The sentences of all reports; those on slices begin with the name of the slice."""
        of_slices = (
            f"{part.name}: {sentence}"
            for part in self.parts
            for sentence in getattr(part.report, "sentences", ())
        )
        return [*getattr(self.whole, "sentences", ()), *of_slices]

    def table(self, layout: Layout) -> Table:
        """Stack the tables, with the slice of each row in front.

        Programs get two columns, for the kind and the label; people one. A note on a slice that
        repeats a note on all queries is left out.
        """
        parts = [ReportPart("", ALL, self.queries, self.whole), *self.parts]
        tables = [part.report.table(layout) for part in parts]
        first = tables[0]
        counting = all(column.name != "queries" for column in first.columns)
        for_programs = layout.notes == "columns"
        heads = [Column("by"), Column("label")] if for_programs else [Column("slice")]
        heads += [Column("queries", "integer")] if counting else []
        rows: list[list[Cell]] = []
        plain_rows: list[Iterator[list[Any]]] = []
        slices_by_note: dict[str, list[str]] = {}
        for part, table in zip(parts, tables, strict=True):
            keys: list[Any] = [part.by or None, part.label] if for_programs else [part.name]
            keys += [part.queries] if counting else []
            rows += [[*map(Cell, keys), *row] for row in table.rows]
            plain_rows.append(_prefixed(keys, table.plain_rows))
            repeated = {*first.notes, f"over {counted(part.queries, 'query', 'queries')}"}
            for note in table.notes:
                if note not in repeated:
                    slices_by_note.setdefault(note, []).append(part.name)
        notes = [*first.notes, *self.notes]
        notes += [f"{', '.join(names)}: {note}" for note, names in slices_by_note.items()]
        columns = [*heads, *first.columns]
        return Table(columns, rows, notes, first.caption, chain.from_iterable(plain_rows))

    def document(self, layout: Layout) -> dict[str, Any]:
        """Return the report on all queries as a JSON object, with the slices inside."""
        slices = []
        for part in self.parts:
            document = part.report.document(layout)
            document.pop("ragkpi", None)
            slices.append({**_key(part), **document})
        return {**self.whole.document(layout), "slices": slices}

    def lines(self, layout: Layout) -> Iterator[dict[str, Any]]:
        """Yield the objects of all queries, then those of each slice, which name it."""
        yield from self.whole.lines(layout)
        for part in self.parts:
            for line in part.report.lines(layout):
                yield {**line, "slice": _key(part)}


def _key(part: ReportPart) -> dict[str, Any]:
    return {"by": part.by, "label": part.label, "queries": part.queries}


def _prefixed(keys: Sequence[Any], rows: Iterable[Sequence[Any]]) -> Iterator[list[Any]]:
    return ([*keys, *row] for row in rows)
