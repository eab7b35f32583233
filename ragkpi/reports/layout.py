"""How a report is wanted, and the table that all textual formats draw."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from ragkpi.measures.measure import Better
from ragkpi.records import dataclass, field, replace
from ragkpi.wording import Style, rounded, visible

if TYPE_CHECKING:
    from ragkpi.statistics.bootstrap import Interval


@dataclass(frozen=True)
class Layout:
    """How a report is wanted.

    Attributes
    ----------
    per_query, summary
        Whether the values of single queries, and those over all, are shown.
    digits
        Places behind the point (of values that have few: significant digits); None for the
        format's own choice, which is all of them in formats for programs.
    signature
        Which form of the signatures is shown where a format does not always carry them.
    colour
        ``"always"`` only for terminals; see `ragkpi.reports.text_table.wants_colour`.
    notes
        Where a format has room for what is not a value: ``"below"`` the table or in ``"columns"``.
    width
        Of the terminal, for tables; None where everything is shown.
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
    """One place of a table.

    Attributes
    ----------
    value
        A number, NaN for NA, a text or bytes; None if the cell is empty.
    interval
        Of the value, if one was computed.
    best
        Whether it is the best of its column.
    style
        How the value is written, where that is not the same in the whole column.
    marks
        Raised behind the value: from which runs it differs.
    tone
        What a terminal with colours makes of it.
    """

    value: Any = None
    interval: Interval | None = None
    best: bool = False
    style: Style | None = None
    marks: str = ""
    tone: Literal["plain", "good", "bad", "warning"] = "plain"


@dataclass(frozen=True)
class Column:
    """What the cells of a column have in common.

    Attributes
    ----------
    name, style, better
        Its head; how its values are written; which of them are good ones.
    signed
        Whether positive values have a plus sign.
    digits
        How many, unless the layout says otherwise.
    role
        What becomes of it where a terminal is narrow: ``"detail"`` is left out first, ``"prose"``
        is wrapped.
    legend
        What it holds, for a line below a table for people; empty where its name says it.
    """

    name: str
    style: Style = "text"
    better: Better = "neither"
    signed: bool = False
    digits: int | None = None
    role: Literal["core", "detail", "prose"] = "core"
    legend: str = ""

    @property
    def numeric(self) -> bool:
        """Whether it holds numbers, which stand flush right."""
        return self.style not in ("text", "quoted")

    def text(self, cell: Cell, layout: Layout) -> str:
        """Write a cell for people: rounded, the interval in brackets behind the value."""
        style = cell.style or self.style
        digits = self.digits if layout.digits is None else layout.digits
        text = visible(rounded(cell.value, style, digits, self.signed))
        if cell.interval is None:
            return text
        low, high = (rounded(bound, style, digits, self.signed) for bound in cell.interval)
        return f"{text} [{low}, {high}]"


Block: TypeAlias = Sequence[Sequence[Any]]
"""Some rows by columns: the values of each column, unrounded."""


@dataclass(frozen=True)
class Table:
    """What table, Markdown, LaTeX, CSV and TSV have in common.

    Attributes
    ----------
    columns, rows
        Every row has a cell for every column.
    notes
        Lines that stand under the table.
    caption
        What a table of a paper says of itself; empty for other tables.
    blocks
        Many plain rows that come before `rows`, for formats that mark and align nothing.
    """

    columns: list[Column]
    rows: list[list[Cell]]
    notes: list[str] = field(default_factory=list)
    caption: str = ""
    blocks: Iterable[Block] = ()


class Report(Protocol):
    """What can be reported: one evaluation of some runs, a comparison, a history."""

    def table(self, layout: Layout) -> Table:
        """Return it as a table."""

    def document(self, layout: Layout) -> dict[str, Any]:
        """Return it as one JSON object, valid under ``schema.json``."""

    def lines(self, layout: Layout) -> Iterator[dict[str, Any]]:
        """Return it as JSON objects for one line each, valid under ``schema.json#/$defs/line``."""


def with_best_marked(columns: Sequence[Column], rows: Sequence[list[Cell]]) -> list[list[Cell]]:
    """Mark the best values of every column among rows that stand for the same queries.

    Nothing is marked where no two are known to differ.
    """
    if len(rows) < 2:
        return list(rows)
    marked = [list(row) for row in rows]
    for number, column in enumerate(columns):
        if column.better == "neither":
            continue
        values = [row[number].value for row in rows]
        known = {
            value for value in values if isinstance(value, int | float) and not math.isnan(value)
        }
        if len(known) < 2:
            continue
        best = max(known) if column.better == "higher" else min(known)
        for row in marked:
            if row[number].value == best:
                row[number] = replace(row[number], best=True)
    return marked
