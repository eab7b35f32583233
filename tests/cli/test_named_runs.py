"""Runs with names of their own, and baselines by name or file."""

import json

import pytest

QRELS = "".join(f"q{n} 0 a 1\n" for n in range(4))
FILES = {"qrels": QRELS, "main.run": "".join(f"q{n} Q0 a 1 2 id\n" for n in range(4))}
FILES["new.run"] = FILES["main.run"].replace("Q0 a 1 2", "Q0 b 1 3")
FILES["k=1.run"] = "q0 Q0 a 1 2 k\n"


@pytest.fixture
def call(ragkpi, tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return lambda *words: ragkpi(*words, folder=tmp_path)


def names(outcome):
    assert outcome.status == 0, outcome
    return [run["name"] for run in json.loads(outcome.out)["runs"]]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["Main=main.run", "new.run"], ["Main", "new"]),
        (["v1.run=main.run"], ["v1.run"]),
        (["k=1.run", "new.run"], ["k=1", "new"]),  # a path that exists is a path
        (["main.run", "./main.run", "new.run", "main.run"], ["main", "new"]),
        (["main.run", "Main=main.run"], ["Main"]),
        (["new=main.run", "new.run"], ["new", "new.run"]),
    ],
)
def test_a_run_is_called_as_the_line_says(call, words, expected):
    assert names(call("eval", "-m", "P.1", "--format", "json", "qrels", *words)) == expected


def test_a_name_stays_beside_run_ids(call):
    words = ["--names", "runid", "--format", "json", "qrels", "Main=main.run", "k=1.run"]
    assert names(call("eval", "-m", "P.1", *words)) == ["Main", "k"]


def test_a_name_is_in_the_log_and_on_the_page(call, tmp_path):
    assert call("eval", "-m", "P.1", "--log", "log", "qrels", "Main=main.run").status == 0
    assert json.loads((tmp_path / "log").read_text())["name"] == "Main"
    assert call("report", "-o", "page.html", "qrels", "Main=main.run", "new.run").status == 0
    assert '"runs":["Main","new"]' in (tmp_path / "page.html").read_text().replace(", ", ",")


@pytest.mark.parametrize(
    "words",
    [
        ["=main.run"],
        ["Main="],
        ["a/b=main.run"],
        ["a\x1b[1m=main.run"],
        ["Main=main.run", "Main=new.run"],
        ["Main=main.run", "Other=main.run"],
        ["Main=none.run"],
    ],
)
def test_a_wrong_name_is_one_line(call, words):
    outcome = call("eval", "-m", "P.1", "qrels", *words)
    assert (outcome.status, outcome.out) == (2, b"")
    assert outcome.err.count(b"\n") == 1
    assert b"\x1b" not in outcome.err


@pytest.mark.parametrize("baseline", ["new", "new.run", "./new.run", "new=new.run"])
def test_the_baseline_is_a_run_of_the_line(call, baseline):
    words = ["-m", "P.1", "--format", "json", "qrels", "main.run", "new.run"]
    found = json.loads(call("compare", *words, "--baseline", baseline).out)["comparison"]
    assert found["baseline"] == "new"
    assert [one["run"] for one in found["differences"]] == ["main"]
    assert "the baseline new" in " ".join(found["answer"]) or "too few" in " ".join(found["answer"])


def test_the_baseline_is_another_file(call):
    words = ["-m", "P.1", "--format", "json", "qrels", "main.run"]
    found = json.loads(call("compare", *words, "--baseline", "Old=new.run").out)["comparison"]
    assert (found["baseline"], found["differences"][0]["run"]) == ("Old", "main")


@pytest.mark.parametrize(
    ("baseline", "advice"), [("mian", "did you mean main?"), ("x", "expected one of main, new")]
)
def test_a_mistyped_baseline_is_answered(call, baseline, advice):
    outcome = call("compare", "--baseline", baseline, "qrels", "main.run", "new.run")
    assert (outcome.status, outcome.out) == (2, b"")
    assert outcome.err.decode().endswith(f"{advice}\n")


@pytest.mark.parametrize("command", ["eval", "compare", "depth"])
def test_a_measure_among_the_files_belongs_behind_m(call, command):
    refused = call(command, "qrels", "main.run", "nDCG@10")
    assert (refused.status, refused.out) == (2, b"")
    assert b"nDCG@10: no such file" in refused.err
    assert b"-m nDCG@10" in refused.err
