"""Variants of the textbook measures that trec_eval does not have."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ragkpi.measures.chance import corpus_size
from ragkpi.measures.gain_lists import actual, ideal, worth
from ragkpi.ranking.judged import FloatArray, IntArray, Judged, quotient

if TYPE_CHECKING:
    from ragkpi.measures.gain_ratio import GainRatio


def _discounted(gain: FloatArray, rank: IntArray) -> FloatArray:
    return np.asarray(gain / np.log2(rank + 1.0))


def ndcg_exp(judged: Judged, cutoff: int) -> FloatArray:
    """Normalized DCG cut at K with exponential gain.

    Formula:    DCG_K / ideal DCG_K, DCG = Σ over ranks i of (2^gain(i) - 1) / log2(i + 1)
    Range:      0 to 1
    Edge cases: the ideal is over all judged documents, retrieved or not. Unjudged documents gain
                nothing. 0 without relevant documents. The gain is the level, or a real one of
                --gains; ndcg_cut has it as it is.
    Source:     Burges and others, ICML 2005
    """
    sums = [
        sequence.total(
            np.where(
                sequence.rank <= cutoff, _discounted(np.exp2(sequence.gain) - 1, sequence.rank), 0.0
            )
        )
        for sequence in (actual(judged, {}), ideal(judged, {}, cutoff))
    ]
    return quotient(*sums)


def _discounts(ranks: IntArray, cutoff: int) -> FloatArray:
    return np.where(ranks <= cutoff, 1.0 / np.log2(ranks + 1.0), 0.0)


def ndcg_exp_ratio(cutoff: int) -> GainRatio:
    """Say what `ndcg_exp` is a ratio of."""
    from ragkpi.measures.gain_ratio import GainRatio  # bounds alone need it

    return GainRatio(
        gain=lambda levels: np.exp2(np.maximum(levels, 0)) - 1,
        weight=partial(_discounts, cutoff=cutoff),
    )


def ndcg_local(judged: Judged, cutoff: int) -> FloatArray:
    """Normalized DCG of the order alone: the ideal is the best order of the K retrieved.

    Formula:    DCG_K / DCG_K of the same documents by descending gain, which is the level
    Range:      0 to 1
    Edge cases: blind to relevant documents that were not retrieved, unlike ndcg_cut. 0 without
                relevant documents in the top K.
    Source:     arXiv 2512.20854, authors' program; common in blog posts
    """
    gain = np.where(judged.rank <= cutoff, actual(judged, {}).gain, 0.0)
    best_first = gain[np.lexsort((-gain, judged.query))]
    rank = np.arange(len(gain)) - judged.starts[:-1][judged.query] + 1
    best = judged.per_query(_discounted(best_first, rank))
    return quotient(judged.per_query(_discounted(gain, judged.rank)), best)


def ndcg_local_ratio(cutoff: int) -> GainRatio:
    """Say what `ndcg_local` is a ratio of."""
    from ragkpi.measures.gain_ratio import GainRatio  # bounds alone need it

    return GainRatio(partial(worth, gains={}), partial(_discounts, cutoff=cutoff), over="retrieved")


def map_min(judged: Judged, cutoff: int) -> FloatArray:
    """Average precision cut at K, of what K places can hold.

    Formula:    (Σ over ranks i ≤ K of relevant documents of r(i)/i) / min(R, K)
    Range:      0 to 1
    Edge cases: map_cut divides by R, and cannot reach 1 where R > K. 0 without relevant documents.
    Source:     common in recommender systems and TREC RAG notes
    """
    return quotient(judged.precision_sum(cutoff), np.minimum(judged.num_rel, cutoff))


def accuracy(judged: Judged, cutoff: int) -> FloatArray:
    """Fraction of the corpus that was rightly retrieved in the top K or rightly left out.

    Formula:    (TP + TN) / N, TN = N - retrieved in the top K - relevant ones missed
    Range:      0 to 1
    Edge cases: near 1 for every system on any large corpus; shown to make that visible.
    Source:     textbook
    """
    shown = judged.found_at(cutoff)
    size = corpus_size(judged)
    left_out = size - np.minimum(cutoff, judged.num_ret) - (judged.num_rel - shown)
    return (shown + left_out) / size
