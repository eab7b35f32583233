import math

import numpy as np
import pytest
from scipy import stats

from ragkpi.errors import DataError, UsageError
from ragkpi.measures.registry import find_metrics
from ragkpi.statistics.bootstrap import Bootstrap
from ragkpi.statistics.gates import (
    BaselineGate,
    Gate,
    Margin,
    baseline_verdicts,
    limit_verdict,
    margin_of,
    parse_gate,
)
from ragkpi.statistics.paired import Procedure, compare
from tests.made_scores import BOR, HARM, MAP, NUM_Q, RUNID, SUCCESS, metric, scores

BY_VALUE = BaselineGate(decided_by="value")
RUN = scores(
    [
        (RUNID, [b"x", b"x"]),
        (NUM_Q, [1, 1]),
        (MAP, [0.25, 0.35]),
        (metric("P_5"), [math.nan] * 2),
        (BOR, [[0, 0.5], [0, 0.25]]),
        (HARM, [0.5, 0.0]),
    ]
)


@pytest.mark.parametrize(
    ("gate", "message"),
    [
        ("map=0.30", None),
        ("map=0.3001", "bm25: map is 0.3, below 0.3001 by 0.0001"),
        ("harm_10=0.25", None),
        ("harm_10=0.2", "bm25: harm_10 is 0.25, above 0.2 by 0.05"),
        ("P_5=0.5", "bm25: P_5 is NA; its limit is 0.5"),
        ("bor_10=-99", "bm25: bor_10 is -inf, below -99 by inf"),
    ],
)
def test_gates(gate, message):
    verdict = limit_verdict("bm25", RUN, parse_gate(gate))
    assert (None if verdict.passed else str(verdict)) == message


@pytest.mark.parametrize("text", ["map", "map=", "=0.3", "map=high", "map=nan", "map=inf"])
def test_bad_gates(text):
    with pytest.raises(UsageError, match="expected NAME=NUMBER"):
        parse_gate(text)


@pytest.mark.parametrize("name", ["runid", "ndcg"])
def test_gates_on_what_is_no_number_here(name):
    with pytest.raises(UsageError, match=r"num_q, map, P_5, bor_10, harm_10"):
        limit_verdict("bm25", RUN, Gate(name, 0))


def test_parameters_may_hold_equals_signs():
    assert parse_gate("t_10_alpha=0.3=0.1") == Gate("t_10_alpha=0.3", 0.1)


@pytest.mark.parametrize(
    ("text", "margin"), [("0.01", Margin(0.01)), ("2%", Margin(0.02, True)), ("0", Margin(0.0))]
)
def test_margins(text, margin):
    assert margin_of(text) == margin


@pytest.mark.parametrize("text", ["-1", "x", "%", "inf", "nan%"])
def test_bad_margins(text):
    with pytest.raises(UsageError, match="expected a number from 0"):
        margin_of(text)


@pytest.mark.parametrize(
    ("margin", "missed"),
    [("0", ["map", "harm_10"]), ("0.1", ["harm_10"]), ("20%", ["map", "harm_10"]), ("0.3", [])],
)
def test_gates_of_a_baseline(margin, missed):
    """The map falls from .4 to .3, the harm rises from .25 to .5; num_q is no gate."""
    baseline = scores([(NUM_Q, [1, 1]), (MAP, [0.4, 0.4]), (HARM, [0.5, 0.0])])
    run = scores([(NUM_Q, [1, 1]), (MAP, [0.25, 0.35]), (HARM, [0.5, 0.5])])
    gate = BaselineGate(margin_of(margin), "value")
    found = baseline_verdicts(("old", baseline), ("new", run), gate)
    assert [verdict.name for verdict in found] == ["map", "harm_10"]
    assert [verdict.name for verdict in found if not verdict.passed] == missed


