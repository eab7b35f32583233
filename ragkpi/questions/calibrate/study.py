"""Correlation of measures with the quality of responses, and the choice of their alphas.

An observation is a pair of a query and a run. Measures are correlated with quality over queries
(the means over their runs), within queries (the distances of observations from those means) and
over runs (the means over their queries), which may point apart. Resamples draw queries with all
their runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ragkpi.arrays import ROUNDING, BoolArray, FloatArray, IntArray
from ragkpi.interface import with_progress
from ragkpi.measures.measure import Metric, score
from ragkpi.measures.parameters import Cutoffs
from ragkpi.ranking.judged import Judged
from ragkpi.statistics.bootstrap import UNKNOWN, Bootstrap, Interval, drawn, order_statistics
from ragkpi.statistics.correlation import (
    COEFFICIENTS,
    UnderWeights,
    max_correlation_p,
    once,
    spearman,
)
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
    num_rel: IntArray  # (Q,): the relevant documents of every query
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
    num_rel = np.zeros(len(queries), dtype=np.int64)
    num_rel[query] = np.concatenate([judged.num_rel[rows] for judged, rows in scored])
    unit = numbered_units(queries, clusters)
    return Observed(queries, query, np.array(quality), run, scored, num_rel, unit)


def means(values: FloatArray, groups: IntArray) -> FloatArray:
    """Average observations, (N,) or (A, N), by group, (G,) or (A, G); groups are 0, 1, … G - 1.

    Means are rounded to twelve digits of the largest value, since sums of equal numbers in another
    order may differ slightly, and equal means share a rank.
    """
    count = np.bincount(groups)
    if values.ndim > 1:
        return np.array([means(row, groups) for row in values]).reshape(len(values), len(count))
    averages = np.bincount(groups, values) / count
    return averages if count.max(initial=0) < 2 else _rounded(averages, values, 12)


def _distances(values: FloatArray, averages: FloatArray) -> FloatArray:
    """Subtract averages, rounded like `means` but to nine digits; NaN for infinite ones."""
    with np.errstate(invalid="ignore"):
        return _rounded(values - averages, values, 9)


def _rounded(numbers: FloatArray, values: FloatArray, digits: int) -> FloatArray:
    """Round numbers computed from values to so many digits of the largest value."""
    largest = np.abs(values[np.isfinite(values)]).max(initial=0.0)
    if largest == 0:
        return numbers
    finite = np.isfinite(numbers)
    return np.where(finite, np.round(numbers / largest, digits) * largest, numbers)


ALL = "all"
# Ranges of K/R. At K/R < 1 T goes with answers better than nDCG, above 1 nDCG better (arXiv
# 2512.20854, figures 13 to 17, with the change from 1 to 1.5).
BINS = {
    "K/R < 0.5": (0.0, 0.5),
    "0.5 <= K/R < 1": (0.5, 1.0),
    "1 <= K/R < 2": (1.0, 2.0),
    "K/R >= 2": (2.0, math.inf),
}
WITHIN = "within queries"
FEWEST = 3  # observations; a correlation of fewer is meaningless
FEWEST_HELD_OUT = 10  # queries per fold; rho of fewer is noise
FEWEST_RUNS = 3
SIGNIFICANT = 0.05
AHEAD = 0.95
"""The least share of resamples in which the best measure must beat each of the others."""


@dataclass(frozen=True)
class Sample:
    """A metric of n queries, or within queries of n observations around their means."""

    metric: Metric
    segment: str
    alphas: Sequence[float]  # the grid, ascending
    x: FloatArray  # (n,): the value of each unit
    grid: FloatArray  # (A, n): the value with each alpha; no rows for a metric without one
    quality: FloatArray  # (n,)
    query: IntArray  # (n,): index of the query of each
    unit: IntArray  # (n,): number of the unit that is drawn and held out with it
    place: IntArray  # (n,): index of each among all queries, or within queries all observations
    coefficients: Sequence[str]


@dataclass(frozen=True)
class Tuning:
    """The alpha that makes a metric track quality best, by one of the coefficients."""

    metric: Metric
    segment: str
    alphas: Sequence[float]  # the grid
    curve: FloatArray  # the coefficient at each alpha
    band: Sequence[Interval]  # its bootstrap intervals
    alpha: float  # the best alpha, or the middle one of several; NaN if it is undefined
    range: Interval  # interval of the best alpha over resamples of the queries
    chosen: float  # share of resamples in which no alpha beats `alpha`
    matters: Literal["yes", "no"]  # "no": t only shifts, where K documents were always retrieved
    held_out: float  # mean coefficient over folds that alpha was not chosen on; NaN without folds
    held_out_before: float  # the same with the requested alpha
    gain: Interval  # increase of that by the chosen alpha
    folds: int  # number of folds behind the means

    @property
    def better(self) -> bool:
        """Whether the chosen alpha is shown to be better than the requested one."""
        return self.gain.low > 0

    @property
    def best(self) -> float:
        return float(np.nanmax(self.curve)) if np.isfinite(self.curve).any() else math.nan


def takes_alpha(metric: Metric) -> bool:
    """Return whether a metric has an alpha that weighs two quantities, from 0 to 1."""
    grammar = metric.measure.parameters
    if not isinstance(grammar, Cutoffs) or "alpha" not in grammar.options:
        return False
    alpha = grammar.options["alpha"]
    return (alpha.least, alpha.most) == (0, 1)


def tune(
    sample: Sample, replicates: FloatArray, bootstrap: Bootstrap, folds: int, by: str
) -> Tuning:
    """Choose the alpha of a metric; `replicates` are the coefficient by resample, (B, A)."""
    (curve,) = rho = _by_alpha(by, sample.grid, sample.quality)
    (best,) = _middle(_peaks(rho)).tolist()
    peaks, grid = _peaks(replicates), np.asarray(sample.alphas)
    optima = _middle(peaks)
    optima = optima[optima >= 0]
    return Tuning(
        sample.metric,
        sample.segment,
        sample.alphas,
        curve,
        [interval(column, bootstrap) for column in replicates.T],
        float(grid[best]) if best >= 0 else math.nan,
        order_statistics(grid[optima], bootstrap.tails) if len(optima) else UNKNOWN,
        float(peaks[:, best].mean()) if best >= 0 else math.nan,
        "yes"
        if np.isfinite(curve).any() and np.nanmax(curve) - np.nanmin(curve) > ROUNDING
        else "no",
        *_held_out(sample, folds, bootstrap, by),
    )


def interval(replicates: FloatArray, bootstrap: Bootstrap) -> Interval:
    """Return the interval of replicates; an undefined replicate may be anything from -1 to 1."""
    low, high = order_statistics(replicates, bootstrap.tails)
    return Interval(max(low, -1.0), min(high, 1.0))


def _by_alpha(by: str, grid: FloatArray, quality: FloatArray) -> FloatArray:
    """Correlate values with every alpha, (A, n), with quality: (1, A)."""
    return COEFFICIENTS[by](grid, quality)(np.ones((1, len(quality))))


def _peaks(curves: FloatArray) -> BoolArray:
    """Return whether each point of each curve, (B, A), is a maximum of the curve."""
    highest = np.where(np.isnan(curves), -np.inf, curves).max(axis=1, keepdims=True)
    return np.asarray(curves >= highest - ROUNDING)


def _middle(peaks: BoolArray) -> IntArray:
    """Return the middle peak of each curve, (B, A); -1 for a curve without peaks."""
    count = peaks.sum(axis=1, keepdims=True)
    middle = (np.cumsum(peaks, axis=1) > (count - 1) // 2).argmax(axis=1)
    return np.where(count[:, 0] > 0, middle, -1)


def _held_out(
    sample: Sample, folds: int, bootstrap: Bootstrap, by: str
) -> tuple[float, float, Interval, int]:
    """Choose alpha on all folds but one, correlate on the held-out fold, and average over folds.

    Return what `Tuning` has of it.

    Folds are parts of at least `FEWEST_HELD_OUT` queries; folds with an undefined rho are left
    out. The gain's interval comes from resamples of the queries within their folds, each fold with
    the alpha that the other folds chose.
    """
    distinct = np.unique(sample.unit)
    folds = min(folds, len(distinct) // FEWEST_HELD_OUT)
    if folds < 2:
        return math.nan, math.nan, UNKNOWN, 0
    shuffled = np.random.default_rng(bootstrap.seed).permutation(distinct)
    tests = []
    for part in with_progress(range(folds), "held-out queries", folds):
        tested = np.isin(sample.unit, shuffled[part::folds])
        rho = _by_alpha(by, sample.grid[:, ~tested], sample.quality[~tested])
        (best,) = _middle(_peaks(rho)).tolist()
        if best < 0:
            continue
        both = np.stack([sample.grid[best], sample.x])[:, tested]
        under = COEFFICIENTS[by](both, sample.quality[tested])
        # Block by block, since the rows of all resamples would not fit into the cache.
        blocks = map(under, _resampled_with_all(sample.unit[tested], bootstrap))
        rhos = np.concatenate([*blocks]).T
        if not np.isnan(rhos[:, 0]).any():
            tests.append(rhos)
    if not tests:
        return math.nan, math.nan, UNKNOWN, 0
    chosen, before = np.mean([rhos[:, 0] for rhos in tests], axis=0)
    gains = np.mean([rhos[0, 1:] - rhos[1, 1:] for rhos in tests], axis=0)
    gain = order_statistics(gains, bootstrap.tails)
    return float(chosen), float(before), gain, len(tests)


def _resampled_with_all(unit: IntArray, bootstrap: Bootstrap) -> Iterator[FloatArray]:
    """Yield 1 + B rows of weights of n observations: equal first, then by resampled units."""
    distinct, number = np.unique(unit, return_inverse=True)
    yield np.ones((1, len(unit)))
    for block in drawn(len(distinct), bootstrap.resamples, bootstrap.seed):
        yield block[:, number]


_FEWEST_AT_ONCE = 33  # resamples per step; powers of two collide in the cache


@dataclass(frozen=True)
class Correlation:
    """The correlation of a metric with quality over one segment of the observations."""

    metric: Metric
    segment: str
    observations: int  # queries, or within queries pairs of a query and a run
    coefficients: Mapping[str, float]  # by name; NaN if undefined
    intervals: Mapping[str, Interval]
    reason: str = ""
    p: float = math.nan  # corrected for all metrics of the segment; NaN if not tested

    @property
    def strength(self) -> float:
        """Spearman's rho, negated if less is better."""
        return self.metric.measure.sign * self.coefficients["spearman"]

    @property
    def finding(self) -> Literal["tracks", "runs against", "not shown"]:
        """Whether the better values of the metric go with better or worse quality."""
        if not self.p < SIGNIFICANT or self.metric.measure.better == "neither":
            return "not shown"
        return "tracks" if self.strength > 0 else "runs against"


