import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import ragkpi
from ragkpi.errors import DataError, NothingInCommonError, RagkpiWarning, UsageError
from ragkpi.measures.measure import SUM
from ragkpi.statistics.bootstrap import Bootstrap
from ragkpi.statistics.paired import Procedure, compare, compare_each, decided_together
from tests.made_scores import BOR, HARM, MAP, NUM_Q, RUNID, metric, scores

NAMES = ["baseline", "other"]


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
    assert found.p == pytest.approx(2 * stats.t.sf(0.05 / math.sqrt(0.05 / 3 / 4), 3))
    # of the 8 ways to sign .1, .2 and .1, those with |sum| >= .2: all but +-(.1 - .2 + .1)
    swapped = Procedure(test="randomization")
    assert difference([0.1, 0.2, 0.3, 0.4], [0.2, 0.2, 0.5, 0.3], procedure=swapped).p == 6 / 8


def test_lower_is_better_for_harm():
    found = difference([0.5, 0.5, 0.2], [0.1, 0.6, 0.1], HARM)
    assert (found.wins, found.losses) == (2, 1)
    assert found.difference == pytest.approx(-0.4 / 3)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_interval_of_a_difference_of_means_is_that_of_the_paired_t_test(level):
    baseline, other = np.random.default_rng(1).random((2, 30))
    found = difference(baseline, other, procedure=Procedure(bootstrap=Bootstrap(level=level)))
    expected = stats.ttest_rel(other, baseline).confidence_interval(level)
    assert tuple(found.interval) == pytest.approx(tuple(expected))


def bits(rows):
    return np.log2(rows[:, 0].sum() / rows[:, 1].sum())


def pseudo_values(run):
    """What each query contributes to the bits: n of all, less n - 1 without it."""
    n = len(run)
    return [n * bits(run) - (n - 1) * bits(np.delete(run, q, axis=0)) for q in range(n)]


def test_interval_of_a_difference_of_bits_is_students_of_the_pseudo_values():
    random = np.random.default_rng(1)
    runs = [np.column_stack([random.random(50) < p, random.random(50)]) for p in (0.4, 0.7)]
    change = np.subtract(pseudo_values(runs[1]), pseudo_values(runs[0]))
    reach = stats.t.ppf(0.975, 49) * change.std(ddof=1) / math.sqrt(50)
    middle = bits(runs[1]) - bits(runs[0])
    found = difference(*runs, BOR)
    assert tuple(found.interval) == pytest.approx((middle - reach, middle + reach))


def test_bits_have_no_interval_where_one_query_carries_them():
    """One success: without its query the bits are -inf."""
    rows = [[1, 0.5]] + [[0, 0.5]] * 5
    assert all(map(math.isnan, difference(rows, [[1, 0.25]] * 6, BOR).interval))


def test_effect_size_of_a_ratio_uses_jackknife_pseudo_values():
    random = np.random.default_rng(1)
    runs = [np.column_stack([random.random(20) < p, random.random(20)]) for p in (0.4, 0.8)]

    expected = (bits(runs[1]) - bits(runs[0])) / np.std(
        np.subtract(*map(pseudo_values, runs)), ddof=1
    )
    assert difference(*runs, BOR).effect_size == pytest.approx(expected)


@pytest.mark.parametrize("other", [[0.1, 0.2, 0.3], [0.6, 0.7, 0.8]], ids=["none", "constant"])
def test_no_effect_size_where_differences_do_not_vary(other):
    assert math.isnan(difference([0.1, 0.2, 0.3], other).effect_size)


def test_effect_size_of_totals_is_that_of_means():
    baseline, other = [3, 5, 1, 7], [4, 9, 1, 6]
    totals = difference(baseline, other, metric("num_rel_ret", SUM))
    assert totals.difference == 4
    assert totals.effect_size == pytest.approx(difference(baseline, other).effect_size)


