"""Correlation of measures with the quality of responses.

An observation is a pair of a query and a run. Measures are correlated with quality over queries
(the means over their runs), within queries (the distances of observations from those means) and
over runs (the means over their queries), which can disagree. Bootstrap samples draw queries with
all their runs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ragkpi.arrays import FloatArray, IntArray
from ragkpi.measures.measure import Metric, score
from ragkpi.ranking.judged import Judged
from ragkpi.statistics.bootstrap import (
    UNKNOWN,
    Bootstrap,
    Interval,
    drawn,
    order_statistics,
    stretched,
)
from ragkpi.statistics.correlation import kendall, max_correlation_p, pearson, rho, spearman
from ragkpi.statistics.units import Clusters, numbered_units
from ragkpi.wording import counted


@dataclass(frozen=True)
class Observed:
    """N observations of quality of Q queries, with their R runs."""

    queries: list[bytes]  # the queries with a score, in byte order
    query: IntArray  # (N,): index of each observation's query in `queries`
    quality: FloatArray  # (N,): quality of the response
    run: IntArray  # (N,): number of each observation's run
    runs: Sequence[tuple[Judged, IntArray]]  # each run with its rows that have a score
    unit: IntArray  # (Q,): the number of every query's unit, its cluster or itself

    def values(self, metric: Metric) -> FloatArray:
        """Compute a metric of every observation, (N,); NaN is NA."""
        parts = [score(judged, [metric]).columns[0].per_query[rows] for judged, rows in self.runs]
        return np.concatenate(parts).astype(np.float64)


def observe(
    runs: Sequence[tuple[Judged, Mapping[bytes, float]]], clusters: Clusters | None = None
) -> Observed:
    """Join judged runs with the quality of the responses generated from them."""
    scored = [
        (judged, np.flatnonzero([query in quality for query in judged.queries]))
        for judged, quality in runs
    ]
    names = [judged.queries[row] for judged, rows in scored for row in rows.tolist()]
    queries = sorted(set(names))
    number_of = {query: number for number, query in enumerate(queries)}
    query = np.array([number_of[name] for name in names], dtype=np.int64)
    run = np.repeat(np.arange(len(runs)), [len(rows) for _, rows in scored])
    quality = [runs[number][1][name] for number, name in zip(run.tolist(), names, strict=True)]
    unit = numbered_units(queries, clusters)
    return Observed(queries, query, np.array(quality), run, scored, unit)


def means(values: FloatArray, groups: IntArray) -> FloatArray:
    """Average observations, (N,), by group, (G,); groups are 0, 1, … G - 1.

    Means are rounded to twelve digits of the largest value, since sums of equal numbers in another
    order differ slightly, and equal means share a rank.
    """
    count = np.bincount(groups)
    averages = np.bincount(groups, values) / count
    return averages if count.max(initial=0) < 2 else _rounded(averages, values, 12)


def _distances(values: FloatArray, averages: FloatArray) -> FloatArray:
    """Subtract averages, rounded like `means` but to nine digits; NaN for infinite ones."""
    with np.errstate(invalid="ignore"):
        return _rounded(values - averages, values, 9)


def _rounded(numbers: FloatArray, values: FloatArray, digits: int) -> FloatArray:
    """Round numbers computed from values to some digits of the largest value."""
    largest = np.abs(values[np.isfinite(values)]).max(initial=0.0)
    if largest == 0:
        return numbers
    finite = np.isfinite(numbers)
    return np.where(finite, np.round(numbers / largest, digits) * largest, numbers)


FEWEST = 3  # observations; a correlation of fewer is meaningless
FEWEST_RUNS = 3
SIGNIFICANT = 0.05
AHEAD = 0.95
"""The minimum share of bootstrap samples in which the best measure beats each other one."""


@dataclass(frozen=True)
class Sample:
    """A metric of n queries, or within queries of n observations around their means."""

    metric: Metric
    x: FloatArray  # (n,): the value of each
    quality: FloatArray  # (n,)
    query: IntArray  # (n,): index of the query of each
    place: IntArray  # (n,): index of each among all queries, or within queries all observations

    @property
    def reason(self) -> str:
        """Why there is no correlation; empty if there is one."""
        if len(self.x) < FEWEST:
            return f"{counted(len(self.x), 'observation')}, expected {FEWEST}"
        of_quality, of_value = (_variation(of, self.query) for of in (self.quality, self.x))
        return f"quality {of_quality}" if of_quality else of_value and f"the value {of_value}"


def _variation(values: FloatArray, query: IntArray) -> str:
    """Say that values, (n,), do not vary, or not in 2.5% of the bootstrap samples or more.

    An interval would then be [-1, 1].
    """
    group, sizes = np.unique(values, return_inverse=True, return_counts=True)[1:]
    if len(sizes) == 1:
        return "does not vary"
    queries, differing = (len(np.unique(of)) for of in (query, query[group != sizes.argmax()]))
    if 2 * sizes.max() <= len(values) or (1 - differing / queries) ** queries <= 0.025:
        return ""
    return f"hardly varies ({sizes.max()} of {len(values)} are equal)"


@dataclass(frozen=True)
class Correlation:
    """Spearman's correlation of a metric with quality, over queries or within them."""

    metric: Metric
    observations: int  # queries, or within queries pairs of a query and a run
    rho: float  # NaN if undefined, for the reason
    interval: Interval
    reason: str
    p: float  # corrected for all metrics; NaN if undefined

    @property
    def strength(self) -> float:
        """Spearman's rho, negated if lower is better."""
        return self.metric.measure.sign * self.rho

    @property
    def finding(self) -> Literal["tracks", "runs against", "not shown"]:
        """Whether better values of the metric go with better or worse quality."""
        low, high = self.interval
        if not self.p < SIGNIFICANT or low <= 0 <= high or self.metric.measure.better == "neither":
            return "not shown"
        return "tracks" if self.strength > 0 else "runs against"


