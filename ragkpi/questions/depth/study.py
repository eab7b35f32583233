"""Success and bits of runs at many depths, and the depth that they recommend within limits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from ragkpi.arrays import FloatArray, IntArray
from ragkpi.errors import UsageError
from ragkpi.interface import option
from ragkpi.measures import chance
from ragkpi.measures.chance import (
    BITS,
    CEILING,
    Needed,
    chance_statistics,
    collapse_depth,
    corpus_size,
    mean_known,
    succeeds,
)
from ragkpi.measures.measure import Aggregate, Measure, Metric, MetricScores, Scores, score
from ragkpi.measures.registry import find_metrics
from ragkpi.measures.tied import Tail, tail
from ragkpi.ranking.judged import Judged
from ragkpi.statistics.bootstrap import Bootstrap, Interval, intervals
from ragkpi.statistics.decisions import DECIDED

EVERY = 1000  # try every depth down to this one
_BELOW = 100  # number of deeper depths to draw


class Trace(NamedTuple):
    """Curves of a run, or of chance alone, over D depths."""

    depths: IntArray  # (D,): ascending
    success: FloatArray  # (D,): share of the queries with a success
    chance: FloatArray  # (D,): chance's rate of success
    bits: FloatArray  # (D,): BoR; meaningless without a run, like success
    ceiling: FloatArray  # (D,): BoR_max


def every_depth(depths: Sequence[int]) -> IntArray:
    """Return every depth down to `EVERY` or the deepest, some deeper ones, and all of `depths`."""
    deepest = max(depths)
    every = np.arange(1, min(deepest, EVERY) + 1)
    below = np.geomspace(EVERY, max(deepest, EVERY), _BELOW).astype(np.int64)
    return np.union1d(np.union1d(every, below[below <= deepest]), depths)


def trace(judged: Judged, depths: IntArray, needed: Needed) -> Trace:
    """Compute the curves of a run, or of counts of relevant documents, at ascending depths."""
    if not (judged.num_rel >= needed.m).any():  # no query can succeed
        return Trace(depths, *[np.full(len(depths), np.nan)] * 4)
    ceiling, bits = (bits_at(judged, depths, needed, aggregate) for aggregate in (CEILING, BITS))
    chance = np.where(np.isnan(ceiling), 0.0, np.exp2(-ceiling))  # too few to succeed
    return Trace(depths, success_at(judged, depths, needed), chance, bits, ceiling)


def first_successes(judged: Judged, needed: Needed) -> FloatArray:
    """Return the depth from which each query succeeds, inf for none, (P,), where it is possible."""
    least = np.broadcast_to(needed.of(judged.num_rel), len(judged.queries))
    reached = judged.relevant & (judged.found == least[judged.query])
    first = np.full(len(judged.queries), math.inf)
    first[judged.query[reached]] = judged.rank[reached]
    return first[judged.num_rel >= needed.m]


def success_at(judged: Judged, depths: IntArray, needed: Needed) -> FloatArray:
    """Return the share of queries that succeed at each depth, (D,)."""
    first = np.sort(first_successes(judged, needed))
    return np.asarray(np.searchsorted(first, depths, side="right") / max(len(first), 1))


class Situations(NamedTuple):
    """The U different situations of chance: queries in one have equal chances at every depth."""

    size: IntArray  # (U,): documents to draw from
    relevant: IntArray  # (U,)
    limit: IntArray  # (U,): chance never draws more
    of_query: IntArray  # (P,): the situation of each query that can succeed

    def tails(self, depths: IntArray, needed: Needed) -> Tail:
        """Return the chances of success, (D, U) each."""
        shape = (len(depths), len(self.size))
        size, relevant = (np.broadcast_to(x, shape).ravel() for x in (self.size, self.relevant))
        drawn = np.minimum(depths[:, np.newaxis], self.limit)
        tails = tail(size, relevant, drawn.ravel(), needed.of(relevant))
        return Tail(*(column.reshape(shape) for column in tails))


def situations_of(judged: Judged, needed: Needed) -> Situations:
    """Tell the situations of the queries that can succeed apart."""
    size = corpus_size(judged)
    limit = judged.num_ret if judged.settings.draws == "ret" else size
    cells = np.stack([size, judged.num_rel, np.minimum(limit, size)])
    (size, relevant, limit), of_query = np.unique(
        cells[:, judged.num_rel >= needed.m], axis=1, return_inverse=True
    )
    return Situations(size, relevant, limit, of_query.ravel())


def bits_at(judged: Judged, depths: IntArray, needed: Needed, aggregate: Aggregate) -> FloatArray:
    """Return BoR, or its ceiling, at each depth, (D,), as `bor` and `bor_max` define them."""
    cells = situations_of(judged, needed)
    tails, count = cells.tails(depths, needed), np.bincount(cells.of_query)
    flat = Tail(*(column.ravel() for column in tails))
    smallest = flat.log2.min(where=np.isfinite(flat.log2), initial=0.0)
    statistics = chance_statistics(flat, bits_of_chance=int(-smallest) + 1)
    sums = (statistics.reshape(*tails.log2.shape, -1) * count[:, np.newaxis]).sum(axis=1)
    if aggregate is BITS:
        success = success_at(judged, depths, needed) * len(cells.of_query)
        sums = np.column_stack([success, sums])
    return np.asarray(aggregate.summary(sums, len(cells.of_query)))


@dataclass(frozen=True)
class Target:
    """The name of a measure with a cutoff, and the mean that it should reach."""

    measure: str
    least: float

    def metric(self, depth: int) -> Metric:
        return find_metrics([f"{self.measure}.{depth}"])[0]


@dataclass(frozen=True)
class Reached:
    """The smallest depth that reaches a target."""

    measure: str
    least: float
    depth: int | None  # the smallest depth that reaches it; None if none does
    value: float  # the mean at that depth, or the greatest mean if no depth reaches the target
    deepest: int  # the deepest depth that was tried


def parse_target(text: str) -> Target:
    """Read ``NAME=NUMBER``, as ``--target`` takes it; `UsageError` otherwise."""
    name, _, number = text.rpartition("=")
    try:
        least = float(number)
    except ValueError:
        least = math.nan
    if not name or not math.isfinite(least):
        raise UsageError(f"{option('target')} {text}: expected NAME=NUMBER, such as recall=0.8")
    target = Target(name, least)
    metric = target.metric(1)
    if not isinstance(metric.arguments.get("cutoff"), int) or metric.measure.better != "higher":
        raise UsageError(
            f"{option('target')} {text}: {name} has no value per depth that could be "
            f"reached; expected a "
            "measure with a cutoff, such as recall, success or ra_nwg"
        )
    return target


def reach(judged: Judged, target: Target) -> Reached:
    """Find the smallest depth whose mean is at least the target, among all depths of the run."""
    deepest = min(int(judged.num_ret.max(initial=1)), EVERY)
    best = -math.inf
    for depth in range(1, deepest + 1):
        value = float(score(judged, [target.metric(depth)]).columns[0].summary)
        # A mean of shares may be wrong in its last bit.
        if value >= target.least - 1e-12:
            return Reached(target.measure, target.least, depth, value, deepest)
        best = max(best, -math.inf if math.isnan(value) else value)
    value = best if math.isfinite(best) else math.nan
    return Reached(target.measure, target.least, None, value, deepest)


CHANCE_LIMIT = 0.05  # a run beats chance only if chance would equal it less often than this
# Success saturates, and cannot choose a depth, where this share of the queries succeeds in the top
# of the list, with less than this recall.
SATURATED, TOP, UNSATURATED_RECALL = 0.95, 10, 0.5

Limit = Literal["plateau", "collapse", "max_loss", "deepest", "target", "most"]


@dataclass(frozen=True)
class Limits:
    """The limits that decide a depth: success, loss of bits, a target and the deepest depth."""

    m: int = 1  # number of relevant documents that makes a success
    max_loss: float | None = None  # most bits of BoR lost against the best depth; None for no limit
    plateau: float = 0.02  # most success that deeper lists may still gain on a plateau
    target: Target | None = None  # replaces the limits by plateau, collapse and loss
    most: int | None = None  # the deepest depth that fits; None for no limit
    recall: float = 0.0  # share of the relevant documents that makes a success, if that is more

    @property
    def needed(self) -> Needed:
        return Needed(self.m, self.recall)

    @property
    def allowed_loss(self) -> float:
        """The loss that `Affordable` allows: one bit, a factor of 2, unless `max_loss` is set."""
        return 1.0 if self.max_loss is None else self.max_loss


@dataclass(frozen=True)
class Collapse:
    """The smallest depth in the collapse zone, and the reason."""

    depth: int
    lambda_: float
    p_rand: float


@dataclass(frozen=True)
class Plateau:
    """The smallest depth that succeeds nearly as often as the deepest one."""

    depth: int
    success: float
    deepest: int
    final: float


@dataclass(frozen=True)
class Affordable:
    """The deepest depth that costs no more bits than allowed, compared with the best one."""

    depth: int
    bits: float
    best_depth: int
    best: float
    deepest: int


@dataclass(frozen=True)
class Choice:
    """The recommended depth."""

    depth: int
    limit: Limit
    success: float | None  # the run's success there; None without a run
    bits: float  # the run's bits there; without a run, the ceiling's
    chance: float  # chance's rate of success there
    doubling: float | None  # cost in bits of doubling the depth; None beyond the corpus
    evidence: float | None  # probability that chance does as well; None without a run

    @property
    def grounded(self) -> bool:
        """Whether the run is shown to be better than chance at this depth."""
        return self.evidence is None or self.evidence < CHANCE_LIMIT


@dataclass(frozen=True)
class Saturation:
    """Success that saturates at the top of the list, beside what does not."""

    depth: int  # the smallest at which success saturates
    success: float
    recall: float
    deepest: int
    final: Mapping[str, float]  # recall and ra_nwg at the deepest depth


@dataclass(frozen=True, order=True)
class Group:
    """Neighbouring depths, at most a factor of 2 apart, and the share of the resamples there."""

    low: int  # 0 for no depth
    high: int
    share: float


@dataclass(frozen=True)
class Stability:
    """The depths that resampled queries choose."""

    queries: int
    resamples: int  # 0 if a single query can succeed
    low: int  # 95 % of the resamples choose from low to high
    high: int
    share: float  # of the resamples that choose at least half and at most twice the depth
    success: tuple[float, float]  # of all queries, at the low and at the high depth
    groups: Sequence[Group]  # where the resamples are, ascending

    @property
    def decided(self) -> bool:
        """Whether nearly all resamples choose a depth within one doubling, about one bit."""
        return self.share >= DECIDED


@dataclass(frozen=True)
class Study:
    """The limits found for the depth of a run, or of a system that always succeeds."""

    collapse: Collapse | None = None  # None if no depth collapses
    plateau: Plateau | None = None  # None without a run, or if success still rises or is 0
    affordable: Affordable | None = None  # None if no query can succeed
    choice: Choice | None = None  # the smallest depth among the limits; None if it is 0
    reached: Reached | None = None  # the depth that reaches the target; None without a target
    final: float | None = None  # success at the deepest depth; None without a run
    saturation: Saturation | None = None  # None where success can choose
    stability: Stability | None = None  # None without a run, or without a choice

    @property
    def outcome(self) -> Literal["depth", "undecided", "saturated", "none"]:
        """Whether there is a depth that beats chance, and that resampled queries choose, too."""
        if self.choice is None or not self.choice.grounded:
            return "none"
        if self.saturation:
            return "saturated"
        return "undecided" if self.stability and not self.stability.decided else "depth"

    @property
    def recommended(self) -> Choice | None:
        return self.choice if self.outcome == "depth" else None


DEPTHS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)

_RUN_MEASURES = ("p_obs", "p_rand", "ef", "bor", "bor_max", "lambda", "collapse")
_COUNT_MEASURES = ("p_rand", "bor_max", "bor_opt", "lambda", "collapse")
_BETWEEN_DEPTHS = ("dbor", "dbor_sparse")
_OF_NUMBERS = ("bor_opt", "lambda", "dbor_sparse")  # no share of the relevant ones changes them


def run_values(depths: Sequence[int], needed: Needed) -> list[Metric]:
    """Return the metrics of a run at each depth, and between neighbouring depths."""
    between = _BETWEEN_DEPTHS if len(depths) > 1 else ()
    requests = _requests([*_RUN_MEASURES, *between], depths, needed)
    cutoffs = ",".join(map(str, depths))
    return _in_order([*requests, f"recall.{cutoffs}", f"ra_nwg.{cutoffs}"])


def count_values(depths: Sequence[int], needed: Needed) -> list[Metric]:
    """Return the metrics that need no run, at each depth."""
    return _in_order(_requests(_COUNT_MEASURES, depths, needed))


def _requests(names: Sequence[str], depths: Sequence[int], needed: Needed) -> list[str]:
    """Request measures at the depths; the approximation `dbor_sparse` knows no shares."""
    cutoffs = ",".join(map(str, depths))
    share = f",recall={needed.recall!r}" if needed.recall else ""
    return [
        f"{name}.{cutoffs},m={needed.m}{'' if name in _OF_NUMBERS else share}"
        for name in names
        if not (share and name == "dbor_sparse")
    ]


def _in_order(requests: Sequence[str]) -> list[Metric]:
    """Resolve requests in their own order, where `find_metrics` would use the registry's."""
    return [metric for request in requests for metric in find_metrics([request])]


