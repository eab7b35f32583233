"""The runs of a report: read, judged and scored over the same queries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragkpi.errors import RagkpiError
from ragkpi.evaluation import Evaluation, Evaluator
from ragkpi.measures.measure import Metric
from ragkpi.measures.registry import find_metrics
from ragkpi.measures.scores import Scores
from ragkpi.ranking.hits import Hits
from ragkpi.ranking.judged import IntArray, Judged
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.part import part_of
from ragkpi.ranking.relevance import Qrels
from ragkpi.records import dataclass, replace
from ragkpi.studies.diagnose.diagnosis_study import with_shown_at_their_best

CUTOFF = 10  # documents that a reader sees, in the parts of the page with a fixed depth


@dataclass(frozen=True, eq=False)
class BestCase:
    """A run as if all unjudged documents that it shows had the top grade."""

    judged: Judged
    judgements: Judgements


@dataclass(frozen=True, eq=False)
class ReportedRun:
    """A run of the page.

    Attributes
    ----------
    name
        Its name for people.
    scores
        The scores of the shown measures.
    judged
        The judged run, with the pool and corpus sizes that other parts of the page need.
    best
        The best case of its unjudged documents; None without any, or without a pool.
    """

    name: str
    scores: Scores
    judged: Judged
    best: BestCase | None = None

    def over(self, queries: IntArray) -> ReportedRun:
        """Return the run over some queries alone, by number."""
        best = self.best and replace(self.best, judged=part_of(self.best.judged, queries))
        part = part_of(self.judged, queries)
        return ReportedRun(self.name, self.scores.over(queries), part, best)


def metrics_needed(shown: Sequence[Metric], pool: bool) -> list[Metric]:
    """Return the metrics to evaluate, so that `Judged` has what all parts of the page need."""
    more = [f"bor.{CUTOFF}"]
    if pool:
        more += [f"pct_proc.{CUTOFF}", f"pool_miss.{CUTOFF}"]
    known = {metric.name for metric in shown}
    return [*shown, *(metric for metric in find_metrics(more) if metric.name not in known)]


def best_case(evaluator: Evaluator, hits: Hits) -> BestCase | None:
    """Judge the unjudged documents that a run shows as if they had the top grade."""
    if evaluator.pool is None or evaluator.pool == "-":  # the pool is read a second time
        return None
    judgements, settings = evaluator.relevance.judgements, evaluator.settings
    best = with_shown_at_their_best(judgements, hits, settings, CUTOFF)
    if best is None:
        return None
    generous = Evaluator(Qrels(best[0]), settings, pool=evaluator.pool)
    metrics = find_metrics([f"pct_proc.{CUTOFF}", f"pool_miss.{CUTOFF}"])
    (evaluation,) = generous.score([best[1]], metrics)
    return None if isinstance(evaluation, RagkpiError) else BestCase(evaluation.plain, best[0])


def only(scores: Scores, shown: Sequence[Metric]) -> Scores:
    """Keep the columns of some metrics."""
    return scores.only(scores[metric.name] for metric in shown)


def reported_runs(
    names: Sequence[str],
    evaluations: Sequence[Evaluation],
    best: Sequence[BestCase | None],
    shown: Sequence[Metric],
) -> list[ReportedRun]:
    """Reduce evaluations to the queries that all runs have, and to the shown measures."""
    runs = [
        ReportedRun(name, only(run.scores, shown), run.plain, at_best)
        for name, run, at_best in zip(names, evaluations, best, strict=True)
    ]
    common = set(runs[0].scores.queries).intersection(*(run.scores.queries for run in runs))
    return [
        run if len(common) == len(run.scores.queries) else run.over(_rows(run, common))
        for run in runs
    ]


def _rows(run: ReportedRun, queries: set[bytes]) -> IntArray:
    return np.array([i for i, query in enumerate(run.scores.queries) if query in queries])


def judged_share(run: ReportedRun) -> float:
    """Return the judged share of the documents down to `CUTOFF`; NaN if there are none."""
    judged = run.judged
    places = np.minimum(judged.num_ret, CUTOFF).sum()
    known = ((judged.level >= 0) & (judged.rank <= CUTOFF)).sum()
    return float(known / places) if places else float("nan")
