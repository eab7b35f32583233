"""Success as a share of the relevant documents: `recall=` of Bits-over-Random and its relatives."""

import math

import numpy as np
import pytest
import scipy.stats

from ragkpi.bounds.bounds import refusal
from ragkpi.measures.chance import Needed
from ragkpi.measures.registry import find_metrics
from tests.measures.by_hand import lines, population, summary

pytestmark = pytest.mark.usefixtures("command_line")

N, R = 400, [1, 2, 3, 5, 8, 0, 30]
FOUND = [[4], [9], [1, 12], [2, 3, 30], [], [], [*range(1, 10), 11]]


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5, 0.75, 1.0])
@pytest.mark.parametrize("m", [1, 2])
@pytest.mark.parametrize("K", [2, 10, 40])
def test_success_and_chance_with_a_number_per_query(share, m, K):
    """By counting, and by scipy's hypergeometric distribution."""
    judged = population(N, R, FOUND)
    possible = [(r, found) for r, found in zip(R, FOUND, strict=True) if r >= m]
    needed = [max(m, math.ceil(round(share * r, 9))) for r, _ in possible]
    success = [
        sum(rank <= K for rank in found) >= least
        for (_, found), least in zip(possible, needed, strict=True)
    ]
    by_chance = [
        float(scipy.stats.hypergeom.sf(least - 1, N, r, K))
        for (r, _), least in zip(possible, needed, strict=True)
    ]
    how = f"{K},m={m},recall={share}"
    p_obs, p_rand = float(np.mean(success)), float(np.mean(by_chance))
    assert summary(judged, f"p_obs.{how}") == pytest.approx(p_obs)
    assert summary(judged, f"p_rand.{how}") == pytest.approx(p_rand, rel=1e-9)
    assert summary(judged, f"ef.{how}") == pytest.approx(p_obs / p_rand, rel=1e-9)
    assert summary(judged, f"bor_max.{how}") == pytest.approx(-math.log2(p_rand), abs=1e-9)
    bits = math.log2(p_obs / p_rand) if p_obs else -math.inf
    assert summary(judged, f"bor.{how}") == pytest.approx(bits, abs=1e-9)
    if K < 40:
        change = summary(judged, f"bor.40,m={m},recall={share}") - bits if p_obs else math.nan
        found = summary(judged, f"dbor.{K},40,m={m},recall={share}")
        assert found == pytest.approx(change, abs=1e-9, nan_ok=True)


def test_success_is_recall_of_at_least_the_share():
    judged = population(N, R, FOUND)
    found = lines(judged, "p_obs.10,recall=0.3", "recall.10")
    for query, recall in found["recall_10"].items():
        if query not in ("all", "q5"):  # q5 has no relevant document
            assert found["p_obs_10_recall=0.3"][query] == (recall >= 0.3)


def test_a_share_that_doubles_cannot_hold_exactly_is_not_rounded_up():
    for share in (0.1, 0.2, 0.3, 0.7):
        for tens in range(1, 200):
            assert Needed(recall=share).of(np.array([10 * tens])) == round(share * 10 * tens)


def test_chances_below_the_smallest_double_keep_their_bits():
    """150 of 300 in 200 draws from 10^8: some 10^-580, by sums of exact logarithms."""
    n, r, k = 10**8, 300, 200
    ways = sum(math.comb(r, x) * math.comb(n - r, k - x) for x in range(150, k + 1))
    bits = _log2(math.comb(n, k)) - _log2(ways)
    assert bits > 1100
    assert summary(population(n, [r], [range(1, 201)]), "bor.200,recall=0.5") == pytest.approx(
        bits, rel=1e-12
    )


def _log2(number):
    shift = max(number.bit_length() - 60, 0)
    return math.log2(number >> shift) + shift


@pytest.mark.parametrize("request_", ["bor.10,recall=0.5", "ef_recall.10,m=2", "bor_recall.9,m=3"])
def test_bounds_over_unjudged_documents_are_not_claimed(request_):
    """Of m relevant documents, holes of other runs can make a value that own ones cannot."""
    (metric,) = find_metrics([request_])
    assert refusal(metric) == "no bounds are proven for these parameters"


@pytest.mark.parametrize("request_", ["bor.10", "ef_recall.10", "bor_recall.9"])
def test_bounds_over_unjudged_documents_are_claimed(request_):
    (metric,) = find_metrics([request_])
    assert refusal(metric) == ""