@dataclass(frozen=True)
class Lead:
    """The certainty that a metric tracks quality best."""

    first: list[str]  # the metric with the greatest rho, and metrics that always equal it
    second: str  # the metric that it beats in the fewest resamples
    share: float  # share of resamples in which the first beats the second
    rivals: list[str]  # the metrics that it does not beat in `AHEAD` of the resamples


@dataclass(frozen=True)
class Calibration:
    """Correlations of metrics with quality, and chosen alphas, by segment, then by metric."""

    observed: Observed
    correlations: list[Correlation]
    within: list[Correlation]  # within queries; empty with one run
    over_runs: Mapping[str, float]  # Spearman's rho by metric; empty with fewer than three runs
    tunings: list[Tuning]
    lead: Lead | None
    bootstrap: Bootstrap
    alpha_by: str
    refused: list[Metric]  # metrics without a value per query

    @property
    def overall(self) -> list[Correlation]:
        return [correlation for correlation in self.correlations if correlation.segment == ALL]

    @property
    def overall_tunings(self) -> list[Tuning]:
        return [tuning for tuning in self.tunings if tuning.segment == ALL]


def calibrate(
    observed: Observed,
    metrics: Sequence[Metric],
    alphas: Sequence[float],
    bootstrap: Bootstrap,
    folds: int,
    alpha_by: str = "spearman",
) -> Calibration:
    """Correlate every metric with quality; choose alphas, where there are any, from a grid.

    The grid ascends. Metrics without a numeric value per query are refused.
    """
    offered = [m for m in metrics if m.is_printed("query") and m.measure.numeric]
    values = {metric.name: observed.values(metric) for metric in offered}
    samples = [s for m in offered for s in _samples(observed, m, values[m.name], alphas)]
    places = [ALL, WITHIN, *BINS]
    samples.sort(key=lambda sample: places.index(sample.segment))
    resampled = _replicates(samples, observed.unit, bootstrap, alpha_by)
    pairs = list(zip(samples, resampled, strict=True))
    p = _adjusted(samples, observed, bootstrap)
    correlations: list[Correlation] = []
    tunings: list[Tuning] = []
    for sample, replicates in with_progress(pairs, "coefficients and alphas", len(pairs)):
        adjusted = p.get(len(correlations), math.nan)
        correlations.append(_correlation(sample, replicates, adjusted, bootstrap))
        quality = sample.quality
        if len(sample.grid) and len(quality) >= FEWEST and np.ptp(quality) > 0:
            tunings.append(tune(sample, replicates["alpha"], bootstrap, folds, alpha_by))
    replicates_by_metric = [
        (correlation, replicates["spearman"][:, 0])
        for correlation, replicates in zip(correlations, resampled, strict=True)
        if correlation.segment == ALL and not correlation.reason
    ]
    return Calibration(
        observed,
        [correlation for correlation in correlations if correlation.segment != WITHIN],
        [correlation for correlation in correlations if correlation.segment == WITHIN],
        _over_runs(observed, values),
        tunings,
        _lead(replicates_by_metric),
        bootstrap,
        alpha_by,
        [metric for metric in metrics if metric not in offered],
    )


