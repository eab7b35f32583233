"""`ragkpi agree`: the command, with the published figures of RAG 2025 where its data are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.commandline import FIXTURES
from tests.published_schema import valid_document, valid_lines

RAG25 = Path("/work/shared/data/rag25")
JUDGES = ("qrels.txt", "qrels.llm.txt")
RUNS = ("runs/bm25.run", "runs/dense.run", "runs/fusion.run")
FAST = ("--resamples", "50")


def document(outcome):
    assert outcome.status == 0, outcome.err
    return valid_document(outcome.out)


@pytest.mark.skipif(not RAG25.exists(), reason="RAG 2025's judgements are not on this machine")
def test_people_and_umbrela_of_rag_2025(ragkpi):
    runs = [f"runs/s{number}.run" for number in range(1, 9)]
    outcome = ragkpi(
        "agree", "people=qrels.txt", "UMBRELA=qrels.umbrela.txt", *runs,
        "--format", "json", "--resamples", "1000", folder=RAG25,
    )  # fmt: skip
    found = document(outcome)
    (pair,) = found["findings"]["pairs"]
    assert pair["documents"] == 10284
    assert round(pair["kappa"]["value"], 4) == 0.2333
    assert round(pair["kappa_quadratic"]["value"], 4) == 0.4918
    assert round(pair["kappa_from_2"]["value"], 4) == 0.4310
    (order,) = found["findings"]["orders"]
    assert order["measure"] == "ndcg_cut_10"
    assert round(order["tau_b"]["value"], 3) == 0.857
    assert round(order["tau_ap"]["value"], 3) == 0.918
    assert order["ranking"] == "alike"
    assert {(swap["better"], swap["worse"]) for swap in order["swaps"]} == {
        ("s6", "s7"), ("s6", "s8"),
    }  # fmt: skip
    assert not any(swap["significant"] for swap in order["swaps"])
    (verdict,) = found["answer"]
    assert verdict.startswith("UMBRELA ranks these 8 runs as people does (tau_AP 0.92 [")
    assert ": use it to rank, " in verdict


def test_the_table_begins_with_the_verdict(ragkpi):
    arguments = ("agree", *JUDGES, *RUNS, *FAST, "--format", "table")
    outcome = ragkpi(*arguments, folder=FIXTURES)
    text = outcome.out.decode()
    assert outcome.status == 0
    assert text.startswith("Undecided whether qrels.llm ranks these 3 runs as qrels does (tau_AP ")
    assert "; none changes places)." in text
    assert "Left out: 30 documents that qrels alone judged, 138 documents that" in text
    assert "qrels (rows) and qrels.llm (columns)" not in text
    explained = ragkpi(*arguments, "--explain", folder=FIXTURES).out.decode()
    assert "qrels (rows) and qrels.llm (columns)" in explained
    assert "reference: qrels; other: qrels.llm" in explained


def test_without_runs_it_does_not_advise(ragkpi):
    found = document(ragkpi("agree", *JUDGES, *FAST, "--format", "json", folder=FIXTURES))
    assert found["findings"]["orders"] == []
    (verdict,) = found["answer"]
    assert "(quadratic kappa 0.79 [" in verdict
    assert "Without runs, we cannot tell how it ranks them." in verdict


def test_the_same_judgements_serve_alike(ragkpi):
    found = document(
        ragkpi("agree", "qrels.txt", "qrels.txt", *RUNS, *FAST, "--format", "json", folder=FIXTURES)
    )
    assert found["answer"][-1].startswith("qrels.txt#2 ranks these 3 runs as qrels.txt#1 does (")
    assert found["findings"]["pairs"][0]["kappa"]["value"] == 1


def test_a_third_judge_and_every_format(ragkpi, tmp_path):
    arguments = ("agree", *JUDGES, "--judge", "qrels.txt", *RUNS, *FAST, "-q")
    for form in ("table", "csv", "tsv", "markdown", "latex"):
        outcome = ragkpi(*arguments, "--format", form, folder=FIXTURES)
        assert outcome.status == 0
        assert b"alpha_ordinal" in outcome.out.replace(b"\\_", b"_")
    assert valid_lines(ragkpi(*arguments, "--format", "jsonl", folder=FIXTURES).out)
    found = document(ragkpi(*arguments, "--format", "json", folder=FIXTURES))
    assert len(found["findings"]["pairs"]) == 3
    assert {order["judge"] for order in found["findings"]["orders"]} == {"qrels.llm", "qrels.txt#3"}
    picture = tmp_path / "agree.svg"
    assert ragkpi(*arguments, "--plot", picture, folder=FIXTURES).status == 0
    assert picture.stat().st_size > 1000


def test_differences_name_every_document_that_is_not_settled(ragkpi, tmp_path):
    file = tmp_path / "differences.tsv"
    found = document(
        ragkpi("agree", *JUDGES, *FAST, "--differences", file, "--format", "json", folder=FIXTURES)
    )
    (pair,) = found["findings"]["pairs"]
    same = sum(pair["confusion"][place][place] for place in range(4))
    alone = pair["only_first"] + pair["only_second"]
    assert len(file.read_bytes().splitlines()) == 1 + pair["documents"] - same + alone


def test_levels_on_another_scale(ragkpi):
    binary = ("--map-levels", "0=0,1=0,2=1,3=1", "--map-other", "0=0,1=0,2=1,3=1")
    mapped, plain = (
        document(ragkpi("agree", *JUDGES, *FAST, *options, "--format", "json", folder=FIXTURES))
        for options in (binary, ())
    )
    kappa = mapped["findings"]["pairs"][0]["kappa"]["value"]
    assert kappa == plain["findings"]["pairs"][0]["kappa_from_2"]["value"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["qrels.txt"], b"expected two qrels"),
        ([*JUDGES, "--map-levels", "0=1"], b"level 1"),
        ([*JUDGES, "runs/bm25.run"], b"two or more"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_a_line(ragkpi, arguments, words):
    outcome = ragkpi("agree", *arguments, folder=FIXTURES)
    assert outcome.status == 1
    assert words in outcome.err
    assert outcome.err.count(b"\n") == 1
    assert outcome.out == b""


def test_two_judges_of_one_name_are_refused(ragkpi):
    outcome = ragkpi("agree", "a=qrels.txt", "a=qrels.llm.txt", folder=FIXTURES)
    assert (outcome.status, outcome.out) == (2, b"")
    assert b"qrels.txt, qrels.llm.txt: both called a; expected" in outcome.err


def test_judges_of_different_documents(ragkpi, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("hd-01 0 elsewhere 1\n")
    outcome = ragkpi("agree", "qrels.txt", other, folder=FIXTURES)
    assert outcome.status == 7
    assert b"have no judged document in common" in outcome.err


def test_runs_are_read_and_called_as_is_said(ragkpi):
    """Distances turn every ranking round; nDCG is that of `eval`. Runs have their ids."""
    options = ("--score-order", "distance", "--names", "runid", "--format", "json")
    found = document(ragkpi("agree", *JUDGES, *RUNS, *FAST, *options, folder=FIXTURES))
    turned = ragkpi(
        *("eval", "-c", "-m", "ndcg_cut.10", "--score-order", "distance", "qrels.txt", RUNS[0]),
        folder=FIXTURES,
    )
    (order, *_) = found["findings"]["orders"]
    assert order["reference"][0] == pytest.approx(float(turned.out.split()[-1]), abs=1e-4)


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("agree", ["--common"]),
        ("diagnose", ["--common", "-l", "-N", "--corpus-sizes", "--draws", "-m"]),
        ("check", ["--digits"]),
        ("measures", ["--digits"]),
    ],
)
def test_no_command_offers_what_does_nothing_for_it(ragkpi, command, options):
    for option in options:
        outcome = ragkpi(command, option, "1", "qrels.txt", "reranked.run", folder=FIXTURES)
        assert outcome.status == 1
        assert outcome.err.decode().startswith(f"ragkpi: error: {option}: no such option; ")
