"""Calibration of made-up runs, whose responses are as good as a known value says."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from ragkpi.files.lines import rows_of
from ragkpi.measures.registry import find_metrics
from ragkpi.questions.calibrate.answer import calibration_answer, calibration_charts
from ragkpi.questions.calibrate.study import calibrate, observe
from ragkpi.ranking.judged import Judged, Settings
from ragkpi.reports.layout import Layout
from ragkpi.statistics.bootstrap import Bootstrap, Interval

BOOTSTRAP = Bootstrap(resamples=200, seed=7)


def made(queries, seed, shortest=20):
    """A run of `queries` rankings of `shortest` to 20 documents, R from 1 to 60."""
    rng = np.random.default_rng(seed)
    num_ret = rng.integers(shortest, 21, queries)
    num_rel = rng.integers(1, 60, queries)
    found = [
        np.sort(rng.permutation(ret)[: rng.integers(0, min(ret, rel) + 1)]) + 1
        for ret, rel in zip(num_ret, num_rel, strict=True)
    ]
    sizes = [len(ranks) for ranks in found]
    rank = np.concatenate(found).astype(np.int64)
    return Judged(
        queries=[b"q%04d" % number for number in range(queries)],
        num_ret=num_ret,
        level_starts=np.arange(queries + 1),
        levels=np.ones(queries, dtype=np.int64),
        level_counts=num_rel,
        starts=np.concatenate([[0], np.cumsum(sizes)]),
        query=np.repeat(np.arange(queries), sizes),
        rank=rank,
        level=np.ones_like(rank),
        judgement=np.arange(len(rank)),
        settings=Settings(),
    )


def values_of(judged, request):
    from ragkpi.measures.measure import score

    return score(judged, find_metrics([request])).columns[0].per_query


def quality(judged, numbers):
    return dict(zip(judged.queries, numbers.tolist(), strict=True))


def calibration(requests, *runs):
    return calibrate(observe(runs), find_metrics(requests), BOOTSTRAP)


def verdict(found):
    return " ".join(calibration_answer(found).verdict)


def noise(seed, judged):
    return quality(judged, np.random.default_rng(seed).normal(size=len(judged.queries)))


def test_planted_correlation_is_found():
    """P_10 standardised, and noise that it does not correlate with: Pearson's r is 0.6."""
    judged = made(2000, 4)
    x = values_of(judged, "P.10")
    errors = np.random.default_rng(5).normal(size=2000)
    errors -= np.polyval(np.polyfit(x, errors, 1), x)
    planted = 0.6 * (x - x.mean()) / x.std() + 0.8 * (errors - errors.mean()) / errors.std()
    found = calibration(["P.10", "recip_rank"], (judged, quality(judged, planted)))
    assert found.pearson["P_10"] == pytest.approx(0.6)
    expected = stats.spearmanr(x, planted)[0]
    low, high = found.overall[0].interval
    assert expected - 0.06 < low < expected < high < expected + 0.06
    assert found.lead.first == ["P_10"]
    assert found.lead.share > 0.95
    assert found.lead.rivals == []
    assert verdict(found).startswith("P_10 tracks quality best: rank correlation 0.")


def test_a_rho_near_zero_has_no_sign():
    judged = made(20, 4)
    found = calibration(["P.10"], (judged, noise(5, judged)))
    near_zero = [replace(one, rho=-0.001, interval=Interval(-0.2, -0.004)) for one in found.overall]
    assert ": rank correlation 0.00 [-0.20, 0.00], p" in verdict(replace(found, overall=near_zero))


def test_measures_that_order_alike_lead_together():
    judged = made(100, 6)
    found = calibration(["t.10", "t_code.10", "P.10"], (judged, quality(judged, np.arange(100.0))))
    assert sorted(found.lead.first) == ["P_10", "t_10", "t_code_10"]


def test_constant_quality_is_not_available():
    judged = made(30, 8)
    found = calibration(["F.10"], (judged, quality(judged, np.full(30, 3.0))))
    assert all(one.reason for one in found.overall)
    assert all(np.isnan([one.rho, one.p]).all() for one in found.overall)
    assert (found.kendall, found.pearson, found.lead) == ({}, {}, None)


