"""Numbers of queries, against published ones, scipy's noncentral t, and simulated tests."""

import math

import numpy as np
import pytest
from scipy import stats

from ragkpi.errors import UsageError
from ragkpi.statistics.bootstrap import Bootstrap
from ragkpi.statistics.power import (
    SHORT_OF_POWER,
    Noise,
    least_difference,
    noise_of_pilot,
    power_of,
    queries_needed,
    short_of_power,
)
from ragkpi.statistics.replicates import Part


def power_by_scipy(difference, error, freedom, alpha=0.05):
    limit = stats.t.isf(alpha / 2, freedom)
    shifted = stats.nct(freedom, difference / error)
    return shifted.sf(limit) + shifted.cdf(-limit)


@pytest.mark.parametrize(("size", "queries"), [(0.2, 199), (0.3, 90), (0.5, 34), (0.8, 15)])
def test_published_numbers(size, queries):
    """Of pairs for a power of 80% at 5%, two-sided (J. Cohen, 1988; G*Power prints the same)."""
    assert queries_needed(size, Noise(1.0)) == queries
    assert queries_needed(-size * 0.26, Noise(0.26)) == queries


@pytest.mark.parametrize("alpha", [0.05, 0.01])
@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("size", [0.05, 0.37, 2.0])
def test_the_fewest_queries_by_scipy(size, power, alpha):
    n = queries_needed(size, Noise(1.0), power, alpha)
    assert power_by_scipy(size, 1 / math.sqrt(n), n - 1, alpha) >= power
    if n > 2:
        assert power_by_scipy(size, 1 / math.sqrt(n - 1), n - 2, alpha) < power


@pytest.mark.parametrize("n", [3, 10, 40, 1000])
@pytest.mark.parametrize("size", [0.0, 0.1, 0.6, 1.5])
def test_power_by_scipy(n, size):
    expected = power_by_scipy(size, 1 / math.sqrt(n), n - 1)
    if not math.isnan(expected):  # as scipy's own tails are
        assert power_of(size, n, Noise(1.0)) == pytest.approx(expected, rel=1e-6)


def test_power_by_simulation():
    drawn = np.random.default_rng(1).normal(0.5, 1, size=(20_000, 34))
    share = (stats.ttest_1samp(drawn, 0, axis=1).pvalue < 0.05).mean()
    error = math.sqrt(share * (1 - share) / 20_000)
    assert power_of(0.5, 34, Noise(1.0)) == pytest.approx(share, abs=4 * error)


def test_no_power_is_lost_far_from_the_limit():
    """scipy's tail is NaN there."""
    for n in (5, 90, 10**6):
        for size in (1e2, 1e3, 1e5):
            assert power_of(size, n, Noise(1.0)) == pytest.approx(1, abs=1e-12)
    assert queries_needed(1e6, Noise(1.0)) == 2
    assert queries_needed(1e-3, Noise(1.0)) == pytest.approx((1.959964 + 0.841621) ** 2 * 1e6, 1e-5)


@pytest.mark.parametrize("n", [2, 5, 90, 10_000])
@pytest.mark.parametrize("power", [0.5, 0.8, 0.99])
def test_the_least_difference_is_seen_with_its_power(n, power):
    least = least_difference(n, Noise(0.26), power)
    expected = pytest.approx(power, abs=1e-4)
    seen = power_by_scipy(least, 0.26 / math.sqrt(n), n - 1)
    assert math.isnan(seen) or seen == expected  # as scipy's own tails are
    assert power_of(least, n, Noise(0.26)) == expected


def test_a_design_effect_multiplies_the_number_of_queries():
    for effect in (1.0, 1.6, 5.0):
        unrounded = 33.3671  # of pairs for d = .5, G*Power and statsmodels before they round up
        assert queries_needed(0.5, Noise(1.0, effect)) == math.ceil(effect * unrounded)


def test_clusters_that_go_together_count_as_one_query_each():
    of_clusters = power_of(0.5, 200, Noise(1.0, 10.0))
    assert of_clusters == pytest.approx(power_by_scipy(0.5, 1 / math.sqrt(20), 19), rel=1e-6)


def test_one_cluster_shows_nothing():
    assert queries_needed(1e6, Noise(1.0, 5.0)) == 10
    assert power_of(1e6, 9, Noise(1.0, 5.0)) == pytest.approx(0.05)
    assert least_difference(1, Noise(1.0)) == math.inf