def study_counts(judged: Judged, depths: Sequence[int], limits: Limits) -> Study:
    """Find the limits of depth for a system that always succeeds, down to the whole corpus."""
    return study_run(judged, [*depths, int(corpus_size(judged).max())], limits, CEILING)


def study_run(
    judged: Judged, depths: Sequence[int], limits: Limits, aggregate: Aggregate = BITS
) -> Study:
    """Find the limits of a run's depth, down to the deepest of `depths`."""
    deepest = max(depths)
    collapse = _collapse(judged, limits.needed)
    affordable = _affordable(judged, depths, limits, aggregate)
    study = Study(collapse=collapse, affordable=affordable)
    if affordable is None:
        return study
    limit_of: dict[Limit, int] = {"deepest": deepest}
    if limits.most is not None:
        limit_of["most"] = limits.most
    if aggregate is BITS:
        study = replace(
            study,
            plateau=_plateau(judged, deepest, limits),
            reached=None if limits.target is None else reach(judged, limits.target),
            final=float(success_at(judged, np.array([deepest]), limits.needed)[0]),
        )
    if study.reached is not None:
        if study.reached.depth is None:
            return study
        limit_of["target"] = study.reached.depth
    else:
        if study.plateau:
            limit_of["plateau"] = study.plateau.depth
        if collapse:
            limit_of["collapse"] = collapse.depth - 1
        if limits.max_loss is not None:
            limit_of["max_loss"] = affordable.depth
    limit = min(reversed(list(limit_of)), key=lambda name: limit_of[name])  # the last of equals
    if not limit_of[limit]:
        return study
    choice = _choice(judged, limit_of[limit], limit, limits.needed, aggregate)
    by_success = aggregate is BITS and limit in ("plateau", "deepest")
    saturation = _saturation(judged, deepest, limits.needed) if by_success else None
    return replace(study, choice=choice, saturation=saturation)


