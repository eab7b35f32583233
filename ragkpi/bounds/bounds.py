"""Bounds of values over all assignments of levels to unjudged documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain, combinations, groupby
from typing import Literal

import numpy as np

from ragkpi.arrays import BoolArray, FloatArray
from ragkpi.bounds.open_run import OpenRun, open_run
from ragkpi.bounds.search import (
    Trials,
    can_reverse,
    candidates_of,
    extreme_summary,
    least_and_greatest,
    levels_of_holes,
    num_counts,
)
from ragkpi.bounds.unjudged import Holes, find_holes
from ragkpi.evaluation import Evaluation
from ragkpi.interface import with_progress
from ragkpi.measures.measure import Metric
from ragkpi.ranking.judged import Settings
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.reading import Hits

MOST_COUNTS = 300_000  # most assignments to try for a measure, which is refused beyond
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
    """Evaluated runs, and the holes whose levels vary."""

    holes: Holes  # all holes of the runs, down to -M
    evaluations: Sequence[Evaluation]
    settings: Settings
    within: Within  # whether all holes vary, or for each metric those down to its cutoff

    @cached_property
    def _open(self) -> Callable[[int, int | None], OpenRun]:
        @cache
        def opened(run: int, depth: int | None) -> OpenRun:
            judged, varies = self.evaluations[run].plain, self.varies(depth)
            return open_run(self.holes, run, judged, depth, varies)

        return opened

    def varies(self, depth: int | None) -> BoolArray:
        """Return which holes may have any level for metrics of a depth, (n,)."""
        return self.holes.within(depth if self.within == "cutoff" else None)

    def trials(self, run: int, metric: Metric) -> Trials:
        """Open a run for the assignments of a metric."""
        scale = levels_of_holes(metric, self.holes.judgements, self.settings)
        return Trials(self._open(run, metric.depth), metric, scale)


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
    opened = RunsWithHoles(find_holes(judgements, runs, settings), evaluations, settings, within)
    bounded: list[Bounded] = []
    refused: list[tuple[Metric, str]] = []
    metrics = evaluations[0].scores.metrics
    for metric in with_progress(metrics, "bounds", len(metrics)):
        reason = refusal(metric)
        of_metric: list[Bounded] = []
        for run in with_progress(range(len(evaluations)), metric.name, len(evaluations)):
            if not reason:
                trials = opened.trials(run, metric)
                reason = _too_much(trials)
            if not reason:
                of_metric.append(_bounded(trials, evaluations[run], run))
        if reason:
            refused.append((metric, reason))
        else:
            bounded += of_metric
    depths = dict.fromkeys(of_run.metric.depth for of_run in bounded)
    judged = {depth: [e.plain.share_judged(depth) for e in evaluations] for depth in depths}
    return HoleBounds(opened, bounded, refused, judged, list(_swaps(opened, bounded)))


def _too_much(trials: Trials) -> str:
    bounds = trials.metric.measure.bounds
    if bounds.other_runs == "refused" and trials.run.num_other.any():
        return "documents of other runs move it both ways; give one run"
    if not bounds.outer and _uncountable(trials):
        return (
            f"{num_counts(trials):,} assignments are too many to try out; "
            "give a smaller cutoff, fewer runs, or holes down to the cutoff alone"
        )
    return ""


def _uncountable(trials: Trials) -> bool:
    return trials.metric.measure.bounds.search == "counts" and num_counts(trials) > MOST_COUNTS


def _bounded(trials: Trials, evaluation: Evaluation, run: int) -> Bounded:
    metric, scores = trials.metric, evaluation.scores
    column = scores[metric.name]
    bounds = metric.measure.bounds
    exact = not (bounds.outer and _uncountable(trials))
    if bounds.outer and not exact:
        own, other = trials.run.num_own, trials.run.num_other
        candidates = bounds.outer(trials.run.judged, own, other, **metric.arguments)
    else:
        candidates = candidates_of(trials)
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
        exact=exact,
    )


def _swaps(runs: RunsWithHoles, bounded: Sequence[Bounded]) -> Iterator[Swap]:
    for _, group in groupby(bounded, key=lambda each: each.metric.name):
        of_metric = list(group)
        metric = of_metric[0].metric
        scores = [evaluation.scores for evaluation in runs.evaluations]
        pairs = [
            (better.run, worse.run)
            for better, worse in map(_ordered, combinations(of_metric, 2))
            if metric.measure.better != "neither" and _overlap(better, worse)
        ]
        alike = [pair for pair in pairs if scores[pair[0]].queries == scores[pair[1]].queries]
        trials = {run: runs.trials(run, metric) for run in {*chain(*alike)}}
        certain = dict(zip(alike, can_reverse(alike, trials, scores), strict=True))
        yield from (Swap(metric, *pair, certain.get(pair, False)) for pair in pairs)


def _ordered(pair: tuple[Bounded, Bounded]) -> tuple[Bounded, Bounded]:
    """Put the run that is better now first."""
    first, second = pair
    first_is_better = (first.now >= second.now) == (first.metric.measure.better == "higher")
    return (first, second) if first_is_better else (second, first)


def _overlap(better: Bounded, worse: Bounded) -> bool:
    if better.metric.measure.better == "higher":
        return worse.high > better.low
    return better.high > worse.low