@pytest.mark.parametrize("queries", [[b"a"], [b"c"], [b"a", b"c"]])
def test_a_baseline_over_other_queries_is_refused(queries):
    baseline = scores([(MAP, [0.4, 0.0])], queries=[b"a", b"b"])
    run = scores([(MAP, [0.3] * len(queries))], queries=queries)
    with pytest.raises(DataError, match=f"old is over 2 queries, new over {len(queries)}"):
        baseline_verdicts(("old", baseline), ("new", run), BY_VALUE)


@pytest.mark.parametrize("decided_by", ["worse", "noninferior", "value"])
def test_a_baseline_without_a_value_decides_nothing(decided_by):
    baseline, run = scores([(MAP, [math.nan])]), scores([(MAP, [0.2])])
    gate = BaselineGate(decided_by=decided_by)
    (verdict,) = baseline_verdicts(("old", baseline), ("new", run), gate)
    assert not verdict.passed
    assert str(verdict) == "new: map is not decided: no value is worse than old's NA"


def test_a_metric_may_be_named_as_it_is_asked_for():
    run = scores([(metric("ndcg_cut_10"), [0.2, 0.4]), (metric("P_5"), [0.2, 0.4])])
    verdict = limit_verdict("new", run, parse_gate("ndcg_cut.10=0.25"))
    assert (verdict.name, verdict.passed, verdict.limit) == ("ndcg_cut_10", True, 0.25)
    with pytest.raises(UsageError, match="not among the numbers of this evaluation"):
        limit_verdict("new", run, parse_gate("ndcg_cut.20=0.25"))


