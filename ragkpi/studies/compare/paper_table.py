"""A table for a paper: runs and measures, the best bold, marks where runs differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ragkpi.errors import UsageError
from ragkpi.interface import option
from ragkpi.records import dataclass, replace
from ragkpi.reports.layout import Cell, Column, Layout, Table, with_best_marked
from ragkpi.reports.signature import Signature
from ragkpi.statistics.corrections import corrected
from ragkpi.statistics.paired import Comparison
from ragkpi.studies.compare.comparison_wording import IN_CAPTIONS
from ragkpi.studies.evaluate.evaluation_report import evaluated
from ragkpi.studies.evaluate.evaluation_table import with_signatures
from ragkpi.wording import counted

MARKS = "†‡§¶‖#"
Pair = tuple[str, frozenset[str]]  # a metric's name, and two runs


@dataclass(frozen=True)
class PaperTable:
    """Runs compared with one or several baselines.

    Attributes
    ----------
    names
        All runs, in the order of the table.
    comparisons
        One per baseline; see `ragkpi.statistics.paired.compare_each`.
    signatures
        The signatures of the runs, if they are known.
    """

    names: Sequence[str]
    comparisons: Sequence[Comparison]
    signatures: Sequence[Signature | None] = ()

    def __post_init__(self) -> None:
        """Refuse more baselines than there are marks."""
        if len(self.comparisons) > len(MARKS):
            raise UsageError(
                f"{option('against')}: {len(self.comparisons)} runs; there are marks for "
                f"{len(MARKS)}"
            )

    @property
    def caption(self) -> str:
        """What the table shows, and what its marks mean."""
        first = self.comparisons[0]
        procedure = first.procedure
        tested = sum(p == p for p in self._corrected.values())
        metrics = len({name for name, _ in self._corrected})
        number = tested if procedure.family == "all" else tested // max(metrics, 1)
        test, correction = IN_CAPTIONS[procedure.test], IN_CAPTIONS[procedure.correction]
        family = counted(number, "test")
        family += " in all" if procedure.family == "all" else " by each measure"
        marks = ", ".join(
            f"{mark} differs from {comparison.names[0]}"
            for mark, comparison in zip(MARKS, self.comparisons, strict=False)
        )
        queries = sorted({difference.queries for difference in first.differences})
        over = " to ".join(f"{number:,}" for number in dict.fromkeys((queries[0], queries[-1])))
        return (
            f"{counted(len(self.names), 'run')} over {over} queries; the best value of each "
            f"measure stands out. {marks} at p < {self._limit:.3g} ("
            f"{test.format(trials=procedure.trials)}, {correction.format(family=family)})."
        )

    def table(self, layout: Layout) -> Table:
        """Lay out a row per run and a column per measure."""
        metrics = [differences[0].metric for differences in self.comparisons[0].by_metric]
        columns = [
            Column("run"),
            *(Column(m.name, m.measure.style, m.measure.better) for m in metrics),
        ]
        first = self.comparisons[0]
        values = {(d.run, d.metric.name): d.summary for d in first.differences}
        values |= {(first.names[0], d.metric.name): d.baseline for d in first.differences}
        rows = [
            [
                Cell(name),
                *(Cell(values[name, m.name], marks=self._marks(m.name, name)) for m in metrics),
            ]
            for name in self.names
        ]
        table = Table(columns, with_best_marked(columns, rows), [], self.caption)
        if layout.notes == "columns":
            table = _with_marks_as_columns(table)
        scores = dict(zip(first.names, first.runs, strict=True))
        runs = evaluated(self.names, [scores[name] for name in self.names], self.signatures)
        return with_signatures(table, runs, layout)

    def document(self, layout: Layout) -> dict[str, Any]:
        """Refuse: the JSON of a comparison has no form for papers."""
        raise UsageError(
            "--paper is for readers; expected --format table, markdown, latex, csv or tsv, or json "
            "without --paper"
        )

    def lines(self, layout: Layout) -> Iterator[dict[str, Any]]:
        """Refuse as well."""
        yield self.document(layout)

    @property
    def _limit(self) -> float:
        return 1 - self.comparisons[0].procedure.bootstrap.level

    def _marks(self, metric: str, name: str) -> str:
        return "".join(
            mark
            for mark, comparison in zip(MARKS, self.comparisons, strict=False)
            if self._corrected.get((metric, frozenset((name, comparison.names[0]))), 1)
            < self._limit
        )

    @property
    def _corrected(self) -> Mapping[Pair, float]:
        """The p-values of all tested pairs, each pair once, corrected together."""
        procedure = self.comparisons[0].procedure
        families: dict[str, dict[Pair, float]] = {}
        for comparison in self.comparisons:
            for difference in comparison.differences:
                metric = difference.metric.name
                pair = metric, frozenset((difference.run, comparison.names[0]))
                family = "all" if procedure.family == "all" else metric
                families.setdefault(family, {})[pair] = difference.p
        return {
            pair: float(p)
            for family in families.values()
            for pair, p in zip(
                family, corrected(np.array([*family.values()]), procedure.correction), strict=True
            )
        }


def _with_marks_as_columns(table: Table) -> Table:
    """Move the marks of each measure into a column of their own, for programs."""
    run, *measures = table.columns
    columns = [run]
    for column in measures:
        columns += [column, Column(f"{column.name}_marks")]
    rows = []
    for name, *cells in table.rows:
        row = [name]
        for cell in cells:
            row += [replace(cell, marks=""), Cell(cell.marks)]
        rows.append(row)
    return Table(columns, rows, table.notes, table.caption)
