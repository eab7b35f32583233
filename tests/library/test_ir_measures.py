"""The provider for ir_measures, against the providers that come with it."""

import doctest
import importlib
import warnings
from pathlib import Path

import pytest

import ragkpi
from ragkpi.pytrec_eval import parse_qrel
from tests.library.test_pytrec_eval import random_case

ir_measures = pytest.importorskip("ir_measures")
added = pytest.importorskip("ragkpi.ir_measures")
OWN, provider = added.OWN, added.provider
FIXTURES = Path(__file__).parents[1] / "helpdesk"
STANDARD = [
    *["P@5", "P(rel=2)@5", "P(judged_only=True)@5", "RR", "RR(rel=2)", "Rprec", "AP", "AP@10"],
    *["AP(rel=2)@10", "nDCG", "nDCG@10", "R@10", "R(rel=2)@10", "Bpref", "NumRet"],
    *["SetAP", "SetF", "SetP", "SetR", "Success@5", "infAP", "NumRet(rel=1)"],
    *["IPrec(rel=2)@0.2", "SetP(rel=2)", "SetF(beta=0.5)", "Success(rel=2)@5"],
]


def parsed(texts):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of ast, in ir_measures
        return [ir_measures.parse_measure(text) for text in texts]


@pytest.mark.parametrize("seed", range(3))
def test_standard_measures_are_those_of_the_pytrec_eval_provider(seed):
    qrels, run = random_case(seed)
    measures = parsed(STANDARD)
    ours = provider.calc_aggregate(measures, qrels, run)
    theirs = ir_measures.pytrec_eval.calc_aggregate(measures, qrels, run)
    for measure in measures:
        assert ours[measure] == pytest.approx(theirs[measure], rel=1e-12), measure
    by_query = {
        (one.query_id, str(one.measure)): one.value
        for one in ir_measures.pytrec_eval.iter_calc(measures, qrels, run)
    }
    found = list(provider.iter_calc(measures, qrels, run))
    assert len(found) == len(by_query)
    for one in found:
        expected = by_query[one.query_id, str(one.measure)]
        assert one.value == pytest.approx(expected, rel=1e-12), one


@pytest.mark.parametrize("run", [{}, []])
def test_an_empty_run_is_0_for_every_query(run):
    qrels, measures = {"q": {"d": 1}, "r": {"x": 1}}, parsed(["P@5", "RR", "AP@9"])
    real = ir_measures.providers.registry["pytrec_eval"]
    answers = [sorted(one.iter_calc(measures, qrels, run), key=str) for one in (real, provider)]
    assert answers[0] == answers[1]
    assert provider.calc_aggregate(measures, qrels, run) == dict.fromkeys(measures, 0.0)
    # pytrec_eval itself ends the process here.
    assert [one.value for one in provider.iter_calc(measures, qrels, {"q": {}})] == [0.0] * 6


def test_own_measures_are_those_of_ragkpi():
    qrels = parse_qrel((FIXTURES / "qrels.txt").open())
    run = ragkpi.read_run(FIXTURES / "reranked.run")
    measures = parsed(["BoR(N=5000)@10", "RA_nWG@10", "F(alpha=0.8)@10", "ef(N=5000,m=2)@10"])
    expected = ragkpi.evaluate(
        qrels,
        run,
        ["bor.10", "ra_nwg.10", "F.10,alpha=0.8", "ef.10,m=2"],
        corpus_size=5000,
        missing="zero",
    ).mean
    found = ir_measures.calc_aggregate(measures, qrels, run)
    assert sorted(found.values()) == pytest.approx(sorted(expected.values()))


def test_what_is_no_mean_is_not_averaged_by_others():
    qrels, run = random_case(1)
    bits = OWN["BoR"](N=1000) @ 5
    together = ir_measures.evaluator([bits, ir_measures.nDCG @ 5], qrels)
    assert {str(one.measure) for one in together.iter_calc(run)} == {"BoR(N=1000)@5", "nDCG@5"}
    with pytest.raises(ValueError, match="is not the mean of their values"):
        together.calc_aggregate(run)


