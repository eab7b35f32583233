"""Streams of bytes: plain files, pipes that are hashed as they are read, decompressors."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from typing import Any, BinaryIO, Protocol, cast


class Readable(Protocol):
    """A stream that fills a buffer, so that no bytes objects are made."""

    def readinto(self, buffer: Any, /) -> int | None:
        """Fill the buffer from the stream; return the number of bytes, 0 at the end."""


class PlainFile:
    """A regular file, read at its own offset: that of the descriptor stays where it can."""

    def __init__(self, file: io.FileIO, place: int = 0) -> None:
        self.file = file
        self.place = place

    def readinto(self, buffer: Any, /) -> int:
        if hasattr(os, "preadv"):
            count = os.preadv(self.file.fileno(), [buffer], self.place)
        else:  # Windows
            self.file.seek(self.place)
            count = self.file.readinto(buffer) or 0
        self.place += count
        return count


class HashedPipe(io.RawIOBase):
    """A pipe, hashed while it is read."""

    def __init__(self, file: io.FileIO) -> None:
        import hashlib

        self._file = file
        self.digest = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._file.fileno()

    def readinto(self, buffer: Any, /) -> int | None:
        count = self._file.readinto(buffer)
        self.digest.update(memoryview(buffer)[: count or 0])
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


def _open_gzip(stream: BinaryIO) -> Readable:
    try:  # twice as fast as zlib where it is installed
        from isal.igzip import IGzipFile

        return cast(Readable, IGzipFile(fileobj=stream))
    except ImportError:
        import gzip

        return gzip.GzipFile(fileobj=stream)


def _open_bzip2(stream: BinaryIO) -> Readable:
    from bz2 import BZ2Decompressor

    from ragkpi.formats.compressed_streams import MemberStream

    return MemberStream(stream, BZ2Decompressor)


def _open_xz(stream: BinaryIO) -> Readable:
    from lzma import FORMAT_XZ, LZMADecompressor

    from ragkpi.formats.compressed_streams import MemberStream

    return MemberStream(stream, lambda: LZMADecompressor(FORMAT_XZ), padding=4)


def _open_zstandard(stream: BinaryIO) -> Readable:
    from zstandard import ZstdDecompressor

    from ragkpi.formats.compressed_streams import MemberStream

    return MemberStream(stream, lambda: ZstdDecompressor().decompressobj(), limited=False)


# Long enough that no id begins so: "BZh" alone could be a query.
_BZIP2 = tuple(
    b"BZh%d" % level + block for level in range(1, 10) for block in (b"1AY&SY", b"\x17rE8P\x90")
)

DECOMPRESSORS: dict[bytes | tuple[bytes, ...], tuple[str, Callable[[BinaryIO], Readable]]] = {
    b"\x1f\x8b\x08": ("gzip", _open_gzip),
    _BZIP2: ("bzip2", _open_bzip2),
    b"\xfd7zXZ\x00": ("xz", _open_xz),
    b"\x28\xb5\x2f\xfd": ("zstandard", _open_zstandard),
}
