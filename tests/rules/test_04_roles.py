"""A file given as qrels is judgements, a file given as a run is a ranking, in every format.

Each wrong pair printed a number with status 0, or could. Now it ends in one line, by `eval`, by
`check` and by the other questions; the right pair is read.
"""

import json

import pytest

import ragkpi

GOLD = {"q1": {"d1": 1, "d3": 1, "d4": 0}, "q2": {"d2": 2, "d5": 1}}
RUN = {"q1": {"d1": 0.9, "d2": 0.8, "d3": 0.7}, "q2": {"d5": 0.6, "d2": 0.5, "d1": 0.4}}
WHOLE = {"q1": {"d1": 30, "d2": 20, "d3": 10}, "q2": {"d5": 9, "d2": 8, "d1": 7}}
# recip_rank of both runs is 1; P.1 is 1 for both.


def rows(content, *names):
    triples = [(q, d, n) for q, documents in content.items() for d, n in documents.items()]
    return [dict(zip(names, row, strict=True)) for row in triples]


def delimited(content, names, separator):
    lines = [names, *(map(str, row.values()) for row in rows(content, *names))]
    return "".join(separator.join(line) + "\n" for line in lines)


def lines_of(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def hits(content, of_list, document, number):
    return lines_of(
        {"query_id": q, of_list: [{document: d, number: n} for d, n in documents.items()]}
        for q, documents in content.items()
    )


BEIR = ("query-id", "corpus-id", "score")
QRELS_FILES = {
    "trec": lambda of: "".join(f"{q} 0 {d} {n}\n" for q, of in of.items() for d, n in of.items()),
    "object.json": json.dumps,
    "indented.json": lambda of: json.dumps(of, indent=1),
    "floats.json": lambda of: json.dumps(
        {q: {d: float(n) for d, n in documents.items()} for q, documents in of.items()}
    ),
    "rows.jsonl": lambda of: lines_of(rows(of, "query_id", "doc_id", "relevance")),
    "rows.json": lambda of: json.dumps(rows(of, "qid", "docid", "label")),
    "hf.jsonl": lambda of: lines_of(rows(of, *BEIR)),
    "lists.jsonl": lambda of: hits(of, "judgments", "doc_id", "level"),
    "beir.tsv": lambda of: delimited(of, BEIR, "\t"),
    "named.csv": lambda of: delimited(of, ("query_id", "doc_id", "relevance"), ","),
    "rating.csv": lambda of: delimited(of, ("query", "docid", "rating"), ","),
    "grade.tsv": lambda of: delimited(of, ("qid", "docno", "grade"), "\t"),
}
RUN_FILES = {
    "trec": lambda of: "".join(
        f"{q} Q0 {d} {r} {n} t\n" for q, of in of.items() for r, (d, n) in enumerate(of.items(), 1)
    ),
    "object.json": json.dumps,
    "indented.json": lambda of: json.dumps(of, indent=1),
    "rows.jsonl": lambda of: lines_of(rows(of, "query_id", "doc_id", "score")),
    "beir.jsonl": lambda of: lines_of(rows(of, *BEIR)),
    "ranked.jsonl": lambda of: lines_of(
        {**row, "rank": rank} for rank, row in enumerate(rows(of, "qid", "docid", "score"), 1)
    ),
    "lists.jsonl": lambda of: hits(of, "hits", "id", "score"),
    "candidates.jsonl": lambda of: hits(of, "candidates", "docid", "score"),
    "beir.tsv": lambda of: delimited(of, BEIR, "\t"),
    "named.csv": lambda of: delimited(of, ("query_id", "doc_id", "score"), ","),
    "similar.csv": lambda of: delimited(of, ("query_id", "doc_id", "similarity"), ","),
}


@pytest.fixture
def put(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(name, text):
        (tmp_path / name).write_text(text)
        return name

    return write


def refused(outcome):
    assert outcome.status in (1, 2), outcome
    assert outcome.out == b""
    assert outcome.err.count(b"\n") == 1, outcome.err
    return outcome.err.decode()


@pytest.mark.parametrize("judged", QRELS_FILES)
@pytest.mark.parametrize("ranked", RUN_FILES)
def test_right_is_read_and_swapped_is_refused_with_the_right_line(judged, ranked, put, ragkpi):
    qrels = put(f"gold-{judged}", QRELS_FILES[judged](GOLD))
    run = put(f"run-{ranked}", RUN_FILES[ranked](RUN))
    read = ragkpi("eval", "-m", "recip_rank", qrels, run)
    assert read.status == 0
    assert read.out == b"recip_rank            \tall\t1.0000\n"
    swapped = ragkpi("eval", "-m", "recip_rank", run, qrels)
    assert (swapped.status, swapped.out) == (2, b"")
    assert swapped.err.decode().endswith(f"\n  ragkpi eval -m recip_rank {qrels} {run}\n")


@pytest.mark.parametrize("judged", [name for name in QRELS_FILES if name != "trec"])
@pytest.mark.parametrize("ranked", [name for name in RUN_FILES if name != "trec"])
def test_whole_scores_hide_nothing(judged, ranked, put, ragkpi):
    qrels = put(f"gold-{judged}", QRELS_FILES[judged](GOLD))
    run = put(f"run-{ranked}", RUN_FILES[ranked](WHOLE))
    assert ragkpi("eval", "-m", "recip_rank", qrels, run).out.endswith(b"1.0000\n")
    swapped = ragkpi("eval", "-m", "recip_rank", run, qrels)
    assert (swapped.status, swapped.out) == (2, b"")
    assert swapped.err.decode().endswith(f"\n  ragkpi eval -m recip_rank {qrels} {run}\n")


@pytest.mark.parametrize("judged", QRELS_FILES)
def test_judgements_are_no_run(judged, put, ragkpi):
    """The item's `gold.json gold.json` and `q gold.json`, by every command that reads runs."""
    trec = put("q", QRELS_FILES["trec"](GOLD))
    gold = put(f"gold-{judged}", QRELS_FILES[judged](GOLD))
    for command in (["eval"], ["depth"], ["eval", "--pool", gold]):
        runs = [put("run", RUN_FILES["trec"](RUN))] if "--pool" in command else [gold]
        refused(ragkpi(*command, trec, *runs))
        refused(ragkpi(*command, gold, *runs))
    for qrels in ([], [trec], [gold]):
        done = ragkpi("check", *qrels, gold)
        if judged == "trec":  # the lines are counted as errors
            assert done.status == 3
        else:
            refused(done)


@pytest.mark.parametrize("ranked", RUN_FILES)
@pytest.mark.parametrize("content", [RUN, WHOLE])
def test_a_run_is_no_judgements_of_itself(ranked, content, put, ragkpi):
    run = put(f"run-{ranked}", RUN_FILES[ranked](content))
    copy = put(f"copy-{ranked}", RUN_FILES[ranked](content))
    for other in (run, copy):
        for command in ("eval", "check", "diagnose"):
            refused(ragkpi(command, run, other))


@pytest.mark.parametrize(
    "twice",
    [
        '{"q1": ["d1", "d2"]}',
        '{"id": "q1", "output": [{"provenance": [{"wikipedia_id": "1"}]}]}\n',
        '{"q": {"d": 1}}',
    ],
)
def test_one_list_is_not_both(twice, put, ragkpi):
    path = put("both.json", twice)
    outcome = ragkpi("eval", path, path)
    said = outcome._replace(err=outcome.err.splitlines(keepends=True)[-1])  # below notes
    assert "has the same content as both.json" in refused(said)


@pytest.mark.parametrize(
    "both",
    [
        '{"user_input": "a b", "retrieved_context_ids": ["d1"], "reference_context_ids": ["d1"]}\n',
        '[{"query": "a b", "expected_ids": ["d1"], "retrieved_ids": ["d1", "d7"]}]',
        "query_id,doc_id,score,label\nq,d1,0.5,1\nq,d2,0.25,0\n",
        '{"query_id": "q", "hits": [{"id": "d1"}], "relevant_ids": ["d1"]}\n',
    ],
)
def test_one_file_that_holds_both_is_read(both, put, ragkpi):
    path = put("both", both)
    assert ragkpi("eval", "-m", "recip_rank", path, path).out.endswith(b"1.0000\n")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"q": {"d": 0.5}}', "qrels.json:1: score 0.5 instead"),
        ('{"q": {"d": {}}}', "contains no judgements"),
        (
            '{"query_id": "q", "doc_id": "d", "score": 2, "rank": 1}',
            "contains a run ('score rank')",
        ),
        ('{"query_id": "q", "doc_id": "d", "score": 2, "run_id": "r"}', "contains a run"),
        ('{"query_id": "q", "judgments": [{"doc_id": "d", "score": 0.5}]}', "score 0.5 instead"),
        ("query_id,doc_id,score\nq,d,0.5\n", "score 0.5 instead"),
        ("query_id,doc_id,rank,score\nq,d,1,3\n", "contains a run ('score rank')"),
        (
            json.dumps({"q": {f"d{place}": 20 - place for place in range(11)}}),
            "11 documents of query q ",
        ),
    ],
)
def test_scores_are_no_levels(text, found, put, ragkpi):
    run = put("run", "q Q0 d 1 2.5 t\n")
    for command in ("eval", "check", "holes"):
        assert found in refused(ragkpi(command, put("qrels.json", text), run))


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("query_id,doc_id,gain\nq,d,0.5\n", []),
        ('{"query_id": "q", "doc_id": "d", "relevance": 0.5}\n', []),
        ('{"q": {"d": 0.5}}', ["--map-qrels", "level=@value"]),
        ("query_id,doc_id,score\nq,d,0.5\n", ["--map-qrels", "level=score"]),
        (
            "query_id,doc_id,score\nq,d,0.5\n",
            ["--map-qrels", "query=query_id, doc=doc_id, level=score"],
        ),
    ],
)
def test_gains_are_read_where_a_name_or_the_user_says_so(text, options, put, ragkpi):
    run = put("run", "q Q0 d 1 2.5 t\n")
    done = ragkpi("eval", "-m", "ndcg", *options, put("gains", text), run)
    assert done.out.endswith(b"1.0000\n")
    assert b"read as gains" in done.err


