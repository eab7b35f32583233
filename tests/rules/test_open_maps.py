"""Rules of what no name settles: the refusal lists every key, and its map names no part wrongly."""

import json
import random
import re

import pytest

import ragkpi

UNKNOWN = ["frage", "treffer", "dok", "wert", "zahl", "ziel", "nummer", "quelle", "stufe"]
KNOWN = {"query": ["query_id", "qid", "topic_id"], "doc": ["doc_id", "docno", "passage_id"]}


def made(rng):
    """Records of two queries: which part has a known name, and the names of all keys."""
    names = rng.sample(UNKNOWN, 5)
    query, list_, doc, number, other = names
    known = rng.choice(["query", "doc", None])
    if known == "query":
        query = rng.choice(KNOWN["query"])
    elif known == "doc":
        doc = rng.choice(KNOWN["doc"])
    records = [
        {query: of, list_: [{doc: f"d{n}", number: rng.random(), other: "x"} for n in range(3)]}
        for of in ("q1", "q2")
    ]
    return records, known, {"query": query, "list": list_, "doc": doc, "number": number}


@pytest.mark.parametrize("seed", range(60))
def test_an_open_map_has_what_names_say_and_a_mark_for_the_rest(seed, tmp_path):
    records, known, names = made(random.Random(seed))
    (tmp_path / "run.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    with pytest.raises(ragkpi.InputError) as refused:
        ragkpi.read_run(tmp_path / "run.jsonl")
    text = str(refused.value)
    for name in names.values():
        assert name in text.partition("; expected ")[0]
    (map_,) = re.findall(r'map_run="([^"]*)"', text)
    parts = dict(part.split("=") for part in map_.split(", "))
    assert parts["list"] == names["list"]
    assert parts["query"] == (names["query"] if known == "query" else "?")
    assert parts["doc"] == (names["doc"] if known == "doc" else "?")
    assert parts["score"] == "?"  # no number that stands in the records is dropped
    with pytest.raises(ragkpi.UsageError, match=r"\? is a placeholder"):
        ragkpi.read_run(tmp_path / "run.jsonl", map_run=map_)


@pytest.mark.parametrize("seed", range(30))
def test_two_known_names_of_one_part_are_asked_about_with_a_map_for_each(seed, tmp_path):
    rng = random.Random(seed)
    part = rng.choice([*KNOWN])
    names = rng.sample(KNOWN[part], 2)
    row = {"query_id": "q"} if part == "doc" else {"doc_id": "d"}
    rows = [{**row, names[0]: f"a{n}", names[1]: f"b{n}", "score": 9 - n} for n in range(3)]
    (tmp_path / "run.json").write_text(json.dumps(rows))
    with pytest.raises(ragkpi.InputError, match=f"each name the {'document' * (part == 'doc')}"):
        ragkpi.read_run(tmp_path / "run.json")
