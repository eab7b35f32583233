"""Tables of parquet and Arrow, read by a child process.

A flipped bit in a file can crash pyarrow and its process. So pyarrow runs in a child
(`arrow_child`), which sends plain ids and numbers to this process a few rows at a time. Runs are
read in pieces, because a table of a few bytes may expand to very many rows.
"""

from __future__ import annotations

import importlib
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any, BinaryIO, Literal

import numpy as np

from ragkpi.arrays import FloatArray, IntArray
from ragkpi.errors import InputError, UsageError
from ragkpi.files import tables
from ragkpi.files.lines import Tokens
from ragkpi.files.opening import MOST_HELD, Source, too_large
from ragkpi.files.shapes import Shape
from ragkpi.files.tables import Row
from ragkpi.files.trec import (
    QrelsColumns,
    RunColumns,
    RunLayout,
    decimal_advice,
    levels_of,
    plain_qrels,
    run_columns,
    run_id_of,
)

# A level may be true or false, a number not; others are NaN where there is none.
ColumnUse = Literal["ids", "number", "level", "other"]

_PIECE = 1 << 20
_ROWS_AT_ONCE = 1 << 16
_RECORDS_AT_ONCE = 1 << 11  # each may hold a long list
_PATIENCE = 5  # seconds until a child that has closed its pipe must have ended
_KILLING = (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM))  # sent from outside
_COST = 200  # bytes of memory that the smallest row or element takes
# The child imports from this process's path, not from the current folder.
# pyarrow works without numpy, and importing numpy takes longer than importing all of pyarrow.
_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[1:]; sys.modules['numpy'] = None; "
    "from ragkpi.files.arrow_child import serve; serve()"
)


