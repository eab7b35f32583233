"""The fixtures are what their script makes, and hold what demos and tests rely on."""

import runpy
from itertools import pairwise
from pathlib import Path

FIXTURES = Path(__file__).parents[1] / "fixtures"
RUNS = sorted([*FIXTURES.glob("*.run"), *FIXTURES.glob("runs/*.run")])


def words(path):
    return [line.split() for line in path.read_text("utf-8").splitlines()]


def documents(path):
    return {(query, document) for query, _, document, *_ in words(path)}


def test_the_script_makes_them_again(tmp_path):
    runpy.run_path(str(FIXTURES / "make.py"))["make"](tmp_path)
    made = {path.relative_to(tmp_path): path for path in tmp_path.rglob("*") if path.is_file()}
    assert len(made) == 11
    for name, path in made.items():
        assert path.read_bytes() == (FIXTURES / name).read_bytes(), name


def test_one_query_has_nothing_relevant():
    relevant = {query: 0 for query, *_ in words(FIXTURES / "qrels.txt")}
    for query, _, _, grade in words(FIXTURES / "qrels.txt"):
        relevant[query] += int(grade) > 0
    assert len(relevant) == 12
    assert [query for query, count in relevant.items() if count == 0] == ["hd-11"]


def test_one_query_is_missing_from_the_dense_runs():
    for path in RUNS:
        queries = {query for query, *_ in words(path)}
        assert len(queries) == (11 if path.name == "dense.run" else 12)
        assert ("hd-09" in queries) == (path.name != "dense.run")


def test_the_reranker_selects_from_the_first_stage():
    assert documents(FIXTURES / "reranked.run") < documents(FIXTURES / "first_stage.run")


def test_some_retrieved_passages_are_unjudged_and_some_relevant_ones_not_retrieved():
    judged, pool = documents(FIXTURES / "qrels.txt"), documents(FIXTURES / "first_stage.run")
    relevant = {(q, d) for q, _, d, grade in words(FIXTURES / "qrels.txt") if int(grade) > 0}
    assert pool - judged
    assert relevant - pool


def test_ranks_follow_scores():
    for path in RUNS:
        lines = words(path)
        for above, below in pairwise(lines):
            if above[0] == below[0]:
                assert int(below[3]) == int(above[3]) + 1
                assert (float(above[4]), above[2]) > (float(below[4]), below[2])
