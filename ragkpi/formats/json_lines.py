"""JSON Lines: a retrieval result, an answer with its references or a judgement per line.

The forms that RAG toolkits write: ``{"qid": …, "candidates": [{"docid": …, "score": …}]}``, with
the id perhaps inside ``"query"`` or inside the candidates; ``{"topic_id": …, "references":
["…", …]}``; and flat ``{"query_id": …, "doc_id": …, "score": …}`` lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from ragkpi.errors import InputError
from ragkpi.formats import column_names as fields
from ragkpi.formats.blocks import read_lines
from ragkpi.formats.json_text import (
    DECODER,
    JsonObject,
    no_json,
    number_for,
    octets_of,
    text_of,
    written,
)
from ragkpi.formats.opening import Source
from ragkpi.formats.rows import Ranking, Row, collect_qrels, stream_rows
from ragkpi.formats.trec_qrels import QrelsColumns
from ragkpi.formats.trec_runs import RunColumns
from ragkpi.wording import quoted

_OBJECT = "expected an object with a query and its documents"


def stream_run(source: Source) -> Iterator[RunColumns]:
    """Read a run; where no document of a query has a score, the order of the list counts."""
    rows = (
        row
        for line, record in _records(source)
        for row in rows_of_result(record, source.name, line)
    )
    return stream_rows(source.name, rows)


def read_qrels(source: Source) -> QrelsColumns:
    """Read flat judgements, one per line."""
    rows = (row_of_judgement(record, source.name, line) for line, record in _records(source))
    return collect_qrels(source.name, rows)


def _records(source: Source) -> Iterator[tuple[int, Any]]:
    for number, line in read_lines(source):
        if line.strip():
            try:
                yield number, DECODER.decode(text_of(line))
            except (ValueError, RecursionError) as problem:
                raise no_json(source.name, number, problem, _OBJECT) from None


def rows_of_result(record: Any, file: str, line: int) -> Iterator[Row]:
    """Yield the documents that one object retrieves, in its order."""
    values = _object(record, file, line)
    listed = fields.find(values, fields.RETRIEVED)
    if (
        listed is None
        or not isinstance(values[listed], list)
        or isinstance(values[listed], JsonObject)
    ):
        if fields.find(values, fields.DOCUMENT) is None:
            wanted = " ".join(fields.RETRIEVED)
            raise InputError(file, line, "no list of documents", f"expected one of {wanted}")
        items: list[Any] = [record]
    else:
        items = values[listed]
    query = _query_id(values, items, file, line)
    tag = fields.find(values, fields.RUN_ID)
    run_id = octets_of(values[tag], file, line, tag) if tag is not None else b""
    scored = 0
    for place, item in enumerate(items, start=1):
        document, score = _document(item, file, line)
        scored += score is not None
        if scored not in (0, place) or (scored and score is None):
            found = f"document {place} of the list has a score and others have none"
            if score is None:
                found = f"document {place} of the list has no score and others have one"
            raise InputError(file, line, found, "expected a score for all of them or for none")
        yield Row(line, query, document, score or b"-%d" % place, run_id)


def row_of_judgement(record: Any, file: str, line: int) -> Row:
    """Return the judgement that one object holds."""
    values = _object(record, file, line)
    names = list(values)
    query, document, level = (
        fields.need(file, line, names, aliases)
        for aliases in (fields.QUERY, fields.DOCUMENT, fields.LEVEL)
    )
    return Row(
        line,
        octets_of(values[query], file, line, query),
        octets_of(values[document], file, line, document),
        octets_of(values[level], file, line, level),
    )


def _object(record: Any, file: str, line: int) -> dict[str, Any]:
    if not isinstance(record, JsonObject):
        raise InputError(file, line, "no JSON object", _OBJECT)
    values = dict(record)
    if len(values) < len(record):
        twice = next(name for name, _ in record if [key for key, _ in record].count(name) > 1)
        raise InputError(file, line, f"key {quoted(twice)} twice", "expected each key once")
    return values


def _query_id(values: dict[str, Any], items: list[Any], file: str, line: int) -> bytes:
    """Find the query's id: beside the list, inside the query, or inside the first document."""
    names = [*fields.QUERY, "id"]
    name = fields.find(values, names)
    first = dict(items[0]) if items and isinstance(items[0], JsonObject) else {}
    if name is not None and isinstance(values[name], JsonObject):
        values = dict(values[name])
        name = fields.find(values, names)
    elif name in (None, "query", "topic"):  # the query's text, if there is an id elsewhere
        inside = fields.find(first, fields.QUERY[:-2])
        if inside is not None:
            values, name = first, inside
    if name is None:
        wanted = " ".join(fields.QUERY)
        raise InputError(file, line, "no query id", f"expected one of {wanted}")
    return octets_of(values[name], file, line, name)


def _document(item: Any, file: str, line: int) -> tuple[bytes, bytes | None]:
    if not isinstance(item, JsonObject):
        return octets_of(item, file, line, "document id"), None
    values = dict(item)
    name = fields.find(values, fields.DOCUMENT)
    if name is not None and isinstance(
        values[name], JsonObject
    ):  # the document itself, with its id
        inner = dict(values[name])
        values = {**inner, **values}
        name = fields.find(inner, fields.DOCUMENT)
    if name is None:
        wanted = " ".join(fields.DOCUMENT)
        raise InputError(file, line, "a document without an id", f"expected one of {wanted}")
    scored = fields.find(values, fields.SCORE)
    score = None if scored is None or values[scored] is None else values[scored]
    return (
        octets_of(values[name], file, line, name),
        None if score is None else octets_of(score, file, line, "score"),
    )


def write_run(rankings: Iterable[Ranking], run_id: bytes, file: BinaryIO) -> None:
    """Write a line per query: ``{"qid", "run_id", "candidates": [{"docid", "score"}, …]}``."""
    for query, documents, scores in rankings:
        candidates = [
            {"docid": text_of(document), "score": number_for(score)}
            for document, score in zip(documents, scores, strict=True)
        ]
        record = {"qid": text_of(query), "run_id": text_of(run_id), "candidates": candidates}
        file.write(written(record) + b"\n")


def write_qrels(qrels: QrelsColumns, file: BinaryIO) -> None:
    """Write a line per judgement: ``{"query_id", "doc_id", "relevance"}``."""
    for query, document, level in qrels.judgements():
        record = {"query_id": text_of(query), "doc_id": text_of(document), "relevance": level}
        file.write(written(record) + b"\n")
