"""Resample queries, add their statistics, and compute intervals of summaries.

All random numbers of ragkpi start here, from a seed, in one thread and in one order, so a command
gives the same digits on any number of cores.

Source: B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13; E. B.
Wilson, Probable inference, the law of succession, and statistical inference, 1927; H. O. Lancaster,
Significance tests in discrete distributions, 1961 (mid-p).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ragkpi.arrays import ROUNDING, BoolArray, FloatArray, IntArray
from ragkpi.interface import with_progress
from ragkpi.measures.measure import GEOMETRIC_MEAN, Aggregate, Metric, MetricScores, Scores
from ragkpi.statistics.decisions import Method
from ragkpi.statistics.units import Clusters, Unit, by_unit, units_of
from ragkpi.wording import exact_percent

# Weights per sample. Half a megabyte stays in the cache, twice as fast.
BLOCK = 1 << 16


def drawn(
    queries: int, resamples: int, seed: int, fewest: int = 1, unit: Unit = None
) -> Iterator[FloatArray]:
    """Draw G units with replacement; yield the count of each query, (rows, n).

    The indices are the rows of ``default_rng(seed).integers(0, G, size=(resamples, G))``, for any
    size of blocks. A block has at least `fewest` rows, for callers with a cost per block. If
    units have different sizes, the counts of a row do not add up to n.
    """
    generator = np.random.default_rng(seed)
    units = queries if unit is None else int(unit.max()) + 1
    for rows in _rows(resamples, queries, "resamples", fewest):
        times = times_drawn(generator.integers(0, units, size=(rows, units)))
        yield times if unit is None else times[:, unit]


def times_drawn(indices: npt.NDArray[np.int64]) -> FloatArray:
    """Count each of 0..n-1 in every row of an index matrix, (rows, n) to (rows, n)."""
    rows, n = indices.shape
    cells = (indices + n * np.arange(rows)[:, np.newaxis]).ravel()
    return np.bincount(cells, minlength=rows * n).reshape(rows, n).astype(np.float64)


def swapped(units: int, trials: int, seed: int) -> Iterator[FloatArray]:
    """Draw `trials` times the units that exchange labels, (rows, units) of 0 and 1."""
    generator = np.random.default_rng(seed)
    words = -(-units // 64)
    for rows in _rows(trials, units, "randomization test"):
        yield _bits(generator.integers(0, 2**64, size=(rows, words), dtype=np.uint64), units)


def all_swaps(units: int) -> FloatArray:
    """Return every way to exchange labels, (2^units, units) of 0 and 1."""
    return _bits(np.arange(2**units, dtype=np.uint64)[:, np.newaxis], units)


def permuted(blocks: IntArray, trials: int, seed: int) -> Iterator[IntArray]:
    """Draw orders of n observations at random, (rows, n), that stay inside blocks, (n,)."""
    generator = np.random.default_rng(seed)
    place = np.argsort(blocks, kind="stable")
    ascending = np.unique(blocks, return_inverse=True)[1][place]
    for rows in _rows(trials, len(blocks), "permutation test"):
        orders = np.empty((rows, len(blocks)), dtype=np.int64)
        # The whole part of a key keeps its block, the fraction shuffles inside.
        keys = ascending + generator.random((rows, len(blocks)))
        orders[:, place] = place[np.argsort(keys, axis=1)]
        yield orders


def all_permutations(blocks: IntArray) -> IntArray:
    """Return every order of n observations that stays inside blocks, (n,), as (orders, n)."""
    members = [np.flatnonzero(blocks == block).tolist() for block in np.unique(blocks)]
    place = list(itertools.chain(*members))
    every = itertools.product(*(itertools.permutations(block) for block in members))
    orders = np.array([list(itertools.chain(*order)) for order in every], dtype=np.int64)
    orders[:, place] = orders.copy()
    return orders


def sums(weights: Iterable[FloatArray], statistics: FloatArray) -> FloatArray:
    """Add the rows of `statistics`, (n, ...), under every row of the `weights`, to (B, ...).

    It uses einsum because BLAS can split a matrix product's sums by the number of cores.
    """
    width = math.prod(statistics.shape[1:])
    columns = np.ascontiguousarray(statistics.reshape(len(statistics), width).T)
    added = np.concatenate([np.einsum("bn,tn->bt", sample, columns) for sample in weights])
    return added.reshape(-1, *statistics.shape[1:])


def totals(statistics: FloatArray) -> FloatArray:
    """Add from the first query to the last, (n, ...) to (...), like `Scores.summary`."""
    if not len(statistics):
        return np.full(statistics.shape[1:], np.nan)
    return np.asarray(np.add.accumulate(statistics, axis=0)[-1])


def _rows(total: int, queries: int, label: str, fewest: int = 1) -> Iterator[int]:
    most = max(fewest, BLOCK // max(queries, 1))
    for start in with_progress(range(0, total, most), label, -(-total // most)):
        yield min(most, total - start)


def _bits(words: npt.NDArray[np.uint64], count: int) -> FloatArray:
    """Spread the lowest bits of each row of words, (rows, w), over `count` columns."""
    octets = words.astype("<u8").view(np.uint8)
    return np.unpackbits(octets, axis=1, count=count, bitorder="little").astype(np.float64)


@dataclass(frozen=True)
class QuerySample:
    """Scores of metrics with values for the same n queries, which are resampled together.

    `statistics`, (n, R, T), holds the statistics of every query and run, without NaN; `columns`
    holds each metric's columns among T. Queries of one `unit` are drawn, swapped and left out
    together: units, not queries, count as evidence. The estimate is the value over queries. If a
    run is a system of several seeds, `seeds` has the statistics of each run's seeds, (n, r, T), and
    `statistics` their means.
    """

    metrics: list[Metric]
    columns: list[slice]
    statistics: FloatArray
    unit: Unit = None
    seeds: Sequence[FloatArray] = ()

    @property
    def queries(self) -> int:
        """The number n of queries."""
        return len(self.statistics)

    @property
    def units(self) -> int:
        """The number G of units."""
        return self.queries if self.unit is None else int(self.unit.max(initial=-1)) + 1

    @property
    def freedom(self) -> float:
        """The degrees of freedom of a standard error: n² / (sum of squared sizes) - 1.

        That is G - 1 for units of one size. Ten clusters of 1 to 15 queries gave false claims in 8%
        of the samples with G - 1, and in 5% with this, since large clusters decide.

        Source: A. V. Carter, K. T. Schnepel and D. G. Steigerwald, Asymptotic behavior of a t-test
        robust to cluster heterogeneity, Review of Economics and Statistics 99, 2017
        """
        return float(self.queries**2 / (self.sizes**2).sum() - 1)

    @property
    def sizes(self) -> FloatArray:
        """The number of queries of each unit, (G,)."""
        return by_unit(np.ones(self.queries), self.unit)

    def drawn(self, bootstrap: Bootstrap) -> Iterator[FloatArray]:
        """Draw bootstrap samples of units: the count of each query, (rows, n)."""
        return drawn(self.queries, bootstrap.resamples, bootstrap.seed, unit=self.unit)

    def resampled(self, weights: Iterable[FloatArray]) -> FloatArray:
        """Add the statistics of the queries under weights, (B, n) in blocks, to (B, R, T).

        Sums are scaled to n queries; samples of unequal units have more or fewer.
        """
        flat = self.statistics.reshape(self.queries, -1)
        added = sums(weights, np.column_stack([flat, np.ones(self.queries)]))
        scaled = added[:, :-1] * (self.queries / added[:, -1:])
        return scaled.reshape(-1, *self.statistics.shape[1:])

    def replicates(self, bootstrap: Bootstrap) -> list[FloatArray]:
        """Return the summaries of bootstrap samples, one (B, R) per metric."""
        return self.summaries(self.resampled(self.drawn(bootstrap)))

    def observed(self) -> list[FloatArray]:
        """Return the summaries over all queries, one (R,) per metric."""
        return self.summaries(totals(self.statistics))

    def leave_one_out(self) -> list[FloatArray]:
        """Return the summaries without each unit, one (G, R) per metric.

        Sums are scaled up to n queries: totals become comparable, means and ratios do not change.
        """
        others = totals(self.statistics) - by_unit(self.statistics, self.unit)
        sizes = self.sizes[:, np.newaxis, np.newaxis]
        return self.summaries(others * (self.queries / (self.queries - sizes)))

    @np.errstate(invalid="ignore")
    def pseudo_values(self) -> list[FloatArray]:
        """Return the contribution of each unit to the summary of each run, one (G, R) per metric.

        Jackknife pseudo-values, G * summary - (G - 1) * summary without the unit; for means of
        units of one size, the units' own means.
        """
        return [
            self.units * summary - (self.units - 1) * without
            for summary, without in zip(self.observed(), self.leave_one_out(), strict=True)
        ]

    @np.errstate(invalid="ignore")
    def spreads(self) -> list[FloatArray]:
        """Return the spreads of the differences from the first run, one (R - 1,) per metric.

        A spread is the standard deviation of the units' pseudo-values, which for means are the
        differences themselves. The standard error of a difference is spread / √G.
        """
        return [
            # Contiguous rows, so that the digits do not depend on the number of runs.
            (self.units - 1)
            * np.ascontiguousarray((without[:, 1:] - without[:, :1]).T).std(axis=1, ddof=1)
            for without in self.leave_one_out()
        ]

    @np.errstate(divide="ignore", invalid="ignore")
    def summaries(self, sums: FloatArray) -> list[FloatArray]:
        """Turn sums over n queries, (..., T), into summaries, (...) for each metric."""
        return [
            np.asarray(metric.measure.aggregate.summary(sums[..., columns], self.queries))
            for metric, columns in zip(self.metrics, self.columns, strict=True)
        ]


def query_samples(
    runs: Sequence[Scores], choose: Callable[[Metric], bool], clusters: Clusters | None = None
) -> list[QuerySample]:
    """Group the metrics of runs by the queries for which they have values.

    The runs have equal queries and equal metrics. If a query's value is NA in any run, the metric
    leaves the query out for all runs. `choose` chooses the metrics; it must reject texts.
    """
    groups: dict[bytes, tuple[BoolArray, list[Sequence[MetricScores]]]] = {}
    for of_runs in zip(*(run.columns for run in runs), strict=True):
        if choose(of_runs[0].metric):
            has_values = np.all([column.has_value for column in of_runs], axis=0)
            groups.setdefault(has_values.tobytes(), (has_values, []))[1].append(of_runs)
    queries = runs[0].queries
    return [
        _sample(columns, has_values, units_of([*itertools.compress(queries, has_values)], clusters))
        for has_values, columns in groups.values()
    ]


def _sample(
    metrics: list[Sequence[MetricScores]], has_values: BoolArray, unit: Unit
) -> QuerySample:
    ends = np.cumsum([0, *(of_runs[0].statistics.shape[1] for of_runs in metrics)]).tolist()

    def stacked(runs: Iterable[Sequence[MetricScores]]) -> FloatArray:
        each = [np.concatenate([column.statistics for column in of_run], axis=1) for of_run in runs]
        return np.stack([of_run[has_values] for of_run in each], axis=1).astype(np.float64)

    runs = list(zip(*metrics, strict=True))
    several = any(len(run[0].seeds) > 1 for run in runs)
    of_seeds = (zip(*(column.seeds or [column] for column in run), strict=True) for run in runs)
    return QuerySample(
        metrics=[of_runs[0].metric for of_runs in metrics],
        columns=[slice(start, end) for start, end in itertools.pairwise(ends)],
        statistics=stacked(runs),
        unit=unit,
        seeds=list(map(stacked, of_seeds)) if several else (),
    )


Tails = tuple[float, float]


class Interval(NamedTuple):
    """Bounds that cover the value with a chosen probability; NaN for NA."""

    low: float
    high: float


# With fewer queries, bootstrap intervals of means cover much less than their level, and so do
# those of geometric means and ratios.
FEW, FEW_OTHERWISE = 50, 200
UNKNOWN = Interval(math.nan, math.nan)


@dataclass(frozen=True)
class Bootstrap:
    """The choices of intervals.

    Attributes
    ----------
    level
        The probability that an interval covers the value.
    method
        ``"score"`` computes intervals of means between 0 and 1, of rates and of geometric means
        from a formula, and resamples the rest (`Kind`). ``"percentile"`` takes all bounds from
        bootstrap samples.
    clusters
        The cluster of each query; the queries of one are drawn, tested and left out together.
    """

    resamples: int = 5000
    seed: int = 7
    level: float = 0.95
    method: Method = "score"
    clusters: Clusters | None = None

    @property
    def units(self) -> Literal["queries", "clusters"]:
        """The units of evidence, in words."""
        return "clusters" if self.clusters else "queries"

    @property
    def percent(self) -> str:
        """The level in words."""
        return exact_percent(self.level)

    @property
    def tails(self) -> Tails:
        """The probabilities at both ends of a percentile interval."""
        tail = round((1 - self.level) / 2, 12)  # 0.025, not 0.025000000000000022
        return tail, 1 - tail


Kind = Literal["score", "rate", "log", "resampled"]
"""The kind of an interval: score of a mean, mid-p of a rate or of a value computed from one,
Student's of the mean of logarithms, or bootstrap."""


