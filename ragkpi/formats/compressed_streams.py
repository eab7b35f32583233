"""Read compressed streams member by member, so that all bytes are read or refused.

The readers of bz2, lzma and zstandard take a truncated file for a complete one, or drop everything
behind the first member if it is damaged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, BinaryIO

# Few bytes may expand to very many: 4 bytes of zstandard to 128 kB, and these to 64 MB.
_COMPRESSED_AT_ONCE = 1 << 11
# Bytes that bz2 and lzma return at a time.
_TEXT_AT_ONCE = 1 << 20


class MemberStream:
    """Reads member after member.

    Parameters
    ----------
    stream
        The compressed bytes.
    decompressor
        Makes a decompressor of one member, with `decompress`, `eof` and `unused_data`.
    padding
        The zero bytes behind a member have to be a multiple of this; 0 allows none.
    limited
        Whether `decompress` takes a limit of its output, and `needs_input` tells its needs.
    """

    def __init__(
        self,
        stream: BinaryIO,
        decompressor: Callable[[], Any],
        padding: int = 0,
        limited: bool = True,
    ) -> None:
        self._stream = stream
        self._new = decompressor
        self._padding = padding
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
        zeros = 0
        while True:
            self._compressed = self._compressed or self._stream.read(_COMPRESSED_AT_ONCE)
            if not self._compressed:
                if self._padding and zeros % self._padding:
                    raise EOFError("ended with padding of odd length")
                return False
            if self._padding:
                rest = self._compressed.lstrip(b"\0")
                zeros += len(self._compressed) - len(rest)
                self._compressed = rest
            if self._compressed:
                break
        if self._padding and zeros % self._padding:
            raise EOFError("has padding of odd length")
        self._member = self._new()
        return True

    def _decompressed(self) -> bytes:
        compressed, self._compressed = self._compressed, b""
        if not compressed and (not self._limited or self._member.needs_input):
            compressed = self._stream.read(_COMPRESSED_AT_ONCE)
            if not compressed:
                raise EOFError("ended before the end of a member")
        if self._limited:
            text: bytes = self._member.decompress(compressed, _TEXT_AT_ONCE)
        else:
            text = self._member.decompress(compressed)
        return text
