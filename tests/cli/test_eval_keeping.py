"""Records and gates: --log, `ragkpi log`, --fail-under."""

import hashlib
import json
from datetime import UTC, datetime

import pytest

from ragkpi.errors import GateFailedError
from tests.cli.commandline import BM25, DENSE, FIXTURES, FUSION, MEASURES, trec_values
from tests.published_schema import valid_lines


@pytest.fixture
def evaluate(ragkpi):
    """Evaluate, without the note on the query that nobody can answer, hd-11."""

    def run(*arguments):
        outcome = ragkpi("eval", *arguments, folder=FIXTURES)
        lines = outcome.err.splitlines(keepends=True)
        return outcome._replace(err=b"".join(x for x in lines if b"no relevant doc" not in x))

    return run


def sha(path):
    return hashlib.sha256((FIXTURES / path).read_bytes()).hexdigest()


def test_the_record_has_a_line_per_run(evaluate, tmp_path):
    log = tmp_path / "log.jsonl"
    before = datetime.now(UTC).replace(microsecond=0)
    evaluate(*MEASURES, "--log", log, "--meta", "index=v3", "--meta", "k=a=b", "qrels.txt", BM25)
    evaluate(*MEASURES, "--ci", "-l", 2, "--log", log, "qrels.txt", DENSE, FUSION)
    lines = valid_lines(log.read_text())
    assert [line["run_id"] for line in lines] == ["bm25", "dense", "fusion"]
    assert lines[0]["meta"] == {"index": "v3", "k": "a=b"}
    assert lines[0]["files"] == {
        "qrels": {"path": "qrels.txt", "sha256": sha("qrels.txt")},
        "run": {"path": BM25, "sha256": sha(BM25)},
    }
    assert before <= datetime.fromisoformat(lines[0]["time"].replace("Z", "+00:00"))
    assert "|l:2|" in lines[1]["signature"]
    assert set(lines[1]["intervals"]) == {"map", "num_ret", "bor_10"}
    values = trec_values(evaluate(*MEASURES, "-l", 2, "qrels.txt", FUSION).out)
    assert f"{lines[2]['values']['map']:.4f}" == values["map"]


def test_the_record_changes_nothing_that_is_printed(evaluate, tmp_path):
    arguments = ("-q", *MEASURES, "qrels.txt", BM25)
    assert evaluate("--log", tmp_path / "log", *arguments).out == evaluate(*arguments).out


def test_the_pool_is_part_of_the_record(evaluate, tmp_path):
    pool = ("--pool", "first_stage.run", "-m", "proc.10", "--grade-map", "umbrela")
    evaluate(*pool, "--log", tmp_path / "log", "qrels.txt", "reranked.run")
    line = json.loads((tmp_path / "log").read_text())
    assert line["files"]["pool"]["sha256"] == sha("first_stage.run")
    assert f"|pool:sha256:{sha('first_stage.run')}|" in line["signature"]


@pytest.fixture
def log(evaluate, ragkpi, tmp_path):
    for run, index in ((BM25, "old"), (FUSION, "old"), (DENSE, "new")):
        evaluate("-cm", "map", "--log", tmp_path / "log", "--meta", f"i={index}", "qrels.txt", run)

    def show(*arguments):
        found = ragkpi("log", "--format", "csv", tmp_path / "log", *arguments)
        assert found.status == 0
        return [line.split(",")[1:] for line in found.out.decode().splitlines()]

    return show


def test_the_history_is_sorted(log):
    head, *rows = log()
    assert head == ["run", "i", "map"]
    assert [row[0] for row in rows] == ["bm25", "fusion", "dense"]
    assert [row[0] for row in log("--sort", "map")[1:]] == ["fusion", "dense", "bm25"]


def test_a_record_that_is_none_is_refused(ragkpi, tmp_path):
    (tmp_path / "log").write_text('{"values": {}}\nmap all 0.5\n')
    found = ragkpi("log", tmp_path / "log")
    assert (found.status, found.out) == (2, b"")
    assert b"log:2: not a ragkpi result file" in found.err


@pytest.mark.parametrize("limit", [0.0005, -0.0005])
def test_a_limit_is_missed_by_what_lies_between(evaluate, limit):
    value = float(trec_values(evaluate("-m", "map", "qrels.txt", BM25).out)["map"])
    gate = value + limit
    found = evaluate("-m", "map", "--fail-under", f"map={gate}", "qrels.txt", BM25)
    assert b"map" in found.out, "values are printed whether gates are missed or not"
    if limit < 0:
        assert found.status == 0
        assert b" gate passed: bm25: map is 0.17" in found.err
        assert found.err.endswith(b", over 12 queries\n")
    else:
        assert found.status == GateFailedError.exit_status == 3
        (said,) = found.err.decode().splitlines()
        start, by = said.rsplit(" by ", 1)
        assert start.startswith("ragkpi: error: bm25: map is 0.17")
        assert float(by) == pytest.approx(limit, abs=0.0001)


