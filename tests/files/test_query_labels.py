import json

import pytest

from ragkpi.errors import DataError, InputError
from ragkpi.files.query_files import read_query_labels

EXPECTED = {"lang": {b"q1": "de", b"q2": "en"}, "kind": {b"q1": "fact"}}


@pytest.mark.parametrize(
    "text",
    [
        "query_id\tlang\tkind\nq1\tde\tfact\nq2\ten\t\n",
        "qid,lang,kind\r\nq1,de,fact\r\nq2,en,\r\n",
        '{"qid": "q1", "lang": "de", "kind": "fact"}\n{"qid": "q2", "lang": "en"}\n',
        '[{"qid": "q1", "lang": "de", "kind": "fact"},\n {"qid": "q2", "lang": "en"}]',
        '{\n  "q1": {"lang": "de", "kind": "fact"},\n  "q2": {"lang": "en"}\n}\n',
    ],
)
def test_labels_are_read_by_column(tmp_path, text):
    (tmp_path / "labels").write_text(text)
    assert read_query_labels(str(tmp_path / "labels")) == EXPECTED


@pytest.mark.parametrize(
    ("text", "by"),
    [
        ("query\ttopic\nq1\tbilling\nq2\tbilling\n", "topic"),
        ('{"query": "q1", "topic": "billing"}\n{"query": "q2", "topic": "billing"}\n', "topic"),
        ("topic,query\nq1,billing\nq2,billing\n", "query"),
        ("topic,qid\nbilling,q1\nbilling,q2\n", "topic"),
    ],
)
def test_queries_may_be_labelled_by_topic(tmp_path, text, by):
    """Two turns of one topic: the topic is a label beside the query, not its id."""
    (tmp_path / "labels").write_text(text)
    assert read_query_labels(str(tmp_path / "labels")) == {by: {b"q1": "billing", b"q2": "billing"}}


def test_two_columns_need_no_names(tmp_path):
    (tmp_path / "labels").write_bytes(b"q\xff\tde\nq2\ten\n")
    assert read_query_labels(str(tmp_path / "labels")) == {"label": {b"q\xff": "de", b"q2": "en"}}


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("q1\n", InputError, "labels: no label; expected lines"),
        ("q1\tde\nq2\n", InputError, r"labels:2: 1 column \('q2'\); expected 2"),
        ("q1\tde\nq1\ten\n", DataError, "labels:2: query q1 again, first labelled at line 1"),
        ("", InputError, "labels: is empty; expected a line of column names"),
        (json.dumps({"lang": "de"}), InputError, "labels:1: no query's id"),
        ("[" * 100_000, InputError, r"labels:1: invalid JSON \(nested too deeply\)"),
        ('{"qid": "q1", "l": "x"}\n{"qid"\n', InputError, r"labels:2: invalid JSON \("),
        ('q1,de\nq2,"en\n', InputError, r"labels:2: invalid CSV \(unexpected end of data\)"),
    ],
)
def test_what_is_no_label_is_refused_with_its_line(tmp_path, text, error, said):
    (tmp_path / "labels").write_text(text)
    with pytest.raises(error, match=said):
        read_query_labels(str(tmp_path / "labels"))


def test_only_ends_of_lines_end_lines(tmp_path):
    (tmp_path / "labels").write_bytes('q1\ta\u2028b\x0b\nq2\t"c\n'.encode())
    labels = read_query_labels(str(tmp_path / "labels"))
    assert labels == {"label": {b"q1": "a\u2028b", b"q2": '"c'}}
