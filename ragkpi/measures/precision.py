"""Precision and recall at a cutoff, the first relevant document, and average precision."""

from __future__ import annotations

import numpy as np

from ragkpi.measures.aggregates import SMALLEST
from ragkpi.measures.c_rounding import log
from ragkpi.ranking.judged import FloatArray, Judged, quotient


def P(judged: Judged, cutoff: int) -> FloatArray:
    """Precision: the relevant share of the first K documents.

    Formula:    r(K) / K, r(K) = relevant documents among the first K
    Range:      0 to 1
    Edge cases: a ranking shorter than K is padded with nonrelevant documents.
    Source:     trec_eval 10.0
    """
    return judged.found_at(cutoff) / cutoff


def recall(judged: Judged, cutoff: int) -> FloatArray:
    """Share of the relevant documents that stand among the first K.

    Formula:    r(K) / R
    Range:      0 to 1
    Edge cases: 0 for a query without relevant documents, which stays in the mean.
    Source:     trec_eval 10.0
    """
    return quotient(judged.found_at(cutoff), judged.num_rel)


def relative_P(judged: Judged, cutoff: int) -> FloatArray:
    """Precision at K relative to the best that is possible.

    Formula:    r(K) / min(K, R)
    Range:      0 to 1
    Edge cases: 0 for a query without relevant documents.
    Source:     trec_eval 10.0
    """
    return quotient(judged.found_at(cutoff), np.minimum(cutoff, judged.num_rel))


def success(judged: Judged, cutoff: int) -> FloatArray:
    """Whether any relevant document stands among the first K; its mean is the hit rate.

    Formula:    1 if r(K) > 0, else 0
    Range:      0 or 1
    Edge cases: 0 for a query without relevant documents.
    Source:     trec_eval 10.0
    """
    return (judged.found_at(cutoff) > 0).astype(np.float64)


def Rprec(judged: Judged) -> FloatArray:
    """Precision at R, the number of relevant documents of the query.

    Formula:    r(R) / R
    Range:      0 to 1
    Edge cases: 0 for a query without relevant documents or with an empty ranking.
    Source:     trec_eval 10.0
    """
    return quotient(judged.found_within(judged.num_rel), judged.num_rel)


def recip_rank(judged: Judged, cutoff: int | None = None) -> FloatArray:
    """Reciprocal rank of the first relevant document; its mean is MRR.

    Formula:    1 / rank of the first relevant document
    Range:      0 to 1
    Edge cases: 0 if no relevant document is retrieved, or none within the cutoff. trec_eval takes
                no cutoff here and ignores one that is given.
    Source:     trec_eval 10.0; the cutoff is ragkpi's
    """
    first = judged.first_relevant(cutoff)
    return quotient(np.minimum(first, 1), first)


def average_precision(judged: Judged) -> FloatArray:
    """Average precision: mean of the precision at each relevant document; its mean is MAP.

    Formula:    (Σ over ranks i of relevant documents of r(i)/i) / R
    Range:      0 to 1
    Edge cases: relevant documents that are not retrieved add 0; 0 for a query without any.
    Source:     trec_eval 10.0
    """
    return quotient(judged.precision_sum(), judged.num_rel)


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
    return quotient(judged.precision_sum(cutoff), judged.num_rel)


def yaap(judged: Judged) -> FloatArray:
    """Yet another average precision: the log-odds of map, smoothed.

    Formula:    log((1 + S) / (1 + R - S)), S = Σ over ranks i of relevant documents of r(i)/i
    Range:      -log(1 + R) to log(1 + R)
    Edge cases: 0 for a query without relevant documents; negative where map is below a half.
    Source:     Robertson, On GMAP and other transformations, CIKM 2006; trec_eval 10.0
    """
    summed = judged.precision_sum()
    return log((1.0 + summed) / (1.0 + judged.num_rel - summed))
