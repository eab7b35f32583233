"""The table of one evaluation: a row per run, or per query and run, and a column per value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from ragkpi.errors import UsageError
from ragkpi.records import replace
from ragkpi.reports.layout import Cell, Column, Layout, Table, with_best_marked
from ragkpi.studies.evaluate.evaluation_report import (
    ALL,
    EvaluatedRun,
    EvaluationReport,
    interval_notes,
)
from ragkpi.studies.evaluate.query_values import query_rows
from ragkpi.wording import counted

# Larger tables are for programs.
MOST_CELLS = 100_000


def evaluation_table(report: EvaluationReport, layout: Layout) -> Table:
    """Lay out a row per run, and with per-query values one per query and run before them."""
    runs = report.runs
    by_query, summary = layout.per_query == "shown", layout.summary == "shown"
    shown = [
        metric
        for metric in runs[0].scores.metrics
        if (summary and metric.is_printed("summary")) or (by_query and metric.is_printed("query"))
    ]
    names = [metric.name for metric in shown]
    columns = [
        Column("run"),
        *([Column("query")] if by_query else []),
        *(Column(m.name, m.measure.style, m.measure.better) for m in shown),
    ]
    rows: list[list[Cell]] = []
    plain_rows: Iterable[list[Any]] = ()
    notes: list[str] = []
    if by_query:
        groups = query_rows(runs, names, report.queries)
        if layout.notes == "columns":
            plain_rows = chain.from_iterable(groups)
        else:
            _refuse_many(report, len(columns))
            for group in groups:
                rows += with_best_marked(columns, [[*map(Cell, row)] for row in group])
    if summary:
        summaries = [
            [Cell(run.name), *([Cell(ALL)] if by_query else []), *_summary_cells(run, names)]
            for run in runs
        ]
        same_queries = all(run.scores.queries == runs[0].scores.queries for run in runs)
        rows += with_best_marked(columns, summaries) if same_queries else summaries
        notes += _query_counts(runs, names)
    notes += interval_notes(report.bootstrap, [run.scores for run in runs])
    if by_query and report.worst is not None:
        notes.append(report.worst.note)
    return with_signatures(Table(columns, rows, notes, plain_rows=plain_rows), runs, layout)


def _refuse_many(report: EvaluationReport, columns: int) -> None:
    """Refuse a table that is too large to read and takes minutes to draw."""
    rows = len(report.queries) * len(report.runs)
    if rows * columns > MOST_CELLS:
        raise UsageError(
            f"{rows:,} rows of {columns} values are no table for people; expected --format csv "
            "or tsv, or fewer values (-m) or queries (--worst)"
        )


def with_signatures(table: Table, runs: Sequence[EvaluatedRun], layout: Layout) -> Table:
    """Add the runs' signatures: a note for each, or a column with the signature of each row."""
    signatures = {
        run.name: run.signature.long() if layout.signature == "long" else run.signature.short()
        for run in runs
        if run.signature
    }
    if layout.signature == "none" or not signatures:
        return table
    if layout.notes == "columns":
        place = [column.name for column in table.columns].index("run")
        rows = [[*row, Cell(signatures.get(row[place].value))] for row in table.rows]
        plain_rows = ([*row, signatures.get(row[place])] for row in table.plain_rows)
        columns = [*table.columns, Column("signature")]
        return Table(columns, rows, table.notes, plain_rows=plain_rows)
    distinct = list(dict.fromkeys(signatures.values()))
    notes = distinct if len(distinct) == 1 else [f"{n}: {text}" for n, text in signatures.items()]
    return replace(table, notes=[*table.notes, *notes])


def _summary_cells(run: EvaluatedRun, names: Sequence[str]) -> list[Cell]:
    return [
        Cell(run.scores[name].summary, run.intervals.get(name))
        if run.scores[name].metric.is_printed("summary")
        else Cell()
        for name in names
    ]


def _query_counts(runs: Sequence[EvaluatedRun], names: Sequence[str]) -> Iterator[str]:
    """Say over how many queries the values of several runs are."""
    if len(runs) < 2:
        return
    queries = {run.name: run.scores.divisor for run in runs}
    if len(set(queries.values())) > 1:
        texts = ", ".join(f"{name}: {number:,}" for name, number in queries.items())
        yield f"over different queries, so nothing is marked as best ({texts})"
    elif "num_q" not in names:
        yield f"over {counted(runs[0].scores.divisor, 'query', 'queries')}"
    for name in names:
        known = {run.name: run.scores[name].valid for run in runs}
        differing = {number for number in known.values() if number}
        if runs[0].scores[name].metric.is_estimate and len(differing) > 1:
            texts = ", ".join(f"{run}: {number:,}" for run, number in known.items())
            yield f"{name} is NA for some queries and over the others alone ({texts})"
