"""Documents per rubric grade: all that the evidence measures see of a query.

Those measures are about sets, so a query is three rows of counts: how many labelled documents of
each grade exist, stand in the top K, and stand in the pool. Column g counts grade g, column 0
nothing.
"""

from __future__ import annotations

import numpy as np

from ragkpi.ranking.judged import BoolArray, FloatArray, IntArray, Judged, shared

GRADES = 6  # 1 to 5, and 0 for documents without a label
_UTILITY = np.array([0.0, 0.0, 0.0, 0.1, 0.5, 1.0])
_FALLBACK = np.array([0.0, 0.0, 0.0, 0.2, 1.0, 1.0])


@shared
def labelled(judged: Judged) -> IntArray:
    """Count the labelled documents per grade, retrieved or not, (Q, 6)."""
    return _counts(judged, judged.level_query, judged.levels, judged.level_counts)


@shared
def shown(judged: Judged, cutoff: int) -> IntArray:
    """Count the labelled documents of the top K per grade, (Q, 6)."""
    return _of_hits(judged, judged.rank <= cutoff)


@shared
def pooled(judged: Judged, cutoff: int) -> IntArray:
    """Count the labelled documents of the pool per grade, (Q, 6).

    Without a pool the whole ranking is the pool. With the setting ``pool_union="union"`` the
    documents of the top K are added to it.
    """
    pool = judged if judged.pool is None else judged.pool
    counts = _of_hits(pool, np.ones(len(pool.rank), dtype=np.bool_))
    if judged.settings.pool_union == "union":
        added = ~np.isin(judged.judgement, pool.judgement) & (judged.rank <= cutoff)
        counts = counts + _of_hits(judged, added)
    return counts


def grades(judged: Judged, levels: IntArray) -> IntArray:
    """Return the rubric grade of judged levels, 0 for negative ones, which are no label.

    Raises
    ------
    UsageError
        If the grade map lacks a level that documents of these queries have.
    """
    known = np.array(sorted(judged.settings.grade_map.rubric.items()), dtype=np.int64)
    judged.settings.grade_map.refuse_unknown(set(judged.levels.tolist()))
    place = np.searchsorted(known[:, 0], levels).clip(max=len(known) - 1)
    return np.where(known[place, 0] == levels, known[place, 1], 0)


def weights(counts: IntArray, alpha: float, cap4: float, cap3: float) -> FloatArray:
    """Return what a document of each grade is worth, (Q, 6), from the labelled counts, (Q, 6).

    The rarer a grade is compared with the top grade, the more it is worth, up to its cap. A query
    without the top grade has fixed weights.
    """
    top = counts[:, 5:]
    rarity = (top / np.maximum(counts, 1)) ** alpha
    caps = np.array([0.0, 0.0, 0.0, cap3, cap4, 1.0])
    worth = np.where(counts > 0, np.minimum(_UTILITY * rarity, caps), 0.0)
    return np.where(top > 0, worth, _FALLBACK)


def gain(counts: IntArray, worth: FloatArray) -> FloatArray:
    """Sum the weights of a set of documents given as counts per grade, (Q,)."""
    return np.asarray((counts * worth).sum(axis=1))


def best_gain(counts: IntArray, worth: FloatArray, cutoff: int) -> FloatArray:
    """Sum the K greatest weights, (Q,); by weight, for a rare 3 can be worth more than a 4."""
    order = np.argsort(-worth, axis=1)
    available = np.take_along_axis(counts, order, axis=1)
    up_to = np.minimum(np.cumsum(available, axis=1), cutoff)
    taken = np.diff(up_to, axis=1, prepend=0)
    return gain(taken, np.take_along_axis(worth, order, axis=1))


def _of_hits(judged: Judged, chosen: BoolArray) -> IntArray:
    return _counts(judged, judged.query, judged.level, chosen)


def _counts(
    judged: Judged, query: IntArray, levels: IntArray, weight: IntArray | BoolArray
) -> IntArray:
    """Count documents given by their query and judged level per query and rubric grade."""
    grade = grades(judged, levels)
    queries = len(judged.queries)
    cells = np.bincount(query * GRADES + grade, weights=weight, minlength=queries * GRADES)
    counts = cells.astype(np.int64).reshape(queries, GRADES)
    counts[:, 0] = 0
    return counts
