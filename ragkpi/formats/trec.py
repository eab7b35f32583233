"""TREC runs and qrels, written; `ragkpi.formats.run` and `.qrels` read them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import BinaryIO

from ragkpi.errors import DataError
from ragkpi.formats.qrels import QrelsColumns
from ragkpi.formats.rows import Ranking
from ragkpi.formats.table import shown


def one_word(text: bytes) -> bytes:
    """Return an id as it is; `DataError` if columns separated by white space cannot hold it."""
    if b"\0" in text or text.split() != [text]:
        raise DataError(
            f"id {shown(text)} is not one word, as TREC and MS MARCO files need it; "
            "expected another format, such as JSON Lines (--to jsonl)"
        )
    return text


def _first_word(query: bytes) -> bytes:
    """Return a query's id as the first word of a line; one that begins with # is a comment."""
    if query.startswith(b"#"):
        raise DataError(
            f"query id {shown(query)} begins a comment in TREC files; "
            "expected another format, such as JSON Lines (--to jsonl)"
        )
    return one_word(query)


def write_run(rankings: Iterable[Ranking], run_id: bytes, file: BinaryIO) -> None:
    """Write `query Q0 document rank score run_id`; scores read back as the same doubles."""
    run_id = one_word(run_id)
    for query, documents, scores in rankings:
        query = _first_word(query)
        for rank, (document, score) in enumerate(zip(documents, scores, strict=True), start=1):
            number = repr(score).encode()
            file.write(b"%b Q0 %b %d %b %b\n" % (query, one_word(document), rank, number, run_id))


def write_qrels(qrels: QrelsColumns, file: BinaryIO) -> None:
    """Write `query iteration document level`."""
    columns = (qrels.query, qrels.iteration, qrels.document, qrels.level.tolist())
    for query, iteration, document, level in zip(*columns, strict=True):
        file.write(b"%b %b %b %d\n" % (_first_word(query), iteration, one_word(document), level))
