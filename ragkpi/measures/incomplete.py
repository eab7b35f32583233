"""Measures made for incomplete judgements."""

from __future__ import annotations

import numpy as np

from ragkpi.measures.aggregates import SMALLEST
from ragkpi.measures.c_rounding import log
from ragkpi.ranking.judged import FloatArray, IntArray, Judged, quotient, shared


@shared
def nonrelevant_seen(judged: Judged) -> IntArray:
    """Documents judged nonrelevant at or above each hit, (H,)."""
    return judged.running((judged.level >= 0) & ~judged.relevant)


def bpref(judged: Judged) -> FloatArray:
    """Binary preference: how rarely judged nonrelevant documents stand above relevant ones.

    Formula:    (Σ over retrieved relevant documents of (1 - min(nr, R)/min(NN, R))) / R,
                nr = documents judged nonrelevant above it, NN = all judged nonrelevant
    Range:      0 to 1
    Edge cases: unjudged documents are skipped; a term with nr = 0 is 1; 0 for a query without
                relevant documents. Judged levels below -l are nonrelevant, not unjudged.
    Source:     Buckley and Voorhees, SIGIR 2004; trec_eval 10.0
    """
    R = judged.num_rel
    below = np.where(judged.levels < judged.settings.relevance_level, judged.level_counts, 0)
    NN = np.bincount(judged.level_query, weights=below, minlength=len(R))
    bound = np.minimum(NN, R)[judged.query]
    lost = quotient(np.minimum(nonrelevant_seen(judged), R[judged.query]), bound)
    return quotient(judged.per_query(np.where(judged.relevant, 1.0 - lost, 0.0)), R)


def gm_bpref(judged: Judged) -> FloatArray:
    """Geometric mean of bpref.

    Formula:    exp(mean over queries of log(max(bpref, 0.00001)))
    Range:      0.00001 to 1
    Edge cases: a query without relevant documents counts as 0.00001; there is no line per query.
    Source:     trec_eval 10.0
    """
    return log(np.maximum(bpref(judged), SMALLEST))


def infAP(judged: Judged) -> FloatArray:
    """Inferred average precision: an estimate of map when only a sample of the pool is judged.

    Formula:    (Σ over relevant documents at rank i of t(i)) / R; t(1) = 1; else t(i) =
                1/i + ((i-1)/i) · ((k-1+nr+u)/(i-1)) · ((k-1+e)/(k-1+nr+2·e)), with
                k relevant, nr nonrelevant and u unjudged pool documents so far, e = 0.00001
    Range:      0 to 1
    Edge cases: a negative level means "in the pool but unjudged"; documents without any
                judgement are outside the pool. 0 for a query without relevant documents.
    Source:     Yilmaz and Aslam, CIKM 2006; trec_eval 10.0
    """
    e = SMALLEST
    above = (judged.rank - 1).astype(np.float64)
    relevant_above = (judged.found - 1).astype(np.float64)
    nonrelevant = nonrelevant_seen(judged)
    in_pool = relevant_above + nonrelevant + judged.running(judged.level < 0)
    share = (relevant_above + e) / (relevant_above + nonrelevant + 2.0 * e)
    expected = 1.0 / (above + 1.0) + above / (above + 1.0) * quotient(in_pool, above) * share
    return quotient(judged.per_query(np.where(judged.relevant, expected, 0.0)), judged.num_rel)


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
