import math
import re

import pytest

from ragkpi.errors import NothingInCommonError, RagkpiWarning, UsageError
from ragkpi.statistics.gates import (
    Gate,
    Margin,
    parse_gate,
    parse_margin,
    shortfalls,
    shortfalls_of_baseline,
)
from tests.made_scores import BOR, HARM, MAP, NUM_Q, RUNID, metric, scores

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
        ("map=0.3001", "bm25: map is 0.3, under 0.3001 by 0.0001"),
        ("harm_10=0.25", None),
        ("harm_10=0.2", "bm25: harm_10 is 0.25, over 0.2 by 0.05"),
        ("P_5=0", "bm25: P_5 is NA; its limit is 0"),
        ("bor_10=-99", "bm25: bor_10 is -inf, under -99 by inf"),
        ("num_q=2", None),
        ("num_q=3", "bm25: num_q is 2, under 3 by 1"),
    ],
)
def test_gates(gate, message):
    missed = shortfalls("bm25", RUN, [parse_gate(gate)])
    assert [str(one) for one in missed] == ([message] if message else [])


def test_all_that_fell_short_is_found_at_once():
    missed = shortfalls("bm25", RUN, [Gate("map", 0.5), Gate("harm_10", 0.1)])
    assert re.fullmatch(r"bm25: map is .* by 0\.2; bm25: harm_10.*", "; ".join(map(str, missed)))


@pytest.mark.parametrize("text", ["map", "map=", "=0.3", "map=high", "map=nan", "map=inf"])
def test_bad_gates(text):
    with pytest.raises(UsageError, match="expected NAME=NUMBER"):
        parse_gate(text)


@pytest.mark.parametrize("name", ["runid", "ndcg"])
def test_gates_on_what_is_no_number_here(name):
    with pytest.raises(UsageError, match=r"num_q, map, P_5, bor_10, harm_10"):
        shortfalls("bm25", RUN, [Gate(name, 0)])


def test_parameters_may_hold_equals_signs():
    assert parse_gate("t_10_alpha=0.3=0.1") == Gate("t_10_alpha=0.3", 0.1)


@pytest.mark.parametrize(
    ("text", "margin"), [("0.01", Margin(0.01)), ("2%", Margin(0.02, True)), ("0", Margin(0.0))]
)
def test_margins(text, margin):
    assert parse_margin(text) == margin


@pytest.mark.parametrize("text", ["-1", "x", "%", "inf", "nan%"])
def test_bad_margins(text):
    with pytest.raises(UsageError, match="expected a number from 0"):
        parse_margin(text)


@pytest.mark.parametrize(
    ("margin", "missed"),
    [("0", ["map", "harm_10"]), ("0.1", ["harm_10"]), ("20%", ["map", "harm_10"]), ("0.5", [])],
)
def test_gates_of_a_baseline(margin, missed):
    """The map falls from .4 to .3, the harm rises from .25 to .5; num_q is no gate."""
    baseline = scores([(NUM_Q, [1, 1]), (MAP, [0.4, 0.4]), (HARM, [0.5, 0.0])])
    run = scores([(NUM_Q, [1, 1]), (MAP, [0.25, 0.35]), (HARM, [0.5, 0.5])])
    found = shortfalls_of_baseline(("old", baseline), ("new", run), parse_margin(margin))
    assert [one.name for one in found] == missed


def test_a_baseline_is_compared_over_shared_queries():
    baseline = scores([(MAP, [0.4, 0.0])], queries=[b"a", b"b"])
    run = scores([(MAP, [0.3])], queries=[b"a"])
    with pytest.warns(RagkpiWarning, match="dropping 1 of old"):
        (missed,) = shortfalls_of_baseline(("old", baseline), ("new", run), Margin(0.0))
    assert str(missed) == "new: map is 0.3, under 0.4 by 0.1"
    other = scores([(MAP, [1])], queries=[b"c"])
    with pytest.raises(NothingInCommonError):
        shortfalls_of_baseline(("old", baseline), ("new", other), Margin(0.0))


def test_a_baseline_without_a_value_sets_no_gate():
    baseline, run = scores([(MAP, [math.nan])]), scores([(MAP, [0.2])])
    with pytest.warns(RagkpiWarning, match="map is NA for old"):
        assert shortfalls_of_baseline(("old", baseline), ("new", run), Margin(0.0)) == []
