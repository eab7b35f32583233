import numpy as np
import pytest
from scipy import stats

from ragkpi.statistics.bootstrap import times_drawn
from ragkpi.statistics.correlation import (
    COEFFICIENTS,
    around_means,
    kendall,
    once,
    pearson,
    spearman,
    spearman_of_each,
)

SCIPY = {"spearman": stats.spearmanr, "kendall": stats.kendalltau, "pearson": stats.pearsonr}


@pytest.mark.parametrize("name", COEFFICIENTS)
@pytest.mark.parametrize("size", [3, 8, 40])
@pytest.mark.filterwarnings("ignore:An input array is constant")
def test_resamples_correlate_as_scipy_says_of_their_rows(name, size):
    rng = np.random.default_rng(size)
    for levels in (2, 4, 100):
        x, y = (rng.integers(0, levels, size).astype(float) for _ in "xy")
        drawn = rng.integers(0, size, (20, size))
        weights = np.stack([np.bincount(row, minlength=size) for row in drawn]).astype(float)
        expected = [SCIPY[name](x[row], y[row])[0] for row in drawn]
        np.testing.assert_allclose(COEFFICIENTS[name](x, y)(weights), expected, atol=1e-12)


def test_infinite_values_have_ranks_but_no_moments():
    x, y = np.array([-np.inf, 1, 2]), np.array([1.0, 3, 2])
    assert once(spearman, x, y) == 0.5
    assert once(kendall, x, y) == pytest.approx(1 / 3)
    assert np.isnan(once(pearson, x, y))


def test_constant_by_rounding_is_constant():
    x = np.full(7, 0.1) * 3
    assert all(np.isnan(once(f, x, np.arange(7.0))) for f in COEFFICIENTS.values())


@pytest.mark.parametrize("size", [1, 2, 7, 150])
def test_pairs_are_counted_as_one_by_one(size):
    """Against all pairs of 7 drawn observations, ties and repeated observations among them."""
    rng = np.random.default_rng(size)
    for levels in (1, 3, size + 1):
        x, y = rng.integers(0, levels, size), rng.integers(0, 5, size)
        weights = rng.integers(0, 3, (5, size)).astype(float)
        signs = np.sign(x[:, None] - x) * np.sign(y[:, None] - y)
        agreeing = np.einsum("bi,ij,bj->b", weights, signs, weights)
        by_x, by_y = (np.einsum("bi,ij,bj->b", weights, v[:, None] != v, weights) for v in (x, y))
        with np.errstate(invalid="ignore", divide="ignore"):
            expected = agreeing / np.sqrt(by_x * by_y)
        found = kendall(x.astype(float), y.astype(float))(weights)
        np.testing.assert_allclose(found, expected, atol=1e-14)


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1.0, 1e160, 1e300])
def test_moments_of_huge_and_tiny_values(scale):
    rng = np.random.default_rng(3)
    x, y = rng.random((2, 30))
    expected = stats.pearsonr(x, y)[0]
    assert once(pearson, x * scale, y) == pytest.approx(expected, rel=1e-12)
    assert once(pearson, x * scale, y * scale) == pytest.approx(expected, rel=1e-12)


def test_moments_far_from_0_are_those_around_the_means():
    rng = np.random.default_rng(4)
    x, y = 1e6 + rng.random(40), rng.random(40) ** 9
    weights = np.stack([times_drawn(rng.integers(0, 40, (1, 40)))[0] for _ in range(50)])
    np.testing.assert_allclose(
        pearson(x, y)(weights), around_means(weights, x, y), rtol=1e-9, atol=1e-12
    )
    few = np.zeros((1, 40))
    few[0, :2] = 1, 3  # two observations that differ lie on a line
    close = np.append([1.0, 1.0 + 1e-9], rng.random(38))
    assert abs(pearson(close, y)(few)[0]) == pytest.approx(1.0)


def test_several_variables_correlate_as_each_does():
    rng = np.random.default_rng(5)
    y, grid = rng.random(60), rng.integers(0, 4, (3, 60)).astype(float)
    weights = times_drawn(rng.integers(0, 60, (20, 60)))
    together = spearman_of_each(grid, y)(weights)
    for place, x in enumerate(grid):
        assert together[:, place].tolist() == spearman(x, y)(weights).tolist()
