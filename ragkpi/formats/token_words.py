"""Eight-byte words of tokens: many bytes are read, compared and hashed by few array operations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ragkpi.formats.tokens import ByteArray, IntArray, Tokens

if TYPE_CHECKING:
    import numpy.typing as npt

WordArray: TypeAlias = "npt.NDArray[np.uint64]"

# Most tokens worked on at a time, so that temporary arrays (250 kB) stay in the cache.
CHUNK = 32_000

# Bytes of a word that belong to a token, by their number (0 to 8). Words are little-endian
# everywhere: a token's earlier bytes are the lower ones.
FIRST_BYTES: WordArray = np.array([(1 << 8 * k) - 1 for k in range(9)], dtype=np.uint64)
LAST_BYTES: WordArray = ~FIRST_BYTES[::-1]


def chunks(tokens: Tokens) -> Iterator[tuple[slice, Tokens]]:
    """Cut a column into equal pieces that fit the cache, each with the rows it covers."""
    size = -(-len(tokens) // max(1, -(-len(tokens) // CHUNK)))
    for first in range(0, len(tokens), max(1, size)):
        rows = slice(first, first + size)
        yield rows, tokens.take(rows)


def words_at(buffer: ByteArray, position: IntArray, count: int) -> list[WordArray]:
    """Read `count` consecutive words from each position (n, any alignment) of a buffer.

    numpy gathers unaligned words one byte at a time. It is faster to gather the aligned words
    around each position and to shift two of them together, above all for several words in a row.
    All words, and the eight bytes behind them, must lie inside the buffer.
    """
    skipped = -buffer.ctypes.data % 8
    aligned = np.ndarray((len(buffer) - skipped) // 8, np.dtype("<u8"), buffer, offset=skipped)
    offset = position - skipped
    index = offset >> 3
    offset &= 7
    offset <<= 3
    right = offset.view(np.uint64)
    left = np.uint64(64) - right  # 64 shifts everything out: numpy defines that as zero
    words: list[WordArray] = []
    low = aligned.take(index)
    for _ in range(count):
        index += 1
        high = aligned.take(index)
        low >>= right
        low |= high << left
        words.append(low)
        low = high
    return words


def words_before(buffer: ByteArray, end: IntArray, count: int) -> list[WordArray]:
    """Read the `count` words that end at each position, the last one first."""
    return words_at(buffer, end - 8 * count, count)[::-1]


def words_from(tokens: Tokens, offset: int, count: int) -> list[WordArray]:
    """Read `count` (up to 3) words from byte `offset` of each token; zeros follow its end."""
    length = tokens.end - tokens.start
    words = words_at(tokens.buffer, np.minimum(tokens.start + offset, tokens.end), count)
    shortest = length.min(initial=offset + 8 * count)
    for number, word in enumerate(words):
        before = offset + 8 * number
        if shortest < before + 8:
            word &= FIRST_BYTES.take(length - before, mode="clip")
    return words
