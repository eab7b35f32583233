import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ragkpi.files.lines import Tokens
from ragkpi.files.trec import QrelsColumns
from ragkpi.questions.diagnose.answer import (
    Diagnosis,
    Missed,
    blame,
    diagnose,
    diagnosis_answer,
)
from ragkpi.ranking.judged import Settings
from ragkpi.ranking.judgements import group_judgements
from ragkpi.statistics.bootstrap import Bootstrap
from tests.measures import by_hand

BOOTSTRAP = Bootstrap(resamples=5000)
DOCUMENTS = [f"d{number}" for number in range(12)]
rankings = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-9, 9), max_size=12)
judged_levels = st.dictionaries(
    st.sampled_from(DOCUMENTS), st.integers(-1, 3), min_size=1, max_size=12
)
queries = st.lists(st.tuples(judged_levels, rankings, st.integers(0, 12)), min_size=1, max_size=4)


def diagnosis(qrels, run, pool, cutoff=3, settings=None):
    judged = by_hand.judge(qrels, run, settings, pool)
    pairs = [(query, document) for query in qrels for document in qrels[query]]
    ids = Tokens.from_strings([query.encode() for query, _ in pairs])
    names = Tokens.from_strings([document.encode() for _, document in pairs])
    levels = by_hand.integers(qrels[query][document] for query, document in pairs)
    columns = QrelsColumns("qrels", ids, ids, names, levels, np.arange(len(pairs)))
    judgements = group_judgements(columns)
    return diagnose(judged, judgements, cutoff), judgements


def made(drawn):
    """Name the queries, and let the run show a part of the pool."""
    qrels = {f"q{place}": levels for place, (levels, _, _) in enumerate(drawn)}
    pool = {f"q{place}": ranking for place, (_, ranking, _) in enumerate(drawn)}
    run = {
        f"q{place}": dict(list(ranking.items())[:kept])
        for place, (_, ranking, kept) in enumerate(drawn)
    }
    return qrels, run, pool


@given(queries, st.integers(1, 6))
def test_the_shares_of_the_ideal_gain_add_up_to_one(drawn, cutoff):
    found, _ = diagnosis(*made(drawn), cutoff)
    total = found.shares.sum(axis=0)
    useful = np.array([max(levels.values()) >= 1 for levels, _, _ in drawn])
    assert np.array_equal(np.isnan(total), ~useful)
    assert total[useful] == pytest.approx(1, abs=1e-12)
    for share in found.shares:
        assert (share[useful] > -1e-12).all()
        assert (share[useful] < 1 + 1e-12).all()
    assert (found.mean_shares is None) == (not useful.any())
    if useful.any():
        assert sum(found.mean_shares) == pytest.approx(1, abs=1e-12)


@given(queries, st.integers(1, 6))
def test_missed_documents_are_the_useful_ones_that_are_not_shown(drawn, cutoff):
    qrels, run, pool = made(drawn)
    found, judgements = diagnosis(qrels, run, pool, cutoff)
    names = [name.decode() for name in judgements.document.take(found.missed.judgement).tolist()]
    for place, query in enumerate(qrels):
        shown = by_hand.ranking(run[query])[:cutoff]
        ranks = {name: rank for rank, name in enumerate(by_hand.ranking(pool[query]), 1)}
        expected = {
            (name, level + 2, ranks.get(name, 0))
            for name, level in qrels[query].items()
            if level >= 1 and name not in shown
        }
        missed = found.missed
        told = [(names[i], missed.grade[i], missed.pool_rank[i]) for i in missed.of(place)]
        assert set(told) == expected
        assert len(told) == len(expected)


def test_the_worthiest_are_missed_first_and_those_of_the_pool_before_the_others():
    qrels = {"q": {"a": 3, "b": 2, "c": 2, "d": 1, "e": 3}}
    found, judgements = diagnosis(qrels, {"q": {"x": 1}}, {"q": {"b": 1, "e": 2, "x": 3}})
    names = judgements.document.take(found.missed.judgement).tolist()
    assert names[:2] == [b"e", b"a"]
    # Two 3s and two 2s: w4 = 0.5 (2/2), the rare 1 has w3 = min(0.1 * 2/1, 0.25).
    assert names[2:] == [b"b", b"c", b"d"]
    assert found.missed.pool_rank.tolist() == [2, 0, 3, 0, 0]


