"""Correlation coefficients of observations under weights, many weightings at once.

A weight says how often an observation was drawn, so a bootstrap resample is a row of weights and
a data set is the row of ones. Undefined, NaN, where a variable does not vary.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ragkpi.measures.aggregates import FloatArray

Coefficient = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]


def pearson(weights: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Pearson's r, (B,), of n observations under weights, (B, n); NaN if one is infinite.

    Source: K. Pearson, Proceedings of the Royal Society of London 58, 1895.
    """
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        return np.full(len(weights), np.nan)
    return _product_moment(weights, x[np.newaxis], y[np.newaxis])


def spearman(weights: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Spearman's rho: Pearson's r of the ranks, equal values sharing their mean rank.

    Source: C. Spearman, American Journal of Psychology 15, 1904.
    """
    return _product_moment(weights, ranks(weights, x), ranks(weights, y))


def kendall(weights: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Kendall's tau-b: concordant less discordant pairs, over pairs not tied in x, and in y.

    Source: M. G. Kendall, Biometrika 33, 1945.
    """
    above_x, above_y = (_order(v) for v in (x, y))
    # Whole numbers all along, so that a matrix product has the same digits however it is split.
    agreeing, by_x, by_y = (
        np.einsum("bn,bn->b", weights @ signs, weights)
        for signs in (above_x * above_y, abs(above_x), abs(above_y))
    )
    return _over_root(agreeing, by_x * by_y)


def ranks(weights: FloatArray, values: FloatArray) -> FloatArray:
    """Rank n values under every row of weights, (B, n); equal values share their mean rank."""
    order = np.argsort(values, kind="stable")
    first = np.append(True, np.diff(_dense(values)[order]) > 0)
    group = np.cumsum(first) - 1
    total = np.cumsum(weights[:, order], axis=1)[:, np.append(first[1:], True)]
    below = np.concatenate([np.zeros((len(weights), 1)), total[:, :-1]], axis=1)
    shared = (below + total + 1) / 2
    found = np.empty_like(weights)
    found[:, order] = shared[:, group]
    return found


def _dense(values: FloatArray) -> FloatArray:
    """Number distinct values from the least, so that infinities can be subtracted."""
    return np.asarray(np.unique(values, return_inverse=True)[1], dtype=np.float64)


def _order(values: FloatArray) -> FloatArray:
    dense = _dense(values)
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
