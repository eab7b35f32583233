"""Lists of the names that files use for queries, documents, scores and other columns and keys.

Names are compared in snake case: ``queryId``, ``Query-ID`` and ``query id`` are ``query_id``, and
``_id`` is ``id``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Literal

from ragkpi.wording import shown

ScoreKind = Literal["similarity", "distance"]
"""Whether large or small scores rank first."""


# The parts of a map for a number: its name decides, the largest is best, the smallest is best.
SCORE_PARTS: Mapping[str, str] = {"named": "score", "higher": "similarity", "lower": "distance"}
ORDER_PARTS = {*SCORE_PARTS.values(), "scores", "rank"}  # parts of a map that rank documents


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# `find` returns the earliest match in a list, `rivals` all matches. Next to `qid`, `query` is the
# text of the query.
QUERY_ID = _words(
    "qid query_id topic_id narrative_id question_id q_id request_id query_ids qids queryid"
)
# Texts, or ids in some files.
QUERY_TEXT = _words(
    "topic query question user_input search_query query_text question_text user_query "
    "input_value input_query main_input input prompt queries"
)
# Ids of test cases, each with one query.
CASE_ID = _words("id test_id case_id test_case_id example_id sample_id task_id")
QUERY = (*QUERY_ID, *QUERY_TEXT[:2])
DOCUMENT = _words(
    "docno doc_id docid doc_no corpus_id document_id passage_id segment_id chunk_id "
    "node_id wikipedia_id pid did doc_path doc_uri doc_url cord_id file_id doc document"
)
# Words in the names of ids that users choose, next to an id of a database.
ID_WORDS = frozenset(_words("id uuid guid oid pk key slug uri url"))
# Names of ids that a database can generate, like `id`.
OF_DATABASES = ("point_id", "datapoint_id", "object_id")
SCORE = _words(
    "score similarity relevance_score sim search_score similarity_score "
    "cosine_similarity cosine_sim cosine cosine_score rerank_score reranker_score "
    "reranking_score search_reranker_score reranked_score cross_encoder_score rrf_score "
    "rrf hybrid_score fusion_score fused_score combined_score final_score match_score "
    "retrieval_score retriever_score document_score doc_score rank_score ts_rank ts_rank_cd "
    "certainty confidence_score probability prob logit logprob log_prob "
    "bm25 bm25_score tfidf vector_score dense_score sparse_score lexical_score keyword_score "
    "semantic_score embedding_score colbert_score splade_score dot_product inner_product"
)
# Small numbers rank first.
DISTANCE = _words(
    "distance dist cosine_distance cosine_dist vector_distance l2_distance "
    "l2_dist l2 l1 euclidean euclidean_distance hamming_distance vec_distance"
)
RANK = ("rank", "position")
LEVEL = _words(
    "relevance rel level label grade gain rating judgment judgement relevance_label relevant "
    "is_relevant relevance_level relevance_grade query_relevance_label"
)
LEVEL_OR_SCORE = (*LEVEL, "score")  # as in BEIR's qrels
RUN_ID = ("run_id", "runid", "run_tag", "tag", "run", "system")
# Internal numbers next to these ids: Terrier's of a document, and a log's of a request.
INTERNAL: Mapping[str, Sequence[str]] = {
    "docid": DOCUMENT[:1],
    "request_id": (*QUERY_ID[:6], "queryid"),
}
# Lists of documents, or of their ids.
RETRIEVED = _words(
    "candidates hits results retrieved documents docs passages contexts references ids "
    "source_nodes retrieved_ids retrieved_doc_ids retrieved_context_ids retrieved_documents "
    "retrieved_docs retrieved_chunks retrieval_documents retrieval_results retrieval_result "
    "search_results document_ids doc_ids chunk_ids matches points chunks nodes sources "
    "source_documents retrieved_passages retrieved_snippets retrieved_nodes provenance rets "
    "neighbors ctxs ranking rankings top reranked reranked_ids reranked_docs reranked_documents "
    "reranked_results reranked_chunks"
)
# Words in the names of lists of documents of one level.
OF_LEVELS = _words("highly very perfectly partially somewhat marginally fairly")
# Lists of judged documents, or of relevant documents' ids. `ground_truths` are answers.
GOLD = _words(
    "relevant gold golden expected positive target reference ground_truth correct supporting seed"
)
GOLD_LISTS = _words(
    "ids docs doc_ids documents document_ids chunks chunk_ids passages passage_ids context_ids"
)
JUDGED = (
    *_words("judgments judgements ratings qrels relevant gold positives positive answer_pids"),
    *_words("retrieval_gt judgment_ratings provenance retrieval_ground_truth"),
    *(f"{level}_relevant" for level in OF_LEVELS),
    *(f"{which}_{what}" for which in GOLD for what in GOLD_LISTS),
    "labels",
)
# The one relevant document of a query.
GOLD_IDS = _words("id doc_id document_id docid chunk_id passage_id context_id doc")
JUDGED_DOCUMENT = tuple(f"{which}_{what}" for which in GOLD for what in GOLD_IDS)
# Lists of documents of any level: one without a level can be irrelevant.
GRADED = _words("judgments judgements ratings qrels judgment_ratings")
# Lists of evaluation sets without query ids: the record number identifies the query.
NUMBERED = _words(
    "retrieved_ids expected_ids retrieved_context_ids reference_context_ids retrieval_gt"
)
# Lists of scores next to a list of documents.
SCORES = _words("scores retrieve_scores retrieved_scores retrieval_scores similarities distances")
# Lists of texts in most files, so their strings are never ids.
TEXTS = ("contexts", "passages")
# Names of one text.
TEXT = _words("reference text content page_content passage chunk")
# Words in the names of lists that are not retrieved, whatever numbers they contain.
NO_RANKING = frozenset(
    _words(
        "gold golden expected relevant truth reference references target positive positives "
        "negative negatives judged judgments entities categories classes tags messages"
    )
)
# Words in the names of lists of documents that are not relevant.
NEGATIVE = frozenset(_words("non not irrelevant nonrelevant negative negatives neg hard"))
# Keys around the parts of a document, and names of a document's source there.
WRAPPERS = _words(
    "document doc node metadata meta payload fields source kwargs entity hit record chunk item "
    "properties value ref additional struct_data datapoint"
)
OF_QUERIES = _words("inputs input vars attributes data query request body metadata question")
SOURCES = _words("source file_name file_path filename url uri path title")

# Keys around all records of a file, so never ids of queries.
RECORDS_AROUND = frozenset(
    _words(
        "data queries questions items records rows examples cases tests topics samples config "
        "metadata meta response responses output input"
    )
)
# Keys of records, so never ids of queries.
RECORD_KEYS = {
    *(*QUERY, *QUERY_TEXT, *CASE_ID, *DOCUMENT, *JUDGED_DOCUMENT, *SOURCES, *TEXT),
    *(*SCORE[:4], *RETRIEVED, *JUDGED, *RECORDS_AROUND),
}

# The names that `<query>`, `<document>` … in a shape's paths match. A record's own `id` is not a
# document, but the `id` of an object in a list of documents is.
NAMES = {
    "<query>": QUERY,
    "<query id>": QUERY[:-2],  # `topic` and `query` can be texts
    "<query or id>": (*QUERY[:-2], "id", *QUERY[-2:]),
    "<document>": DOCUMENT,
    "<document or id>": (*DOCUMENT, "id"),
    "<score>": (*SCORE, *DISTANCE),
    "<scores>": SCORES,
    "<rank>": RANK,
    "<level>": LEVEL_OR_SCORE,
    "<run>": RUN_ID,
    "<list>": RETRIEVED,
    "<judged>": JUDGED,
    "<query text>": QUERY_TEXT,
    "<texts>": _words(
        "retrieved_contexts retrieval_context contexts retrieved_texts passages "
        "ai_observability_retrieval_retrieved_contexts"
    ),
    "<gold texts>": _words("reference_contexts gold_contexts context expected_texts evidence"),
}

# Numbers with such a word in their name are scores or distances, whatever the other words.
_OF_SCORES = frozenset(
    _words(
        "score scores scoring similarity similarities sim relevance relevancy certainty confidence "
        "probability prob logit logits logprob bm25 bm25f rrf cosine rerank reranker weight"
    )
)
_OF_DISTANCES = frozenset(_words("distance distances dist dists l2 euclidean loss perplexity"))
# Numbers with such a word in their name do not rank documents.
_OF_OTHERS = frozenset(
    _words(
        "id ids pk key index indices idx no nr number order pos page pages chunk chunks part "
        "section sentence passage line row start begin from end to offset length len size count "
        "counts total tokens token chars words bytes timestamp ts time date year month day "
        "created updated modified published version seq term shard took ms seconds price cost "
        "width height x y lat lon depth level tag rating label labels grade rel gain dim zip "
        "code hash title text body name url"
    )
)

# Words in the names of measures, which are not documents.
_OF_MEASURES = _words(
    "ndcg dcg mrr map recall precision success hit hits accuracy f1 bpref err rbp judged "
    "faithfulness latency"
)
ORDER = "rank=@number"  # the map that ranks documents by their order in the file
MOST_NAMES = 8  # listed by an error

_HUMP = r"(?<=[a-z0-9])(?=[A-Z])"


def plain_name(name: str) -> str:
    """Return a name in snake case, as in the lists above, also ``@search.rerankerScore``."""
    return re.sub(r"\W+", "_", re.sub(_HUMP, "_", name.strip())).lower().strip("_")


Meaning = Literal["score", "distance", "rank", "other", "unknown"]
"""The meaning of a document's number, by its name."""


