"""Precision, recall and their relatives at a cutoff, and the first relevant document."""

from __future__ import annotations

import numpy as np

from ragkpi.ranking.judged import FloatArray, IntArray, Judged, quotient


def found_within(judged: Judged, depth: FloatArray | IntArray) -> FloatArray:
    """Relevant documents among the first `depth` retrieved, a depth per query, (Q,)."""
    return judged.per_query(judged.relevant & (judged.rank <= depth[judged.query]))


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


def unj(judged: Judged, cutoff: int) -> FloatArray:
    """Unjudged share of the first K documents.

    Formula:    (documents within K that have no judgement or a negative level) / K
    Range:      0 to 1
    Edge cases: ranks beyond the end of a short ranking count as judged; -J makes it 0.
    Source:     trec_eval 10.0
    """
    known = judged.per_query((judged.level >= 0) & (judged.rank <= cutoff))
    return (np.minimum(cutoff, judged.num_ret) - known) / cutoff


def judged_share(judged: Judged, cutoff: int) -> FloatArray:
    """Judged share of what is retrieved among the first K documents.

    Formula:    (documents within K that have a level from 0) / min(K, documents retrieved)
    Range:      0 to 1
    Edge cases: 0 for an empty ranking; a negative level is unjudged, which ir_measures' Judged
                counts as judged.
    Source:     ir_measures, Judged
    """
    known = judged.per_query((judged.level >= 0) & (judged.rank <= cutoff))
    return quotient(known, np.minimum(cutoff, judged.num_ret))


def Rprec(judged: Judged) -> FloatArray:
    """Precision at R, the number of relevant documents of the query.

    Formula:    r(R) / R
    Range:      0 to 1
    Edge cases: 0 for a query without relevant documents or with an empty ranking.
    Source:     trec_eval 10.0
    """
    return quotient(found_within(judged, judged.num_rel), judged.num_rel)


def recip_rank(judged: Judged, cutoff: int | None = None) -> FloatArray:
    """Reciprocal rank of the first relevant document; its mean is MRR.

    Formula:    1 / rank of the first relevant document
    Range:      0 to 1
    Edge cases: 0 if no relevant document is retrieved, or none within the cutoff. trec_eval takes
                no cutoff here and ignores one that is given.
    Source:     trec_eval 10.0; the cutoff is ragkpi's
    """
    first = judged.relevant & (judged.found == 1)
    if cutoff is not None:
        first &= judged.rank <= cutoff
    return judged.per_query(first / judged.rank)
