"""A `Judged` made the obvious way, document by document, from small dictionaries."""

import dataclasses

import numpy as np

from ragkpi.measures.measure import score
from ragkpi.measures.registry import find_metrics
from ragkpi.ranking.judged import Judged, Settings


def ranking(scores):
    """Order documents by score descending, ties by name descending."""
    return sorted(scores, key=lambda doc: (scores[doc], doc.encode()), reverse=True)


def judge(qrels, run, settings=None, pool=None):
    """Judge {query: {doc: score}} against {query: {doc: level}}."""
    settings = settings or Settings()
    queries = sorted(q for q in qrels if q in run or settings.missing == "zero")
    rows = {(q, doc): row for row, (q, doc) in enumerate((q, d) for q in qrels for d in qrels[q])}
    ranked = {q: ranking(run.get(q, {})) for q in queries}
    hits = [
        (position, rank, qrels[q][doc], rows[q, doc])
        for position, q in enumerate(queries)
        for rank, doc in enumerate(ranked[q], 1)
        if doc in qrels[q]
    ]
    query, rank, grade, judgement = np.array(hits, dtype=np.int64).reshape(-1, 4).T
    levels = [sorted({level for level in qrels[q].values() if level >= 0}) for q in queries]
    counts = [
        list(qrels[q].values()).count(level)
        for q, some in zip(queries, levels, strict=True)
        for level in some
    ]
    judged = Judged(
        queries=[q.encode() for q in queries],
        num_ret=integers(len(ranked[q]) for q in queries),
        level_starts=integers(np.cumsum([0, *map(len, levels)])),
        levels=integers(level for some in levels for level in some),
        level_counts=integers(counts),
        starts=np.searchsorted(query, np.arange(len(queries) + 1)),
        query=query,
        rank=rank,
        level=grade,
        judgement=judgement,
        settings=settings,
        corpus_size=corpus_sizes(queries, settings),
    )
    if pool is None:
        return judged
    missed = [
        (position, rank)
        for position, q in enumerate(queries)
        for rank, doc in enumerate(ranked[q], 1)
        if doc not in pool.get(q, {})
    ]
    return dataclasses.replace(
        judged,
        pool=judge(qrels, {q: pool.get(q, {}) for q in queries}, settings),
        outside_pool=np.array(missed, dtype=np.int64).reshape(-1, 2),
    )


def population(N, R, found, settings=None, num_ret=0):
    """Build queries from counts alone: R[i] relevant documents, some at the ranks `found[i]`."""
    hits = np.array([(i, rank) for i, ranks in enumerate(found) for rank in ranks])
    query, rank = hits.astype(np.int64).reshape(-1, 2).T
    return Judged(
        queries=[b"q%d" % i for i in range(len(R))],
        num_ret=integers(max([num_ret, *ranks]) for ranks in found),
        level_starts=np.arange(len(R) + 1),
        levels=np.ones(len(R), dtype=np.int64),
        level_counts=integers(R),
        starts=np.searchsorted(query, np.arange(len(R) + 1)),
        query=query,
        rank=rank,
        level=np.ones(len(rank), dtype=np.int64),
        judgement=np.arange(len(rank)),
        settings=settings or Settings(),
        corpus_size=np.full(len(R), N),
    )


def corpus_sizes(queries, settings):
    sizes = [settings.corpus_sizes.get(q.encode(), settings.corpus_size) for q in queries]
    return None if None in sizes else integers(sizes)


def integers(numbers):
    return np.array(list(numbers), dtype=np.int64)


def scores(judged, *requests):
    return score(judged, find_metrics(requests))


def lines(judged, *requests):
    """Evaluate -m requests to {printed name: {query or "all": value}}; NaN is NA."""
    return lines_of(scores(judged, *requests))


def lines_of(result):
    return {
        column.name: {
            **dict(
                zip((q.decode() for q in result.queries), column.per_query.tolist(), strict=True)
            ),
            "all": column.summary,
        }
        for column in result.columns
    }


def summary(judged, request):
    """Return the value over all queries of the only line of a request."""
    (values,) = lines(judged, request).values()
    return values["all"]
