"""`HoleTally`: the values of many ways to judge the holes of a ranking, from a few sums.

To bound a measure, a query with n holes is judged in thousands of ways, each of which differs
from its neighbour by one document. A `HoleTally` has a row for each way. It has the methods of
`Judged` that measures call (`found_at`, `num_rel` ...) and answers them by look-ups in sums down
the ranking, which are computed once for an `OpenRanking`.

Measures such as ndcg are a `GainRatio`. `ratio_values` computes them for the ways of a tally, and
`best_thresholds` finds the best of all ways without trying them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property
from typing import Any, TypedDict

import numpy as np

from ragkpi.measures.measure import GainRatio
from ragkpi.ranking.judged import BoolArray, FloatArray, IntArray, Judged, quotient
from ragkpi.records import NamedTuple, dataclass, field

_STEPS = 50
_CELLS = 1 << 20  # of a table of queries and holes


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


def ratio_values(measure: GainRatio, tally: HoleTally) -> FloatArray:
    """Return the value of each way to judge a run, (V,)."""
    run, ways = tally.run, tally.ways
    bottom, top = measure.gain(np.array([tally.bottom, tally.top])).tolist()
    holes, query = run.holes, ways.query
    weights, worthless = _sums_of_run(measure, run, bottom)
    down_to = [holes.count(query, ways.cut - 1), holes.count(query, ways.cut)]
    above, at_cut = (holes.sums(weights, query, count) for count in down_to)
    all_ = holes.sums(weights, query, run.num_own[query])
    raised = np.where(ways.above, above, 0.0) + np.where(ways.below, all_ - at_cut, 0.0)
    raised += np.where(ways.at, at_cut - above, 0.0)
    total: FloatArray = worthless[query] + (top - bottom) * raised
    if measure.ideal == "none":
        return total
    counts = tally.counts
    if measure.over == "retrieved":
        low, high = np.searchsorted(tally.known_levels, [tally.bottom, tally.top])
        counts = _retrieved(run, tally.known_levels)[query]
        counts[:, high] += ways.own
        counts[:, low] += run.num_own[query] - ways.own
    gains = np.maximum(measure.gain(tally.known_levels), measure.floor)
    filled = _filled(measure, int(counts.sum(axis=1).max(initial=0)))
    best = np.full(len(query), measure.floor)
    below = measure.floor
    for gain in np.unique(gains[gains > measure.floor]).tolist():
        best += (gain - below) * filled[counts[:, gains >= gain].sum(axis=1)]
        below = gain
    return quotient(total, best)


def best_thresholds(measure: GainRatio, run: OpenRanking, scale: Sequence[int]) -> IntArray:
    """Return how many own holes have at least each level of a scale in the best way, (Q, T).

    Levels fall down the ranks and other holes are worthless. The value is a ratio N / D of
    sums over the steps of the scale. Dinkelbach's iteration: the way that is best by
    N - v D, v the value so far, is a better one, until there is none; and for a given v
    every step of the scale is best by itmeasure.
    """
    thresholds = np.zeros((len(run.judged.queries), len(scale) - 1), dtype=np.int64)
    width = int(run.num_own.max(initial=0)) + 1
    block = max(1, _CELLS // width)
    hole = np.flatnonzero(run.hole >= 0)
    weight = measure.weight(run.judged.rank[hole])
    for first in range(0, len(thresholds), block):
        rows = np.arange(first, min(first + block, len(thresholds)))
        inside = (run.judged.query[hole] >= first) & (run.judged.query[hole] <= rows[-1])
        table = np.zeros((len(rows), width))
        some = hole[inside]
        table[run.judged.query[some] - first, run.hole[some] + 1] = weight[inside]
        raised = np.cumsum(table, axis=1)
        raised[np.arange(width) > run.num_own[rows, np.newaxis]] = -np.inf
        thresholds[rows] = _climb(measure, run, scale, rows, raised)
    return thresholds


def _climb(
    measure: GainRatio, run: OpenRanking, scale: Sequence[int], rows: IntArray, raised: FloatArray
) -> IntArray:
    levels = np.asarray(scale, dtype=np.int64)
    gains = measure.gain(levels)
    ideal_gains = np.maximum(gains, measure.floor)
    known, counts = level_counts(run.judged, rows, scale)
    if measure.over == "retrieved":
        counts = _retrieved(run, known)[rows]
    counts[:, np.searchsorted(known, scale[0])] += run.num_own[rows]
    if measure.over == "judged":
        counts[:, np.searchsorted(known, scale[0])] += run.num_other[rows]
    worth = measure.gain(known)
    filled = _filled(measure, int(counts.sum(axis=1).max(initial=0)) + raised.shape[1])
    steps = range(1, len(scale))
    above = [counts[:, worth >= gains[step]].sum(axis=1) for step in range(len(scale))]
    ideals = [filled[above[step][:, np.newaxis] + np.arange(raised.shape[1])] for step in steps]
    base = _worthless(measure, run, float(gains[0]))[rows]
    least = measure.floor + (ideal_gains[0] - measure.floor) * filled[above[0]]
    value = np.zeros(len(rows))
    chosen = np.zeros((len(rows), len(scale) - 1), dtype=np.int64)
    every = np.arange(len(rows))
    for _ in range(_STEPS):
        total, ideal = base.copy(), least.copy()
        best = np.zeros_like(chosen)
        for step in steps:
            gain = gains[step] - gains[step - 1]
            more = ideal_gains[step] - ideal_gains[step - 1]
            rest = value[:, np.newaxis] * more * ideals[step - 1]
            best[:, step - 1] = (gain * raised - rest).argmax(axis=1)
        np.minimum.accumulate(best, axis=1, out=best)
        for step in steps:
            place = best[:, step - 1]
            total += (gains[step] - gains[step - 1]) * raised[every, place]
            more = ideal_gains[step] - ideal_gains[step - 1]
            ideal += more * ideals[step - 1][every, place]
        reached = quotient(total, ideal)
        better = reached > value
        if not better.any():
            break
        value[better], chosen[better] = reached[better], best[better]
    return chosen


def _sums_of_run(measure: GainRatio, run: OpenRanking, bottom: float) -> tuple[FloatArray, ...]:
    """Return the weights of own holes, `added`, and `_worthless`, made once for many ways."""
    key = measure, bottom
    if key not in run.latest:
        run.latest.clear()
        run.latest[key] = added(measure.weight(run.holes.rank)), _worthless(measure, run, bottom)
    return run.latest[key]


def _worthless(measure: GainRatio, run: OpenRanking, bottom: float) -> FloatArray:
    """Sum the gains of a ranking whose own holes are worth the least, (Q,)."""
    judged = run.judged
    gain = np.where(run.hole >= 0, bottom, measure.gain(judged.level))
    return judged.per_query(gain * measure.weight(judged.rank))


def _filled(measure: GainRatio, most: int) -> FloatArray:
    """Return what 0 to `most` documents of one gain add to the ideal."""
    if measure.ideal == "highest":
        return np.minimum(np.arange(most + 1), 1.0)
    return np.concatenate([[0.0], np.cumsum(measure.weight(np.arange(1, most + 1)))])


def _retrieved(run: OpenRanking, levels: IntArray) -> IntArray:
    """Count the judged hits of a run per level, (Q, L)."""
    judged, width = run.judged, len(levels)
    hit = np.flatnonzero((run.hole < 0) & (judged.level >= 0))
    cell = judged.query[hit] * width + np.searchsorted(levels, judged.level[hit])
    counts = np.bincount(cell, minlength=len(judged.queries) * width)
    return counts.reshape(len(judged.queries), width)
