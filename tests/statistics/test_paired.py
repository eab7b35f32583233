import math
from dataclasses import replace

import numpy as np
import pytest

from ragkpi.errors import NothingInCommonError, RagkpiWarning, UsageError
from ragkpi.measures.measure import SUM
from ragkpi.statistics.bootstrap import Bootstrap, intervals
from ragkpi.statistics.paired import Procedure, compare, compare_each
from ragkpi.statistics.significance import corrected
from tests.made_scores import BOR, HARM, MAP, NUM_Q, RUNID, metric, scores

NAMES = ["baseline", "other"]

RESAMPLED = Bootstrap(rates="resampled")


def difference(baseline, other, metric=MAP, procedure=None):
    runs = [scores([(metric, baseline)]), scores([(metric, other)])]
    return compare(NAMES, runs, procedure or Procedure()).differences[0]


def test_a_comparison_by_hand():
    found = difference([0.1, 0.2, 0.3, 0.4], [0.2, 0.2, 0.5, 0.3])
    assert (found.wins, found.ties, found.losses) == (2, 1, 1)
    assert found.baseline == pytest.approx(0.25)
    assert found.summary == pytest.approx(0.30)
    assert found.difference == pytest.approx(0.05)
    # differences .1, 0, .2, -.1: mean .05, squared deviations .05, so s = sqrt(.05 / 3)
    assert found.effect_size == pytest.approx(0.05 / math.sqrt(0.05 / 3))
    # of the 8 ways to sign .1, .2 and .1, those with |sum| >= .2: all but +-(.1 - .2 + .1)
    assert found.p == 6 / 8


def test_lower_is_better_for_harm():
    found = difference([0.5, 0.5, 0.2], [0.1, 0.6, 0.1], HARM)
    assert (found.wins, found.losses) == (2, 1)
    assert found.difference == pytest.approx(-0.4 / 3)


def test_interval_of_a_difference_of_means_is_that_of_the_mean_difference():
    random = np.random.default_rng(1)
    baseline, other = random.random((2, 30))
    found = difference(baseline, other).interval
    assert found == pytest.approx(intervals(scores([(MAP, other - baseline)]), Bootstrap())["map"])


def test_interval_of_a_difference_of_bits_is_that_of_the_ratio_of_successes():
    """The chances cancel where both runs have the same, whatever they are."""
    random = np.random.default_rng(1)
    hits, chances = random.random((2, 50)) < [[0.4], [0.7]], random.random(50)
    runs = [np.column_stack([hit, chances]) for hit in hits]
    found = difference(*runs, BOR)
    assert found.difference == pytest.approx(np.log2(hits[1].sum() / hits[0].sum()))
    ratio = intervals(scores([(BOR, np.column_stack([hits[1], hits[0]]))]), RESAMPLED)["bor_10"]
    assert found.interval == pytest.approx(ratio)


def test_effect_size_of_a_ratio_uses_jackknife_pseudo_values():
    random = np.random.default_rng(1)
    runs = [np.column_stack([random.random(20) < p, random.random(20)]) for p in (0.4, 0.8)]

    def bits(rows):
        return np.log2(rows[:, 0].sum() / rows[:, 1].sum())

    pseudo = [
        [20 * bits(run) - 19 * bits(np.delete(run, q, axis=0)) for q in range(20)] for run in runs
    ]
    expected = (bits(runs[1]) - bits(runs[0])) / np.std(np.subtract(*pseudo), ddof=1)
    assert difference(*runs, BOR).effect_size == pytest.approx(expected)


@pytest.mark.parametrize("other", [[0.1, 0.2, 0.3], [0.6, 0.7, 0.8]], ids=["none", "constant"])
def test_no_effect_size_where_differences_do_not_vary(other):
    assert math.isnan(difference([0.1, 0.2, 0.3], other).effect_size)


def test_effect_size_of_totals_is_that_of_means():
    baseline, other = [3, 5, 1, 7], [4, 9, 1, 6]
    totals = difference(baseline, other, metric("num_rel_ret", SUM))
    assert totals.difference == 4
    assert totals.effect_size == pytest.approx(difference(baseline, other).effect_size)


