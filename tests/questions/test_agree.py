"""Judges side by side: what they share, by hand, and what the study makes of it."""

from __future__ import annotations

import numpy as np
import pytest

from ragkpi.errors import NothingInCommonError, UsageError
from ragkpi.files.in_memory import qrels_columns
from ragkpi.questions.agree.study import (
    agree,
    difference_lines,
    mapped,
    order_agreement,
    panel,
    parse_level_map,
    scales_differ,
    shared_queries,
)
from ragkpi.ranking.judgements import group_judgements
from ragkpi.statistics.bootstrap import Bootstrap
from ragkpi.statistics.paired import Procedure
from tests.made_scores import MAP, scores

PEOPLE = {
    "q1": {"a": 0, "b": 1, "c": 2, "only_people": 1, "unjudged": -1},
    "q2": {"a": 2, "z": 0},
    "alone": {"a": 1},
}
MODEL = {
    "q1": {"c": 2, "b": 2, "a": 0, "only_model": 0, "unjudged": 1},
    "q2": {"a": 0, "z": 0},
    "other": {"a": 1},
}
PROCEDURE = Procedure(bootstrap=Bootstrap(resamples=200), trials=500)


def judgements(levels):
    return group_judgements(qrels_columns(levels))


def together(*judges, names=("people", "model", "third")):
    return panel(names[: len(judges)], [judgements(judge) for judge in judges])


def test_what_both_judged_and_what_one_alone():
    found = together(PEOPLE, MODEL)
    (pair,) = agree(found, PROCEDURE).pairs
    assert (pair.documents, pair.queries) == (5, 2)
    # only_people and alone/a; only_model, other/a, and what people left unjudged.
    assert (pair.only_first, pair.only_second) == (2, 3)
    assert pair.levels == [0, 1, 2]
    assert pair.counts.tolist() == [[2, 0, 0], [0, 0, 1], [1, 0, 1]]
    assert pair.whole["agreement"].value == pytest.approx(3 / 5)
    assert pair.whole["mean_difference"].value == pytest.approx((1 - 2) / 5)
    assert pair.bias[1].value == 1
    assert pair.bias[2].value == -1


def test_the_worst_query_comes_first_with_its_documents():
    (pair,) = agree(together(PEOPLE, MODEL), PROCEDURE, per_query="shown").pairs
    worst, other = pair.by_query
    assert (worst.query, worst.documents, worst.distance) == (b"q2", 2, 1.0)
    assert worst.differing == [(b"a", 2, 0)]
    assert (other.query, other.agreement) == (b"q1", pytest.approx(2 / 3))
    assert other.differing == [(b"b", 1, 2)]


def test_differences_are_listed():
    lines = list(difference_lines(together(PEOPLE, MODEL)))
    assert lines[0] == b"query\tdocument\tpeople\tmodel\n"
    assert sorted(lines[1:]) == [
        b"alone\ta\t1\t\n",
        b"other\ta\t\t1\n",
        b"q1\tb\t1\t2\n",
        b"q1\tonly_model\t\t0\n",
        b"q1\tonly_people\t1\t\n",
        b"q1\tunjudged\t\t1\n",
        b"q2\ta\t2\t0\n",
    ]


def test_many_judges_of_many_documents_as_dictionaries_have_them():
    random = np.random.default_rng(2)
    given = [
        {
            f"q{query}": {
                f"doc-{document:09}": int(random.integers(-1, 4))
                for document in random.permutation(40)[:25].tolist()
            }
            for query in random.permutation(12)[:9].tolist()
        }
        for _ in range(3)
    ]
    found = together(*given)
    rows = {
        (found.queries[query].decode(), found.document[row].decode()): levels
        for row, (query, levels) in enumerate(
            zip(found.query.tolist(), found.given.tolist(), strict=True)
        )
    }
    expected: dict[tuple[str, str], list[int]] = {}
    for judge, queries in enumerate(given):
        for query, documents in queries.items():
            for document, level in documents.items():
                if level >= 0:
                    expected.setdefault((query, document), [-1] * 3)[judge] = level
    assert rows == expected
    assert len(found.query) == len(expected)


