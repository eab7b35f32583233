"""The report on one evaluation: a row per run and a column per value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragkpi import __version__
from ragkpi.errors import UsageError
from ragkpi.measures.measure import Metric
from ragkpi.measures.scores import Scores
from ragkpi.records import asdict, dataclass, field, replace
from ragkpi.reports.layout import Block, Cell, Column, Layout, Table, with_best_marked
from ragkpi.wording import as_json, counted, decoded

if TYPE_CHECKING:
    from ragkpi.reports.signature import Signature
    from ragkpi.statistics.bootstrap import Bootstrap, Interval
    from ragkpi.studies.evaluate.worst_queries import WorstQueries

ALL = "all"
# More values than that are for programs.
MOST_CELLS = 100_000


@dataclass(frozen=True)
class EvaluatedRun:
    """A run's name, its scores, and what is known about them.

    Attributes
    ----------
    name
        By which people know the run: its file's name, or its run id.
    scores
        What it scored.
    intervals
        By the names of metrics, from `ragkpi.statistics.bootstrap.intervals`; empty if not asked
        for.
    signature
        What the numbers depend on.
    """

    name: str
    scores: Scores
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    signature: Signature | None = None


def evaluated(
    names: Sequence[str], runs: Sequence[Scores], signatures: Sequence[Signature | None] = ()
) -> list[EvaluatedRun]:
    """Put names, scores and signatures of runs together."""
    known = signatures or [None] * len(runs)
    return [
        EvaluatedRun(name, scores, signature=signature)
        for name, scores, signature in zip(names, runs, known, strict=True)
    ]


@dataclass(frozen=True)
class EvaluationReport:
    """Runs that were evaluated for the same values.

    Attributes
    ----------
    runs
        At least one.
    bootstrap
        Where intervals come from; None if there are none.
    worst
        Which queries are shown with per-query values, and in which order; None for all by id.
    """

    runs: Sequence[EvaluatedRun]
    bootstrap: Bootstrap | None = None
    worst: WorstQueries | None = None

    def table(self, layout: Layout) -> Table:
        """Lay out a row per run, and with per-query values one per query and run before them."""
        by_query = layout.per_query == "shown"
        shown = _shown(self.runs[0].scores.metrics, layout)
        names = [metric.name for metric in shown]
        keys = [Column("run"), *([Column("query")] if by_query else [])]
        columns = keys + [
            Column(metric.name, metric.measure.style, metric.measure.better) for metric in shown
        ]
        rows: list[list[Cell]] = []
        blocks: Iterable[Block] = ()
        if by_query and layout.notes == "columns":
            from ragkpi.studies.evaluate.query_values import query_blocks

            blocks = query_blocks(
                [run.name for run in self.runs],
                [run.scores for run in self.runs],
                names,
                self._queries,
            )
        elif by_query:
            self._refuse_many(len(columns))
            for group in _query_rows(self.runs, names, self._queries):
                rows += with_best_marked(columns, group)
        if layout.summary == "shown":
            heads = [[run.name, ALL] if by_query else [run.name] for run in self.runs]
            summaries = [
                [*map(Cell, head), *_summary_cells(run, names)]
                for head, run in zip(heads, self.runs, strict=True)
            ]
            alike = all(run.scores.queries == self.runs[0].scores.queries for run in self.runs)
            rows += with_best_marked(columns, summaries) if alike else summaries
        notes = list(_what_means_are_over(self.runs, names)) if layout.summary == "shown" else []
        notes += interval_notes(self.bootstrap, [run.scores for run in self.runs])
        if by_query and self.worst is not None:
            notes.append(self.worst.note)
        return with_signatures(Table(columns, rows, notes, blocks=blocks), self.runs, layout)

    def document(self, layout: Layout) -> dict[str, Any]:
        """Return all runs as one JSON object."""
        return {
            "ragkpi": __version__,
            "runs": [self._object(run, layout) for run in self.runs],
        }

    def lines(self, layout: Layout) -> Iterator[dict[str, Any]]:
        """Yield a JSON object per run, and with per-query values one per query behind it."""
        for run in self.runs:
            whole = self._object(run, layout)
            queries = whole.pop("per_query", {})
            yield {"ragkpi": __version__, "kind": "run", **whole}
            for query, values in queries.items():
                yield {"kind": "query", "run": run.name, "query": query, "values": values}

    def _refuse_many(self, columns: int) -> None:
        """Refuse a table that nobody can read and that takes minutes to draw."""
        rows = len(self._queries) * len(self.runs)
        if rows * columns > MOST_CELLS:
            raise UsageError(
                f"{rows:,} rows of {columns} values are no table for people; expected --format csv "
                "or tsv, or fewer values (-m) or queries (--worst)"
            )

    @property
    def _queries(self) -> Sequence[bytes]:
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

    With per-query values, those of these `queries`, in this order; None for all by id.
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
        from ragkpi.studies.evaluate.query_values import QueryObjects

        document["per_query"] = QueryObjects(scores, wanted, digits)
    return document


def interval_notes(bootstrap: Bootstrap | None, runs: Sequence[Scores]) -> list[str]:
    """Say where the intervals of runs come from, and that they claim too much if they do."""
    if bootstrap is None:
        return []
    from ragkpi.statistics.bootstrap import few_queries_note

    rates = "; rates and bor have Wilson's" if bootstrap.rates == "wilson" else ""
    few = few_queries_note(runs, bootstrap.rates)
    return [interval_note(bootstrap) + rates, *([few] if few else [])]


def interval_note(bootstrap: Bootstrap, of: str = "", queries: str = "queries") -> str:
    """Say where intervals come from: what they are `of`, and which `queries` are drawn."""
    method = {"percentile": "percentile", "bca": "BCa"}[bootstrap.method]
    return (
        f"[low, high]: {bootstrap.level * 100:.12g} % {method} bootstrap interval{of} over "
        f"{queries}, {bootstrap.resamples:,} resamples, seed {bootstrap.seed}"
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
