"""The depth chosen again on resampled queries, against studies of every resample by itself."""

import math

import numpy as np
import pytest

from ragkpi.measures.measure import score
from ragkpi.questions.depth.answer import depth_answer
from ragkpi.questions.depth.study import (
    Curve,
    Curves,
    Limits,
    decide_depth,
    depths_chosen,
    run_values,
    study_run,
    values_of,
)
from ragkpi.ranking.judged import Settings
from ragkpi.statistics.bootstrap import Bootstrap
from tests.measures.by_hand import population
from tests.tries import seeds

pytestmark = pytest.mark.usefixtures("command_line")


def one_by_one(N, R, found, depths, limits, resamples, settings):
    """Draw the queries as `drawn` documents, make each resample a population, and study it."""
    possible = [i for i, r in enumerate(R) if r >= limits.m]
    indices = np.random.default_rng(7).integers(0, len(possible), size=(resamples, len(possible)))
    depths_of = []
    for row in indices:
        queries = [possible[i] for i in row]
        again = population(
            N, [R[i] for i in queries], [found[i] for i in queries], settings, num_ret=max(depths)
        )
        choice = study_run(again, depths, limits).choice
        depths_of.append(0 if choice is None else choice.depth)
    return depths_of


LIMITS = {
    "plateau": Limits(),
    "wide plateau": Limits(plateau=0.3),
    "two documents": Limits(m=2),
    "half of them": Limits(recall=0.5),
    "loss": Limits(max_loss=1.0),
    "no loss": Limits(max_loss=0.0),
    "loss of two documents": Limits(m=2, max_loss=2.5),
}


@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
@pytest.mark.parametrize("N", [60, 5000])
@pytest.mark.parametrize("draws", ["nominal", "ret"])
def test_every_resample_chooses_what_a_study_of_it_chooses(limits, N, draws):
    generator = np.random.default_rng(11)
    R = generator.integers(0, 7, size=12).tolist()
    found = [
        np.sort(
            generator.choice(np.arange(1, 31), size=generator.integers(0, r + 1), replace=False)
        )
        for r in R
    ]
    settings = Settings(draws=draws)
    judged = population(N, R, found, settings, num_ret=30)
    resamples = len(seeds(10))
    chosen = depths_chosen(judged, 30, limits, Bootstrap(resamples)).tolist()
    assert chosen == one_by_one(N, R, found, [1, 30], limits, resamples, settings)
    assert len(set(chosen)) > 1


def decided(judged, depths, limits=None):
    limits = limits or Limits()
    study = decide_depth(judged, depths, limits)
    curve = Curve("run", values_of(score(judged, run_values(depths, limits.needed)).columns), study)
    return study, depth_answer(Curves([curve], depths, limits)).verdict[0]


def test_a_single_query_at_the_end_does_not_decide():
    """Of 11 queries one succeeds only at 38: without it (10/11)^11 of the resamples choose 2."""
    judged = population(10**6, [1] * 11, [[2]] * 9 + [[38], []], num_ret=100)
    study, said = decided(judged, [1, 100])
    chosen = depths_chosen(judged, 100, Limits(), Bootstrap(1000))
    without = (10 / 11) ** 11
    assert set(chosen) == {2, 38}
    error = 3 * (without * (1 - without) / 1000) ** 0.5
    assert (chosen == 2).mean() == pytest.approx(without, abs=error)
    assert (study.stability.low, study.stability.high) == (2, 38)
    assert study.choice.depth == 38
    assert study.recommended is None
    assert said == (
        "Undecided between 2 and 38: at K = 2 already 82% of the queries have a relevant passage; "
        "only K = 38 brings 91%, and that rests on one query (2 to 38 in 95% of bootstrap samples)."
    )


def test_a_plateau_is_named_by_the_smallest_depth_that_reaches_it():
    """Without the last of ten, four in ten resamples choose 3 or 4; at 4 eight of ten succeed."""
    judged = population(10**6, [1] * 11, [*[[1]] * 6, [3], [4], [4], [38], []], num_ret=100)
    study, said = decided(judged, [1, 100])
    assert study.stability.low == 3
    assert (study.stability.ends, study.stability.between) == ((4, 38), 1)
    assert study.stability.success == pytest.approx((9 / 11, 10 / 11))
    assert study.named_depths == [4, 38]
    assert said.startswith("Undecided between 4 and 38: at K = 4 already 82% ")


