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
    """How runs are compared.

    Attributes
    ----------
    test, correction
        Which test gives the p-values, and what is done about there being many.
    family
        Which p-values are corrected together: those of the runs by one ``"metric"``, each metric
        being a question of its own, or ``"all"`` of the comparison.
    trials
        Random swaps, or resamples, behind a p-value.
    bootstrap
        How the interval of a difference is computed (by percentiles, and for rates of 0 and 1 by
        `tango`); its seed is also the test's.
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
        The name of the run; what was measured.
    queries
        How many queries have the value in all runs of the comparison: everything is over these.
    baseline, summary, difference
        The summary of the baseline and of the run, and the second minus the first.
    interval
        Of the difference; `UNKNOWN` where all queries differ by the same, and resamples with them.
    wins, ties, losses
        On how many queries the run is better, equal (to nine digits) and worse.
    effect_size
        Cohen's d_z: the difference in standard deviations of the queries' differences. For ratios
        of means the queries' contributions are jackknife pseudo-values, which for means are the
        values themselves. NaN where all queries differ by the same.
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
        The baseline first; the runs reduced to the queries that all of them have.
    differences
        Per metric in printing order, and for each the runs in order.
    procedure
        How it was computed.
    """

    names: list[str]
    runs: list[Scores]
    differences: list[Difference]
    procedure: Procedure

    @property
    def resampled(self) -> Iterator[tuple[Metric, FloatArray]]:
        """Yield what resampled intervals are of: a metric, and the queries' differences, (n, S)."""
        for sample in query_samples(self.runs, lambda metric: metric.is_comparable):
            for metric, of_metric in zip(sample.metrics, pairs(sample), strict=True):
                for pair in of_metric:
                    if not pair.is_of_rates:
                        yield metric, pair.other - pair.baseline

    @property
    def by_metric(self) -> list[list[Difference]]:
        """The differences of each metric, at least one."""
        return [
            list(group)
            for _, group in groupby(self.differences, lambda difference: difference.metric.name)
        ]


def compare(names: Sequence[str], runs: Sequence[Scores], procedure: Procedure) -> Comparison:
    """Compare every run but the first with the first one, by every metric that can be better.

    Texts, counts of queries and properties of the collection are left out: no run is better by
    them.

    Parameters
    ----------
    names, runs
        The baseline first. They are compared over the queries that all of them have.
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
    """Return the error of a comparison in which no metric can be better or worse."""
    asked = ", ".join(metric.name for metric in scores.metrics)
    return UsageError(f"nothing to compare: no better or worse in {asked}; ask for more with -m")


def compare_each(
    names: Sequence[str], runs: Sequence[Scores], procedure: Procedure, baselines: Sequence[int]
) -> list[Comparison]:
    """Compare the runs with several baselines, one after the other, as `compare` would.

    The queries are resampled once for all of them, which is most of the work.

    Parameters
    ----------
    baselines
        Places of runs; each stands first in its comparison, the others behind it in their order.
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
    seed, paired = procedure.bootstrap.seed, pairs(sample)
    rows = zip(
        sample.metrics,
        sample.observed(),
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
                _minus(summary[run], summary[0]),
                interval[run - 1],
                *_outcomes(pair[run - 1], metric),
                float(effect[run - 1]),
                p[run - 1],
            )
            for run, name in enumerate(names, start=1)
        ]
        for metric, summary, interval, effect, p, pair in rows
    }


def _minus(other: float, baseline: float) -> float:
    with np.errstate(invalid="ignore"):
        return float(np.subtract(other, baseline))


def _outcomes(pair: Pair, metric: Metric) -> tuple[int, int, int]:
    higher, lower = pair.outcomes()
    wins, losses = (lower, higher) if metric.measure.better == "lower" else (higher, lower)
    return wins, len(pair.baseline) - higher - lower, losses


def _replicates(sample: QuerySample, bootstrap: Bootstrap) -> list[FloatArray]:
    """Resample the queries of all runs alike: the summaries, (B, R) per metric; nothing of one."""
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
    """Read an interval off resampled differences, (B,); one without any width is not valid."""
    low, high = order_statistics(differences, bootstrap.tails)
    return UNKNOWN if math.isclose(low, high, rel_tol=1e-9) else Interval(low, high)


def _effect_sizes(sample: QuerySample) -> list[FloatArray]:
    """Compute d_z of every metric and run but the first, (R - 1,) per metric."""
    n = sample.queries
    if n < 2:
        return [np.full(sample.statistics.shape[1] - 1, np.nan)] * len(sample.metrics)
    sizes = []
    with np.errstate(invalid="ignore", divide="ignore"):
        for summary, jackknife in zip(sample.observed(), sample.leave_one_out(), strict=True):
            # The pseudo-value of a query is n * summary - (n - 1) * summary without the query.
            pseudo = np.ascontiguousarray((jackknife[:, 1:] - jackknife[:, :1]).T)
            spread = (n - 1) * pseudo.std(axis=1, ddof=1)
            noise = 1e-12 * n * np.maximum(np.abs(summary[1:]), np.abs(summary[0]))
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
