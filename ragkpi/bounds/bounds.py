"""Bounds of values over all assignments of levels to unjudged documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, combinations, groupby
from typing import Literal

import numpy as np

from ragkpi.arrays import BoolArray, FloatArray, IntArray
from ragkpi.bounds.open_run import OpenRun, open_run
from ragkpi.bounds.search import (
    Trials,
    can_reverse,
    candidates_of,
    extreme_summary,
    least_and_greatest,
    levels_of_holes,
    num_counts,
    stacked,
    worse_at_its_best,
)
from ragkpi.bounds.unjudged import Holes, find_holes
from ragkpi.evaluation import Evaluation
from ragkpi.files.lines import spans
from ragkpi.interface import with_progress
from ragkpi.measures.measure import Metric, MetricScores, Scores
from ragkpi.ranking.judge import part_of
from ragkpi.ranking.judged import Judged, Settings
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.reading import Hits

MOST_COUNTS = 300_000  # most assignments to try for the queries that are opened at once
CELLS_AT_ONCE = 1 << 22  # of the queries that are opened at once
Within = Literal["retrieved", "cutoff"]


@dataclass(frozen=True)
class Bounded:
    """A value of a run, with its least and greatest possible value."""

    metric: Metric
    run: int
    now: float  # over all queries, with unjudged documents as they are
    low: float  # the lower bound
    high: float
    queries: list[bytes]  # length Q: the evaluated queries
    each_now: FloatArray  # (Q,): the value of each query
    each_low: FloatArray
    each_high: FloatArray
    exact: bool  # whether some assignment reaches the bounds; they may be too wide otherwise


@dataclass(frozen=True)
class Swap:
    """Two runs whose order by a value is not settled."""

    metric: Metric
    better: int  # index of the run that is better now
    worse: int
    certain: bool  # whether a known assignment reverses them; otherwise only their bounds overlap


@dataclass(frozen=True, eq=False)
class RunsWithHoles:
    """Judged runs, and the holes whose levels vary."""

    holes: Holes  # all holes of the runs, down to -M
    judged: Mapping[int, Judged]
    settings: Settings
    within: Within  # whether all holes vary, or for each metric those down to its cutoff
    first: int = 0  # the number of the first hole among all, of a block

    def blocks(self, *runs: int) -> Iterator[RunsWithHoles]:
        """Yield the runs over some queries after the others, because opened runs are large."""
        if len(self._parts) == 1:
            yield self  # which remembers the runs that it opened
            return
        for queries, some in self._parts:
            query, rank = self.holes.query[some], self.holes.rank[:, some]
            judged = {}
            for run in runs or self.judged:
                rows = self._places[run][queries]
                judged[run] = part_of(self.judged[run], rows[rows >= 0])
            holes = replace(self.holes, query=query, rank=rank)
            yield replace(self, holes=holes, judged=judged, first=some.start)

    @cached_property
    def _parts(self) -> list[tuple[slice, slice]]:
        """The queries of each block in the judgements, and its holes."""
        queries, runs = np.arange(len(self.holes.judgements.queries) + 1), len(self.holes.runs)
        starts = np.searchsorted(self.holes.query, queries)
        # A query has its holes in each run, and values of each pair of runs.
        parts = spans(runs * (starts + runs * queries), CELLS_AT_ONCE)
        return [(slice(*part), slice(*starts[[*part]].tolist())) for part in parts]

    @cached_property
    def _places(self) -> Mapping[int, IntArray]:
        """The number of each judged query in each run, or -1."""
        return {
            run: self.holes.judgements.places_among(judged.queries)
            for run, judged in self.judged.items()
        }

    @cached_property
    def _open(self) -> dict[tuple[int, int | None], OpenRun]:
        """The opened runs by number and depth."""
        return {}

    def varies(self, depth: int | None) -> BoolArray:
        """Return which holes may have any level for metrics of a depth, (n,)."""
        return self.holes.within(depth if self.within == "cutoff" else None)

    def trials(self, run: int, metric: Metric) -> Trials:
        """Open a run for the assignments of a metric."""
        scale = levels_of_holes(metric, self.holes.judgements, self.settings)
        key = run, metric.depth
        if key not in self._open:
            varies = self.varies(metric.depth)
            self._open[key] = open_run(self.holes, run, self.judged[run], metric.depth, varies)
        return Trials(self._open[key], metric, scale)

    def trials_of(self, pairs: Sequence[tuple[int, int]], metric: Metric) -> dict[int, Trials]:
        return {run: self.trials(run, metric) for run in {*chain(*pairs)}}

    def opened(self, run: int, metric: Metric) -> Iterator[tuple[int, Trials]]:
        """Open a run for a metric, some of its queries after the others, with their first hole."""
        for block in self.blocks(run):
            if block.judged[run].queries:
                yield block.first, block.trials(run, metric)


@dataclass(frozen=True)
class HoleBounds:
    """The bounds of runs' values, and the pairs of runs whose order is open."""

    runs: RunsWithHoles
    bounded: list[Bounded]  # every value of every run, by metric
    refused: list[tuple[Metric, str]]  # metrics without bounds, and the reason
    judged: dict[int | None, list[float]]  # by depth and run, `Judged.share_judged`
    swaps: list[Swap]  # pairs of runs whose order is not settled

    @property
    def holes(self) -> Holes:
        return self.runs.holes

    @property
    def metrics(self) -> list[Metric]:
        return list({bounded.metric.name: bounded.metric for bounded in self.bounded}.values())


