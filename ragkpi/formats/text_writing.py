"""Runs and qrels written as text, a whole ranking at a time: a step per row is what takes the time.

Scores read back as the same doubles; an id that a format cannot hold is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from typing import BinaryIO, NamedTuple

from ragkpi.errors import DataError
from ragkpi.formats.json_text import text_of, written
from ragkpi.formats.trec_qrels import QrelsColumns
from ragkpi.wording import shown

_ROWS_AT_ONCE = 1 << 12
# Bytes of ASCII that a string of JSON holds as escapes.
_ESCAPED = bytes(range(32)) + b'"\\'
# A comment, a byte order mark, gzip and zstandard: what a file that begins so is taken for.
_NO_BEGINNINGS = (b"#", b"\xef\xbb\xbf", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd")


class Ranking(NamedTuple):
    """The documents of one query, best first, with their scores."""

    query: bytes
    documents: list[bytes]
    scores: list[float]


@lru_cache(maxsize=4)
def rank_texts(count: int) -> list[bytes]:
    """Return the ranks from 1 to a number, as texts."""
    return [b"%d" % rank for rank in range(1, count + 1)]


def score_texts(scores: Iterable[float]) -> list[bytes]:
    """Return scores as texts that read back as the same doubles."""
    return " ".join(map(repr, scores)).encode().split()


def joined_rows(
    begin: bytes, separator: bytes, columns: Sequence[Sequence[bytes]], end: bytes
) -> bytes:
    """Return the lines of a ranking, which begin and end alike."""
    rows = map(separator.join, zip(*columns, strict=True))
    return begin + (end + begin).join(rows) + end if columns[0] else b""


def write_trec(rankings: Iterable[Ranking], run_id: bytes, file: BinaryIO) -> None:
    """Write `query Q0 document rank score run_id`; scores read back as the same doubles."""
    end = b" " + one_word(run_id) + b"\n"
    for query, documents, scores in rankings:
        begin = first_word(query) + b" Q0 "
        columns = all_words(documents), rank_texts(len(documents)), score_texts(scores)
        file.write(joined_rows(begin, b" ", columns, end))


def write_trec_qrels(qrels: QrelsColumns, file: BinaryIO) -> None:
    """Write `query iteration document level`."""
    columns = (qrels.query, qrels.iteration, qrels.document, qrels.level.tolist())
    for query, iteration, document, level in zip(*columns, strict=True):
        file.write(b"%b %b %b %d\n" % (first_word(query), iteration, one_word(document), level))


def all_words(ids: list[bytes]) -> list[bytes]:
    """Return ids as they are; errors as `one_word` has them."""
    text = b"\n".join(ids)
    if b"\0" in text or text.split() != ids:  # white space
        for id_ in ids:
            one_word(id_)
    return ids


def one_word(text: bytes) -> bytes:
    """Return an id as it is; `DataError` if columns separated by white space cannot hold it."""
    if b"\0" in text or text.split() != [text]:
        raise DataError(
            f"id {shown(text)} is not one word, as TREC and MS MARCO files need it; "
            "expected another format, such as JSON Lines (--to jsonl)"
        )
    return text


def first_word(query: bytes) -> bytes:
    """Return a query's id as the first word of a line; `DataError` if it would not be read so."""
    if query.startswith(_NO_BEGINNINGS):
        raise DataError(
            f"query id {shown(query)} cannot begin a line of TREC and MS MARCO files; "
            "expected another format, such as JSON Lines (--to jsonl)"
        )
    return one_word(query)


class _Writing(NamedTuple):
    """How values stand in a line.

    Attributes
    ----------
    name
        What messages call it.
    separator
        Between two values.
    impossible
        Bytes that no value can hold.
    quoted
        Bytes for which a value is put into quotes.
    """

    name: str
    separator: bytes
    impossible: bytes
    quoted: bytes

    def values(self, values: Sequence[bytes]) -> Sequence[bytes]:
        """Return values as they are written; `DataError` for one that cannot be."""
        text = b"".join(values)
        if len(text.translate(None, self.impossible + self.quoted)) == len(text):
            return values  # of a whole ranking, as nearly always
        for value in values:
            if set(value) & set(self.impossible):
                raise DataError(
                    f"id {shown(value)} cannot stand in {self.name}; "
                    "expected another format, such as JSON Lines (--to jsonl)"
                )
        return [
            b'"' + value.replace(b'"', b'""') + b'"' if set(value) & set(self.quoted) else value
            for value in values
        ]

    def line(self, values: Sequence[bytes]) -> bytes:
        return self.separator.join(self.values(values)) + b"\n"


_TABS = _Writing("TSV", b"\t", b"\t\n\r\0", b"")
_COMMAS = _Writing("CSV", b",", b"\0", b'",\n\r')


