"""A gate that was asked for decides, or fails: what must not pass, and what a passed gate says."""

import json

import pytest

import ragkpi
from ragkpi.statistics.gates import BaselineGate, baseline_verdicts
from tests.made_scores import MAP, scores
from tests.published_schema import valid_document, valid_lines
from tests.rules.made import edit, write_files

STORED = ("--fail-under-baseline", "base.json")


@pytest.fixture
def evaluate(ragkpi, tmp_path):
    """Evaluate in a folder with a stored result of good.run."""
    write_files(tmp_path)

    def run(*arguments):
        return ragkpi("eval", *arguments, folder=tmp_path)

    asked = ("-q", "-N", "1000", "-m", "recip_rank,P.1,bor.1,num_q", "-o", "base.json")
    assert run(*asked, "qrels", "good.run").status == 0
    return run


def limit(text, *more):
    return ("-m", "recip_rank,num_q,num_ret,success.1", "--fail-under", text, *more, "qrels")


def baseline(path, *more, measure="recip_rank"):
    return ("-m", measure, "--fail-under-baseline", path, *more, "qrels")


# The command line before the run, the run, the status, and a part of the message.
CALLS = [
    (limit("recip_rank=0.5"), "bad.run", 3, "recip_rank is 0.375, below 0.5 by 0.125"),
    (limit("recip_rank=inf"), "good.run", 1, "expected NAME=NUMBER"),
    (limit("recip_rank=-inf"), "good.run", 1, "expected NAME=NUMBER"),
    (limit("recip_rank=-1e400"), "good.run", 1, "expected NAME=NUMBER"),
    (limit("recip_rank=nan"), "good.run", 1, "expected NAME=NUMBER"),
    (limit("recip_rank="), "good.run", 1, "expected NAME=NUMBER"),
    (limit("recip_rank=1.5"), "good.run", 1, "no run can keep this limit; recip_rank lies between"),
    (limit("recip_rank=-5"), "good.run", 1, "no run can miss this limit"),
    (limit("recip_rank=0"), "good.run", 1, "recip_rank=0: "),
    (limit("success_1=1.01"), "good.run", 1, "success_1=1.01: "),
    (limit("num_q=1"), "good.run", 1, "no value of num_q is better than another"),
    (limit("num_ret=1"), "good.run", 1, "no value of num_ret"),
    (limit("recip=0.5"), "good.run", 1, "--fail-under recip"),
    (limit("recip_rank>=0.5"), "bad.run", 3, "recip_rank is 0.375, below 0.5 by 0.125"),
    (("--fail-under", "recall@1=0.9", "qrels"), "bad.run", 3, "recall_1 is "),
    (limit("map=0.5"), "good.run", 1, "--fail-under map"),
    (limit("recip_rank=0.5"), "empty.run", 2, "empty.run"),
    (limit("recip_rank=0.5"), "other.run", 7, "query ids"),
    (limit("recip_rank=0.5", "-c"), "other.run", 7, "query ids"),
    (limit("recip_rank=0.5"), "nosuch", 2, "nosuch"),
    (baseline("good.run"), "good.run", 1, "it is a run of this call, and no worse than itself"),
    (baseline("./good.run"), "good.run", 1, "./good.run: "),
    (baseline("good.run"), "bad.run", 3, "worse than good.run's 0.7500"),
    (baseline("good.run", "--fail-under-baseline", "bad.run"), "bad.run", 1, "expected one"),
    (baseline("good.run", "-c"), "other.run", 7, "query ids"),
    (baseline("other.run", "-c"), "good.run", 7, "query ids"),
    (baseline("other.run"), "good.run", 7, "query ids"),
    (baseline("empty.run"), "good.run", 2, "empty.run"),
    (baseline("nosuch"), "good.run", 2, "nosuch"),
    (baseline("good.run", measure="num_q"), "bad.run", 1, "no value of this evaluation is better"),
    (baseline("good.run", measure="nosuch"), "bad.run", 1, "-m nosuch"),
    (baseline("good.run", "--margin", "1"), "bad.run", 3, "--margin allows every value"),
    (baseline("good.run", "--margin", "100%"), "bad.run", 3, "--margin allows every value"),
    (baseline("good.run", "--margin", "inf"), "bad.run", 1, "--margin inf"),
    (baseline("good.run", "--margin", "-1"), "bad.run", 1, "--margin -1"),
    (baseline("good.run", "-D", "0.q00"), "bad.run", 3, "With 1 query "),
    (
        baseline("good.run", "--gate-by", "noninferior"),
        "like.run",
        3,
        "not shown to be non-inferior",
    ),
    (baseline("good.run", "--gate-by", "noninferior", "-D", "0.q00"), "bad.run", 3, "not shown"),
    (baseline("good.run", "--gate-by", "value"), "bad.run", 3, "below 0.7500 (good.run) by 0.3750"),
    (baseline("none.run"), "none2.run", 3, "no query of run or baseline has any success"),
    (baseline("none.run", "--gate-by", "value"), "none2.run", 3, "not decided"),
    (
        (*baseline("none.run", "--gate-by", "value", "-N", "1000", measure="bor.1"),),
        "good.run",
        3,
        "worse than none.run's -inf",
    ),
    (("-m", "recip_rank", "--margin", "0.1", "qrels"), "good.run", 1, "no baseline"),
    (("-m", "recip_rank", "--gate-by", "value", "qrels"), "good.run", 1, "no baseline"),
    (("-m", "recip_rank", *STORED, "qrels"), "bad.run", 3, "worse than good of"),
    (("-m", "recip_rank,map", *STORED, "qrels"), "bad.run", 4, "without map, not with"),
    (("-m", "num_q", *STORED, "qrels"), "bad.run", 1, "--fail-under-baseline: "),
    (("-m", "bor.1", "-N", "1000", *STORED, "qrels"), "bad.run", 3, "bor_1 -inf "),
]


