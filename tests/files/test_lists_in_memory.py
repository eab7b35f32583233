"""{query: [document, …]} in Python: ids, pairs, and documents as retrievers return them."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import ragkpi
from ragkpi.errors import InputError, RagkpiWarning, UsageError
from ragkpi.files.in_memory import qrels_columns, run_blocks

GOLD = {"q1": ["b"], "q2": ["a", "b"]}


@dataclass
class LangChain:
    """A document of LangChain: the id may be missing."""

    page_content: str
    id: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    type: str = "Document"


@dataclass
class TextNode:
    id_: str
    text: str = "a text"
    metadata: dict[str, Any] = field(default_factory=dict)
    embedding: list[float] = field(default_factory=lambda: [0.5] * 8)


@dataclass
class LlamaIndex:
    """A node of LlamaIndex with its score."""

    node: TextNode
    score: float | None = None


@dataclass
class Haystack:
    id: str
    content: str = "a text"
    meta: dict[str, Any] = field(default_factory=dict)
    score: float | None = None


def ranked(run):
    """Return {query: [documents, best first]} as ragkpi understands a run."""
    rankings = {}
    for block in run_blocks(run):
        for query, start, end in zip(block.query, block.starts, block.starts[1:], strict=False):
            rows = sorted(range(start, end), key=lambda row: -block.score[row])
            rankings[query.decode()] = [block.document[row].decode() for row in rows]
    return rankings


@pytest.mark.parametrize(
    "documents",
    [
        ["x", "b", "a"],
        ("x", "b", "a"),
        [b"x", b"b", b"a"],
        [("b", 0.5), ("x", 0.7), ("a", 0.1)],
        [{"id": "x", "score": 3}, {"id": "a", "score": 1}, {"id": "b", "score": 2}],
        [LangChain("text of x", "x"), LangChain("text of b", "b"), LangChain("text of a", "a")],
        [
            (LangChain("text of x", "x"), 0.9),
            (LangChain("b", "b"), 0.4),
            (LangChain("a", "a"), 0.1),
        ],
        [LangChain("t", metadata={"source": name}) for name in "xba"],
        [
            LlamaIndex(TextNode("x"), 0.9),
            LlamaIndex(TextNode("b"), 0.8),
            LlamaIndex(TextNode("a"), 0),
        ],
        [LlamaIndex(TextNode("x")), LlamaIndex(TextNode("b")), LlamaIndex(TextNode("a"))],
        [Haystack("a", score=0.1), Haystack("x", score=0.9), Haystack("b", score=0.3)],
        {
            "documents": [
                Haystack("x", score=0.9),
                Haystack("b", score=0.3),
                Haystack("a", score=0.1),
            ]
        },
    ],
    ids=lambda documents: type(documents[0] if isinstance(documents, list) else documents).__name__,
)
def test_documents_as_they_come(documents):
    """x is not relevant, b is: the reciprocal rank is 1/2."""
    assert ranked({"q1": documents}) == {"q1": ["x", "b", "a"]}
    assert ragkpi.evaluate({"q1": ["b"]}, {"q1": documents}, "recip_rank").mean == {
        "recip_rank": 0.5
    }


@pytest.mark.parametrize("gold", [GOLD, {q: set(of) for q, of in GOLD.items()}, {"q1": ["b", "b"]}])
def test_each_document_of_a_list_of_gold_is_relevant_once(gold):
    rows = {(q, d, level) for q, d, level in qrels_columns(gold).judgements()}
    expected = {(q.encode(), d.encode(), 1) for q, of in gold.items() for d in of}
    assert rows == expected
    assert len(qrels_columns(gold).level) == len(expected)


def test_pairs_of_gold_have_levels():
    assert list(qrels_columns({"q": [("a", 2), ("b", 0)]}).judgements()) == [
        (b"q", b"a", 2),
        (b"q", b"b", 0),
    ]


def test_an_empty_list_retrieved_nothing():
    result = ragkpi.evaluate(GOLD, {"q1": ["b"], "q2": []}, "recip_rank")
    assert result.mean == {"recip_rank": 0.5}


def test_several_runs_of_lists():
    runs = {"good": {"q1": ["b"], "q2": ["a"]}, "bad": {"q1": ["x"], "q2": ["a"]}}
    for given in (runs, list(runs.values())):
        means = ragkpi.evaluate(GOLD, given, "P.1").mean.values()
        assert [mean["P_1"] for mean in means] == [1.0, 0.5]


def test_a_map_chooses_the_id():
    documents = [
        LangChain("t", "uuid-1", {"source": "x"}),
        LangChain("t", "uuid-2", {"source": "b"}),
    ]
    by_source = ragkpi.evaluate(
        GOLD, {"q1": documents, "q2": documents}, "recip_rank", map_run="doc=metadata.source"
    )
    assert by_source.mean == {"recip_rank": 0.5}


def test_chunks_of_one_source_are_folded_where_a_user_says_so():
    chunks = [LangChain("t", metadata={"source": name}) for name in ("x", "b", "x")]
    with pytest.raises(ragkpi.DataError, match=r'or max_passage="#" to keep the best of each'):
        ragkpi.evaluate(GOLD, {"q1": chunks}, "recip_rank")
    with pytest.warns(RagkpiWarning):
        folded = ragkpi.evaluate({"q1": ["b"]}, {"q1": chunks}, "recip_rank", max_passage="#")
    assert folded.mean == {"recip_rank": 0.5}


@pytest.mark.parametrize(
    "documents",
    [
        ["a text of several words", "and another one of them"],
        ["a", None],
        [LangChain("text alone"), LangChain("another")],
        [{"title": "a"}],
        [Haystack("a", score=0.5), Haystack("b")],
        [("a", float("nan")), ("b", 0.5)],
        [object()],
    ],
)
def test_what_has_no_id_or_order_is_refused(documents):
    with pytest.raises(InputError):
        run_blocks({"q1": documents})


def test_a_list_beside_an_object_is_refused():
    with pytest.raises((InputError, UsageError)):
        run_blocks({"q1": {"a": 0.5}, "q2": ["a"]})


def test_scores_that_rise_down_the_lists_are_not_read_in_silence():
    """Distances, as some vector stores return them under the name of a score."""
    run = {query: [("a", 0.1), ("b", 0.2), ("c", 0.3)] for query in ("q1", "q2", "q3", "q4")}
    gold = {query: ["a"] for query in run}
    rows = [(query, *pair) for query, pairs in run.items() for pair in pairs]
    for given, name in ((run, "score"), (rows, "score")):
        with pytest.raises(ragkpi.InputError, match=f"or map_run= ?.score={name}"):
            ragkpi.evaluate(gold, given, "recip_rank")
        read = ragkpi.evaluate(gold, given, "recip_rank", score_order="distance")
        assert read.mean == {"recip_rank": 1.0}
    read = ragkpi.evaluate(gold, run, "recip_rank", map_run="distance=score")
    assert read.mean == {"recip_rank": 1.0}
    with pytest.warns(RagkpiWarning, match="distances"):  # a mapping's order says nothing
        ragkpi.evaluate(gold, {query: dict(pairs) for query, pairs in run.items()}, "recip_rank")


def test_rows_that_hold_lists_are_read_as_records_of_a_file():
    rows = [
        {"query_id": "q1", "hits": [{"id": "x", "score": 0.9}, {"id": "b", "score": 0.4}]},
        {"query_id": "q2", "hits": [{"id": "a", "score": 0.9}]},
    ]
    assert ragkpi.evaluate(GOLD, rows, "recip_rank").mean == {"recip_rank": 0.75}


@pytest.mark.parametrize("name", ["rank", "score", "distance"])
def test_rows_are_ordered_by_what_names_say(name):
    """b comes before x by each of the numbers."""
    numbers = (0.9, 0.1) if name == "score" else (1, 2)
    rows = [
        {"qid": "q1", "docid": document, name: number}
        for document, number in zip("bx", numbers, strict=True)
    ]
    assert ragkpi.evaluate({"q1": ["b"]}, rows[::-1], "recip_rank").mean == {"recip_rank": 1.0}


def test_distances_rank_the_smallest_first_and_may_not_fall():
    hits = [{"id": id_, "distance": place / 8} for place, id_ in enumerate("bacd")]
    gold = {query: ["b"] for query in ("q1", "q2", "q3")}
    found = ragkpi.evaluate(gold, dict.fromkeys(gold, hits), ["recip_rank"])
    assert found.mean == {"recip_rank": 1.0}
    with pytest.raises(InputError, match="distance is descending "):
        ragkpi.evaluate(gold, dict.fromkeys(gold, hits[::-1]), ["recip_rank"])


def test_numbers_and_arrays_of_numpy():
    assert ranked({"q": [("a", np.float32(0.5)), ("b", np.float64(0.75))]}) == {"q": ["b", "a"]}
    assert ranked({"q": np.array(["b", "a"])}) == {"q": ["b", "a"]}


def test_lists_of_lists_as_chroma_returns_them():
    found = {"ids": [["b", "a"]], "documents": [["a text", "more text"]], "distances": [[0.1, 0.3]]}
    assert ragkpi.evaluate({"q": ["b"]}, {"q": found}, ["recip_rank"]).mean == {"recip_rank": 1.0}


def test_groups_and_a_named_index_of_pandas():
    pandas = pytest.importorskip("pandas")
    rows = [("q1", "b", 0.75), ("q1", "a", 0.5), ("q2", "a", 0.25)]
    frame = pandas.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    expected = {"q1": ["b", "a"], "q2": ["a"]}
    for index in ("query_id", ["query_id", "doc_id"]):
        assert ranked(frame.set_index(index)) == expected
    groups = frame.groupby("query_id").agg(list)
    for of in (groups, groups.reset_index()):
        assert ranked(of) == expected


def test_a_series_is_no_ranking():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(UsageError, match="maps 'q' to Series"):
        ranked({"q": pandas.Series({"a": 0.5})})
