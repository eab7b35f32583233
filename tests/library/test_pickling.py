"""Results and evaluators go through pickle, as joblib, multiprocessing and caches send them."""

import pickle
from pathlib import Path

import pytest

import ragkpi
import ragkpi.pytrec_eval as pytrec_eval
from ragkpi.measures.registry import builtin_measures
from tests.library.test_pytrec_eval import random_case

FIXTURES = Path(__file__).parents[1] / "helpdesk"
QRELS, RUN = random_case(4)
OTHER = {query: dict(reversed(ranking.items())) for query, ranking in RUN.items()}
WORSE = {query: {document: -score for document, score in of.items()} for query, of in RUN.items()}
LABELS = {"parity": {query: "even" if int(query[1:]) % 2 else "odd" for query in QRELS}}
LEVELS = {query: dict.fromkeys(levels, 1) for query, levels in QRELS.items()}
FEW = {"measures": ["map", "ndcg_cut.10"]}

ANSWERS = {
    "evaluate": lambda: ragkpi.evaluate(QRELS, RUN, ["map", "P.5", "gm_map", "num_q_map"]),
    "evaluate, several": lambda: ragkpi.evaluate(QRELS, {"a": RUN, "b": WORSE}, "map", ci=True),
    "evaluate, by": lambda: ragkpi.evaluate(QRELS, RUN, by=LABELS),
    "evaluate, gate": lambda: ragkpi.evaluate(
        QRELS, RUN, "map", fail_under={"map": 0.9}, problems="kept"
    ),
    "evaluate, files": lambda: ragkpi.evaluate(FIXTURES / "qrels.txt", FIXTURES / "reranked.run"),
    "compare": lambda: ragkpi.compare(QRELS, {"a": RUN, "b": WORSE}, **FEW, by=LABELS),
    "compare, all pairs": lambda: ragkpi.compare(
        QRELS, {"a": RUN, "b": WORSE, "c": OTHER}, **FEW, pairs="all"
    ),
    "depth": lambda: ragkpi.depth(QRELS, RUN, corpus_size=100),
    "diagnose": lambda: ragkpi.diagnose(QRELS, RUN, pool=RUN, by=LABELS),
    "holes": lambda: ragkpi.holes(QRELS, {"a": RUN, "b": WORSE}, by=LABELS),
    "agree": lambda: ragkpi.agree(QRELS, LEVELS, runs={"a": RUN, "b": WORSE}),
    "calibrate": lambda: ragkpi.calibrate(QRELS, RUN, {q: 1 / (n + 1) for n, q in enumerate(RUN)}),
    "check": lambda: ragkpi.check(FIXTURES / "reranked.run", FIXTURES / "qrels.txt"),
    "zscores": lambda: ragkpi.zscores(QRELS, [RUN, WORSE]),
    "describe_measures": lambda: ragkpi.describe_measures("map"),
}


def sent(value):
    return pickle.loads(pickle.dumps(value))


@pytest.mark.filterwarnings("ignore::ragkpi.RagkpiWarning")
@pytest.mark.parametrize("name", ANSWERS)
def test_results_keep_their_values_and_pictures(name):
    result = ANSWERS[name]()
    again = sent(result)
    assert type(again) is type(result)
    assert repr(again.rows) == repr(result.rows)  # NaN is not equal to itself
    assert repr(again.to_dict()) == repr(result.to_dict())
    assert (str(again), again.notes) == (str(result), result.notes)
    if result.charts is not None:
        assert repr(again.charts()) == repr(result.charts())


@pytest.mark.filterwarnings("ignore::ragkpi.RagkpiWarning")
def test_a_run_keeps_everything_that_is_computed_later():
    result = ragkpi.evaluate(QRELS, RUN, ["map", "P.5", "bor.5"], corpus_size=1000, ci=True)
    again = sent(result)
    assert again.mean == result.mean
    assert again.per_query == result.per_query
    assert again.intervals == result.intervals
    several = ragkpi.evaluate(QRELS, {"a": RUN, "b": WORSE}, "map")
    assert sent(several)["b"].mean == several["b"].mean


@pytest.mark.filterwarnings("ignore::ragkpi.RagkpiWarning")
def test_documents_to_judge_are_those_of_before():
    result = ragkpi.holes(QRELS, {"a": RUN, "b": WORSE})
    assert len(result.to_judge) > 5
    assert list(sent(result).to_judge) == list(result.to_judge)


@pytest.mark.filterwarnings("ignore::ragkpi.RagkpiWarning")
@pytest.mark.parametrize(
    "name", [n for n, known in builtin_measures().items() if known.reads == "qrels"]
)
def test_every_measure_can_be_sent(name):
    names = [name, f"num_q_{name}"] if builtin_measures()[name].numeric else [name]
    result = ragkpi.evaluate(QRELS, RUN, names, corpus_size=1000, pool=RUN)
    assert repr(sent(result).mean) == repr(result.mean)


@pytest.mark.filterwarnings("ignore::ragkpi.RagkpiWarning")
def test_z_scores_can_be_sent(tmp_path):
    names = ["map", "P", "num_ret", "bor.5"]
    ragkpi.zscores(QRELS, [RUN, WORSE], names, corpus_size=1000).save(str(tmp_path / "z"))
    result = ragkpi.evaluate(QRELS, RUN, names, corpus_size=1000, zscores=tmp_path / "z")
    assert sent(result).mean == result.mean


def test_qrels_and_runs_that_were_read_can_be_sent():
    qrels = ragkpi.read_qrels(FIXTURES / "qrels.txt")
    run = ragkpi.read_run(FIXTURES / "reranked.run")
    assert ragkpi.evaluate(sent(qrels), sent(run)).mean == ragkpi.evaluate(qrels, run).mean


def test_evaluators_for_pytrec_eval_can_be_sent():
    evaluator = pytrec_eval.RelevanceEvaluator(QRELS, {"map", "P.5", "bor.5"}, corpus_size=1000)
    before = sent(evaluator).evaluate(RUN)
    assert before == evaluator.evaluate(RUN)
    assert sent(evaluator).evaluate(RUN) == before


def test_evaluators_for_ir_measures_can_be_sent():
    ir_measures = pytest.importorskip("ir_measures")
    added = pytest.importorskip("ragkpi.ir_measures")
    measures = [ir_measures.nDCG @ 10, added.BoR(N=1000) @ 3]
    assert sent(measures) == measures
    evaluator = added.provider.evaluator(measures, QRELS)
    assert sent(evaluator).calc_aggregate(RUN) == evaluator.calc_aggregate(RUN)


@pytest.mark.parametrize(
    "error",
    [
        ragkpi.InputError("run", 3, "a score 'x'", "expected a number"),
        ragkpi.DataError("one line"),
        ragkpi.GateFailedError("another"),
        ragkpi.GateDoubtedError("in doubt"),
    ],
)
def test_errors_keep_their_words_and_status(error):
    again = sent(error)
    assert (type(again), str(again)) == (type(error), str(error))
    assert again.exit_status == error.exit_status
