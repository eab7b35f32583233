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

import math
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
    cells = np.stack([N, K, R, np.broadcast_to(m, N.shape)])
    order = np.lexsort(cells)  # np.unique takes ten times as long
    cells = cells[:, order]
    is_first = np.append(True, (np.diff(cells) != 0).any(axis=0))[: len(order)]
    tails = np.array([_tail(*cell) for cell in cells[:, is_first].T.tolist()]).reshape(-1, 3)
    of_query = np.empty((len(order), 3))
    of_query[order] = tails[np.cumsum(is_first) - 1]
    return Tail(*of_query.T)


def _tail(N: int, K: int, R: int, m: int) -> tuple[float, float, float]:
    """Return the probability, its complement and its logarithm of one cell.

    With m > 1 the smaller tail is summed, P(m) (1 + P(m+1)/P(m) + ...) or P(m-1) (1 + P(m-2)/P(m-1)
    + ...). The logarithm is computed from the smaller of the two tails.
    """
    if max(R + K - N, 0) >= m:
        return 1.0, 0.0, 0.0
    if min(R, K) < m:
        return 0.0, 1.0, -math.inf
    if m > 1 and m * N > R * K:
        mantissa, exponent = _point(N, K, R, m)
        term = series = 1.0
        x = m
        while term > _NEGLIGIBLE * series:
            term *= (R - x) * (K - x) / ((x + 1) * (N - R - K + x + 1))
            series += term
            x += 1
        probability = math.ldexp(mantissa * series, exponent)
        return probability, 1.0 - probability, math.log2(mantissa * series) + exponent
    if m == 1:
        log_none = _log_avoided(N, K, R)
        probability, complement = -math.expm1(log_none), math.exp(log_none)
    else:
        mantissa, exponent = _point(N, K, R, m - 1)
        term = series = 1.0
        x = m - 1
        while term > _NEGLIGIBLE * series:
            term *= x * (N - R - K + x) / ((R - x + 1) * (K - x + 1))
            series += term
            x -= 1
        complement = math.ldexp(mantissa * series, exponent)
        probability = 1.0 - complement
    if complement < 0.5:
        return probability, complement, math.log1p(-complement) / math.log(2.0)
    return probability, complement, math.log2(probability)


def _point(N: int, K: int, R: int, m: int) -> tuple[float, int]:
    """P(X = m) as mantissa and binary exponent, so that no number is too small.

    C(R, m) K!/(K-m)! (N-m)!/N! is a product of m ratios, rounded twice each; as a sum of their
    logarithms, which is large, it would lose digits.
    """
    mantissa, exponent = 1.0, 0
    for j in range(m):
        mantissa, shift = math.frexp(mantissa * ((R - j) / (j + 1)) * ((K - j) / (N - j)))
        exponent += shift
    bits = _log_avoided(N - m, K - m, R - m) / math.log(2.0)
    return mantissa * 2.0 ** (bits - math.floor(bits)), exponent + math.floor(bits)


def _log_avoided(N: int, K: int, R: int) -> float:
    """Log of the chance that K draws from N miss all R.

    K and R are interchangeable, so the smaller number of documents is placed one after the other:
    the i-th misses the others with probability 1 - K / (N - i). With more than `_CERTAIN` expected
    hits, a miss is less likely than any double.
    """
    expected = R * K / max(N, 1)
    if expected > _CERTAIN:
        return -expected
    few, many = sorted((K, R))
    return math.fsum(np.log1p(-many / (N - np.arange(few))).tolist())


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