def _saturation(judged: Judged, deepest: int, needed: Needed) -> Saturation | None:
    top = np.arange(1, min(TOP, deepest - 1) + 1)
    success = success_at(judged, top, needed)
    saturated = np.flatnonzero(success >= SATURATED - 1e-12)
    if not len(saturated):
        return None
    depth = int(top[saturated[0]])
    columns = score(
        judged, find_metrics([f"recall.{depth},{deepest}", f"ra_nwg.{deepest}"])
    ).columns
    value = {column.name: float(column.summary) for column in columns}
    recall = value[f"recall_{depth}"]
    if not recall < UNSATURATED_RECALL:
        return None
    final = {name: value[f"{name}_{deepest}"] for name in ("recall", "ra_nwg")}
    return Saturation(depth, float(success[saturated[0]]), recall, deepest, final)


def _choice(
    judged: Judged, depth: int, limit: Limit, needed: Needed, aggregate: Aggregate
) -> Choice:
    """Describe a depth by the values of a run, or by the ceiling without a run."""
    there = np.array([depth])
    ceilings = bits_at(judged, np.array([depth, 2 * depth]), needed, CEILING)
    possible = 2 * depth <= int(corpus_size(judged).max())
    return Choice(
        depth=depth,
        limit=limit,
        success=float(success_at(judged, there, needed)[0]) if aggregate is BITS else None,
        bits=float(bits_at(judged, there, needed, aggregate)[0]),
        chance=mean_known(chance.p_rand(judged, depth, *needed)),
        doubling=float(ceilings[0] - ceilings[1]) if possible else None,
        evidence=_evidence(judged, depth, needed) if aggregate is BITS else None,
    )


