"""Measures for incomplete judgements, and rank-biased precision with its residual.

Rank-biased precision assumes a user who reads on to the next document with probability p.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from ragkpi.arrays import FloatArray, IntArray
from ragkpi.measures.gain import gain_of_levels
from ragkpi.measures.measure import (
    COUNTS_HOLES,
    GEOMETRIC_MEAN,
    SKIPS_HOLES,
    SMALLEST,
    Bounds,
    Measure,
    log,
    record,
)
from ragkpi.measures.parameters import Grammar, Option
from ragkpi.measures.tied import existing_ranks, mean_weight
from ragkpi.ranking.judged import Judged, quotient, shared

MEASURES: list[Measure] = []

_incomplete = partial(record, MEASURES, ties="unproven", question="incomplete")
_skips_holes = partial(_incomplete, better="higher", bounds=SKIPS_HOLES)
_unjudged = partial(_incomplete, better="lower", bounds=COUNTS_HOLES, worth="judged")

# A weight below this share of a sum is less than half a unit in its last place: it is lost.
_NEGLIGIBLE = 2.0**-54
BLOCK = 1 << 18


@shared
def _nonrelevant_seen(judged: Judged) -> IntArray:
    """Count the documents judged nonrelevant at or above each hit, (H,)."""
    return judged.running((judged.level >= 0) & ~judged.relevant)


@_skips_holes(aliases=("Bpref",))
def bpref(judged: Judged) -> FloatArray:
    """Binary preference: how rarely judged nonrelevant documents rank above relevant ones.

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
    lost = quotient(np.minimum(_nonrelevant_seen(judged), R[judged.query]), bound)
    return quotient(judged.per_query(np.where(judged.relevant, 1.0 - lost, 0.0)), R)


@_skips_holes(aggregate=GEOMETRIC_MEAN)
def gm_bpref(judged: Judged) -> FloatArray:
    """Geometric mean of bpref.

    Formula:    exp(mean over queries of log(max(bpref, 0.00001)))
    Range:      0.00001 to 1
    Edge cases: a query without relevant documents counts as 0.00001; there is no line per query.
    Source:     trec_eval 10.0
    """
    return log(np.maximum(bpref(judged), SMALLEST))


@_skips_holes(aliases=("infAP",))
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
    relevant_above = (judged.rel_count - 1).astype(np.float64)
    nonrelevant = _nonrelevant_seen(judged)
    in_pool = relevant_above + nonrelevant + judged.running(judged.level < 0)
    share = (relevant_above + e) / (relevant_above + nonrelevant + 2.0 * e)
    expected = 1.0 / (above + 1.0) + above / (above + 1.0) * quotient(in_pool, above) * share
    return quotient(judged.per_query(np.where(judged.relevant, expected, 0.0)), judged.num_rel)


@_unjudged(parameters=Grammar("cutoffs", (5, 10, 20)))
def unj(judged: Judged, cutoff: int) -> FloatArray:
    """Unjudged share of the first K documents.

    Formula:    (documents within K that have no judgement or a negative level) / K
    Range:      0 to 1
    Edge cases: ranks beyond the end of a short ranking count as judged; -J makes it 0.
    Source:     trec_eval 10.0
    """
    return (np.minimum(cutoff, judged.num_ret) - judged.judged_at(cutoff)) / cutoff


def weights_at(p: float, ranks: IntArray) -> FloatArray:
    """Return p^(rank - 1) as the running product rounds it, for ranks of any shape."""
    factors = np.full(int(ranks.max(initial=1)), p)
    factors[0] = 1.0
    return np.multiply.accumulate(factors)[ranks - 1]


def _highest_level_without_gain(judged: Judged, gains: Mapping[int, float]) -> FloatArray:
    """Return the highest level of each query whose gain is the level itself, (Q,); -1 for none."""
    padded = np.append(-1, judged.levels)
    highest = np.where(np.diff(judged.level_starts) > 0, padded[judged.level_starts[1:]], -1)
    for level in sorted(gains, reverse=True):
        highest = np.where(highest == level, highest - 1, highest)
    return highest.astype(np.float64)


