"""What is no id of a document, or no list of one query, is neither read nor guessed."""

import json

import pytest

from ragkpi.files.recogniser import recognise, recognise_object


def nuggets(query):
    of = [("n1", "vital", "support"), ("n2", "okay", "support"), ("n3", "okay", "none")]
    names = ("text", "importance", "assignment")
    return {"qid": query, "nuggets": [dict(zip(names, one, strict=True)) for one in of]}


SPANS = [
    {"span": "s1", "position": 0, "input": "why?"},
    {"span": "s1", "position": 1, "input": "why?"},
]
RATED = [{"query": query, "ratings": [{"docId": "d1", "rating": "1"}]} for query in "ab"]


@pytest.mark.parametrize(
    ("records", "kind"),
    [
        ([{"id": "q1", "query": "why?", "gold_ids": ["d1"]}, {"id": "q2", "query": "how?"}], "run"),
        ([{"id": "q1", "question": "why?"}, {"id": "q2", "question": "how?"}], "qrels"),
        ([nuggets("a"), nuggets("b")], "run"),
        (SPANS, "run"),
        ([{"_source": {"id": "x", "judgmentRatings": RATED}}], "qrels"),
        ([{"qid": "a", "usage": {"aa": 3, "bb": 4}}, {"qid": "b", "usage": {"aa": 1}}], "run"),
        (
            [
                {"qid": of, "span_id": "ab", "trace_id": "cd", "place": n}
                for of in "ab"
                for n in "xx"
            ],
            "run",
        ),
        ([{"qid": "a", "citations": {"d1": 1}}, {"qid": "b", "citations": {"d2": 1}}], "qrels"),
    ],
    ids=[
        "examples",
        "queries",
        "nuggets",
        "spans",
        "lists of queries",
        "counts",
        "traces",
        "cited",
    ],
)
def test_no_reading(records, kind):
    assert recognise(records, kind) == []


def test_id_beside_a_query_that_comes_back():
    rows = [{"question": query, "id": f"d{place}"} for query in "ab" for place in range(2)]
    assert recognise(rows, "run")[0].text == "query=question, doc=id"


@pytest.mark.parametrize("list_", ["citations", "responses[].citations"])
def test_citations_with_scores(list_):
    cited = {"citations": {"d1": 0.9, "d2": 0.4}}
    records = [{"qid": "a", **({"responses": [cited]} if "[]" in list_ else cited)}]
    assert recognise(records, "run")[0].text == f"query=qid, list={list_}, doc=@key, score=@value"


def test_lists_without_a_query_are_taken_by_their_place():
    (reading,) = recognise_object({"ids": [["d1", "d2"], ["d2", "d3"]]}, "qrels")
    assert (reading.map["query"], reading.guesses) == ("@number", ("query",))


@pytest.mark.parametrize(
    ("keys", "path"), [({"score": 1, "Score": 2}, "score"), ({"DocId": "e"}, "document or id")]
)
def test_two_keys_of_one_name_are_left_to_the_reader_which_refuses_them(keys, path):
    records = [{"qid": "q", "hits": [{"doc_id": "d", **keys}]}]
    assert f"=<{path}>" in recognise(records, "run")[0].text


def test_a_first_record_unlike_the_others(ragkpi, tmp_path):
    records = [{"title": "x"}, *({"qid": of, "hits": [{"docid": "d", "score": 1}]} for of in "ab")]
    (tmp_path / "run").write_text("\n".join(map(json.dumps, records)))
    (tmp_path / "gold").write_text("a 0 d 1\n")
    outcome = ragkpi("eval", "gold", "run", folder=tmp_path)
    assert (outcome.status, outcome.out) == (2, b"")
    assert outcome.err == (
        b"ragkpi: run:1: no list of documents (keys: 'title'), unlike other records; "
        b"expected all records alike\n"
    )


@pytest.mark.parametrize("id_", ["[x]", "(a)", "[1]", "['a']"])
def test_an_id_in_brackets_is_one_id(ragkpi, tmp_path, id_):
    (tmp_path / "qrels").write_text(f"{id_} 0 {id_} 1\n")
    flat = [
        {"query_id": id_, "doc_id": id_, "score": 2},
        {"query_id": id_, "doc_id": "b", "score": 1},
    ]
    nested = {"query_id": id_, "results": [{"doc_id": id_, "score": 2}]}
    for name, text in (("flat.json", flat), ("nested.json", [nested])):
        (tmp_path / name).write_text(json.dumps(text))
        outcome = ragkpi("eval", "-m", "recip_rank", "qrels", name, folder=tmp_path)
        assert outcome.out.split() == [b"recip_rank", b"all", b"1.0000"], outcome.err


@pytest.mark.parametrize(
    "documents",
    [
        '{"d1": "inf", "d2": 0.5, "d3": 0.25, "d4": 0.125}',
        '{"d1": 2.5, "d2": 1.5, "d3": 0.5, "d4": "-inf"}',
    ],
)
def test_an_infinite_score_is_a_score_as_convert_writes_it(ragkpi, tmp_path, documents):
    (tmp_path / "qrels").write_text("q1 0 d1 1\n")
    (tmp_path / "run.json").write_text(f'{{"q1": {documents}}}')
    outcome = ragkpi("eval", "-m", "recip_rank", "qrels", "run.json", folder=tmp_path)
    assert outcome.out.split() == [b"recip_rank", b"all", b"1.0000"], outcome.err


@pytest.mark.parametrize(
    "run",
    [
        {"t.0": {"a.1": 0.9, "a.0": 0.8}, "t.1": {"b.1": 0.9, "a": 0.3}},
        {"t.0": {"b.0": "inf", "a.0": 2.5}, "t.1": {"b.1": 0.9}},
    ],
)
def test_ids_that_end_in_a_number_are_no_attributes_of_spans(ragkpi, tmp_path, run):
    (tmp_path / "qrels").write_text("t.0 0 a.0 1\nt.1 0 b.1 1\n")
    (tmp_path / "gold.json").write_text('{"t.0": {"a.0": 1}, "t.1": {"b.1": 1}}')
    (tmp_path / "run.json").write_text(json.dumps(run))
    for qrels in ("qrels", "gold.json"):
        outcome = ragkpi("eval", "-m", "recip_rank", qrels, "run.json", folder=tmp_path)
        assert outcome.out.split() == [b"recip_rank", b"all", b"0.7500"], outcome.err