def kind_of(metric: Metric, statistics: FloatArray, bootstrap: Bootstrap) -> Kind:
    """Return the kind of a metric's interval, from the statistics, (n, S), of its queries."""
    aggregate, (low, high) = metric.measure.aggregate, metric.measure.range
    values = statistics[:, 0]
    if bootstrap.method != "score" or not len(values):
        return "resampled"
    if aggregate is GEOMETRIC_MEAN:
        return "log"
    if aggregate.rises_with_first and not bootstrap.clusters and np.isin(values, (0, 1)).all():
        return "rate"
    inside = 0 <= low <= values.min() and values.max() <= high <= 1
    is_mean = metric.measure.is_mean and aggregate.rises_with_first  # and no z-score
    return "score" if is_mean and inside else "resampled"


def intervals(scores: Scores, bootstrap: Bootstrap) -> dict[str, Interval]:
    """Compute the interval of every metric's summary, by printed names; texts and counts have none.

    A system of several seeds has those of `replicates.intervals_of`.

    Sufficient statistics are resampled jointly, so a ratio of means gets the interval of the ratio.
    The sample excludes queries whose value is NA. If every query succeeds or fails (a statistic of
    1 or 0), the rate has its mid-p interval, and a value computed from the rate, such as bor, the
    interval that follows: bootstrap samples of twelve successes are all successes, as if the rate
    were certain. `UNKNOWN` with fewer than two queries or clusters.
    """
    bounds = {column.name: UNKNOWN for column in scores.estimates()}
    for sample in query_samples([scores], lambda m: m.is_estimate, bootstrap.clusters):
        if sample.units < 2:
            continue
        rest: list[tuple[Metric, slice]] = []
        for metric, columns in zip(sample.metrics, sample.columns, strict=True):
            statistics, aggregate = sample.statistics[:, 0, columns], metric.measure.aggregate
            mean, error = _mean_and_error(sample, statistics[:, 0])
            match kind_of(metric, statistics, bootstrap):
                case "rate":
                    interval = _interval_from_rate(statistics, aggregate, bootstrap.level)
                case "score":
                    interval = score_interval(mean, error, sample.freedom, bootstrap.level)
                case "log":
                    reach = error * student_quantile(sample.freedom, bootstrap.level)
                    ends = np.array([[mean - reach], [mean + reach]]) * sample.queries
                    interval = Interval(*aggregate.summary(ends, sample.queries).tolist())
                case "resampled":
                    rest.append((metric, columns))
                    continue
            bounds[metric.name] = interval
        if rest:
            metrics, places = map(list, zip(*rest, strict=True))
            resampled = replace(sample, metrics=metrics, columns=places).replicates(bootstrap)
            for metric, replicates in zip(metrics, resampled, strict=True):
                bounds[metric.name] = order_statistics(replicates[:, 0], bootstrap.tails)
    return bounds