def test_a_file_of_gains_needs_no_name(put, ragkpi):
    qrels, run = put("q", "q 0 d 1\n"), put("run", "q Q0 d 1 2.5 t\n")
    gains = put("gains.json", '{"q": {"d": 0.5}}')
    assert ragkpi("eval", "-m", "dcg", "--gains", gains, qrels, run).out.endswith(b"0.5000\n")


@pytest.mark.parametrize(
    "run",
    [
        {"q1": {"d1": 3, "d2": 2, "d3": 1}},  # whole scores that fall
        {"q1": {"d1": 0.5, "d2": 0.5}},  # equal scores that are no levels
        {"q1": {"d1": 30, "d2": 30}},
        {"q1": {"d1": 1}},
    ],
)
def test_whole_and_equal_scores_are_read(run, put, ragkpi):
    qrels = put("q", "q1 0 d1 1\n")
    assert ragkpi("eval", "-m", "num_ret", qrels, put("run.json", json.dumps(run))).status == 0


def test_the_user_may_say_that_levels_are_scores(put, ragkpi):
    qrels, run = put("q", "q1 0 d1 1\n"), put("run.json", '{"q1": {"d1": 2, "d2": 1, "d3": 1}}')
    line = refused(ragkpi("eval", "-m", "recip_rank", qrels, run))
    assert line.startswith("ragkpi: error: run.json: contains judgements of level 1, 2, ")
    assert "(--map-run score=@value " in line
    done = ragkpi("eval", "-m", "recip_rank", "--map-run", "score=@value", qrels, run)
    assert done.out.endswith(b"1.0000\n")


