import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import ragkpi
from ragkpi.errors import UsageError
from ragkpi.measures.chance import Needed
from ragkpi.measures.measure import score
from ragkpi.questions.depth.answer import depth_answer, depth_charts
from ragkpi.questions.depth.study import (
    Curve,
    Curves,
    Limits,
    count_values,
    draws_of,
    run_values,
    study_counts,
    study_run,
    values_of,
)
from ragkpi.ranking.judged import Settings, judged_from_counts
from tests.measures.by_hand import population, summary
from tests.measures.rag_oracle import cases

pytestmark = pytest.mark.usefixtures("command_line")


def p_rand(N, R, K):
    return 1 - Fraction(math.comb(N - R, K), math.comb(N, K))


def curve(judged, depths, limits):
    return Curve(
        "run",
        values_of(score(judged, run_values(depths, limits.needed)).columns),
        study_run(judged, depths, limits),
    )


def test_scifact_table_of_the_article():
    """Source 000's table by the corrected inputs: BoR per system and depth, and its change."""
    (case,) = (case.values[0] for case in cases("formula", "bor") if case.id == "bor_scifact_table")
    N, sizes = case["inputs"]["N"], case["inputs"]["R_hist"]
    R = [int(size) for size, count in sizes.items() for _ in range(count)]
    for system in ("BM25", "SPLADE"):
        at10, at100 = (case["inputs"]["hits_of_300"][f"{system}@{K}"] for K in (10, 100))
        found = [[10]] * at10 + [[100]] * (at100 - at10) + [[]] * (300 - at100)
        made = curve(population(N, R, found), [10, 100], Limits())
        for K in (10, 100):
            assert made.value("bor", K) == pytest.approx(float(case["expected"][f"{system}@{K}"]))
        assert made.value("dbor", 10) is None
        change = float(case["expected"][f"dBoR_{system}"])
        assert made.value("dbor", 100) == pytest.approx(change)


@pytest.mark.parametrize(("N", "R"), [(58, 4), (20, 3), (100, 8), (11314, 572), (58, 1), (1000, 5)])
def test_collapse_begins_where_lambda_or_the_ceiling_says(N, R):
    by_hand = next(K for K in range(1, N + 1) if K * R >= 3 * N or float(p_rand(N, R, K)) > 2**-0.1)
    study = study_counts(judged_from_counts(N, [R], Settings()), Limits())
    assert study.collapse.depth == by_hand
    assert study.collapse.p_rand == pytest.approx(float(p_rand(N, R, by_hand)))
    assert study.choice.depth == by_hand - 1
    assert study.choice.limit == "collapse"


@pytest.mark.parametrize("max_loss", [3.0, 12.0])
def test_affordable_depths_are_found_in_large_corpora(max_loss):
    """With R = 1 the ceiling is log2(N / K): a loss of b bits buys exactly 2^b documents."""
    judged = judged_from_counts(100_000_000, [1], Settings())
    found = study_counts(judged, Limits(max_loss=max_loss)).affordable
    assert found.depth == 2**max_loss


def test_counts_know_nothing_of_success():
    judged = judged_from_counts(58, [4], Settings())
    study = study_counts(judged, Limits())
    assert study.plateau is None
    assert study.choice.success is None
    names = {metric.measure.name for metric in count_values([5, 20, 58], Needed())}
    assert not names & {"p_obs", "bor", "ef", "recall"}


def test_the_best_depth_of_a_deep_run_need_not_be_asked_for():
    """All succeed at 1200 of a million: with R = 1 twice as many cost one bit."""
    judged = population(1_000_000, [1] * 10, [[1200]] * 10, num_ret=3000)
    found = study_run(judged, [1, 3000], Limits()).affordable
    assert (found.best_depth, found.depth) == (1200, 2400)
    assert found.best == pytest.approx(math.log2(1_000_000 / 1200))


def test_the_depth_of_a_retriever_that_returns_eight_passages_is_tried():
    runs = {"q1": [f"d{place}" for place in range(8)], "q2": [f"d{place}" for place in range(6)]}
    result = ragkpi.depth({"q1": ["d7"], "q2": ["d5"]}, runs, corpus_size=1000)
    assert [(row["K"], row["p_obs"]) for row in result.rows] == [
        *((depth, 0) for depth in (1, 2, 3, 5)),
        (8, 1),
    ]


