"""Tables, answers and reports as data, and the user's layout, which renderers follow."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import chain, compress, pairwise
from typing import Any, Literal, NamedTuple

from ragkpi.version import __version__
from ragkpi.wording import Style, as_json, counted, decoded, rounded, visible, with_interval


@dataclass(frozen=True)
class Layout:
    """The user's choices of a report's contents and style."""

    per_query: Literal["hidden", "shown"] = "hidden"  # values of single queries
    summary: Literal["hidden", "shown"] = "shown"  # values over all queries
    digits: int | None = None  # decimals; None leaves the choice to the format
    signature: Literal["none", "short", "long"] = "none"  # in formats that do not always carry it
    files: Literal["hidden", "shown"] = "hidden"  # the paths of runs, in JSON
    colour: Literal["always", "never"] = "never"  # only for terminals
    notes: Literal["below", "columns"] = "below"  # below the table or in columns
    # How the answer was computed; "offered" names the option that shows it.
    explanation: Literal["hidden", "offered", "shown"] = "hidden"
    width: int | None = None  # the terminal's width, for tables; None shows every column in full
    project: str = ""  # the options that the command took from pyproject.toml, for JSON
    call_notes: Sequence[str] = ()  # notes of the call, which a terminal shows below the answer


class Cell(NamedTuple):
    """One cell of a table."""

    value: Any = None  # a number, NaN for NA, a text or bytes; None if the cell is empty
    interval: tuple[float, float] | None = None  # if one was computed
    best: bool = False
    style: Style | None = None  # the style of the value; None for that of the column
    marks: str | None = None  # superscripts of the value, of runs that it differs from
    tone: Literal["plain", "good", "bad", "warning"] = "plain"


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    name: str
    style: Style = "text"
    better: Literal["higher", "lower", "neither"] = "neither"
    signed: bool = False  # whether positive values get a plus sign
    digits: int | None = None  # overridden by the layout; None for the style's digits
    # A narrow table drops detail columns first, and wraps prose.
    role: Literal["core", "detail", "prose"] = "core"
    legend: str = ""  # part of the explanation; empty if the name is enough

    @property
    def numeric(self) -> bool:
        """Whether the column holds numbers, which align right."""
        return self.style not in ("text", "quoted")

    def text(self, cell: Cell, layout: Layout) -> str:
        """Write a cell for people: rounded, with the interval in brackets after the value."""
        style = cell.style or self.style
        digits = self.digits if layout.digits is None else layout.digits
        if cell.interval is None:
            return visible(rounded(cell.value, style, digits, self.signed))
        return visible(with_interval(cell.value, cell.interval, style, digits, self.signed))


@dataclass(frozen=True)
class Check:
    """A rule that passed or failed, for CI: a gate, or a finding about a file."""

    name: str
    outcome: Literal["passed", "note", "warning", "error"]
    text: str
    file: str = ""
    line: int | None = None


ALL = "all"


@dataclass(frozen=True)
class Table:
    """The columns, rows and notes that every textual format draws."""

    columns: list[Column]
    rows: list[list[Cell]]  # each with a cell for every column
    notes: Sequence[str] = ()  # reasons for caution; at most two lines
    caption: str = ""  # the caption of a table for a paper; empty for other tables
    verdict: Sequence[str] = ()  # the answer, in one or two sentences above the table
    explanation: Sequence[str] = ()  # tests, corrections, seeds
    below: Sequence[str] = ()  # gates, for people
    checks: Sequence[Check] = ()
    # Rows above the others in CSV and TSV, without intervals: millions that are not held.
    streamed: Iterable[list[Cell]] = ()
    use: Literal["read", "data"] = "read"  # "data": the verdict is enough, no terminal draws it

    @cached_property
    def ends(self) -> list[tuple[str, ...]]:
        """The suffixes of each column's names for programs, for intervals and marks."""
        ends: list[tuple[str, ...]] = []
        for cells in zip(*self.rows, strict=True) if self.rows else [()] * len(self.columns):
            bounds = ("_low", "_high") if any(cell.interval is not None for cell in cells) else ()
            marks = ("_marks",) if any(cell.marks is not None for cell in cells) else ()
            ends.append(("", *bounds, *marks))
        return ends

    @property
    def names(self) -> list[str]:
        """The names of all columns for programs."""
        named = zip(self.columns, self.ends, strict=True)
        return [column.name + end for column, ends in named for end in ends]

    def values(self, row: Sequence[Cell]) -> Iterator[tuple[Any, Style]]:
        """Yield the values of a row for programs, each with its style."""
        for cell, column, ends in zip(row, self.columns, self.ends, strict=True):
            style = cell.style or column.style
            yield cell.value, style
            if len(ends) > 1:
                low, high = cell.interval or (None, None)
                beside = {"_low": low, "_high": high, "_marks": cell.marks}
                for end in ends[1:]:
                    yield beside[end], style

    def texts(self, layout: Layout) -> list[str]:
        """Return the texts below the table: notes, and the explanation on request."""
        return [*self.notes, *(self.explained if layout.explanation == "shown" else ())]

    @property
    def explained(self) -> list[str]:
        """The legends of columns, and how the answer was computed, line by line."""
        legends = [f"{column.name}: {column.legend}" for column in self.columns if column.legend]
        return [*legends, *self.explanation]


