"""The drop-in for pytrec_eval, against the real package."""

import math
import random
from collections import OrderedDict, UserDict, defaultdict
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

import ragkpi
import ragkpi.pytrec_eval as ours

real = pytest.importorskip("pytrec_eval")
FIXTURES = Path(__file__).parents[1] / "helpdesk"

# Measures that pytrec_eval computes without ending the process.
MEASURES = sorted(real.supported_measures - {"utility"})


def random_case(seed):
    draw = random.Random(seed)
    qrels = {
        f"q{q}": {f"d{d}": draw.choice([0, 0, 1, 2, -1]) for d in draw.sample(range(40), 12)}
        for q in range(6)
    }
    run = {
        f"q{q}": {
            f"d{d}": draw.choice([draw.randrange(999) / 64, 1, 0.5])
            for d in draw.sample(range(40), 20)
        }
        for q in range(1, 8)
    }
    return qrels, run


# 9.0.8, which the real one wraps, rounds recall points otherwise than 10.0 (tests/test_golden.py
# has these values).
ROUNDED_OTHERWISE = ("iprec_at_recall", "11pt_avg")


def assert_same(found, expected):
    assert list(found) == list(expected)
    for query, values in expected.items():
        assert set(found[query]) == set(values)
        for name, value in values.items():
            if name.startswith(ROUNDED_OTHERWISE):
                continue
            assert found[query][name] == pytest.approx(value, rel=1e-12, nan_ok=True), name


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("judged_only", [False, True])
@pytest.mark.parametrize("measures", [MEASURES, ["official"], ["all_trec"], ["set"]], ids=str)
def test_keys_and_values_are_those_of_the_real_one(seed, level, judged_only, measures):
    qrels, run = random_case(seed)
    assert_same(
        ours.RelevanceEvaluator(qrels, measures, level, judged_only).evaluate(run),
        real.RelevanceEvaluator(qrels, measures, level, judged_only).evaluate(run),
    )


@pytest.mark.parametrize(
    "measures",
    [
        ["P_5"],
        ["P.5,10"],
        ["P.5", "P_10"],
        ["P", "P_10"],
        ["ndcg_cut_10", "ndcg"],
        ["map_cut.1,3,5,10", "ndcg_cut.1,3,5,10", "recall.1,3,5,10", "P.1,3,5,10"],
        ["map"],
        [],
    ],
    ids=lambda measures: " ".join(sorted(measures)),
)
def test_spellings_of_measures(measures):
    qrels, run = random_case(9)
    for given in (measures, set(measures)):
        assert_same(
            ours.RelevanceEvaluator(qrels, given).evaluate(run),
            real.RelevanceEvaluator(qrels, given).evaluate(run),
        )


@pytest.mark.parametrize(
    "run",
    [
        {},
        {"q1": {}},
        {"q1": {"a": 1.0}, "q2": {}},
        {"q9": {"a": 1.0}},
        {"q9": {}},
        {"q1": {"zz": 1.0}},
        {"q2": {"c": 1.0}, "q1": {"a": 1, "b": True}},
    ],
    ids=str,
)
def test_empty_runs_and_rankings(run):
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}, "q3": {}}
    measures = {"map", "ndcg", "P.5", "num_ret", "gm_map", "recip_rank", "num_rel_ret"}
    expected = real.RelevanceEvaluator(qrels, measures).evaluate(run)
    assert_same(ours.RelevanceEvaluator(qrels, measures).evaluate(run), expected)


@pytest.mark.parametrize("qrels", [{}, {"q1": {}}])
def test_empty_qrels(qrels):
    assert ours.RelevanceEvaluator(qrels, {"map"}).evaluate({"q1": {"a": 1.0}}) == {}
    assert real.RelevanceEvaluator(qrels, {"map"}).evaluate({"q1": {"a": 1.0}}) == {}


@pytest.mark.parametrize("package", [ours, real], ids=["ours", "real"])
def test_errors_are_of_the_same_kinds(package):
    with pytest.raises(ValueError, match="unsupported measure"):
        package.RelevanceEvaluator({"q1": {"a": 1}}, {"nope"})
    with pytest.raises(TypeError):
        package.RelevanceEvaluator({"q1": {"a": "x"}}, {"map"})
    evaluator = package.RelevanceEvaluator({"q1": {"a": 1}}, {"map"})
    for run in ([1], {"q1": [1]}, {"q1": {"a": "x"}}):
        with pytest.raises(TypeError):
            evaluator.evaluate(run)