@dataclass(frozen=True)
class Lead:
    """The certainty that a metric tracks quality best."""

    first: list[str]  # the metric with the largest rho, and metrics that always equal it
    second: str  # the metric that it beats in the fewest bootstrap samples
    share: float  # share of bootstrap samples in which the first beats the second
    rivals: list[str]  # the metrics that it does not beat in `AHEAD` of the bootstrap samples


@dataclass(frozen=True)
class Calibration:
    """Correlations of metrics with quality, in the order of the metrics."""

    observed: Observed
    overall: list[Correlation]  # over queries
    within: list[Correlation]  # within queries; empty with one run
    over_runs: Mapping[str, float]  # Spearman's rho by metric; empty with fewer than three runs
    kendall: Mapping[str, float]  # tau-b over queries, by metric with a correlation
    pearson: Mapping[str, float]  # r over queries, the same
    lead: Lead | None
    bootstrap: Bootstrap
    refused: list[Metric]  # metrics without a value per query


def calibrate(observed: Observed, metrics: Sequence[Metric], bootstrap: Bootstrap) -> Calibration:
    """Correlate every metric with quality; metrics without a number per query are refused."""
    offered = [m for m in metrics if m.is_printed("query") and m.measure.numeric]
    values = {metric.name: observed.values(metric) for metric in offered}
    over = [_over_queries(observed, metric, values[metric.name]) for metric in offered]
    within = []
    if len(observed.runs) > 1:
        within = [_within_queries(observed, metric, values[metric.name]) for metric in offered]
    replicates = _replicates([*over, *within], observed.unit, bootstrap)
    p_values = [*_p_over(over, observed, bootstrap), *_p_within(within, observed, bootstrap)]
    correlations = [
        Correlation(
            sample.metric,
            len(sample.x),
            math.nan if sample.reason else rho(sample.x, sample.quality),
            UNKNOWN if sample.reason else _interval(of_sample, p, bootstrap),
            sample.reason,
            p,
        )
        for sample, of_sample, p in zip([*over, *within], replicates, p_values, strict=True)
    ]

    resampled = zip(correlations[: len(over)], replicates, strict=False)
    return Calibration(
        observed,
        correlations[: len(over)],
        correlations[len(over) :],
        _over_runs(observed, values),
        {of.metric.name: kendall(of.x, of.quality) for of in over if not of.reason},
        {of.metric.name: pearson(of.x, of.quality) for of in over if not of.reason},
        _lead([(one, of_one) for one, of_one in resampled if not one.reason]),
        bootstrap,
        [metric for metric in metrics if metric not in offered],
    )


def _over_queries(observed: Observed, metric: Metric, x: FloatArray) -> Sample:
    """Average a metric of all observations, (N,), over the runs of each query."""
    has_value = ~np.isnan(x)
    query, of_query = np.unique(observed.query[has_value], return_inverse=True)
    quality = means(observed.quality[has_value], of_query)
    return Sample(metric, means(x[has_value], of_query), quality, query, query)


def _within_queries(observed: Observed, metric: Metric, x: FloatArray) -> Sample:
    """Subtract the means of each query from a metric of all observations, (N,)."""
    has_value = ~np.isnan(x)
    of_query = np.unique(observed.query[has_value], return_inverse=True)[1]
    x, quality = x[has_value], observed.quality[has_value]
    from_mean = _distances(x, means(x, of_query)[of_query])
    inside = (np.bincount(of_query) > 1)[of_query] & np.isfinite(from_mean)
    quality = _distances(quality, means(quality, of_query)[of_query])
    place = np.flatnonzero(has_value)[inside]
    return Sample(metric, from_mean[inside], quality[inside], observed.query[place], place)


