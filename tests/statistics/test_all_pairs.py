import itertools

import numpy as np
import pytest
from scipy.stats import studentized_range

from ragkpi.errors import UsageError
from ragkpi.statistics.paired import Procedure, compare, compare_all, letters_of
from tests.made_scores import BOR, HARM, MAP, NUM_Q, scores


def pairs(columns, metric=MAP, **procedure):
    runs = [scores([(metric, column)]) for column in columns]
    names = [f"run{place}" for place in range(len(runs))]
    (found,) = compare_all(names, runs, Procedure(**procedure)).by_metric
    return found


def test_all_shuffles_of_three_runs_by_hand():
    """Every way to order three values on each of three queries, 6 ** 3, taken from the left."""
    columns = [[0.5, 0.25, 1.0], [0.25, 0.125, 0.5], [0.0, 0.5, 0.25]]
    ranges = []
    rows = zip(*columns, strict=True)
    for ordered in itertools.product(*(itertools.permutations(row) for row in rows)):
        sums = [sum(run) for run in zip(*ordered, strict=True)]
        ranges.append(max(sums) - min(sums))
    found = pairs(columns).p
    for i, j in itertools.combinations(range(3), 2):
        apart = abs(sum(columns[i]) - sum(columns[j]))
        share = sum(one >= apart - 1e-12 for one in ranges) / 6**3
        assert found[i, j] == found[j, i] == pytest.approx(share)
    assert np.isnan(np.diag(found)).all()


@pytest.mark.parametrize("metric", [MAP, BOR])
def test_of_two_runs_it_is_the_randomization_test(metric):
    generator = np.random.default_rng(4)
    shape = (10, 2) if metric is BOR else (10,)
    columns = [generator.random(shape).tolist() for _ in range(2)]
    runs = [scores([(metric, column)]) for column in columns]
    (difference,) = compare(["a", "b"], runs, Procedure()).differences
    assert pairs(columns, metric).p[0, 1] == pytest.approx(difference.p)


def test_it_nears_tukeys_test_where_values_are_normal():
    """With blocks: p = P(q > |difference| sqrt(n) / s), s^2 the mean square of the residuals."""
    generator = np.random.default_rng(11)
    n, k = 60, 5
    values = generator.normal(size=(n, 1)) + generator.normal(size=(n, k)) + np.arange(k) * 0.12
    residual = values - values.mean(0) - values.mean(1, keepdims=True) + values.mean()
    freedom = (n - 1) * (k - 1)
    spread = np.sqrt((residual**2).sum() / freedom / n)
    found = pairs(values.T.tolist()).p
    for i, j in itertools.combinations(range(k), 2):
        apart = abs(values[:, i].mean() - values[:, j].mean())
        expected = studentized_range.sf(apart / spread, k, freedom)
        assert found[i, j] == pytest.approx(expected, abs=0.015)


def test_true_nulls_are_seldom_rejected():
    """Of 200 sets of five equal runs about one in twenty has a false difference, not more."""
    generator = np.random.default_rng(2)
    rejected = sum(
        np.nanmin(pairs(generator.random((5, 12)).tolist(), trials=500).p) < 0.05
        for _ in range(200)
    )
    assert rejected <= 20  # P(X > 20) = 0.001 for X binomial (200, 0.05)


def test_other_tests_are_corrected_for_all_pairs():
    generator = np.random.default_rng(8)
    columns = generator.random((4, 20)).tolist()
    raw = pairs(columns, test="t", correction="none").p
    holm = pairs(columns, test="t").p
    upper = np.triu_indices(4, 1)
    ranked = sorted(raw[upper])
    stepped = np.minimum(np.maximum.accumulate([p * (6 - i) for i, p in enumerate(ranked)]), 1)
    assert sorted(holm[upper]) == pytest.approx(stepped.tolist())
    runs = [scores([(MAP, column)]) for column in columns]
    for first in range(4):
        order = [first, *(place for place in range(4) if place != first)]
        tested = compare([str(i) for i in order], [runs[i] for i in order], Procedure(test="t"))
        for place, difference in zip(order[1:], tested.differences, strict=True):
            assert raw[first, place] == pytest.approx(difference.p)


def test_equal_runs_do_not_differ_and_two_queries_are_needed():
    assert pairs([[0.5, 0.25, 1.0]] * 3).p[0, 1] == 1
    assert np.isnan(pairs([[0.5], [0.25]]).p).all()


def test_the_best_run_has_the_first_letter_also_where_less_is_better():
    low, high = [0.01 * i for i in range(12)], [0.5 + 0.01 * i for i in range(12)]
    for metric, letters in ((MAP, ["b", "a"]), (HARM, ["a", "b"])):
        found = pairs([low, high], metric)
        assert found.letters == letters
        assert [found.letters[place] for place in found.order] == ["a", "b"]


def test_without_a_measure_that_can_be_better_there_is_nothing_to_compare():
    with pytest.raises(UsageError, match="nothing to compare"):
        compare_all(["a", "b"], [scores([(NUM_Q, [1, 1])])] * 2, Procedure())


def matrix(number, differing):
    found = np.zeros((number, number), dtype=bool)
    for first, second in differing:
        found[first, second] = found[second, first] = True
    return found


def test_letters_of_the_example_of_multcompview():
    """`multcompLetters(c("a-b" = FALSE, "a-c" = FALSE, "b-c" = TRUE))` says ab, a, b."""
    assert letters_of(matrix(3, [(1, 2)])) == ["ab", "a", "b"]


@pytest.mark.parametrize("seed", range(20))
def test_two_share_a_letter_exactly_where_they_do_not_differ(seed):
    """And each letter is a largest group without a difference: no letter is idle."""
    generator = np.random.default_rng(seed)
    number = int(generator.integers(2, 9))
    differ = np.triu(generator.random((number, number)) < generator.random(), 1)
    differ = differ | differ.T
    letters = letters_of(differ)
    for i, j in itertools.combinations(range(number), 2):
        assert bool(set(letters[i]) & set(letters[j])) != differ[i, j]
    alike = [
        set(group)
        for size in range(1, number + 1)
        for group in itertools.combinations(range(number), size)
        if not any(differ[i, j] for i, j in itertools.combinations(group, 2))
    ]
    largest = [group for group in alike if not any(group < other for other in alike)]
    every = sorted(set("".join(letters)))
    groups = [{run for run in range(number) if letter in letters[run]} for letter in every]
    assert sorted(map(sorted, groups)) == sorted(map(sorted, largest))


def test_more_letters_than_the_alphabet_has():
    letters = letters_of(~np.eye(30, dtype=bool))
    assert len(set(letters)) == 30
    assert letters[26:] == ["aa", "ab", "ac", "ad"]
