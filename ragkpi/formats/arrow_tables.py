"""Tables of parquet and Arrow read in pieces, and their columns as ids and numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ragkpi.errors import InputError, UsageError
from ragkpi.formats.json_documents import hold
from ragkpi.formats.opening import MOST_HELD, Source
from ragkpi.formats.tokens import PADDING, FloatArray, IntArray, Tokens

# Rows that are decoded at a time: each may have an id that is long and takes few bytes in the file.
ROWS_AT_ONCE = 1 << 11
# Types that are read alike. A cast imports pyarrow.compute, which takes as long as a small run.
_SAME = {
    "large_binary": ("large_binary", "large_string"),
    "float64": ("double",),
    "int64": ("int64",),
}
_COST = 200  # bytes of memory that the smallest row or element needs


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


class Pieces:
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
                table = self._as_table(batch)
                table.validate(full=True)
                yield table
        except (UsageError, InputError, MemoryError):
            raise
        except Exception as problem:  # damaged files end in errors of many kinds
            raise _broken(source, f"no table ({_first_line(problem)})") from None

    def _as_table(self, batch: Any) -> Any:
        """Return a batch as a table; `pyarrow.table` would import pandas, to see if it is one."""
        if isinstance(batch, self._arrow.RecordBatch):
            return self._arrow.Table.from_batches([batch])
        return batch

    def _opened(self, source: Source, octets: bytearray) -> Iterator[Any]:
        file = self._arrow.BufferReader(octets)
        if octets.startswith(b"PAR1"):
            parquet = pyarrow("pyarrow.parquet").ParquetFile(file)
            for number in range(parquet.metadata.num_row_groups):
                group = parquet.metadata.row_group(number)
                for column in range(group.num_columns):
                    values = group.column(column).num_values
                    if values > group.num_rows:  # a row may have all of them
                        refuse_bomb(source, values)
            yield self._arrow.Table.from_batches([], parquet.schema_arrow)
            yield from parquet.iter_batches(ROWS_AT_ONCE)
        elif octets.startswith(b"ARROW1"):
            table = pyarrow("pyarrow.ipc").open_file(file)
            yield self._arrow.Table.from_batches([], table.schema)
            for number in range(table.num_record_batches):
                yield table.get_batch(number)
        else:
            stream = pyarrow("pyarrow.ipc").open_stream(file)
            yield self._arrow.Table.from_batches([], stream.schema)
            yield from stream


def refuse_bomb(source: Source, rows: int) -> None:
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
            if not (arrow.types.is_binary(kind) or str(kind) in _SAME[type_]):
                column = column.cast("large_string")
        if str(column.type) not in _SAME[type_]:
            column = column.cast(type_)
    except (arrow.ArrowException, NotImplementedError, ValueError, UnicodeError) as problem:
        raise _broken(source, f"column {name} ({_first_line(problem)})") from None
    return arrow.concat_arrays(column.chunks) if column.num_chunks else arrow.nulls(0, type_)


def tokens_of_column(source: Source, table: Any, name: str, above: int = 0) -> Tokens:
    """Return a column of ids; `InputError` if it is none, or has nulls."""
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


def _numbers(array: Any, type_: str) -> FloatArray | IntArray:
    """Return an array without nulls; its own way to numpy would import pandas."""
    _, data = array.buffers()
    numbers: FloatArray | IntArray = np.frombuffer(data or b"", dtype=type_)
    return numbers[array.offset :][: len(array)]


def numbers_of_column(source: Source, table: Any, name: str, type_: str, above: int = 0) -> Any:
    """Return a column of numbers, (n,); `InputError` if it is none, or has nulls or NaN.

    Truth values are whole numbers (levels), but neither scores nor ranks.
    """
    kinds = {str(field.type) for field in table.schema if field.name == name}
    if type_ == "float64" and "bool" in kinds:
        raise InputError(
            source.name, 1 + above, f"{name} is true or false", "expected a decimal number"
        )
    if type_ == "float64" and kinds == {"int64"}:
        integers = _numbers(_column(source, table, name, "int64", above), "int64")
        if integers.min(initial=0) >= -(2**53) and integers.max(initial=0) <= 2**53:
            return integers.astype(np.float64)
    numbers = _numbers(_column(source, table, name, type_, above), type_)
    wrong = np.flatnonzero(np.isnan(numbers))
    if len(wrong):
        raise InputError(
            source.name, int(wrong[0]) + 1 + above, f"{name} 'nan'", "expected a decimal number"
        )
    return numbers
