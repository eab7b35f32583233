"""Names that people type mean what ir_measures means by them."""

import random
import warnings

import pytest

import ragkpi
from ragkpi.interface import Interface, using
from ragkpi.measures.registry import find_metrics

pytestmark = pytest.mark.usefixtures("command_line")

# By the name that is typed, what is printed.
NAMES = {
    "AP": "map",
    "AP@100": "map_cut_100",
    "AP(rel=2)": "map_rel=2",
    "AP(rel=2)@10": "map_cut_10_rel=2",
    "MAP@5": "map_cut_5",
    "P@5": "P_5",
    "P(rel=2)@5": "P_5_rel=2",
    "Precision(rel=3)@10": "P_10_rel=3",
    "R@10": "recall_10",
    "Recall(rel=2)@10": "recall_10_rel=2",
    "RR": "recip_rank",
    "RR(rel=2)@3": "recip_rank_3_rel=2",
    "MRR@10": "recip_rank_10",
    "nDCG": "ndcg",
    "nDCG@10": "ndcg_cut_10",
    "NDCG(dcg='log2')@10": "ndcg_cut_10",
    "nDCG(dcg='exp-log2')@10": "ndcg_exp_10",
    "Success@5": "success_5",
    "Success(rel=3)@2": "success_2_rel=3",
    "Rprec(rel=2)": "Rprec_rel=2",
    "Bpref(rel=2)": "bpref_rel=2",
    "infAP": "infAP",
    "IPrec@0.1": "iprec_at_recall_0.10",
    "IPrec(rel=2)@0.2": "iprec_at_recall_0.20_rel=2",
    "SetP(rel=2)": "set_P_rel=2",
    "SetP(relative=True)": "set_relative_P",
    "SetR": "set_recall",
    "SetAP(rel=2)": "set_map_rel=2",
    "SetF(beta=0.5)": "set_F_0.5",
    "NumRet": "num_ret",
    "NumRet(rel=2)": "num_rel_ret_rel=2",
    "NumQ": "num_q",
    "Judged@5": "judged_5",
    "ERR@10": "err_10",
}


@pytest.fixture(scope="module")
def data():
    """Qrels of levels 0 to 3, and a run that retrieves unjudged documents, too, without ties."""
    chance = random.Random(5)
    documents = [f"d{number}" for number in range(40)]
    qrels, run = {}, {}
    for query in map(str, range(7)):
        qrels[query] = {name: chance.choice([0, 0, 1, 2, 3]) for name in documents[:25]}
        run[query] = {name: chance.random() for name in chance.sample(documents, 20)}
    return qrels, run


@pytest.mark.parametrize("name", NAMES)
def test_a_name_means_what_ir_measures_means(name, data):
    ir_measures = pytest.importorskip("ir_measures")
    measure = ir_measures.parse_measure(name)
    provider = next(p for p in ir_measures.DefaultPipeline.providers if p.supports(measure))
    if not provider.is_available():
        pytest.skip(f"{provider.NAME} is not there: {provider.install_instructions()}")
    theirs = {metric.query_id: metric.value for metric in ir_measures.iter_calc([measure], *data)}
    result = ragkpi.evaluate(*data, name, missing="zero")
    assert list(result.mean) == [NAMES[name]]
    if name == "NumQ":
        assert result.mean == {"num_q": len(theirs)}
        return
    # gdeval prints five digits.
    ours = (
        {query: values[NAMES[name]] for query, values in result.per_query.items()}
        if (result.per_query["0"])
        else {}
    )
    assert ours == pytest.approx(theirs, abs=6e-6 if provider.NAME == "gdeval" else 1e-12)


def test_levels_of_their_own_mix_with_each_other():
    qrels, run = {"q": {"a": 1, "b": 2, "c": 0}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    found = ragkpi.evaluate(qrels, run, "P@2,P(rel=2)@2,P.2,rel=3,RR(rel=2),NumRel(rel=2)").mean
    assert found.pop("num_rel_rel=2") == 1
    assert found == {"recip_rank_rel=2": 0.5, "P_2": 1.0, "P_2_rel=2": 0.5, "P_2_rel=3": 0.0}
    assert ragkpi.evaluate(qrels, run, "P_2_rel=2").mean == {"P_2_rel=2": 0.5}


def test_a_level_above_all_is_said():
    with pytest.warns(ragkpi.RagkpiWarning, match="P_1_rel=2: no document "):
        ragkpi.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "P(rel=2)@1")


def test_names_as_they_were_asked_for(ragkpi):
    import ragkpi as library

    asked = ["nDCG@2", "P(rel=2)@1", "P.1,2"]
    qrels, run = {"q": {"a": 1, "b": 2}}, {"q": {"a": 2.0, "b": 1.0}}
    found = library.evaluate(qrels, run, asked, measure_names="given").mean
    assert list(found) == ["nDCG@2", "P(rel=2)@1", "P_1", "P_2"]
    lines = ragkpi(
        "eval",
        "-m",
        ",".join(asked),
        "--measure-names",
        "given",
        "qrels.txt",
        "reranked.run",
        folder="fixtures",
    ).out.decode()
    assert [line.split()[0] for line in lines.splitlines()] == [
        "P_1",
        "P_2",
        "P(rel=2)@1",
        "nDCG@2",
    ]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nDCG(rel=2)@10", "ndcg_cut has no relevance level"),
        ("ndcg_cut.10,rel=2", "ndcg_cut has no relevance level"),
        ("nDCG(judged_only=True)@10", "takes no parameter judged_only=True"),
        ("AP(x=3)", "takes no parameter x=3"),
        ("RBP(p=0.8)", "'ragkpi measures rbp' explains"),
        ("RBP", "did you mean rbp"),
        ("Judged", "needs a cutoff, such as Judged@10"),
        ("Recall", "needs a cutoff, such as Recall@10"),
        ("official,rel=2", "official"),
    ],
)
def test_what_has_no_equal_is_refused_with_the_nearest(name, says):
    with pytest.raises(ragkpi.UsageError, match=says):
        find_metrics([name])


def test_expected_reciprocal_rank_by_hand():
    """Levels 4 and 2 of 4 satisfy with 15/16 and 3/16; the one between them is unjudged."""
    qrels = {"q": {"a": 2, "c": 4}}
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    expected = 3 / 16 + (13 / 16) * (15 / 16) / 3
    assert ragkpi.evaluate(qrels, run, "err.10").mean["err_10"] == pytest.approx(expected)
    refused = pytest.raises(
        ragkpi.DataError, match=r'level 4 is judged; expected measures="err\.10,highest=4"'
    )
    with using(Interface()), refused:  # as in Python, not on the command line
        ragkpi.evaluate(qrels, run, "err.10,highest=3")


def test_the_judged_share_is_of_what_is_shown():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ragkpi.evaluate(
            {"q": {"a": 0, "b": -1}}, {"q": {"a": 2, "b": 1, "c": 0}}, "judged.2,5"
        )
    assert found.mean == {"judged_2": 0.5, "judged_5": 1 / 3}
