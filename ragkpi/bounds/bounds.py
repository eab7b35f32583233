"""Bounds of values over all assignments of levels to unjudged documents."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, combinations, groupby
from typing import Literal

import numpy as np

from ragkpi.arrays import ROUNDING, BoolArray, FloatArray, IntArray
from ragkpi.bounds.open_run import OpenRun, open_run
from ragkpi.bounds.search import (
    Trials,
    can_reverse,
    candidates_of,
    extreme_summary,
    is_exact,
    least_and_greatest,
    levels_of_holes,
    stacked,
    worse_at_its_best,
)
from ragkpi.bounds.unjudged import Holes, find_holes
from ragkpi.evaluation import Evaluation
from ragkpi.files.lines import spans
from ragkpi.interface import with_progress
from ragkpi.measures.measure import Metric, Scores
from ragkpi.ranking.judge import part_of
from ragkpi.ranking.judged import Judged, Settings
from ragkpi.ranking.judgements import Judgements

CELLS_AT_ONCE = 1 << 19  # of the queries that are opened at once
Within = Literal["retrieved", "cutoff"]


@dataclass(frozen=True)
class Bounded:
    """A value of a run, with its minimum and maximum."""

    metric: Metric
    run: int
    now: float  # over all queries, with unjudged documents as they are
    low: float  # the lower bound
    high: float
    queries: list[bytes]  # length Q: the evaluated queries
    each_now: FloatArray  # (Q,): the value of each query
    each_low: FloatArray
    each_high: FloatArray
    exact: bool  # whether some assignment reaches the bounds; else they can be too wide


@dataclass(frozen=True)
class Swap:
    """Two runs whose order by a value can change."""

    metric: Metric
    better: int  # index of the run that is now better or equal
    worse: int
    certain: bool  # whether a known assignment reverses them; otherwise only their bounds overlap


@dataclass(frozen=True, eq=False)
class RunsWithHoles:
    """Judged runs, and the holes whose levels vary: over all queries, or a block of them."""

    holes: Holes  # of the runs, down to -M
    judged: Sequence[Judged]
    scales: Mapping[str, Sequence[int]]  # the possible levels of a hole, by metric
    within: Within  # whether all holes vary, or for each metric those down to its cutoff
    depth: int | None  # the deepest rank of any metric; None if one uses all ranks
    first: int = 0  # the number of the first hole among the holes of all queries

    @property
    def present(self) -> list[int]:
        """The runs that have queries here."""
        return [run for run, judged in enumerate(self.judged) if judged.queries]

    def blocks(self, label: str) -> Iterator[RunsWithHoles]:
        """Yield the runs over blocks of queries; each block remembers the runs that it opens."""
        # A query has own holes in each run, and values of each pair of runs.
        cells = np.cumsum(self.holes.num_own(self.depth) + len(self.judged) ** 2)
        parts = list(spans(np.append(0, cells), CELLS_AT_ONCE))
        for part in with_progress(parts, label, len(parts)):
            yield self if len(parts) == 1 else self._over(*part)

    def _over(self, first: int, last: int) -> RunsWithHoles:
        """Return the runs over the judged queries from number `first` up to `last`."""
        holes, before = self.holes.of_queries(first, last)
        queries, judged = self.holes.judgements.queries, []
        for of_run in self.judged:
            start = bisect_left(of_run.queries, queries[first])
            end = bisect_right(of_run.queries, queries[last - 1])
            judged.append(part_of(of_run, np.arange(start, end)))
        return replace(self, holes=holes, judged=judged, first=before)

    def varies(self, depth: int | None) -> BoolArray:
        """Return which holes vary for metrics of a depth, (n,)."""
        return self.holes.within(depth if self.within == "cutoff" else None)

    @cached_property
    def _open(self) -> dict[tuple[int, int | None], OpenRun]:
        """The opened runs by number and depth."""
        return {}

    def trials(self, run: int, metric: Metric) -> Trials:
        """Open a run for the assignments of a metric."""
        key = run, metric.depth
        if key not in self._open:
            varies = self.varies(metric.depth)
            self._open[key] = open_run(self.holes, run, self.judged[run], metric.depth, varies)
        return Trials(self._open[key], metric, self.scales[metric.name])


@dataclass(frozen=True)
class HoleBounds:
    """The bounds of runs' values, and the pairs of runs whose order is open."""

    runs: RunsWithHoles
    bounded: list[Bounded]  # every value of every run, by metric
    refused: list[tuple[Metric, str]]  # metrics without bounds, and the reason
    judged: dict[int | None, list[float]]  # by depth and run, `Judged.share_judged`
    swaps: list[Swap]  # pairs of runs whose order is open; equal runs both ways

    @property
    def holes(self) -> Holes:
        return self.runs.holes

    @property
    def metrics(self) -> list[Metric]:
        return list({bounded.metric.name: bounded.metric for bounded in self.bounded}.values())


def depth_needed(metrics: Sequence[Metric]) -> int | None:
    """Return the depth of the document names for bounds within cutoffs; None for all."""
    depths = [metric.depth for metric in metrics if not refusal(metric)]
    cutoffs = [depth for depth in depths if depth is not None]
    return max(cutoffs) if cutoffs and len(cutoffs) == len(depths) else None


