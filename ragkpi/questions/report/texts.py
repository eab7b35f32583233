"""The texts of queries and documents, cut so that the page stays small."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from ragkpi.arrays import BoolArray, IntArray
from ragkpi.files.query_files import Text, read_texts, texts_of_run
from ragkpi.questions.report.documents import QueryDetail

BUDGET = 3_800_000  # bytes of all texts of documents together, with `_AROUND` for each
_AROUND = 40  # bytes: the id, the length, quotes
LONGEST = 2_000  # characters of a text
_FIRST = 10  # people read the first documents of a run, and skim the rest
_FAVOUR = 8  # factor by which texts of the first documents may be longer

TextSource = str | Mapping[bytes, Text] | None  # the path of a file of texts, or texts by id


def page_texts(
    details: Sequence[QueryDetail],
    queries: Collection[bytes],
    query_texts: TextSource,
    document_texts: TextSource,
    run_files: Iterable[str],
) -> tuple[dict[bytes, Text], dict[bytes, Text]]:
    """Read the texts of queries and of documents that the page shows, by id.

    The files of runs may carry texts, for ids without another text.
    """
    names = {name for detail in details for name in detail.documents}
    documents: dict[bytes, Text] = {}
    of_queries: dict[bytes, Text] = {}
    for path in run_files:
        in_queries, in_documents = texts_of_run(path)
        of_queries |= _among(in_queries, queries)
        documents |= _among(in_documents, names)
    of_queries |= _texts(query_texts, queries)
    documents |= _texts(document_texts, names)
    favoured = {
        name
        for detail in details
        for document, name in enumerate(detail.documents)
        if (detail.levels[document] or 0) > 0
        or any(document in ranking[:_FIRST] for ranking in detail.rankings)
    }
    cut_queries = {id_: _cut(text, LONGEST) for id_, text in of_queries.items()}
    return cut_queries, _fitted(documents, favoured)


def _texts(source: TextSource, ids: Collection[bytes]) -> Mapping[bytes, Text]:
    return read_texts(source, ids) if isinstance(source, str) else _among(source or {}, ids)


def _among(texts: Mapping[bytes, Text], ids: Collection[bytes]) -> Mapping[bytes, Text]:
    return {id_: text for id_, text in texts.items() if id_ in ids}


def _fitted(texts: Mapping[bytes, Text], favoured: Collection[bytes]) -> dict[bytes, Text]:
    """Cut texts to the greatest length at which all fit; favoured texts may be longer."""
    heads = [text[:LONGEST] for text, _ in texts.values()]
    length = np.array([len(text) for text in heads], dtype=np.int64)
    octets = np.array([len(text.encode("utf-8", "replace")) for text in heads], dtype=np.int64)
    bytes_each = octets / np.maximum(length, 1)
    first = np.array([id_ in favoured for id_ in texts], dtype=np.bool_)
    low, high = 0, LONGEST
    while low < high:
        middle = (low + high + 1) // 2
        limit = _limits(first, middle)
        size = np.minimum(length, limit) * bytes_each + _AROUND * (limit > 0)
        low, high = (middle, high) if size.sum() <= BUDGET else (low, middle - 1)
    limits = zip(texts.items(), _limits(first, low).tolist(), strict=True)
    return {id_: _cut(text, limit) for (id_, text), limit in limits if limit}


def _limits(first: BoolArray, length: int) -> IntArray:
    return np.where(first, length, length // _FAVOUR if length < LONGEST else length)


def _cut(text: Text, length: int) -> Text:
    head, whole = text
    return Text((head[:length], whole))
