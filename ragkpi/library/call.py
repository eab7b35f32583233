"""One call of a public function: its measures and settings, evaluations, notes and signature."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ragkpi.errors import NothingInCommonError, RagkpiError, UsageError
from ragkpi.evaluation import Evaluation, Evaluator, RunOrPath, refuse_unjudged_runs
from ragkpi.files.formats import RECOGNISED, Reading
from ragkpi.files.inputs import inputs
from ragkpi.interface import interface, spell
from ragkpi.library.ground import Hashes, Signature, signature_of
from ragkpi.measures.measure import Metric, Scores
from ragkpi.measures.registry import (
    default_request,
    find_metrics,
    find_metrics_as_given,
    refuse_unserved,
)
from ragkpi.ranking.judged import Judged, Settings
from ragkpi.ranking.judgements import Judgements, group_judgements
from ragkpi.ranking.notes import concerning, missing_notes
from ragkpi.ranking.reading import Hits, RunParts
from ragkpi.ranking.relevance import Qrels, Relevance
from ragkpi.reports.names import run_names
from ragkpi.wording import counted, decoded, joined

if TYPE_CHECKING:  # few calls have labels
    from ragkpi.files.query_files import QueryLabels
    from ragkpi.statistics.units import Clusters

Names = Literal["given", "file", "runid"]
MeasureNames = Literal["trec", "given"]
OnProblem = Literal["raised", "kept"]
WithoutJudged = Literal["zero", "refused"]
"""What a run without a judged query is where missing queries count as empty rankings."""


@dataclass(frozen=True)
class Call:
    """One call of a public function: its measures, settings, formats of files, and notes.

    Attributes
    ----------
    requests
        Names of measures; empty if the user named none.
    qrels_format, run_format
        How to read files.
    run_names, measure_names
        The source of the names of runs and measures in a result.
    default_missing
        Whether missing queries are treated by default, and not as the user chose.
    labels, clusters
        The labels of queries that make slices; the clusters of queries that depend on each other.
    sources
        Where labels and clusters come from, by role.
    reading
        The arguments that say how files are read, which no signature has, as JSON keeps them.
    notes
        The notes and warnings of the call so far, in order.
    """

    requests: Sequence[str]
    settings: Settings
    rel_info: str = "qrels"
    pool: RunOrPath | None = None
    qrels_format: Reading = RECOGNISED
    run_format: Reading = RECOGNISED
    run_names: Names = "given"
    measure_names: MeasureNames = "trec"
    default_missing: bool = True
    labels: QueryLabels | None = None
    clusters: Clusters | None = None
    sources: Mapping[str, Any] = field(default_factory=dict)
    reading: Mapping[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Note an omission or an assumption, once."""
        if text not in self.notes:
            self.notes.append(text)
            interface().note(text)

    def warn(self, text: str) -> None:
        """Warn of a possible misreading."""
        self.notes.append(text)
        interface().warn(text)

    def metrics(self, default: Sequence[str] | None = None) -> list[Metric]:
        """Resolve the requests, else `default`, else the measures for the relevance format."""
        requests = self.requests or default or [default_request(self.rel_info)]
        return list(_resolved(tuple(requests), self.measure_names))

    def evaluator(self, qrels: Any, metrics: Sequence[Metric]) -> Evaluator:
        """Refuse `metrics` that the relevance format does not serve; then read qrels and pool."""
        refuse_unserved(metrics, self.rel_info, self.settings)
        relevance = qrels_of(qrels, self.rel_info, self.qrels_format)
        return Evaluator(
            relevance, self.settings, self.rel_info, self.pool, self.qrels_format, self.run_format
        )

    def with_grades(self, evaluator: Evaluator, metrics: Sequence[Metric]) -> list[Metric]:
        """Leave out metrics that nobody asked for and that the grade map cannot serve; say so."""
        graded = dict.fromkeys(m.measure.name for m in metrics if m.is_graded)
        if not graded or not evaluator.lacking_grade:
            return list(metrics)
        self.note(f"without {joined(list(graded))}: {evaluator.lacking_grade}")
        return [metric for metric in metrics if not metric.is_graded]

    @property
    def fills_missing(self) -> bool:
        """Whether missing queries count as empty rankings by default."""
        return self.default_missing and self.settings.missing == "zero"

    def read(
        self, qrels: Any, evaluator: Evaluator, runs: Mapping[str, RunOrPath], parts: RunParts
    ) -> RunsRead:
        """Read parts of runs, and settle ``missing="trec_eval"`` by the formats of their files.

        Only the lines of one TREC file follow trec_eval's rule.
        """
        call, hits = self, evaluator.read(runs.values(), parts)
        if self.settings.missing == "trec_eval":
            (run,) = hits if len(hits) == 1 else (None,)
            follows = isinstance(run, Hits) and run.format == "trec"
            follows |= self.settings.only_query is not None  # without that query there is no value
            settings = replace(self.settings, missing="intersection" if follows else "zero")
            call = replace(self, settings=settings, default_missing=True)
            evaluator.settings = settings
        return RunsRead(call, qrels, evaluator, runs, hits)

    def evaluate(
        self,
        qrels: Any,
        runs: Mapping[str, RunOrPath],
        metrics: Sequence[Metric],
        depth: int = 0,
        problems: OnProblem = "raised",
    ) -> Evaluations:
        """Read and evaluate runs, with the names of documents down to `depth`."""
        evaluator = self.evaluator(qrels, metrics)
        read = self.read(qrels, evaluator, runs, evaluator.needs(metrics, depth))
        return read.evaluate(metrics, problems)

    def names_of(self, runs: Mapping[str, Scores]) -> list[str]:
        """Give runs distinct names for a result."""
        if self.run_names == "given":
            return list(runs)
        ids = [decoded(scores.run_id) for scores in runs.values()]
        return list(run_names(list(runs), ids if self.run_names == "runid" else ()))

    def files(self, **inputs_by_role: Any) -> Hashes:
        """Hash the input files, those of labels and clusters, and the pool."""
        return {
            role: (os.fspath(path), inputs().sha256(os.fspath(path)))
            for role, path in {**inputs_by_role, **self.sources, "pool": self.pool}.items()
            if isinstance(path, str | os.PathLike)
        }

    def signature(
        self,
        metrics: Sequence[Metric],
        files: Mapping[str, Any],
        judgements: Judgements | None = None,
        seen: int | None = None,
    ) -> Signature:
        """Hash the files and return the signature of an evaluation: what is behind the numbers.

        Qrels that are no file, or of which a map says what to read, are hashed as `judgements`.
        """
        digests = {role: digest for role, (_, digest) in self.files(**files).items()}
        mapped = self.qrels_format.shape is not None
        if judgements is not None and (mapped or not digests.get("qrels")):
            digests = {**digests, "qrels": judgements.sha256}
        if self.pool is not None:
            digests.setdefault("pool", None)
        sieve = self.run_format.sieve
        return signature_of(self.settings, metrics, digests, seen, sieve.options if sieve else "")

    def signed(self, metrics: Sequence[Metric], **files: Any) -> Signature | None:
        """Return the `signature` if the user wants it."""
        return self.signature(metrics, files) if inputs().hashed else None

    def small_print(self, qrels: Any, metrics: Sequence[Metric], judged: Judged) -> list[str]:
        """Return the small print of a picture: queries, N where it matters, the signature."""
        texts = [counted(len(judged.queries), "query", "queries")]
        needed = any("corpus_size" in metric.measure.needs for metric in metrics)
        sizes = judged.corpus_size if needed else None
        if sizes is not None and len(sizes):
            least, most = int(sizes.min()), int(sizes.max())
            size = f"N = {least:,}" if least == most else f"N = {least:,} to {most:,}"
            seen = self.settings.corpus_size is None and not self.settings.corpus_sizes
            texts.append(f"{size} (documents seen)" if seen else size)
        return ["; ".join([*texts, self.signature(metrics, {"qrels": qrels}).short()])]


