"""Runs against a baseline, query by query."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Literal

import numpy as np

from ragkpi.errors import UsageError
from ragkpi.measures.aggregates import FloatArray
from ragkpi.measures.measure import Metric
from ragkpi.measures.scores import Scores
from ragkpi.records import dataclass, field, replace
from ragkpi.statistics.alignment import aligned
from ragkpi.statistics.bootstrap import UNKNOWN, Bootstrap, Interval, order_statistics
from ragkpi.statistics.classical_tests import Pair
from ragkpi.statistics.corrections import CorrectionName, corrected
from ragkpi.statistics.paired_rates import interval_of_rates
from ragkpi.statistics.query_samples import QuerySample, query_samples
from ragkpi.statistics.resampling import drawn
from ragkpi.statistics.significance import TestName, p_values, pairs

Family = Literal["metric", "all"]


@dataclass(frozen=True)
class Procedure:
    """The choices of a comparison.

    Attributes
    ----------
    test, correction
        The test of the p-values, and their correction for being many.
    family
        The p-values that are corrected together: those of the runs by one ``"metric"``, where each
        metric is a question of its own, or ``"all"`` of the comparison.
    trials
        The number of random swaps, or resamples, of a p-value.
    bootstrap
        The choices of the interval of a difference (by percentiles, and for rates of 0 and 1 by
        `tango`); the test has the same seed.
    """

    test: TestName = "randomization"
    correction: CorrectionName = "holm"
    family: Family = "metric"
    trials: int = 10_000
    bootstrap: Bootstrap = field(default_factory=Bootstrap)


@dataclass(frozen=True)
class Difference:
    """One metric of one run against the baseline.

    Attributes
    ----------
    run, metric
        The name of the run, and the metric.
    queries
        The number of queries that have the value in all runs; everything is over these.
    baseline, summary, difference
        The summary of the baseline and of the run, and the second minus the first.
    interval
        The interval of the difference; `UNKNOWN` where all queries differ by the same amount.
    wins, ties, losses
        The numbers of queries on which the run is better, equal (to nine digits) and worse.
    effect_size
        Cohen's d_z: the difference in standard deviations of the queries' differences. For ratios
        of means the queries' contributions are jackknife pseudo-values, which for means are the
        values themselves. NaN where all queries differ by the same amount.
    p, corrected
        Two-sided p-value, before and after the correction; NaN where the test has no answer.
    """

    run: str
    metric: Metric
    queries: int
    baseline: float
    summary: float
    difference: float
    interval: Interval
    wins: int
    ties: int
    losses: int
    effect_size: float
    p: float
    corrected: float = math.nan


@dataclass(frozen=True)
class Comparison:
    """Runs against a baseline.

    Attributes
    ----------
    names, runs
        Names and scores, the baseline first, over the queries that all runs have.
    differences
        By metric in printing order, then by run.
    procedure
        The choices of the comparison.
    """

    names: list[str]
    runs: list[Scores]
    differences: list[Difference]
    procedure: Procedure

    @property
    def resampled(self) -> Iterator[tuple[Metric, FloatArray]]:
        """Yield the metrics with resampled intervals, and the queries' differences, (n, S)."""
        for sample in query_samples(self.runs, lambda metric: metric.is_comparable):
            for metric, of_metric in zip(sample.metrics, pairs(sample), strict=True):
                for pair in of_metric:
                    if not pair.is_of_rates:
                        yield metric, pair.other - pair.baseline

    @property
    def by_metric(self) -> list[list[Difference]]:
        """The differences of each metric; no list is empty."""
        return [
            list(group)
            for _, group in groupby(self.differences, lambda difference: difference.metric.name)
        ]


def compare(names: Sequence[str], runs: Sequence[Scores], procedure: Procedure) -> Comparison:
    """Compare every run but the first with the first one, by every comparable metric.

    Texts, counts of queries and properties of the collection are left out: no value of them is
    better than another.

    Parameters
    ----------
    names, runs
        The baseline first. The comparison is over the queries that all runs have.
    procedure
        Test, correction and interval.

    Raises
    ------
    UsageError
        If there is nothing to compare.
    NothingInCommonError
        If the runs share no query.
    """
    return compare_each(names, runs, procedure, [0])[0]


def nothing_to_compare(scores: Scores) -> UsageError:
    """Return the error of a comparison without comparable metrics."""
    asked = ", ".join(metric.name for metric in scores.metrics)
    return UsageError(f"nothing to compare: no better or worse in {asked}; ask for more with -m")


