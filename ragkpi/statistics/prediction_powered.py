"""Estimates of human-judged values over all queries: assessors judged some, an LLM all of them.

Source: A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan and T. Zrnic, Prediction-powered
        inference, Science 382, 2023; A. N. Angelopoulos, J. C. Duchi and T. Zrnic, PPI++:
        Efficient prediction-powered inference, 2023.

The estimate shifts the human mean by the model's difference between all queries and the
human-judged ones, weighted by how well the model predicts human values. A query with the value NA
adds nothing to sums or to their count, so every summary is a function of means.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ragkpi.arrays import ROUNDING, FloatArray
from ragkpi.statistics.bootstrap import UNKNOWN, Interval, mid_p, special, student_quantile

Value = Callable[[FloatArray], float]
"""A function from the means of T statistics over queries, (T,), to the estimated value."""
About = Literal["these queries", "queries like these"]
"""Whether a value is for the n + m queries themselves, or for the population they come from."""
Shape = Literal["rate", "student"]
"""The interval: mid-p of a rate, else Student's."""


@dataclass(frozen=True)
class Corrected:
    """A value over all queries: by the other judge, by human assessors, and the estimate.

    Attributes
    ----------
    other, human, estimate
        The value by the other judge over all queries; the human value over the human-judged
        queries; and the estimated human value over all queries.
    tuning
        The weight of the other judge: 0 for none, 1 as in untuned inference.
    worth
        The number of human-judged queries that alone would give an equally wide interval.
    p
        The two-sided p-value for a value of 0, meant for differences.
    """

    other: float
    human: float
    human_interval: Interval
    estimate: float
    interval: Interval
    tuning: float
    worth: float
    p: float


def prediction_powered(
    human: FloatArray,
    other: FloatArray,
    rest: FloatArray,
    value: Value,
    level: float = 0.95,
    about: About = "queries like these",
    shape: Shape = "student",
) -> Corrected:
    """Estimate a human-judged value from n human-judged and n + m model-judged queries.

    `human` and `other`, (n, T), are statistics of the human-judged queries by both judges, n from
    3; `rest`, (m, T), are those of the other queries by the other judge.

    The human mean is shifted by the other judge's difference between the other queries and these.
    The share of the shift (`tuning`) minimises the variance. The variance of a function of means is
    that of its linear part at the estimate.

    Formula:    lambda * mean(rest) + mean(human - lambda * other), with
                lambda = cov(human, other) / ((1 + n/m) * var(other and rest)), between 0 and 1;
                variance: lambda^2 * var(rest) / m + var(human - lambda * other) / n; for these
                queries, whose mean is known for the other judge, that of a regression in a finite
                population, (1 - n/(n + m)) var(human - b * other) / n, b = lambda (1 + n/m)
    Interval:   Student's t with n - 2 degrees of freedom, as both a mean and lambda are estimated,
                where the paper has the normal distribution, too narrow for few queries; NaN if the
                value is infinite or undefined, or does not vary among the queries. For a rate r,
                `mid_p` of the trials with this variance, r (1 - r) / variance; half a disagreement
                is added, as one in 50 can be absent from these.
    Source:     W. G. Cochran, Sampling Techniques, 1977, sections 2.6 and 7.3 (finite population)
    """
    n, m = len(human), len(rest)
    at_people, everywhere = human.mean(axis=0), np.concatenate([other, rest]).mean(axis=0)
    unseen = m / (n + m) if about == "these queries" else 1.0
    estimated, half = (0, 0.5) if shape == "rate" else (1, 0.0)
    slope = _gradient(value, at_people)
    of_people = value(at_people), math.sqrt(unseen) * _error(human @ slope, estimated)
    spread = n * _error(human @ slope, estimated, half) ** 2
    tuning = _tuning(human @ slope, other @ slope, rest @ slope)
    means = at_people + tuning * (rest.mean(axis=0) - other.mean(axis=0))
    slope = _gradient(value, means)
    residuals = (human - tuning / unseen * other) @ slope
    error = math.sqrt(unseen) * _error(residuals, 2 * estimated, half)
    if about == "queries like these" and m > 1:
        error = math.hypot(tuning * _error(rest @ slope, 1), error)
    estimate = value(means)
    if shape == "rate":  # a shift can exceed 1
        estimate = min(max(estimate, 0.0), 1.0)
        alone, interval = (
            _of_rate(*of, n / unseen, level) for of in (of_people, (estimate, error))
        )
    else:
        alone = _t_interval(*of_people, n - 1, level)
        interval = _t_interval(estimate, error, n - 2, level)
    defined = not math.isnan(interval.low)
    return Corrected(
        other=value(everywhere),
        human=value(at_people),
        human_interval=alone,
        estimate=estimate,
        interval=interval,
        tuning=tuning,
        worth=spread / (error**2 + spread * (1 - unseen) / n) if defined else math.nan,
        p=float(2 * special().stdtr(n - 2, -abs(estimate) / error)) if defined else math.nan,
    )


def _tuning(human: FloatArray, other: FloatArray, rest: FloatArray) -> float:
    """Return the lambda of minimum variance, (n,), (n,) and (m,) to a number from 0 to 1."""
    covariance = ((human - human.mean()) * (other - other.mean())).mean()
    variance = (1 + len(other) / len(rest)) * np.concatenate([other, rest]).var(ddof=1)
    if not (np.isfinite(covariance) and variance > 0):
        return 0.0
    return float(np.clip(covariance / variance, 0.0, 1.0))


def _error(values: FloatArray, parameters: int, more: float = 0.0) -> float:
    """Return the standard error of a mean, given the number of estimated parameters."""
    spread = (((values - values.mean()) ** 2).sum() + more) / (len(values) - parameters)
    return math.sqrt(spread / len(values))


def _gradient(value: Value, means: FloatArray) -> FloatArray:
    """Return the partial derivatives of a value by the means, (T,)."""
    slope = np.empty(len(means))
    for column, mean in enumerate(means):
        step = np.zeros(len(means))
        step[column] = 1e-6 * abs(mean) or 1e-9
        low = means - step if mean else means  # 0 can be the minimum mean
        high = means + step
        slope[column] = (value(high) - value(low)) / (high[column] - low[column])
    return slope


def _t_interval(centre: float, error: float, freedom: int, level: float) -> Interval:
    if not (math.isfinite(centre) and math.isfinite(error) and error > ROUNDING * abs(centre)):
        return UNKNOWN
    half = student_quantile(freedom, level) * error
    return Interval(centre - half, centre + half)


def _of_rate(rate: float, error: float, trials: float, level: float) -> Interval:
    """Return the interval of a rate; `trials` is used if all outcomes are equal."""
    if not math.isfinite(rate + error):
        return UNKNOWN
    if 0 < rate < 1:
        trials = rate * (1 - rate) / error**2
    return mid_p(rate * trials, trials, level)
