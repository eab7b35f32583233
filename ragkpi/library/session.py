"""`Session`: the qrels, settings, formats and notes of one call, which reads and evaluates runs."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ragkpi.errors import DataError, NothingInCommonError, RagkpiError, UsageError
from ragkpi.evaluation import Evaluation, RunOrPath
from ragkpi.files.formats import RECOGNISED, Reading
from ragkpi.files.inputs import inputs
from ragkpi.files.trec import named_levels
from ragkpi.interface import doing, interface, spell, with_progress
from ragkpi.library.ground import Hashes, Signature, file_object, signature_of
from ragkpi.library.runs import by_system
from ragkpi.measures.measure import Metric, Need, Scores, score
from ragkpi.measures.registry import (
    cautions,
    default_request,
    find_metrics,
    find_metrics_as_given,
    level_notes,
    no_level_so_high,
    refuse_levels,
    refuse_unserved,
)
from ragkpi.ranking.judge import (
    JudgementPart,
    corpus_sizes,
    count_documents,
    judge_pool,
    nothing_in_common,
    outside_pool,
)
from ragkpi.ranking.judged import Judged, Settings
from ragkpi.ranking.judgements import Judgements, group_judgements
from ragkpi.ranking.notes import (
    assumption_notes,
    concerning,
    coverage_notes,
    doubts,
    judgement_notes,
    missing_notes,
    unanswerable_notes,
)
from ragkpi.ranking.reading import JUDGED_ONLY, Hits, RunParts, read_run, read_runs
from ragkpi.ranking.relevance import Qrels, Relevance, read_relevance
from ragkpi.reports.names import run_names, system_of
from ragkpi.wording import counted, decoded, joined, listed

if TYPE_CHECKING:  # few calls have labels
    from ragkpi.files.query_files import QueryLabels
    from ragkpi.statistics.units import Clusters

Names = Literal["given", "file", "runid"]
MeasureNames = Literal["trec", "given"]
MissingBy = Literal["default", "user"]
OnProblem = Literal["raised", "kept"]

NO_OTHERS: Mapping[str, Any] = {}


@dataclass(eq=False)
class Session:
    """One call of a public function: it reads qrels, a pool and runs, and evaluates the runs.

    Qrels and pool are read once, when they are first needed.

    >>> from ragkpi.measures.registry import find_metrics
    >>> session = Session("fixtures/qrels.txt", Settings())
    >>> run = session.evaluate_one("fixtures/runs/bm25.run", find_metrics(["map"]))
    >>> len(run.scores.queries)
    12

    Attributes
    ----------
    qrels
        A path, ``-`` for standard input, or qrels in memory; None for a question without them.
    requests
        Names of measures; empty if the user named none.
    rel_info
        The format of the qrels as in -R.
    pool
        The first stage from which the runs were selected, if any. Its format is recognised,
        whatever that of the runs.
    run_names, measure_names
        The source of the names of runs and measures in a result.
    missing_by
        The origin of the treatment of missing queries.
    labels, clusters, sources
        The labels of queries for slices, the clusters of dependent queries, and their files.
    reading
        The arguments for reading files, which signatures lack, as in JSON.
    notes
        The notes and warnings of the call so far, in order.
    documents_seen
        The number of documents in qrels and runs, once it has replaced a corpus size; else 0.
    """

    qrels: Any
    settings: Settings
    requests: Sequence[str] = ()
    rel_info: str = "qrels"
    pool: RunOrPath | None = None
    qrels_format: Reading = RECOGNISED
    run_format: Reading = RECOGNISED
    run_names: Names = "given"
    measure_names: MeasureNames = "trec"
    missing_by: MissingBy = "user"
    labels: QueryLabels | None = None
    clusters: Clusters | None = None
    sources: Mapping[str, Any] = field(default_factory=dict)
    reading: Mapping[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    documents_seen: int = 0

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

    @cached_property
    def relevance(self) -> Relevance:
        """The qrels, read."""
        return read_qrels(self.qrels, self.rel_info, self.qrels_format)

    @property
    def judgements(self) -> Judgements:
        """The judgements of the qrels."""
        return self.relevance.judgements

    @cached_property
    def pool_hits(self) -> Hits | None:
        """The judged documents of the pool; None without a pool."""
        return None if self.pool is None else self.read_pool(self.judgements)

    def read_pool(self, judgements: Judgements, parts: RunParts = JUDGED_ONLY) -> Hits:
        """Read the pool again, and judge it by the given judgements."""
        assert self.pool is not None
        return read_run(self.pool, judgements, parts, self.run_format.of_pool())

    @property
    def lacking_grade(self) -> str:
        """Name the judged level missing from the grade map, and the fix; else ""."""
        return self.settings.grade_map.lacks(np.unique(self.judgements.level))

    def with_grades(self, metrics: Sequence[Metric]) -> list[Metric]:
        """Leave out default metrics that the grade map cannot serve, with a note."""
        graded = dict.fromkeys(m.measure.name for m in metrics if m.is_graded)
        if not graded or not self.lacking_grade:
            return list(metrics)
        self.note(f"without {joined(list(graded))}: {self.lacking_grade}")
        return [metric for metric in metrics if not metric.is_graded]

    def needs(self, metrics: Sequence[Metric], depth: int = 0) -> RunParts:
        """Return the parts of a run to keep: for `metrics`, and documents down to `depth`.

        `UsageError` or `InputError` if these qrels cannot give a value.
        """
        refuse_unserved(metrics, self.rel_info, self.settings)
        refuse_levels(metrics, self.judgements)
        if any(metric.is_graded for metric in metrics) and self.lacking_grade:
            raise UsageError(self.lacking_grade)
        if self.pool is not None:
            of_pool = [metric for metric in metrics if "outside_pool" in metric.measure.needs]
            depth = max(depth, *(metric.arguments["cutoff"] for metric in of_pool), 0)
        return RunParts("counted" if self._counts_documents(metrics) else "ignored", depth)

    def read(
        self, runs: Mapping[str, RunOrPath], parts: RunParts = JUDGED_ONLY
    ) -> dict[str, Hits | RagkpiError]:
        """Read parts of runs, several at a time; an unreadable run becomes an error.

        This settles ``missing="trec_eval"``: only the lines of one TREC file follow its rule.
        """
        _ = self.pool_hits  # the pool can be standard input, and is read before the runs
        with doing("reading runs", len(runs)) as watch:
            read = read_runs([*runs.values()], self.judgements, parts, self.run_format, watch)
        if self.settings.missing == "trec_eval":
            run = read[0] if len(read) == 1 else None
            follows = isinstance(run, Hits) and run.format == "trec"
            follows |= self.settings.only_query is not None  # without that query there is no value
            self.settings = replace(self.settings, missing="intersection" if follows else "zero")
            self.missing_by = "default"
        return dict(zip(runs, read, strict=True))

    def evaluate(
        self,
        runs: Mapping[str, RunOrPath],
        metrics: Sequence[Metric],
        depth: int = 0,
        problems: OnProblem = "raised",
    ) -> Evaluations:
        """Read and evaluate runs, with the names of documents down to `depth`."""
        return self.evaluate_hits(self.read(runs, self.needs(metrics, depth)), metrics, problems)

    def evaluate_hits(
        self,
        runs: Mapping[str, Hits | RagkpiError],
        metrics: Sequence[Metric],
        problems: OnProblem = "raised",
    ) -> Evaluations:
        """Evaluate runs after reading, and issue their notes and warnings.

        A line names its runs unless it concerns all. If missing queries count as empty rankings, a
        run without judged queries is a problem: all of its values would be 0.
        """
        zero = self.settings.missing == "zero"
        if zero:
            alien = {
                name: nothing_in_common(self.judgements, hits)
                for name, hits in runs.items()
                if isinstance(hits, Hits) and not (hits.query >= 0).any()
            }
            runs = {**runs, **alien}
        evaluated = self.score(runs, metrics, "kept")
        notes = evaluated.missing_notes() if self.missing_by == "default" else []
        for text in [*notes, *concerning({name: run.notes for name, run in evaluated.items()})]:
            self.note(text)
        for text in concerning({name: run.warnings for name, run in evaluated.items()}):
            self.warn(text)
        if problems == "raised":
            interface().refuse(evaluated.problems)
        if zero:
            evaluated.refuse_folds()
        return evaluated

    def score(
        self,
        runs: Mapping[str, Hits | RagkpiError],
        metrics: Sequence[Metric],
        problems: OnProblem = "raised",
    ) -> Evaluations:
        """Evaluate runs after reading, without notes, and separate them from errors.

        Without a corpus size, the number of documents seen in qrels and in all runs replaces it.
        """
        if self._counts_documents(metrics):
            read = [hits for hits in runs.values() if isinstance(hits, Hits)]
            self.documents_seen = count_documents(self.judgements, read)
        scored: dict[str, Evaluation] = {}
        errors: list[RagkpiError] = []
        for name, hits in with_progress(runs.items(), "measures", len(runs)):
            try:
                if isinstance(hits, RagkpiError):
                    raise hits
                scored[name] = self._score(hits, metrics)
            except RagkpiError as problem:
                errors.append(_about(name, problem) if len(runs) > 1 else problem)
        if problems == "raised":
            interface().refuse(errors)
        if self.clusters is not None:
            refuse_alone(queries_of(run.scores for run in scored.values()), self.clusters)
        names = self.names_of({name: run.scores for name, run in scored.items()})
        named = {key: replace(run, name=names[key]) for key, run in scored.items()}
        return Evaluations(self, metrics, named, errors)

    def evaluate_one(self, run: RunOrPath | Hits, metrics: Sequence[Metric]) -> Evaluation:
        """Evaluate a single run, without notes, or raise its error."""
        parts = self.needs(metrics)
        hits = run if isinstance(run, Hits) else self.read({"": run}, parts)[""]
        return self.score({"": hits}, metrics)[""]

    def _score(self, run: Hits, metrics: Sequence[Metric]) -> Evaluation:
        judgements = self.judgements
        judged, coverage = self.relevance.judge(run, self.settings)
        notes = coverage_notes(coverage, self.settings)
        warnings: list[str] = []
        if isinstance(judged, Judged):
            judged = self._equip(judged, run, metrics)
        # trec_eval divides by all judged queries under -c, even with -D 0.QID.
        all_queries = self.settings.missing == "zero"
        divisor = len(judgements.queries) if all_queries else len(judged.queries)
        scores = score(judged, metrics, divisor)
        if isinstance(judged, Judged):
            notes += judgement_notes(judgements, self.settings)
            unanswerable = judged.num_rel == 0
            compared = [column for column in scores.columns if column.metric.is_comparable]
            if (
                unanswerable.any()
                and not unanswerable.all()
                and any(not column.per_query[unanswerable].any() for column in compared)
            ):  # a measure of 0 there lowers the summary
                notes += unanswerable_notes(judged.queries, unanswerable)
            notes += assumption_notes(judged, self.documents_seen)
            notes += level_notes(metrics, self.settings.relevance_level)
            warnings = list(doubts(judged, judgements, run.beginning, coverage.unjudged))
            if warnings and self.settings.doubts == "refused":
                raise DataError(f"{warnings[0]} ({spell('doubts', 'refused')})")
            warnings += cautions(judged, metrics)
            judged = replace(judged)  # without shared results of measures, several times its size
        warnings += no_level_so_high(metrics, judgements)
        return Evaluation(decoded(run.run_id), run, judged, coverage, scores, notes, warnings)

    def _equip(self, judged: Judged, run: Hits, metrics: Sequence[Metric]) -> Judged:
        """Add corpus sizes, the pool and documents outside it if metrics need them."""
        if _needs("corpus_size", metrics):
            sizes = corpus_sizes(judged.queries, self.settings, self.documents_seen)
            judged = replace(judged, corpus_size=sizes)
        if self.pool_hits is not None:
            judged = replace(judged, pool=judge_pool(self.judgements, self.pool_hits, judged))
            if _needs("outside_pool", metrics):
                outside = outside_pool(self.judgements, run, judged, self.read_pool)
                judged = replace(judged, outside_pool=outside)
        return judged

    def _counts_documents(self, metrics: Sequence[Metric]) -> bool:
        """Return whether the documents seen replace the corpus size that metrics need."""
        given = self.settings.corpus_size is not None or self.settings.corpus_sizes
        return _needs("corpus_size", metrics) and not given

    def names_of(self, runs: Mapping[str, Scores]) -> dict[str, str]:
        """Return distinct names of runs in a result, by those of the call."""
        names = list(runs)
        if self.run_names != "given":
            ids = [decoded(scores.run_id) for scores in runs.values()]
            names = run_names(names, ids if self.run_names == "runid" else ())
        return dict(zip(runs, names, strict=True))

    def files(self, others: Mapping[str, Any] = NO_OTHERS) -> Hashes:
        """Hash the files of qrels, labels, clusters and the pool, and others by role."""
        by_role = {"qrels": self.qrels, **others, **self.sources, "pool": self.pool}
        return {
            role: file_object(os.fspath(path), inputs())
            for role, path in by_role.items()
            if isinstance(path, str | os.PathLike)
        }

    def signature(
        self, metrics: Sequence[Metric], others: Mapping[str, Any] = NO_OTHERS
    ) -> Signature:
        """Hash the files, with others by role, and collect the settings behind the values.

        Qrels in memory, or read by a map, are hashed as judgements.
        """
        digests = {role: file.get("sha256") for role, file in self.files(others).items()}
        mapped = self.qrels_format.shape is not None
        if self.qrels is not None and (mapped or not digests.get("qrels")):
            digests = {**digests, "qrels": self.judgements.sha256}
        if self.pool is not None:
            digests.setdefault("pool", None)
        sieve, seen = self.run_format.sieve, self.documents_seen or None
        return signature_of(self.settings, metrics, digests, seen, sieve.options if sieve else "")

    def signed(
        self, metrics: Sequence[Metric], others: Mapping[str, Any] = NO_OTHERS
    ) -> Signature | None:
        """Return the `signature` if the user wants it."""
        return self.signature(metrics, others) if inputs().hashed else None

    def small_print(self, metrics: Sequence[Metric], judged: Judged) -> list[str]:
        """Return the small print of a picture: the number of queries, and the signature with N."""
        number = counted(len(judged.queries), "query", "queries")
        return [f"{number}; {self.signature(metrics).short()}"]


class Evaluations(dict[str, Evaluation]):
    """The evaluated runs of a call by their names there, and the errors of the others.

    With several runs, each of the `problems` names its run.
    """

    def __init__(
        self,
        session: Session,
        metrics: Sequence[Metric],
        runs: Mapping[str, Evaluation],
        problems: Sequence[RagkpiError],
    ) -> None:
        super().__init__(runs)
        self.session = session
        self.metrics = metrics
        self.problems = problems

    @property
    def names(self) -> list[str]:
        """The names of the runs in a result."""
        return [run.name for run in self.values()]

    @property
    def scores(self) -> list[Scores]:
        """The scores of each run."""
        return [run.scores for run in self.values()]

    @property
    def system_names(self) -> dict[str, str]:
        """The names in a result of runs and systems, by those of the call."""
        return self.session.names_of(by_system({name: run.scores for name, run in self.items()}))

    def named_systems(self, scores: Mapping[str, Scores]) -> dict[str, Scores]:
        """Return scores of these runs by the names of runs and systems in a result."""
        names = self.system_names
        return {names[key]: of for key, of in by_system(scores).items()}

    def refuse_folds(self) -> None:
        """Raise `DataError` for seeds with different queries: each would have its own zeros."""
        first: dict[str, str] = {}
        for name, run in self.items():
            before = first.setdefault(system_of(name), name)
            if apart := sorted(set(self[before].coverage.missing) ^ set(run.coverage.missing)):
                number = counted(len(apart), "judged query", "judged queries")
                raise DataError(
                    f"only one of {before} and {name} has {number} ({listed(apart, 3)}); expected "
                    f"the same queries from each seed, or {spell('missing', 'common')}"
                )

    def over(self, queries: Collection[bytes]) -> Evaluations:
        """Evaluate the runs as if the qrels had only these queries; without notes."""
        part = JudgementPart.of(self.session.judgements, queries)
        session = copy(self.session)
        session.relevance = Qrels(part.judgements)
        if self.session.pool_hits is not None:
            session.pool_hits = part.hits(self.session.pool_hits)
        return session.score(
            {name: part.hits(run.hits) for name, run in self.items()}, self.metrics
        )

    def over_common_queries(self) -> Evaluations:
        """Restrict the scores to the queries that all runs have if ``missing="common"``.

        `NothingInCommonError` if they share no query; a warning counts dropped queries.
        """
        if self.session.settings.missing != "common" or not self:
            return self
        of_runs = {name: run.scores.queries for name, run in self.items()}
        shared = set.intersection(*map(set, of_runs.values()))
        if not shared:
            names = ", ".join(self)
            raise NothingInCommonError(f"{names} share no query; nothing can be compared")
        compared = f"compared over the {counted(len(shared), 'query', 'queries')}"
        dropped = [
            f"{len(of) - len(shared)} of {name}"
            for name, of in of_runs.items()
            if len(of) > len(shared)
        ]
        if dropped:
            interface().warn(
                f"{compared} that all runs have, dropping {', '.join(dropped)}; "
                f"{spell('missing', 'zero')} evaluates a missing query as an empty ranking instead"
            )
        elif missing := next(iter(self.values())).coverage.missing:
            self.session.note(f"{compared}; {len(missing)} judged are missing")
        restricted = {
            name: replace(run, scores=run.scores.of_queries(shared)) for name, run in self.items()
        }
        return Evaluations(self.session, self.metrics, restricted, self.problems)

    def missing_notes(self) -> list[str]:
        """Name the runs without some queries, which count as empty rankings; no line if none."""
        coverage = [run.coverage for run in self.values()]
        zero = self.session.settings.missing == "zero"
        lacking = zero and any(of_run.missing for of_run in coverage)
        return missing_notes(self.names, coverage) if lacking else []

    def small_print(self) -> list[str]:
        """Return the small print of a picture."""
        return self.session.small_print(self.metrics, next(iter(self.values())).plain)


def _about(run: str, problem: RagkpiError) -> RagkpiError:
    if run in str(problem):
        return problem
    named = RagkpiError(f"{run}: {problem}")
    named.exit_status = problem.exit_status
    return named


def refuse_alone(queries: Iterable[bytes], clusters: Clusters) -> None:
    """Raise `DataError` if evaluated queries have no cluster."""
    if alone := sorted(set(queries) - clusters.keys()):
        have = counted(len(alone), "evaluated query has", "evaluated queries have")
        raise DataError(
            f"{spell('cluster')}: {have} no cluster ({listed(alone, 3)}); expected one for each"
        )


def queries_of(runs: Iterable[Scores]) -> list[bytes]:
    """Return the evaluated queries of all runs, in byte order."""
    return sorted(set().union(*(scores.queries for scores in runs)))


def _needs(need: Need, metrics: Sequence[Metric]) -> bool:
    return any(need in metric.measure.needs for metric in metrics)


def read_qrels(qrels: Any, rel_info: str = "qrels", reading: Reading = RECOGNISED) -> Relevance:
    """Read qrels at a path, or use qrels in memory."""
    if isinstance(qrels, str | os.PathLike):
        return read_relevance(os.fspath(qrels), rel_info, reading)
    if hasattr(qrels, "judgements") and hasattr(qrels, "judge"):  # already read
        relevance: Relevance = qrels
        return relevance
    if rel_info != "qrels":
        raise UsageError(f"rel_info={rel_info!r}: only a path can hold that")
    from ragkpi.files.in_memory import qrels_columns

    with named_levels(reading.levels):
        columns = qrels_columns(qrels, "gains", reading.shape)
    if reading.sieve:
        columns = reading.sieve.qrels(columns)
    return Qrels(group_judgements(columns))


@lru_cache(maxsize=256)
def _resolved(requests: tuple[str, ...], names: MeasureNames) -> tuple[Metric, ...]:
    """Resolve requests, cached: a loop of small calls would spend most of its time here."""
    return tuple((find_metrics if names == "trec" else find_metrics_as_given)(requests))


def judge_names(judges: Mapping[str, Any]) -> list[str]:
    """Name judgements by their files if all have one, else by their keys."""
    if all(isinstance(judge, str | os.PathLike) for judge in judges.values()):
        return run_names([os.fspath(judge) for judge in judges.values()])
    return list(judges)
