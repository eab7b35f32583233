"""Expected values over orders of ties, against all of the orders, in exact fractions."""

import itertools
import math
from fractions import Fraction
from statistics import mean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragkpi
from ragkpi.library.session import Session
from ragkpi.measures.measure import Measure
from ragkpi.measures.registry import builtin_measures, find_metrics
from ragkpi.ranking.judged import Settings
from ragkpi.ranking.reading import RunInMemory
from ragkpi.ranking.relevance import Qrels
from tests.ranking.cases import judgements_of

levels = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(-1, 3), min_size=1)
scored = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from([1.0, 2.0, 3.0]), min_size=1)
cutoffs = st.integers(1, 9)


def orders(scores):
    """Every ranking in which no document stands above one of a higher score."""
    groups = [
        [document for document in scores if scores[document] == score]
        for score in sorted(set(scores.values()), reverse=True)
    ]
    for parts in itertools.product(*map(itertools.permutations, groups)):
        yield [document for part in parts for document in part]


def precisions(ranking, relevant):
    places = [rank for rank, document in enumerate(ranking, 1) if document in relevant]
    return [(rank, Fraction(found, rank)) for found, rank in enumerate(places, 1)]


def by_definition(ranking, qrels, cutoff, m):
    """The values of one ranking, as the literature has them."""
    relevant = {document for document, level in qrels.items() if level >= 1}
    total = max(len(relevant), 1)
    found = sum(document in relevant for document in ranking[:cutoff])
    at = precisions(ranking, relevant)
    gain = [max(qrels.get(document, 0), 0) for document in ranking]
    best = sorted((level for level in qrels.values() if level > 0), reverse=True)

    def dcg(gains):
        return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))

    def over(value, ideal):
        return value / ideal if ideal else 0.0

    weights = [Fraction(1, 2) ** rank for rank in range(1, len(gain) + 1)]
    scale = max(1, *qrels.values())
    return {
        f"P_{cutoff}": Fraction(found, cutoff),
        f"recall_{cutoff}": Fraction(found, total),
        f"relative_P_{cutoff}": Fraction(found, min(cutoff, total)),
        f"success_{cutoff}": Fraction(found > 0),
        f"p_obs_{cutoff}_m={m}" if m > 1 else f"p_obs_{cutoff}": Fraction(found >= m),
        f"p_obs_{cutoff}_recall=0.5": Fraction(found >= max(1, math.ceil(total / 2))),
        "Rprec": Fraction(sum(d in relevant for d in ranking[: len(relevant)]), total),
        "map": sum((p for _, p in at), Fraction()) / total,
        f"map_cut_{cutoff}": sum((p for rank, p in at if rank <= cutoff), Fraction()) / total,
        "recip_rank": Fraction(1, at[0][0]) if at else Fraction(),
        f"recip_rank_{cutoff}": Fraction(1, at[0][0]) if at and at[0][0] <= cutoff else Fraction(),
        "dcg": dcg(gain),
        f"dcg_{cutoff}": dcg(gain[:cutoff]),
        "ndcg": over(dcg(gain), dcg(best)),
        f"ndcg_cut_{cutoff}": over(dcg(gain[:cutoff]), dcg(best[:cutoff])),
        "rbp_p=0.5": sum(g * w for g, w in zip(gain, weights, strict=True)) / scale,
    }


def requests(cutoff, m):
    cut = ("P", "recall", "relative_P", "success", "map_cut", "recip_rank", "ndcg_cut", "dcg")
    plain = ("Rprec", "map", "recip_rank", "dcg", "ndcg", "rbp.p=0.5", f"p_obs.{cutoff},m={m}")
    plain += (f"p_obs.{cutoff},recall=0.5",)
    return [*(f"{name}.{cutoff}" for name in cut), *plain]


def expected_values(qrels, run, names, **settings):
    session = Session(
        Qrels(judgements_of({b"q": {d.encode(): level for d, level in qrels.items()}})),
        Settings(ties="expected", **settings),
    )
    scores = session.evaluate_one(RunInMemory({"q": run}), find_metrics(names)).scores
    return {column.name: float(column.per_query[0]) for column in scores.columns}


def assert_means(values, rankings, qrels, cutoff, m):
    every = [by_definition(ranking, qrels, cutoff, m) for ranking in rankings]
    for name, value in values.items():
        exact = mean([one[name] for one in every])
        least = 1 if "recall=" in name else m
        if name.startswith("p_obs") and sum(level >= 1 for level in qrels.values()) < least:
            assert math.isnan(value)
        else:
            assert value == pytest.approx(float(exact), rel=1e-13, abs=1e-15), name