def test_seeds_add_a_variance_that_queries_do_not_take_away():
    seeds = (Part(0.0004, 4), Part(0.0001, 2))
    noise = Noise(0.26, seeds=seeds)
    bounds = [s * f / stats.chi2.ppf(0.2, f) for s, f in seeds]

    def power(n):
        queries = 0.26**2 / n
        squares = queries**2 / (n - 1) + sum(
            b * b / f for b, (_, f) in zip(bounds, seeds, strict=True)
        )
        freedom = (queries + sum(bounds)) ** 2 / squares
        return power_by_scipy(0.1, math.sqrt(queries + 0.0005), freedom)

    for n in (20, 100, 1000):
        assert power_of(0.1, n, noise) == pytest.approx(power(n), rel=1e-6)
    n = queries_needed(0.1, noise)
    assert power(n - 1) < 0.8 <= power(n)
    assert n > 2 * queries_needed(0.1, Noise(0.26))


def test_no_number_of_queries_sees_less_than_what_seeds_hide():
    assert queries_needed(0.02, Noise(0.26, seeds=[Part(0.0004, 4)])) is None


def test_no_number_of_queries_sees_a_difference_of_nothing():
    assert queries_needed(0.0, Noise(0.26)) is None


NORMAL = np.random.default_rng(2).normal(0.1, 0.26, size=40)
SKEWED = np.append(np.full(38, 0.02), [-0.9, -0.8]) + NORMAL / 100


def test_the_bound_of_a_normal_pilot_is_that_of_chi2():
    noise = noise_of_pilot(NORMAL, 40, Bootstrap())
    expected = NORMAL.std(ddof=1) * math.sqrt(39 / stats.chi2.ppf(0.2, 39))
    assert noise == (pytest.approx(expected, rel=1e-9), 1.0, ())


def test_the_bound_of_a_skewed_pilot_is_that_of_resamples():
    rng = np.random.default_rng(3)
    resampled = rng.choice(SKEWED, size=(20_000, 40)).std(axis=1, ddof=1)
    expected = np.quantile(resampled, 0.8)
    assert expected > 1.05 * SKEWED.std(ddof=1) * math.sqrt(39 / stats.chi2.ppf(0.2, 39))
    assert noise_of_pilot(SKEWED, 40, Bootstrap()).deviation == pytest.approx(expected, rel=0.02)


def test_a_pilot_of_clusters_plans_as_many_queries_as_they_have():
    """Forty clusters of three: what counts is their number."""
    alone, threes = (noise_of_pilot(NORMAL, n, Bootstrap()) for n in (40, 120))
    clusters = queries_needed(0.1, alone)
    assert 3 * (clusters - 1) < queries_needed(0.1, threes) <= 3 * clusters


def test_a_pilot_keeps_what_its_seeds_add():
    seeds = [Part(0.0001, 2)]
    assert noise_of_pilot(NORMAL, 40, Bootstrap(), seeds).seeds == seeds


@pytest.mark.parametrize(
    ("differences", "says"),
    [
        (NORMAL[:19], "a pilot of 19 .* give one of 20 queries"),
        (np.full(30, 0.1), "all equal"),
        (np.append(NORMAL, np.nan), "NA"),
    ],
)
def test_a_pilot_that_tells_nothing_is_refused(differences, says):
    with pytest.raises(UsageError, match=says):
        noise_of_pilot(differences, len(differences), Bootstrap())


def test_a_pilot_of_20_is_enough():
    assert noise_of_pilot(NORMAL[:20], 20, Bootstrap()).deviation > NORMAL[:20].std(ddof=1)


def test_how_often_a_plan_falls_short_is_that_of_the_next_smaller_pilot():
    sizes = sorted(SHORT_OF_POWER)
    assert sizes[0] == 20
    for size, following in zip(sizes, [*sizes[1:], 10**6], strict=True):
        assert short_of_power(size) == short_of_power(following - 1)
        assert list(short_of_power(size).values()) == list(SHORT_OF_POWER[size])


@pytest.mark.parametrize("pilot", SHORT_OF_POWER)
def test_how_often_the_plan_of_a_normal_pilot_falls_short(pilot):
    """χ²'s bound alone: the plan has 67 queries or fewer, and 68 have a power of 70%."""
    fewest = 68
    assert power_by_scipy(0.08, 0.26 / math.sqrt(fewest - 1), fewest - 2) < 0.7
    spreads = np.sqrt(np.random.default_rng(4).chisquare(pilot - 1, size=4000) / (pilot - 1))
    bounds = spreads * 0.26 * math.sqrt((pilot - 1) / stats.chi2.ppf(0.2, pilot - 1))
    limit = 0.08 / least_difference(fewest - 1, Noise(1.0))  # the s.d. that one query fewer allows
    assert short_of_power(pilot)["normal"] == pytest.approx((bounds <= limit).mean(), abs=0.02)