def _mean_and_error(sample: QuerySample, values: FloatArray) -> tuple[float, float]:
    """Return the mean of the values of queries, (n,), and its jackknife standard error."""
    sums, units = by_unit(values, sample.unit), sample.units
    mean = float(totals(values) / len(values))
    without = (sums.sum() - sums) / (len(values) - sample.sizes)
    return mean, float((units - 1) / math.sqrt(units) * without.std(ddof=1))


HALVINGS = 60  # of an interval of at most 2: to the last bit of a double


def mid_p(successes: float, n: float, level: float) -> Interval:
    """Return the interval of a rate from successes in n trials, which can be fractional.

    Formula:    the rates p at which P(X < successes) + P(X = successes) / 2 is between the tails,
                X binomial with n and p; P(X <= k) = I(1 - p; n - k, k + 1), I the incomplete beta
    Source:     H. O. Lancaster, 1961; G. Berry and P. Armitage, Mid-P confidence intervals: a
                brief review, The Statistician 44, 1995

    >>> mid_p(12, 12, 0.95)
    Interval(low=0.7790778081..., high=1.0)
    """
    return Interval(1 - _highest(n - successes, n, level), _highest(successes, n, level))


def _highest(successes: float, n: float, level: float) -> float:
    """Return the rate at which the mid-p of at most this many successes is the upper tail."""
    if n - successes <= ROUNDING * n:
        return 1.0
    beta, low, high = special().betainc, 0.0, 1.0
    for _ in range(HALVINGS):
        rate = (low + high) / 2
        at_most = beta(n - successes, successes + 1, 1 - rate)
        fewer = beta(n - successes + 1, successes, 1 - rate) if successes > 0 else 0.0
        low, high = (rate, high) if at_most + fewer > 1 - level else (low, rate)
    return low


