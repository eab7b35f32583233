"""Two-sided tests of differences from a baseline, their intervals, and corrections for many tests.

Evidence is counted in units: clusters of queries, or single ones (docs/statistics.md).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ragkpi.arrays import ROUNDING, BoolArray, FloatArray, IntArray
from ragkpi.measures.measure import Metric, first
from ragkpi.statistics.bootstrap import (
    HALVINGS,
    UNKNOWN,
    Interval,
    QuerySample,
    all_swaps,
    quantile,
    special,
    student_quantile,
    sums,
    swapped,
    totals,
)
from ragkpi.statistics.decisions import TESTS, CorrectionName, TestName
from ragkpi.statistics.units import Unit, by_unit
from ragkpi.wording import counted


def holm(p: FloatArray) -> FloatArray:
    """Control the probability of even one false rejection.

    Formula:    the i-th smallest of m p-values times (m - i + 1), made monotone, at most 1
    Source:     S. Holm, A simple sequentially rejective multiple test procedure, 1979
    """
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return np.minimum(stepped, 1)[np.argsort(order)]


def benjamini_hochberg(p: FloatArray) -> FloatArray:
    """Control the expected share of false rejections.

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
    unit: Unit = None

    @property
    def is_of_rates(self) -> bool:
        """Whether it has a score test: a rate, not its expectation over ties or its z-score."""
        values = self.baseline, self.other
        rates = self.metric.is_rate and all(np.isin(of, (0.0, 1.0)).all() for of in values)
        return rates and self.unit is None

    @property
    def differing(self) -> BoolArray:
        """Whether the runs differ on some query of each unit, (G,)."""
        differ = (self.baseline != self.other).any(axis=1)
        return by_unit(differ.astype(np.float64), self.unit) > 0

    @np.errstate(divide="ignore", invalid="ignore")
    def signs(self) -> FloatArray:
        """Return 1 for queries on which the other run's value is higher, -1 if lower, (n,)."""
        baseline, other = map(self.metric.measure.aggregate.value, (self.baseline, self.other))
        differs = ~np.isclose(baseline, other, rtol=TIED, atol=0)
        return np.where(differs, np.sign(other - baseline), 0.0)

    @property
    def outcomes(self) -> tuple[int, int, int]:
        """The numbers of queries on which the other run's value is higher, equal and lower."""
        signs = self.signs()
        return int((signs > 0).sum()), int((signs == 0).sum()), int((signs < 0).sum())

    def differences(self) -> FloatArray | None:
        """Add the queries' differences by unit, (G,); None if the summary is not their mean."""
        difference = first(self.other) - first(self.baseline)
        if self.metric.measure.aggregate.value is not first or not np.isfinite(difference).all():
            return None
        largest = max(np.abs(self.baseline).max(), np.abs(self.other).max())
        return by_unit(np.where(np.abs(difference) <= TIED * largest, 0.0, difference), self.unit)


def pairs(sample: QuerySample) -> list[list[Pair]]:
    """Pair the first run of a sample with every other run, per metric and run."""
    paired = []
    for metric, columns in zip(sample.metrics, sample.columns, strict=True):
        baseline, *others = sample.statistics[:, :, columns].swapaxes(0, 1)
        paired.append([Pair(metric, baseline, other, sample.unit) for other in others])
    return paired


PValues = Callable[[QuerySample, int, int], list[list[float]]]
"""From a sample, the number of trials and a seed to a p-value per metric and run."""


def _per_pair(test: Callable[[Pair], float]) -> PValues:
    @functools.wraps(test)
    def of_sample(sample: QuerySample, trials: int, seed: int) -> list[list[float]]:
        return [[test(pair) for pair in of_metric] for of_metric in pairs(sample)]

    return of_sample