def test_runs_of_a_query_are_drawn_together():
    """The same run twice is the same information: intervals must not shrink."""
    judged = made(60, 9)
    scores = quality(judged, np.random.default_rng(10).normal(size=60))
    once = calibration(["P.10"], (judged, scores)).overall[0]
    twice = calibration(["P.10"], (judged, scores), (judged, scores)).overall[0]
    assert (once.observations, twice.observations) == (60, 60)
    assert twice.interval == pytest.approx(once.interval)
    assert twice.p == once.p


def test_only_scored_queries_are_observed():
    judged = made(20, 11)
    scores = quality(judged, np.arange(20.0))
    del scores[b"q0000"], scores[b"q0007"]
    found = calibration(["P.10"], (judged, scores | {b"elsewhere": 9.0}))
    assert found.overall[0].observations == 18


def test_same_seed_same_digits():
    judged = made(50, 12)
    given = (judged, quality(judged, np.random.default_rng(13).normal(size=50)))
    first, second = (calibration(["F.10", "P.10"], given) for _ in range(2))
    assert [one.interval for one in first.overall] == [one.interval for one in second.overall]


MANY = ["P.10", "recall.10", "ndcg_cut.10", "map", "recip_rank", "Rprec", "bpref"]


@pytest.mark.parametrize(
    ("queries", "requests"), [(3, MANY), (10, MANY), (10, MANY[:1]), (30, MANY)]
)
def test_noise_seldom_names_a_measure(queries, requests):
    named = 0
    for seed in range(40):
        judged = made(queries, seed)
        found = calibration(requests, (judged, noise(1000 + seed, judged)))
        findings = {one.finding for one in found.overall}
        named += findings != {"not shown"}
        refused = re.search("significantly|negatively", verdict(found)) is not None
        assert refused == ("tracks" not in findings)
    assert named <= 6  # P(X > 6) = 0.003 for 40 draws at 0.05
    assert queries > 3 or not named  # 3 queries have six orders


def test_one_measure_gets_a_sentence():
    judged = made(40, 21)
    planted = values_of(judged, "P.10")
    tracks = verdict(calibration(["P.10"], (judged, quality(judged, planted))))
    # One of 201 permutations.
    assert tracks == "P_10 tracks quality: rank correlation 1.00 [1.00, 1.00], p = 0.0050."
    against = verdict(calibration(["P.10"], (judged, quality(judged, -planted))))
    assert (
        against
        == "P_10 is negatively correlated with quality: rank correlation -1.00 [-1.00, -1.00], "
        "p = 0.0050."
    )
    assert verdict(calibration(["P.10"], (judged, noise(1, judged)))).startswith(
        "P_10 does not significantly track quality: rank correlation "
    )


def test_a_p_value_is_on_the_side_of_its_sentence():
    """With three decimals 0.0496 would be 0.050, which is no reason to say that it tracks."""
    judged = made(40, 21)
    found = calibration(["P.10"], (judged, quality(judged, values_of(judged, "P.10"))))
    close = replace(found, overall=[replace(one, p=0.0496) for one in found.overall])
    assert verdict(close) == "P_10 tracks quality: rank correlation 1.00 [1.00, 1.00], p = 0.0496."


def test_a_measure_against_quality_does_not_track_it():
    judged = made(40, 21)
    scores = quality(judged, -values_of(judged, "P.10"))
    said = verdict(calibration(["P.10", "recip_rank"], (judged, scores)))
    assert said.startswith("P_10 is negatively correlated ")
    assert " -1.00 [" in said
    assert " tracks " not in said


@pytest.mark.parametrize("differing", range(1, 8))
def test_where_quality_hardly_varies_that_is_the_sentence(differing):
    """Of resamples of 40, (1 - d/40)^40 lack all d queries that differ: at 4 less than 2.5%."""
    judged = made(40, 21)
    scores = dict.fromkeys(judged.queries, 5.0)
    best = np.argsort(values_of(judged, "recip_rank"))[:differing]
    scores |= {judged.queries[row]: float(n) / 10 for n, row in enumerate(best.tolist())}
    found = calibration(["recip_rank", "P.10"], (judged, scores))
    drawn = np.random.default_rng(differing).integers(0, 40, size=(4000, 40))
    equal = (drawn >= differing).all(axis=1).mean()
    assert (equal > 0.025) == (differing < 4)
    said = f": quality hardly varies ({40 - differing} of 40 are equal)."
    assert verdict(found).endswith(said) == (differing < 4)
    for one in found.overall:
        shown = one.interval.low > 0 or one.interval.high < 0
        assert shown == (one.finding != "not shown")


