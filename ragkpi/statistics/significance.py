"""Two-sided tests of differences between runs, intervals of rates, and corrections for many tests.

t and Wilcoxon need differences of single queries, so they are NA if a summary is not the mean of
the queries' values. Randomization and bootstrap use sums of statistics and suit every measure.

Twelve successes against twelve successes have no spread to resample and a standard error of 0, as
if they proved that two systems are equal. A score interval instead contains the true differences
that would make such outcomes likely.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ragkpi.arrays import BoolArray, FloatArray, IntArray
from ragkpi.measures.measure import Aggregate, Metric, first
from ragkpi.statistics.bootstrap import (
    UNKNOWN,
    Interval,
    QuerySample,
    all_swaps,
    drawn,
    quantile,
    special,
    sums,
    swapped,
    totals,
)
from ragkpi.statistics.decisions import CorrectionName, TestName


def holm(p: FloatArray) -> FloatArray:
    """Control the probability of even one false rejection.

    Formula:    the i-th smallest of m p-values times (m - i + 1), made monotone, at most 1
    Source:     S. Holm, A simple sequentially rejective multiple test procedure, 1979
    """
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return np.minimum(stepped, 1)[np.argsort(order)]


def benjamini_hochberg(p: FloatArray) -> FloatArray:
    """Control the expected share of false ones among the rejections.

    Formula:    the i-th smallest of m p-values times m / i, made monotone from the largest
    Source:     Y. Benjamini and Y. Hochberg, Controlling the false discovery rate, 1995
    """
    order = np.argsort(p, kind="stable")
    scaled = p[order] * len(p) / np.arange(1, len(p) + 1)
    return np.minimum.accumulate(scaled[::-1])[::-1][np.argsort(order)]


CORRECTIONS: Mapping[CorrectionName, Callable[[FloatArray], FloatArray]] = {
    "holm": holm,
    "benjamini-hochberg": benjamini_hochberg,
    "none": np.copy,
}


def corrected(p: FloatArray, correction: CorrectionName) -> FloatArray:
    """Correct p-values of one family, (m,); NaN means not tested and stays NaN."""
    tested = ~np.isnan(p)
    values = p.copy()
    values[tested] = CORRECTIONS[correction](p[tested])
    return values


# Differences that are equal on paper are not always equal in doubles. In units of the largest
# value, differences closer together than this are tied, and those closer to 0 are 0.
TIED = 1e-9
# With at most this many differences, all assignments of signs are counted.
MOST_EXACT = 50


@dataclass(frozen=True)
class Pair:
    """Statistics of one metric, (n, S), for the first run and another run of a sample."""

    metric: Metric
    baseline: FloatArray
    other: FloatArray

    @property
    def aggregate(self) -> Aggregate:
        return self.metric.measure.aggregate

    @property
    def is_of_rates(self) -> bool:
        """Whether the metric is a rate, and no expectation over ties or z-score of one."""
        values = self.baseline, self.other
        return self.metric.is_rate and all(np.isin(of, (0.0, 1.0)).all() for of in values)

    @np.errstate(divide="ignore", invalid="ignore")
    def per_query(self) -> tuple[FloatArray, FloatArray]:
        """Return both runs' values of every query, (n,)."""
        return self.aggregate.value(self.baseline), self.aggregate.value(self.other)

    def outcomes(self) -> tuple[int, int]:
        """Count the queries on which the other run's value is higher, and lower.

        Values that agree to nine digits are equal, since sums in another order may differ slightly.
        """
        baseline, other = self.per_query()
        apart = ~np.isclose(baseline, other, rtol=TIED, atol=0)
        return int((apart & (other > baseline)).sum()), int((apart & (other < baseline)).sum())

    def differences(self) -> FloatArray | None:
        """Return the differences of the queries, (n,), or None if the summary is not their mean.

        Differences within `TIED` of 0 are 0.
        """
        difference = first(self.other) - first(self.baseline)
        if self.aggregate.value is not first or not np.isfinite(difference).all():
            return None
        largest = max(np.abs(self.baseline).max(), np.abs(self.other).max())
        return np.where(np.abs(difference) <= TIED * largest, 0.0, difference)


def student(pair: Pair) -> float:
    """Student's paired t test of the mean difference of the queries being 0.

    Edge cases: NA for ratios of means, which are no function of single queries' differences, and
                where all queries differ by the same
    Source:     Student, The probable error of a mean, 1908
    """
    differences = pair.differences()
    if differences is None or np.ptp(differences) <= TIED * np.abs(differences).max():
        return math.nan
    n = len(differences)
    error = differences.std(ddof=1) / math.sqrt(n)
    return float(2 * special().stdtr(n - 1, -abs(differences.mean() / error)))


