"""Judges side by side: what they share, by hand, and what the study makes of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ragkpi
from ragkpi.errors import NothingInCommonError, UsageError
from ragkpi.files.in_memory import qrels_columns
from ragkpi.questions.agree.answer import agree_answer
from ragkpi.questions.agree.study import (
    ALIKE,
    Estimate,
    agree,
    difference_lines,
    mapped,
    order_agreement,
    panel,
    shared_queries,
)
from ragkpi.ranking.judged import parse_levels
from ragkpi.ranking.judgements import group_judgements
from ragkpi.statistics.bootstrap import Bootstrap, Interval
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
BOOTSTRAP = Bootstrap(resamples=200)


def judgements(levels):
    return group_judgements(qrels_columns(levels))


def together(*judges, names=("people", "model", "third")):
    return panel(names[: len(judges)], [judgements(judge) for judge in judges])


def test_what_both_judged_and_what_one_alone():
    found = together(PEOPLE, MODEL)
    (pair,) = agree(found, BOOTSTRAP).pairs
    assert (pair.documents, pair.queries) == (5, 2)
    # only_people and alone/a; only_model, other/a, and what people left unjudged.
    assert (pair.only_first, pair.only_second) == (2, 3)
    assert pair.levels == [0, 1, 2]
    assert pair.confusion == [[2, 0, 0], [0, 0, 1], [1, 0, 1]]
    assert pair.labels["agreement"].value == pytest.approx(3 / 5)
    assert pair.labels["mean_difference"].value == pytest.approx((1 - 2) / 5)
    assert pair.labels["bias_at_1"].value == 1
    assert pair.labels["bias_at_2"].value == -1


def test_the_worst_query_comes_first_with_its_documents():
    (pair,) = agree(together(PEOPLE, MODEL), BOOTSTRAP, per_query=True).pairs
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
            zip(found.query.tolist(), found.by_judge.tolist(), strict=True)
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
    found = agree(together(PEOPLE, MODEL, PEOPLE), BOOTSTRAP)
    assert [pair.judges for pair in found.pairs] == [
        ("people", "model"),
        ("people", "third"),
        ("model", "third"),
    ]
    assert found.pairs[1].labels["kappa"].value == 1
    assert set(found.alpha) == {"nominal", "ordinal", "interval"}


def test_nothing_in_common():
    with pytest.raises(NothingInCommonError, match="people and model have no judged document"):
        together(PEOPLE, {"q1": {"x": 1}})


def test_levels_on_another_scale():
    people = judgements(PEOPLE)
    scale = parse_levels("0=0,1=0,2=3", "--map-levels", "wrong")
    assert sorted(mapped(people, scale, "--map-levels").level.tolist()) == [-1, 0, 0, 0, 0, 0, 3, 3]
    assert mapped(people, {}, "--map-levels") is people
    with pytest.raises(UsageError, match="level 2, which the map lacks"):
        mapped(people, {0: 0, 1: 1}, "--map-levels")
    for bad in ("0", "0=x", "0=0,0=1", "", "1=-1"):
        with pytest.raises(UsageError, match="--map-other"):
            parse_levels(bad, "--map-other", "wrong")


def test_too_many_levels_are_refused():
    many = {"q": {f"d{level}": level for level in range(50)}}
    with pytest.raises(UsageError, match="50 different levels"):
        agree(together(many, many), BOOTSTRAP)


def test_queries_that_all_judges_have():
    kept = shared_queries([judgements(PEOPLE), judgements(MODEL)])
    assert [judge.queries for judge in kept] == [[b"q1", b"q2"]] * 2
    assert list(kept[0].document) == [b"a", b"b", b"c", b"only_people", b"unjudged", b"a", b"z"]
    assert kept[0].index == {b"q1": 0, b"q2": 1}


def test_one_query_has_no_interval():
    judges = together({"q": {"a": 1, "b": 0}}, {"q": {"a": 1, "b": 1}})
    (pair,) = agree(judges, BOOTSTRAP).pairs
    assert np.isnan(pair.labels["agreement"].interval.low)


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
    (study,) = order_agreement("abc", reference, other, BOOTSTRAP)
    (swap,) = study.swaps
    assert (swap.better, swap.worse, swap.significant) == ("a", "b", True)
    assert study.agreements["tau_b"].value == pytest.approx(1 / 3)
    # The order that is walked down is the other one: its second run stands wrong, its third right.
    assert study.agreements["tau_ap"].value == pytest.approx(0.0)
    assert [shift.value for shift in study.shifts] == pytest.approx(
        [o["map"].summary - r["map"].summary for r, o in zip(reference, other, strict=True)]
    )


def test_runs_that_are_equally_good_are_rarely_called_swapped():
    """Six runs as good as each other, two judges that err independently: at most 5 of 100."""
    called = 0
    for trial in range(200):
        reference = runs_of(*[0.5] * 6, seed=2 * trial, noise=0.1)
        other = runs_of(*[0.5] * 6, seed=2 * trial + 1, noise=0.1)
        (study,) = order_agreement("abcdef", reference, other, Bootstrap(resamples=1))
        called += any(swap.significant for swap in study.swaps)
    assert called <= 200 * 0.05 + 8  # two standard errors and a half


def levels_of(random, queries=25, documents=20):
    """Levels 0 to 3 of documents, mostly 0, (Q, D)."""
    return random.choice(4, size=(queries, documents), p=[0.6, 0.2, 0.12, 0.08])


def judged(levels):
    return {
        f"q{query:03}": {f"d{number:03}": int(level) for number, level in enumerate(row)}
        for query, row in enumerate(levels)
    }


def ranked(random, levels, other, qualities):
    """Runs that prefer good documents by their quality; the mean level of the top 5 under each."""
    by_judge = ([], [])
    for quality in qualities:
        order = np.argsort(-(quality * levels + random.normal(size=levels.shape)), axis=1)[:, :5]
        for values, judge in zip(by_judge, (levels, other), strict=True):
            gains = np.take_along_axis(judge, order, axis=1).mean(axis=1)
            values.append(scores([(MAP, gains.tolist())]))
    return by_judge


def ask(random, kept, qualities, queries=25):
    """Ask about a judge who keeps a share of the levels and draws the others at random.

    His kappa is that share.
    """
    levels = levels_of(random, queries)
    drawn = levels_of(random, queries)
    other = np.where(random.random(levels.shape) < kept, levels, drawn)
    names = [f"run{number}" for number in range(len(qualities))]
    return agree(
        together(judged(levels), judged(other)),
        Bootstrap(resamples=100),
        names,
        ranked(random, levels, other, qualities),
    )


@pytest.mark.parametrize("qualities", [(0.5, 0.5), (1.5, 0.2), (0.5,) * 6, (1.5, 1, 0.7, 0.4, 0)])
def test_a_judge_of_random_levels_is_not_recommended(qualities):
    """Neither where runs are equal nor where they are far apart: at most 5 of 100."""
    random = np.random.default_rng(len(qualities))
    recommended = sum(ask(random, 0, qualities).pairs[0].fitness == "alike" for _ in range(40))
    assert recommended <= 40 * 0.05 + 2


def test_a_judge_with_kappa_of_0_6_is_found():
    """Over runs far apart, in 25 queries, where both judges show the difference by t tests."""
    random = np.random.default_rng(6)
    found = [ask(random, 0.6, (2, 0.8, 0)).pairs[0].fitness == "alike" for _ in range(20)]
    assert sum(found) >= 17


def test_runs_that_are_equal_cannot_show_how_a_judge_ranks():
    """A good judge of equal runs: the verdict blames the runs, but for 5 of 100 by chance."""
    random = np.random.default_rng(8)
    asked = [ask(random, 0.9, (0.5,) * 3) for _ in range(20)]
    untested = [found.pairs[0].orders[0].ranking == "untested" for found in asked]
    assert sum(untested) >= 17
    (verdict,) = agree_answer(asked[untested.index(True)]).verdict
    assert verdict.startswith("Under people, these 3 runs ")


def verdict_of(kept, reference, other, seed=1):
    """The verdict on a judge whose runs have the mean values `other`, not `reference`."""
    random = np.random.default_rng(seed)
    levels = levels_of(random)
    said = np.where(random.random(levels.shape) < kept, levels, levels_of(random))
    names = "abcdefgh"[: len(reference)]
    runs = runs_of(*reference), runs_of(*other, seed=2)
    found = agree(together(judged(levels), judged(said)), BOOTSTRAP, names, runs)
    (verdict,) = agree_answer(found).verdict
    assert len(verdict) <= 3 * 80
    return verdict


def test_verdicts_say_how_sure_they_are():
    alike = verdict_of(0.7, (0.8, 0.6, 0.4, 0.2, 0.0), (0.7, 0.5, 0.3, 0.2, 0.1))
    assert "model ranks these 5 runs as people does (tau_AP 1.00 [1.00, 1.00]): use it" in alike
    opposite = verdict_of(0.7, (0.8, 0.4, 0.0), (0.1, 0.3, 0.6))
    assert "ranks these 3 runs in the opposite order of people (tau_AP -1.00 [" in opposite
    assert ", and 1 pair more change places): do not rank with it" in opposite
    undecided = verdict_of(0.7, (0.8, 0.7, 0.4, 0.0), (0.7, 0.703, 0.4, 0.1))
    assert undecided.startswith("Undecided whether model ranks these 4 runs as people does (tau_AP")
    assert "; a and b change places)" in undecided
    few = verdict_of(0.7, (0.8, 0.4, 0.0), (0.5, 0.51, 0.1))
    assert few.startswith("Undecided whether model ranks these 3 runs as people does (tau_AP")
    chance = verdict_of(0.0, (0.8, 0.4, 0.0), (0.7, 0.5, 0.1))
    assert "does not agree with people significantly better than chance" in chance


def test_an_end_near_zero_has_no_sign():
    found = ask(np.random.default_rng(1), 0.7, (0.8, 0.6, 0.4, 0.0))
    (pair,) = found.pairs
    (order,) = pair.orders
    near_zero = {**order.agreements, "tau_ap": Estimate(0.3, Interval(-0.004, 1.0))}
    order = replace(order, agreements=near_zero)
    (verdict,) = agree_answer(replace(found, pairs=[replace(pair, orders=[order])])).verdict
    assert "(tau_AP 0.30 [0.00, 1.00]; " in verdict


def test_several_judges_have_a_sentence_each_in_their_order():
    random = np.random.default_rng(3)
    levels = levels_of(random)
    good = np.where(random.random(levels.shape) < 0.8, levels, levels_of(random))
    noise = [levels_of(random) for _ in range(3)]
    judges = [judged(each) for each in (levels, noise[0], good, *noise[1:])]
    names = ("people", "n1", "good", "n2", "n3")
    said = agree_answer(agree(together(*judges, names=names), BOOTSTRAP)).verdict
    told = [(line.split()[0], "beyond chance" in line) for line in said]
    assert told == [("n1", False), ("good", True), ("n2", False), ("n3", False)]


def test_many_runs_are_told_apart_with_few_trials():
    """595 pairs, for which 500 random trials are too few to correct by Holm."""
    means = np.linspace(0.9, 0.1, 35).tolist()
    names = [f"run{number}" for number in range(35)]
    orders = order_agreement(names, runs_of(*means), runs_of(*means, seed=3), BOOTSTRAP)
    assert [order.ranking for order in orders] == ["alike"]


def test_one_query_shows_nothing():
    judges = together({"q": {"a": 1, "b": 0, "c": 2}}, {"q": {"a": 1, "b": 0, "c": 1}})
    found = agree(judges, BOOTSTRAP)
    assert np.isnan(found.pairs[0].p_chance)
    (verdict,) = agree_answer(found).verdict
    assert "too few queries to test" in verdict


def test_swaps_are_significant_under_both_or_not():
    """The judge puts b above a by a hair: people's difference is significant, his is not."""
    (study,) = order_agreement("ab", runs_of(0.6, 0.5), runs_of(0.5, 0.503, seed=2), BOOTSTRAP)
    (swap,) = study.swaps
    assert swap.p_reference < 0.05 < swap.p_other
    assert not swap.significant
    assert study.ranking == "undecided"
    assert study.tau_ap.interval.low < ALIKE < study.tau_ap.interval.high


