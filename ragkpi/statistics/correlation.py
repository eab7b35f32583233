"""Correlation coefficients of observations under weights, many weightings at once.

A weight says how often an observation was drawn, so a bootstrap resample is a row of weights and
a data set is the row of ones. Undefined, NaN, where a variable does not vary.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ragkpi.measures.aggregates import FloatArray

# From weights, (B, n), to coefficients, (B,).
UnderWeights = Callable[[FloatArray], FloatArray]
Coefficient = Callable[[FloatArray, FloatArray], UnderWeights]
MOST_PAIRED = 10_000


def pearson(x: FloatArray, y: FloatArray) -> UnderWeights:
    """Pearson's r of n observations; NaN if one is infinite.

    Source: K. Pearson, Proceedings of the Royal Society of London 58, 1895.
    """
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        return _unknown
    return lambda weights: _product_moment(weights, x[np.newaxis], y[np.newaxis])


def spearman(x: FloatArray, y: FloatArray) -> UnderWeights:
    """Spearman's rho: Pearson's r of the ranks, equal values sharing their mean rank.

    Source: C. Spearman, American Journal of Psychology 15, 1904.
    """
    of_x, of_y = ranks(x), ranks(y)
    return lambda weights: _product_moment(weights, of_x(weights), of_y(weights))


def kendall(x: FloatArray, y: FloatArray) -> UnderWeights:
    """Kendall's tau-b: concordant less discordant pairs, over pairs not tied in x, and in y.

    NaN for more than `MOST_PAIRED` observations, which have too many pairs.
    Source: M. G. Kendall, Biometrika 33, 1945.
    """
    if len(x) > MOST_PAIRED:
        return _unknown
    above_x, above_y = _order(x), _order(y)
    signs = (above_x * above_y, abs(above_x), abs(above_y))

    def under(weights: FloatArray) -> FloatArray:
        # Whole numbers all along, which single precision holds: no digit depends on how a
        # matrix product is split.
        short = weights.astype(np.float32)
        agreeing, by_x, by_y = (
            np.einsum("bn,bn->b", (short @ one).astype(np.float64), weights) for one in signs
        )
        return _over_root(agreeing, by_x * by_y)

    return under


def ranks(values: FloatArray) -> UnderWeights:
    """Rank n values under every row of weights, (B, n) to (B, n), from 1 for the least."""
    order = np.argsort(values, kind="stable")
    first = np.append(True, np.diff(_dense(values)[order]) > 0)
    group, last = np.cumsum(first) - 1, np.append(first[1:], True)

    def under(weights: FloatArray) -> FloatArray:
        total = np.cumsum(weights[:, order], axis=1)[:, last]
        below = np.concatenate([np.zeros((len(weights), 1)), total[:, :-1]], axis=1)
        found = np.empty_like(weights)
        found[:, order] = ((below + total + 1) / 2)[:, group]
        return found

    return under


def once(coefficient: Coefficient, x: FloatArray, y: FloatArray) -> float:
    """Return a coefficient of the observations themselves."""
    return float(coefficient(x, y)(np.ones((1, len(x))))[0])


def _unknown(weights: FloatArray) -> FloatArray:
    return np.full(len(weights), np.nan)


def _dense(values: FloatArray) -> FloatArray:
    """Number distinct values from the least, so that infinities can be subtracted."""
    return np.asarray(np.unique(values, return_inverse=True)[1], dtype=np.float64)


def _order(values: FloatArray) -> npt.NDArray[np.float32]:
    dense = _dense(values).astype(np.float32)
    return np.asarray(np.sign(dense[:, np.newaxis] - dense))


def _product_moment(weights: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    total = weights.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        x, y = (v - (weights * v).sum(axis=1, keepdims=True) / total for v in (x, y))
    drawn = weights > 0
    constant = np.zeros(len(weights), dtype=bool)
    for v in (x, y):  # rounding leaves a trace of variance
        low = np.where(drawn, v, np.inf).min(axis=1)
        constant |= low == np.where(drawn, v, -np.inf).max(axis=1)
    covariance, by_x, by_y = ((weights * product).sum(axis=1) for product in (x * y, x * x, y * y))
    return np.where(constant, np.nan, _over_root(covariance, by_x * by_y))


def _over_root(above: FloatArray, below: FloatArray) -> FloatArray:
    defined = below > 0
    found = np.full(len(above), np.nan)
    np.divide(
        above, np.sqrt(below, where=defined, out=np.ones_like(below)), out=found, where=defined
    )
    return np.asarray(np.clip(found, -1.0, 1.0))


COEFFICIENTS: dict[str, Coefficient] = {
    "spearman": spearman,
    "kendall": kendall,
    "pearson": pearson,
}