def test_every_run_has_to_reach_every_limit(evaluate):
    gates = ("--fail-under", "map=0.99", "--fail-under", "P_5=0.99", "--fail-under", "P_10=0.01")
    found = evaluate("-m", "map", "-m", "P.5,10", *gates, "qrels.txt", BM25, FUSION)
    lines = found.err.decode().splitlines()
    assert [line.split(" is ")[0] for line in lines if line.startswith("ragkpi: error: ")] == [
        f"ragkpi: error: {run}: {name}" for run in ("bm25", "fusion") for name in ("map", "P_5")
    ]
    assert found.status == 3


@pytest.mark.parametrize(
    ("run", "baseline", "margin", "status"),
    [
        (FUSION, BM25, (), 0),
        (BM25, FUSION, (), 3),
        (BM25, FUSION, ("--margin", "0.3"), 0),
        (BM25, FUSION, ("--margin", "0.1"), 3),
        (BM25, FUSION, ("--margin", "60%"), 0),
        (BM25, FUSION, ("--margin", "10%"), 3),
        (BM25, "nosuch", (), 2),
    ],
)
def test_a_baseline_is_a_limit(evaluate, run, baseline, margin, status):
    """In map, bm25 is 0.23 below fusion, which is 56% of it."""
    gate = ("--fail-under-baseline", baseline, *margin, "--gate-by", "value")
    found = evaluate("-m", "map", *gate, "qrels.txt", run)
    assert found.status == status
    assert found.out == evaluate("-m", "map", "qrels.txt", run).out


def test_a_bad_run_and_a_missed_limit_are_both_reported(evaluate):
    found = evaluate("-m", "map", "--fail-under", "map=0.99", "qrels.txt", BM25, "nosuch")
    assert found.status == 2
    assert [b"nosuch" in line for line in found.err.splitlines()] == [True, False]


@pytest.mark.parametrize(
    "store", [("--format", "json"), ("--format", "jsonl"), ("--log",)], ids=["json", "jsonl", "log"]
)
@pytest.mark.parametrize("how", [(), ("--gate-by", "value")])
@pytest.mark.parametrize(("run", "status"), [(FUSION, 0), (BM25, 3)])
def test_a_stored_result_is_a_baseline(evaluate, tmp_path, store, how, run, status):
    """As the run itself is, by means and by a ratio of means: fusion is no worse than itself."""
    path = tmp_path / "stored"
    asked = ("-c", "-N", "5000", "-m", "ndcg_cut.10", "-m", "bor.10")
    store = (*store, path) if store == ("--log",) else (*store, "-o", path)
    assert evaluate("-q", *asked, *store, "qrels.txt", FUSION).status == 0
    copy = tmp_path / "copy.run"
    copy.write_bytes((FIXTURES / FUSION).read_bytes())
    stored = evaluate(*asked, *how, "--fail-under-baseline", path, "qrels.txt", run)
    itself = evaluate(*asked, *how, "--fail-under-baseline", copy, "qrels.txt", run)
    says = stored.err.decode().replace(f"fusion of {path}", str(copy))
    unknown = "; unjudged documents and ties of a saved result are not known"
    assert (unknown in says) == (how == ())
    assert says.replace(unknown, "").split() == itself.err.decode().split()
    assert stored.status == itself.status == status


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
@pytest.mark.parametrize(("run", "status"), [(FUSION, 0), (BM25, 3)])
def test_a_suffix_is_enough_to_store_a_baseline(evaluate, tmp_path, suffix, run, status):
    path = tmp_path / f"base.{suffix}"
    assert evaluate("-q", "-m", "map", "-o", path, "qrels.txt", FUSION).status == 0
    found = evaluate("-m", "map", "--fail-under-baseline", path, "qrels.txt", run)
    assert found.status == status


def test_other_qrels_than_those_of_a_stored_result_are_refused(evaluate, tmp_path):
    stored, other = tmp_path / "stored", tmp_path / "other"
    asked = ("-c", "-m", "map")
    other.write_bytes((FIXTURES / "qrels.txt").read_bytes() + b"hd-01 0 more 0\n")
    evaluate("-q", *asked, "--format", "json", "-o", stored, "qrels.txt", FUSION)
    same = evaluate(*asked, "--fail-under-baseline", stored, "qrels.txt", FUSION)
    differing = evaluate(*asked, "--fail-under-baseline", stored, other, FUSION)
    assert same.status == 0
    assert differing.status == 4
    qrels = sha("qrels.txt")[:8], hashlib.sha256(other.read_bytes()).hexdigest()[:8]
    assert "qrels is {}, not {}".format(*qrels).encode() in differing.err


