"""Search for the assignments of levels to holes that make a value extreme.

Holes are unjudged documents that runs retrieved for judged queries. There may be millions, so their
ids stay in the runs until needed. A run's own holes, those within the depth of a measure, join its
hits. Other holes are only counted, since they change only the number of documents of each level.

`Trials` judge the ranking again for each assignment; a `HoleTally` computes all values of a search
from shared sums. Sums in another order round differently, so the tally only chooses the extreme
assignments, and the measure itself computes their values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement
from math import comb
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from ragkpi.arrays import BoolArray, FloatArray, IntArray
from ragkpi.files.lines import Tokens, rows_of, spans
from ragkpi.interface import with_progress
from ragkpi.measures.gain import gain_of_levels
from ragkpi.measures.hole_tally import (
    HoleTally,
    OpenRanking,
    Ways,
    best_thresholds,
    level_counts,
    ratio_values,
    sparse_levels,
)
from ragkpi.measures.measure import GainRatio, Metric, MetricScores, Scores, score
from ragkpi.ranking.judged import Judged, Settings
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.reading import Hits, TopDocuments

UNRETRIEVED = np.iinfo(np.int32).max
ROWS_AT_ONCE = 1 << 17  # sorting the hashes of this many documents fits into the cache

# Numbers of queries, holes or ranks: there may be millions, and int64 takes twice the memory.
SmallInts: TypeAlias = "npt.NDArray[np.int32]"


@dataclass(frozen=True, eq=False)
class Holes:
    """The n unjudged documents that R runs retrieved for judged queries."""

    judgements: Judgements
    runs: Sequence[TopDocuments]  # the names of the runs' documents, length R
    query: SmallInts  # (n,): index of each hole's query in the judgements, ascending
    rank: SmallInts  # (R, n): the rank of each hole in each run; `UNRETRIEVED` if the run lacks it
    # Indices of the holes that count as judged, and their level.
    known: tuple[IntArray, int] = (np.empty(0, dtype=np.int64), 0)

    def __len__(self) -> int:
        return len(self.query)

    @cached_property
    def best_rank(self) -> SmallInts:
        return np.asarray(self.rank.min(axis=0, initial=UNRETRIEVED))

    @cached_property
    def opened(self) -> dict[tuple[int, int | None, int | None], OpenRun]:
        """The runs opened so far, by number, depth and cut; see `open_run`."""
        return {}

    def documents(self, chosen: IntArray) -> Tokens:
        query, parts, places = self.query[chosen], [], []
        of_run = (self.rank[:, chosen] < UNRETRIEVED).argmax(axis=0)
        for run, top in enumerate(self.runs):
            mine = np.flatnonzero(of_run == run)
            group = places_of(self.judgements, top)[query[mine]]
            rows = top.starts[group] + self.rank[run, chosen[mine]] - 1
            parts.append(Tokens.from_strings(top.document.take(rows)))
            places.append(mine)
        return Tokens.joined(parts).take(np.argsort(np.concatenate(places)))

    def within(self, depth: int | None) -> BoolArray:
        """Whether any run has each hole down to a depth, (n,); None for any depth."""
        deepest = UNRETRIEVED - 1 if depth is None else depth
        return np.asarray(self.best_rank <= deepest)

    def rows(self, queries: Sequence[bytes], cut: int | None) -> SmallInts:
        """Return the row of each hole's query among some queries, (n,).

        It is -1 for other queries, for known holes, and for holes that all runs have below `cut`.
        """
        row = self.judgements.places_among(queries).astype(np.int32)[self.query]
        row[~self.within(cut)] = -1
        row[self.known[0]] = -1
        return np.asarray(row)

    def with_known(self, chosen: Sequence[int], level: int) -> Holes:
        """Return the holes with the chosen ones judged at a level."""
        return replace(self, known=(np.array(chosen, dtype=np.int64), level))


def places_of(judgements: Judgements, top: TopDocuments) -> IntArray:
    """Return the index of each judged query in a run, -1 if the run lacks it, (Q,)."""
    places = np.full(len(judgements.queries), -1)
    places[top.query] = np.arange(len(top.query))
    return places


def find_holes(judgements: Judgements, runs: Sequence[Hits], settings: Settings) -> Holes:
    """Find the holes of runs that were read with the names of their top documents.

    Documents without a judgement and those of a negative level are unjudged. Ranks below -M do not
    count. `UsageError` for qrels with gains in place of levels.
    """
    judgements.refuse_gains("holes are filled with levels")
    deepest = UNRETRIEVED if settings.max_retrieved is None else settings.max_retrieved
    tops = [run.top for run in runs]
    places = np.stack([places_of(judgements, top) for top in tops])
    sizes = [np.append(np.diff(top.starts), 0) for top in tops]
    rows = sum(size[group] for size, group in zip(sizes, places, strict=True))
    unjudged = [np.ones(len(top.document), dtype=bool) for top in tops]
    for run, of_run in zip(runs, unjudged, strict=True):
        row = run.rows_of_top(judgements)
        of_run[row[(row >= 0) & (judgements.level[run.judgement] >= 0)]] = False
    parts = []
    for first, last in spans(np.concatenate([[0], np.cumsum(rows)]), ROWS_AT_ONCE):
        groups = zip(tops, unjudged, places[:, first:last], strict=True)
        parts.append(_united([_retrieved(*of_run, deepest) for of_run in groups]))
    query, rank = zip(*parts, strict=True)
    return Holes(judgements, tops, np.concatenate(query), np.concatenate(rank, axis=1))


def _retrieved(
    top: TopDocuments, unjudged: BoolArray, groups: IntArray, deepest: int
) -> tuple[IntArray, IntArray, Tokens]:
    """Return the query, rank and name of the unjudged documents of some queries, (n,) each."""
    groups = groups[groups >= 0]
    rows, starts = rows_of(top.starts, groups)
    group = np.repeat(groups, np.diff(starts))
    rank = rows - top.starts[group] + 1
    kept = np.flatnonzero(unjudged[rows] & (rank <= deepest))
    return top.query[group[kept]], rank[kept], top.document.take(rows[kept])


def _united(runs: Sequence[tuple[IntArray, IntArray, Tokens]]) -> tuple[SmallInts, SmallInts]:
    """Unite the `_retrieved` documents of runs: query, (n,), and rank, (R, n), of each hole."""
    queries, ranks, documents = zip(*runs, strict=True)
    query, of_run = np.concatenate(queries), np.repeat(np.arange(len(runs)), [*map(len, queries)])
    # The first row with the same query and document; a run has each document once.
    first = np.arange(len(query))
    if len(runs) > 1:
        first = Tokens.joined(documents).first_rows(query)
    is_first = first == np.arange(len(first))
    number = np.cumsum(is_first)[first] - 1
    rank = np.full((len(runs), int(is_first.sum())), UNRETRIEVED, dtype=np.int32)
    rank[of_run, number] = np.concatenate(ranks)
    order = np.argsort(query[is_first], kind="stable")
    return query[is_first][order].astype(np.int32), rank[:, order]


@dataclass(frozen=True, eq=False)
class OpenRun(OpenRanking):
    """An `OpenRanking` with the numbers of its holes."""

    number: IntArray  # (Q, U): of the own holes of each query, among all n; -1 for none
    cut: int | None  # documents that all runs have below this rank stay unjudged

    def assigned(
        self, query: IntArray, levels: IntArray, others: IntArray, scale: Sequence[int]
    ) -> Judged:
        """Judge V rankings, of the given queries, (V,).

        Their own holes have `levels`, (V, U); values after the last own hole are ignored. `others`,
        (V, len(scale)), has the number of other holes at each level of the scale.
        """
        judged = self.judged
        size = np.diff(judged.starts)[query]
        starts = np.concatenate([[0], np.cumsum(size)])
        of = np.repeat(np.arange(len(query)), size)
        hit = np.arange(starts[-1]) - starts[of] + judged.starts[query][of]
        level, hole = judged.level[hit], self.hole[hit]
        open_ = np.flatnonzero(hole >= 0)
        level[open_] = levels[of[open_], hole[open_]]
        known, counts = level_counts(judged, query, scale)
        place = np.searchsorted(known, level[open_])
        added = np.bincount(of[open_] * len(known) + place, minlength=counts.size)
        counts += added.reshape(counts.shape)
        for step, count in zip(scale, others.T, strict=True):
            counts[:, np.searchsorted(known, step)] += count
        return replace(
            judged,
            queries=list(map(judged.queries.__getitem__, query.tolist())),
            num_ret=judged.num_ret[query],
            **sparse_levels(known, counts),
            starts=starts,
            query=of,
            rank=judged.rank[hit],
            level=level,
            judgement=judged.judgement[hit],
            corpus_size=None if judged.corpus_size is None else judged.corpus_size[query],
            judged_below=None if judged.judged_below is None else judged.judged_below[query],
        )


def open_run(holes: Holes, run: int, judged: Judged, depth: int | None, cut: int | None) -> OpenRun:
    """Put holes among the hits of a run, the `judged` one of that number.

    Holes that the run has below `depth` are other holes. Documents that all runs have below the
    rank `cut` stay unjudged. None stands for no such rank.
    """
    key = (run, depth, cut)
    if key not in holes.opened:
        holes.opened[key] = _opened(holes, run, judged, depth, cut)
    return holes.opened[key]


def _opened(holes: Holes, run: int, judged: Judged, depth: int | None, cut: int | None) -> OpenRun:
    deepest = UNRETRIEVED - 1 if depth is None else depth
    num_queries = len(judged.queries)
    row = holes.rows(judged.queries, cut)
    known, level = holes.known
    of_known = holes.judgements.places_among(judged.queries)[holes.query[known]]
    known, of_known = known[of_known >= 0], of_known[of_known >= 0]
    own = np.flatnonzero((holes.rank[run] <= deepest) & (row >= 0))
    own = own[_order(row[own], holes.rank[run, own])]
    starts = np.searchsorted(row[own], np.arange(num_queries + 1))
    place = np.arange(len(own)) - starts[row[own]]
    number = np.full((num_queries, int(place.max(initial=-1)) + 1), -1)
    number[row[own], place] = own
    num_open = np.bincount(row + 1, minlength=num_queries + 1)[1:]

    kept = np.flatnonzero((judged.level >= 0) & (judged.rank <= deepest))
    shown = holes.rank[run, known] <= deepest
    query = np.concatenate([judged.query[kept], of_known[shown], row[own]])
    rank = np.concatenate([judged.rank[kept], holes.rank[run, known[shown]], holes.rank[run, own]])
    order = _order(query, rank)
    added = [np.full(int(shown.sum()), level), np.full(len(own), -1)]
    hole = np.concatenate([np.full(len(kept) + len(added[0]), -1), place])
    hits = np.searchsorted(query[order], np.arange(num_queries + 1))
    opened = replace(
        _with_levels(judged, of_known, level),
        starts=hits,
        query=query[order],
        rank=rank[order],
        level=np.concatenate([judged.level[kept], *added])[order],
        judgement=np.append(judged.judgement[kept], np.full(len(order) - len(kept), -1))[order],
        judged_below=None if depth is None else judged.num_ret - np.diff(hits),
    )
    return OpenRun(opened, hole[order], num_open - np.diff(starts), number, cut)


def _order(query: IntArray | SmallInts, rank: IntArray | SmallInts) -> IntArray:
    """Order by query and rank with one key, in a fifth of the time of two keys."""
    return np.argsort(query * np.int64(UNRETRIEVED) + rank)


def _with_levels(judged: Judged, query: IntArray, level: int) -> Judged:
    """Add one judged document of a level to each of some queries; queries may repeat."""
    if not len(query):
        return judged
    levels, counts = level_counts(judged, np.arange(len(judged.queries)), [level])
    np.add.at(counts[:, np.searchsorted(levels, level)], query, 1)
    return replace(judged, **sparse_levels(levels, counts))


End = Literal["top", "bottom"]
BATCH = 1 << 16  # hits judged at once, whose arrays fit into the cache
MOST_COUNTS = 300_000  # most assignments to try for a measure, which is refused beyond


def scale(metric: Metric, judgements: Judgements, settings: Settings) -> list[int]:
    """Return the levels that a hole may get, the level with the lowest gain first.

    They are 0, -l and the levels of the qrels; for measures of a rubric, the levels of the grade
    map. Of levels with equal gains there is one.
    """
    if "grade_map" in metric.measure.needs:
        rubric = settings.grade_map.rubric
        by_grade = {grade: level for level, grade in rubric.items()}
        return [by_grade[grade] for grade in sorted(by_grade)]
    present = np.unique(np.append(judgements.level, [0, settings.relevance_level]))
    levels = present[present >= 0]
    gain = gain_of_levels(levels, metric.arguments.get("gains", {}))
    by_gain = dict(zip(gain.tolist(), levels.tolist(), strict=True))
    return [level for _, level in sorted(by_gain.items())]


OTHER = -2  # in `Case.known`: another hole, not one of the run's own


@dataclass(frozen=True)
class Case:
    """n queries of a run to bound; in each of them the level of one hole may be known."""

    query: IntArray  # (n,): numbers of queries
    known: IntArray  # (n,): place of the known own hole, `OTHER` or, for none, -1
    level: IntArray  # (n,): its level

    @classmethod
    def of_all(cls, run: OpenRun) -> Case:
        """Take every query, without known holes."""
        nothing = np.full(len(run.judged.queries), -1)
        return cls(np.arange(len(nothing)), nothing, nothing)


@dataclass(frozen=True)
class Trials:
    """A run and a metric, to be computed under assignments of levels to holes.

    Thresholds describe an assignment. ``own[:, t]`` own holes have at least level t + 1 of the
    scale: the first of the ranking (``end="top"``) or the last. ``other`` does the same for other
    holes.
    """

    run: OpenRun
    metric: Metric
    scale: Sequence[int]

    @cached_property
    def ratio(self) -> GainRatio | None:
        """The parts of a metric that is a sum of gains over an ideal; None for other metrics."""
        of_arguments = self.metric.measure.bounds.ratio
        return None if of_arguments is None else of_arguments(**self.metric.arguments)

    @property
    def thresholds(self) -> int:
        return len(self.scale) - 1

    @property
    def two_levels(self) -> Trials:
        return Trials(self.run, self.metric, [self.scale[0], self.scale[-1]])

    def statistics(
        self, case: Case, row: IntArray, own: IntArray, other: IntArray, end: End
    ) -> FloatArray:
        """Return the sufficient statistics of V assignments, (V, S).

        Each has a row of the case, (V,), and thresholds for own and other holes, (V, T).
        """
        longest = int(np.diff(self.run.judged.starts).max(initial=1))
        step = max(1, BATCH // max(1, longest, self.run.number.shape[1]))
        parts = []
        starts = range(0, max(1, len(row)), step)
        for i in with_progress(starts, self.metric.name, len(starts)):
            some = slice(i, i + step)
            parts.append(self._batch(case, row[some], own[some], other[some], end))
        return np.concatenate(parts)

    def _batch(
        self, case: Case, row: IntArray, own: IntArray, other: IntArray, end: End
    ) -> FloatArray:
        query = case.query[row]
        place = np.arange(self.run.number.shape[1])[np.newaxis]
        if end == "bottom":
            place = self.run.num_own[query, np.newaxis] - 1 - place
        levels = np.asarray(self.scale)[_steps(place, own)]
        known = case.known[row]
        own_known = np.flatnonzero(known >= 0)
        levels[own_known, known[own_known]] = case.level[row[own_known]]
        others = -np.diff(other, prepend=self.run.num_other[query, np.newaxis], append=0, axis=1)
        # Move another hole from its step of the scale to the step of its known level.
        moved = np.flatnonzero(known == OTHER)
        others[moved, _steps(np.zeros((len(moved), 1)), other[moved])[:, 0]] -= 1
        is_level = case.level[row[moved], np.newaxis] == np.asarray(self.scale)
        others[moved, is_level.argmax(axis=1)] += 1
        return self.under(query, levels, others)

    def under(self, query: IntArray, levels: IntArray, others: IntArray) -> FloatArray:
        """Return the statistics of queries, (V, S), under levels of their holes.

        `OpenRun.assigned` describes the parameters.
        """
        judged = self.run.assigned(query, levels, others, self.scale)
        return np.asarray(score(judged, [self.metric]).columns[0].statistics, dtype=np.float64)


def _steps(place: IntArray | FloatArray, thresholds: IntArray) -> IntArray:
    """Return how many thresholds, (V, T), are larger than each place, (V, W): (V, W)."""
    step = np.zeros((len(thresholds), place.shape[1]), dtype=np.int64)
    for threshold in thresholds.T:
        step += place < threshold[:, np.newaxis]
    return step


def corners(trials: Trials, case: Case) -> FloatArray:
    """Put all own holes at one end of the scale, and all other holes at one end: (n, C, S)."""
    two = trials.two_levels
    own, other = two.run.num_own, two.run.num_other
    ends = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[: 4 if other.any() else 2]
    n = len(case.query)
    row = np.repeat(np.arange(n), len(ends))
    query = case.query[row]
    own_end, other_end = np.tile(ends, (n, 1)).T
    own, other = (own_end * own[query])[:, np.newaxis], (other_end * other[query])[:, np.newaxis]
    return two.statistics(case, row, own, other, "top").reshape(n, len(ends), -1)


def staircase(trials: Trials, case: Case) -> FloatArray:
    """Put any number of own holes, the first or the last ones, at the top level: (n, C, S)."""
    two = trials.two_levels
    highest = _along(two, case, "top", other="worthless")
    if trials.metric.measure.bounds.levels == "all":
        highest = _climbed(trials, case)
    return np.concatenate([highest, _along(two, case, "bottom", other="at the top")], axis=1)


def _along(
    trials: Trials, case: Case, end: End, other: Literal["worthless", "at the top"]
) -> FloatArray:
    """Raise one own hole after the other, from one end of the ranking: (n, U + 1, S)."""
    most = trials.run.num_own[case.query]
    row, count = ranges(most)
    others = trials.run.num_other[case.query[row]] * (other == "at the top")
    statistics = trials.statistics(case, row, count[:, np.newaxis], others[:, np.newaxis], end)
    return padded(statistics, most)


def _climbed(trials: Trials, case: Case) -> FloatArray:
    """Find the best staircase of levels by moving one threshold at a time: (n, 1, S).

    When no single threshold can be improved, the maximum is reached: at its value v no threshold
    has a better numerator - v denominator, and those add up.
    """
    n, steps = len(case.query), trials.thresholds
    best = np.zeros((n, steps), dtype=np.int64)
    statistics = trials.statistics(case, np.arange(n), best, np.zeros_like(best), "top")
    moving = np.ones(n, dtype=bool)
    while moving.any():
        moved = np.zeros(n, dtype=bool)
        for step in range(steps):
            active = np.flatnonzero(moving)
            most = trials.run.num_own[case.query[active]]
            high = best[active, step - 1] if step else most
            low = best[active, step + 1] if step + 1 < steps else np.zeros_like(most)
            at, count = ranges(high - low)
            row = active[at]
            own = best[row]
            own[:, step] = low[at] + count
            tried = trials.statistics(case, row, own, np.zeros_like(own), "top")
            tables = padded(tried, high - low)
            choice = tables[:, :, 0].argmax(axis=1)
            chosen = tables[np.arange(len(active)), choice]
            better = chosen[:, 0] > statistics[active, 0]
            rows = active[better]
            best[rows, step], statistics[rows] = (low + choice)[better], chosen[better]
            moved[rows] = True
        moving = moved
    return statistics[:, np.newaxis]


def counts(trials: Trials, case: Case) -> FloatArray:
    """Try every number of own and of other holes at every level: (n, C, S)."""
    parts: list[FloatArray] = []
    for row, query in enumerate(case.query.tolist()):
        # Falling sequences of thresholds.
        own, other = (
            np.array([*combinations_with_replacement(range(most, -1, -1), trials.thresholds)])
            for most in (int(trials.run.num_own[query]), int(trials.run.num_other[query]))
        )
        left, right = np.divmod(np.arange(len(own) * len(other)), len(other))
        rows = np.full(len(left), row)
        parts.append(trials.statistics(case, rows, own[left], other[right], "top"))
    sizes = np.array([len(part) for part in parts], dtype=np.int64)
    return padded(np.concatenate(parts), sizes - 1)


def num_counts(trials: Trials) -> int:
    """Return how many assignments `counts` tries out, over all queries."""
    steps = trials.thresholds
    pairs = zip(trials.run.num_own.tolist(), trials.run.num_other.tolist(), strict=True)
    return sum(comb(own + steps, steps) * comb(other + steps, steps) for own, other in pairs)


def ranges(most: IntArray) -> tuple[IntArray, IntArray]:
    """Return the numbers 0 to `most` of every row, one after another, and the row of each."""
    row = np.repeat(np.arange(len(most)), most + 1)
    first = np.cumsum(most + 1) - (most + 1)
    return row, np.arange(len(row)) - first[row]


def padded(statistics: FloatArray, most: IntArray) -> FloatArray:
    """Stack the `most` + 1 statistics of each row, (n, C, S), padded with the last of them."""
    first = np.cumsum(most + 1) - (most + 1)
    index = np.minimum(np.arange(int(most.max(initial=0)) + 1), most[:, np.newaxis])
    return np.asarray(statistics[first[:, np.newaxis] + index])


SEARCHES: Mapping[str, Callable[[Trials, Case], FloatArray]] = {
    "corners": corners,
    "staircase": staircase,
    "counts": counts,
}


WAYS_AT_ONCE = 1 << 17
_ENDS: tuple[End, ...] = ("top", "bottom")


def is_tallied(trials: Trials) -> bool:
    """Return whether a `HoleTally` can compute a value of a run."""
    bounds = trials.metric.measure.bounds
    bottom, top = trials.scale[0], trials.scale[-1]
    if bounds.ratio is not None:
        return bottom != top and trials.ratio is not None
    level = trials.run.judged.settings.relevance_level
    return bounds.tallied is not None and bottom < level <= top


def tallied(trials: Trials, ways: Ways) -> FloatArray:
    """Return the sufficient statistics of ways to judge a run, (V, S)."""
    measure, arguments = trials.metric.measure, trials.metric.arguments
    ratio, parts = trials.ratio, []
    for i in range(0, max(1, len(ways.query)), WAYS_AT_ONCE):
        part = ways.part(i, i + WAYS_AT_ONCE)
        tally = HoleTally.of(trials.run, part, trials.scale[0], trials.scale[-1])
        if ratio is not None:
            statistics = ratio_values(ratio, tally)
        elif callable(measure.bounds.tallied):
            statistics = measure.bounds.tallied(tally, **arguments)
        else:
            statistics = measure.function(tally, **arguments)
        statistics = np.asarray(statistics, dtype=np.float64)
        parts.append(statistics if statistics.ndim == 2 else statistics[:, np.newaxis])
    return np.concatenate(parts)


def tallied_staircase(trials: Trials) -> FloatArray:
    """Return the candidates of `staircase` that can be extremes, (Q, C, S)."""
    run, ratio, ends = trials.run, trials.ratio, _ENDS
    extremes: list[tuple[IntArray, IntArray, End]] = []  # own and other thresholds, and the end
    if ratio is not None:
        own = best_thresholds(ratio, run, trials.scale)
        extremes.append((own, np.zeros_like(own), "top"))
        ends = ("bottom",)
    # One step more, to judge the extremes.
    for end in with_progress(ends, trials.metric.name, len(ends) + 1):
        tables = list(_tallied_along(trials, end))
        if tables[0].shape[2] > 1 or any(np.isnan(table).any() for table in tables):
            # The extremes of ratios of means, and with NA, depend on all queries.
            return _every_step(trials)
        for choice in (np.argmin, np.argmax):
            count = np.concatenate([choice(table[:, :, 0], axis=1) for table in tables])
            own, other = (
                np.repeat(number[:, np.newaxis], trials.thresholds, axis=1)
                for number in (count, _others(trials, end))
            )
            extremes.append((own, other, end))
    every = Case.of_all(run)
    return np.stack([trials.statistics(every, every.query, *given) for given in extremes], axis=1)


def _every_step(trials: Trials) -> FloatArray:
    """Return the statistics of all assignments of the search, (Q, C, S)."""
    width = int(trials.run.num_own.max(initial=0)) + 1
    parts = []
    for end in with_progress(_ENDS, trials.metric.name, 2):
        tables = [
            np.pad(table, ((0, 0), (0, width - table.shape[1]), (0, 0)), mode="edge")
            for table in _tallied_along(trials, end)
        ]
        parts.append(np.concatenate(tables))
    return np.concatenate(parts, axis=1)


def _others(trials: Trials, end: End) -> IntArray:
    """Return the number of other holes at the top, (Q,): all if own holes are at the bottom."""
    other = trials.run.num_other
    return other if end == "bottom" else np.zeros_like(other)


def _tallied_along(trials: Trials, end: End) -> Iterator[FloatArray]:
    """Raise one own hole after the other; yield (n, U + 1, S) for some queries after others."""
    run, other = trials.run, _others(trials, end)
    side = Ways.last if end == "bottom" else Ways.first
    parts = list(spans(np.cumsum([0, *(run.num_own + 1)]), WAYS_AT_ONCE))
    for first, last in with_progress(parts, trials.metric.name, len(parts)):
        most = run.num_own[first:last]
        row, count = ranges(most)
        query = first + row
        yield padded(tallied(trials, side(run, query, count, other[query])), most)


def tallied_left(trials: Trials, query: IntArray, place: IntArray) -> FloatArray:
    """Return the spread over the corners that is left once an own hole is known, (n,).

    It is the mean over both ends of the scale as the hole's level; see `corners`. `query` and
    `place`, (n,) each, identify own holes.
    """
    run, name = trials.run, trials.metric.name
    every = np.arange(len(run.num_own))
    ends = []  # other holes at the top, and the values with all own holes at each end
    for other in (np.zeros_like(every), run.num_other):
        none = tallied(trials, Ways.first(run, every, np.zeros_like(every), other))
        all_ = tallied(trials, Ways.first(run, every, run.num_own, other))
        ends.append((other, none[:, 0], all_[:, 0]))
    left = np.empty(len(query))
    starts = range(0, len(query), WAYS_AT_ONCE)
    for i in with_progress(starts, name, len(starts)):
        some = slice(i, i + WAYS_AT_ONCE)
        rows, number = query[some], place[some] + 1
        yes = np.ones(len(rows), dtype=bool)
        worthless, best = [], []  # the corners with the hole at the bottom, and at the top
        for other, bottom, top in ends:
            all_but, only = (
                tallied(trials, Ways.one(run, rows, number, high, other[rows]))[:, 0]
                for high in (~yes, yes)
            )
            worthless += [bottom[rows], all_but]
            best += [top[rows], only]
        spreads = [spread_of(np.stack(values, axis=1)) for values in (worthless, best)]
        left[some] = (spreads[0] + spreads[1]) / 2
    return left


def spread_of(values: FloatArray) -> FloatArray:
    """Return the greatest less the least of each row, (n, C) to (n,); 0 where all are NA."""
    low, high = ends(values)
    return np.where(np.isnan(low), 0.0, high - low)


_STEPS = 100
_TOLERANCE = 1e-12


def extreme_summary(candidates: FloatArray, column: MetricScores, sign: int) -> float:
    """Return the greatest (sign 1) or least (-1) summary of one candidate per query, (Q, C, S).

    A summary is a monotone function of a ratio of sums, such as a mean over the known queries. So
    change queries as long as that improves the ratio. The result is the extreme: at its value v no
    query has a better numerator - v denominator, and these add up.
    """
    aggregate = column.metric.measure.aggregate
    known: BoolArray = np.asarray(~np.isnan(candidates).any(axis=2))
    rows = np.where(known[:, :, np.newaxis], candidates, 0.0)
    absent = column.divisor - len(column.statistics)
    every = np.arange(len(rows))
    chosen = np.argmax(known, axis=1)
    current = np.asarray(-np.inf)
    for _ in range(_STEPS):
        sums = rows[every, chosen].sum(axis=0) + absent * aggregate.absent
        count = int(known[every, chosen].sum()) + absent
        others = sums - rows[every, chosen][:, np.newaxis] + rows
        counts = count - known[every, chosen][:, np.newaxis] + known
        with np.errstate(divide="ignore", invalid="ignore"):
            current = _ranked(sign * aggregate.summary(sums, count))
            tried = _ranked(sign * aggregate.summary(others, counts))
        best = tried.argmax(axis=1)
        margin = _TOLERANCE * max(1.0, abs(float(current))) if np.isfinite(current) else 0.0
        better = tried[every, best] > current + margin
        if not better.any():
            break
        chosen = np.where(better, best, chosen)
    return float(replace(column, statistics=candidates[every, chosen]).summary)


def ends(candidates: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the least and the greatest candidate of each query, (Q, C) to (Q,).

    NaN is ignored; both are NaN if all candidates are.
    """
    known = ~np.isnan(candidates)
    low = np.where(known, candidates, np.inf).min(axis=1)
    high = np.where(known, candidates, -np.inf).max(axis=1)
    none = ~known.any(axis=1)
    return np.where(none, np.nan, low), np.where(none, np.nan, high)