def test_the_first_metric_decides_or_all_do():
    """Holm's by hand: of k sorted p-values the i-th times k - i + 1, made monotone, at most 1."""

    def holm(p):
        stepped, last = {}, 0.0
        for place, (value, row) in enumerate(sorted(zip(p, range(len(p)), strict=True))):
            last = stepped[row] = min(1.0, max(last, value * (len(p) - place)))
        return [stepped[row] for row in range(len(p))]

    random = np.random.default_rng(8)
    base = random.random((2, 30))
    lifted = [base + lift + random.normal(0, 0.1, (2, 30)) for lift in (0.08, 0.0, -0.08)]
    runs = [scores([(MAP, rows[0]), (HARM, rows[1])]) for rows in (base, *lifted)]
    procedure = Procedure(test="t", family="all")
    found = compare(["a", "b", "c", "d"], runs, procedure).differences
    p = [one.p for one in found]
    assert [one.corrected for one in found] == pytest.approx(holm(p))
    described = compare(["a", "b", "c", "d"], runs, replace(procedure, family="first")).differences
    assert [one.p for one in described] == p
    assert [one.corrected for one in described[:3]] == pytest.approx(holm(p[:3]))
    assert all(math.isnan(one.corrected) for one in described[3:])
    assert [one.decision for one in described] == [
        *("better", "undecided", "worse"),
        *["described"] * 3,
    ]
    assert [one.decision for one in found[3:]] == ["worse", "undecided", "better"]  # less is better
    assert [(one.metric.name, one.run) for one in found] == [
        (name, run) for name in ("map", "harm_10") for run in "bcd"
    ]


@pytest.mark.parametrize(
    ("queries", "runs", "test", "reached"),
    [
        (5, 1, "randomization", " 0.0625."),
        (6, 1, "randomization", ""),  # 2 / 2 ** 6 = 0.03125
        (5, 1, "t", ""),
    ],
)  # fmt: skip
def test_queries_too_few_for_any_claim(queries, runs, test, reached):
    better = [scores([(MAP, [0.5 + 0.01 * q for q in range(queries)])]) for _ in range(runs)]
    made = [scores([(MAP, [0.1] * queries)]), *better]
    found = compare(list("abc")[: runs + 1], made, Procedure(test=test))
    assert bool(found.out_of_reach) == bool(reached)
    assert found.out_of_reach.endswith(reached)
    if reached or test in ("randomization", "sign"):
        # All queries rise, so p is the least that there is.
        decisions = {one.decision for one in found.differences}
        assert decisions == {"undecided" if reached else "better"}


def test_queries_enough_beside_what_is_shown_elsewhere():
    """Six queries that all rise have p = 1/32, and Holm leaves them a factor of 1, not of 3."""

    def all_rise(queries, test="sign"):
        runs = [scores([(MAP, [0.1] * queries)]), scores([(MAP, 0.5 + np.arange(queries) / 64)])]
        return compare(NAMES, runs, Procedure(test=test))

    *_, six = decided_together([all_rise(20), all_rise(14), all_rise(6)])
    assert (six.tests, six.differences[0].decision, six.out_of_reach) == (3, "better", "")


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


@pytest.mark.parametrize("test", ["randomization", "t", "wilcoxon", "sign"])
@pytest.mark.parametrize("known", [0, 1])
def test_too_few_queries(test, known):
    rows = [0.5] * known + [np.nan] * (3 - known)
    found = difference(rows, rows, procedure=Procedure(test=test))
    assert found.queries == known
    assert all(map(math.isnan, [*found.interval, found.effect_size, found.p, found.corrected]))


def test_queries_that_a_run_lacks_are_dropped_with_a_warning():
    """The relevant document of b is second in the one run and first in the other."""
    qrels = {query: {"d": 1} for query in "abcd"}
    second, top = {"x": 2.5, "d": 1.5}, {"d": 1.5}
    baseline, other = {"a": top, "b": second, "c": top}, {"b": top, "d": second}
    with pytest.warns(RagkpiWarning, match="the 1 query .* dropping 2 of baseline, 1 of other"):
        found = ragkpi.compare(
            qrels, {"baseline": baseline, "other": other}, "recip_rank", missing="common"
        )
    assert [row["value"] for row in found.rows] == [0.5, 1.0]
    with pytest.raises(NothingInCommonError, match="share no query"):
        ragkpi.compare(qrels, {"one": {"a": top}, "two": {"b": top}}, missing="common")


def test_runs_over_other_queries_are_not_compared():
    baseline = scores([(MAP, [0.1, 0.2, 0.3])], queries=[b"a", b"b", b"c"])
    other = scores([(MAP, [0.5, 0.9])], queries=[b"b", b"d"])
    with pytest.raises(DataError, match=r"3 queries, other over 2 \(only one has a, c, d\)"):
        compare(NAMES, [baseline, other], Procedure())


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