@pytest.mark.parametrize(("arguments", "run", "status", "says"), CALLS)
def test_what_must_not_pass(evaluate, tmp_path, arguments, run, status, says):
    (tmp_path / "none2.run").write_bytes(
        (tmp_path / "none.run").read_bytes() + b"q00 Q0 x9 9 0 t\n"
    )
    found = evaluate(*arguments, run)
    assert (found.status, says in found.err.decode()) == (status, True), found.err.decode()


def test_three_successes_are_too_few_to_fail(evaluate, tmp_path):
    """All of three fall: z = √3, so p = 0.0833."""
    (tmp_path / "fallen.run").write_text((tmp_path / "bad.run").read_text())
    arguments = ("-m", "success.1", "--fail-under-baseline", "three.run", "three.qrels")
    found = evaluate(*arguments, "bad.run")
    assert found.status == 3
    assert b"With 3 queries " in found.err
    assert b" below 0.08326" in found.err
    assert evaluate(*arguments[:4], "--gate-by", "value", "three.qrels", "good.run").status == 3


def as_value(value):
    return lambda run, _: run["values"].update(recip_rank=value)


def of_query(value):
    return lambda run, _: run["per_query"]["q00"].update(recip_rank=value)


def without_queries(run, _):
    run.pop("per_query")


@pytest.mark.parametrize(
    ("change", "how", "status", "says"),
    [
        (as_value(None), (), 2, "recip_rank is nan, but 0.75 by its queries"),
        (of_query(None), (), 2, "recip_rank is 0.75, but"),
        (as_value(0.1), (), 2, "recip_rank is 0.1, but 0.75 by its queries"),
        (of_query(0.1), (), 2, "recip_rank is 0.75, but"),
        (as_value(True), (), 2, "recip_rank is True"),
        (as_value("0.75"), (), 2, "recip_rank is 0.75"),
        (without_queries, (), 1, "without values per query; save it with -q"),
        (without_queries, ("--gate-by", "value"), 1, "-q"),
        (lambda run, _: run["values"].clear(), (), 4, "without recip_rank, not with"),
        (lambda run, _: run.update(values=[]), (), 2, "not a ragkpi result file (no values)"),
        (lambda run, _: run["per_query"].pop("q03"), (), 2, "has values for 11 of 12 queries"),
        (lambda run, _: run["per_query"].update(q99={}), (), 2, "has values for 13 of 12 queries"),
    ],
)
def test_a_stored_result_that_decides_nothing(evaluate, tmp_path, change, how, status, says):
    edit(tmp_path / "base.json", change)
    found = evaluate("-m", "recip_rank", *STORED, *how, "qrels", "good.run")
    assert (found.status, says in found.err.decode()) == (status, True), found.err.decode()


