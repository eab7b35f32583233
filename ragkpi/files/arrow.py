"""Tables of Parquet and Arrow, read by pyarrow a few rows at a time.

A table of a few bytes can expand to very many rows, so memory holds only some of them. pyarrow
verifies checksums, if any, and `InputError` names the damage.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from importlib import import_module
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from ragkpi.arrays import IntArray
from ragkpi.errors import InputError, UsageError
from ragkpi.files.lines import Tokens
from ragkpi.files.opening import MOST_HELD, Source, too_large
from ragkpi.files.tables import ROW_COST, Cell, OddIds, Piece, Row
from ragkpi.files.trec import QrelsColumns, RunColumns
from ragkpi.files.writing import impossible

# Rows decoded at a time: an id of few bytes in the file can be long.
_ROWS_AT_ONCE = 1 << 13
# A message of zero length ends a stream; before Arrow 0.15 it had no continuation mark.
_ENDS_OF_STREAM = (b"\xff\xff\xff\xff\0\0\0\0", b"\0\0\0\0")
_LONGEST_REASON = 100


class ArrowTable:
    """A table, or a folder of parquet parts.

    Every method raises `InputError` if the table is damaged, and `UsageError` if pyarrow is not
    installed.
    """

    line: int | None = None
    odd_ids: OddIds = "refused"

    def __init__(self, source: Source) -> None:
        self._source, self.file = source, source.name
        schema, self._first = _opened(source)
        types = _pyarrow().types
        kinds = types.is_list, types.is_large_list, types.is_struct
        with _refused(source):
            self.names: list[str] = schema.names
            self.nested = [one.name for one in schema if any(of(one.type) for of in kinds)]

    def rows(self, names: Sequence[str] | None = None) -> Iterator[Row]:
        """Yield rows as JSON objects of all or some columns; a part can lack some."""
        names = self.names if names is None else names
        for piece in self._pieces(names):
            yield from zip(piece.line.tolist(), piece.records(names), strict=True)

    def pieces(self, cells: Mapping[str, Cell]) -> Iterator[Piece]:
        """Yield the columns of some rows at a time."""
        for piece in self._pieces(list(cells)):
            texts = {name: piece.column(name, cell) for name, cell in cells.items()}
            yield Piece(piece.line, texts, texts)

    def _pieces(self, names: Sequence[str]) -> Iterator[_Piece]:
        """Yield the rows of all parts, some at a time."""
        above = 0
        for path in [None, *self._source.parts[1:]]:
            with nullcontext(self._source) if path is None else Source(path) as source:
                batches = self._first if path is None else _opened(source)[1]
                with _refused(source):
                    for batch in filter(len, batches(names)):
                        table = _pyarrow().Table.from_batches([batch])
                        table.validate(full=True)
                        yield _Piece(self._source, table, above)
                        above += len(table)


class _Piece(NamedTuple):
    """Some rows of a table, and the number of rows above them."""

    source: Source
    table: Any
    above: int

    @property
    def line(self) -> IntArray:
        return np.arange(self.above, self.above + len(self.table)) + 1

    def column(self, name: str, cell: Cell) -> Tokens:
        """Return a column as texts; `InputError` for a cell of the wrong type."""
        arrow = _pyarrow()
        if cell == "other":
            with suppress(arrow.ArrowException, NotImplementedError, KeyError):
                return _texts_of(self.table[name])
            return Tokens.repeated(b"", len(self.table))
        column = self._column(name, cell)
        if cell == "number" and arrow.types.is_boolean(column.type):
            raise broken(self.source, f"column {name} is true or false")
        with _refused(self.source, f"column {name}"):
            if arrow.types.is_dictionary(column.type):
                column = column.cast(column.type.value_type)
            if cell == "number":
                column = column.cast("float64")
            elif cell == "id" and arrow.types.is_floating(column.type):
                raise ValueError("ids are decimal numbers")
            return _texts_of(column)

    def records(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """Return rows as parsed JSON; values unknown to JSON become text."""
        types = _pyarrow().types
        with _refused(self.source):
            table = self.table.select([name for name in names if name in self.table.column_names])
            for place, field in enumerate(table.schema):
                if types.is_temporal(field.type):
                    table = table.set_column(place, field.name, table[place].cast("string"))
            records: list[dict[str, Any]]
            records = json.loads(json.dumps(table.to_pylist(), default=_text))
            return records

    def _column(self, name: str, cell: Cell) -> Any:
        """Return a column, without nulls unless they are levels."""
        if self.table.column_names.count(name) > 1:
            raise broken(self.source, f"column {name} twice")
        row = 0  # in a part that lacks the column
        if name in self.table.column_names:
            column = self.table[name]
            if cell == "level" or not column.null_count:
                return column
            row = next(row for row, value in enumerate(column) if not value.is_valid)
        fault, expected = f"{name} is null", "expected a value in every row"
        raise InputError(self.source.name, self.above + row + 1, fault, expected)


def _texts_of(column: Any) -> Tokens:
    """Return a column of any values as texts; null becomes empty."""
    types = _pyarrow().types
    is_binary = types.is_binary(column.type) or types.is_large_binary(column.type)
    texts = column if is_binary else column.cast("large_string")
    return tokens_of(texts.fill_null("") if texts.null_count else texts)  # imports pandas


def tokens_of(texts: Any) -> Tokens:
    """Return an array or a chunked array of texts or bytes, without nulls, as a column."""
    array = texts.cast("large_binary")
    if hasattr(array, "combine_chunks"):
        array = array.combine_chunks()
    if not len(array):
        return Tokens.from_strings([])
    _, offsets, data = array.buffers()
    bounds: IntArray = np.frombuffer(offsets, dtype=np.int64)[array.offset :][: len(array) + 1]
    text = np.frombuffer(data or b"", dtype=np.uint8)[bounds[0] : bounds[-1]]
    places = bounds - bounds[0]
    return Tokens(text, places[:-1], places[1:])


def _text(value: Any) -> str:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)


# Returns batches with the named columns, or more.
_Batches = Callable[[Sequence[str]], Iterator[Any]]


def _opened(source: Source) -> tuple[Any, _Batches]:
    """Return the schema of a table, and its rows."""
    arrow = _pyarrow()
    magic = source.peek(len(b"ARROW1"))
    file = arrow.PythonFile(source.seekable("expected a format of lines"), "r")
    with _refused(source):
        if magic.startswith(b"PAR1"):
            table = arrow.parquet.ParquetFile(
                file, pre_buffer=False, page_checksum_verification=True
            )
            _refuse_bomb(source, table)
            return table.schema_arrow, partial(table.iter_batches, _ROWS_AT_ONCE, None)
        if magic == b"ARROW1":
            table = arrow.ipc.open_file(file)
            numbers = range(table.num_record_batches)
            return table.schema, lambda _: map(table.get_batch, numbers)
        stream = arrow.ipc.open_stream(file)
        return stream.schema, lambda _: _of_stream(source, file, stream)


def _refuse_bomb(source: Source, table: Any) -> None:
    """Refuse a table of lists too large for memory; a single row can have all elements.

    Only columns with lists are examined: pyarrow aborts the process if this metadata is damaged.
    """
    nested = [n for n, column in enumerate(table.schema) if column.max_repetition_level]
    for number in range(table.metadata.num_row_groups if nested else 0):
        group = table.metadata.row_group(number)
        most = max(group.column(column).num_values for column in nested)
        if most > max(group.num_rows, MOST_HELD // ROW_COST):
            raise too_large(source.name, "expected a smaller table, or a format of lines")


def _of_stream(source: Source, file: Any, stream: Any) -> Iterator[Any]:
    """Yield the batches of a stream; pyarrow stops silently at the end of an incomplete one."""
    place = file.tell()
    for batch in stream:
        place = file.tell()
        yield batch
    file.seek(place)
    if file.read(len(_ENDS_OF_STREAM[0]) + 1) not in _ENDS_OF_STREAM:
        raise broken(source, "invalid table (a stream without end marker, or with data after it)")


@contextmanager
def _refused(source: Source, what: str = "invalid table") -> Iterator[None]:
    """Turn pyarrow's errors for a table, or for the named part, into `InputError`."""
    arrow = _pyarrow()
    try:
        yield
    except MemoryError:
        raise
    except (arrow.ArrowException, LookupError, NotImplementedError, OSError, ValueError) as problem:
        source.refuse_changed()
        reason = (str(problem).splitlines() or [type(problem).__name__])[0][:_LONGEST_REASON]
        raise broken(source, f"{what} ({reason})") from None