def test_a_conversion_does_not_take_judgements_for_a_run(put, ragkpi):
    gold = put("gold.json", json.dumps(GOLD))
    line = refused(ragkpi("convert", gold, "out.run"))
    assert "--kind qrels" in line
    assert ragkpi("convert", "--kind", "qrels", gold, "out.qrels").status == 0
    assert ragkpi("convert", "--map-run", "score=@value", gold, "out.run").status == 0


def test_nothing_is_said_to_be_swapped_that_is_not(put, ragkpi):
    gold, run = put("gold.json", json.dumps(GOLD)), put("run", RUN_FILES["trec"](RUN))
    qrels = put("q", QRELS_FILES["trec"](GOLD))
    for line in (["eval", qrels, gold, run], ["eval", qrels, run, gold], ["eval", run, run]):
        assert b"swapped" not in ragkpi(*line).err
    named = ragkpi("eval", "-m", "map", "run with spaces", put("g x", json.dumps(GOLD)))
    assert b"swapped" not in named.err  # there is no such file


@pytest.mark.parametrize("form", [["-o", "stored.json"], ["--log", "stored.json"]])
def test_what_ragkpi_stores_is_neither(form, put, ragkpi):
    qrels, run = put("q", QRELS_FILES["trec"](GOLD)), put("run", RUN_FILES["trec"](RUN))
    ragkpi("eval", "-m", "map", *form, qrels, run)
    for pair in ((qrels, "stored.json"), ("stored.json", run)):
        for command in ("eval", "check"):  # compare takes results
            assert "stored.json: a saved result " in refused(ragkpi(command, *pair))


