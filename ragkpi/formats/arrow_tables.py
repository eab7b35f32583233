"""Tables of parquet and Arrow, read by a child process.

A flipped bit can make pyarrow end its process. So pyarrow runs in a child (`arrow_child`), which
sends plain ids and numbers to this process, some rows at a time.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Literal, TypeAlias

import numpy as np

from ragkpi.errors import InputError, UsageError
from ragkpi.formats.arrow_child import send
from ragkpi.formats.opening import MOST_HELD, Source, too_large
from ragkpi.formats.tokens import FloatArray, IntArray, Tokens

# What a column holds. Levels are int64 in a batch where all of them are whole.
Wanted = Literal["ids", "number", "level"]
TableColumn: TypeAlias = "Tokens | FloatArray | IntArray"

_PIECE = 1 << 20
_PATIENCE = 5  # seconds for a child to end that has closed its pipe
_KILLING = (
    signal.SIGTERM,
    getattr(signal, "SIGKILL", signal.SIGTERM),
)  # by another process
_COST = 200  # bytes of memory of the smallest row or element
# The child imports modules from the path of this process, and not from the current folder.
_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[1:]; from ragkpi.formats.arrow_child import serve; serve()"
)


class ArrowTable:
    """A table, or a folder with its parts, read by a child process until it is closed.

    Attributes
    ----------
    names
        Its columns, as the first part names them.
    nested
        Whether a column holds lists or objects.

    Raises
    ------
    InputError
        If it is damaged, also if pyarrow crashes; from every method.
    UsageError
        If pyarrow is not installed.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._read = 0  # rows
        self._child = _start(source)
        try:
            self.names, self.nested = self._open_part(source)
        except BaseException:
            self.close()
            raise

    def columns(
        self, wanted: Sequence[tuple[str, Wanted]], at_once: int
    ) -> Iterator[list[TableColumn]]:
        """Yield columns of the next rows, at least `at_once` of them where rows are short.

        Refuses nulls, and numbers that are NaN, with their row.
        """
        order = {"columns": wanted, "at_once": at_once}
        for message, sizes in self._batches(order):
            buffers = iter(sizes)
            columns: list[TableColumn] = []
            for (name, kind), type_ in zip(wanted, message["types"], strict=True):
                if type_ == "large_binary":
                    columns.append(self._ids(next(buffers), next(buffers)))
                else:
                    columns.append(self._numbers(next(buffers), name, kind, type_))
            self._read += len(columns[0])
            yield columns

    def rows(self, names: Sequence[str], at_once: int) -> Iterator[list[dict[str, Any]]]:
        """Yield the next rows as objects of JSON, with these columns where a part has them."""
        for _, (size,) in self._batches({"rows": names, "at_once": at_once}):
            yield json.loads(self._buffer(size).tobytes())

    def close(self) -> None:
        """End the child."""
        self._child.kill()
        for pipe in (self._child.stdin, self._child.stdout):
            with suppress(OSError):  # the child did not read all of it
                pipe.close()
        self._child.wait()

    def __enter__(self) -> ArrowTable:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _batches(self, order: dict[str, Any]) -> Iterator[tuple[dict[str, Any], list[int]]]:
        """Yield the batches of all parts: each message, and the sizes of its buffers."""
        self._send(order)
        yield from self._batches_of_part()
        for path in self._source.parts[1:]:
            with Source(path) as part:
                self._open_part(part)
            yield from self._batches_of_part()

    def _batches_of_part(self) -> Iterator[tuple[dict[str, Any], list[int]]]:
        while "end" not in (message := self._answer()):
            yield message, message["sizes"]

    def _open_part(self, part: Source) -> tuple[list[str], bool]:
        """Send the bytes of a part; return the names of its columns, and whether any is nested."""
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
        try:
            send(self._child.stdin, message, *buffers)
            if not buffers:
                self._child.stdin.flush()
        except OSError:  # the child has ended, and its answer says why
            pass

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
            found, expected = f"{message['name']} is null", "expected a value in every row"
            raise InputError(self._source.name, message["row"], found, expected)
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

    def _numbers(self, size: int, name: str, kind: Wanted, type_: str) -> FloatArray | IntArray:
        numbers: FloatArray | IntArray = self._buffer(size).view(type_)
        if kind == "number" and type_ == "int64":
            if numbers.min() < -(2**53) or numbers.max() > 2**53:
                raise broken(self._source, f"column {name} (whole numbers beyond 2^53)")
            return numbers.astype(np.float64)
        wrong = np.flatnonzero(np.isnan(numbers))
        if len(wrong):
            row = self._read + int(wrong[0]) + 1
            raise InputError(self._source.name, row, f"{name} 'nan'", "expected a decimal number")
        return numbers

    def _ended(self) -> InputError:
        """Return the error for a child that ended before its answer."""
        try:
            status = self._child.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            status = 0  # the child runs, but its answer is malformed
        reader = f"the {self._format} reader"
        if -status in _KILLING:
            found = f"{reader} was killed (signal {-status}), perhaps for want of memory"
            return InputError(self._part.name, None, found, "expected a smaller table")
        if 0 <= status <= 2:  # Python itself ends so
            found = f"{reader}, a process of {sys.executable}, ended with status {status}"
            return InputError(self._part.name, None, found, "expected a Python that has ragkpi")
        how = f"signal {-status}" if status < 0 else f"status {status}"
        return broken(self._part, f"{reader} crashed ({how}), so that the file is damaged")


def _start(source: Source) -> Any:
    """Start a child in its own session, so that signals from a terminal reach this process only."""
    if not sys.executable or getattr(sys, "frozen", False):
        raise InputError(
            source.name,
            None,
            "parquet and Arrow are read by another Python, and this program does not say where one "
            f"is (sys.executable is {sys.executable!r})",
            "expected ragkpi called by a Python, or a format of text",
        )
    try:
        return subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, *(path for path in sys.path if isinstance(path, str))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as problem:
        found = f"its reader, {sys.executable}, cannot be started ({problem.strerror or problem})"
        raise InputError(source.name, None, found, "expected a Python, and room for it") from None


def no_pyarrow(reason: object) -> UsageError:
    """Return the error for a missing pyarrow."""
    return UsageError(
        f"parquet and Arrow files need a package ({reason}); "
        "expected it installed, e.g. pip install 'ragkpi[arrow]'"
    )


def refuse_bomb(source: Source, rows: int) -> None:
    """Raise `InputError` for more rows than can be held in memory."""
    if rows * _COST > MOST_HELD:
        raise _bomb(source)


def _bomb(source: Source) -> InputError:
    return too_large(source.name, "expected a smaller table, or a format of lines")


def broken(source: Source, found: str) -> InputError:
    """Return the error for a file that is no table, or has columns of unsuitable types."""
    return InputError(source.name, None, found, "expected a complete parquet or Arrow table")
