"""One divisor for all that is kept: only the printed lines of one TREC run leave queries out."""

import json
from contextlib import nullcontext

import pytest

from ragkpi import RagkpiWarning, evaluate

JUDGED, FOUND = 22, 4  # queries; each has one relevant document, and the run finds it at rank 2
IN_RUN, IN_ALL = 0.5, 0.5 * FOUND / JUDGED  # recip_rank, with either divisor
QRELS = {f"q{n:02}": {f"d{n}": 1, "d0": 0} for n in range(1, JUDGED + 1)}
RUN = {f"q{n:02}": {f"d{n}": 1.0, "d0": 2.0} for n in range(1, FOUND + 1)}
FORMS = {
    "run.json": json.dumps(RUN),
    "run.jsonl": "".join(
        json.dumps({"query_id": q, "results": [{"doc_id": d, "score": s} for d, s in of.items()]})
        + "\n"
        for q, of in RUN.items()
    ),
    "run.csv": "query_id,doc_id,score\n"
    + "".join(f"{q},{d},{s}\n" for q, of in RUN.items() for d, s in of.items()),
    "msmarco.tsv": "".join(f"{q}\td0\t1\n{q}\td{n}\t2\n" for n, q in enumerate(RUN, start=1)),
}
MISSING = "18 of 22 judged queries are missing"


@pytest.fixture
def folder(tmp_path):
    qrels = [f"{q} 0 {d} {level}\n" for q, of in QRELS.items() for d, level in of.items()]
    run = [f"{q} Q0 {d} 1 {score} me\n" for q, of in RUN.items() for d, score in of.items()]
    (tmp_path / "qrels").write_text("".join(qrels))
    (tmp_path / "run").write_text("".join(run))
    (tmp_path / "other").write_text("".join(run))
    for name, text in FORMS.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def printed(outcome, queries=JUDGED):
    """The mean of the lines or of the table, and that the number of queries is said once."""
    assert outcome.status == 0, outcome.err
    err = outcome.err.decode()
    assert err.count(MISSING) == 1, err
    assert ("left out" in err) == (queries == FOUND)
    assert ("count as 0" in err) == (queries == JUDGED)
    lines = [line.split("\t") for line in outcome.out.decode().splitlines()]
    for name, *values in lines:
        if name.startswith("recip_rank"):
            return float(values[1])
        if name == "run":
            return float(values[-1])
    raise AssertionError(outcome.out)


def ask(ragkpi, folder, *options, run="run"):
    return ragkpi("eval", "-m", "recip_rank", *options, "qrels", run, folder=folder)


@pytest.mark.parametrize(
    "options", [(), ("-q",), ("--digits", "9"), ("--ci",), ("--signature",), ("-o", "-")]
)
def test_lines_of_one_trec_run_leave_queries_out_as_trec_eval_does(ragkpi, folder, options):
    assert printed(ask(ragkpi, folder, *options), FOUND) == pytest.approx(IN_RUN)


@pytest.mark.parametrize("extra", [(), ("-q",), ("--ci",), ("--signature",)])
@pytest.mark.parametrize(
    "options",
    [
        ("--log", "log.jsonl"),
        ("--fail-under", "recip_rank=0.01"),
        ("--fail-under-baseline", "other"),
        ("--log", "log.jsonl", "--fail-under", "recip_rank=0.01"),
    ],
)
def test_lines_beside_what_is_kept_say_the_same_number(ragkpi, folder, options, extra):
    lines = ask(ragkpi, folder, "--digits", "9", *options, *extra).out.decode().splitlines()
    assert float(lines[-1 - ("--signature" in extra)].split("\t")[2]) == pytest.approx(IN_ALL)
    if "--log" in options:
        record = json.loads((folder / "log.jsonl").read_text())
        assert record["queries"] == JUDGED
        assert record["values"] == {"recip_rank": pytest.approx(IN_ALL)}
        assert "|missing:zero|" in record["signature"]


@pytest.mark.parametrize("kept", ["x.json", "x.jsonl", "x.csv", "x.tsv", "x.txt", "x.md", "x.tex"])
def test_what_is_stored_has_the_number_that_is_logged(ragkpi, folder, kept):
    outcome = ask(ragkpi, folder, "--digits", "9", "-o", kept, "--log", "log.jsonl")
    assert MISSING in outcome.err.decode()
    assert "0.090909091" in (folder / kept).read_text()
    assert json.loads((folder / "log.jsonl").read_text())["values"]["recip_rank"] == IN_ALL


def test_what_is_sorted(ragkpi, folder):
    outcome = ask(ragkpi, folder, "--worst", "3", "--format", "tsv", "--digits", "9")
    assert outcome.out.decode().splitlines()[-1].split("\t")[-1] == "0.090909091"


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("how", ["path", "standard input"])
def test_lines_of_another_format_count_all_judged_queries(ragkpi, folder, name, how):
    if how == "path":
        outcome = ask(ragkpi, folder, "--digits", "9", run=name)
    else:
        text = (folder / name).read_bytes()
        command = ("eval", "-m", "recip_rank", "--digits", "9", "qrels", "-")
        outcome = ragkpi(*command, folder=folder, stdin=text)
    assert printed(outcome) == pytest.approx(IN_ALL)
    assert "(trec_eval leaves them out)" in outcome.err.decode()


def test_another_format_without_a_judged_query_is_refused(ragkpi, folder):
    (folder / "alien.json").write_text(json.dumps({"other": {"d": 1.0}}))
    assert ask(ragkpi, folder, run="alien.json").status == 7