def test_a_measure_that_tracks_has_an_interval_above_0():
    judged = made(40, 21)
    found = calibration(["P.10"], (judged, quality(judged, values_of(judged, "P.10"))))
    wide = [replace(one, interval=Interval(-0.05, 1.0)) for one in found.overall]
    said = verdict(replace(found, overall=wide))
    assert " does not significantly track " in said
    assert said.endswith("1.00 [-0.05, 1.00], p = 0.0050, but the interval contains 0.")
    close = [replace(one, interval=Interval(0.0012, 1.0)) for one in found.overall]
    assert "tracks quality: rank correlation 1.00 [0.001, 1.00]" in verdict(
        replace(found, overall=close)
    )


def test_equal_trackers_are_not_told_apart():
    judged = made(60, 22)
    x, y = (stats.zscore(values_of(judged, request)) for request in ("P.10", "recip_rank"))
    found = calibration(["P.10", "recip_rank"], (judged, quality(judged, x + y)))
    assert {one.finding for one in found.overall} == {"tracks"}
    assert 0.05 < found.lead.share < 0.95
    assert re.search(
        r"^\S+ tracks quality: rank correlation .* It is not distinguishable from", verdict(found)
    )


def two_runs(sign):
    """Hard questions have bad answers; of two runs, the higher P_10 has the better one, or not."""
    first, second = made(30, 31), made(30, 32)
    second = replace(second, level_counts=first.level_counts)
    runs = [values_of(run, "P.10") for run in (first, second)]
    mean = (runs[0] + runs[1]) / 2
    return [
        (run, quality(run, 3 * mean + sign * (values - mean)))
        for run, values in zip((first, second), runs, strict=True)
    ]


def test_within_and_over_queries_may_point_apart():
    found = calibration(["P.10"], *two_runs(-1))
    assert found.overall[0].rho == pytest.approx(1)
    assert found.within[0].rho == pytest.approx(-1)
    assert verdict(found).endswith(
        "But among the runs of one query it is negatively correlated with quality "
        "(-1.00 [-1.00, -1.00], p = 0.0050)."
    )
    alike = verdict(calibration(["P.10"], *two_runs(1)))
    assert " It also does among " in alike
    assert alike.endswith("(1.00 [1.00, 1.00], p = 0.0050).")


def test_within_queries_is_the_correlation_of_distances_from_the_means():
    runs = [made(25, seed) for seed in (41, 42, 43)]
    runs = [replace(run, level_counts=runs[0].level_counts) for run in runs]
    scored = [(run, noise(50 + seed, run)) for seed, run in enumerate(runs)]
    found = calibration(["P.10"], *scored)
    x = np.array([values_of(run, "P.10") for run in runs])
    y = np.array([list(scores.values()) for _, scores in scored])
    inside = [np.round(values - values.mean(axis=0), 9).ravel() for values in (x, y)]
    assert found.within[0].rho == pytest.approx(stats.spearmanr(*inside)[0])
    over = stats.spearmanr(x.mean(axis=0).round(9), y.mean(axis=0))[0]
    assert found.overall[0].rho == pytest.approx(over)
    of_runs = stats.spearmanr(x.mean(axis=1), y.mean(axis=1))[0]
    assert found.over_runs == {"P_10": pytest.approx(of_runs)}
    del scored[0][1][b"q0003"]  # runs are compared over the queries that all of them have
    common = np.arange(25) != 3
    of_runs = stats.spearmanr(x[:, common].mean(axis=1), y[:, common].mean(axis=1))[0]
    assert calibration(["P.10"], *scored).over_runs == {"P_10": pytest.approx(of_runs)}
    assert (found.within[0].observations, found.overall[0].observations) == (75, 25)