def depth_needed(metrics: Sequence[Metric], within: Within) -> int | None:
    """Return the depth of required document names; None for all."""
    depths = [metric.depth for metric in metrics if not refusal(metric)]
    cutoffs = [depth for depth in depths if depth is not None]
    if within == "retrieved" or not cutoffs or len(cutoffs) < len(depths):
        return None
    return max(cutoffs)


def refusal(metric: Metric) -> str:
    """Return the reason why a metric has no bounds; empty if it has."""
    bounds = metric.measure.bounds
    if bounds.search == "none":
        return bounds.reason
    return "" if bounds.accepts(metric.arguments) else "no bounds are proven for these parameters"


def find_bounds(
    judgements: Judgements,
    runs: Sequence[Hits],
    evaluations: Sequence[Evaluation],
    settings: Settings,
    within: Within = "retrieved",
) -> HoleBounds:
    """Bound every value of every run over all assignments of levels to holes.

    Holes are the unjudged documents that any of the runs retrieves, with ``"cutoff"`` for each
    metric those within the depth that it looks at. A hole has the same level in all runs; documents
    that no run retrieves stay unjudged. The runs were read with the names of their documents down
    to `depth_needed`.
    """
    judged = {number: evaluation.plain for number, evaluation in enumerate(evaluations)}
    opened = RunsWithHoles(find_holes(judgements, runs, settings), judged, settings, within)
    bounded: list[Bounded] = []
    refused: list[tuple[Metric, str]] = []
    metrics = evaluations[0].scores.metrics
    for metric in with_progress(metrics, "bounds", len(metrics)):
        if reason := refusal(metric) or _too_much(opened, metric):
            refused.append((metric, reason))
            continue
        for run in with_progress(judged, metric.name, len(judged)):
            column = evaluations[run].scores[metric.name]
            bounded.append(_bounded(opened, run, column, evaluations[run].scores.queries))
    depths = dict.fromkeys(of_run.metric.depth for of_run in bounded)
    shares = {depth: [run.share_judged(depth) for run in judged.values()] for depth in depths}
    swaps = list(_swaps(opened, bounded, [evaluation.scores for evaluation in evaluations]))
    return HoleBounds(opened, bounded, refused, shares, swaps)


def _too_much(runs: RunsWithHoles, metric: Metric) -> str:
    bounds = metric.measure.bounds
    if bounds.other_runs == "bounded" and (bounds.search != "counts" or bounds.outer):
        return ""
    for run in runs.judged:
        opened = [trials for _, trials in runs.opened(run, metric)]
        if bounds.other_runs == "refused" and any(t.run.num_other.any() for t in opened):
            return "documents of other runs move it both ways; give one run"
        if bounds.search == "counts" and sum(map(num_counts, opened)) > MOST_COUNTS:
            return (
                f"{sum(map(num_counts, opened)):,} assignments are too many to try out; "
                "give a smaller cutoff, fewer runs, or holes down to the cutoff alone"
            )
    return ""


def _bounded(runs: RunsWithHoles, run: int, column: MetricScores, queries: list[bytes]) -> Bounded:
    metric, exact, parts = column.metric, True, []
    for _, trials in runs.opened(run, metric):
        outer = metric.measure.bounds.outer
        if outer and num_counts(trials) > MOST_COUNTS:
            own, other = trials.run.num_own, trials.run.num_other
            parts.append(outer(trials.run.judged, own, other, **metric.arguments))
            exact = False
        else:
            parts.append(candidates_of(trials))
    candidates = stacked(parts)
    with np.errstate(divide="ignore", invalid="ignore"):
        each_low, each_high = least_and_greatest(metric.measure.aggregate.value(candidates))
    return Bounded(
        metric=metric,
        run=run,
        now=float(column.summary),
        low=extreme_summary(candidates, column, -1),
        high=extreme_summary(candidates, column, 1),
        queries=queries,
        each_now=np.asarray(column.per_query, dtype=np.float64),
        each_low=each_low,
        each_high=each_high,
        exact=exact,
    )


def _swaps(
    runs: RunsWithHoles, bounded: Sequence[Bounded], scores: Sequence[Scores]
) -> Iterator[Swap]:
    for _, group in groupby(bounded, key=lambda each: each.metric.name):
        of_metric = list(group)
        metric = of_metric[0].metric
        pairs = [
            (better.run, worse.run)
            for better, worse in map(_ordered, combinations(of_metric, 2))
            if metric.measure.better != "neither" and _overlap(better, worse)
        ]
        alike = [pair for pair in pairs if scores[pair[0]].queries == scores[pair[1]].queries]
        certain: set[tuple[int, int]] = set()
        if alike:
            opened = (block.trials_of(alike, metric) for block in runs.blocks())
            of_blocks = [worse_at_its_best(alike, trials) for trials in opened]
            sums, counts = (np.sum(parts, axis=0) for parts in zip(*of_blocks, strict=True))
            columns = [of_run[metric.name] for of_run in scores]
            certain = can_reverse(alike, sums, counts, columns)
        yield from (Swap(metric, *pair, pair in certain) for pair in pairs)


def _ordered(pair: tuple[Bounded, Bounded]) -> tuple[Bounded, Bounded]:
    """Put the run that is better now first."""
    first, second = pair
    first_is_better = (first.now >= second.now) == (first.metric.measure.better == "higher")
    return (first, second) if first_is_better else (second, first)


def _overlap(better: Bounded, worse: Bounded) -> bool:
    if better.metric.measure.better == "higher":
        return worse.high > better.low
    return better.high > worse.low
