"""Real gains: by hand, against scikit-learn, and what they do with qrels."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragkpi
from ragkpi.ranking.judge import judge, part_of
from tests.hostile_files import LEVEL

QRELS = {"q": {"a": 2, "b": 0, "c": 1}}
RUN = {"q": {"z": 4.0, "c": 3.0, "a": 2.0, "b": 1.0}}
GAINS = {"q": {"a": 0.5, "b": 0.25, "c": 2.0}}
TAKING = ["dcg", "dcg.2", "ideal_dcg", "ndcg", "ndcg_cut.2", "G", "rbp.p=0.5", "ndcg_exp.5"]


def by_hand():
    """c at rank 2, a at 3 and b at 4; the best order is c, a, b."""
    ranked, best = {2: 2.0, 3: 0.5, 4: 0.25}, {1: 2.0, 2: 0.5, 3: 0.25}

    def dcg(gains, deepest=9):
        return sum(g / math.log2(rank + 1) for rank, g in gains.items() if rank <= deepest)

    def exponential(gains):
        return dcg({rank: 2**g - 1 for rank, g in gains.items()})

    # G: C(i) adds max(gain, 1) of the best ranking, which has three, and 1 for a rank below them.
    G = 2.0 / math.log2(2 + 3 - 2.0) + 0.5 / math.log2(2 + 4 - 2.5) + 0.25 / math.log2(2 + 5 - 2.75)
    return {
        "dcg": dcg(ranked),
        "dcg_2": dcg(ranked, 2),
        "ideal_dcg": dcg(best),
        "ndcg": dcg(ranked) / dcg(best),
        "ndcg_cut_2": dcg(ranked, 2) / dcg(best, 2),
        "G": G / 2.75,
        # One gain is above 1, so all are divided by the highest.
        "rbp_p=0.5": 0.5 * (2.0 * 0.5 + 0.5 * 0.25 + 0.25 * 0.125) / 2.0,
        "ndcg_exp_5": exponential(ranked) / exponential(best),
    }


def test_gains_replace_levels_for_measures_that_take_them():
    found = ragkpi.evaluate(QRELS, RUN, TAKING, gains=GAINS)
    assert found.mean == pytest.approx(by_hand(), rel=1e-14)


def test_others_still_see_the_levels():
    found = ragkpi.evaluate(QRELS, RUN, ["map", "P.3", "num_rel", "ndcg"], gains=GAINS)
    assert found.mean["map"] == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert (found.mean["P_3"], found.mean["num_rel"]) == (pytest.approx(2 / 3), 2)


def test_fractional_levels_are_gains():
    with pytest.warns(ragkpi.RagkpiWarning, match="fractional levels, which are read as gains"):
        found = ragkpi.evaluate(GAINS, RUN, TAKING)
    assert found.mean == pytest.approx(by_hand(), rel=1e-14)


def test_expected_over_ties_they_are_means_of_both_orders():
    tied = {"q": {"a": 1.0, "b": 1.0}}
    found = ragkpi.evaluate(QRELS, tied, ["dcg", "rbp.p=0.5"], gains=GAINS, ties="expected")
    assert found.mean["dcg"] == pytest.approx(0.75 * (1 + 1 / math.log2(3)) / 2)
    assert found.mean["rbp_p=0.5"] == pytest.approx(0.5 * 0.75 / 2.0 * (1 + 0.5) / 2)


real = st.floats(0, 5, allow_subnormal=False)


@given(st.lists(st.tuples(real, st.floats(-1, 1)), min_size=2, max_size=12), st.integers(1, 12))
def test_ndcg_is_that_of_scikit_learn(documents, cutoff):
    """All are judged and retrieved; scikit-learn gives equal scores the mean over their orders."""
    metrics = pytest.importorskip("sklearn.metrics")
    gain, score = np.array(documents).T
    names = [f"d{number}" for number in range(len(gain))]
    found = ragkpi.evaluate(
        {"q": dict.fromkeys(names, 1)},
        {"q": dict(zip(names, score.tolist(), strict=True))},
        ["ndcg", "dcg", f"dcg.{cutoff}", f"ndcg_cut.{cutoff}"],
        gains={"q": dict(zip(names, gain.tolist(), strict=True))},
        ties="expected",
    ).mean
    truth, predicted = gain[np.newaxis], score[np.newaxis]
    assert found["ndcg"] == pytest.approx(metrics.ndcg_score(truth, predicted), abs=1e-12)
    assert found["dcg"] == pytest.approx(metrics.dcg_score(truth, predicted), abs=1e-12)
    expected = metrics.dcg_score(truth, predicted, k=cutoff)
    assert found[f"dcg_{cutoff}"] == pytest.approx(expected, abs=1e-12)
    expected = metrics.ndcg_score(truth, predicted, k=cutoff)
    assert found[f"ndcg_cut_{cutoff}"] == pytest.approx(expected, abs=1e-12)


@given(st.dictionaries(st.sampled_from("abcde"), st.integers(0, 4), min_size=1))
def test_gains_that_are_the_levels_change_nothing(levels):
    names = [*TAKING, "ndcg_rel", "ndcg_local.3"]
    run = {"q": {"a": 3.0, "c": 2.0, "e": 1.0, "x": 0.5}}
    plain, given_ = (
        ragkpi.evaluate({"q": levels}, run, names, missing="zero", **how).mean
        for how in ({}, {"gains": {"q": levels}})
    )
    assert given_ == plain


@pytest.mark.parametrize(
    "text",
    [
        "q a 0.5\nq b .25\nq c 2\n",
        "q\ta\t0.5\nq\tb\t0.25\nq\tc\t2\n",
        "q 0 a 0.5\nq 0 b 0.25\nq 0 c 2\n",
        "query_id\tdoc_id\tgain\nq\ta\t0.5\nq\tb\t0.25\nq\tc\t2\n",
        "query,doc,relevance\nq,a,0.5\nq,b,0.25\nq,c,2\n",
        json.dumps(GAINS),
        '{"qid": "q", "docid": "a", "gain": 0.5}\n{"qid": "q", "docid": "b", "gain": 0.25}\n'
        '{"qid": "q", "docid": "c", "gain": 2}\n',
    ],
    ids=["three columns", "tabs", "trec", "tsv", "csv", "json", "jsonl"],
)
def test_files(tmp_path, ragkpi, text):
    (tmp_path / "qrels").write_text("q 0 a 2\nq 0 b 0\nq 0 c 1\n")
    (tmp_path / "run").write_text("q 0 z 1 4 t\nq 0 c 2 3 t\nq 0 a 3 2 t\nq 0 b 4 1 t\n")
    (tmp_path / "gains").write_text(text)
    out = ragkpi("eval", "-m", "ndcg", "--gains", "gains", "qrels", "run", folder=tmp_path).out
    assert out == f"ndcg                  \tall\t{by_hand()['ndcg']:.4f}\n".encode()


def test_parquet(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = arrow.table({"query": ["q"] * 3, "doc": ["a", "b", "c"], "relevance": [0.5, 0.25, 2]})
    parquet.write_table(table, tmp_path / "gains.parquet")
    found = ragkpi.evaluate(str(tmp_path / "gains.parquet"), RUN, "ndcg")
    assert found.mean["ndcg"] == pytest.approx(by_hand()["ndcg"])


def test_trecs_levels_are_whole(tmp_path, ragkpi):
    (tmp_path / "qrels").write_text("q 0 a 1\nq 0 b 0.5\n")
    (tmp_path / "run").write_text("q 0 a 1 4 t\n")
    outcome = ragkpi("eval", "-m", "ndcg", "qrels", "run", folder=tmp_path)
    assert outcome.status == 2
    assert outcome.err.startswith(b"ragkpi: error: qrels:2: level '0.5'; ")


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"gains": {"q": {"z": 1.0}}}, "1 document has a gain and no judgement in qrels, first z"),
        ({"gains": {"q": {"a": "high"}}}, "level 'high'; expected a number"),
        ({"gains": {"q": {"a": math.inf}}}, "level 'inf'; expected a number"),
        ({"gains": GAINS, "measures": "map"}, "none of the measures takes gains; .* dcg, "),
        ({"gains": GAINS, "measures": "ndcg.2=5"}, "expected one of the two"),
    ],
)
def test_refused(how, says):
    with pytest.raises(ragkpi.RagkpiError, match=says):
        ragkpi.evaluate(QRELS, RUN, **{"measures": "ndcg", **how})


def test_measures_that_need_levels_say_so_in_one_line():
    with pytest.raises(ragkpi.RagkpiError) as refusal:
        ragkpi.evaluate(GAINS, RUN, ["ndcg", "map", "bor.10"], corpus_size=9)
    assert str(refusal.value) == (
        f"qrels:1: level '0.5'; {LEVEL}; map, bor need levels; real gains serve G, dcg, ideal_dcg, "
        "ndcg, ndcg_rel, Rndcg, ndcg_cut, rbp, ndcg_exp, ndcg_local"
    )


@pytest.mark.parametrize(
    ("function", "given_"),
    [("holes", (GAINS, RUN, "ndcg")), ("agree", (GAINS, QRELS)), ("report", (GAINS, RUN, "ndcg"))],
)
def test_questions_about_levels_refuse_gains(function, given_):
    with pytest.raises(ragkpi.RagkpiError, match=r"level '0.5'|answered by levels"):
        getattr(ragkpi, function)(*given_)


def test_what_the_gains_leave_out_is_said():
    gains = {"q": {"a": 0.5}, "other": {"a": 1.0}}
    with pytest.warns(ragkpi.RagkpiWarning) as said:
        ragkpi.evaluate(QRELS, RUN, "ndcg", gains=gains)
    assert [str(warning.message) for warning in said] == [
        "1 relevant document has no gain in gains=: worth 0",
    ]


def test_the_signature_names_the_gains():
    one, other = (
        ragkpi.evaluate(QRELS, RUN, "ndcg", gains=gains).signature.fields["gains"]
        for gains in (GAINS, {"q": {**GAINS["q"], "b": 0.3}})
    )
    assert one != other


def test_a_part_keeps_its_gains():
    from ragkpi.library.session import Session
    from ragkpi.ranking.judged import Settings
    from ragkpi.ranking.reading import RunInMemory

    session = Session({"p": {"a": 0.5}, **GAINS}, Settings())
    hits = session.read({"run": RunInMemory({"p": {"a": 1.0}, **RUN})})["run"]
    judged, _ = judge(session.judgements, hits, Settings())
    gains = part_of(judged, np.array([1])).gains
    assert gains.of_hits.tolist() == [2.0, 0.5, 0.25]
    assert gains.best_first.tolist() == [2.0, 0.5, 0.25]
    assert gains.starts.tolist() == [0, 3]
