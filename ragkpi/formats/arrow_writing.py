"""Runs and qrels written as parquet and Arrow, batch by batch, through pyarrow."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, BinaryIO

from ragkpi.formats.arrow_tables import no_pyarrow
from ragkpi.formats.rankings import Rankings
from ragkpi.formats.trec_qrels import QrelsColumns

_ROWS_OF_BATCH = 1 << 16  # that are written at a time


class _NoTextError(Exception):
    """An id is not UTF-8, so its column has to be binary."""


def _pyarrow(name: str) -> Any:
    """Import a module of pyarrow; `UsageError` says how to install it."""
    try:
        return importlib.import_module(name)
    except ImportError as problem:
        raise no_pyarrow(problem) from None


def _write(
    columns: Mapping[str, str],
    batches: Iterable[Sequence[Sequence[Any]]],
    file: BinaryIO,
    kind: str,
) -> None:
    """Write batches of columns; write all again with binary columns if some ids are not UTF-8."""
    arrow = _pyarrow("pyarrow")
    begin = file.tell()
    binary: set[str] = set()
    while True:
        types = {name: "large_binary" if name in binary else of for name, of in columns.items()}
        schema = arrow.schema([(name, getattr(arrow, of)()) for name, of in types.items()])
        if kind == "parquet":
            writer = _pyarrow("pyarrow.parquet").ParquetWriter(file, schema, compression="zstd")
        else:
            writer = _pyarrow("pyarrow.ipc").new_file(file, schema)
        try:
            with writer:
                for batch in batches:
                    arrays = [
                        _array(values, name, of)
                        for values, (name, of) in zip(batch, types.items(), strict=True)
                    ]
                    writer.write(arrow.table(arrays, schema=schema))
            return
        except _NoTextError as problem:
            binary.add(str(problem))
        file.seek(begin)
        file.truncate()


def _array(values: Sequence[Any], name: str, type_: str) -> Any:
    arrow = _pyarrow("pyarrow")
    if type_ != "large_string":
        return arrow.array(values, type_)
    try:
        return arrow.array(values, "large_binary").cast(type_)
    except arrow.ArrowInvalid:
        raise _NoTextError(name) from None


class _Batches:
    """Rankings in batches of columns; each iteration starts with the first ranking."""

    def __init__(self, rankings: Iterable[Rankings], run_id: bytes) -> None:
        self._rankings, self._run_id = rankings, run_id

    def __iter__(self) -> Iterator[Sequence[Sequence[Any]]]:
        queries: list[bytes] = []
        documents: list[bytes] = []
        ranks: list[int] = []
        scores: list[float] = []
        for block in self._rankings:
            queries += block.query_of_rows().tolist()
            documents += block.document.tolist()
            ranks += block.ranks().tolist()
            scores += block.score.tolist()
            if len(queries) >= _ROWS_OF_BATCH:
                yield queries, documents, ranks, scores, [self._run_id] * len(queries)
                queries, documents, ranks, scores = [], [], [], []
        if queries:
            yield queries, documents, ranks, scores, [self._run_id] * len(queries)


def _write_run(rankings: Iterable[Rankings], run_id: bytes, file: BinaryIO, kind: str) -> None:
    ids = dict.fromkeys(("query_id", "doc_id"), "large_string")
    columns = {**ids, "rank": "int64", "score": "float64", "run_id": "large_string"}
    _write(columns, _Batches(rankings, run_id), file, kind)


def _write_qrels(qrels: QrelsColumns, file: BinaryIO, kind: str) -> None:
    ids = dict.fromkeys(("query_id", "doc_id"), "large_string")
    batch: list[Any] = [qrels.query.tolist(), qrels.document.tolist(), qrels.level]
    _write({**ids, "relevance": "int64"}, [batch], file, kind)


write_parquet = partial(_write_run, kind="parquet")
write_arrow = partial(_write_run, kind="arrow")
write_parquet_qrels = partial(_write_qrels, kind="parquet")
write_arrow_qrels = partial(_write_qrels, kind="arrow")