@pytest.mark.parametrize("draws", ["nominal", "ret"])
@pytest.mark.parametrize("m", [1, 2])
@pytest.mark.parametrize("max_loss", [0.0, 0.5, 1.0, 2.5])
def test_the_deepest_affordable_depth_by_trying_all(m, max_loss, draws):
    generator = np.random.default_rng(5)
    R = generator.integers(0, 6, size=30)
    found = [np.sort(generator.choice(np.arange(1, 41), size=r, replace=False)) for r in R]
    settings = Settings(draws=draws)
    judged = population(500, R, found, settings, num_ret=25)
    study = study_run(judged, [1, 10, 40], Limits(m, max_loss))
    bits = [summary(judged, f"bor.{K},m={m}") for K in range(1, 41)]
    best = np.nanmax(bits)
    deepest = max(K for K, one in enumerate(bits, 1) if one >= best - max_loss - 1e-9)
    assert study.affordable.depth == deepest
    assert study.affordable.bits == pytest.approx(bits[deepest - 1])
    assert study.affordable.best == pytest.approx(best)
    assert study.choice.bits == pytest.approx(bits[study.choice.depth - 1])
    assert study.choice.success == summary(judged, f"p_obs.{study.choice.depth},m={m}")
    assert study.choice.depth <= deepest


def test_success_has_plateaued_when_little_is_left_to_gain():
    # 10 queries succeed at these ranks; the last one at 40 adds 0.1.
    ranks = [1, 1, 1, 2, 3, 5, 7, 8, 9, 40]
    judged = population(10_000, [1] * 10, [[rank] for rank in ranks])
    for allowed, depth in [(0.0, 40), (0.09, 40), (0.1, 9), (0.2, 8), (1.0, 1)]:
        found = study_run(judged, [1, 50], Limits(plateau=allowed)).plateau
        assert (found.depth, found.final) == (depth, 1.0)


def test_success_that_rises_at_the_deepest_depth_has_not_plateaued():
    judged = population(10_000, [1, 1], [[1], [20]])
    study = study_run(judged, [1, 20], Limits())
    assert study.plateau is None
    assert (study.choice.depth, study.choice.limit) == (20, "deepest")


def test_queries_that_cannot_succeed_do_not_count():
    ranks = [[1], [3], []]
    with_impossible = study_run(population(1000, [1, 1, 0], ranks), [5], Limits())
    assert with_impossible == study_run(population(1000, [1, 1], ranks[:2]), [5], Limits())


@pytest.mark.parametrize("R", [[0, 0], [2, 2]])
def test_a_run_that_never_succeeds_sets_no_depth(R):
    study = study_run(population(1000, R, [[], []], num_ret=5), [1, 5], Limits(m=2))
    assert (study.plateau, study.affordable, study.choice) == (None, None, None)


def test_no_depth_is_chosen_where_one_random_document_is_relevant_anyway():
    study = study_counts(judged_from_counts(10, [10], Settings()), Limits())
    assert study.collapse.depth == 1
    assert study.choice is None


@pytest.mark.parametrize("relevant", [[59], [0], [], [3, 60]])
def test_impossible_counts_are_refused(relevant):
    with pytest.raises(UsageError, match="--relevant"):
        judged_from_counts(58, relevant, Settings())


def sentence(judged, depths, limits):
    curves = Curves([curve(judged, depths, limits)], depths, limits)
    return depth_answer(curves).verdict[0]


def test_collapse_begins_where_lambda_is_exactly_three():
    """Mean R is 9, so at K = 100 of 300 chance finds 100 * 9 / 300 = 3."""
    judged = judged_from_counts(300, [8, 12, 2, 9, 14], Settings())
    assert study_counts(judged, Limits()).collapse.depth == 100


def test_twice_as_many_cost_what_the_ceiling_says():
    """Erratum 9: for m = 3, K from 10 to 20 costs 3.247 bits of N = 10^6, not "up to 3"."""
    ranks = [[1, 2, 10]] * 20
    judged = population(1_000_000, [3] * 20, ranks, num_ret=30)
    study = study_run(judged, [1, 30], Limits(m=3))
    by_hand = math.log2(math.comb(20, 3) / math.comb(10, 3))  # R = 3: all three are needed
    assert by_hand == pytest.approx(3.247, abs=1e-3)
    assert (study.choice.depth, study.choice.limit) == (10, "plateau")
    assert study.choice.doubling == pytest.approx(by_hand, abs=1e-3)
    said = sentence(judged, [1, 30], Limits(m=3))
    assert "twice as many cost 3.25 bits" in said
    assert "Success (3 relevant passages) is 1.000" in said


