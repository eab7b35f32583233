"""Inputs: each is opened once and decompressed; a file that changes is refused.

Python's own readers of bz2, lzma and zstandard accept a truncated file as complete, or drop
everything after a damaged first member. `MemberStream` refuses both.
"""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, BinaryIO, Literal, cast

from ragkpi import interface as progress
from ragkpi.errors import InputError, UnreadableError
from ragkpi.files.inputs import UNTOUCHED, inputs, new_sha256, same_state

Kind = Literal["run", "qrels"]
"""The role of a file."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_PIECE = 1 << 20


def parts_of(path: str) -> list[str]:
    """Return the parquet files of a folder in order, hidden files left out; [] for a file."""
    if path == "-" or not os.path.isdir(path):
        return []
    names = (name for name in sorted(os.listdir(path)) if name.endswith((".parquet", ".pq")))
    parts = (os.path.join(path, name) for name in names if not name.startswith((".", "_")))
    return [part for part in parts if not os.path.isdir(part)]


def _open_gzip(stream: BinaryIO) -> Any:
    try:  # twice as fast as zlib, if installed
        return import_module("isal.igzip").IGzipFile(fileobj=stream)
    except ImportError:
        return import_module("gzip").GzipFile(fileobj=stream)


# Long enough to exclude ids: "BZh" alone could be a query.
_BZIP2 = tuple(
    b"BZh%d" % level + block for level in range(1, 10) for block in (b"1AY&SY", b"\x17rE8P\x90")
)

# A codec is imported when a file needs it: Python can be built without bz2 and lzma.
DECOMPRESSORS: dict[bytes | tuple[bytes, ...], tuple[str, Callable[[BinaryIO], Any]]] = {
    b"\x1f\x8b\x08": ("gzip", _open_gzip),
    _BZIP2: ("bzip2", lambda raw: MemberStream(raw, import_module("bz2").BZ2Decompressor)),
    b"\xfd7zXZ\x00": (
        "xz",
        lambda raw: MemberStream(raw, import_module("lzma").LZMADecompressor),
    ),
    b"\x28\xb5\x2f\xfd": (
        "zstandard",
        lambda raw: MemberStream(
            raw, import_module("zstandard").ZstdDecompressor().decompressobj, limited=False
        ),
    ),
}


# Few bytes can expand to very many: 4 bytes of zstandard to 128 kB, and those to 64 MB.
_COMPRESSED_AT_ONCE = 1 << 11
# Maximum bytes that bz2 and lzma return at a time.
_TEXT_AT_ONCE = 1 << 20


class MemberStream:
    """Decompresses a file member by member.

    `decompressor` creates a decompressor for one member; `limited` ones accept an output limit.
    """

    def __init__(
        self, stream: BinaryIO, decompressor: Callable[[], Any], limited: bool = True
    ) -> None:
        self._stream = stream
        self._new = decompressor
        self._limited = limited
        self._member: Any = None  # None between members
        self._compressed = b""
        self._text = memoryview(b"")

    def readinto(self, buffer: Any, /) -> int:
        """Fill the buffer, at least in part; `EOFError` for a truncated member."""
        while not self._text:
            if self._member is None and not self._begin():
                return 0
            self._text = memoryview(self._decompressed())
            if self._member.eof:
                self._compressed, self._member = self._member.unused_data, None
        count = min(len(buffer), len(self._text))
        buffer[:count] = self._text[:count]
        self._text = self._text[count:]
        return count

    def _begin(self) -> bool:
        """Begin the next member; False at the end of the input."""
        self._compressed = self._compressed or self._stream.read(_COMPRESSED_AT_ONCE)
        self._member = self._new() if self._compressed else None
        return self._member is not None

    def _decompressed(self) -> bytes:
        compressed, self._compressed = self._compressed, b""
        if not compressed and (not self._limited or self._member.needs_input):
            compressed = self._stream.read(_COMPRESSED_AT_ONCE)
            if not compressed:
                raise EOFError("ended before the end of a member")
        limit = (_TEXT_AT_ONCE,) if self._limited else ()
        return bytes(self._member.decompress(compressed, *limit))


_MAGIC_LENGTH = 10
# Maximum bytes in memory or in a copy: a compressed file can be a bomb.
MOST_HELD = 1 << 31


def too_large(file: str, expected: str) -> InputError:
    """Return the error for an input too large for memory."""
    fault = f"more than {MOST_HELD >> 30} GB of data, too large for memory"
    return InputError(file, None, fault, expected)


class Source:
    """An opened input: a file, a pipe, ``-`` or a folder of parquet files.

    A file is opened once, so a later replacement is not read. If a file changes during reading,
    closing the source raises an error. What can be read only once is copied first. `size` is the
    length of an uncompressed file, `place` the position of `fill`. A folder's bytes are those of
    the first of its `parts`.
    """

    def __init__(self, path: str) -> None:
        self.name = path
        self.size: int | None = None
        self._compression: str | None = None
        self.place = 0
        self.parts = parts_of(path)
        first = self.parts[0] if self.parts else path
        self._file = self._open(first)
        try:
            status = os.fstat(self._file.fileno())
            inputs().note(first, status)
            if path == "-" or not stat.S_ISREG(status.st_mode):
                self._file = self._copy(self._file)
            self._before = os.fstat(self._file.fileno())
            self._stream = self._decompressed()
        except BaseException:
            self._file.close()
            raise

    @staticmethod
    def _open(path: str) -> BinaryIO:
        try:
            if path == "-":
                if sys.stdin is None:
                    raise InputError("-", None, "standard input is closed", "give a file")
                return open(os.dup(sys.stdin.fileno()), "rb")
            if os.path.isdir(path):
                expected = "expected a file, or .parquet parts"
                raise InputError(path, None, "is a directory", expected)
            return open(path, "rb")
        except (OSError, ValueError) as problem:
            reason = getattr(problem, "strerror", None) or str(problem)
            fault = f"cannot be read ({reason})"
            raise UnreadableError(path, None, fault, "expected a readable file") from None

    def _copy(self, pipe: BinaryIO) -> BinaryIO:
        """Return a copy of a pipe, which is hashed if the command needs hashes."""
        import tempfile  # rarely needed; it imports random and hashlib

        digest = new_sha256() if inputs().hashed else None
        copied = 0
        with pipe:
            try:
                copy = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the source
                while piece := self._piece(pipe):
                    copied += copy.write(piece)
                    if copied > MOST_HELD:
                        fault = f"more than {MOST_HELD >> 30} GB from a pipe"
                        raise InputError(self.name, None, fault, "give a file")
                    if digest:
                        digest.update(piece)
                    progress.reading(self.name, copied, None)
                copy.seek(0)
            except OSError as problem:
                fault = f"cannot be copied to a temporary folder ({problem.strerror or problem})"
                raise InputError(self.name, None, fault, "set TMPDIR, or give a file") from None
        if digest:
            inputs().keep_hash(self.name, digest.hexdigest())
        return cast(BinaryIO, copy)

    def _piece(self, pipe: BinaryIO) -> bytes:
        try:
            return pipe.read(_PIECE)
        except OSError as problem:
            raise self._broken(problem) from None

    def _decompressed(self) -> Any:
        try:
            head = self._file.read(_MAGIC_LENGTH)
        except OSError as problem:
            raise self._broken(problem) from None
        self._file.seek(0)
        for magic, (name, open_compressed) in DECOMPRESSORS.items():
            if head.startswith(magic):
                self._compression = name
                try:
                    return open_compressed(self._file)
                except ImportError as problem:
                    fault = f"is compressed with {name}, which needs a package ({problem})"
                    expected = "install it with: pip install 'ragkpi[fast]'"
                    raise InputError(self.name, None, fault, expected) from None
        self.size = self._before.st_size
        return self._file

    def _broken(self, problem: Exception) -> InputError:
        what = f"broken {self._compression} data" if self._compression else "cannot be read"
        reason = getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
        error = InputError if self._compression else UnreadableError
        return error(self.name, None, f"{what} ({reason})", "expected a complete file")

    def peek(self, length: int) -> bytes:
        """Return up to `length` first bytes, without a byte order mark, before any `fill`."""
        head = memoryview(bytearray(length + len(BYTE_ORDER_MARK)))
        count = self._read(head)
        self._rewind()
        return head[:count].tobytes().removeprefix(BYTE_ORDER_MARK)[:length]

    def fill(self, buffer: memoryview) -> int:
        """Read until the buffer is full or the input ends; return the number of bytes."""
        filled = self._read(buffer)
        self.place += filled
        progress.reading(self.name, self.place, self.size)
        return filled

    def whole(self, expected: str) -> bytearray:
        """Read the rest, without a byte order mark; `InputError` for compressed data too large."""
        octets, piece = bytearray(), memoryview(bytearray(_PIECE))
        while count := self.fill(piece):
            octets += piece[:count]
            if self.size is None and len(octets) > MOST_HELD:
                raise too_large(self.name, expected)
        if octets.startswith(BYTE_ORDER_MARK):
            del octets[: len(BYTE_ORDER_MARK)]
        return octets

    def seekable(self, expected: str) -> BinaryIO:
        """Return all bytes as a seekable file: an uncompressed file itself, others in memory.

        Errors as in `whole`.
        """
        if self.size is None:
            return io.BytesIO(self.whole(expected))
        self.place = self.size
        return self._file

    def _read(self, buffer: memoryview) -> int:
        filled = 0
        while filled < len(buffer):
            try:
                count = self._stream.readinto(buffer[filled:])
            except Exception as problem:
                # Each decompressor has its own error class (zlib.error, LZMAError, …).
                is_damage = isinstance(problem, OSError | EOFError | ValueError)
                if not is_damage and (
                    self._compression is None or isinstance(problem, MemoryError)
                ):
                    raise
                raise self._broken(problem) from None
            if not count:
                if self.size is not None and (place := self._file.tell()) < self.size:
                    sizes = f"from {self.size} to {place} bytes"
                    fault = f"shrank while it was read ({sizes})"
                    raise InputError(self.name, None, fault, UNTOUCHED)
                break
            filled += count
        return filled

    def refuse_changed(self) -> None:
        """Raise `InputError` if the file has changed since it was opened."""
        if self._file.closed:
            return
        before, now = self._before, os.fstat(self._file.fileno())
        if not same_state(before, now):
            sizes = f" (from {before.st_size} to {now.st_size} bytes)"
            fault = f"changed while it was read{sizes if now.st_size != before.st_size else ''}"
            raise InputError(self.name, None, fault, UNTOUCHED)

    def restart(self) -> None:
        """Return to the first byte, for a second pass."""
        if self.place:
            self._rewind()
            self.place = 0

    def _rewind(self) -> None:
        self._file.seek(0)
        self._stream = self._decompressed()

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Source:
        return self

    def __exit__(self, problem: type[BaseException] | None, *_: object) -> None:
        try:
            if problem is None:
                self.refuse_changed()
        finally:
            progress.reading(self.name, 0, 0)  # ends the report of progress
            self.close()


def begins_like_result(source: Source) -> bool:
    """Return whether an input begins like a saved result: JSON, JSON Lines or a log."""
    head = source.peek(1 << 16).lstrip()
    return head[:1] == b"{" and b'"ragkpi' in head
