"""Combine judgements and hits into `Judged`: choose queries, apply -M and -J, add the pool.

The pool is the first-stage ranking from which a run was selected.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ragkpi import kernel
from ragkpi.arrays import IntArray
from ragkpi.errors import DataError, NothingInCommonError, UsageError
from ragkpi.files.lines import Tokens, rows_of
from ragkpi.files.trec import QrelsColumns
from ragkpi.interface import spell
from ragkpi.ranking.judged import Judged, RealGains, Settings, gains_of
from ragkpi.ranking.judgements import Judgements, TiedRanks, group_judgements, other_queries
from ragkpi.ranking.reading import NO_BEGINNING, Hits, TopDocuments
from ragkpi.wording import counted, listed, named


class Coverage(NamedTuple):
    """The queries only in the judgements and the queries only in a run, in byte order.

    `judged` is the number of all queries in the judgements.
    """

    missing: list[bytes]
    unjudged: list[bytes]
    judged: int


def judge(
    judgements: Judgements, hits: Hits, settings: Settings, queries: list[bytes] | None = None
) -> tuple[Judged, Coverage]:
    """Judge the hits of a run, over exactly the given judged `queries` if any.

    Raises `DataError` if ``settings.missing`` is ``"error"`` and a judged query is missing from the
    run, and `NothingInCommonError` if no query is left to evaluate.
    """
    coverage = _coverage(judgements, hits)
    if queries is None:
        queries = _queries(judgements, hits, settings, coverage)
    number = judgements.places_among(queries)
    num_ret = np.zeros(len(queries), dtype=np.int64)
    retrieved = np.flatnonzero(hits.query >= 0)
    retrieved = retrieved[number[hits.query[retrieved]] >= 0]
    num_ret[number[hits.query[retrieved]]] = hits.num_ret[retrieved]

    query = number[judgements.query[hits.judgement]]
    kept = query >= 0
    tied = hits.tied if settings.ties == "expected" else None
    if settings.max_retrieved is not None:
        num_ret = np.minimum(num_ret, settings.max_retrieved)
        kept &= (hits.rank if tied is None else tied.first) <= settings.max_retrieved
    if settings.unjudged == "removed":
        kept &= judgements.level[hits.judgement] >= 0
    query, rank, judgement = query[kept], hits.rank[kept], hits.judgement[kept]
    # No two hits share query and rank, so the sort can be unstable.
    order = np.argsort(query * (rank.max(initial=0) + 1) + rank)
    query, rank, judgement = query[order], rank[order], judgement[order]
    if tied is not None:
        tied = TiedRanks(*(ranks[kept][order] for ranks in tied))
    starts = np.searchsorted(query, np.arange(len(queries) + 1))
    if settings.unjudged == "removed":
        num_ret = np.diff(starts)
        rank = np.arange(len(query)) - starts[query] + 1

    level_starts, levels, level_counts = _count_levels(judgements, number, len(queries))
    gains = None
    if settings.gains is not None or judgements.gain is not None:
        gains = gains_of(judgements, settings.gains, number, len(queries), judgement)
    judged = Judged(
        queries=queries,
        num_ret=num_ret,
        level_starts=level_starts,
        levels=levels,
        level_counts=level_counts,
        starts=starts,
        query=query,
        rank=rank,
        level=judgements.level[judgement],
        judgement=judgement,
        settings=settings,
        run_id=hits.run_id,
        tied=tied,
        gains=gains,
    )
    return judged, coverage


def _coverage(judgements: Judgements, hits: Hits) -> Coverage:
    in_run = set(hits.queries)
    return Coverage(
        missing=[query for query in judgements.queries if query not in in_run],
        unjudged=sorted(query for query in in_run if query not in judgements.index),
        judged=len(judgements.queries),
    )


def _queries(
    judgements: Judgements, hits: Hits, settings: Settings, coverage: Coverage
) -> list[bytes]:
    if settings.missing == "error" and coverage.missing:
        number = counted(len(coverage.missing), "judged query is", "judged queries are")
        raise DataError(
            f"{number} missing from the run ({listed(coverage.missing, 3)}); "
            f"{spell('missing', 'error')} expects a ranking for each"
        )
    missing = set(coverage.missing) if settings.missing in ("intersection", "common") else set()
    queries = [query for query in judgements.queries if query not in missing]
    if settings.only_query is not None:
        queries = [query for query in queries if query == settings.only_query]
    if not queries:
        raise nothing_in_common(judgements, hits, settings.only_query)
    return queries


def nothing_in_common(
    judgements: Judgements, hits: Hits, only: bytes | None = None
) -> NothingInCommonError:
    """Return the error for a run without a judged query, or without the `only` one."""
    shared, hint = "no query ids", f"; {other_queries(judgements.queries, sorted(hits.queries))}"
    if only is not None:
        shared, hint = f"no query {listed([only], 3)} (-D 0.QID)", ""
    judged, run = listed(judgements.queries, 3) or "none", listed(sorted(hits.queries), 3)
    return NothingInCommonError(
        f"{judgements.file} and the run share {shared} (judged: {judged}; run: {run}){hint}"
    )


def _count_levels(
    judgements: Judgements, number: IntArray, num_queries: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Count judged documents per query and level >= 0, for the chosen queries."""
    query = number[judgements.query]
    counted = (query >= 0) & (judgements.level >= 0)
    query, level = query[counted], judgements.level[counted]
    width = int(level.max(initial=0)) + 1
    if num_queries * width <= 8 * len(level):  # usually few levels: a cell for each
        present = np.arange(width)
        tally = np.bincount(query * width + level)
        cells = np.flatnonzero(tally)
        counts = tally[cells]
    else:
        present, step = np.unique(level, return_inverse=True)
        cells, counts = np.unique(query * len(present) + step, return_counts=True)
    starts = np.searchsorted(cells, np.arange(num_queries + 1) * len(present))
    levels = present[cells % len(present)] if len(present) else present
    return starts, levels, counts