def test_missed_documents_that_are_alike_stand_in_the_order_of_their_ids():
    qrels = {"q": {"c": 3, "aa": 3, "b": 3, "a": 3}, "p": {"z": 3, "y": 3}}
    nothing = {query: {"x": 1} for query in qrels}
    found, judgements = diagnosis(qrels, nothing, nothing)
    names = judgements.document.take(found.missed.judgement).tolist()
    assert names == [b"y", b"z", b"a", b"aa", b"b", b"c"]


QRELS = {"q": {"a": 3, "b": 3, "c": 3, "d": 3}}


@pytest.mark.parametrize(
    ("pool", "shown", "verdict"),
    [
        ("abcd", "ab", "fine"),
        ("abx", "ab", "fine"),
        ("axy", "ax", "retriever"),
        ("xyz", "xy", "retriever"),  # %PROC is NA: there was nothing to select
        ("abcd", "ax", "reranker"),
        ("axy", "xy", "both"),
    ],
)
def test_verdicts(pool, shown, verdict):
    pool = {"q": {name: -place for place, name in enumerate(pool)}}
    run = {"q": {name: -place for place, name in enumerate(shown)}}
    found, _ = diagnosis(QRELS, run, pool, cutoff=2)
    assert found.verdicts == [verdict]
    assert found.counts()[verdict] == 1


def test_the_threshold_is_reached_by_equality(monkeypatch):
    pool = {"q": {"a": 1, "x": 0}}
    monkeypatch.setattr("ragkpi.questions.diagnose.answer.GOOD", 0.5)
    at_half, _ = diagnosis(QRELS, pool, pool, 2)
    monkeypatch.setattr("ragkpi.questions.diagnose.answer.GOOD", 0.51)
    above, _ = diagnosis(QRELS, pool, pool, 2)
    assert (at_half.verdicts, above.verdicts) == (["fine"], ["retriever"])


def test_queries_without_useful_documents_are_na_and_last():
    qrels = {"a": {"x": 0}, "b": {"x": 3, "y": 3}, "c": {"x": 3}}
    shown = {query: {"x": 1} for query in qrels}
    found, _ = diagnosis(qrels, shown, shown, cutoff=2)
    assert found.verdicts == ["NA", "retriever", "fine"]
    assert [found.queries[place] for place in found.order] == [b"b", b"c", b"a"]
    assert found.mean_shares == pytest.approx((0.25, 0, 0.75))


def test_a_selection_from_elsewhere_is_counted_unless_it_is_added_to_the_pool():
    run, pool = {"q": {"a": 2, "b": 1}}, {"q": {"c": 1, "x": 0}}
    found, _ = diagnosis(QRELS, run, pool, cutoff=2)
    assert found.outside_pool == 2
    assert found.mean_shares == pytest.approx((0.5, -0.5, 1.0))
    united, _ = diagnosis(QRELS, run, pool, 2, settings=replace(Settings(), pool_union="union"))
    assert united.outside_pool == 0
    assert united.mean_shares == pytest.approx((0, 0, 1.0))


def test_shown_documents_that_nobody_judged_are_counted():
    qrels = {"q": {"d0": 3, "d1": 2}}
    pool = {"q": {f"d{n}": -n for n in range(8)}}
    found, _ = diagnosis(qrels, {"q": {"d5": 3, "d6": 2, "d1": 1}}, pool)
    assert (found.retrieved, found.unjudged) == (3, 2)


def test_no_verdict_where_the_run_is_not_of_the_pool():
    """Run and pool swapped: of the three documents shown the pool has one."""
    qrels = {"q": {"d0": 3, "d1": 2}}
    run = {"q": {"d3": 5, "d0": 4, "d7": 3}}
    found, judgements = diagnosis(qrels, run, {"q": {"d0": 1, "d1": 1}})
    found = replace(found, outside_pool=2)
    assert not found.grounded
    (sentence,) = diagnosis_answer(found, judgements.document, None, 3).verdict
    assert sentence.startswith("Nothing can be diagnosed: the pool lacks 2 of the 3 documents")
    assert sentence.endswith("Are the pool and the run swapped?")