class Slice(NamedTuple):
    """The report on a slice: the kind of label, the label, and the number of queries."""

    by: str
    label: str
    queries: int
    report: Report

    @property
    def name(self) -> str:
        """The name of the slice, such as ``lang=de``."""
        return f"{self.by}={self.label}" if self.by else self.label

    @property
    def key(self) -> dict[str, Any]:
        """The key of the slice in JSON."""
        return {"by": self.by, "label": self.label, "queries": self.queries}


@dataclass(frozen=True)
class Slices:
    """Reports on slices of the queries, each as if there were no other queries."""

    queries: int  # of the report on all queries
    parts: Sequence[Slice]
    notes: Sequence[str] = ()  # such as queries in no slice, one per line


@dataclass(frozen=True, kw_only=True)
class Report(ABC):
    """The results of a command over all queries, and over slices of them, for every renderer."""

    slices: Slices | None = None  # None without labels

    @abstractmethod
    def own_table(self, layout: Layout) -> Table:
        """Return the table of all queries."""

    @abstractmethod
    def own_document(self, layout: Layout) -> dict[str, Any]:
        """Return the results over all queries as one JSON object."""

    @abstractmethod
    def own_lines(self, layout: Layout) -> Iterator[dict[str, Any]]:
        """Yield the results over all queries as JSON objects, one per line."""

    def table(self, layout: Layout) -> Table:
        """Lay out the report; rows of slices follow, with the name of the slice first."""
        whole = self.own_table(layout)
        return whole if self.slices is None else _stacked(self, whole, self.slices, layout)

    def document(self, layout: Layout) -> dict[str, Any]:
        """Return the report as one JSON object, valid under ``schema.json``."""
        document = self.own_document(layout)
        if self.slices is not None:
            slices = [{**part.key, **part.report.document(layout)} for part in self.slices.parts]
            document["slices"] = [{k: v for k, v in of.items() if k != "ragkpi"} for of in slices]
        return document

    def lines(self, layout: Layout) -> Iterator[dict[str, Any]]:
        """Yield JSON objects, one per line, valid under ``schema.json#/$defs/line``.

        Lines of slices follow, with the name of the slice.
        """
        yield from self.own_lines(layout)
        for part in self.slices.parts if self.slices else ():
            for line in part.report.lines(layout):
                yield {**line, "slice": part.key}


def _stacked(report: Report, first: Table, slices: Slices, layout: Layout) -> Table:
    """Stack the tables of slices below the first, with the slice of each row first.

    Programs get two columns, the kind of label and the label; people get one. Verdicts on slices
    begin with their names. Texts on a slice that repeat those on all queries are left out.
    """
    parts = [Slice("", ALL, slices.queries, report), *slices.parts]
    tables = [first, *(part.report.table(layout) for part in slices.parts)]
    counting = all(column.name != "queries" for column in first.columns)
    for_programs = layout.notes == "columns"
    heads = [Column("by"), Column("label")] if for_programs else [Column("group")]
    heads += [Column("queries", "integer")] if counting else []
    rows: list[list[Cell]] = []
    streamed: list[Iterable[list[Cell]]] = []
    verdict = [*first.verdict]
    notes_by_text: dict[str, list[str]] = {}
    explained: dict[str, list[str]] = {}
    for part, table in zip(parts, tables, strict=True):
        keys: list[Any] = [part.by or None, part.label] if for_programs else [part.name]
        keys += [part.queries] if counting else []
        rows += [[*map(Cell, keys), *row] for row in table.rows]
        streamed.append(map([*map(Cell, keys)].__add__, table.streamed))
        verdict += [f"{part.name}: {text}" for text in table.verdict if table is not first]
        number = f"over {counted(part.queries, 'query', 'queries')}"
        for note in table.notes:
            if note not in first.notes and note != number:
                notes_by_text.setdefault(note, []).append(part.name)
        for line in table.explanation:
            if line not in first.explanation:
                explained.setdefault(line, []).append(part.name)
    return Table(
        [*heads, *first.columns],
        rows,
        [*first.notes, *slices.notes, *_of_slices(notes_by_text)],
        first.caption,
        verdict,
        [*first.explanation, *_of_slices(explained)],
        first.below,
        first.checks,
        chain.from_iterable(streamed),
    )


