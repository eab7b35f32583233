"""`-m` arguments: names, parameters, nicknames, adding up, and what is said of typos."""

import pytest

import ragkpi
from ragkpi.errors import RagkpiWarning, UsageError
from ragkpi.measures.registry import find_metrics

pytestmark = pytest.mark.usefixtures("command_line")


def names(*requests):
    """Return names in the order of trec_eval's lines; tables have them as they were typed."""
    metrics = sorted(find_metrics(requests), key=lambda metric: metric.printed_place)
    return [metric.name for metric in metrics]


def arguments(request):
    (metric,) = find_metrics([request])
    return dict(metric.arguments)


@pytest.mark.parametrize(
    ("requests", "printed"),
    [
        (["map"], ["map"]),
        (["P.10,5"], ["P_5", "P_10"]),
        (["P.10", "P.5"], ["P_5", "P_10"]),
        (["P_10"], ["P_10"]),
        (["P_5,10"], ["P_5", "P_10"]),
        (["ndcg_cut_10", "ndcg_cut.10"], ["ndcg_cut_10"]),
        (["ndcg_cut.10", "map", "ndcg_cut.25"], ["map", "ndcg_cut_10", "ndcg_cut_25"]),
        (["success", "success.3"], ["success_3"]),
        (["recip_rank.10"], ["recip_rank_10"]),
        (["recip_rank.cut.10"], ["recip_rank_10"]),
        (["recip_rank", "recip_rank.10"], ["recip_rank", "recip_rank_10"]),
        (["recall.5", "recall.7,6"], ["recall_5", "recall_6", "recall_7"]),
        (["iprec_at_recall.0.5"], ["iprec_at_recall_0.50"]),
        (["Rprec_mult.1.5,0.5"], ["Rprec_mult_0.50", "Rprec_mult_1.50"]),
        (["ndcg.1=3,2=4"], ["ndcg_1=3,2=4"]),
        (["dcg.5"], ["dcg_5"]),
        (["dcg@5"], ["dcg_5"]),
        (["DCG@5"], ["dcg_5"]),
        (["DCG"], ["dcg"]),
        (["dcg_5"], ["dcg_5"]),
        (["dcg", "dcg.10,5"], ["dcg", "dcg_5", "dcg_10"]),
        (["dcg", "dcg.1=3,2=4"], ["dcg_1=3,2=4"]),
        (["dcg.5,1=3,2=4"], ["dcg_5_1=3,2=4"]),
        (["dcg_5_1=3,2=4"], ["dcg_5_1=3,2=4"]),
        (["set_F.2"], ["set_F_2"]),
        (["bor.10"], ["bor_10"]),
        (["bor.10,m=1"], ["bor_10"]),
        (["bor.10,m=3"], ["bor_10_m=3"]),
        (["bor_10_m=3"], ["bor_10_m=3"]),
        (["dbor.1,10,5"], ["dbor_1_5", "dbor_5_10"]),
        (["ra_nwg.10,alpha=0.5,cap3=0.5"], ["ra_nwg_10_alpha=0.5_cap3=0.5"]),
        (["num_q_bor.10"], ["num_q_bor_10"]),
        (["map,P.5,10,bor.10,m=3"], ["map", "P_5", "P_10", "bor_10_m=3"]),
        (["iprec_at_recall.0.125"], ["iprec_at_recall_0.12"]),
        (
            ["iprec_at_recall.0.5,0.125,0.121"],
            ["iprec_at_recall_0.121", "iprec_at_recall_0.125", "iprec_at_recall_0.50"],
        ),
        (["Rprec_mult.0.2,0.199"], ["Rprec_mult_0.199", "Rprec_mult_0.2"]),
        (
            ["F.10,alpha=0.12345671", "F.10,alpha=0.12345679"],
            ["F_10_alpha=0.12345671", "F_10_alpha=0.12345679"],
        ),
    ],
)
def test_printed_names(requests, printed):
    assert names(*requests) == printed


def test_requests_of_a_nickname_add_to_those_of_the_command_line():
    assert [name for name in names("kpi", "recall.5") if name.startswith("recall")] == [
        *("recall_5", "recall_25", "recall_50", "recall_100")
    ]


