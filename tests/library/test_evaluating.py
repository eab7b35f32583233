"""What `evaluate` takes and returns beside values: limits, records, z-scores, names, pictures."""

import dataclasses
import gc
import json
import warnings
from pathlib import Path

import pytest

import ragkpi

FIXTURES = Path(__file__).parents[1] / "helpdesk"
QRELS = FIXTURES / "qrels.txt"
BM25, DENSE, FUSION = (FIXTURES / "runs" / f"{name}.run" for name in ("bm25", "dense", "fusion"))
JUDGED = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 1}}
HALF = {"q1": {"d1": 1.0}, "q2": {"d9": 1.0}}  # P_1 is 1 and 0
WHOLE = {"q1": {"d1": 1.0}, "q2": {"d3": 1.0}}


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ragkpi.RagkpiWarning)
        yield


def test_a_missed_limit_is_an_error_and_may_be_kept_beside_the_values():
    with pytest.raises(ragkpi.GateFailedError, match=r"P_1 is 0\.5, below 0\.75 by 0\.25"):
        ragkpi.evaluate(JUDGED, HALF, "P.1", fail_under={"P.1": 0.75})
    kept = ragkpi.evaluate(JUDGED, HALF, "P.1", fail_under={"P_1": 0.75}, problems="kept")
    assert kept.mean == {"P_1": 0.5}
    assert [verdict.passed for verdict in kept.verdicts] == [False]
    assert [type(problem) for problem in kept.problems] == [ragkpi.GateFailedError]
    (verdict,) = ragkpi.evaluate(JUDGED, HALF, "P.1", fail_under={"P_1": 0.5}).verdicts
    assert verdict.sentence.startswith("gate passed: run: P_1 is 0.5, ")


def test_one_run_is_over_all_judged_queries():
    alone = {"q1": {"d1": 1.0}}
    found = ragkpi.evaluate(JUDGED, alone, "P.1")
    assert found.mean == {"P_1": 0.5}
    assert "(q2)" in found.notes[0]
    assert ragkpi.evaluate(JUDGED, alone, "P.1", missing="intersection").mean == {"P_1": 1.0}
    assert ragkpi.evaluate(JUDGED, alone, "P.1", only_query="q1").mean == {"P_1": 1.0}
    with pytest.raises(ragkpi.NothingInCommonError, match="share no query q2"):
        ragkpi.evaluate(JUDGED, alone, "P.1", only_query="q2")
    with pytest.raises(ragkpi.NothingInCommonError, match="qrels and the run share no query ids"):
        ragkpi.evaluate(JUDGED, {"q9": {"d1": 1.0}}, "P.1")
    with pytest.raises(ragkpi.GateFailedError, match=r"P_1 is 0\.5"):
        ragkpi.evaluate(JUDGED, alone, "P.1", fail_under={"P_1": 0.75})


def test_every_question_counts_a_missing_query_as_an_empty_ranking():
    qrels, dense, other = (
        f"tests/helpdesk/{name}" for name in ("qrels.txt", "dense.run", "runs/bm25.run")
    )
    eleven = ragkpi.evaluate(qrels, dense, ["P.10", "p_obs.10"], missing="intersection")
    assert "hd-09" not in eleven.per_query
    mean = eleven.mean["P_10"] * 11 / 12
    values = {
        "evaluate": ragkpi.evaluate(qrels, dense, "P.10").mean["P_10"],
        "several": ragkpi.evaluate(qrels, [dense], "P.10").mean["dense"]["P_10"],
        "holes": ragkpi.holes(qrels, dense, "P.10").rows[0]["value"],
        "compare": ragkpi.compare(qrels, [dense, other], "P.10").rows[0]["value"],
    }
    assert values == pytest.approx(dict.fromkeys(values, mean))
    successes = [row["p_obs_10"] for row in eleven.per_query.values()]
    known = [value for value in successes if value == value]  # NA without relevant documents
    shown = ragkpi.depth(qrels, dense, at=[10], corpus_size=5000)
    assert shown.rows[0]["p_obs"] == pytest.approx(sum(known) / (len(known) + 1))
    quality = {query: place for place, query in enumerate([*eleven.per_query, "hd-09"])}
    assert ragkpi.calibrate(qrels, dense, quality, "P.10").rows[0]["n"] == 12
    found = ragkpi.diagnose(qrels, dense, pool="tests/helpdesk/first_stage.run")
    assert found.notes[0].startswith("1 of 12 judged queries")
    assert "hd-09" in {row.get("query") for row in found.rows}
    assert "hd-09" in ragkpi.report(qrels, dense, "P.10").data["queries"]


