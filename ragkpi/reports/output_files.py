"""Where reports go: standard output, or a file that is replaced at once or not at all."""

from __future__ import annotations

import codecs
import io
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any, BinaryIO, Literal, cast

from ragkpi.errors import UsageError
from ragkpi.formats.inputs import inputs
from ragkpi.wording import on_screen

# Whether colours of a text reach a terminal, as `on_screen` has it.
Styles = Literal["spelled", "kept"]


def write(pieces: Iterable[str], path: str | None = None, styles: Styles = "spelled") -> None:
    """Write a text piece by piece to a file, or to standard output without one.

    Bytes of query ids and names that are no UTF-8 are written as they were read.
    """
    with opened(path, styles) as file:
        for piece in pieces:
            file.write(piece.encode("utf-8", "surrogateescape"))


@contextmanager
def opened(path: str | None, styles: Styles = "spelled") -> Iterator[BinaryIO]:
    """Open a file that is replaced, or standard output for None and ``-``, for bytes."""
    if path is not None and path != "-":
        with replacing(path, styles=styles) as file:
            yield file
        return
    sys.stdout.flush()
    with screened(sys.stdout.buffer, styles) as file:
        yield file
    sys.stdout.buffer.flush()


@contextmanager
def screened(file: BinaryIO, styles: Styles = "spelled") -> Iterator[BinaryIO]:
    """Yield a file as it is; but a terminal gets what is written as `on_screen` writes it.

    Every result that may reach a terminal goes through here: its ids and texts are of files.
    """
    if not file.isatty():
        yield file
        return
    with _Screen(file, styles) as screen:
        yield cast("BinaryIO", screen)


class _Screen(io.RawIOBase):
    """A terminal that is written to by `on_screen`, in pieces that may end within a character."""

    def __init__(self, file: BinaryIO, styles: Styles) -> None:
        self._file, self._styles = file, styles
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")

    def writable(self) -> bool:
        return True

    def write(self, octets: Any, /) -> int:
        self._show(self._decoder.decode(bytes(octets)))
        return len(octets)

    def close(self) -> None:
        if not self.closed:
            self._show(self._decoder.decode(b"", final=True))
        super().close()

    def _show(self, text: str) -> None:
        self._file.write(on_screen(text, self._styles).encode("utf-8", "surrogateescape"))


@contextmanager
def replacing(
    path: str, option: str = "-o", revocable: bool = False, styles: Styles = "spelled"
) -> Iterator[BinaryIO]:
    """Open a file to be written that takes the place of `path` when all is written.

    If anything fails, the old file stays as it was and nothing is left behind, even if this
    process is killed. What is no regular file (a pipe, /dev/null), and standard output by any
    name, is written directly, behind what stands there, or with `revocable` at the end, so that
    what was written can be taken back until then. A terminal is `screened`. Messages call the
    path the `option`.

    Raises
    ------
    UsageError
        If it cannot be written, or is one of the inputs.
    """
    if path != "-":
        inputs().refuse_replacing(path, option)
    try:
        if path == "-" or _is_standard_output(path):
            sys.stdout.flush()
            with (
                screened(sys.stdout.buffer, styles) as shown,
                _copy_of(shown) if revocable else nullcontext(shown) as file,
            ):
                yield file
            sys.stdout.buffer.flush()
        elif path.startswith(("/dev/", "/proc/")) or (
            os.path.exists(path) and not os.path.isfile(path)
        ):
            with (
                open(os.open(path, os.O_WRONLY | os.O_APPEND), "wb") as direct,
                screened(direct, styles) as shown,
                _copy_of(shown) if revocable else nullcontext(shown) as file,
            ):
                yield file
        else:
            with _beside(os.path.realpath(path)) as file:
                yield file
    except OSError as problem:
        if isinstance(problem, BrokenPipeError):
            raise
        reason = problem.strerror or problem
        raise UsageError(
            f"{option} {path}: cannot be written: {reason}; give another file"
        ) from problem


@contextmanager
def _copy_of(file: BinaryIO) -> Iterator[BinaryIO]:
    """Open a temporary file, whose bytes go to `file` when all is written."""
    import shutil
    import tempfile

    with tempfile.TemporaryFile() as copy:
        yield copy
        copy.seek(0)
        shutil.copyfileobj(copy, file, 1 << 20)


def _is_standard_output(path: str) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(1))
    except OSError:
        return False


@contextmanager
def _beside(target: str) -> Iterator[BinaryIO]:
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name[:50]}.{os.getpid()}.{os.urandom(4).hex()}.partial")
    try:
        descriptor, named = _open_beside(folder, temporary)
        with open(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if os.path.exists(target) and hasattr(os, "fchmod"):  # on Windows since 3.13
                os.fchmod(file.fileno(), stat.S_IMODE(os.stat(target).st_mode))
            if not named:
                _name(file.fileno(), temporary)
        os.replace(temporary, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _name(descriptor: int, path: str) -> None:
    # Without a folder's descriptor, which an absolute path makes no use of, Python calls link(2),
    # and that does not follow the link in /proc.
    os.link(f"/proc/self/fd/{descriptor}", path, src_dir_fd=descriptor, follow_symlinks=True)


def _open_beside(folder: str, temporary: str) -> tuple[int, bool]:
    """Open a file in a folder, without a name where the system has that: killed, nothing stays."""
    if os.path.exists("/proc/self/fd"):
        with suppress(OSError, AttributeError):
            return os.open(folder or ".", os.O_TMPFILE | os.O_WRONLY, 0o666), False
    binary = getattr(os, "O_BINARY", 0)  # Windows turns line ends round without it
    return os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | binary, 0o666), True