def part_of(judged: Judged, queries: IntArray) -> Judged:
    """Keep some queries, by ascending numbers; values of a query depend on that query alone."""
    hits, starts = rows_of(judged.starts, queries)
    levels, level_starts = rows_of(judged.level_starts, queries)
    number = _numbers(len(judged.queries), queries)
    gains = judged.gains
    if gains is not None:
        gain_rows, gain_starts = rows_of(gains.starts, queries)
        gains = RealGains(gains.of_hits[hits], gain_starts, gains.best_first[gain_rows])
    outside = judged.outside_pool
    if outside is not None:
        outside = outside[number[outside[:, 0]] >= 0]
        outside = np.column_stack([number[outside[:, 0]], outside[:, 1]])
    return replace(
        judged,
        queries=[judged.queries[query] for query in queries.tolist()],
        num_ret=judged.num_ret[queries],
        level_starts=level_starts,
        levels=judged.levels[levels],
        level_counts=judged.level_counts[levels],
        starts=starts,
        query=number[judged.query[hits]],
        rank=judged.rank[hits],
        level=judged.level[hits],
        judgement=judged.judgement[hits],
        corpus_size=None if judged.corpus_size is None else judged.corpus_size[queries],
        pool=None if judged.pool is None else part_of(judged.pool, queries),
        outside_pool=outside,
        tied=None if judged.tied is None else TiedRanks(*(ranks[hits] for ranks in judged.tied)),
        gains=gains,
        judged_below=None if judged.judged_below is None else judged.judged_below[queries],
    )


class JudgementPart(NamedTuple):
    """Qrels reduced to some of their queries."""

    judgements: Judgements
    query: IntArray  # (Q,), the number of each original query in the part, or -1
    row: IntArray  # (J,), the same for rows

    @classmethod
    def of(cls, judgements: Judgements, queries: Collection[bytes]) -> JudgementPart:
        kept = np.flatnonzero([query in queries for query in judgements.queries])
        rows, _ = rows_of(judgements.starts, kept)
        numbers = _numbers(len(judgements.queries), kept), _numbers(len(judgements.level), rows)
        return cls(judgements.of_queries(kept), *numbers)

    def hits(self, run: Hits) -> Hits:
        """Return the hits for these queries; the run's other queries count as unjudged."""
        judged = self.row[run.judgement]
        kept, top = judged >= 0, run.top
        query = np.where(run.query >= 0, self.query[run.query], -1)
        named = np.flatnonzero(self.query[top.query] >= 0)
        rows, starts = rows_of(top.starts, named)
        return replace(
            run,
            query=query,
            judgement=judged[kept],
            rank=run.rank[kept],
            top=TopDocuments(self.query[top.query[named]], starts, top.document.take(rows)),
            beginning=NO_BEGINNING,
            tied=None if run.tied is None else TiedRanks(*(ranks[kept] for ranks in run.tied)),
        )


