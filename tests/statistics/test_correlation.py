import numpy as np
import pytest
from scipy import stats

from ragkpi.statistics.correlation import COEFFICIENTS, kendall, once, pearson, ranks, spearman

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


def test_equal_values_share_their_mean_rank():
    weights = np.array([[1.0, 1, 1, 1], [2, 0, 1, 1]])
    # Drawn: 5, 5, 7, 3, which has no second 5.
    assert ranks(np.array([5.0, 5, 7, 3]))(weights).tolist()[0] == [2.5, 2.5, 4, 1]
    assert ranks(np.array([5.0, 5, 7, 3]))(weights)[1, [0, 2, 3]].tolist() == [2.5, 4, 1]


def test_infinite_values_have_ranks_but_no_moments():
    x, y = np.array([-np.inf, 1, 2]), np.array([1.0, 3, 2])
    assert once(spearman, x, y) == 0.5
    assert once(kendall, x, y) == pytest.approx(1 / 3)
    assert np.isnan(once(pearson, x, y))


def test_constant_by_rounding_is_constant():
    x = np.full(7, 0.1) * 3
    assert all(np.isnan(once(f, x, np.arange(7.0))) for f in COEFFICIENTS.values())
