"""Write rankings and qrels in every output format.

Scores read back as the same doubles; an id that a format cannot hold is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from math import isinf
from typing import BinaryIO, NamedTuple, TypeAlias

import numpy as np

from ragkpi.arrays import FloatArray
from ragkpi.errors import DataError
from ragkpi.files.json_text import text_of, written
from ragkpi.files.lines import Tokens
from ragkpi.files.trec import QrelsColumns, RunColumns
from ragkpi.interface import spell
from ragkpi.wording import shown

_NO_WORDS = b" \t\n\r\v\f\0"  # bytes that words exclude
# Bytes that a JSON string may escape.
_ESCAPED = bytes(range(32)) + b'"\\' + bytes(range(128, 256))
# The beginnings of a comment, a byte order mark, gzip and zstandard.
_NO_BEGINNINGS = (b"#", b"\xef\xbb\xbf", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd")


WrittenColumn: TypeAlias = "bytes | Tokens | FloatArray"


def _decimals(numbers: Iterable[float]) -> Tokens:
    """Write one or more numbers as Python does; scores read back as the same doubles."""
    text = np.frombuffer(str(list(numbers)).encode(), np.uint8)  # such as [0.5, 12.0]
    commas = np.flatnonzero(text == ord(","))
    return Tokens(text, np.append(1, commas + 2), np.append(commas, len(text) - 1))


def _ranks(block: RunColumns) -> Tokens:
    """Write the rank of each row; all queries share the text of a rank."""
    ranks = block.ranks()
    return _decimals(range(int(ranks.max(initial=0)) + 1)).take(ranks)


def _texts(column: WrittenColumn, count: int) -> Tokens:
    if isinstance(column, bytes):
        return Tokens.repeated(column, count)
    return column.trimmed() if isinstance(column, Tokens) else _decimals(column.tolist())


def _rows(count: int, *columns: WrittenColumn) -> bytes:
    """Write columns side by side, row after row."""
    if count == 0:
        return b""
    texts = Tokens.joined([_texts(column, count) for column in columns])
    return texts.take(np.arange(len(texts)).reshape(-1, count).T.ravel()).text()


def _lines(block: RunColumns, behind_query: bytes, separator: bytes, end: bytes) -> bytes:
    """Write lines of query, document, rank and score."""
    ids = block.query_of_rows(), behind_query, block.document, separator
    return _rows(len(block.score), *ids, _ranks(block), separator, block.score, end)


def _are_plain(ids: Tokens, odd: bytes) -> bool:
    """Whether no id has any of the odd bytes, nor the text between them."""
    text = ids.trimmed().buffer.tobytes()
    return len(text.translate(None, odd)) == len(text)


def _spelled(
    rankings: RunColumns,
    odd: bytes,
    spell: Callable[[bytes], bytes],
    spell_query: Callable[[bytes], bytes] | None = None,
) -> RunColumns:
    """Return rankings in which `spell` replaces ids with odd bytes, in row order.

    The first id that `spell` refuses raises an error.
    """
    if _are_plain(rankings.query, odd) and _are_plain(rankings.document, odd):
        return rankings
    query: list[bytes] = []
    document: list[bytes] = []
    for ranking in rankings.each():
        query.append((spell_query or spell)(ranking.query))
        document += [
            spell(id_) if not id_ or len(id_.translate(None, odd)) < len(id_) else id_
            for id_ in ranking.documents
        ]
    return rankings._replace(
        query=Tokens.from_strings(query), document=Tokens.from_strings(document)
    )


def _words(rankings: RunColumns) -> RunColumns:
    """Return rankings unchanged; errors as in `first_word` and `one_word`."""
    odd = _NO_WORDS
    empty = any((ids.start == ids.end).any() for ids in (rankings.query, rankings.document))
    if empty or any(query.startswith(_NO_BEGINNINGS) for query in rankings.query):
        odd = bytes(range(256))
    return _spelled(rankings, odd, one_word, first_word)


def write_trec(rankings: Iterable[RunColumns], file: BinaryIO) -> None:
    """Write `query Q0 document rank score run_id`; scores read back as the same doubles."""
    for block in map(_words, rankings):
        end = b" " + one_word(block.run_id) + b"\n"
        file.write(_lines(block, b" Q0 ", b" ", end))


def write_trec_qrels(qrels: QrelsColumns, file: BinaryIO) -> None:
    """Write `query iteration document level`."""
    columns = (qrels.query, qrels.iteration, qrels.document, qrels.level.tolist())
    for query, iteration, document, level in zip(*columns, strict=True):
        file.write(b"%b %b %b %d\n" % (first_word(query), iteration, one_word(document), level))


def _impossible(fault: str) -> DataError:
    expected = f"expected another format, such as JSON Lines ({spell('to')} jsonl)"
    return DataError(f"{fault}; {expected}")


def one_word(text: bytes) -> bytes:
    """Return an id unchanged; `DataError` if white space or NUL makes it more than a word."""
    if b"\0" in text or text.split() != [text]:
        needed = "is not one word, as TREC and MS MARCO files need it"
        raise _impossible(f"id {shown(text)} {needed}")
    return text


def first_word(query: bytes) -> bytes:
    """Return a query's id unchanged; `DataError` if it cannot be the first word of a line."""
    if query.startswith(_NO_BEGINNINGS):
        where = "cannot begin a line of TREC and MS MARCO files"
        raise _impossible(f"query id {shown(query)} {where}")
    return one_word(query)


