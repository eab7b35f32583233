"""Shapes: where records of JSON and rows of tables hold queries, documents, scores and levels.

A shape is what a retrieval or RAG stack writes, as data; `ragkpi.formats.shape_reader` interprets
all of them. To read what another stack writes, add a line here; users write one on the command
line (``--map-run``, ``--map-qrels``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from ragkpi.errors import UsageError

Kind = Literal["run", "qrels"]

_ID = "<query id>|metadata.<query id>"
_ANY_ID = (
    "query.<query or id>|topic.<query or id>|<query id>|metadata.<query id>|"
    "<list>[].<query id>|<query or id>"
)
_ITEM = "@value|<document or id>|<document>.<document or id>|node.<document or id>"
_RUN = "<run>|metadata.<run>"


class Shape(NamedTuple):
    """Where the parts of a run or of qrels stand; `ragkpi.formats.paths` explains the paths.

    Attributes
    ----------
    name
        What ``--run-format`` and ``--qrels-format`` call it.
    kind
        Whether it is a run or qrels.
    written_by
        What writes such files, and what they look like.
    doc, query
        The ids of the document, from an element of the list, and of the query, from the record.
    list
        The list of documents, from the record; empty if each record is one document.
    score, rank, level
        From an element of the list. Without score the rank counts, without rank the order;
        without level each document has level 1.
    scores
        A second list, of the scores of the documents in the first one.
    records
        Where the records stand: empty if each line, or each element of one array, is a record;
        ``$`` for the values of one object; ``$.results`` for what stands there.
    needs
        Keys beside `records`, or of the record, without which the shape is not recognised.
    repeated
        Whether a document that stands in one list again is ``"refused"`` or ``"dropped"``.
    run_id
        The name of the run.
    """

    name: str
    kind: Kind
    written_by: str
    doc: str = _ITEM
    query: str = _ID
    list: str = ""
    score: str = ""
    rank: str = ""
    level: str = ""
    scores: str = ""
    records: str = ""
    needs: tuple[str, ...] = ()
    repeated: Literal["refused", "dropped"] = "refused"
    run_id: str = _RUN


# In the order in which they are tried; the last ones fit most.
_SHAPES = (
    Shape(
        "mteb",
        "run",
        "MTEB predictions: {mteb_model_meta, subset: {split: {query: {document: score}}}}",
        records="$.*.*",
        query="@key",
        list="@value",
        doc="@key",
        score="@value",
        needs=("mteb_model_meta",),
    ),
    Shape(
        "flagembedding",
        "run",
        "FlagEmbedding search results: {search_results: {query: {document: score}}}",
        records="$.search_results",
        query="@key",
        list="@value",
        doc="@key",
        score="@value",
        needs=("search_results",),
    ),
    Shape(
        "rank_llm",
        "run",
        "rank_llm, Castorini: {query: {qid}, candidates: [{docid, score}]}",
        query="query.<query>",
        list="candidates",
        doc="<document>",
        score="<score>",
        rank="<rank>",
    ),
    Shape(
        "elasticsearch",
        "run",
        "Elasticsearch, OpenSearch: {query_id, hits: {hits: [{_id, _score}]}}",
        query="<query>|id",
        list="hits.hits",
        doc="_id",
        score="_score",
    ),
    Shape(
        "flashrag",
        "run",
        "FlashRAG: {id, output: {retrieval_result: [{id, score}]}}",
        query="id",
        list="output.retrieval_result",
        doc="id",
        score="score",
    ),
    Shape(
        "kilt",
        "run",
        "KILT predictions: {id, output: [{provenance: [{wikipedia_id}]}]}",
        query="id",
        list="output[].provenance",
        doc="wikipedia_id",
        score="score",
        repeated="dropped",
    ),
    Shape(
        "langchain",
        "run",
        "LangChain dumps: {query_id, documents: [{kwargs: {id}}]}",
        query="<query>|id",
        list="documents",
        doc="kwargs.id",
        score="kwargs.metadata.score",
    ),
    Shape(
        "llamaindex",
        "run",
        "LlamaIndex: {query_id, source_nodes: [{node: {id_}, score}]}",
        query="<query>|id",
        list="source_nodes",
        doc="node.id_|node.node_id|id_|node_id",
        score="score",
    ),
    Shape(
        "llamaindex-results",
        "run",
        "LlamaIndex retrieval results: {query, expected_ids, retrieved_ids}",
        query=f"{_ID}|@number",
        list="retrieved_ids",
        doc="@value",
        needs=("expected_ids",),
    ),
    Shape(
        "ragas",
        "run",
        "ragas: {user_input, retrieved_context_ids}",
        query=f"{_ID}|@number",
        list="retrieved_context_ids",
        doc="@value",
    ),
    Shape(
        "autorag",
        "run",
        "AutoRAG: {retrieved_ids: […], retrieve_scores: […]}",
        query=f"{_ID}|@number",
        list="retrieved_ids",
        doc="@value",
        scores="retrieve_scores|scores",
    ),
    Shape(
        "trec-rag",
        "run",
        "TREC RAG and AutoJudge answers: {metadata: {topic_id or narrative_id}, references: […]}",
        query="metadata.<query>",
        list="references",
        doc="@value",
    ),
    Shape(
        "pyserini-dpr",
        "run",
        "Pyserini's DPR form: {query: {question, contexts: [{docid, score}]}}",
        records="$",
        query="@key",
        list="contexts",
        doc="docid",
        score="score",
    ),
    Shape(
        "lists",
        "run",
        "Haystack, sentence-transformers, TREC RAG 2024: {query_id, documents: [{id, score}]}",
        query=_ANY_ID,
        list="<list>",
        score="<score>",
        rank="<rank>",
    ),
    Shape(
        "flat",
        "run",
        "a document a row: query_id, doc_id, score or rank",
        query="<query>",
        doc="<document>",
        score="<score>",
        rank="<rank>",
    ),
    Shape(
        "object",
        "run",
        "BEIR, ranx, pytrec_eval: {query: {document: score}}",
        records="$",
        query="@key",
        list="@value",
        doc="@key",
        score="@value",
    ),
    Shape(
        "id-lists",
        "run",
        "{query: [document, …]}, best first",
        records="$",
        query="@key",
        list="@value",
        doc="@value",
    ),
    Shape(
        "rank_eval",
        "qrels",
        "Elasticsearch rank_eval requests: {requests: [{id, ratings: [{_id, rating}]}]}",
        records="$.requests",
        query="id",
        list="ratings",
        doc="_id",
        level="rating",
        needs=("requests",),
    ),
    Shape(
        "embedding-qa",
        "qrels",
        "LlamaIndex embedding QA: {queries, corpus, relevant_docs: {query: [document, …]}}",
        records="$.relevant_docs",
        query="@key",
        list="@value",
        doc="@value",
        needs=("relevant_docs",),
        repeated="dropped",
    ),
    Shape(
        "kilt",
        "qrels",
        "KILT gold: {id, output: [{provenance: [{wikipedia_id}]}]}",
        query="id",
        list="output[].provenance",
        doc="wikipedia_id",
        repeated="dropped",
    ),
    Shape(
        "bright",
        "qrels",
        "BRIGHT examples: {id, gold_ids: […]}",
        query="id",
        list="gold_ids",
        doc="@value",
        repeated="dropped",
    ),
    Shape(
        "lotte",
        "qrels",
        "LoTTE: {qid, answer_pids: […]}",
        query="qid",
        list="answer_pids",
        doc="@value",
        repeated="dropped",
    ),
    Shape(
        "llamaindex-results",
        "qrels",
        "LlamaIndex retrieval results: {query, expected_ids, retrieved_ids}",
        query=f"{_ID}|@number",
        list="expected_ids",
        doc="@value",
        repeated="dropped",
    ),
    Shape(
        "ragas",
        "qrels",
        "ragas: {user_input, reference_context_ids}",
        query=f"{_ID}|@number",
        list="reference_context_ids",
        doc="@value",
        repeated="dropped",
    ),
    Shape(
        "autorag",
        "qrels",
        "AutoRAG: {qid, retrieval_gt: [[document, …], …]}",
        query=f"{_ID}|@number",
        list="retrieval_gt[]|retrieval_gt",
        doc="@value",
        repeated="dropped",
    ),
    Shape(
        "lists",
        "qrels",
        "{query_id, relevant_ids: […]} or judgments: [{doc_id, level}]",
        query=_ANY_ID,
        list="<judged>",
        level="<level>",
        repeated="dropped",
    ),
    Shape(
        "flat",
        "qrels",
        "Hugging Face, UMBRELA, Quepid, BEIR: a judgement a row: query_id, doc_id, level",
        query="<query>",
        doc="<document>",
        level="<level>",
    ),
    Shape(
        "object",
        "qrels",
        "BEIR, ranx, pytrec_eval: {query: {document: level}}; true and false are 1 and 0",
        records="$",
        query="@key",
        list="@value",
        doc="@key",
        level="@value",
    ),
    Shape(
        "id-lists",
        "qrels",
        "{query: [relevant document, …]}",
        records="$",
        query="@key",
        list="@value",
        doc="@value",
        repeated="dropped",
    ),
)

# What BRIGHT's examples say about documents that are not to be ranked.
EXCLUSIONS = Shape(
    "exclusions",
    "qrels",
    "BRIGHT examples: {id, excluded_ids: […]}",
    query="<query or id>",
    list="excluded_ids|excluded",
    doc="@value",
    repeated="dropped",
)

SHAPES: Mapping[Kind, Mapping[str, Shape]] = {
    "run": {shape.name: shape for shape in _SHAPES if shape.kind == "run"},
    "qrels": {shape.name: shape for shape in _SHAPES if shape.kind == "qrels"},
}

_PARTS = {
    "run": ("records", "query", "list", "doc", "score", "scores", "rank"),
    "qrels": ("records", "query", "list", "doc", "level"),
}


def parse_map(text: str, kind: Kind, option: str) -> Shape:
    """Read ``records=$.results, query=id, list=hits.hits, doc=_id, score=_score``.

    Parameters
    ----------
    text
        Parts and their paths, between commas; what is not said is found by its name.
    kind
        Whether a run or qrels are to be read so.
    option
        What messages call it, such as ``--map-run``.

    Raises
    ------
    UsageError
        For a part that there is not, comes twice, or has no path.

    Examples
    --------
    >>> parse_map("query=id, list=hits.hits, doc=_id", "run", "--map-run").list
    'hits.hits'
    """
    paths: dict[str, str] = {}
    for piece in text.split(","):
        part, equals, path = (word.strip() for word in piece.partition("="))
        if part not in _PARTS[kind] or not equals or not path:
            raise UsageError(
                f"{option} {piece.strip() or text!r}: no part and path; expected some of "
                f"{' '.join(f'{name}=…' for name in _PARTS[kind])} between commas"
            )
        if part in paths:
            raise UsageError(f"{option} {text}: {part} twice; expected each part once")
        paths[part] = path
    return mapped(paths, kind)


def mapped(paths: Mapping[str, str], kind: Kind) -> Shape:
    """Return the shape that some paths describe; the rest is found by its name."""
    base = SHAPES[kind]["lists" if "list" in paths else "flat"]
    if "records" in paths and "query" not in paths:
        base = base._replace(query=f"{base.query}|@key")
    unknown = sorted(set(paths) - set(_PARTS[kind]))
    if unknown:
        raise UsageError(
            f"a map has {', '.join(unknown)}; expected {', '.join(_PARTS[kind])} of {kind}"
        )
    # What is named counts: a score that stands there too does not overrule the rank asked for.
    if "rank" in paths and "score" not in paths:
        base = base._replace(score="")
    return base._replace(
        name="map",
        repeated="refused",
        records=paths.get("records", base.records),
        query=paths.get("query", base.query),
        list=paths.get("list", base.list),
        doc=paths.get("doc", base.doc),
        score=paths.get("score", base.score),
        scores=paths.get("scores", base.scores),
        rank=paths.get("rank", base.rank),
        level=paths.get("level", base.level),
    )
