"""Success and bits at many depths, the recommended depth within limits, and its uncertainty.

The depth is chosen again on bootstrap samples of the queries: it is decided if nearly all of them
choose about the same, and if success visibly ends there.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Literal, NamedTuple

import numpy as np

from ragkpi.arrays import ROUNDING, FloatArray, IntArray
from ragkpi.measures.chance import (
    CEILING_LIMIT,
    LAMBDA_LIMIT,
    Needed,
    collapse_depth,
    corpus_size,
    lambda_,
    nan_mean,
)
from ragkpi.measures.measure import Measure, Metric, MetricScores, Scores, score
from ragkpi.measures.registry import find_metrics
from ragkpi.measures.tied import tail
from ragkpi.ranking.judged import Judged, shared
from ragkpi.statistics.bootstrap import Bootstrap, Interval, drawn, special
from ragkpi.statistics.decisions import FEWEST_CLUSTERS, TAIL_ENDS
from ragkpi.statistics.units import Unit, units_of

_EXACT = 2000  # maximum queries for the exact distribution of random successes
CHANCE_LIMIT = 0.05  # a run beats a random draw only if the draw equals it less often than this
# Success saturates, and cannot choose a depth, if this share of the queries succeeds in the top of
# the list, with less than this recall.
SATURATED, TOP, UNSATURATED_RECALL = 0.95, 10, 0.5
_RESAMPLES = 1000  # an error of at most 0.016 in a share
_WEIGHTS = 5_000_000  # maximum weights to draw
_TRIED = 500  # depths from 1 to the deepest, all of the first hundred, besides those of successes
_AT_ONCE = 10  # minimum samples at once: each block has a fixed cost
_OUTSIDE = 0.025  # share of the samples below the range, and above it
_BOOTSTRAP = Bootstrap()

Limit = Literal["plateau", "collapse", "max_loss", "deepest"]


@dataclass(frozen=True)
class Limits:
    """The limits that decide a depth: success, and loss of bits."""

    m: int = 1  # relevant documents for a success
    max_loss: float | None = None  # maximum loss of bits from the best depth; None for no limit
    plateau: float = 0.02  # maximum gain of success by deeper lists on a plateau
    recall: float = 0.0  # share of the relevant documents for a success, if that is more

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
    """The deepest depth within the allowed loss of bits from the best one."""

    depth: int
    bits: float
    best_depth: int
    best: float


@dataclass(frozen=True)
class Choice:
    """The recommended depth."""

    depth: int
    limit: Limit
    success: float | None  # the run's success there; None without a run
    bits: float  # the run's bits there; without a run, the ceiling's
    chance: float  # the success of a random draw there
    doubling: float | None  # cost in bits of doubling the depth; None beyond the corpus
    evidence: float | None  # probability that a random draw does as well; None without a run

    @property
    def grounded(self) -> bool:
        """Whether the run is significantly better than a random draw at this depth."""
        return self.evidence is None or self.evidence < CHANCE_LIMIT


@dataclass(frozen=True)
class Saturation:
    """Success that saturates at the top of the list, and recall, which does not."""

    depth: int  # the smallest at which success saturates
    success: float
    recall: float
    deepest: int
    final: float  # recall at the deepest depth


@dataclass(frozen=True)
class Stability:
    """The depths that bootstrap samples of the queries choose."""

    depth: int  # the choice of all queries
    queries: int
    clusters: int | None  # the number of clusters; None if queries are drawn one by one
    resamples: int = 0  # 0 if a single query can succeed
    low: int = 0  # 95% of the samples choose from low to high
    high: int = 0
    # The smallest depths with the success of both ends of this range.
    ends: tuple[int, int] = (0, 0)
    success: tuple[float, float] = (0.0, 0.0)  # of all queries, at both
    between: int = 0  # queries that succeed only at the deeper end
    last: int = 0  # queries, or clusters, that first succeed between half the depth and the depth
    deeper: int = 0  # queries, or clusters, that first succeed deeper
    tail: float = 1.0  # p of the sign test of these two; 0 if no plateau, or near the end

    @property
    def near(self) -> bool:
        """Whether 95% of the samples choose between half and twice the depth: about one bit."""
        return self.depth <= 2 * self.low and self.high <= 2 * self.depth

    @property
    def decided(self) -> bool:
        """Whether the samples choose nearly the same depth, and success visibly ends there."""
        enough = self.clusters is None or self.clusters >= FEWEST_CLUSTERS
        return enough and self.near and self.tail < TAIL_ENDS


@dataclass(frozen=True)
class Study:
    """The limits of the depth of a run, or of a system that always succeeds."""

    collapse: Collapse | None = None  # None if no depth collapses
    plateau: Plateau | None = None  # None without a run, or if success still rises or is 0
    affordable: Affordable | None = None  # None if no query can succeed
    choice: Choice | None = None  # the smallest depth among the limits; None if it is 0
    saturation: Saturation | None = None  # None if success can choose
    stability: Stability | None = None  # None without a run, or without a choice

    @property
    def outcome(self) -> Literal["depth", "undecided", "saturated", "none"]:
        """Whether a depth beats a random draw, and bootstrap samples also choose it."""
        if self.choice is None or not self.choice.grounded:
            return "none"
        if self.saturation:
            return "saturated"
        return "undecided" if self.stability and not self.stability.decided else "depth"

    @property
    def recommended(self) -> Choice | None:
        return self.choice if self.outcome == "depth" else None

    @property
    def depth(self) -> int | None:
        """The recommended depth."""
        return None if self.recommended is None else self.recommended.depth

    @property
    def named_depths(self) -> list[int]:
        """The depths in the sentence on the run, ascending."""
        depths = [] if self.choice is None else [self.choice.depth]
        if self.outcome == "undecided" and self.stability:
            depths = [*self.stability.ends, *depths]
        if self.outcome == "saturated" and self.saturation:
            depths = [self.saturation.depth, self.saturation.deepest]
        return sorted({depth for depth in depths if depth})


DEPTHS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)


def usual_depths(deepest: int) -> list[int]:
    """Return the depths of a table that ends with the last retrieved document, or with the corpus.

    A retriever's own K is seldom a round number, but users know it.
    """
    return [*(depth for depth in DEPTHS if depth < deepest), deepest]


_OF_SUCCESS = ("p_obs", "ef", "bor")  # their first statistic is success
_OF_RUNS = ("p_obs", "p_rand", "ef", "bor", "bor_max", "lambda", "collapse")
_OF_COUNTS = ("p_rand", "bor_max", "bor_opt", "lambda", "collapse")
_OF_RATES = ("p_obs", "p_rand", "ef", "bor", "bor_max", "bor_max_qmean", "lambda", "collapse")


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


def rate_values(
    judged: Judged, depth: int, needed: Needed, success: float | FloatArray
) -> list[MetricScores]:
    """Return metrics at a depth, with given success, (Q,), instead of a run."""

    def seen(column: MetricScores) -> MetricScores:
        if column.metric.measure.name not in _OF_SUCCESS:
            return column
        observed = np.where(column.has_value, success, math.nan)
        return replace(column, statistics=np.column_stack([observed, column.statistics[:, 1:]]))

    return [*map(seen, score(judged, at_each(_OF_RATES, [depth], needed)).columns)]


def at_each(names: Sequence[str], depths: Sequence[int], needed: Needed) -> list[Metric]:
    """Resolve names in their own order instead of the registry's."""
    if not depths:
        return []
    metrics = []
    for name in names:
        takes = find_metrics([name])[0].arguments
        options = {key: of for key, of in needed._asdict().items() if of and key in takes}
        parameters = [*map(str, depths), *(f"{key}={of!r}" for key, of in options.items())]
        metrics += find_metrics([f"{name}.{','.join(parameters)}"])
    return metrics


