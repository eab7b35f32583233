"""Scores as texts: what Python's ``repr`` writes, the shortest that reads back as the same double.

A score with up to eight decimals is an integer m divided by 10**8, and the division rounds to just
that double. With at most 14 digits no other decimal so short is the same double, so that m without
the zeros at its end is the shortest. Its digits are computed for all scores at once, eight in a
word. All other scores (more digits, exponents, infinity) are written one by one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ragkpi.formats.token_words import WordArray
from ragkpi.formats.tokens import ByteArray, FloatArray

_WORDS = 3  # repr takes up to 24 bytes
_ZEROS = np.uint64(0x30)
_HIGHEST_BITS = np.uint64(0x8080808080808080)
_ALL_BUT_HIGHEST = np.uint64(0x7F7F7F7F7F7F7F7F)


def repr_bytes(score: float) -> bytes:
    """Write one score: what `score_matrix` must equal."""
    return repr(score).encode()


def score_matrix(scores: FloatArray, write: Callable[[float], bytes] = repr_bytes) -> ByteArray:
    """Return the texts of n scores, (n, w); zeros among the bytes of a text do not count.

    Parameters
    ----------
    scores : (n,)
        Doubles.
    write
        Writes what is not a plain decimal.
    """
    size = np.abs(scores)
    with np.errstate(over="ignore", invalid="ignore"):
        integer = np.rint(size * 1e8)
        plain = (integer < 1e14) & (integer / 1e8 == size) & ((size >= 1e-4) | (size == 0))
    if not plain.all():
        integer[~plain] = 0
    digits = integer.astype(np.uint64)
    whole = digits // np.uint64(10**8)
    words = np.zeros((len(scores), 2 if plain.all() else _WORDS), dtype="<u8")
    # Of eight digits before the point the first two are zeros: one makes room for the sign, and
    # the others move there for the point behind them.
    words[:, 0] = _leading(_digits_of(whole)) >> np.uint64(8) | np.uint64(ord(".") << 56)
    words[:, 0] |= np.signbit(scores) * np.uint64(ord("-"))
    words[:, 1] = _trailing(_digits_of(digits - whole * np.uint64(10**8)))
    if not plain.all():
        odd = [write(score) for score in scores[~plain].tolist()]
        words[~plain] = np.array(odd, dtype=f"S{8 * _WORDS}").view("<u8").reshape(-1, _WORDS)
    return words.view(np.uint8)


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
    flags = (kept + _ALL_BUT_HIGHEST & _HIGHEST_BITS) >> np.uint64(7)
    return digits | flags * _ZEROS
