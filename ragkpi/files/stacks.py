"""The stacks and packages whose dumps have no usual names, as data.

`ragkpi.files.dumps` looks for their keys in the first record before it looks at names. To add
a stack, write an entry, and a sample in ``tests/files/test_table_of_stacks.py``.
"""

from __future__ import annotations

from typing import NamedTuple

from ragkpi.files.opening import Kind


class Stack(NamedTuple):
    """A dump of a known stack.

    Attributes
    ----------
    name
        The stack or package, a colon, and its output.
    kind
        ``"run"`` or ``"qrels"``.
    keys
        Paths that identify the stack: the first record has a value under each. A list is safer
        than a key of its elements, which is missing if the first query retrieved nothing.
    map
        The parts that names cannot identify, as in ``--map-run``. In the path to the records, ``*``
        is each key with an object, except `keys`; several such keys are separate rankings.
    """

    name: str
    kind: Kind
    keys: tuple[str, ...]
    map: str


STACKS = (
    Stack(
        "MTEB: predictions of a subset and a split",
        "run",
        ("mteb_model_meta",),
        "records=$.*.*, query=@key, list=@value, doc=@key, score=@value",
    ),
    Stack(
        "usearch: keys and distances of a search",
        "run",
        ("keys", "distances"),
        "list=keys, doc=@value, scores=distances",
    ),
    Stack(
        "LangChain: documents written by dumpd",
        "run",
        ("documents[].kwargs.page_content", "documents[].kwargs.id"),
        "list=documents, doc=kwargs.id",
    ),
    Stack(
        "Phoenix: the documents of spans",
        "run",
        ("context.span_id", "document_position"),
        "query=context.span_id",
    ),
    Stack(
        "Elasticsearch: the response of _rank_eval",
        "run",
        ("metric_score", "details"),
        "records=$.details, query=@key, list=hits, doc=hit._id, score=hit._score",
    ),
    Stack(
        "BioASQ: questions with their documents",
        "qrels",
        ("questions[].body", "questions[].documents"),
        "records=$.questions, query=id, list=documents, doc=@value",
    ),
    Stack(
        "FinanceBench: questions with their evidence",
        "qrels",
        ("financebench_id", "evidence[].doc_name"),
        "query=financebench_id, list=evidence, doc=doc_name",
    ),
    Stack(
        "TREC: numbered topics with qrels",
        "qrels",
        ("topics[].number", "topics[].qrels"),
        "records=$.topics, query=number, list=qrels, doc=docno",
    ),
    Stack(
        "DynamoDB: an export of judgements",
        "qrels",
        ("Item.query_id.S", "Item.doc_id.S", "Item.relevance.N"),
        "query=Item.query_id.S, doc=Item.doc_id.S, level=Item.relevance.N",
    ),
)