def test_what_is_na_for_other_queries_is_not_decided(tmp_path):
    """The one query that the run lost is NA for the baseline alone."""
    nan = float("nan")
    old, new = ([nan, *[0.5] * 11], [0.5, nan, *[0.5] * 10])
    runs = [("old", scores([(MAP, old)])), ("new", scores([(MAP, new)]))]
    for by in ("worse", "noninferior"):
        (verdict,) = baseline_verdicts(*runs, BaselineGate(decided_by=by))
        assert not verdict.passed
        assert "NA for other queries" in str(verdict)


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "-1e400"])
def test_numbers_that_are_none(evaluate, tmp_path, text):
    path = tmp_path / "base.json"
    path.write_text(path.read_text().replace("0.75", text, 1))
    found = evaluate("-m", "recip_rank", *STORED, "qrels", "good.run")
    assert found.status == 2
    assert b"not a ragkpi result file" in found.err


@pytest.mark.parametrize("by", ["worse", "noninferior"])
@pytest.mark.parametrize("measure", ["recip_rank", "success.1", "P.1"])
def test_a_run_that_ranks_alike_passes(evaluate, tmp_path, by, measure):
    """Rates too: their interval is for runs that may rank otherwise."""
    (tmp_path / "copy.run").write_text((tmp_path / "good.run").read_text())
    found = evaluate(*baseline("copy.run", "--gate-by", by, measure=measure), "good.run")
    assert found.status == 0, found.err
    p = ", p = 1.0000" if by == "worse" else ""
    said = f"+0.0000 [+0.0000, +0.0000]{p} (limit: 0 at 95%), over 12 queries"
    assert said in found.err.decode()


def test_what_passed_gates_say(evaluate):
    """By hand: six of twelve queries rise by 1/2, six by 1/4; the spread is 0.1306.

    The quantile of t with 11 degrees of freedom is 2.2010, so the interval reaches 2.2010 * 0.1306
    / sqrt(12) = 0.0830 to both sides, and t is 0.3750 / 0.0377 = 9.95, so p is 8e-07.
    """
    found = evaluate(*baseline("bad.run"), "good.run")
    assert found.status == 0
    (line,) = found.err.decode().splitlines()
    assert line.startswith("ragkpi: note: gate passed: good: recip_rank 0.7500 is not ")
    numbers = "bad.run's 0.3750: +0.3750 [+0.2920, +0.4580], p < 0.0001 (limit: 0 at 95%), "
    assert f"{numbers}over 12 queries; " in line
    found = evaluate(*limit("recip_rank=0.5"), "good.run")
    assert found.err.decode() == (
        "ragkpi: note: gate passed: good: recip_rank is 0.75, above 0.5 by 0.25, over 12 queries\n"
    )


def test_several_gates_are_a_line_each(evaluate):
    """By hand: good is 0.75 in recip_rank and 0.5 in P_1, bad 0.375 and 0."""
    gates = ("-m", "recip_rank,P.1", "--fail-under", "P_1=0.6", "--fail-under-baseline", "bad.run")
    missed = "good: P_1 is 0.5, below 0.6 by 0.1"
    found = evaluate(*gates, "qrels", "good.run")
    assert found.status == 3
    first, second, said = found.err.decode().splitlines()
    assert first.startswith("ragkpi: note: gate passed: good: recip_rank 0.7500 is not ")
    assert "bad.run's 0.3750: +0.3750 [" in first
    assert first.endswith(" 1 in 4 queries")
    assert "bad.run's 0.0000: +0.5000 [" in second
    assert said == f"ragkpi: error: {missed}"
    shown = evaluate(*gates, "--format", "table", "qrels", "good.run")
    assert shown.err.decode().splitlines() == [said]
    *_, counted, one, two, three = shown.out.decode().splitlines()
    assert counted == "2 of 3 gates passed."
    assert one.startswith(f"gate missed: {missed}")
    assert [f"ragkpi: note: {line}" for line in (two, three)] == [first, second]