def _samples(
    observed: Observed, metric: Metric, x: FloatArray, alphas: Sequence[float]
) -> Iterator[Sample]:
    """Yield the samples of a metric of all observations, (N,)."""
    tuned = [
        observed.values(replace(metric, arguments={**metric.arguments, "alpha": alpha}))
        for alpha in (alphas if takes_alpha(metric) else ())
    ]
    has_value = ~np.isnan(x)
    query, of_query = np.unique(observed.query[has_value], return_inverse=True)
    grid = means(np.array(tuned).reshape(len(tuned), len(x))[:, has_value], of_query)
    x, quality, unit = x[has_value], observed.quality[has_value], observed.unit
    of_x, of_quality = means(x, of_query), means(quality, of_query)
    segments: dict[str, BoolArray] = {ALL: np.ones(len(query), dtype=np.bool_)}
    cutoff, num_rel = metric.arguments.get("cutoff"), observed.num_rel[query]
    if isinstance(cutoff, int):
        ratio = cutoff / np.maximum(num_rel, 1)
        for name, (low, high) in BINS.items():
            segments[name] = (num_rel > 0) & (low <= ratio) & (ratio < high)
    names = tuple(COEFFICIENTS)
    for name, inside in segments.items():
        if inside.any() or name == ALL:
            of, parts = query[inside], (of_x[inside], grid[:, inside], of_quality[inside])
            yield Sample(metric, name, alphas, *parts, of, unit[of], of, names)
    if len(observed.runs) > 1:
        from_mean = _distances(x, of_x[of_query])
        several = (np.bincount(of_query, minlength=len(query)) > 1)[of_query]
        inside = several & np.isfinite(from_mean)
        parts = (
            from_mean[inside],
            np.empty((0, int(inside.sum()))),
            _distances(quality, of_quality[of_query])[inside],
        )
        of, place = query[of_query][inside], np.flatnonzero(has_value)[inside]
        yield Sample(metric, WITHIN, alphas, *parts, of, unit[of], place, ("spearman",))


