"""Correlation coefficients, Spearman's also with weights, and its permutation test.

A weight is how often an observation was drawn: a bootstrap sample is a row of weights, and a
data set a row of ones. Doubles hold sums of ranks exactly, as whole numbers, so no digit depends on
the order of additions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ragkpi.arrays import ROUNDING, FloatArray, IntArray
from ragkpi.statistics.bootstrap import all_permutations, permuted
from ragkpi.statistics.units import Unit

UnderWeights = Callable[[FloatArray], FloatArray]
"""From weights, (B, n), to the coefficient under each row, (B,)."""


def spearman(x: FloatArray, y: FloatArray) -> UnderWeights:
    """Spearman's rho of n observations, (n,) each: Pearson's r of the ranks.

    Equal values share their mean rank; infinite values also have ranks. NaN if a variable does not
    vary.

    Source: C. Spearman, American Journal of Psychology 15, 1904.
    """
    groups = [_groups(values) for values in (x, y)]

    def under(weights: FloatArray) -> FloatArray:
        rows = np.ascontiguousarray(weights.T)  # (n, B), so that rows are added in one piece
        total, distances, squares = rows.sum(axis=0), [], []
        for group in groups:
            in_group = group @ rows
            distance = _from_mean(in_group, total)
            squares.append(np.einsum("gb,gb,gb->b", in_group, distance, distance))
            distances.append(group.T @ distance)
        products = np.einsum("nb,nb,nb->b", rows, *distances)
        return _over_root(products, *squares)

    return under


def rho(x: FloatArray, y: FloatArray) -> float:
    """Return Spearman's rho of the observations, each with a weight of 1."""
    return float(spearman(x, y)(np.ones((1, len(x))))[0])


def kendall(x: FloatArray, y: FloatArray) -> float:
    """Kendall's tau-b: concordant minus discordant pairs, over pairs untied in x and in y.

    NaN if a variable does not vary. Infinite values are ordered, too.

    Source: M. G. Kendall, The treatment of ties in ranking problems, Biometrika 33, 1945.
    """
    from scipy.stats import kendalltau  # no other command needs it

    return float(kendalltau(_numbered(x), _numbered(y)).statistic)


def pearson(x: FloatArray, y: FloatArray) -> float:
    """Pearson's r; NaN if a variable does not vary or is infinite.

    Source: K. Pearson, Proceedings of the Royal Society of London 58, 1895.
    """
    largest = np.abs(x).max(), np.abs(y).max()
    if not np.isfinite(largest).all() or np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    # Squares of values up to 1 do not overflow.
    return float(np.corrcoef(x / largest[0], y / largest[1])[0, 1])


def _numbered(values: FloatArray) -> IntArray:
    """Number distinct values in ascending order, so that infinities compare."""
    return np.unique(values, return_inverse=True)[1].reshape(-1)


def _groups(values: FloatArray) -> Any:
    """Return a sparse matrix, (G, n), that adds the rows of equal values, ascending."""
    from scipy.sparse import csr_matrix  # no other command needs it

    number = _numbered(values)
    return csr_matrix((np.ones(len(number)), (number, np.arange(len(number)))))


def _from_mean(in_group: FloatArray, total: FloatArray) -> FloatArray:
    """Return twice the distance of each group's rank from the mean rank, (G, B)."""
    # Twice a group's rank is 2 * cumsum - in_group + 1.
    return np.asarray(2 * np.cumsum(in_group, axis=0) - in_group - total)


def _over_root(above: FloatArray, by_x: FloatArray, by_y: FloatArray) -> FloatArray:
    """Divide by the root of a product; NaN if a factor is not above 0."""
    defined = (by_x > 0) & (by_y > 0)
    ratio = np.full(above.shape, np.nan)
    np.divide(above, np.sqrt(np.where(defined, by_x * by_y, 1.0)), out=ratio, where=defined)
    return np.asarray(np.clip(ratio, -1.0, 1.0))


def max_correlation_p(
    variables: FloatArray,
    y: FloatArray,
    blocks: IntArray,
    trials: int,
    seed: int,
    unit: Unit = None,
) -> FloatArray:
    """Test by permutation which of A variables, (A, n), correlate with y, (n,): adjusted p, (A,).

    The values of y are permuted inside blocks, (n,), for all variables at once, and the strongest
    correlation of each permutation is kept, so that p is the probability of naming even one
    variable of noise, however many and however similar they are. With the number of each
    observation's `unit`, (n,), whole units are permuted, and blocks, (G,), have units of one size.

    Formula:    z = |rho| sqrt(n - 1); step-down maxT: p of the i-th largest z is the share of
                permutations in which one of the i-th to last variables has a z as large, made
                monotone; with the observed order counted in, (count + 1) / (trials + 1), or over
                all orders if there are at most `trials`
    Edge cases: NaN if a variable does not vary. NaN values are left out of their variable; rho
                still uses the ranks of y among all n.
    Source:     P. H. Westfall and S. S. Young, Resampling-Based Multiple Testing, 1993, section
                2.6; B. Phipson and G. K. Smyth, Permutation p-values should never be zero, 2010
    """
    has_value = ~np.isnan(variables)
    x = np.zeros(variables.shape)
    for place, inside in enumerate(has_value):
        x[place, inside] = _doubled_ranks(variables[place, inside])
    ranks, inside, size = _doubled_ranks(y), has_value.astype(np.float64).T, has_value.sum(axis=1)

    def strengths(of_y: FloatArray) -> FloatArray:
        # Doubled ranks are whole numbers, so no digit depends on the order of additions.
        squares = of_y**2 @ inside - (of_y @ inside) ** 2 / np.maximum(size, 1)
        of_x = np.broadcast_to((x**2).sum(axis=1), squares.shape)
        correlations = np.nan_to_num(_over_root(of_y @ x.T, of_x, squares))
        return np.asarray(np.abs(correlations) * np.sqrt(np.maximum(size - 1, 0)))

    observed = strengths(ranks[np.newaxis])[0]
    order = np.argsort(-observed, kind="stable")
    limits = observed[order] * (1 - ROUNDING)
    sizes = np.unique(blocks, return_counts=True)[1].tolist()
    exact = math.fsum(math.lgamma(size + 1) for size in sizes) <= math.log(trials) + ROUNDING
    orders = iter([all_permutations(blocks)]) if exact else permuted(blocks, trials, seed)
    counted, reached = (0, np.zeros(len(order))) if exact else (1, np.ones(len(order)))
    for rows in orders:
        moved = rows if unit is None else _with_members(rows, unit)
        strongest = np.maximum.accumulate(strengths(ranks[moved])[:, order[::-1]], axis=1)[:, ::-1]
        reached += (strongest >= limits).sum(axis=0)
        counted += len(rows)
    p = np.empty(len(order))
    p[order] = np.maximum.accumulate(reached / counted)
    return np.where((x != 0).any(axis=1), p, np.nan)


def _with_members(orders: IntArray, unit: IntArray) -> IntArray:
    """Turn orders of units, (rows, G), into those of their observations, (rows, n)."""
    members = np.argsort(unit, kind="stable")
    starts = np.searchsorted(unit[members], np.arange(orders.shape[1]))
    place = np.empty_like(unit)
    place[members] = np.arange(len(unit)) - starts[unit[members]]
    return np.asarray(members[starts[orders[:, unit]] + place])


def _doubled_ranks(values: FloatArray) -> FloatArray:
    """Return twice the distance of each value's rank from the mean rank; equal values share it."""
    group = _numbered(values)
    sizes = np.bincount(group).astype(np.float64)
    return np.asarray(_from_mean(sizes, np.array(float(len(values))))[group])