def signed_rank(pair: Pair) -> float:
    """Wilcoxon's signed-rank test of the queries' differences being symmetric around 0.

    Formula:    p = 2 P(W <= the smaller sum of ranks), over all signs of the ranks observed; for
                more than 50 differences by the normal distribution, corrected for ties
    Edge cases: NA for ratios of means; queries without a difference are left out; differences
                whose sizes are within 1e-9 of the largest value share their mean rank. It does
                not test the mean: skewed differences of mean 0 are not symmetric around 0.
    Source:     F. Wilcoxon, Individual comparisons by ranking methods, 1945
    """
    differences = pair.differences()
    if differences is None:
        return math.nan
    largest = max(np.abs(pair.baseline).max(), np.abs(pair.other).max())
    doubled, positive = _doubled_ranks(differences[differences != 0], TIED * largest)
    if not len(doubled):
        return 1.0
    total = int(doubled.sum())
    smaller = min(int(doubled[positive].sum()), total - int(doubled[positive].sum()))
    if len(doubled) <= MOST_EXACT:
        return min(1.0, 2 * float(_all_signs(tuple(sorted(doubled.tolist())))[smaller]))
    # The sum includes each rank or not, so the variance of the doubled sum adds up over its terms.
    deviation = math.sqrt(float((doubled.astype(np.float64) ** 2).sum()) / 4)
    return float(2 * special().ndtr((smaller - total / 2) / deviation))


def _doubled_ranks(differences: FloatArray, tolerance: float) -> tuple[IntArray, BoolArray]:
    """Return twice the rank of each difference by size, a whole number, and its sign."""
    order = np.argsort(np.abs(differences), kind="stable")
    size = np.abs(differences)[order]
    new = np.append(True, np.diff(size) > tolerance)[: len(size)]
    start = np.flatnonzero(new)
    end = np.append(start[1:], len(size))
    doubled = np.repeat(start + 1 + end, end - start)
    return doubled, differences[order] > 0


@functools.lru_cache(maxsize=256)
def _all_signs(doubled: tuple[int, ...]) -> FloatArray:
    """Return P(sum of positive ranks <= s) for every s, if all signs are equally likely."""
    probability = np.zeros(sum(doubled) + 1)
    probability[0] = 1.0
    for rank in doubled:
        probability[rank:] += probability[:-rank].copy()
        probability /= 2
    return np.asarray(np.cumsum(probability))


def sign(pair: Pair) -> float:
    """Test whether the run is as often higher than the other as lower, query by query.

    Edge cases: queries without a difference are left out. It does not test the mean: many small
                gains win over few large losses.
    Source:     J. Arbuthnot, 1710
    """
    higher, lower = pair.outcomes()
    if not higher + lower:
        return 1.0
    return min(1.0, float(2 * special().bdtr(min(higher, lower), higher + lower, 0.5)))


_HALVINGS = 60  # of an interval of at most 2: to the last bit of a double


def interval_of_rates(pair: Pair, level: float) -> Interval | None:
    """Return Tango's interval of the difference; None for other values."""
    if not pair.is_of_rates:
        return None
    higher = int((pair.other > pair.baseline).sum())
    lower = int((pair.other < pair.baseline).sum())
    return tango(higher, lower, len(pair.baseline), level)


def tango(higher: int, lower: int, n: int, level: float) -> Interval:
    """Return the score interval of the difference of two rates over the same n queries.

    Only the second run succeeds on `higher` queries, only the first on `lower` queries. A one-sided
    bound with an error of 5 % has the level 0.9.

    Formula:    all d with (higher - lower - n d)^2 <= z^2 n (2 q + d (1 - d)), q being the most
                likely share of queries on which only the first succeeds if the difference is d:
                2 n q^2 + ((2 n - higher + lower) d - higher - lower) q - lower d (1 - d) = 0
    Source:     T. Tango, Equivalence test and confidence interval for the difference in proportions
                for the paired-sample design, Statistics in Medicine 17, 1998

    Coverage was summed over all outcomes, for 500 to 1,500 pairs of rates from 0.02 to 0.98 that
    differ by at most 0.3, with correlations from none to the highest possible. Of 95 % it is at
    least, and on average: 0.974 and 0.999 for n = 3, 0.945 and 0.983 for 12, 0.930 and 0.965 for
    30, 0.936 and 0.955 for 100. Newcombe's hybrid score (1998, method 10) has at least 0.901 for n
    = 3 and 12: it is too narrow where runs agree on nearly all queries, as two versions of a system
    do. The same 6 successes and 6 failures give it ±0.14, and Tango's ±0.24. A bound at 5 % is
    wrong in 2.8 % of samples of 12 on average; at worst, for differences of 0 to 0.2 and any share
    of queries on which the runs differ, in 12.5 % (n = 3), 8.7 % (12), 6.7 % (50), 5.8 % (100).

    >>> tango(0, 0, 12, 0.95)
    Interval(low=-0.24249400665524063, high=0.24249400665524063)
    """
    z = quantile(level)
    difference = higher - lower

    def is_likely(d: float) -> bool:
        slope = (2 * n - difference) * d - higher - lower
        root = math.sqrt(max(0.0, slope * slope + 8 * n * lower * d * (1 - d)))
        q = (root - slope) / (4 * n)
        return (difference - n * d) ** 2 <= z * z * n * (2 * q + d * (1 - d))

    def bound(end: float) -> float:
        inside, outside = difference / n, end
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if is_likely(middle) else (inside, middle)
        return inside

    return Interval(bound(-1.0), bound(1.0))


