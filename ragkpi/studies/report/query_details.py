"""Single queries: the documents that runs retrieved, and the relevant ones that they missed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from ragkpi.ranking.hits import Hits
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.settings import Settings
from ragkpi.records import dataclass
from ragkpi.studies.report.report_runs import ReportedRun
from ragkpi.wording import decoded

# By query number in the judgements, the first documents of a run: id and judgement row, -1 if none.
_Rankings: TypeAlias = Mapping[int, Sequence[tuple[bytes, int]]]


@dataclass(frozen=True)
class QueryDetail:
    """A query and its n documents: those that runs show, and the relevant ones.

    Attributes
    ----------
    query
        Its number among the evaluated queries.
    documents, levels, pool_ranks : length n
        Ids, judged levels (None: unjudged) and ranks in the pool (None: not in it, or no pool).
    rankings
        For each run its first documents, as places in `documents`.
    below
        For each run the relevant documents further down, and their ranks.
    """

    query: int
    documents: list[bytes]
    levels: list[int | None]
    pool_ranks: list[int | None]
    rankings: list[list[int]]
    below: list[list[tuple[int, int]]]

    def document(self, *, pooled: bool) -> dict[str, Any]:
        """Return the query as a JSON object; with ranks in the pool if there is one."""
        return {
            "query": self.query,
            "documents": [decoded(name) for name in self.documents],
            "levels": self.levels,
            "pool_ranks": self.pool_ranks if pooled else [],
            "rankings": self.rankings,
            "below": [[list(pair) for pair in pairs] for pairs in self.below],
        }


def telling_queries(runs: Sequence[ReportedRun], measure: int, most: int) -> list[int]:
    """Return the queries whose documents to show, those first on which the runs differ most.

    Among queries without a difference, and with a single run, the worst come first.
    """
    sign = runs[0].scores.metrics[measure].measure.sign
    values = np.array([run.scores.columns[measure].per_query for run in runs], dtype=np.float64)
    values = np.nan_to_num(values * sign, nan=0.0, posinf=1e308, neginf=-1e308)
    spread = values.max(axis=0) - values.min(axis=0)
    order = np.lexsort((values.mean(axis=0), -spread))
    return [int(query) for query in order[:most]]


def query_details(
    chosen: Sequence[int],
    runs: Sequence[ReportedRun],
    tops: Sequence[Hits],
    pool: Hits | None,
    judgements: Judgements,
    depth: int,
) -> list[QueryDetail]:
    """Collect the documents of some queries.

    Parameters
    ----------
    chosen
        Numbers of evaluated queries.
    runs
        The judged runs, over the evaluated queries.
    tops, pool
        The runs and the pool, read for the names of their documents by `judgements`, down to
        `depth` at least.
    judgements
        The judgements of the chosen queries at least.
    depth
        How many documents of each run are shown.
    """
    settings = runs[0].judged.settings
    rankings = [_rankings(hits, judgements, settings, depth) for hits in tops]
    pooled = {} if pool is None else _rankings(pool, judgements, Settings(), None)
    return [_detail(query, runs, rankings, pooled, judgements) for query in chosen]


def _rankings(
    hits: Hits, judgements: Judgements, settings: Settings, depth: int | None
) -> _Rankings:
    """Name the documents of each query; -J leaves out unjudged ones, -M cuts the ranking."""
    rankings = {}
    top, rows_of_hits = hits.top, hits.rows_of_top(judgements)
    judgement = np.full(len(top.document), -1)
    judgement[rows_of_hits[rows_of_hits >= 0]] = hits.judgement[rows_of_hits >= 0]
    limits = [limit for limit in (depth, settings.max_retrieved) if limit is not None]
    for group, query in enumerate(top.query.tolist()):
        rows = np.arange(top.starts[group], top.starts[group + 1])
        if settings.unjudged == "removed":
            known = judgement[rows]
            rows = rows[(known >= 0) & (judgements.level[known] >= 0)]
        rows = rows[: min(limits, default=None)]
        names = top.document.take(rows).tolist()
        rankings[query] = list(zip(names, judgement[rows].tolist(), strict=True))
    return rankings


def _detail(
    query: int,
    runs: Sequence[ReportedRun],
    rankings: Sequence[_Rankings],
    pooled: _Rankings,
    judgements: Judgements,
) -> QueryDetail:
    number = judgements.index[runs[0].scores.queries[query]]
    rows = np.arange(judgements.starts[number], judgements.starts[number + 1])
    rows = rows[judgements.level[rows] >= max(runs[0].judged.settings.relevance_level, 1)]
    relevant = dict(zip(judgements.document.take(rows).tolist(), rows.tolist(), strict=True))
    shown = [ranking.get(number, ()) for ranking in rankings]
    row_of: dict[bytes, int] = {}
    for documents in (*shown, relevant.items()):
        for name, row in documents:
            row_of.setdefault(name, row)
    place = {name: number for number, name in enumerate(row_of)}
    levels = [int(judgements.level[row]) if row >= 0 else -1 for row in row_of.values()]
    pool_rank = {name: rank for rank, (name, _) in enumerate(pooled.get(number, ()), start=1)}
    below = []
    for run, documents in zip(runs, shown, strict=True):
        hits = slice(int(run.judged.starts[query]), int(run.judged.starts[query + 1]))
        judgement, rank = run.judged.judgement[hits].tolist(), run.judged.rank[hits].tolist()
        rank_of = dict(zip(judgement, rank, strict=True))
        ranks = [(place[name], rank_of.get(row, 0)) for name, row in relevant.items()]
        below.append([(document, rank) for document, rank in ranks if rank > len(documents)])
    return QueryDetail(
        query,
        list(place),
        [level if level >= 0 else None for level in levels],
        [pool_rank.get(name) for name in place],
        [[place[name] for name, _ in documents] for documents in shown],
        below,
    )
