"""Success and bits at many depths, the depth that they recommend within limits, and how sure it is.

The depth is chosen again on resampled queries: it is decided if nearly all of them choose about it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Literal, NamedTuple

import numpy as np

from ragkpi.arrays import ROUNDING, BoolArray, FloatArray, IntArray
from ragkpi.errors import UsageError
from ragkpi.interface import spell
from ragkpi.measures.chance import Needed, collapse_depth, corpus_size, lambda_, nan_mean
from ragkpi.measures.measure import Measure, Metric, MetricScores, Scores, score
from ragkpi.measures.registry import find_metrics
from ragkpi.questions.depth.samples import EVERY, Queries, queries_of, weigh
from ragkpi.ranking.judged import Judged
from ragkpi.statistics.bootstrap import Bootstrap, Interval, drawn, sums
from ragkpi.statistics.decisions import DECIDED, FEWEST_CLUSTERS
from ragkpi.statistics.units import Unit, units_of


@dataclass(frozen=True)
class Target:
    """The name of a measure with a cutoff, and the mean that it should reach."""

    measure: str
    least: float

    def metric(self, depth: int) -> Metric:
        return find_metrics([f"{self.measure}.{depth}"])[0]

    def scores(self, judged: Judged, depth: int) -> MetricScores:
        return score(judged, [self.metric(depth)]).columns[0]


def depths_to_try(judged: Judged) -> range:
    """Return every depth of a run, down to `EVERY`."""
    return range(1, min(int(judged.num_ret.max(initial=1)), EVERY) + 1)


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
        raise UsageError(f"{spell('target')} {text}: expected NAME=NUMBER, such as recall=0.8")
    target = Target(name, least)
    metric = target.metric(1)
    if not isinstance(metric.arguments.get("cutoff"), int) or metric.measure.better != "higher":
        raise UsageError(
            f"{spell('target')} {text}: {name} has no value per depth that could be "
            f"reached; expected a "
            "measure with a cutoff, such as recall, success or ra_nwg"
        )
    return target


def reach(judged: Judged, target: Target) -> Reached:
    """Find the smallest depth whose mean is at least the target, among all depths of the run."""
    best, depths = math.nan, depths_to_try(judged)
    for depth in depths:
        value = float(target.scores(judged, depth).summary)
        # A mean of shares may be wrong in its last bit.
        if value >= target.least - ROUNDING:
            return Reached(target.measure, target.least, depth, value, depths[-1])
        best = float(np.fmax(best, value if math.isfinite(value) else math.nan))
    return Reached(target.measure, target.least, None, best, depths[-1])


_EXACT = 2000  # queries whose successes by chance are all counted
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

    def deepest(self, depth: int) -> int:
        """Return how deep success is looked at: down to a depth, or as deep as there is room."""
        return depth if self.most is None or self.target else min(depth, self.most)

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
    final: Mapping[str, float]  # recall, and ra_nwg where it exists, at the deepest depth


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
    clusters: int | None  # that they come in; None if queries are drawn one by one
    resamples: int  # 0 if a single query can succeed
    low: int  # 95 % of the resamples choose from low to high
    high: int
    share: float  # of the resamples that choose at least half and at most twice the depth
    groups: Sequence[Group]  # where the resamples are, ascending
    ends: tuple[int, int]  # the smallest depths that reach the success of the ends of the groups
    success: tuple[float, float]  # of all queries, at both ends
    between: int  # queries that succeed at the deeper end alone

    @property
    def decided(self) -> bool:
        """Whether nearly all resamples choose a depth within one doubling, about one bit."""
        enough = self.clusters is None or self.clusters >= FEWEST_CLUSTERS
        return enough and self.share >= DECIDED


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

    @property
    def named_depths(self) -> list[int]:
        """The depths that a sentence on the run names, ascending."""
        depths = [] if self.choice is None else [self.choice.depth]
        if self.outcome == "undecided" and self.stability:
            depths = list(self.stability.ends)
        if self.outcome == "saturated" and self.saturation:
            depths = [self.saturation.depth, self.saturation.deepest]
        return sorted(depth for depth in depths if depth)


DEPTHS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)


def usual_depths(deepest: int) -> list[int]:
    """Return the depths of a table that ends with the last document retrieved, or with the corpus.

    A retriever's own K is seldom a round number, and it is the depth that its user knows.
    """
    return [*(depth for depth in DEPTHS if depth < deepest), deepest]


_OF_SUCCESS = ("p_obs", "ef", "bor")  # their first statistic is success
_OF_RUNS = ("p_obs", "p_rand", "ef", "bor", "bor_max", "lambda", "collapse")
_OF_COUNTS = ("p_rand", "bor_max", "bor_opt", "lambda", "collapse")
OF_PUBLISHED = (*_OF_SUCCESS, *_OF_COUNTS)
OF_EVENTS = ("p_obs", "p_rand", "ef", "bor", "bor_max", "bor_max_qmean", "lambda", "collapse")


def run_values(depths: Sequence[int], needed: Needed) -> list[Metric]:
    """Return the metrics of a run at each depth, and between neighbouring depths.

    `dbor_sparse`, an approximation for a number of documents, is left out for a share of them.
    """
    between = ["dbor"] if needed.recall else ["dbor", "dbor_sparse"]
    steps = between if len(depths) > 1 else []
    return at_each([*_OF_RUNS, *steps, "recall", "ra_nwg"], depths, needed)


def count_values(depths: Sequence[int], needed: Needed) -> list[Metric]:
    """Return the metrics that need no run, at each depth."""
    return at_each(_OF_COUNTS, depths, needed)


def seen_values(
    judged: Judged,
    depth: int,
    names: Sequence[str],
    needed: Needed,
    success: float | FloatArray,
) -> list[MetricScores]:
    """Return metrics at a depth, with success that was seen elsewhere, (Q,), in a run's place."""

    def seen(column: MetricScores) -> MetricScores:
        if column.metric.measure.name not in _OF_SUCCESS:
            return column
        observed = np.where(column.has_value, success, math.nan)
        return replace(column, statistics=np.column_stack([observed, column.statistics[:, 1:]]))

    return [*map(seen, score(judged, at_each(names, [depth], needed)).columns)]


