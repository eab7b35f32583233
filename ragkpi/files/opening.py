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
from ragkpi.files.inputs import UNTOUCHED, HashedPipe, inputs, new_sha256, same_state
from ragkpi.wording import did_you_mean

Kind = Literal["run", "qrels"]
_MOST_FILES = 2000  # searched for a mistyped name
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


def _open_bzip2(stream: BinaryIO) -> Any:
    return MemberStream(stream, import_module("bz2").BZ2Decompressor)


def _open_xz(stream: BinaryIO) -> Any:
    lzma = import_module("lzma")
    return MemberStream(stream, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ))


def _open_zstandard(stream: BinaryIO) -> Any:
    zstandard = import_module("zstandard").ZstdDecompressor
    return MemberStream(stream, lambda: zstandard().decompressobj(), limited=False)


# Long enough to exclude ids: "BZh" alone could be a query.
_BZIP2 = tuple(
    b"BZh%d" % level + block for level in range(1, 10) for block in (b"1AY&SY", b"\x17rE8P\x90")
)

# A codec is imported when a file needs it: Python can be built without bz2 and lzma.
DECOMPRESSORS: dict[bytes | tuple[bytes, ...], tuple[str, Callable[[BinaryIO], Any]]] = {
    b"\x1f\x8b\x08": ("gzip", _open_gzip),
    _BZIP2: ("bzip2", _open_bzip2),
    b"\xfd7zXZ\x00": ("xz", _open_xz),
    b"\x28\xb5\x2f\xfd": ("zstandard", _open_zstandard),
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


def _beside(path: str) -> list[str]:
    """Return the paths of the files in the folder of a path."""
    folder = os.path.dirname(path)
    try:
        return [os.path.join(folder, file) for file in os.listdir(folder or ".")[:_MOST_FILES]]
    except OSError:
        return []


class Source:
    """An opened input: a file, a pipe, ``-`` or a folder of parquet files.

    A file is opened once, so a later replacement is not read. If a file changes during reading,
    closing the source raises an error. `size` is the length of a plain, uncompressed file,
    `place` the position of `fill`. A folder's bytes are those of the first of its `parts`.
    """

    def __init__(self, path: str) -> None:
        self.name = path
        self.size: int | None = None
        self._compression: str | None = None
        self._spool: BinaryIO | None = None
        self._copied = False  # whether to read the copy of a pipe
        self.place = 0
        self._ahead = memoryview(b"")  # read by `peek` but not yet by `fill`
        self.parts = parts_of(path)
        self._file = self._open(self.parts[0] if self.parts else path)
        self._before = self._state()
        self._pipe: HashedPipe | None = None
        try:
            first = self.parts[0] if self.parts else path
            inputs().note(first, os.fstat(self._file.fileno()))
            if self._before is None and inputs().hashed:
                self._pipe = HashedPipe(self._file.detach())  # type: ignore[attr-defined]
                self._file = cast(BinaryIO, io.BufferedReader(self._pipe))
            self._stream = self._decompressed(self._file)
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
                judged = os.path.join(path, "qrels", "")  # of BEIR
                of = f"such as those in {judged}" if os.path.isdir(judged) else "or .parquet parts"
                raise InputError(path, None, "is a directory", f"expected a file, {of}")
            return open(path, "rb")
        except (OSError, ValueError) as problem:
            reason = getattr(problem, "strerror", None) or str(problem)
            expected = "expected a readable file"
            if isinstance(problem, FileNotFoundError):
                expected = did_you_mean(path, _beside(path), expected, 0.85)
            raise UnreadableError(path, None, f"cannot be read ({reason})", expected) from None

    def _decompressed(self, file: BinaryIO) -> Any:
        if not isinstance(file, io.BufferedReader):
            return file
        try:
            head = file.peek(_MAGIC_LENGTH)[:_MAGIC_LENGTH]
        except OSError as problem:
            raise self._broken(problem) from None
        for magic, (name, open_compressed) in DECOMPRESSORS.items():
            if head.startswith(magic):
                self._compression = name
                try:
                    return open_compressed(file)
                except ImportError as problem:
                    fault = f"is compressed with {name}, which needs a package ({problem})"
                    expected = "install it with: pip install 'ragkpi[fast]'"
                    raise InputError(self.name, None, fault, expected) from None
        if self._before is not None:
            self.size = self._before.st_size
        return file

    def _state(self) -> os.stat_result | None:
        """Return the state of a regular file, which reveals changes; None for other inputs.

        Also None if standard input is a file whose beginning another program has read.
        """
        status = os.fstat(self._file.fileno())
        if not stat.S_ISREG(status.st_mode) or self._file.tell():
            return None
        return status

    def _broken(self, problem: Exception) -> InputError:
        what = f"broken {self._compression} data" if self._compression else "cannot be read"
        reason = getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
        error = InputError if self._compression else UnreadableError
        return error(self.name, None, f"{what} ({reason})", "expected a complete file")

    def keep_copy(self) -> None:
        """Copy the input while it is read, unless it is a rereadable file."""
        if self._before is None and not self._copied:
            import tempfile  # rarely needed; it imports random and hashlib

            try:
                self._spool = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the source
                self._spool_folder = tempfile.gettempdir()
            except OSError as problem:
                fault = f"cannot be copied to a temporary folder ({problem.strerror or problem})"
                raise InputError(self.name, None, fault, "set TMPDIR, or give a file") from None

    def peek(self, length: int) -> bytes:
        """Return up to `length` next bytes without consuming them, without a byte order mark."""
        missing = length + len(BYTE_ORDER_MARK) - len(self._ahead)
        if missing > 0:
            more = memoryview(bytearray(missing))
            self._ahead = memoryview(bytes(self._ahead) + more[: self._read(more)].tobytes())
        return self._ahead.tobytes().removeprefix(BYTE_ORDER_MARK)[:length]

    def fill(self, buffer: memoryview) -> int:
        """Read until the buffer is full or the input ends; return the number of bytes."""
        ahead = min(len(self._ahead), len(buffer))
        if ahead:
            buffer[:ahead] = self._ahead[:ahead]
            self._ahead = self._ahead[ahead:]
        filled = ahead + self._read(buffer[ahead:])
        if self._spool is not None:
            self._keep(buffer[:filled])
        self.place += filled
        progress.reading(self.name, self.place, self.size)
        return filled

    def whole(
        self, expected: str, plain_file: Literal["limited", "unlimited"] = "limited"
    ) -> bytearray:
        """Read the rest, without a byte order mark; `InputError` if it is too large for memory."""
        is_limited = self.size is None or plain_file == "limited"
        octets, piece = bytearray(), memoryview(bytearray(_PIECE))
        while count := self.fill(piece):
            octets += piece[:count]
            if is_limited and len(octets) > MOST_HELD:
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
        self._file.seek(0)
        return self._file

    def show_place(self) -> None:
        """Report the position of the reader of `seekable`."""
        if self.size is not None:
            progress.reading(self.name, self._file.tell(), self.size)

    def _keep(self, text: memoryview) -> None:
        """Copy bytes for a second pass, up to the largest copy allowed."""
        spool = cast(BinaryIO, self._spool)
        if spool.tell() + len(text) > MOST_HELD:
            spool.close()
            self._spool = None
            return
        try:
            spool.write(text)
        except OSError as problem:
            fault = f"its copy in {self._spool_folder} cannot be written ({problem.strerror})"
            raise InputError(self.name, None, fault, "free space there, or give a file") from None

    def _finish_hash(self) -> None:
        """Hash standard input, including bytes of a pipe that no reader consumed."""
        if self._pipe is not None and not self._pipe.closed:
            while self._file.read(1 << 20):
                pass
            inputs().keep_hash(self.name, self._pipe.digest.hexdigest())
        elif self.name == "-" and self._before is not None and inputs().hashed:
            digest = new_sha256()
            self._file.seek(0)
            while block := self._file.read(1 << 20):
                digest.update(block)
            inputs().keep_hash(self.name, digest.hexdigest())

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
        if self._before is None or self._file.closed:
            return
        before, now = self._before, os.fstat(self._file.fileno())
        if not same_state(before, now):
            sizes = f" (from {before.st_size} to {now.st_size} bytes)"
            fault = f"changed while it was read{sizes if now.st_size != before.st_size else ''}"
            raise InputError(self.name, None, fault, UNTOUCHED)

    def restart(self) -> None:
        """Return to the first byte, for a second pass; nothing to do before the first."""
        if not self.place:
            return
        if self._before is not None or self._copied:
            self._file.seek(0)
            self._ahead, self.place = memoryview(b""), 0
            if not self._copied:
                self._stream = self._decompressed(self._file)
            return
        if self._spool is None:
            fault = f"more than {MOST_HELD >> 30} GB from a pipe, too large to be read twice"
            raise InputError(self.name, None, fault, "expected the lines of each query together")
        rest = memoryview(bytearray(1 << 20))
        while self.fill(rest):
            pass
        self._finish_hash()
        spool, self._spool = self._spool, None
        spool.seek(0)
        self._file.close()
        self._file, self._stream, self._copied = spool, spool, True
        self.place = 0

    def close(self) -> None:
        self._file.close()
        if self._spool is not None:
            self._spool.close()

    def __enter__(self) -> Source:
        return self

    def __exit__(self, problem: type[BaseException] | None, *_: object) -> None:
        try:
            if problem is None:
                self._finish_hash()
                self.refuse_changed()
        finally:
            progress.reading(self.name, 0, 0)  # ends the report of progress
            self.close()


def begins_like_result(source: Source) -> bool:
    """Return whether an input begins like a saved result: JSON, JSON Lines or a log."""
    head = source.peek(1 << 16).lstrip()
    return head[:1] == b"{" and b'"ragkpi' in head
