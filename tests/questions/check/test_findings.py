"""Each finding is provoked by the smallest run that has it; a clean run has none."""

import pytest

from ragkpi.questions.check.findings import FINDINGS as CATALOGUE
from tests.published_schema import valid_document

QRELS = b"1 0 d1 1\n1 0 d2 0\n2 0 d1 2\n"
CLEAN = b"1 Q0 d1 1 3 me\n1 Q0 d2 2 2 me\n2 Q0 d1 1 1 me\n"

# Name: the run, how often, and the lines named as examples.
FINDINGS = {
    "unreadable": (CLEAN + b"2 Q0 d3 2\n\n# x\n2 Q0\n", 2, [4, 7]),
    "separate-rankings": (b'{"1": {"d1": 1},\n"1": {"d2": 1}}', 1, [2]),
    "duplicates": (CLEAN + b"1 Q0 d1 3 1 me\n1 Q0 d1 4 0 me\n", 2, [4, 5]),
    "max-hits": (CLEAN + b"1 Q0 d3 3 1 me\n", 1, [1]),
    "run-ids": (CLEAN + b"2 Q0 d3 2 0 you\n", 2, [1, 4]),
    "ascending": (b"1 Q0 d1 1 1 me\n1 Q0 d2 2 2 me\n2 Q0 d1 1 1 me\n2 Q0 d2 2 3 me\n", 2, [1, 3]),
    "one-score": (b"1 Q0 d1 1 3 me\n1 Q0 d2 2 3 me\n2 Q0 d1 1 1 me\n", 1, [1]),
    "ranks": (CLEAN + b"2 Q0 d3 2 9 me\n2 Q0 d4 x 0 me\n", 1, [3, 4]),
    "missing-queries": (b"1 Q0 d2 1 2 me\n", 1, [None]),
    "nothing-in-common": (b"1.1 Q0 d1 1 1 me\n", 1, []),
    "unknown-queries": (CLEAN + b"3 Q0 d1 1 1 me\n", 1, [None]),
    "query-spelling": (CLEAN + b"TOPIC-9 Q0 d1 1 1 me\n", 1, [4]),
    "document-spelling": (b"1 Q0 D1 1 3 me\n1 Q0 d2 2 2 me\n2 Q0 d1 1 1 me\n", 1, [1]),
    "nothing-judged": (b"1 Q0 x1 1 3 me\n2 Q0 x2 1 1 me\n", 2, []),
    "unanswerable": (CLEAN + b"VOID Q0 d 1 1 me\n", 1, [None]),
    "ties-at-cutoff": (b"1 Q0 d2 1 2 me\n1 Q0 d1 2 2 me\n2 Q0 d1 1 1 me\n", 1, [2]),
    "ties": (CLEAN + b"2 Q0 d3 2 1 me\n", 2, []),
    "judged": (CLEAN + b"2 Q0 d3 2 0 me\n", 3, []),
}


def findings_of(outcome):
    (found,) = valid_document(outcome.out)["findings"]["runs"]
    return found


def check(ragkpi, folder, run, *options):
    (folder / "run").write_bytes(run)
    topic = b"topic-9 0 d 1\n" if b"TOPIC" in run else b""
    void = b"VOID 0 d 0\n" if b"VOID" in run else b""
    (folder / "qrels").write_bytes(QRELS + topic + void)
    return ragkpi("check", "qrels", "run", "--format", "json", *options, folder=folder)


def test_a_rank_that_is_no_number_leaves_other_queries_their_ranks(ragkpi, tmp_path):
    """By rank the scores of query 1 fall; those of 2 and 3, without a ranking, rise by line."""
    falls = b"1 Q0 d1 2 1 me\n1 Q0 d2 1 2 me\n"
    rise = b"".join(b"%d Q0 d1 x 1 me\n%d Q0 d2 2 3 me\n" % (query, query) for query in (2, 3))
    findings = findings_of(check(ragkpi, tmp_path, falls + rise))["findings"]
    (ascending,) = (finding for finding in findings if finding["name"] == "ascending")
    assert ascending["count"] == 2


@pytest.mark.parametrize(
    ("run", "name", "words"),
    [
        (b"01 Q0 d1 1 1 me\n", "query-spelling", "'01' where the qrels have '1'"),
        (b"1 Q0 d1#3 1 1 me\n", "document-spelling", "'d1#3' where the qrels have 'd1'"),
    ],
)
def test_spellings(run, name, words, ragkpi, tmp_path):
    """Leading zeros, and the number of a passage."""
    findings = findings_of(check(ragkpi, tmp_path, run))["findings"]
    (finding,) = [finding for finding in findings if finding["name"] == name]
    assert [example["text"] for example in finding["examples"]] == [words]


def test_an_empty_ranking_rises_and_ties_nowhere(ragkpi, tmp_path):
    ranking = (
        b'{"query_id": "1", "hits": [{"docid": "d1", "score": 1}, {"docid": "d2", "score": 2}]}\n'
    )
    outcome = check(ragkpi, tmp_path, b'{"query_id": "0", "hits": []}\n' + ranking)
    findings = {finding["name"]: finding for finding in findings_of(outcome)["findings"]}
    assert findings["ascending"]["examples"][0]["text"] == "query 1 begins with 1"


