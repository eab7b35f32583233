"""`ragkpi eval`: options, streams, statuses, and what is said on stderr."""

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ragkpi import __version__

FIXTURES = Path(__file__).parents[1] / "helpdesk"
ROW = "{:<22}\t{}\t{}\n"


@pytest.fixture
def evaluate(ragkpi):
    def run(*arguments, stdin=b"", folder=FIXTURES):
        return ragkpi("eval", *arguments, folder=folder, stdin=stdin)

    return run


@pytest.fixture
def files(tmp_path):
    """Write qrels and a run of three queries; q3 is judged only, q4 retrieved only."""
    (tmp_path / "qrels").write_text("q1 0 a 2\nq1 0 b 0\nq2 0 a 1\nq3 0 a 1\n")
    (tmp_path / "run").write_text("q1 Q0 b 1 2 t\nq1 Q0 a 2 1 t\nq2 Q0 a 1 1 t\nq4 Q0 a 1 1 t\n")
    return tmp_path


def test_options_and_files_stand_in_any_order(evaluate):
    usual = evaluate("-q", "-c", "-l", "2", "-m", "map", "-m", "P.5", "qrels.txt", "dense.run")
    assert usual.status == 0
    assert usual.out.count(b"\n") == 26
    for line in (
        "-qcl2 -mmap qrels.txt -m P.5 dense.run",
        "qrels.txt dense.run -qcm P.5 -m map --level_for_rel=2",
        "--query_eval_wanted --complete --level 2 --meas map --measure P.5 qrels.txt dense.run",
    ):
        assert evaluate(*line.split()).out == usual.out


def test_the_level_decides_what_is_relevant(evaluate, files):
    for level, value in (("1", "0.7500"), ("2", "0.2500"), ("3", "0.0000")):
        found = evaluate("-l", level, "-m", "recip_rank", "qrels", "run", folder=files)
        assert found.out.decode() == ROW.format("recip_rank", "all", value)


def test_standard_input_and_gzip(evaluate):
    plain = evaluate("-q", "qrels.txt", "reranked.run")
    text = (FIXTURES / "reranked.run").read_bytes()
    assert evaluate("-q", "qrels.txt", "-", stdin=text).out == plain.out
    assert evaluate("-q", "qrels.txt", "-", stdin=gzip.compress(text)).out == plain.out
    judgements = (FIXTURES / "qrels.txt").read_bytes()
    assert evaluate("-q", "-", "reranked.run", stdin=judgements).out == plain.out


def test_missing_queries_are_told_and_left_out(evaluate, files):
    outcome = evaluate("-m", "num_q", "-m", "recip_rank", "qrels", "run", folder=files)
    assert outcome.out.decode() == ROW.format("num_q", "all", 2) + ROW.format(
        "recip_rank", "all", "0.7500"
    )
    assert outcome.err.decode() == (
        "ragkpi: note: 1 of 3 judged queries is missing from the run (q3) and left out; "
        "-c counts it as 0\n"
        "ragkpi: note: 1 query of the run is unjudged and ignored (q4)\n"
    )


def test_missing_queries_count_as_empty(evaluate, files):
    outcome = evaluate("-c", "-m", "recip_rank", "qrels", "run", folder=files)
    assert outcome.out.decode() == ROW.format("recip_rank", "all", "0.5000")
    assert b"q3" not in outcome.err


