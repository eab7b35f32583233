"""Exact integers from tokens, a chunk at a time: relevance levels and exponents.

Digits are read eight at a time, here and in `ragkpi.formats.decimals`.
"""

from __future__ import annotations

import re

import numpy as np

from ragkpi.formats.token_words import LAST_BYTES, WordArray, chunks, words_before
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


_WORDS = 2
_KEPT = bytes_kept(_WORDS)
_INTEGER = rb"([+-]?)0*([0-9]+)"


def parse_integers(tokens: Tokens) -> tuple[IntArray, BoolArray]:
    """Read integers ``[+-]?digits`` that fit 64 bits.

    Parameters
    ----------
    tokens : Tokens
        n tokens of any length and content.

    Returns
    -------
    integers : (n,) int64
        The numbers; 0 where a token is not one.
    valid : (n,) bool
        Which tokens are integers from -2**63 to 2**63 - 1.
    """
    integers = np.empty(len(tokens), dtype=np.int64)
    valid = np.empty(len(tokens), dtype=np.bool_)
    for rows, chunk in chunks(tokens):
        integers[rows], valid[rows] = _parse_chunk(chunk)
    return integers, valid


def parse_integers_slowly(tokens: Tokens) -> tuple[IntArray, BoolArray]:
    """Read integers one by one: what `parse_integers` must equal."""
    numbers = [_parse_integer(token) for token in tokens]
    integers = np.array([number or 0 for number in numbers], dtype=np.int64)
    return integers, np.array([number is not None for number in numbers], dtype=np.bool_)


def _parse_integer(token: bytes) -> int | None:
    match = re.fullmatch(_INTEGER, token)
    # Python refuses to convert thousands of digits; twenty already leave 64 bits.
    if match is None or len(match[2]) > 19:
        return None
    number = int(match[1] + match[2])
    return number if -(2**63) <= number < 2**63 else None


def _parse_chunk(tokens: Tokens) -> tuple[IntArray, BoolArray]:
    negative, unsigned = strip_signs(tokens)
    length = unsigned.end - unsigned.start
    shortest, longest = int(length.min()), int(length.max())
    if shortest == longest == 1:
        digit = unsigned.buffer.take(unsigned.start)
        digit -= ord("0")
        valid = digit <= 9
        integers = digit.astype(np.int64)
    else:
        if shortest < 0 or longest > 8 * _WORDS:
            length = np.where((length >= 0) & (length <= 8 * _WORDS), length, 0)
        integers, valid = _parse_digits(unsigned, length)
    if negative.any():
        np.negative(integers, out=integers, where=negative)
    if not valid.all():
        rows = np.flatnonzero(~valid)
        integers[rows], valid[rows] = parse_integers_slowly(tokens.take(rows))
    return integers, valid


def _parse_digits(tokens: Tokens, length: IntArray) -> tuple[IntArray, BoolArray]:
    """Read tokens of nothing but digits; those of length 0 are not valid."""
    valid = length > 0
    integers = np.zeros(len(tokens), dtype=np.int64)
    count = 1 if length.max() <= 8 else _WORDS
    for word, digits in enumerate(words_before(tokens.buffer, tokens.end, count)):
        digits ^= ZEROS
        digits &= _KEPT[word].take(length)
        too_high = digits + ABOVE_NINE
        too_high |= digits
        too_high &= HIGHEST_BITS
        valid &= too_high == 0
        integers += numbers_of(digits) * 10 ** (8 * word)
    return integers, valid
