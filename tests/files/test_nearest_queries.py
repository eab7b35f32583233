"""What public reports showed: the nearest query, ids of an index, levels as keys, one document."""

import json

import pytest

import ragkpi

pytestmark = pytest.mark.filterwarnings("ignore")


def put(folder, *records):
    path = folder / ("dump.json" if len(records) == 1 else "dump.jsonl")
    path.write_text("\n".join(map(json.dumps, records)))
    return path


def turn(query, *ids):
    return {"query": query, "documents": [{"id": id_, "score": 9 - n} for n, id_ in enumerate(ids)]}


@pytest.mark.parametrize("outer", ["session_id", "case_id", "id", "conversation_id"])
@pytest.mark.parametrize("turns", [1, 2])
def test_the_query_of_a_list_is_the_nearest_one(outer, turns, tmp_path):
    """Whatever the number of turns in a record."""
    mug = turn("mug", "c")
    records = [{outer: "s1", "turns": [turn("tea", "a", "b"), mug][:turns]}]
    records += [{outer: "s2", "turns": [mug]}] if turns == 1 else []
    found = ragkpi.read_run(put(tmp_path, *records))
    assert found == {"tea": {"a": 9.0, "b": 8.0}, "mug": {"c": 9.0}}


def test_a_query_id_inside_counts_before_the_id_of_a_case(tmp_path):
    hits = [{"doc_id": "a", "score": 2.0}, {"doc_id": "b", "score": 1.0}]
    case = {"id": "s7", "items": [{"query_id": "1", "hits": hits}]}
    assert ragkpi.read_run(put(tmp_path, {"data": {"cases": [case]}})) == {"1": {"a": 2, "b": 1}}


@pytest.mark.parametrize("queries", [1, 2])
def test_ids_of_an_index_are_no_queries(queries, tmp_path):
    rated = [
        {"query": "red shoes", "ratings": [{"docId": "B07", "rating": "3"}]},
        {"query": "hat", "ratings": [{"docId": "C1", "rating": "1"}]},
    ]
    source = {"id": "u1", "judgmentRatings": rated[:queries]}
    hit = {"_index": "judgment", "_id": "u1", "_score": 1.0, "_source": source}
    found = ragkpi.read_qrels(put(tmp_path, {"took": 3, "hits": {"hits": [hit]}}))
    assert found == dict([("red shoes", {"B07": 3}), ("hat", {"C1": 1})][:queries])


LEVELS = {"3": ["a"], "1": ["b", "c"]}


@pytest.mark.parametrize(
    "record", [{"q1": LEVELS}, {"query_id": "q1", "relevant_documents": LEVELS}]
)
def test_levels_as_keys_are_refused_with_what_to_do(record, tmp_path):
    with pytest.raises(ragkpi.InputError, match=r"the keys of .* are levels .* level with its doc"):
        ragkpi.read_qrels(put(tmp_path, record))


@pytest.mark.parametrize(
    "records",
    [
        [{"q1": "d2", "q2": "d9"}],
        [{"query_id": "q1", "relevant_doc": "d2"}, {"query_id": "q2", "relevant_doc": "d9"}],
        [{"query_id": "q1", "gold": ["d2"]}, {"query_id": "q2", "gold": "d9"}],
    ],
)
def test_one_relevant_document_may_be_a_text(records, tmp_path):
    assert ragkpi.read_qrels(put(tmp_path, *records)) == {"q1": {"d2": 1}, "q2": {"d9": 1}}


def test_one_relevant_document_may_be_a_text_in_python():
    run = {"q1": ["d1", "d2"], "q2": ["d9"]}
    for qrels in ({"q1": "d2", "q2": "d9"}, {"q1": ["d2"], "q2": "d9"}):
        assert ragkpi.evaluate(qrels, run, "recip_rank").mean == {"recip_rank": 0.75}
