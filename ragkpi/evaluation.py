"""`Evaluator`: read qrels once, then read and score run after run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from ragkpi.arrays import BoolArray
from ragkpi.errors import DataError, NothingInCommonError, RagkpiError, UsageError
from ragkpi.files.formats import RECOGNISED, Reading
from ragkpi.files.opening import Source
from ragkpi.interface import doing, spell, with_progress
from ragkpi.measures.measure import Metric, Need, Scores, score
from ragkpi.measures.registry import cautions, no_level_so_high, refuse_levels, refuse_unserved
from ragkpi.ranking.judge import (
    Coverage,
    JudgementPart,
    corpus_sizes,
    count_documents,
    judge_pool,
    outside_pool,
)
from ragkpi.ranking.judged import Judged, Settings
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.notes import (
    assumption_notes,
    coverage_notes,
    doubts,
    judgement_notes,
    unanswerable_notes,
)
from ragkpi.ranking.reading import JUDGED_ONLY, Hits, RunInMemory, RunParts, read_run, read_runs
from ragkpi.ranking.relevance import AnyJudged, Qrels, Relevance, read_relevance
from ragkpi.wording import listed

RunOrPath: TypeAlias = "str | Source | RunInMemory"
"""The path of a run, a run that is opened, or a run in memory."""


@dataclass(frozen=True)
class Evaluation:
    """The values of one run, the judged run behind them, notes and warnings.

    `notes` are lines on omissions and assumptions, `warnings` on what may mislead readers of the
    values. `coverage` holds the queries only in the qrels and the queries only in the run.
    """

    scores: Scores
    judged: AnyJudged
    coverage: Coverage
    notes: Sequence[str]
    warnings: Sequence[str]

    def has_ranking_of(self, other: Evaluation) -> bool:
        """Return whether both rank the same judged documents alike, so that no value differs."""
        columns = ("num_ret", "query", "rank", "judgement")
        runs = self.judged, other.judged
        return all(isinstance(run, Judged) for run in runs) and all(
            np.array_equal(*(getattr(run, name) for run in runs)) for name in columns
        )

    @property
    def plain(self) -> Judged:
        """Return `judged` if the qrels are plain and have levels; else `UsageError`."""
        if not isinstance(self.judged, Judged):
            raise UsageError("this is answered for plain qrels alone")
        if self.judged.gains is not None:
            raise UsageError("this is answered by levels; qrels with fractional ones are gains")
        return self.judged


class Evaluator:
    """Qrels, a pool and settings, ready for run after run.

    Reading and computing are separate: `read` keeps the parts of a run that `needs` returns, and
    `score` computes values from them, as often as wanted.

    `qrels` is a path, ``-`` for standard input, or qrels in memory; `rel_info` is their format as
    in -R. The `pool`, if any, is the first stage from which the runs were selected; its format is
    recognised, whatever that of the runs.

    >>> from ragkpi.measures.registry import find_metrics
    >>> evaluator = Evaluator("fixtures/qrels.txt", Settings())
    >>> scores = evaluator.evaluate("fixtures/runs/bm25.run", find_metrics(["map"])).scores
    >>> len(scores.queries)
    12
    """

    def __init__(
        self,
        qrels: str | Relevance,
        settings: Settings,
        rel_info: str = "qrels",
        pool: RunOrPath | None = None,
        qrels_format: Reading = RECOGNISED,
        run_format: Reading = RECOGNISED,
    ) -> None:
        self.settings = settings
        self.rel_info = rel_info
        if isinstance(qrels, str):
            qrels = read_relevance(qrels, rel_info, qrels_format)
        self.relevance = qrels
        self.run_format = run_format
        self.pool = pool
        # The pool has its own format, but its documents are treated like the run's.
        self._pool_reading = run_format.of_pool()
        self._pool_hits = None if pool is None else self.read_pool(self.relevance.judgements)

    def over(self, queries: Collection[bytes]) -> tuple[Evaluator, Callable[[Hits], Hits]]:
        """Return an evaluator of some queries alone, and a function that narrows hits to them."""
        part = JudgementPart.of(self.relevance.judgements, queries)
        evaluator = copy(self)
        evaluator.relevance = Qrels(part.judgements)
        if self._pool_hits is not None:
            evaluator._pool_hits = part.hits(self._pool_hits)
        return evaluator, part.hits

    @property
    def lacking_grade(self) -> str:
        """Say which judged level the grade map lacks, and what to give; empty for none."""
        return self.settings.grade_map.lacks(np.unique(self.relevance.judgements.level))

    def needs(self, metrics: Sequence[Metric], depth: int = 0) -> RunParts:
        """Return the parts of a run to keep: for `metrics`, and documents down to `depth`.

        `UsageError` or `InputError` if these qrels cannot give a value.
        """
        refuse_unserved(metrics, self.rel_info, self.settings)
        refuse_levels(metrics, self.relevance.judgements)
        if any(metric.is_graded for metric in metrics) and self.lacking_grade:
            raise UsageError(self.lacking_grade)
        if self.pool is not None:
            of_pool = [metric for metric in metrics if "outside_pool" in metric.measure.needs]
            depth = max(depth, *(metric.arguments["cutoff"] for metric in of_pool), 0)
        return RunParts("counted" if self._counts_documents(metrics) else "ignored", depth)

    def read(
        self, runs: Collection[RunOrPath], parts: RunParts = JUDGED_ONLY
    ) -> list[Hits | RagkpiError]:
        """Read runs, several at a time; an unreadable run becomes an error in the list."""
        with doing("reading runs", len(runs)) as watch:
            return read_runs(list(runs), self.relevance.judgements, parts, self.run_format, watch)

    def evaluate(self, run: RunOrPath, metrics: Sequence[Metric]) -> Evaluation:
        """Read and score a run; ``-`` is standard input."""
        (hits,) = self.read([run], self.needs(metrics))
        return self.score_one(hits, metrics)

    def score_one(self, run: Hits | RagkpiError, metrics: Sequence[Metric]) -> Evaluation:
        """Evaluate a run that was read, or raise what is wrong with it."""
        (outcome,) = self.score([run], metrics)
        if isinstance(outcome, RagkpiError):
            raise outcome
        return outcome

    def score(
        self, runs: Sequence[Hits | RagkpiError], metrics: Sequence[Metric]
    ) -> list[Evaluation | RagkpiError]:
        """Evaluate runs that were read with what `metrics` need; errors keep their positions.

        Runs that cannot be evaluated become errors, too. Without a corpus size, the number of
        documents seen in qrels and in all runs replaces it.
        """
        size = 0
        if self._counts_documents(metrics):
            read = [run for run in runs if isinstance(run, Hits)]
            size = count_documents(self.relevance.judgements, read)
        outcomes: list[Evaluation | RagkpiError] = []
        for run in with_progress(runs, "measures", len(runs)):
            try:
                scored = run if isinstance(run, RagkpiError) else self._score(run, metrics, size)
            except RagkpiError as problem:
                scored = problem
            outcomes.append(scored)
        return outcomes

    def _score(self, run: Hits, metrics: Sequence[Metric], size: int) -> Evaluation:
        judgements = self.relevance.judgements
        judged, coverage = self.relevance.judge(run, self.settings)
        notes = coverage_notes(coverage, self.settings)
        warnings: list[str] = []
        if isinstance(judged, Judged):
            judged = self._equip(judged, run, metrics, size)
        # trec_eval divides by all judged queries under -c, even with -D 0.QID.
        all_queries = self.settings.missing == "zero"
        divisor = len(judgements.queries) if all_queries else len(judged.queries)
        scores = score(judged, metrics, divisor)
        if isinstance(judged, Judged):
            notes += judgement_notes(judgements, self.settings)
            unanswerable = judged.num_rel == 0
            if _falls(scores, unanswerable):
                notes += unanswerable_notes(judged.queries, unanswerable)
            notes += assumption_notes(judged, size)
            warnings = [*self._doubts(judged, run, coverage), *cautions(judged, metrics)]
            judged = replace(judged)  # without what measures shared, several times its size
        warnings += no_level_so_high(metrics, judgements)
        return Evaluation(scores, judged, coverage, notes, warnings)

    def _doubts(self, judged: Judged, run: Hits, coverage: Coverage) -> list[str]:
        lines = list(doubts(judged, self.relevance.judgements, run.beginning, coverage.unjudged))
        if lines and self.settings.doubts == "refused":
            raise DataError(f"{lines[0]} ({spell('doubts', 'refused')})")
        return lines

    def _equip(self, judged: Judged, run: Hits, metrics: Sequence[Metric], size: int) -> Judged:
        """Add corpus sizes, the pool and documents outside it where metrics need them."""
        judgements = self.relevance.judgements
        if _needs("corpus_size", metrics):
            judged = replace(judged, corpus_size=corpus_sizes(judged.queries, self.settings, size))
        if self.pool is not None and self._pool_hits is not None:
            judged = replace(judged, pool=judge_pool(judgements, self._pool_hits, judged))
            if _needs("outside_pool", metrics):
                outside = outside_pool(judgements, run, judged, self.read_pool)
                judged = replace(judged, outside_pool=outside)
        return judged

    def read_pool(self, judgements: Judgements, parts: RunParts = JUDGED_ONLY) -> Hits:
        """Read the pool again, and judge it by other judgements."""
        assert self.pool is not None
        return read_run(self.pool, judgements, parts, self._pool_reading)

    def _counts_documents(self, metrics: Sequence[Metric]) -> bool:
        """Return whether the documents seen replace the corpus size that metrics need."""
        given = self.settings.corpus_size is not None or self.settings.corpus_sizes
        return _needs("corpus_size", metrics) and not given


def refuse_unjudged_runs(
    outcomes: Sequence[Evaluation | RagkpiError], qrels: str
) -> list[Evaluation | RagkpiError]:
    """Replace each run without judged queries by an error: its values would all be 0."""
    return [
        NothingInCommonError(
            f"{qrels} and the run share no query ids "
            f"(judged: {listed(outcome.coverage.missing, 3)}; "
            f"run: {listed(outcome.coverage.unjudged, 3)}); expected the same ids, or "
            f"{spell('queries', 'FILE')} with an id, a tab and a text on each line where a run "
            "has texts or places"
        )
        if isinstance(outcome, Evaluation)
        and len(outcome.coverage.missing) == len(outcome.scores.queries)
        else outcome
        for outcome in outcomes
    ]


def _falls(scores: Scores, queries: BoolArray) -> bool:
    """Return whether a summary is lower because a measure is 0 for all of some queries."""
    some = bool(queries.any() and not queries.all())
    compared = (column for column in scores.columns if column.metric.is_comparable)
    return some and any(not column.per_query[queries].any() for column in compared)


def _needs(need: Need, metrics: Sequence[Metric]) -> bool:
    return any(need in metric.measure.needs for metric in metrics)
