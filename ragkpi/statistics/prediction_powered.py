"""Estimates of human values over all queries: people judged some queries, a model all of them.

Source: A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan and T. Zrnic, Prediction-powered
        inference, Science 382, 2023; A. N. Angelopoulos, J. C. Duchi and T. Zrnic, PPI++:
        Efficient prediction-powered inference, 2023.

The estimate shifts the human mean by the difference that the model sees between all queries and
those that people judged, weighted by how far the model can be trusted. A query with the value NA
adds nothing to sums or to their count, so every summary is a function of means.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ragkpi.arrays import ROUNDING, FloatArray
from ragkpi.statistics.bootstrap import UNKNOWN, Interval, special, student_quantile

Value = Callable[[FloatArray], float]
"""A function from the means of T statistics over queries, (T,), to the estimated value."""


@dataclass(frozen=True)
class Corrected:
    """A value over all queries, under the other judgement, people's, and as estimated.

    Attributes
    ----------
    other, human, estimate
        The value under the other judgement over all queries; the human value over the queries
        that people judged; and the estimated human value over all queries.
    tuning
        The weight of the other judgement: 0 for none, 1 as in untuned inference.
    worth
        The number of queries that people alone would have to judge for an equally wide interval.
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
    human: FloatArray, other: FloatArray, rest: FloatArray, value: Value, level: float = 0.95
) -> Corrected:
    """Estimate a value under human judgement from n queries of people and n + m of a model.

    `human` and `other`, (n, T), are statistics of the queries that people judged, under both
    judgements, n from 3; `rest`, (m, T), are those of the other queries under the other one.

    The human mean is shifted by the difference that the other judgement sees between the other
    queries and these. The share of the shift (`tuning`) minimises the variance. A value that is
    not a mean is a function of means: its variance is that of its linear part at the estimate.

    Formula:    lambda * mean(rest) + mean(human - lambda * other), with
                lambda = cov(human, other) / ((1 + n/m) * var(other and rest)), between 0 and 1;
                variance: lambda^2 * var(rest) / m + var(human - lambda * other) / n
    Interval:   Student's t with n - 2 degrees of freedom, as both a mean and lambda are estimated,
                where the paper has the normal distribution, too narrow for few queries; NaN where
                the value is infinite or undefined, or does not vary among the queries
    """
    n, m = len(human), len(rest)
    at_people, everywhere = human.mean(axis=0), np.concatenate([other, rest]).mean(axis=0)
    slope = _gradient(value, at_people)
    alone = _t_interval(value(at_people), _error(human @ slope, 1), n - 1, level)
    tuning = _tuning(human @ slope, other @ slope, rest @ slope)
    means = at_people + tuning * (rest.mean(axis=0) - other.mean(axis=0))
    slope = _gradient(value, means)
    error = math.hypot(
        tuning * _error(rest @ slope, 1) if m > 1 else 0.0,
        _error((human - tuning * other) @ slope, 2),
    )
    estimate = value(means)
    interval = _t_interval(estimate, error, n - 2, level)
    defined = not math.isnan(interval.low)
    return Corrected(
        other=value(everywhere),
        human=value(at_people),
        human_interval=alone,
        estimate=estimate,
        interval=interval,
        tuning=tuning,
        worth=float((human @ slope).var(ddof=1) / error**2) if defined else math.nan,
        p=float(2 * special().stdtr(n - 2, -abs(estimate) / error)) if defined else math.nan,
    )


def _tuning(human: FloatArray, other: FloatArray, rest: FloatArray) -> float:
    """Return the lambda of least variance, (n,), (n,) and (m,) to a number from 0 to 1."""
    covariance = ((human - human.mean()) * (other - other.mean())).mean()
    variance = (1 + len(other) / len(rest)) * np.concatenate([other, rest]).var(ddof=1)
    if not (np.isfinite(covariance) and variance > 0):
        return 0.0
    return float(np.clip(covariance / variance, 0.0, 1.0))


def _error(values: FloatArray, parameters: int) -> float:
    """Return the standard error of a mean, given the number of estimated parameters."""
    spread = ((values - values.mean()) ** 2).sum() / (len(values) - parameters)
    return math.sqrt(spread / len(values))


def _gradient(value: Value, means: FloatArray) -> FloatArray:
    """Return the partial derivatives of a value by the means, (T,)."""
    slope = np.empty(len(means))
    for column, mean in enumerate(means):
        step = np.zeros(len(means))
        step[column] = 1e-6 * abs(mean) or 1e-9
        low = means - step if mean else means  # 0 may be the least possible mean
        high = means + step
        slope[column] = (value(high) - value(low)) / (high[column] - low[column])
    return slope


def _t_interval(centre: float, error: float, freedom: int, level: float) -> Interval:
    if not (math.isfinite(centre) and math.isfinite(error) and error > ROUNDING * abs(centre)):
        return UNKNOWN
    half = student_quantile(freedom, level) * error
    return Interval(centre - half, centre + half)
