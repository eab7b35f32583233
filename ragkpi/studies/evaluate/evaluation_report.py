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
        from ragkpi.studies.evaluate.evaluation_table import evaluation_table

        return evaluation_table(self, layout)

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

    @property
    def queries(self) -> Sequence[bytes]:
        """Those that are shown with per-query values, in their order."""
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
        from ragkpi.studies.evaluate.query_values import QueryObjects

        wanted = scores.queries if queries is None else queries
        document["per_query"] = QueryObjects(scores, wanted, digits)
    return document


def interval_notes(bootstrap: Bootstrap | None, runs: Sequence[Scores]) -> list[str]:
    """Say where the intervals of runs come from, and that they claim too much if they do."""
    if bootstrap is None:
        return []
    from ragkpi.statistics.bootstrap import few_queries_note, resampled

    rates = "; rates and bor have Wilson's" if bootstrap.rates == "wilson" else ""
    few = few_queries_note(resampled(runs, bootstrap), bootstrap)
    return [interval_note(bootstrap) + rates, *([few] if few else [])]


def interval_note(bootstrap: Bootstrap, of: str = "", queries: str = "queries") -> str:
    """Say where intervals come from: what they are `of`, and which `queries` are drawn."""
    method = {"percentile": "percentile", "bca": "BCa"}[bootstrap.method]
    return (
        f"[low, high]: {bootstrap.level * 100:.12g} % {method} bootstrap interval{of} over "
        f"{queries}, {bootstrap.resamples:,} resamples, seed {bootstrap.seed}"
    )