def test_shown_documents_that_nobody_judged_are_a_note():
    qrels = {"q": {"d0": 3}}
    pool = {"q": {f"d{n}": -n for n in range(8)}}
    found, judgements = diagnosis(qrels, {"q": {"d5": 3, "d6": 2, "d7": 1}}, pool)
    answer = diagnosis_answer(found, judgements.document, None, 3)
    assert answer.findings["blame"]["share"] == 0
    assert answer.notes == ["3 of the 3 documents shown are unjudged; they count as not relevant."]


def losing(by_pool, by_selection):
    """A diagnosis of queries that lost these shares of their ideal gain, and nothing else."""
    by_pool, by_selection = np.asarray(by_pool), np.asarray(by_selection)
    n, nothing = len(by_pool), by_hand.integers([])
    proc = 1 - by_pool
    return Diagnosis(
        queries=[b"q%d" % number for number in range(n)],
        cutoff=10,
        proc=proc,
        pct_proc=proc,
        ra_nwg=proc - by_selection,
        verdicts=["fine"] * n,
        missed=Missed(nothing, nothing, nothing, nothing),
        order=np.arange(n),
        outside_pool=0,
        retrieved=10 * n,
        unjudged=0,
    )


def said(by_pool, by_selection, bootstrap=BOOTSTRAP):
    found = losing(by_pool, by_selection)
    (sentence,) = diagnosis_answer(found, Tokens.from_strings([]), 0, 0, bootstrap).verdict
    return sentence


FIX_RETRIEVAL = (
    "Fix retrieval first: {} of the lost gain comes from documents that the first stage never "
    "returned."
)
FIX_RERANKER = "Fix the reranker first: {} of the lost gain is in the pool, but not in the top 10."


def test_a_stage_that_lost_most_on_every_query_is_named():
    # 0.9 of the loss of every query, so of every resample.
    assert said([0.45] * 12, [0.05] * 12) == FIX_RETRIEVAL.format("90% [90, 90]")
    assert said([0.05] * 12, [0.45] * 12) == FIX_RERANKER.format("90% [90, 90]")


def test_a_share_near_all_does_not_stand_outside_its_interval():
    assert said([0.499] * 12, [0.001] * 12) == FIX_RETRIEVAL.format("99.8% [99.8, 99.8]")
    assert said([0.001] * 12, [0.499] * 12) == FIX_RERANKER.format("99.8% [99.8, 99.8]")


def test_shown_documents_that_the_pool_lacks_make_no_share_above_all():
    assert said([0.5] * 12, [-0.01] * 12) == FIX_RETRIEVAL.format("100% [100, 100]")


def test_the_interval_of_the_share_is_that_of_a_ratio_of_means():
    """Where queries lose equally much, the ratio of means is the mean of the ratios."""
    shares = np.random.default_rng(1).random(30)
    blamed = blame(losing(shares / 2, (1 - shares) / 2), Bootstrap(resamples=4000))
    expected = stats.bootstrap([shares], np.mean, method="percentile", n_resamples=4000)
    assert blamed.share == pytest.approx(shares.mean())
    assert blamed.interval == pytest.approx(expected.confidence_interval, abs=0.01)
    below = (shares - 0.5).mean() / shares.std() * np.sqrt(30)
    normal = stats.norm.cdf(below)
    assert blamed.resampled["retrieval"] == pytest.approx(normal, abs=0.03)


def test_the_test_is_of_signs_of_the_differences():
    """Of 2^12 signs, those in which the sum is as great as all of one sign: two."""
    differences = np.linspace(0.1, 0.3, 12)
    blamed = blame(losing(differences, np.zeros(12)), BOOTSTRAP)
    assert blamed.p == 2 / 2**12
    assert blamed.lead == pytest.approx(differences.sum())
    assert blamed.decided


