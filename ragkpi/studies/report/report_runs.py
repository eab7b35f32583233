"""The runs of a report: read, judged and scored over the same queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ragkpi.evaluation import Evaluation
from ragkpi.measures.measure import Metric
from ragkpi.measures.registry import find_metrics
from ragkpi.measures.scores import Scores
from ragkpi.ranking.judged import IntArray, Judged
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.part import part_of

CUTOFF = 10  # documents that a reader is shown, in the parts that have one depth


@dataclass(frozen=True, eq=False)
class ReportedRun:
    """A run as the page has it.

    Attributes
    ----------
    name
        By which people know it.
    scores
        Of the measures that are shown.
    judged
        What they were computed from, with the pool and corpus sizes that other parts need.
    """

    name: str
    scores: Scores
    judged: Judged

    def over(self, queries: IntArray) -> ReportedRun:
        """Return the run as if only some queries, by number, had been evaluated."""
        return ReportedRun(self.name, self.scores.over(queries), part_of(self.judged, queries))


def metrics_needed(shown: Sequence[Metric], pool: bool) -> list[Metric]:
    """Return what to evaluate, so that `Judged` has all that the parts of the page need."""
    more = [f"bor.{CUTOFF}"]
    if pool:
        more += [f"pct_proc.{CUTOFF}", f"pool_miss.{CUTOFF}"]
    known = {metric.name for metric in shown}
    return [*shown, *(metric for metric in find_metrics(more) if metric.name not in known)]


def only(scores: Scores, shown: Sequence[Metric]) -> Scores:
    """Keep the columns of some metrics."""
    return scores.only(scores[metric.name] for metric in shown)


def reported_runs(
    names: Sequence[str], evaluations: Sequence[Evaluation], shown: Sequence[Metric]
) -> list[ReportedRun]:
    """Reduce evaluations to the queries that all runs have, and to the measures on the page."""
    runs = [
        ReportedRun(name, only(one.scores, shown), one.plain)
        for name, one in zip(names, evaluations, strict=True)
    ]
    common = set(runs[0].scores.queries).intersection(*(run.scores.queries for run in runs))
    return [
        run if len(common) == len(run.scores.queries) else run.over(_places(run, common))
        for run in runs
    ]


def _places(run: ReportedRun, queries: set[bytes]) -> IntArray:
    return np.array([i for i, query in enumerate(run.scores.queries) if query in queries])


def judged_share(run: ReportedRun, cutoff: int = CUTOFF) -> float:
    """Return the share of the documents above a rank that are judged; NaN if there are none."""
    judged = run.judged
    places = np.minimum(judged.num_ret, cutoff).sum()
    known = ((judged.level >= 0) & (judged.rank <= cutoff)).sum()
    return float(known / places) if places else float("nan")


def documents_of(judgements: Judgements, rows: IntArray) -> list[bytes]:
    """Return the ids of judged documents."""
    return judgements.document.take(rows).tolist()