@pytest.mark.parametrize("margin", [0.5, "50%"])
def test_a_baseline_in_memory(margin):
    better = {"run": HALF, "measures": "P.1", "fail_under_baseline": WHOLE, "gate_by": "value"}
    with pytest.raises(ragkpi.GateFailedError, match=r"below 1\.0000 \(baseline\) by 0\.5000"):
        ragkpi.evaluate(JUDGED, **better)
    result = ragkpi.evaluate(JUDGED, **better, margin=margin)
    assert result.mean == {"P_1": 0.5}  # the baseline is no row
    with pytest.raises(ragkpi.UsageError, match=r"margin= 0\.1: no baseline"):
        ragkpi.evaluate(JUDGED, HALF, "P.1", margin=0.1)


def test_a_bad_run_among_good_ones():
    runs = {"good": HALF, "bad": {"q1": {"d1": "x"}}}
    with pytest.raises(ragkpi.RagkpiError, match=r"^bad: "):
        ragkpi.evaluate(JUDGED, runs, "P.1")
    kept = ragkpi.evaluate(JUDGED, runs, "P.1", problems="kept")
    assert kept.mean == {"good": {"P_1": 0.5}}
    assert str(kept.problems[0]).startswith("bad: ")
    with pytest.raises(ragkpi.RagkpiError, match=r"^bad: "):  # nothing is left
        ragkpi.compare(JUDGED, runs, "P.1", problems="kept")


def test_settings_hold_for_each_of_several_runs_in_memory():
    """Distances: the smaller one ranks first."""
    run = {"q1": {"d1": 0.1, "d2": 0.9}}
    for given in (run, {"a": run}):
        result = ragkpi.evaluate(JUDGED, given, "P.1", score_order="distance", missing="zero")
        value = result.mean if given is run else result.mean["a"]
        assert value == {"P_1": 0.5}


def test_records_are_those_of_the_command(tmp_path, ragkpi):
    import ragkpi as library

    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    ragkpi("eval", "-m", "map", "--log", theirs, "--meta", "i=3", QRELS, BM25, FUSION)
    result = library.evaluate(QRELS, [BM25, FUSION], "map")
    result.log(str(ours), {"i": "3"})
    lines = [
        [json.loads(line) | {"time": ""} for line in path.read_text().splitlines()]
        for path in (theirs, ours)
    ]
    assert lines[0] == lines[1]
    shown = library.log(ours, sort="map")
    assert [(row["run"], row["i"]) for row in shown.rows] == [("fusion", "3"), ("bm25", "3")]


def test_a_run_that_changed_is_not_recorded_as_the_one_that_was_evaluated(tmp_path):
    path = tmp_path / "run"
    path.write_bytes(BM25.read_bytes())
    result = ragkpi.evaluate(QRELS, path, "map")
    path.write_bytes(FUSION.read_bytes())
    with pytest.raises(ragkpi.InputError, match="changed"):
        result.log(str(tmp_path / "log"))
    assert not (tmp_path / "log").exists()


def test_z_scores(tmp_path):
    """Values 0.5 and 1: the mean is 0.75, both are half the root of 2 deviations from it."""
    norms = ragkpi.zscores(
        {"q": {"d": 1}}, [{"q": {"x": 2, "d": 1}}, {"q": {"d": 1}}], "recip_rank"
    )
    norms.save(str(tmp_path / "norms"))
    found = ragkpi.evaluate(
        {"q": {"d": 1}}, {"q": {"d": 1}}, "recip_rank", zscores=tmp_path / "norms"
    )
    assert found.mean["Zrecip_rank"] == pytest.approx(0.5**0.5)


def test_runs_are_called_as_they_are_given_or_by_their_ids():
    runs = {"my.run": str(BM25), "other": str(FUSION)}
    assert list(ragkpi.evaluate(QRELS, runs, "map").mean) == ["my.run", "other"]
    assert list(ragkpi.evaluate(QRELS, runs, "map", names="runid").mean) == ["bm25", "fusion"]


