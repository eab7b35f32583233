"""Expected values where scores tie: means over all orders of documents with equal scores.

A document that shares its score with n - 1 others, from rank a on, is at each of the ranks
a ... a + n - 1 equally often. `Judged.tied` holds the first and the last of them. -M cuts the
orders, so a document that ties across the cut is retrieved in a share of them. -J closes the ranks
before; ties are then among judged documents alone.

The sums are those of McSherry and Najork, "Computing information retrieval performance measures
efficiently in the presence of tied scores", ECIR 2008. Where nothing ties, values are those of the
measures themselves, to the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ragkpi.measures import gain, rank_biased
from ragkpi.measures.gain_lists import actual, ideal
from ragkpi.ranking.judged import BoolArray, FloatArray, IntArray, Judged, quotient
from ragkpi.ranking.judgements import TiedRanks

_DEEPEST = 2**62


def _tied(judged: Judged) -> TiedRanks:
    """Return the ranks that each hit shares, (H,) each; `ValueError` if nobody asked for them."""
    if judged.tied is None:
        raise ValueError("the run was not judged for its ties")
    return judged.tied


def _alone(judged: Judged) -> BoolArray:
    """Whether no document has the score of a hit, (H,)."""
    tied = _tied(judged)
    return np.equal(tied.first, tied.last)


def _last_rank(judged: Judged, cutoff: int | None) -> int:
    """Return the last rank that exists and counts."""
    given = (cutoff, judged.settings.max_retrieved)
    return min([_DEEPEST, *(rank for rank in given if rank is not None)])


def _share_within(judged: Judged, depth: int | IntArray) -> FloatArray:
    """Return in which share of the orders each hit is at `depth` or above, (H,)."""
    tied = _tied(judged)
    size = tied.last - tied.first + 1
    return np.clip(depth - tied.first + 1, 0, size) / size


def _mean_weight(judged: Judged, weights: FloatArray) -> FloatArray:
    """Average the weights of ranks 1 ... n, (n,), over the ranks of each hit, (H,); others are 0.

    The weights of its ranks are summed where they are, so that a rank of its own has its weight.
    """
    tied = _tied(judged)
    bounds = np.minimum(np.stack([tied.first - 1, tied.last], axis=1), len(weights))
    sums = np.add.reduceat(np.append(weights, 0.0), bounds.ravel())[::2] if len(bounds) else 0.0
    return sums / (tied.last - tied.first + 1)


def _ranks(judged: Judged, cutoff: int | None) -> IntArray:
    """Return all ranks that exist and count, from 1."""
    deepest = int(_tied(judged).last.max(initial=0))
    return np.arange(1, min(deepest, _last_rank(judged, cutoff)) + 1)


def _found_at(judged: Judged, depth: int | IntArray) -> FloatArray:
    """Return how many relevant documents are expected at `depth` or above, (Q,)."""
    return judged.per_query(np.where(judged.relevant, _share_within(judged, depth), 0.0))


def P(judged: Judged, cutoff: int) -> FloatArray:
    """Expected precision: relevant documents expected among the first K, / K."""
    return _found_at(judged, _last_rank(judged, cutoff)) / cutoff


def recall(judged: Judged, cutoff: int) -> FloatArray:
    """Expected recall: relevant documents expected among the first K, / R."""
    return quotient(_found_at(judged, _last_rank(judged, cutoff)), judged.num_rel)


def relative_P(judged: Judged, cutoff: int) -> FloatArray:
    """Expected precision relative to the best that is possible."""
    expected = _found_at(judged, _last_rank(judged, cutoff))
    return quotient(expected, np.minimum(cutoff, judged.num_rel))


def Rprec(judged: Judged) -> FloatArray:
    """Expected precision at R."""
    depth = np.minimum(judged.num_rel, _last_rank(judged, None))[judged.query]
    return quotient(_found_at(judged, depth), judged.num_rel)


def success(judged: Judged, cutoff: int) -> FloatArray:
    """Share of the orders in which any relevant document is among the first K."""
    return _reached(judged, cutoff, 1)


def p_obs(judged: Judged, cutoff: int, m: int) -> FloatArray:
    """Share of the orders in which at least m relevant documents are among the first K."""
    from ragkpi.measures.chance import where_possible

    return where_possible(judged, m, _reached(judged, cutoff, m))


def ef(judged: Judged, cutoff: int, m: int) -> FloatArray:
    """Expected success and that of chance."""
    from ragkpi.measures.chance import p_rand

    return np.column_stack([p_obs(judged, cutoff, m), p_rand(judged, cutoff, m)])


def bor(judged: Judged, cutoff: int, m: int) -> FloatArray:
    """Expected success and that of chance, of which the bits are taken over all queries."""
    from ragkpi.measures.bits import chance_statistics
    from ragkpi.measures.chance import chance, where_possible

    statistics = chance_statistics(chance(judged, cutoff, m), m)
    return where_possible(judged, m, _reached(judged, cutoff, m), statistics)


def ef_recall(judged: Judged, cutoff: int, m: int) -> FloatArray:
    """Expected recall and that of chance."""
    from ragkpi.measures.chance import recall_by_chance, where_possible

    expected, by_chance = recall(judged, cutoff), recall_by_chance(judged, cutoff)
    return where_possible(judged, m, expected, by_chance)


def _reached(judged: Judged, cutoff: int, m: int) -> FloatArray:
    """Return in which share of the orders the first K hold at least m relevant documents, (Q,).

    Of the group that the cutoff divides a part is drawn at random: how many relevant documents it
    holds is hypergeometric.
    """
    from ragkpi.measures.hypergeometric import tail

    tied, depth = _tied(judged), _last_rank(judged, cutoff)
    certain = judged.per_query(judged.relevant & (tied.last <= depth)).astype(np.int64)
    divided = judged.relevant & (tied.first <= depth) & (tied.last > depth)
    possible = judged.per_query(divided).astype(np.int64)
    size, drawn = np.ones((2, len(judged.queries)), dtype=np.int64)
    size[judged.query[divided]] = (tied.last - tied.first + 1)[divided]
    drawn[judged.query[divided]] = depth - tied.first[divided] + 1
    reached = (certain >= m).astype(np.float64)
    lacking = np.where(certain + possible >= m, m - certain, 0)
    for threshold in np.unique(lacking[lacking > 0]).tolist():
        here = lacking == threshold
        reached[here] = tail(size[here], possible[here], drawn[here], threshold).probability
    return reached


def recip_rank(judged: Judged, cutoff: int | None = None) -> FloatArray:
    """Expected reciprocal rank of the first relevant document."""
    tied, depth = _tied(judged), _last_rank(judged, cutoff)
    top = np.flatnonzero(judged.relevant & (judged.found == 1))
    query, first, size = judged.query[top], tied.first[top], (tied.last - tied.first + 1)[top]
    top_rank = np.zeros(len(judged.queries), dtype=np.int64)
    top_rank[query] = first
    equals = judged.relevant & (tied.first == top_rank[judged.query])
    relevant = judged.per_query(equals).astype(np.int64)[query]
    groups, group = np.unique(np.stack([first, size, relevant]), axis=1, return_inverse=True)
    expected = [_reciprocal(a, n, r, depth) for a, n, r in groups.T.tolist()]
    values = np.zeros(len(judged.queries))
    values[query] = np.array(expected)[group.ravel()] if expected else 0.0
    return values


def _reciprocal(first: int, size: int, relevant: int, depth: int) -> float:
    """Return the mean of 1 / rank of the first relevant document of a group of ties.

    `above` nonrelevant documents stand before it with the probability
    C(size - 1 - above, relevant - 1) / C(size, relevant), each from the one before.
    """
    above = np.arange(min(size - relevant, depth - first) + 1)
    if not len(above):
        return 0.0
    further = (size - relevant - above[:-1]) / (size - 1 - above[:-1])
    probability = np.multiply.accumulate(np.append(relevant / size, further))
    return float((probability / (first + above)).sum())


def average_precision(judged: Judged) -> FloatArray:
    """Expected average precision."""
    return map_cut(judged, _DEEPEST)


def map_cut(judged: Judged, cutoff: int) -> FloatArray:
    """Expected average precision over the first K documents.

    At rank i of its group a relevant document has all relevant ones above the group before it, and
    of those in the group the share (i - a) / (n - 1) on average.
    """
    tied, ranks = _tied(judged), _ranks(judged, cutoff)
    size = tied.last - tied.first + 1
    begins = np.ones(len(size), dtype=np.bool_)
    begins[1:] = (np.diff(judged.query) != 0) | (np.diff(tied.first) != 0)
    group = np.cumsum(begins) - 1
    relevant = np.bincount(group, weights=judged.relevant)[group] if len(group) else size
    before = (judged.found - judged.relevant)[begins][group]
    each = quotient(relevant - 1, size - 1)  # relevant ones that each rank further adds
    within = _share_within(judged, _last_rank(judged, cutoff))
    expected = each * within + (before + 1 - each * tied.first) * _mean_weight(judged, 1.0 / ranks)
    exact = np.where(judged.rank <= len(ranks), judged.found / judged.rank, 0.0)
    precision = np.where(_alone(judged), exact, expected)
    return quotient(judged.per_query(np.where(judged.relevant, precision, 0.0)), judged.num_rel)


def dcg(judged: Judged, gains: Mapping[int, float]) -> FloatArray:
    """Expected discounted cumulated gain."""
    return _dcg(judged, gains, None)


def ndcg(judged: Judged, gains: Mapping[int, float]) -> FloatArray:
    """Expected discounted cumulated gain over that of the best ranking, which no tie changes."""
    return quotient(_dcg(judged, gains, None), gain.ideal_dcg(judged, gains))


def ndcg_cut(judged: Judged, cutoff: int) -> FloatArray:
    """Expected normalised discounted cumulated gain of the first K documents."""
    best = ideal(judged, {})
    within = np.where(best.rank <= cutoff, best.discounted, 0.0)
    return quotient(_dcg(judged, {}, cutoff), best.total(within))


def _dcg(judged: Judged, gains: Mapping[int, float], cutoff: int | None) -> FloatArray:
    ranks = _ranks(judged, cutoff)
    ranked = actual(judged, gains)
    expected = ranked.gain * _mean_weight(judged, 1.0 / np.log2(ranks + 1))
    exact = np.where(ranked.rank <= len(ranks), ranked.discounted, 0.0)
    return ranked.total(np.where(_alone(judged), exact, expected))


def rbp(judged: Judged, gains: Mapping[int, float], p: float) -> FloatArray:
    """Expected rank-biased precision."""
    weights = rank_biased.weights_at(p, _ranks(judged, None))
    gain_of_hit = rank_biased.scaled_gains(judged, gains)
    return (1.0 - p) * judged.per_query(gain_of_hit * _mean_weight(judged, weights))
