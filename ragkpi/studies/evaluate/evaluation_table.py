"""The table of one evaluation: a row per run, or per query and run, and a column per value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ragkpi.errors import UsageError
from ragkpi.measures.measure import Metric
from ragkpi.records import replace
from ragkpi.reports.layout import Block, Cell, Column, Layout, Table, with_best_marked
from ragkpi.studies.evaluate.evaluation_report import (
    ALL,
    EvaluatedRun,
    EvaluationReport,
    interval_notes,
)
from ragkpi.studies.evaluate.query_values import query_blocks
from ragkpi.wording import counted

# More values than that are for programs.
MOST_CELLS = 100_000


def evaluation_table(report: EvaluationReport, layout: Layout) -> Table:
    """Lay out a row per run, and with per-query values one per query and run before them."""
    by_query = layout.per_query == "shown"
    shown = _shown(report.runs[0].scores.metrics, layout)
    names = [metric.name for metric in shown]
    keys = [Column("run"), *([Column("query")] if by_query else [])]
    columns = keys + [
        Column(metric.name, metric.measure.style, metric.measure.better) for metric in shown
    ]
    rows: list[list[Cell]] = []
    blocks: Iterable[Block] = ()
    if by_query and layout.notes == "columns":
        blocks = query_blocks(
            [run.name for run in report.runs],
            [run.scores for run in report.runs],
            names,
            report.queries,
        )
    elif by_query:
        _refuse_many(report, len(columns))
        for group in _query_rows(report.runs, names, report.queries):
            rows += with_best_marked(columns, group)
    if layout.summary == "shown":
        heads = [[run.name, ALL] if by_query else [run.name] for run in report.runs]
        summaries = [
            [*map(Cell, head), *_summary_cells(run, names)]
            for head, run in zip(heads, report.runs, strict=True)
        ]
        alike = all(run.scores.queries == report.runs[0].scores.queries for run in report.runs)
        rows += with_best_marked(columns, summaries) if alike else summaries
    notes = list(_what_means_are_over(report.runs, names)) if layout.summary == "shown" else []
    notes += interval_notes(report.bootstrap, [run.scores for run in report.runs])
    if by_query and report.worst is not None:
        notes.append(report.worst.note)
    return with_signatures(Table(columns, rows, notes, blocks=blocks), report.runs, layout)


def _refuse_many(report: EvaluationReport, columns: int) -> None:
    """Refuse a table that nobody can read and that takes minutes to draw."""
    rows = len(report.queries) * len(report.runs)
    if rows * columns > MOST_CELLS:
        raise UsageError(
            f"{rows:,} rows of {columns} values are no table for people; expected --format csv "
            "or tsv, or fewer values (-m) or queries (--worst)"
        )


def with_signatures(table: Table, runs: Sequence[EvaluatedRun], layout: Layout) -> Table:
    """Add the runs' signatures, as a note each or as a column for the rows named by their runs."""
    signatures = {
        run.name: run.signature.long() if layout.signature == "long" else run.signature.short()
        for run in runs
        if run.signature
    }
    if layout.signature == "none" or not signatures:
        return table
    if layout.notes == "columns":
        column_of_run = [column.name for column in table.columns].index("run")
        rows = [[*row, Cell(signatures.get(row[column_of_run].value))] for row in table.rows]
        blocks = (
            [*block, [signatures.get(name) for name in block[column_of_run]]]
            for block in table.blocks
        )
        return Table([*table.columns, Column("signature")], rows, table.notes, blocks=blocks)
    distinct = list(dict.fromkeys(signatures.values()))
    notes = distinct if len(distinct) == 1 else [f"{n}: {text}" for n, text in signatures.items()]
    return replace(table, notes=[*table.notes, *notes])


def _shown(metrics: Sequence[Metric], layout: Layout) -> list[Metric]:
    return [
        metric
        for metric in metrics
        if (layout.summary == "shown" and metric.is_printed("summary"))
        or (layout.per_query == "shown" and metric.is_printed("query"))
    ]


def _summary_cells(run: EvaluatedRun, names: Sequence[str]) -> list[Cell]:
    return [
        Cell(run.scores[name].summary, run.intervals.get(name))
        if run.scores[name].metric.is_printed("summary")
        else Cell()
        for name in names
    ]


def _what_means_are_over(runs: Sequence[EvaluatedRun], names: Sequence[str]) -> Iterator[str]:
    """Say how many queries the values of several runs are over, in as few words as that takes."""
    if len(runs) < 2:
        return
    over = {run.name: run.scores.divisor for run in runs}
    if len(set(over.values())) == 1:
        if "num_q" not in names:
            yield f"over {counted(runs[0].scores.divisor, 'query', 'queries')}"
    else:
        texts = ", ".join(f"{name}: {number:,}" for name, number in over.items())
        yield f"over different queries, so nothing is marked as best ({texts})"
    for name in names:
        known = {run.name: run.scores[name].valid for run in runs}
        differing = {number for number in known.values() if number}
        if runs[0].scores[name].metric.is_estimate and len(differing) > 1:
            texts = ", ".join(f"{run}: {number:,}" for run, number in known.items())
            yield f"{name} is NA for some queries and over the others alone ({texts})"


def _query_rows(
    runs: Sequence[EvaluatedRun], names: Sequence[str], queries: Sequence[bytes]
) -> Iterator[list[list[Cell]]]:
    """Yield the rows of each query: one per run that has it."""
    columns = [
        [
            run.scores[name].per_query.tolist()
            if run.scores[name].metric.is_printed("query")
            else [None] * len(run.scores.queries)
            for name in names
        ]
        for run in runs
    ]
    row_by_query = [{query: row for row, query in enumerate(run.scores.queries)} for run in runs]
    for query in queries:
        yield [
            [Cell(run.name), Cell(query), *(Cell(column[row_of[query]]) for column in of_run)]
            for run, row_of, of_run in zip(runs, row_by_query, columns, strict=True)
            if query in row_of
        ]
