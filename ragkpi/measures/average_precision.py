"""Average precision and what is made of it."""

from __future__ import annotations

import numpy as np

from ragkpi.measures.aggregates import SMALLEST
from ragkpi.measures.c_rounding import log
from ragkpi.ranking.judged import FloatArray, Judged, quotient, shared


@shared
def precision_at_relevant(judged: Judged) -> FloatArray:
    """r(i)/i at the rank i of each relevant hit, 0 at other hits, (H,)."""
    return np.where(judged.relevant, judged.found, 0) / judged.rank


def average_precision(judged: Judged) -> FloatArray:
    """Average precision: mean of the precision at each relevant document; its mean is MAP.

    Formula:    (Σ over ranks i of relevant documents of r(i)/i) / R
    Range:      0 to 1
    Edge cases: relevant documents that are not retrieved add 0; 0 for a query without any.
    Source:     trec_eval 10.0
    """
    return quotient(judged.per_query(precision_at_relevant(judged)), judged.num_rel)


def gm_map(judged: Judged) -> FloatArray:
    """Geometric mean of average precision, which weighs bad queries more than map does.

    Formula:    exp(mean over queries of log(max(map, 0.00001)))
    Range:      0.00001 to 1
    Edge cases: a query without relevant documents counts as 0.00001; there is no line per query.
    Source:     Robertson, On GMAP and other transformations, CIKM 2006; trec_eval 10.0
    """
    return log(np.maximum(average_precision(judged), SMALLEST))


def map_cut(judged: Judged, cutoff: int) -> FloatArray:
    """Average precision over the first K documents, still divided by all relevant ones.

    Formula:    (Σ over ranks i ≤ K of relevant documents of r(i)/i) / R
    Range:      0 to min(K, R)/R
    Edge cases: 0 for a query without relevant documents.
    Source:     trec_eval 10.0
    """
    within = np.where(judged.rank <= cutoff, precision_at_relevant(judged), 0.0)
    return quotient(judged.per_query(within), judged.num_rel)


def yaap(judged: Judged) -> FloatArray:
    """Yet another average precision: the log-odds of map, smoothed.

    Formula:    log((1 + S) / (1 + R - S)), S = Σ over ranks i of relevant documents of r(i)/i
    Range:      -log(1 + R) to log(1 + R)
    Edge cases: 0 for a query without relevant documents; negative where map is below a half.
    Source:     Robertson, On GMAP and other transformations, CIKM 2006; trec_eval 10.0
    """
    summed = judged.per_query(precision_at_relevant(judged))
    return log((1.0 + summed) / (1.0 + judged.num_rel - summed))
