"""Confidence intervals by resampling queries.

Source: B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapters 13 and 14.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from ragkpi.errors import RagkpiWarning
from ragkpi.measures.aggregates import FloatArray
from ragkpi.measures.scores import Scores
from ragkpi.statistics.query_samples import QuerySample, query_samples
from ragkpi.statistics.resampling import drawn

Method = Literal["percentile", "bca"]
Tails = tuple[float, float]


class Interval(NamedTuple):
    """Bounds that cover the value with the probability that was asked for; NaN for NA."""

    low: float
    high: float


UNKNOWN = Interval(math.nan, math.nan)


@dataclass(frozen=True)
class Bootstrap:
    """How intervals are computed.

    Attributes
    ----------
    resamples
        How often the queries are drawn again.
    seed
        Of numpy's `default_rng`; the same seed gives the same digits.
    level
        The probability that an interval covers the value.
    method
        ``"percentile"`` reads the bounds off the resamples; ``"bca"`` corrects them for bias and
        skewness.
    """

    resamples: int = 5000
    seed: int = 7
    level: float = 0.95
    method: Method = "percentile"

    @property
    def tails(self) -> Tails:
        """The probabilities at which a percentile interval ends."""
        tail = round((1 - self.level) / 2, 12)  # 0.025, where the quotient is 0.025000000000000022
        return tail, 1 - tail


def intervals(scores: Scores, bootstrap: Bootstrap) -> dict[str, Interval]:
    """Compute the interval of every metric's summary.

    Sufficient statistics are resampled jointly, so that the interval of a ratio of means is that
    of the ratio. Queries whose value is NA are not part of the sample.

    Returns
    -------
    dict
        Intervals by the printed names of metrics, in their order. What is not estimated from
        queries, texts and their number, has none. `UNKNOWN` where fewer than two queries are
        known. Bounds may be infinite.
    """
    found = {column.name: UNKNOWN for column in scores.estimates()}
    for sample in query_samples([scores], lambda metric: metric.is_estimate):
        if sample.queries < 2:
            continue
        weights = drawn(sample.queries, bootstrap.resamples, bootstrap.seed)
        replicates = [summary[:, 0] for summary in sample.summaries(sample.resampled(weights))]
        tails = [bootstrap.tails] * len(sample.metrics)
        if bootstrap.method == "bca":
            tails = _bca_tails(sample, replicates, bootstrap.tails)
        for metric, replicate, ends in zip(sample.metrics, replicates, tails, strict=True):
            found[metric.name] = order_statistics(replicate, ends)
    return found


def order_statistics(replicates: FloatArray, tails: Tails) -> Interval:
    """Read an interval off replicates, (B,), without interpolating: a replicate may be -inf.

    A replicate that is undefined (0/0) could be anything, so it counts as -inf for the lower and
    as inf for the upper bound.
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
    return [
        bca_tails(replicate, estimate[0], jackknife[:, 0], tails)
        or _not_corrected(metric.name, tails)
        for metric, replicate, estimate, jackknife in zip(
            sample.metrics, replicates, sample.observed(), sample.leave_one_out(), strict=True
        )
    ]


def bca_tails(
    replicates: FloatArray, estimate: float, left_out: FloatArray, tails: Tails
) -> Tails | None:
    """Shift the tails of an interval for the bias and the skewness of its replicates.

    Parameters
    ----------
    replicates, estimate, left_out
        The value of every resample, (B,), of all n queries, and without each of them, (n,).
    tails
        The probabilities at which the interval would end without bias and skewness.

    Returns
    -------
    None where a value is infinite or undefined, or where no replicate, or every one, is smaller.
    """
    from statistics import NormalDist  # slow to import

    # Half of the ties, so that a value of few levels is not called biased for being discrete.
    below = ((replicates < estimate).mean() + (replicates <= estimate).mean()) / 2
    if not (np.isfinite(estimate) and np.isfinite(left_out).all() and 0 < below < 1):
        return None
    normal = NormalDist()
    bias = normal.inv_cdf(below)
    influence = left_out.mean() - left_out
    spread = (influence**2).sum() ** 1.5
    acceleration = (influence**3).sum() / (6 * spread) if spread else 0.0
    low, high = (bias + normal.inv_cdf(tail) for tail in tails)
    return (
        normal.cdf(bias + low / (1 - acceleration * low)),
        normal.cdf(bias + high / (1 - acceleration * high)),
    )


def _not_corrected(name: str, tails: Tails) -> Tails:
    warnings.warn(
        f"{name}: its interval is a percentile interval; BCa needs a value that varies, and that "
        "stays finite whichever query is left out",
        RagkpiWarning,
        stacklevel=4,
    )
    return tails
