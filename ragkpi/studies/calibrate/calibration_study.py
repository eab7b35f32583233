"""Which measure tracks the quality of responses, and which alpha makes it track best.

Observations are pairs of a query and a run; queries are resampled, with all their runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ragkpi.measures.aggregates import FloatArray
from ragkpi.measures.measure import Metric
from ragkpi.progress import steps
from ragkpi.ranking.judged import BoolArray, IntArray
from ragkpi.records import dataclass, field, replace
from ragkpi.statistics.bootstrap import UNKNOWN, Bootstrap, Interval
from ragkpi.statistics.correlation import (
    COEFFICIENTS,
    UnderWeights,
    once,
    spearman_of_each,
)
from ragkpi.statistics.resampling import drawn
from ragkpi.statistics.weighted_ranks import Reference
from ragkpi.studies.calibrate.observations import Observed
from ragkpi.studies.calibrate.tuning import (
    FEWEST,
    Sample,
    Segment,
    Tuning,
    interval,
    takes_alpha,
    tune,
)

_FEWEST_AT_ONCE = 33  # resamples share a step; powers of two collide in the cache


@dataclass(frozen=True)
class Correlation:
    """How a metric goes with quality over one segment of the observations.

    Attributes
    ----------
    metric, segment
        The metric; and which observations: all, or those with cutoffs below R, or from R.
    observations
        How many.
    coefficients, intervals
        By name of the coefficient; NaN where there is none.
    reason
        Why there is none.
    """

    metric: Metric
    segment: Segment
    observations: int
    coefficients: Mapping[str, float]
    intervals: Mapping[str, Interval]
    reason: str = ""

    @property
    def strength(self) -> float:
        """Spearman's rho, negated if less is better."""
        return self.metric.measure.sign * self.coefficients["spearman"]


@dataclass(frozen=True)
class Lead:
    """How surely a metric tracks quality best.

    Attributes
    ----------
    first
        The metric with the greatest rho, and those that have the same rho in every resample.
    second
        The next one.
    share
        The share of resamples in which the first tracks quality better than the second.
    """

    first: list[str]
    second: str
    share: float


@dataclass(frozen=True)
class Calibration:
    """How metrics go with quality; `correlations` and `tunings` by metric, then by segment.

    `refused` have no value per query.
    """

    observed: Observed
    correlations: list[Correlation]
    tunings: list[Tuning]
    lead: Lead | None
    bootstrap: Bootstrap
    refused: list[Metric] = field(default_factory=list)

    @property
    def overall(self) -> list[Correlation]:
        """The correlations over all observations."""
        return [correlation for correlation in self.correlations if correlation.segment == "all"]

    @property
    def overall_tunings(self) -> list[Tuning]:
        """The tunings over all observations."""
        return [tuning for tuning in self.tunings if tuning.segment == "all"]


def calibrate(
    observed: Observed,
    metrics: Sequence[Metric],
    alphas: Sequence[float],
    bootstrap: Bootstrap,
    folds: int,
) -> Calibration:
    """Correlate every metric with quality, and choose alpha where it has one.

    Parameters
    ----------
    observed
        Quality and runs.
    metrics
        Those without a numeric value per query are refused.
    alphas
        The grid, ascending.
    bootstrap
        Of the queries.
    folds
        Parts of the queries that each are held out once.
    """
    offered = [m for m in metrics if m.is_printed("query") and m.measure.numeric]
    samples = [sample for metric in offered for sample in _samples(observed, metric, alphas)]
    resampled = _replicates(samples, len(observed.queries), bootstrap)
    pairs = list(zip(samples, resampled, strict=True))
    correlations: list[Correlation] = []
    tunings: list[Tuning] = []
    for sample, replicates in steps(pairs, "coefficients and alphas", len(pairs)):
        correlations.append(_correlation(sample, replicates, bootstrap))
        quality = sample.quality
        if len(sample.grid) and len(quality) >= FEWEST and np.ptp(quality) > 0:
            tunings.append(tune(sample, replicates["alpha"], bootstrap, folds))
    known = [
        (correlation, replicates["spearman"])
        for correlation, replicates in zip(correlations, resampled, strict=True)
        if correlation.segment == "all" and not correlation.reason
    ]
    refused = [metric for metric in metrics if metric not in offered]
    return Calibration(observed, correlations, tunings, _lead(known), bootstrap, refused)


