"""A ranking with holes: unjudged documents that may be given any level."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import TypedDict

import numpy as np

from ragkpi.ranking.judged import BoolArray, FloatArray, IntArray, Judged
from ragkpi.records import dataclass


@dataclass(frozen=True, eq=False)
class OpenRanking:
    """A run whose Q queries have holes that may be given any level.

    Attributes
    ----------
    judged
        The run down to where the measure looks, with its own holes among the hits, unjudged.
    hole : (H,)
        For each hit its place among the own holes of its query, 0 at the top; -1 if it is judged.
    num_other : (Q,)
        Holes further down, or in the rankings of other runs alone.
    """

    judged: Judged
    hole: IntArray
    num_other: IntArray

    @cached_property
    def latest(self) -> dict[Hashable, tuple[FloatArray, ...]]:
        """What somebody has computed of it last, and wants again for other ways to judge it."""
        return {}

    @cached_property
    def num_own(self) -> IntArray:
        """Holes where they count in this run's ranking, (Q,)."""
        return self.judged.per_query(self.hole >= 0).astype(np.int64)

    @cached_property
    def relevant(self) -> ChosenRanks:
        """The ranks of relevant documents."""
        return ChosenRanks.where(self.judged, self.judged.relevant)

    @cached_property
    def holes(self) -> ChosenRanks:
        """The ranks of own holes."""
        return ChosenRanks.where(self.judged, self.hole >= 0)

    @cached_property
    def either(self) -> ChosenRanks:
        """The ranks of both: of relevant documents, if all own holes are relevant."""
        return ChosenRanks.where(self.judged, self.judged.relevant | (self.hole >= 0))


@dataclass(frozen=True, eq=False)
class ChosenRanks:
    """Some ranks of each of Q queries, ascending.

    Attributes
    ----------
    starts : (Q+1,)
        The ranks of query q are ``starts[q]:starts[q + 1]``.
    rank : (n,)
        The ranks.
    """

    starts: IntArray
    rank: IntArray

    @classmethod
    def where(cls, judged: Judged, chosen: BoolArray) -> ChosenRanks:
        """Take the ranks of some hits."""
        query = judged.query[chosen]
        starts = np.searchsorted(query, np.arange(len(judged.queries) + 1))
        return cls(starts, judged.rank[chosen])

    @cached_property
    def query(self) -> IntArray:
        """The query of each rank, (n,)."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @cached_property
    def number(self) -> IntArray:
        """How many ranks of its query stand at or above each, (n,)."""
        return np.arange(len(self.rank)) - self.starts[self.query] + 1

    def count(self, query: IntArray, depth: IntArray) -> IntArray:
        """Count the ranks of queries, (V,), down to depths, (V,)."""
        base = self._base
        wanted = query * base + np.clip(depth, 0, base - 1)
        return np.asarray(np.searchsorted(self._keys, wanted, side="right") - self.starts[query])

    @cached_property
    def _base(self) -> int:
        return int(self.rank.max(initial=0)) + 2

    @cached_property
    def _keys(self) -> IntArray:
        return np.asarray(self.query * self._base + self.rank)

    def nth(self, query: IntArray, number: IntArray) -> IntArray:
        """Return the rank of the n-th of each query, (V,); 0 where there is none."""
        there = (number >= 1) & (number <= np.diff(self.starts)[query])
        place = np.where(there, self.starts[query] + number - 1, 0)
        return np.where(there, self.rank[place], 0) if len(self.rank) else np.zeros_like(place)

    def sums(self, added: FloatArray, query: IntArray, count: IntArray) -> FloatArray:
        """Add up weights of the first ranks of queries, (V,), that `added` has added to (n+1,)."""
        first = self.starts[query]
        return np.asarray(added[first + count] - added[first])

    @cached_property
    def added_shares(self) -> FloatArray:
        """1 / rank, added from the first on, (n+1,)."""
        return added(1.0 / self.rank)

    @cached_property
    def added_precisions(self) -> FloatArray:
        """The precision at each rank, were no others relevant, added from the first on, (n+1,)."""
        return added(self.number / self.rank)

    @cached_property
    def stretches(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Stretches of ranks without a gap: where those of each query start, (Q+1,).

        And for each stretch its first rank, its last rank, and the `number` of the last.
        """
        follows = np.zeros(len(self.rank) + 1, dtype=bool)
        follows[1:-1] = (np.diff(self.rank) == 1) & (np.diff(self.query) == 0)
        first, last = np.flatnonzero(~follows[:-1]), np.flatnonzero(~follows[1:])
        starts = np.searchsorted(first, self.starts)
        return starts, self.rank[first], self.rank[last], self.number[last]


def added(weights: FloatArray) -> FloatArray:
    """Add weights from the first on, (n,) to (n+1,)."""
    return np.concatenate([[0.0], np.cumsum(weights)])


def level_counts(
    judged: Judged, query: IntArray, levels: Sequence[int]
) -> tuple[IntArray, IntArray]:
    """Return all levels that are judged or given, (L,), and the judged documents of each, (V, L).

    `query`, (V,), says of which query each row is.
    """
    known = np.unique(np.append(judged.levels, np.asarray(levels, dtype=np.int64)))
    table = np.zeros((len(judged.queries), len(known)), dtype=np.int64)
    table[judged.level_query, np.searchsorted(known, judged.levels)] = judged.level_counts
    return known, table[query]


class SparseLevels(TypedDict):
    """The fields of a `Judged` that say how many documents of each level it has."""

    level_starts: IntArray
    levels: IntArray
    level_counts: IntArray


def sparse_levels(levels: IntArray, counts: IntArray) -> SparseLevels:
    """Leave out of counts per level, (V, L), those that are 0."""
    row, column = np.nonzero(counts)
    return {
        "level_starts": np.searchsorted(row, np.arange(len(counts) + 1)),
        "levels": levels[column],
        "level_counts": counts[row, column],
    }