@given(levels, scored, cutoffs, st.integers(1, 3))
def test_expected_values_are_means_over_all_orders(qrels, run, cutoff, m):
    values = expected_values(qrels, run, requests(cutoff, m))
    assert set(values) == set(by_definition(list(run), qrels, cutoff, m))
    assert_means(values, orders(run), qrels, cutoff, m)


@given(levels, scored, cutoffs, st.integers(0, 9))
def test_only_the_top_of_every_order_exists(qrels, run, cutoff, most):
    """With -M orders are cut, and a document that ties across the cut is there in some of them."""
    values = expected_values(qrels, run, requests(cutoff, 1), max_retrieved=most)
    assert_means(values, (order[:most] for order in orders(run)), qrels, cutoff, 1)


def test_a_calculation_by_hand():
    """Of a, b and c at ranks 2 to 4, a and c are relevant: P(2) is 2/3 of a document of 2."""
    qrels, run = {"a": 2, "b": 0, "c": 1}, {"z": 2.0, "a": 1.0, "b": 1.0, "c": 1.0}
    values = expected_values(qrels, run, ["P.2", "success.2", "recip_rank"])
    by_hand = {"P_2": 1 / 3, "success_2": 2 / 3, "recip_rank": 2 / 3 / 2 + 1 / 3 / 3}
    assert values == pytest.approx(by_hand, rel=1e-15)


@pytest.mark.filterwarnings("ignore::ragkpi.RagkpiWarning")
@given(levels, st.permutations("abcdefgh"), cutoffs)
def test_without_ties_the_values_are_the_measures_own(qrels, ranking, cutoff):
    run = {document: -float(rank) for rank, document in enumerate(ranking)}
    names = [*requests(cutoff, 2), "bor.3", "bor_recall.3", "num_rel", "ideal_dcg"]
    given_ = {"q": qrels}, {"q": run}
    plain = ragkpi.evaluate(*given_, names, corpus_size=50).per_query
    expected = ragkpi.evaluate(*given_, names, corpus_size=50, ties="expected").per_query
    np.testing.assert_equal(expected, plain)


def test_all_queries_count_and_a_missing_one_is_worth_nothing():
    qrels = {"q": {"a": 1}, "r": {"a": 1}}
    found = ragkpi.evaluate(
        qrels, {"q": {"a": 1.0, "b": 1.0}}, ["P.1", "bor.1"], corpus_size=8, missing="zero",
        ties="expected",
    )  # fmt: skip
    assert found.mean == {"P_1": 0.25, "bor_1": 1.0}  # log2(0.25 / 0.125)


def test_bits_are_of_the_expected_success():
    names = ["bor.1", "ef.1", "bor_recall.1", "ef_recall.1"]
    tied = {"q": {"a": 1.0, "b": 1.0}}
    found = ragkpi.evaluate({"q": {"a": 1}}, tied, names, corpus_size=64, ties="expected")
    expected = {"bor_1": 5.0, "ef_1": 32.0, "bor_recall_1": 5.0, "ef_recall_1": 32.0}
    assert found.mean == pytest.approx(expected)


def test_measures_without_an_expected_value_are_refused_with_those_that_have_one():
    with pytest.raises(
        ragkpi.RagkpiError, match=r"ties= expected: no .* of bpref, binG; .* map, "
    ) as refusal:
        ragkpi.evaluate(
            {"q": {"a": 1}}, {"q": {"a": 1.0}}, ["bpref", "map", "binG"], ties="expected"
        )
    assert "gm_map" not in str(refusal.value)


def test_what_depends_on_chance_twice_is_refused():
    with pytest.raises(ragkpi.UsageError, match="give one of the two"):
        Settings(ties="expected", unjudged="removed")


def test_questions_about_one_order_refuse_it():
    with pytest.raises(ragkpi.RagkpiError, match="not supported here"):
        ragkpi.holes({"q": {"a": 1}}, {"q": {"a": 1.0}}, "P.1", ties="expected")


def test_a_measure_of_another_package_can_say_its_own():
    def fair(judged):
        return (judged.tied.first + judged.tied.last)[judged.starts[:-1]] / 2

    theirs = Measure(
        "first_rank",
        lambda judged: judged.rank[judged.starts[:-1]],
        better="lower",
        bounds=builtin_measures()["map"].bounds,
        ties="unproven",
        question="early",
        expected=fair,
    )
    from ragkpi.measures.measure import Metric

    session = Session(Qrels(judgements_of({b"q": {b"a": 1}})), Settings(ties="expected"))
    run = RunInMemory({"q": {"a": 1.0, "b": 1.0}})
    scores = session.evaluate_one(run, [Metric(theirs, "first_rank", {})]).scores
    assert scores.columns[0].summary == 1.5
