"""The values of many assignments at once, from a few sums.

To bound a measure, a query with n holes is judged in thousands of ways, each of which differs from
its neighbour by one document. `HoleTally` has a row for each of these `Assignments`, and gets the
measures' `Counts` by look-ups in sums down the ranking, which are computed once for an `OpenRun`.
Its sums round differently from those of measures.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ragkpi.arrays import BoolArray, FloatArray, IntArray
from ragkpi.bounds.open_run import ChosenRanks, OpenRun
from ragkpi.ranking.judged import Settings


class Assignments(NamedTuple):
    """V assignments to the holes of queries: some are at the top of the scale, the rest worthless.

    Own holes `above` the rank `cut` have the same level, and so do those `below` it; `at` is the
    hole at it. `cut` is 0 if all own holes have the same level. `own` and `other` are the numbers
    of own holes and of others at the top. All are (V,).
    """

    query: IntArray
    cut: IntArray
    above: BoolArray
    at: BoolArray
    below: BoolArray
    own: IntArray
    other: IntArray

    @classmethod
    def first(
        cls, run: OpenRun, query: IntArray, count: IntArray, other: IntArray | int = 0
    ) -> Assignments:
        """Put the first `count` own holes and `other` other holes at the top."""
        yes, cut = np.ones(len(query), dtype=bool), run.holes.nth(query, count)
        return cls(query, cut, yes, count > 0, ~yes, count, other + np.zeros_like(count))

    @classmethod
    def last(cls, run: OpenRun, query: IntArray, count: IntArray) -> Assignments:
        """Put the last `count` own holes and all other holes at the top."""
        no = np.zeros(len(query), dtype=bool)
        cut = run.holes.nth(query, run.num_own[query] - count + 1)
        return cls(query, cut, no, count > 0, count > 0, count, run.num_other[query])

    @classmethod
    def one(
        cls, run: OpenRun, query: IntArray, number: IntArray, high: BoolArray, other: IntArray
    ) -> Assignments:
        """Put only the n-th own hole at the top (`high`), or all other own holes."""
        own = np.where(high, 1, run.num_own[query] - 1)
        return cls(query, run.holes.nth(query, number), ~high, high, ~high, own, other)

    def at_top(self, rank: IntArray) -> BoolArray:
        """Return whether own holes at ranks, (V, U), are at the top, (V, U)."""
        above, at, below, cut = (
            field[:, np.newaxis] for field in (self.above, self.at, self.below, self.cut)
        )
        return np.where(rank < cut, above, np.where(rank == cut, at, below))


@dataclass(frozen=True, eq=False)
class HoleTally:
    """V assignments to the holes of a run, each a query for measures: their `Counts`."""

    run: OpenRun
    assignments: Assignments

    @property
    def settings(self) -> Settings:
        return self.run.judged.settings

    @cached_property
    def queries(self) -> list[bytes]:
        return list(map(self.run.judged.queries.__getitem__, self.assignments.query.tolist()))

    @cached_property
    def derived(self) -> dict[Hashable, Any]:
        return {}

    @cached_property
    def num_ret(self) -> IntArray:
        return self.run.judged.num_ret[self.assignments.query]

    @cached_property
    def corpus_size(self) -> IntArray | None:
        size = self.run.judged.corpus_size
        return None if size is None else size[self.assignments.query]

    @cached_property
    def num_judged(self) -> IntArray:
        holes = self.run.num_own + self.run.num_other
        return (self.run.judged.num_judged + holes)[self.assignments.query]

    @cached_property
    def num_rel(self) -> IntArray:
        relevant = self.run.judged.num_rel[self.assignments.query]
        return relevant + self.assignments.own + self.assignments.other

    @cached_property
    def num_judged_ret(self) -> IntArray:
        return (self.run.judged.num_judged_ret + self.run.num_own)[self.assignments.query]

    @cached_property
    def num_rel_ret(self) -> IntArray:
        return self.num_rel_at(self.num_ret)

    def num_rel_at(self, depth: int | FloatArray | IntArray) -> IntArray:
        """Relevant documents among the first `depth` retrieved, a number or one each, (V,)."""
        query = self.assignments.query
        whole = np.broadcast_to(np.trunc(depth).astype(np.int64), query.shape)
        judged, holes = (ranks.count(query, whole) for ranks in (self.run.relevant, self.run.holes))
        above = np.where(self.assignments.above, holes, 0)
        below = np.where(self.assignments.below, holes, 0) + self.added_below
        return np.asarray(judged + np.where(whole < self.assignments.cut, above, below))

    @cached_property
    def added_below(self) -> IntArray:
        """Relevant own holes above a rank below the cut that `below` does not count, (V,)."""
        unraised = self.assignments.own - self.run.num_own[self.assignments.query]
        return np.where(self.assignments.below, unraised, self.assignments.own)

    def precision_sum(self, cutoff: int | None = None) -> FloatArray:
        """Sum r(i)/i over the ranks i of relevant documents, all or down to a cutoff, (V,)."""
        some, run = self.assignments, self.run
        deepest = int(run.judged.rank.max(initial=0)) if cutoff is None else cutoff
        at = some.at & (some.cut <= deepest)
        total = np.where(at, self.num_rel_at(some.cut) / np.maximum(some.cut, 1), 0.0)
        for ranks, above, below in self._sides():
            share, precision = ranks.added_shares, ranks.added_precisions
            query = some.query[above]
            count = ranks.count(query, np.minimum(some.cut[above] - 1, deepest))
            total[above] += ranks.sums(precision, query, count)
            query = some.query[below]
            first = ranks.count(query, np.minimum(some.cut[below], deepest))
            last = ranks.count(query, np.full(len(query), deepest))
            more_precision, more_share = (
                ranks.sums(weights, query, last) - ranks.sums(weights, query, first)
                for weights in (precision, share)
            )
            total[below] += more_precision + self.added_below[below] * more_share
        return total

    def first_relevant(self, cutoff: int | None = None) -> IntArray:
        """Rank of the first relevant document, all or down to a cutoff, (V,); 0 for none."""
        some, none = self.assignments, np.iinfo(np.int64).max
        first = np.where(some.at, some.cut, none)
        for ranks, above, below in self._sides():
            rank = ranks.nth(some.query[above], np.ones_like(above))
            there = (rank > 0) & (rank < some.cut[above])
            first[above] = np.minimum(first[above], np.where(there, rank, none))
            query = some.query[below]
            rank = ranks.nth(query, ranks.count(query, some.cut[below]) + 1)
            first[below] = np.minimum(first[below], np.where(rank > 0, rank, none))
        return np.where(first <= (none - 1 if cutoff is None else cutoff), first, 0)

    def _sides(self) -> Iterator[tuple[ChosenRanks, IntArray, IntArray]]:
        """Yield ranks with the assignments in which they are relevant above, and below, the cut."""
        above, below = self.assignments.above, self.assignments.below
        yield self.run.relevant, np.flatnonzero(~above), np.flatnonzero(~below)
        yield self.run.either, np.flatnonzero(above), np.flatnonzero(below)