def _write_table(
    rankings: Iterable[Ranking], run_id: bytes, file: BinaryIO, writing: _Writing
) -> None:
    join = writing.separator.join
    file.write(writing.line([b"query_id", b"doc_id", b"rank", b"score", b"run_id"]))
    end = join([b"", writing.line([run_id])])
    for query, documents, scores in rankings:
        begin = join([*writing.values([query]), b""])
        columns = writing.values(documents), rank_texts(len(documents)), score_texts(scores)
        file.write(joined_rows(begin, writing.separator, columns, end))


def _write_qrels_table(
    qrels: QrelsColumns,
    file: BinaryIO,
    writing: _Writing,
    names: Sequence[bytes] = (b"query_id", b"doc_id", b"relevance"),
) -> None:
    file.write(writing.line(names))
    for first in range(0, len(qrels.level), _ROWS_AT_ONCE):
        rows = slice(first, first + _ROWS_AT_ONCE)
        query, document = (
            writing.values(column.take(rows).tolist()) for column in (qrels.query, qrels.document)
        )
        levels = [b"%d" % level for level in qrels.level[rows].tolist()]
        file.write(joined_rows(b"", writing.separator, (query, document, levels), b"\n"))


def write_msmarco(rankings: Iterable[Ranking], run_id: bytes, file: BinaryIO) -> None:
    """Write `query document rank`; scores are lost, and the order of equal ones is kept."""
    for query, documents, _ in rankings:
        begin = first_word(query) + b"\t"
        columns = all_words(documents), rank_texts(len(documents))
        file.write(joined_rows(begin, b"\t", columns, b"\n"))


write_csv = partial(_write_table, writing=_COMMAS)
write_tsv = partial(_write_table, writing=_TABS)
write_csv_qrels = partial(_write_qrels_table, writing=_COMMAS)
write_tsv_qrels = partial(_write_qrels_table, writing=_TABS)
write_beir_qrels = partial(
    _write_qrels_table, writing=_TABS, names=(b"query-id", b"corpus-id", b"score")
)


def write_json_lines(rankings: Iterable[Ranking], run_id: bytes, file: BinaryIO) -> None:
    """Write a line per query: ``{"qid", "run_id", "candidates": [{"docid", "score"}, …]}``."""
    system = written(text_of(run_id))
    for query, documents, scores in rankings:
        candidates = b'}, {"docid": '.join(
            map(b', "score": '.join, zip(_strings(documents), _numbers(scores), strict=True))
        )
        begin = b'{"qid": ' + written(text_of(query)) + b', "run_id": ' + system
        listed = b'[{"docid": ' + candidates + b"}]" if documents else b"[]"
        file.write(begin + b', "candidates": ' + listed + b"}\n")


def write_json_qrels_lines(qrels: QrelsColumns, file: BinaryIO) -> None:
    """Write a line per judgement: ``{"query_id", "doc_id", "relevance"}``."""
    for query, document, level in qrels.judgements():
        record = {"query_id": text_of(query), "doc_id": text_of(document), "relevance": level}
        file.write(written(record) + b"\n")


def write_json_document(rankings: Iterable[Ranking], run_id: bytes, file: BinaryIO) -> None:
    """Write ``{query: {document: score}}``, a line per query."""
    _write_json(
        (
            (query, zip(_strings(documents), _numbers(scores), strict=True))
            for query, documents, scores in rankings
        ),
        file,
    )


def write_json_qrels_document(qrels: QrelsColumns, file: BinaryIO) -> None:
    """Write ``{query: {document: level}}``, a line per query."""
    queries: dict[bytes, list[tuple[bytes, bytes]]] = {}
    for query, document, level in qrels.judgements():
        queries.setdefault(query, []).append((written(text_of(document)), b"%d" % level))
    _write_json(queries.items(), file)


def _write_json(
    queries: Iterable[tuple[bytes, Iterable[tuple[bytes, bytes]]]], file: BinaryIO
) -> None:
    before = b"{\n"
    for query, documents in queries:
        inner = b", ".join(map(b": ".join, documents))
        file.write(before + written(text_of(query)) + b": {" + inner + b"}")
        before = b",\n"
    file.write(b"{}\n" if before == b"{\n" else b"\n}\n")


def _strings(ids: list[bytes]) -> list[bytes]:
    """Return ids as JSON strings."""
    text = b"".join(ids)
    if text.isascii() and len(text.translate(None, _ESCAPED)) == len(text):
        return [b'"' + id_ + b'"' for id_ in ids]  # of a whole ranking, as nearly always
    return [written(text_of(id_)) for id_ in ids]


def _numbers(scores: list[float]) -> list[bytes]:
    """Return scores as JSON numbers; JSON has no infinity, which is written as a string."""
    texts = score_texts(scores)
    if {b"inf", b"-inf"}.isdisjoint(texts):
        return texts
    return [b'"' + text + b'"' if text.endswith(b"inf") else text for text in texts]
