"""Structures that packages of retrieval really write, small: read, or by the printed command."""

import json
import shlex

import pytest

GOLD = {"q1": ["a", "b"], "q2": ["c"]}
RUN = {"q1": {"x": 0.9, "a": 0.8, "b": 0.1}, "q2": {"c": 0.7, "y": 0.6, "z": 0.5}}
RUN |= {"q3": {"p": 0.6, "q": 0.5, "r": 0.4}}


def lines(records):
    return "".join(f"{json.dumps(record)}\n" for record in records)


def each(make):
    """Make a list for each query from ids and scores, the best first."""
    return {query: [make(*pair) for pair in scores.items()] for query, scores in RUN.items()}


READ = {
    "bm25s: lists of all queries side by side": json.dumps(
        {
            "query_ids": list(RUN),
            "documents": [list(scores) for scores in RUN.values()],
            "scores": [list(scores.values()) for scores in RUN.values()],
        }
    ),
    "OpenAI's vector stores": lines(
        {"query_id": query, "data": [{**hit, "filename": "a.md"} for hit in hits]}
        for query, hits in each(lambda id_, score: {"file_id": id_, "score": score}).items()
    ),
    "OpenAI's responses": lines(
        {
            "id": "resp_1",
            "metadata": {"query_id": query},
            "output": [{"type": "file_search_call", "id": "fs_1", "results": hits}],
        }
        for query, hits in each(lambda id_, score: {"file_id": id_, "score": score}).items()
    ),
}


def exported(queries):
    """Spans as the collector of OpenTelemetry writes them, a batch an object."""
    spans = []
    for query in queries:
        attributes = [{"key": "query_id", "value": {"stringValue": query}}]
        for place, (id_, score) in enumerate(RUN[query].items()):
            name = f"retrieval.documents.{place}.document"
            attributes.append({"key": f"{name}.id", "value": {"stringValue": id_}})
            attributes.append({"key": f"{name}.score", "value": {"doubleValue": score}})
        spans.append({"name": "retrieve", "spanId": "eb9aec7633434449", "attributes": attributes})
    host = {"attributes": [{"key": "host.id", "value": {"stringValue": "eb9aec76"}}]}
    return {"resourceSpans": [{"resource": host, "scopeSpans": [{"scope": {}, "spans": spans}]}]}


READ |= {
    "OpenTelemetry: one batch": json.dumps(exported(RUN)),
    "OpenTelemetry: a batch a line": lines([exported(["q1", "q2"]), exported(["q3"])]),
}
BY_COMMAND = {
    "Milvus: a cosine similarity is called distance": json.dumps(
        each(lambda id_, score: {"id": id_, "distance": score, "entity": {"text": "a text"}})
    ),
}


ROWS = [(query, id_, score) for query, scores in RUN.items() for id_, score in scores.items()]
BY_COMMAND |= {
    "values alone, between commas": "".join(f"{q},{d},{s}\n" for q, d, s in ROWS),
    "values alone, between bars": "".join(f"{q}|{d}|{s}\n" for q, d, s in ROWS),
    "ids alone, the best first": "".join(f"{q},{d}\n" for q, d, _ in ROWS),
    "SQLite's rank is bm25": "query_id,doc_id,rank\n"
    + "".join(f"{q},{d},{-s}\n" for q, d, s in ROWS),
}
PLACES = {
    "FAISS": json.dumps({"D": [[0.9, 0.8], [0.7, 0.6]], "I": [[2, 0], [1, 3]]}),
    "citations": lines({"qid": query, "answer": "Yes.", "cited": [0, 1, 2]} for query in RUN),
}


def values(ragkpi, folder, *words):
    outcome = ragkpi("eval", "-q", "-m", "map", "-m", "ndcg", *words, folder=folder)
    return outcome, outcome.out


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "gold").write_text(json.dumps(GOLD))
    (tmp_path / "twin").write_text(json.dumps(RUN))
    return tmp_path


@pytest.mark.parametrize("name", READ)
def test_read_as_the_twin(name, ragkpi, folder):
    (folder / "dump").write_text(READ[name])
    outcome, found = values(ragkpi, folder, "gold", "dump")
    assert (outcome.status, found) == (0, values(ragkpi, folder, "gold", "twin")[1])


@pytest.mark.parametrize("name", BY_COMMAND)
def test_the_first_command_reads_as_the_twin(name, ragkpi, folder):
    (folder / "dump").write_text(BY_COMMAND[name])
    outcome, found = values(ragkpi, folder, "gold", "dump")
    assert (outcome.status, found) == (2, b"")
    command = shlex.split(outcome.err.decode().splitlines()[1], comments=True)
    again = ragkpi(*command[1:], folder=folder)
    assert again.out == values(ragkpi, folder, "gold", "twin")[1]


@pytest.mark.parametrize("name", PLACES)
def test_places_in_another_list_are_no_ids(name, ragkpi, folder):
    (folder / "dump").write_text(PLACES[name])
    outcome, found = values(ragkpi, folder, "gold", "dump")
    assert (outcome.status, found) == (2, b"")
    assert b"  ragkpi eval" not in outcome.err


def test_distances_beside_ids_that_fall_are_refused(ragkpi, folder):
    records = [
        {"qid": query, "ids": list(scores), "distances": list(scores.values())}
        for query, scores in RUN.items()
    ]
    (folder / "dump").write_text(lines(records))
    outcome, found = values(ragkpi, folder, "gold", "dump")
    assert (outcome.status, found) == (2, b"")
    assert b"distances falls down every list, as a similarity does" in outcome.err
