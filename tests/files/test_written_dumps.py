"""Structures that packages of retrieval really write, small: read, or refused with their keys."""

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


READ |= {
    "MongoDB's numbers": lines(
        {"query_id": query, "hits": hits}
        for query, hits in each(
            lambda id_, score: {"doc_id": id_, "score": {"$numberDouble": str(score)}}
        ).items()
    ),
}
READ |= {
    "ids and scores in a list of an unknown name": lines(
        {"query_id": query, "result": hits, "status": "ok"}
        for query, hits in each(lambda id_, score: {"id": id_, "score": score}).items()
    ),
    "tantivy: every field is a list": lines(
        {"query_id": query, "hits": hits}
        for query, hits in each(
            lambda id_, score: {"score": score, "id": [id_], "title": ["A title"]}
        ).items()
    ),
    "a question with its id": lines(
        {"question": {"question": "why?", "id": query}, "ctxs": hits}
        for query, hits in each(lambda id_, score: {"docid": id_, "score": score}).items()
    ),
}
READ |= {
    "columns of ids and of scores for each rank": "query_id,top1,score1,top2,score2,top3,score3\n"
    + "".join(
        f"{query},{','.join(f'{id_},{score}' for id_, score in scores.items())}\n"
        for query, scores in RUN.items()
    ),
    "a column for each rank": "query_id,doc_1,doc_2,doc_3,doc_4\n"
    + "".join(f"{query},{','.join(scores)},\n" for query, scores in RUN.items()),
}
READ |= {
    "BigQuery's vector search: the only id is under a name of its own": lines(
        {"query": {"query_id": query}, "base": {"doc_id": id_}, "distance": 1 - score}
        for query, scores in RUN.items()
        for id_, score in scores.items()
    ),
    "ClickHouse: names of columns in meta": json.dumps(
        {
            "meta": [{"name": name} for name in ("query_id", "doc_id", "score")],
            "data": [[query, *pair] for query in RUN for pair in RUN[query].items()],
        }
    ),
}
REFUSED = {
    "Milvus: a cosine similarity is called distance": json.dumps(
        each(lambda id_, score: {"id": id_, "distance": score, "entity": {"text": "a text"}})
    ),
}


