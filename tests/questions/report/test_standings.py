"""Who leads, in the four forms of the sentence; and how many queries would tell."""

import math
import re

import numpy as np
import pytest
from scipy import stats

from ragkpi.questions.report.standings import (
    ReportedRun,
    best_first,
    decide,
    more_queries,
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
        (
            (0.3, 0.5, 0.5),
            "By map, r2 has .*; it is better than r1 .* not significantly different from r3",
        ),
        ((0.5, 0.5), "By map, .*; it is not significantly different from "),
        ((0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.3), ".* better than r7 .* different from 5 runs"),
    ],
)
def test_the_sentence_names_all_that_may_be_best(levels, said):
    decision = decide(runs(*levels), MAP, Procedure(), None)
    assert re.match(said, decision.sentences[0])


def test_runs_that_may_be_best_stand_before_those_shown_to_be_worse():
    """The second is worse on every query; the third has the least mean, and wins a few."""
    steady, noisy = NOISE[0], 40 * NOISE[1]
    made = [
        ReportedRun(name, name, scores([(MAP, 0.5 + values)]), None)
        for name, values in (("a", steady), ("b", steady - 0.05), ("c", noisy - noisy.mean() - 0.1))
    ]
    decision = decide(made, MAP, Procedure(), None)
    assert decision.claims == {"b": "worse", "c": "undecided"}
    assert best_first(made, MAP, None) == [0, 1, 2]
    assert best_first(made, MAP, decision) == [0, 2, 1]


def test_a_stricter_level_claims_less():
    some = runs(0.3, 0.306)
    p = decide(some, MAP, Procedure(), None).p[0, 1]
    for level, claim in ((1 - 1.5 * p, "worse"), (1 - p / 1.5, "undecided")):
        procedure = Procedure()
        strict = Procedure(bootstrap=type(procedure.bootstrap)(level=level))
        assert set(decide(some, MAP, strict, None).claims.values()) == {claim}


def test_one_run_decides_nothing():
    assert decide(runs(0.5), MAP, Procedure(), None) is None


def advised(differences):
    """The advice on two runs whose values differ by these."""
    some = [
        ReportedRun(name, name, scores([(MAP, values)]), None)
        for name, values in (("a", np.full(len(differences), 0.5)), ("b", 0.5 - differences))
    ]
    return more_queries(some, decide(some, MAP, Procedure(), None), Procedure())


def test_the_page_says_what_its_queries_detect_whatever_difference_they_show():
    """Of a standard deviation at its bound by χ², by scipy's noncentral t."""
    wave = np.tile([0.2, -0.2], 15)
    texts = {shift: advised(wave + shift) for shift in (0.0, 0.001, 0.01)}
    bound = math.sqrt(np.var(wave, ddof=1) * 29 / stats.chi2.ppf(0.2, 29))
    seen = float(re.search(r"difference of (\S+) ", texts[0.01])[1])
    limit = stats.t.ppf(0.975, 29)
    assert stats.nct.sf(limit, 29, seen / bound * math.sqrt(30)) == pytest.approx(0.8, abs=0.01)
    assert texts[0.001] == texts[0.01]
    number = int(re.search(r"half of it takes (\d+)", texts[0.01])[1])
    assert 3.5 * 30 < number < 4 * 30


def test_few_queries_plan_nothing():
    assert "12 are too few to plan with" in advised(np.tile([0.2, -0.21], 6))
