"""Which measure tracks the quality of responses, and which alpha makes it track best.

Observations are pairs of a query and a run; queries are what is resampled, with all their runs.
"""

from __future__ import annotations

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
    spearman,
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
    """How a value goes with quality over one segment of the observations.

    Attributes
    ----------
    name, value
        What it is called, and what it is.
    segment
        Which observations it is over: all, or those with cutoffs below R, or from R.
    observations
        How many.
    coefficients, intervals
        By name of the coefficient; NaN where there is none.
    reason
        Why there is none.
    """

    name: str
    metric: Metric
    segment: Segment
    observations: int
    coefficients: Mapping[str, float]
    intervals: Mapping[str, Interval]
    reason: str = ""


@dataclass(frozen=True)
class Lead:
    """How surely a value goes best with quality.

    Attributes
    ----------
    first
        The value with the greatest rho, and those that have the same rho in every resample.
    second
        The next one.
    share
        The share of resamples in which the first goes better than the second.
    """

    first: list[str]
    second: str
    share: float


@dataclass(frozen=True)
class Calibration:
    """What came of it; `correlations` and `tunings` in the order of the values and segments."""

    observed: Observed
    correlations: list[Correlation]
    tunings: list[Tuning]
    lead: Lead | None
    bootstrap: Bootstrap
    refused: list[Metric] = field(default_factory=list)


def calibrate(
    observed: Observed,
    metrics: Sequence[Metric],
    alphas: Sequence[float],
    bootstrap: Bootstrap,
    folds: int,
) -> Calibration:
    """Correlate every value with quality, and choose alpha where there is one.

    Parameters
    ----------
    observed
        Quality and runs.
    values
        With a value per query; others are refused.
    alphas
        The grid, ascending.
    bootstrap
        Of the queries.
    folds
        Parts of the queries that each are held out once.
    """
    offered = [v for v in metrics if _per_query(v)]
    tables = [_Table.of(observed, metric, alphas) for metric in offered]
    joined = _replicates(tables, observed, bootstrap)
    correlations: list[Correlation] = []
    tunings: list[Tuning] = []
    pairs = zip(tables, joined, strict=True)
    for table, replicates in steps(pairs, "coefficients and alphas", len(tables)):
        correlations += table.correlations(replicates, bootstrap)
        tunings += table.tunings(replicates, bootstrap, folds)
    return Calibration(
        observed,
        correlations,
        tunings,
        _lead(tables, joined),
        bootstrap,
        [metric for metric in metrics if not _per_query(metric)],
    )


def _per_query(metric: Metric) -> bool:
    return metric.is_printed("query") and metric.measure.numeric


@dataclass(frozen=True)
class _Table:
    """A value of every observation, and the same with every alpha of the grid.

    Attributes
    ----------
    x : (N,)
        As it was asked for.
    grid : (A, N)
        With each alpha; no row for a value without one.
    segments
        By name the observations that are part of it, (N,), and have a value.
    """

    metric: Metric
    alphas: Sequence[float]
    x: FloatArray
    grid: FloatArray
    quality: FloatArray
    query: IntArray
    segments: Mapping[Segment, BoolArray]

    @classmethod
    def of(cls, observed: Observed, metric: Metric, alphas: Sequence[float]) -> _Table:
        x = observed.values(metric)
        tuned = [
            observed.values(replace(metric, arguments={**metric.arguments, "alpha": alpha}))
            for alpha in (alphas if takes_alpha(metric) else ())
        ]
        known = ~np.isnan(x)
        segments: dict[Segment, BoolArray] = {"all": known}
        cutoff, num_rel = metric.arguments.get("cutoff"), observed.num_rel
        if isinstance(cutoff, int):
            segments["K < R"] = known & (cutoff < num_rel)
            segments["K >= R"] = known & (cutoff >= num_rel) & (num_rel > 0)
        grid = np.array(tuned).reshape(len(tuned), len(x))
        return cls(metric, alphas, x, grid, observed.quality, observed.query, segments)

    def prepared(self, some: IntArray, quality: Reference) -> dict[str, UnderWeights]:
        """Prepare every coefficient of some observations, and rho by alpha, for resamples."""
        prepared = {name: of(self.x[some], quality) for name, of in COEFFICIENTS.items()}
        if len(self.grid):
            prepared["alpha"] = spearman_of_each(self.grid[:, some], quality)
        return prepared

    def correlations(
        self, sample: Mapping[str, FloatArray], bootstrap: Bootstrap
    ) -> Iterator[Correlation]:
        """Yield the coefficients of every segment."""
        for segment, inside in self.segments.items():
            y, x = self.quality[inside], self.x[inside]
            reason = _reason(x, y)
            coefficients = {
                name: float("nan") if reason else once(coefficient, x, y)
                for name, coefficient in COEFFICIENTS.items()
            }
            bounds = {
                name: UNKNOWN if np.isnan(at) else interval(sample[f"{segment} {name}"], bootstrap)
                for name, at in coefficients.items()
            }
            name = self.metric.name
            yield Correlation(name, self.metric, segment, len(x), coefficients, bounds, reason)

    def tunings(
        self, sample: Mapping[str, FloatArray], bootstrap: Bootstrap, folds: int
    ) -> Iterator[Tuning]:
        """Yield the best alpha of every segment."""
        for segment, inside in steps(self.segments.items(), self.metric.name, len(self.segments)):
            grid, y = self.grid[:, inside], self.quality[inside]
            if not len(grid) or len(y) < FEWEST or np.ptp(y) == 0:
                continue
            sampled = Sample(self.x[inside], grid, y, self.query[inside])
            replicates = sample[f"{segment} alpha"]
            yield tune(self.metric, segment, self.alphas, sampled, replicates, bootstrap, folds)