def refusal(metric: Metric) -> str:
    """Return the reason why a metric has no bounds; empty if it has."""
    bounds = metric.measure.bounds
    if bounds.search == "none":
        return bounds.reason
    default, *_ = metric.measure.parameters.defaults()
    changed = {**metric.arguments, "cutoff": 0} != {**default.arguments, "cutoff": 0}
    refused = bounds.parameters == "default" and changed
    return "no bounds are proven for these parameters" if refused else ""


def find_bounds(
    judgements: Judgements,
    runs: Sequence[Evaluation],
    settings: Settings,
    within: Within = "retrieved",
) -> HoleBounds:
    """Bound every value of every run over all assignments of levels to holes.

    Holes are the unjudged documents that any of the runs retrieves; with ``"cutoff"``, for each
    metric those within its depth. A hole has the same level in all runs; documents
    that no run retrieves stay unjudged. The runs were read with the names of all documents, or down
    to `depth_needed`.
    """
    metrics, scores = runs[0].scores.metrics, [run.scores for run in runs]
    judged = [run.plain for run in runs]
    holes = find_holes(judgements, [run.hits for run in runs], settings)
    refused = {metric.name: reason for metric in metrics if (reason := refusal(metric))}
    bounding = [metric for metric in metrics if metric.name not in refused]
    scales = {m.name: levels_of_holes(m, judgements, settings) for m in bounding}
    opened = RunsWithHoles(holes, judged, scales, within, depth_needed(metrics))
    candidates: dict[tuple[str, int], list[FloatArray]] = {}
    inexact = set()
    for block in opened.blocks("bounds"):
        for metric in with_progress(bounding, "measures", len(bounding)):
            for run in with_progress(block.present, metric.name, len(block.present)):
                trials = block.trials(run, metric)
                if not is_exact(trials):
                    inexact.add((metric.name, run))
                candidates.setdefault((metric.name, run), []).append(candidates_of(trials))
    bounded = [
        _bounded(scores[run], metric, run, candidates.pop((metric.name, run)), inexact)
        for metric in bounding
        for run in range(len(scores))
    ]
    depths = dict.fromkeys(of_run.metric.depth for of_run in bounded)
    shares = {depth: [run.share_judged(depth) for run in judged] for depth in depths}
    reasons = [(metric, refused[metric.name]) for metric in metrics if metric.name in refused]
    return HoleBounds(opened, bounded, reasons, shares, _swaps(opened, bounded, scores))


def _bounded(
    scores: Scores,
    metric: Metric,
    run: int,
    parts: Sequence[FloatArray],
    inexact: Collection[tuple[str, int]],
) -> Bounded:
    column, candidates = scores[metric.name], stacked(parts)
    with np.errstate(divide="ignore", invalid="ignore"):
        each_low, each_high = least_and_greatest(metric.measure.aggregate.value(candidates))
    return Bounded(
        metric=metric,
        run=run,
        now=float(column.summary),
        low=extreme_summary(candidates, column, -1),
        high=extreme_summary(candidates, column, 1),
        queries=scores.queries,
        each_now=np.asarray(column.per_query, dtype=np.float64),
        each_low=each_low,
        each_high=each_high,
        exact=(metric.name, run) not in inexact,
    )


def _swaps(runs: RunsWithHoles, bounded: Sequence[Bounded], scores: Sequence[Scores]) -> list[Swap]:
    pairs = [
        (better, worse)
        for _, of_metric in groupby(bounded, key=lambda each: each.metric.name)
        for one, other in combinations(of_metric, 2)
        for better, worse in ((one, other), (other, one))
        if _could_pass(worse, better)
    ]
    alike = [number for number, (one, other) in enumerate(pairs) if one.queries == other.queries]
    totals: dict[int, list[tuple[FloatArray, IntArray]]] = {number: [] for number in alike}
    for block in runs.blocks("pairs of runs") if alike else ():
        several = chain.from_iterable(pairs[number] for number in alike)
        # A run is in many pairs, and its corners are the same in all.
        trials = {(of.run, of.metric.name): block.trials(of.run, of.metric) for of in several}
        for number in alike:
            of_pair = (trials[of.run, of.metric.name] for of in pairs[number])
            totals[number].append(worse_at_its_best(*of_pair))
    swaps = []
    for number, (better, worse) in enumerate(pairs):
        columns = [scores[each.run][each.metric.name] for each in (worse, better)]
        certain = number in totals and can_reverse(totals[number], *columns)
        swaps.append(Swap(better.metric, better.run, worse.run, certain))
    return swaps


def _could_pass(worse: Bounded, better: Bounded) -> bool:
    """Return whether the bounds allow a run that is now not better to become better."""
    measure = worse.metric.measure
    greatest = max(measure.sign * worse.low, measure.sign * worse.high)
    least = min(measure.sign * better.low, measure.sign * better.high)
    not_better = measure.sign * (worse.now - better.now) <= ROUNDING
    return measure.better != "neither" and not_better and greatest > least + ROUNDING
