"""Write rankings and qrels in every output format.

Scores read back as the same doubles; an id that a format cannot represent is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, count, repeat
from math import isinf
from typing import BinaryIO, NamedTuple, TypeAlias

from ragkpi.errors import DataError
from ragkpi.files.json_text import text_of, written
from ragkpi.files.trec import QrelsColumns, RunColumns
from ragkpi.interface import spell
from ragkpi.wording import shown

_NO_WORDS = b" \t\n\r\v\f\0"  # bytes that a word cannot contain
# Bytes that a JSON string can escape.
_ESCAPED = bytes(range(32)) + b'"\\' + bytes(range(128, 256))
# The beginnings of a comment, a byte order mark, gzip and zstandard.
_NO_BEGINNINGS = (b"#", b"\xef\xbb\xbf", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd")

Spelling: TypeAlias = Callable[[bytes], bytes]


def _spelled(ids: Sequence[bytes], odd: bytes, spelling: Spelling) -> Sequence[bytes]:
    """Spell ids, if some are empty or have special bytes."""
    text = b"".join(ids)
    plain = all(ids) and len(text.translate(None, odd)) == len(text)
    return ids if plain else list(map(spelling, ids))


def _rows(
    block: RunColumns, odd: bytes, spelling: Spelling, of_query: Spelling
) -> Iterator[tuple[bytes, bytes, int, float, bytes]]:
    """Yield query, document, rank, score and run id; errors are those of the spelling."""
    run_id = repeat(spelling(block.run_id))
    for query, documents, scores in block.each():
        ids = repeat(of_query(query)), _spelled(documents, odd, spelling)
        yield from zip(*ids, count(1), scores, run_id)


def write_trec(rankings: Iterable[RunColumns], file: BinaryIO) -> None:
    """Write `query Q0 document rank score run_id`; scores read back as the same doubles."""
    for block in rankings:
        rows = _rows(block, _NO_WORDS, one_word, first_word)
        file.write(b"".join(map(b"%b Q0 %b %d %r %b\n".__mod__, rows)))


def write_msmarco(rankings: Iterable[RunColumns], file: BinaryIO) -> None:
    """Write `query document rank`, without scores; equal scores keep their order."""
    for block in rankings:
        rows = _rows(block, _NO_WORDS, one_word, first_word)
        file.write(b"".join(b"%b\t%b\t%d\n" % row[:3] for row in rows))


def write_trec_qrels(qrels: QrelsColumns, file: BinaryIO) -> None:
    """Write `query iteration document level`."""
    columns = (qrels.query, qrels.iteration, qrels.document, qrels.level.tolist())
    for query, iteration, document, level in zip(*columns, strict=True):
        file.write(b"%b %b %b %d\n" % (first_word(query), iteration, one_word(document), level))


def impossible(fault: str) -> DataError:
    """Return the error for an id that a format cannot represent."""
    expected = f"expected another format, such as JSON Lines ({spell('to')} jsonl)"
    return DataError(f"{fault}; {expected}")


def one_word(text: bytes) -> bytes:
    """Return an id unchanged; `DataError` if it contains whitespace or NUL."""
    if b"\0" in text or text.split() != [text]:
        needed = "is not one word, as TREC and MS MARCO files require"
        raise impossible(f"id {shown(text)} {needed}")
    return text


def first_word(query: bytes) -> bytes:
    """Return a query's id unchanged; `DataError` if it cannot be the first word of a line."""
    if query.startswith(_NO_BEGINNINGS):
        where = "cannot begin a line of TREC and MS MARCO files"
        raise impossible(f"query id {shown(query)} {where}")
    return one_word(query)


class _Delimiting(NamedTuple):
    """The rules by which a format writes values in a line."""

    name: str  # in messages
    separator: bytes  # between two values
    impossible: bytes  # bytes that no value can contain
    quoted: bytes  # a value with any of these bytes is quoted

    def value(self, value: bytes) -> bytes:
        """Return a value, quoted if necessary; `DataError` if the format cannot represent it."""
        if set(value) & set(self.impossible):
            raise impossible(f"id {shown(value)} cannot be written as {self.name}")
        if set(value) & set(self.quoted):
            return b'"' + value.replace(b'"', b'""') + b'"'
        return value

    def line(self, values: Sequence[bytes]) -> bytes:
        return self.separator.join(map(self.value, values)) + b"\n"


