"""Scores as texts: what Python's ``repr`` writes, the shortest that reads back as the same double.

A score with up to eight decimals is an integer m divided by 10**8, and the division rounds to just
that double. With at most 14 digits no other decimal so short is the same double, so that m without
the zeros at its end is the shortest. Its digits are computed for all scores at once, eight in a
word. All other scores (more digits, exponents, infinity) are written one by one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ragkpi.formats.integers import HIGHEST_BITS
from ragkpi.formats.token_words import WordArray
from ragkpi.formats.tokens import FloatArray, IntArray

LONGEST_SCORE = 24  # bytes that repr takes
_WORDS = LONGEST_SCORE // 8
_ZEROS = np.uint64(0x30)
_ALL_BUT_HIGHEST = np.uint64(0x7F7F7F7F7F7F7F7F)


def repr_bytes(score: float) -> bytes:
    """Write one score: what `score_texts` must equal."""
    return repr(score).encode()


def score_texts(
    scores: FloatArray, write: Callable[[float], bytes] = repr_bytes
) -> tuple[WordArray, IntArray]:
    """Return the texts of n scores.

    Parameters
    ----------
    scores : (n,)
        Doubles.
    write
        Writes what is not a plain decimal.

    Returns
    -------
    texts : (n, w)
        Words of eight bytes each; behind a text are zeros.
    lengths : (n,)
        How many bytes each text has.
    """
    size = np.abs(scores)
    with np.errstate(over="ignore", invalid="ignore"):
        integer = np.rint(size * 1e8)
        plain = (integer < 1e14) & (integer / 1e8 == size) & ((size >= 1e-4) | (size == 0))
    all_plain = bool(plain.all())
    if not all_plain:
        integer[~plain] = 0
    digits = integer.astype(np.uint64)
    whole = digits // np.uint64(10**8)
    # Of eight digits before the point the first two are zeros. The others move for the point.
    before = _leading(_digits_of(whole)) >> np.uint64(8) | np.uint64(ord(".") << 56)
    behind = _trailing(_digits_of(digits - whole * np.uint64(10**8)))
    # Then all moves to the front, or to the sign.
    empty = np.bitwise_count((before & -before) - np.uint64(1)).astype(np.uint64)
    empty &= np.uint64(0x38)  # the bits of whole bytes
    negative = np.signbit(scores)
    empty -= negative * np.uint64(8)
    before >>= empty
    before |= negative * np.uint64(ord("-"))
    texts = np.zeros((len(scores), 2 if all_plain else _WORDS), dtype="<u8")
    texts[:, 0] = before | behind << (np.uint64(64) - empty)
    texts[:, 1] = behind >> empty
    lengths = 8 - (empty >> np.uint64(3)).astype(np.int64) + _length(behind)
    if not all_plain:
        odd = [write(score) for score in scores[~plain].tolist()]
        texts[~plain] = np.array(odd, dtype=f"S{8 * _WORDS}").view("<u8").reshape(-1, _WORDS)
        lengths[~plain] = [len(text) for text in odd]
    return texts, lengths


def _length(texts: WordArray) -> IntArray:
    """Return how many bytes stand in words before their zeros."""
    used = texts + _ALL_BUT_HIGHEST & HIGHEST_BITS
    length: IntArray = np.bitwise_count(used).astype(np.int64)
    return length


def _digits_of(numbers: WordArray) -> WordArray:
    """Cut numbers below 10**8 into eight digits, the first one in the lowest byte.

    Four and four, then pairs, then single ones: divisions are multiplications that are exact for
    so small numbers.
    """
    fours = numbers // np.uint64(10_000)
    fours |= (numbers - fours * np.uint64(10_000)) << np.uint64(32)
    pairs = (fours * np.uint64(10_486)) >> np.uint64(20) & np.uint64(0x0000007F0000007F)
    pairs |= (fours - pairs * np.uint64(100)) << np.uint64(16)
    digits = (pairs * np.uint64(103)) >> np.uint64(10) & np.uint64(0x000F000F000F000F)
    digits |= (pairs - digits * np.uint64(10)) << np.uint64(8)
    return digits


def _leading(digits: WordArray) -> WordArray:
    """Turn digits to text without the zeros before the first other one; the last digit stays."""
    seen = digits | digits << np.uint64(8)
    seen |= seen << np.uint64(16)
    seen |= seen << np.uint64(32)
    return _text(digits, seen | np.uint64(1 << 56))


def _trailing(digits: WordArray) -> WordArray:
    """Turn digits to text without the zeros behind the last other one; the first digit stays."""
    seen = digits | digits >> np.uint64(8)
    seen |= seen >> np.uint64(16)
    seen |= seen >> np.uint64(32)
    return _text(digits, seen | np.uint64(1))


def _text(digits: WordArray, kept: WordArray) -> WordArray:
    """Turn the digits to text whose bytes in `kept`, each below 128, are not zero."""
    flags = (kept + _ALL_BUT_HIGHEST & HIGHEST_BITS) >> np.uint64(7)
    return digits | flags * _ZEROS
