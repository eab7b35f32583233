import itertools

import numpy as np
import pytest
from scipy import stats

from ragkpi.statistics.bootstrap import times_drawn
from ragkpi.statistics.correlation import kendall, max_correlation_p, pearson, rho, spearman

COEFFICIENTS = [
    (rho, stats.spearmanr),
    (kendall, stats.kendalltau),
    (pearson, stats.pearsonr),
]


@pytest.mark.parametrize(("ours", "theirs"), COEFFICIENTS)
@pytest.mark.parametrize("size", [3, 8, 150])
@pytest.mark.filterwarnings("ignore:An input array is constant")
def test_observations_correlate_as_scipy_says(ours, theirs, size):
    rng = np.random.default_rng(size)
    for levels in (2, 4, 100):
        x, y = (rng.integers(0, levels, size).astype(float) for _ in "xy")
        np.testing.assert_allclose(ours(x, y), theirs(x, y)[0], atol=1e-12)


@pytest.mark.parametrize("size", [3, 8, 40])
@pytest.mark.filterwarnings("ignore:An input array is constant")
def test_resamples_correlate_as_scipy_says_of_their_rows(size):
    rng = np.random.default_rng(size)
    for levels in (2, 4, 100):
        x, y = (rng.integers(0, levels, size).astype(float) for _ in "xy")
        drawn = rng.integers(0, size, (20, size))
        expected = [stats.spearmanr(x[row], y[row])[0] for row in drawn]
        np.testing.assert_allclose(spearman(x, y)(times_drawn(drawn)), expected, atol=1e-12)


def test_infinite_values_have_ranks_but_no_moments():
    x, y = np.array([-np.inf, 1, 2]), np.array([1.0, 3, 2])
    assert rho(x, y) == 0.5
    assert kendall(x, y) == pytest.approx(1 / 3)
    assert np.isnan(pearson(x, y))


def test_constant_by_rounding_is_constant():
    x = np.full(7, 0.1) * 3
    assert all(np.isnan(ours(x, np.arange(7.0))) for ours, _ in COEFFICIENTS)


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1.0, 1e160, 1e300])
def test_moments_of_huge_and_tiny_values(scale):
    rng = np.random.default_rng(3)
    x, y = rng.random((2, 30))
    expected = stats.pearsonr(x, y)[0]
    assert pearson(x * scale, y) == pytest.approx(expected, rel=1e-12)
    assert pearson(x * scale, y * scale) == pytest.approx(expected, rel=1e-12)


def step_down(observed, chance):
    """Adjusted p by the definition, from strengths by permutation and variable."""
    order = np.argsort(-observed)
    p = np.empty(len(order))
    so_far = 0.0
    for place, variable in enumerate(order):
        greatest = chance[:, order[place:]].max(axis=1)
        so_far = max(so_far, float((greatest >= observed[variable] - 1e-9).mean()))
        p[variable] = so_far
    return p


def strengths(variables, y):
    return np.abs([stats.spearmanr(x, y)[0] for x in variables])


def test_p_of_the_greatest_rho_is_that_of_all_permutations():
    rng = np.random.default_rng(1)
    for levels in (4, 1000):
        variables = rng.integers(0, levels, (3, 5)) + np.arange(5) % 2 / 2
        y = rng.integers(0, levels, 5) + np.arange(5) % 3 / 3
        chance = np.array([strengths(variables, order) for order in itertools.permutations(y)])
        expected = step_down(strengths(variables, y), chance)
        everywhere = np.zeros(5, dtype=int)
        found = max_correlation_p(variables, y, everywhere, 120, 7)
        np.testing.assert_allclose(found, expected)
        drawn = max_correlation_p(variables, y, everywhere, 119, 7)  # one too few to have all
        np.testing.assert_allclose(drawn, expected, atol=0.2)
        assert set((drawn * 120).round(9) % 1) == {0}


def test_permutations_stay_inside_their_blocks():
    rng = np.random.default_rng(2)
    variables, y = rng.normal(size=(2, 8)), rng.normal(size=8)
    blocks = np.array([0, 1, 2, 3, 3, 2, 1, 0])
    orders = [y]
    for block in range(4):
        pair = np.flatnonzero(blocks == block)
        for order in list(orders):
            other = order.copy()
            other[pair] = order[pair[::-1]]
            orders.append(other)
    chance = np.array([strengths(variables, order) for order in orders])
    expected = step_down(strengths(variables, y), chance)
    np.testing.assert_allclose(max_correlation_p(variables, y, blocks, 16, 7), expected)
    drawn = max_correlation_p(variables, y, blocks, 15, 7)
    np.testing.assert_allclose(drawn, expected, atol=0.35)
    alone = max_correlation_p(variables, y, np.arange(8), 100, 7)  # one order, the observed one
    np.testing.assert_array_equal(alone, [1, 1])


def test_a_permutation_is_as_likely_as_any_other():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=60), rng.normal(size=60)
    y += 0.3 * x
    found = max_correlation_p(x[np.newaxis], y, np.zeros(60, dtype=int), 20_000, 7)
    assert found == pytest.approx(stats.spearmanr(x, y).pvalue, rel=0.15)


def test_missing_and_constant_values_are_no_part_of_the_test():
    rng = np.random.default_rng(4)
    variables, y = rng.normal(size=(2, 6)), rng.normal(size=6)
    everywhere = np.zeros(6, dtype=int)
    alone = max_correlation_p(variables, y, everywhere, 720, 7)
    beside = max_correlation_p(np.vstack([variables, np.ones(6)]), y, everywhere, 720, 7)
    np.testing.assert_array_equal(beside, [*alone, np.nan])
    # Of x only four values are known: Pearson's r with the ranks of y among all six.
    x = variables[0].copy()
    x[:2] = np.nan
    ranks = stats.rankdata(y)
    by_order = [
        abs(np.corrcoef(stats.rankdata(x[2:]), np.array(order)[2:])[0, 1])
        for order in itertools.permutations(ranks)
    ]
    expected = np.mean(np.array(by_order) >= by_order[0] - 1e-9)
    assert max_correlation_p(x[np.newaxis], y, everywhere, 720, 7) == pytest.approx(expected)