def _of_slices(names_by_text: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for text, names in names_by_text.items():
        yield f"{', '.join(names)}: {text}"


def filled(
    columns: Sequence[Column], rows: Sequence[list[Cell]]
) -> tuple[list[Column], list[list[Cell]]]:
    """Return columns and rows without empty columns."""
    kept = [not rows or any(row[n].value is not None for row in rows) for n in range(len(columns))]
    return list(compress(columns, kept)), [list(compress(row, kept)) for row in rows]


def finite(interval: tuple[float, float]) -> tuple[float, float] | None:
    """Return the interval for a cell; None if its bounds are NaN."""
    return None if math.isnan(interval[0]) else interval


def with_best_marked(columns: Sequence[Column], rows: Sequence[list[Cell]]) -> list[list[Cell]]:
    """Mark the best values of every column; the rows must be over the same queries.

    A column without two different values gets no mark.
    """
    marked = [list(row) for row in rows]
    for number, column in enumerate(columns):
        if column.better == "neither":
            continue
        values = [row[number].value for row in rows]
        numbers = {x for x in values if isinstance(x, int | float) and not math.isnan(x)}
        if len(numbers) < 2:
            continue
        best = max(numbers) if column.better == "higher" else min(numbers)
        for row in marked:
            if row[number].value == best:
                row[number] = row[number]._replace(best=True)
    return marked


@dataclass(frozen=True, kw_only=True)
class Answer(Table, Report):
    """The answer of a command: a table below a verdict, and findings for programs."""

    question: str
    findings: Mapping[str, Any] = field(default_factory=dict)  # dataclasses, lists, numbers, texts
    heads: int = 0  # number of leading columns with repeated cells; people see only changes

    def own_table(self, layout: Layout) -> Table:
        return self if layout.notes == "columns" else replace(self, rows=self._once)

    def own_document(self, layout: Layout) -> dict[str, Any]:
        return {
            "ragkpi": __version__,
            "question": self.question,
            "answer": list(self.verdict),
            "findings": json_value(self.findings),
            "notes": list(self.notes),
            "explanation": self.explained,
            "rows": [self._object(row, layout) for row in self.rows],
        }

    def own_lines(self, layout: Layout) -> Iterator[dict[str, Any]]:
        """Yield a JSON object for the answer, then one per row."""
        document = self.own_document(layout)
        rows = document.pop("rows")
        yield {"kind": "answer", **document}
        for row in rows:
            yield {"kind": "row", "question": self.question, "values": row}

    def _object(self, row: Sequence[Cell], layout: Layout) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for cell, column in zip(row, self.columns, strict=True):
            style = cell.style or column.style
            if cell.value is None:
                continue
            values[column.name] = as_json(cell.value, style, layout.digits)
            if cell.interval is not None:
                bounds = [as_json(bound, style, layout.digits) for bound in cell.interval]
                values[f"{column.name}_interval"] = bounds
        return values

    @property
    def _once(self) -> list[list[Cell]]:
        """The rows, without leading cells equal to those above."""
        heads = self.heads
        return [
            [Cell()] * heads + row[heads:] if above[:heads] == row[:heads] else row
            for above, row in pairwise([[], *self.rows])
        ]


def json_value(value: Any) -> Any:
    """Convert findings or a chart to JSON values; NaN becomes None."""
    if hasattr(value, "__dataclass_fields__"):
        value = asdict(value)
    if isinstance(value, Mapping):
        return {str(name).rstrip("_"): json_value(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    if value is None or isinstance(value, bool | str | bytes):
        return decoded(value)
    return as_json(value, "integer" if isinstance(value, int) else "decimal")