class _Delimiting(NamedTuple):
    """The rules by which a format writes values in a line."""

    name: str  # in messages
    separator: bytes  # between two values
    impossible: bytes  # bytes that no value can hold
    quoted: bytes  # a value with any of these bytes is quoted

    def value(self, value: bytes) -> bytes:
        """Return a value, quoted if need be; `DataError` if the format cannot hold it."""
        if set(value) & set(self.impossible):
            raise _impossible(f"id {shown(value)} cannot be written as {self.name}")
        if set(value) & set(self.quoted):
            return b'"' + value.replace(b'"', b'""') + b'"'
        return value

    def line(self, values: Sequence[bytes]) -> bytes:
        return self.separator.join(map(self.value, values)) + b"\n"


_TABS = _Delimiting("TSV", b"\t", b"\t\n\r\0", b"")
_COMMAS = _Delimiting("CSV", b",", b"\0", b'",\n\r')


def _write_table(rankings: Iterable[RunColumns], file: BinaryIO, writing: _Delimiting) -> None:
    comma = writing.separator
    file.write(writing.line([b"query_id", b"doc_id", b"rank", b"score", b"run_id"]))
    for rows in rankings:
        block = _spelled(rows, writing.impossible + writing.quoted, writing.value)
        file.write(_lines(block, comma, comma, comma + writing.line([block.run_id])))


def _write_qrels_table(
    qrels: QrelsColumns,
    file: BinaryIO,
    writing: _Delimiting,
    names: Sequence[bytes] = (b"query_id", b"doc_id", b"relevance"),
) -> None:
    file.write(writing.line(names))
    for query, document, level in qrels.judgements():
        file.write(writing.line([query, document, b"%d" % level]))


def write_msmarco(rankings: Iterable[RunColumns], file: BinaryIO) -> None:
    """Write `query document rank`, without scores; equal scores keep their order."""
    for block in map(_words, rankings):
        columns = block.query_of_rows(), b"\t", block.document, b"\t", _ranks(block), b"\n"
        file.write(_rows(len(block.score), *columns))


write_csv = partial(_write_table, writing=_COMMAS)
write_tsv = partial(_write_table, writing=_TABS)
write_csv_qrels = partial(_write_qrels_table, writing=_COMMAS)
write_tsv_qrels = partial(_write_qrels_table, writing=_TABS)
write_beir_qrels = partial(
    _write_qrels_table, writing=_TABS, names=(b"query-id", b"corpus-id", b"score")
)


def write_json_lines(rankings: Iterable[RunColumns], file: BinaryIO) -> None:
    """Write a line per query: ``{"qid", "run_id", "candidates": [{"docid", "score"}, …]}``."""
    for block in rankings:
        system = b'", "run_id": ' + written(text_of(block.run_id)) + b', "candidates": ['
        pieces: list[bytes] = []
        for query, documents in _listed(block, b'{"docid": "', b'", "score": ', b"}"):
            pieces += (b'{"qid": "', query, system, documents, b"]}\n")
        file.write(b"".join(pieces))


def _listed(
    rankings: RunColumns, begin: bytes, between: bytes, end: bytes
) -> Iterator[tuple[bytes, bytes]]:
    """Yield the id of each query, and its documents with scores, as JSON."""
    block = _spelled(rankings, _ESCAPED, lambda id_: written(text_of(id_))[1:-1])
    sizes = np.diff(block.starts)
    last = np.zeros(len(block.score), dtype=np.int64)
    last[block.starts[1:][sizes > 0] - 1] = 1
    behind = Tokens.from_strings([b", ", b"\n"]).take(last)  # in an id, a newline would be escaped
    scores = block.score if np.isfinite(block.score).all() else _json_numbers(block.score)
    text = _rows(len(last), begin, block.document, between, scores, end, behind)
    texts = iter(text.split(b"\n"))
    for query, size in zip(block.query, sizes.tolist(), strict=True):
        yield query, next(texts) if size else b""


def _json_numbers(score: FloatArray) -> Tokens:
    """Write scores; infinity becomes a string, because JSON lacks it."""
    texts = (f'"{number!r}"' if isinf(number) else repr(number) for number in score.tolist())
    return Tokens.from_strings(text.encode() for text in texts)


def write_json_qrels_lines(qrels: QrelsColumns, file: BinaryIO) -> None:
    """Write a line per judgement: ``{"query_id", "doc_id", "relevance"}``."""
    for query, document, level in qrels.judgements():
        record = {"query_id": text_of(query), "doc_id": text_of(document), "relevance": level}
        file.write(written(record) + b"\n")


def write_json_document(rankings: Iterable[RunColumns], file: BinaryIO) -> None:
    """Write ``{query: {document: score}}``, a line per query."""
    queries = (
        (b'"%b"' % query, documents)
        for block in rankings
        for query, documents in _listed(block, b'"', b'": ', b"")
    )
    _write_json(queries, file)


def write_json_qrels_document(qrels: QrelsColumns, file: BinaryIO) -> None:
    """Write ``{query: {document: level}}``, a line per query."""
    queries: dict[bytes, list[bytes]] = {}
    for query, document, level in qrels.judgements():
        judged = b"%b: %d" % (written(text_of(document)), level)
        queries.setdefault(query, []).append(judged)
    _write_json(
        ((written(text_of(query)), b", ".join(judged)) for query, judged in queries.items()), file
    )


def _write_json(queries: Iterable[tuple[bytes, bytes]], file: BinaryIO) -> None:
    before = b"{\n"
    for query, documents in queries:
        file.write(before + query + b": {" + documents + b"}")
        before = b",\n"
    file.write(b"{}\n" if before == b"{\n" else b"\n}\n")
