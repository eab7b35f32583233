"""A report on all queries, and the same report on each slice of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from ragkpi.records import NamedTuple, dataclass
from ragkpi.reports.layout import Block, Cell, Column, Layout, Report, Table
from ragkpi.wording import counted

ALL = "all"


class ReportPart(NamedTuple):
    """The report on a slice: the kind of label, the label, and over how many queries it is."""

    by: str
    label: str
    queries: int
    report: Report

    @property
    def name(self) -> str:
        """What it is called where it is one word."""
        return f"{self.by}={self.label}" if self.by else self.label


@dataclass(frozen=True)
class SlicedReport:
    """What a command says of all queries, and what it says of each slice.

    Each part is what the command would say if there were no other queries.

    Attributes
    ----------
    whole
        The report on all queries.
    queries
        How many that are.
    parts
        Those on the slices.
    notes
        Which queries are in no slice, and what else is to be said of slices, a line each.
    """

    whole: Report
    queries: int
    parts: Sequence[ReportPart]
    notes: Sequence[str] = ()

    @property
    def sentences(self) -> list[str]:
        """The sentences of all parts; those on slices begin with their names."""
        return [
            sentence if part.report is self.whole else f"{part.name}: {sentence}"
            for part in self._all
            for sentence in getattr(part.report, "sentences", ())
        ]

    @property
    def _all(self) -> list[ReportPart]:
        return [ReportPart("", ALL, self.queries, self.whole), *self.parts]

    def table(self, layout: Layout) -> Table:
        """Stack the tables, with the slice of each row in front.

        Programs get two columns, for the kind and the label; people one. Notes on a slice that
        say what is said of all queries already are left out.
        """
        tables = [part.report.table(layout) for part in self._all]
        first = tables[0]
        names = [column.name for column in first.columns]
        counting = [] if "queries" in names else [Column("queries", "integer")]
        by_name = layout.notes == "columns"
        heads = [Column("by"), Column("label")] if by_name else [Column("slice")]
        rows: list[list[Cell]] = []
        blocks: list[Iterator[Block]] = []
        notes = [*first.notes, *self.notes]
        for part, table in zip(self._all, tables, strict=True):
            keys: list[Any] = [part.by or None, part.label] if by_name else [part.name]
            keys += [part.queries] if counting else []
            rows += [[*map(Cell, keys), *row] for row in table.rows]
            blocks.append(_with_keys(keys, table.blocks))
        for note, named in _of_slices(self.parts, tables[1:], {*first.notes}).items():
            notes.append(f"{', '.join(named)}: {note}")
        columns = [*heads, *counting, *first.columns]
        return Table(columns, rows, notes, first.caption, chain.from_iterable(blocks))

    def document(self, layout: Layout) -> dict[str, Any]:
        """Return the report on all queries as a JSON object, with those on slices inside."""
        slices = []
        for part in self.parts:
            of_slice = part.report.document(layout)
            of_slice.pop("ragkpi", None)
            slices.append({**_key(part), **of_slice})
        return {**self.whole.document(layout), "slices": slices}

    def lines(self, layout: Layout) -> Iterator[dict[str, Any]]:
        """Yield the objects of all queries, then those of the slices, which say so."""
        yield from self.whole.lines(layout)
        for part in self.parts:
            for line in part.report.lines(layout):
                yield {**line, "slice": _key(part)}


def _of_slices(
    parts: Sequence[ReportPart], tables: Sequence[Table], said: set[str]
) -> dict[str, list[str]]:
    """Return what is said of slices and not of all queries, each with the slices that it is of."""
    slices: dict[str, list[str]] = {}
    for part, table in zip(parts, tables, strict=True):
        over = f"over {counted(part.queries, 'query', 'queries')}"  # which has a column
        for note in table.notes:
            if note not in said and note != over:
                slices.setdefault(note, []).append(part.name)
    return slices


def _key(part: ReportPart) -> dict[str, Any]:
    return {"by": part.by, "label": part.label, "queries": part.queries}


def _with_keys(keys: Sequence[Any], blocks: Any) -> Iterator[Block]:
    for block in blocks:
        count = len(block[0]) if len(block) else 0
        yield [*([key] * count for key in keys), *block]