def test_many_queries_at_the_end_decide():
    judged = population(10**6, [1] * 100, [[2]] * 60 + [[38]] * 30 + [[]] * 10, num_ret=100)
    study, said = decided(judged, [1, 100])
    assert study.recommended.depth == 38
    assert (study.stability.low, study.stability.high) == (38, 38)
    assert said.startswith(
        "Retrieve 38 (38 in 95% of bootstrap samples): deeper lists bring no more"
    )


def test_depths_within_one_doubling_are_one_decision():
    judged = population(10**6, [1] * 100, [[20 + i // 5] for i in range(100)], num_ret=100)
    study, said = decided(judged, [1, 100])
    assert study.stability.decided
    assert study.stability.low < study.stability.high <= 39
    assert f"({study.stability.low} to 39 in 95% of bootstrap samples)" in said


def test_one_query_cannot_choose():
    study, said = decided(population(10**6, [1], [[3]], num_ret=9), [1, 9])
    assert not study.stability.decided
    assert said == "Undecided: one query cannot choose K. It alone would choose 3."


def test_resamples_without_any_depth_are_said():
    """One of two queries succeeds: a quarter of the resamples has only the other one."""
    study, said = decided(population(10**6, [1, 1], [[3], []], num_ret=9), [1, 9])
    assert study.stability.low == 0
    assert said.startswith("Undecided between none and 3: at K = 3 50% ")


def test_success_that_saturates_at_the_top_cannot_choose():
    """Every query finds one of its 20 at rank 1 or 2, and has found 10 at rank 100."""
    ranks = [[1 + i % 2, *range(92, 101)] for i in range(40)]
    judged = population(10**7, [20] * 40, ranks, num_ret=100)
    study, said = decided(judged, [1, 100])
    assert (study.saturation.depth, study.saturation.recall) == (2, pytest.approx(0.05))
    assert study.recommended is None
    assert said == (
        "Success cannot choose K here: every query has a relevant passage in the top 2, where "
        "recall is 0.050 (0.500 at K = 100); ask for more of them, such as --at-least 50%."
    )
    half, _ = decided(judged, [1, 100], Limits(recall=0.5))
    assert (half.saturation, half.recommended.depth) == (None, 100)


def test_success_that_comes_with_the_recall_does_not_saturate():
    judged = population(10**7, [1] * 40, [[1 + i % 2] for i in range(40)], num_ret=100)
    study, said = decided(judged, [1, 100])
    assert study.saturation is None
    assert said.startswith("Retrieve 2 (2 in 95% of bootstrap samples)")


def test_copies_of_queries_in_clusters_say_no_more_than_the_queries():
    """Each query three times, with all copies in one cluster, resamples as the queries alone do."""
    ranks = [[1]] * 7 + [[2]] * 3 + [[4]] * 2 + [[38], []]
    once = population(10**6, [1] * 14, ranks, num_ret=100)
    thrice = population(10**6, [1] * 42, [rank for rank in ranks for _ in range(3)], num_ret=100)
    clusters = {query: str(number // 3) for number, query in enumerate(thrice.queries)}
    alone = decide_depth(once, [1, 100], Limits())
    together = decide_depth(thrice, [1, 100], Limits(), Bootstrap(clusters=clusters))
    assert together.choice.depth == alone.choice.depth
    same = ("low", "high", "ends", "success", "resamples")
    for name in same:
        assert getattr(together.stability, name) == getattr(alone.stability, name), name
    assert (together.stability.clusters, alone.stability.clusters) == (14, None)
    again = [depths_chosen(one, 100, Limits(), Bootstrap(1000)) for one in (once, thrice)]
    unsure, surer = ((chosen == alone.choice.depth).mean() for chosen in again)
    assert surer > unsure


def test_clusters_of_unequal_size_are_weighed_by_their_queries():
    """Without the three queries of one cluster, all succeed at 1; with them, a third at 9."""
    judged = population(10**6, [1] * 33, [[1]] * 30 + [[9]] * 3, num_ret=20)
    clusters = {query: str(min(number, 30)) for number, query in enumerate(judged.queries)}
    limits = Limits(plateau=0.2)
    chosen = depths_chosen(judged, 20, limits, Bootstrap(4000, clusters=clusters))
    # Drawn k times of 31, the cluster has 3k of 31 + 2k queries: more than a fifth from k = 3 on.
    three_or_more = 1 - sum(
        math.comb(31, k) * (1 / 31) ** k * (30 / 31) ** (31 - k) for k in range(3)
    )
    assert (chosen == 9).mean() == pytest.approx(three_or_more, abs=0.013)


def test_few_clusters_decide_nothing():
    judged = population(10**6, [1] * 40, [[3]] * 40, num_ret=20)
    clusters = {query: str(number % 4) for number, query in enumerate(judged.queries)}
    study = decide_depth(judged, [1, 20], Limits(), Bootstrap(clusters=clusters))
    curve = Curve(
        "run", values_of(score(judged, run_values([1, 20], Limits().needed)).columns), study
    )
    assert study.recommended is None
    assert depth_answer(Curves([curve], [1, 20], Limits())).verdict == [
        "Undecided: 4 clusters of queries cannot choose K; expected 14. All queries together would "
        "choose 3."
    ]


def of_firsts(counts, fail=0):
    """A query for each first success: `counts` of them by rank, and `fail` without any."""
    ranks = [[rank] for rank, count in counts.items() for _ in range(count)] + [[]] * fail
    return population(10**6, [1] * len(ranks), ranks, num_ret=200)


# Queries that first succeed at a rank, the chosen depth, and those that succeed in its last
# doubling and below it, with the p of Arbuthnot's test: sums of binomial coefficients by hand.
TAILS = [
    ({1: 60, 8: 40}, 8, 40, 0, 0.5**40),
    ({1: 95, 8: 5}, 8, 5, 0, 1 / 32),
    ({1: 96, 8: 4}, 8, 4, 0, 1 / 16),
    ({1: 91, 8: 7, 40: 2}, 8, 7, 2, (1 + 9 + 36) / 2**9),
    ({1: 80, 5: 9, 8: 9, 40: 2}, 8, 18, 2, (1 + 20 + 190) / 2**20),
]


@pytest.mark.parametrize(("counts", "depth", "last", "deeper", "p"), TAILS)
def test_a_depth_is_decided_where_success_is_seen_to_end(counts, depth, last, deeper, p):
    study, said = decided(of_firsts(counts), [1, 200])
    stability = study.stability
    seen = (stability.depth, stability.last, stability.deeper)
    assert (study.choice.depth, *seen) == (depth, depth, last, deeper)
    assert stability.tail == pytest.approx(p)
    near = stability.low * 2 >= depth and stability.high <= 2 * depth
    assert stability.decided == (near and p < 0.05)
    assert said.startswith("Retrieve 8 " if stability.decided else "Undecided")
    if near and p >= 0.05:
        assert f"{last} queries that first succeed at K = 5 to 8, and {deeper} deeper (" in said


def test_few_queries_that_agree_do_not_show_an_end():
    study, said = decided(of_firsts({2: 4}), [1, 200])
    assert study.named_depths == [2]
    assert said == (
        "Undecided: success may not end there, with 4 queries that first succeed at K = 2, and 0 "
        "deeper (sign test, p = 0.0625). All queries together choose 2."
    )


def test_where_nothing_was_tried_at_twice_the_depth_no_end_is_asked_for():
    judged = of_firsts({1: 1, 2: 3})
    assert decided(judged, [1, 3])[0].stability.tail == 0
    assert decided(judged, [1, 5])[0].stability.tail > 0.05


@pytest.mark.parametrize("seed", range(6))
def test_no_recommendation_has_a_range_beyond_a_factor_of_two(seed):
    """Ranks that thin out slowly: 1 / u for a uniform u has P(rank > r) = 1 / r."""
    ranks = np.floor(1 / np.random.default_rng(seed).random(60)).astype(int)
    counts = dict(zip(*np.unique(ranks[ranks <= 200], return_counts=True), strict=True))
    study, said = decided(of_firsts(counts, fail=int((ranks > 200).sum())), [1, 200])
    depth, stability = study.choice.depth, study.stability
    assert said.startswith("Retrieve") == stability.decided
    if stability.decided:
        assert depth / 2 <= stability.low <= stability.high <= 2 * depth
