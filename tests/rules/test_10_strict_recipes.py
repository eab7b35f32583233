"""The recipe to copy is the strict one, and what it stores is what a gate needs."""

import json
import re
import shlex
from pathlib import Path

import pytest

import ragkpi as package
from tests.published_schema import valid_lines

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
QUERIES = [f"q{n:02}" for n in range(1, 23)]
QRELS = "".join(f"{q} 0 a 1\n{q} 0 b 0\n" for q in QUERIES)


def run_of(queries, documents="abc", score=lambda place: 9 - place):
    return "".join(
        f"{q} Q0 {d} {place} {score(place)} me\n"
        for q in queries
        for place, d in enumerate(documents, start=1)
    )


def recipes():
    """Every check in a recipe: a line of YAML or of make that runs it."""
    page = (ROOT / "docs/recipes.md").read_text("utf-8")
    return re.findall(r"(?:run:|-|entry:) (ragkpi check .*)", page)


@pytest.fixture
def project(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data/qrels.txt").write_text(QRELS)
    return tmp_path


def test_there_are_recipes_for_github_gitlab_and_pre_commit():
    assert len(recipes()) == 3


# A search that went wrong, and what it left.
BROKEN = {
    "12 of 22 queries are missing": run_of(QUERIES[12:]),
    "one query is missing": run_of(QUERIES[1:]),
    "ids of another case": run_of([q.upper() for q in QUERIES]),
    "documents of another case": run_of(QUERIES, "AxC"),
    "nothing is judged": run_of(QUERIES, "xyz"),
    "distances": run_of(QUERIES, score=lambda place: place),
    "one score": run_of(QUERIES, score=lambda place: 1),
    "a score that is none": run_of(QUERIES).replace(" 8 me", " none me"),
    "cut in a line": run_of(QUERIES)[:-5],
    "queries that nobody judged": run_of([*QUERIES, "alien"]),
    "two runs in one file": run_of(QUERIES[:11]) + run_of(QUERIES[11:]).replace("me", "you"),
}


@pytest.mark.parametrize("recipe", recipes())
@pytest.mark.parametrize("broken", BROKEN)
def test_a_copied_recipe_fails_for_a_broken_run(ragkpi, project, recipe, broken):
    (project / "candidate.run").write_text(BROKEN[broken])
    command = recipe if "candidate.run" in recipe else f"{recipe} candidate.run"
    assert ragkpi(*shlex.split(command)[1:], folder=project).status == 3


GOOD = {
    "plain": run_of(QUERIES),
    "ties across the cutoffs, as fused runs have them": run_of(
        QUERIES, "abcdefghijklmno", lambda place: 1 / (1 + place // 3)
    ),
}


@pytest.mark.parametrize("recipe", recipes())
@pytest.mark.parametrize("good", GOOD)
@pytest.mark.parametrize("gold", [QRELS, f"{QRELS}unanswerable 0 a 0\n"])
def test_a_copied_recipe_lets_a_whole_run_pass(ragkpi, project, recipe, good, gold):
    (project / "data/qrels.txt").write_text(gold)
    queries = run_of(["unanswerable"]) if "unanswerable" in gold else ""
    (project / "candidate.run").write_text(GOOD[good] + queries)
    command = recipe if "candidate.run" in recipe else f"{recipe} candidate.run"
    assert ragkpi(*shlex.split(command)[1:], folder=project).status == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_page_shows_a_gate_with_a_check_that_lets_warnings_pass(page):
    text = page.read_text("utf-8")
    yaml = "".join(re.findall(r"^```ya?ml\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    for line in yaml.splitlines():
        assert "ragkpi check" not in line or "--strict" in line


# The values of queries in the log.


def logged(ragkpi, folder, *options, run="run"):
    command = ("eval", "-m", "P.1,num_ret", "--log", "log.jsonl", *options, "qrels", run)
    assert ragkpi(*command, folder=folder).status == 0
    return json.loads((folder / "log.jsonl").read_text().splitlines()[-1])


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(run_of(QUERIES))
    (tmp_path / "bad").write_text(run_of(QUERIES, "bca"))
    return tmp_path


@pytest.mark.parametrize("output", [(), ("--format", "json"), ("-o", "x.csv"), ("--ci",)])
def test_q_keeps_the_values_of_queries_in_the_log(ragkpi, folder, output):
    record = logged(ragkpi, folder, "-q", *output)
    assert record["per_query"] == {q: {"P_1": 1.0, "num_ret": 3} for q in QUERIES}
    assert valid_lines((folder / "log.jsonl").read_text()) == [record]


@pytest.mark.parametrize("options", [(), ("--format", "json"), ("--worst", "3")])
def test_without_q_the_log_stays_short(ragkpi, folder, options):
    assert "per_query" not in logged(ragkpi, folder, *options)


def test_several_runs_have_the_values_of_theirs(ragkpi, folder):
    command = ("eval", "-q", "-m", "P.1", "--log", "log.jsonl", "qrels", "bad", "run")
    assert ragkpi(*command, folder=folder).status == 0
    records = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    assert [record["per_query"]["q01"]["P_1"] for record in records] == [0.0, 1.0]


def test_a_missing_query_is_there_with_0(ragkpi, folder):
    (folder / "part").write_text(run_of(QUERIES[:10]))
    record = logged(ragkpi, folder, "-q", run="part")
    assert record["per_query"]["q22"] == {"P_1": 0.0, "num_ret": 0}
    assert record["values"]["P_1"] == 10 / 22


def test_such_a_log_is_a_baseline_for_every_gate(ragkpi, folder):
    logged(ragkpi, folder, "-q")
    for gate in ("worse", "noninferior", "value"):
        command = ("eval", "-m", "P.1", "--fail-under-baseline", "log.jsonl", "--gate-by", gate)
        assert ragkpi(*command, "qrels", "bad", folder=folder).status == 3


def test_from_python(folder):
    result = package.evaluate(str(folder / "qrels"), str(folder / "run"), "P.1")
    result.log(str(folder / "log.jsonl"), per_query="shown")
    assert json.loads((folder / "log.jsonl").read_text())["per_query"]["q01"] == {"P_1": 1.0}


# A run whose scores are all the same.


@pytest.mark.parametrize("form", ["trec", "json", "csv"])
@pytest.mark.parametrize("documents", ["ab", "abc", "abcdefghijkl"])
def test_eval_says_as_check_does_that_ids_decide(ragkpi, folder, reader, form, documents):
    name = "run" if form == "trec" else f"run.{form}"
    if form == "trec":
        (folder / name).write_text(run_of(QUERIES, documents, lambda place: 0.5))
    elif form == "json":
        (folder / name).write_text(json.dumps({q: dict.fromkeys(documents, 0.5) for q in QUERIES}))
    else:
        rows = [f"{q},{d},0.5\n" for q in QUERIES for d in documents]
        (folder / name).write_text("query_id,doc_id,score\n" + "".join(rows))
    outcome = ragkpi("eval", "-m", "P.1", "qrels", name, folder=folder)
    expected = "all documents have the same score in 22 of the first 22 rankings: their ids decide"
    assert expected in outcome.err.decode()
    assert ragkpi("eval", "--strict", "-m", "P.1", "qrels", name, folder=folder).status == 4
    checked = ragkpi("check", "--strict", "--format", "tsv", "qrels", name, folder=folder)
    assert checked.status == 3
    assert b"warning\tone-score\t22\t" in checked.out


@pytest.mark.parametrize(
    ("flat", "said"), [(0, False), (1, False), (11, False), (12, True), (22, True)]
)
def test_most_rankings_have_to_be_flat(ragkpi, folder, reader, flat, said):
    text = run_of(QUERIES[:flat], "ab", lambda place: 1) + run_of(QUERIES[flat:], "ab")
    (folder / "run").write_text(text)
    outcome = ragkpi("eval", "-m", "P.1", "qrels", "run", folder=folder)
    assert (f"same score in {flat} of" in outcome.err.decode()) == said
    check = ragkpi("check", "--format", "tsv", "qrels", "run", folder=folder)
    assert (b"one-score" in check.out) == said


def test_one_document_a_query_has_no_order_to_lose(ragkpi, folder, reader):
    (folder / "run").write_text(run_of(QUERIES, "a", lambda place: 1))
    assert ragkpi("eval", "-m", "P.1", "qrels", "run", folder=folder).err == b""