def test_the_signature_of_lines_says_the_divisor(ragkpi, folder):
    for run, rule in (("run", "missing:intersection"), ("run.json", "missing:zero")):
        assert rule in ask(ragkpi, folder, "--signature-long", run=run).out.decode()


def test_a_crashed_run_is_no_longer_ranked_first(ragkpi, folder):
    whole = {q: {f"d{n}": 1.0, "d0": 2.0, "x": 3.0} for n, q in enumerate(QRELS, start=1)}
    text = [f"{q} Q0 {d} 1 {score} me\n" for q, of in whole.items() for d, score in of.items()]
    (folder / "whole").write_text("".join(text))  # recip_rank is 1/3
    for run in ("run", "whole"):
        ask(ragkpi, folder, "--log", "log.jsonl", run=run)
    log = ragkpi("log", "log.jsonl", "--sort", "recip_rank", "--format", "csv", folder=folder)
    assert [row.split(",")[1] for row in log.out.decode().splitlines()] == ["run", "whole", "run"]


def test_one_query_that_is_asked_for_has_its_own_value_and_not_a_share(ragkpi, folder):
    for options in ((), ("--log", "log.jsonl")):
        for run in ("run", "run.json"):
            assert b"0.5000" in ask(ragkpi, folder, "-D", "0.q01", *options, run=run).out
            assert ask(ragkpi, folder, "-D", "0.q09", *options, run=run).status == 7


def test_from_python(folder):
    path = {name: str(folder / name) for name in ("qrels", "run", "run.json")}
    values = {}
    for run in ("run", "run.json"):
        for missing in ("trec_eval", "zero", "intersection"):
            with pytest.warns(RagkpiWarning) if missing != "zero" else nullcontext():
                found = evaluate(path["qrels"], path[run], "recip_rank", missing=missing)
            values[run, missing] = found.mean["recip_rank"]
    assert values == {
        ("run", "trec_eval"): IN_RUN,
        ("run", "zero"): IN_ALL,
        ("run", "intersection"): IN_RUN,
        ("run.json", "trec_eval"): IN_ALL,
        ("run.json", "zero"): IN_ALL,
        ("run.json", "intersection"): IN_RUN,
    }


# Questions without an answer: judged, and nothing relevant.
UNANSWERABLE = "a 0 d1 1\nb 0 d1 0\nc 0 d2 0\nd 0 d1 2\ne 0 d1 -1\n"
THEIRS = "a Q0 d1 1 2 me\nb Q0 d1 1 2 me\nc Q0 d2 1 2 me\nd Q0 d1 1 2 me\ne Q0 d1 1 2 me\n"
SAID = "3 of 5 queries have no relevant document (b, c, e): recall, nDCG and success are 0 for them"


@pytest.fixture
def unanswerable(tmp_path):
    (tmp_path / "qrels").write_text(UNANSWERABLE)
    (tmp_path / "run").write_text(THEIRS)
    (tmp_path / "other").write_text(THEIRS.replace("d2", "d3"))
    return tmp_path


@pytest.mark.parametrize("measure", ["recall.5", "ndcg_cut.5", "ndcg", "success.5"])
def test_an_unanswerable_question_is_0_and_said(ragkpi, unanswerable, measure):
    outcome = ragkpi("eval", "-m", measure, "qrels", "run", folder=unanswerable)
    assert outcome.out.split()[-1] == b"0.4000"  # 1 for a and d, 0 for the other three
    assert outcome.err.decode() == f"ragkpi: note: {SAID}\n"


@pytest.mark.parametrize(
    "command",
    [
        ("eval", "-m", "P.1", "qrels", "run", "other"),
        ("eval", "-q", "-m", "P.1", "--format", "json", "qrels", "run"),
        ("eval", "-m", "P.1", "--log", "log", "qrels", "run"),
        ("compare", "-m", "P.1", "qrels", "run", "other"),
        ("holes", "-m", "P.1", "qrels", "run"),
        ("depth", "-N", "1000", "qrels", "run"),
    ],
)
def test_every_command_with_values_says_it_once(ragkpi, unanswerable, command):
    outcome = ragkpi(*command, folder=unanswerable)
    assert outcome.err.decode().count("no relevant document (b, c, e)") == 1, outcome.err


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        (1, "3 of 5 queries have no relevant document (b, c, e)"),
        (2, "4 of 5 queries have no relevant document (a, b, c, …)"),
        (3, None),  # above the highest judged level: another warning says that
        (0, "1 of 5 queries has no relevant document (e)"),
    ],
)
def test_relevant_is_what_the_level_says(ragkpi, unanswerable, level, expected):
    command = ("eval", "-l", level, "-m", "P.1", "qrels", "run")
    err = ragkpi(*command, folder=unanswerable).err.decode()
    assert (expected in err) if expected else ("no relevant document (" not in err)


def _findings(outcome):
    return json.loads(outcome.out)["findings"]["runs"][0]["findings"]


def test_check_counts_and_names_them_and_is_content(ragkpi, unanswerable):
    command = ("check", "--strict", "--format", "json", "qrels", "run")
    outcome = ragkpi(*command, folder=unanswerable)
    assert outcome.status == 0  # they are there on purpose
    findings = {row["name"]: row for row in _findings(outcome)}
    finding = findings["unanswerable"]
    assert (finding["severity"], finding["count"]) == ("note", 3)
    assert finding["text"] == "3 judged queries have no relevant document"
    assert [example["text"] for example in finding["examples"]] == ["b, c, e"]
