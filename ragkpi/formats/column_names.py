"""Names that files give to their columns and keys, and which of them say what.

They are written here in snake case; ``queryId``, ``Query-ID`` and ``query id`` are ``query_id``,
and ``_id`` is ``id``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from ragkpi.errors import InputError
from ragkpi.wording import shown

Kind = Literal["run", "qrels"]
"""What a file holds."""

# The first of these that a file has is meant: with `qid` there, `query` is the query's text, and
# with `docno` there, `docid` is an internal number (PyTerrier has all four).
QUERY = (
    "qid",
    "query_id",
    "topic_id",
    "narrative_id",
    "question_id",
    "q_id",
    "request_id",
    "topic",
    "query",
)
DOCUMENT = (
    "docno",
    "doc_id",
    "docid",
    "doc_no",
    "corpus_id",
    "document_id",
    "passage_id",
    "segment_id",
    "chunk_id",
    "node_id",
    "wikipedia_id",
    "pid",
    "did",
    "doc",
    "document",
)
SCORE = ("score", "similarity", "relevance_score", "sim")
RANK = ("rank", "position")
LEVEL = (
    "relevance",
    "rel",
    "level",
    "label",
    "grade",
    "gain",
    "rating",
    "judgment",
    "judgement",
    "relevance_label",
    "score",
)
RUN_ID = ("run_id", "runid", "run_tag", "tag", "run", "system")
# Lists of documents, or of their ids.
RETRIEVED = (
    "candidates",
    "hits",
    "results",
    "retrieved",
    "documents",
    "docs",
    "passages",
    "contexts",
    "references",
)
# Lists of judged documents, or of ids of relevant ones.
JUDGED = (
    "judgments",
    "judgements",
    "ratings",
    "qrels",
    "relevant_ids",
    "relevant_docs",
    "relevant_doc_ids",
    "relevant_documents",
    "relevant",
    "gold_ids",
    "gold_doc_ids",
    "expected_ids",
    "positive_ids",
    "ground_truth_ids",
)
# Lists of texts in most files: strings in them are never taken for ids.
TEXTS = ("contexts", "passages")

# Keys of records, which cannot be ids of queries.
RECORD_KEYS = {*QUERY, *DOCUMENT, *SCORE, *RETRIEVED, *JUDGED}
# Of these, keys under which an object may stand that has such keys itself.
RECORDS_INSIDE = {*QUERY[-2:], *DOCUMENT[-2:], *RETRIEVED, *JUDGED}

# What `<query>` and so on stand for in the paths of a shape. A record's own `id` is no document,
# but that of an object in a list of documents is.
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
    """Return a name as it stands in the lists above."""
    return re.sub(_HUMP, "_", name.strip()).lower().replace("-", "_").replace(" ", "_").strip("_")


def find(names: Iterable[str], wanted: Sequence[str]) -> str | None:
    """Return the name that means one of `wanted`, the earliest there; None without any."""
    by_plain_name: dict[str, str] = {}
    for name in names:
        by_plain_name.setdefault(plain_name(name), name)
    return next((by_plain_name[plain] for plain in wanted if plain in by_plain_name), None)


def find_only(names: Sequence[str], wanted: Sequence[str]) -> str | None:
    """Return what `find` finds; `ValueError` if two names mean it, such as score and Score."""
    name = find(names, wanted)
    if name is None:
        return None
    same = [other for other in names if plain_name(other) == plain_name(name)]
    # Elasticsearch's _id stands beside an id of the document's own.
    exact = [other for other in same if other in wanted]
    if len(same) > 1 and not (len(exact) == 1 and {other.strip("_") for other in same} == {*exact}):
        raise ValueError(f"{same[0]} and {same[1]} both name the {plain_name(name)}")
    return exact[0] if exact else name


def find_one(
    file: str, line: int | None, names: Sequence[str], wanted: Sequence[str]
) -> str | None:
    """Return what `find` finds; `InputError` if two names mean the same."""
    try:
        return find_only(names, wanted)
    except ValueError as problem:
        raise InputError(
            file, line, shown_names([str(problem)])[1:-1], "expected each name once"
        ) from None


def need(file: str, line: int | None, names: Sequence[str], wanted: Sequence[str]) -> str:
    """Return what `find_one` finds; `InputError` if it is nothing."""
    name = find_one(file, line, names, wanted)
    if name is None:
        raise InputError(
            file,
            line,
            f"names no {wanted[0]} ({shown_names(names)})",
            f"expected one of {' '.join(wanted)}",
        )
    return name


def shown_names(names: Iterable[str], most: int = 20) -> str:
    """List names for a message, the first of them."""
    return shown(" ".join(list(names)[:most]).encode("utf-8", "surrogatepass"), 200)
