"""Ranks of observations under weights: what coefficients of correlation share.

Inside, weights stand with a row per observation, (n, B): rows are gathered and added in one piece.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ragkpi.measures.aggregates import FloatArray

IndexArray = npt.NDArray[np.intp]


class Weighted(NamedTuple):
    """What depends on one variable and the weights, by observation, (n, B), or resample, (B,)."""

    rows: FloatArray  # the weights, a row per observation
    total: FloatArray
    from_mean: FloatArray  # weights times twice the distance of the rank from the mean rank
    squares: FloatArray  # of these distances
    pairs: FloatArray  # ordered pairs that are not tied


class Reference:
    """A variable that others are correlated with.

    What depends on it and on the weights is computed once for all that are asked about the same
    weights one after the other.
    """

    def __init__(self, values: FloatArray) -> None:
        self.values = values
        self._ranks = doubled_ranks(values)
        self._groups = WeightGroups(dense_numbers(values))
        self._latest: tuple[FloatArray, Weighted] | None = None

    @classmethod
    def of(cls, values: FloatArray | Reference) -> Reference:
        """Take values, or what was made of them before."""
        return values if isinstance(values, Reference) else cls(values)

    def under(self, weights: FloatArray) -> Weighted:
        """Rank the values under weights, (B, n)."""
        if self._latest is None or self._latest[0] is not weights:
            rows = np.ascontiguousarray(weights.T)
            total = rows.sum(axis=0)
            distance = self._ranks(rows) - (total + 1)
            from_mean = rows * distance
            in_group = self._groups.added(rows)
            pairs = total * total - np.einsum("nb,nb->b", in_group, in_group)
            squares = np.einsum("nb,nb->b", from_mean, distance)
            self._latest = weights, Weighted(rows, total, from_mean, squares, pairs)
        return self._latest[1]


def ranks(values: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Rank n values under every row of weights, (B, n) to (B, n), from 1 for the least."""
    doubled = doubled_ranks(values)
    return lambda weights: np.asarray(doubled(weights.T).T / 2)


def doubled_ranks(values: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Return twice the ranks, so that shared ones are whole, (n, B) to (n, B)."""
    dense = dense_numbers(values)
    groups = WeightGroups(dense)

    def under(rows: FloatArray) -> FloatArray:
        drawn = groups.added(rows)
        doubled = np.cumsum(drawn, axis=0)
        doubled *= 2
        doubled -= drawn
        doubled += 1
        return doubled if groups.unchanged else doubled[dense]

    return under


def dense_numbers(values: FloatArray) -> IndexArray:
    """Number distinct values from the least, so that infinities can be compared too."""
    return np.asarray(np.unique(values, return_inverse=True)[1].reshape(-1), dtype=np.intp)


class WeightGroups:
    """Rows of weights added by group; a sparse matrix product does so in one pass.

    Weights and ranks are whole numbers, so no digit depends on the order of adding.
    """

    def __init__(self, group: IndexArray) -> None:
        from scipy.sparse import csr_matrix

        self.order = np.argsort(group, kind="stable")
        self.first = np.flatnonzero(np.append(True, np.diff(group[self.order]) != 0))
        n = len(group)
        self.unchanged = len(self.first) == n and bool((np.diff(self.order) > 0).all())
        ends = np.append(self.first, n)
        self._matrix = csr_matrix((np.ones(n), self.order, ends), shape=(len(self.first), n))

    def added(self, rows: FloatArray) -> FloatArray:
        """Add the rows, (n, B), of each group, (G, B)."""
        return rows if self.unchanged else np.asarray(self._matrix @ rows)