def test_correction_covers_the_runs_by_one_metric_or_all_of_the_call():
    random = np.random.default_rng(8)
    runs = [scores([(MAP, random.random(30)), (HARM, random.random(30))]) for _ in range(4)]
    procedure = Procedure(correction="holm", family="all", trials=500)
    found = compare(["a", "b", "c", "d"], runs, procedure)
    p = np.array([one.p for one in found.differences])
    assert len(p) == 6
    assert [one.corrected for one in found.differences] == list(corrected(p, "holm"))
    by_metric = compare(["a", "b", "c", "d"], runs, replace(procedure, family="metric"))
    assert [one.corrected for one in by_metric.differences] == [
        *corrected(p[:3], "holm"),
        *corrected(p[3:], "holm"),
    ]
    assert [(one.metric.name, one.run) for one in found.differences] == [
        (name, run) for name in ("map", "harm_10") for run in "bcd"
    ]


def test_a_run_is_compared_alike_alone_and_among_others():
    random = np.random.default_rng(8)
    a, c = (scores([(MAP, random.random(25)), (BOR, random.random((25, 2)))]) for _ in range(2))
    b = scores([(MAP, [0.0] * 25), (BOR, [[0, 0.5]] * 25)])  # -inf must not spread
    procedure = Procedure(correction="none", trials=300)
    together = compare(["a", "b", "c"], [a, b, c], procedure).differences
    alone = compare(["a", "c"], [a, c], procedure).differences
    assert [one for one in together if one.run == "c"] == alone


def test_what_is_no_better_or_worse_is_not_compared():
    chance = metric("p_rand_10", better="neither")
    columns = [(RUNID, [b"x"] * 3), (NUM_Q, [1] * 3), (chance, [0.1] * 3)]
    run = scores([*columns, (MAP, [0.1, 0.2, 0.3])])
    found = compare(NAMES, [run, run], Procedure())
    assert [one.metric.name for one in found.differences] == ["map"]
    with pytest.raises(UsageError, match="no better or worse in runid, num_q, p_rand_10"):
        compare(NAMES, [scores(columns)] * 2, Procedure())


def test_queries_unknown_in_one_run_are_left_out_of_that_value():
    baseline = scores([(MAP, [0.1, np.nan, 0.3, 0.4]), (HARM, [0, 0, 0, 0])])
    other = scores([(MAP, [0.5, 0.6, np.nan, 0.8]), (HARM, [1, 0, 0, 0])])
    by_map, by_harm = compare(NAMES, [baseline, other], Procedure()).differences
    assert (by_map.queries, by_harm.queries) == (2, 4)
    assert (by_map.baseline, by_map.summary) == pytest.approx((0.25, 0.65))


@pytest.mark.parametrize("test", ["randomization", "bootstrap", "t", "wilcoxon", "sign"])
@pytest.mark.parametrize("known", [0, 1])
def test_too_few_queries(test, known):
    rows = [0.5] * known + [np.nan] * (3 - known)
    found = difference(rows, rows, procedure=Procedure(test=test))
    assert found.queries == known
    assert all(map(math.isnan, [*found.interval, found.effect_size, found.p, found.corrected]))


def test_queries_that_a_run_lacks_are_dropped_with_a_warning():
    baseline = scores([(MAP, [0.1, 0.2, 0.3])], queries=[b"a", b"b", b"c"])
    other = scores([(MAP, [0.5, 0.9])], queries=[b"b", b"d"])
    with pytest.warns(RagkpiWarning, match="the 1 query .* dropping 2 of baseline, 1 of other"):
        found = compare(NAMES, [baseline, other], Procedure())
    assert (found.differences[0].baseline, found.differences[0].summary) == (0.2, 0.5)
    with pytest.raises(NothingInCommonError):
        compare(NAMES, [baseline, scores([(MAP, [1])], queries=[b"z"])], Procedure())


def test_what_cannot_be_compared_is_refused():
    run = scores([(MAP, [0.1, 0.2])])
    with pytest.raises(UsageError, match="at least one other run"):
        compare(["alone"], [run], Procedure())
    with pytest.raises(UsageError, match="other was evaluated for other metrics"):
        compare(NAMES, [run, scores([(HARM, [0.1, 0.2])])], Procedure())


def test_each_run_as_the_baseline_is_compared_as_if_it_were_the_only_one():
    rng = np.random.default_rng(5)
    runs = [scores([(MAP, rng.random(30)), (HARM, rng.random(30))]) for _ in range(4)]
    names = list("abcd")
    for baseline, found in enumerate(compare_each(names, runs, Procedure(), range(4))):
        order = [baseline, *(run for run in range(4) if run != baseline)]
        alone = compare([names[i] for i in order], [runs[i] for i in order], Procedure())
        assert found.names == alone.names
        assert found.differences == alone.differences