def broken(source: Source, fault: str) -> InputError:
    """Return the error for a file that is not a table, or whose columns have unsuitable types."""
    return InputError(source.name, None, fault, "expected a complete parquet or Arrow table")


def _pyarrow() -> Any:
    """Import pyarrow; `UsageError`, with the command to install it, if it is missing."""
    try:
        arrow, *_ = map(import_module, ("pyarrow", "pyarrow.ipc", "pyarrow.parquet"))
    except ImportError as problem:
        raise UsageError(
            f"parquet and Arrow files need a package ({problem}); "
            "install it with: pip install 'ragkpi[arrow]'"
        ) from None
    return arrow


def _write(
    columns: Mapping[str, str], batches: Iterable[Sequence[Any]], file: BinaryIO, kind: str
) -> None:
    """Write batches of columns; `DataError` for ids that are not UTF-8."""
    arrow = _pyarrow()
    schema = arrow.schema(columns.items())
    new = partial(arrow.parquet.ParquetWriter, compression="zstd")
    with (new if kind == "parquet" else arrow.ipc.new_file)(file, schema) as writer:
        for batch in batches:
            try:
                arrays = [
                    arrow.array(values).cast(of)
                    for values, of in zip(batch, columns.values(), strict=True)
                ]
            except arrow.ArrowInvalid:
                raise impossible(f"an id is not UTF-8, as {kind} requires") from None
            writer.write(arrow.table(arrays, schema=schema))


def _write_run(rankings: Iterable[RunColumns], file: BinaryIO, kind: str) -> None:
    names = {**_WRITTEN_IDS, "rank": "int64", "score": "float64", "run_id": "large_string"}
    batches = (
        [
            *(block.query_of_rows().tolist(), block.document.tolist(), block.ranks(), block.score),
            [block.run_id] * len(block.score),
        ]
        for block in rankings
    )
    _write(names, batches, file, kind)


def _write_qrels(qrels: QrelsColumns, file: BinaryIO, kind: str) -> None:
    batch = [qrels.query.tolist(), qrels.document.tolist(), qrels.level]
    _write({**_WRITTEN_IDS, "relevance": "int64"}, [batch], file, kind)


_WRITTEN_IDS = {"query_id": "large_string", "doc_id": "large_string"}
write_parquet = partial(_write_run, kind="parquet")
write_arrow = partial(_write_run, kind="arrow")
write_parquet_qrels = partial(_write_qrels, kind="parquet")
write_arrow_qrels = partial(_write_qrels, kind="arrow")
