"""Measures in common use that trec_eval lacks: T, F and Fe, variants of nDCG, ERR and others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from ragkpi.arrays import FloatArray, IntArray
from ragkpi.errors import DataError
from ragkpi.interface import request_text
from ragkpi.measures.chance import corpus_size
from ragkpi.measures.gain import GAIN_RATIO, actual, ideal
from ragkpi.measures.measure import (
    CORNERS_OF_COUNTS,
    COUNTS_HOLES,
    STAIRCASE_TWICE_AS_DEEP,
    UNPROVEN,
    Bounds,
    Measure,
    Metric,
    PrecisionSum,
    record,
)
from ragkpi.measures.parameters import Grammar, Option
from ragkpi.ranking.judged import Judged, quotient
from ragkpi.wording import counted


def shallow_estimate(judged: Judged, metrics: Sequence[Metric]) -> Iterator[str]:
    """Warn that rankings of fewer than 2K documents are too short for Fe."""
    for metric in metrics:
        needed = 2 * max(metric.cutoffs)
        shallow = int((judged.num_ret < needed).sum())
        if shallow:
            of_all = f"of {counted(len(judged.queries), 'query has', 'queries have')}"
            yield (
                f"{metric.name}: {shallow} {of_all} fewer than {needed} documents, so Fe estimates "
                "the relevant ones from a shorter list; give a deeper run or a smaller K"
            )


MEASURES: list[Measure] = []

_ALPHA = {"alpha": Option(0.5, 0, 1)}
_HIGHEST = {"highest": Option(4, 1, 60)}

_tradeoff = partial(
    record,
    MEASURES,
    parameters=Grammar("cutoffs", (5, 10, 20), _ALPHA),
    better="higher",
    bounds=CORNERS_OF_COUNTS,
    ties="unproven",
    question="tradeoff",
)
_kpi = partial(
    record,
    MEASURES,
    parameters=Grammar("cutoffs", (10, 25, 50, 100)),
    better="higher",
    ties="unproven",
)
_gain = partial(_kpi, question="gain", worth="gain")


def _num_top(judged: Judged, cutoff: int) -> IntArray:
    """Count the documents in the top K, np + nn, without empty places."""
    return np.minimum(cutoff, judged.num_ret)


@_tradeoff()
def t(judged: Judged, cutoff: int, alpha: float) -> FloatArray:
    """T as published: relevant against other documents in the top K.

    Formula:    ((1-alpha) np - alpha nn) / K, np relevant and nn other documents in the top K
    Range:      -alpha to 1-alpha
    Edge cases: P_K - alpha if K documents were retrieved; empty places count for
                neither side. Unjudged documents are not relevant. See also t_code.
    Source:     Schwartz, Vasilyev, Sawaya, arXiv 2512.20854, eq. 3-4
    """
    return np.asarray((judged.num_rel_at(cutoff) - alpha * _num_top(judged, cutoff)) / cutoff)


@_tradeoff()
def t_code(judged: Judged, cutoff: int, alpha: float) -> FloatArray:
    """T as its authors' program computes it: a count minus a fraction.

    Formula:    (1-alpha) np - alpha nn / (np + nn)
    Range:      -alpha to (1-alpha) K
    Edge cases: differs from t; 0 for a query without retrieved documents.
    Source:     github.com/PrimerAI/primer-research, recall_role/corr.py
    """
    rel, top = judged.num_rel_at(cutoff), _num_top(judged, cutoff)
    return (1 - alpha) * rel - alpha * quotient(top - rel, top)


def _f(judged: Judged, cutoff: int, alpha: float, num_rel: FloatArray | IntArray) -> FloatArray:
    return quotient(judged.num_rel_at(cutoff), np.asarray(alpha * cutoff + (1 - alpha) * num_rel))


@_tradeoff()
def F(judged: Judged, cutoff: int, alpha: float) -> FloatArray:
    """F-measure at K: weighted harmonic mean of precision and recall.

    Formula:    np / (alpha K + (1-alpha) R) = 1 / (alpha / P_K + (1-alpha) / recall_K)
    Range:      0 to 1
    Edge cases: alpha weights precision, 0.5 is F1. 0 without relevant documents in the top K.
                set_F.x is this with alpha = 1 / (x+1) and K = retrieved documents.
    Source:     arXiv 2512.20854; van Rijsbergen 1979
    """
    return _f(judged, cutoff, alpha, judged.num_rel)


@_tradeoff(cautions=(shallow_estimate,), bounds=STAIRCASE_TWICE_AS_DEEP)
def Fe(judged: Judged, cutoff: int, alpha: float) -> FloatArray:
    """F-measure at K with the number of relevant documents estimated from the top 2K.

    Formula:    np / (alpha K + (1-alpha) Ne), Ne = relevant documents in the top 2K
    Range:      0 to 1
    Edge cases: a ranking shorter than 2K makes Ne smaller and Fe larger. 0 without
                relevant documents in the top K.
    Source:     arXiv 2512.20854, authors' program ("extend_xK: 2")
    """
    return _f(judged, cutoff, alpha, judged.num_rel_at(2 * cutoff))


def _discounted(gain: FloatArray, rank: IntArray) -> FloatArray:
    return np.asarray(gain / np.log2(rank + 1.0))


_MOST = 1000  # 2^1024 overflows a double, and sums of gains must stay below it


def _exponential_gain(level: IntArray | FloatArray) -> FloatArray:
    if (highest := level.max(initial=0)) > _MOST:
        problem = f"ndcg_exp: 2 to the power of level {highest:g} is too large for a double"
        raise DataError(f"{problem}; expected levels and gains up to {_MOST}, or another measure")
    return np.asarray(np.exp2(np.maximum(level, 0)) - 1)


@_gain(
    bounds=Bounds("staircase", form=GAIN_RATIO._replace(gain=_exponential_gain)),
    aliases=("ndcg_burges",),
)
def ndcg_exp(judged: Judged, cutoff: int) -> FloatArray:
    """Normalised DCG cut at K with exponential gain.

    Formula:    DCG_K / ideal DCG_K, DCG = Σ over ranks i of (2^gain(i) - 1) / log2(i + 1)
    Range:      0 to 1
    Edge cases: the ideal is over all judged documents, retrieved or not. Unjudged documents gain
                nothing. 0 without relevant documents. The gain is the level, or a real one of
                --gains; ndcg_cut uses it unchanged. Levels above 1000 are refused.
    Source:     Burges and others, ICML 2005
    """
    obtained, best = (
        ranked.total(
            np.where(
                ranked.rank <= cutoff,
                _discounted(_exponential_gain(ranked.gain), ranked.rank),
                0.0,
            )
        )
        for ranked in (actual(judged, {}), ideal(judged, {}))
    )
    return quotient(obtained, best)


@_gain(bounds=UNPROVEN)
def ndcg_local(judged: Judged, cutoff: int) -> FloatArray:
    """Normalised DCG of the order alone: the ideal is the best order of the top K.

    Formula:    DCG_K / DCG_K of the same documents by descending gain, which is the level
    Range:      0 to 1
    Edge cases: ignores relevant documents that were not retrieved, unlike ndcg_cut. 0 without
                relevant documents in the top K.
    Source:     arXiv 2512.20854, authors' program; common in blog posts
    """
    gain = np.where(judged.rank <= cutoff, actual(judged, {}).gain, 0.0)
    best_first = gain[np.lexsort((-gain, judged.query))]
    rank = np.arange(len(gain)) - judged.starts[:-1][judged.query] + 1
    best = judged.per_query(_discounted(best_first, rank))
    return quotient(judged.per_query(_discounted(gain, judged.rank)), best)


@_kpi(
    parameters=Grammar("cutoffs", (10, 20), _HIGHEST),
    bounds=UNPROVEN,
    ties="monotone",
    question="gain",
    aliases=("ERR", "expected_reciprocal_rank"),
)
def err(judged: Judged, cutoff: int, highest: int) -> FloatArray:
    """Expected reciprocal rank of the first document that satisfies the reader.

    Formula:    Σ over ranks i ≤ K of s(i) / i · Π over ranks j < i of (1 - s(j)),
                s = (2^level - 1) / 2^highest
    Range:      0 to 1
    Edge cases: highest is the highest level of the collection, 4 as in TREC's Web Tracks; levels
                above it are refused. An unjudged document has s = 0.
    Source:     Chapelle and others, CIKM 2009
    """
    top_level = int(judged.levels.max(initial=0))
    if top_level > highest:
        raise DataError(
            f"err: level {top_level} is judged; expected "
            f"{request_text('err', f'{cutoff},highest={top_level}')}"
        )
    top = judged.rank <= cutoff
    query, rank = judged.query[top], judged.rank[top]
    satisfied = (np.exp2(np.maximum(judged.level[top], 0)) - 1) / 2.0**highest
    unsatisfied = np.ones(len(judged.queries))
    total = np.zeros(len(judged.queries))
    first = np.flatnonzero(np.diff(query, prepend=-1))
    nth_hit = np.arange(len(query)) - np.repeat(first, np.diff(first, append=len(query)))
    for nth in range(int(nth_hit.max(initial=-1)) + 1):  # all queries' n-th hits at a time
        of = np.flatnonzero(nth_hit == nth)
        total[query[of]] += unsatisfied[query[of]] * satisfied[of] / rank[of]
        unsatisfied[query[of]] *= 1 - satisfied[of]
    return total


@_kpi(
    "judged",
    parameters=Grammar("cutoffs", (5, 10, 20)),
    bounds=COUNTS_HOLES,
    question="incomplete",
    worth="judged",
    aliases=("Judged",),
)
def judged_share(judged: Judged, cutoff: int) -> FloatArray:
    """Share of judged documents among the first K.

    Formula:    (documents within K that have a level from 0) / min(K, documents retrieved)
    Range:      0 to 1
    Edge cases: 0 for an empty ranking; a negative level is unjudged here, but judged in
                ir_measures' Judged.
    Source:     ir_measures, Judged
    """
    return quotient(judged.judged_at(cutoff), np.minimum(cutoff, judged.num_ret))


@_kpi(bounds=Bounds("staircase", form=PrecisionSum(quotient, "min(R, K)")), question="early")
def map_min(judged: Judged, cutoff: int) -> FloatArray:
    """Average precision at K, divided by the relevant documents that K places can hold.

    Formula:    (Σ over ranks i ≤ K of relevant documents of r(i)/i) / min(R, K)
    Range:      0 to 1
    Edge cases: map_cut divides by R and stays below 1 if R > K. 0 without relevant documents.
    Source:     common in recommender systems and TREC RAG notes
    """
    return quotient(judged.precision_sum(cutoff), np.minimum(judged.num_rel, cutoff))


@_kpi(needs=frozenset({"corpus_size"}), bounds=CORNERS_OF_COUNTS, question="tradeoff")
def accuracy(judged: Judged, cutoff: int) -> FloatArray:
    """Fraction of the corpus correctly retrieved in the top K or correctly left out.

    Formula:    (TP + TN) / N, TN = N - retrieved in the top K - relevant ones missed
    Range:      0 to 1
    Edge cases: near 1 for every system on a large corpus, which this measure makes visible.
    Source:     textbook
    """
    hits = judged.num_rel_at(cutoff)
    size = corpus_size(judged)
    left_out = size - np.minimum(cutoff, judged.num_ret) - (judged.num_rel - hits)
    return (hits + left_out) / size