def _replicates(
    tables: Sequence[_Table], observed: Observed, bootstrap: Bootstrap
) -> list[Mapping[str, FloatArray]]:
    """Compute every coefficient of every segment in every resample: (B,), or (B, A) by alpha.

    Queries are drawn once for all. Keys are "segment coefficient" and "segment alpha".
    """
    # Observations stand by quality, which is then ranked once for all that is asked of a segment.
    segments: dict[bytes, tuple[IntArray, Reference, list[tuple[int, str, UnderWeights]]]] = {}
    for number, table in enumerate(tables):
        for name, inside in table.segments.items():
            if inside.sum() < FEWEST:
                continue
            key = inside.tobytes()
            if key not in segments:
                some = np.flatnonzero(inside)
                some = some[np.argsort(table.quality[some], kind="stable")]
                segments[key] = some, Reference(table.quality[some]), []
            some, quality, tasks = segments[key]
            for coefficient, under in table.prepared(some, quality).items():
                tasks.append((number, f"{name} {coefficient}", under))
    parts: list[dict[str, list[FloatArray]]] = [{} for _ in tables]
    for weights in drawn(
        len(observed.queries), bootstrap.resamples, bootstrap.seed, _FEWEST_AT_ONCE
    ):
        for some, _, tasks in segments.values():
            of_segment = weights[:, observed.query[some]]
            for number, key_, under in tasks:
                parts[number].setdefault(key_, []).append(under(of_segment))
    return [{key: np.concatenate(blocks) for key, blocks in of_table.items()} for of_table in parts]


def _reason(x: FloatArray, y: FloatArray) -> str:
    if len(x) < FEWEST:
        return f"{len(x)} observations, expected {FEWEST}"
    if (y == y[0]).all():
        return "quality does not vary"
    return "the value does not vary" if (x == x[0]).all() else ""


def _lead(tables: Sequence[_Table], samples: Sequence[Mapping[str, FloatArray]]) -> Lead | None:
    """Compare the two values that track quality best, over all observations."""
    tracked: list[tuple[float, str, FloatArray]] = []  # strength, name, strength in each resample
    for table, sample in zip(tables, samples, strict=True):
        inside, measure = table.segments["all"], table.metric.measure
        x, y = table.x[inside], table.quality[inside]
        if not _reason(x, y) and measure.better != "neither":
            rho, resampled = once(spearman, x, y), sample["all spearman"]
            tracked.append((measure.sign * rho, table.metric.name, measure.sign * resampled))
    if not tracked:
        return None
    tracked.sort(key=lambda tracking: -tracking[0])
    ahead = tracked[0][2]
    level = [np.allclose(tracking[2], ahead, equal_nan=True) for tracking in tracked]
    first = [name for (_, name, _), same in zip(tracked, level, strict=True) if same]
    if all(level):
        return Lead(first, "", float("nan"))
    _, second, behind = tracked[level.index(False)]
    return Lead(first, second, float((ahead > behind).mean()))
