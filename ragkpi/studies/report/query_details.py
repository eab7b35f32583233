"""Single queries: who retrieved which documents where, and which relevant ones were missed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ragkpi.ranking.hits import Hits
from ragkpi.ranking.judged import FloatArray, IntArray, Judged
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.settings import Settings
from ragkpi.records import dataclass, field
from ragkpi.studies.report.report_runs import ReportedRun, documents_of
from ragkpi.wording import decoded


@dataclass(frozen=True)
class QueryDetail:
    """A query and its n documents: those that runs show, and the relevant ones.

    Attributes
    ----------
    query
        Its number among the evaluated queries.
    documents, levels, pool_ranks : length n
        Their ids, judged levels (None: unjudged) and ranks in the pool (None: not in it, or no
        pool).
    rankings
        For each run its first documents, as places in `documents`.
    below
        For each run the relevant documents that it has further down, and their ranks there.
    """

    query: int
    documents: list[bytes]
    levels: list[int | None]
    pool_ranks: list[int | None]
    rankings: list[list[int]]
    below: list[list[tuple[int, int]]]

    def is_first(self, document: int, depth: int) -> bool:
        """Say whether some run has a document among its first ones."""
        return any(document in ranking[:depth] for ranking in self.rankings)

    def document(self, *, pooled: bool) -> dict[str, Any]:
        """Return it as the page's JSON has it; ranks in the pool where there is one."""
        return {
            "query": self.query,
            "documents": [decoded(name) for name in self.documents],
            "levels": self.levels,
            "pool_ranks": self.pool_ranks if pooled else [],
            "rankings": self.rankings,
            "below": [[list(pair) for pair in pairs] for pairs in self.below],
        }


def telling_queries(runs: Sequence[ReportedRun], measure: int, most: int) -> list[int]:
    """Return the queries to show documents of, those first on which the runs differ most.

    Where runs do not differ in the measure, or there is only one, the worst queries come first.
    """
    sign = runs[0].scores.metrics[measure].measure.sign
    values: FloatArray = np.array(
        [run.scores.columns[measure].per_query for run in runs], dtype=np.float64
    )
    values = np.nan_to_num(values * sign, nan=0.0, posinf=1e308, neginf=-1e308)
    spread = values.max(axis=0) - values.min(axis=0)
    order = np.lexsort((values.mean(axis=0), -spread))
    return [int(query) for query in order[:most]]


@dataclass(frozen=True)
class _Rankings:
    """The first documents of a run by query number in the judgements: name and judgement row."""

    rows: dict[int, list[tuple[bytes, int]]] = field(default_factory=dict)


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
        Judged, over the evaluated queries.
    tops, pool
        The runs and the pool, read for the names of their documents by `judgements`, down to
        `depth` at least.
    judgements
        Of the chosen queries, or of more.
    depth
        How many documents of each run are shown.
    """
    settings = runs[0].judged.settings
    rankings = [_rankings(hits, judgements, settings, depth) for hits in tops]
    pooled = _Rankings() if pool is None else _rankings(pool, judgements, Settings(), None)
    ids = runs[0].scores.queries
    return [
        _detail(query, judgements.index[ids[query]], runs, rankings, pooled, judgements)
        for query in chosen
    ]


def _rankings(
    hits: Hits, judgements: Judgements, settings: Settings, depth: int | None
) -> _Rankings:
    """Name the documents of each query; -J closes the ranks over unjudged ones, -M cuts."""
    rankings = _Rankings()
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
        rankings.rows[query] = list(zip(names, judgement[rows].tolist(), strict=True))
    return rankings


def _detail(
    query: int,
    number: int,
    runs: Sequence[ReportedRun],
    rankings: Sequence[_Rankings],
    pooled: _Rankings,
    judgements: Judgements,
) -> QueryDetail:
    number_of: dict[bytes, int] = {}
    row_of: dict[bytes, int] = {}
    rows = np.arange(judgements.starts[number], judgements.starts[number + 1])
    least = max(runs[0].judged.settings.relevance_level, 1)
    relevant = rows[judgements.level[rows] >= least]
    named = dict(zip(documents_of(judgements, relevant), relevant.tolist(), strict=True))
    listed = []
    for ranking in rankings:
        documents = ranking.rows.get(number, [])
        for name, row in documents:
            number_of.setdefault(name, len(number_of))
            row_of.setdefault(name, row)
        listed.append([number_of[name] for name, _ in documents])
    for name, row in named.items():
        number_of.setdefault(name, len(number_of))
        row_of.setdefault(name, row)
    pool_rank = {name: rank for rank, (name, _) in enumerate(pooled.rows.get(number, []), start=1)}
    level = judgements.level.tolist() if len(judgements.level) < 1000 else judgements.level
    levels = [_level(int(level[row])) if row >= 0 else None for row in row_of.values()]
    below = [
        [
            (number_of[name], rank)
            for name, rank in _relevant_ranks(run.judged, query, named)
            if rank > len(shown)
        ]
        for run, shown in zip(runs, listed, strict=True)
    ]
    ranks = [pool_rank.get(name) for name in number_of]
    return QueryDetail(query, list(number_of), levels, ranks, listed, below)


def _level(level: int) -> int | None:
    return level if level >= 0 else None


def _relevant_ranks(
    judged: Judged, query: int, named: dict[bytes, int]
) -> Iterator[tuple[bytes, int]]:
    """Yield the relevant documents that a run has, with their ranks."""
    hits = slice(int(judged.starts[query]), int(judged.starts[query + 1]))
    ranks: IntArray = judged.rank[hits]
    by_row = dict(zip(judged.judgement[hits].tolist(), ranks.tolist(), strict=True))
    for name, row in named.items():
        if row in by_row:
            yield name, by_row[row]