def _adjusted(
    samples: Sequence[Sample], observed: Observed, bootstrap: Bootstrap
) -> dict[int, float]:
    """Test all metrics together over queries, and within; return p by the number of a sample.

    Over queries, whole queries exchange their quality; within queries, the runs of each query do.
    Of clusters, those of equal size do; within queries, runs exchange it in all of a cluster.
    """
    quality, unit = means(observed.quality, observed.query), observed.unit
    (cluster, _), part = np.unique(
        np.stack([unit[observed.query], observed.run]), axis=1, return_inverse=True
    )
    sizes = np.stack([cluster, np.bincount(part.ravel())])
    exchanged = {
        ALL: (quality, unit, np.bincount(unit)),
        WITHIN: (
            _distances(observed.quality, quality[observed.query]),
            part.ravel(),
            np.unique(sizes, axis=1, return_inverse=True)[1].ravel(),
        ),
    }
    p: dict[int, float] = {}
    for segment, (of_all, units, blocks) in exchanged.items():
        tested = {
            number: np.full(len(of_all), np.nan)
            for number, sample in enumerate(samples)
            if sample.segment == segment and not _reason(sample.x, sample.quality)
        }
        for number, variable in tested.items():
            variable[samples[number].place] = samples[number].x
        if tested:
            variables = np.stack(list(tested.values()))
            p_values = max_correlation_p(
                variables, of_all, blocks, bootstrap.resamples, bootstrap.seed, units
            )
            p |= zip(tested, p_values.tolist(), strict=True)
    return p