def test_more_than_two_judges_are_compared_in_pairs_and_as_a_whole():
    found = agree(together(PEOPLE, MODEL, PEOPLE), PROCEDURE)
    assert [pair.judges for pair in found.pairs] == [
        ("people", "model"),
        ("people", "third"),
        ("model", "third"),
    ]
    assert found.pairs[1].whole["kappa"].value == 1
    assert set(found.alpha) == {"nominal", "ordinal", "interval"}


def test_nothing_in_common():
    with pytest.raises(NothingInCommonError, match="people and model judged no document"):
        together(PEOPLE, {"q1": {"x": 1}})


def test_levels_on_another_scale():
    people = judgements(PEOPLE)
    scale = parse_level_map("0=0,1=0,2=3", "--map-levels")
    assert sorted(mapped(people, scale, "--map-levels").level.tolist()) == [-1, 0, 0, 0, 0, 0, 3, 3]
    assert mapped(people, {}, "--map-levels") is people
    with pytest.raises(UsageError, match="level 2, which the map lacks"):
        mapped(people, {0: 0, 1: 1}, "--map-levels")
    for bad in ("0", "0=x", "0=0,0=1", "", "1=-1"):
        with pytest.raises(UsageError, match="--map-other"):
            parse_level_map(bad, "--map-other")


def test_other_scales_are_noticed():
    assert "levels 0 to 2" in scales_differ(together(PEOPLE, {"q1": {"a": 0, "b": 5}}))
    assert scales_differ(together(PEOPLE, MODEL)) == ""


def test_too_many_levels_are_refused():
    many = {"q": {f"d{level}": level for level in range(50)}}
    with pytest.raises(UsageError, match="50 different levels"):
        agree(together(many, many), PROCEDURE)


def test_queries_that_all_judges_have():
    kept = shared_queries([judgements(PEOPLE), judgements(MODEL)])
    assert [judge.queries for judge in kept] == [[b"q1", b"q2"]] * 2
    assert list(kept[0].document) == [b"a", b"b", b"c", b"only_people", b"unjudged", b"a", b"z"]
    assert kept[0].index == {b"q1": 0, b"q2": 1}


def test_one_query_has_no_interval():
    judges = together({"q": {"a": 1, "b": 0}}, {"q": {"a": 1, "b": 1}})
    (pair,) = agree(judges, PROCEDURE).pairs
    assert np.isnan(pair.whole["agreement"].interval.low)


def runs_of(*means, seed=1, noise=0.02, queries=40):
    random = np.random.default_rng(seed)
    difficulty = random.normal(0, 0.1, size=queries)
    return [
        scores([(MAP, (mean + difficulty + random.normal(0, noise, queries)).tolist())])
        for mean in means
    ]


def test_orders_and_what_changes_places():
    reference = runs_of(0.6, 0.5, 0.4)
    other = runs_of(0.5, 0.6, 0.1, seed=2)
    (study,) = order_agreement("abc", reference, other, PROCEDURE)
    assert study.leaders == ("a", "b")
    assert study.drop == ("a", 1)
    (swap,) = study.swaps
    assert (swap.better, swap.worse, swap.significant) == ("a", "b", True)
    assert study.agreements["tau_b"].value == pytest.approx(1 / 3)
    # The order that is walked down is the other one: its second run stands wrong, its third right.
    assert study.agreements["tau_ap"].value == pytest.approx(0.0)
    assert study.shift.value == pytest.approx(
        np.mean(
            [o["map"].summary - r["map"].summary for r, o in zip(reference, other, strict=True)]
        )
    )


def test_runs_that_are_equally_good_are_rarely_called_swapped():
    """Six runs as good as each other, two judges that err independently: at most 5 of 100."""
    procedure = Procedure(bootstrap=Bootstrap(resamples=1), test="t")
    called = 0
    for trial in range(200):
        reference = runs_of(*[0.5] * 6, seed=2 * trial, noise=0.1)
        other = runs_of(*[0.5] * 6, seed=2 * trial + 1, noise=0.1)
        (study,) = order_agreement("abcdef", reference, other, procedure)
        called += any(swap.significant for swap in study.swaps)
    assert called <= 200 * 0.05 + 8  # two standard errors and a half


def test_one_run_has_no_order():
    with pytest.raises(UsageError, match="two runs"):
        order_agreement("a", runs_of(0.5), runs_of(0.5), PROCEDURE)
