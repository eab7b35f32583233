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
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ragkpi.arrays import BoolArray, FloatArray, IntArray
from ragkpi.measures.measure import GainRatio
from ragkpi.ranking.judged import Judged, quotient

_STEPS = 50
_CELLS = 1 << 20  # of a table of queries and holes


@dataclass(frozen=True, eq=False)
class OpenRanking:
    """A run whose Q queries have holes that may be given any level.

    `judged` is the run down to the depth of the measure, with its own holes among the hits,
    unjudged. `hole`, (H,), is the index of each hit among its query's own holes, from the top; -1
    if it is judged. `num_other`, (Q,), counts the holes further down or only in other runs.
    """

    judged: Judged
    hole: IntArray
    num_other: IntArray

    @cached_property
    def latest(self) -> dict[Hashable, tuple[FloatArray, ...]]:
        """The latest sums of a `GainRatio`, kept for other ways to judge the run."""
        return {}

    @cached_property
    def num_own(self) -> IntArray:
        """The number of own holes, (Q,)."""
        return self.judged.per_query(self.hole >= 0).astype(np.int64)

    @cached_property
    def relevant(self) -> ChosenRanks:
        return ChosenRanks.where(self.judged, self.judged.relevant)

    @cached_property
    def holes(self) -> ChosenRanks:
        return ChosenRanks.where(self.judged, self.hole >= 0)

    @cached_property
    def either(self) -> ChosenRanks:
        return ChosenRanks.where(self.judged, self.judged.relevant | (self.hole >= 0))


