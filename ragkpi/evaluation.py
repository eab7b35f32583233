"""The evaluation of runs against qrels that are read once: files to `Scores`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from ragkpi.errors import DataError, NothingInCommonError, RagkpiError, UsageError
from ragkpi.formats.file_formats import Reading
from ragkpi.interface import option
from ragkpi.measures.measure import Metric, Need
from ragkpi.measures.reader_warnings import cautions, no_level_so_high
from ragkpi.measures.refusals import refuse_levels, refuse_unserved
from ragkpi.measures.scores import Scores, score
from ragkpi.progress import doing, steps
from ragkpi.ranking.doubts import doubts
from ragkpi.ranking.hits import JUDGED_ONLY, Hits, Wanted
from ragkpi.ranking.judge import Coverage
from ragkpi.ranking.judged import Judged
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.notes import assumption_notes, coverage_notes, judgement_notes
from ragkpi.ranking.reading import read_run, read_runs
from ragkpi.ranking.relevance import READERS, AnyJudged, Qrels, Relevance
from ragkpi.ranking.settings import Settings
from ragkpi.records import dataclass, replace
from ragkpi.wording import listed

if TYPE_CHECKING:
    from ragkpi.ranking.runs_in_memory import RunInMemory

Run: TypeAlias = "str | RunInMemory"
"""The path of a run, or one that is in memory already."""


@dataclass(frozen=True)
class Evaluation:
    """What came of one run.

    Attributes
    ----------
    scores
        The values.
    judged
        What they were computed from.
    coverage
        Which queries the qrels and the run have for themselves alone.
    notes
        What was left out or assumed, a line each.
    warnings
        What may mislead whoever reads the values, a line each.
    """

    scores: Scores
    judged: AnyJudged
    coverage: Coverage
    notes: Sequence[str]
    warnings: Sequence[str]

    @property
    def plain(self) -> Judged:
        """`judged`, where that is by levels of plain qrels; `UsageError` where it is not."""
        if not isinstance(self.judged, Judged):
            raise UsageError("this is answered for plain qrels alone")
        if self.judged.gains is not None:
            raise UsageError("this is answered by levels; qrels with fractional ones are gains")
        return self.judged


class Evaluator:
    """Qrels, a pool and settings, ready for run after run; values are asked for afterwards.

    Reading is apart from computing: `read` takes what `needs` says of a run, and `score` computes
    from that, as often as one likes.

    Parameters
    ----------
    qrels
        Path of the qrels, ``-`` for standard input; or what was read already.
    settings
        The choices that change numbers.
    rel_info
        The format of the qrels, as -R names it.
    pool
        The first stage that the runs were selected from; None if there is none. Runs and pools
        are paths or columns.
    qrels_format, run_format
        Names of file formats (`ragkpi.formats.file_formats`); None recognises each file's. The
        format of the pool is always recognised.

    Examples
    --------
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
        pool: Run | None = None,
        qrels_format: Reading | str | None = None,
        run_format: Reading | str | None = None,
    ) -> None:
        self.settings = settings
        self.rel_info = rel_info
        self.relevance = READERS[rel_info](qrels, qrels_format) if isinstance(qrels, str) else qrels
        self.run_format = Reading(run_format) if isinstance(run_format, str) else run_format
        self.pool = pool
        # The pool has a format of its own, but its documents are treated as the run's are.
        self._pool_reading = None if self.run_format is None else self.run_format.of_pool()
        self._pool_hits = None if pool is None else self._read_pool(self.relevance.judgements)

    def over(self, queries: Collection[bytes]) -> tuple[Evaluator, Callable[[Hits], Hits]]:
        """Return what evaluates as if the qrels had these queries alone, and its view of runs."""
        from copy import copy

        from ragkpi.ranking.part import JudgementPart

        part = JudgementPart.of(self.relevance.judgements, queries)
        evaluator = copy(self)
        evaluator.relevance = Qrels(part.judgements)
        if self._pool_hits is not None:
            evaluator._pool_hits = part.hits(self._pool_hits)
        return evaluator, part.hits

    def needs(self, metrics: Sequence[Metric], depth: int = 0) -> Wanted:
        """Return what a run has to be read for.

        The names of its documents are kept down to `depth` at least.

        Raises
        ------
        UsageError, InputError
            If a value cannot be computed from these qrels.
        """
        refuse_unserved(metrics, self.rel_info, self.settings)
        refuse_levels(metrics, self.relevance.judgements)
        counted = _needs("corpus_size", metrics) and not self._says_corpus_size()
        if self.pool is not None:
            cutoffs = [
                metric.arguments["cutoff"]
                for metric in metrics
                if "outside_pool" in metric.measure.needs
            ]
            depth = max(depth, *cutoffs, 0)
        ties: Literal["broken", "kept"] = "kept" if self.settings.ties == "expected" else "broken"
        return Wanted("counted" if counted else "ignored", depth, ties)

    def read(self, runs: Collection[Run], wanted: Wanted = JUDGED_ONLY) -> list[Hits | RagkpiError]:
        """Read runs, several at a time; an unreadable run becomes its error."""
        with doing("reading runs", len(runs)) as watch:
            return read_runs(list(runs), self.relevance.judgements, wanted, self.run_format, watch)

    def evaluate(self, run: Run, metrics: Sequence[Metric]) -> Evaluation:
        """Read and score a run, ``-`` for the one on standard input."""
        (outcome,) = self.score(self.read([run], self.needs(metrics)), metrics)
        if isinstance(outcome, RagkpiError):
            raise outcome
        return outcome

    def score(
        self, runs: Sequence[Hits | RagkpiError], metrics: Sequence[Metric]
    ) -> list[Evaluation | RagkpiError]:
        """Evaluate runs that were read for what `metrics` need; errors stay where they are.

        Runs that cannot be evaluated become errors, too. Without a corpus size, the documents
        seen in qrels and in all of the runs stand for it.

        Raises
        ------
        UsageError
            If a value cannot be computed from that kind of qrels.
        """
        refuse_unserved(metrics, self.rel_info, self.settings)
        refuse_levels(metrics, self.relevance.judgements)
        seen = 0
        if _needs("corpus_size", metrics) and not self._says_corpus_size():
            from ragkpi.ranking.pool import count_documents

            read = [run for run in runs if isinstance(run, Hits)]
            seen = count_documents(self.relevance.judgements, read)
        scored = steps(runs, "measures", len(runs))
        return [self._try_to_score(run, metrics, seen) for run in scored]

    def _try_to_score(
        self, run: Hits | RagkpiError, metrics: Sequence[Metric], seen: int
    ) -> Evaluation | RagkpiError:
        if isinstance(run, RagkpiError):
            return run
        try:
            return self._score(run, metrics, seen)
        except RagkpiError as problem:
            return problem

    def _score(self, run: Hits, metrics: Sequence[Metric], seen: int) -> Evaluation:
        judgements = self.relevance.judgements
        judged, coverage = self.relevance.judge(run, self.settings)
        notes = coverage_notes(coverage, self.settings)
        warnings: list[str] = []
        if isinstance(judged, Judged):
            judged = self._equipped(judged, run, metrics, seen)
            notes += judgement_notes(judgements, self.settings)
            notes += assumption_notes(judged, seen)
            warnings = [*self._doubts(judged, run, coverage), *cautions(judged, metrics)]
        # trec_eval divides by all judged queries under -c, even with -D 0.QID.
        all_queries = self.settings.missing == "zero"
        divisor = len(judgements.queries) if all_queries else len(judged.queries)
        warnings += no_level_so_high(metrics, judgements)
        return Evaluation(score(judged, metrics, divisor), judged, coverage, notes, warnings)

    def _doubts(self, judged: Judged, run: Hits, coverage: Coverage) -> list[str]:
        lines = list(doubts(judged, self.relevance.judgements, run.beginning, coverage.unjudged))
        if lines and self.settings.doubts == "refused":
            raise DataError(f"{lines[0]} ({option('doubts', 'refused')})")
        return lines

    def _equipped(self, judged: Judged, run: Hits, metrics: Sequence[Metric], seen: int) -> Judged:
        """Add what the values need besides qrels and run."""
        judgements = self.relevance.judgements
        if _needs("corpus_size", metrics):
            from ragkpi.ranking.pool import corpus_sizes

            sizes = corpus_sizes(judged.queries, self.settings, seen)
            judged = replace(judged, corpus_size=sizes)
        if self.pool is not None and self._pool_hits is not None:
            from ragkpi.ranking.pool import judge_pool, outside_pool

            judged = replace(judged, pool=judge_pool(judgements, self._pool_hits, judged))
            if _needs("outside_pool", metrics):
                outside = outside_pool(judgements, run, judged, self._read_pool)
                judged = replace(judged, outside_pool=outside)
        return judged

    def _read_pool(self, judgements: Judgements) -> Hits:
        assert self.pool is not None
        return read_run(self.pool, judgements, reading=self._pool_reading)

    def _says_corpus_size(self) -> bool:
        return self.settings.corpus_size is not None or bool(self.settings.corpus_sizes)


def without_strangers(
    outcomes: Sequence[Evaluation | RagkpiError], qrels: str
) -> list[Evaluation | RagkpiError]:
    """Make an error of each run that has no judged query: beside others it is no list of zeros."""
    return [
        NothingInCommonError(
            f"no query is both judged in {qrels} and retrieved for "
            f"(judged: {listed(outcome.coverage.missing, 3)}; "
            f"run: {listed(outcome.coverage.unjudged, 3)})"
        )
        if isinstance(outcome, Evaluation)
        and len(outcome.coverage.missing) == len(outcome.scores.queries)
        else outcome
        for outcome in outcomes
    ]


def _needs(need: Need, metrics: Sequence[Metric]) -> bool:
    return any(need in metric.measure.needs for metric in metrics)