def test_what_is_equal_in_all_runs_has_no_correlation_within_queries():
    runs = [made(25, seed) for seed in (41, 42, 43)]
    runs = [replace(run, level_counts=runs[0].level_counts) for run in runs]
    scored = [(run, noise(50 + seed, run)) for seed, run in enumerate(runs)]
    found = calibration(["num_rel", "P.10"], *scored)
    assert [one.reason for one in found.within] == ["the value does not vary", ""]
    assert np.isnan([found.within[0].p, found.over_runs["num_rel"]]).all()


def test_a_measure_without_a_value_of_some_queries_keeps_the_others():
    judged = made(40, 61)
    judged = replace(judged, level_counts=np.where(np.arange(40) < 10, 0, judged.level_counts))
    found = calibration(["ndcg_cut.10", "P.10"], (judged, noise(62, judged)))
    assert not any(np.isnan(one.p) for one in found.overall)


def copied(judged, times):
    """Every query of a run several times, and the clusters of its copies."""
    rows = np.repeat(np.arange(len(judged.queries)), times)
    hits, starts = rows_of(judged.starts, rows)
    names = [b"%b_%d" % (judged.queries[row], n % times) for n, row in enumerate(rows.tolist())]
    copies = replace(
        judged,
        queries=names,
        num_ret=judged.num_ret[rows],
        level_starts=np.arange(len(rows) + 1),
        levels=judged.levels[rows],
        level_counts=judged.level_counts[rows],
        starts=starts,
        query=np.repeat(np.arange(len(rows)), np.diff(starts)),
        rank=judged.rank[hits],
        level=judged.level[hits],
        judgement=np.arange(len(hits)),
    )
    return copies, {name: str(row) for name, row in zip(names, rows.tolist(), strict=True)}


def test_copies_of_queries_in_clusters_track_as_the_queries_do():
    """Each query three times, all copies in one cluster: the same rho, interval and p."""
    judged = made(12, 3)
    rng = np.random.default_rng(5)
    good = values_of(judged, "ndcg_cut.10") + rng.normal(scale=0.3, size=12)
    copies, clusters = copied(judged, 3)
    metrics = find_metrics(["ndcg_cut.10", "P.10"])
    once = calibrate(observe([(judged, quality(judged, good))]), metrics, BOOTSTRAP)
    runs = [(copies, quality(copies, np.repeat(good, 3)))]
    observed = observe(runs, clusters)
    bootstrap = replace(BOOTSTRAP, clusters=clusters)
    thrice = calibrate(observed, metrics, bootstrap)
    alone = calibrate(observe(runs), metrics, BOOTSTRAP)
    for one, other, surer in zip(once.overall, thrice.overall, alone.overall, strict=True):
        assert other.p == one.p
        assert surer.p < one.p
        assert other.rho == pytest.approx(one.rho)
        assert other.interval == pytest.approx(one.interval)
    assert thrice.kendall == pytest.approx(once.kendall)
    assert thrice.pearson == pytest.approx(once.pearson)
    assert thrice.lead.share == once.lead.share


def test_clusters_of_unequal_size_are_said():
    judged = made(12, 3)
    clusters = {query: str(min(n, 9)) for n, query in enumerate(judged.queries)}
    good = np.random.default_rng(1).normal(size=12)
    observed = observe([(judged, quality(judged, good))], clusters)
    bootstrap = replace(BOOTSTRAP, clusters=clusters)
    found = calibrate(observed, find_metrics(["P.10"]), bootstrap)
    notes = calibration_answer(found).table(Layout()).notes
    assert any("which 1 of 10 clusters do not have" in note for note in notes)


def test_the_intervals_of_a_chart_are_what_their_caption_says():
    """A level of 97.5% is not one of 98%, and clusters are not queries."""
    judged = made(30, 1)
    clusters = {query: str(number // 3) for number, query in enumerate(judged.queries)}
    bootstrap = replace(BOOTSTRAP, level=0.975, clusters=clusters)
    runs = [(judged, quality(judged, values_of(judged, "P.10")))]
    found = calibrate(observe(runs, clusters), find_metrics(["P.10"]), bootstrap)
    (chart,) = calibration_charts(found)
    said = "intervals: 97.5% bootstrap over clusters, 200 resamples, seed 7"
    assert said in chart.notes
