from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkpi.measures.tied import tail

SMALLEST = Fraction(1, 2**1000)


def exact(N, R, K, m):
    """P(X >= m) as a fraction of binomial coefficients."""
    if m <= 0:
        return Fraction(1)
    missed = sum(comb(R, x) * comb(N - R, K - x) for x in range(min(m, K + 1)))
    return 1 - Fraction(missed, comb(N, K))


def error(found, wanted):
    return float(abs(Fraction(float(found)) / wanted - 1)) if wanted >= SMALLEST else 0.0


@st.composite
def cells(draw):
    N = draw(st.one_of(st.integers(1, 60), st.sampled_from([5183, 11314, 8841823, 120000000])))
    R = draw(st.integers(0, min(N, 300)))
    return N, R, draw(st.integers(0, min(N, 200)))


@given(st.lists(cells(), min_size=1, max_size=5), st.integers(-1, 12))
def test_matches_exact_fractions(some, m):
    found = tail(*map(np.array, zip(*some, strict=True)), m)
    for i, cell in enumerate(some):
        wanted = exact(*cell, m)
        assert error(found.probability[i], wanted) < (1e-14 if m == 1 else 1e-12)
        assert (found.probability[i] == 1) == (found.complement[i] < 2**-53)
        if wanted in (0, 1):
            assert found.probability[i] == wanted
            assert found.complement[i] == 1 - wanted
            assert found.log2[i] == (0 if wanted else -np.inf)
        else:
            assert error(found.complement[i], 1 - wanted) < 1e-12
            assert np.isfinite(found.log2[i])


# The grid of the specification, which measured lgamma and scipy on it.
SIZES = (58, 1000, 5183, 11314, 400000, 8841823, 113520750, 120000000)
GRID = [
    (N, R, K)
    for N in SIZES
    for R in (1, 2, 10, 143, 572, 5000)
    for K in (1, 10, 100, 1000)
    if max(R, K) <= N
]


@pytest.mark.parametrize("m", [1, 2, 3, 10, 100])
def test_precision_on_large_corpora(m):
    found = tail(*map(np.array, zip(*GRID, strict=True)), m)
    errors = [error(p, exact(*cell, m)) for p, cell in zip(found.probability, GRID, strict=True)]
    assert max(errors) < (1e-15 if m == 1 else 1e-13)


def test_one_relevant_document_has_chance_k_of_n():
    N = np.array([7, 1000, 120000000])
    K = np.array([3, 999, 1000])
    assert tail(N, np.ones(3, dtype=int), K, 1).probability == pytest.approx(K / N, rel=1e-15)


def test_equal_cells_far_apart_get_equal_tails():
    N, R, K = np.array([[100, 50, 100], [3, 4, 3], [10, 5, 10]])
    found = tail(N, R, K, 2)
    assert found.log2[0] == found.log2[2] != found.log2[1]


def test_no_queries():
    nothing = np.empty(0, dtype=np.int64)
    assert len(tail(nothing, nothing, nothing, 2).probability) == 0
