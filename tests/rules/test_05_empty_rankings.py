"""A query with an empty list of documents is an empty ranking, not a missing one.

Two judged queries: the first is answered perfectly, the second retrieved nothing. So recip_rank is
1 for the first and 0 for the second, and 1/2 over both.
"""

import gzip
import json

import pytest

import ragkpi

QRELS = "q1 0 d1 1\nq2 0 d2 1\n"
HIT = {"docid": "d1", "score": 2.5}
FILES = {
    "lists.jsonl": [{"query_id": "q1", "documents": [HIT]}, {"query_id": "q2", "documents": []}],
    "ids.jsonl": [{"query_id": "q1", "documents": ["d1"]}, {"query_id": "q2", "documents": []}],
    "first.jsonl": [{"query_id": "q2", "documents": []}, {"query_id": "q1", "documents": [HIT]}],
    "array.json": [{"query_id": "q1", "hits": [HIT]}, {"query_id": "q2", "hits": []}],
    "object.json": {"q1": {"d1": 2.5}, "q2": {}},
    "emptied first.json": {"q2": {}, "q1": {"d1": 2.5}},
    "id-lists.json": {"q1": ["d1"], "q2": []},
    "rank_llm.json": [
        {"query": {"qid": "q1"}, "candidates": [HIT]},
        {"query": {"qid": "q2"}, "candidates": []},
    ],
    "elasticsearch.jsonl": [
        {"query_id": "q1", "hits": {"hits": [{"_id": "d1", "_score": 0.5}]}},
        {"query_id": "q2", "hits": {"hits": []}},
    ],
    "ragas.jsonl": [
        {"query_id": "q1", "retrieved_context_ids": ["d1"]},
        {"query_id": "q2", "retrieved_context_ids": []},
    ],
    "mteb.json": {"mteb_model_meta": {}, "en": {"test": {"q1": {"d1": 0.5}, "q2": {}}}},
    "dpr.json": {"q1": {"question": "", "contexts": [HIT]}, "q2": {"question": "", "contexts": []}},
}


def written(folder, name, content):
    (folder / "qrels").write_text(QRELS)
    texts = map(json.dumps, content) if name.endswith("l") else [json.dumps(content)]
    path = folder / name.replace(" ", "-")
    path.write_text("\n".join(texts) + "\n")
    return str(folder / "qrels"), str(path)


@pytest.mark.parametrize("name", FILES)
def test_every_form_of_json_counts_it_as_zero_everywhere(name, tmp_path, ragkpi, monkeypatch):
    monkeypatch.chdir(tmp_path)
    qrels, run = written(tmp_path, name, FILES[name])
    for options in ([], ["-c"], ["--format", "csv"], ["-q"]):
        done = ragkpi("eval", "-m", "recip_rank", *options, qrels, run)
        assert done.status == 0, done.err
        assert b"0.5" in done.out, (options, done.out)
        assert b"missing" not in done.err


def test_a_missing_query_stays_missing(tmp_path, ragkpi):
    qrels, run = written(tmp_path, "lists.jsonl", FILES["lists.jsonl"][:1])
    done = ragkpi("eval", "-m", "recip_rank", qrels, run)
    assert b"0.5000" in done.out  # a form that trec_eval does not read: counted as 0, and said
    assert b"1 of 2 judged queries" in done.err


def test_compressed_and_scattered(tmp_path, ragkpi):
    records = [
        {"query_id": "q1", "documents": [HIT]},
        {"query_id": "q2", "documents": []},
        {"query_id": "q1", "documents": [{"docid": "d9", "score": 3.5}]},  # above d1: rank 2
    ]
    qrels, run = written(tmp_path, "scattered.jsonl", records)
    with open(run, "rb") as plain, gzip.open(run + ".gz", "wb") as packed:
        packed.write(plain.read())
    for path in (run, run + ".gz"):
        assert b"0.2500" in ragkpi("eval", "-m", "recip_rank", qrels, path).out


def test_a_second_record_with_documents_fills_it(tmp_path, ragkpi):
    records = [{"query_id": "q2", "documents": [{"docid": "d2", "score": 1.5}]}]
    qrels, run = written(tmp_path, "twice.jsonl", [*FILES["lists.jsonl"], *records])
    assert b"1.0000" in ragkpi("eval", "-m", "recip_rank", qrels, run).out


@pytest.mark.parametrize("content", [{"q1": {}, "q2": {}}, {"q1": [], "q2": []}])
def test_a_run_without_any_document_is_no_run(content, tmp_path, ragkpi):
    qrels, run = written(tmp_path, "nothing.json", content)
    done = ragkpi("eval", "-m", "recip_rank", qrels, run)
    assert done.status == 2
    assert b"contains no results" in done.err


@pytest.mark.parametrize(
    "run",
    [
        {"q1": {"d1": 2.5}, "q2": {}},
        {"q2": {}, "q1": {"d1": 2.5}},
        {"q1": {"d1": 2.5}, "q2": []},
        {b"q1": {"d1": 2.5}, b"q2": {}},
    ],
)
def test_mappings_in_memory(run):
    qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    for missing in ("zero", "intersection", "common", "error"):
        result = ragkpi.evaluate(qrels, run, "recip_rank", missing=missing)
        assert result.mean == {"recip_rank": 0.5}


def test_tables_with_lists(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    rows = [{"query_id": "q1", "results": [HIT]}, {"query_id": "q2", "results": []}]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "run.parquet")
    qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    run = str(tmp_path / "run.parquet")
    result = ragkpi.evaluate(qrels, run, "recip_rank", missing="intersection")
    assert result.mean == {"recip_rank": 0.5}


def test_check_counts_the_query_and_its_documents(tmp_path, ragkpi):
    qrels, run = written(tmp_path, "lists.jsonl", FILES["lists.jsonl"])
    done = ragkpi("check", qrels, run)
    assert b"(2 queries, 1 document)" in done.err
    assert b"missing" not in done.out + done.err


def test_conversion_keeps_it_where_the_format_can(tmp_path, ragkpi):
    qrels, run = written(tmp_path, "lists.jsonl", FILES["lists.jsonl"])
    for target in ("out.json", "out.jsonl"):
        assert ragkpi("convert", run, str(tmp_path / target)).status == 0
        done = ragkpi("eval", "-m", "recip_rank", qrels, str(tmp_path / target))
        assert b"0.5000" in done.out
    done = ragkpi("convert", run, str(tmp_path / "out.run"))
    assert b"1 query without documents, which trec cannot hold, left out (q2)" in done.err
