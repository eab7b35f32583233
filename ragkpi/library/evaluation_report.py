"""The report on evaluated runs, as a table and JSON: a row per run, and optionally per query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ragkpi.errors import UsageError
from ragkpi.interface import spell, with_progress
from ragkpi.library.ground import Provenance, Signature, ids_sha256
from ragkpi.library.session import queries_of
from ragkpi.measures.measure import SUM, Metric, Scores
from ragkpi.reports.layout import (
    ALL,
    Cell,
    Check,
    Column,
    Layout,
    Report,
    Table,
    with_best_marked,
)
from ragkpi.version import __version__
from ragkpi.wording import as_json, counted, decoded

if TYPE_CHECKING:  # few evaluations have intervals, gates or slices
    from ragkpi.files.query_files import QueryLabels
    from ragkpi.statistics.bootstrap import Bootstrap, Interval
    from ragkpi.statistics.gates import Verdict

NO_PROVENANCE: Mapping[str, Provenance] = {}


def query_values(
    scores: Scores, names: Sequence[str], queries: Sequence[bytes]
) -> Iterator[tuple[bytes, list[Any] | None]]:
    """Yield the values of each query by metric, None without one; None for a missing query."""
    row_of = {query: row for row, query in enumerate(scores.queries)}
    columns: list[Any] = []
    for column in (scores[name] for name in names):
        # The elements of a memoryview are Python's numbers, without a list of millions.
        numeric, per_query = column.metric.measure.numeric, column.per_query
        values = per_query.data if numeric else [*map(decoded, per_query.tolist())]
        columns.append(values if column.metric.is_printed("query") else None)
    for query in queries:
        row = row_of.get(query)
        own = None if row is None else [of if of is None else of[row] for of in columns]
        yield query, own


class WorstQueries(NamedTuple):
    """Queries ordered by a metric, worst first, and a note about this order."""

    queries: Sequence[bytes]
    note: str


def worst_queries(runs: Sequence[Scores], most: int) -> WorstQueries:
    """Order queries by the mean over runs, worst first, NA last, and keep the first `most`.

    They are ordered by the first metric that has better and worse values, preferably not a sum such
    as the num_rel_ret of nicknames, unless the first request is a sum.
    """
    metrics = runs[0].metrics
    orderable = [m for m in metrics if m.is_comparable and m.is_printed("query")]
    means = [metric for metric in orderable if metric.measure.aggregate is not SUM]
    if not orderable:
        raise UsageError(
            f"{spell('worst')}: no measure has a direction and values per query; choose others"
        )
    metric = orderable[0] if orderable[0] is metrics[0] else [*means, orderable[0]][0]
    goodness: dict[bytes, list[float]] = {}
    for run in runs:
        values = metric.measure.sign * run[metric.name].per_query
        for query, value in zip(run.queries, values.tolist(), strict=True):
            goodness.setdefault(query, []).extend([value] if value == value else ())
    queries = sorted(goodness)
    averages = [sum(of) / len(of) if (of := goodness[query]) else np.nan for query in queries]
    worst = [queries[row] for row in np.argsort(averages, kind="stable")[:most]]  # NaN sorts last
    among = counted(len(queries), "query", "queries")
    return WorstQueries(worst, f"the worst {len(worst)} of {among} by {metric.name}")


@dataclass(frozen=True)
class EvaluationReport(Report):
    """One or more runs, evaluated for the same metrics.

    Attributes
    ----------
    runs
        The scores of each run by its name for people.
    signature
        The settings behind all values; None if unknown.
    bootstrap
        The settings of the intervals; None without intervals.
    intervals
        Those of each run, by the names of run and metric.
    worst
        The queries of a report with per-query values, in order; None for all by id.
    gates
        The verdicts on all runs.
    provenance
        The provenance of each run, by its name; empty for scores from elsewhere.
    """

    runs: Mapping[str, Scores]
    signature: Signature | None = None
    bootstrap: Bootstrap | None = None
    intervals: Mapping[str, Mapping[str, Interval]] = field(default_factory=dict)
    worst: WorstQueries | None = None
    gates: Sequence[Verdict] = ()
    provenance: Mapping[str, Provenance] = field(default_factory=dict)

    def interval_notes(self) -> list[str]:
        """Return notes on the intervals, one per line."""
        if self.bootstrap is None:
            return []
        from ragkpi.library.interval_notes import interval_notes

        return interval_notes(self.bootstrap, list(self.runs.values()))

    def own_table(self, layout: Layout) -> Table:
        """Lay out a row per run; rows of single queries, if shown, come first."""
        runs, first = self.runs, next(iter(self.runs.values()))
        by_query, summary = layout.per_query == "shown", layout.summary == "shown"
        metrics = [
            m
            for m in first.metrics
            if (summary and m.is_printed("summary")) or (by_query and m.is_printed("query"))
        ]
        names = [metric.name for metric in metrics]
        columns = [
            Column("run"),
            *([Column("query")] if by_query else []),
            *(Column(m.name, m.measure.style, m.measure.better, role=_role(m)) for m in metrics),
        ]
        rows: list[list[Cell]] = []
        notes: list[str] = []
        groups = self._query_rows(names) if by_query else iter(())
        streamed = chain.from_iterable(groups) if layout.notes == "columns" else ()
        if layout.notes == "below":
            for group in groups:
                rows += with_best_marked(columns, group)
        if summary:
            summaries: list[list[Cell]] = []
            for run, scores in runs.items():
                bounds = self.intervals.get(run, {})
                printed = {column.name: column.summary for column in scores.printed("summary")}
                cells = [
                    Cell(printed[name], bounds.get(name)) if name in printed else Cell()
                    for name in names
                ]
                summaries.append([Cell(run), *([Cell(ALL)] if by_query else []), *cells])
            same_queries = all(scores.queries == first.queries for scores in runs.values())
            rows += with_best_marked(columns, summaries) if same_queries else summaries
            notes += _query_counts(runs, names)
        notes += self.interval_notes()
        if by_query and self.worst is not None:
            notes.append(self.worst.note)
        below, checks = gate_lines(self.gates), gate_checks(self.gates)
        table = Table(columns, rows, notes, streamed=streamed, below=below, checks=checks)
        return signed(table, self.signature, layout)

    def _query_rows(self, names: Sequence[str]) -> Iterator[list[list[Cell]]]:
        """Yield the rows of each query, one for every run that has it."""
        queries = self.worst.queries if self.worst else queries_of(self.runs.values())
        each = (query_values(scores, names, queries) for scores in self.runs.values())
        for of_query in zip(*each, strict=True):
            yield [
                [*map(Cell, (run, query, *values))]
                for run, (query, values) in zip(self.runs, of_query, strict=True)
                if values is not None
            ]

    def own_document(self, layout: Layout) -> dict[str, Any]:
        """Return all runs as one JSON object."""
        runs = [self.object(run, layout) for run in self.runs]
        return {"ragkpi": __version__, "runs": runs}

    def own_lines(self, layout: Layout) -> Iterator[dict[str, Any]]:
        """Yield a JSON object per run, followed by its queries' objects if they are shown."""
        for run in self.runs:
            document = self.object(run, layout)
            queries, statistics = document.pop("per_query", {}), document.pop("statistics", {})
            yield {"ragkpi": __version__, "kind": "run", **document}
            for query, values in queries.items():
                own = {"statistics": statistics[query]} if statistics else {}
                yield {"kind": "query", "run": run, "query": query, "values": values, **own}

    def object(self, run: str, layout: Layout) -> dict[str, Any]:
        """Return a run as a JSON object, valid under ``schema.json#/$defs/run``."""
        scores, digits, signature = self.runs[run], layout.digits, self.signature
        styles = {metric.name: metric.measure.style for metric in scores.metrics}
        document: dict[str, Any] = {
            "name": run,
            "run_id": decoded(scores.run_id),
            **({"seeds": scores.seeds} if scores.seeds > 1 else {}),
            **({"signature": signature.long()} if signature else {}),
            "queries": scores.divisor,
            **({"queries_sha256": ids_sha256(scores.queries)} if signature else {}),
            "values": {
                column.name: as_json(column.summary, styles[column.name], digits)
                for column in scores.printed("summary")
            },
            "known": {column.name: column.valid for column in scores.estimates()},
        }
        if self.bootstrap:
            settings = asdict(replace(self.bootstrap, clusters=None))
            document["bootstrap"] = {k: of for k, of in settings.items() if k != "clusters"}
            document["intervals"] = {
                name: [as_json(bound, styles[name], digits) for bound in interval]
                for name, interval in self.intervals[run].items()
            }
        if layout.files == "shown" and run in self.provenance:
            # Notes are for compare, which needs values per query.
            document |= self.provenance[run].document(notes=layout.per_query)
        if gates := [verdict.document() for verdict in self.gates if verdict.run == run]:
            document["gates"] = gates
        if layout.per_query == "shown":
            document |= _per_query(scores, self.worst.queries if self.worst else None, digits)
        return document


