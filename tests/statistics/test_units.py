"""Clusters of queries: units, their correlation, and intervals that leave whole clusters out."""

import math

import numpy as np
import pytest
from scipy import stats

from ragkpi.measures.measure import Metric
from ragkpi.statistics.bootstrap import (
    Bootstrap,
    drawn,
    intervals,
    mid_p,
    query_samples,
    score_interval,
)
from ragkpi.statistics.paired import Procedure, compare
from ragkpi.statistics.significance import correlation_within
from ragkpi.statistics.units import turns_of, units_of
from tests.made_scores import MAP, SUCCESS, measure, scores

UNIT = np.array([0, 0, 0, 1, 1, 2, 3, 3, 3, 3, 4, 4])
CLUSTERS = {b"q%03d" % query: f"c{unit}" for query, unit in enumerate(UNIT)}


def test_queries_without_a_cluster_are_units_of_their_own():
    assert units_of([b"a", b"b"], None) is None
    assert units_of([b"a", b"b"], {b"a": "x", b"b": "y"}) is None
    assert units_of([b"a", b"b", b"c", b"d"], {b"a": "x", b"c": "x"}).tolist() == [0, 1, 0, 2]
    assert units_of([b"a", b"b", b"c"], {b"a": "b", b"c": "b"}).tolist() == [0, 1, 0]  # no id


def test_whole_clusters_are_drawn():
    (weights,) = drawn(12, 200, 7, unit=UNIT)
    for unit in range(5):
        assert (np.ptp(weights[:, unit == UNIT], axis=1) == 0).all()
    firsts = weights[:, [0, 3, 5, 6, 10]]
    assert (firsts.sum(axis=1) == 5).all()
    assert len(np.unique(weights.sum(axis=1))) > 1  # of unequal clusters


def jackknife(values, unit):
    """The mean over queries, its standard error from leaving clusters out, and its freedom.

    Clusters of 3, 2, 1, 4 and 2 queries are worth 144 / 34 clusters of one size.
    """
    without = np.array([values[unit != cluster].mean() for cluster in np.unique(unit)])
    units = len(without)
    error = math.sqrt((units - 1) / units * ((without - without.mean()) ** 2).sum())
    return values.mean(), error, 144 / 34 - 1


@pytest.mark.parametrize("metric", [MAP, SUCCESS])
def test_intervals_and_t_leave_whole_clusters_out(metric):
    """Of rates, too: the score test knows no clusters."""
    generator = np.random.default_rng(3)
    old, new = (generator.random((2, 12)) < [[0.3], [0.8]]).astype(float)
    mean, error, freedom = jackknife(new - old, UNIT)
    procedure = Procedure(bootstrap=Bootstrap(clusters=CLUSTERS))
    runs = [scores([(metric, rows)]) for rows in (old, new)]
    (found,) = compare(["old", "new"], runs, procedure).differences
    reach = stats.t.ppf(0.975, freedom) * error
    assert tuple(found.interval) == pytest.approx((mean - reach, mean + reach))
    assert found.p == pytest.approx(2 * stats.t.sf(abs(mean) / error, freedom))
    assert found.wins == (new > old).sum()  # of queries