def test_parameters_reach_the_function():
    assert arguments("P.7") == {"cutoff": 7}
    assert arguments("recip_rank") == {"cutoff": None}
    assert arguments("iprec_at_recall.0.25") == {"point": 0.25}
    assert arguments("utility.1,-1,0,0.5") == {"coefficients": (1, -1, 0, 0.5)}
    assert arguments("ndcg.1=3,4=.5") == {"gains": {1: 3.0, 4: 0.5}}
    assert arguments("dcg.7,1=3") == {"gains": {1: 3.0}, "cutoff": 7}
    assert arguments("rbp.p=.5,1=2") == {"gains": {1: 2.0}, "p": 0.5}
    assert arguments("rbp_resid.p=.5") == {"p": 0.5}
    assert arguments("dbor.5,20,m=2") == {"cutoff": (5, 20), "m": 2, "recall": 0.0}


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ("mpa", "no measure is named 'mpa'; did you mean map"),
        ("ndcg_cut_x", "no measure is named 'ndcg_cut_x'; did you mean ndcg_cut"),
        ("qqqqqqqq", "'ragkpi measures' lists them all"),
        ("RNDCG", "no measure is named 'RNDCG'; did you mean Rndcg"),
        ("RBP", "no measure is named 'RBP'; did you mean rbp"),
        ("F1", "no measure is named 'F1'; did you mean F"),
        ("set_F.1,2", "2 numbers; expected 1"),
        ("", "no measure is named ''"),
        ("map.10", "map takes no cutoff; expected -m map_cut.10"),
        ("P.", "no parameter after the dot"),
        ("P.0", "'0' is not a cutoff; expected a rank from 1"),
        ("P.-5", "'-5' is not a cutoff"),
        ("P.1e3", "'1e3' is not a cutoff"),
        ("P.99999999999999999999", "is not a cutoff"),
        ("P.5,5", "5 is given twice"),
        ("P.5,,10", "'' is not a cutoff"),
        ("P.5,m=2", "no parameter 'm'; it takes cutoffs only"),
        ("bor.5,m=1,m=2", "'m' is given twice"),
        ("bor.5,m=1.5", "m=1.5; expected a whole number from 1"),
        ("ra_nwg.10,alpha=nan", "expected a number from 0"),
        ("ra_nwg.10,alpha=1_0", "expected a number from 0"),
        ("dbor.10", "needs at least 2 cutoffs"),
        ("iprec_at_recall.x", "'x' is not a number"),
        ("utility.1,2", "2 numbers; expected 4"),
        ("ndcg.1=3,1=4", "level 1 is given twice"),
        ("ndcg.-1=3", "a gain for a negative level"),
        ("ndcg.1=inf", "'inf' is not a number"),
        ("ndcg.1", "ndcg takes no cutoff; expected -m ndcg_cut.1"),
        ("ndcg.1=2=3", "expected key=value"),
        ("ndcg.5,1=2", "'5'; expected key=value"),
        ("dcg.0", "'0' is not a cutoff; expected a rank from 1"),
        ("dcg.5,5", "5 is given twice"),
        ("dcg.5,-1=3", "a gain for a negative level"),
        ("rbp.p=.5,p=.6", "'p' is given twice"),
        ("rbp_resid.1=3", "no parameter '1'; it takes p"),
        ("official.5", "official is a nickname and takes no parameters"),
        ("num_q_runid", "no measure is named 'num_q_runid'"),
    ],
)
def test_what_does_not_fit_is_refused(request_, said):
    with pytest.raises(UsageError) as refusal:
        find_metrics([request_])
    assert said in str(refusal.value)
    assert str(refusal.value).startswith(f"-m {request_.partition('.')[0]}".strip())
    assert "\n" not in str(refusal.value)


def test_all_bad_requests_are_reported_at_once():
    with pytest.raises(UsageError, match=r"-m mpa: .*; -m P\.x: .*; -m map\.5: "):
        find_metrics(["mpa", "map", "P.x", "map.5"])


@pytest.mark.parametrize(
    ("request_", "printed", "said"),
    [
        ("P.5.7", "P_5", "cutoff 5.7 is read as 5"),
        ("ndcg.x=2", "ndcg_x=2", "'x' is not a level and has no effect"),
    ],
)
def test_what_trec_eval_drops_is_said(request_, printed, said):
    with pytest.warns(RagkpiWarning, match=said):
        assert names(request_) == [printed]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("nDCG@10", "ndcg_cut_10"),
        ("ndcg@10", "ndcg_cut_10"),
        ("RR", "recip_rank"),
        ("RR@10", "recip_rank_10"),
        ("MRR@10", "recip_rank_10"),
        ("mrr", "recip_rank"),
        ("AP@100", "map_cut_100"),
        ("MAP@100", "map_cut_100"),
        ("R@100", "recall_100"),
        ("Recall@5", "recall_5"),
        ("P@5", "P_5"),
        ("precision_10", "P_10"),
        ("precision_at_3", "P_3"),
        ("ndcg_at_10", "ndcg_cut_10"),
        ("mrr_at_5", "recip_rank_5"),
        ("Success@5", "success_5"),
        ("hit_rate@5", "success_5"),
        ("hit_rate.5", "success_5"),
        ("Bpref", "bpref"),
        ("BoR@10", "bor_10"),
    ],
)
def test_names_of_other_tools_are_understood(text, name):
    assert [metric.name for metric in find_metrics([text])] == [name]


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_a_level_that_changes_no_value_is_said_of_every_measure_of_gains_and_grades(level):
    qrels = {"q": {"a": 3, "b": 1, "c": 0, "d": 2}}
    run = {"q": {"b": 4.0, "c": 3.0, "a": 2.0, "x": 1.0}}
    names = ["ndcg", "ndcg_cut.10", "dcg", "G", "rbp", "err.10", "ndcg_exp.5", "ra_nwg.5", "P.5"]
    result = ragkpi.evaluate(qrels, run, names, relevance_level=level)
    notes = [note for note in result.notes if "does not change" in note]
    if level == 1:
        assert notes == []
        return
    said = ", ".join(notes)
    for name in names:
        printed = name.replace(".", "_")
        plain = ragkpi.evaluate(qrels, run, name).mean
        assert (printed in said) == (printed != "P_5")
        if printed in said:
            assert ragkpi.evaluate(qrels, run, name, relevance_level=level).mean == plain