class Text(str):
    pass


ODD_VALUES = [
    *(None, 0, False, [], (), "", "x", {"a"}, [("a", 1)], MappingProxyType({"a": 1})),
    *(UserDict(a=1), OrderedDict(a=1), defaultdict(int, a=1)),
]
ODD_IDS = [1, None, 1.5, b"q", True, ("q",), np.int64(1), Text("q"), np.str_("q"), "", "é"]
ODD_NUMBERS = [
    *(None, True, 1, 1.0, 1.5, "1", b"1", [], 1j, Fraction(1, 2), Decimal(1)),
    *(np.int64(2), np.float64(2), np.float32(2), np.bool_(True), np.array(1.0), math.inf),
]
WELL = {"q": {"a": 1, "b": 2}}


def outcome(package, qrels=WELL, run=WELL, **how):
    """Return values, or at which step it was refused."""
    measures = {"map", "ndcg", "P_1", "recip_rank"}
    try:
        evaluator = package.RelevanceEvaluator(qrels, measures, **how)
    except TypeError:
        return "qrels refused"
    try:
        return evaluator.evaluate(run)
    except TypeError:
        return "run refused"


def assert_same_outcome(*given, **how):
    expected = outcome(real, *given, **how)
    if isinstance(expected, str):
        assert outcome(ours, *given, **how) == expected
    else:
        assert_same(outcome(ours, *given, **how), expected)


@pytest.mark.parametrize("value", ODD_VALUES, ids=repr)
def test_what_a_query_may_have(value):
    for qrels in ({"q": value}, {**WELL, "z": value}, MappingProxyType({"q": value})):
        assert_same_outcome(qrels)
    for run in ({"q": value}, {"z": value}, {**WELL, "z": value}, {"q": {"a": 1.0}, "z": value}):
        for qrels in (WELL, {}, {"q": {}}):
            assert_same_outcome(qrels, run)
    assert_same_outcome(WELL, value)
    assert_same_outcome({}, value)


@pytest.mark.parametrize("id_", ODD_IDS, ids=repr)
def test_what_is_an_id(id_):
    for qrels in ({id_: {"a": 1}}, {**WELL, id_: {"a": 1}}, {"q": {id_: 1, "a": 0}}):
        assert_same_outcome(qrels)
        assert_same_outcome(qrels, {"q": {"a": 1.0}, id_: {"a": 2.0}})
    for run in (
        {id_: {"a": 1.0}},
        {**WELL, id_: {"a": 1.0}},
        {**WELL, id_: {}},
        {"q": {id_: 1.0, "a": 0.5}},
        {"q": {"a": 0.5}, "z": {id_: 1.0}},
    ):
        assert_same_outcome(WELL, run)
        assert_same_outcome({}, run)


@pytest.mark.parametrize("number", ODD_NUMBERS, ids=repr)
def test_what_is_a_level_and_what_a_score(number):
    assert_same_outcome({"q": {"a": number, "b": 1}})
    for run in (
        {"q": {"a": number, "b": 1.5}},
        {"q": {"a": number}},
        {"q": {"a": 1.0, "b": 0.5}, "z": {"a": number}},
    ):
        assert_same_outcome(WELL, run)
        assert_same_outcome({}, run)


@pytest.mark.parametrize(
    "level", [0, 1, 2, True, np.int64(2), 1.0, 1.5, "1", None, 1 << 31], ids=repr
)
def test_what_is_a_relevance_level(level):
    assert_same_outcome(relevance_level=level)


@pytest.mark.parametrize("flag", [0, 1, 2, True, None, "x", [], 0.5], ids=repr)
def test_what_is_a_flag(flag):
    run = {"q": {"x": 3.0, "a": 1.0}}
    assert_same_outcome(WELL, run, judged_docs_only_flag=flag)


