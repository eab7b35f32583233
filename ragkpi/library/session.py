"""One call of a function: what is evaluated, how, and who is told what."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from ragkpi.errors import RagkpiError
from ragkpi.evaluation import Evaluation, Evaluator, Run, without_strangers
from ragkpi.formats.inputs import inputs
from ragkpi.interface import interface
from ragkpi.measures.measure import Metric
from ragkpi.measures.refusals import default_requests, refuse_unserved
from ragkpi.measures.requests import find_trec_metrics
from ragkpi.measures.scores import Scores
from ragkpi.progress import doing
from ragkpi.ranking.hits import Hits, Wanted
from ragkpi.ranking.judged import Judged
from ragkpi.ranking.notes import concerning, what_is_compared
from ragkpi.ranking.relevance import Relevance
from ragkpi.ranking.settings import Settings
from ragkpi.records import dataclass, field, replace
from ragkpi.reports.run_names import run_names
from ragkpi.wording import counted

if TYPE_CHECKING:
    from ragkpi.formats.file_formats import Reading
    from ragkpi.reports.signature import Signature

Names = Literal["given", "file", "runid"]
MeasureNames = Literal["trec", "given"]
Hashes = Mapping[str, "tuple[str, str | None]"]
"""By role (``"qrels"``, ``"pool"``) the path and the SHA-256 of each file, None if not known."""


@dataclass(frozen=True)
class Session:
    """What is to be evaluated, and how.

    Attributes
    ----------
    requests
        Names of measures; empty if there was none.
    settings
        The choices that change numbers.
    rel_info
        The format of the qrels.
    pool
        The first stage, or None.
    qrels_format, run_format
        How files are read; None where each one's format is to be recognised.
    names
        What runs are called in a result.
    measure_names
        What measures are called in a result: as trec_eval prints them, or as they were asked for.
    said
        Every note and warning, in order.
    """

    requests: Sequence[str]
    settings: Settings
    rel_info: str = "qrels"
    pool: Run | None = None
    qrels_format: Reading | None = None
    run_format: Reading | None = None
    names: Names = "given"
    measure_names: MeasureNames = "trec"
    said: list[str] = field(default_factory=list)

    def metrics(self, default: Sequence[str] | None = None) -> list[Metric]:
        """Resolve the requests, or `default`, or what the relevance format serves."""
        requests = self.requests or default or default_requests(self.rel_info)
        return list(_resolved(tuple(requests), self.measure_names))

    def evaluator(self, qrels: str | Relevance, metrics: Sequence[Metric]) -> Evaluator:
        """Read the qrels, and the pool if there is one.

        Raises
        ------
        UsageError
            If `metrics` cannot be computed from such qrels; nothing is read then.
        """
        refuse_unserved(metrics, self.rel_info, self.settings)
        return Evaluator(
            qrels, self.settings, self.rel_info, self.pool, self.qrels_format, self.run_format
        )

    def files(self, **given: Any) -> Hashes:
        """Hash the files among what was given, by role, and the pool; others have no hash."""
        return {
            role: (os.fspath(one), inputs().sha256(os.fspath(one)))
            for role, one in {**given, "pool": self.pool}.items()
            if isinstance(one, str | os.PathLike)
        }

    def called(self, runs: Sequence[str], scored: Sequence[Scores]) -> Sequence[str]:
        """Name runs, each differently."""
        if self.names == "given":
            return runs
        ids = [scores.run_id.decode("utf-8", "surrogateescape") for scores in scored]
        return run_names(runs, ids if self.names == "runid" else ())

    def signed(self, metrics: Sequence[Metric], **files: Any) -> Signature | None:
        """Say what the numbers depend on, if somebody wants to know; `files` are by role."""
        return self.signature(metrics, self.files(**files)) if inputs().hashed else None

    def signature(self, metrics: Sequence[Metric], files: Hashes) -> Signature:
        """Say what the numbers depend on."""
        from ragkpi.reports.signature import signature_of

        return signature_of(
            self.settings, metrics, {role: digest for role, (_, digest) in files.items()}
        )

    def small_print(self, qrels: Any, metrics: Sequence[Metric], judged: Judged) -> list[str]:
        """Say what a picture is of: queries, N where it matters, the signature."""
        texts = [counted(len(judged.queries), "query", "queries")]
        needed = any("corpus_size" in metric.measure.needs for metric in metrics)
        sizes = judged.corpus_size if needed else None
        if sizes is not None and len(sizes):
            least, most = int(sizes.min()), int(sizes.max())
            size = f"N = {least:,}" if least == most else f"N = {least:,} to {most:,}"
            known = self.settings.corpus_size is not None or self.settings.corpus_sizes
            texts.append(size if known else f"{size} (documents seen)")
        signature = self.signature(metrics, self.files(qrels=qrels))
        return ["; ".join([*texts, signature.short()])]

    def read(
        self, evaluator: Evaluator, runs: Mapping[str, Run], wanted: Wanted
    ) -> list[Hits | RagkpiError]:
        """Read runs, or find out what is wrong with them, under a bar."""
        with doing("reading runs", len(runs)) as watch:
            return evaluator.read(list(runs.values()), wanted, watch)

    def evaluate_every(
        self, evaluator: Evaluator, runs: Mapping[str, Run], metrics: Sequence[Metric]
    ) -> list[Evaluation]:
        """Read and evaluate runs; if any is bad, the call ends."""
        read = self.read(evaluator, runs, evaluator.needs(metrics))
        return self.every(list(runs), evaluator.score(read, metrics))

    def side_by_side(self) -> Session:
        """Evaluate over all judged queries, for what stands beside each other must be over them.

        Whoever said what becomes of missing queries is obeyed.
        """
        if self.settings.missing != "intersection" or self.settings.only_query is not None:
            return self
        return replace(self, settings=replace(self.settings, missing="zero"))

    def evaluate_alone(
        self, qrels: str | Relevance, runs: Mapping[str, Run], metrics: Sequence[Metric]
    ) -> list[Evaluation | RagkpiError]:
        """Read and evaluate runs, each over its own queries."""
        evaluator = self.evaluator(qrels, metrics)
        read = self.read(evaluator, runs, evaluator.needs(metrics))
        outcomes = evaluator.score(read, metrics)
        self.say(good_ones(runs, outcomes))
        return outcomes

    def evaluate_side_by_side(
        self, qrels: str | Relevance, runs: Mapping[str, Run], metrics: Sequence[Metric]
    ) -> list[Evaluation | RagkpiError]:
        """Read and evaluate runs over the same queries, and say which ones."""
        asked = self.side_by_side()
        evaluator = asked.evaluator(qrels, metrics)
        read = asked.read(evaluator, runs, evaluator.needs(metrics))
        outcomes = asked.compared(self, runs, evaluator, evaluator.score(read, metrics))
        good = good_ones(runs, outcomes)
        if asked.settings.missing != "common" or not good:
            return outcomes
        from ragkpi.statistics.alignment import aligned

        first = next(iter(good.values()))
        shared = aligned(list(good), [evaluation.scores for evaluation in good.values()])
        if shared[0].queries == first.scores.queries and first.coverage.missing:
            self.note(
                f"compared over {len(shared[0].queries)} queries; "
                f"{len(first.coverage.missing)} judged are missing"
            )
        scores = iter(shared)
        return [
            outcome if isinstance(outcome, RagkpiError) else replace(outcome, scores=next(scores))
            for outcome in outcomes
        ]

    def compared(
        self,
        before: Session,
        runs: Mapping[str, Run],
        evaluator: Evaluator,
        outcomes: Sequence[Evaluation | RagkpiError],
    ) -> list[Evaluation | RagkpiError]:
        """Say over which queries runs stand beside each other, and what is known about them.

        `before` is the session that this one was made of by `side_by_side`; where the two are one,
        whoever called has said what becomes of missing queries. Else a run that has no judged query
        becomes an error.
        """
        if self is before:
            self.say(good_ones(runs, outcomes))
            return list(outcomes)
        outcomes = without_strangers(outcomes, evaluator.relevance.judgements.file)
        good = good_ones(runs, outcomes)
        self.say(good)
        self.say_what_is_compared(good)
        return outcomes

    def say_what_is_compared(self, evaluations: Mapping[str, Evaluation]) -> list[str]:
        """Say which runs lack queries that count as empty; return that line, if there is one."""
        coverages = {name: run.coverage for name, run in evaluations.items()}
        queries = max((len(run.scores.queries) for run in evaluations.values()), default=0)
        note = what_is_compared(coverages, queries)
        if note:
            self.note(note)
        return [note] if note else []

    def every(
        self, names: Sequence[str], outcomes: Sequence[Evaluation | RagkpiError]
    ) -> list[Evaluation]:
        """Return all outcomes and say what is known about them; if any is bad, the call ends."""
        evaluations = self.done(names, outcomes)
        self.say(dict(zip(names, evaluations, strict=True)))
        return evaluations

    def done(
        self, names: Sequence[str], outcomes: Sequence[Evaluation | RagkpiError]
    ) -> list[Evaluation]:
        """Return all outcomes; if any is bad, the call ends."""
        interface().refuse(problems_of(names, outcomes))
        return [outcome for outcome in outcomes if isinstance(outcome, Evaluation)]

    def say(self, evaluations: Mapping[str, Evaluation]) -> None:
        """Say what was left out or assumed, and what may mislead.

        A line each, which names the runs that it concerns if it does not concern all of them.
        """
        for text in concerning({name: run.notes for name, run in evaluations.items()}):
            self.note(text)
        for text in concerning({name: run.warnings for name, run in evaluations.items()}):
            self.warn(text)

    def note(self, text: str) -> None:
        """Say what was left out or assumed."""
        self.said.append(text)
        interface().note(text)

    def warn(self, text: str) -> None:
        """Say what may mislead."""
        self.said.append(text)
        interface().warn(text)


@lru_cache(maxsize=256)
def _resolved(requests: tuple[str, ...], names: MeasureNames) -> tuple[Metric, ...]:
    """Resolve requests once: in a loop of small calls that is most of the time."""
    metrics = find_trec_metrics(requests) if names == "trec" else None
    if metrics is None:
        from ragkpi.measures.registry import find_metrics, find_metrics_as_given

        find = find_metrics if names == "trec" else find_metrics_as_given
        metrics = find(requests)
    return tuple(metrics)


def problems_of(
    names: Sequence[str], outcomes: Sequence[Evaluation | RagkpiError]
) -> list[RagkpiError]:
    """Return what is wrong with runs; of several, each error names its run."""
    return [
        _about(name, outcome) if len(names) > 1 else outcome
        for name, outcome in zip(names, outcomes, strict=True)
        if isinstance(outcome, RagkpiError)
    ]


def _about(run: str, problem: RagkpiError) -> RagkpiError:
    if run in str(problem):
        return problem
    named = RagkpiError(f"{run}: {problem}")
    named.exit_status = problem.exit_status
    return named


def good_ones(
    names: Iterable[str], outcomes: Sequence[Evaluation | RagkpiError]
) -> dict[str, Evaluation]:
    """Return the runs that could be evaluated, by name."""
    return {
        name: outcome
        for name, outcome in zip(names, outcomes, strict=True)
        if isinstance(outcome, Evaluation)
    }
