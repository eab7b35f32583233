"""The child process in which pyarrow reads a table, so that a damaged file crashes only the child.

`ragkpi.files.arrow.ArrowTable` starts the child and never imports this module. They talk through
the child's standard streams. A message is a line of JSON followed by buffers, whose lengths are
its ``"sizes"``. The parent sends each part of the table in messages with one buffer; a message
without a buffer ends the part. The child answers with ``"names"`` and ``"nested"``. After the first
part, the parent asks for ``"columns"`` or ``"rows"``. The child answers with batches and an
``"end"``. Its last answer may be an ``"error"``.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, BinaryIO

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_MISSING = ""  # the reason why pyarrow cannot be imported
try:
    import pyarrow.ipc
    import pyarrow.parquet
except ImportError as problem:
    _MISSING = str(problem)

# Rows decoded at a time: an id that takes few bytes in the file may be long.
_ROWS_AT_ONCE = 1 << 11
_BYTES_AT_ONCE = 1 << 24  # of batches sent together
_IDS = ("large_binary", "large_string")  # as they are sent
# A message of zero length ends a stream; before Arrow 0.15 it had no continuation mark.
_ENDS_OF_STREAM = (b"\xff\xff\xff\xff\0\0\0\0", b"\0\0\0\0")


class _Refused(Exception):  # noqa: N818 - the parent turns it into an error
    """The table is refused; the parent words the error."""

    def __init__(self, error: str, **details: Any) -> None:
        super().__init__(error)
        self.answer = {"error": error, **details}


def _send(file: BinaryIO, message: dict[str, Any], *buffers: bytes | memoryview) -> None:
    views = [memoryview(buffer) for buffer in buffers]
    header = json.dumps({**message, "sizes": [view.nbytes for view in views]})
    file.write(header.encode("ascii") + b"\n")
    for view in views:
        file.write(view)


def _receive(file: BinaryIO) -> tuple[dict[str, Any], list[bytes]]:
    line = file.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    message = json.loads(line)
    return message, [file.read(size) for size in message["sizes"]]


def serve() -> None:
    """Read one table, part by part, for the parent process."""
    if resource is not None:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash leaves no core file
    answers = sys.stdout.buffer
    try:
        try:
            _serve(sys.stdin.buffer, answers)
        except _Refused as refused:
            _send(answers, refused.answer)
        except MemoryError:
            _send(answers, {"error": "memory"})
        except (EOFError, BrokenPipeError):
            raise
        except Exception as problem:  # damaged files raise errors of many kinds
            _send(answers, {"error": "table", "reason": _first_line(problem)})
        answers.flush()
    finally:
        os._exit(0)  # an orderly exit takes as long as reading a small table


def _serve(orders: BinaryIO, answers: BinaryIO) -> None:
    order: dict[str, Any] | None = None
    above = 0  # rows of earlier parts
    while True:
        octets = bytearray()
        message, buffers = _receive(orders)
        while buffers:
            octets += buffers[0]
            message, buffers = _receive(orders)
        if _MISSING:
            raise _Refused("package", reason=_MISSING)
        tables = _tables(octets, message["most"])
        schema = next(tables).schema
        types = pyarrow.types
        kinds = types.is_list, types.is_large_list, types.is_struct
        nested = [field.name for field in schema if any(is_kind(field.type) for is_kind in kinds)]
        _send(answers, {"names": schema.names, "nested": nested})
        answers.flush()
        if order is None:
            order, _ = _receive(orders)
        for table in _gathered(tables, order["at_once"]):
            if "rows" in order:
                _send(answers, {}, _rows(table, order["rows"]))
            else:
                columns = [_column(table, name, use, above) for name, use in order["columns"]]
                _send(answers, {}, *(view for column in columns for view in _buffers(column)))
            above += len(table)
        _send(answers, {"end": True})
        answers.flush()


def _tables(octets: bytearray, most: int) -> Iterator[Any]:
    """Yield a table without rows, then tables that are fully validated.

    A row may have very many elements; memory holds `most` of them.
    """
    file = pyarrow.BufferReader(octets)
    if octets.startswith(b"PAR1"):
        batches = _of_parquet(file, most)
    elif octets.startswith(b"ARROW1"):
        batches = _of_file(file)
    else:
        batches = _of_stream(file, octets)
    yield pyarrow.Table.from_batches([], next(batches))
    for batch in batches:
        table = pyarrow.Table.from_batches([batch])
        table.validate(full=True)
        yield table


def _of_parquet(file: Any, most: int) -> Iterator[Any]:
    table = pyarrow.parquet.ParquetFile(file)
    for number in range(table.metadata.num_row_groups):
        group = table.metadata.row_group(number)
        for column in range(group.num_columns):
            values = group.column(column).num_values
            if values > max(group.num_rows, most):  # a single row may have them all
                raise _Refused("bomb")
    yield table.schema_arrow
    yield from table.iter_batches(_ROWS_AT_ONCE)


def _of_file(file: Any) -> Iterator[Any]:
    table = pyarrow.ipc.open_file(file)
    yield table.schema
    for number in range(table.num_record_batches):
        yield table.get_batch(number)


def _of_stream(file: Any, octets: bytearray) -> Iterator[Any]:
    """Yield the batches of a stream; pyarrow stops silently where the writer was killed."""
    stream = pyarrow.ipc.open_stream(file)
    yield stream.schema
    while True:
        used = file.tell()
        try:
            batch = stream.read_next_batch()
        except StopIteration:
            break
        yield batch
    rest = bytes(octets[used : used + 9])
    if rest not in _ENDS_OF_STREAM:
        raise _Refused("table", reason="a stream without its end marker, or with more behind it")


def _gathered(tables: Iterator[Any], rows: int) -> Iterator[Any]:
    """Concatenate tables to at least `rows` rows, or to fewer if these are large."""
    held: list[Any] = []
    count = size = 0
    for table in tables:
        held.append(table)
        count, size = count + len(table), size + table.nbytes
        if count >= rows or size >= _BYTES_AT_ONCE:
            yield pyarrow.concat_tables(held).combine_chunks()
            held, count, size = [], 0, 0
    if count:
        yield pyarrow.concat_tables(held).combine_chunks()


def _rows(table: Any, names: Sequence[str]) -> bytes:
    """Return rows as a JSON array; values that JSON lacks become text."""
    table = table.select([name for name in names if name in table.column_names])
    for place, field in enumerate(table.schema):
        if pyarrow.types.is_temporal(field.type):
            table = table.set_column(place, field.name, table[place].cast("string"))
    return json.dumps(table.to_pylist(), default=_text).encode("ascii")


def _text(value: Any) -> str:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)


def _column(table: Any, name: str, use: str, above: int) -> Any:
    """Return a column in one piece, without nulls: ids, or numbers as doubles."""
    if use == "other":
        return _numbers_or_nan(table, name)
    if table.column_names.count(name) > 1:
        raise _Refused("column", reason=f"{name} twice")
    if name not in table.column_names:  # only the first part has it
        raise _Refused("null", name=name, row=above + 1)
    column = table[name]
    if column.null_count:
        row = next(row for row, value in enumerate(column, start=above + 1) if not value.is_valid)
        raise _Refused("null", name=name, row=row)
    try:
        if use == "number" and pyarrow.types.is_boolean(column.type):
            raise _Refused("column", reason=f"{name} is true or false")
        if use == "ids":
            column = _as_ids(column)
        elif str(column.type) != "double":  # a cast imports pyarrow.compute, which takes time
            column = column.cast("float64")
    except (pyarrow.ArrowException, NotImplementedError, ValueError, UnicodeError) as problem:
        raise _Refused("column", reason=f"{name} ({_first_line(problem)})") from None
    return pyarrow.concat_arrays(column.chunks)


def _numbers_or_nan(table: Any, name: str) -> Any:
    """Return a column of numbers with NaN for null; of anything else, NaN alone."""
    numbers = pyarrow.chunked_array([pyarrow.nulls(len(table), "float64")])
    with suppress(pyarrow.ArrowException, NotImplementedError, KeyError):
        if not pyarrow.types.is_boolean(table.schema.field(name).type):
            numbers = table[name].cast("float64")
    return pyarrow.concat_arrays(numbers.fill_null(float("nan")).chunks)


def _as_ids(column: Any) -> Any:
    if pyarrow.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pyarrow.types.is_floating(column.type):
        raise ValueError("ids that are decimal numbers")
    if pyarrow.types.is_binary(column.type):
        return column.cast("large_binary")
    return column if str(column.type) in _IDS else column.cast("large_string")


def _buffers(array: Any) -> list[memoryview]:
    """Return the buffer of numbers; for ids, the buffers of offsets and of text."""
    first, last = 8 * array.offset, 8 * (array.offset + len(array))
    if str(array.type) not in _IDS:
        return [memoryview(array.buffers()[1]).cast("B")[first:last]]
    _, offsets, text = array.buffers()
    bounds = memoryview(offsets).cast("B")[first : last + 8].cast("q")
    text = memoryview(text or b"").cast("B")[bounds[0] : bounds[-1]]
    return [bounds.cast("B"), text]


def _first_line(problem: Exception) -> str:
    return (str(problem).splitlines() or [type(problem).__name__])[0][:100]
