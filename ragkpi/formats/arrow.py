"""Parquet and Arrow (IPC files and streams, Feather) with named columns, through pyarrow.

A run streams through in pieces: a table of few bytes may hold very many rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ragkpi.errors import InputError, UsageError
from ragkpi.formats import column_names as fields
from ragkpi.formats.identity import group_starts
from ragkpi.formats.json_files import hold
from ragkpi.formats.opening import MOST_HELD, Source
from ragkpi.formats.rows import Listed, collect_qrels, same_strings, stream_listed
from ragkpi.formats.score_order import warn_of_order
from ragkpi.formats.shape_reader import Record, ShapeReader, choose_shape, likely_shape
from ragkpi.formats.shapes import SHAPES, Kind, Shape
from ragkpi.formats.tokens import PADDING, FloatArray, IntArray, Tokens
from ragkpi.formats.trec_qrels import QrelsColumns, judged_or_not
from ragkpi.formats.trec_runs import RunColumns, refuse_empty, run_id_of

_IDS = ("query", "doc")
_ROWS_OF_PIECE = 1 << 16  # that are looked at together
# Rows that are decoded at a time: each may have an id that is long and takes few bytes in the file.
_ROWS_AT_ONCE = 1 << 11
_COST = 200  # bytes of memory that the smallest row or element needs


def stream_run(source: Source, shape: Shape | None = None) -> Iterator[RunColumns]:
    """Read a run in blocks of whole queries; its `line` numbers are rows from 1."""
    pieces = _Pieces(source)
    first = pieces.read(_ROWS_OF_PIECE)
    if _is_nested(first, shape, SHAPES["run"]):
        yield from stream_listed(source.name, _listed(source, first, pieces, "run", shape))
        return
    columns = _RunReader(source, first, shape or SHAPES["run"]["flat"])
    rest, rows = first, _ROWS_OF_PIECE
    while len(rest):
        more = pieces.read(rows)
        used = len(rest) if more is None else columns.whole_queries(rest)
        if used:
            yield columns.read(rest.slice(0, used))
        if more is None:
            return
        rest = rest.slice(used)
        _refuse_bomb(source, len(rest))
        rows = max(_ROWS_OF_PIECE, len(rest))  # of one long query twice as many, each time
        rest = pieces.joined([rest, more])


class _RunReader:
    """Which columns of a table hold a run."""

    def __init__(self, source: Source, table: Any, shape: Shape) -> None:
        self._source = source
        self._query, self._document = (_named(source, table, shape, part) for part in _IDS)
        self._score, self._rank, self._run_id = (
            _find(source, table, path) for path in (shape.score, shape.rank, shape.run_id)
        )
        self._row = 0
        if self._score is None and self._rank is None:
            warn_of_order(source.name, table.column_names)

    def whole_queries(self, table: Any) -> int:
        """Return how many rows stand above the last query, which may go on."""
        return int(group_starts(self._tokens(table, self._query))[-2])

    def read(self, table: Any) -> RunColumns:
        """Return the columns of the rows that come next."""
        source = self._source
        query, document = self._tokens(table, self._query), self._tokens(table, self._document)
        line = np.arange(self._row + 1, self._row + 1 + len(query))
        rank = None
        if self._rank is not None:
            rank = _numbers(source, table, self._rank, "float64", self._row)
        if self._score is not None:
            score = _numbers(source, table, self._score, "float64", self._row)
        else:
            score = -line.astype(np.float64) if rank is None else -rank
        refuse_empty(source.name, query, line, "query id")
        refuse_empty(source.name, document, line, "document id")
        starts = group_starts(query)
        run_ids = None if self._run_id is None else self._tokens(table, self._run_id)
        self._row += len(query)
        return RunColumns(
            file=source.name,
            query=query.take(starts[:-1]),
            starts=starts,
            document=document,
            score=score,
            line=line,
            run_id=run_id_of(source.name) if run_ids is None else run_ids[len(query) - 1],
            rank=None if self._score is None else rank,
        )

    def _tokens(self, table: Any, name: str) -> Tokens:
        return _tokens(self._source, table, name, self._row)


def read_qrels(source: Source, shape: Shape | None = None) -> QrelsColumns:
    """Read qrels; their `line` numbers are rows from 1."""
    pieces = _Pieces(source)
    table = pieces.read(_ROWS_OF_PIECE)
    if _is_nested(table, shape, SHAPES["qrels"]):
        return collect_qrels(source.name, _listed(source, table, pieces, "qrels", shape))
    tables = [table]
    while (more := pieces.read(_ROWS_OF_PIECE)) is not None:
        tables.append(more)
        _refuse_bomb(source, sum(map(len, tables)))
    table = pieces.joined(tables)
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
    types = pyarrow("pyarrow").types
    flat = shapes["flat"]
    found = fields.find_one("", None, table.column_names, fields.NAMES[flat.doc])
    return found is None and any(
        types.is_list(field.type) or types.is_large_list(field.type) or types.is_struct(field.type)
        for field in table.schema
    )


def _listed(
    source: Source, first: Any, pieces: _Pieces, kind: Kind, shape: Shape | None
) -> Iterator[Listed]:
    """Interpret rows as if they were objects of JSON."""
    reader = None if shape is None else ShapeReader(shape, source.name)
    number = 0
    later = iter(lambda: pieces.read(_ROWS_OF_PIECE), None)
    for table in itertools.chain([first], later):
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


def pyarrow(name: str) -> Any:
    """Import a module of pyarrow; `UsageError` says how to install it."""
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as problem:
        raise UsageError(
            f"parquet and Arrow files need a package ({problem}); "
            "expected it installed, e.g. pip install 'ragkpi[arrow]'"
        ) from None


class _Pieces:
    """The rows of a table, or of the parts of one in a folder, some at a time."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._arrow = pyarrow("pyarrow")
        self._batches = self._all_batches()
        self._nothing: Any = None  # a table without rows

    def read(self, rows: int) -> Any:
        """Return at least so many rows, fewer at the end; None behind it, but for the first."""
        begun = self._nothing is not None
        batches, count = [], 0
        for batch in self._batches:
            batches.append(batch)
            count += len(batch)
            if count >= rows:
                break
        if begun and not count:
            return None
        return self.joined(batches).combine_chunks()

    def joined(self, tables: list[Any]) -> Any:
        """Put tables together, with the columns of the first one of all."""
        if self._nothing is None:
            self._nothing = tables[0].slice(0, 0)
        if all(table.schema.equals(self._nothing.schema) for table in tables):
            return self._arrow.concat_tables(tables)
        try:
            tables = [self._nothing, *tables]
            joined = self._arrow.concat_tables(tables, promote_options="permissive")
        except self._arrow.ArrowException as problem:
            found = f"parts that do not fit ({_first_line(problem)})"
            raise _broken(self._source, found) from None
        return joined.select(self._nothing.column_names)

    def _all_batches(self) -> Iterator[Any]:
        yield from self._batches_of(self._source)
        for path in self._source.parts[1:]:
            with Source(path) as part:
                yield from self._batches_of(part)

    def _batches_of(self, source: Source) -> Iterator[Any]:
        """Yield tables, which are checked in full: a damaged one must not become numbers."""
        octets = hold(source)
        try:
            for batch in self._opened(source, octets):
                table = self._arrow.table(batch)
                table.validate(full=True)
                yield table
        except (UsageError, InputError, MemoryError):
            raise
        except Exception as problem:  # damaged files end in errors of many kinds
            raise _broken(source, f"no table ({_first_line(problem)})") from None

    def _opened(self, source: Source, octets: bytes) -> Iterator[Any]:
        file = self._arrow.BufferReader(octets)
        if octets.startswith(b"PAR1"):
            parquet = pyarrow("pyarrow.parquet").ParquetFile(file)
            for number in range(parquet.metadata.num_row_groups):
                group = parquet.metadata.row_group(number)
                for column in range(group.num_columns):
                    values = group.column(column).num_values
                    if values > group.num_rows:  # a row may have all of them
                        _refuse_bomb(source, values)
            yield parquet.schema_arrow.empty_table()
            yield from parquet.iter_batches(_ROWS_AT_ONCE)
        elif octets.startswith(b"ARROW1"):
            table = pyarrow("pyarrow.ipc").open_file(file)
            yield table.schema.empty_table()
            for number in range(table.num_record_batches):
                yield table.get_batch(number)
        else:
            stream = pyarrow("pyarrow.ipc").open_stream(file)
            yield stream.schema.empty_table()
            yield from stream


def _refuse_bomb(source: Source, rows: int) -> None:
    """Raise `InputError` for rows that would need more memory than is held."""
    if rows * _COST > MOST_HELD:
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


def _column(source: Source, table: Any, name: str, type_: str, above: int = 0) -> Any:
    """Return a column without nulls, in one piece, as a type; so many rows stand above it."""
    arrow = pyarrow("pyarrow")
    if table.column_names.count(name) > 1:
        raise _broken(source, f"column {name} twice")
    column = table[name]
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy())[0]) + 1 + above
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


def _tokens(source: Source, table: Any, name: str, above: int = 0) -> Tokens:
    return tokens_of_array(_column(source, table, name, "large_binary", above))


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


def _numbers(source: Source, table: Any, name: str, type_: str, above: int = 0) -> Any:
    numbers: FloatArray | IntArray = np.asarray(_column(source, table, name, type_, above))
    wrong = np.flatnonzero(np.isnan(numbers))
    if len(wrong):
        raise InputError(
            source.name, int(wrong[0]) + 1 + above, f"{name} 'nan'", "expected a decimal number"
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
