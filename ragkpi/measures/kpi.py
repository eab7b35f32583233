"""Variants of the textbook measures that trec_eval does not have."""

from __future__ import annotations

import numpy as np

from ragkpi.measures.chance import corpus_size
from ragkpi.ranking.judged import FloatArray, IntArray, Judged, quotient


def _best_gain(judged: Judged, gain: FloatArray, cutoff: int) -> FloatArray:
    """DCG of the best ranking of all judged documents cut at K, (Q,); `gain` is per level, (L,).

    The documents of one level fill consecutive ranks, below those of all higher levels.
    """
    counted = np.concatenate([[0], np.cumsum(judged.level_counts)])
    labelled = counted[judged.level_starts[1:]]
    last = np.minimum(labelled[judged.level_query] - counted[:-1], cutoff)
    above = np.minimum(labelled[judged.level_query] - counted[1:], cutoff)
    discounts = 1.0 / np.log2(np.arange(last.max(initial=0)) + 2.0)
    filled = np.concatenate([[0.0], np.cumsum(discounts)])
    shares = gain * (filled[last] - filled[above])
    best = np.bincount(judged.level_query, weights=shares, minlength=len(judged.queries))
    return best.astype(np.float64, copy=False)


def _discounted(gain: FloatArray, rank: IntArray) -> FloatArray:
    return np.asarray(gain / np.log2(rank + 1.0))


def ndcg_exp(judged: Judged, cutoff: int) -> FloatArray:
    """Normalized DCG cut at K with exponential gain.

    Formula:    DCG_K / ideal DCG_K, DCG = Σ over ranks i of (2^grade(i) - 1) / log2(i + 1)
    Range:      0 to 1
    Edge cases: the ideal is over all judged documents, retrieved or not. Unjudged documents gain
                nothing. 0 without relevant documents. ndcg_cut has the grade itself as gain.
    Source:     Burges and others, ICML 2005
    """
    gain = np.where(judged.rank <= cutoff, np.exp2(np.maximum(judged.level, 0)) - 1, 0.0)
    best = _best_gain(judged, np.exp2(judged.levels) - 1, cutoff)
    return quotient(judged.per_query(_discounted(gain, judged.rank)), best)


def ndcg_local(judged: Judged, cutoff: int) -> FloatArray:
    """Normalized DCG of the order alone: the ideal is the best order of the K retrieved.

    Formula:    DCG_K / DCG_K of the same documents by descending grade, gain = grade
    Range:      0 to 1
    Edge cases: blind to relevant documents that were not retrieved, unlike ndcg_cut. 0 without
                relevant documents in the top K.
    Source:     arXiv 2512.20854, authors' program; common in blog posts
    """
    gain = np.where(judged.rank <= cutoff, np.maximum(judged.level, 0), 0).astype(np.float64)
    best_first = gain[np.lexsort((-gain, judged.query))]
    place = np.arange(len(gain)) - judged.starts[:-1][judged.query] + 1
    best = judged.per_query(_discounted(best_first, place))
    return quotient(judged.per_query(_discounted(gain, judged.rank)), best)


def map_min(judged: Judged, cutoff: int) -> FloatArray:
    """Average precision cut at K, of what K places can hold.

    Formula:    (Σ over ranks i ≤ K of relevant documents of r(i)/i) / min(R, K)
    Range:      0 to 1
    Edge cases: map_cut divides by R, and cannot reach 1 where R > K. 0 without relevant documents.
    Source:     common in recommender systems and TREC RAG notes
    """
    counted = judged.relevant & (judged.rank <= cutoff)
    precision = judged.per_query(np.where(counted, judged.found / judged.rank, 0.0))
    return quotient(precision, np.minimum(judged.num_rel, cutoff))


def accuracy(judged: Judged, cutoff: int) -> FloatArray:
    """Fraction of the corpus that was rightly retrieved in the top K or rightly left out.

    Formula:    (TP + TN) / N, TN = N - retrieved in the top K - relevant ones missed
    Range:      0 to 1
    Edge cases: near 1 for every system on any large corpus; shown to make that visible.
    Source:     textbook
    """
    found = judged.found_at(cutoff)
    size = corpus_size(judged)
    left_out = size - np.minimum(cutoff, judged.num_ret) - (judged.num_rel - found)
    return (found + left_out) / size
