"""How alike two judgements order systems: against other packages, and all ways to break ties."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
import scipy.stats
from numpy.testing import assert_allclose

from ragkpi.statistics.agreement import RANK_AGREEMENTS, tau_ap

# ndcg_cut_10 of s1 … s8 of the made runs under RAG 2025's people and under UMBRELA.
PEOPLE = np.array([0.7690, 0.7176, 0.6695, 0.6502, 0.6194, 0.5671, 0.5632, 0.5466])
UMBRELA = np.array([0.7630, 0.6832, 0.6693, 0.6387, 0.5765, 0.5208, 0.5735, 0.5317])


def made(seed, ties):
    random = np.random.default_rng(seed)
    systems = int(random.integers(3, 12))
    x, y = random.normal(size=(2, systems))
    return (np.round(x * 2), np.round((x + y) * 2)) if ties else (x, x + y)


@pytest.mark.parametrize("ties", [False, True])
def test_tau_b_as_scipy_has_it(ties):
    for seed in range(40):
        x, y = made(seed, ties)
        if np.ptp(x) and np.ptp(y):
            expected = scipy.stats.kendalltau(x, y).statistic
            assert_allclose(RANK_AGREEMENTS["tau_b"](x, y), expected, atol=1e-12)


def tau_ap_by_definition(reference, order):
    """Walk down an order (systems, the best first), as Yilmaz, Aslam and Robertson write it."""
    total = 0.0
    for rank in range(2, len(order) + 1):
        here = reference[order[rank - 1]]
        total += sum(reference[above] > here for above in order[: rank - 1]) / (rank - 1)
    return 2 * total / (len(order) - 1) - 1


def test_tau_ap_of_untied_orders():
    for seed in range(40):
        x, y = made(seed, ties=False)
        assert_allclose(tau_ap(x, y), tau_ap_by_definition(x, np.argsort(-y)), atol=1e-12)


def test_tau_ap_by_hand():
    # The last of three stands above both others: rank 2 has 0 of 1, rank 3 has 1 of 2 right.
    assert tau_ap(np.array([3.0, 2.0, 1.0]), np.array([2.0, 1.0, 3.0])) == pytest.approx(-0.5)
    # The two last ones change places: rank 2 has 1 of 1, rank 3 has 1 of 2.
    assert tau_ap(np.array([3.0, 2.0, 1.0]), np.array([3.0, 1.0, 2.0])) == pytest.approx(0.5)


def ways_to_break_ties(values):
    """All orders, the best first, in which no system stands below one that it beats."""
    return [
        order
        for order in permutations(range(len(values)))
        if all(values[a] >= values[b] for a, b in pairwise(order))
    ]


def test_ties_are_the_mean_over_all_ways_to_break_them():
    for seed in range(12):
        random = np.random.default_rng(seed)
        x, y = random.integers(0, 3, size=(2, 5)).astype(float)
        if not np.ptp(x) or not np.ptp(y):
            continue
        ways = [(_places(a), b) for a in ways_to_break_ties(x) for b in ways_to_break_ties(y)]
        expected = np.mean([tau_ap_by_definition(-places, b) for places, b in ways])
        assert_allclose(tau_ap(x, y), expected, atol=1e-12)


def _places(order):
    places = np.empty(len(order))
    places[list(order)] = np.arange(len(order))
    return places


def test_the_orders_of_rag_2025():
    assert RANK_AGREEMENTS["tau_b"](PEOPLE, UMBRELA) == pytest.approx(24 / 28)
    assert tau_ap(PEOPLE, UMBRELA) == pytest.approx(2 / 7 * (6 + 5 / 7) - 1)  # 0.918


def test_replicates_are_rows():
    random = np.random.default_rng(3)
    x, y = np.round(random.normal(size=(2, 6, 5)), 1)
    for agreement in RANK_AGREEMENTS.values():
        assert_allclose(agreement(x, y), [agreement(*pair) for pair in zip(x, y, strict=True)])


@pytest.mark.parametrize("name", list(RANK_AGREEMENTS))
def test_no_order_no_number(name):
    agreement = RANK_AGREEMENTS[name]
    assert np.isnan(agreement(np.array([1.0, np.nan]), np.array([1.0, 2.0])))
    assert np.isnan(agreement(np.array([1.0, 1.0]), np.array([1.0, 2.0])))
    assert np.isnan(agreement(np.array([1.0]), np.array([2.0])))