@np.errstate(divide="ignore", invalid="ignore")
def student(sample: QuerySample, trials: int, seed: int) -> list[list[float]]:
    """Test by Student's t, and rates by their score: p < 1 - level if the interval excludes 0.

    Formula:    t = difference / se, see `intervals_of_differences`; for rates `score_test`
    Edge cases: without a standard error, p is that of `randomization`
    Source:     Student, The probable error of a mean, 1908; J. W. Tukey, Bias and confidence in
                not-quite large samples, 1958 (pseudo-values)
    """
    paired = pairs(sample)
    p_values_of: list[list[float]] = []
    for summary, error, of_metric in zip(sample.observed(), _errors(sample), paired, strict=True):
        t = np.abs(summary[1:] - summary[0]) / error
        of_t = (2 * special().stdtr(sample.freedom, -t)).tolist()
        each = zip(of_metric, of_t, strict=True)
        p_values_of.append([score_test(pair) if pair.is_of_rates else p for pair, p in each])
    differ = [[pair.differing.any() for pair in of_metric] for of_metric in paired]
    if (np.isnan(p_values_of) & differ).any():
        swaps = randomization(sample, trials, seed)
        p_values_of = np.where(np.isnan(p_values_of), swaps, p_values_of).tolist()
    return p_values_of


def _errors(sample: QuerySample) -> list[FloatArray]:
    """Return the standard errors of the differences, (R - 1,) per metric; NaN for 0."""
    errors = []
    for summary, spreads in zip(sample.observed(), sample.spreads(), strict=True):
        error = spreads / math.sqrt(sample.units)
        tolerance = ROUNDING * np.maximum(np.abs(summary[1:]), np.abs(summary[0]))
        errors.append(np.where(error > tolerance, error, np.nan))
    return errors


def score_test(pair: Pair) -> float:
    """Test the difference of two rates by the score test that Tango's interval inverts.

    Formula:    z = (higher - lower) / √(higher + lower), over queries on which only one succeeds
    Edge cases: NaN if there are none
    Source:     Q. McNemar, 1947; `tango`
    """
    higher, _, lower = pair.outcomes
    return float(2 * special().ndtr(-abs(higher - lower) / np.sqrt(higher + lower)))


@_per_pair
def signed_rank(pair: Pair) -> float:
    """Wilcoxon's signed-rank test of the units' differences being symmetric around 0.

    Formula:    p = 2 P(W <= the smaller sum of ranks), over all signs of the observed ranks; for
                more than 50 differences by the normal distribution, corrected for ties
    Edge cases: NA for ratios of means; units without a difference are left out; differences
                whose sizes are within 1e-9 of the largest value share their mean rank
    Source:     F. Wilcoxon, Individual comparisons by ranking methods, 1945
    """
    differences = pair.differences()
    if differences is None:
        return math.nan
    tolerance = TIED * max(np.abs(pair.baseline).max(), np.abs(pair.other).max())
    differences = differences[differences != 0]
    if not len(differences):
        return 1.0
    order = np.argsort(np.abs(differences), kind="stable")
    size, positive = np.abs(differences)[order], differences[order] > 0
    tied = np.cumsum(np.append(False, np.diff(size) > tolerance))
    numbers = np.bincount(tied)
    doubled = (2 * np.cumsum(numbers) - numbers + 1)[tied]  # twice the mean rank of equal sizes
    total = int(doubled.sum())
    smaller = min(int(doubled[positive].sum()), total - int(doubled[positive].sum()))
    if len(doubled) <= MOST_EXACT:
        return min(1.0, 2 * float(_all_signs(tuple(sorted(doubled.tolist())))[smaller]))
    # The sum includes each rank or not, so the variance of the doubled sum adds up over its terms.
    deviation = math.sqrt(float((doubled.astype(np.float64) ** 2).sum()) / 4)
    return float(2 * special().ndtr((smaller - total / 2) / deviation))


@functools.lru_cache(maxsize=256)
def _all_signs(doubled: tuple[int, ...]) -> FloatArray:
    """Return P(sum of positive ranks <= s) for every s, if all signs are equally likely."""
    probability = np.zeros(sum(doubled) + 1)
    probability[0] = 1.0
    for rank in doubled:
        probability[rank:] += probability[:-rank].copy()
        probability /= 2
    return np.asarray(np.cumsum(probability))