def _scaled_gains(judged: Judged, gains: Mapping[int, float]) -> FloatArray:
    """Return the gain of each hit as `rbp` scales it, (H,)."""
    if judged.gains is None:
        low = np.full(len(judged.queries), min([0.0, *gains.values()]))
        high = np.maximum(_highest_level_without_gain(judged, gains), max([0.0, *gains.values()]))
        gain = gain_of_levels(judged.level, gains)
    else:
        starts, best_first = judged.gains.starts, np.append(judged.gains.best_first, 0.0)
        judged_any = np.diff(starts) > 0
        low = np.where(judged_any, np.minimum(best_first[starts[1:] - 1], 0.0), 0.0)
        high = np.where(judged_any, np.maximum(best_first[starts[:-1]], 0.0), 0.0)
        gain = judged.gains.of_hits
    outside = ((low < 0) | (high > 1))[judged.query] & (judged.level >= 0)
    return np.where(outside, quotient(gain - low[judged.query], (high - low)[judged.query]), gain)


def _expected_rbp(judged: Judged, gains: Mapping[int, float], p: float) -> FloatArray:
    weights = weights_at(p, existing_ranks(judged, None))
    gain_of_hit = _scaled_gains(judged, gains)
    return (1.0 - p) * judged.per_query(gain_of_hit * mean_weight(judged, weights))


@record(
    MEASURES,
    parameters=Grammar(options={"p": Option(0.9)}, gains=True),
    better="higher",
    bounds=Bounds("none", reason="rbp_resid is what unjudged documents could add"),
    ties="unproven",
    question="gain",
    worth="gain",
    expected=_expected_rbp,
)
def rbp(judged: Judged, gains: Mapping[int, float], p: float) -> FloatArray:
    """Rank-biased precision, its gains scaled to at most 1 for each query.

    Formula:    (1 - p) · Σ over ranks i of gain(i) · p^(i-1); if any level or gain g(i) lies
                outside 0 to 1: gain(i) = (g(i) - lo) / (hi - lo), lo and hi the lowest and highest
                of them, or 0
    Range:      0 to 1
    Edge cases: the gain of a document is its level unless given, hi the highest level judged for
                this query: graded queries of one collection may be scaled differently. Unjudged
                documents gain 0.
    Source:     Moffat and Zobel, TOIS 2008; trec_eval 10.0, with lo and hi starting at 0 (there
                they are not initialised and the value varies)
    """
    weights = weights_at(p, judged.rank)
    return (1.0 - p) * judged.per_query(_scaled_gains(judged, gains) * weights)


def _unjudged_weight(judged: Judged, p: float) -> FloatArray:
    """Sum the weights of unjudged ranks, from the first rank to the last, (Q,).

    Ranks are added in blocks of all queries at once, until the rest cannot change any sum. A run
    of millions of lines needs its first few hundred ranks.
    """
    total = np.zeros(len(judged.queries))
    is_judged = judged.level >= 0
    query, rank = judged.query[is_judged], judged.rank[is_judged]
    width = max(1, BLOCK // max(1, len(total)))
    ranks = np.arange(1, int(judged.num_ret.max(initial=0)) + 1)
    weights = weights_at(p, ranks)
    for before in range(0, len(ranks), width):
        unfinished = judged.num_ret > before
        if not (unfinished & (abs(weights[before]) > abs(total) * _NEGLIGIBLE)).any():
            break
        block = slice(before, before + width)
        addends = np.where(ranks[block] <= judged.num_ret[:, None], weights[block], 0.0)
        here = (rank > before) & (rank <= before + width)
        addends[query[here], rank[here] - before - 1] = 0.0
        addends[:, 0] += total
        total = np.add.accumulate(addends, axis=1)[:, -1]
    return total


@_unjudged(parameters=Grammar(options={"p": Option(0.9)}))
def rbp_resid(judged: Judged, p: float) -> FloatArray:
    """Residual of rank-biased precision: the most that unjudged documents could add.

    Formula:    p^n + (1 - p) · Σ over ranks i of unjudged documents of p^(i-1)
    Range:      0 to 1
    Edge cases: 0 if every retrieved document is judged, although the formula leaves p^n; a
                negative level is unjudged.
    Source:     Moffat and Zobel, TOIS 2008; trec_eval 10.0
    """
    all_judged = judged.per_query(judged.level >= 0) == judged.num_ret
    left = weights_at(p, judged.num_ret + 1)
    return np.where(all_judged, 0.0, left + (1.0 - p) * _unjudged_weight(judged, p))
