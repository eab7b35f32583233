"""Precision and recall: at cutoffs, at points of recall, averaged, and the first relevant one."""

from __future__ import annotations

from functools import partial

import numpy as np

from ragkpi.arrays import FloatArray, IntArray
from ragkpi.measures.measure import (
    CORNERS_OF_COUNTS,
    COSTLY,
    GEOMETRIC_MEAN,
    SMALLEST,
    UNPROVEN,
    Bounds,
    Measure,
    PrecisionSum,
    log,
    record,
)
from ragkpi.measures.parameters import NINE_CUTOFFS, RECALL_POINTS, Grammar
from ragkpi.measures.tied import (
    existing_ranks,
    is_alone,
    last_rank,
    mean_weight,
    share_reaching,
)
from ragkpi.ranking.judged import Judged, quotient, shared

MEASURES: list[Measure] = []

MULTIPLES_OF_R = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)

_cut = partial(
    record,
    MEASURES,
    parameters=Grammar("cutoffs", NINE_CUTOFFS),
    better="higher",
    bounds=CORNERS_OF_COUNTS,
    ties="monotone",
    question="found",
)
_OF_PRECISIONS = Bounds("staircase", form=PrecisionSum(quotient))
_early = partial(
    record, MEASURES, better="higher", bounds=_OF_PRECISIONS, ties="unproven", question="early"
)
_AP = ("AP", "MAP", "average_precision")


@_cut(rate="at cutoff 1", expected="itself", aliases=("P", "Prec", "precision"))
def P(judged: Judged, cutoff: int) -> FloatArray:
    """Precision: the relevant share of the first K documents.

    Formula:    r(K) / K, r(K) = relevant documents among the first K
    Range:      0 to 1
    Edge cases: a ranking shorter than K is padded with nonrelevant documents.
    Source:     trec_eval 10.0
    """
    return judged.num_rel_at(cutoff) / cutoff


@_cut(expected="itself", aliases=("R", "Rec", "recall"))
def recall(judged: Judged, cutoff: int) -> FloatArray:
    """Share of the relevant documents that are among the first K.

    Formula:    r(K) / R
    Range:      0 to 1
    Edge cases: 0 for a query without relevant documents, which stays in the mean.
    Source:     trec_eval 10.0
    """
    return quotient(judged.num_rel_at(cutoff), judged.num_rel)


@_cut(expected="itself")
def relative_P(judged: Judged, cutoff: int) -> FloatArray:
    """Precision at K relative to its maximum.

    Formula:    r(K) / min(K, R)
    Range:      0 to 1
    Edge cases: 0 for a query without relevant documents.
    Source:     trec_eval 10.0
    """
    return quotient(judged.num_rel_at(cutoff), np.minimum(cutoff, judged.num_rel))


@_cut(
    rate="always",
    parameters=Grammar("cutoffs", (1, 5, 10)),
    expected=partial(share_reaching, m=1),
    aliases=("Success", "hit", "hits", "hit_rate", "hitrate"),
)
def success(judged: Judged, cutoff: int) -> FloatArray:
    """Whether any relevant document is among the first K; its mean is the hit rate.

    Formula:    1 if r(K) > 0, else 0
    Range:      0 or 1
    Edge cases: 0 for a query without relevant documents.
    Source:     trec_eval 10.0
    """
    return (judged.num_rel_at(cutoff) > 0).astype(np.float64)


@_early(
    bounds=COSTLY,
    ties="monotone",
    expected="itself",
    aliases=("Rprec", "R-precision", "r_precision"),
)
def Rprec(judged: Judged) -> FloatArray:
    """Precision at R, the number of relevant documents of the query.

    Formula:    r(R) / R
    Range:      0 to 1
    Edge cases: 0 for a query without relevant documents or with an empty ranking.
    Source:     trec_eval 10.0
    """
    return quotient(judged.num_rel_at(judged.num_rel), judged.num_rel)


def _expected_recip_rank(judged: Judged, cutoff: int | None = None) -> FloatArray:
    tied, depth = judged.tied_ranks, last_rank(judged, cutoff)
    top = np.flatnonzero(judged.relevant & (judged.rel_count == 1))
    query, first, size = judged.query[top], tied.first[top], (tied.last - tied.first + 1)[top]
    top_rank = np.zeros(len(judged.queries), dtype=np.int64)
    top_rank[query] = first
    equals = judged.relevant & (tied.first == top_rank[judged.query])
    relevant = judged.per_query(equals).astype(np.int64)[query]
    groups, group = np.unique(np.stack([first, size, relevant]), axis=1, return_inverse=True)
    expected = [_mean_reciprocal(a, n, r, depth) for a, n, r in groups.T.tolist()]
    values = np.zeros(len(judged.queries))
    values[query] = np.array(expected)[group.ravel()] if expected else 0.0
    return values


