import math

import numpy as np
import pytest
from scipy import stats

from ragkpi.statistics.query_samples import query_samples
from ragkpi.statistics.significance import TESTS, p_values
from tests.made_scores import BOR, MAP, scores

random = np.random.default_rng(11)
BASELINE = random.beta(2, 3, size=60)
OTHER = np.clip(BASELINE + random.normal(0.02, 0.1, size=60), 0, 1)


def p_of(baseline, other, test="randomization", value=MAP, trials=10_000, seed=7):
    (sample,) = query_samples(
        [scores([(value, baseline)]), scores([(value, other)])], lambda _: True
    )
    return p_values(sample, test, trials, seed)[0][0]


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("t", stats.ttest_rel(OTHER, BASELINE).pvalue),
        ("wilcoxon", stats.wilcoxon(OTHER, BASELINE).pvalue),
        ("sign", stats.binomtest(int((OTHER > BASELINE).sum()), 60).pvalue),
    ],
)
def test_agreement_with_scipy(test, expected):
    assert p_of(BASELINE, OTHER, test) == pytest.approx(expected, rel=1e-9)


def test_randomization_agrees_with_scipy_within_noise():
    swaps = stats.permutation_test(
        (OTHER, BASELINE),
        lambda x, y, axis: (x - y).mean(axis=axis),
        permutation_type="samples",
        n_resamples=20_000,
        vectorized=True,
        rng=np.random.default_rng(1),
    ).pvalue
    assert p_of(BASELINE, OTHER, trials=20_000) == pytest.approx(swaps, abs=0.012)


def test_few_differing_queries_are_swapped_in_every_way():
    """Ten queries differ, so all 1,024 swaps are made, as scipy does for ten queries alone."""
    baseline = np.concatenate([BASELINE[:10], BASELINE])
    other = np.concatenate([OTHER[:10], BASELINE])
    exact = stats.permutation_test(
        (OTHER[:10], BASELINE[:10]),
        lambda x, y, axis: (x - y).mean(axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
        vectorized=True,
    ).pvalue
    assert p_of(baseline, other, trials=1024) == pytest.approx(exact, rel=1e-12)


def test_equal_differences_count_as_extreme():
    """Five wins of a tenth: of 32 swaps, all or none give a difference as large."""
    assert p_of([0.1] * 5, [0.2] * 5) == 2 / 32
    # In tenths +1, -3, -1: of the eight signs, all but -3 against +1 +1 (and its mirror) sum to
    # 3 or more. In doubles some of these sums are a little less.
    assert p_of([0.6, 0.9, 0.5, 0.6, 0.9], [0.7, 0.6, 0.5, 0.5, 0.9]) == 6 / 8


def test_monte_carlo_counts_what_was_observed_as_one_more():
    assert p_of([0.0] * 40, [1.0] * 40, trials=99) == 1 / 100


def test_no_t_where_all_queries_differ_by_the_same():
    assert math.isnan(p_of([0.1, 0.3, 0.6], [0.2, 0.4, 0.7], "t"))


@pytest.mark.parametrize("test", TESTS)
def test_identical_runs_have_p_1(test):
    assert p_of(BASELINE, BASELINE, test) == 1
    assert p_of([[0, 0.5]] * 4, [[0, 0.5]] * 4, test, BOR) == 1  # -inf in both


@pytest.mark.parametrize(
    ("test", "answers"),
    [
        ("randomization", True),
        ("bootstrap", True),
        ("sign", True),
        ("t", False),
        ("wilcoxon", False),
    ],
)
def test_ratios_of_means(test, answers):
    baseline = np.column_stack([np.arange(40) % 2, np.full(40, 0.1)])
    other = np.column_stack([np.arange(40) % 4 > 0, np.full(40, 0.1)])
    assert math.isnan(p_of(baseline, other, test, BOR)) != answers


def test_nothing_found_by_one_run_can_be_tested_by_swaps_only():
    nothing, three = [[0, 0.5]] * 6, [[1, 0.5]] * 3 + [[0, 0.5]] * 3
    # -inf against finite: as extreme are the two of 2^3 swaps that leave one side with nothing
    assert p_of(nothing, three, "randomization", BOR) == 2 / 8
    assert math.isnan(p_of(nothing, three, "bootstrap", BOR))


@pytest.mark.parametrize("test", ["randomization", "bootstrap"])
@pytest.mark.parametrize("value", [MAP, BOR], ids=["mean", "ratio"])
def test_p_values_are_uniform_under_the_null(test, value):
    """Kolmogorov-Smirnov over 300 pairs of runs that differ by nothing but luck."""
    generator = np.random.default_rng(2)
    p = []
    for seed in range(300):
        difficulty = generator.beta(2, 3, size=(80, 1))
        baseline, other = (
            np.column_stack([generator.beta(8 * difficulty, 8), difficulty]) for _ in range(2)
        )
        if value is MAP:
            baseline, other = baseline[:, 0], other[:, 0]
        p.append(p_of(baseline, other, test, value, trials=399, seed=seed))
    assert stats.kstest(p, "uniform").pvalue > 0.01


def test_same_seed_same_p_another_seed_another_p():
    twice = [p_of(BASELINE, OTHER, trials=500, seed=3) for _ in range(2)]
    assert twice[0] == twice[1]
    assert len({p_of(BASELINE, OTHER, trials=500, seed=seed) for seed in range(5)}) > 1
