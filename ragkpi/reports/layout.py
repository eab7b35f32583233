"""The layout that a user asks for, and the table that all textual formats draw."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, Protocol

from ragkpi.records import dataclass, field, replace
from ragkpi.wording import Style, rounded, visible


@dataclass(frozen=True)
class Layout:
    """What a report shows, and how.

    Attributes
    ----------
    per_query, summary
        Whether the report shows the values of single queries, and those over all queries.
    digits
        Decimals (significant digits for styles without decimals). None leaves the choice to the
        format: formats for programs write all digits.
    signature
        Which form of the signature to show, in formats that do not always carry it.
    colour
        ``"always"`` only for terminals; see `ragkpi.reports.text_table.wants_colour`.
    notes
        Where a format puts notes and signatures: ``"below"`` the table or in ``"columns"``.
    width
        Width of the terminal, for tables; None shows every column in full.
    """

    per_query: Literal["hidden", "shown"] = "hidden"
    summary: Literal["hidden", "shown"] = "shown"
    digits: int | None = None
    signature: Literal["none", "short", "long"] = "none"
    colour: Literal["always", "never"] = "never"
    notes: Literal["below", "columns"] = "below"
    width: int | None = None


@dataclass(frozen=True)
class Cell:
    """One cell of a table.

    Attributes
    ----------
    value
        A number, NaN for NA, a text or bytes; None if the cell is empty.
    interval
        The low and the high bound of the value, if an interval was computed.
    best
        Whether the value is the best of its column.
    style
        How to write the value; None for the style of the column.
    marks
        Raised behind the value: the marks of the runs that it differs from.
    tone
        Its colour on a terminal with colours.
    """

    value: Any = None
    interval: tuple[float, float] | None = None
    best: bool = False
    style: Style | None = None
    marks: str = ""
    tone: Literal["plain", "good", "bad", "warning"] = "plain"


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    name, style
        Its head, and how to write its values.
    better
        Whether higher or lower values are better.
    signed
        Whether positive values get a plus sign.
    digits
        Decimals, unless the layout names a number; None for the default of the style.
    role
        What happens on a narrow terminal: ``"detail"`` is left out first, ``"prose"`` is wrapped.
    legend
        What the column holds, for a line below a table for people; empty if the name is enough.
    """

    name: str
    style: Style = "text"
    better: Literal["higher", "lower", "neither"] = "neither"
    signed: bool = False
    digits: int | None = None
    role: Literal["core", "detail", "prose"] = "core"
    legend: str = ""

    @property
    def numeric(self) -> bool:
        """Whether the column holds numbers, which are aligned right."""
        return self.style not in ("text", "quoted")

    def text(self, cell: Cell, layout: Layout) -> str:
        """Write a cell for people: rounded, with the interval in brackets behind the value."""
        style = cell.style or self.style
        digits = self.digits if layout.digits is None else layout.digits
        text = visible(rounded(cell.value, style, digits, self.signed))
        if cell.interval is None:
            return text
        low, high = (rounded(bound, style, digits, self.signed) for bound in cell.interval)
        return f"{text} [{low}, {high}]"


@dataclass(frozen=True)
class Table:
    """The columns, rows and notes that every textual format draws.

    Attributes
    ----------
    columns, rows
        Every row has a cell for every column.
    notes
        Lines below the table.
    caption
        The caption of a table for a paper; empty for other tables.
    plain_rows
        Rows of unrounded values before `rows`, for CSV and TSV alone: there may be millions.
    """

    columns: list[Column]
    rows: list[list[Cell]]
    notes: list[str] = field(default_factory=list)
    caption: str = ""
    plain_rows: Iterable[Sequence[Any]] = ()


class Report(Protocol):
    """The result of a question, which every format can write."""

    def table(self, layout: Layout) -> Table:
        """Return the report as a table."""

    def document(self, layout: Layout) -> dict[str, Any]:
        """Return the report as one JSON object, valid under ``schema.json``."""

    def lines(self, layout: Layout) -> Iterator[dict[str, Any]]:
        """Yield JSON objects, one per line, valid under ``schema.json#/$defs/line``."""


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
                row[number] = replace(row[number], best=True)
    return marked
