"""Eight-byte words of tokens: many bytes are read, compared and hashed by few array operations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ragkpi.formats.tokens import ByteArray, IntArray, Tokens

if TYPE_CHECKING:
    import numpy.typing as npt

WordArray: TypeAlias = "npt.NDArray[np.uint64]"
VoidArray: TypeAlias = "npt.NDArray[np.void]"

# Most tokens worked on at a time, so that temporary arrays (250 kB) stay in the cache.
CHUNK = 32_000

# Words from the start of a token on that may be read at once: the padding allows no more.
MOST_WORDS = 3

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


def stretches(buffer: ByteArray, width: int) -> VoidArray:
    """Return all stretches of so many bytes of a buffer, which overlap, by where they begin.

    To gather or to write items of many bytes takes numpy hardly longer than single bytes.
    """
    item = np.dtype((np.void, width))
    return np.ndarray(len(buffer) - width + 1, item, buffer, strides=(1,))


def words_at(buffer: ByteArray, position: IntArray, count: int) -> list[WordArray]:
    """Read `count` consecutive words from each position (n, any alignment) of a buffer.

    All of them must lie inside the buffer.
    """
    if not count:
        return []
    words = stretches(buffer, 8 * count)[position].view("<u8").reshape(-1, count)
    return list(np.ascontiguousarray(words.T))


def words_before(buffer: ByteArray, end: IntArray, count: int) -> list[WordArray]:
    """Read the `count` words that end at each position, the last one first."""
    return words_at(buffer, end - 8 * count, count)[::-1]


def words_from(tokens: Tokens, offset: int, count: int) -> list[WordArray]:
    """Read words (up to `MOST_WORDS`) from byte `offset` of each token; zeros follow its end."""
    length = tokens.end - tokens.start
    words = words_at(tokens.buffer, np.minimum(tokens.start + offset, tokens.end), count)
    shortest = length.min(initial=offset + 8 * count)
    for number, word in enumerate(words):
        before = offset + 8 * number
        if shortest < before + 8:
            word &= FIRST_BYTES.take(length - before, mode="clip")
    return words