def test_sums_that_round_apart_are_no_order():
    """0.1 + 0.2 + 0.3 is above 0.3 + 0.2 + 0.1 by its last bit; the judges see it the other way."""
    rising, falling = (scores([(MAP, each)]) for each in ([0.1, 0.2, 0.3], [0.3, 0.2, 0.1]))
    assert rising["map"].summary != falling["map"].summary
    third = scores([(MAP, [0.0, 0.0, 0.1])])
    (study,) = order_agreement("abc", [rising, falling, third], [falling, rising, third], BOOTSTRAP)
    assert study.swaps == []
    assert study.agreements["tau_b"].value == 1


def test_one_run_has_no_order():
    with pytest.raises(UsageError, match="two or more"):
        ragkpi.agree({"q": {"d": 1}}, {"q": {"d": 0}}, {"a": {"q": {"d": 1.0}}})


def test_copies_of_queries_in_clusters_agree_as_the_queries_do():
    """Each query three times, all copies in one cluster: intervals and p of the queries alone."""
    random = np.random.default_rng(9)
    levels = levels_of(random, 8)
    other = np.where(random.random(levels.shape) < 0.4, levels, levels_of(random, 8))
    once = together(judged(levels), judged(other))
    copies = together(judged(np.repeat(levels, 3, axis=0)), judged(np.repeat(other, 3, axis=0)))
    clusters = {query: str(number // 3) for number, query in enumerate(copies.queries)}
    clustered = replace(BOOTSTRAP, clusters=clusters)
    (one,), (three,) = agree(once, BOOTSTRAP).pairs, agree(copies, clustered).pairs
    assert three.documents == 3 * one.documents
    assert three.p_chance == pytest.approx(one.p_chance)
    for name in ("agreement", "kappa", "kappa_quadratic", "mean_difference"):
        assert three.labels[name].interval == pytest.approx(one.labels[name].interval)
    assert agree(copies, BOOTSTRAP).pairs[0].p_chance < one.p_chance


def test_a_judge_of_one_level_agrees_as_chance_would_and_not_less():
    """Its kappa is 0 with and without any query: nothing varies, and nothing is shown."""
    people = judged(np.arange(80).reshape(8, 10) % 3)
    model = judged(np.ones((8, 10), dtype=np.int64))
    found = agree(together(people, model), BOOTSTRAP)
    assert found.pairs[0].p_chance == 1
    (verdict,) = agree_answer(found).verdict
    assert "(quadratic kappa 0.00" in verdict


def test_a_judge_of_some_documents_is_not_known_to_rank_runs():
    """It agrees on all that it judged, two of ten documents."""
    levels = np.arange(80).reshape(8, 10) % 3
    people, model = judged(levels), {q: dict([*of.items()][:2]) for q, of in judged(levels).items()}
    found = agree(together(people, model), BOOTSTRAP)
    assert found.pairs[0].labels["agreement"].value == 1
    (verdict,) = agree_answer(found).verdict
    assert "(quadratic kappa 1" in verdict
    assert "use it to rank" not in verdict