def compare_each(
    names: Sequence[str], runs: Sequence[Scores], procedure: Procedure, baselines: Sequence[int]
) -> list[Comparison]:
    """Compare the runs with several baselines, each as `compare` does.

    The queries are resampled once for all baselines, which is most of the work.

    Parameters
    ----------
    baselines
        Indices of runs. Each is the first run of its comparison; the others follow in their order.
    """
    if len(runs) < 2:
        raise UsageError("compare needs a baseline and at least one other run")
    shared = aligned(names, runs)
    orders = [
        [baseline, *(run for run in range(len(runs)) if run != baseline)] for baseline in baselines
    ]
    by_baseline: list[dict[str, list[Difference]]] = [{} for _ in baselines]
    for sample in query_samples(shared, lambda metric: metric.is_comparable):
        replicates = _replicates(sample, procedure.bootstrap)
        for differences, order in zip(by_baseline, orders, strict=True):
            reordered = replace(sample, statistics=sample.statistics[:, order])
            others = [names[run] for run in order[1:]]
            resampled = [summary[:, order] for summary in replicates]
            differences.update(_differences(reordered, others, resampled, procedure))
    if not by_baseline[0]:
        raise nothing_to_compare(shared[0])
    comparisons = []
    for by_name, order in zip(by_baseline, orders, strict=True):
        listed = [
            difference
            for metric in shared[0].metrics
            for difference in by_name.get(metric.name, [])
        ]
        ordered = [shared[run] for run in order]
        comparisons.append(
            Comparison(
                [names[run] for run in order], ordered, _corrected(listed, procedure), procedure
            )
        )
    return comparisons


def _differences(
    sample: QuerySample,
    names: Sequence[str],
    replicates: Sequence[FloatArray],
    procedure: Procedure,
) -> dict[str, list[Difference]]:
    """Return the difference of every run from the first, by the names of metrics."""
    seed, paired, observed = procedure.bootstrap.seed, pairs(sample), sample.observed()
    with np.errstate(invalid="ignore"):
        changes = [summary - summary[0] for summary in observed]
    rows = zip(
        sample.metrics,
        observed,
        changes,
        _intervals(paired, replicates, procedure.bootstrap),
        _effect_sizes(sample),
        p_values(sample, procedure.test, procedure.trials, seed),
        paired,
        strict=True,
    )
    return {
        metric.name: [
            Difference(
                name,
                metric,
                sample.queries,
                float(summary[0]),
                float(summary[run]),
                float(change[run]),
                interval[run - 1],
                *_outcomes(pair[run - 1], metric),
                float(effect[run - 1]),
                p[run - 1],
            )
            for run, name in enumerate(names, start=1)
        ]
        for metric, summary, change, interval, effect, p, pair in rows
    }


def _outcomes(pair: Pair, metric: Metric) -> tuple[int, int, int]:
    higher, lower = pair.outcomes()
    wins, losses = (lower, higher) if metric.measure.better == "lower" else (higher, lower)
    return wins, len(pair.baseline) - higher - lower, losses


def _replicates(sample: QuerySample, bootstrap: Bootstrap) -> list[FloatArray]:
    """Return the summaries of resamples, (B, R) per metric; none with a single query."""
    if sample.queries < 2:
        return []
    weights = drawn(sample.queries, bootstrap.resamples, bootstrap.seed)
    return sample.summaries(sample.resampled(weights))


def _intervals(
    paired: Sequence[Sequence[Pair]], replicates: Sequence[FloatArray], bootstrap: Bootstrap
) -> list[list[Interval]]:
    """Return the interval of each difference from the first run, per metric."""
    if not replicates:
        return [[UNKNOWN] * len(of_metric) for of_metric in paired]
    with np.errstate(invalid="ignore"):
        return [
            [
                interval_of_rates(pair, bootstrap.level) or _resampled(differences, bootstrap)
                for pair, differences in zip(
                    of_metric, (summary[:, 1:] - summary[:, :1]).T, strict=True
                )
            ]
            for of_metric, summary in zip(paired, replicates, strict=True)
        ]


def _resampled(differences: FloatArray, bootstrap: Bootstrap) -> Interval:
    """Take an interval from resampled differences, (B,); `UNKNOWN` if it has no width."""
    low, high = order_statistics(differences, bootstrap.tails)
    return UNKNOWN if math.isclose(low, high, rel_tol=1e-9) else Interval(low, high)


def _effect_sizes(sample: QuerySample) -> list[FloatArray]:
    """Compute d_z of every metric and run but the first, (R - 1,) per metric."""
    if sample.queries < 2:
        return [np.full(sample.statistics.shape[1] - 1, np.nan)] * len(sample.metrics)
    sizes = []
    with np.errstate(invalid="ignore", divide="ignore"):
        for summary, spread in zip(sample.observed(), sample.spreads(), strict=True):
            noise = 1e-12 * sample.queries * np.maximum(np.abs(summary[1:]), np.abs(summary[0]))
            difference = summary[1:] - summary[0]
            sizes.append(np.where(spread > noise, difference / spread, np.nan))
    return sizes


def _corrected(differences: list[Difference], procedure: Procedure) -> list[Difference]:
    families: dict[str, list[Difference]] = {}
    for difference in differences:
        together = difference.metric.name if procedure.family == "metric" else "all"
        families.setdefault(together, []).append(difference)
    return [
        replace(difference, corrected=float(p))
        for family in families.values()
        for difference, p in zip(
            family,
            corrected(np.array([tested.p for tested in family]), procedure.correction),
            strict=True,
        )
    ]