def _mean_reciprocal(first: int, size: int, relevant: int, depth: int) -> float:
    """Return the mean of 1 / rank of the first relevant document of a group of ties.

    `above` nonrelevant documents precede it with the probability
    C(size - 1 - above, relevant - 1) / C(size, relevant), each from the one before.
    """
    above = np.arange(min(size - relevant, depth - first) + 1)
    if not len(above):
        return 0.0
    further = (size - relevant - above[:-1]) / (size - 1 - above[:-1])
    probability = np.multiply.accumulate(np.append(relevant / size, further))
    return float((probability / (first + above)).sum())


@_early(
    parameters=Grammar("cutoffs"),
    bounds=Bounds("corners", form="1 / first rank"),
    ties="monotone",
    expected=_expected_recip_rank,
    aliases=("RR", "MRR", "reciprocal_rank"),
)
def recip_rank(judged: Judged, cutoff: int | None = None) -> FloatArray:
    """Reciprocal rank of the first relevant document; its mean is MRR.

    Formula:    1 / rank of the first relevant document
    Range:      0 to 1
    Edge cases: 0 if no relevant document is retrieved, or none within the cutoff. trec_eval
                ignores a cutoff here.
    Source:     trec_eval 10.0; the cutoff is ragkpi's
    """
    first = judged.first_relevant(cutoff)
    return quotient(np.minimum(first, 1), first)


def _expected_average_precision(judged: Judged, cutoff: int | None = None) -> FloatArray:
    """Sum the expected precisions at relevant documents, over R.

    Above a relevant document at rank i of its group are all relevant ones above the group, and on
    average the share (i - a) / (n - 1) of the others in the group.
    """
    tied, ranks = judged.tied_ranks, existing_ranks(judged, cutoff)
    size = tied.last - tied.first + 1
    begins = np.ones(len(size), dtype=np.bool_)
    begins[1:] = (np.diff(judged.query) != 0) | (np.diff(tied.first) != 0)
    group = np.cumsum(begins) - 1
    relevant = np.bincount(group, weights=judged.relevant)[group] if len(group) else size
    before = (judged.rel_count - judged.relevant)[begins][group]
    each = quotient(relevant - 1, size - 1)  # relevant documents that each rank adds
    within = judged.share_within(last_rank(judged, cutoff))
    expected = each * within + (before + 1 - each * tied.first) * mean_weight(judged, 1.0 / ranks)
    exact = np.where(judged.rank <= len(ranks), judged.rel_count / judged.rank, 0.0)
    precision = np.where(is_alone(judged), exact, expected)
    return quotient(judged.per_query(np.where(judged.relevant, precision, 0.0)), judged.num_rel)


@_early("map", ties="monotone", expected=_expected_average_precision, aliases=_AP)
def average_precision(judged: Judged) -> FloatArray:
    """Average precision: mean of the precision at each relevant document; its mean is MAP.

    Formula:    (Σ over ranks i of relevant documents of r(i)/i) / R
    Range:      0 to 1
    Edge cases: relevant documents that are not retrieved add 0; 0 for a query without any.
    Source:     trec_eval 10.0
    """
    return quotient(judged.precision_sum(), judged.num_rel)


def _log_mean(total: FloatArray, num_rel: IntArray) -> FloatArray:
    return log(np.maximum(quotient(total, num_rel), SMALLEST))


@_early(aggregate=GEOMETRIC_MEAN, bounds=Bounds("staircase", form=PrecisionSum(_log_mean)))
def gm_map(judged: Judged) -> FloatArray:
    """Geometric mean of average precision, which gives bad queries more weight than map.

    Formula:    exp(mean over queries of log(max(map, 0.00001)))
    Range:      0.00001 to 1
    Edge cases: a query without relevant documents counts as 0.00001; there is no line per query.
    Source:     Robertson, On GMAP and other transformations, CIKM 2006; trec_eval 10.0
    """
    return _log_mean(judged.precision_sum(), judged.num_rel)


@_cut(bounds=_OF_PRECISIONS, expected=_expected_average_precision, question="early", aliases=_AP)
def map_cut(judged: Judged, cutoff: int) -> FloatArray:
    """Average precision over the first K documents, still divided by all relevant ones.

    Formula:    (Σ over ranks i ≤ K of relevant documents of r(i)/i) / R
    Range:      0 to min(K, R)/R
    Edge cases: 0 for a query without relevant documents.
    Source:     trec_eval 10.0
    """
    return quotient(judged.precision_sum(cutoff), judged.num_rel)


