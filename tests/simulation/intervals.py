"""How often does an interval contain the mean? Six shapes of values, few queries."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import stats

from ragkpi.statistics.bootstrap import Bootstrap, intervals
from tests.simulation.rates import Outcome, Rates, Study, Trial
from tests.simulation.values import Matrix, scores_of

Shape = Callable[[np.random.Generator, int], Matrix]


def _zero_inflated(rng: np.random.Generator, n: int) -> Matrix:
    return np.where(rng.random(n) < 0.6, 0.0, rng.beta(2, 2, n))


def _reciprocal_ranks(rng: np.random.Generator, n: int) -> Matrix:
    return 1 / np.minimum(rng.geometric(0.5, n), 10)


SHAPES: dict[str, tuple[Shape, float]] = {
    "uniform": (lambda rng, n: rng.random(n), 0.5),
    "low and skewed: beta(0.5, 4)": (lambda rng, n: rng.beta(0.5, 4, n), 1 / 9),
    "saturated: beta(4, 0.5)": (lambda rng, n: rng.beta(4, 0.5, n), 8 / 9),
    "at both ends: beta(0.3, 0.3)": (lambda rng, n: rng.beta(0.3, 0.3, n), 0.5),
    "six of ten 0, the others beta(2, 2)": (_zero_inflated, 0.2),
    "reciprocal ranks, halves": (
        _reciprocal_ranks,
        sum(0.5**rank / rank for rank in range(1, 10)) + 0.5**9 / 10,
    ),
}
RATES: dict[str, tuple[Shape, float]] = {
    f"rate {rate:g}": (lambda rng, n, rate=rate: (rng.random(n) < rate) * 1.0, rate)
    for rate in (0.5, 0.8, 0.95, 0.99)
}


def covered(shape: Shape, mean: float, n: int) -> Trial:
    """Whether the interval of the mean of n values contains the mean of the population."""

    def trial(rng: np.random.Generator) -> Outcome:
        values = shape(rng, n)
        return {
            "default": _contains(values, mean),
            "percentile": _contains(values, mean, method="percentile"),
            "Student's": _student(values, mean),
            "Wilson's": _wilson(values, mean),
        }

    return trial


def _contains(values: Matrix, mean: float, **choices: object) -> bool:
    (run,) = scores_of(values[:, np.newaxis])
    (found,) = intervals(run, Bootstrap(**{"resamples": 500, **choices})).values()
    return found.low <= mean <= found.high


def _student(values: Matrix, mean: float) -> bool:
    error = values.std(ddof=1) / np.sqrt(len(values))
    reach = stats.t.ppf(0.975, len(values) - 1) * error
    return bool(abs(values.mean() - mean) <= reach)


def _wilson(values: Matrix, mean: float) -> bool:
    test = stats.binomtest(round(values.sum()), len(values))
    found = test.proportion_ci(method="wilson")
    return bool(found.low <= mean <= found.high)


RULE = """\
The interval of a mean of values between 0 and 1 is a score interval: the variance that the mean
allows, times the dispersion of the values. Rates have the mid-p interval of the binomial
distribution (`--ci-method` chooses another). The tables count how often it contains the population
mean, next to intervals of 500 bootstrap samples, Student's and Wilson's."""

STUDY = Study(
    "eval --ci: does the interval contain the mean?",
    RULE,
    [
        Rates(
            "95% intervals of a mean",
            {
                f"{name}, {n} queries": covered(*shape, n)
                for name, shape in SHAPES.items()
                for n in (12, 30, 50)
            },
            ["default", "percentile", "Student's"],
            {"default": 0.97},
            {"default": 0.92},
        ),
        Rates(
            "95% intervals of a rate",
            {
                f"{name}, {n} queries": covered(*shape, n)
                for name, shape in RATES.items()
                for n in (12, 30, 50)
            },
            ["default", "Student's", "Wilson's"],
            least={"default": 0.92},
        ),
    ],
)
