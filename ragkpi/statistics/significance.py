"""p-values for the difference between a baseline and other runs, over the same queries.

All are two-sided. Randomization and bootstrap work on sufficient statistics and so for every
measure; t and Wilcoxon work on the differences of single queries and only where a summary is a
function of their mean; the sign test needs nothing but which run is better on a query.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ragkpi.measures.aggregates import Aggregate, FloatArray, first
from ragkpi.statistics.query_samples import QuerySample
from ragkpi.statistics.resampling import all_swaps, drawn, sums, swapped, totals

TestName = Literal["randomization", "bootstrap", "t", "wilcoxon", "sign"]

# Differences that are equal on paper are not always equal in doubles.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Pair:
    """One metric of the baseline, the first run of a sample, and of another one.

    Attributes
    ----------
    aggregate
        How statistics become one number.
    baseline, other : (n, S)
        Sufficient statistics of the queries.
    """

    aggregate: Aggregate
    baseline: FloatArray
    other: FloatArray

    def per_query(self) -> tuple[FloatArray, FloatArray]:
        """Return both runs' values of every query, (n,)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.aggregate.value(self.baseline), self.aggregate.value(self.other)

    def outcomes(self) -> tuple[int, int]:
        """Count the queries on which the other run's value is higher, and lower.

        Values that agree to nine digits are equal: sums in another order may differ in the last.
        """
        baseline, other = self.per_query()
        apart = ~np.isclose(baseline, other, rtol=1e-9, atol=0)
        return int((apart & (other > baseline)).sum()), int((apart & (other < baseline)).sum())


Test = Callable[[QuerySample, int, int], list[list[float]]]


def pairs(sample: QuerySample) -> list[list[Pair]]:
    """Pair the first run of a sample with every other one, per metric and run."""
    return [
        [
            Pair(
                metric.measure.aggregate,
                sample.statistics[:, 0, columns],
                sample.statistics[:, run, columns],
            )
            for run in range(1, sample.statistics.shape[1])
        ]
        for metric, columns in zip(sample.metrics, sample.columns, strict=True)
    ]


def randomization(sample: QuerySample, trials: int, seed: int) -> list[list[float]]:
    """If run and baseline were interchangeable, their labels could be swapped on any query.

    Formula:    p = (swaps with |difference| >= the observed one + 1) / (trials + 1); where no more
                than `trials` swaps exist, all are made and p is their share
    Source:     R. A. Fisher, The Design of Experiments, 1935; M. D. Smucker, J. Allan and
                B. Carterette, A comparison of statistical significance tests, CIKM 2007
    """
    change = sample.statistics[:, 1:] - sample.statistics[:, :1]
    weights = swapped(sample.queries, trials, seed)
    moved = sums(weights, change.reshape(sample.queries, -1)).reshape(-1, *change.shape[1:])
    return [
        [
            _share_of_swaps(pair, moved[:, run, columns], trials)
            for run, pair in enumerate(of_metric)
        ]
        for columns, of_metric in zip(sample.columns, pairs(sample), strict=True)
    ]


def _share_of_swaps(pair: Pair, moved: FloatArray, trials: int) -> float:
    """Compare the observed difference with swaps that moved sums, (B, S), to the baseline."""
    change = pair.other - pair.baseline
    differs = (change != 0).any(axis=1)
    every = 2 ** int(differs.sum()) <= trials
    if every:
        moved = sums([all_swaps(int(differs.sum()))], change[differs])
    n = len(change)
    baseline, other = totals(pair.baseline), totals(pair.other)
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = pair.aggregate.summary(np.stack([baseline, other]), n)
        chance = pair.aggregate.summary(other - moved, n) - pair.aggregate.summary(
            baseline + moved, n
        )
        difference = float(observed[1] - observed[0])
    return _share(chance, difference, observed, certain=every)