@lru_cache(maxsize=1024)
def meaning(name: str) -> Meaning:
    """Return the meaning of a number by its name, which can be a path."""
    plain = plain_name(name)
    words, names = frozenset(plain.split("_")), {plain, plain_name(name.rpartition(".")[2])}
    if not names.isdisjoint(SCORE):
        return "score"
    if not names.isdisjoint(DISTANCE) or words & _OF_DISTANCES:
        return "distance"
    if words & {*RANK}:
        return "rank"
    if words & _OF_SCORES:
        return "score"
    return "other" if words & _OF_OTHERS or plain in (*QUERY, *DOCUMENT) else "unknown"


def may_be_document(name: str) -> bool:
    """Whether a key of a number could be a document id: its words have no other known meaning."""
    words = {*plain_name(name).split("_")}
    is_other = meaning(name) != "unknown" and not re.search(r"\d|^.$", plain_name(name))
    return not is_other and not is_score(name) and words.isdisjoint(_OF_MEASURES)


def are_levels(name: str) -> bool:
    """Whether a list of this name contains the levels of the documents next to it."""
    plain = plain_name(name)
    return plain in LEVEL_OR_SCORE or plain.removesuffix("s") in LEVEL_OR_SCORE


def are_scores(name: str) -> bool:
    """Whether a list of this name contains the scores of the documents next to it."""
    return plain_name(name) in SCORES or is_score(name)


