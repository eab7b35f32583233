"""Pearson's, Spearman's and Kendall's correlation of weighted observations.

A weight is how often an observation was drawn, so a bootstrap resample is a row of weights and a
data set a row of ones. A coefficient is NaN where a variable does not vary. Doubles hold ranks and
counts of pairs exactly, as whole numbers, so no digit of Spearman's and Kendall's coefficients
depends on the order of additions. Internally weights have a row per observation, (n, B), so that
rows are gathered and added in one piece.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ragkpi.arrays import ROUNDING, FloatArray, IntArray
from ragkpi.statistics.bootstrap import all_permutations, permuted, sums
from ragkpi.statistics.units import Unit

IndexArray: TypeAlias = "npt.NDArray[np.intp]"


class Cells:
    """Observations of A variables and another one, (A, n) and (n,), equal ones in one of C cells.

    `variables`, (A, C), and `other`, (C,), hold the values, numbered from the least.
    """

    def __init__(self, variables: FloatArray, other: FloatArray) -> None:
        numbers = np.stack([_numbered(values) for values in (*variables, other)])
        cells, cell_of = _distinct(numbers)
        self.variables, self.other = cells[:-1], cells[-1]
        self._groups = _groups(cell_of)

    def added(self, weights: FloatArray) -> FloatArray:
        """Add weights, (B, n), by cell, (C, B)."""
        return np.asarray(self._groups @ np.ascontiguousarray(weights.T))


def _groups(group: IndexArray) -> Any:
    """Return a sparse matrix that adds the rows, (n, B), of each group, (G, B)."""
    from scipy.sparse import csr_matrix

    return csr_matrix((np.ones(len(group)), (group, np.arange(len(group)))))


def _numbered(values: FloatArray) -> IndexArray:
    """Number distinct values from the least, so that infinities compare too."""
    return np.asarray(np.unique(values, return_inverse=True)[1].reshape(-1), dtype=np.intp)


def _distinct(columns: IndexArray) -> tuple[IndexArray, IndexArray]:
    """Return the distinct columns of whole numbers, (A, n), ascending, and each one's place."""
    # Of few bits, which numpy sorts by digits: ten times as fast as np.unique with an axis.
    order = np.lexsort(columns[::-1].astype(np.min_scalar_type(columns.max(initial=0))))
    columns, place = columns[:, order], np.empty_like(order)
    first = np.any(np.diff(columns, axis=1, prepend=-1), axis=0)
    place[order] = np.cumsum(first) - 1
    return columns[:, first], place


def _from_mean(in_group: FloatArray, total: FloatArray) -> FloatArray:
    """Return twice the distance of each group's rank from the mean rank, (G, B)."""
    distance = np.cumsum(in_group, axis=0)  # twice a group's rank is 2 * cumsum - in_group + 1
    distance *= 2
    distance -= in_group
    distance -= total
    return distance


def _untied(in_group: FloatArray, total: FloatArray) -> FloatArray:
    """Count the ordered pairs of observations in different groups, (B,)."""
    return np.asarray(total * total - np.einsum("gb,gb->b", in_group, in_group))


# From weights, (B, n), to coefficients, (B,) or, of each of several variables, (B, A).
UnderWeights = Callable[[FloatArray], FloatArray]
# If less than this share of a sum of squares is left around the mean, digits were lost.
_LOST = 1e-6
_WHOLE_IN_SINGLE = 2**24

Coefficient = Callable[[FloatArray, FloatArray], UnderWeights]
"""From A variables, (A, n), and another one, (n,), to the coefficients of each, (B, A)."""


def _of_each(coefficient: Coefficient) -> Coefficient:
    @functools.wraps(coefficient)
    def of_each(variables: FloatArray, y: FloatArray) -> UnderWeights:
        each = [coefficient(values, y) for values in variables]
        return lambda weights: np.stack([under(weights) for under in each], axis=1)

    return of_each


