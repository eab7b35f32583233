"""Textbook tests of the differences of single queries: t, Wilcoxon's signed ranks, signs.

All are two-sided. t and Wilcoxon need differences, so they are NA where a summary is not the mean
of the queries' values. Only scipy.special is imported, in a quarter of the time of scipy.stats.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from ragkpi.measures.aggregates import MEAN, Aggregate, FloatArray, first
from ragkpi.records import dataclass

# Differences that are equal on paper are not always equal in doubles. In units of the largest
# value, differences closer together than this are tied, and those closer to 0 are 0.
TIED = 1e-9
# With at most this many differences, all assignments of signs are counted.
MOST_EXACT = 50


@dataclass(frozen=True)
class Pair:
    """Statistics of one metric for the baseline, the first run of a sample, and another run.

    Attributes
    ----------
    aggregate
        The rule from statistics to values.
    baseline, other : (n, S)
        Sufficient statistics of the queries.
    """

    aggregate: Aggregate
    baseline: FloatArray
    other: FloatArray

    @property
    def is_of_rates(self) -> bool:
        """Whether every query succeeded or failed (1 or 0), and the summary is their mean."""
        return self.aggregate.summary is MEAN.summary and bool(
            np.isin(self.baseline, (0.0, 1.0)).all() and np.isin(self.other, (0.0, 1.0)).all()
        )

    def per_query(self) -> tuple[FloatArray, FloatArray]:
        """Return both runs' values of every query, (n,)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.aggregate.value(self.baseline), self.aggregate.value(self.other)

    def outcomes(self) -> tuple[int, int]:
        """Count the queries on which the other run's value is higher, and lower.

        Values that agree to nine digits are equal: sums in another order may differ in the last.
        """
        baseline, other = self.per_query()
        apart = ~np.isclose(baseline, other, rtol=TIED, atol=0)
        return int((apart & (other > baseline)).sum()), int((apart & (other < baseline)).sum())

    def differences(self) -> FloatArray | None:
        """Return the differences of the queries, (n,), or None where the summary is not their mean.

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
    from scipy.special import stdtr

    differences = pair.differences()
    if differences is None or np.ptp(differences) <= TIED * np.abs(differences).max():
        return math.nan
    n = len(differences)
    error = differences.std(ddof=1) / math.sqrt(n)
    return float(2 * stdtr(n - 1, -abs(differences.mean() / error)))


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
    from scipy.special import ndtr

    # Each rank is in the sum or not, so the variance of the doubled sum is that of its terms.
    deviation = math.sqrt(float((doubled.astype(np.float64) ** 2).sum()) / 4)
    return float(2 * ndtr((smaller - total / 2) / deviation))


def _doubled_ranks(
    differences: FloatArray, tolerance: float
) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], np.ndarray[tuple[int], np.dtype[np.bool_]]]:
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
    """Return P(sum of the ranks with a plus <= s) for every s, all signs equally likely."""
    probability = np.zeros(sum(doubled) + 1)
    probability[0] = 1.0
    for rank in doubled:
        probability[rank:] += probability[:-rank].copy()
        probability /= 2
    return np.asarray(np.cumsum(probability))


def sign(pair: Pair) -> float:
    """Test with signs alone: as many queries on which the run is higher as on which it is lower.

    Edge cases: queries without a difference are left out. It does not test the mean: many small
                gains win over few large losses.
    Source:     J. Arbuthnot, 1710
    """
    from scipy.special import bdtr

    higher, lower = pair.outcomes()
    if not higher + lower:
        return 1.0
    return min(1.0, float(2 * bdtr(min(higher, lower), higher + lower, 0.5)))