@pytest.mark.parametrize("run", ["good.run", "bad.run"])
def test_reports_hold_the_gates(evaluate, tmp_path, run):
    passed, value = run == "good.run", 0.75 if run == "good.run" else 0.375
    gates = (
        "-m",
        "recip_rank",
        "--fail-under",
        "recip_rank=0.5",
        "--fail-under-baseline",
        "like.run",
    )
    for form in ("json", "jsonl", "markdown"):
        found = evaluate(*gates, "--format", form, "qrels", run)
        assert found.status == (0 if passed else 3)
        if form == "markdown":
            outcome = f"gate {'passed' if passed else 'missed'}: {run.partition('.')[0]}: recip"
            text = found.out.decode().replace("\\", "")
            of_limit, of_run = (line for line in text.splitlines() if line.startswith(outcome))
            change = f"{'above' if passed else 'below'} 0.5 by {abs(value - 0.5)}"
            assert f"is {value}, {change}, over 12 queries" in of_limit
            assert f"recip_rank {value:.4f} is " in of_run
            assert "like.run's 0.7500: " in of_run
            continue
        document = (
            valid_document(found.out)["runs"][0] if form == "json" else valid_lines(found.out)[0]
        )
        of_limit, of_run = document["gates"]
        says = [gate.pop("says") for gate in (of_limit, of_run)]
        assert all("recip_rank" in text for text in says)
        known = {"measure": "recip_rank", "value": value, "queries": 12}
        known |= {"passed": passed, "outcome": "passed" if passed else "missed"}
        assert of_limit == {**known, "limit": 0.5}
        low, high = of_run.pop("interval")
        assert low <= value - 0.75 <= high
        assert passed == bool(of_run.pop("could_have_missed", ""))
        assert of_run == {
            **known,
            "baseline": "like.run",
            "limit": 0.75,
            "baseline_value": 0.75,
            "difference": value - 0.75,
        }


def test_python_says_the_same(evaluate, tmp_path):
    good, bad = (str(tmp_path / name) for name in ("good.run", "bad.run"))
    qrels, stored = str(tmp_path / "qrels"), str(tmp_path / "base.json")
    found = ragkpi.evaluate(qrels, good, "recip_rank", fail_under={"recip_rank": 0.5})
    (verdict,) = found.verdicts
    assert (verdict.name, verdict.passed, verdict.limit) == ("recip_rank", True, 0.5)
    with pytest.raises(ragkpi.GateFailedError, match="worse than good of"):
        ragkpi.evaluate(qrels, bad, "recip_rank", fail_under_baseline=stored)
    for number in (float("nan"), float("-inf"), float("inf")):
        with pytest.raises(ragkpi.UsageError, match="expected NAME=NUMBER"):
            ragkpi.evaluate(qrels, good, "recip_rank", fail_under={"recip_rank": number})


def test_a_log_offers_the_last_run_that_passed(evaluate, tmp_path):
    keep = ("-q", "-m", "recip_rank", "--log", "rec.jsonl")
    assert evaluate(*keep, "qrels", "good.run").status == 0
    assert evaluate(*keep, "--fail-under", "recip_rank=0.5", "qrels", "bad.run").status == 3
    lines = [json.loads(line) for line in (tmp_path / "rec.jsonl").read_text().splitlines()]
    assert [gate["passed"] for line in lines for gate in line.get("gates", [])] == [False]
    by_value = ("-m", "recip_rank", "--gate-by", "value", "--fail-under-baseline", "rec.jsonl")
    found = evaluate(*by_value, "qrels", "bad.run")
    assert found.status == 3
    assert b"below 0.7500 (good of rec.jsonl)" in found.err
    (tmp_path / "rec.jsonl").write_text(json.dumps(lines[1]) + "\n")
    found = evaluate(*by_value, "qrels", "bad.run")
    assert found.status == 1
    assert b"rec.jsonl: it holds no run that passed its gates" in found.err
