"""Texts of queries and documents, in the forms that collections come in."""

import gzip
import json

import pytest

from ragkpi.errors import InputError
from ragkpi.files.query_files import read_texts, texts_of_run

WANTED = (b"d1", b"d\xff")


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.mark.parametrize(
    ("name", "octets"),
    [
        ("tabs.tsv", b"d0\tno\nd1\ta text\nd\xff\tb\n"),
        ("beir.jsonl", lines({"_id": "d1", "title": "", "text": "a text"}).encode()),
        ("ms.jsonl", lines({"docid": "d1", "segment": "a text", "url": "http://x"}).encode()),
        ("pyserini.jsonl", lines({"id": "d1", "contents": "a text"}).encode()),
        ("tabs.tsv.gz", gzip.compress(b"d1\ta text\n", mtime=0)),
        ("without_newline.tsv", b"d1\ta text"),
        ("of_excel.csv", b'\xef\xbb\xbfid,text\r\nd0,no\r\nd1,"a text"\r\n'),
    ],
)
def test_the_text_of_an_id_is_found(tmp_path, name, octets):
    (tmp_path / name).write_bytes(octets)
    found = read_texts(str(tmp_path / name), WANTED)
    assert found[b"d1"] == ("a text", 6)
    assert set(found) <= set(WANTED)


def test_parquet_is_read(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table({"_id": ["d0", "d1"], "title": ["t", "T"], "text": ["no", "a text"]})
    parquet.write_table(table, tmp_path / "corpus.parquet")
    assert read_texts(str(tmp_path / "corpus.parquet"), WANTED) == {b"d1": ("T\na text", 8)}


def test_a_title_stands_before_the_text_and_bytes_keep_an_id_apart(tmp_path):
    octets = b'{"_id": "d\xff", "title": "T", "text": "b"}\n'
    (tmp_path / "c.jsonl").write_bytes(octets)
    assert read_texts(str(tmp_path / "c.jsonl"), WANTED) == {b"d\xff": ("T\nb", 3)}


def test_of_a_megabyte_the_beginning_is_kept_and_the_length_said(tmp_path):
    (tmp_path / "c.tsv").write_bytes(b"d1\t" + b"x" * 3_000_000 + b"\n")
    text, length = read_texts(str(tmp_path / "c.tsv"), WANTED)[b"d1"]
    assert length == 3_000_000
    assert len(text) < 100_000


@pytest.mark.parametrize(
    "octets", [b"d1 no tab\n", b"d1,no names\n", b'{"title": "x"}\n', b'{"_id"\n']
)
def test_a_file_without_ids_and_texts_is_refused_with_its_line(tmp_path, octets):
    (tmp_path / "c").write_bytes(octets)
    with pytest.raises(InputError, match=r"c:[12]: .*; expected "):
        read_texts(str(tmp_path / "c"), WANTED)


def test_a_run_that_carries_texts_has_them(tmp_path):
    document = {"docid": "d1", "score": 2.0, "doc": {"title": "T", "segment": "body"}}
    record = {"query": {"qid": "q1", "text": "what?"}, "candidates": [document]}
    (tmp_path / "run.jsonl").write_text(lines(record))
    queries, documents = texts_of_run(str(tmp_path / "run.jsonl"))
    assert queries == {b"q1": ("what?", 5)}
    assert documents == {b"d1": ("T\nbody", 6)}
    (tmp_path / "run.txt").write_text("q1 Q0 d1 1 1.0 t\n")
    assert texts_of_run(str(tmp_path / "run.txt")) == ({}, {})
