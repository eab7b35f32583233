import itertools
import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from ragkpi.statistics.bootstrap import query_samples
from ragkpi.statistics.decisions import TESTS
from ragkpi.statistics.paired import Procedure, compare
from ragkpi.statistics.significance import intervals_of_differences, p_values
from tests.made_scores import BOR, MAP, SUCCESS, scores

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


def test_t_without_a_standard_error_is_that_of_swaps():
    assert p_of([0.1, 0.3, 0.6], [0.2, 0.4, 0.7], "t") == 2 / 2**3
    nothing, three = [[0, 0.5]] * 6, [[1, 0.5]] * 3 + [[0, 0.5]] * 3
    assert p_of(nothing, three, "t", BOR) == 2 / 8  # -inf in one


@pytest.mark.parametrize(("higher", "lower"), [(4, 0), (5, 1), (12, 3), (7, 7)])
def test_rates_have_the_score_test(higher, lower):
    """McNemar's, without a correction for continuity: the square of z is chi-squared."""
    same = [1.0] * 9 + [0.0] * 5
    old, new = [0.0] * higher + [1.0] * lower, [1.0] * higher + [0.0] * lower
    expected = stats.chi2.sf((higher - lower) ** 2 / (higher + lower), 1)
    assert p_of(old + same, new + same, "t", SUCCESS) == pytest.approx(expected)


@pytest.mark.parametrize("value", [MAP, SUCCESS, BOR], ids=["mean", "rate", "ratio"])
@pytest.mark.parametrize("clusters", [None, 4], ids=["queries", "clusters"])
@pytest.mark.parametrize("seed", range(25))
def test_zero_is_outside_the_interval_where_p_is_small(value, clusters, seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(12, 40))
    made = random.random((2, n)) < [[0.4], [0.65]]
    if value is MAP:
        made = made * random.random((2, n))
    elif value is BOR:
        made = np.stack([made, random.uniform(0.2, 1, (2, n))], axis=2)
    runs = [scores([(value, rows.astype(float))]) for rows in made]
    of_query = {query: f"c{row // clusters}" for row, query in enumerate(runs[0].queries)
                if clusters} or None  # fmt: skip
    (sample,) = query_samples(runs, lambda _: True, of_query)
    ((p,),) = p_values(sample, "t", 1000, 7)
    for level in (0.5, 0.8, 0.9, 0.95, 0.99):
        ((interval,),) = intervals_of_differences(sample, level)
        assert (interval.low > 0 or interval.high < 0) == (p < 1 - level)


@pytest.mark.parametrize(("test", "metric"), [("t", SUCCESS), *itertools.product(TESTS, [MAP])])
@pytest.mark.parametrize("n", [7, 20])
def test_no_p_is_below_the_least_and_some_p_reaches_it(test, metric, n):
    """Of all rises by 1, nearly 1 or twice as much each time, on n queries; of successes by 1."""
    rises = [np.ones(n), 1 - np.arange(n) / 1e6, 0.5 ** np.arange(n)]
    found = []
    for rise in rises if metric is MAP else rises[:1]:
        runs = [scores([(metric, values)]) for values in (np.zeros(n), rise)]
        (difference,) = compare(["low", "high"], runs, Procedure(test=test)).differences
        found.append(difference.p)
    least = difference.least_p
    assert np.nanmin(found) >= least * (1 - 1e-9)
    assert np.nanmin(found) == pytest.approx(least, rel=0.2, abs=1e-9)


@pytest.mark.parametrize("test", TESTS)
def test_identical_runs_have_p_1(test):
    assert p_of(BASELINE, BASELINE, test) == 1
    assert p_of([[0, 0.5]] * 4, [[0, 0.5]] * 4, test, BOR) == 1  # -inf in both


@pytest.mark.parametrize(
    ("test", "answers"),
    [
        ("randomization", True),
        ("sign", True),
        ("t", True),
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


@pytest.mark.parametrize("value", [MAP, BOR], ids=["mean", "ratio"])
def test_p_values_are_uniform_under_the_null(value):
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
        p.append(p_of(baseline, other, "randomization", value, trials=399, seed=seed))
    assert stats.kstest(p, "uniform").pvalue > 0.01


def test_same_seed_same_p_another_seed_another_p():
    twice = [p_of(BASELINE, OTHER, trials=500, seed=3) for _ in range(2)]
    assert twice[0] == twice[1]
    assert len({p_of(BASELINE, OTHER, trials=500, seed=seed) for seed in range(5)}) > 1


@pytest.mark.parametrize("seed", range(6))
def test_wilcoxon_counts_all_signs_of_tied_ranks(seed):
    """Against every assignment of signs, tried one after the other; levels of a tenth tie."""
    random = np.random.default_rng(seed)
    baseline, other = random.integers(0, 6, size=(2, 11)) / 10
    tenths = np.round(10 * (other - baseline)).astype(int)
    tenths = tenths[tenths != 0]
    ranks = stats.rankdata(np.abs(tenths))
    sums = [
        ranks[np.array(signs) > 0].sum() for signs in itertools.product([-1, 1], repeat=len(ranks))
    ]
    observed = ranks[tenths > 0].sum()
    lower = min(observed, ranks.sum() - observed)
    expected = min(1.0, 2 * np.mean(np.array(sums) <= lower))
    assert p_of(baseline, other, "wilcoxon") == pytest.approx(expected, rel=1e-12)


def test_wilcoxon_ranks_no_noise_of_doubles():
    """Differences of whole tenths are tied, though in doubles few of them are equal."""
    tenths = np.array([3, 1, -2, 1, 1, 2, -1, 3, 2, 1, -3, 0])
    baseline = np.arange(12) / 20 + 0.05
    other = baseline + tenths / 10
    assert len(set(other - baseline)) > len(set(tenths))
    exact = p_of(np.zeros(12), tenths, "wilcoxon")
    assert p_of(baseline, other, "wilcoxon") == exact < 1


def test_wilcoxon_of_many_ties_is_scipys():
    random = np.random.default_rng(3)
    baseline, other = random.integers(0, 9, size=(2, 200)).astype(float)
    expected = stats.wilcoxon(other - baseline, method="approx").pvalue
    assert p_of(baseline, other, "wilcoxon") == pytest.approx(expected, rel=1e-9)


def test_every_test_has_a_row_in_the_page():
    page = (Path(__file__).parents[2] / "docs/statistics.md").read_text("utf-8")
    rows = re.findall(r"^\| `([a-z-]+)`", page, re.MULTILINE)
    assert set(TESTS) <= set(rows)
