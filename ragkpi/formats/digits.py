"""Decimal digits as numbers, eight at a time: what integers and decimals share."""

from __future__ import annotations

import numpy as np

from ragkpi.formats.token_words import LAST_BYTES, WordArray
from ragkpi.formats.tokens import BoolArray, IntArray, Tokens

ZEROS = np.uint64(0x3030303030303030)  # the byte '0', eight times
ABOVE_NINE = np.uint64(0x7676767676767676)  # carries a byte above 9 into its highest bit
HIGHEST_BITS = np.uint64(0x8080808080808080)


def bytes_kept(words: int) -> list[WordArray]:
    """Masks of a token's last, second last, ... word, by the token's length in bytes."""
    lengths = np.arange(8 * words + 1)
    return [LAST_BYTES[np.clip(lengths - 8 * word, 0, 8)] for word in range(words)]


def strip_signs(tokens: Tokens) -> tuple[BoolArray, Tokens]:
    """Take one leading + or - off each token; say which had a minus.

    An empty token may take the byte behind it for a sign; its length becomes -1.
    """
    first = tokens.buffer.take(tokens.start)
    negative = first == ord("-")
    signed = negative | (first == ord("+"))
    if not signed.any():
        return negative, tokens
    return negative, Tokens(tokens.buffer, tokens.start + signed, tokens.end)


def numbers_of(digits: WordArray) -> IntArray:
    """Turn eight digits (bytes 0 to 9, the first in the lowest byte) into a number, in place.

    Neighbours are joined by one multiplication: digits to pairs, pairs to fours, fours to eight.
    """
    digits *= np.uint64(10 << 8 | 1)
    digits >>= np.uint64(8)
    digits &= np.uint64(0x00FF00FF00FF00FF)
    digits *= np.uint64(100 << 16 | 1)
    digits >>= np.uint64(16)
    digits &= np.uint64(0x0000FFFF0000FFFF)
    digits *= np.uint64(10_000 << 32 | 1)
    digits >>= np.uint64(32)
    return digits.view(np.int64)
