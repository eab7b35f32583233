"""How alike two judgements order systems: tau-b, tau_AP, Spearman, Pearson and rank-biased overlap.

Every function takes the values of R systems under two judgements, (..., R); leading axes are
bootstrap replicates. Greater values are better. A result is NaN where no two systems differ
under one of the judgements, or where a value is not finite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from ragkpi.arrays import FloatArray
from ragkpi.ranking.judged import ratio

# p of rank-biased overlap: the probability that a reader goes on to the next system.
PERSISTENCE = 0.9

RankAgreement = Callable[[FloatArray, FloatArray], FloatArray]


def tau_b(reference: FloatArray, other: FloatArray) -> FloatArray:
    """Kendall's tau-b: concordant less discordant pairs, over pairs untied in each of the two.

    Source: M. G. Kendall, The treatment of ties in ranking problems, Biometrika 33, 1945.
    """
    by_reference, by_other = _order(reference), _order(other)
    agreeing = (by_reference * by_other).sum(axis=(-2, -1))
    root = np.sqrt(np.abs(by_reference).sum(axis=(-2, -1)) * np.abs(by_other).sum(axis=(-2, -1)))
    return _known(ratio(agreeing, root), reference, other)


def tau_ap(reference: FloatArray, other: FloatArray) -> FloatArray:
    """Kendall's tau in which an error near the top of the other order counts more.

    For every system but the first of the other order, C counts the systems above it that the
    reference has above it, too. It is not symmetric.

    Formula:    2 / (R - 1) * sum over ranks i from 2 of C(i) / (i - 1), minus 1
    Ties:       the mean over all ways to break them, in either order (tau_AP,a)
    Source:     E. Yilmaz, J. A. Aslam and S. Robertson, A new rank correlation coefficient for
                information retrieval, SIGIR 2008; J. Urbano and M. Marrero, The treatment of ties
                in AP correlation, ICTIR 2017
    """
    systems = reference.shape[-1]
    above = _order(other)  # [..., i, j]: 1 where system j is above system i
    first = (above > 0).sum(axis=-1)  # the number above the whole group of ties
    size = (above == 0).sum(axis=-1)
    # The mean of 1 / (rank - 1) over the ranks first + 1 .. first + size of the group.
    harmonic = np.append([0.0, 0.0], np.cumsum(1.0 / np.arange(1, systems)))
    weight = (harmonic[first + size] - harmonic[first]) / size
    correct = np.where(above > 0, _order(reference), 0).sum(axis=-1)
    value = ratio((weight * correct).sum(axis=-1), np.full(first.shape[:-1], systems - 1.0))
    return _known(value, reference, other)


def spearman_of_orders(reference: FloatArray, other: FloatArray) -> FloatArray:
    """Spearman's rho: Pearson's r of the ranks, equal values sharing their mean rank.

    Source: C. Spearman, American Journal of Psychology 15, 1904.
    """
    ranks = [_order(values).sum(axis=-1).astype(np.float64) for values in (reference, other)]
    return _known(_product_moment(*ranks), reference, other)


def pearson_of_values(reference: FloatArray, other: FloatArray) -> FloatArray:
    """Pearson's r of the values themselves.

    Source: K. Pearson, Proceedings of the Royal Society of London 58, 1895.
    """
    return _known(_product_moment(reference, other), reference, other)


def rank_biased_overlap(
    reference: FloatArray, other: FloatArray, persistence: float = PERSISTENCE
) -> FloatArray:
    """Rank-biased overlap of the two orders, from 0 to 1, extrapolated beyond their ends.

    Formula:    p^R + (1 - p) / p * sum over d = 1..R of p^d * X_d / d, X_d the overlap of the
                first d of both orders; all R are in both, so the overlap beyond the end is whole
    Ties:       the mean over all ways to break them
    Source:     W. Webber, A. Moffat and J. Zobel, A similarity measure for indefinite rankings,
                TOIS 28, 2010, equation 32
    """
    systems = reference.shape[-1]
    depth = np.arange(1, systems + 1)
    within = _within(reference, depth) * _within(other, depth)
    overlap = within.sum(axis=-2) / depth
    weights = (1.0 - persistence) * persistence ** (depth - 1.0)
    value = persistence**systems + (overlap * weights).sum(axis=-1)
    return _known(np.asarray(value), reference, other)


def _within(values: FloatArray, depth: npt.NDArray[np.int64]) -> FloatArray:
    """Return the probability that each system is among the first d, (..., R, D), ties at random."""
    above = _order(values)
    first = (above > 0).sum(axis=-1)[..., np.newaxis]
    size = (above == 0).sum(axis=-1)[..., np.newaxis]
    return np.asarray(np.clip((depth - first) / size, 0.0, 1.0))


def _order(values: FloatArray) -> npt.NDArray[np.int8]:
    """Compare every system with every other: 1 where j's value is greater than i's, (..., i, j)."""
    row, column = values[..., :, np.newaxis], values[..., np.newaxis, :]
    return (column > row).astype(np.int8) - (column < row).astype(np.int8)


def _product_moment(x: FloatArray, y: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore"):
        x, y = (v - v.mean(axis=-1, keepdims=True) for v in (x, y))
        root = np.sqrt((x * x).sum(axis=-1) * (y * y).sum(axis=-1))
        return np.clip(ratio((x * y).sum(axis=-1), root), -1.0, 1.0)


def _known(value: FloatArray, reference: FloatArray, other: FloatArray) -> FloatArray:
    """Return a coefficient where both judgements have an order of finite values; NaN elsewhere."""
    ordered = [
        np.isfinite(values).all(axis=-1) & (values.max(axis=-1) > values.min(axis=-1))
        for values in (reference, other)
    ]
    return np.where(ordered[0] & ordered[1], value, np.nan)


RANK_AGREEMENTS: Mapping[str, RankAgreement] = {
    "tau_b": tau_b,
    "tau_ap": tau_ap,
    "spearman": spearman_of_orders,
    "pearson": pearson_of_values,
    "rbo": rank_biased_overlap,
}
"""By the names in answers; the first argument is the reference."""
