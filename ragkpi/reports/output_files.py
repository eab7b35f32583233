"""Where reports go: standard output, or a file that is replaced at once or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from ragkpi.errors import UsageError


def write(pieces: Iterable[str], path: str | None = None) -> None:
    """Write a text piece by piece to a file, or to standard output without one.

    Bytes of query ids and names that are no UTF-8 are written as they were read.
    """
    with opened(path) as file:
        for piece in pieces:
            file.write(piece.encode("utf-8", "surrogateescape"))


@contextmanager
def opened(path: str | None) -> Iterator[BinaryIO]:
    """Open a file that is replaced, or standard output for None and ``-``, for bytes."""
    if path is not None and path != "-":
        with replacing(path) as file:
            yield file
        return
    sys.stdout.flush()
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()


@contextmanager
def replacing(path: str, option: str = "-o") -> Iterator[BinaryIO]:
    """Open a file to be written that takes the place of `path` when all is written.

    If anything fails, the old file stays as it was and nothing is left behind. What is no
    regular file, such as a pipe or /dev/null, is written directly. Messages call it the `option`.
    """
    target = os.path.realpath(path)
    try:
        if os.path.exists(target) and not os.path.isfile(target):
            with open(target, "wb") as file:
                yield file
            return
        with _beside(target) as file:
            yield file
    except OSError as problem:
        if isinstance(problem, BrokenPipeError):
            raise
        reason = problem.strerror or problem
        raise UsageError(
            f"{option} {path}: cannot be written: {reason}; give another file"
        ) from problem


@contextmanager
def _beside(target: str) -> Iterator[BinaryIO]:
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name[:200]}.{os.getpid()}.partial")
    file = open(temporary, "xb")  # noqa: SIM115 - a file that is not ours must not be removed
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(target):
            os.chmod(temporary, os.stat(target).st_mode)
        os.replace(temporary, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
