"""How far the order of equal scores could move a measure: its exact extremes."""

from __future__ import annotations

import numpy as np

from ragkpi.formats.tokens import IntArray
from ragkpi.measures.measure import Metric
from ragkpi.measures.scores import score
from ragkpi.ranking.hits import Hits, join_hits
from ragkpi.ranking.judge import judge
from ragkpi.ranking.judgements import Judgements
from ragkpi.records import dataclass
from ragkpi.studies.check.finding import Asked, Part


@dataclass(frozen=True)
class TieRange:
    """A measure over all queries: its printed value, and the extremes over all orders of ties."""

    name: str
    value: float
    lowest: float
    highest: float


class TieRanges:
    """The ranges of the requested measures, from a run that is seen part after part."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._metrics = [metric for metric in asked.metrics if has_range(metric)]
        self._parts: list[list[Hits]] = []

    def see(self, part: Part) -> None:
        """Look at some whole queries, without repeated documents."""
        if self._asked.judgements is not None and self._metrics:
            self._parts.append(_orders(part, self._asked.judgements))

    def extremes(self) -> list[TieRange]:
        """Return the range of every measure whose extremes are known."""
        judgements = self._asked.judgements
        if judgements is None or not self._parts:
            return []
        orders = [join_hits(parts) for parts in zip(*self._parts, strict=True)]
        if not (orders[0].query >= 0).any():
            return []
        summaries = [self._summaries(hits, judgements) for hits in orders]
        return [
            TieRange(metric.name, *summary)
            for metric, *summary in zip(self._metrics, *summaries, strict=True)
        ]

    def _summaries(self, hits: Hits, judgements: Judgements) -> list[float]:
        judged, _ = judge(judgements, hits, self._asked.settings)
        return [float(column.summary) for column in score(judged, self._metrics).columns]


def has_range(metric: Metric) -> bool:
    """Say whether the extremes are known: a higher level is never worth less.

    Such a measure is highest with the best levels first among equal scores, and lowest with the
    best levels last; so are its means, for queries are ranked independently. With ``gains=`` a
    higher level may be worth less.
    """
    return metric.measure.ties == "monotone" and not metric.arguments.get("gains")


def _orders(part: Part, judgements: Judgements) -> list[Hits]:
    """Return the hits as ranked, with the best levels last among ties, and with those first."""
    run = part.run
    row = part.judgement[run.order]
    hit = np.flatnonzero(row >= 0)
    tied, rank = run.tied_with_above, run.ranks
    ranked = _hits(part, row[hit], rank[hit])
    if not tied.any():
        return [ranked] * 3
    group = np.cumsum(~tied) - 1
    size = np.bincount(group)
    first = np.flatnonzero(~tied)  # where each run of ties begins
    hits_in_group = np.bincount(group[hit], minlength=len(size))
    level = np.maximum(judgements.level[row[hit]], 0)  # below 0 and unjudged gain the same
    best = np.lexsort((-level, group[hit]))
    worst = np.lexsort((level, group[hit]))
    offset = np.arange(len(hit)) - (np.cumsum(hits_in_group) - hits_in_group)[group[hit]]
    top = rank[first][group[hit]]
    lowest = top + (size - hits_in_group)[group[hit]]
    return [
        ranked,
        _hits(part, row[hit][worst], lowest + offset),
        _hits(part, row[hit][best], top + offset),
    ]


def _hits(part: Part, judgement: IntArray, rank: IntArray) -> Hits:
    run = part.run
    return Hits(
        queries=run.queries,
        query=part.judged_queries,
        num_ret=np.diff(run.starts),
        judgement=judgement,
        rank=rank,
        run_id=run.last_run_id,
    )
