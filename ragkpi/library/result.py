"""`Result`: the answer to a question in words, rows, JSON, data frames and charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, Self

from ragkpi.errors import RagkpiError, UsageError
from ragkpi.library.ground import Signature
from ragkpi.library.options import one_of
from ragkpi.reports.layout import Layout, Report
from ragkpi.reports.renderers import REPORT_FORMATS, rendered
from ragkpi.wording import decoded

if TYPE_CHECKING:  # few results are drawn
    from ragkpi.charts.chart import Charts


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The answer to a question.

    ``str(result)`` is the table that the command prints, and a notebook shows it as Markdown.

    Attributes
    ----------
    report
        The data that the renderers of ``ragkpi.reports`` write.
    charts
        The charts that `plot` draws.
    notes
        Omissions, assumptions and possible misreadings, one per line. Those of the call were also
        warnings.
    signature
        The files and settings behind the numbers; None for questions without a signature.
    problems
        The errors of missing parts of the answer, and failures such as missed gates; empty unless
        the function says otherwise.
    """

    report: Report
    charts: Charts | None = None
    notes: Sequence[str] = ()
    signature: Signature | None = None
    problems: Sequence[RagkpiError] = ()

    @property
    def answer(self) -> str:
        """The answer in words: the verdict, or else the notes of the table."""
        table = self.report.table(Layout())
        return "\n".join(table.verdict or table.notes)

    @property
    def explanation(self) -> str:
        """How the answer was computed, as ``--explain`` shows it: a line per column and test."""
        return "\n".join(self.report.table(Layout()).explained)

    @property
    def findings(self) -> Mapping[str, Any]:
        """The answer as data, by name; empty if the rows are the whole answer."""
        return dict(self.to_dict().get("findings", {}))

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """The rows, unrounded, by names of columns; NaN is NA, None is an empty cell.

        A value's interval has two more columns: ``NAME_low`` and ``NAME_high``.
        """
        table = self.report.table(Layout(notes="columns"))
        values = ([decoded(value) for value, _ in table.values(row)] for row in table.rows)
        return [dict(zip(table.names, of_row, strict=True)) for of_row in values]

    @cached_property
    def slices(self) -> Mapping[str, Self]:
        """The same result over the queries of each label, by names such as ``lang=de``."""
        parts = self.report.slices.parts if self.report.slices else ()
        return {part.name: replace(self, report=part.report, charts=None) for part in parts}

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``--format json``, valid under the schema of ``ragkpi schema``."""
        return self.report.document(Layout(notes="columns"))

    def to_text(self, form: str = "table") -> str:
        """Return the table as text: ``"table"``, ``"markdown"``, ``"latex"``, ``"csv"``, ….

        ``--format`` prints the same text. `UsageError` for an unknown format.
        """
        return rendered(self.report, one_of("form", form, list(REPORT_FORMATS)), Layout())

    def to_pandas(self) -> Any:
        """Return the rows as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self._columns())

    def to_polars(self) -> Any:
        """Return the rows as a polars DataFrame."""
        import polars

        return polars.DataFrame(self._columns(), strict=False)

    def to_arrow(self) -> Any:
        """Return the rows as a pyarrow Table."""
        import pyarrow

        columns = {}
        for name, values in self._columns().items():
            try:
                columns[name] = pyarrow.array(values)
            except pyarrow.ArrowException:  # numbers and texts in one column
                columns[name] = pyarrow.array([None if v is None else str(v) for v in values])
        return pyarrow.table(columns)

    def __getstate__(self) -> dict[str, Any]:
        """Make the charts now, since the functions that make them later cannot be pickled."""
        if self.charts is None:
            return self.__dict__
        return {**self.__dict__, "charts": partial(list, self.charts())}

    def plot(self, size: Literal["screen", "column", "page"] = "screen") -> Any:
        """Draw the charts of ``--plot`` as a matplotlib figure, ``--plot-size`` wide."""
        charts = self.charts() if self.charts else []
        if not charts:
            raise UsageError("this result has no figure")
        from ragkpi.charts.picture import figure_of

        return figure_of(charts, size)

    def _columns(self) -> dict[str, list[Any]]:
        names = dict.fromkeys(name for row in self.rows for name in row)
        return {name: [row.get(name) for row in self.rows] for name in names}

    def __str__(self) -> str:
        return rendered(self.report, "table", Layout()).rstrip("\n")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.answer.splitlines()[-1] if self.answer else ''}>"

    def _repr_markdown_(self) -> str:
        return self.to_text("markdown")