@_of_each
def pearson(x: FloatArray, y: FloatArray) -> UnderWeights:
    """Pearson's r of n observations; NaN if any is infinite.

    Source: K. Pearson, Proceedings of the Royal Society of London 58, 1895.
    """
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        return lambda weights: np.full(len(weights), np.nan)
    x, y = _scaled(x), _scaled(y)
    moments = np.stack([x, y, x * x, y * y, x * y], axis=1)

    def under(weights: FloatArray) -> FloatArray:
        total = weights.sum(axis=1)
        of_x, of_y, squares_x, squares_y, products = sums([weights], moments).T
        with np.errstate(divide="ignore", invalid="ignore"):
            by_x = squares_x - of_x * of_x / total
            by_y = squares_y - of_y * of_y / total
            r = _over_root(products - of_x * of_y / total, by_x, by_y)
        lost = (by_x <= _LOST * squares_x) | (by_y <= _LOST * squares_y)
        if lost.any():
            r[lost] = weighted_pearson(weights[lost], x, y)
        return r

    return under


def weighted_pearson(weights: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Compute Pearson's r by definition, around the means of each row of weights, (..., n)."""
    total = weights.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        from_x, from_y = (v - (weights * v).sum(axis=-1, keepdims=True) / total for v in (x, y))
    drawn = weights > 0
    constant = np.zeros(weights.shape[:-1], dtype=bool)
    for v in (x, y):  # rounding leaves a trace of variance
        low = np.where(drawn, v, np.inf).min(axis=-1, initial=np.inf)
        constant |= low == np.where(drawn, v, -np.inf).max(axis=-1, initial=-np.inf)
    covariance, by_x, by_y = (
        (weights * product).sum(axis=-1)
        for product in (from_x * from_y, from_x * from_x, from_y * from_y)
    )
    return np.where(constant, np.nan, _over_root(covariance, by_x, by_y))


def spearman(variables: FloatArray, y: FloatArray) -> UnderWeights:
    """Spearman's rho: Pearson's r of the ranks, equal values sharing their mean rank.

    Variables that order the observations alike share one rho.

    Source: C. Spearman, American Journal of Psychology 15, 1904.
    """
    cells = Cells(variables, y)
    of_y = _groups(cells.other)
    values, alike = _distinct(cells.variables)
    of_values = _groups(alike)
    orders, which = np.unique(values, axis=0, return_inverse=True)
    groups_of_orders = [_groups(order) for order in orders]

    def under(weights: FloatArray) -> FloatArray:
        in_cell = cells.added(weights)
        total = in_cell.sum(axis=0)
        in_y = of_y @ in_cell
        y_distance = _from_mean(in_y, total)
        y_squares = np.einsum("gb,gb,gb->b", in_y, y_distance, y_distance)
        in_value, y_in_value = of_values @ in_cell, of_values @ (in_cell * y_distance[cells.other])
        products, squares = np.empty((2, len(orders), len(weights)))
        for place, groups in enumerate(groups_of_orders):
            in_group = groups @ in_value
            distance = _from_mean(in_group, total)
            squares[place] = np.einsum("gb,gb,gb->b", in_group, distance, distance)
            products[place] = np.einsum("gb,gb->b", groups @ y_in_value, distance)
        return _over_root(products, squares, y_squares)[which.reshape(-1)].T

    return under


@_of_each
def kendall(x: FloatArray, y: FloatArray) -> UnderWeights:
    """Kendall's tau-b: concordant less discordant pairs, over pairs not tied in x, and in y.

    Merging counts the pairs: the distinct values of one variable (with fewer of them) are halved
    again and again, and pairs across two halves are counted in the order of the other variable,
    O(n log n) per resample.

    Source: M. G. Kendall, Biometrika 33, 1945; W. R. Knight, Journal of the American Statistical
    Association 61, 1966.
    """
    cells = Cells(x[np.newaxis], y)
    both = cells.variables[0], cells.other
    of_x, of_y = map(_groups, both)
    fewer, more = sorted(both, key=lambda numbers: int(numbers.max(initial=0)))
    levels = int(fewer.max(initial=0)).bit_length()
    merges = [_Merge(fewer, more, level) for level in range(levels)]

    def under(weights: FloatArray) -> FloatArray:
        in_cell = cells.added(weights)
        total = in_cell.sum(axis=0)
        # No count exceeds the square of the total, which fits single precision up to 4,096 draws.
        single = float(total.max(initial=0)) ** 2 <= _WHOLE_IN_SINGLE
        rows = in_cell.astype(np.float32) if single else in_cell
        agreeing = np.zeros(len(weights))
        for merge in merges:
            agreeing += merge.agreeing(rows)
        pairs = [_untied(groups @ in_cell, total) for groups in (of_x, of_y)]
        return _over_root(2 * agreeing, *pairs)

    return under


class _Merge:
    """Pairs of observations whose x differ in one bit and agree in all higher bits.

    The observations of a block (equal higher bits) are adjacent, sorted by y. An upper observation
    (bit set) agrees with lower observations of its block with a smaller y, and disagrees with
    lower observations with a greater y.
    """

    def __init__(self, x: IndexArray, y: IndexArray, level: int) -> None:
        block, upper = x >> (level + 1), (x >> level) & 1 == 1
        self.order = np.lexsort((y, block))
        block, y, upper = block[self.order], y[self.order], upper[self.order]
        self.lower = ~upper[:, np.newaxis]
        self.upper = np.flatnonzero(upper)
        n = len(block)
        new_block = np.append(True, np.diff(block) != 0)
        new_value = new_block | np.append(True, np.diff(y) != 0)
        first, value = np.flatnonzero(new_value), (np.cumsum(new_value) - 1)[self.upper]
        self.value = first[value], np.append(first[1:], n)[value]
        self.distinct = bool(new_value.all())
        start = np.flatnonzero(new_block)
        self.start, self.end = start, np.append(start[1:], n)
        self.block = (np.cumsum(new_block) - 1)[self.upper]

    def agreeing(self, rows: npt.NDArray[Any]) -> FloatArray:
        """Count agreeing less disagreeing pairs under weights, (n, B) to (B,)."""
        ordered = rows[self.order]
        counted = np.zeros((len(ordered) + 1, ordered.shape[1]), dtype=rows.dtype)
        np.cumsum(ordered * self.lower, axis=0, out=counted[1:])
        # Per upper observation: lower observations with smaller y, less those with greater y.
        before_value, after_value = self.value
        lead = counted[before_value]
        lead += lead if self.distinct else counted[after_value]
        lead -= (counted[self.start] + counted[self.end])[self.block]
        lead *= ordered[self.upper]
        return np.asarray(lead.sum(axis=0), dtype=np.float64)


def once(coefficient: Coefficient, x: FloatArray, y: FloatArray) -> float:
    """Return a coefficient of the observations, each with a weight of 1."""
    return float(coefficient(x[np.newaxis], y)(np.ones((1, len(x))))[0, 0])


def _scaled(values: FloatArray) -> FloatArray:
    """Scale values to -1..1 around their mean, so that squares neither overflow nor vanish."""
    largest = np.abs(values).max(initial=0.0)
    if largest == 0:
        return values
    # Scaling by a power of two changes no digit, unless a value is tiny.
    near_1 = np.ldexp(values, -int(np.frexp(largest)[1]))
    from_middle = near_1 - near_1.mean()
    spread = np.abs(from_middle).max()
    return np.asarray(from_middle / spread if spread else from_middle)


def _over_root(above: FloatArray, by_x: FloatArray, by_y: FloatArray) -> FloatArray:
    """Divide by the root of a product; NaN where a factor is not above 0."""
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
    """Test by permutation which of A variables, (A, n), go with y, (n,), at all: adjusted p, (A,).

    The values of y are permuted inside blocks, (n,), for all variables at once, and the strongest
    correlation of each permutation is kept, so that the error of naming even one variable of noise
    is p however many are tried, and however alike they are. With the number of each observation's
    `unit`, (n,), whole units change places, and blocks, (G,), have units of one size.

    Formula:    z = |rho| sqrt(n - 1); step-down maxT: p of the i-th greatest z is the share of
                permutations in which one of the i-th to last variables has a z as great, made
                monotone; with the observed order counted in, (count + 1) / (trials + 1), or over
                all orders where there are at most `trials`
    Edge cases: NaN where a variable does not vary. A value that is NaN is left out of its variable;
                rho is then of the ranks of y among all n.
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
        rho = np.nan_to_num(_over_root(of_y @ x.T, of_x, squares))
        return np.asarray(np.abs(rho) * np.sqrt(np.maximum(size - 1, 0)))

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
    distance = _from_mean(sizes[:, np.newaxis], np.full(1, float(len(values))))
    return np.asarray(distance[group, 0])


COEFFICIENTS: dict[str, Coefficient] = {
    "spearman": spearman,
    "kendall": kendall,
    "pearson": pearson,
}