def at_each(names: Sequence[str], depths: Sequence[int], needed: Needed) -> list[Metric]:
    """Resolve names in their own order, where `find_metrics` would use the registry's."""
    if not depths:
        return []
    metrics = []
    for name in names:
        takes = find_metrics([name])[0].arguments
        options = {key: of for key, of in needed._asdict().items() if of and key in takes}
        parameters = [*map(str, depths), *(f"{key}={of!r}" for key, of in options.items())]
        metrics += find_metrics([f"{name}.{','.join(parameters)}"])
    return metrics


def study_counts(judged: Judged, limits: Limits) -> Study:
    """Find the limits of depth for a system that always succeeds, down to the whole corpus."""
    queries, deepest = queries_of(judged, limits.needed), int(corpus_size(judged).max())
    # It succeeds from where chance can.
    least = np.broadcast_to(limits.needed.of(queries.relevant), len(queries.size))
    first = np.full(len(queries.first), least.min(initial=deepest), dtype=np.float64)
    return _study(judged, queries._replace(first=first), deepest, limits, "counts")


def study_run(judged: Judged, depths: Sequence[int], limits: Limits) -> Study:
    """Find the limits of a run's depth, down to the deepest of `depths` for which there is room."""
    deepest = limits.deepest(max(depths))
    return _study(judged, queries_of(judged, limits.needed), deepest, limits, "run")