@np.errstate(invalid="ignore")
def intervals_of_differences(sample: QuerySample, level: float) -> list[list[Interval]]:
    """Return the interval of every run's difference from the first run, per metric and run.

    Formula:    difference ± t(n - 1) se, se = s / √n, s from the queries' jackknife pseudo-values,
                which for means are the differences; of rates (`Metric.is_rate`) Tango's interval
    Edge cases: `UNKNOWN` with fewer than two queries, where all queries differ by the same, and
                where leaving a query out leaves no value
    Source:     Student, The probable error of a mean, 1908; J. W. Tukey, Bias and confidence in
                not-quite large samples, 1958 (pseudo-values); `tango`

    Of means it excludes 0 exactly where `student` gives p < 1 - level, and it needs no resamples.
    Coverage of 95 % in 3,000 samples of 5, 12 and 50 queries, and of percentile intervals of 1,000
    resamples of the same samples:

    differences                          Student's                percentile
    uniform                              0.925  0.937  0.946      0.838  0.919  0.942
    of two beta(0.5, 4)                  0.966  0.955  0.951      0.811  0.897  0.938
    skewed, beta(0.5, 4)                 0.856  0.893  0.932      0.778  0.871  0.924
    of bor, rates of 0.5 and 0.8         0.990  0.952  0.963      0.896  0.926  0.951
    """
    if sample.queries < 2:
        return [[UNKNOWN] * len(of_metric) for of_metric in pairs(sample)]
    n = sample.queries
    quantile_of_t = float(special().stdtrit(n - 1, (1 + level) / 2))
    found = []
    for summary, spreads, of_metric in zip(
        sample.observed(), sample.spreads(), pairs(sample), strict=True
    ):
        errors = (spreads / math.sqrt(n)).tolist()
        of_runs = zip(summary[1:].tolist(), errors, of_metric, strict=True)
        found.append(
            [
                interval_of_rates(pair, level)
                or _students(float(summary[0]), value, error, quantile_of_t)
                for value, error, pair in of_runs
            ]
        )
    return found


def _students(baseline: float, value: float, error: float, quantile_of_t: float) -> Interval:
    difference, reach = value - baseline, quantile_of_t * error
    valid = math.isfinite(reach) and error > ROUNDING * max(abs(baseline), abs(value))
    return Interval(difference - reach, difference + reach) if valid else UNKNOWN


ROUNDING = 1e-12  # the distance in doubles of differences that are equal on paper

PValues = Callable[[QuerySample, int, int], list[list[float]]]
"""From a sample, the number of trials and a seed to a p-value per metric and run."""


def pairs(sample: QuerySample) -> list[list[Pair]]:
    """Pair the first run of a sample with every other one, per metric and run."""
    paired = []
    for metric, columns in zip(sample.metrics, sample.columns, strict=True):
        baseline, *others = sample.statistics[:, :, columns].swapaxes(0, 1)
        paired.append([Pair(metric, baseline, other) for other in others])
    return paired


def randomization(sample: QuerySample, trials: int, seed: int) -> list[list[float]]:
    """Test by swapping labels of run and baseline on any query, as if they were interchangeable.

    Formula:    p = (swaps with |difference| >= the observed one + 1) / (trials + 1); where no more
                than `trials` swaps exist, all are made and p is their share
    Source:     R. A. Fisher, The Design of Experiments, 1935; M. D. Smucker, J. Allan and
                B. Carterette, A comparison of statistical significance tests, CIKM 2007
    """
    change = sample.statistics[:, 1:] - sample.statistics[:, :1]
    weights = swapped(sample.queries, trials, seed)
    moved = sums(weights, change)
    return [
        [
            _share_of_swaps(pair, moved[:, run, columns], trials)
            for run, pair in enumerate(of_metric)
        ]
        for columns, of_metric in zip(sample.columns, pairs(sample), strict=True)
    ]


