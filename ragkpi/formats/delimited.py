"""CSV and TSV with a line of column names; BEIR's qrels are such TSV.

CSV is quoted as RFC 4180 has it. TSV is not quoted at all: tabs and newlines cannot stand in an
id. Neither is decoded, so ids of any bytes survive.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import BinaryIO

from ragkpi.errors import DataError, InputError
from ragkpi.formats import column_names as fields
from ragkpi.formats.blocks import read_lines
from ragkpi.formats.opening import Source
from ragkpi.formats.rows import Ranking, Row, collect_qrels, stream_rows
from ragkpi.formats.trec_qrels import QrelsColumns
from ragkpi.formats.trec_runs import RunColumns
from ragkpi.wording import shown

Records = Iterator[tuple[int, Sequence[bytes]]]


def _read_tabs(source: Source) -> Records:
    for number, line in read_lines(source):
        if line.strip():
            yield number, line.removesuffix(b"\r").split(b"\t")


def _read_commas(source: Source) -> Records:
    number = 1  # of the line where a record begins
    # As Latin-1, each byte is a character and becomes the same byte again.
    records = csv.reader(
        (line.decode("latin-1") + "\n" for _, line in read_lines(source)), strict=True
    )
    while True:
        try:
            record = next(records, None)
        except csv.Error as problem:
            raise InputError(
                source.name, number, f"no CSV ({problem})", "expected values separated by commas"
            ) from None
        if record is None:
            return
        if record:
            yield number, [value.encode("latin-1") for value in record]
        number = records.line_num + 1


def _named(source: Source, records: Records) -> tuple[list[str], Records]:
    """Split off the line of names, and refuse lines with another number of columns."""
    line, header = next(records, (0, ()))
    if not header:
        raise InputError(source.name, None, "is empty", "expected a line of column names")
    names = [name.decode("utf-8", "surrogateescape") for name in header]

    def checked() -> Records:
        for number, record in records:
            if len(record) != len(names):
                raise InputError(
                    source.name,
                    number,
                    f"{len(record)} columns ({shown(b' '.join(record[:20]))})",
                    f"expected {len(names)}, as line {line} names",
                )
            yield number, record

    return names, checked()


def _places(source: Source, names: list[str], *wanted: Sequence[str]) -> list[int]:
    return [names.index(fields.need(source.name, 1, names, aliases)) for aliases in wanted]


def _stream_run(source: Source, read: Callable[[Source], Records]) -> Iterator[RunColumns]:
    names, records = _named(source, read(source))
    query, document = _places(source, names, fields.QUERY, fields.DOCUMENT)
    scored = fields.find(names, fields.SCORE)
    (value,) = _places(source, names, fields.SCORE if scored else (*fields.RANK, "score"))
    tag = fields.find(names, fields.RUN_ID)
    run_id = names.index(tag) if tag else None
    rows = (
        Row(
            number,
            record[query],
            record[document],
            record[value].strip() if scored else descending(source.name, number, record[value]),
            record[run_id] if run_id is not None else b"",
        )
        for number, record in records
    )
    return stream_rows(source.name, rows)


def descending(file: str, line: int, rank: bytes) -> bytes:
    """Return a score that falls with the rank; `InputError` if that is no whole number from 0."""
    rank = rank.strip()
    if not rank.isdigit():
        raise InputError(file, line, f"rank {shown(rank)}", "expected a whole number from 1")
    return b"-" + rank


def _read_qrels(source: Source, read: Callable[[Source], Records]) -> QrelsColumns:
    names, records = _named(source, read(source))
    query, document, level = _places(source, names, fields.QUERY, fields.DOCUMENT, fields.LEVEL)
    rows = (
        Row(number, record[query], record[document], record[level].strip())
        for number, record in records
    )
    return collect_qrels(source.name, rows)


def _join_tabs(values: Sequence[bytes]) -> bytes:
    _refuse(values, b"\t\n\r\0", "TSV")
    return b"\t".join(values) + b"\n"


def _join_commas(values: Sequence[bytes]) -> bytes:
    _refuse(values, b"\0", "CSV")
    quoted = (
        b'"' + value.replace(b'"', b'""') + b'"' if set(value) & set(b'",\n\r') else value
        for value in values
    )
    return b",".join(quoted) + b"\n"


def _refuse(values: Sequence[bytes], impossible: bytes, name: str) -> None:
    """Raise `DataError` for an id that a format cannot hold."""
    for value in values:
        if set(value) & set(impossible):
            raise DataError(
                f"id {shown(value)} cannot stand in {name}; "
                "expected another format, such as JSON Lines (--to jsonl)"
            )


def _write_run(
    rankings: Iterable[Ranking], run_id: bytes, file: BinaryIO, join: Callable[..., bytes]
) -> None:
    file.write(join([b"query_id", b"doc_id", b"rank", b"score", b"run_id"]))
    for query, documents, scores in rankings:
        for rank, (document, score) in enumerate(zip(documents, scores, strict=True), start=1):
            file.write(join([query, document, b"%d" % rank, repr(score).encode(), run_id]))


def _write_qrels(
    qrels: QrelsColumns,
    file: BinaryIO,
    join: Callable[..., bytes],
    names: Sequence[bytes] = (b"query_id", b"doc_id", b"relevance"),
) -> None:
    file.write(join(names))
    for query, document, level in qrels.judgements():
        file.write(join([query, document, b"%d" % level]))


stream_csv = partial(_stream_run, read=_read_commas)
stream_tsv = partial(_stream_run, read=_read_tabs)
read_csv_qrels = partial(_read_qrels, read=_read_commas)
read_tsv_qrels = partial(_read_qrels, read=_read_tabs)
write_csv = partial(_write_run, join=_join_commas)
write_tsv = partial(_write_run, join=_join_tabs)
write_csv_qrels = partial(_write_qrels, join=_join_commas)
write_tsv_qrels = partial(_write_qrels, join=_join_tabs)
write_beir_qrels = partial(
    _write_qrels, join=_join_tabs, names=(b"query-id", b"corpus-id", b"score")
)