def _p_over(samples: Sequence[Sample], observed: Observed, bootstrap: Bootstrap) -> list[float]:
    """Test all metrics over queries: whole queries, or clusters of equal size, exchange quality."""
    quality, unit = means(observed.quality, observed.query), observed.unit
    return _adjusted(samples, quality, np.bincount(unit), unit, bootstrap)


def _p_within(samples: Sequence[Sample], observed: Observed, bootstrap: Bootstrap) -> list[float]:
    """Test all metrics within queries: the runs of each query, or cluster, exchange quality."""
    quality = observed.quality
    quality = _distances(quality, means(quality, observed.query)[observed.query])
    parts = np.stack([observed.unit[observed.query], observed.run])  # a run in a query or cluster
    (unit, _), part = np.unique(parts, axis=1, return_inverse=True)
    alike = np.stack([unit, np.bincount(part.ravel())])
    blocks = np.unique(alike, axis=1, return_inverse=True)[1].ravel()
    return _adjusted(samples, quality, blocks, part.ravel(), bootstrap)


def _adjusted(
    samples: Sequence[Sample],
    quality: FloatArray,
    blocks: IntArray,
    unit: IntArray,
    bootstrap: Bootstrap,
) -> list[float]:
    """Return p of each sample, corrected for all of them; NaN without a correlation."""
    variables = np.full((len(samples), len(quality)), np.nan)
    for variable, sample in zip(variables, samples, strict=True):
        if not sample.reason:
            variable[sample.place] = sample.x
    if np.isnan(variables).all():
        return [math.nan] * len(samples)
    trials = bootstrap.resamples, bootstrap.seed
    return [*map(float, max_correlation_p(variables, quality, blocks, *trials, unit))]


def _over_runs(observed: Observed, values: Mapping[str, FloatArray]) -> dict[str, float]:
    """Correlate the means of runs over the queries for which all have a value and a score."""
    if len(observed.runs) < FEWEST_RUNS:
        return {}
    by_metric = {}
    for name, x in values.items():
        has_value = np.bincount(observed.query, ~np.isnan(x))
        common = (has_value == len(observed.runs))[observed.query]
        both = [means(of[common], observed.run[common]) for of in (x, observed.quality)]
        by_metric[name] = rho(*both) if common.any() else math.nan
    return by_metric


def _replicates(
    samples: Sequence[Sample], unit: IntArray, bootstrap: Bootstrap
) -> list[FloatArray]:
    """Compute rho of every sample in every bootstrap sample, (B,), with the same queries."""
    rows: list[list[FloatArray]] = [[np.empty(0)] for _ in samples]  # none without a correlation
    tested = [
        (sample.query, spearman(sample.x, sample.quality), of_sample)
        for sample, of_sample in zip(samples, rows, strict=True)
        if not sample.reason
    ]
    for weights in drawn(len(unit), bootstrap.resamples, bootstrap.seed, unit=unit):
        for query, under, of_sample in tested:
            of_sample.append(under(weights[:, query]))
    return [np.concatenate(of_sample) for of_sample in rows]


def _interval(replicates: FloatArray, p: float, bootstrap: Bootstrap) -> Interval:
    """Return the interval of replicates; an undefined replicate counts as -1 and as 1."""
    low, high = order_statistics(replicates, bootstrap.tails)
    interval = Interval(max(low, -1.0), min(high, 1.0))
    return interval if p < SIGNIFICANT else stretched(interval, 0.0)


def _lead(replicates_by_metric: Sequence[tuple[Correlation, FloatArray]]) -> Lead | None:
    """Compare the metric that tracks quality best with the others, by replicates of rho."""
    directed = [pair for pair in replicates_by_metric if pair[0].metric.measure.better != "neither"]
    if not directed:
        return None
    directed.sort(key=lambda pair: (pair[0].finding != "tracks", -pair[0].strength))
    rho = {c.metric.name: c.metric.measure.sign * replicates for c, replicates in directed}
    best = next(iter(rho.values()))
    first = [name for name, other in rho.items() if np.allclose(other, best, equal_nan=True)]
    shares = {
        name: float((best > other).mean()) for name, other in rho.items() if name not in first
    }
    second = min(shares, key=lambda name: shares[name], default="")
    rivals = [name for name, share in shares.items() if share < AHEAD]
    return Lead(first, second, shares.get(second, math.nan), rivals)
