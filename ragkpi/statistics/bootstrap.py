"""Confidence intervals: by resampling queries, and Wilson's for rates.

Source: B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapters 13 and 14;
E. B. Wilson, Probable inference, the law of succession, and statistical inference, 1927.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from typing import Literal

import numpy as np

from ragkpi.errors import RagkpiWarning
from ragkpi.measures.aggregates import Aggregate, FloatArray
from ragkpi.measures.measure import Metric
from ragkpi.measures.scores import Scores
from ragkpi.records import NamedTuple, dataclass
from ragkpi.statistics.query_samples import QuerySample, query_samples
from ragkpi.statistics.resampling import drawn, totals

Method = Literal["percentile", "bca"]
Tails = tuple[float, float]


class Interval(NamedTuple):
    """Bounds that cover the value with a chosen probability; NaN for NA."""

    low: float
    high: float


# With fewer queries, resampled intervals cover noticeably less than their level: queries for means,
# for geometric means and ratios, and queries that differ from the commonest value.
FEW, FEW_OTHERWISE, FEW_DIFFERING = 50, 200, 20
UNKNOWN = Interval(math.nan, math.nan)


@dataclass(frozen=True)
class Bootstrap:
    """The choices of intervals.

    Attributes
    ----------
    resamples
        The number of resamples.
    seed
        The seed of numpy's `default_rng`; the same seed gives the same digits.
    level
        The probability that an interval covers the value.
    method
        ``"percentile"`` takes the bounds from the resamples; ``"bca"`` corrects them for bias and
        skewness.
    rates
        Whether rates, and values computed from rates, have Wilson's interval or a resampled one.
    """

    resamples: int = 5000
    seed: int = 7
    level: float = 0.95
    method: Method = "percentile"
    rates: Literal["wilson", "resampled"] = "wilson"

    @property
    def tails(self) -> Tails:
        """The probabilities at which a percentile interval ends."""
        tail = round((1 - self.level) / 2, 12)  # 0.025, where the quotient is 0.025000000000000022
        return tail, 1 - tail


def intervals(scores: Scores, bootstrap: Bootstrap) -> dict[str, Interval]:
    """Compute the interval of every metric's summary.

    Sufficient statistics are resampled jointly, so that the interval of a ratio of means is that
    of the ratio. Queries whose value is NA are not part of the sample. Where every query succeeds
    or fails (a statistic of 1 or 0), the rate has Wilson's interval, and a value computed from the
    rate, such as bor, the interval that follows. Resamples of twelve successes are all successes,
    as if the rate were certain.

    Returns
    -------
    dict
        Intervals by the printed names of metrics, in their order. Texts and numbers of queries
        have none. `UNKNOWN` where fewer than two queries are known. Bounds may be infinite.
    """
    bounds = {column.name: UNKNOWN for column in scores.estimates()}
    for sample in query_samples([scores], lambda metric: metric.is_estimate):
        if sample.queries < 2:
            continue
        weights = drawn(sample.queries, bootstrap.resamples, bootstrap.seed)
        replicates = [summary[:, 0] for summary in sample.summaries(sample.resampled(weights))]
        tails = [bootstrap.tails] * len(sample.metrics)
        if bootstrap.method == "bca":
            tails = _bca_tails(sample, replicates, bootstrap.tails)
        for metric, replicate, ends in zip(sample.metrics, replicates, tails, strict=True):
            bounds[metric.name] = order_statistics(replicate, ends)
        if bootstrap.rates == "wilson":
            bounds.update(_intervals_of_rates(sample, bootstrap.level))
    return bounds


def wilson(successes: float, n: int, level: float) -> Interval:
    """Return the interval of a rate from its successes in n trials.

    >>> wilson(12, 12, 0.95)
    Interval(low=0.7575059933447587, high=1.0)
    """
    z = quantile(level)
    rate = successes / n
    middle = rate + z * z / (2 * n)
    reach = z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    low, high = ((middle + side * reach) / (1 + z * z / n) for side in (-1, 1))
    return Interval(0.0 if successes == 0 else low, 1.0 if successes == n else high)


def quantile(level: float) -> float:
    """Return the distance from the mean, in standard deviations, that covers a normal level."""
    from statistics import NormalDist  # slow to import

    return NormalDist().inv_cdf(1 - (1 - level) / 2)


def _intervals_of_rates(sample: QuerySample, level: float) -> dict[str, Interval]:
    """Return the interval of every metric of 0s and 1s, by Wilson's interval of the rate."""
    bounds = {}
    for metric, columns in zip(sample.metrics, sample.columns, strict=True):
        statistics = sample.statistics[:, 0, columns]
        aggregate = metric.measure.aggregate
        if _is_rate(metric, statistics):
            with np.errstate(divide="ignore", invalid="ignore"):
                bounds[metric.name] = _interval_from_rate(statistics, aggregate, level)
    return bounds