def _ranked(values: FloatArray) -> FloatArray:
    """Rank NA below all values."""
    return np.where(np.isnan(values), -np.inf, values)


def turned(pair: Sequence[Trials], scores: Sequence[Scores], holes: Holes) -> bool:
    """Return whether the worse run wins under the levels that help it most.

    Holes that only it retrieves get the top level, holes of only the better run are worthless, and
    each query's shared holes get the level that helps more of these two.
    """
    better, worse = pair
    if better.run.judged.queries != worse.run.judged.queries:
        return False
    sign = worse.metric.measure.sign
    of_worse, of_better = (trials.run.number[trials.run.number >= 0] for trials in (worse, better))
    tried = []
    for shared in (0, len(worse.scale) - 1):
        step = np.zeros(len(holes), dtype=np.int32)
        step[of_worse] = len(worse.scale) - 1
        step[of_worse[np.isin(of_worse, of_better)]] = shared
        tried.append([_under(trials, holes, step) for trials in (worse, better)])
    first, second = (sign * (won[:, 0] - lost[:, 0]) for won, lost in tried)
    rows = np.where((second > first)[:, np.newaxis], tried[1], tried[0])
    won, lost = (
        float(MetricScores(worse.metric, of_run, run.divisor).summary)
        for of_run, run in zip(rows, reversed(scores), strict=True)
    )
    return sign * (won - lost) > _TOLERANCE


def _under(trials: Trials, holes: Holes, step: SmallInts) -> FloatArray:
    """Return the statistics of every query, (Q, S), under a step of the scale per hole, (n,)."""
    run = trials.run
    others = np.zeros((len(run.num_own), len(trials.scale)), dtype=np.int64)
    others[:, 0] = run.num_other
    other = step.copy()
    other[run.number[run.number >= 0]] = 0
    raised = np.flatnonzero(other)
    row = holes.rows(run.judged.queries, run.cut)[raised]
    raised, row = raised[row >= 0], row[row >= 0]
    np.add.at(others, (row, other[raised]), 1)
    others[:, 0] -= others[:, 1:].sum(axis=1)
    levels = np.asarray(trials.scale)[step[run.number]]
    return trials.under(np.arange(len(others)), levels, others)