POINT = "3f1c2a9e-0b7d-4c55-9d3e-{:012d}".format  # an id that a database draws
ROWS = [(query, id_, score) for query, scores in RUN.items() for id_, score in scores.items()]
REFUSED |= {
    "values alone, between commas": "".join(f"{q},{d},{s}\n" for q, d, s in ROWS),
    "values alone, between bars": "".join(f"{q}|{d}|{s}\n" for q, d, s in ROWS),
    "ids alone, the best first": "".join(f"{q},{d}\n" for q, d, _ in ROWS),
    "SQLite's rank is bm25": "query_id,doc_id,rank\n"
    + "".join(f"{q},{d},{-s}\n" for q, d, s in ROWS),
}
REFUSED |= {
    "an object of documents, each an object": json.dumps(
        {
            query: {id_: {"score": score, "text": "a text"} for id_, score in scores.items()}
            for query, scores in RUN.items()
        }
    ),
    "a column for each rank, numbered alone": "query_id,1,2,3\n"
    + "".join(f"{query},{','.join(scores)}\n" for query, scores in RUN.items()),
    "pairs of NumPy in a cell": "query_id,pairs\n"
    + "".join(
        f'{query},"[{", ".join(f"({id_!r}, np.float64({score}))" for id_, score in of.items())}]"\n'
        for query, of in RUN.items()
    ),
    "an object in a cell": "query_id,found\n"
    + "".join(f'{query},"{scores}"\n' for query, scores in RUN.items()),
    "DuckDB's map": lines({"query_id": query, "m": scores} for query, scores in RUN.items()),
    "a query and its ids a line": lines([query, list(scores)] for query, scores in RUN.items()),
    "a document a line, without names": lines(list(row) for row in ROWS),
    "objects of ranks": json.dumps(
        {
            query: {id_: place for place, id_ in enumerate(scores, start=1)}
            for query, scores in RUN.items()
        }
    ),
    "a reranker's score beside the first one": lines(
        {"query_id": query, "value": hits}
        for query, hits in each(
            lambda id_, score: {
                "id": id_,
                "@search.score": ord(id_) / 7,
                "@search.rerankerScore": score,
            }
        ).items()
    ),
    "a configuration beside the run": json.dumps(
        {"config": {"k": 3}, "run": {query: list(scores) for query, scores in RUN.items()}}
    ),
    "an id of the case beside the question": lines(
        {"test_id": query, "query": f"why {query}?", "expected": ["a"], "actual": list(scores)}
        for query, scores in RUN.items()
    ),
    "Vespa's ids": lines(
        {"query_id": query, "root": {"id": "toplevel", "relevance": 1.0, "children": hits}}
        for query, hits in each(
            lambda id_, score: {"id": f"id:docs:doc::{id_}", "relevance": score}
        ).items()
    ),
    "Redis: an id that was drawn, behind a prefix": lines(
        {"query_id": query, "docs": hits}
        for query, hits in each(
            lambda id_, score: {
                "id": f"docs:{POINT(ord(id_))}",
                "vector_distance": str(1 - score),
                "doc_id": id_,
            }
        ).items()
    ),
}
REFUSED |= {
    "Qdrant's ids beside the payload's": lines(
        {"query_id": query, "points": hits}
        for query, hits in each(
            lambda id_, score: {"id": POINT(ord(id_)), "score": score, "payload": {"source": id_}}
        ).items()
    ),
    "Supabase: a counter beside the source, a document a row": lines(
        {"query_id": query, "id": ord(id_), "metadata": {"source": id_}, "similarity": score}
        for query, scores in RUN.items()
        for id_, score in scores.items()
    ),
    "LangChain in Chroma": lines(
        {
            "query_id": query,
            "ids": [[POINT(ord(id_)) for id_ in scores]],
            "metadatas": [[{"source": id_} for id_ in scores]],
            "distances": [[1 - score for score in scores.values()]],
        }
        for query, scores in RUN.items()
    ),
    "Weaviate": lines(
        {"query_id": query, "objects": hits}
        for query, hits in each(
            lambda id_, score: {
                "uuid": POINT(ord(id_)),
                "properties": {"url": id_},
                "certainty": score,
            }
        ).items()
    ),
}
# More documents of the first query than are looked at to recognise a list.
LONG = [
    {"query_id": query, "doc_id": f"{query}-{place}" if place else first, "score": 20 - place}
    for query, first in (("q1", "a"), ("q2", "c"))
    for place in range(12)
]
LONG_RUN = {
    of: {row["doc_id"]: row["score"] for row in LONG if row["query_id"] == of} for of in GOLD
}
LONG_DUMPS = {
    "under a key": json.dumps({"config": {"k": 12}, "results": LONG}),
    "with the schema of pandas": json.dumps({"schema": {"fields": []}, "data": LONG}),
    "a page a line": lines({"results": page} for page in (LONG, [{**LONG[0], "query_id": "q3"}])),
}
GROUPS = {query: (list(scores), list(scores.values())) for query, scores in RUN.items()}
REFUSED |= {
    "Solr: a response a line": lines(
        {
            "responseHeader": {"status": 0, "params": {"q": query, "fl": "id,score"}},
            "response": {"numFound": len(hits), "docs": hits},
        }
        for query, hits in each(lambda id_, score: {"id": id_, "score": score}).items()
    ),
    "Milvus: a list of lists": lines(
        {"query_id": query, "data": [hits]}
        for query, hits in each(lambda id_, score: {"id": id_, "distance": score}).items()
    ),
    "Vertex: the id of the query, and a similarity as distance": lines(
        {"query_id": query, "nearestNeighbors": [{"id": "0", "neighbors": hits}]}
        for query, hits in each(
            lambda id_, score: {"datapoint": {"datapointId": id_}, "distance": score}
        ).items()
    ),
}
READ |= {
    "pandas: groups as records": json.dumps(
        [{"query_id": of, "doc_id": ids, "score": scores} for of, (ids, scores) in GROUPS.items()]
    ),
    "pandas: groups in cells": "query_id,doc_id,score\n"
    + "".join(f'{query},"{ids}","{scores}"\n' for query, (ids, scores) in GROUPS.items()),
}
READ |= {
    name: REFUSED.pop(name)
    for name in (
        "a configuration beside the run",
        "Redis: an id that was drawn, behind a prefix",
        "Weaviate",
    )
}


def swapped(of):
    first, second, *rest = of
    return [second, first, *rest]