@pytest.mark.filterwarnings("ignore::ragkpi.RagkpiWarning")
@pytest.mark.parametrize(
    "run",
    [
        {"q": {"a": math.nan}},
        {"q": {"a": math.nan, "b": 1.0}},
        {"q": {"a": np.float64("nan"), "b": 1.0}},
        {"q": {"a": math.nan, "b": 2.0, "c": 3.0}},
        {"q": {"a": math.nan, "b": math.nan}},
        {"q": {"a": 1.0, "b": 0.5}, "z": {"a": math.nan}},
    ],
    ids=str,
)
def test_nan_is_a_score(run):
    """Of runs where pytrec_eval, too, ranks it last: by chance, with ids that are smaller."""
    assert_same_outcome(WELL, run)


def test_nan_ranks_last_and_is_warned_of():
    evaluator = ours.RelevanceEvaluator({"q": {"b": 1}}, {"recip_rank"})
    with pytest.warns(ragkpi.RagkpiWarning, match="2 scores of the run are NaN; such .* rank last"):
        found = evaluator.evaluate(
            {"q": {"b": math.nan, "a": 1.0, "c": -7.0}, "z": {"d": math.nan}}
        )
    assert found == {"q": {"recip_rank": 1 / 3}}


def test_a_negative_relevance_level_is_refused():
    """pytrec_eval takes it, and nothing is relevant then."""
    with pytest.raises(TypeError, match="relevance_level=-1"):
        ours.RelevanceEvaluator(WELL, {"map"}, relevance_level=-1)


def test_what_is_supported():
    assert real.supported_measures == ours.supported_measures
    for name in ("official", "set", "all_trec"):
        assert set(real.supported_nicknames[name]) == ours.supported_nicknames[name]


@pytest.mark.parametrize("measure", ["map", "P_5", "num_ret", "gm_map", "ndcg_cut_10"])
def test_aggregates(measure):
    values = [0.25, 0.5, 0.125]
    found = ours.compute_aggregated_measure(measure, values)
    assert found == pytest.approx(real.compute_aggregated_measure(measure, values), rel=1e-14)


def test_the_whole_set_is_evaluated_and_aggregated():
    """The idiom of pytrec_eval's own example; other measures of ragkpi are taken by name."""
    qrels, run = random_case(3)
    answers = []
    for module in (real, ours):
        values = module.RelevanceEvaluator(qrels, module.supported_measures).evaluate(run)
        answers.append(
            {
                key: module.compute_aggregated_measure(key, [each[key] for each in values.values()])
                for key in next(iter(values.values()))
                if not key.startswith(("iprec", "11pt"))  # trec_eval 10 has other recall points
            }
        )
    assert answers[1] == pytest.approx(answers[0], abs=1e-12)
    assert ours.RelevanceEvaluator(qrels, {"rbp", "bor.5"}, corpus_size=90).evaluate(run)


def test_what_is_no_mean_is_not_averaged():
    with pytest.raises(ValueError, match=r"bor_10 over queries .* ragkpi.evaluate computes it"):
        ours.compute_aggregated_measure("bor_10", [1.0, 2.0])


def test_files_are_parsed_as_the_real_one_does():
    for name in ("qrels.txt", "reranked.run"):
        kind = "qrel" if name.endswith("txt") else "run"
        with open(FIXTURES / name) as one, open(FIXTURES / name) as other:
            found = getattr(ours, f"parse_{kind}")(one)
            assert found == getattr(real, f"parse_{kind}")(other)
    with pytest.raises(AssertionError):
        ours.parse_run(["q Q0 d 1 1.0 r", "q Q0 d 2 0.5 r"])
    with pytest.raises(AssertionError):
        ours.parse_qrel(["q 0 d 1", "q 0 d 0"])


def test_own_measures_are_there():
    evaluator = ours.RelevanceEvaluator({"q": {"a": 1}}, {"bor.1", "ra_nwg.1"}, corpus_size=1000)
    values = evaluator.evaluate({"q": {"a": 1.0}})["q"]
    assert values["bor_1"] == pytest.approx(math.log2(1000))
    assert "ra_nwg_1" in values


def test_one_evaluator_serves_run_after_run():
    qrels, run = random_case(3)
    evaluator = ours.RelevanceEvaluator(qrels, {"map", "P.5"})
    first = evaluator.evaluate(run)
    assert evaluator.evaluate({"q1": {}})["q1"] == {"map": 0.0, "P_5": 0.0}
    assert evaluator.evaluate(run) == first