def test_parquet(put, ragkpi):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    for name, content, names in (
        ("gold", GOLD, ("query_id", "doc_id", "relevance")),
        ("beir", GOLD, BEIR),
        ("run", RUN, ("query_id", "doc_id", "score")),
    ):
        parquet.write_table(pyarrow.Table.from_pylist(rows(content, *names)), name)
    for gold in ("gold", "beir"):
        assert ragkpi("eval", "-m", "recip_rank", gold, "run").out.endswith(b"1.0000\n")
        swapped = ragkpi("eval", "-m", "recip_rank", "run", gold)
        assert (swapped.status, swapped.out) == (2, b"")
        assert swapped.err.decode().endswith(f"\n  ragkpi eval -m recip_rank {gold} run\n")
        refused(ragkpi("eval", gold, gold))
    refused(ragkpi("eval", "run", "run"))


def test_swapped_in_memory(put):
    with pytest.raises(ragkpi.RagkpiError, match="seem to be swapped"):
        ragkpi.evaluate(RUN, GOLD, "ndcg")
    frame = rows(RUN, "query_id", "doc_id", "score")
    ranked = [{**row, "rank": rank} for rank, row in enumerate(frame, 1)]
    with pytest.raises(ragkpi.RagkpiError, match="contains a run"):
        ragkpi.evaluate(ranked, rows(GOLD, "query_id", "doc_id", "relevance"), "recip_rank")
    with pytest.raises(ragkpi.RagkpiError, match=r"score 0\.9 instead"):
        ragkpi.evaluate(put("run.json", json.dumps(RUN)), GOLD, "recip_rank")
    assert ragkpi.evaluate(GOLD, RUN, "recip_rank").mean == {"recip_rank": 1.0}
    gains = {"q1": {"d1": 0.5, "d2": 2.5}}
    assert ragkpi.evaluate(gains, {"q1": {"d2": 2, "d1": 1}}, "ndcg").mean == {"ndcg": 1.0}