@pytest.mark.parametrize("name", FINDINGS)
def test_finds(name, ragkpi, tmp_path):
    run, count, lines = FINDINGS[name]
    hits = "3" if name != "max-hits" else "2"
    outcome = check(ragkpi, tmp_path, run, "-m", "P.1", "--max-hits", hits)
    findings = {finding["name"]: finding for finding in findings_of(outcome)["findings"]}
    assert findings[name]["count"] == count
    assert [example["line"] for example in findings[name]["examples"]] == lines
    severities = {finding["severity"] for finding in findings.values()}
    assert outcome.status == (3 if "error" in severities else 0)


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (b"2 Q0 d3 2\n\n# x\n2 Q0\n", {4: "4 columns ('2 Q0 d3 2')", 7: "2 columns ('2 Q0')"}),
        (b"2 Q0 d3 2 nan me\n2 Q0 d4 2 1,5 me\n", {4: "score 'nan'", 5: "score '1,5'"}),
        (b"2 Q0 New York 2 0 me\n2 Q0 d4 3 -1 me too\n",
         {4: "rank 'York' of more than 6 columns: an id with a space"}),
        (b"2 Q0 d\0 2 0 me\n", {4: r"a NUL byte ('2 Q0 d\x5cx00 2 0 me')"}),
    ],
)  # fmt: skip
def test_each_unreadable_line_says_why(lines, says, ragkpi, tmp_path):
    findings = findings_of(check(ragkpi, tmp_path, CLEAN + lines))["findings"]
    (found,) = [finding for finding in findings if finding["name"] == "unreadable"]
    assert found["count"] == len(says)
    assert {example["line"]: example["text"] for example in found["examples"]} == says


def test_a_number_is_read_where_the_last_query_has_no_readable_score(ragkpi, tmp_path):
    """The document of query 2 has the score Q0; nothing of that query is ranked."""
    run = b"1 1 1 1 1 1\n2 1 1 1 Q0 1"
    findings = findings_of(check(ragkpi, tmp_path, run))["findings"]
    (found,) = [finding for finding in findings if finding["name"] == "unreadable"]
    assert [example["line"] for example in found["examples"]] == [2]


def test_the_catalogue_is_tested():
    of_qrels = {"repeated-judgements", "nothing-relevant"}  # tests/rules has these
    assert list(FINDINGS) == [one.name for one in CATALOGUE if one.name not in of_qrels]
    assert all(finding.explanation for finding in CATALOGUE)


def test_a_clean_run(ragkpi, tmp_path):
    outcome = check(ragkpi, tmp_path, CLEAN, "--strict")
    assert outcome.status == 0
    assert [finding["name"] for finding in findings_of(outcome)["findings"]] == ["judged"]


def test_strict_is_about_warnings(ragkpi, tmp_path):
    run = FINDINGS["run-ids"][0]
    assert check(ragkpi, tmp_path, run).status == 0
    assert check(ragkpi, tmp_path, run, "--strict").status == 3


def test_judged_shares_by_hand(ragkpi, tmp_path):
    """12 documents of query 1, the judged ones at ranks 1, 2 and 11; query 9 is not judged."""
    ids = [b"d1", b"d2", *(b"x%d" % i for i in range(8)), b"d3", b"x"]
    run = b"".join(b"1 Q0 %b 1 %d me\n" % (id_, -rank) for rank, id_ in enumerate(ids))
    (tmp_path / "run").write_bytes(run + b"9 Q0 d1 1 1 me\n")
    (tmp_path / "qrels").write_bytes(b"1 0 d1 1\n1 0 d2 0\n1 0 d3 2\n1 0 x -1\n")
    out = ragkpi("check", "qrels", "run", folder=tmp_path).out.decode()
    assert "20.0% of the top 10 (2 of 10), 25.0% of the top 100 (3 of 12)" in out


def test_places_can_be_clicked_on(ragkpi, tmp_path):
    (tmp_path / "run").write_bytes(FINDINGS["duplicates"][0])
    out = ragkpi("check", "run", "--format", "tsv", folder=tmp_path).out.decode()
    line = "error\tduplicates\t2\trun:4\tdocument d1 of query 1 again, first at line 1"
    assert line in out.splitlines()


def test_other_formats_are_checked(ragkpi, tmp_path):
    (tmp_path / "run").write_bytes(b'{"1": {"d1": 1.5,\n" D2": 1.5}, "2": {"d1": 0}}')
    (tmp_path / "qrels").write_bytes(QRELS)
    files = ("qrels", "run", "-m", "P.1", "--format", "tsv")
    out = ragkpi("check", *files, folder=tmp_path).out.decode()
    assert "run:1\t' D2' where " in out
    assert "ties cross rank 1 in 1 query" in out


def test_the_verdict_comes_first_and_counts_by_file(ragkpi, tmp_path):
    (tmp_path / "bad").write_bytes(FINDINGS["unreadable"][0])
    (tmp_path / "good").write_bytes(CLEAN)
    (tmp_path / "qrels").write_bytes(QRELS)
    files = ("qrels", "bad", "good")
    checked = ragkpi("check", "--format", "table", *files, folder=tmp_path)
    bad, good, *_ = checked.out.decode().splitlines()
    assert bad.startswith("bad: 1 error, ")
    assert good.startswith("good: 0 errors, 0 warnings, ")
    assert checked.status == 3


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("1.1", "1.1 in the run, 1 in the qrels"),
        ("en/1", "en/1 in the run, 1 in the qrels"),
        ("01", "leading zeros"),
        ("other", "--queries FILE"),
    ],
)
def test_what_eval_refuses_is_an_error_here(ragkpi, tmp_path, query, says):
    """Ids that differ by a part, by spelling, or altogether."""
    run = f"{query} Q0 d1 1 1 me\n".encode()
    outcome = check(ragkpi, tmp_path, run)
    (finding,) = [f for f in findings_of(outcome)["findings"] if f["name"] == "nothing-in-common"]
    assert says in finding["text"]
    assert (outcome.status, finding["severity"]) == (3, "error")
    refused = ragkpi("eval", "qrels", "run", folder=tmp_path)
    assert refused.status == 7
    assert says in refused.err.decode()