def _evidence(judged: Judged, depth: int, needed: Needed) -> float:
    """Return the probability that chance succeeds for at least as many queries as the run.

    Each query is an independent trial with its own probability of success.
    """
    possible = judged.num_rel >= needed.m
    probability = chance.p_rand(judged, depth, *needed)[possible, 0]
    succeeded = int(succeeds(judged, depth, needed)[possible].sum())
    distribution = np.zeros(len(probability) + 1)
    distribution[0] = 1.0
    for p in probability.tolist():
        distribution[1:] = distribution[1:] * (1 - p) + distribution[:-1] * p
        distribution[0] *= 1 - p
    return float(min(distribution[succeeded:].sum(), 1.0))


def _collapse(judged: Judged, needed: Needed) -> Collapse | None:
    depth = collapse_depth(judged, needed)
    if depth is None:
        return None
    found = mean_known(chance.lambda_(judged, depth, needed.m))
    return Collapse(depth, found, mean_known(chance.p_rand(judged, depth, *needed)))


def _plateau(judged: Judged, deepest: int, limits: Limits) -> Plateau | None:
    first = first_successes(judged, limits.needed)
    every = np.union1d([1, deepest], first[first <= deepest])  # success rises only at these
    success = success_at(judged, every, limits.needed)
    final = success[-1]
    if not final:
        return None
    # The difference of two shares may be wrong in its last bit.
    index = int(np.argmax(success >= final - limits.plateau - 1e-12))
    if every[index] == deepest:
        return None
    return Plateau(int(every[index]), float(success[index]), deepest, float(final))