def signed(table: Table, signature: Signature | None, layout: Layout) -> Table:
    """Add a signature to a table: as a note, or a column."""
    if layout.signature == "none" or signature is None:
        return table
    text = signature.long() if layout.signature == "long" else signature.short()
    if layout.notes == "columns":
        rows = [[*row, Cell(text)] for row in table.rows]
        streamed = ([*row, Cell(text)] for row in table.streamed)
        columns = [*table.columns, Column("signature")]
        return replace(table, columns=columns, rows=rows, streamed=streamed)
    return replace(table, notes=[text, *table.notes])


def report_on(
    runs: Mapping[str, Scores],
    signature: Signature | None = None,
    bootstrap: Bootstrap | None = None,
    most: int | None = None,
    labels: QueryLabels | None = None,
    gates: Sequence[Verdict] = (),
    provenance: Mapping[str, Provenance] = NO_PROVENANCE,
) -> EvaluationReport:
    """Answer from the scores of runs, wherever they come from: a row per run, and slices.

    Rows have intervals if there is a `bootstrap`, and those of queries are the `most` worst.
    """
    worst = None if most is None else worst_queries(list(runs.values()), most)
    intervals = {}
    if bootstrap is not None:
        from ragkpi.statistics.replicates import intervals_of

        each = with_progress(runs.items(), "intervals", len(runs))
        intervals = {name: intervals_of(scores, bootstrap) for name, scores in each}
    report = EvaluationReport(runs, signature, bootstrap, intervals, worst, gates, provenance)
    if labels is None:
        return report
    from ragkpi.library.slices import QuerySlice, with_slices

    def sliced(part: QuerySlice) -> Report:
        return report_on(part.of_runs(runs), signature, bootstrap, most)

    return with_slices(report, labels, queries_of(runs.values()), sliced)