def _over_runs(observed: Observed, values: Mapping[str, FloatArray]) -> dict[str, float]:
    """Correlate the means of runs over the queries of which all have a value and a score."""
    if len(observed.runs) < FEWEST_RUNS:
        return {}
    rho = {}
    for name, x in values.items():
        has_value = np.bincount(observed.query, ~np.isnan(x))
        common = (has_value == len(observed.runs))[observed.query]
        both = np.stack([x[common], observed.quality[common]])
        rho[name] = once(spearman, *means(both, observed.run[common])) if common.any() else math.nan
    return rho


def _replicates(
    samples: Sequence[Sample], unit: IntArray, bootstrap: Bootstrap, alpha_by: str
) -> list[Mapping[str, FloatArray]]:
    """Compute every coefficient of every sample in every resample: (B, 1); of "alpha" (B, A).

    All samples share the same resampled queries.
    """
    tasks: list[tuple[int, str, UnderWeights]] = []
    for number, sample in enumerate(samples):
        if len(sample.x) >= FEWEST:
            x, y = sample.x[np.newaxis], sample.quality
            tasks += [(number, name, COEFFICIENTS[name](x, y)) for name in sample.coefficients]
            if len(sample.grid):
                tasks.append((number, "alpha", COEFFICIENTS[alpha_by](sample.grid, y)))
    blocks: list[dict[str, list[FloatArray]]] = [{} for _ in samples]
    resamples = bootstrap.resamples, bootstrap.seed, _FEWEST_AT_ONCE
    for weights in drawn(len(unit), *resamples, unit=unit):
        for number, name, under in tasks:
            blocks[number].setdefault(name, []).append(under(weights[:, samples[number].query]))
    return [{name: np.concatenate(rows) for name, rows in parts.items()} for parts in blocks]


def _correlation(
    sample: Sample, replicates: Mapping[str, FloatArray], p: float, bootstrap: Bootstrap
) -> Correlation:
    x, y = sample.x, sample.quality
    reason = _reason(x, y)
    coefficients = {
        name: math.nan if reason else once(COEFFICIENTS[name], x, y) for name in sample.coefficients
    }
    bounds = {
        name: UNKNOWN if math.isnan(value) else interval(replicates[name][:, 0], bootstrap)
        for name, value in coefficients.items()
    }
    return Correlation(sample.metric, sample.segment, len(x), coefficients, bounds, reason, p)


def _reason(x: FloatArray, y: FloatArray) -> str:
    if len(x) < FEWEST:
        return f"{counted(len(x), 'observation')}, expected {FEWEST}"
    if (y == y[0]).all():
        return "quality does not vary"
    return "the value does not vary" if (x == x[0]).all() else ""


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
