"""The runs of a page, over the queries that all of them have, and the measures that it shows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ragkpi.arrays import IntArray
from ragkpi.errors import UsageError
from ragkpi.evaluation import Evaluator
from ragkpi.library.call import Evaluations
from ragkpi.measures.measure import Metric, Scores
from ragkpi.measures.registry import find_metrics
from ragkpi.questions.diagnose.study import best_case
from ragkpi.ranking.judge import part_of
from ragkpi.ranking.judged import Judged, Settings
from ragkpi.reports.names import short_names
from ragkpi.wording import visible

_LONGEST_LABEL = 24  # characters
CUTOFF = 10  # documents that a reader sees, in the parts of the page with a fixed depth


def default_measures(settings: Settings, pool: object) -> list[str]:
    """Name the default measures of a page."""
    measures = ["ndcg_cut.10", "P.10", "recall.10", "recip_rank"]
    if pool is not None:
        measures += [f"ra_nwg.{CUTOFF}", f"pct_proc.{CUTOFF}"]
    if settings.corpus_size is not None or settings.corpus_sizes:
        measures.append(f"bor.{CUTOFF}")
    return measures


def main_first(metrics: Sequence[Metric], request: str = "") -> list[Metric]:
    """Put the main metric first: of those that are numbers the requested one, else the first.

    `UsageError` for metrics that make no page.
    """
    numeric = [m for m in metrics if m.measure.numeric and m.is_printed("summary")]
    if not numeric:
        raise UsageError("a page needs a measure that is a number; give one with -m")
    names = {metric.name for metric in find_metrics([request])} if request else set()
    main = next((metric for metric in numeric if metric.name in names), numeric[0])
    return [main, *(metric for metric in metrics if metric is not main)]


def metrics_needed(metrics: Sequence[Metric], evaluator: Evaluator) -> list[Metric]:
    """Return the metrics to evaluate, so that `Judged` serves all parts of the page."""
    more = [f"bor.{CUTOFF}"]
    if evaluator.pool is not None:
        more += [f"pool_miss.{CUTOFF}"]
        more += [] if evaluator.lacking_grade else [f"pct_proc.{CUTOFF}"]
    names = {metric.name for metric in metrics}
    return [*metrics, *(metric for metric in find_metrics(more) if metric.name not in names)]


def only(scores: Scores, metrics: Sequence[Metric]) -> Scores:
    """Keep the columns of some metrics."""
    return scores.only(scores[metric.name] for metric in metrics)


@dataclass(frozen=True, eq=False)
class ReportedRun:
    """A run of the page, with the scores of the page's measures.

    `label` is its name, short enough for a row. `judged` is None of a stored result. `best` is the
    best case of its unjudged documents; None without any, or without a pool.
    """

    name: str
    label: str
    scores: Scores
    judged: Judged | None
    best: Judged | None = None

    def over(self, queries: IntArray) -> ReportedRun:
        """Return the run over some of its queries alone, by number."""
        if len(queries) == len(self.scores.queries):
            return self
        best = self.best and part_of(self.best, queries)
        judged = self.judged and part_of(self.judged, queries)
        return replace(self, scores=self.scores.over(queries), judged=judged, best=best)

    @property
    def judged_share(self) -> float:
        """The judged share of the documents down to `CUTOFF`; NaN if there are none."""
        return self.judged.share_judged(CUTOFF) if self.judged else math.nan


def stored_runs(scores: Mapping[str, Scores], names: Sequence[str]) -> list[ReportedRun]:
    """Return runs of which the scores are known, and no documents."""
    labels = short_names([visible(name) for name in names], _LONGEST_LABEL)
    return [
        ReportedRun(name, label, one, None)
        for name, label, one in zip(names, labels, scores.values(), strict=True)
    ]


def reported_runs(evaluated: Evaluations, metrics: Sequence[Metric]) -> list[ReportedRun]:
    """Reduce evaluations to the queries that all runs have, and to the page's measures."""
    labels = short_names([visible(name) for name in evaluated.names], _LONGEST_LABEL)
    runs = [
        ReportedRun(
            name,
            label,
            only(run.scores, metrics),
            run.plain,
            best_case(evaluated.evaluator, hits, CUTOFF),
        )
        for name, label, run, hits in zip(
            evaluated.names, labels, evaluated, evaluated.hits, strict=True
        )
    ]
    common = set.intersection(*(set(run.scores.queries) for run in runs))
    return [
        run.over(np.flatnonzero([query in common for query in run.scores.queries])) for run in runs
    ]
