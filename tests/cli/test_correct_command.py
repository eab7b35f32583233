"""`ragkpi correct`: few human judgements, and a model's of everything."""

from __future__ import annotations

import pytest

from tests.cli.commandline import FIXTURES
from tests.published_schema import valid_document

MODEL = "qrels.llm.txt"
RUNS = ("runs/bm25.run", "runs/fusion.run")


@pytest.fixture
def people(tmp_path):
    """The fixtures' qrels, but for two of their twelve queries."""
    lines = (FIXTURES / "qrels.txt").read_text().splitlines(keepends=True)
    file = tmp_path / "people.txt"
    file.write_text("".join(line for line in lines if line[:5] not in ("hd-03", "hd-08")))
    return file


def document(outcome):
    assert outcome.status == 0, outcome.err
    return valid_document(outcome.out)


def test_values(ragkpi, people):
    arguments = (people, MODEL, *RUNS, "-m", "map", "-m", "num_ret")
    whole = document(ragkpi("correct", *arguments, "--format", "json", folder=FIXTURES))
    found, rows = whole["findings"], whole["rows"]
    assert whole["question"] == "correct"
    assert (found["human"], found["other"]) == ("people", "qrels.llm")
    assert (found["judged"], found["queries"]) == (10, 12)
    assert [row["run"] for row in rows] == ["bm25", "fusion"]
    assert found["refused"] == ["num_ret"]
    # What it starts from is what eval prints under either judgement.
    for key, qrels in (("people", people), ("other", MODEL)):
        plain = document(
            ragkpi("eval", "-c", qrels, *RUNS, "-m", "map", "--format", "json", folder=FIXTURES)
        )
        values = [run["values"]["map"] for run in plain["runs"]]
        assert [row[key] for row in rows] == pytest.approx(values)


def test_a_table_with_a_sentence(ragkpi, people):
    outcome = ragkpi("correct", "--format", "table", people, MODEL, RUNS[0], folder=FIXTURES)
    text = outcome.out.decode()
    assert outcome.status == 0
    assert outcome.err == b""
    assert "ndcg_cut_10" in text
    assert text.startswith("Over all 12 queries, human judgements would give ndcg_cut_10: bm25 ")
    explained = ragkpi(
        *("correct", "--format", "table", "--explain", people, MODEL, RUNS[0]),
        folder=FIXTURES,
    )
    assert "the 10 queries are a random sample of all" in explained.out.decode()


def test_differences(ragkpi, people):
    options = ("--of", "differences", "-m", "map", "-m", "P.10", "--confidence", "0.9")
    arguments = (*options, people, MODEL, *RUNS)
    found = document(ragkpi("correct", *arguments, "--format", "json", folder=FIXTURES))
    findings = found["findings"]
    assert (findings["baseline"], findings["level"]) == ("bm25", 0.9)
    assert [row["measure"] for row in found["rows"]] == ["map", "P_10"]
    assert all(row["p"] <= row["p_corrected"] for row in found["rows"])
    assert any(note.endswith(" p_corrected is (2 tests)") for note in found["notes"])
    best = "Under human judgements, for queries like these, fusion is better than bm25 by map (+"
    assert found["answer"][0].startswith(best)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("-m", "num_ret"), b"a mean over queries"),
        (("--of", "differences"), b"only one run; expected a baseline and others"),
    ],
)
def test_what_has_no_estimate_is_refused(ragkpi, people, options, words):
    outcome = ragkpi("correct", *options, people, MODEL, RUNS[0], folder=FIXTURES)
    assert outcome.status == 1
    assert words in outcome.err
    assert outcome.out == b""


def test_people_who_judged_everything_leave_nothing_to_estimate(ragkpi):
    outcome = ragkpi("correct", "qrels.txt", MODEL, RUNS[0], folder=FIXTURES)
    assert outcome.status == 1
    assert b"all 12 queries have human judgements" in outcome.err