def _per_query(
    scores: Scores, queries: Sequence[bytes] | None, digits: int | None
) -> dict[str, Any]:
    """Return the values of queries for JSON, and the statistics of values that are not means."""
    styles = {metric.name: metric.measure.style for metric in scores.metrics}
    chosen = scores.queries if queries is None else queries
    names = [column.name for column in scores.printed("query")]
    found: dict[str, Any] = {
        "per_query": {
            decoded(query): {
                name: as_json(value, styles[name], digits)
                for name, value in zip(names, values, strict=True)
            }
            for query, values in query_values(scores, names, chosen)
            if values is not None
        }
    }
    beside = [column for column in scores.estimates() if not column.metric.is_value]
    if beside:  # the statistics behind values over all queries
        rows = zip(*(column.statistics.tolist() for column in beside), strict=True)
        by_query = dict(zip(scores.queries, rows, strict=True))
        found["statistics"] = {
            decoded(query): {
                column.name: [as_json(number, "decimal") for number in numbers]
                for column, numbers in zip(beside, by_query[query], strict=True)
            }
            for query in chosen
            if query in by_query
        }
    return found


def gate_checks(verdicts: Sequence[Verdict]) -> list[Check]:
    """Return a check per gate, with a unique name."""
    return [
        Check(
            f"{v.name} of {v.run} against {v.baseline or v.limit}",
            "passed" if v.passed else "error",
            v.sentence,
        )
        for v in verdicts
    ]


def gate_lines(verdicts: Sequence[Verdict]) -> list[str]:
    """Return a sentence per gate, below their number if there are several."""
    passed = sum(verdict.passed for verdict in verdicts)
    number = f"{passed} of {counted(len(verdicts), 'gate')} passed."
    return [*([number] if len(verdicts) > 1 else []), *(one.sentence for one in verdicts)]


def _role(metric: Metric) -> Literal["core", "detail"]:
    """Return the role of a column: a narrow table drops counts and neutral values first."""
    counts = metric.measure.aggregate is SUM or metric.measure.better == "neither"
    return "detail" if counts else "core"


def _query_counts(runs: Mapping[str, Scores], names: Sequence[str]) -> Iterator[str]:
    """Yield notes on the number of queries and seeds behind the values of several runs."""
    if seeds := [f"{run}: {scores.seeds}" for run, scores in runs.items() if scores.seeds > 1]:
        yield f"means over seeds ({', '.join(seeds)})"
    if len(runs) < 2:
        return
    queries = {run: scores.divisor for run, scores in runs.items()}
    if len(set(queries.values())) > 1:
        texts = ", ".join(f"{name}: {number:,}" for name, number in queries.items())
        yield f"over different queries, so no value is marked as best ({texts})"
    elif "num_q" not in names:
        yield f"over {counted(next(iter(queries.values())), 'query', 'queries')}"
    for name in names:
        columns = {run: scores[name] for run, scores in runs.items()}
        if len({of.valid for of in columns.values() if of.metric.is_estimate} - {0}) > 1:
            texts = ", ".join(f"{run}: {of.valid:,}" for run, of in columns.items())
            yield f"{name} is NA for some queries and the mean of the others ({texts})"
