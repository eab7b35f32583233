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

from ragkpi.arrays import BoolArray, FloatArray, IntArray
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

FEWEST = 3  # observations; a correlation of fewer is meaningless
FEWEST_RUNS = 3
SIGNIFICANT = 0.05
AHEAD = 0.95
"""The minimum share of bootstrap samples in which the best measure beats each other one."""


@dataclass(frozen=True)
class Observed:
    """The quality of the responses of R runs to Q queries."""

    queries: list[bytes]  # the queries with a score of some run, in byte order
    quality: FloatArray  # (R, Q); NaN without a score or without the query
    runs: Sequence[Judged]
    unit: IntArray  # (Q,): the number of every query's unit, its cluster or itself

    def values(self, metric: Metric) -> FloatArray:
        """Compute a metric where there is quality, (R, Q); NaN is NA."""
        table = np.full(self.quality.shape, np.nan)
        for row, judged in zip(table, self.runs, strict=True):
            per_query = score(judged, [metric]).columns[0].per_query
            value_of = dict(zip(judged.queries, per_query.tolist(), strict=True))
            row[:] = [value_of.get(query, math.nan) for query in self.queries]
        return np.where(np.isnan(self.quality), np.nan, table)


def observe(
    runs: Sequence[tuple[Judged, Mapping[bytes, float]]], clusters: Clusters | None = None
) -> Observed:
    """Join judged runs with the quality of the responses generated from them."""
    by_run = [{q: scores[q] for q in judged.queries if q in scores} for judged, scores in runs]
    queries = sorted(set().union(*by_run))
    quality = np.array([[of_run.get(q, math.nan) for q in queries] for of_run in by_run])
    unit = numbered_units(queries, clusters)
    return Observed(queries, quality, [judged for judged, _ in runs], unit)


def _mean(table: FloatArray, has_value: BoolArray) -> FloatArray:
    """Average observations, (R, Q), over the runs, (Q,); NaN without a value.

    Means of several runs are rounded to twelve digits of the largest value, since sums of equal
    numbers in another order differ slightly, and equal means share a rank.
    """
    with np.errstate(invalid="ignore"):
        means = np.where(has_value, table, 0.0).sum(axis=0) / has_value.sum(axis=0)
    return means if len(table) == 1 else _rounded(means, table[has_value], 12)


def _from_mean(table: FloatArray, has_value: BoolArray) -> FloatArray:
    """Subtract the means of queries, rounded like `_mean` but to nine digits, (R, Q)."""
    with np.errstate(invalid="ignore"):
        return _rounded(table - _mean(table, has_value), table[has_value], 9)


def _rounded(numbers: FloatArray, values: FloatArray, digits: int) -> FloatArray:
    """Round numbers computed from values to some digits of the largest value."""
    largest = np.abs(values[np.isfinite(values)]).max(initial=0.0)
    if largest == 0:
        return numbers
    finite = np.isfinite(numbers)
    return np.where(finite, np.round(numbers / largest, digits) * largest, numbers)


class Sample:
    """A metric over queries, or within queries of observations around their means.

    `x`, `quality` and `query`, (n,), are those of the observations with a value; `place` is the
    index of each among `all_x`, of all queries or within queries of all observations, where NaN is
    no value.
    """

    def __init__(
        self, metric: Metric, all_x: FloatArray, quality: FloatArray, query: IntArray
    ) -> None:
        has_value = ~np.isnan(all_x)
        self.metric = metric
        self.x, self.quality = all_x[has_value], quality[has_value]
        self.query = query[has_value]
        self.reason = self._reason()
        self.tested = np.full(len(all_x), np.nan) if self.reason else all_x

    def _reason(self) -> str:
        """Say why there is no correlation; empty if there is one."""
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
    share: float  # the minimum share of bootstrap samples in which it beats another; NaN for none
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
    quality, scored = observed.quality, ~np.isnan(observed.quality)
    query = np.broadcast_to(np.arange(quality.shape[1]), quality.shape)[scored]
    over, within = [], []
    for metric in offered:
        x = values[metric.name]
        has_value = ~np.isnan(x)
        means = _mean(x, has_value), _mean(quality, has_value)
        over.append(Sample(metric, *means, np.arange(quality.shape[1])))
        if len(observed.runs) > 1:
            distance = _from_mean(x, has_value)
            inside = has_value & (has_value.sum(axis=0) > 1) & np.isfinite(distance)
            distance = np.where(inside, distance, np.nan)[scored]
            of_quality = _from_mean(quality, has_value)[scored]
            within.append(Sample(metric, distance, of_quality, query))
    replicates = _replicates([*over, *within], observed.unit, bootstrap)
    # Over queries, whole queries or clusters of equal size exchange quality.
    unit, mean = observed.unit, _mean(quality, scored)
    p_values = _adjusted(over, mean, np.bincount(unit), unit, bootstrap)
    p_values += _p_within(within, observed, bootstrap)
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


def _p_within(samples: Sequence[Sample], observed: Observed, bootstrap: Bootstrap) -> list[float]:
    """Test all metrics within queries: the runs of each query, or cluster, exchange quality."""
    scored = ~np.isnan(observed.quality)
    quality = _from_mean(observed.quality, scored)[scored]
    run, query = np.nonzero(scored)
    parts = np.stack([observed.unit[query], run])  # a run in a query or cluster
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
    if all(sample.reason for sample in samples):
        return [math.nan] * len(samples)
    variables = np.stack([sample.tested for sample in samples])
    trials = bootstrap.resamples, bootstrap.seed
    return [*map(float, max_correlation_p(variables, quality, blocks, *trials, unit))]


def _over_runs(observed: Observed, values: Mapping[str, FloatArray]) -> dict[str, float]:
    """Correlate the means of runs over the queries for which all have a value and a score."""
    if len(observed.runs) < FEWEST_RUNS:
        return {}
    by_metric = {}
    for name, x in values.items():
        common = ~np.isnan(x).any(axis=0)
        both = [of[:, common].T for of in (x, observed.quality)]
        means = [_mean(of, np.ones(of.shape, dtype=np.bool_)) for of in both]
        by_metric[name] = rho(*means) if common.any() else math.nan
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
    rivals = [name for name, share in shares.items() if share < AHEAD]
    return Lead(first, min(shares.values(), default=math.nan), rivals)