_TABS = _Delimiting("TSV", b"\t", b"\t\n\r\0", b"")
_COMMAS = _Delimiting("CSV", b",", b"\0", b'",\n\r')


def _write_table(rankings: Iterable[RunColumns], file: BinaryIO, writing: _Delimiting) -> None:
    line = writing.separator.join((b"%b", b"%b", b"%d", b"%r", b"%b")) + b"\n"
    file.write(writing.line([b"query_id", b"doc_id", b"rank", b"score", b"run_id"]))
    for block in rankings:
        odd = writing.impossible + writing.quoted
        rows = _rows(block, odd, writing.value, writing.value)
        file.write(b"".join(map(line.__mod__, rows)))


def _write_qrels_table(
    qrels: QrelsColumns,
    file: BinaryIO,
    writing: _Delimiting,
    names: Sequence[bytes] = (b"query_id", b"doc_id", b"relevance"),
) -> None:
    file.write(writing.line(names))
    for query, document, level in qrels.judgements():
        file.write(writing.line([query, document, b"%d" % level]))


write_csv = partial(_write_table, writing=_COMMAS)
write_tsv = partial(_write_table, writing=_TABS)
write_csv_qrels = partial(_write_qrels_table, writing=_COMMAS)
write_tsv_qrels = partial(_write_qrels_table, writing=_TABS)
write_beir_qrels = partial(
    _write_qrels_table, writing=_TABS, names=(b"query-id", b"corpus-id", b"score")
)


def _json(id_: bytes) -> bytes:
    """Write an id as a JSON string."""
    return written(text_of(id_))


def _json_pairs(block: RunColumns, pair: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the id of each query, and its documents with scores, as JSON written by `pair`."""
    for query, documents, scores in block.each():
        ids = _spelled(documents, _ESCAPED, lambda id_: _json(id_)[1:-1])
        # JSON lacks infinity, which becomes a string.
        numbers = [b'"%r"' % score if isinf(score) else b"%r" % score for score in scores]
        yield _json(query), b", ".join(map(pair.__mod__, zip(ids, numbers, strict=True)))


def write_json_lines(rankings: Iterable[RunColumns], file: BinaryIO) -> None:
    """Write a line per query: ``{"qid", "run_id", "candidates": [{"docid", "score"}, …]}``."""
    for block in rankings:
        run_id = _json(block.run_id)
        for query, documents in _json_pairs(block, b'{"docid": "%b", "score": %b}'):
            texts = query, run_id, documents
            file.write(b'{"qid": %b, "run_id": %b, "candidates": [%b]}\n' % texts)


def write_json_qrels_lines(qrels: QrelsColumns, file: BinaryIO) -> None:
    """Write a line per judgement: ``{"query_id", "doc_id", "relevance"}``."""
    for query, document, level in qrels.judgements():
        record = {"query_id": text_of(query), "doc_id": text_of(document), "relevance": level}
        file.write(written(record) + b"\n")


def write_json_document(rankings: Iterable[RunColumns], file: BinaryIO) -> None:
    """Write ``{query: {document: score}}``, a line per query."""
    pairs = (_json_pairs(block, b'"%b": %b') for block in rankings)
    _write_json(chain.from_iterable(pairs), file)


def write_json_qrels_document(qrels: QrelsColumns, file: BinaryIO) -> None:
    """Write ``{query: {document: level}}``, a line per query."""
    queries: dict[bytes, list[bytes]] = {}
    for query, document, level in qrels.judgements():
        queries.setdefault(query, []).append(b"%b: %d" % (_json(document), level))
    _write_json(((_json(query), b", ".join(of)) for query, of in queries.items()), file)


def _write_json(queries: Iterable[tuple[bytes, bytes]], file: BinaryIO) -> None:
    before = b"{\n"
    for query, documents in queries:
        file.write(before + query + b": {" + documents + b"}")
        before = b",\n"
    file.write(b"{}\n" if before == b"{\n" else b"\n}\n")
