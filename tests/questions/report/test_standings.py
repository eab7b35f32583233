"""Who leads, in the four forms of the sentence; and how many queries would tell."""

import math
import re

import numpy as np
import pytest
from scipy import stats

from ragkpi.questions.report.standings import (
    ReportedRun,
    best_first,
    decisions,
    more_queries,
    queries_to_tell,
)
from ragkpi.statistics.paired import Procedure
from tests.made_scores import MAP, scores

QUERIES = 40
NOISE = np.random.default_rng(5).normal(0, 0.01, (8, QUERIES))


def runs(*levels):
    return [
        ReportedRun(f"r{place}", f"r{place}", scores([(MAP, level + noise)]), None)
        for place, (level, noise) in enumerate(zip(levels, NOISE, strict=False), start=1)
    ]


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        ((0.5, 0.3, 0.4), "By map, r1 has .*; it is better than r3 .* and r2 "),
        ((0.3, 0.5, 0.5), "By map, r2 has .*; it is better than r1 .* not shown to differ from r3"),
        ((0.5, 0.5), "By map, .*; it is not shown to differ from "),
        ((0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.3), ".* better than r7 .* to differ from 5 runs"),
    ],
)
def test_the_sentence_names_all_that_may_be_best(levels, said):
    decision = decisions(runs(*levels), [MAP], Procedure(), None)["map"]
    assert re.match(said, decision.sentences[0])


def test_runs_that_may_be_best_stand_before_those_shown_to_be_worse():
    """The second is worse on every query; the third has the least mean, and wins a few."""
    steady, noisy = NOISE[0], 40 * NOISE[1]
    made = [
        ReportedRun(name, name, scores([(MAP, 0.5 + values)]), None)
        for name, values in (("a", steady), ("b", steady - 0.05), ("c", noisy - noisy.mean() - 0.1))
    ]
    decision = decisions(made, [MAP], Procedure(), None)["map"]
    assert decision.claims == {"b": "worse", "c": "undecided"}
    assert best_first(made, MAP, None) == [0, 1, 2]
    assert best_first(made, MAP, decision) == [0, 2, 1]


def test_a_stricter_level_claims_less():
    some = runs(0.3, 0.306)
    p = decisions(some, [MAP], Procedure(), None)["map"].p[0, 1]
    for level, claim in ((1 - 1.5 * p, "worse"), (1 - p / 1.5, "undecided")):
        procedure = Procedure()
        strict = Procedure(bootstrap=type(procedure.bootstrap)(level=level))
        assert set(decisions(some, [MAP], strict, None)["map"].claims.values()) == {claim}


def test_one_run_decides_nothing():
    assert decisions(runs(0.5), [MAP], Procedure(), None) == {}


@pytest.mark.parametrize(("effect", "queries"), [(0.5, 22), (0.3, 50), (1.2, 12), (-0.5, 22)])
def test_the_number_of_queries_has_the_promised_power(effect, queries):
    number = queries_to_tell(effect, queries, 0.05)
    bound = math.sqrt((queries - 1) / stats.chi2.ppf(0.2, queries - 1))

    def power(n):
        centre = abs(effect) / bound * math.sqrt(n)
        return stats.nct.sf(stats.t.ppf(0.975, n - 1), n - 1, centre)

    assert power(number - 1) < 0.8 <= power(number)


@pytest.mark.parametrize(("effect", "queries"), [(0.01, 50), (0.0, 50), (math.nan, 50), (1.0, 1)])
def test_no_number_of_queries_is_made_up(effect, queries):
    assert queries_to_tell(effect, queries, 0.05) is None


def test_the_advice_is_rounded_up_to_one_digit():
    some = runs(0.5, 0.5)
    advice = more_queries(some, MAP, decisions(some, [MAP], Procedure(), None)["map"], Procedure())
    assert advice.startswith("Add queries: ")
    number = advice.split("about ")[1].split()[0] if "about" in advice else "1,000"
    assert len(number.replace(",", "").strip("0")) == 1