def _numbers(count: int, kept: IntArray) -> IntArray:
    numbers: IntArray = np.full(count, -1, dtype=np.int64)
    numbers[kept] = np.arange(len(kept))
    return numbers


def judge_pool(judgements: Judgements, pool: Hits, judged: Judged) -> Judged:
    """Judge a pool over the queries of its run; -M and -J apply only to the run."""
    depth = judged.settings.pool_depth
    settings = replace(judged.settings, max_retrieved=depth, unjudged="kept", ties="id", gains=None)
    return judge(judgements, pool, settings, queries=judged.queries)[0]


def outside_pool(
    judgements: Judgements, run: Hits, judged: Judged, read_pool: Callable[[Judgements], Hits]
) -> IntArray:
    """Find the top documents of a run outside its pool, by reading the pool.

    Returns the 0-based query and the 1-based rank, (M, 2), as in `judged`, of each top document
    that is not in the first ``settings.pool_depth`` documents of the pool. `read_pool` returns the
    hits of the pool for judgements.
    """
    settings, top = judged.settings, run.top
    number = judgements.places_among(judged.queries)
    if settings.unjudged == "removed":  # only judged documents are left, with new ranks
        query, rank = judged.query, judged.rank
        names = judgements.document.take(judged.judgement)
    else:
        query, rank, names = number[top.query][top.group], top.rank, top.document
    chosen = query >= 0
    if settings.max_retrieved is not None:
        chosen &= rank <= settings.max_retrieved
    rows = np.flatnonzero(chosen)
    rows = rows[np.argsort(query[rows], kind="stable")]
    targets = _as_judgements(judged.queries, query[rows], names.take(rows).tolist())
    pool = read_pool(targets)
    depth = np.inf if settings.pool_depth is None else settings.pool_depth
    inside = np.zeros(len(rows), dtype=bool)
    inside[pool.judgement[pool.rank <= depth]] = True
    return np.stack([query[rows], rank[rows]], axis=1)[~inside]


def _as_judgements(queries: list[bytes], query: IntArray, documents: list[bytes]) -> Judgements:
    """Turn documents, ordered by query, into judgements, so that reading a run finds them."""
    nothing = np.zeros(len(documents), dtype=np.int64)
    ids = Tokens.from_strings([queries[number] for number in query.tolist()])
    columns = QrelsColumns("run", ids, ids, Tokens.from_strings(documents), nothing, nothing)
    return group_judgements(columns)


def count_documents(judgements: Judgements, runs: Iterable[Hits]) -> int:
    """Count the distinct documents of the qrels and of runs read with ``documents="counted"``."""
    sets = tuple(run.documents for run in runs if run.documents is not None)
    return kernel.count_ids(sets, judgements.document.column)


def corpus_sizes(queries: list[bytes], settings: Settings, seen: int) -> IntArray:
    """Return the corpus size of each query, (Q,).

    `seen` is the size if the user gives none. Raises `UsageError` if only some queries have a size.
    """
    size, sizes = settings.corpus_size, settings.corpus_sizes
    if size is None and not sizes:
        size = seen
    missing = [query for query in queries if query not in sizes] if size is None else []
    if missing:
        raise UsageError(
            f"{spell('corpus_sizes')} has no line for query {named(missing[0])} and "
            f"{len(missing) - 1} others; expected each evaluated query there, or "
            f"{spell('corpus_size')} for the rest"
        )
    return np.array([sizes.get(query, size) for query in queries], dtype=np.int64)