def _log_odds(total: FloatArray, num_rel: IntArray) -> FloatArray:
    return log((1.0 + total) / (1.0 + num_rel - total))


@_early(bounds=Bounds("staircase", form=PrecisionSum(_log_odds)))
def yaap(judged: Judged) -> FloatArray:
    """Yet another average precision: the log-odds of map, smoothed.

    Formula:    log((1 + S) / (1 + R - S)), S = Σ over ranks i of relevant documents of r(i)/i
    Range:      -log(1 + R) to log(1 + R)
    Edge cases: 0 for a query without relevant documents; negative where map is below a half.
    Source:     Robertson, On GMAP and other transformations, CIKM 2006; trec_eval 10.0
    """
    return _log_odds(judged.precision_sum(), judged.num_rel)


@shared
def _best_from_relevant(judged: Judged) -> FloatArray:
    """Highest precision from each relevant hit of a query to its last, (relevant hits,)."""
    query = judged.query[judged.relevant]
    precision = judged.precision_at_relevant[judged.relevant]
    # numpy orders complex numbers by real part first. With the query as real part, a single
    # running maximum from the end restarts at each query.
    keyed = np.maximum.accumulate((-query + 1j * precision)[::-1])[::-1]
    return np.ascontiguousarray(keyed.imag)


def _interpolated(judged: Judged, needed: FloatArray) -> FloatArray:
    """Highest precision at or below the `needed`-th relevant document of each query, (Q,).

    0 if fewer are retrieved; the highest of all if none is needed.
    """
    retrieved = judged.num_rel_ret
    first = np.cumsum(retrieved) - retrieved
    reached = (retrieved > 0) & (needed <= retrieved)
    nth = np.where(reached, np.maximum(needed, 1.0), 1.0).astype(np.int64)
    best = np.zeros(len(retrieved))
    best[reached] = _best_from_relevant(judged)[(first + nth - 1)[reached]]
    return best


def _relevant_at(judged: Judged, point: float) -> FloatArray:
    """Round a share of R to a count, halves away from zero, (Q,); below 1 means none."""
    exact = point * judged.num_rel
    whole: FloatArray = np.floor(exact)
    return whole + (exact - whole >= 0.5)


@_early(
    parameters=Grammar("points", RECALL_POINTS, argument="point"),
    bounds=COSTLY,
    aliases=("IPrec",),
)
def iprec_at_recall(judged: Judged, point: float) -> FloatArray:
    """Interpolated precision at a recall point.

    Formula:    max of r(i)/i over ranks i from the c-th relevant document to the last document,
                c = point · R, rounded
    Range:      0 to 1
    Edge cases: 0 if fewer than c relevant documents are retrieved. With c = 0 the maximum is over
                all ranks. An empty ranking scores 0 (trec_eval prints nan at c = 0).
    Source:     trec_eval 10.0; earlier versions round c up
    """
    return _interpolated(judged, _relevant_at(judged, point))


@_early("11pt_avg", parameters=Grammar("list", RECALL_POINTS, argument="points"), bounds=UNPROVEN)
def interpolated_average(judged: Judged, points: tuple[float, ...]) -> FloatArray:
    """Mean of the interpolated precision at eleven recall points.

    Formula:    mean of iprec_at_recall over the points
    Range:      0 to 1
    Edge cases: give points in ascending order. As in trec_eval, a point that needs more relevant
                documents than its successor scores the highest precision of all, and so do all
                points before it.
    Source:     trec_eval 10.0
    """
    left = judged.num_rel_ret.astype(np.float64)  # relevant documents not yet visited
    nothing = np.zeros(len(left))
    skipping = np.full(len(left), True)
    waiting = np.full(len(left), False)
    total = np.zeros(len(left))
    for point in reversed(points):
        needed = _relevant_at(judged, point)
        skipping &= needed > left
        waiting |= ~skipping & ((needed > left) | (needed < 1))
        total += _interpolated(judged, np.where(waiting, nothing, needed))
        left = np.where(skipping | waiting, left, needed)
    return total / len(points)


@_early(parameters=Grammar("points", MULTIPLES_OF_R, argument="point"), bounds=COSTLY)
def Rprec_mult(judged: Judged, point: float) -> FloatArray:
    """Precision at a multiple of R.

    Formula:    r(c) / c, c = point · R + 0.9, cut to an integer
    Range:      0 to 1
    Edge cases: ranks beyond the end of the ranking are nonrelevant; 0 if c is 0.
    Source:     trec_eval 10.0
    """
    depth = np.trunc(point * judged.num_rel + 0.9)
    return quotient(judged.num_rel_at(depth), np.maximum(depth, 0.0))