def _interval_from_rate(statistics: FloatArray, aggregate: Aggregate, level: float) -> Interval:
    """Turn Wilson's bounds of the first statistic, (n, S), into bounds of the summary.

    The other statistics (the chance of success) vary from query to query too. The square of their
    standard error, by jackknife, is added to the square of the distance of each bound.

    Source: G. Y. Zou and A. Donner, Construction of confidence limits about effect measures, 2008
    (MOVER).
    """
    n, rest = len(statistics), totals(statistics[:, 1:])
    successes = float(statistics[:, 0].sum())
    rates = wilson(successes, n, level)

    def at(rate: float, others: FloatArray) -> FloatArray:
        shape = (*others.shape[:-1], 1)
        return aggregate.summary(np.concatenate([np.full(shape, rate * n), others], axis=-1), n)

    without = (rest - statistics[:, 1:]) * (n / (n - 1))
    jackknife = at(successes / n or rates.high, without)
    error = math.sqrt((n - 1) / n * float(((jackknife - jackknife.mean()) ** 2).sum()))
    reach = quantile(level) * error
    value = float(at(successes / n, rest))
    low, high = (float(at(rate, rest)) for rate in rates)
    if not math.isfinite(value):  # no success, whose logarithm is -inf
        return Interval(low, high + reach)
    return Interval(value - math.hypot(value - low, reach), value + math.hypot(high - value, reach))


Resampled = Iterable[tuple[Metric, FloatArray]]
"""Metrics with the statistics, (n, S), that their intervals are resampled from."""


def resampled(runs: Iterable[Scores], bootstrap: Bootstrap) -> Resampled:
    """Yield the metrics of runs that have resampled intervals, with their statistics."""
    for run in runs:
        for column in run.estimates():
            statistics = column.statistics[column.known]
            if bootstrap.rates == "resampled" or not _is_rate(column.metric, statistics):
                yield column.metric, statistics


def few_queries_note(samples: Resampled, bootstrap: Bootstrap) -> str:
    """Return a note that resampled intervals of few queries are too narrow, or an empty text.

    The coverage of 95 % percentile intervals of means was simulated for each n from 3 to 49 (3,000
    samples, 1,000 resamples) with four kinds of values: uniform, beta(2, 3), P_10 of beta-binomial
    queries, and the difference of two runs. They agree within two points, and their mean within
    one with 95 - 40/n - 65/n^2: 74 % at 3, 91 % at 12, 94 % at 49. Skewed values are covered less:
    87 % at 12 for beta(0.5, 4).

    The note has no figure for other summaries, as none holds for all of a kind. At n = 12
    geometric means were covered in 78 to 91 % (0 to 20 % zeros), at 100 in 92 to 95 %. Where most
    queries share a value, the number of the others counts: coverage of 12 queries is 66 % if nine
    of ten share it and 88 % if seven of ten do; of 400 queries 93 % if all but 12 do.
    """
    known = list(samples)
    few = [
        (metric, values)
        for metric, values in known
        if 2 <= len(values) < (FEW if metric.measure.is_mean else FEW_OTHERWISE)
    ]
    if not few:
        return _alike_note(known)
    sizes = [len(values) for _, values in few]
    fewest, most = min(sizes), max(sizes)
    n = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    which = "resampled" if len(few) == len(known) else "some resampled"
    note = f"with so few queries (n = {n}) {which} intervals are too narrow"
    simulated = bootstrap.level == 0.95 and bootstrap.method == "percentile"
    spread = all(m.measure.is_mean and _differing(values) * 2 >= most for m, values in few)
    if simulated and spread and 3 <= fewest == most:
        covered = 95 - 40 / most - 65 / most**2
        note += (
            f": a 95 % interval of a mean really covered about {covered:.0f} % in simulation, and "
            "less where values are skewed"
        )
    return note


