"""Ranks of observations under weights, for the coefficients of correlation."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ragkpi.measures.aggregates import FloatArray
from ragkpi.records import NamedTuple

if TYPE_CHECKING:
    import numpy.typing as npt

IndexArray: TypeAlias = "npt.NDArray[np.intp]"


class Weighted(NamedTuple):
    """The ranks of one variable of G distinct values under weights, (n, B).

    Attributes
    ----------
    rows : (n, B)
        The weights, a row per observation.
    total, squares, pairs : (B,)
        The sum of the weights; of the squared distances; the number of ordered untied pairs.
    distance : (G, B)
        Twice the distance of each value's rank from the mean rank.
    """

    rows: FloatArray
    total: FloatArray
    squares: FloatArray
    pairs: FloatArray
    distance: FloatArray


class Reference:
    """A variable that others are correlated with.

    Its ranks under the latest weights are kept for the next variable.
    """

    def __init__(self, values: FloatArray) -> None:
        self.values = values
        self.dense = dense_numbers(values)
        self._groups = WeightGroups(self.dense)
        self._cells: dict[bytes, Cells] = {}
        self._latest: tuple[FloatArray, Weighted] | None = None

    @classmethod
    def of(cls, values: FloatArray | Reference) -> Reference:
        """Return the reference of values; a reference is returned as it is."""
        return values if isinstance(values, Reference) else cls(values)

    def under(self, weights: FloatArray) -> Weighted:
        """Rank the values under weights, (B, n)."""
        if self._latest is None or self._latest[0] is not weights:
            rows = np.ascontiguousarray(weights.T)
            in_group = self._groups.added(rows)
            total = in_group.sum(axis=0)
            distance = from_mean(in_group, total)
            squares = np.einsum("gb,gb,gb->b", in_group, distance, distance)
            pairs = untied(in_group, total)
            self._latest = weights, Weighted(rows, total, squares, pairs, distance)
        return self._latest[1]

    def cells(self, variables: FloatArray) -> Cells:
        """Return the cells of variables, (A, n), and of this one."""
        dense = np.stack([dense_numbers(values) for values in variables])
        key = dense.tobytes()
        if key not in self._cells:
            self._cells[key] = Cells(dense, self)
        return self._cells[key]


class Cells:
    """Groups of observations with equal values in A variables and in a reference: C cells.

    Attributes
    ----------
    alike : (C,)
        Numbers of the X groups of cells with equal values in the variables.
    variables : (A, X)
        The dense numbers of the values in each of the X groups.
    reference : (C,)
        The dense numbers of the reference in each cell.
    """

    def __init__(self, dense: IndexArray, reference: Reference) -> None:
        alike = dense[0]
        for numbers in dense[1:]:
            alike = dense_numbers(alike * (numbers.max(initial=0) + 1) + numbers)
        by_reference = reference.dense
        self._groups = WeightGroups(
            dense_numbers(alike * (by_reference.max(initial=0) + 1) + by_reference)
        )
        first = self._groups.order[self._groups.first]
        self.alike, self.reference = alike[first], by_reference[first]
        self.groups = WeightGroups(self.alike)
        self.variables = dense[:, first[self.groups.first]]
        self._latest: tuple[FloatArray, FloatArray] | None = None

    def added(self, rows: FloatArray) -> FloatArray:
        """Add weights, (n, B), by cell, (C, B); those of the latest weights are kept."""
        if self._latest is None or self._latest[0] is not rows:
            self._latest = rows, self._groups.added(rows)
        return self._latest[1]


def from_mean(in_group: FloatArray, total: FloatArray) -> FloatArray:
    """Return twice the distance of each group's rank from the mean rank, (G, B)."""
    distance = np.cumsum(in_group, axis=0)  # twice a group's rank is 2 * cumsum - in_group + 1
    distance *= 2
    distance -= in_group
    distance -= total
    return distance


def untied(in_group: FloatArray, total: FloatArray) -> FloatArray:
    """Count the ordered pairs of observations in different groups, (B,)."""
    return np.asarray(total * total - np.einsum("gb,gb->b", in_group, in_group))


def dense_numbers(values: FloatArray | IndexArray) -> IndexArray:
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
