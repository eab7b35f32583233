import pytest

from ragkpi.files.formats import HEAD_LENGTH, recognise_kind, recognise_qrels, recognise_run
from ragkpi.files.opening import Source
from ragkpi.files.registry import FILE_FORMATS

RUNS = [
    (b"", "trec"),
    (b"1 Q0 d1 1 2.5 me\n", "trec"),
    (b"\xef\xbb\xbf# a comment\n\n1\tQ0\td1\t1\t2.5\tme\n", "trec"),
    (b'{"a": 1 , "b" 2.5 } 7\n', "json"),
    (b'{"q Q0 d1 1 2.5 me\n', "trec"),  # an id is opaque
    (b"[1 Q0 d1 1 2.5 me\n", "trec"),
    (b"1 Q0 d1 1 2.5\n", "trec"),  # malformed, and the TREC reader says so
    (b"1 d1 2.5\n1 d2 1.5\n", "trec"),
    (b"1\td1\t1\t2.5\n1\td2\t2\t1.5\n", "trec"),
    (b"1 0 1 1\n1 0 2 0\n", "trec"),  # qrels of documents 1 and 2, in the wrong place
    (b"1\td1\t1\n1\td2\t2\n2\td1\t1\n", "msmarco"),
    (b"1 d1 1\n1 d2 1\n", "trec"),  # not ranks: perhaps scores
    (b"1 d1 7\n1 d2 5\n", "trec"),
    (b"qid\tdocno\tscore\n1\td1\t2\n", "tsv"),
    (b"qid,docno,rank\n1,d1,1\n", "csv"),
    (b'"Query-ID","Doc ID","Score"\n', "csv"),
    (b'{"1": {"d1": 2.5}}', "json"),
    (b'{\n  "1": {\n    "d1": 2.5\n', "json"),
    (b"{}", "json"),
    (b'{\n"1": {' + b", ".join(b'"d%d": 2.5' % i for i in range(999)), "json"),  # beyond the head
    (b'[{"qid": "1", "candidates": []}]', "json"),
    (b'{"query": {"qid": 1, "text": "x"}, "candidates": []}\n{"query', "jsonl"),
    (b'{"topic_id": "1", "references": ["d1"]}\n', "json"),
    (b"PAR1\x15\x04", "parquet"),
    (b"ARROW1\0\0", "arrow"),
    (b"\xff\xff\xff\xff\x30\x01\0\0", "arrow"),
]
QRELS = [
    (b"1 0 d1 2\n", "trec"),
    (b"1 0 d1 x\n", "trec"),
    (b"query-id\tcorpus-id\tscore\n1\td1\t2\n", "tsv"),
    (b"query_id,doc_id,relevance\n", "csv"),
    (b'{"1": {"d1": 2}}', "json"),
    (b'{"query_id": "1", "doc_id": "d1", "relevance": 2}\n{"', "jsonl"),
    (b"PAR1", "parquet"),
]


@pytest.mark.parametrize(("head", "name"), RUNS)
def test_recognises_runs(head, name, tmp_path):
    (tmp_path / "run").write_bytes(head)
    with Source(str(tmp_path / "run")) as source:
        assert recognise_run(source.peek(HEAD_LENGTH)) == name


@pytest.mark.parametrize(("head", "name"), QRELS)
def test_recognises_qrels(head, name):
    assert recognise_qrels(head) == name


UNRECOGNISED = {
    "beir",
}


def test_every_format_can_be_recognised():
    assert {name for _, name in RUNS} == set(FILE_FORMATS["run"]) - UNRECOGNISED
    assert {name for _, name in QRELS} == set(FILE_FORMATS["qrels"]) - UNRECOGNISED - {"arrow"}


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"1 0 d1 2\n", "qrels"),
        (b"1 Q0 d1 1 2.5 me\n", "run"),
        (b"query-id\tcorpus-id\tscore\n", "qrels"),
        (b"query_id\tdoc_id\tscore\n", "run"),
        (b"query_id,doc_id,relevance\n", "qrels"),
        (b'{"query_id": "1", "doc_id": "d1", "relevance": 2}\n', "qrels"),
        (b'{"qid": "1", "candidates": []}\n', "run"),
        (b'{"1": {"d1": 2}}', "run"),
    ],
)
def test_tells_runs_from_qrels(head, kind):
    assert recognise_kind(head) == kind
