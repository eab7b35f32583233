"""People on some queries and a model on all: against ppi-python, by hand, and by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm, t

from ragkpi.statistics.prediction_powered import prediction_powered


def mean(means):
    return float(means[0])


def ratio(means):
    return float(means[0] / means[1])


def made(random, judged, rest, correlation=0.8):
    """Values of queries under people and under a model that is biased upwards."""
    human = random.normal(0.5, 0.2, size=judged + rest)
    noise = random.normal(0.5, 0.2, size=judged + rest)
    other = 0.1 + correlation * human + math.sqrt(1 - correlation**2) * noise
    return human[:judged, None], other[:judged, None], other[judged:, None]


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.95, -0.6])
def test_estimate_tuning_and_interval_as_ppi_python_has_them(correlation):
    ppi = pytest.importorskip("ppi_py", reason="ppi-python is not installed")
    random = np.random.default_rng(11)
    for judged, rest in ((12, 40), (50, 50), (200, 30)):
        human, other, unjudged = made(random, judged, rest, correlation)
        found = prediction_powered(human, other, unjudged, mean, 0.9)
        estimate = ppi.ppi_mean_pointestimate(human[:, 0], other[:, 0], unjudged[:, 0])
        assert_allclose(found.estimate, np.ravel(estimate)[0], rtol=1e-7)
        ((low,), (high,)) = ppi.ppi_mean_ci(human[:, 0], other[:, 0], unjudged[:, 0], alpha=0.1)
        # Theirs divides by n where ours divides by the degrees of freedom, and is normal.
        lam = found.tuning
        theirs = math.hypot(
            lam * unjudged.std() / math.sqrt(rest), (human - lam * other).std() / math.sqrt(judged)
        )
        assert_allclose((high - low) / 2, norm.ppf(0.95) * theirs, rtol=1e-7)
        ours = math.hypot(
            lam * unjudged.std(ddof=1) / math.sqrt(rest),
            (human - lam * other).std(ddof=2) / math.sqrt(judged),
        )
        half = (found.interval.high - found.interval.low) / 2
        assert_allclose(half, t.ppf(0.95, judged - 2) * ours, rtol=1e-7)


def test_by_hand():
    # cov = 2/3 over n = 3; var of (1, 2, 3, 2, 4) = 1.3; (1 + 3/2) * 1.3 = 3.25.
    human = np.array([[1.0], [3.0], [3.0]])
    other = np.array([[1.0], [2.0], [3.0]])
    rest = np.array([[2.0], [4.0]])
    found = prediction_powered(human, other, rest, mean)
    assert found.tuning == pytest.approx((2 / 3) / 3.25)
    assert found.estimate == pytest.approx(7 / 3 + found.tuning * (3 - 2))
    assert found.other == pytest.approx(12 / 5)


def test_without_help_the_interval_is_students():
    random = np.random.default_rng(2)
    human, other, rest = made(random, 20, 80, correlation=-0.9)
    found = prediction_powered(human, other, rest, mean)
    assert found.tuning == 0
    assert found.estimate == pytest.approx(human.mean())
    low, high = t.interval(0.95, 19, human.mean(), human.std(ddof=1) / math.sqrt(20))
    assert found.human_interval == pytest.approx((low, high))


@pytest.mark.parametrize("value", [mean, ratio])
def test_intervals_cover_and_are_narrower(value):
    """95% intervals cover the value of a million queries in 93 to 97 of 100 samples."""
    random = np.random.default_rng(8)

    def draw(size):
        strength = random.beta(1.5, 2.5, size=size)
        judged = np.clip(strength + random.normal(0, 0.1, size), 0, 1)
        model = np.clip(0.15 + 0.9 * strength + random.normal(0, 0.1, size), 0, 1)
        chance = random.uniform(0.1, 0.2, size)
        return np.stack([judged, chance], axis=1), np.stack([model, chance], axis=1)

    everybody = draw(1_000_000)
    truth = value(everybody[0].mean(axis=0))
    trials, covered, widths = 1500, 0, []
    for _ in range(trials):
        people, model = draw(120)
        found = prediction_powered(people[:40], model[:40], model[40:], value)
        low, high = found.interval
        covered += low <= truth <= high
        widths.append((high - low) / (found.human_interval.high - found.human_interval.low))
    assert 0.93 <= covered / trials <= 0.97
    if value is mean:  # at best the variance falls by the squared correlation's share m / (n + m)
        correlation = np.corrcoef(everybody[0][:, 0], everybody[1][:, 0])[0, 1]
        best = math.sqrt(1 - correlation**2 * 80 / 120)
        assert np.mean(widths) == pytest.approx(best, rel=0.03)


def test_a_model_that_says_nothing_is_worth_nothing():
    random = np.random.default_rng(4)
    worth = []
    for _ in range(200):
        human, _, _ = made(random, 40, 1)
        model = random.normal(size=(200, 1))
        worth.append(prediction_powered(human, model[:40], model[40:], mean).worth)
    assert np.median(worth) == pytest.approx(40, rel=0.05)


def test_what_does_not_vary_or_exist_has_no_interval():
    ones = np.ones((20, 1))
    found = prediction_powered(ones, ones, ones, mean)
    assert found.estimate == 1
    assert math.isnan(found.interval.low)
    assert math.isnan(found.worth)
    nothing = np.stack([np.ones(20), np.zeros(20)], axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = prediction_powered(nothing, nothing, nothing, ratio)
    assert math.isnan(found.interval.high)