class Means(NamedTuple):
    """Means of queries, of B samples at D depths, (B, D) each."""

    success: FloatArray
    log2_chance: FloatArray  # of the mean chance of success
    num_rel: FloatArray  # lambda


class Draws(NamedTuple):
    """The P queries that can succeed, in U situations, and random draws of D depths.

    Queries in one situation have equal chances of success by a random draw at every depth.
    """

    first: FloatArray  # (P,): the depth from which a query succeeds, or inf
    situation: IntArray  # (P,): of a query, from 0 to U - 1
    depths: IntArray  # (D,): ascending, to the deepest, with every depth of a first success
    log2: FloatArray  # (U, D): log2 of the chance of success
    num_rel: FloatArray  # (U, D): the expected number of relevant documents

    def success(self, depths: IntArray) -> FloatArray:
        """Return the share of queries that succeed at each depth, (D,)."""
        succeeded = np.searchsorted(np.sort(self.first), depths, side="right")
        return np.asarray(succeeded / max(len(self.first), 1))

    def least_depth(self, depth: int) -> int:
        """Return the smallest depth at which as many queries succeed as at this one."""
        return int(self.first.max(where=self.first <= depth, initial=min(depth, 1)))

    @np.errstate(divide="ignore")
    def means(self, weights: FloatArray) -> Means:
        """Weigh the queries, (B, P)."""
        order = np.argsort(self.first)
        reached = np.searchsorted(self.first[order], self.depths, side="right")
        added = np.insert(weights[:, order].cumsum(axis=1), 0, 0, axis=1)
        by_situation = np.argsort(self.situation, kind="stable")
        starts = np.searchsorted(self.situation[by_situation], np.arange(len(self.log2)))
        counts = np.add.reduceat(weights[:, by_situation], starts, axis=1)
        total = counts.sum(axis=1, keepdims=True)  # clusters differ in size
        greatest = np.maximum(self.log2.max(axis=0), -1e9)  # -inf without success
        chance = np.einsum("bu,ud->bd", counts, np.exp2(self.log2 - greatest)) / total
        num_rel = np.einsum("bu,ud->bd", counts, self.num_rel) / total
        return Means(added[:, reached] / total, np.log2(chance) + greatest, num_rel)


