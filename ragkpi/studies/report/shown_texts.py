"""The texts of a page, cut so that the page stays small, with their whole lengths."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from ragkpi.formats.texts import Text, read_texts, texts_of_run
from ragkpi.formats.tokens import BoolArray, IntArray
from ragkpi.studies.report.query_details import QueryDetail

BUDGET = 3_800_000  # bytes of all texts of documents together, with `_AROUND` for each
_AROUND = 40  # bytes: the id, the length, quotes
LONGEST = 2_000  # characters of a text
_FIRST = 10  # people read the first documents of a run, and skim the others
_FAVOUR = 8  # their texts may be so many times longer

Given = str | Mapping[bytes, Text] | None


def shown_texts(
    details: Sequence[QueryDetail],
    queries: Collection[bytes],
    query_texts: Given,
    document_texts: Given,
    run_files: Sequence[str],
) -> tuple[dict[bytes, Text], dict[bytes, Text]]:
    """Read the texts of queries and of documents that the page shows, by id.

    Parameters
    ----------
    details, queries
        The queries whose documents are shown, and the ids of all queries.
    query_texts, document_texts
        The file of texts, or texts by id; None for none.
    run_files
        Runs whose own files may carry texts, for ids without another text.
    """
    wanted = {name for detail in details for name in detail.documents}
    documents: dict[bytes, Text] = {}
    of_queries: dict[bytes, Text] = {}
    for path in run_files:
        in_queries, in_documents = texts_of_run(path)
        of_queries |= {id_: text for id_, text in in_queries.items() if id_ in queries}
        documents |= {id_: text for id_, text in in_documents.items() if id_ in wanted}
    of_queries |= _known_texts(query_texts, queries)
    documents |= _known_texts(document_texts, wanted)
    favoured = {
        name
        for detail in details
        for document, name in enumerate(detail.documents)
        if (detail.levels[document] or 0) > 0
        or any(document in ranking[:_FIRST] for ranking in detail.rankings)
    }
    cut_queries = {id_: _cut(text, LONGEST) for id_, text in of_queries.items()}
    return cut_queries, _fitted(documents, favoured)


def _known_texts(texts: Given, wanted: Collection[bytes]) -> Mapping[bytes, Text]:
    if isinstance(texts, str):
        return read_texts(texts, wanted)
    return {id_: texts[id_] for id_ in wanted if id_ in texts} if texts else {}


def _fitted(texts: Mapping[bytes, Text], favoured: Collection[bytes]) -> dict[bytes, Text]:
    """Cut texts to the greatest length at which all fit; favoured texts may be longer."""
    kept = [text[:LONGEST] for text, _ in texts.values()]
    length = np.array([len(text) for text in kept], dtype=np.int64)
    octets = np.array([len(text.encode("utf-8", "replace")) for text in kept], dtype=np.int64)
    bytes_each = octets / np.maximum(length, 1)
    first = np.array([id_ in favoured for id_ in texts], dtype=np.bool_)
    low, high = 0, LONGEST
    while low < high:
        middle = (low + high + 1) // 2
        limit = _limits(first, middle)
        size = np.minimum(length, limit) * bytes_each + _AROUND * (limit > 0)
        low, high = (middle, high) if size.sum() <= BUDGET else (low, middle - 1)
    limits = _limits(first, low).tolist()
    cut = zip(texts.items(), limits, strict=True)
    return {id_: _cut(text, limit) for (id_, text), limit in cut if limit}


def _limits(first: BoolArray, length: int) -> IntArray:
    return np.where(first, length, length // _FAVOUR if length < LONGEST else length)


def _cut(text: Text, length: int) -> Text:
    shown, whole = text
    return Text((shown[:length], whole))