@_per_pair
def sign(pair: Pair) -> float:
    """Test whether the run is higher than the other as often as lower, unit by unit.

    Edge cases: units without a difference, or with as many wins as losses, are left out
    Source:     J. Arbuthnot, 1710
    """
    net = by_unit(pair.signs(), pair.unit)
    higher, lower = int((net > 0).sum()), int((net < 0).sum())
    if not higher + lower:
        return 1.0
    return min(1.0, float(2 * special().bdtr(min(higher, lower), higher + lower, 0.5)))


def tango(higher: int, lower: int, n: int, level: float) -> Interval:
    """Return the score interval of the difference of two rates over the same n queries.

    Only the second run succeeds on `higher` queries, only the first on `lower` queries.

    Formula:    all d with (higher - lower - n d)^2 <= z^2 n (2 q + d (1 - d)), q being the most
                likely share of queries on which only the first succeeds if the difference is d:
                2 n q^2 + ((2 n - higher + lower) d - higher - lower) q - lower d (1 - d) = 0
    Source:     T. Tango, Equivalence test and confidence interval for the difference in proportions
                for the paired-sample design, Statistics in Medicine 17, 1998

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
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if is_likely(middle) else (inside, middle)
        return inside

    return Interval(bound(-1.0), bound(1.0))


@np.errstate(invalid="ignore")
def intervals_of_differences(sample: QuerySample, level: float) -> list[list[Interval]]:
    """Return the interval of every run's difference from the first run, per metric and run.

    Formula:    difference ± t(freedom) se, se = s / √G, s from the units' jackknife pseudo-values,
                which for means are the differences; for rates (`Metric.is_rate`) Tango's interval
    Edge cases: `UNKNOWN` with fewer than two units, if all units differ by the same amount, and if
                the value is undefined without some unit
    Source:     as for `student`
    """
    if sample.units < 2:
        return [[UNKNOWN] * len(of_metric) for of_metric in pairs(sample)]
    quantile_of_t = student_quantile(sample.freedom, level)
    return [
        [
            tango(pair.outcomes[0], pair.outcomes[2], len(pair.baseline), level)
            if pair.is_of_rates
            else Interval(change - reach, change + reach)
            if math.isfinite(reach)
            else UNKNOWN
            for pair, change, reach in zip(
                of_metric,
                (summary[1:] - summary[0]).tolist(),
                (quantile_of_t * error).tolist(),
                strict=True,
            )
        ]
        for summary, error, of_metric in zip(
            sample.observed(), _errors(sample), pairs(sample), strict=True
        )
    ]


def randomization(sample: QuerySample, trials: int, seed: int) -> list[list[float]]:
    """Test by swapping labels of run and baseline on any unit, as if they were interchangeable.

    Formula:    p = (swaps with |difference| >= the observed one + 1) / (trials + 1); if no more
                than `trials` swaps exist, all are made and p is their share
    Source:     R. A. Fisher, The Design of Experiments, 1935; M. D. Smucker et al., CIKM 2007
    """
    change = by_unit(sample.statistics[:, 1:] - sample.statistics[:, :1], sample.unit)
    moved = sums(swapped(sample.units, trials, seed), change)
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
    n, differing = len(pair.baseline), pair.differing
    every = 2 ** int(differing.sum()) <= trials
    if every:
        change = by_unit(pair.other - pair.baseline, pair.unit)
        moved = sums([all_swaps(int(differing.sum()))], change[differing])
    baseline, other = totals(pair.baseline), totals(pair.other)
    summary = pair.metric.measure.aggregate.summary
    summaries = summary(np.stack([baseline, other]), n)
    observed = float(summaries[1] - summaries[0])
    if math.isnan(observed):
        return math.nan
    chance = summary(other - moved, n) - summary(baseline + moved, n)
    slack = ROUNDING * np.abs(summaries[np.isfinite(summaries)]).max(initial=0)
    # An undefined difference (0/0) could have any value, so it counts against the run.
    extreme = int((~(np.abs(chance) < abs(observed) - slack)).sum())
    return extreme / len(chance) if every else (extreme + 1) / (len(chance) + 1)


def p_values(sample: QuerySample, test: TestName, trials: int, seed: int) -> list[list[float]]:
    """Test every run but the first against the first run, by every metric of a sample.

    The p-value is 1 if no query differs, NaN if the test gives none or with fewer than two units.
    """
    if sample.units < 2:
        return [[math.nan] * len(of_metric) for of_metric in pairs(sample)]
    test_function: PValues = globals()[TESTS[test].function]
    return [
        [1.0 if (pair.baseline == pair.other).all() else p for p, pair in zip(*row, strict=True)]
        for row in zip(test_function(sample, trials, seed), pairs(sample), strict=True)
    ]


def least_p(test: TestName, units: int, trials: int, is_rate: bool = False) -> float:
    """Return the minimum p of a test of `units`, whatever their differences."""
    least: float = globals()[TESTS[test].least_p](units, trials, is_rate)
    return least


def least_of_t(units: int, trials: int, is_rate: bool) -> float:
    """Return p if all units differ by the same amount, which of rates is finite."""
    return float(2 * special().ndtr(-math.sqrt(units))) if is_rate else 0.0


def least_of_signs(units: int, trials: int, is_rate: bool) -> float:
    """Return the share of two out of all assignments of signs."""
    return min(1.0, 0.5 ** (units - 1))


def least_of_swaps(units: int, trials: int, is_rate: bool) -> float:
    """Return the minimum p over random signs, or over all signs if there are at most `trials`."""
    exact = units <= math.log2(trials)
    return least_of_signs(units, trials, is_rate) if exact else 1 / (trials + 1)


def too_few(units: int, queries: int, least: float, limit: float) -> str:
    """Say that no claim is possible, because p cannot fall below `least`; else ""."""
    with_units = counted(units, *(("query", "queries") if units == queries else ("cluster",)))
    if units == 1:
        return f"With {with_units} nothing is tested: a test needs two or more."
    if not units or least < limit:
        return ""
    return f"With {with_units} no difference can be shown: p cannot fall below {least:.4g}."


class Clustering(NamedTuple):
    """The correlation of values within clusters, and its cost.

    The variance of a mean is `design_effect` times that of as many unrelated queries. `p` is
    one-sided, for a correlation of 0; NaN if all values, or all sizes of clusters, are equal.
    """

    within: float
    design_effect: float
    p: float


@np.errstate(divide="ignore", invalid="ignore")
def correlation_within(values: FloatArray, unit: IntArray) -> Clustering:
    """Return the intra-class correlation of values, (n,), within units, (n,).

    Formula:    (B - W) / (B + (m - 1) W), B and W the mean squares between and within clusters, m
                their size; of unequal sizes m = (n - sum of squared sizes / n) / (G - 1); design
                effect 1 + (sum of squared sizes / n - 1) correlation, at least 1; p of F = B / W
    Source:     R. A. Fisher, Statistical Methods for Research Workers, 1925; A. Donner,
                International Statistical Review 54, 1986; L. Kish, Survey Sampling, 1965
    """
    n, sizes = len(values), np.bincount(unit).astype(np.float64)
    units, squares = len(sizes), float((sizes**2).sum() / n)
    means = by_unit(values, unit) / sizes
    between = (sizes * (means - values.mean()) ** 2).sum() / max(units - 1, 1)
    inside = ((values - means[unit]) ** 2).sum() / max(n - units, 1)
    size = (n - squares) / max(units - 1, 1)
    within = float((between - inside) / (between + (size - 1) * inside))
    p = float(special().fdtrc(units - 1, n - units, between / inside))
    return Clustering(within, 1 + (squares - 1) * max(within, 0.0), p)