Basis = Literal["run", "counts"]


@shared
def draws_of(judged: Judged, needed: Needed, deepest: int, of: Basis = "run") -> Draws:
    """Find the depths at which queries succeed, and random draws down to a depth.

    Without a run, all queries succeed as soon as a random draw can.
    """
    least = np.broadcast_to(needed.of(judged.num_rel), len(judged.queries))
    reached = judged.relevant & (judged.rel_count == least[judged.query])
    first = np.full(len(judged.queries), np.inf)
    first[judged.query[reached]] = judged.rank[reached]
    possible = judged.num_rel >= needed.m
    first = first[possible]
    if of == "counts":
        first[:] = least[possible].min(initial=deepest)
    size = corpus_size(judged)
    limit = judged.num_ret if judged.settings.draws == "ret" else size
    cells = np.stack([size, judged.num_rel, np.minimum(limit, size)])[:, possible]
    cells, situation = np.unique(cells, axis=1, return_inverse=True)
    tried = np.geomspace(1, deepest, _TRIED).astype(np.int64)
    depths = np.unique(np.concatenate([tried, [deepest], first[first <= deepest]])).astype(np.int64)
    N, R, most = (np.repeat(row, len(depths)) for row in cells)
    K = np.minimum(np.tile(depths, cells.shape[1]), most)
    chance, num_rel = tail(N, R, K, needed.of(R)).log2, K * R / N
    shape = cells.shape[1], len(depths)
    return Draws(first, situation.ravel(), depths, chance.reshape(shape), num_rel.reshape(shape))


def study_counts(judged: Judged, limits: Limits) -> Study:
    """Find the limits of depth for a system that always succeeds, down to the whole corpus."""
    return _study(judged, int(corpus_size(judged).max()), limits, "counts")


def study_run(judged: Judged, depths: Sequence[int], limits: Limits) -> Study:
    """Find the limits of a run's depth, down to the deepest of `depths`."""
    return _study(judged, max(depths), limits, "run")


