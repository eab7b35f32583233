"""Doubts about a comparison of runs that are judged to different depths."""

import numpy as np
import pytest

import ragkpi

DEEP = 40


def judged_to(depths, relevant):
    """Runs of 20 queries and 40 documents, each judged to its own depth."""
    qrels, runs = {}, {name: {} for name in depths}
    for number in range(20):
        query = f"q{number}"
        qrels[query] = {"unseen": 1}
        for name, depth in depths.items():
            runs[name][query] = {f"{name}{rank}": float(-rank) for rank in range(DEEP)}
            qrels[query] |= {f"{name}{rank}": int(rank in relevant) for rank in range(depth)}
    return qrels, runs


# Every fourth document is relevant, so the two runs are equally good.
RELEVANT = frozenset(range(0, DEEP, 4))
DEEP_MEASURES = ["map", "ndcg", "Rprec", "bpref", "gm_map", "rbp", "map_cut.20"]


@pytest.mark.filterwarnings("ignore::ragkpi.RagkpiWarning")
@pytest.mark.parametrize("measure", DEEP_MEASURES)
def test_a_doubt_looks_as_deep_as_the_measure(measure):
    qrels, runs = judged_to({"deep": DEEP, "shallow": 10}, RELEVANT)
    answer = ragkpi.compare(qrels, runs, measure).answer
    # Without a judgement are 10 of 20, or 30 of 50; places beyond the end of a ranking have none.
    deepest = "20: deep 100%, shallow 50%" if "20" in measure else "50: deep 100%, shallow 40%"
    assert f"Judged in the top {deepest}" in answer


@pytest.mark.filterwarnings("ignore::ragkpi.RagkpiWarning")
@pytest.mark.parametrize("measure", ["P.10", "ndcg_cut.10", "success.5"])
def test_below_its_cutoff_a_measure_has_no_doubt(measure):
    qrels, runs = judged_to({"deep": DEEP, "shallow": 10}, RELEVANT)
    assert "as far as judged" not in ragkpi.compare(qrels, runs, measure).answer


@pytest.mark.filterwarnings("ignore::ragkpi.RagkpiWarning")
def test_judging_to_one_depth_is_no_doubt():
    """Half of all documents are judged, at random: three depths are tested, at 5% together."""
    random, doubts = np.random.default_rng(3), 0
    for _ in range(40):
        qrels, runs = judged_to({"one": 0, "other": 0}, RELEVANT)
        for query, of_query in qrels.items():
            for run in runs.values():
                of_query.update({doc: 0 for doc in run[query] if random.random() < 0.5})
        doubts += "as far as judged" in ragkpi.compare(qrels, runs, "map").answer
    assert doubts <= 6  # 5% of 40, and three standard deviations


@pytest.mark.filterwarnings("ignore::ragkpi.RagkpiWarning")
@pytest.mark.parametrize(("judged", "says", "status"), [(0, True, 5), (10, False, 3)])
def test_a_gate_doubts_as_compare_does(judged, says, status):
    """The run is worse; without a judgement of it, its documents could all be relevant."""
    qrels, runs = judged_to({"old": 10, "new": judged}, RELEVANT)
    for of_query in qrels.values():
        of_query.update({doc: 0 for doc in of_query if doc.startswith("new")})
    old, new = runs["old"], {"new": runs["new"]}
    found = ragkpi.evaluate(qrels, new, "P.10", fail_under_baseline=old, problems="kept")
    (verdict,), (problem,) = found.verdicts, found.problems
    assert (verdict.passed, problem.exit_status) == (False, status)
    words = "judged in the top 10: baseline 100%, new 0%; unjudged documents could reverse the"
    assert (f"; in doubt: {words} order (ragkpi holes)" in str(problem)) == says
    assert ("worse than baseline's 0.3000 as far as judged: " in str(problem)) == says
    answer = ragkpi.compare(qrels, {"old": old, **new}, "P.10").answer
    assert (words.replace("baseline", "old")[1:] in answer) == says


@pytest.mark.filterwarnings("ignore::ragkpi.RagkpiWarning")
def test_a_gate_calls_runs_as_its_table_does(tmp_path):
    qrels, runs = judged_to({"deep": DEEP, "shallow": 10}, RELEVANT)
    for name, run in runs.items():
        rows = [f"{q} Q0 {d} 1 {s} {name}\n" for q, of in run.items() for d, s in of.items()]
        (tmp_path / f"{name}.run").write_text("".join(rows))
    paths = {path: path for path in (str(tmp_path / f"{name}.run") for name in runs)}
    (verdict,) = ragkpi.compare(
        qrels, paths, "map", names="file", fail_if="worse", problems="kept"
    ).verdicts
    assert "judged in the top 50: deep 100%, shallow 40%" in str(verdict)


@pytest.mark.filterwarnings("ignore::ragkpi.RagkpiWarning")
def test_a_stored_result_beside_two_runs_leaves_their_gate_in_doubt(tmp_path, ragkpi):
    import ragkpi as library

    qrels, runs = judged_to({"old": 10, "new": 0}, RELEVANT)
    rows = [f"{q} 0 {d} {level}\n" for q, of in qrels.items() for d, level in of.items()]
    (tmp_path / "qrels").write_text("".join(rows))
    for name, run in runs.items():
        rows = [f"{q} Q0 {d} 1 {s} {name}\n" for q, of in run.items() for d, s in of.items()]
        (tmp_path / name).write_text("".join(rows))
    store = ("eval", "-cqm", "P.10", "-o", "stored.json", "qrels", "old")
    assert ragkpi(*store, folder=tmp_path).status == 0
    every = {name: str(tmp_path / name) for name in ("old", "new", "stored.json")}
    found = library.compare(
        str(tmp_path / "qrels"), every, "P.10", fail_if="worse", problems="kept"
    )
    outcomes = {verdict.run: verdict.outcome for verdict in found.verdicts}
    assert outcomes == {"new": "doubted", "stored.json": "passed"}
