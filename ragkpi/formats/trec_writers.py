"""TREC runs and qrels, written; `ragkpi.formats.trec_runs` and `.qrels` read them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import BinaryIO

from ragkpi.errors import DataError
from ragkpi.formats.rows import Ranking
from ragkpi.formats.trec_qrels import QrelsColumns
from ragkpi.wording import shown


def one_word(text: bytes) -> bytes:
    """Return an id as it is; `DataError` if columns separated by white space cannot hold it."""
    if b"\0" in text or text.split() != [text]:
        raise DataError(
            f"id {shown(text)} is not one word, as TREC and MS MARCO files need it; "
            "expected another format, such as JSON Lines (--to jsonl)"
        )
    return text


# A comment, a byte order mark, gzip and zstandard: what a file that begins so is taken for.
_NO_BEGINNINGS = (b"#", b"\xef\xbb\xbf", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd")


def first_word(query: bytes) -> bytes:
    """Return a query's id as the first word of a line; `DataError` if it would not be read so."""
    if query.startswith(_NO_BEGINNINGS):
        raise DataError(
            f"query id {shown(query)} cannot begin a line of TREC and MS MARCO files; "
            "expected another format, such as JSON Lines (--to jsonl)"
        )
    return one_word(query)


def write_run(rankings: Iterable[Ranking], run_id: bytes, file: BinaryIO) -> None:
    """Write `query Q0 document rank score run_id`; scores read back as the same doubles."""
    run_id = one_word(run_id)
    for query, documents, scores in rankings:
        query = first_word(query)
        for rank, (document, score) in enumerate(zip(documents, scores, strict=True), start=1):
            number = repr(score).encode()
            file.write(b"%b Q0 %b %d %b %b\n" % (query, one_word(document), rank, number, run_id))


def write_qrels(qrels: QrelsColumns, file: BinaryIO) -> None:
    """Write `query iteration document level`."""
    columns = (qrels.query, qrels.iteration, qrels.document, qrels.level.tolist())
    for query, iteration, document, level in zip(*columns, strict=True):
        file.write(b"%b %b %b %d\n" % (first_word(query), iteration, one_word(document), level))