def _study(judged: Judged, deepest: int, limits: Limits, of: Basis) -> Study:
    def column(measure: str, depth: int) -> MetricScores:
        return score(judged, at_each([measure], [depth], limits.needed)).columns[0]

    def value(measure: str, depth: int) -> float:
        return float(column(measure, depth).summary)

    draws = draws_of(judged, limits.needed, deepest, of)
    crowded, collapse = collapse_depth(judged, limits.needed), None
    if crowded is not None:
        expected = nan_mean(lambda_(judged, crowded, limits.m))
        collapse = Collapse(crowded, expected, value("p_rand", crowded))
    if not (draws.first <= deepest).any():
        return Study(collapse=collapse)
    means = draws.means(np.ones((1, len(draws.first))))
    is_run, bits = of == "run", "bor" if of == "run" else "bor_max"
    all_bits = _bits(means)[0]
    enough = all_bits.max() - ROUNDING - limits.allowed_loss
    best = int(draws.depths[np.argmax(all_bits >= all_bits.max() - ROUNDING)])
    place = np.flatnonzero(all_bits >= enough)[-1]
    # Bits only fall between two successes.
    ends = [*draws.depths[place : place + 2].tolist(), deepest + 1]
    between = range(ends[0], ends[1])
    last = between[bisect_left(between, True, 1, key=lambda K: value(bits, K) < enough) - 1]
    affordable = Affordable(last, value(bits, last), best, value(bits, best))
    plateau = None
    limit_of: dict[Limit, int] = {"deepest": deepest}
    if is_run and (flat := int(_plateau(draws, means, limits)[0])) < deepest:
        plateau = Plateau(flat, value("p_obs", flat), deepest, value("p_obs", deepest))
        limit_of["plateau"] = flat
    if collapse:
        limit_of["collapse"] = collapse.depth - 1
    if limits.max_loss is not None:
        limit_of["max_loss"] = affordable.depth
    limit = min(reversed(list(limit_of)), key=lambda name: limit_of[name])  # the last of equals
    depth = limit_of[limit]
    if not depth:
        return Study(collapse, plateau, affordable)
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
    saturation = _saturation(judged, draws, deepest) if by_success else None
    return Study(collapse, plateau, affordable, choice, saturation)


@np.errstate(divide="ignore", invalid="ignore")
def _bits(means: Means) -> FloatArray:
    """Return BoR, (B, D); -inf without success."""
    bits = np.log2(means.success) - means.log2_chance
    return np.where(np.isfinite(bits), bits, -np.inf)


def _plateau(draws: Draws, means: Means, limits: Limits) -> IntArray:
    """Return the smallest depth below which success gains no more than a share, (B,)."""
    enough = means.success[:, -1:] - limits.plateau - 1e-9
    return np.asarray(draws.depths[np.argmax(means.success >= enough, axis=1)])


def _saturation(judged: Judged, draws: Draws, deepest: int) -> Saturation | None:
    success = draws.success(np.arange(1, min(TOP, deepest - 1) + 1))
    saturated = np.flatnonzero(success >= SATURATED - ROUNDING)
    if not len(saturated):
        return None
    depth = int(saturated[0]) + 1
    metrics = find_metrics([f"recall.{depth}", f"recall.{deepest}"])
    recall, final = (float(column.summary) for column in score(judged, metrics).columns)
    if not recall < UNSATURATED_RECALL:
        return None
    return Saturation(depth, float(success[depth - 1]), recall, deepest, final)