def _affordable(
    judged: Judged, depths: Sequence[int], limits: Limits, aggregate: Aggregate
) -> Affordable | None:
    if not (judged.num_rel >= limits.m).any():
        return None
    every = np.union1d(np.arange(1, min(max(depths), EVERY) + 1), depths)
    bits = bits_at(judged, every, limits.needed, aggregate)
    if not np.isfinite(bits).any():
        return None
    best = int(np.nanargmax(bits))
    enough = bits[best] - limits.allowed_loss - 1e-12
    index = int(np.flatnonzero(bits >= enough)[-1])
    inside, outside = every[index], every[min(index + 1, len(every) - 1)]
    while outside - inside > 1:  # depths between them were not computed
        middle = (inside + outside) // 2
        within = bits_at(judged, np.array([middle]), limits.needed, aggregate)[0] >= enough
        inside, outside = (middle, outside) if within else (inside, middle)
    there = float(bits_at(judged, np.array([inside]), limits.needed, aggregate)[0])
    return Affordable(int(inside), there, int(every[best]), float(bits[best]), max(depths))


_ESTIMATED = ("p_obs", "bor")  # tables have no room for more intervals


@dataclass(frozen=True)
class Curve:
    """Values at every depth of a run or, without a name, of chance alone."""

    name: str  # the run's name; empty without a run
    scores: Scores  # of metrics with one cutoff, or with two neighbouring ones
    study: Study  # the limits found for the run
    intervals: Mapping[str, Interval] = field(default_factory=dict)  # by the names of metrics

    @property
    def measures(self) -> list[Measure]:
        """Each measure once, in order."""
        by_name = {metric.measure.name: metric.measure for metric in self.scores.metrics}
        return list(by_name.values())

    def value(self, measure: str, depth: int) -> float | None:
        """Return the value at a depth; a metric of two neighbours belongs to the deeper one."""
        column = self._columns.get((measure, depth))
        return None if column is None else column.summary

    def interval(self, measure: str, depth: int) -> Interval | None:
        column = self._columns.get((measure, depth))
        return None if column is None else self.intervals.get(column.name)

    @cached_property
    def _columns(self) -> dict[tuple[str, int], MetricScores]:
        """The columns by measure and depth, the deeper of two neighbours."""
        columns = {}
        for column in self.scores.columns:
            cutoff = column.metric.arguments["cutoff"]
            depth = max(cutoff) if isinstance(cutoff, tuple) else cutoff
            columns[column.metric.measure.name, depth] = column
        return columns


@dataclass(frozen=True)
class Curves:
    """One curve per run over the same ascending depths, and the limits of the study.

    `corpus_size` is set without runs, and `bootstrap` with intervals. `published` has success rates
    by depth, in place of runs, and `quality` the quality of answers by run and depth.
    """

    curves: Sequence[Curve]
    depths: Sequence[int]
    limits: Limits
    bootstrap: Bootstrap | None = None
    corpus_size: int | None = None
    published: Mapping[int, float] | None = None
    quality: Mapping[str, Mapping[int, float]] = field(default_factory=dict)

    def quality_of(self, curve: Curve) -> Mapping[int, float]:
        """Return the quality of a run's answers, by depth."""
        return self.quality.get(curve.name, {})

    @property
    def several(self) -> bool:
        """Whether there are several curves, which need names."""
        return len(self.curves) > 1

    @property
    def chosen(self) -> list[int]:
        """The depths to mark in charts."""
        choices = [] if self.published else [curve.study.recommended for curve in self.curves]
        return [choice.depth for choice in choices if choice is not None]


def interval_by_name(scores: Scores, bootstrap: Bootstrap) -> dict[str, Interval]:
    """Compute the intervals of success and BoR at every depth."""
    kept = [column for column in scores.columns if column.metric.measure.name in _ESTIMATED]
    return intervals(scores.only(kept), bootstrap)
