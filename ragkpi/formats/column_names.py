"""Names that files give to their columns and keys, and which of them say what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ragkpi.errors import InputError
from ragkpi.wording import shown

# The first of these that a file has is meant: with `qid` there, `query` is the query's text, and
# with `docno` there, `docid` is an internal number (PyTerrier has all four).
QUERY = ("qid", "query_id", "topic_id", "narrative_id", "question_id", "q_id", "topic", "query")
DOCUMENT = (
    "docno",
    "doc_id",
    "docid",
    "corpus_id",
    "document_id",
    "passage_id",
    "segment_id",
    "pid",
    "did",
    "doc",
    "document",
    "id",
)
SCORE = ("score", "similarity", "relevance_score", "sim")
RANK = ("rank", "position")
LEVEL = ("relevance", "rel", "level", "label", "grade", "judgment", "judgement", "score")
RUN_ID = ("run_id", "runid", "tag", "run", "system")
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


def plain_name(name: str) -> str:
    """Return a name as it stands in the lists above."""
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def find(names: Iterable[str], wanted: Sequence[str]) -> str | None:
    """Return the name that means one of `wanted`, the earliest there; None without any."""
    by_plain_name: Mapping[str, str] = {plain_name(name): name for name in names}
    return next((by_plain_name[name] for name in wanted if name in by_plain_name), None)


def need(file: str, line: int | None, names: Sequence[str], wanted: Sequence[str]) -> str:
    """Return what `find` finds; `InputError` if it is nothing."""
    found = find(names, wanted)
    if found is None:
        present = shown(" ".join(names[:20]).encode("utf-8", "surrogatepass"))
        raise InputError(
            file, line, f"names no {wanted[0]} ({present})", f"expected one of {' '.join(wanted)}"
        )
    return found