def test_a_cut_reciprocal_rank():
    qrels, run = {"q": {"b": 1}}, {"q": {"a": 2.0, "b": 1.0}}
    found = provider.calc_aggregate([ir_measures.RR @ 1, ir_measures.RR @ 2], qrels, run)
    assert list(found.values()) == [0.0, 0.5]


def test_frames_and_named_tuples():
    pandas = pytest.importorskip("pandas")
    qrels, run = random_case(2)
    rows = [ir_measures.Qrel(q, d, level) for q, ds in qrels.items() for d, level in ds.items()]
    scored = [
        ir_measures.ScoredDoc(q, d, score) for q, ds in run.items() for d, score in ds.items()
    ]
    expected = provider.calc_aggregate([ir_measures.AP], qrels, run)
    assert provider.calc_aggregate([ir_measures.AP], rows, scored) == expected
    frames = pandas.DataFrame(rows), pandas.DataFrame(scored)
    assert provider.calc_aggregate([ir_measures.AP], *frames) == expected


def test_ir_measures_itself_runs_on_the_drop_in(monkeypatch):
    from ragkpi import pytrec_eval as drop_in

    qrels, run = random_case(4)
    measures = parsed(STANDARD)
    expected = ir_measures.pytrec_eval.calc_aggregate(measures, qrels, run)
    monkeypatch.setattr(ir_measures.pytrec_eval, "pytrec_eval", drop_in)
    found = ir_measures.pytrec_eval.calc_aggregate(measures, qrels, run)
    for measure in measures:
        assert found[measure] == pytest.approx(expected[measure], rel=1e-12), measure


def test_the_examples_of_the_docstring():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        failed, tried = doctest.testmod(importlib.import_module("ragkpi.ir_measures"))
    assert tried > 3
    assert failed == 0


@pytest.mark.parametrize(
    "name", ["nDCG@10", "nDCG", "AP@10", "AP", "P@5", "R@10", "RR", "Success@5", "Bpref", "Rprec"]
)
def test_its_names_mean_the_same_in_ragkpi(name):
    qrels, run = random_case(6)
    (measure,) = parsed([name])
    expected = ir_measures.pytrec_eval.calc_aggregate([measure], qrels, run)[measure]
    found = ragkpi.evaluate(qrels, run, name, missing="zero").mean
    assert list(found.values()) == pytest.approx([expected], rel=1e-12)


def test_values_that_are_no_means_are_not_added():
    """PyTerrier 1.1 sums the values of queries itself, whatever the measure's aggregator says."""
    measure = OWN["BoR"](N=1000) @ 1
    qrels, run = {"q": {"a": 1}, "r": {"b": 1}}, {"q": {"a": 1.0}, "r": {"c": 1.0}}
    first, second = ir_measures.iter_calc([measure], qrels, run)
    with pytest.raises(ValueError, match="mean"):
        0.0 + first.value + second.value


@pytest.mark.parametrize("name", ["ERR@10", "nDCG(dcg='exp-log2')@10", "Judged@5"])
def test_measures_of_other_providers(name):
    """Without ties: gdeval prints five digits, and breaks them in its own way."""
    documents = [f"d{number}" for number in range(20)]
    steps = {"1": 3, "2": 5}  # gdeval wants numbers of queries
    qrels = {
        q: {d: n * step % 4 for n, d in enumerate(documents[:12])} for q, step in steps.items()
    }
    run = {
        q: {d: n * 7.0 % (20 + step) for n, d in enumerate(documents)} for q, step in steps.items()
    }
    (measure,) = parsed([name])
    other = next(p for p in ir_measures.DefaultPipeline.providers if p.supports(measure))
    if not other.is_available():
        pytest.skip(other.install_instructions())
    theirs = {one.query_id: one.value for one in other.iter_calc([measure], qrels, run)}
    ours = {one.query_id: one.value for one in provider.iter_calc([measure], qrels, run)}
    assert ours == pytest.approx({q: theirs[q] for q in steps}, abs=6e-6)