class ArrowTable:
    """A table, or a folder of parquet parts, that a child process reads until it is closed.

    Every method raises `InputError` if the table is damaged or pyarrow crashes, and
    `UsageError` if pyarrow is not installed.
    """

    line: int | None = None

    def __init__(self, source: Source) -> None:
        self._source, self.file = source, source.name
        self._read = 0  # rows
        self._child = _start(source)
        try:
            # The columns of the first part, and whether any holds lists or objects.
            self.names, self.nested = self._open_part(source)
        except BaseException:
            self.close()
            raise

    def columns(
        self, columns: Sequence[tuple[str, ColumnUse]], at_once: int
    ) -> Iterator[tuple[IntArray, dict[tuple[str, ColumnUse], Any]]]:
        """Yield the next rows, from 1, and their columns; `at_once` rows if they are short.

        A column is `Tokens` if its use is ``"ids"``, else an array of numbers.

        Raises `InputError`, with the row, for a null or a NaN.
        """
        for sizes in self._batches({"columns": columns, "at_once": at_once}):
            buffers = iter(sizes)
            batch: dict[tuple[str, ColumnUse], Any] = {}
            for name, use in columns:
                if use == "ids":
                    batch[name, use] = self._ids(next(buffers), next(buffers))
                else:
                    batch[name, use] = self._numbers(next(buffers), name, use)
            before, self._read = self._read, self._read + len(batch[columns[0]])
            yield np.arange(before, self._read) + 1, batch

    def rows(self, names: Sequence[str] | None = None) -> Iterator[Row]:
        """Yield rows as JSON objects of all or some columns; a part may lack some."""
        order = {"rows": self.names if names is None else names, "at_once": _RECORDS_AT_ONCE}
        batches = (json.loads(self._buffer(size).tobytes()) for (size,) in self._batches(order))
        return enumerate(chain.from_iterable(batches), start=1)

    def run(self, layout: RunLayout) -> Iterator[RunColumns]:
        uses: dict[ColumnUse, Sequence[str | None]] = {
            "ids": (layout.query, layout.document, layout.run_id),
            "number": (layout.number,),
            "other": tuple(layout.others.values()),
        }
        columns = [(name, use) for use, names in uses.items() for name in names if name is not None]
        for line, batch in self.columns(columns, _ROWS_AT_ONCE):
            run_id = run_id_of(self.file)
            if layout.run_id is not None:
                run_id = batch[layout.run_id, "ids"][len(line) - 1]
            ids = batch[layout.query, "ids"], batch[layout.document, "ids"]
            number = batch[layout.number, "number"] if layout.number is not None else None
            others = {map_: batch[name, "other"] for map_, name in layout.others.items()}
            yield run_columns(self.file, *ids, number, line, run_id, layout.origin, others)

    def qrels(self, ids: Sequence[str], level: str | None) -> QrelsColumns:
        uses: list[tuple[str, ColumnUse]] = [*((name, "ids") for name in ids)]
        uses += [] if level is None else [(level, "level")]
        none = Tokens.from_strings([])
        batches: list[Sequence[Any]] = [(none, none, np.zeros(0))]
        for line, batch in self.columns(uses, _ROWS_AT_ONCE):
            batches.append([*(batch[use] for use in uses), np.ones(len(line))][:3])
            if int(line[-1]) * _COST > MOST_HELD:
                raise _bomb(self._source)
        queries, documents, numbers = zip(*batches, strict=True)
        number = np.concatenate(numbers)
        if not (np.abs(number) <= 2.0**53).all():
            raise broken(self._source, f"column {level} (numbers beyond 2^53)")
        line = np.arange(1, len(number) + 1)
        levels, gain = levels_of(number)
        columns = Tokens.joined(queries), Tokens.joined(documents), levels, line
        return plain_qrels(self.file, *columns, gain)

    def close(self) -> None:
        self._child.kill()
        for pipe in (self._child.stdin, self._child.stdout):
            with suppress(OSError):  # the child did not read all of it
                pipe.close()
        self._child.wait()

    def __enter__(self) -> ArrowTable:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _batches(self, order: dict[str, Any]) -> Iterator[list[int]]:
        """Yield the buffer sizes of every batch in all parts."""
        self._send(order)
        for path in [None, *self._source.parts[1:]]:
            if path is not None:
                with Source(path) as part:
                    self._open_part(part)
            while "end" not in (message := self._answer()):
                yield message["sizes"]

    def _open_part(self, part: Source) -> tuple[list[str], list[str]]:
        """Send the bytes of a part; return the names of its columns, and of nested ones."""
        self._part, self._format = part, "parquet" if part.peek(4) == b"PAR1" else "Arrow"
        piece, total = memoryview(bytearray(_PIECE)), 0
        while count := part.fill(piece):
            total += count
            if part.size is None and total > MOST_HELD:
                raise too_large(part.name, "expected a format of lines")
            self._send({}, piece[:count])
        self._send({"most": MOST_HELD // _COST})
        answer = self._answer()
        return answer["names"], answer["nested"]

    def _send(self, message: dict[str, Any], *buffers: memoryview) -> None:
        header = json.dumps({**message, "sizes": [buffer.nbytes for buffer in buffers]})
        with suppress(OSError):  # the child has ended, and its answer says why
            for octets in (header.encode("ascii") + b"\n", *buffers):
                self._child.stdin.write(octets)
            if not buffers:
                self._child.stdin.flush()

    def _answer(self) -> dict[str, Any]:
        try:
            message: dict[str, Any] = json.loads(self._child.stdout.readline())
        except ValueError:
            raise self._ended() from None
        error = message.get("error")
        if error is None:
            return message
        if error == "memory":
            raise MemoryError
        if error == "package":
            raise no_pyarrow(message["reason"])
        if error == "bomb":
            raise _bomb(self._part)
        if error == "null":
            fault, expected = f"{message['name']} is null", "expected a value in every row"
            raise InputError(self._source.name, message["row"], fault, expected)
        if error == "column":
            raise broken(self._source, f"column {message['reason']}")
        raise broken(self._part, f"no table ({message['reason']})")

    def _buffer(self, size: int) -> Any:
        """Read a buffer of the child, (size,) uint8."""
        buffer = np.zeros(size, dtype=np.uint8)
        rest = buffer.data
        while len(rest):
            count = self._child.stdout.readinto(rest)
            if not count:
                raise self._ended()
            rest = rest[count:]
        return buffer

    def _ids(self, bounds_size: int, text_size: int) -> Tokens:
        bounds: IntArray = self._buffer(bounds_size).view(np.int64)
        text = self._buffer(text_size)
        bounds -= bounds[0]
        return Tokens(text, bounds[:-1], bounds[1:])

    def _numbers(self, size: int, name: str, use: ColumnUse) -> FloatArray:
        numbers: FloatArray = self._buffer(size).view(np.float64)
        wrong = np.flatnonzero(np.isnan(numbers))
        if len(wrong) and use != "other":
            row = self._read + int(wrong[0]) + 1
            raise InputError(self._source.name, row, f"{name} 'nan'", decimal_advice(b"nan"))
        return numbers

    def _ended(self) -> InputError:
        """Return the error for a child that ended before it answered."""
        try:
            status = self._child.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            status = 0  # the child runs, but its answer is malformed
        reader = f"the {self._format} reader"
        if -status in _KILLING:
            fault = f"{reader} was killed (signal {-status}), perhaps short of memory"
            return InputError(self._part.name, None, fault, "expected a smaller table")
        if 0 <= status <= 2:  # Python itself ends so
            fault = f"{reader}, a process of {sys.executable}, ended with status {status}"
            return InputError(self._part.name, None, fault, "expected a Python that has ragkpi")
        how = f"signal {-status}" if status < 0 else f"status {status}"
        return broken(self._part, f"{reader} crashed ({how}), so that the file is damaged")


def _start(source: Source) -> Any:
    """Start a child in its own session, so that signals from a terminal reach this process only."""
    if not sys.executable or getattr(sys, "frozen", False):
        fault = (
            "parquet and Arrow are read by another Python, and this program does not say where one "
            f"is (sys.executable is {sys.executable!r})"
        )
        expected = "expected ragkpi called by a Python, or a format of text"
        raise InputError(source.name, None, fault, expected)
    try:
        return subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, *(path for path in sys.path if isinstance(path, str))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as problem:
        fault = f"its reader, {sys.executable}, cannot be started ({problem.strerror or problem})"
        raise InputError(source.name, None, fault, "expected a Python, and room for it") from None


def no_pyarrow(reason: object) -> UsageError:
    """Return the error for a missing pyarrow."""
    return UsageError(
        f"parquet and Arrow files need a package ({reason}); "
        "expected it installed, e.g. pip install 'ragkpi[arrow]'"
    )


def _bomb(source: Source) -> InputError:
    return too_large(source.name, "expected a smaller table, or a format of lines")


def broken(source: Source, fault: str) -> InputError:
    """Return the error for a file that is not a table, or whose columns have unsuitable types."""
    return InputError(source.name, None, fault, "expected a complete parquet or Arrow table")


def stream_run(source: Source, shape: Shape | None = None) -> Iterator[RunColumns]:
    """Read a run in blocks; its `line` numbers are rows from 1."""
    with ArrowTable(source) as table:
        yield from tables.stream_run(table, shape)


def read_qrels(source: Source, shape: Shape | None = None) -> QrelsColumns:
    """Read qrels; their `line` numbers are rows from 1."""
    with ArrowTable(source) as table:
        return tables.read_qrels(table, shape)


def _pyarrow(name: str) -> Any:
    """Import a module of pyarrow; without pyarrow, `UsageError` with how to install it."""
    try:
        return importlib.import_module(name)
    except ImportError as problem:
        raise no_pyarrow(problem) from None


def _write(
    columns: Mapping[str, str],
    batches: Callable[[], Iterable[Sequence[Sequence[Any]]]],
    file: BinaryIO,
    kind: str,
) -> None:
    """Write batches of columns, in which ids are texts, or bytes if one of them is not UTF-8."""
    arrow = _pyarrow("pyarrow")
    begin = file.tell()
    for ids in ("large_string", "large_binary"):
        types = {name: getattr(arrow, of or ids)() for name, of in columns.items()}
        schema = arrow.schema(types.items())
        if kind == "parquet":
            writer = _pyarrow("pyarrow.parquet").ParquetWriter(file, schema, compression="zstd")
        else:
            writer = _pyarrow("pyarrow.ipc").new_file(file, schema)
        try:
            with writer:
                for batch in batches():
                    arrays = [
                        arrow.array(values, columns[name] or "large_binary").cast(of)
                        for values, (name, of) in zip(batch, types.items(), strict=True)
                    ]
                    writer.write(arrow.table(arrays, schema=schema))
            return
        except arrow.ArrowInvalid:
            if ids == "large_binary":
                raise
        file.seek(begin)
        file.truncate()


def _batches(rankings: Iterable[RunColumns]) -> Iterator[Sequence[Sequence[Any]]]:
    for block in rankings:
        run_ids = Tokens.repeated(block.run_id, len(block.score))
        columns: list[Any] = [block.query_of_rows(), block.document, block.ranks(), block.score]
        yield [column.tolist() for column in (*columns, run_ids)]


_WRITTEN_IDS = {"query_id": "", "doc_id": ""}


def _write_run(rankings: Iterable[RunColumns], file: BinaryIO, kind: str) -> None:
    columns = {**_WRITTEN_IDS, "rank": "int64", "score": "float64", "run_id": ""}
    _write(columns, partial(_batches, rankings), file, kind)


def _write_qrels(qrels: QrelsColumns, file: BinaryIO, kind: str) -> None:
    batch: list[Any] = [qrels.query.tolist(), qrels.document.tolist(), qrels.level]
    _write({**_WRITTEN_IDS, "relevance": "int64"}, lambda: [batch], file, kind)


write_parquet = partial(_write_run, kind="parquet")
write_arrow = partial(_write_run, kind="arrow")
write_parquet_qrels = partial(_write_qrels, kind="parquet")
write_arrow_qrels = partial(_write_qrels, kind="arrow")