def test_limits_rest_on_what_the_measures_say():
    """Every depth, with the values of p_obs and bor."""
    generator = np.random.default_rng(3)
    R = generator.integers(0, 5, size=20)
    found = [np.sort(generator.choice(np.arange(1, 31), size=r, replace=False)) for r in R]
    judged = population(400, R, found, num_ret=30)
    draws = draws_of(judged, Needed(2), 30)
    assert draws.depths.tolist() == [*range(1, 31)]
    means = draws.means(np.ones((1, len(draws.first))))
    for name, of_depths in {"p_obs": means.success, "p_rand": 2**means.log2_chance}.items():
        expected = [summary(judged, f"{name}.{K},m=2") for K in range(1, 31)]
        assert of_depths[0].tolist() == pytest.approx(expected), name
    assert means.success[0].tolist() == draws.success(draws.depths).tolist()


def test_where_nothing_can_succeed_nothing_is_drawn_and_it_is_said():
    judged = population(400, [1, 2], [[1], [2]], num_ret=5)
    curves = Curves([curve(judged, [1, 5], Limits(m=3))], [1, 5], Limits(m=3))
    charts = depth_charts(curves)
    assert "run: no depth can be recommended" in charts[0].notes
    assert "Bits over random" in charts[1].title


def marked(line):
    return line.mark.at, line.y[line.x.index(line.mark.at)]


def test_the_recommended_depth_is_a_point_of_its_curve():
    ranks = [[1], [1], [2], [7], []]
    judged = population(10_000, [1] * 5, ranks, num_ret=50)
    depths = [1, 7, 50]
    success, bits = depth_charts(Curves([curve(judged, depths, Limits())], depths, Limits()))
    assert marked(success.lines[0]) == (7, 0.8)
    assert success.lines[0].label == "run, retrieve 7"
    assert success.lines[-1].name == "random baseline P_rand"
    run, ceiling = bits.lines
    assert marked(run) == (7, pytest.approx(math.log2(0.8 * 10_000 / 7)))
    assert ceiling.y[1] == pytest.approx(math.log2(10_000 / 7))
    assert bits.notes == ["collapse: from K = 9,331 on"]  # 1 - 0.9330 = 2 ** -0.1


def test_success_of_every_query_cannot_rise():
    judged = population(10_000, [1, 1], [[1], [1]], num_ret=1)
    said = sentence(judged, [1], Limits())
    assert said.startswith("Retrieve 1: every query succeeds there.")
    partly = population(10_000, [1, 1], [[1], []], num_ret=1)
    assert "we cannot tell whether deeper lists succeed more often" in sentence(
        partly, [1], Limits()
    )


def test_no_depth_of_a_run_that_is_no_better_than_chance():
    """Chance finds one of R = 10 of 100 at K = 10 in 0.67 of the queries; 13 of 20 do here."""
    ranks = [[10]] * 13 + [[]] * 7
    judged = population(100, [10] * 20, ranks, num_ret=10)
    study = study_run(judged, [10], Limits())
    chance = 1 - math.comb(90, 10) / math.comb(100, 10)
    tail = sum(math.comb(20, k) * chance**k * (1 - chance) ** (20 - k) for k in range(13, 21))
    assert study.choice.evidence == pytest.approx(tail)
    assert not study.choice.grounded
    assert "at K = 10" in sentence(judged, [10], Limits())


def test_of_many_queries_chance_is_as_likely_as_by_the_binomial_distribution():
    """3,000 queries with R = 1 of 1,000 at K = 10: 30 succeed by chance on average."""
    for hits in (20, 36, 45, 400):
        judged = population(1000, [1] * 3000, [[10]] * hits + [[]] * (3000 - hits), num_ret=10)
        evidence = study_run(judged, [10], Limits(plateau=0.0)).choice.evidence
        assert evidence == pytest.approx(stats.binom.sf(hits - 1, 3000, 0.01), abs=1e-12)


def test_the_chart_of_few_depths_has_the_whole_curve_down_to_the_deepest():
    """Success at K = 1, 2, …, counted by hand: the queries' first relevant ranks are 1, 2 and 4."""
    qrels = {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1}}
    names = [f"d{rank}" for rank in range(1, 13)]
    run = {}
    for query, rank in (("a", 1), ("b", 2), ("c", 4)):
        ranked = [*names[: rank - 1], "x", *names[rank - 1 :]]
        run[query] = {name: -place for place, name in enumerate(ranked)}
    result = ragkpi.depth(qrels, {"run": run}, at=[5, 10], corpus_size=1000)
    success, _ = result.charts()
    line = success.lines[0]
    assert list(success.x.ticks) == [5, 10]
    assert [place for place in line.x if place != 4] == [1, 2, 3, 5, 10]
    by_hand = {1: 1 / 3, 2: 2 / 3, 3: 2 / 3, 4: 1.0, 5: 1.0, 10: 1.0}
    assert line.y == pytest.approx([by_hand[place] for place in line.x])
    assert [row["K"] for row in result.rows] == [5, 10]
