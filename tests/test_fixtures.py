"""The fixtures are what their script makes, and hold what demos and tests rely on."""

import runpy
from itertools import pairwise
from pathlib import Path

import pytest

FIXTURES = Path(__file__).parents[1] / "fixtures"
HELPDESK = Path(__file__).parent / "helpdesk"  # with gaps
RUNS = sorted([*FIXTURES.glob("*.run"), *FIXTURES.glob("runs/*.run")])


def words(path):
    return [line.split() for line in path.read_text("utf-8").splitlines()]


def documents(path):
    return {(query, document) for query, _, document, *_ in words(path)}


@pytest.mark.parametrize(("folder", "gaps"), [(FIXTURES, "none"), (HELPDESK, "two")])
def test_the_script_makes_them_again(tmp_path, folder, gaps):
    runpy.run_path(str(FIXTURES / "make.py"))["make"](tmp_path, gaps)
    made = {path.relative_to(tmp_path): path for path in tmp_path.rglob("*") if path.is_file()}
    assert len(made) == 11
    for name, path in made.items():
        assert path.read_bytes() == (folder / name).read_bytes(), name


@pytest.mark.parametrize(("folder", "without"), [(FIXTURES, []), (HELPDESK, ["hd-11"])])
def test_queries_without_a_relevant_document_are_in_tests_alone(folder, without):
    relevant = {query: 0 for query, *_ in words(folder / "qrels.txt")}
    for query, _, _, grade in words(folder / "qrels.txt"):
        relevant[query] += int(grade) > 0
    assert len(relevant) == 12
    assert [query for query, count in relevant.items() if count == 0] == without


@pytest.mark.parametrize("folder", [FIXTURES, HELPDESK])
def test_queries_that_dense_runs_lack_are_in_tests_alone(folder):
    for path in [*folder.glob("*.run"), *folder.glob("runs/*.run")]:
        queries = {query for query, *_ in words(path)}
        lost = folder == HELPDESK and path.name == "dense.run"
        assert queries == {f"hd-{n:02}" for n in range(1, 13)} - ({"hd-09"} if lost else set())


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