def score_interval(mean: float, error: float, freedom: float, level: float) -> Interval:
    """Return the interval of the mean of values between 0 and 1, from its standard error.

    Formula:    (m + k²/2N ± k √(m (1 - m) / N + k²/4N²)) / (1 + k²/N), N = m (1 - m) / error², the
                number of binary outcomes with this variance; k = t(freedom). With a spread of 0 at
                0 or 1, N is the number of units, freedom + 1.
    Edge cases: `UNKNOWN` with one unit, and with a spread of 0 elsewhere
    Source:     E. B. Wilson, 1927; D. M. Williams, Extra-binomial variation in logistic linear
                models, Applied Statistics 31, 1982 (dispersion)

    >>> score_interval(0.5, 0.1, 11, 0.95)
    Interval(low=0.2985..., high=0.7014...)
    """
    within = mean * (1 - mean)
    if not freedom > 0 or (not error > 0 and within > 0):
        return UNKNOWN
    number = within / error**2 if error > 0 and within > 0 else freedom + 1
    k = student_quantile(freedom, level)
    middle, width = mean + k * k / (2 * number), 1 + k * k / number
    reach = k * math.sqrt(max(within, 0.0) / number + k * k / (4 * number * number))
    return Interval(max(0.0, (middle - reach) / width), min(1.0, (middle + reach) / width))


