"""p-values for the difference between a baseline and other runs, over the same queries.

All are two-sided. Randomization and bootstrap work on sufficient statistics and so for every
measure; those of `classical_tests` work on the differences of single queries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np

from ragkpi.measures.aggregates import FloatArray
from ragkpi.statistics.classical_tests import Pair, sign, signed_rank, student
from ragkpi.statistics.query_samples import QuerySample
from ragkpi.statistics.resampling import all_swaps, drawn, sums, swapped, totals

TestName = Literal["randomization", "bootstrap", "t", "wilcoxon", "sign"]

# Differences that are equal on paper are not always equal in doubles.
ROUNDING = 1e-12


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
    """Compare the observed difference with the distances of resamples from it.

    Distances are in standard errors, those of each resample: otherwise few queries give resamples
    that are too close together, and too many differences look significant.

    Formula:    t = difference / se; p = (resamples with |difference* - difference| / se* >= |t|
                + 1) / (trials + 1); se from the queries' jackknife pseudo-values, which for means
                are the differences themselves
    Edge cases: NA where all queries differ by the same, or where leaving a query out leaves no
                value
    Source:     B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapters 12
                and 16
    """
    n = sample.queries
    with np.errstate(invalid="ignore"):
        observed = [summary[1:] - summary[:1] for summary in sample.observed()]
        pseudo = [
            n * difference - (n - 1) * (without[:, 1:] - without[:, :1])
            for difference, without in zip(observed, sample.leave_one_out(), strict=True)
        ]
        centred = np.stack([values - values.mean(axis=0) for values in pseudo], axis=2)
    unknown = ~np.isfinite(centred).all(axis=0)
    centred = np.where(unknown, 0.0, centred)
    rows = [part.reshape(n, -1) for part in (sample.statistics, centred, centred**2)]
    added = sums(drawn(n, trials, seed), np.concatenate(rows, axis=1))
    ends = np.cumsum([part.shape[1] for part in rows])
    statistics, first_moment, second_moment = np.split(added, ends[:-1], axis=1)
    replicates = sample.summaries(statistics.reshape(-1, *sample.statistics.shape[1:]))
    squared = (second_moment / n - (first_moment / n) ** 2).reshape(-1, *centred.shape[1:])
    variance = (centred**2).mean(axis=0)
    # A resample without spread has a variance of 0, not a remainder of rounding.
    squared = np.where(squared <= ROUNDING * variance, 0.0, squared)
    return [
        [
            math.nan
            if unknown[run, index]
            else _share_of_resamples(
                replicate[:, run + 1] - replicate[:, 0] - difference[run],
                np.sqrt(squared[:, run, index]),
                difference[run],
                math.sqrt(variance[run, index]),
            )
            for run in range(len(difference))
        ]
        for index, (replicate, difference) in enumerate(zip(replicates, observed, strict=True))
    ]


def _share_of_resamples(
    strayed: FloatArray, spreads: FloatArray, observed: float, spread: float
) -> float:
    """Compare the observed difference with resamples, both in units of their own spread."""
    if spread <= ROUNDING * abs(observed):
        return math.nan
    with np.errstate(invalid="ignore", divide="ignore"):
        distance = np.abs(strayed) / spreads
    # Undefined distances (0/0) could be anything, so they count against the run.
    extreme = int((~(distance < abs(observed) / spread * (1 - ROUNDING))).sum())
    return (extreme + 1) / (len(strayed) + 1)


def _share(
    chance: FloatArray, observed: float, summaries: FloatArray, certain: bool = False
) -> float:
    """Return the share of chance differences, (B,), at least as far from 0 as the observed one.

    `certain` means that `chance` has all possibilities; otherwise the observed one is added.
    """
    if math.isnan(observed):
        return math.nan
    slack = ROUNDING * np.abs(summaries[np.isfinite(summaries)]).max(initial=0)
    # An undefined difference (0/0) could be anything, so it counts against the run.
    extreme = int((~(np.abs(chance) < abs(observed) - slack)).sum())
    return extreme / len(chance) if certain else (extreme + 1) / (len(chance) + 1)


def _each(test: Callable[[Pair], float]) -> Test:
    def of_sample(sample: QuerySample, trials: int, seed: int) -> list[list[float]]:
        return [[test(pair) for pair in of_metric] for of_metric in pairs(sample)]

    return of_sample


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
