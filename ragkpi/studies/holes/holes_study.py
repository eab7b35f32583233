"""How much unjudged documents can change values: bounds over all assignments of levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from ragkpi.evaluation import Evaluation
from ragkpi.measures.measure import Metric
from ragkpi.measures.scores import Scores
from ragkpi.progress import steps
from ragkpi.ranking.hits import Hits
from ragkpi.ranking.judged import FloatArray, Judged
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.settings import Settings
from ragkpi.records import dataclass
from ragkpi.studies.holes.assignments import MOST_COUNTS, SEARCHES, Case, Trials, num_counts, scale
from ragkpi.studies.holes.extremes import ends, extreme_summary, turned
from ragkpi.studies.holes.open_runs import open_run
from ragkpi.studies.holes.tallied_search import is_tallied, tallied_staircase
from ragkpi.studies.holes.unjudged_documents import Holes, find_holes

Within = Literal["retrieved", "cutoff"]


@dataclass(frozen=True)
class Bounded:
    """A value of a run, and the least and the greatest that it can be.

    Attributes
    ----------
    value, run
        What it is, and which run's, by number.
    now, low, high
        Over all queries: with unjudged documents as they are, and at the extremes.
    queries : list of bytes, length Q
        The evaluated queries.
    each_now, each_low, each_high : (Q,)
        The same for each.
    exact
        Whether some assignment reaches the bounds; they may be wider than that otherwise.
    """

    metric: Metric
    run: int
    now: float
    low: float
    high: float
    queries: list[bytes]
    each_now: FloatArray
    each_low: FloatArray
    each_high: FloatArray
    exact: bool


@dataclass(frozen=True)
class Swap:
    """Two runs whose order by a value is not settled.

    Attributes
    ----------
    value
        The value.
    better, worse
        The numbers of the run that has the better one now, and of the other.
    certain
        Whether an assignment is known that turns them round; if not, their bounds overlap.
    """

    metric: Metric
    better: int
    worse: int
    certain: bool


@dataclass(frozen=True)
class HoleBounds:
    """What the holes of some runs can change.

    Attributes
    ----------
    bounded
        Every value of every run, by value.
    refused
        Values without bounds, and why.
    judged
        For each depth (None: all retrieved) and run the share of places whose document is judged
        or that are empty.
    swaps
        Pairs of runs whose order is not settled.
    holes
        All holes of the runs, down to -M.
    within
        Which of them were considered.
    """

    bounded: list[Bounded]
    refused: list[tuple[Metric, str]]
    judged: dict[int | None, list[float]]
    swaps: list[Swap]
    holes: Holes
    within: Within

    def counted(self, depth: int | None) -> int:
        """Count the holes down to a rank."""
        return int(self.holes.within(depth).sum())


def depth_needed(metrics: Sequence[Metric], within: Within) -> int | None:
    """Return down to which rank the names of documents are needed; None for all."""
    if within == "retrieved":
        return None
    depths = [
        metric.measure.bounds.depth(metric.arguments) for metric in metrics if not refusal(metric)
    ]
    known = [depth for depth in depths if depth is not None]
    return max(known) if len(known) == len(depths) and known else None


def refusal(metric: Metric) -> str:
    """Say why a value has no bounds; nothing if it has."""
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

    Holes are the unjudged documents that any of the runs retrieves. A hole has one level,
    whichever runs retrieve it; documents that no run retrieves stay unjudged.

    Parameters
    ----------
    judgements
        The qrels.
    runs
        Read with the names of their documents down to `depth_needed`.
    evaluations
        Of the same runs.
    within
        Whether everything ``"retrieved"`` may be a hole, or for each value only what a run has
        within the depth that the value looks at, its ``"cutoff"``.
    """
    holes = find_holes(judgements, runs, settings)
    bounded: list[Bounded] = []
    refused: list[tuple[Metric, str]] = []
    metrics = evaluations[0].scores.metrics
    for metric in steps(metrics, "bounds", len(metrics)):
        reason = refusal(metric)
        of_metric: list[Bounded] = []
        for run, evaluation in enumerate(steps(evaluations, metric.name, len(evaluations))):
            if reason:
                break
            trials = trials_of(holes, run, evaluation, metric, settings, within)
            reason = _too_much(trials)
            if not reason:
                of_metric.append(_bounded(trials, evaluation.scores, run))
        if reason:
            refused.append((metric, reason))
        else:
            bounded += of_metric
    depths = {
        bounds_.metric.measure.bounds.depth(bounds_.metric.arguments): None for bounds_ in bounded
    }
    return HoleBounds(
        bounded=bounded,
        refused=refused,
        judged={depth: [_judged(e.plain, depth) for e in evaluations] for depth in depths},
        swaps=_swaps(bounded, holes, evaluations, settings, within),
        holes=holes,
        within=within,
    )


def trials_of(
    holes: Holes,
    run: int,
    evaluation: Evaluation,
    metric: Metric,
    settings: Settings,
    within: Within,
) -> Trials:
    """Open a run for the assignments that a value can see."""
    depth = metric.measure.bounds.depth(metric.arguments)
    cut = depth if within == "cutoff" else None
    opened = open_run(holes, run, evaluation.plain, depth, cut)
    return Trials(opened, metric, scale(metric, holes.judgements, settings))


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


def _bounded(trials: Trials, scores: Scores, run: int) -> Bounded:
    metric = trials.metric
    column = scores[metric.name]
    bounds = metric.measure.bounds
    exact = not (bounds.outer and _uncountable(trials))
    if bounds.outer and not exact:
        own, other = trials.run.num_own, trials.run.num_other
        candidates = bounds.outer(trials.run.judged, own, other, **metric.arguments)
    else:
        candidates = _search(trials)
    with np.errstate(divide="ignore", invalid="ignore"):
        each_low, each_high = ends(metric.measure.aggregate.value(candidates))
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


def _search(trials: Trials) -> FloatArray:
    search = trials.metric.measure.bounds.search
    if search == "staircase" and is_tallied(trials):
        return tallied_staircase(trials)
    return SEARCHES[search](trials, Case.of_all(trials.run))


def _judged(judged: Judged, depth: int | None) -> float:
    known = judged.level >= 0
    if depth is None:
        seen, places = judged.per_query(known), judged.num_ret
    else:
        seen = judged.per_query(known & (judged.rank <= depth))
        places = np.minimum(judged.num_ret, depth)
    unjudged = (places - seen) / np.maximum(judged.num_ret if depth is None else depth, 1)
    return float(1.0 - unjudged.mean())


def _swaps(
    bounded: Sequence[Bounded],
    holes: Holes,
    evaluations: Sequence[Evaluation],
    settings: Settings,
    within: Within,
) -> list[Swap]:
    """Find pairs of runs whose bounds overlap by more than a point."""
    swaps = []
    for index, bounded_run in enumerate(bounded):
        for other_run in bounded[index + 1 :]:
            direction = bounded_run.metric.measure.better
            if other_run.metric is not bounded_run.metric or direction == "neither":
                continue
            above = (bounded_run.now >= other_run.now) == (direction == "higher")
            better, worse = (bounded_run, other_run) if above else (other_run, bounded_run)
            reach = worse.high - better.low if direction == "higher" else better.high - worse.low
            if reach > 0:
                pair = [
                    trials_of(holes, of.run, evaluations[of.run], of.metric, settings, within)
                    for of in (better, worse)
                ]
                scores = [evaluations[of.run].scores for of in (better, worse)]
                swaps.append(
                    Swap(
                        bounded_run.metric,
                        better.run,
                        worse.run,
                        turned(pair, scores, holes),
                    )
                )
    return swaps