def is_score(name: str) -> bool:
    """Whether a number is a score or a distance by its name."""
    return meaning(name) in ("score", "distance")


@lru_cache(maxsize=1024)
def may_order(names: tuple[str, ...], scored: str | None) -> tuple[str, ...]:
    """Return the names of those numbers of documents that could rank them.

    With a score (`scored`) these are other scores, distances and the rank; without one, all numbers
    except those with another known meaning.
    """
    ordering = ("score", "distance", "rank", "unknown")[: 4 if scored is None else 2]
    return tuple(
        name
        for name in names
        if name != scored and (meaning(name) in ordering or plain_name(name) in RANK)
    )


def find(names: Iterable[str], wanted: Sequence[str]) -> str | None:
    """Return the name that matches the earliest of `wanted`, or None."""
    by_plain_name: dict[str, str] = {}
    for name in names:
        by_plain_name.setdefault(plain_name(name), name)
    return next((by_plain_name[plain] for plain in wanted if plain in by_plain_name), None)


def rivals(names: Iterable[str], of: Sequence[str]) -> list[str]:
    """Return the names that could mean the same part, such as ``doc_id`` and ``chunk_id``.

    ``docid`` is not one of them next to ``docno`` (PyTerrier has both).
    """
    named = {name: plain_name(name.rpartition(".")[2]) for name in names}
    names_of_part = {plain for plain in named.values() if plain in of}
    return [
        name
        for name, plain in named.items()
        if plain in names_of_part and names_of_part.isdisjoint(INTERNAL.get(plain, ()))
    ]


class KeyTwiceError(ValueError):
    """A key is repeated, or two keys have the same meaning."""


def find_only(names: Sequence[str], wanted: Sequence[str]) -> str | None:
    """Like `find`, but raise `KeyTwiceError` if two names match, such as score and Score."""
    name = find(names, wanted)
    if name is None:
        return None
    same = [other for other in names if plain_name(other) == plain_name(name)]
    # Elasticsearch has an _id next to the document's own id.
    exact = [other for other in same if other in wanted]
    if len(same) > 1 and not (
        len(exact) == 1 and {other.strip("_@$") for other in same} == {*exact}
    ):
        raise KeyTwiceError(f"{same[0]} and {same[1]} both name the {plain_name(name)}")
    return exact[0] if exact else name


def shown_names(names: Iterable[str], most: int = 20) -> str:
    """List the first names for a message."""
    return shown(" ".join(list(names)[:most]).encode("utf-8", "surrogatepass"), 200, repr)