def student_quantile(freedom: float, level: float) -> float:
    """Return the number of standard errors around a mean that cover a level, by Student's t."""
    return float(special().stdtrit(freedom, (1 + level) / 2))


def special() -> Any:
    """Import `scipy.special`, which takes longer than most evaluations."""
    import scipy.special

    return scipy.special


def quantile(level: float) -> float:
    """Return the number of standard deviations around a normal mean that cover a level."""
    return float(special().ndtri((1 + level) / 2))


@np.errstate(divide="ignore", invalid="ignore")
def _interval_from_rate(statistics: FloatArray, aggregate: Aggregate, level: float) -> Interval:
    """Turn mid-p bounds of the first statistic, (n, S), into bounds of the summary.

    The other statistics (the chance of success) also vary between queries. The square of their
    jackknife standard error is added to the square of each bound's distance.

    Source: G. Y. Zou and A. Donner, Construction of confidence limits about effect measures, 2008
    (MOVER).
    """
    n, rest = len(statistics), totals(statistics[:, 1:])
    successes = float(statistics[:, 0].sum())
    rates = mid_p(successes, n, level)

    def at(rate: float, others: FloatArray) -> FloatArray:
        shape = (*others.shape[:-1], 1)
        return aggregate.summary(np.concatenate([np.full(shape, rate * n), others], axis=-1), n)

    without = (rest - statistics[:, 1:]) * (n / (n - 1))
    jackknife = at(successes / n or rates.high, without)
    error = math.sqrt((n - 1) / n * float(((jackknife - jackknife.mean()) ** 2).sum()))
    reach = quantile(level) * error
    value = float(at(successes / n, rest))
    low, high = (float(at(rate, rest)) for rate in rates)
    if not math.isfinite(value):  # without a success, the logarithm is -inf
        return Interval(low, high + reach)
    return Interval(value - math.hypot(value - low, reach), value + math.hypot(high - value, reach))


def few_queries_note(runs: Iterable[Scores], bootstrap: Bootstrap) -> str:
    """Return a note that bootstrap intervals of few queries are too narrow, or ""."""
    sizes = [
        sample.units
        for run in runs
        for sample in query_samples([run], lambda m: m.is_estimate, bootstrap.clusters)
        for metric, columns in zip(sample.metrics, sample.columns, strict=True)
        if not sample.seeds
        if kind_of(metric, sample.statistics[:, 0, columns], bootstrap) == "resampled"
        if 2 <= sample.units < (FEW if metric.measure.is_mean else FEW_OTHERWISE)
    ]
    n = " to ".join(map(str, sorted({min(sizes), max(sizes)}))) if sizes else ""
    narrow = f"With so few {bootstrap.units} ({n}) resampled intervals are too narrow."
    return narrow if sizes else ""


def stretched(interval: Interval, to: float) -> Interval:
    """Stretch an interval to a value that a test does not reject, so that they agree."""
    return Interval(min(interval.low, to), max(interval.high, to))


def order_statistics(replicates: FloatArray, tails: Tails) -> Interval:
    """Take an interval from replicates, (B,), without interpolation: a replicate can be -inf.

    An undefined replicate (0/0) could have any value, so it counts as -inf for the lower and as
    inf for the upper bound.
    """
    last = len(replicates) - 1
    low, high = (min(last, int(tail * len(replicates))) for tail in tails)
    undefined = np.isnan(replicates)
    return Interval(
        float(np.sort(np.where(undefined, -np.inf, replicates))[low]),
        float(np.sort(np.where(undefined, np.inf, replicates))[high]),
    )
