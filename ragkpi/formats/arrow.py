"""Parquet and Arrow (IPC files and streams, Feather) with named columns, through pyarrow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, BinaryIO

import numpy as np

from ragkpi.errors import InputError, UsageError
from ragkpi.formats import column_names as fields
from ragkpi.formats.identity import group_starts
from ragkpi.formats.json_files import hold
from ragkpi.formats.opening import MOST_HELD, Source
from ragkpi.formats.rows import (
    Listed,
    Ranking,
    collect_qrels,
    same_strings,
    split_columns,
    stream_listed,
)
from ragkpi.formats.shape_reader import Record, ShapeReader, choose_shape, likely_shape
from ragkpi.formats.shapes import SHAPES, Kind, Shape
from ragkpi.formats.tokens import PADDING, FloatArray, IntArray, Tokens
from ragkpi.formats.trec_qrels import QrelsColumns, judged_or_not
from ragkpi.formats.trec_runs import RunColumns, refuse_empty, run_id_of

_IDS = ("query", "doc")
_ROWS_AT_ONCE = 1 << 12
_ROWS_OF_BATCH = 1 << 16  # that are written at a time
_LEAST_ROW = 16  # bytes of memory that even the smallest row needs


def stream_run(source: Source, shape: Shape | None = None) -> Iterator[RunColumns]:
    """Read a run; its `line` numbers are rows from 1."""
    table = _read(source)
    if _is_nested(table, shape, SHAPES["run"]):
        yield from stream_listed(source.name, _listed(source, table, "run", shape))
        return
    shape = shape or SHAPES["run"]["flat"]
    query, document = (_tokens(source, table, _named(source, table, shape, part)) for part in _IDS)
    scored = _find(source, table, shape.score)
    ranked = _find(source, table, shape.rank)
    rank = _numbers(source, table, ranked, "float64") if ranked is not None else None
    if scored is not None:
        score = _numbers(source, table, scored, "float64")
    elif rank is not None:
        score = -rank
    else:
        raise InputError(
            source.name,
            None,
            f"names no score ({fields.shown_names(table.column_names)})",
            f"expected one of {' '.join((*fields.SCORE, *fields.RANK))}, or --map-run 'score=…'",
        )
    tag = _find(source, table, shape.run_id)
    run_ids = _tokens(source, table, tag) if tag is not None else None
    if not len(query):
        return
    line = np.arange(1, len(query) + 1)
    refuse_empty(source.name, query, line, "query id")
    refuse_empty(source.name, document, line, "document id")
    starts = group_starts(query)
    columns = RunColumns(
        file=source.name,
        query=query.take(starts[:-1]),
        starts=starts,
        document=document,
        score=score,
        line=line,
        run_id=run_ids[len(query) - 1] if run_ids is not None else run_id_of(source.name),
        rank=rank,
    )
    yield from split_columns(columns)


def read_qrels(source: Source, shape: Shape | None = None) -> QrelsColumns:
    """Read qrels; their `line` numbers are rows from 1."""
    table = _read(source)
    if _is_nested(table, shape, SHAPES["qrels"]):
        return collect_qrels(source.name, _listed(source, table, "qrels", shape))
    shape = shape or SHAPES["qrels"]["flat"]
    query, document = (_tokens(source, table, _named(source, table, shape, part)) for part in _IDS)
    level, gain = _levels(source, table, _named(source, table, shape, "level"))
    line = np.arange(1, len(query) + 1)
    refuse_empty(source.name, query, line, "query id")
    refuse_empty(source.name, document, line, "document id")
    return QrelsColumns(
        file=source.name,
        query=query,
        iteration=same_strings(b"0", len(query)),
        document=document,
        level=level,
        line=line,
        gain=gain,
    )


def _is_nested(table: Any, shape: Shape | None, shapes: Mapping[str, Shape]) -> bool:
    """Say whether rows hold lists of documents: the shape says so, or flat columns are lacking."""
    if shape is not None:
        return bool(shape.list)
    types = _pyarrow("pyarrow").types
    flat = shapes["flat"]
    found = fields.find_one("", None, table.column_names, fields.NAMES[flat.doc])
    return found is None and any(
        types.is_list(field.type) or types.is_large_list(field.type) or types.is_struct(field.type)
        for field in table.schema
    )


def _listed(source: Source, table: Any, kind: Kind, shape: Shape | None) -> Iterator[Listed]:
    """Interpret rows as if they were objects of JSON."""
    reader = None if shape is None else ShapeReader(shape, source.name)
    number = 0
    for batch in table.to_batches(max_chunksize=_ROWS_AT_ONCE):
        rows = batch.to_pylist()
        if reader is None and rows:
            reader = choose_shape(kind, rows[:100], source.name)
            reader = reader or likely_shape(kind, rows[0], source.name)
        for row in rows:
            number += 1
            assert reader is not None
            yield reader.listed(Record(number, number, row))


def _find(source: Source, table: Any, path: str) -> str | None:
    """Return the column that a path names; None if there is none."""
    names = table.column_names
    for name in path.split("|"):
        if name in names:
            return name
        wanted = fields.NAMES.get(name, (fields.plain_name(name),))
        found = fields.find_one(source.name, None, names, wanted)
        if found is not None:
            return found
    return None


def _named(source: Source, table: Any, shape: Shape, part: str) -> str:
    path = getattr(shape, part)
    name = _find(source, table, path)
    if name is None:
        wanted = fields.NAMES.get(path, (path,))
        raise InputError(
            source.name,
            None,
            f"names no {wanted[0]} ({fields.shown_names(table.column_names)})",
            f"expected one of {' '.join(wanted)}, or --map-{shape.kind} '{part}=…'",
        )
    return name


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
    """Read a table, or the parts of one in a folder."""
    tables = [_read_file(source)]
    for path in source.parts[1:]:
        with Source(path) as part:
            tables.append(_read_file(part))
    if len(tables) == 1:
        return tables[0]
    arrow = _pyarrow("pyarrow")
    try:
        return arrow.concat_tables(tables, promote_options="permissive")
    except arrow.ArrowException as problem:
        raise _broken(source, f"parts that do not fit ({_first_line(problem)})") from None


def _read_file(source: Source) -> Any:
    """Read a table, which is checked in full: a damaged one must not become numbers."""
    arrow = _pyarrow("pyarrow")
    octets = hold(source)
    try:
        if octets.startswith(b"PAR1"):
            parquet = _pyarrow("pyarrow.parquet").ParquetFile(arrow.BufferReader(octets))
            _refuse_bomb(
                source,
                sum(
                    parquet.metadata.row_group(number).total_byte_size
                    for number in range(parquet.metadata.num_row_groups)
                ),
                parquet.metadata.num_rows,
            )
            table = parquet.read()
        elif octets.startswith(b"ARROW1"):
            table = _pyarrow("pyarrow.ipc").open_file(arrow.BufferReader(octets)).read_all()
        else:
            table = _pyarrow("pyarrow.ipc").open_stream(arrow.BufferReader(octets)).read_all()
        table.validate(full=True)
    except (UsageError, InputError, MemoryError):
        raise
    except Exception as problem:  # damaged files end in errors of many kinds
        raise _broken(source, f"no table ({_first_line(problem)})") from None
    return table


def _refuse_bomb(source: Source, size: int, rows: int) -> None:
    """Raise `InputError` for a table that would need more memory than is held."""
    if max(size, rows * _LEAST_ROW) > MOST_HELD:
        raise InputError(
            source.name,
            None,
            f"more than {MOST_HELD >> 30} GB that have to be held in memory",
            "expected a smaller table, or a format of lines",
        )


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
            if arrow.types.is_floating(kind):
                raise _broken(source, f"column {name} (ids that are decimal numbers)")
            if not (arrow.types.is_binary(kind) or arrow.types.is_large_binary(kind)):
                column = column.cast("large_string")
        column = column.cast(type_)
    except (arrow.ArrowException, NotImplementedError, ValueError, UnicodeError) as problem:
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


def _levels(source: Source, table: Any, name: str) -> tuple[IntArray, FloatArray | None]:
    """Return levels, and gains if any is fractional, as `QrelsColumns` has them."""
    try:
        return _numbers(source, table, name, "int64"), None
    except InputError as no_whole_numbers:
        try:
            gain = _numbers(source, table, name, "float64")
        except InputError:
            raise no_whole_numbers from None
        if not (np.abs(gain) <= 2.0**53).all():
            raise
        return judged_or_not(gain), gain


class _NoTextError(Exception):
    """An id is not UTF-8, so that its column holds binary."""


def _write(
    columns: Mapping[str, str],
    batches: Iterable[Sequence[Sequence[Any]]],
    file: BinaryIO,
    kind: str,
) -> None:
    """Write batches of columns; all again with columns of binary, if some ids are not UTF-8."""
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
    """Rankings in batches of columns; whoever goes through them again begins anew."""

    def __init__(self, rankings: Iterable[Ranking], run_id: bytes) -> None:
        self._rankings, self._run_id = rankings, run_id

    def __iter__(self) -> Iterator[Sequence[Sequence[Any]]]:
        queries: list[bytes] = []
        documents: list[bytes] = []
        ranks: list[int] = []
        scores: list[float] = []
        for ranking in self._rankings:
            queries += [ranking.query] * len(ranking.documents)
            documents += ranking.documents
            ranks += range(1, len(ranking.documents) + 1)
            scores += ranking.scores
            if len(queries) >= _ROWS_OF_BATCH:
                yield queries, documents, ranks, scores, [self._run_id] * len(queries)
                queries, documents, ranks, scores = [], [], [], []
        if queries:
            yield queries, documents, ranks, scores, [self._run_id] * len(queries)


def _write_run(rankings: Iterable[Ranking], run_id: bytes, file: BinaryIO, kind: str) -> None:
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
