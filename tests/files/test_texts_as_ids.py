"""Texts where ids are missing (--match text), and queries by text or place (--queries)."""

import json
import re

from ragkpi.files.sieve import words_of
from tests.hostile_files import WHERE_TEXTS

SETS = [
    {"user_input": "Why so?", "retrieved_contexts": ["A b.", "C “d”."],
     "reference_contexts": ['c\u00a0 "D".']},
    {"user_input": "how?", "retrieved_contexts": ["e f"], "reference_contexts": ["never"]},
]  # fmt: skip


def put(folder, name, records):
    (folder / name).write_text("".join(json.dumps(record) + "\n" for record in records))
    return name


def test_words_are_the_identity():
    assert words_of("Ｆｉｎｅ  ‘X’\n".encode()) == words_of(b"fine 'x'") == b"fine 'x'"
    assert words_of(b"fine x") != words_of(b"fine, x")


def test_texts_match_by_their_words(ragkpi, tmp_path):
    path = put(tmp_path, "set.jsonl", SETS)
    line = ("eval", "-q", "--match", "text", "-m", "recip_rank", path, path)
    outcome = ragkpi(*line, folder=tmp_path)
    assert [row.split()[1:] for row in outcome.out.decode().splitlines()] == [
        [r"Why\x20so?", "0.5000"],
        ["how?", "0.0000"],
        ["all", "0.2500"],
    ]
    assert b"note: set.jsonl: 1 gold text in no list of any query\n" in outcome.err
    assert b"folded" not in outcome.err  # no text stands twice in a list


def test_the_map_that_a_refusal_of_texts_names_reads_them_as_ids(ragkpi, tmp_path):
    gold = put(tmp_path, "gold.jsonl", [{"question": "why?", "passages": ["a.md#1", "b.md#2"]}])
    run = put(tmp_path, "run.jsonl", [{"question": "why?", "hits": [{"id": "b.md#2"}]}])
    line = ("eval", "-m", "recall.5", "--map-qrels")
    refused = ragkpi(*line, "query=question, list=passages", gold, run, folder=tmp_path)
    assert refused.status == 2
    (map_,) = re.findall("if these are ids, --map-qrels '([^']*)'", refused.err.decode())
    assert ragkpi(*line, map_, gold, run, folder=tmp_path).out.split()[-1] == b"0.5000"


def test_queries_by_text_and_place(ragkpi, tmp_path):
    (tmp_path / "queries.tsv").write_text("a\twhy  SO?\nb\thow?\n")
    (tmp_path / "gold").write_text("a 0 1 1\nb 0 2 1\n")
    by_text = [{"question": one["user_input"], "hits": [{"id": "1"}]} for one in SETS]
    by_place = [{"retrieved_ids": ["1"]}, {"retrieved_ids": ["1"]}]
    for records in (by_text, by_place):
        path = put(tmp_path, "run.jsonl", records)
        line = ("eval", "--queries", "queries.tsv", "-q", "-m", "P.1", "gold", path)
        outcome = ragkpi(*line, folder=tmp_path)
        assert [row.split()[1:] for row in outcome.out.decode().splitlines()] == [
            ["a", "1.0000"],
            ["b", "0.0000"],
            ["all", "0.5000"],
        ]
    path = put(tmp_path, "run.jsonl", [{"question": "who?", "hits": [{"id": "1"}]}])
    outcome = ragkpi("eval", "--queries", "queries.tsv", "gold", path, folder=tmp_path)
    assert (outcome.status, outcome.out) == (2, b"")
    assert b"query 'who?' is not in the file of queries" in outcome.err


def test_encodings_and_formats_that_are_not_read(ragkpi, tmp_path):
    (tmp_path / "run").write_text("q Q0 a 1 1 t\n")
    (tmp_path / "gold.yaml").write_text("q:\n  - a\n")
    (tmp_path / "gold.csv").write_bytes("query_id,doc_id\nq,a\n".encode("utf-16"))
    for name, words in (("gold.yaml", b"YAML; expected JSON"), ("gold.csv", b"UTF-16 text")):
        outcome = ragkpi("eval", name, "run", folder=tmp_path)
        assert (outcome.status, outcome.out) == (2, b"")
        assert words in outcome.err


def test_the_simplest_gold(ragkpi, tmp_path):
    (tmp_path / "run").write_text("q Q0 a 1 1 t\nr Q0 a 1 1 t\n")
    for text in (
        "q,a\nq,b\nr,c\n",
        "query_id,doc_id\nq,a\nq,b\nr,c\n",
        '{"qid": "q", "docid": "a"}\n{"qid": "q", "docid": "b"}\n{"qid": "r", "docid": "c"}\n',
        "query_id;relevant_ids\r\nq;a|b\r\nr;c\r\n",
        '{"q": ["a", "b"], "r": ["c"]}',
    ):
        (tmp_path / "gold").write_text(text)
        outcome = ragkpi(
            "eval", "-m", "num_rel", "-m", "num_rel_ret", "gold", "run", folder=tmp_path
        )
        assert outcome.out.split()[2::3] == [b"3", b"1"], text


HINTED = "query,place,reference,score\nwhy so?,0,A b.,0.9\nwhy so?,1,c d,0.8\nhow?,0,e f,0.7\n"


def test_a_refusal_of_texts_says_how_texts_match(ragkpi, tmp_path):
    path = put(tmp_path, "set.jsonl", SETS)
    (tmp_path / "run.csv").write_text(HINTED)
    (tmp_path / "gold").write_text("q 0 a 1\nq 0 b 1\n")
    for files in ((path, path), ("gold", path), (path, "gold"), ("gold", "run.csv")):
        outcome = ragkpi("eval", "-m", "P.1", *files, folder=tmp_path)
        assert (outcome.status, outcome.out) == (2, b"")
        (line,) = outcome.err.decode().splitlines()
        assert line.endswith(f"; {WHERE_TEXTS}")
    for run, options in ((path, []), ("run.csv", ["--map-run", "doc=reference"])):
        line = ("eval", "--match", "text", *options, "-m", "P.1", path, run)
        assert ragkpi(*line, folder=tmp_path).status == 0
