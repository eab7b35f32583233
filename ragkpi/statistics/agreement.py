"""Agreement of two judges about documents, from the counts of their pairs of levels.

Every statistic is a function of a confusion matrix, (..., L, L): the number of documents to which
the first judge gave the level of the row, and the second that of the column. Leading axes are
bootstrap replicates. `levels`, (L,), are the levels of rows and columns, ascending. Distances are
those of the numbers, so a level that nobody uses still counts. NaN where a value is undefined.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np
import numpy.typing as npt

from ragkpi.arrays import FloatArray
from ragkpi.ranking.judged import ratio

Weighting = Literal["plain", "linear", "quadratic"]
Scale = Literal["nominal", "ordinal", "interval"]

AgreementStatistic = Callable[[FloatArray, FloatArray], FloatArray]
"""From confusion matrices, (..., L, L), and levels, (L,), to values, (...)."""


def confusion(
    query: npt.NDArray[np.int64],
    first: npt.NDArray[np.int64],
    second: npt.NDArray[np.int64],
    queries: int,
    levels: npt.NDArray[np.int64],
) -> FloatArray:
    """Count the pairs of levels of every query, (Q, L, L).

    Parameters
    ----------
    query, first, second : length n
        The query of each document, from 0 to `queries` - 1, and the levels of both judges.
    levels : (L,)
        All levels that occur, ascending.
    """
    size = len(levels)
    pair = np.searchsorted(levels, first) * size + np.searchsorted(levels, second)
    counts = np.bincount(query * size * size + pair, minlength=queries * size * size)
    return counts.reshape(queries, size, size).astype(np.float64)


def raw_agreement(counts: FloatArray, levels: FloatArray) -> FloatArray:
    """Return the share of the documents that have the same level from both judges."""
    return ratio(np.trace(counts, axis1=-2, axis2=-1), counts.sum(axis=(-2, -1)))


def cohens_kappa(
    counts: FloatArray, levels: FloatArray, weighting: Weighting = "plain"
) -> FloatArray:
    """Return the agreement beyond that of two judges with these frequencies of levels by chance.

    Formula:    1 - sum(w * observed) / sum(w * expected); w is 1 off the diagonal, or the distance
                of the levels, or its square
    Edge cases: NaN where both judges give the same level to every document
    Source:     J. Cohen, A coefficient of agreement for nominal scales, 1960; Weighted kappa, 1968
    """
    distance = np.abs(levels[:, np.newaxis] - levels)
    weights = {"plain": np.sign(distance), "linear": distance, "quadratic": distance**2}[weighting]
    total = counts.sum(axis=(-2, -1))
    expected = np.einsum("...i,ij,...j->...", counts.sum(axis=-1), weights, counts.sum(axis=-2))
    observed = (weights * counts).sum(axis=(-2, -1)) * total
    return 1.0 - ratio(observed, expected)


def kappa_from(counts: FloatArray, levels: FloatArray, threshold: float) -> FloatArray:
    """Return Cohen's kappa of the question whether the level is at least a threshold."""
    above = (levels >= threshold).astype(np.float64)
    sides = np.stack([1.0 - above, above])
    two_by_two = np.einsum("ai,...ij,bj->...ab", sides, counts, sides)
    return cohens_kappa(two_by_two, np.array([0.0, 1.0]))


def mean_difference(counts: FloatArray, levels: FloatArray) -> FloatArray:
    """Return the mean of the second judge's level minus the first judge's."""
    difference = levels - levels[:, np.newaxis]
    return ratio((counts * difference).sum(axis=(-2, -1)), counts.sum(axis=(-2, -1)))


def bias_at(counts: FloatArray, levels: FloatArray, level: float) -> FloatArray:
    """Return the mean of the second judge's level minus `level` where the first gave `level`.

    A judge that errs at random is biased at the ends of a scale, towards its middle.
    """
    row = counts[..., int(np.searchsorted(levels, level)), :]
    return ratio((row * (levels - level)).sum(axis=-1), row.sum(axis=-1))


def coincidences(counts: FloatArray) -> FloatArray:
    """Turn confusion matrices into coincidence matrices: each pair of levels both ways."""
    return counts + np.swapaxes(counts, -2, -1)


def coincidences_of_panel(
    query: npt.NDArray[np.int64],
    judged: npt.NDArray[np.int64],
    queries: int,
    levels: npt.NDArray[np.int64],
) -> FloatArray:
    """Count the coincidences of levels that any number of judges gave, (Q, L, L).

    Parameters
    ----------
    query : (n,)
        The number of each document's query.
    judged : (n, J)
        The level that each judge gave each document; negative for none.
    """
    size = len(levels)
    by_level = np.stack([(judged == level).sum(axis=1) for level in levels], axis=1)
    judges = by_level.sum(axis=1)
    paired = judges > 1
    by_level, query = by_level[paired].astype(np.float64), query[paired]
    pairs = by_level[:, :, np.newaxis] * by_level[:, np.newaxis, :]
    pairs[:, np.arange(size), np.arange(size)] -= by_level
    pairs /= (judges[paired] - 1)[:, np.newaxis, np.newaxis]
    total = np.zeros((queries, size, size))
    np.add.at(total, query, pairs)
    return total


def krippendorffs_alpha(
    coincidence: FloatArray, levels: FloatArray, scale: Scale = "nominal"
) -> FloatArray:
    """Return the agreement of any number of judges beyond that of levels assigned at random.

    Formula:    1 - (n - 1) * sum(o_ck * d_ck) / sum(n_c * n_k * d_ck); d is 1 for different
                levels, or (c - k)^2, or for an ordinal scale the square of the number of values
                from one level to the other, halves of both included
    Edge cases: NaN where only one level occurs
    Source:     K. Krippendorff, Content Analysis, 2004, chapter 11; Computing Krippendorff's
                Alpha-Reliability, 2011
    """
    values = coincidence.sum(axis=-1)
    if scale == "ordinal":
        middle = np.cumsum(values, axis=-1) - values / 2
        distance = (middle[..., :, np.newaxis] - middle[..., np.newaxis, :]) ** 2
    else:
        apart = levels[:, np.newaxis] - levels
        distance = (apart != 0).astype(np.float64) if scale == "nominal" else apart**2
    observed = (coincidence * distance).sum(axis=(-2, -1))
    products = values[..., :, np.newaxis] * values[..., np.newaxis, :]
    expected = (products * distance).sum(axis=(-2, -1))
    return 1.0 - ratio((values.sum(axis=-1) - 1) * observed, expected)


def _kappa(weighting: Weighting) -> AgreementStatistic:
    return lambda counts, levels: cohens_kappa(counts, levels, weighting)


def _alpha(scale: Scale) -> AgreementStatistic:
    return lambda counts, levels: krippendorffs_alpha(coincidences(counts), levels, scale)


AGREEMENTS: Mapping[str, AgreementStatistic] = {
    "agreement": raw_agreement,
    "kappa": _kappa("plain"),
    "kappa_linear": _kappa("linear"),
    "kappa_quadratic": _kappa("quadratic"),
    "alpha_nominal": _alpha("nominal"),
    "alpha_ordinal": _alpha("ordinal"),
    "alpha_interval": _alpha("interval"),
    "mean_difference": mean_difference,
}
"""Statistics of the confusion matrix of all documents, by the names in answers."""
