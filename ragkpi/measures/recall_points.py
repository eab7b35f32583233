"""Precision at points of recall, and at multiples of R."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ragkpi.ranking.judged import FloatArray, Judged, quotient, shared

if TYPE_CHECKING:
    from ragkpi.measures.hole_tally import HoleTally


@shared
def _best_from_relevant(judged: Judged) -> FloatArray:
    """Highest precision from each relevant hit of a query to its last, (relevant hits,)."""
    query = judged.query[judged.relevant]
    precision = judged.precision_at_relevant[judged.relevant]
    # numpy orders complex numbers by their real part first: with the query there, one running
    # maximum from the end starts anew at each query.
    keyed = np.maximum.accumulate((-query + 1j * precision)[::-1])[::-1]
    return np.ascontiguousarray(keyed.imag)


def _interpolated(judged: Judged, needed: FloatArray) -> FloatArray:
    """Highest precision at or below the `needed`-th relevant document of each query, (Q,).

    0 where fewer are retrieved; with none needed the highest of all.
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


def iprec_at_recall(judged: Judged, point: float) -> FloatArray:
    """Interpolated precision at a recall point.

    Formula:    max of r(i)/i over ranks i from the c-th relevant document to the last document,
                c = point · R, rounded
    Range:      0 to 1
    Edge cases: 0 if fewer than c relevant documents are retrieved. With c = 0 the maximum is over
                all ranks. An empty ranking scores 0 (trec_eval prints nan at c = 0).
    Source:     trec_eval 10.0; versions before round c up
    """
    return _interpolated(judged, _relevant_at(judged, point))


def tallied_iprec_at_recall(tally: HoleTally, point: float) -> FloatArray:
    """Compute `iprec_at_recall` of many ways to judge a ranking.

    Precision rises along a stretch of relevant documents, so its last one speaks for it.
    """
    needed = np.maximum(_relevant_at(tally, point), 1.0)
    best = np.zeros(len(tally.queries))
    for way, _, last, found in tally.stretches():
        reached = found >= needed[way]
        best[way] = np.maximum(best[way], np.where(reached, found / last, 0.0))
    return best


def interpolated_average(judged: Judged, points: tuple[float, ...]) -> FloatArray:
    """Mean of the interpolated precision at eleven recall points.

    Formula:    mean of iprec_at_recall over the points
    Range:      0 to 1
    Edge cases: points are visited from the last to the first, as in trec_eval: one that asks for
                more relevant documents than its successor scores the highest precision of all,
                and so do all before it. Give them in ascending order.
    Source:     trec_eval 10.0
    """
    left = judged.num_rel_ret.astype(np.float64)  # relevant documents not yet walked past
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


def Rprec_mult(judged: Judged, point: float) -> FloatArray:
    """Precision at a multiple of R.

    Formula:    r(c) / c, c = point · R + 0.9, cut to an integer
    Range:      0 to 1
    Edge cases: ranks beyond the end of the ranking are nonrelevant; 0 if c is 0.
    Source:     trec_eval 10.0
    """
    depth = np.trunc(point * judged.num_rel + 0.9)
    return quotient(judged.found_within(depth), np.maximum(depth, 0.0))