@dataclass(frozen=True, eq=False)
class ChosenRanks:
    """Some ranks of each of Q queries, ascending: ``rank[starts[q]:starts[q + 1]]`` of query q."""

    starts: IntArray
    rank: IntArray

    @classmethod
    def where(cls, judged: Judged, chosen: BoolArray) -> ChosenRanks:
        query = judged.query[chosen]
        starts = np.searchsorted(query, np.arange(len(judged.queries) + 1))
        return cls(starts, judged.rank[chosen])

    @cached_property
    def query(self) -> IntArray:
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @cached_property
    def number(self) -> IntArray:
        """The number of ranks of the same query at or above each, (n,)."""
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
        """Return the n-th rank of queries, (V,), or 0."""
        exists = (number >= 1) & (number <= np.diff(self.starts)[query])
        index = np.where(exists, self.starts[query] + number - 1, 0)
        return np.where(exists, self.rank[index], 0) if len(self.rank) else np.zeros_like(index)

    def sums(self, added: FloatArray, query: IntArray, count: IntArray) -> FloatArray:
        """Sum the weights of the first ranks of queries, (V,), by the running sums of `added`."""
        first = self.starts[query]
        return np.asarray(added[first + count] - added[first])

    @cached_property
    def added_shares(self) -> FloatArray:
        """Running sums of 1 / rank, (n+1,)."""
        return added(1.0 / self.rank)

    @cached_property
    def added_precisions(self) -> FloatArray:
        """Running sums of the precision at each rank if only these are relevant, (n+1,)."""
        return added(self.number / self.rank)

    @cached_property
    def stretches(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Stretches of ranks without a gap: the starts per query, (Q+1,), in three arrays.

        The arrays are the first rank of each stretch, its last rank, and the `number` of the last.
        """
        follows = np.zeros(len(self.rank) + 1, dtype=bool)
        follows[1:-1] = (np.diff(self.rank) == 1) & (np.diff(self.query) == 0)
        first, last = np.flatnonzero(~follows[:-1]), np.flatnonzero(~follows[1:])
        starts = np.searchsorted(first, self.starts)
        return starts, self.rank[first], self.rank[last], self.number[last]


def added(weights: FloatArray) -> FloatArray:
    """Return running sums of weights from 0, (n,) to (n+1,)."""
    return np.concatenate([[0.0], np.cumsum(weights)])


def level_counts(
    judged: Judged, query: IntArray, levels: Sequence[int]
) -> tuple[IntArray, IntArray]:
    """Return judged levels and `levels`, (L,), and the number of judged documents of each, (V, L).

    `query`, (V,), is the query of each row.
    """
    known = np.unique(np.append(judged.levels, np.asarray(levels, dtype=np.int64)))
    table = np.zeros((len(judged.queries), len(known)), dtype=np.int64)
    table[judged.level_query, np.searchsorted(known, judged.levels)] = judged.level_counts
    return known, table[query]


def sparse_levels(levels: IntArray, counts: IntArray) -> dict[str, Any]:
    """Return the fields of a `Judged` for the nonzero counts per level, (V, L)."""
    row, column = np.nonzero(counts)
    return {
        "level_starts": np.searchsorted(row, np.arange(len(counts) + 1)),
        "levels": levels[column],
        "level_counts": counts[row, column],
    }


class Ways(NamedTuple):
    """V ways to judge the holes of queries: some at the top of the scale, the rest worthless.

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
    def first(cls, run: OpenRanking, query: IntArray, count: IntArray, other: IntArray) -> Ways:
        """Put the first `count` own holes at the top."""
        yes = np.ones(len(query), dtype=bool)
        return cls(query, run.holes.nth(query, count), yes, count > 0, ~yes, count, other)

    @classmethod
    def last(cls, run: OpenRanking, query: IntArray, count: IntArray, other: IntArray) -> Ways:
        """Put the last `count` own holes at the top."""
        yes = np.ones(len(query), dtype=bool)
        cut = run.holes.nth(query, run.num_own[query] - count + 1)
        return cls(query, cut, ~yes, count > 0, count > 0, count, other)

    @classmethod
    def one(
        cls, run: OpenRanking, query: IntArray, number: IntArray, high: BoolArray, other: IntArray
    ) -> Ways:
        """Put only the n-th own hole at the top (`high`), or all other own holes."""
        own = np.where(high, 1, run.num_own[query] - 1)
        return cls(query, run.holes.nth(query, number), ~high, high, ~high, own, other)

    def part(self, first: int, last: int) -> Ways:
        """Return the ways from one number to another."""
        return Ways._make(field[first:last] for field in self)


@dataclass(frozen=True, eq=False)
class HoleTally(Judged):
    """V ways to judge a run, each a query for the measures; it has counts and no hits.

    A measure that reads hits (`query`, `rank`, `level`, `judgement`) fails on it.
    """

    run: OpenRanking = field(kw_only=True)
    ways: Ways = field(kw_only=True)
    counts: IntArray = field(kw_only=True)  # judged documents per level of `known_levels`, (V, L)
    known_levels: IntArray = field(kw_only=True)
    bottom: int = field(kw_only=True)
    top: int = field(kw_only=True)

    @classmethod
    def of(cls, run: OpenRanking, ways: Ways, bottom: int, top: int) -> HoleTally:
        """Count the judged documents of each way, if holes have either of two levels."""
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
        return (self.run.judged.num_judged_ret + self.run.num_own)[self.ways.query]

    @cached_property
    def num_rel_ret(self) -> IntArray:
        return self.found_within(self.num_ret)

    def found_at(self, cutoff: int) -> IntArray:
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
        """Relevant own holes above a rank below the cut that `below` does not count, (V,)."""
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
            first = ranks.count(query, np.minimum(ways.cut[below], deepest))
            last = ranks.count(query, np.full(len(query), deepest))
            more_precision, more_share = (
                ranks.sums(weights, query, last) - ranks.sums(weights, query, first)
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

        They are ways, the first and the last rank of a stretch of each, and the number of relevant
        documents down to the last, (n,) each.
        """
        ways = self.ways
        at = np.flatnonzero(ways.at)
        yield at, ways.cut[at], ways.cut[at], self.found_within(ways.cut)[at]
        for ranks, above, below in self._sides():
            starts, first, last, number = ranks.stretches
            for rows, side in ((above, "above"), (below, "below")):
                index, end = starts[ways.query[rows]], starts[ways.query[rows] + 1]
                while len(rows := rows[index < end]):
                    index, end = index[index < end], end[index < end]
                    start, stop, found = first[index], last[index], number[index]
                    if side == "above":
                        clipped = np.minimum(stop, ways.cut[rows] - 1)
                        found, stop = found - (stop - clipped), clipped
                    else:
                        start = np.maximum(start, ways.cut[rows] + 1)
                        found = found + self.added_below[rows]
                    some = start <= stop
                    yield rows[some], start[some], stop[some], found[some]
                    index = index + 1

    def _sides(self) -> Iterator[tuple[ChosenRanks, IntArray, IntArray]]:
        """Yield ranks with the ways in which they are relevant above, and below, the cut."""
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
    """Return the number of own holes with at least each level of a scale in the best way, (Q, T).

    Levels fall down the ranks and other holes are worthless. The value is a ratio N / D of sums
    over the steps of the scale. Dinkelbach's iteration: the way with the greatest N - v D, where v
    is the value so far, has a greater value, until v is the greatest. For a fixed v the steps of
    the scale are independent.
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
    """Iterate to the best thresholds of some queries; `raised` sums the weights of first holes."""
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
    steps = range(len(scale) - 1)
    gain_steps, ideal_steps = np.diff(gains), np.diff(ideal_gains)
    at_least = [counts[:, worth >= gain].sum(axis=1) for gain in gains]
    ideals = [filled[count[:, np.newaxis] + np.arange(raised.shape[1])] for count in at_least[1:]]
    base = _worthless(measure, run, float(gains[0]))[rows]
    least = measure.floor + (ideal_gains[0] - measure.floor) * filled[at_least[0]]
    value = np.zeros(len(rows))
    chosen = np.zeros((len(rows), len(steps)), dtype=np.int64)
    every = np.arange(len(rows))
    for _ in range(_STEPS):
        total, ideal = base.copy(), least.copy()
        best = np.zeros_like(chosen)
        for step in steps:
            rest = value[:, np.newaxis] * ideal_steps[step] * ideals[step]
            best[:, step] = (gain_steps[step] * raised - rest).argmax(axis=1)
        np.minimum.accumulate(best, axis=1, out=best)
        for step in steps:
            count = best[:, step]
            total += gain_steps[step] * raised[every, count]
            ideal += ideal_steps[step] * ideals[step][every, count]
        reached = quotient(total, ideal)
        better = reached > value
        if not better.any():
            break
        value[better], chosen[better] = reached[better], best[better]
    return chosen


def _sums_of_run(measure: GainRatio, run: OpenRanking, bottom: float) -> tuple[FloatArray, ...]:
    """Return the running sums of own holes' weights, and `_worthless`, kept for many ways."""
    key = measure, bottom
    if key not in run.latest:
        run.latest.clear()
        run.latest[key] = added(measure.weight(run.holes.rank)), _worthless(measure, run, bottom)
    return run.latest[key]


def _worthless(measure: GainRatio, run: OpenRanking, bottom: float) -> FloatArray:
    """Sum the weighted gains of a ranking if its own holes have the least gain, (Q,)."""
    judged = run.judged
    gain = np.where(run.hole >= 0, bottom, measure.gain(judged.level))
    return judged.per_query(gain * measure.weight(judged.rank))


def _filled(measure: GainRatio, most: int) -> FloatArray:
    """Return the sum of ideal weights of 0 to `most` documents of equal gain, (most + 1,)."""
    if measure.ideal == "highest":
        return np.minimum(np.arange(most + 1), 1.0)
    return np.concatenate([[0.0], np.cumsum(measure.weight(np.arange(1, most + 1)))])


def _retrieved(run: OpenRanking, levels: IntArray) -> IntArray:
    judged, width = run.judged, len(levels)
    hit = np.flatnonzero((run.hole < 0) & (judged.level >= 0))
    cell = judged.query[hit] * width + np.searchsorted(levels, judged.level[hit])
    counts = np.bincount(cell, minlength=len(judged.queries) * width)
    return counts.reshape(len(judged.queries), width)
