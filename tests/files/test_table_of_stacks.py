"""Each stack of the table is told by its keys: a sample of each, and what it means by hand."""

import json

import pytest

import ragkpi
from ragkpi.files.stacks import STACKS

pytestmark = pytest.mark.filterwarnings("ignore")

# The name of a stack, as far as its colon: a record as it writes it, and what it means.
SAMPLES = {
    "MTEB": (
        {"mteb_model_meta": {"revision": "a"}, "default": {"test": {"q": {"a": 0.5}}}},
        {"q": {"a": 0.5}},
    ),
    "usearch": (
        {"query_id": "q", "keys": [7, 9], "distances": [0.2, 0.5]},
        {"q": {"7": -0.2, "9": -0.5}},
    ),
    "LangChain": (
        {
            "query_id": "q",
            "documents": [
                {"kwargs": {"id": "a", "page_content": "x", "metadata": {"source": "x.pdf"}}},
                {"kwargs": {"id": "b", "page_content": "y", "metadata": {"source": "x.pdf"}}},
            ],
        },
        {"q": {"a": -1.0, "b": -2.0}},
    ),
    "Phoenix": (
        {
            "context.span_id": "s1",
            "input": "why?",
            "document_position": 0,
            "document_score": 0.5,
            "metadata": {"doc_id": "a"},
        },
        {"s1": {"a": 0.5}},
    ),
    "Elasticsearch": (
        {
            "metric_score": 0.4,
            "details": {"q1": {"metric_score": 0.5, "hits": [{"hit": {"_id": "a", "_score": 2}}]}},
        },
        {"q1": {"a": 2.0}},
    ),
    "sentence-transformers": (
        {"queries": {"q": "why?"}, "corpus": {"a": "x"}, "relevant_docs": {"q": ["a"]}},
        {"q": {"a": 1}},
    ),
    "BioASQ": (
        {"questions": [{"id": "7", "body": "why?", "documents": ["http://a"]}]},
        {"7": {"http://a": 1}},
    ),
    "FinanceBench": (
        {"financebench_id": "f1", "question": "why?", "evidence": [{"doc_name": "A_2010"}]},
        {"f1": {"A_2010": 1}},
    ),
    "TREC": (
        {"topics": [{"number": 301, "title": "why", "qrels": [{"docno": "a", "rel": 2}]}]},
        {"301": {"a": 2}},
    ),
    "DynamoDB": (
        {"Item": {"query_id": {"S": "q"}, "doc_id": {"S": "a"}, "relevance": {"N": "2"}}},
        {"q": {"a": 2}},
    ),
}


@pytest.mark.parametrize("stack", STACKS, ids=[stack.name for stack in STACKS])
def test_a_sample_means_what_it_says(stack, tmp_path):
    record, expected = SAMPLES[stack.name.partition(":")[0]]
    (tmp_path / "dump.json").write_text(json.dumps(record))
    read = ragkpi.read_run if stack.kind == "run" else ragkpi.read_qrels
    assert read(tmp_path / "dump.json") == expected