def bootstrap(sample: QuerySample, trials: int, seed: int) -> list[list[float]]:
    """Resample the queries and shift the differences to where they would lie without one.

    Formula:    p = (resamples whose difference is at least |observed| away from the observed
                one + 1) / (trials + 1)
    Source:     B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapter 16
    """
    replicates = sample.summaries(sample.resampled(drawn(sample.queries, trials, seed)))
    observed = sample.observed()
    with np.errstate(invalid="ignore"):
        return [
            [
                _share(
                    replicate[:, run] - replicate[:, 0] - (summary[run] - summary[0]),
                    summary[run] - summary[0] if np.isfinite(summary).all() else math.nan,
                    summary[[0, run]],
                )
                for run in range(1, len(summary))
            ]
            for replicate, summary in zip(replicates, observed, strict=True)
        ]


def _share(
    chance: FloatArray, observed: float, summaries: FloatArray, certain: bool = False
) -> float:
    """Return how often chance, (B,), is at least as far from 0 as what was observed.

    `certain` says that `chance` is every possibility; else what was observed counts as one more.
    """
    if math.isnan(observed):
        return math.nan
    slack = ROUNDING * np.abs(summaries[np.isfinite(summaries)]).max(initial=0)
    # An undefined difference (0/0) could be anything, so it counts against the run.
    extreme = int((~(np.abs(chance) < abs(observed) - slack)).sum())
    return extreme / len(chance) if certain else (extreme + 1) / (len(chance) + 1)


def _each(test: Callable[[Pair], float]) -> Test:
    def of_sample(sample: QuerySample, trials: int, seed: int) -> list[list[float]]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scipy's, about ties and constant differences
            return [[test(pair) for pair in of_metric] for of_metric in pairs(sample)]

    return of_sample


def _differences(pair: Pair) -> FloatArray | None:
    """Return the differences of the queries, (n,), or None where their mean tells nothing."""
    differences = first(pair.other) - first(pair.baseline)
    alike = pair.aggregate.value is first and np.isfinite(differences).all()
    return differences if alike else None


def student(pair: Pair) -> float:
    """Student's paired t test of the mean difference of the queries being 0.

    Edge cases: NA for ratios of means, which are no function of single queries' differences, and
                where all queries differ by the same
    Source:     Student, The probable error of a mean, 1908; computed by scipy.stats.ttest_1samp
    """
    from scipy.stats import ttest_1samp

    differences = _differences(pair)
    if differences is None or np.ptp(differences) <= ROUNDING * np.abs(differences).max():
        return math.nan
    return float(ttest_1samp(differences, 0).pvalue)


def signed_rank(pair: Pair) -> float:
    """Wilcoxon's signed-rank test of the queries' differences being symmetric around 0.

    Edge cases: NA for ratios of means; queries without a difference are left out
    Source:     F. Wilcoxon, Individual comparisons by ranking methods, 1945; computed by
                scipy.stats.wilcoxon
    """
    from scipy.stats import wilcoxon

    differences = _differences(pair)
    return math.nan if differences is None else float(wilcoxon(differences).pvalue)


def sign(pair: Pair) -> float:
    """Test with signs alone: as many queries on which the run is higher as on which it is lower.

    Edge cases: queries without a difference are left out
    Source:     J. Arbuthnot, 1710; computed by scipy.stats.binomtest
    """
    from scipy.stats import binomtest

    higher, lower = pair.outcomes()
    return float(binomtest(higher, higher + lower).pvalue) if higher + lower else 1.0


def p_values(sample: QuerySample, test: TestName, trials: int, seed: int) -> list[list[float]]:
    """Test every metric of a sample, and every run but the first, against the first run.

    Returns
    -------
    Per metric and run a p-value: 1 where no query differs, NaN where the test has no answer and
    where fewer than two queries are known.
    """
    if sample.queries < 2:
        return [[math.nan] * len(of_metric) for of_metric in pairs(sample)]
    tested = TESTS[test](sample, trials, seed)
    return [
        [
            1.0 if (pair.baseline == pair.other).all() else p
            for p, pair in zip(row, of_metric, strict=True)
        ]
        for row, of_metric in zip(tested, pairs(sample), strict=True)
    ]


TESTS: Mapping[TestName, Test] = {
    "randomization": randomization,
    "bootstrap": bootstrap,
    "t": _each(student),
    "wilcoxon": _each(signed_rank),
    "sign": _each(sign),
}
