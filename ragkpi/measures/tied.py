"""Draws without replacement: hypergeometric tails, and expected values over tied documents.

Tails: at N = 1e8, differences of lgamma, as in the authors' code, are off by a factor of 50, and
scipy's `hypergeom` by 3e-8, because both subtract numbers near 1e9. This file subtracts nothing:
with m = 1 all added logarithms have the same sign, and with m > 1 a tail is a product times a
series of positive terms.

Ties: if n documents share a score from rank a on, each has the ranks a ... a + n - 1 equally often.
`Judged.tied` holds the first and the last rank. -M cuts every order, so a document that ties across
the cut is retrieved in a share of the orders. -J first closes the ranks, so that only judged
documents tie.

The sums are from McSherry and Najork, "Computing information retrieval performance measures
efficiently in the presence of tied scores", ECIR 2008. Without ties, expected values equal the
measures to the last bit. Each function `expected_...` is in the file of its measure.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ragkpi.arrays import BoolArray, FloatArray, IntArray
from ragkpi.ranking.judged import DEEPEST, Judged

# Expected hits from which a miss has probability 0: exp(-1e5) is 0, even with `_point`'s factor.
_CERTAIN = 1e5
_NEGLIGIBLE = 2.0**-60  # the share of a sum that a term needs to change it


class Tail(NamedTuple):
    """P(X >= m) for Q queries, (Q,) each."""

    probability: FloatArray  # 0 where a double cannot hold it
    complement: FloatArray  # P(X < m), with all its digits where P(X >= m) is next to 1
    log2: FloatArray  # in bits; -inf where X >= m is impossible, finite everywhere else


def tail(N: IntArray, R: IntArray, K: IntArray, m: int | IntArray) -> Tail:
    """Compute P(X >= m) for every query, each distinct (N, R, K, m) once.

    Of N documents R are relevant and K drawn, (Q,) each; m is a number, or one per query, (Q,). The
    relative error is below 1e-14 for m = 1, and below 1e-12 for m > 1.
    """
    m = np.broadcast_to(m, N.shape)
    order = np.lexsort((R, K, N, m))
    sorted_cells = np.stack([N, K, R, m])[:, order]
    first = _changes(sorted_cells)
    cell = np.empty(len(order), dtype=np.int64)
    cell[order] = np.cumsum(first) - 1
    return Tail(*_distinct_tails(sorted_cells[:, first])[:, cell])


def _changes(columns: IntArray) -> BoolArray:
    """Mark the first column and each column that differs from its predecessor."""
    return np.append(True, (np.diff(columns) != 0).any(axis=0))[: columns.shape[1]]


def _distinct_tails(cells: IntArray) -> FloatArray:
    """Return the three rows of a `Tail`, (3, D), of cells (N, K, R, m), (4, D), m ascending."""
    N, K, R, m = cells
    certain = np.maximum(R + K - N, 0) >= m
    tails = np.where(certain, [[1.0], [0.0], [0.0]], [[0.0], [1.0], [-np.inf]])
    possible = (np.minimum(R, K) >= m) & ~certain
    one = possible & (m == 1)
    if one.any():
        log_none = _log_avoided(N[one], K[one], R[one])
        tails[:, one] = _rows(-np.expm1(log_none), np.exp(log_none))
    # The smaller tail is summed; the other is its complement.
    large = m * N.astype(np.float64) > R.astype(np.float64) * K
    above, below = possible & ~one & large, possible & ~one & ~large
    tails[:, above] = _above_mean(*cells[:, above])
    tails[:, below] = _below_mean(*cells[:, below])
    return tails


def _below_mean(N: IntArray, K: IntArray, R: IntArray, m: IntArray) -> FloatArray:
    """P(X >= m) as 1 - P(m-1) (1 + P(m-2)/P(m-1) + ...)."""
    mantissa, exponent = _point(N, K, R, m - 1)
    term = series = np.ones(len(R))
    x = m - 1.0
    while (term > _NEGLIGIBLE * series).any():
        term = term * (x * (N - R - K + x) / ((R - x + 1.0) * (K - x + 1.0)))
        series = series + term
        x -= 1.0
    complement = np.ldexp(mantissa * series, exponent)
    return _rows(1.0 - complement, complement)


def _above_mean(N: IntArray, K: IntArray, R: IntArray, m: IntArray) -> FloatArray:
    """P(X >= m) as P(m) (1 + P(m+1)/P(m) + ...)."""
    mantissa, exponent = _point(N, K, R, m)
    term = series = np.ones(len(R))
    x = m.astype(np.float64)
    while (term > _NEGLIGIBLE * series).any():
        term = term * ((R - x) * (K - x) / ((x + 1.0) * (N - R - K + x + 1.0)))
        series = series + term
        x += 1.0
    probability = np.ldexp(mantissa * series, exponent)
    return np.stack([probability, 1.0 - probability, np.log2(mantissa * series) + exponent])


def _rows(probability: FloatArray, complement: FloatArray) -> FloatArray:
    """Return the three rows; the logarithm is computed from the smaller of the two tails."""
    from_complement = np.log1p(-np.minimum(complement, 0.5)) / np.log(2.0)
    log2 = np.where(complement < 0.5, from_complement, np.log2(probability))
    return np.stack([probability, complement, log2])


def _point(N: IntArray, K: IntArray, R: IntArray, m: IntArray) -> tuple[FloatArray, IntArray]:
    """P(X = m), m ascending, as mantissa and binary exponent, so that no number is too small.

    C(R, m) K!/(K-m)! (N-m)!/N! is a product of m ratios, rounded twice each; as a sum of their
    logarithms, which is large, it would lose digits.
    """
    mantissa = np.ones(len(R))
    exponent = np.zeros(len(R), dtype=np.int64)
    for j in range(int(m.max(initial=0))):
        more = slice(np.searchsorted(m, j, side="right"), None)  # those with m > j
        ratios = (R[more] - j) / (j + 1.0), (K[more] - j) / (N[more] - j)
        mantissa[more], shift = np.frexp(mantissa[more] * ratios[0] * ratios[1])
        exponent[more] += shift
    bits = _log_avoided(N - m, K - m, R - m) / np.log(2.0)
    whole = np.floor(bits)
    return mantissa * np.exp2(bits - whole), exponent + whole.astype(np.int64)


def _log_avoided(N: IntArray, K: IntArray, R: IntArray) -> FloatArray:
    """Log of the chance that K draws from N miss all R.

    K and R are interchangeable, so the smaller number of documents is placed one after the other:
    the i-th misses the others with probability 1 - K / (N - i). One table of running sums serves
    all cells with equal N and equal larger number; all tables are in one array. The array is short:
    with more than `_CERTAIN` expected hits, a miss is less likely than any double.
    """
    expected = R * (K / np.maximum(N, 1))
    logs: FloatArray = -expected
    counted = np.flatnonzero(expected <= _CERTAIN)
    few, many = np.minimum(K, R)[counted], np.maximum(K, R)[counted]
    order = np.lexsort((few, many, N[counted]))
    counted, few, many = counted[order], few[order], many[order]
    if not len(counted):
        return logs
    total_count = N[counted]
    first = _changes(np.stack([total_count, many]))
    table = np.cumsum(first) - 1
    length = few[np.append(first[1:], True)]
    start = np.cumsum(length) - length
    placed = np.arange(length.sum()) - np.repeat(start, length)
    terms = np.log1p(
        -np.repeat(many[first], length) / (np.repeat(total_count[first], length) - placed)
    )
    total, lost = _running_sums(terms)
    begin = start[table]
    logs[counted] = (total[begin + few] - total[begin]) + (lost[begin + few] - lost[begin])
    return logs


def _running_sums(terms: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return running sums from 0, and those of the rounding errors (Knuth's two-sum)."""
    total = np.concatenate([[0.0], np.cumsum(terms)])
    before, after = total[:-1], total[1:]
    added = after - before
    lost = (before - (after - added)) + (terms - added)
    return total, np.concatenate([[0.0], np.cumsum(lost)])


