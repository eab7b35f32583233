"""How many queries: plans against scipy's noncentral t, and pilots that plan nothing."""

import math

import numpy as np
import pytest
from scipy import stats

import ragkpi
from ragkpi.errors import UsageError


def power_by_scipy(effect, queries, alpha=0.05):
    """The probability of p < alpha of the two-sided paired t test."""
    limit = stats.t.ppf(1 - alpha / 2, queries - 1)
    centre = effect * math.sqrt(queries)
    return stats.nct.sf(limit, queries - 1, centre) + stats.nct.cdf(-limit, queries - 1, centre)


def pilot(differences):
    """Qrels and two runs whose values by P@10 differ by these tenths."""
    qrels = {f"q{n:03}": {f"d{k}": 1 for k in range(10)} for n in range(len(differences))}
    runs = {
        name: {
            query: {f"{'d' if k < hits else 'x'}{k}": -float(k) for k in range(10)}
            for query, hits in zip(qrels, of, strict=True)
        }
        for name, of in (("a", [5] * len(differences)), ("b", [5 + d for d in differences]))
    }
    return qrels, runs


# J. Cohen, Statistical Power Analysis for the Behavioral Sciences, 1988, for the paired t test.
@pytest.mark.parametrize(("effect", "queries"), [(0.2, 199), (0.3, 90), (0.5, 34), (0.8, 15)])
def test_the_published_numbers(effect, queries):
    (row,) = ragkpi.power(difference=effect, sd=1.0).rows
    assert row["queries"] == queries
    assert power_by_scipy(effect, queries - 1) < 0.8 <= power_by_scipy(effect, queries)


@pytest.mark.parametrize("queries", [10, 50, 400])
@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
def test_what_so_many_queries_detect(queries, power):
    (row,) = ragkpi.power(sample_size=queries, sd=0.26, power=power).rows
    found = power_by_scipy(row["difference"] / 0.26, queries)
    assert found == pytest.approx(power, abs=1e-4)  # one tail alone is inverted


def test_clusters_take_more_queries():
    """Each query five times, as a cluster: five times the queries, of as many units."""
    wave = [2, -2, 1, -1, 0, 0] * 5
    (alone,) = ragkpi.power(*pilot(wave), "P.10", difference=0.05).rows
    qrels, runs = pilot([d for d in wave for _ in range(5)])
    clusters = {query: str(place // 5) for place, query in enumerate(qrels)}
    (of_five,) = ragkpi.power(qrels, runs, "P.10", difference=0.05, cluster=clusters).rows
    assert of_five["queries"] == pytest.approx(5 * alone["queries"], abs=5)


def test_a_pilots_difference_is_no_effect():
    """Two pilots with the same spread, one of them far apart: the same plan."""
    wave = [2, -2, 1, -1, 0, 0] * 5
    plans = [
        ragkpi.power(*pilot([d + shift for d in wave]), "P.10", difference=0.05).rows
        for shift in (0, 2)
    ]
    assert plans[0][0] == pytest.approx(plans[1][0])
    bound = np.std(np.array(wave) / 10, ddof=1) * math.sqrt(29 / stats.chi2.ppf(0.2, 29))
    queries = plans[0][0]["queries"]
    # The bootstrap's bound may be the greater one.
    assert power_by_scipy(0.05 / bound, queries) >= 0.8
    assert queries <= 1.2 * (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) ** 2 * (bound / 0.05) ** 2


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({}, "no pilot; expected two runs on at least 20 queries"),
        ({"sd": 0.0}, "sd= 0: expected a number above 0"),
        ({"sd": 0.2, "difference": "0.1,x"}, "expected numbers above 0"),
        ({"sd": 0.2, "difference": -0.1}, "expected numbers above 0"),
        ({"sd": 0.2, "difference": math.inf}, "expected numbers above 0"),
        ({"sd": 0.2, "sample_size": 1}, "expected 2 queries or more"),
        ({"sd": 0.2, "power": 1.0}, "power= 1.0: expected a probability"),
    ],
)
def test_what_cannot_be_planned(how, says):
    with pytest.raises(UsageError, match=says):
        ragkpi.power(**how)


def test_pilots_that_plan_nothing():
    with pytest.raises(UsageError, match="a pilot of 19 "):
        ragkpi.power(*pilot([1, -1] * 9 + [0]), "P.10")
    with pytest.raises(UsageError, match="all equal"):
        ragkpi.power(*pilot([1] * 30), "P.10")
    qrels, runs = pilot([1, -1] * 15)
    with pytest.raises(UsageError, match="a pilot of 3 runs"):
        ragkpi.power(qrels, {**runs, "c": runs["a"]}, "P.10")
    with pytest.raises(UsageError, match="a pilot and a standard deviation"):
        ragkpi.power(qrels, runs, "P.10", sd=0.2)


def test_the_answer_says_how_often_such_plans_fall_short():
    result = ragkpi.power(*pilot([2, -2, 1, -1, 0] * 10), "P.10", difference=0.05)
    (note,) = [note for note in result.answer.split("\n") if "simulations" in note] or [""]
    text = result.to_text("markdown")
    assert "below 70% in 3% to 18% of such plans" in (note or text)
