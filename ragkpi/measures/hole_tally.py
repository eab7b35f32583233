"""`HoleTally`: many ways to judge the holes of a ranking, counted and not spelled out.

To bound a measure, a query with n holes is judged in thousands of ways, each of which differs
from its neighbour by one document. A `HoleTally` has a row for each way. It answers what measures
ask a `Judged` (`found_at`, `num_rel` ...) from sums down the ranking that are made once, so that
a way costs no more than a look-up.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from ragkpi.measures.open_ranking import ChosenRanks, OpenRanking, level_counts, sparse_levels
from ragkpi.ranking.judged import BoolArray, FloatArray, IntArray, Judged
from ragkpi.records import NamedTuple, dataclass, field


class Ways(NamedTuple):
    """V ways to judge the holes of queries: which are at the top of the scale, others worthless.

    Own holes above `cut` are all alike, so are those below it.

    Attributes
    ----------
    query : (V,)
        The query.
    cut : (V,)
        A rank; 0 if all own holes are alike.
    above, at, below : (V,)
        Whether holes above the cut, the one at it, and those below it are at the top.
    own, other : (V,)
        How many own holes and how many others are at the top.
    """

    query: IntArray
    cut: IntArray
    above: BoolArray
    at: BoolArray
    below: BoolArray
    own: IntArray
    other: IntArray

    @classmethod
    def first(cls, run: OpenRanking, query: IntArray, count: IntArray, other: IntArray) -> Ways:
        """The first `count` own holes are at the top."""
        yes = np.ones(len(query), dtype=bool)
        return cls(query, run.holes.nth(query, count), yes, count > 0, ~yes, count, other)

    @classmethod
    def last(cls, run: OpenRanking, query: IntArray, count: IntArray, other: IntArray) -> Ways:
        """The last `count` own holes are at the top."""
        yes = np.ones(len(query), dtype=bool)
        cut = run.holes.nth(query, run.num_own[query] - count + 1)
        return cls(query, cut, ~yes, count > 0, count > 0, count, other)

    @classmethod
    def one(
        cls, run: OpenRanking, query: IntArray, number: IntArray, high: BoolArray, other: IntArray
    ) -> Ways:
        """The n-th own hole alone is at the top (`high`), or it alone is not."""
        own = np.where(high, 1, run.num_own[query] - 1)
        return cls(query, run.holes.nth(query, number), ~high, high, ~high, own, other)

    def part(self, first: int, last: int) -> Ways:
        """Return the ways from one number to another."""
        rows = slice(first, last)
        own, other = self.own[rows], self.other[rows]
        sides = self.above[rows], self.at[rows], self.below[rows]
        return Ways(self.query[rows], self.cut[rows], *sides, own, other)


@dataclass(frozen=True, eq=False)
class HoleTally(Judged):
    """V ways to judge a run, each a query for the measures; it has counts, and no hits.

    A function that looks at hits (`query`, `rank`, `level`, `judgement`) cannot be computed from
    it, and fails.
    """

    run: OpenRanking = field(kw_only=True)
    ways: Ways = field(kw_only=True)
    counts: IntArray = field(kw_only=True)  # judged documents per level of `known_levels`, (V, L)
    known_levels: IntArray = field(kw_only=True)
    bottom: int = field(kw_only=True)
    top: int = field(kw_only=True)

    @classmethod
    def of(cls, run: OpenRanking, ways: Ways, bottom: int, top: int) -> HoleTally:
        """Count what is judged in each way, if holes have one of two levels."""
        judged, query = run.judged, ways.query
        known, counts = level_counts(judged, query, (bottom, top))
        low, high = np.searchsorted(known, [bottom, top])
        raised = ways.own + ways.other
        counts[:, high] += raised
        counts[:, low] += (run.num_own + run.num_other)[query] - raised
        nothing: Any = None
        return cls(
            queries=list(map(judged.queries.__getitem__, query.tolist())),
            num_ret=judged.num_ret[query],
            **sparse_levels(known, counts),
            starts=nothing,
            query=nothing,
            rank=nothing,
            level=nothing,
            judgement=nothing,
            settings=judged.settings,
            corpus_size=None if judged.corpus_size is None else judged.corpus_size[query],
            run=run,
            ways=ways,
            counts=counts,
            known_levels=known,
            bottom=bottom,
            top=top,
        )

    @cached_property
    def num_judged_ret(self) -> IntArray:
        """Judged documents retrieved, (V,)."""
        return (self.run.judged.num_judged_ret + self.run.num_own)[self.ways.query]

    @cached_property
    def num_rel_ret(self) -> IntArray:
        """Relevant documents retrieved, (V,)."""
        return self.found_within(self.num_ret)

    def found_at(self, cutoff: int) -> IntArray:
        """Relevant documents among the first `cutoff` retrieved, (V,)."""
        return self.found_within(np.full(len(self.queries), cutoff))

    def found_within(self, depth: FloatArray | IntArray) -> IntArray:
        """Relevant documents among the first `depth` retrieved, a depth per way, (V,)."""
        query, whole = self.ways.query, np.trunc(depth).astype(np.int64)
        judged, holes = (ranks.count(query, whole) for ranks in (self.run.relevant, self.run.holes))
        above = np.where(self.ways.above, holes, 0)
        below = np.where(self.ways.below, holes, 0) + self.added_below
        return np.asarray(judged + np.where(whole < self.ways.cut, above, below))

    @cached_property
    def added_below(self) -> IntArray:
        """Relevant documents above a rank below the cut, beyond those that `below` counts."""
        unraised = self.ways.own - self.run.num_own[self.ways.query]
        return np.where(self.ways.below, unraised, self.ways.own)

    def precision_sum(self, cutoff: int | None = None) -> FloatArray:
        """Sum r(i)/i over the ranks i of relevant documents, all or down to a cutoff, (V,)."""
        ways, run = self.ways, self.run
        deepest = int(run.judged.rank.max(initial=0)) if cutoff is None else cutoff
        at = ways.at & (ways.cut <= deepest)
        total = np.where(at, self.found_within(ways.cut) / np.maximum(ways.cut, 1), 0.0)
        for ranks, above, below in self._sides():
            share, precision = ranks.added_shares, ranks.added_precisions
            query = ways.query[above]
            count = ranks.count(query, np.minimum(ways.cut[above] - 1, deepest))
            total[above] += ranks.sums(precision, query, count)
            query = ways.query[below]
            ends = [
                ranks.count(query, depth)
                for depth in (np.minimum(ways.cut[below], deepest), np.full(len(query), deepest))
            ]
            more_precision, more_share = (
                ranks.sums(weights, query, ends[1]) - ranks.sums(weights, query, ends[0])
                for weights in (precision, share)
            )
            total[below] += more_precision + self.added_below[below] * more_share
        return total

    def first_relevant(self, cutoff: int | None = None) -> IntArray:
        """Rank of the first relevant document, all or down to a cutoff, (V,); 0 for none."""
        ways, none = self.ways, np.iinfo(np.int64).max
        first = np.where(ways.at, ways.cut, none)
        for ranks, above, below in self._sides():
            rank = ranks.nth(ways.query[above], np.ones_like(above))
            there = (rank > 0) & (rank < ways.cut[above])
            first[above] = np.minimum(first[above], np.where(there, rank, none))
            query = ways.query[below]
            rank = ranks.nth(query, ranks.count(query, ways.cut[below]) + 1)
            first[below] = np.minimum(first[below], np.where(rank > 0, rank, none))
        return np.where(first <= (none - 1 if cutoff is None else cutoff), first, 0)

    def stretches(self) -> Iterator[tuple[IntArray, IntArray, IntArray, IntArray]]:
        """Yield stretches of relevant documents without a gap, each way at most once at a time.

        Yields
        ------
        (n,), (n,), (n,), (n,)
            Numbers of ways, and for each the first and the last rank of a stretch of it, and the
            relevant documents down to the last.
        """
        ways = self.ways
        at = np.flatnonzero(ways.at)
        yield at, ways.cut[at], ways.cut[at], self.found_within(ways.cut)[at]
        for ranks, above, below in self._sides():
            starts, first, last, number = ranks.stretches
            for rows, side in ((above, "above"), (below, "below")):
                place, end = starts[ways.query[rows]], starts[ways.query[rows] + 1]
                while len(rows := rows[place < end]):
                    place, end = place[place < end], end[place < end]
                    start, stop, found = first[place], last[place], number[place]
                    if side == "above":
                        clipped = np.minimum(stop, ways.cut[rows] - 1)
                        found, stop = found - (stop - clipped), clipped
                    else:
                        start = np.maximum(start, ways.cut[rows] + 1)
                        found = found + self.added_below[rows]
                    some = start <= stop
                    yield rows[some], start[some], stop[some], found[some]
                    place = place + 1

    def _sides(self) -> Iterator[tuple[ChosenRanks, IntArray, IntArray]]:
        """Yield ranks, and the ways that have them as relevant ones above and below the cut."""
        above, below = self.ways.above, self.ways.below
        yield self.run.relevant, np.flatnonzero(~above), np.flatnonzero(~below)
        yield self.run.either, np.flatnonzero(above), np.flatnonzero(below)