def is_alone(judged: Judged) -> BoolArray:
    """Return whether each hit has a unique score in its query, (H,)."""
    tied = judged.tied_ranks
    return np.equal(tied.first, tied.last)


def last_rank(judged: Judged, cutoff: int | None) -> int:
    """Return the last rank within the cutoff and -M."""
    limits = (cutoff, judged.settings.max_retrieved)
    return min([DEEPEST, *(rank for rank in limits if rank is not None)])


def mean_weight(judged: Judged, weights: FloatArray) -> FloatArray:
    """Average the weights of ranks 1 ... n, (n,), over the ranks of each hit, (H,); others are 0.

    `reduceat` sums in place, so a hit that is alone at its rank has exactly the weight of the rank.
    """
    tied = judged.tied_ranks
    bounds = np.minimum(np.stack([tied.first - 1, tied.last], axis=1), len(weights))
    sums = np.add.reduceat(np.append(weights, 0.0), bounds.ravel())[::2] if len(bounds) else 0.0
    return sums / (tied.last - tied.first + 1)


def existing_ranks(judged: Judged, cutoff: int | None) -> IntArray:
    """Return the ranks from 1 to the last one that exists and counts."""
    deepest = int(judged.tied_ranks.last.max(initial=0))
    return np.arange(1, min(deepest, last_rank(judged, cutoff)) + 1)


def share_reaching(judged: Judged, cutoff: int, m: int | IntArray) -> FloatArray:
    """Return the share of the orders whose first K hold at least m relevant documents, (Q,).

    m is a number, or one per query, (Q,). The cutoff divides one group of ties; the part above it
    is a random draw. The number of relevant documents in that part is hypergeometric.
    """
    tied, depth = judged.tied_ranks, last_rank(judged, cutoff)
    certain = judged.per_query(judged.relevant & (tied.last <= depth)).astype(np.int64)
    divided = judged.relevant & (tied.first <= depth) & (tied.last > depth)
    possible = judged.per_query(divided).astype(np.int64)
    size, drawn = np.ones((2, len(judged.queries)), dtype=np.int64)
    size[judged.query[divided]] = (tied.last - tied.first + 1)[divided]
    drawn[judged.query[divided]] = depth - tied.first[divided] + 1
    reached = (certain >= m).astype(np.float64)
    missing = np.where(certain + possible >= m, m - certain, 0)
    for threshold in np.unique(missing[missing > 0]).tolist():
        here = missing == threshold
        reached[here] = tail(size[here], possible[here], drawn[here], threshold).probability
    return reached