@dataclass(frozen=True)
class RunsRead:
    """The runs of a call as they were read: for each its hits, or why it cannot be read."""

    call: Call
    qrels: Any
    evaluator: Evaluator
    runs: Mapping[str, RunOrPath]
    hits: Sequence[Hits | RagkpiError]

    def evaluate(
        self,
        metrics: Sequence[Metric],
        problems: OnProblem = "raised",
        without_judged: WithoutJudged = "zero",
    ) -> Evaluations:
        """Evaluate runs, and issue their notes and warnings.

        A line names its runs unless it concerns all. Where missing queries count by default, a run
        without judged queries is a problem: all of its values would be 0.
        """
        call = self.call
        zero = call.settings.missing == "zero"
        refused = call.fills_missing or (zero and without_judged == "refused")
        runs = self.scored(metrics, "kept", "refused" if refused else "zero")
        if call.fills_missing:
            for text in runs.missing_notes():
                call.note(text)
        for text in concerning({name: run.notes for name, run in runs.by_name.items()}):
            call.note(text)
        for text in concerning({name: run.warnings for name, run in runs.by_name.items()}):
            call.warn(text)
        if problems == "raised":
            interface().refuse(runs.problems)
        return runs

    def scored(
        self,
        metrics: Sequence[Metric],
        problems: OnProblem = "raised",
        without_judged: WithoutJudged = "zero",
    ) -> Evaluations:
        """Evaluate runs without a note, and part them from the errors of the others."""
        outcomes = self.evaluator.score(self.hits, metrics)
        if without_judged == "refused":
            outcomes = refuse_unjudged_runs(outcomes, self.evaluator.relevance.judgements.file)
        runs: dict[str, RunOrPath] = {}
        by_name: dict[str, Evaluation] = {}
        hits, errors = [], []
        for name, read, outcome in zip(self.runs, self.hits, outcomes, strict=True):
            if isinstance(outcome, RagkpiError):
                errors.append(_about(name, outcome) if len(outcomes) > 1 else outcome)
            elif isinstance(read, Hits):
                runs[name], by_name[name] = self.runs[name], outcome
                hits.append(read)
        if problems == "raised":
            interface().refuse(errors)
        if self.call.clusters is not None:
            from ragkpi.library.slices import queries_of, refuse_alone

            refuse_alone(queries_of(run.scores for run in by_name.values()), self.call.clusters)
        names = self.call.names_of({name: run.scores for name, run in by_name.items()})
        read_of_runs = self.call, self.qrels, self.evaluator, runs, hits
        return Evaluations(*read_of_runs, metrics, by_name, names, errors)


