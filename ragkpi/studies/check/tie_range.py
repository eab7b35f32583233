"""How far the order of equal scores could move a measure: its exact extremes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ragkpi.formats.tokens import IntArray
from ragkpi.measures.measure import Metric
from ragkpi.measures.scores import score
from ragkpi.ranking.hits import Hits
from ragkpi.ranking.judge import judge
from ragkpi.ranking.judgements import Judgements
from ragkpi.studies.check.finding import Subject


@dataclass(frozen=True)
class TieRange:
    """A measure over all queries: as printed, and the extremes over all orders of ties."""

    name: str
    value: float
    lowest: float
    highest: float


def tie_ranges(subject: Subject) -> list[TieRange]:
    """Return the range of every value asked about whose extremes are known."""
    metrics = [metric for metric in subject.metrics if has_range(metric)]
    judgements = subject.judgements
    if judgements is None or not metrics or not (subject.judged_queries >= 0).any():
        return []
    summaries = [
        _summaries(hits, judgements, subject, metrics) for hits in _orders(subject, judgements)
    ]
    return [
        TieRange(metric.name, *summary)
        for metric, *summary in zip(metrics, *summaries, strict=True)
    ]


def has_range(metric: Metric) -> bool:
    """Say whether the extremes are known: a higher level is never worth less.

    With the best levels first among equal scores such a measure is as high as it can be, with the
    best last as low, and because queries are ranked independently, so are its means. Gains of
    one's own may have it otherwise.
    """
    return metric.measure.ties == "monotone" and not metric.arguments.get("gains")


def _summaries(
    hits: Hits, judgements: Judgements, subject: Subject, metrics: Sequence[Metric]
) -> list[float]:
    judged, _ = judge(judgements, hits, subject.settings)
    return [float(column.summary) for column in score(judged, metrics).columns]


def _orders(subject: Subject, judgements: Judgements) -> list[Hits]:
    """Return the hits as ranked, with the best levels last among ties, and with them first."""
    run = subject.run
    row = subject.judgement[run.order]
    hit = np.flatnonzero(row >= 0)
    tied = run.tied_with_above
    group = np.cumsum(~tied) - 1
    size = np.bincount(group)
    first = np.flatnonzero(~tied)  # where each run of ties begins
    rank = run.ranks
    hits_in_group = np.bincount(group[hit], minlength=len(size))
    level = np.maximum(judgements.level[row[hit]], 0)  # below 0 and unjudged gain the same
    best = np.lexsort((-level, group[hit]))
    worst = np.lexsort((level, group[hit]))
    offset = np.arange(len(hit)) - (np.cumsum(hits_in_group) - hits_in_group)[group[hit]]
    top = rank[first][group[hit]]
    lowest = top + (size - hits_in_group)[group[hit]]
    return [
        _hits(subject, row[hit], rank[hit]),
        _hits(subject, row[hit][worst], lowest + offset),
        _hits(subject, row[hit][best], top + offset),
    ]


def _hits(subject: Subject, judgement: IntArray, rank: IntArray) -> Hits:
    run = subject.run
    return Hits(
        queries=run.queries,
        query=subject.judged_queries,
        num_ret=np.diff(run.starts),
        judgement=judgement,
        rank=rank,
        run_id=run.last_run_id,
        documents=np.empty(0, dtype=np.uint64),
    )