def test_what_was_stored_must_be_comparable(evaluate, tmp_path):
    path = tmp_path / "stored"
    dense = "runs/dense.run"
    evaluate("--common", "-m", "map", "--format", "json", "-o", path, "qrels.txt", dense)
    by_value = ("--gate-by", "value", "--fail-under-baseline", path)
    more = evaluate("-m", "map", *by_value, "qrels.txt", FUSION)
    assert more.status == 4
    assert b"queries is 11, " in more.err
    assert b", not 12, " in more.err
    evaluate("-m", "map", "--format", "json", "-o", path, "qrels.txt", FUSION)
    assert evaluate("-m", "map", *by_value, "qrels.txt", dense).status == 1
    evaluate("-q", "-m", "map", "--format", "json", "-o", path, "qrels.txt", FUSION)
    assert evaluate("-m", "map", *by_value, "qrels.txt", dense).status == 3
    assert (
        b"values is without P_5, not with"
        in evaluate("-c", "-m", "P.5", "--fail-under-baseline", path, "qrels.txt", dense).err
    )
    path.write_text('{"runs": [{"name": "x"}], "ragkpi": "1"}')
    broken = evaluate("-m", "map", "--fail-under-baseline", path, "qrels.txt", dense)
    assert broken.status == 2
    assert b"not a ragkpi result file" in broken.err


def test_a_run_must_be_shown_to_be_worse_or_not_to_be(evaluate):
    """In map, over 12 queries, bm25 is 0.2262 below fusion: [-0.3573, -0.0951].

    With a query more, on which fusion has its best value and bm25 none, the interval is wider.
    """
    asked = ("-c", "-m", "map", "--fail-under-baseline", FUSION, "qrels.txt", BM25)
    assert evaluate("--gate-by", "worse", "--margin", "0.09", *asked).status == 3
    assert evaluate("--gate-by", "worse", "--margin", "0.1", *asked).status == 0
    assert evaluate("--gate-by", "noninferior", "--margin", "0.36", *asked).status == 3
    turned = ("-c", "-m", "map", "--fail-under-baseline", BM25, "qrels.txt", FUSION)
    assert evaluate("--gate-by", "noninferior", "--margin", "0.02", *turned).status == 0
    # The limit, and of the official measures num_rel_ret, five more, 11 points and 9 cutoffs.
    limits = ("--fail-under", "map=0.1", "--fail-under-baseline", BM25)
    assert evaluate(*limits, "qrels.txt", FUSION).err.count(b"gate passed: ") == 27


def test_the_gate_says_what_compare_says(evaluate, ragkpi):
    """By default a gate asks `compare --family all` about the values of the evaluation."""
    measures = ("-c", "-m", "map", "-m", "recall.20")
    failed = evaluate(*measures, "--fail-under-baseline", FUSION, "qrels.txt", BM25)
    assert failed.status == 3
    compared = json.loads(
        ragkpi(
            *("compare", *measures, "--family", "all", "--format", "json"),
            *("qrels.txt", FUSION, BM25),
            folder=FIXTURES,
        ).out
    )["comparison"]["differences"]
    assert [one["decision"] for one in compared] == ["worse", "worse"]
    lines = failed.err.decode().splitlines()[-2:]  # below the table
    for line, one in zip(lines, compared, strict=True):
        low, high = one["interval"]
        assert line.startswith(f"ragkpi: error: bm25: {one['measure']} {one['value']:.4f} ")
        assert line.endswith(
            f" {FUSION}'s {one['baseline_value']:.4f}: {one['difference']:.4f} "
            f"[{low:.4f}, {high:.4f}], p = {one['p_corrected']:.4f} (limit: 0 at 95%)"
        )
    few = evaluate("-m", "map", "--fail-under-baseline", FUSION, "-D", "0.hd-01", "qrels.txt", BM25)
    assert few.status == 3
    assert b"not decided: " in few.err


def test_equal_rates_do_not_pass_for_certain(evaluate, tmp_path):
    """Twelve of twelve against twelve of twelve: the rate may be 0.2425 worse."""
    qrels, old, new = (tmp_path / name for name in ("qrels", "old", "new"))
    qrels.write_text("".join(f"q{query} 0 a 1\n" for query in range(12)))
    old.write_text("".join(f"q{query} Q0 a 1 1 t\n" for query in range(12)))
    new.write_text("".join(f"q{query} Q0 a 1 2 t\nq{query} Q0 b 2 1 t\n" for query in range(12)))
    asked = ("-m", "success.1", "--fail-under-baseline", old, "--gate-by", "noninferior")
    failed = evaluate(*asked, "--margin", "0.02", qrels, new)
    assert failed.status == 3
    assert b"within 0.0200" in failed.err
    assert b": +0.0000 [-0.2425, +0.2425] (limit: -0.0200 at 95%)" in failed.err
    assert evaluate(*asked, "--margin", "0.25", qrels, new).status == 0
