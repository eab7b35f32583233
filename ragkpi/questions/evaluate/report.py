"""The values of single queries, some queries at a time: a run may have millions."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ragkpi.charts.chart import (
    Axis,
    Chart,
    IntervalChart,
    IntervalRow,
    Line,
    PlaneChart,
    Rule,
    noted,
)
from ragkpi.errors import UsageError
from ragkpi.interface import option
from ragkpi.measures.measure import SUM, Metric
from ragkpi.measures.registry import find_metrics
from ragkpi.measures.scores import MetricScores, Scores
from ragkpi.reports.layout import Cell, Column, Layout, Table, with_best_marked
from ragkpi.reports.signature import Signature
from ragkpi.statistics.bootstrap import Bootstrap, Interval, few_queries_note, intervals, resampled
from ragkpi.version import __version__
from ragkpi.wording import as_json, counted, decoded

QUERIES_AT_ONCE = 1000


class QueryObjects(Mapping[str, dict[str, Any]]):
    """The JSON values of a run by query and by metric, made when they are written.

    Parameters
    ----------
    scores
        The scores of the run.
    queries
        The queries to show, in this order; those that the run lacks are left out.
    digits
        Decimals; None for all digits.
    """

    def __init__(self, scores: Scores, queries: Sequence[bytes], digits: int | None) -> None:
        self._columns = scores.printed("query")
        self._digits = digits
        rows = _rows_by_query(scores)
        self._rows = {query: rows[query] for query in queries if query in rows}

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[str]:
        return map(decoded, self._rows)

    def __getitem__(self, query: str) -> dict[str, Any]:
        row = self._rows[query.encode("utf-8", "surrogateescape")]
        return self._object(_values(self._columns, [row])[0])

    def items(self) -> Any:
        """Yield pairs of query and values."""
        pairs = list(self._rows.items())
        for start in range(0, len(pairs), QUERIES_AT_ONCE):
            some = pairs[start : start + QUERIES_AT_ONCE]
            values = _values(self._columns, [row for _, row in some])
            for (query, _), values_of_query in zip(some, values, strict=True):
                yield decoded(query), self._object(values_of_query)

    def _object(self, values: Sequence[Any]) -> dict[str, Any]:
        return {
            column.name: as_json(value, column.metric.measure.style, self._digits)
            for column, value in zip(self._columns, values, strict=True)
        }


def query_rows(
    runs: Sequence[EvaluatedRun], names: Sequence[str], queries: Sequence[bytes]
) -> Iterator[list[list[Any]]]:
    """Yield the rows of each query: run, query and a value per metric, for each run that has it.

    A metric without values per query has None.
    """
    columns = [[run.scores[name] for name in names] for run in runs]
    row_of = [_rows_by_query(run.scores) for run in runs]
    for start in range(0, len(queries), QUERIES_AT_ONCE):
        some = queries[start : start + QUERIES_AT_ONCE]
        rows_of_runs = []
        for run, columns_of_run, rows in zip(runs, columns, row_of, strict=True):
            known = [query for query in some if query in rows]
            values = _values(columns_of_run, [rows[query] for query in known])
            rows_of_runs.append(
                {query: [run.name, query, *of] for query, of in zip(known, values, strict=True)}
            )
        for query in some:
            yield [rows_of_run[query] for rows_of_run in rows_of_runs if query in rows_of_run]


def _rows_by_query(scores: Scores) -> dict[bytes, int]:
    return {query: row for row, query in enumerate(scores.queries)}


def _values(columns: Sequence[MetricScores], rows: Sequence[int]) -> list[list[Any]]:
    """Return the values of every column in some rows, a list per row."""
    taken = [
        column.per_query[rows].tolist() if column.metric.is_printed("query") else [None] * len(rows)
        for column in columns
    ]
    return [[values[number] for values in taken] for number in range(len(rows))]


class WorstQueries(NamedTuple):
    """Queries in the order of a metric, the worst first, those without a value last.

    Attributes
    ----------
    queries
        The queries that are shown.
    note
        The metric of the order, and how many queries are left out.
    """

    queries: Sequence[bytes]
    note: str


def worst_queries(
    runs: Sequence[Scores], name: str | None = None, most: int | None = None
) -> WorstQueries:
    """Order the queries of runs, the worst first, and keep the first ones.

    Several runs are ordered by the mean of their values.

    Parameters
    ----------
    runs
        Evaluated for the same metrics.
    name
        The metric, by its printed name or as requested; None for the first metric that has better
        and worse values. Sums such as the num_rel_ret of nicknames come last, unless one was
        requested first.
    most
        How many queries are kept; None for all.

    Raises
    ------
    UsageError
        If the metric was not evaluated, has no value per query or no better and worse values.
    """
    orderable = [
        metric
        for metric in runs[0].metrics
        if metric.is_comparable and metric.is_printed("query") and metric.measure.numeric
    ]
    if name is not None:
        metric = _named(name, orderable)
    elif not orderable:
        raise UsageError(
            f"{option('worst')}: no value per query that can be better; ask for more with -m"
        )
    else:
        means = (metric for metric in orderable if metric.measure.aggregate is not SUM)
        first = orderable[0]
        metric = first if first is runs[0].metrics[0] else next(means, first)
    goodness: dict[bytes, list[float]] = {}
    for run in runs:
        values = metric.measure.sign * run[metric.name].per_query
        for query, value in zip(run.queries, values.tolist(), strict=True):
            goodness.setdefault(query, []).append(value)
    queries = sorted(goodness)
    averages = np.array([_mean(goodness[query]) for query in queries])
    worst = [queries[row] for row in np.argsort(averages, kind="stable")[:most]]  # NaN is last
    if len(worst) == len(queries):
        return WorstQueries(worst, f"queries by {metric.name}, the worst first")
    among = counted(len(queries), "query", "queries")
    return WorstQueries(worst, f"the worst {len(worst)} of {among} by {metric.name}")


def _mean(values: Sequence[float]) -> float:
    """Average the values of a query that are not NaN."""
    known = [value for value in values if value == value]
    return sum(known) / len(known) if known else float("nan")


def _named(name: str, metrics: Sequence[Metric]) -> Metric:
    """Find a metric by its printed name, or by the name in a request."""
    for metric in metrics:
        if metric.name == name:
            return metric
    with contextlib.suppress(UsageError):
        requested = find_metrics([name])[0]
        for metric in metrics:
            same = metric.measure.name == requested.measure.name
            if same and metric.arguments == requested.arguments:
                return metric
    names = ", ".join(metric.name for metric in metrics) or "no value"
    raise UsageError(f"{option('sort')} {name}: expected one of {names}")


def evaluation_charts(runs: Sequence[EvaluatedRun], bootstrap: Bootstrap | None) -> list[Chart]:
    """Draw a chart per metric: several runs with bootstrap intervals, or the queries of one run.

    Raises
    ------
    UsageError
        If no metric can be drawn: numbers of documents, texts.
    """
    shown = [column for column in runs[0].scores.estimates() if column.metric.is_comparable]
    if len(runs) == 1:
        shown = [column for column in shown if column.metric.is_printed("query")]
    if not shown:
        names = ", ".join(metric.name for metric in runs[0].scores.metrics)
        raise UsageError(f"nothing of {names} can be drawn; expected a measure such as map")
    over = counted(runs[0].scores.divisor, "query", "queries")
    if len(runs) == 1:
        return noted([_queries(runs[0].name, column) for column in shown], [over])
    bootstrap = bootstrap or Bootstrap()
    bounds = [run.intervals or intervals(run.scores, bootstrap) for run in runs]
    charts: list[Chart] = []
    for name in (column.name for column in shown):
        rows = [
            IntervalRow(
                run.name, of_run[name].low, float(run.scores[name].summary), of_run[name].high
            )
            for run, of_run in zip(runs, bounds, strict=True)
        ]
        charts.append(IntervalChart(name, Axis("value of each run"), rows))
    return noted(charts, [interval_note(bootstrap).replace("[low, high]", "bars"), over])


def _queries(run: str, column: MetricScores) -> Chart:
    """Draw the values of all queries, the best first, and the value over all queries."""
    better = column.metric.measure.sign
    values = (-better * np.sort(-better * column.per_query[column.known])).tolist()
    return PlaneChart(
        f"{column.name} of {run}, query by query",
        Axis("queries, the best first", low=1),
        Axis(column.name),
        [Line(run, range(1, len(values) + 1), values)],
        rules=[Rule("y", float(column.summary), "over all queries")],
    )


ALL = "all"


@dataclass(frozen=True)
class EvaluatedRun:
    """A run's name and scores, with their intervals and signature.

    Attributes
    ----------
    name
        The name of the run for people: of its file, or its run id.
    scores
        Its scores.
    intervals
        By the names of metrics, from `ragkpi.statistics.bootstrap.intervals`; may be empty.
    signature
        The files and settings that the numbers depend on.
    """

    name: str
    scores: Scores
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    signature: Signature | None = None


def evaluated(
    names: Sequence[str], runs: Sequence[Scores], signatures: Sequence[Signature | None] = ()
) -> list[EvaluatedRun]:
    """Return a record per run, without intervals."""
    triples = zip(names, runs, signatures or [None] * len(runs), strict=True)
    return [EvaluatedRun(name, scores, signature=text) for name, scores, text in triples]


@dataclass(frozen=True)
class EvaluationReport:
    """One or more runs, evaluated for the same metrics.

    Attributes
    ----------
    runs
        The runs, at least one.
    bootstrap
        The choices behind the intervals; None without intervals.
    worst
        The queries of a report with per-query values, in order; None for all by id.
    """

    runs: Sequence[EvaluatedRun]
    bootstrap: Bootstrap | None = None
    worst: WorstQueries | None = None

    def table(self, layout: Layout) -> Table:
        """Lay out a row per run, and with per-query values one per query and run before them."""
        return evaluation_table(self, layout)

    def document(self, layout: Layout) -> dict[str, Any]:
        """Return all runs as one JSON object."""
        return {"ragkpi": __version__, "runs": [self._object(run, layout) for run in self.runs]}

    def lines(self, layout: Layout) -> Iterator[dict[str, Any]]:
        """Yield a JSON object per run, and with per-query values one per query after it."""
        for run in self.runs:
            document = self._object(run, layout)
            queries = document.pop("per_query", {})
            yield {"ragkpi": __version__, "kind": "run", **document}
            for query, values in queries.items():
                yield {"kind": "query", "run": run.name, "query": query, "values": values}

    @property
    def queries(self) -> Sequence[bytes]:
        """The queries of a report with per-query values, in order."""
        if self.worst is not None:
            return self.worst.queries
        return sorted(set().union(*(run.scores.queries for run in self.runs)))

    def _object(self, run: EvaluatedRun, layout: Layout) -> dict[str, Any]:
        queries = None if self.worst is None else self.worst.queries
        return run_object(run, self.bootstrap, layout, queries)


def run_object(
    run: EvaluatedRun,
    bootstrap: Bootstrap | None,
    layout: Layout,
    queries: Sequence[bytes] | None = None,
) -> dict[str, Any]:
    """Return a run as a JSON object, valid under ``schema.json#/$defs/run``.

    Per-query values are those of `queries`, in this order; None stands for all by id.
    """
    scores, digits = run.scores, layout.digits
    styles = {metric.name: metric.measure.style for metric in scores.metrics}
    document: dict[str, Any] = {
        "name": run.name,
        "run_id": decoded(scores.run_id),
        **({"signature": run.signature.long()} if run.signature else {}),
        "queries": scores.divisor,
        "values": {
            column.name: as_json(column.summary, styles[column.name], digits)
            for column in scores.printed("summary")
        },
        "known": {column.name: column.valid for column in scores.estimates()},
    }
    if bootstrap:
        document["bootstrap"] = asdict(bootstrap)
        document["intervals"] = {
            name: [as_json(bound, styles[name], digits) for bound in interval]
            for name, interval in run.intervals.items()
        }
    if layout.per_query == "shown":
        wanted = scores.queries if queries is None else queries
        document["per_query"] = QueryObjects(scores, wanted, digits)
    return document


def interval_notes(bootstrap: Bootstrap | None, runs: Sequence[Scores]) -> list[str]:
    """Say how the intervals were made, and warn where there are too few queries for them."""
    if bootstrap is None:
        return []

    rates = "; rates and bor have Wilson's" if bootstrap.rates == "wilson" else ""
    few = few_queries_note(resampled(runs, bootstrap), bootstrap)
    return [interval_note(bootstrap) + rates, *([few] if few else [])]


def interval_note(bootstrap: Bootstrap, of: str = "", queries: str = "queries") -> str:
    """Say how intervals were made: `of` which number, and which `queries` were resampled."""
    method = {"percentile": "percentile", "bca": "BCa"}[bootstrap.method]
    return (
        f"[low, high]: {bootstrap.level * 100:.12g} % {method} bootstrap interval{of} over "
        f"{queries}, {bootstrap.resamples:,} resamples, seed {bootstrap.seed}"
    )


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