def _alike_note(samples: Resampled) -> str:
    """Return the note for many queries nearly all of which have the same value."""
    alike = [(_differing(values), len(values)) for _, values in samples]
    differing, n = min((pair for pair in alike if 0 < pair[0] < FEW_DIFFERING), default=(0, 0))
    if not n:
        return ""
    return f"all but {differing} of {n:,} queries are alike: their resampled interval is too narrow"


def _differing(values: FloatArray) -> int:
    """Count the queries whose first statistic, of (n, S), is not the commonest."""
    return len(values) - int(np.unique(values[:, 0], return_counts=True)[1].max(initial=0))


def _is_rate(metric: Metric, statistics: FloatArray) -> bool:
    """Return whether every query succeeds or fails, and the summary rises with the rate."""
    rises = metric.measure.aggregate.rises_with_first
    return rises and bool(np.isin(statistics[:, 0], (0.0, 1.0)).all())


def order_statistics(replicates: FloatArray, tails: Tails) -> Interval:
    """Take an interval from replicates, (B,), without interpolation: a replicate may be -inf.

    An undefined replicate (0/0) could be anything, so it counts as -inf for the lower and as inf
    for the upper bound.
    """
    last = len(replicates) - 1
    low, high = (min(last, int(tail * len(replicates))) for tail in tails)
    undefined = np.isnan(replicates)
    return Interval(
        float(np.sort(np.where(undefined, -np.inf, replicates))[low]),
        float(np.sort(np.where(undefined, np.inf, replicates))[high]),
    )


def _bca_tails(sample: QuerySample, replicates: list[FloatArray], tails: Tails) -> list[Tails]:
    """Shift the tails of every metric for bias and skewness."""
    shifted = []
    for metric, replicate, estimate, jackknife in zip(
        sample.metrics, replicates, sample.observed(), sample.leave_one_out(), strict=True
    ):
        ends = bca_tails(replicate, estimate[0], jackknife[:, 0], tails)
        if ends is None:
            warnings.warn(
                f"{metric.name}: its interval is a percentile interval; BCa needs a value that "
                "varies, and that stays finite whichever query is left out",
                RagkpiWarning,
                stacklevel=3,
            )
        shifted.append(ends or tails)
    return shifted


def bca_tails(
    replicates: FloatArray, estimate: float, left_out: FloatArray, tails: Tails
) -> Tails | None:
    """Shift the tails of an interval for the bias and the skewness of its replicates.

    Parameters
    ----------
    replicates, estimate, left_out
        The values of the resamples, (B,), the value of all n queries, and the values without each
        query, (n,).
    tails
        The tail probabilities without bias and skewness.

    Returns
    -------
    The shifted tails; None where a value is infinite or undefined, or where no replicate, or every
    replicate, is smaller than the estimate.
    """
    from statistics import NormalDist  # slow to import

    # Half of the ties count, or a value with few distinct values would look biased.
    below = ((replicates < estimate).mean() + (replicates <= estimate).mean()) / 2
    if not (np.isfinite(estimate) and np.isfinite(left_out).all() and 0 < below < 1):
        return None
    normal = NormalDist()
    bias = normal.inv_cdf(below)
    influence = left_out.mean() - left_out
    spread = (influence**2).sum() ** 1.5
    acceleration = (influence**3).sum() / (6 * spread) if spread else 0.0
    # A tail of 0 or 1 has no finite quantile.
    low, high = (bias + normal.inv_cdf(min(max(tail, 2**-53), 1 - 2**-53)) for tail in tails)
    return (
        normal.cdf(bias + low / (1 - acceleration * low)),
        normal.cdf(bias + high / (1 - acceleration * high)),
    )
