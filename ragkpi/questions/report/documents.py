"""The documents of queries: what the runs retrieve, and where each run has the relevant ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ragkpi.errors import RagkpiError, UsageError
from ragkpi.evaluation import Evaluator, RunOrPath
from ragkpi.interface import doing, interface
from ragkpi.measures.measure import Metric
from ragkpi.questions.report.runs import ReportedRun
from ragkpi.ranking.judged import Judged, Settings
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.reading import DEEPEST, Hits, RunParts, read_runs
from ragkpi.wording import decoded

_MOST_ENTRIES = 350_000  # of all queries together: some 2 MB

# The first documents of a run by query index in the judgements: id and judgement row, or -1.
_Rankings: TypeAlias = Mapping[int, Sequence[tuple[bytes, int]]]


@dataclass(frozen=True)
class QueryDetail:
    """A query, by number, and its documents: those that runs show, and the relevant ones.

    Attributes
    ----------
    levels, pool_ranks
        Of each document; None if it is unjudged, or not in the pool.
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
    below: list[list[list[int]]]

    @property
    def entries(self) -> int:
        """The size of the query on the page, in places of a ranking, which take 4 bytes."""
        below = sum(map(len, self.below))
        return 5 * len(self.documents) + sum(map(len, self.rankings)) + 2 * below

    def document(self, *, pooled: bool) -> dict[str, Any]:
        """Return the query as a JSON object; with ranks in the pool if there is one."""
        documents = [decoded(name) for name in self.documents]
        ranks = self.pool_ranks if pooled else []
        return {**vars(self), "documents": documents, "pool_ranks": ranks}


def telling_queries(runs: Sequence[ReportedRun], main: Metric, most: int) -> list[int]:
    """Return the queries whose documents to show, those first on which the runs differ most.

    Among queries without a difference, and with a single run, the worst come first.
    """
    values = np.array([run.scores[main.name].per_query for run in runs], dtype=np.float64)
    values = np.nan_to_num(values * main.measure.sign, nan=0.0, posinf=1e308, neginf=-1e308)
    spread = values.max(axis=0) - values.min(axis=0)
    order = np.lexsort((values.mean(axis=0), -spread))
    return [int(query) for query in order[:most]]


def query_details(
    evaluator: Evaluator,
    runs: Sequence[ReportedRun],
    paths: Sequence[RunOrPath],
    hits: Sequence[Hits] | None,
    queries: Sequence[int],
    depth: int,
) -> list[QueryDetail]:
    """Collect the documents of queries, by number, down to a depth of each run.

    `hits` were read with the names of all documents; None reads them from `paths` again.
    """
    if not queries:
        return []
    if hits is None and "-" in paths:
        raise UsageError("-: so many queries are read twice, and a pipe is read once; give a file")
    every, settings = evaluator.relevance.judgements, evaluator.settings
    numbers = [every.index[runs[0].scores.queries[query]] for query in queries]
    judgements = every
    if hits is None:  # without other queries, whose documents would be kept as well
        judgements = every.of_queries(np.sort(numbers))
        with doing("reading documents", len(paths)) as watch:
            names = RunParts(depth=DEEPEST if settings.unjudged == "removed" else depth)
            outcomes = read_runs(list(paths), judgements, names, evaluator.run_format, watch)
        interface().refuse([run for run in outcomes if isinstance(run, RagkpiError)])
        hits = [run for run in outcomes if isinstance(run, Hits)]
    of_page = {judgements.index[every.queries[number]] for number in numbers}
    rankings = [_rankings(of_run, judgements, of_page, settings, depth) for of_run in hits]
    pool: _Rankings = {}
    if evaluator.pool is not None:
        of_pool = evaluator.read_pool(judgements, RunParts(depth=DEEPEST))
        pool = _rankings(of_pool, judgements, of_page, Settings(), DEEPEST)
    ids, judged = runs[0].scores.queries, [run.judged for run in runs if run.judged]
    details = [
        _detail(query, ids[query], judged, rankings, pool, judgements, every) for query in queries
    ]
    entries = np.cumsum([query.entries for query in details])
    return details[: int(np.searchsorted(entries, _MOST_ENTRIES, side="right"))]


def _rankings(
    hits: Hits, judgements: Judgements, queries: Set[int], settings: Settings, depth: int
) -> _Rankings:
    """Name the documents of queries; -J leaves out unjudged ones, -M cuts the ranking."""
    rankings = {}
    top, rows_of_hits = hits.top, hits.rows_of_top(judgements)
    judgement = np.full(len(top.document), -1)
    judgement[rows_of_hits[rows_of_hits >= 0]] = hits.judgement[rows_of_hits >= 0]
    for group, query in enumerate(top.query.tolist()):
        if query not in queries:
            continue
        rows = np.arange(top.starts[group], top.starts[group + 1])
        if settings.unjudged == "removed":
            rows = rows[(judgement[rows] >= 0) & (judgements.level[judgement[rows]] >= 0)]
        rows = rows[:depth][: settings.max_retrieved]
        names = top.document.take(rows).tolist()
        rankings[query] = list(zip(names, judgement[rows].tolist(), strict=True))
    return rankings


def _detail(
    query: int,
    id_: bytes,
    judged: Sequence[Judged],
    rankings: Sequence[_Rankings],
    pool: _Rankings,
    judgements: Judgements,
    every: Judgements,
) -> QueryDetail:
    """Collect the documents of a query; runs were judged by every judgement, and read by some."""
    number = judgements.index[id_]
    moved = int(every.starts[every.index[id_]]) - int(judgements.starts[number])
    rows = np.arange(judgements.starts[number], judgements.starts[number + 1])
    rows = rows[judgements.level[rows] >= max(judged[0].settings.relevance_level, 1)]
    relevant = list(zip(judgements.document.take(rows).tolist(), rows.tolist(), strict=True))
    tops = [ranking.get(number, ()) for ranking in rankings]
    row_of = {name: row for documents in (*tops, relevant) for name, row in documents}
    place = {name: number for number, name in enumerate(row_of)}
    levels = [int(judgements.level[row]) if row >= 0 else -1 for row in row_of.values()]
    pool_rank = {name: rank for rank, (name, _) in enumerate(pool.get(number, ()), start=1)}
    below = []
    for run, top in zip(judged, tops, strict=True):
        hits = slice(int(run.starts[query]), int(run.starts[query + 1]))
        judgement, rank = run.judgement[hits].tolist(), run.rank[hits].tolist()
        rank_of = dict(zip(judgement, rank, strict=True))
        ranks = [[place[name], rank_of.get(row + moved, 0)] for name, row in relevant]
        below.append([pair for pair in ranks if pair[1] > len(top)])
    return QueryDetail(
        query,
        list(place),
        [level if level >= 0 else None for level in levels],
        [pool_rank.get(name) for name in place],
        [[place[name] for name, _ in top] for top in tops],
        below,
    )
