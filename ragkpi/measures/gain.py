"""Cumulated gain measures: documents are worth more or less, and less further down."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ragkpi.errors import DataError
from ragkpi.interface import request_text
from ragkpi.measures.c_rounding import log2, plus_ones
from ragkpi.measures.gain_lists import actual, ideal, worth
from ragkpi.ranking.judged import FloatArray, IntArray, Judged, quotient

if TYPE_CHECKING:
    from ragkpi.measures.gain_ratio import GainRatio
    from ragkpi.measures.hole_tally import HoleTally


def dcg(judged: Judged, gains: Mapping[int, float]) -> FloatArray:
    """Discounted cumulated gain.

    Formula:    Σ over ranks i of gain(i) / log2(i + 1)
    Range:      0 upwards; below 0 only with negative gains
    Edge cases: the gain of a document is its level unless given; unjudged documents gain 0.
    Source:     Järvelin and Kekäläinen, TOIS 2002; trec_eval 10.0
    """
    return actual(judged, gains).dcg


def _by_rank(ranks: IntArray) -> FloatArray:
    return np.asarray(1.0 / log2(ranks + 1))


def dcg_ratio(gains: Mapping[int, float]) -> GainRatio:
    """Say what `dcg` sums up."""
    from ragkpi.measures.gain_ratio import GainRatio  # bounds alone need it

    return GainRatio(partial(worth, gains=gains), _by_rank, ideal="none")


def ideal_dcg(judged: Judged, gains: Mapping[int, float]) -> FloatArray:
    """Discounted cumulated gain of the best ranking of all judged documents.

    Formula:    Σ over positions t of I(t) / log2(t + 1), I = positive gains, highest first
    Range:      0 upwards
    Edge cases: not cut by the depth of the run, -M or -J.
    Source:     Järvelin and Kekäläinen, TOIS 2002; trec_eval 10.0
    """
    return ideal(judged, gains).dcg


def ndcg(judged: Judged, gains: Mapping[int, float]) -> FloatArray:
    """Normalised discounted cumulated gain.

    Formula:    dcg / ideal_dcg
    Range:      0 to 1; below 0 only with negative gains
    Edge cases: 0 if no judged document has a positive gain. Gains below 1 apart are sorted
                truly; trec_eval takes them as equal and prints a wrong value.
    Source:     Järvelin and Kekäläinen, TOIS 2002; trec_eval 10.0
    """
    return quotient(dcg(judged, gains), ideal_dcg(judged, gains))


def ndcg_ratio(gains: Mapping[int, float]) -> GainRatio:
    """Say what `ndcg` is a ratio of."""
    from ragkpi.measures.gain_ratio import GainRatio  # bounds alone need it

    return GainRatio(partial(worth, gains=gains), _by_rank)


def err(judged: Judged, cutoff: int, highest: int) -> FloatArray:
    """Expected reciprocal rank: of the document that satisfies a reader who stops there.

    Formula:    Σ over ranks i ≤ K of s(i) / i · Π over ranks j < i of (1 - s(j)),
                s = (2^level - 1) / 2^highest
    Range:      0 to 1
    Edge cases: highest is the highest level of the collection, 4 as in TREC's Web Tracks; levels
                above it are refused. Unjudged documents satisfy nobody.
    Source:     Chapelle and others, CIKM 2009
    """
    most = int(judged.levels.max(initial=0))
    if most > highest:
        raise DataError(
            f"err: level {most} is judged; expected "
            f"{request_text('err', f'{cutoff},highest={most}')}"
        )
    shown = judged.rank <= cutoff
    query, rank = judged.query[shown], judged.rank[shown]
    satisfied = (np.exp2(np.maximum(judged.level[shown], 0)) - 1) / 2.0**highest
    going_on = np.ones(len(judged.queries))
    total = np.zeros(len(judged.queries))
    first = np.flatnonzero(np.diff(query, prepend=-1))
    nth_hit = np.arange(len(query)) - np.repeat(first, np.diff(first, append=len(query)))
    for nth in range(int(nth_hit.max(initial=-1)) + 1):  # all queries' n-th hits at a time
        of = np.flatnonzero(nth_hit == nth)
        total[query[of]] += going_on[query[of]] * satisfied[of] / rank[of]
        going_on[query[of]] *= 1 - satisfied[of]
    return total


def ndcg_cut(judged: Judged, cutoff: int) -> FloatArray:
    """Normalised discounted cumulated gain of the first K documents.

    Formula:    (Σ over ranks i ≤ K of level(i) / log2(i + 1)) / (the same of the best ranking)
    Range:      0 to 1
    Edge cases: the gain is the level, always; 0 if no judged document has a level above 0.
    Source:     Järvelin and Kekäläinen, TOIS 2002; trec_eval 10.0
    """
    sums = [
        ranked.total(np.where(ranked.rank <= cutoff, ranked.discounted, 0.0))
        for ranked in (actual(judged, {}), ideal(judged, {}, cutoff))
    ]
    return quotient(*sums)


def ndcg_cut_ratio(cutoff: int) -> GainRatio:
    """Say what `ndcg_cut` is a ratio of."""
    from ragkpi.measures.gain_ratio import GainRatio  # bounds alone need it

    return GainRatio(
        gain=partial(worth, gains={}),
        weight=lambda ranks: np.where(ranks <= cutoff, _by_rank(ranks), 0.0),
    )


def ndcg_rel(judged: Judged, gains: Mapping[int, float]) -> FloatArray:
    """Normalised discounted cumulated gain averaged over the documents with a gain.

    Formula:    (Σ over ranks i with a positive gain of D(i)/E(min(i, m)) + missed · D(n)/E(m)) / m,
                D and E the dcg of the ranking and of the best one down to a rank, m = documents
                with a positive gain, missed = those of them not retrieved
    Range:      0 to 1
    Edge cases: 0 if the sum is not positive, as for a query without gains.
    Source:     trec_eval 10.0
    """
    ranked, best = actual(judged, gains), ideal(judged, gains)
    m = best.length
    ideal_here = best.after(best.cumulated, ranked.query, np.minimum(ranked.rank, m[ranked.query]))
    rewarded = ranked.gain > 0
    terms = np.where(rewarded, quotient(ranked.cumulated[1:], ideal_here), 0.0)
    missed = m - judged.per_query(rewarded)
    total = ranked.total(terms) + quotient(missed * ranked.dcg, best.dcg)
    return quotient(np.where(total > 0, total, 0.0), m)


def Rndcg(judged: Judged, gains: Mapping[int, float]) -> FloatArray:
    """Normalised discounted cumulated gain averaged over the ranks where the ideal gain drops.

    Formula:    mean over the last position t of each gain in the best ranking of D(t)/E(t), and
                D(n)/E(m) if n ≥ m + 2; symbols as in ndcg_rel
    Range:      0 to 1
    Edge cases: 0 for a query without relevant documents, and where no gain is positive (trec_eval
                prints nan there). With real gains the second alone.
    Source:     trec_eval 10.0
    """
    ranked, best = actual(judged, gains), ideal(judged, gains)
    last = np.append((np.diff(best.gain) != 0) | (np.diff(best.query) != 0), True)
    last = last[: len(best.gain)]
    query, position = best.query[last], best.rank[last]
    cumulated = ranked.after(ranked.cumulated, query, ranked.down_to(query, position))
    terms = quotient(cumulated, best.cumulated[1:][last])
    beyond = judged.num_ret >= best.length + 2
    total = np.bincount(query, weights=terms, minlength=len(judged.queries))
    total = total + np.where(beyond, quotient(ranked.dcg, best.dcg), 0.0)
    count = np.bincount(query, minlength=len(judged.queries)) + beyond
    worthy = judged.num_rel if judged.gains is None else best.length
    return np.where(worthy > 0, quotient(total, count), 0.0)


def G(judged: Judged, gains: Mapping[int, float]) -> FloatArray:
    """Normalised gain, discounted by the gain missed so far instead of by the rank.

    Formula:    (Σ over ranks i with a gain of gain(i) / log2(2 + C(i) - S(i))) / Σ I,
                S(i) = gains down to rank i, C(i) = Σ over t ≤ i of max(I(t), 1), I as in ideal_dcg
    Range:      0 to 1; below 0 only with negative gains
    Edge cases: 0 if no judged document has a positive gain.
    Source:     trec_eval 10.0
    """
    ranked, best = actual(judged, gains), ideal(judged, gains)
    collected = ranked.running(ranked.gain)[1:]
    within = np.minimum(ranked.rank, best.length[ranked.query])
    possible = best.after(best.running(np.maximum(best.gain, 1.0)), ranked.query, within)
    possible = plus_ones(possible, ranked.rank - within)
    worthy = ranked.gain != 0
    terms = np.zeros(len(ranked.gain))
    terms[worthy] = ranked.gain[worthy] / log2((2.0 + possible - collected)[worthy])
    return quotient(ranked.total(terms), best.total(best.gain))


def binG(judged: Judged) -> FloatArray:
    """Binary G: each relevant document is discounted by the nonrelevant ones above it.

    Formula:    (Σ over ranks i of relevant documents of 1 / log2(2 + i - r(i))) / R
    Range:      0 to 1
    Edge cases: 0 for a query without relevant documents.
    Source:     trec_eval 10.0
    """
    terms = np.zeros(len(judged.rank))
    nonrelevant_above = (judged.rank - judged.found)[judged.relevant]
    terms[judged.relevant] = 1.0 / log2(2 + nonrelevant_above)
    return quotient(judged.per_query(terms), judged.num_rel)


def tallied_binG(tally: HoleTally) -> FloatArray:
    """Compute `binG` of many ways to judge a ranking."""
    total = np.zeros(len(tally.queries))
    for way, first, last, found in tally.stretches():
        total[way] += (last - first + 1) / log2(2 + last - found)
    return quotient(total, tally.num_rel)
