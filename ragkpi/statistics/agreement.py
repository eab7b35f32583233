"""Agreement of two judges on the levels of documents, and of two orders of the same systems.

A statistic of levels is a function of a confusion matrix, (..., L, L): the number of documents to
which the first judge gave the row's level and the second the column's. `levels`, (L,), are the
levels of rows and columns, ascending. Distances are between numbers, so unused levels count.
NaN if a value is undefined.

A statistic of orders takes the values of R systems under two judgements, (..., R). Larger values
are better. NaN if no two systems differ under one of the judgements, or a value is not finite.
Leading axes are bootstrap replicates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt

from ragkpi.arrays import ROUNDING, FloatArray
from ragkpi.ranking.judged import ratio
from ragkpi.statistics.bootstrap import special

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

    `query`, `first` and `second`, (n,), are each document's query and the levels from both judges;
    `levels`, (L,), are all levels that occur, ascending.
    """
    size = len(levels)
    counts = np.zeros((queries, size, size))
    np.add.at(counts, (query, np.searchsorted(levels, first), np.searchsorted(levels, second)), 1)
    return counts


def raw_agreement(counts: FloatArray, levels: FloatArray) -> FloatArray:
    """Return the share of documents to which both judges gave the same level."""
    return ratio(np.trace(counts, axis1=-2, axis2=-1), counts.sum(axis=(-2, -1)))


def cohens_kappa(
    counts: FloatArray, levels: FloatArray, weighting: Weighting = "plain"
) -> FloatArray:
    """Return the agreement beyond chance, given how often each judge uses each level.

    Formula:    1 - sum(w * observed) / sum(w * expected); w is 1 off the diagonal, or the distance
                of the levels, or its square
    Edge cases: NaN if both judges give the same level to every document
    Source:     J. Cohen, A coefficient of agreement for nominal scales, 1960; Weighted kappa, 1968
    """
    distance = np.abs(levels[:, np.newaxis] - levels)
    weights = {"plain": np.sign(distance), "linear": distance, "quadratic": distance**2}[weighting]
    total = counts.sum(axis=(-2, -1))
    expected = np.einsum("...i,ij,...j->...", counts.sum(axis=-1), weights, counts.sum(axis=-2))
    observed = (weights * counts).sum(axis=(-2, -1)) * total
    return 1.0 - ratio(observed, expected)


def kappa_from(counts: FloatArray, levels: FloatArray, threshold: float) -> FloatArray:
    """Return Cohen's kappa of levels split into those below a threshold and the others."""
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


def coincidences_of_panel(
    query: npt.NDArray[np.int64],
    judged: npt.NDArray[np.int64],
    queries: int,
    levels: npt.NDArray[np.int64],
) -> FloatArray:
    """Count the coincidences of levels that any number of judges gave, (Q, L, L).

    `judged`, (n, J), is each judge's level for each document; negative for none.
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
    Edge cases: NaN if only one level occurs
    Source:     K. Krippendorff, Content Analysis, 2004, chapter 11; Computing Krippendorff's
                Alpha-Reliability, 2011
    """
    values = coincidence.sum(axis=-1)
    if scale == "ordinal":
        middle = np.cumsum(values, axis=-1) - values / 2
        distance = (middle[..., :, np.newaxis] - middle[..., np.newaxis, :]) ** 2
    else:
        difference = levels[:, np.newaxis] - levels
        distance = (difference != 0).astype(np.float64) if scale == "nominal" else difference**2
    observed = (coincidence * distance).sum(axis=(-2, -1))
    products = values[..., :, np.newaxis] * values[..., np.newaxis, :]
    expected = (products * distance).sum(axis=(-2, -1))
    return 1.0 - ratio((values.sum(axis=-1) - 1) * observed, expected)


def _alpha(scale: Scale) -> AgreementStatistic:
    # Each pair of levels coincides in both orders.
    return lambda counts, levels: krippendorffs_alpha(
        counts + np.swapaxes(counts, -2, -1), levels, scale
    )


AGREEMENTS: Mapping[str, AgreementStatistic] = {
    "agreement": raw_agreement,
    "kappa": cohens_kappa,
    "kappa_linear": partial(cohens_kappa, weighting="linear"),
    "kappa_quadratic": partial(cohens_kappa, weighting="quadratic"),
    "alpha_nominal": _alpha("nominal"),
    "alpha_ordinal": _alpha("ordinal"),
    "alpha_interval": _alpha("interval"),
    "mean_difference": mean_difference,
}
"""Statistics of the confusion matrix of all documents, by the names in answers."""


def p_of_chance(counts: FloatArray, levels: FloatArray) -> float:
    """Test whether quadratic kappa is 0, two-sided, from a confusion matrix per query, (Q, L, L).

    Student's t over the jackknife's pseudo-values of the queries; a bootstrap of few queries is too
    narrow.

    Edge cases: NaN for one query, or if kappa is undefined without one of the queries; 1 if kappa
                is 0 over all queries and without each one, as for a constant judge
    Source:     B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapter 11
    """
    queries, total = len(counts), counts.sum(axis=0)
    if queries < 2:
        return math.nan
    kappa = cohens_kappa(total, levels, "quadratic")
    pseudo = queries * kappa - (queries - 1) * cohens_kappa(total - counts, levels, "quadratic")
    error = pseudo.std(ddof=1) / math.sqrt(queries)
    mean = abs(float(pseudo.mean()))
    if not error > ROUNDING * mean:
        return math.nan if math.isnan(error) else float(mean == 0)
    return float(2 * special().stdtr(queries - 1, -mean / error))


RankAgreement = Callable[[FloatArray, FloatArray], FloatArray]


def tau_b(reference: FloatArray, other: FloatArray) -> FloatArray:
    """Kendall's tau-b: concordant minus discordant pairs, over the pairs untied in each order.

    Source: M. G. Kendall, The treatment of ties in ranking problems, Biometrika 33, 1945.
    """
    by_reference, by_other = _order(reference), _order(other)
    agreeing = (by_reference * by_other).sum(axis=(-2, -1))
    root = np.sqrt(np.abs(by_reference).sum(axis=(-2, -1)) * np.abs(by_other).sum(axis=(-2, -1)))
    return _where_ordered(ratio(agreeing, root), reference, other)


def tau_ap(reference: FloatArray, other: FloatArray) -> FloatArray:
    """Kendall's tau in which an error near the top of the other order counts more.

    For every system but the first of the other order, C counts the systems above it in both
    orders. The coefficient is not symmetric.

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
    return _where_ordered(value, reference, other)


def _order(values: FloatArray) -> npt.NDArray[np.int8]:
    """Compare all pairs of systems: 1 where j's value is greater than i's, (..., i, j)."""
    row, column = values[..., :, np.newaxis], values[..., np.newaxis, :]
    return (column > row).astype(np.int8) - (column < row).astype(np.int8)


def _where_ordered(value: FloatArray, reference: FloatArray, other: FloatArray) -> FloatArray:
    """Return a coefficient if both judgements order finite values, else NaN."""
    ordered = [
        np.isfinite(values).all(axis=-1) & (values.max(axis=-1) > values.min(axis=-1))
        for values in (reference, other)
    ]
    return np.where(ordered[0] & ordered[1], value, np.nan)


RANK_AGREEMENTS: Mapping[str, RankAgreement] = {"tau_b": tau_b, "tau_ap": tau_ap}
"""By the names in answers; the first argument is the reference."""
