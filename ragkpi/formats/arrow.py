"""Parquet and Arrow (IPC files and streams, Feather) with named columns, through pyarrow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, BinaryIO

import numpy as np

from ragkpi.errors import InputError, UsageError
from ragkpi.formats import column_names as fields
from ragkpi.formats.identity import group_starts
from ragkpi.formats.json_documents import hold
from ragkpi.formats.opening import Source
from ragkpi.formats.rows import Ranking, run_id_of, same_strings, split_columns
from ragkpi.formats.tokens import PADDING, FloatArray, IntArray, Tokens
from ragkpi.formats.trec_qrels import QrelsColumns
from ragkpi.formats.trec_runs import RunColumns

_SCORE = "a column of finite or infinite numbers"


def stream_run(source: Source) -> Iterator[RunColumns]:
    """Read a run; its `line` numbers are rows from 1."""
    table = _read(source)
    names = table.column_names
    query, document = (
        _tokens(source, table, fields.need(source.name, None, names, aliases))
        for aliases in (fields.QUERY, fields.DOCUMENT)
    )
    scored = fields.find(names, fields.SCORE)
    if scored is not None:
        score = _numbers(source, table, scored, "float64")
    else:
        rank = fields.need(source.name, None, names, (*fields.RANK, "score"))
        score = -_numbers(source, table, rank, "int64").astype(np.float64)
    tag = fields.find(names, fields.RUN_ID)
    run_ids = _tokens(source, table, tag) if tag is not None else None
    if not len(query):
        return
    starts = group_starts(query)
    yield from split_columns(
        RunColumns(
            file=source.name,
            query=query.take(starts[:-1]),
            starts=starts,
            document=document,
            score=score,
            line=np.arange(1, len(query) + 1),
            run_id=run_ids[len(query) - 1] if run_ids is not None else run_id_of(source.name),
        )
    )


def read_qrels(source: Source) -> QrelsColumns:
    """Read qrels; their `line` numbers are rows from 1."""
    table = _read(source)
    names = table.column_names
    query, document = (
        _tokens(source, table, fields.need(source.name, None, names, aliases))
        for aliases in (fields.QUERY, fields.DOCUMENT)
    )
    level = fields.need(source.name, None, names, fields.LEVEL)
    return QrelsColumns(
        file=source.name,
        query=query,
        iteration=same_strings(b"0", len(query)),
        document=document,
        level=_numbers(source, table, level, "int64"),
        line=np.arange(1, len(query) + 1),
    )


def _pyarrow(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as problem:
        raise UsageError(
            f"parquet and Arrow files need a package ({problem}); "
            "expected it installed, e.g. pip install 'ragkpi[arrow]'"
        ) from None


def _read(source: Source) -> Any:
    arrow = _pyarrow("pyarrow")
    parquet, ipc = _pyarrow("pyarrow.parquet"), _pyarrow("pyarrow.ipc")
    octets = hold(source)
    try:
        if octets.startswith(b"PAR1"):
            return parquet.read_table(arrow.BufferReader(octets))
        if octets.startswith(b"ARROW1"):
            return ipc.open_file(arrow.BufferReader(octets)).read_all()
        return ipc.open_stream(arrow.BufferReader(octets)).read_all()
    except (arrow.ArrowException, OSError, ValueError) as problem:
        raise _broken(source, f"no table ({_first_line(problem)})") from None


def _first_line(problem: Exception) -> str:
    return (str(problem).splitlines() or [type(problem).__name__])[0][:100]


def _broken(source: Source, found: str) -> InputError:
    return InputError(source.name, None, found, "expected a complete parquet or Arrow table")


def _column(source: Source, table: Any, name: str, type_: str) -> Any:
    """Return a column without nulls, in one piece, as a type."""
    arrow = _pyarrow("pyarrow")
    if table.column_names.count(name) > 1:
        raise _broken(source, f"column {name} twice")
    column = table[name]
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy())[0]) + 1
        raise InputError(source.name, row, f"{name} is null", "expected a value in every row")
    try:
        if type_ == "large_binary":
            kind = column.type
            if arrow.types.is_dictionary(kind):
                column, kind = column.cast(kind.value_type), kind.value_type
            if not (arrow.types.is_binary(kind) or arrow.types.is_large_binary(kind)):
                column = column.cast("large_string")
        column = column.cast(type_)
    except (arrow.ArrowException, NotImplementedError) as problem:
        raise _broken(source, f"column {name} ({_first_line(problem)})") from None
    return arrow.concat_arrays(column.chunks) if column.num_chunks else arrow.array([], type_)


def _tokens(source: Source, table: Any, name: str) -> Tokens:
    return tokens_of_array(_column(source, table, name, "large_binary"))


def tokens_of_array(array: Any) -> Tokens:
    """Return an array of large strings or large binary, without nulls, as a column."""
    if not len(array):
        return Tokens.from_strings([])
    _, offsets, data = array.buffers()
    bounds: IntArray = np.frombuffer(offsets, dtype=np.int64)[array.offset :][: len(array) + 1]
    text = np.frombuffer(data or b"", dtype=np.uint8)[bounds[0] : bounds[-1]]
    pad = np.zeros(PADDING, dtype=np.uint8)
    places = bounds - bounds[0] + PADDING
    return Tokens(np.concatenate([pad, text, pad]), places[:-1], places[1:])


def _numbers(source: Source, table: Any, name: str, type_: str) -> Any:
    numbers: FloatArray | IntArray = np.asarray(_column(source, table, name, type_))
    wrong = np.flatnonzero(np.isnan(numbers))
    if len(wrong):
        raise InputError(
            source.name, int(wrong[0]) + 1, f"{name} 'nan'", "expected a decimal number"
        )
    return numbers


def _write(table: Any, file: BinaryIO, kind: str) -> None:
    if kind == "parquet":
        _pyarrow("pyarrow.parquet").write_table(table, file, compression="zstd")
        return
    with _pyarrow("pyarrow.ipc").new_file(file, table.schema) as writer:
        writer.write_table(table)


def _texts(octets: Sequence[bytes]) -> Any:
    """Return ids as a column of strings; of binary, if some are not UTF-8."""
    arrow = _pyarrow("pyarrow")
    column = arrow.array(octets, "large_binary")
    try:
        return column.cast("large_string")
    except arrow.ArrowInvalid:
        return column


def _write_run(rankings: Iterable[Ranking], run_id: bytes, file: BinaryIO, kind: str) -> None:
    arrow = _pyarrow("pyarrow")
    queries: list[bytes] = []
    documents: list[bytes] = []
    ranks: list[int] = []
    scores: list[float] = []
    for ranking in rankings:
        queries += [ranking.query] * len(ranking.documents)
        documents += ranking.documents
        ranks += range(1, len(ranking.documents) + 1)
        scores += ranking.scores
    table = {
        "query_id": _texts(queries),
        "doc_id": _texts(documents),
        "rank": arrow.array(ranks, "int64"),
        "score": arrow.array(scores, "float64"),
        "run_id": _texts([run_id] * len(queries)),
    }
    _write(arrow.table(table), file, kind)


def _write_qrels(qrels: QrelsColumns, file: BinaryIO, kind: str) -> None:
    arrow = _pyarrow("pyarrow")
    table = {
        "query_id": _texts(qrels.query.tolist()),
        "doc_id": _texts(qrels.document.tolist()),
        "relevance": arrow.array(qrels.level, "int64"),
    }
    _write(arrow.table(table), file, kind)


write_parquet = partial(_write_run, kind="parquet")
write_arrow = partial(_write_run, kind="arrow")
write_parquet_qrels = partial(_write_qrels, kind="parquet")
write_arrow_qrels = partial(_write_qrels, kind="arrow")
