"""The report on one evaluation: a row per run and a column per value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragkpi import __version__
from ragkpi.measures.scores import Scores
from ragkpi.records import asdict, dataclass, field
from ragkpi.wording import as_json, decoded

if TYPE_CHECKING:
    from ragkpi.reports.layout import Layout, Table
    from ragkpi.reports.signature import Signature
    from ragkpi.statistics.bootstrap import Bootstrap, Interval
    from ragkpi.studies.evaluate.worst_queries import WorstQueries

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
        from ragkpi.studies.evaluate.evaluation_table import evaluation_table

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
        from ragkpi.studies.evaluate.query_values import QueryObjects

        wanted = scores.queries if queries is None else queries
        document["per_query"] = QueryObjects(scores, wanted, digits)
    return document


def interval_notes(bootstrap: Bootstrap | None, runs: Sequence[Scores]) -> list[str]:
    """Say how the intervals were made, and warn where there are too few queries for them."""
    if bootstrap is None:
        return []
    from ragkpi.statistics.bootstrap import few_queries_note, resampled

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