@pytest.mark.parametrize("runs", [BM25, [BM25, DENSE]])
def test_a_result_is_frozen_signed_and_drawn(runs):
    pytest.importorskip("matplotlib")
    result = ragkpi.evaluate(QRELS, runs, ["map", "num_ret"], missing="zero")
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.notes = ()
    assert "qrels:sha256:" in result.signature.long()
    assert result.to_dict()["runs"][0]["signature"] == result.signature.long()
    assert len(result.plot().axes) == 1  # numbers of documents are not drawn
    if runs is not BM25:
        assert result["dense"].plot().axes
        assert result["dense"].signature == result.signature


def test_every_answer_is_signed():
    results = [
        ragkpi.depth(QRELS, BM25, corpus_size=5000),
        ragkpi.holes(QRELS, BM25),
        ragkpi.compare(QRELS, [BM25, FUSION], "map", trials=10),
        ragkpi.diagnose(QRELS, FIXTURES / "reranked.run", pool=FIXTURES / "first_stage.run"),
        ragkpi.zscores(QRELS, [BM25, FUSION], "map"),
    ]
    assert all("|l:1|" in result.signature.long() for result in results)


def test_what_there_is_can_be_asked_for(ragkpi):
    import ragkpi as library

    for command, description in (
        (["measures"], library.describe_measures()),
        (["measures", "hit", "rate"], library.describe_measures("hit", "rate")),
        (["measures", "bor"], library.describe_measures("bor")),
        (["formats"], library.describe_formats()),
        (["formats", "map"], library.describe_formats("map")),
    ):
        assert ragkpi(*command).out.decode() == f"{description}\n"
    assert {row["measure"] for row in library.describe_measures().rows} >= {"map", "bor"}
    assert library.schema()["$defs"]["line"]


@pytest.mark.parametrize(
    ("qrels", "run", "says"),
    [
        ({"Doc 1": 1}, {"doc1": 2.0, "x": 1.0}, "doc1 where the qrels have 'Doc 1'"),
        ({"d7": 1}, {"d7#2": 2.0, "x": 1.0}, "d7#2 where"),
        ({"p#3": 1}, {"p": 2.0, "x": 1.0}, " have p#3"),
        ({"7": 1}, {"007": 2.0}, "007 where"),
        ({"a": 1}, {"a": 0.1, "b": 0.2, "c": 0.3}, 'score_order="distance" reverses that'),
    ],
)
def test_what_is_in_memory_is_doubted_as_files_are(qrels, run, says):
    with pytest.warns(ragkpi.RagkpiWarning) as said:
        ragkpi.evaluate({"q": qrels}, {"q": run}, "P.1")
    assert any(says in str(warning.message) for warning in said)
    with pytest.raises(ragkpi.DataError, match=r"\(doubts=\"refused\"\)"):
        ragkpi.evaluate({"q": qrels}, {"q": run}, "P.1", doubts="refused")


def test_what_is_spelt_alike_raises_no_doubt():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ragkpi.evaluate({"q": {"a": 1, "A": 0}}, {"q": {"b": 3.0, "a": 2.0, "A": 1.0}}, "P.2")


def test_calls_leave_nothing_behind():
    qrels = ragkpi.read_qrels(JUDGED)

    def objects(calls):
        for _ in range(calls):
            ragkpi.evaluate(qrels, HALF, ["map", "ndcg_cut.10"])
        gc.collect()
        return len(gc.get_objects())

    before = objects(20)
    assert objects(1000) - before < 100


def test_the_corpus_size_of_the_environment_is_written_as_for_the_command(monkeypatch):
    monkeypatch.setenv("RAGKPI_CORPUS_SIZE", "1k")
    given = ragkpi.evaluate(JUDGED, WHOLE, "bor.1", corpus_size=1000).mean
    assert ragkpi.evaluate(JUDGED, WHOLE, "bor.1").mean == given
    monkeypatch.setenv("RAGKPI_CORPUS_SIZE", "many")
    with pytest.raises(ragkpi.UsageError, match="RAGKPI_CORPUS_SIZE=many"):
        ragkpi.evaluate(JUDGED, WHOLE, "bor.1")
