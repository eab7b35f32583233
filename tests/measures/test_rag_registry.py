import math

import pytest

from ragkpi.errors import UsageError
from ragkpi.measures import chance, evidence, kpi
from ragkpi.measures.registry import NICKNAMES, find_metrics
from ragkpi.ranking.judged import GRADE_MAPS, Settings
from tests.measures.by_hand import judge, lines, population, summary

RAG_MEASURES = [*chance.MEASURES, *evidence.MEASURES, *kpi.MEASURES]
pytestmark = pytest.mark.usefixtures("command_line")

FIELDS = ("Formula:    ", "Range:      ", "Edge cases: ", "Source:     ")


@pytest.mark.parametrize("measure", RAG_MEASURES, ids=lambda measure: measure.name)
def test_help_has_every_field(measure):
    definition, blank, *rest = measure.help.splitlines()
    assert definition.endswith(".")
    assert blank == ""
    starts = [line[:12] for line in rest if not line.startswith("    ")]
    assert starts == list(FIELDS)


def names(*requests):
    return [metric.name for metric in find_metrics(requests)]


PRINTED = {
    "bor": ["bor_1", "bor_5", "bor_10", "bor_20", "bor_100"],
    "bor.10,m=3": ["bor_10_m=3"],
    "bor_10_m=3": ["bor_10_m=3"],
    "bor.10,m=1": ["bor_10"],
    "bor.10,recall=0.5,m=2": ["bor_10_m=2_recall=0.5"],
    "ef_10_recall=0.5": ["ef_10_recall=0.5"],
    "dbor.5,10,50": ["dbor_5_10", "dbor_10_50"],
    "ra_nwg": ["ra_nwg_10", "ra_nwg_30"],
    "ra_nwg.10,cap3=0.2,alpha=0.5": ["ra_nwg_10_alpha=0.5_cap3=0.2"],
    "ra_nwg_10_alpha=0.5_cap3=0.2": ["ra_nwg_10_alpha=0.5_cap3=0.2"],
    "ra_nwg.10,u5=1,u4=0.5,u3=0.1": ["ra_nwg_10"],
    "proc.10,fallback3=0,u3=0": ["proc_10_u3=0_fallback3=0"],
    "pct_proc_10_u4=0.8_fallback4=0.9": ["pct_proc_10_u4=0.8_fallback4=0.9"],
    "t.alpha=0.3": ["t_5_alpha=0.3", "t_10_alpha=0.3", "t_20_alpha=0.3"],
    "t_code_10": ["t_code_10"],
    "num_q_bor.10,m=3": ["num_q_bor_10_m=3"],
    "num_q_bor_10": ["num_q_bor_10"],
    "num_q_fallback": ["num_q_fallback"],
}


@pytest.mark.parametrize(("request_", "expected"), PRINTED.items(), ids=PRINTED)
def test_printed_names(request_, expected):
    assert names(request_) == expected


@pytest.mark.parametrize(
    "request_",
    [
        *(
            "bor.0",
            "bor.10,m=0",
            "bor.10,m=1001",
            "bor.10,m=1.5",
            "bor.10,alpha=1",
            "bor.10,recall=1.1",
            "bor_recall.10,recall=0.5",
            "dbor.10",
            "bor.10,m=",
        ),
        *("ra_nwg.10,alpha=-1", "ra_nwg.10,cap4=-0.1", "proc.10,cap3=inf", "harm.10,alpha=1"),
        *("ra_nwg.10,u5=0", "ra_nwg.10,u4=-1", "proc.10,u3=1001", "ra_nwg.10,fallback4=1.1"),
        *("t.10,alpha=1.1", "F.10,alpha=-0.1", "Fe.10,alpha=nan", "num_q_runid", "num_q_x"),
    ],
)
def test_bad_parameters_are_refused(request_):
    with pytest.raises(UsageError):
        names(request_)


def test_nicknames_stand_for_known_measures():
    for members in NICKNAMES.values():
        assert names(*members)


def test_values_that_four_decimals_would_hide_print_six_digits():
    significant = {m.name for m in RAG_MEASURES if m.style == "significant"}
    assert significant >= {"p_rand", "ef", "lambda"}


def test_valid_queries_are_counted():
    judged = population(100, [0, 1, 2, 3], [[], [1], [], [1, 2]])
    found = lines(
        judged,
        "bor.10,m=2",
        "num_q_bor.10,m=2",
        "num_q_bor.10,m=9",
        "num_q_p_obs.5",
        "num_q_bor.1,m=2",
    )
    assert found["num_q_bor_10_m=2"]["all"] == 2
    assert found["num_q_p_obs_5"]["all"] == 3
    assert found["num_q_bor_10_m=9"]["all"] == 0
    assert math.isnan(summary(judged, "bor.10,m=9"))
    # One document cannot hold two: chance never succeeds, and the summary is NA.
    assert found["num_q_bor_1_m=2"]["all"] == 0
    assert math.isnan(summary(judged, "bor.1,m=2"))


def test_queries_without_top_grade_are_counted():
    qrels = {"a": {"d": 3}, "b": {"d": 2}, "c": {"d": 0}}
    found = lines(judge(qrels, {q: {"d": 1} for q in qrels}), "num_q_fallback")
    assert found == {"num_q_fallback": {"a": 0, "b": 1, "c": 1, "all": 2}}


def test_level_that_the_grade_map_lacks_is_refused_even_if_not_retrieved():
    qrels = {"a": {"d": 1, "e": 4, "f": -1}}
    judged = judge(qrels, {"a": {"d": 1, "f": 0}})
    for name in ("ra_nwg.1", "precision4.1", "harm.1", "num_q_fallback"):
        with pytest.raises(UsageError, match=r"level 4 .*'umbrela'.*--grade-map rag25"):
            summary(judged, name)
    settings = Settings(grade_map=GRADE_MAPS["rag25"])
    assert summary(judge(qrels, {"a": {"d": 1, "f": 0}}, settings), "harm_u.2") == 1.0


def test_corpus_size_per_query():
    qrels = {"a": {"d": 1}, "b": {"d": 1}}
    sizes = Settings(corpus_size=100, corpus_sizes={b"b": 50})
    found = lines(judge(qrels, {"a": {"d": 1}, "b": {"e": 1}}, sizes), "p_rand.10", "bor_opt.10")
    assert found["p_rand_10"] == pytest.approx({"a": 0.1, "b": 0.2, "all": 0.15})
    assert found["bor_opt_10"]["all"] == pytest.approx(-math.log2(0.15))


def test_depth_of_the_run_bounds_the_draws_on_request():
    qrels, run = {"a": {"d": 1}, "b": {"d": 1}}, {"a": {"d": 2, "x": 1}, "b": {}}
    nominal = judge(qrels, run, Settings(corpus_size=100))
    shown = judge(qrels, run, Settings(corpus_size=100, draws="ret"))
    assert lines(nominal, "p_rand.10")["p_rand_10"]["a"] == pytest.approx(0.1)
    assert lines(shown, "p_rand.10")["p_rand_10"] == pytest.approx({"a": 0.02, "b": 0, "all": 0.01})
    assert math.isnan(lines(shown, "bor.10")["bor_10"]["b"])
