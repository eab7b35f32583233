import itertools
import math

import numpy as np
import pytest

from ragkpi.errors import UsageError
from ragkpi.statistics.all_pairs import compare_all, letters_of
from ragkpi.statistics.bootstrap import Bootstrap
from ragkpi.statistics.paired import Procedure, compare
from tests.made_scores import BOR, HARM, MAP, NUM_Q, SUCCESS, scores


def pairs(columns, metric=MAP, **procedure):
    runs = [scores([(metric, column)]) for column in columns]
    names = [f"run{place}" for place in range(len(runs))]
    (found,) = compare_all(names, runs, Procedure(**procedure)).by_metric
    return found


def stepped_down(columns, signs):
    """By definition: remove the greatest pair, and look at the others again."""
    pairs = list(itertools.combinations(range(len(columns)), 2))
    apart = {(i, j): np.subtract(columns[i], columns[j]) for i, j in pairs}
    x = {pair: abs(d.sum()) / math.sqrt((d**2).sum()) for pair, d in apart.items()}
    flipped = {pair: abs(signs @ d) / math.sqrt((d**2).sum()) for pair, d in apart.items()}
    p, last = {}, 0.0
    left = sorted(pairs, key=x.__getitem__, reverse=True)
    while left:
        greatest = np.max([flipped[pair] for pair in left], axis=0)
        last = p[left[0]] = max(last, float((greatest >= x[left[0]] - 1e-9).mean()))
        left.pop(0)
    return p


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("metric", [MAP, SUCCESS])
def test_all_signs_of_several_runs_by_definition(seed, metric):
    """Eighths and successes tie, in pairs and in signs; every one of 2 ** 10 signs is taken."""
    generator = np.random.default_rng(seed)
    columns = generator.integers(0, 9, size=(5, 10)) / 8
    columns = np.round(columns) if metric is SUCCESS else columns
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=10)))
    found = pairs(columns.tolist(), metric).p
    for (i, j), p in stepped_down(columns, signs).items():
        assert found[i, j] == found[j, i] == pytest.approx(p)
    assert np.isnan(np.diag(found)).all()


def test_signs_of_clusters_by_definition():
    """Twelve queries of five clusters: the sums of clusters change sign."""
    generator = np.random.default_rng(1)
    columns, unit = generator.random((4, 12)), np.array([0, 0, 0, 1, 1, 2, 3, 3, 3, 3, 4, 4])
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=5)))
    sums = [[column[unit == cluster].sum() for cluster in range(5)] for column in columns]
    clusters = {b"q%03d" % query: f"c{cluster}" for query, cluster in enumerate(unit)}
    found = pairs(columns.tolist(), bootstrap=Bootstrap(clusters=clusters)).p
    for (i, j), p in stepped_down(sums, signs).items():
        assert found[i, j] == pytest.approx(p)


@pytest.mark.parametrize("metric", [MAP, BOR])
def test_of_two_runs_it_is_the_randomization_test(metric):
    """Of ratios nearly: signs of pseudo-values are no swaps of labels."""
    generator = np.random.default_rng(4)
    shape = (10, 2) if metric is BOR else (10,)
    columns = [generator.random(shape).tolist() for _ in range(2)]
    runs = [scores([(metric, column)]) for column in columns]
    (difference,) = compare(["a", "b"], runs, Procedure(test="randomization")).differences
    close = 0.05 if metric is BOR else 1e-12
    assert pairs(columns, metric).p[0, 1] == pytest.approx(difference.p, abs=close)


def test_runs_that_differ_by_one_amount_or_not_at_all():
    """Twelve queries, all higher by an eighth: two of 2 ** 12 signs; equal runs do not differ."""
    low = [0.1 * i for i in range(12)]
    found = pairs([low, [x + 0.125 for x in low], low]).p
    assert found[0, 1] == found[1, 2] == 2 / 2**12
    assert found[0, 2] == 1.0


def test_true_nulls_are_seldom_rejected():
    """Of 200 sets of five equal runs about one in twenty has a false difference, not more."""
    generator = np.random.default_rng(2)
    rejected = sum(
        np.nanmin(pairs(generator.random((5, 12)).tolist(), trials=500).p) < 0.05
        for _ in range(200)
    )
    assert rejected <= 20  # P(X > 20) = 0.001 for X binomial (200, 0.05)


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
    assert letters[26:] == ["a1", "b1", "c1", "d1"]
