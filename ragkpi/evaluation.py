"""The evaluation of runs against qrels that are read once: files to `Scores`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from ragkpi.errors import RagkpiError, UsageError
from ragkpi.formats.trec_runs import RunColumns
from ragkpi.measures.measure import Metric, Need
from ragkpi.measures.reader_warnings import cautions
from ragkpi.measures.rel_info import refuse_wrong_format
from ragkpi.measures.scores import Scores, score
from ragkpi.ranking.hits import JUDGED_ONLY, Hits, Wanted, find_hits
from ragkpi.ranking.judge import Coverage
from ragkpi.ranking.judged import Judged
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.parallel_runs import read_runs
from ragkpi.ranking.pool import corpus_sizes, count_documents, judge_pool, outside_pool
from ragkpi.ranking.relevance import READERS, AnyJudged, Relevance
from ragkpi.ranking.settings import Settings
from ragkpi.ranking.workers import available_workers, read_hits
from ragkpi.wording import shown_queries

Run: TypeAlias = str | RunColumns


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
        """`judged`, where that is by plain qrels; `UsageError` where it is not."""
        if not isinstance(self.judged, Judged):
            raise UsageError("this is answered for plain qrels alone")
        return self.judged


class Evaluator:
    """Qrels, values and settings, ready for run after run.

    Parameters
    ----------
    qrels
        Path of the qrels, ``-`` for standard input; or what was read already.
    values
        What to compute.
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

    Raises
    ------
    UsageError
        If a value cannot be computed from that format; nothing is read then.
    """

    def __init__(
        self,
        qrels: str | Relevance,
        metrics: Sequence[Metric],
        settings: Settings,
        rel_info: str = "qrels",
        pool: Run | None = None,
        qrels_format: str | None = None,
        run_format: str | None = None,
    ) -> None:
        refuse_wrong_format(metrics, rel_info)
        self.metrics = list(metrics)
        self.settings = settings
        self.relevance = READERS[rel_info](qrels, qrels_format) if isinstance(qrels, str) else qrels
        self.run_format = run_format
        self.pool = pool
        self._pool_hits = None if pool is None else _read(pool, self.relevance.judgements)

    def evaluate(self, run: Run) -> Evaluation:
        """Evaluate a run, ``-`` for the one on standard input."""
        return self.score([self.read(run)])[0]

    def evaluate_all(
        self, runs: Sequence[str], watch: Callable[[int], None] = lambda _: None
    ) -> list[Evaluation | RagkpiError]:
        """Evaluate runs, several at a time; in the place of one that cannot be is its error.

        `watch` is told how many are read, as `read_runs` has it.
        """
        self.relevance.judgements.prepare()  # before processes are forked, so that it is done once
        read = dict(read_runs(runs, self.read, available_workers(), watch))
        seen = self._count([hits for hits in read.values() if isinstance(hits, Hits)])
        return [self._try_to_score(read[place], seen) for place in range(len(runs))]

    def read(self, run: Run, workers: int | None = None, depth: int = 0) -> Hits:
        """Read a run for all that the values need of it, with all workers or so many.

        The names of its documents are kept down to `depth` at least.
        """
        counted = self._needs("corpus_size") and not self._says_corpus_size()
        depth = max(depth, self._depth_outside_pool())
        wanted = Wanted("counted" if counted else "ignored", depth)
        return _read(run, self.relevance.judgements, wanted, workers, self.run_format)

    def score(self, runs: Sequence[Hits]) -> list[Evaluation]:
        """Evaluate runs as `read` returns them; without a corpus size they share a counted one."""
        seen = self._count(runs)
        return [self._score(run, seen) for run in runs]

    def _count(self, runs: Sequence[Hits]) -> int:
        """Count the documents of qrels and runs, if they have to stand for the corpus."""
        if not self._needs("corpus_size") or self._says_corpus_size():
            return 0
        return count_documents(self.relevance.judgements, runs)

    def _try_to_score(self, run: Hits | RagkpiError, seen: int) -> Evaluation | RagkpiError:
        if isinstance(run, RagkpiError):
            return run
        try:
            return self._score(run, seen)
        except RagkpiError as problem:
            return problem

    def _score(self, run: Hits, seen: int) -> Evaluation:
        judgements = self.relevance.judgements
        judged, coverage = self.relevance.judge(run, self.settings)
        notes = _coverage_notes(coverage, self.settings)
        warnings: list[str] = []
        if isinstance(judged, Judged):
            judged = self._equipped(judged, run, seen)
            notes += self._notes(judged, seen)
            warnings = cautions(judged, self.metrics)
        # trec_eval divides by all judged queries under -c, even with -D 0.QID.
        all_queries = self.settings.missing == "zero"
        divisor = len(judgements.queries) if all_queries else len(judged.queries)
        return Evaluation(score(judged, self.metrics, divisor), judged, coverage, notes, warnings)

    def _equipped(self, judged: Judged, run: Hits, seen: int) -> Judged:
        """Add what the values need besides qrels and run."""
        judgements = self.relevance.judgements
        if self._needs("corpus_size"):
            sizes = corpus_sizes(judged.queries, self.settings, seen)
            judged = replace(judged, corpus_size=sizes)
        if self.pool is not None and self._pool_hits is not None:
            judged = replace(judged, pool=judge_pool(judgements, self._pool_hits, judged))
            if self._needs("outside_pool"):
                outside = outside_pool(judgements, run, judged, partial(_read, self.pool))
                judged = replace(judged, outside_pool=outside)
        return judged

    def _notes(self, judged: Judged, seen: int) -> list[str]:
        notes = []
        if seen:
            notes.append(
                f"the corpus size is not given, so N = {seen}, the documents seen in qrels and "
                "run: every bor is a lower bound; give the real size with -N or in the "
                "environment variable RAGKPI_CORPUS_SIZE"
            )
        if judged.pool is not None:
            lacking = [q for q, n in zip(judged.queries, judged.pool.num_ret, strict=True) if not n]
            if lacking:
                notes.append(
                    f"{len(lacking)} evaluated queries are missing from the pool "
                    f"({shown_queries(lacking)}): nothing is reachable for them"
                )
        return notes

    def _needs(self, need: Need) -> bool:
        return any(need in metric.measure.needs for metric in self.metrics)

    def _says_corpus_size(self) -> bool:
        return self.settings.corpus_size is not None or bool(self.settings.corpus_sizes)

    def _depth_outside_pool(self) -> int:
        if self.pool is None:
            return 0
        concerned = [v for v in self.metrics if "outside_pool" in v.measure.needs]
        return max((metric.arguments["cutoff"] for metric in concerned), default=0)


def _read(
    run: Run,
    judgements: Judgements,
    wanted: Wanted = JUDGED_ONLY,
    workers: int | None = None,
    format_name: str | None = None,
) -> Hits:
    if isinstance(run, RunColumns):
        return find_hits([run], judgements, wanted)
    return read_hits(run, judgements, wanted, workers or available_workers(), format_name)


def _coverage_notes(coverage: Coverage, settings: Settings) -> list[str]:
    """Say which queries the means leave out, in one line if there are any."""
    notes = []
    if coverage.missing and settings.missing == "intersection":
        notes.append(
            f"{len(coverage.missing)} judged queries are missing from the run and left out of "
            f"the means ({shown_queries(coverage.missing)}); -c counts them as empty rankings"
        )
    if coverage.unjudged:
        notes.append(
            f"{len(coverage.unjudged)} queries of the run are not judged and ignored "
            f"({shown_queries(coverage.unjudged)})"
        )
    return ["; ".join(notes)] if notes else []