def test_missing_queries_are_an_error(evaluate, files):
    outcome = evaluate("--strict", "-m", "recip_rank", "qrels", "run", folder=files)
    assert (outcome.status, outcome.out) == (4, b"")
    assert b"(q3)" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("-m mpa -m P.x qrels run", "-m mpa: no measure"),
        ("qrels", "1 file; expected"),
        ("", "Missing argument"),
        ("-l x qrels run", "-l: 'x' is not a valid whole number"),
        ("-l -1 qrels run", "-l"),
        ("-M -1 qrels run", "-M"),
        ("-N many qrels run", "-N many: expected a number of documents"),
        ("-D 1 qrels run", "-D 1: no debug output"),
        ("-T msmarco qrels run", "-T: 'msmarco' is not one of 'trec_results'"),
        ("-R nothing qrels run", "-R: 'nothing' is not one of 'qrels', 'qrels_jg'"),
        ("-R prefs -m map qrels run", "map needs -R qrels"),
        ("--pool-depth 5 -m proc qrels run", "--pool-depth 5: no pool"),
        ("--pool-union -m proc qrels run", "--pool-union: "),
        ("--draws deep -m bor qrels run", "--draws: 'deep' is not one of 'nominal', 'ret'"),
        ("--grade-map mine -m proc qrels run", "--grade-map mine: 'mine' is neither a preset"),
        ("--grade-map 0=1,0=2 -m proc qrels run", "level 0 is given twice"),
        ("--grade-map binary -m proc qrels run", "level 2 is not in"),
        ("-N 1 -m bor qrels run", "2 documents are judged or retrieved, but the corpus size is 1"),
        ("--nosuch qrels run", "--nosuch"),
        ("-o", "-o"),
    ],
)
def test_a_bad_command_line_ends_in_one_line(evaluate, files, arguments, said):
    outcome = evaluate(*arguments.split(), folder=files)
    assert (outcome.status, outcome.out) == (1, b"")
    (line,) = outcome.err.decode().splitlines()
    assert line.startswith("ragkpi: error: ")
    assert said in line


def test_a_pool_and_what_lies_outside_it(evaluate, files):
    (files / "pool").write_text("q1 Q0 a 1 1 t\nq2 Q0 a 1 1 t\nq2 Q0 z 2 0 t\n")
    outcome = evaluate("-q", "-m", "pool_miss.2", "--pool", "pool", "qrels", "run", folder=files)
    assert outcome.out.decode() == "".join(
        ROW.format("pool_miss_2", query, value)
        for query, value in (("q1", "1.0000"), ("q2", "0.0000"), ("all", "0.5000"))
    )


def test_warnings_say_what_they_affect(evaluate, files):
    outcome = evaluate("-N", "4", "-m", "bor.4", "qrels", "run", folder=files)
    lines = [line for line in outcome.err.decode().splitlines() if "warning" in line]
    assert any("collapse zone" in line for line in lines)
    assert all(line.startswith("ragkpi: warning: ") and "bor" in line for line in lines)


def test_the_corpus_size_may_stand_in_the_environment(evaluate, files, monkeypatch):
    given = evaluate("-N", "1024", "-m", "bor_max.1", "qrels", "run", folder=files)
    monkeypatch.setenv("RAGKPI_CORPUS_SIZE", "1024")
    outcome = evaluate("-m", "bor_max.1", "qrels", "run", folder=files)
    assert outcome.out == given.out == ROW.format("bor_max_1", "all", "10.0000").encode()
    (files / "sizes").write_text("q1 256\nq2 256\n")
    sized = evaluate("--corpus-sizes", "sizes", "-m", "bor_max.1", "qrels", "run", folder=files)
    assert sized.out == ROW.format("bor_max_1", "all", "8.0000").encode()


def test_version(evaluate):
    assert evaluate("-v").out.decode() == f"ragkpi {__version__}\n"


def test_a_reader_that_leaves_early_is_no_error():
    command = f"{sys.executable} -m ragkpi eval -q -m all_trec qrels.txt dense.run | head -1"
    done = subprocess.run(
        command, shell=True, cwd=FIXTURES, capture_output=True, env={**os.environ}, check=False
    )
    assert done.stdout.count(b"\n") == 1
    assert b"Traceback" not in done.stderr
    assert b"rror" not in done.stderr


def test_nothing_is_printed_before_the_inputs_are_known_to_be_good(evaluate, files):
    with (files / "run").open("a") as run:
        run.write("q4 Q0 b 2 nan t\n")
    outcome = evaluate("-q", "qrels", "run", folder=files)
    assert (outcome.status, outcome.out) == (2, b"")
    assert outcome.err.startswith(b"ragkpi: error: run:5: score 'nan'; ")
