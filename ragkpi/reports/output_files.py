"""Destinations of output: standard output, or a file that is replaced atomically."""

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
from ragkpi.files.inputs import inputs
from ragkpi.wording import on_screen

# Whether a terminal shows the colours of a text; see `on_screen`.
Styles = Literal["spelled", "kept"]


def write(pieces: Iterable[str], path: str | None = None, styles: Styles = "spelled") -> None:
    """Write a text piece by piece to a file, or without a path to standard output.

    Ids and names keep bytes that are not UTF-8.
    """
    with output_file(path, styles) as file:
        for piece in pieces:
            file.write(piece.encode("utf-8", "surrogateescape"))


@contextmanager
def output_file(path: str | None, styles: Styles = "spelled") -> Iterator[BinaryIO]:
    """Open a file to replace, or for None and ``-`` standard output, in binary mode."""
    if path is not None and path != "-":
        with replacing(path, styles=styles) as file:
            yield file
    else:
        with _direct_file("-") as out, screen_of(out, styles) as file:
            yield file


@contextmanager
def screen_of(file: BinaryIO, styles: Styles = "spelled") -> Iterator[BinaryIO]:
    """Yield a file unchanged, or for a terminal a file that escapes as `on_screen` does.

    Ids and texts come from files, so every result that can reach a terminal passes through here.
    """
    if not file.isatty():
        yield file
        return
    with _Screen(file, styles) as screen:
        yield cast("BinaryIO", screen)


class _Screen(io.RawIOBase):
    """A terminal behind `on_screen`; a piece can end within a character."""

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
    """Open a temporary file that replaces `path` once it is complete.

    Any failure, even killing this process, keeps the old file and leaves no temporary one. Pipes,
    devices and standard output under any name are opened directly, in append mode; with `revocable`
    they receive everything at the end, so that a failure writes nothing. A terminal gets
    `screen_of`. `UsageError`, naming the `option`, if the path is not writable or is an input.
    """
    if path != "-":
        inputs().refuse_replacing(path, option)
    try:
        no_file = os.path.exists(path) and not os.path.isfile(path)
        if not (no_file or path.startswith(("/dev/", "/proc/")) or _is_standard_output(path)):
            with _beside(os.path.realpath(path)) as file:
                yield file
            return
        with (
            _direct_file(path) as direct,
            screen_of(direct, styles) as screen,
            _copy_of(screen) if revocable else nullcontext(screen) as file,
        ):
            yield file
    except BrokenPipeError:
        raise
    except OSError as problem:
        reason = problem.strerror or problem
        raise UsageError(
            f"{option} {path}: cannot be written: {reason}; give another file"
        ) from problem


@contextmanager
def _direct_file(path: str) -> Iterator[BinaryIO]:
    if not _is_standard_output(path):
        with open(os.open(path, os.O_WRONLY | os.O_APPEND), "wb") as file:
            yield file
        return
    sys.stdout.flush()
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()


@contextmanager
def _copy_of(file: BinaryIO) -> Iterator[BinaryIO]:
    """Open a temporary file, and copy it to `file` at the end."""
    import tempfile

    with tempfile.TemporaryFile() as copy:
        yield copy
        copy.seek(0)
        while block := copy.read(1 << 20):
            file.write(block)


def _is_standard_output(path: str) -> bool:
    try:
        return path == "-" or os.path.samestat(os.stat(path), os.fstat(1))
    except OSError:
        return False


@contextmanager
def _beside(target: str) -> Iterator[BinaryIO]:
    """Open a file in the folder of `target` that replaces it at the end."""
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
                # Without src_dir_fd, Python calls link(2), which does not follow links in /proc.
                number = file.fileno()
                os.link(f"/proc/self/fd/{number}", temporary, src_dir_fd=number)
        os.replace(temporary, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _open_beside(folder: str, temporary: str) -> tuple[int, bool]:
    """Open a file, unnamed if the system allows it, so that a killed process leaves none.

    Return the descriptor, and whether the file has a name.
    """
    if os.path.exists("/proc/self/fd"):
        with suppress(OSError, AttributeError):
            return os.open(folder or ".", os.O_TMPFILE | os.O_WRONLY, 0o666), False
    binary = getattr(os, "O_BINARY", 0)  # else Windows changes line ends
    return os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | binary, 0o666), True