def _evidence(p_rand: MetricScores, p_obs: MetricScores) -> float:
    """Return the probability that random draws succeed for at least as many queries as the run.

    Each query is an independent trial with its own probability of success. With many
    queries, successes 40 standard deviations above the mean count as impossible (below 1e-200).
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


def decide_depth(
    judged: Judged, depths: Sequence[int], limits: Limits, bootstrap: Bootstrap = _BOOTSTRAP
) -> Study:
    """Study a run, and choose its depth again on bootstrap samples of the queries.

    Every limit is computed again, except the comparison with a random draw.
    """
    study, tried = study_run(judged, depths, limits), max(depths)
    if study.choice is None:
        return study
    draws, depth = draws_of(judged, limits.needed, tried), study.choice.depth
    n, unit = len(draws.first), _units(judged, limits, bootstrap)
    clusters = None if bootstrap.clusters is None else n if unit is None else int(unit.max()) + 1
    if n < 2:
        return replace(study, stability=Stability(depth, n, clusters))
    resamples = min(bootstrap.resamples, _RESAMPLES, max(100, _WEIGHTS // n))
    again = replace(bootstrap, resamples=resamples)
    chosen = np.sort(depths_chosen(judged, tried, limits, again))
    low, high = (int(chosen[int(tail * resamples)]) for tail in (_OUTSIDE, 1 - _OUTSIDE))
    # A sample that nearly chooses the low end counts to it.
    ends = int(chosen[chosen <= 2 * low].max()) if 2 * low < high else low, high
    reached = draws.least_depth(ends[0]), draws.least_depth(ends[1])
    if reached[0] < reached[1]:
        ends = reached
    first, second = draws.success(np.array(ends)).tolist()
    units = np.arange(n) if unit is None else unit
    last, deeper = (
        len(np.unique(units[(above < draws.first) & (draws.first <= below)]))
        for above, below in ((depth / 2, depth), (depth, tried))
    )
    open_end = study.choice.limit == "plateau" and 2 * depth < tried
    stability = Stability(
        depth=depth,
        queries=n,
        clusters=clusters,
        resamples=resamples,
        low=low,
        high=high,
        ends=ends,
        success=(first, second),
        between=round((second - first) * n),
        last=last,
        deeper=deeper,
        tail=float(special().bdtr(deeper, last + deeper, 0.5)) if open_end else 0.0,
    )
    return replace(study, stability=stability)


def _units(judged: Judged, limits: Limits, bootstrap: Bootstrap) -> Unit:
    """Return the units of the queries that can succeed, (P,)."""
    queries = compress(judged.queries, judged.num_rel >= limits.m)
    return units_of(list(queries), bootstrap.clusters)


def depths_chosen(judged: Judged, deepest: int, limits: Limits, bootstrap: Bootstrap) -> IntArray:
    """Return the depth that each bootstrap sample chooses, 0 for none, (B,)."""
    draws, chosen = draws_of(judged, limits.needed, deepest), []
    unit, n, before = _units(judged, limits, bootstrap), len(draws.first), draws.depths[:-1]
    for weights in drawn(n, bootstrap.resamples, bootstrap.seed, _AT_ONCE, unit):
        means = draws.means(weights)
        collapsed = means.log2_chance > -CEILING_LIMIT
        if limits.needed == Needed():
            collapsed |= means.num_rel >= LAMBDA_LIMIT * (1 - ROUNDING)
        outside = np.append(0, before)[np.argmax(collapsed, axis=1)]
        depth = np.where(collapsed.any(axis=1), outside, deepest)
        depth = np.minimum(depth, _plateau(draws, means, limits))
        if limits.max_loss is not None:
            bits = _bits(means)
            affordable = bits >= bits.max(axis=1, keepdims=True) - ROUNDING - limits.max_loss
            last = len(draws.depths) - 1 - np.argmax(affordable[:, ::-1], axis=1)
            depth = np.minimum(depth, draws.depths[last])
        chosen.append(np.where(means.success[:, -1] > 0, depth, 0))
    return np.concatenate(chosen)


class Value(NamedTuple):
    """The value of a metric over all queries, with its interval if computed."""

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
    """Values at every depth of a run or, without a name, of a random draw."""

    name: str  # the run's name; empty without a run
    at: Mapping[tuple[str, int], Value]  # by measure and depth
    study: Study  # the limits of the run
    over_ties: Sequence[Study] = ()  # with the best levels first among equal scores, and last

    @property
    def is_of_ties(self) -> bool:
        """Whether another order of equal scores would change what is recommended."""
        studies = [self.study, *self.over_ties]
        return len({(study.outcome, study.depth) for study in studies}) > 1

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
        """Return the values at depths, or NaN."""
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
    success: Literal["judged", "rates"] = "judged"  # rates were published, or logged

    @property
    def drawn(self) -> list[int]:
        """The depths of charts: those of the table, and further ones between them."""
        return sorted({depth for _, depth in self.curves[0].at})

    @property
    def several(self) -> bool:
        """Whether there are several curves, which need names."""
        return len(self.curves) > 1