READ |= {
    "scores beside lists of objects": json.dumps(
        {
            "query_ids": list(RUN),
            "documents": [[{"id": id_} for id_ in swapped(scores)] for scores in RUN.values()],
            "scores": [swapped(scores.values()) for scores in RUN.values()],
        }
    ),
}
REFUSED |= {
    "FAISS": json.dumps({"D": [[0.9, 0.8], [0.7, 0.6]], "I": [[2, 0], [1, 3]]}),
    "places alone": json.dumps([[2, 0], [1, 3]]),
    "a reranker's places": lines(
        {"query_id": of, "results": [{"index": 2, "relevance_score": 0.9}]} for of in RUN
    ),
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


REFUSED |= {
    "pandas: groups by the index": json.dumps(
        {
            "doc_id": {query: ids for query, (ids, _) in GROUPS.items()},
            "score": {query: scores for query, (_, scores) in GROUPS.items()},
        }
    ),
}
REFUSED |= {
    "scores beside objects that have their own": json.dumps(
        {
            "query_ids": ["q1"],
            "documents": [[{"id": "a", "score": 1}, {"id": "b", "score": 2}]],
            "scores": [[0.2, 0.1]],
        }
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_name_settles_is_refused_with_a_map(name, ragkpi, folder):
    (folder / "dump").write_text(REFUSED[name])
    outcome, found = values(ragkpi, folder, "gold", "dump")
    assert (outcome.status, found) == (2, b"")
    assert b"--map-run" in outcome.err or b" dump gold" in outcome.err  # two columns may be qrels


@pytest.mark.parametrize("name", LONG_DUMPS)
def test_a_long_list_of_several_queries_is_rows(name, ragkpi, folder):
    (folder / "dump").write_text(LONG_DUMPS[name])
    (folder / "twin").write_text(json.dumps(LONG_RUN))
    outcome, found = values(ragkpi, folder, "gold", "dump")
    assert (outcome.status, found) == (0, values(ragkpi, folder, "gold", "twin")[1])


def test_lists_of_rows_that_name_their_queries_are_rows(ragkpi, folder):
    (folder / "dump").write_text(json.dumps([{"results": LONG[:12]}, {"results": LONG[12:]}]))
    (folder / "twin").write_text(json.dumps(LONG_RUN))
    outcome, found = values(ragkpi, folder, "gold", "dump")
    assert (outcome.status, found) == (0, values(ragkpi, folder, "gold", "twin")[1])


def test_groups_of_pandas_in_parquet(ragkpi, folder):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [
        {"query_id": of, "doc_id": ids, "score": scores} for of, (ids, scores) in GROUPS.items()
    ]
    parquet.write_table(arrow.Table.from_pylist(rows), folder / "dump.parquet")
    outcome, found = values(ragkpi, folder, "gold", "dump.parquet")
    assert (outcome.status, found) == (0, values(ragkpi, folder, "gold", "twin")[1])


def test_an_id_beside_expected_ids_is_the_query(ragkpi, folder):
    rows = [{"id": of, "question": f"why {of}?", "expected_ids": GOLD[of]} for of in ("q2", "q1")]
    (folder / "rows").write_text(lines(rows))
    assert values(ragkpi, folder, "rows", "twin")[1] == values(ragkpi, folder, "gold", "twin")[1]


def test_pairs_of_a_question_and_a_document_are_relevant(ragkpi, folder):
    cells = "".join(f"why {query}?,{id_}\n" for query in GOLD for id_ in GOLD[query])
    (folder / "pairs").write_text(f"question,doc_id\n{cells}")
    (folder / "texts").write_text("".join(f"{query}\twhy {query}?\n" for query in RUN))
    found = values(ragkpi, folder, "--queries", "texts", "pairs", "twin")[1]
    assert found == values(ragkpi, folder, "gold", "twin")[1]


def test_a_map_of_two_columns_names_pairs(ragkpi, folder):
    cells = "".join(f"{query},{id_}\n" for query in GOLD for id_ in GOLD[query])
    (folder / "pairs").write_text(f"question,passage\n{cells}")
    map_ = ("--map-qrels", "query=question, doc=passage")
    found = values(ragkpi, folder, *map_, "pairs", "twin")[1]
    assert found == values(ragkpi, folder, "gold", "twin")[1]


def test_a_column_says_whether_documents_are_relevant(ragkpi, folder):
    judged = [(of, id_, id_ in GOLD.get(of, ())) for of in GOLD for id_ in RUN[of]]
    for name in ("relevant", "is_relevant"):
        cells = "".join(f"{query},{id_},{relevant}\n" for query, id_, relevant in judged)
        (folder / "rows").write_text(f"query_id,doc_id,{name}\n{cells}")
        found = values(ragkpi, folder, "rows", "twin")[1]
        assert found == values(ragkpi, folder, "gold", "twin")[1]


def test_distances_beside_ids_that_fall_are_refused(ragkpi, folder):
    records = [
        {"qid": query, "ids": list(scores), "distances": list(scores.values())}
        for query, scores in RUN.items()
    ]
    (folder / "dump").write_text(lines(records))
    outcome, found = values(ragkpi, folder, "gold", "dump")
    assert (outcome.status, found) == (2, b"")
    assert b"distances is descending in every list, like a similarity" in outcome.err


def test_a_source_beside_an_id_is_asked_about_with_a_command_for_each(ragkpi, folder):
    hits = [{"id": POINT(n), "payload": {"source": of}, "score": -n} for n, of in enumerate("ab")]
    (folder / "dump").write_text(lines([{"query_id": "q1", "points": hits}]))
    outcome, found = values(ragkpi, folder, "gold", "dump")
    assert (outcome.status, found) == (2, b"")
    first, second = outcome.err.decode().splitlines()[1:]
    assert "doc=payload.source" in first
    assert "doc=id" in second
    again = ragkpi(*shlex.split(first, comments=True)[1:], folder=folder)
    assert b"map                   \tq1\t1.0000" in again.out


SENTENCES = {
    "ids of pandas": (
        lines({"query_id": query, "doc_id": 1.0, "score": 2.5} for query in RUN),
        "ids are numbers with a fraction, such as 1.0",
    ),
    "SQLite": ("SQLite format 3\0\x10", "sqlite3 -csv"),
    "svmlight": ("1 qid:1 1:0.5 2:0.3\n", "features of documents (svmlight)"),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_what_cannot_be_read_is_named(name, ragkpi, folder):
    text, sentence = SENTENCES[name]
    (folder / "dump").write_text(text)
    outcome, found = values(ragkpi, folder, "gold", "dump")
    assert (outcome.status, found) == (2, b"")
    assert sentence in outcome.err.decode()
    assert outcome.err.count(b"\n") == 1
