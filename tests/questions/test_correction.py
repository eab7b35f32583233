"""What people would say over all queries: the study, by hand and by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import t, ttest_ind

from ragkpi.errors import NothingInCommonError, UsageError
from ragkpi.questions.correct.answer import correct as correct_scores
from ragkpi.questions.correct.answer import correction_answer
from ragkpi.statistics.prediction_powered import prediction_powered
from tests.made_scores import BOR, HARM, MAP, NUM_Q, NUM_RET, SUCCESS, scores


def names(numbers):
    return [b"q%03d" % number for number in numbers]


def judged_by_both(seed=1, queries=60, judged=range(0, 60, 3), bias=0.1, runs=1):
    """Runs under people, who judged some queries, and under a model that judged all."""
    random = np.random.default_rng(seed)
    human, model = [], []
    for run in range(runs):
        truth = random.normal(0.5 + 0.1 * run, 0.15, size=queries)
        says = truth + bias + random.normal(0, 0.05, size=queries)
        human.append(scores([(MAP, truth[list(judged)])], names(judged)))
        model.append(scores([(MAP, says)], names(range(queries))))
    return human, model


def correct(human, model, of):
    runs = ["first", "second", "third"][: len(human)]
    return correct_scores(runs, ("people", "model"), human, model, of)


def test_values_are_those_of_prediction_powered_inference():
    human, model = judged_by_both()
    found = correct(human, model, "values")
    (one,) = found.corrected
    everything = model[0]["map"].per_query[:, None]
    rest = np.delete(everything, range(0, 60, 3), axis=0)
    expected = prediction_powered(
        human[0]["map"].per_query[:, None], everything[::3], rest, lambda means: float(means[0])
    )
    assert (found.judged, found.queries, found.left_out) == (20, 60, 0)
    assert one.result.estimate == pytest.approx(expected.estimate)
    assert one.result.other == pytest.approx(everything.mean())
    assert 20 < one.result.worth < 60
    # Cochran: Student's, by the residuals of the regression, a third of the queries judged.
    slope = expected.tuning * 60 / 40
    residual = human[0]["map"].per_query - slope * everything[::3, 0]
    reach = t.ppf(0.975, 18) * math.sqrt((1 - 20 / 60) * residual.var(ddof=2) / 20)
    ends = [expected.estimate - reach, expected.estimate + reach]
    low, high = one.result.interval
    assert [low, high] == pytest.approx(ends)


@pytest.mark.parametrize("rate", [0.5, 0.8, 0.95, 0.99])
@pytest.mark.parametrize(("judged", "queries"), [(10, 20), (50, 100), (30, 300)])
def test_intervals_of_these_queries_cover_a_rate(rate, judged, queries):
    """A model that errs in one of ten; 2.3 points are three standard errors of 800 samples."""
    random = np.random.default_rng(judged)
    covered = np.zeros(2)
    for _ in range(800):
        truth = random.random(queries) < rate
        says = truth ^ (random.random(queries) < 0.1)
        human = [scores([(SUCCESS, truth[:judged] * 1.0)], names(range(judged)))]
        model = [scores([(SUCCESS, says * 1.0)], names(range(queries)))]
        (one,) = correct(human, model, "values").corrected
        of_both = one.result.human_interval, one.result.interval
        covered += [low <= truth.mean() + 1e-12 and truth.mean() <= high for low, high in of_both]
    assert (covered / 800 >= 0.92 - 0.023).all()


def test_intervals_narrow_to_nothing_where_nearly_all_is_judged():
    """The standard error of people alone at 99 of 100 is a tenth of that of many queries more."""
    widths = []
    for queries in (100, 100_000):
        human, model = judged_by_both(queries=queries, judged=range(99))
        (low, high) = correct(human, model, "values").corrected[0].result.human_interval
        widths.append((high - low) / human[0]["map"].per_query.std())
    assert widths[0] == pytest.approx(widths[1] * math.sqrt(0.01), rel=0.02)


def test_a_rate_that_does_not_vary_has_an_interval():
    """30 of 30 succeed, of 60: (1/20)^(1/60) at least, as 60 trials of many queries show."""
    model = [scores([(SUCCESS, np.ones(60))], names(range(60)))]
    human = [scores([(SUCCESS, np.ones(30))], names(range(30)))]
    (one,) = correct(human, model, "values").corrected
    assert one.result.interval == pytest.approx((0.05 ** (1 / 60), 1.0))


def test_differences_are_of_the_same_queries():
    human, model = judged_by_both(runs=3)
    found = correct(human, model, "differences")
    assert [one.run for one in found.corrected] == ["second", "third"]
    difference = [
        (runs[1]["map"].per_query - runs[0]["map"].per_query)[:, None] for runs in (human, model)
    ]
    rest = np.delete(difference[1], range(0, 60, 3), axis=0)
    expected = prediction_powered(
        difference[0], difference[1][::3], rest, lambda means: float(means[0])
    )
    assert found.corrected[0].result.estimate == pytest.approx(expected.estimate)
    assert found.corrected[0].result.p == pytest.approx(expected.p)
    # Holm: the smaller of two p-values doubles.
    smaller = min(one.result.p for one in found.corrected)
    assert min(one.p_corrected for one in found.corrected) == pytest.approx(2 * smaller)


def test_queries_whose_value_is_na_count_for_nothing():
    """A mean over known queries is a ratio of means: here people know it for 4 of 5."""
    human, model = judged_by_both()
    with_na = human[0]["map"].per_query.copy()
    with_na[::5] = math.nan
    found = correct([scores([(MAP, with_na)], human[0].queries)], model, "values")
    assert found.corrected[0].result.human == pytest.approx(np.nanmean(with_na))


def test_ratios_of_means_go_through_their_statistics():
    random = np.random.default_rng(4)
    success = random.random(200) < 0.6
    chance = random.uniform(0.01, 0.05, size=200)
    says = success ^ (random.random(200) < 0.1)
    model = [scores([(BOR, np.stack([says, chance], axis=1))], names(range(200)))]
    human = [scores([(BOR, np.stack([success, chance], axis=1)[:50])], names(range(50)))]
    (one,) = correct(human, model, "values").corrected
    assert one.result.human == pytest.approx(math.log2(success[:50].mean() / chance[:50].mean()))
    assert one.result.other == pytest.approx(math.log2(says.mean() / chance.mean()))
    whole = math.log2(success.mean() / chance.mean())
    assert one.result.interval.low < whole < one.result.interval.high
    assert one.result.worth > 60


def test_sums_and_counts_are_refused_in_words():
    human, model = judged_by_both()
    sums = [(NUM_RET, [10.0] * 60), (NUM_Q, [1.0] * 60), (MAP, model[0]["map"].per_query)]
    few = [(metric, np.array(rows)[::3]) for metric, rows in sums]
    found = correct([scores(few, human[0].queries)], [scores(sums, model[0].queries)], "values")
    assert [metric.name for metric in found.refused] == ["num_ret", "num_q"]
    answer = correction_answer(found)
    assert "num_ret, num_q: left out, not a mean over queries" in answer.notes


def test_too_few_too_many_and_none():
    _, model = judged_by_both()
    for judged, problem in ((range(9), "9 queries; expected at least 10"), (range(60), "all 60")):
        human, _ = judged_by_both(judged=judged)
        with pytest.raises(UsageError, match=problem):
            correct(human, model, "values")
    human, _ = judged_by_both(judged=range(20))
    other = [scores([(MAP, [0.5] * 30)], names(range(100, 130)))]
    with pytest.raises(NothingInCommonError):
        correct(human, other, "values")


def test_queries_that_people_alone_judged_are_left_out():
    human, model = judged_by_both(judged=range(30))
    fewer = [scores([(MAP, model[0]["map"].per_query[5:])], names(range(5, 60)))]
    found = correct(human, fewer, "values")
    assert (found.judged, found.left_out, found.queries) == (25, 5, 55)


def test_a_sample_that_is_none_is_noticed():
    values = judged_by_both()[1][0]["map"].per_query
    easy = np.argsort(-values)[:20]
    human, model = judged_by_both(judged=sorted(easy.tolist()))
    found = correct(human, model, "values")
    check = found.sampling
    rest = np.delete(values, easy)
    assert check.p == pytest.approx(ttest_ind(values[easy], rest).pvalue)
    assert "they do not look like one" in correction_answer(found).notes[0]
    assert (
        "no evidence against it" in correction_answer(correct(*judged_by_both(), "values")).notes[0]
    )


def test_nothing_varies():
    model = [scores([(MAP, np.ones(60))], names(range(60)))]
    human = [scores([(MAP, np.ones(30))], names(range(30)))]
    answer = correction_answer(correct(human, model, "values"))
    assert answer.verdict == [
        "Nothing can be corrected: no value varies among the human-judged queries."
    ]


def test_a_true_difference_of_nothing_is_rarely_called_one():
    called = 0
    for seed in range(300):
        random = np.random.default_rng(seed)
        runs = [random.normal(0.5, 0.2, size=90) for _ in range(2)]
        says = [run + random.normal(0.1, 0.1, size=90) for run in runs]
        human = [scores([(MAP, run[:30])], names(range(30))) for run in runs]
        model = [scores([(MAP, run)], names(range(90))) for run in says]
        called += correct(human, model, "differences").corrected[0].result.p < 0.05
    assert 0.02 * 300 <= called <= 0.085 * 300  # 5 of 100, give or take 2.5 standard errors


def test_a_judge_that_says_less_than_people_alone_is_said_to():
    """The model knows one measure and guesses the other, which costs a degree of freedom."""
    random = np.random.default_rng(5)
    truth, noise = random.normal(0.5, 0.15, (2, 120)), random.normal(0.5, 0.15, 120)
    human = [scores([(MAP, truth[0, :12]), (HARM, truth[1, :12])], names(range(12)))]
    model = [scores([(MAP, truth[0]), (HARM, noise)], names(range(120)))]
    found = correct(human, model, "values")
    worth = [round(one.result.worth) for one in found.corrected]
    assert worth[0] > 12 > worth[1]
    said = correction_answer(found).verdict[0]
    assert said.endswith(
        f"With model, the 12 human-judged queries are as informative as {worth[1]} to {worth[0]}."
    )