@dataclass(frozen=True)
class Evaluations(RunsRead):
    """The runs of a call that could be evaluated, and the errors of the others.

    Attributes
    ----------
    by_name
        The evaluated runs by their names in the call.
    names
        Their names in a result.
    problems
        The errors of the other runs; with several runs, each names its run.
    """

    hits: Sequence[Hits]
    metrics: Sequence[Metric]
    by_name: Mapping[str, Evaluation]
    names: Sequence[str]
    problems: Sequence[RagkpiError]

    def __iter__(self) -> Iterator[Evaluation]:
        return iter(self.by_name.values())

    @property
    def scores(self) -> list[Scores]:
        """The scores of each run."""
        return [run.scores for run in self]

    @property
    def judgements(self) -> Judgements:
        """The judgements of the qrels."""
        return self.evaluator.relevance.judgements

    def over(self, queries: Collection[bytes]) -> Evaluations:
        """Evaluate the runs as if the qrels had these queries alone; without notes."""
        evaluator, view = self.evaluator.over(queries)
        part = replace(self, evaluator=evaluator, hits=list(map(view, self.hits)))
        return part.scored(self.metrics)

    def over_common_queries(self) -> Evaluations:
        """Restrict the scores to the queries that all runs have if ``missing="common"``."""
        if self.call.settings.missing != "common" or not self.by_name:
            return self
        first = next(iter(self))
        shared = _aligned(list(self.by_name), self.scores)
        if shared[0].queries == first.scores.queries and first.coverage.missing:
            self.call.note(
                f"compared over {len(shared[0].queries)} queries; "
                f"{len(first.coverage.missing)} judged are missing"
            )
        runs = zip(self.by_name.items(), shared, strict=True)
        by_name = {name: replace(run, scores=scores) for (name, run), scores in runs}
        return replace(self, by_name=by_name)

    def missing_notes(self) -> list[str]:
        """Say which runs lack queries that count as empty rankings; no line if none does."""
        coverage = [run.coverage for run in self]
        zero = self.call.settings.missing == "zero"
        lacking = zero and any(of_run.missing for of_run in coverage)
        return missing_notes(self.names, coverage) if lacking else []

    def origins(self) -> dict[str, dict[str, Any]]:
        """Return how each run was read, and the notes on it alone, by its name in the call."""
        zero, reading = self.call.settings.missing == "zero", self.call.reading
        origins: dict[str, dict[str, Any]] = {}
        for name, run in self.by_name.items():
            lacking = zero and run.coverage.missing
            missing = missing_notes(["the run"], [run.coverage]) if lacking else []
            fields = {"reading": reading, "notes": [*missing, *run.notes, *run.warnings]}
            origins[name] = {key: value for key, value in fields.items() if value}
        return origins

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes and warnings of the call so far."""
        return tuple(self.call.notes)

    def signature(self, **files: Any) -> Signature:
        """Sign qrels, other `files` by role, and settings."""
        sizes = [getattr(run.judged, "corpus_size", None) for run in self]
        seen = max((int(size.max(initial=0)) for size in sizes if size is not None), default=None)
        files = {"qrels": self.qrels, **files}
        return self.call.signature(self.metrics, files, self.judgements, seen)

    def signed(self, **files: Any) -> Signature | None:
        """Return the `signature` if the user wants it."""
        return self.signature(**files) if inputs().hashed else None

    def small_print(self) -> list[str]:
        """Return the small print of a picture."""
        return self.call.small_print(self.qrels, self.metrics, next(iter(self)).plain)


def _aligned(names: Sequence[str], runs: Sequence[Scores]) -> list[Scores]:
    """Reduce runs to the queries that all runs share, and warn of dropped queries.

    `NothingInCommonError` if they share no query.
    """
    if all(run.queries == runs[0].queries for run in runs):
        return list(runs)
    shared = set(runs[0].queries).intersection(*(run.queries for run in runs))
    if not shared:
        raise NothingInCommonError(f"{', '.join(names)} share no query; nothing can be compared")
    dropped = [
        f"{len(run.queries) - len(shared)} of {name}"
        for name, run in zip(names, runs, strict=True)
        if len(run.queries) > len(shared)
    ]
    number = counted(len(shared), "query", "queries")
    interface().warn(
        f"compared over the {number} that all runs have, dropping {', '.join(dropped)}; "
        f"{spell('missing', 'zero')} evaluates a missing query as an empty ranking instead"
    )
    return [run.over(np.flatnonzero([query in shared for query in run.queries])) for run in runs]


def _about(run: str, problem: RagkpiError) -> RagkpiError:
    if run in str(problem):
        return problem
    named = RagkpiError(f"{run}: {problem}")
    named.exit_status = problem.exit_status
    return named


def qrels_of(qrels: Any, rel_info: str = "qrels", how: Reading = RECOGNISED) -> str | Relevance:
    """Convert qrels to the form that an `Evaluator` takes: a path, or judgements in memory."""
    if isinstance(qrels, str | os.PathLike):
        return os.fspath(qrels)
    if hasattr(qrels, "judgements") and hasattr(qrels, "judge"):  # already read
        relevance: Relevance = qrels
        return relevance
    if rel_info != "qrels":
        raise UsageError(f"rel_info={rel_info!r}: only a path can hold that")
    from ragkpi.files.in_memory import qrels_columns

    columns = qrels_columns(qrels, "gains", how.shape)
    if how.sieve:
        columns = how.sieve.qrels(columns)
    return Qrels(group_judgements(columns))


def named_judges(judges: Mapping[str, Any]) -> dict[str, str | Relevance]:
    """Name judgements after their files if all have one, else by their keys."""
    names = list(judges)
    if all(isinstance(judge, str | os.PathLike) for judge in judges.values()):
        names = run_names([os.fspath(judge) for judge in judges.values()])
    return {name: qrels_of(judge) for name, judge in zip(names, judges.values(), strict=True)}


@lru_cache(maxsize=256)
def _resolved(requests: tuple[str, ...], names: MeasureNames) -> tuple[Metric, ...]:
    """Resolve requests, cached: a loop of small calls would spend most of its time here."""
    return tuple((find_metrics if names == "trec" else find_metrics_as_given)(requests))