def _study(
    judged: Judged, queries: Queries, deepest: int, limits: Limits, of: Literal["run", "counts"]
) -> Study:
    def column(measure: str, depth: int) -> MetricScores:
        return score(judged, at_each([measure], [depth], limits.needed)).columns[0]

    def value(measure: str, depth: int) -> float:
        return float(column(measure, depth).summary)

    crowded = collapse_depth(judged, limits.needed)
    collapse = None
    if crowded is not None:
        expected = nan_mean(lambda_(judged, crowded, limits.m))
        collapse = Collapse(crowded, expected, value("p_rand", crowded))
    every = weigh(queries, np.ones((1, len(queries.first))), deepest)
    if not len(every.first):
        return Study(collapse=collapse)
    bits = "bor" if of == "run" else "bor_max"
    best, last = (int(depth[0]) for depth in every.affordable(limits.allowed_loss))
    affordable = Affordable(last, value(bits, last), best, value(bits, best), deepest)
    study, is_run = Study(collapse=collapse, affordable=affordable), of == "run"
    limit_of: dict[Limit, int] = {"deepest": deepest}
    if limits.most is not None:
        limit_of["most"] = limits.most
    if is_run:
        flat, final = int(every.plateau(limits.plateau)[0]), value("p_obs", deepest)
        plateau = Plateau(flat, value("p_obs", flat), deepest, final) if flat < deepest else None
        reached = None if limits.target is None else reach(judged, limits.target)
        study = replace(study, plateau=plateau, reached=reached, final=final)
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
    depth = limit_of[limit]
    if not depth:
        return study
    possible = 2 * depth <= int(corpus_size(judged).max())
    choice = Choice(
        depth=depth,
        limit=limit,
        success=value("p_obs", depth) if is_run else None,
        bits=value(bits, depth),
        chance=value("p_rand", depth),
        doubling=value("bor_max", depth) - value("bor_max", 2 * depth) if possible else None,
        evidence=_evidence(column("p_rand", depth), column("p_obs", depth)) if is_run else None,
    )
    by_success = is_run and limit in ("plateau", "deepest")
    saturation = _saturation(judged, queries, deepest) if by_success else None
    return replace(study, choice=choice, saturation=saturation)


def _saturation(judged: Judged, queries: Queries, deepest: int) -> Saturation | None:
    success = queries.success(np.arange(1, min(TOP, deepest - 1) + 1))
    saturated = np.flatnonzero(success >= SATURATED - ROUNDING)
    if not len(saturated):
        return None
    depth = int(saturated[0]) + 1
    names = ["recall"] if judged.settings.grade_map.lacks(judged.levels) else ["recall", "ra_nwg"]
    metrics = find_metrics([f"recall.{depth}", *(f"{name}.{deepest}" for name in names)])
    recall, *final = (float(column.summary) for column in score(judged, metrics).columns)
    if not recall < UNSATURATED_RECALL:
        return None
    means = {name: mean for name, mean in zip(names, final, strict=True) if not math.isnan(mean)}
    return Saturation(depth, float(success[depth - 1]), recall, deepest, means)


def _evidence(p_rand: MetricScores, p_obs: MetricScores) -> float:
    """Return the probability that chance succeeds for at least as many queries as the run.

    Each query is an independent trial with its own probability of success. Of many queries, a
    number of successes 40 standard deviations above the mean counts as impossible (below 1e-200).
    """
    chances = p_rand.per_query[p_rand.has_value]
    most = len(chances)
    if most > _EXACT:
        spread = math.sqrt(float((chances * (1 - chances)).sum()))
        most = min(most, int(chances.sum() + 40 * spread) + 40)
    distribution = np.zeros(most + 1)
    distribution[0] = 1.0
    for p in chances.tolist():
        distribution[1:] = distribution[1:] * (1 - p) + distribution[:-1] * p
        distribution[0] *= 1 - p
    return float(min(distribution[int(np.nansum(p_obs.per_query)) :].sum(), 1.0))


