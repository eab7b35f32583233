"""Zstandard streams; the package's own reader takes a truncated file for a complete one."""

from __future__ import annotations

from typing import Any, BinaryIO

import zstandard

# Few bytes may expand to very many: 4 of them to 128 kB, so these to 64 MB.
_COMPRESSED_AT_ONCE = 1 << 11


class ZstandardStream:
    """Reads frame after frame.

    Parameters
    ----------
    stream
        The compressed bytes.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._frame: Any = None  # None between frames
        self._compressed = b""
        self._text = memoryview(b"")

    def readinto(self, buffer: Any, /) -> int:
        """Fill the buffer as far as there is text; `EOFError` for a frame that is cut off."""
        while not self._text:
            compressed = self._compressed or self._stream.read(_COMPRESSED_AT_ONCE)
            self._compressed = b""
            if not compressed:
                if self._frame is not None:
                    raise EOFError("ended before the end of a frame")
                return 0
            if self._frame is None:
                self._frame = zstandard.ZstdDecompressor().decompressobj()
            self._text = memoryview(self._frame.decompress(compressed))
            if self._frame.eof:
                self._compressed, self._frame = self._frame.unused_data, None
        count = min(len(buffer), len(self._text))
        buffer[:count] = self._text[:count]
        self._text = self._text[count:]
        return count