def paired(difference, spread, n=20):
    """Two runs whose differences have this mean and standard deviation, up to their sign."""
    wave = np.tile([1.0, -1.0], n // 2) * spread * math.sqrt((n - 1) / n)
    return scores([(MAP, [0.5] * n)]), scores([(MAP, 0.5 + difference + wave)])


# By hand: of 19 degrees of freedom the quantile of t at 0.975 is 2.0930, so the 95% interval of a
# mean of 20 differences with a spread of 0.1 reaches 0.0468 to both sides. With a complete failure
# more, a loss of 0.5, the mean of 21 is -0.0238 or 0.0238, the spread 0.1463 or 0.1546, and the
# quantile of t 2.0860: the interval begins at -0.0904 or -0.0466.
@pytest.mark.parametrize(
    ("difference", "margin", "decided_by", "passed"),
    [
        (-0.01, 0.0, "value", False),
        (-0.01, 0.02, "value", True),
        (-0.01, 0.0, "noninferior", False),
        (0.0, 0.0903, "noninferior", False),  # it may be 0.0904 worse
        (0.0, 0.0905, "noninferior", True),
        (0.05, 0.0465, "noninferior", False),
        (0.05, 0.0467, "noninferior", True),
        (-0.09, 0.0, "worse", False),
        (-0.09, 0.0431, "worse", False),  # it is at least 0.0432 worse
        (-0.09, 0.0433, "worse", True),
        (-0.01, 0.0, "worse", True),
        (0.09, 0.0, "worse", True),
    ],
)
def test_what_decides_against_a_baseline(difference, margin, decided_by, passed):
    old, new = paired(difference, 0.1)
    gate = BaselineGate(Margin(margin), decided_by)
    (verdict,) = baseline_verdicts(("old", old), ("new", new), gate)
    assert verdict.passed == passed


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_the_gate_fails_exactly_where_compare_says_worse(level):
    """Runs from much worse to better, by three values of which less of one is better."""
    random, failed = np.random.default_rng(6), 0
    for shift in np.linspace(-0.15, 0.1, 12):
        old = random.random((3, 25))
        new = old + shift + random.normal(0, 0.2, (3, 25))
        of_runs = [
            scores([(MAP, run[0]), (metric("P_5"), run[1]), (HARM, run[2])]) for run in (old, new)
        ]
        procedure = Procedure(family="all", bootstrap=Bootstrap(level=level))
        found = baseline_verdicts(
            ("old", of_runs[0]), ("new", of_runs[1]), BaselineGate(procedure=procedure)
        )
        compared = compare(["old", "new"], of_runs, procedure).differences
        assert [v.passed for v in found] == [one.decision != "worse" for one in compared]
        assert [v.difference for v in found] == compared
        failed += sum(not verdict.passed for verdict in found)
    assert 5 <= failed <= 30


@pytest.mark.parametrize(
    ("difference", "n", "missed"),
    [
        # None of 12 fails: (1 - 1/4) ** 12 = 0.032, (1 - 1/5) ** 12 = 0.069.
        (0.09, 12, "a loss that falls on fewer than 1 in 4 queries"),
        # (1 - 1/10) ** 30 = 0.042, (1 - 1/11) ** 30 = 0.057; t at 0.975 is 2.0452.
        (0.0, 30, "a loss of 0.0373, or one that falls on fewer than 1 in 10 queries"),
        (0.0, 100, "a loss of 0.0198, or one that falls on fewer than 1 in 33 queries"),
    ],
)
def test_a_passed_gate_says_what_it_could_have_missed(difference, n, missed):
    old, new = paired(difference, 0.1, n)
    (verdict,) = baseline_verdicts(("old", old), ("new", new), BaselineGate(Margin(0.05)))
    assert verdict.sentence.endswith(f", over {n} queries; it could have missed {missed}")


@pytest.mark.parametrize("share", [0.0, 0.05, 0.1])
@pytest.mark.parametrize("n", [12, 50, 200])
def test_noninferior_counts_a_failure_that_no_query_shows(share, n):
    """A run that loses the margin of 0.04 by failing on a share of its queries rarely passes."""
    random, passed = np.random.default_rng(n), 0
    for _ in range(100):
        gain = random.normal((0.8 * share - 0.04) / (1 - share), 0.02, n)
        new = np.where(random.random(n) < share, 0.0, 0.8 + gain)
        passed += noninferior([0.8] * n, new, 0.04).passed
    assert passed <= 11  # 0.05 of 100, and three standard deviations


@pytest.mark.parametrize("metric", [SUCCESS, BOR])
def test_rates_and_measures_without_a_worst_value_have_no_such_query(metric):
    rows = [[1, 0.25]] * 12 if metric is BOR else [1.0] * 12
    other = [[1, 0.5], *rows[1:]] if metric is BOR else rows
    verdict = noninferior(rows, other, 0.3, metric)
    assert ("fails completely" in str(verdict)) == (metric is BOR)


def test_no_run_can_lose_more_than_the_baseline_has():
    """Of two queries t at 0.975 is 12.7: the interval goes far below -0.5, a mean of 0.5 cannot."""
    old, new = scores([(MAP, [0.0, 1.0])]), scores([(MAP, [1.0, 1.0])])
    (verdict,) = baseline_verdicts(("old", old), ("new", new), BaselineGate())
    assert verdict.difference.interval.low < -5
    assert " a loss of 0.5000, " in verdict.sentence
    (verdict,) = baseline_verdicts(("old", new), ("new", old), BaselineGate(Margin(0.9)))
    assert " a loss of 1.0000, " in verdict.sentence


def test_a_passed_gate_could_have_missed_clusters():
    """Twelve queries in four clusters fail together: (1 - 1/2) ** 4 = 0.0625, two at least."""
    old, new = paired(0.09, 0.1, 12)
    clusters = {query: str(row // 3) for row, query in enumerate(old.queries)}
    gate = BaselineGate(procedure=Procedure(bootstrap=Bootstrap(clusters=clusters)))
    (verdict,) = baseline_verdicts(("old", old), ("new", new), gate)
    assert verdict.sentence.endswith(" 1 in 2 clusters")


def test_messages_add_up():
    """Ten queries of twenty fall from 0.5 to 0.3, ten to 0.4: by 0.15 with a spread of 0.0513."""
    old, new = scores([(MAP, [0.5] * 20)]), scores([(MAP, [0.3, 0.4] * 10)])
    said = {
        name: str(baseline_verdicts(("base", old), ("new", new), gate)[0])
        for name, gate in {
            "value": BY_VALUE,
            "margin": BaselineGate(Margin(0.1), "value"),
            "worse": BaselineGate(),
            "noninferior": BaselineGate(Margin(2 / 100, relative=True), "noninferior"),
        }.items()
    }
    expected = stats.ttest_1samp([-0.2, -0.1] * 10, 0)
    low, high = expected.confidence_interval(0.95)
    failed = stats.ttest_1samp([-0.2, -0.1] * 10 + [-0.5], 0).confidence_interval(0.95)
    numbers = f"-0.1500 [{low:.4f}, {high:.4f}]"
    assert said == {
        "value": "new: map is 0.3500, below 0.5000 (base) by 0.1500",
        "margin": "new: map is 0.3500, below 0.4000 (base 0.5000 less 0.1000) by 0.0500",
        "worse": "new: map 0.3500 is significantly worse than base's 0.5000: "
        f"{numbers}, p < 0.0001 (limit: 0 at 95%)",
        "noninferior": "new: map 0.3500 is not shown to be non-inferior to base's "
        f"0.5000 within 0.0100: {numbers} (limit: -0.0100 at 95%; with one more query that "
        f"fails completely [{failed.low:.4f}, {failed.high:.4f}])",
    }


def test_a_gate_that_no_run_can_fail_says_so():
    """Three successes that fail: z = 3 / √3, so p = 0.0833."""
    old, new = scores([(SUCCESS, [1, 1, 1])]), scores([(SUCCESS, [0, 0, 0])])
    (verdict,) = baseline_verdicts(("old", old), ("new", new), BaselineGate())
    assert not verdict.passed
    assert "not decided: With 3 queries " in str(verdict)
    assert " below 0.08326" in str(verdict)


def test_several_values_share_the_chance_of_a_false_failure():
    """Four of eight queries fall by the same: t = √7, p = 0.033, of four values 0.13."""
    old, new = [0.5] * 8, [0.25] * 4 + [0.5] * 4
    for number, passed in ((1, [False]), (4, [True] * 4)):
        runs = [scores([(metric(f"m{i}"), rows) for i in range(number)]) for rows in (old, new)]
        found = baseline_verdicts(("old", runs[0]), ("new", runs[1]), BaselineGate())
        assert [verdict.passed for verdict in found] == passed


def test_equal_systems_seldom_fail_where_being_worse_must_be_shown():
    random = np.random.default_rng(4)
    failed = {"value": 0, "worse": 0}
    for _ in range(300):
        difficulty = random.beta(2, 3, size=(30, 1))
        draws = [random.beta(8 * difficulty, 8, size=(30, 5)) for _ in range(2)]
        old, new = (
            scores([(metric(f"m{place}"), of_run[:, place]) for place in range(5)])
            for of_run in draws
        )
        for decided_by in failed:
            gate = BaselineGate(Margin(0.0), decided_by)
            found = baseline_verdicts(("a", old), ("b", new), gate)
            failed[decided_by] += not all(verdict.passed for verdict in found)
    assert failed["value"] > 200
    assert failed["worse"] <= 27  # 0.05 of 300, and three standard deviations


@pytest.mark.parametrize(("decided_by", "passed"), [("worse", True), ("noninferior", False)])
def test_what_has_no_bound_is_not_shown(decided_by, passed):
    """One success in six: without that query the bits are -inf, so there is no standard error."""
    runs = [scores([(BOR, [[1, 0.5]] + [[0, 0.5]] * 4 + [[0, end]])]) for end in (0.5, 0.4)]
    gate = BaselineGate(Margin(0.5), decided_by)
    (verdict,) = baseline_verdicts(("old", runs[0]), ("new", runs[1]), gate)
    assert verdict.passed == passed


def noninferior(old, new, margin, metric=MAP):
    runs = (("old", scores([(metric, old)])), ("new", scores([(metric, new)])))
    (verdict,) = baseline_verdicts(*runs, BaselineGate(Margin(margin), "noninferior"))
    return verdict


def test_equal_rates_are_not_shown_to_be_equal():
    """Twelve equal outcomes leave room for z^2 / (n + z^2) = 0.2425 at z = 1.960."""
    failures = metric("failures", better="lower", rate="always")
    assert not noninferior([1.0] * 12, [1.0] * 12, 0.02, SUCCESS).passed
    assert not noninferior([1, 0] * 6, [1, 0] * 6, 0.2424, SUCCESS).passed
    assert noninferior([1, 0] * 6, [1, 0] * 6, 0.2426, SUCCESS).passed
    assert not noninferior([0.0] * 12, [0.0] * 12, 0.02, failures).passed
    assert noninferior([0.0] * 12, [0.0] * 12, 0.2426, failures).passed


def test_the_measure_says_what_is_a_rate():
    """Reciprocal ranks that happen to be 0 and 1 could be 1/2; precision at 1 could not."""
    kinds = {
        "success.10": True,
        "p_obs.5": True,
        "full_hit.5": True,
        "P.1": True,
        "P.5": False,
        "recip_rank": False,
    }
    assert {name: find_metrics([name])[0].is_rate for name in kinds} == kinds
    assert noninferior([1.0] * 12, [1.0] * 12, 0.0, *find_metrics(["recip_rank"])).passed
    assert not noninferior([1.0] * 12, [1.0] * 12, 0.0, *find_metrics(["P.1"])).passed


@pytest.mark.parametrize("lost", [0, 1, 3])
def test_few_queries_that_differ_fail_no_run(lost):
    """Of 2 ** 3 swaps of three queries that fell two are as far: p = 0.25, whatever they lost.

    To fail such a run would fail, of two runs that are as good, half of all that change few
    queries.
    """
    old, new = [0.5] * 12, [0.0] * lost + [0.5] * (12 - lost)
    runs = (("old", scores([(MAP, old)])), ("new", scores([(MAP, new)])))
    (verdict,) = baseline_verdicts(*runs, BaselineGate())
    assert verdict.passed


@pytest.mark.parametrize("differing", [0.15, 0.2, 0.3, 0.5, 1.0])
def test_a_worse_rate_seldom_passes(differing):
    """Summed over all outcomes of 12 queries of a run that is worse by 0.15, with a margin of 0.05.

    Student's interval let 14% pass where no query is won (`differing` 0.15).
    """
    cells = (differing - 0.15) / 2, (differing + 0.15) / 2, 1 - differing
    chance = 0.0
    for won in range(13):
        for lost in range(13 - won):
            equal = 12 - won - lost
            old, new = [0] * won + [1] * (lost + equal), [1] * won + [0] * lost + [1] * equal
            if noninferior(old, new, 0.05, SUCCESS).passed:
                chance += stats.multinomial.pmf([won, lost, equal], 12, cells)
    assert chance <= 0.05


@pytest.mark.parametrize(("old", "new"), [([0.25, 0.5] * 6, [0.35, 0.6] * 6), ([1.0], [1.0])])
def test_without_a_valid_interval_nothing_passes(old, new):
    verdict = noninferior(old, new, 0.3)
    assert not verdict.passed
    assert "no interval of the difference is valid" in str(verdict)


@pytest.mark.parametrize(("rows", "metric"), [([[1, 0.5]] * 12, BOR), ([0.25, 0.5] * 6, MAP)])
def test_what_is_equal_on_every_query_is_no_worse(rows, metric):
    verdict = noninferior(rows, rows, 0.0, metric)
    assert verdict.passed
    assert verdict.document()["interval"] == [0, 0]


def test_rates_of_a_run_that_ranks_alike_are_equal():
    rates = scores([(SUCCESS, [1.0] * 12)])
    gate = BaselineGate(Margin(0.0), "noninferior")
    (apart,) = baseline_verdicts(("old", rates), ("new", rates), gate)
    (equal,) = baseline_verdicts(("old", rates), ("new", rates), gate, "equal")
    assert (apart.passed, equal.passed) == (False, True)


def test_a_run_that_wins_enough_is_shown_to_be_no_worse():
    assert noninferior([0.0] * 8 + [1.0] * 12, [1.0] * 20, 0.0).passed