_RESAMPLES = 1000  # an error of at most 0.016 in a share
_NUMBERS = 5_000_000  # most weights to draw
_AT_ONCE = 1_000_000  # most weights to hold at once
_OUTSIDE = 0.025  # share of the resamples below the range, and above it
_GROUPS = 3  # most groups in a sentence
_BOOTSTRAP = Bootstrap()


def decide_depth(
    judged: Judged, depths: Sequence[int], limits: Limits, bootstrap: Bootstrap = _BOOTSTRAP
) -> Study:
    """Study a run, and choose its depth again on resampled queries.

    Every limit is found again, except whether chance could have done as well.
    """
    study = study_run(judged, depths, limits)
    if study.choice is None:
        return study
    queries, depth = queries_of(judged, limits.needed), study.choice.depth
    n = len(queries.first)
    unit = _units(judged, judged.num_rel >= limits.m, bootstrap)
    clusters = None if bootstrap.clusters is None else n if unit is None else int(unit.max()) + 1
    if n < 2:
        alone = Stability(n, clusters, 0, depth, depth, 0.0, [], (depth, depth), (0.0, 0.0), 0)
        return replace(study, stability=alone)
    resamples = min(bootstrap.resamples, _RESAMPLES, max(100, _NUMBERS // n))
    again = replace(bootstrap, resamples=resamples)
    chosen = np.sort(depths_chosen(judged, max(depths), limits, again))
    low, high = (int(chosen[int(tail * resamples)]) for tail in (_OUTSIDE, 1 - _OUTSIDE))
    share = float(((depth <= 2 * chosen) & (chosen <= 2 * depth)).mean())
    groups = _groups(chosen)
    beside_low = [group.high for group in groups if group.low <= low <= group.high < high]
    ends = (beside_low[0] if beside_low else low), high
    reached = queries.least_depth(ends[0]), queries.least_depth(ends[1])
    if limits.target is None and reached[0] < reached[1]:
        ends = reached
    first, last = queries.success(np.array(ends)).tolist()
    between = round((last - first) * n)
    stability = Stability(
        n, clusters, resamples, low, high, share, groups, ends, (first, last), between
    )
    return replace(study, stability=stability)


def _units(judged: Judged, chosen: BoolArray, bootstrap: Bootstrap) -> Unit:
    """Return the units of the chosen queries, (Q,)."""
    return units_of(list(compress(judged.queries, chosen)), bootstrap.clusters)


def depths_chosen(judged: Judged, deepest: int, limits: Limits, bootstrap: Bootstrap) -> IntArray:
    """Return the depth that each resample of the queries chooses, 0 for none, (B,)."""
    if limits.target is None:
        chosen = _by_limits(judged, limits.deepest(deepest), limits, bootstrap)
    else:
        chosen = _by_target(judged, limits.target, bootstrap)
    return np.minimum(chosen, deepest if limits.most is None else min(deepest, limits.most))


def _groups(chosen: IntArray) -> list[Group]:
    """Group ascending depths: the doubling with most resamples first, and then the next."""
    groups: list[Group] = []
    left = chosen
    while len(left) and len(groups) < _GROUPS:
        inside = np.searchsorted(left, 2 * left, side="right") - np.arange(len(left))
        start = int(np.argmax(inside))
        group = left[start : start + inside[start]]
        groups.append(Group(int(group[0]), int(group[-1]), len(group) / len(chosen)))
        left = np.delete(left, slice(start, start + len(group)))
    return sorted(groups)


def _by_limits(judged: Judged, deepest: int, limits: Limits, bootstrap: Bootstrap) -> IntArray:
    """Return the depth that each resample chooses by plateau, collapse and loss, (B,)."""
    queries = queries_of(judged, limits.needed)
    unit, chosen = _units(judged, judged.num_rel >= limits.m, bootstrap), []
    n = len(queries.first)
    fewest = max(10, min(100, _AT_ONCE // n))  # a block has a cost of its own
    for weights in drawn(n, bootstrap.resamples, bootstrap.seed, fewest, unit):
        resamples = weigh(queries, weights, deepest)
        depth = np.minimum(resamples.plateau(limits.plateau), resamples.outside_collapse())
        if limits.max_loss is not None:
            depth = np.minimum(depth, resamples.affordable(limits.max_loss)[1])
        chosen.append(np.where(resamples.successes[:, -1] > 0, depth, 0))
    return np.concatenate(chosen)


def _by_target(judged: Judged, target: Target, bootstrap: Bootstrap) -> IntArray:
    """Return the smallest depth at which each resample reaches the target, 0 for none, (B,)."""
    depths, chosen = depths_to_try(judged), np.zeros(bootstrap.resamples, dtype=np.int64)
    has_value = target.scores(judged, depths[-1]).has_value
    unit = _units(judged, has_value, bootstrap)
    rows = drawn(int(has_value.sum()), bootstrap.resamples, bootstrap.seed, unit=unit)
    weights = np.concatenate(list(rows))
    for depth in depths:
        column, pending = target.scores(judged, depth), np.flatnonzero(chosen == 0)
        added = sums([weights[pending]], column.statistics[has_value])
        value = column.metric.measure.aggregate.summary(added, weights[pending].sum(axis=1))
        chosen[pending[value >= target.least - ROUNDING]] = depth
    return chosen


class Value(NamedTuple):
    """The value of a metric over all queries, and its interval, if one was computed."""

    metric: Metric
    summary: float
    queries: int
    interval: Interval | None = None


def values_of(
    columns: Iterable[MetricScores], bounds: Mapping[str, Interval] | None = None
) -> dict[tuple[str, int], Value]:
    """Keep the values over all queries, by measure and depth; with many queries, columns are large.

    A metric of two depths belongs to the deeper one.
    """
    return {
        (c.metric.measure.name, max(c.metric.cutoffs)): Value(
            c.metric, c.summary, len(c.statistics), (bounds or {}).get(c.name)
        )
        for c in columns
    }


@dataclass(frozen=True)
class Curve:
    """Values at every depth of a run or, without a name, of chance alone."""

    name: str  # the run's name; empty without a run
    at: Mapping[tuple[str, int], Value]  # by measure and depth
    study: Study  # the limits found for the run
    quality: Mapping[int, float] = field(default_factory=dict)  # of the answers, by depth

    @property
    def metrics(self) -> list[Metric]:
        return [value.metric for value in self.at.values()]

    @property
    def measures(self) -> list[Measure]:
        """Each measure once, in order."""
        return list({metric.measure.name: metric.measure for metric in self.metrics}.values())

    def value(self, measure: str, depth: int) -> float | None:
        """Return the value at a depth; None if there is none."""
        value = self.at.get((measure, depth))
        return None if value is None else value.summary

    def values(self, measure: str, depths: Sequence[int]) -> list[float]:
        """Return the values at depths; NaN where there is none."""
        values = [self.value(measure, depth) for depth in depths]
        return [math.nan if value is None else value for value in values]

    def interval(self, measure: str, depth: int) -> Interval | None:
        value = self.at.get((measure, depth))
        return None if value is None else value.interval


@dataclass(frozen=True)
class Curves:
    """One curve per run over the same ascending depths, and the limits of the study.

    `corpus_size` is set without runs; `bootstrap` with intervals, of the scores `estimated`.
    """

    curves: Sequence[Curve]
    depths: Sequence[int]
    limits: Limits
    bootstrap: Bootstrap | None = None
    estimated: Sequence[Scores] = ()
    corpus_size: int | None = None
    success: Literal["observed", "published", "logged"] = "observed"

    @property
    def drawn(self) -> list[int]:
        """The depths of charts: those of the table, and those between that runs were studied at."""
        return sorted({depth for _, depth in self.curves[0].at})

    @property
    def several(self) -> bool:
        """Whether there are several curves, which need names."""
        return len(self.curves) > 1