def test_too_few_queries_name_no_stage():
    assert said([0.9] * 9, [0.0] * 9) == (
        "Too few queries to decide between retrieval and the reranker: 9 queries lost gain, "
        "100% [100, 100] of it not in the pool."
    )
    assert not blame(losing([0.9] * 9 + [0.0] * 20, [0.0] * 29), BOOTSTRAP).decided
    assert blame(losing([0.9] * 10, [0.0] * 10), BOOTSTRAP).decided


def test_one_cluster_has_no_interval():
    """Resamples of a single cluster are all alike, which says nothing of how sure its share is."""
    lost = [0.45] * 9, [0.05] * 9
    one = replace(BOOTSTRAP, clusters={b"q%d" % number: "one" for number in range(9)})
    assert np.isnan(blame(losing(*lost), one).interval).all()
    assert ": 1 cluster lost gain, 90% of it " in said(*lost, one)


def test_one_query_more_must_not_turn_the_verdict():
    """Ten queries that lost a tenth each: an eleventh may lose all to the other stage."""
    assert not blame(losing([0.0] * 10, [0.1] * 10), BOOTSTRAP).decided
    surer = blame(losing([0.0] * 10, [0.11] * 10), BOOTSTRAP)
    assert (surer.stage, surer.decided) == ("the reranker", True)


def test_half_and_half_is_undecided_and_says_how_often():
    sentence = said([0.5, 0.0] * 10, [0.0, 0.5] * 10)
    assert sentence.startswith("Undecided between retrieval and the reranker: retrieval in ")
    found = re.search(
        r"in (\d+)% of the bootstrap samples, the reranker in (\d+)% \(.*: 50% \[", sentence
    )
    retrieval, reranker = map(int, found.groups())
    assert (retrieval, reranker) == (pytest.approx(44, abs=12), pytest.approx(56, abs=12))
    assert retrieval + reranker in (99, 100, 101)


@pytest.mark.parametrize("queries", [5, 10, 20, 50])
def test_equal_losses_seldom_name_a_stage(queries):
    rng = np.random.default_rng(queries)
    named = 0
    for _ in range(60):
        lost, stage = rng.random(queries), rng.random(queries) < 0.5
        blamed = blame(losing(lost * stage, lost * ~stage), BOOTSTRAP)
        named += blamed is not None and blamed.decided
    assert named <= 8  # P(X > 8) = 0.003 for 60 draws at 0.05


def test_a_pool_that_lacks_the_evidence_is_found():
    """Three quarters of the loss in the pool: 50 queries say so, as Student's t does."""
    rng = np.random.default_rng(2)
    named = agreed = 0
    for _ in range(30):
        lost, share = rng.random(50), rng.beta(3, 1, 50)
        blamed = blame(losing(lost * share, lost * (1 - share)), BOOTSTRAP)
        named += blamed.decided and blamed.stage == "retrieval"
        agreed += stats.ttest_1samp(lost * (2 * share - 1), 0).pvalue < 0.05
    assert named == agreed == 30


def test_copies_of_queries_in_clusters_blame_as_the_queries_do():
    """Each query three times, all copies in one cluster, says no more than the query alone."""
    rng = np.random.default_rng(4)
    lost, share = rng.random(14), rng.beta(2, 1, 14)
    pool, selection = lost * share, lost * (1 - share)
    once = blame(losing(pool, selection), BOOTSTRAP)
    copies = losing(np.repeat(pool, 3), np.repeat(selection, 3))
    clusters = {query: str(number // 3) for number, query in enumerate(copies.queries)}
    thrice = blame(copies, replace(BOOTSTRAP, clusters=clusters))
    assert (thrice.losing, thrice.unit) == (14, "cluster")
    assert thrice.interval == pytest.approx(once.interval)
    assert thrice.p == once.p
    assert thrice.lead == pytest.approx(once.lead)
    assert thrice.resampled == pytest.approx(once.resampled)
    fives = losing(np.full(45, 0.9), np.zeros(45))
    nine = {query: str(number // 5) for number, query in enumerate(fives.queries)}
    few = blame(fives, replace(BOOTSTRAP, clusters=nine))
    assert (few.losing, few.decided) == (9, False)