def _samples(observed: Observed, metric: Metric, alphas: Sequence[float]) -> Iterator[Sample]:
    """Evaluate a metric, and yield the observations of each segment that have a value."""
    x = observed.values(metric)
    tuned = [
        observed.values(replace(metric, arguments={**metric.arguments, "alpha": alpha}))
        for alpha in (alphas if takes_alpha(metric) else ())
    ]
    grid = np.array(tuned).reshape(len(tuned), len(x))
    known = ~np.isnan(x)
    segments: dict[Segment, BoolArray] = {"all": known}
    cutoff, num_rel = metric.arguments.get("cutoff"), observed.num_rel
    if isinstance(cutoff, int):
        segments["K < R"] = known & (cutoff < num_rel)
        segments["K >= R"] = known & (cutoff >= num_rel) & (num_rel > 0)
    for segment, inside in segments.items():
        quality, query = observed.quality[inside], observed.query[inside]
        yield Sample(metric, segment, alphas, x[inside], grid[:, inside], quality, query)


def _replicates(
    samples: Sequence[Sample], queries: int, bootstrap: Bootstrap
) -> list[Mapping[str, FloatArray]]:
    """Compute every coefficient of every sample in every resample: (B,); of "alpha" (B, A).

    Queries are drawn once for all samples. Samples of the same observations share their order by
    quality, which is ranked once.
    """
    alike: dict[bytes, list[int]] = {}
    for number, sample in enumerate(samples):
        if len(sample.x) >= FEWEST:
            key = sample.query.tobytes() + sample.quality.tobytes()
            alike.setdefault(key, []).append(number)
    groups: list[tuple[IntArray, list[tuple[int, str, UnderWeights]]]] = []
    for numbers in alike.values():
        sample = samples[numbers[0]]
        order = np.argsort(sample.quality, kind="stable")
        quality = Reference(sample.quality[order])
        tasks: list[tuple[int, str, UnderWeights]] = []
        for number in numbers:
            x, grid = samples[number].x[order], samples[number].grid[:, order]
            tasks += [(number, name, of(x, quality)) for name, of in COEFFICIENTS.items()]
            if len(grid):
                tasks.append((number, "alpha", spearman_of_each(grid, quality)))
        groups.append((sample.query[order], tasks))
    blocks: list[dict[str, list[FloatArray]]] = [{} for _ in samples]
    for weights in drawn(queries, bootstrap.resamples, bootstrap.seed, _FEWEST_AT_ONCE):
        for query, tasks in groups:
            of_observations = weights[:, query]
            for number, name, under in tasks:
                blocks[number].setdefault(name, []).append(under(of_observations))
    return [{name: np.concatenate(rows) for name, rows in parts.items()} for parts in blocks]


def _correlation(
    sample: Sample, replicates: Mapping[str, FloatArray], bootstrap: Bootstrap
) -> Correlation:
    x, y = sample.x, sample.quality
    reason = _reason(x, y)
    coefficients = {
        name: math.nan if reason else once(coefficient, x, y)
        for name, coefficient in COEFFICIENTS.items()
    }
    bounds = {
        name: UNKNOWN if math.isnan(value) else interval(replicates[name], bootstrap)
        for name, value in coefficients.items()
    }
    return Correlation(sample.metric, sample.segment, len(x), coefficients, bounds, reason)


def _reason(x: FloatArray, y: FloatArray) -> str:
    """Say why there is no correlation; empty if there is one."""
    if len(x) < FEWEST:
        return f"{len(x)} observations, expected {FEWEST}"
    if (y == y[0]).all():
        return "quality does not vary"
    return "the value does not vary" if (x == x[0]).all() else ""


def _lead(known: Sequence[tuple[Correlation, FloatArray]]) -> Lead | None:
    """Compare the two metrics that track quality best; known are rho and its replicates."""
    tracking = []
    for correlation, replicates in known:
        metric = correlation.metric
        if metric.measure.better != "neither":
            tracking.append((correlation.strength, metric.measure.sign * replicates, metric.name))
    if not tracking:
        return None
    tracking.sort(key=lambda entry: -entry[0])
    ahead = tracking[0][1]
    level = [np.allclose(replicates, ahead, equal_nan=True) for _, replicates, _ in tracking]
    first = [name for (_, _, name), same in zip(tracking, level, strict=True) if same]
    if all(level):
        return Lead(first, "", math.nan)
    _, behind, second = tracking[level.index(False)]
    return Lead(first, second, float((ahead > behind).mean()))
