"""Lists of the names that files use for queries, documents, scores and other columns and keys.

Names are compared in snake case: ``queryId``, ``Query-ID`` and ``query id`` are ``query_id``, and
``_id`` is ``id``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from ragkpi.errors import InputError
from ragkpi.wording import shown

Kind = Literal["run", "qrels"]
"""What a file holds."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# The earliest name in a list wins: beside `qid`, `query` is the text of the query, and beside
# `docno`, `docid` is an internal number (PyTerrier has all four).
QUERY = _words("qid query_id topic_id narrative_id question_id q_id request_id topic query")
DOCUMENT = _words(
    "docno doc_id docid doc_no corpus_id document_id passage_id segment_id chunk_id "
    "node_id wikipedia_id pid did doc document"
)
SCORE = ("score", "similarity", "relevance_score", "sim")
RANK = ("rank", "position")
LEVEL = _words(
    "relevance rel level label grade gain rating judgment judgement relevance_label score"
)
RUN_ID = ("run_id", "runid", "run_tag", "tag", "run", "system")
# Lists of documents, or of their ids.
RETRIEVED = _words("candidates hits results retrieved documents docs passages contexts references")
# Lists of judged documents, or of relevant documents' ids.
JUDGED = _words(
    "judgments judgements ratings qrels relevant_ids relevant_docs relevant_doc_ids "
    "relevant_documents relevant gold_ids gold_doc_ids expected_ids positive_ids "
    "ground_truth_ids"
)
# Lists of texts in most files, so their strings are never ids.
TEXTS = ("contexts", "passages")

# Keys of records, so never ids of queries.
RECORD_KEYS = {*QUERY, *DOCUMENT, *SCORE, *RETRIEVED, *JUDGED}
# Keys whose value may be another record.
RECORDS_INSIDE = {*QUERY[-2:], *DOCUMENT[-2:], *RETRIEVED, *JUDGED}

# The names that `<query>`, `<document>` … in a shape's paths match. A record's own `id` is not a
# document, but the `id` of an object in a list of documents is.
NAMES = {
    "<query>": QUERY,
    "<query id>": QUERY[:-2],  # `topic` and `query` may be texts
    "<query or id>": (*QUERY[:-2], "id", *QUERY[-2:]),
    "<document>": DOCUMENT,
    "<document or id>": (*DOCUMENT, "id"),
    "<score>": SCORE,
    "<rank>": RANK,
    "<level>": LEVEL,
    "<run>": RUN_ID,
    "<list>": RETRIEVED,
    "<judged>": JUDGED,
}

_HUMP = r"(?<=[a-z0-9])(?=[A-Z])"


def plain_name(name: str) -> str:
    """Return a name in snake case, as in the lists above."""
    return re.sub(_HUMP, "_", name.strip()).lower().replace("-", "_").replace(" ", "_").strip("_")


def find(names: Iterable[str], wanted: Sequence[str]) -> str | None:
    """Return the name that matches the earliest of `wanted`, or None."""
    by_plain_name: dict[str, str] = {}
    for name in names:
        by_plain_name.setdefault(plain_name(name), name)
    return next((by_plain_name[plain] for plain in wanted if plain in by_plain_name), None)


def find_only(names: Sequence[str], wanted: Sequence[str]) -> str | None:
    """Like `find`, but raise `ValueError` if two names match, such as score and Score."""
    name = find(names, wanted)
    if name is None:
        return None
    same = [other for other in names if plain_name(other) == plain_name(name)]
    # Elasticsearch has an _id beside the document's own id.
    exact = [other for other in same if other in wanted]
    if len(same) > 1 and not (len(exact) == 1 and {other.strip("_") for other in same} == {*exact}):
        raise ValueError(f"{same[0]} and {same[1]} both name the {plain_name(name)}")
    return exact[0] if exact else name


def find_one(
    file: str, line: int | None, names: Sequence[str], wanted: Sequence[str]
) -> str | None:
    """Like `find`, but raise `InputError` if two names match."""
    try:
        return find_only(names, wanted)
    except ValueError as problem:
        raise InputError(
            file, line, shown_names([str(problem)])[1:-1], "expected each name once"
        ) from None


def shown_names(names: Iterable[str], most: int = 20) -> str:
    """List the first names for a message."""
    return shown(" ".join(list(names)[:most]).encode("utf-8", "surrogatepass"), 200)