def test_of_equal_clusters_t_is_that_of_their_means():
    changes = np.random.default_rng(5).normal(0.1, 1, (8, 5))
    runs = [scores([(MAP, np.zeros(40))]), scores([(MAP, changes.ravel())])]
    clusters = {query: str(row // 5) for row, query in enumerate(runs[0].queries)}
    procedure = Procedure(bootstrap=Bootstrap(clusters=clusters))
    (found,) = compare(["old", "new"], runs, procedure).differences
    assert found.p == pytest.approx(stats.ttest_1samp(changes.mean(axis=1), 0).pvalue)


@pytest.mark.parametrize(("test", "p"), [("randomization", 2 / 2**5), ("sign", 2 / 2**5),
                                         ("wilcoxon", 2 / 2**5)])  # fmt: skip
def test_signs_are_those_of_clusters(test, p):
    """Twelve queries of five clusters all rise: nothing can be claimed, and the call says so."""
    runs = [scores([(MAP, np.zeros(12))]), scores([(MAP, 0.1 + np.arange(12) / 40)])]
    procedure = Procedure(test, bootstrap=Bootstrap(clusters=CLUSTERS))
    found = compare(["old", "new"], runs, procedure)
    assert found.differences[0].p == p
    said = "With 5 clusters no difference can be shown: p cannot fall below 0.0625."
    assert found.out_of_reach == said


def test_resamples_of_clusters_keep_the_mean_over_queries():
    generator = np.random.default_rng(2)
    values = generator.random(12)
    (sample,) = query_samples([scores([(MAP, values)])], lambda _: True, CLUSTERS)
    bootstrap = Bootstrap(resamples=500, clusters=CLUSTERS)
    (weights,) = sample.drawn(bootstrap)
    expected = (weights * values).sum(axis=1) / weights.sum(axis=1)
    (replicates,) = sample.replicates(bootstrap)
    assert replicates[:, 0] == pytest.approx(expected)
    found = intervals(scores([(SUCCESS, np.round(values))]), bootstrap)["success_1"]
    assert found != mid_p(np.round(values).sum(), 12, 0.95)


def test_correlation_within_clusters_by_hand():
    """Three pairs: squares between 2 * (4 + 1 + 1) / 2 = ..., within 0.5 + 0 + 0.5 over 3."""
    values, unit = np.array([1.0, 2.0, 4.0, 4.0, 6.0, 7.0]), np.array([0, 0, 1, 1, 2, 2])
    between, inside = 2 * (2.5**2 + 0 + 2.5**2) / 2, (0.5 + 0 + 0.5) / 3
    found = correlation_within(values, unit)
    assert found.within == pytest.approx((between - inside) / (between + inside))
    assert found.design_effect == pytest.approx(1 + found.within)
    expected = stats.f_oneway([1.0, 2.0], [4.0, 4.0], [6.0, 7.0])
    assert found.p == pytest.approx(expected.pvalue)


@pytest.mark.parametrize(
    ("queries", "stems"),
    [
        (["31_1", "31_2", "32_1"], ["31", "31", "32"]),
        (["a-1", "a-2", "b-1", "b-2"], ["a", "a", "b", "b"]),
        (["q_1", "q_2", "q_3"], []),  # one stem for all is a prefix
        (["1_1", "2_1", "3_1"], []),  # no two turns
        (["31", "32"], []),
        (["31_1", "31_2", "x"], []),
    ],
)
def test_ids_that_look_like_turns(queries, stems):
    assert list(turns_of([query.encode() for query in queries]).values()) == stems


def test_intervals_of_unequal_clusters_have_their_freedom():
    """Clusters of 3, 2, 1, 4 and 2 queries: 144 / 34 - 1, for the score and the log scale too."""
    values = np.random.default_rng(8).random(12)
    mean, error, freedom = jackknife(values, UNIT)
    share = Metric(measure("share", documented), "share", {})
    found = intervals(scores([(share, values)]), Bootstrap(clusters=CLUSTERS))["share"]
    assert found == pytest.approx(score_interval(mean, error, freedom, 0.95))


def documented():
    """A made measure.

    Range: 0 to 1
    """


def test_a_score_interval_of_successes_is_wilsons_with_t():
    """With a spread of successes, N = n - 1: s^2 / n = m (1 - m) / (n - 1)."""
    n, mean = 12, 0.25
    error = math.sqrt(mean * (1 - mean) / (n - 1))
    k = stats.t.ppf(0.975, n - 1)
    middle, N = mean, n - 1
    root = k * math.sqrt(middle * (1 - middle) / N + k * k / (4 * N * N))
    expected = [(middle + k * k / (2 * N) + side * root) / (1 + k * k / N) for side in (-1, 1)]
    assert score_interval(mean, error, n - 1, 0.95) == pytest.approx(expected)
    low, high = score_interval(1.0, 0.0, 11, 0.95)
    assert (low, high) == (pytest.approx(1 / (1 + k * k / 12)), 1.0)
    assert all(map(math.isnan, score_interval(0.5, 0.0, 11, 0.95)))