@np.errstate(divide="ignore", invalid="ignore")
def _share_of_swaps(pair: Pair, moved: FloatArray, trials: int) -> float:
    """Compare the observed difference with swaps, which move sums, (B, S), to the baseline."""
    change = pair.other - pair.baseline
    differs = (change != 0).any(axis=1)
    every = 2 ** int(differs.sum()) <= trials
    if every:
        moved = sums([all_swaps(int(differs.sum()))], change[differs])
    n = len(change)
    baseline, other = totals(pair.baseline), totals(pair.other)
    summary = pair.aggregate.summary
    observed = summary(np.stack([baseline, other]), n)
    chance = summary(other - moved, n) - summary(baseline + moved, n)
    return _share(chance, float(observed[1] - observed[0]), observed, certain=every)


def bootstrap(sample: QuerySample, trials: int, seed: int) -> list[list[float]]:
    """Compare the observed difference with the distances of resamples from it.

    Distances are in each resample's own standard errors. Otherwise resamples of few queries lie too
    close together, and too many differences look significant.

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
    # A resample without spread has a variance of exactly 0, not a rounding error.
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


@np.errstate(divide="ignore", invalid="ignore")
def _share_of_resamples(
    strayed: FloatArray, spreads: FloatArray, observed: float, spread: float
) -> float:
    """Compare the observed difference with resamples, both in units of their own spread."""
    if spread <= ROUNDING * abs(observed):
        return math.nan
    distance = np.abs(strayed) / spreads
    # Undefined distances (0/0) could have any value, so they count against the run.
    extreme = int((~(distance < abs(observed) / spread * (1 - ROUNDING))).sum())
    return (extreme + 1) / (len(strayed) + 1)


def _share(
    chance: FloatArray, observed: float, summaries: FloatArray, certain: bool = False
) -> float:
    """Return the share of chance differences, (B,), at least as far from 0 as the observed.

    `certain` means that `chance` has all possibilities; otherwise the observed difference is added.
    """
    if math.isnan(observed):
        return math.nan
    slack = ROUNDING * np.abs(summaries[np.isfinite(summaries)]).max(initial=0)
    # An undefined difference (0/0) could have any value, so it counts against the run.
    extreme = int((~(np.abs(chance) < abs(observed) - slack)).sum())
    return extreme / len(chance) if certain else (extreme + 1) / (len(chance) + 1)


def _each(test: Callable[[Pair], float]) -> PValues:
    def of_sample(sample: QuerySample, trials: int, seed: int) -> list[list[float]]:
        return [[test(pair) for pair in of_metric] for of_metric in pairs(sample)]

    return of_sample


def p_values(sample: QuerySample, test: TestName, trials: int, seed: int) -> list[list[float]]:
    """Test every run but the first against the first run, by every metric of a sample.

    The p-value is 1 if no query differs, NaN if the test gives none or fewer than two queries are
    known.
    """
    if sample.queries < 2:
        return [[math.nan] * len(of_metric) for of_metric in pairs(sample)]
    return [
        [1.0 if (pair.baseline == pair.other).all() else p for p, pair in zip(*row, strict=True)]
        for row in zip(TESTS[test].p_values(sample, trials, seed), pairs(sample), strict=True)
    ]


class Test(NamedTuple):
    """A test of the difference of two runs."""

    p_values: PValues
    least_p: Callable[[int, int], float]  # that it can give if so many queries differ, in B trials
    name: str  # in an explanation
    question: str  # that the p-value answers


def _least_of_trials(_: int, trials: int) -> float:
    return 1 / (trials + 1)


def _least_of_signs(differing: int, _: int) -> float:
    return min(1.0, 0.5 ** (differing - 1))


def _least_of_swaps(differing: int, trials: int) -> float:
    least = _least_of_signs if differing <= math.log2(trials) else _least_of_trials
    return least(differing, trials)


_CHANCE = "{trials:,} trials, p = (count + 1) / (trials + 1), seed {seed}"
TESTS: Mapping[TestName, Test] = {
    "randomization": Test(
        randomization,
        _least_of_swaps,
        "paired randomization test",
        "how often is a difference at least as large when run and baseline are swapped at random "
        f"on every query? {_CHANCE}; all swaps, p = share, where there are no more",
    ),
    "bootstrap": Test(
        bootstrap,
        _least_of_trials,
        "paired bootstrap test",
        "how often does a resample of the queries stray from the difference by at least its size, "
        f"both in standard errors? {_CHANCE}",
    ),
    "t": Test(
        _each(student),
        lambda *_: 0.0,
        "paired t test",
        "is the mean of the queries' differences 0? NA for ratios of means",
    ),
    "wilcoxon": Test(
        _each(signed_rank),
        _least_of_signs,
        "Wilcoxon's signed-rank test",
        "do the queries' differences lie evenly around 0? (Of skewed ones the mean may be 0 and p "
        "small.) Sizes within 1e-9 of the largest value are tied; NA for ratios of means",
    ),
    "sign": Test(
        _each(sign),
        _least_of_signs,
        "sign test",
        "are wins as likely as losses, whatever their sizes? Ties are left out",
    ),
}
