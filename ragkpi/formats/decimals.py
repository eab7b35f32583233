"""Exact decimals from tokens, a chunk at a time: the double that Python's ``float`` gives.

A token is read as right-aligned words of eight bytes in which the point counts as a digit zero,
so that no byte has to move. ``12.345`` becomes X = 120345. With f = 3 decimals, the part before
the point is X / 10**(f+1) rounded (the rest is below 0.1), and taking 9 * 10**f for each of its
units out of X closes the gap: 120345 - 12 * 9000 = 12345. One division by 10**f gives the number.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from ragkpi.formats.integers import (
    ABOVE_NINE,
    HIGHEST_BITS,
    ZEROS,
    bytes_kept,
    numbers_of,
    parse_integers,
    strip_signs,
)
from ragkpi.formats.powers_of_ten import MOST_DECIMALS, POWERS, divide_exactly
from ragkpi.formats.token_words import FIRST_BYTES, LAST_BYTES, WordArray, chunks, words_before
from ragkpi.formats.tokens import BoolArray, FloatArray, IntArray, Tokens

_JSON = rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_DECIMAL = rb"[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?)"

_WORDS = 3
_KEPT = bytes_kept(_WORDS)

_EACH_BYTE = 0x0101010101010101
# Of ASCII bytes xor '0', only the point, signs, letters and the like have this bit.
_NO_DIGIT = np.uint64(0x1010101010101010)
_POINT = np.uint64(ord(".") ^ ord("0"))

# By the place of the point: bit 8 * byte + 4 - word of a mask, or 64 for an integer.
_DECIMALS: IntArray = np.zeros(65, dtype=np.int64)
_SPLIT: FloatArray = np.zeros(65)  # 1 / 10**(f+1); an integer has nothing to split
_GAP: IntArray = np.zeros(65, dtype=np.int64)  # 9 * 10**f modulo 2**64, as X is
_of_bit = {8 * byte + 4 - word: 8 * word + 7 - byte for word in range(_WORDS) for byte in range(8)}
_bits, _f = list(_of_bit), list(_of_bit.values())
_DECIMALS[_bits] = _f
_SPLIT[_bits] = [1 / 10 ** (f + 1) for f in _f]
_GAP[_bits] = np.array([9 * 10**f % 2**64 for f in _f], dtype=np.uint64).view(np.int64)

# The third eight bytes count up to here, so that a tenth of X stays below 2**63.
_MOST_TOP = 9000


def parse_decimals(tokens: Tokens) -> FloatArray:
    """Read decimal numbers, correctly rounded, as Python's ``float`` does.

    A number is ``[+-]?(digits[.digits]|digits.|.digits)([eE][+-]?digits)?`` in ASCII, or ``inf``
    or ``infinity`` with an optional sign, in any case.

    Parameters
    ----------
    tokens : Tokens
        n tokens of any length and content.

    Returns
    -------
    (n,) float64
        The numbers; NaN where a token is not one (``nan`` is not).
    """
    numbers = np.empty(len(tokens))
    for rows, chunk in chunks(tokens):
        numbers[rows] = _parse_chunk(chunk)
    return numbers


def parse_json_numbers(tokens: Tokens) -> FloatArray:
    """Read numbers as JSON has them, which is less: NaN for ``+1``, ``01``, ``.5``, ``1.``, inf."""
    numbers = np.empty(len(tokens))
    for rows, chunk in chunks(tokens):
        numbers[rows] = _parse_json_chunk(chunk)
    return numbers


def _parse_json_chunk(tokens: Tokens) -> FloatArray:
    """Read plain numbers that begin and end with digits, and look at all others one by one."""
    numbers, plain = _parse_plain(tokens)
    text, start, end = tokens.buffer, tokens.start, tokens.end
    first = text.take(start)
    if (first == ord("-")).any():
        start = start + (first == ord("-"))
        first = text.take(start)
    plain &= (first - np.uint8(ord("0"))) < 10
    plain &= (text.take(end - 1) - np.uint8(ord("0"))) < 10
    zero = np.flatnonzero(first == ord("0"))
    plain[zero] &= (text.take(start[zero] + 1) == ord(".")) | (start[zero] + 1 == end[zero])
    if not plain.all():
        odd = tokens.take(~plain)
        valid = [re.fullmatch(_JSON, token) is not None for token in odd]
        numbers[~plain] = np.where(valid, _parse_chunk(odd), np.nan)
    return numbers


def parse_decimals_slowly(tokens: Tokens) -> FloatArray:
    """Read decimal numbers one by one: what `parse_decimals` must equal."""
    return np.array([_parse_decimal(token) for token in tokens], dtype=np.float64)


def _parse_decimal(token: bytes) -> float:
    return float(token) if re.fullmatch(_DECIMAL, token, re.IGNORECASE) else np.nan


def _parse_chunk(tokens: Tokens) -> FloatArray:
    """Read plain numbers and those with an exponent together, the odd ones by `float`."""
    alike = _parse_alike(tokens)
    if alike is not None:
        return alike
    readers: list[Callable[[Tokens], tuple[FloatArray, BoolArray]]]
    readers = [_parse_plain, _parse_scientific]
    if b"e" in tokens[0].lower():  # as a rule the others have an exponent, too
        readers.reverse()
    numbers, valid = readers[0](tokens)
    if not valid.all():
        rows = np.flatnonzero(~valid)
        numbers[rows], valid[rows] = readers[1](tokens.take(rows))
        rows = rows[~valid[rows]]
        numbers[rows] = parse_decimals_slowly(tokens.take(rows))
    return numbers


def _parse_alike(tokens: Tokens) -> FloatArray | None:
    """Read numbers of up to eight digits, all with as many decimals, as most runs have them.

    The digits before the point move over it, so that one word holds all. None for other tokens.
    """
    decimals = len(tokens[0].partition(b".")[2])
    digits = tokens.end - tokens.start - 1
    if not 0 < decimals < 8 or digits.min() < decimals or digits.max() > 8:
        return None
    last, before = words_before(tokens.buffer, tokens.end, 2)
    above = FIRST_BYTES[7 - decimals]
    point = ~(above | LAST_BYTES[decimals])
    wrong = last & point
    wrong ^= np.uint64(_EACH_BYTE * ord(".")) & point
    before >>= np.uint64(56)
    before |= (last & above) << np.uint64(8)
    last &= LAST_BYTES[decimals]
    last |= before
    last ^= ZEROS
    last &= LAST_BYTES.take(digits)
    too_high = last + ABOVE_NINE
    too_high |= last
    too_high &= HIGHEST_BITS
    wrong |= too_high
    if wrong.any():
        return None
    numbers: FloatArray = numbers_of(last) / POWERS[decimals]
    return numbers


def _parse_scientific(tokens: Tokens) -> tuple[FloatArray, BoolArray]:
    """Read numbers such as 7.5e-05; their exponents have up to three bytes, a sign included."""
    mark = tokens.end.copy()
    for back in (2, 3, 4):
        mark -= back * ((tokens.buffer[tokens.end - back] | 0x20) == ord("e"))
    mark = np.maximum(mark, tokens.start)
    mantissas = Tokens(tokens.buffer, tokens.start, mark)
    exponent, valid = parse_integers(Tokens(tokens.buffer, mark + 1, tokens.end))
    numbers, plain = _parse_plain(mantissas, exponent)
    return numbers, valid & plain


def _parse_plain(tokens: Tokens, exponent: IntArray | None = None) -> tuple[FloatArray, BoolArray]:
    """Read numbers without exponent, times ten to the given one; say which could be read."""
    negative, unsigned = strip_signs(tokens)
    parts, place, valid = _read_digits(unsigned)
    mantissa = _close_gap(parts, place, valid)
    decimals = _DECIMALS.take(place)
    if exponent is not None:
        decimals = decimals - exponent
        valid &= (decimals >= 0) & (decimals <= MOST_DECIMALS)
        decimals[~valid] = 0
    numbers = mantissa.astype(np.float64)
    numbers /= POWERS.take(decimals)
    # Both operands were exact up to 2**53 and 10**22, so the quotient is rounded once.
    inexact = mantissa > 2**53
    inexact |= decimals > 22
    inexact &= valid
    if inexact.any():
        rows = np.flatnonzero(inexact)
        decimals = np.broadcast_to(decimals, mantissa.shape)
        numbers[rows], sure = divide_exactly(mantissa.take(rows), decimals.take(rows))
        valid[rows] &= sure
    if negative.any():
        np.negative(numbers, out=numbers, where=negative)
    return numbers, valid


def _read_digits(tokens: Tokens) -> tuple[list[IntArray], IntArray, BoolArray]:
    """Read digits with at most one point: each eight bytes as a number, the last eight first.

    Also returns the places of the points, indices into the tables above, as one number if all
    are the same; and which tokens are such.
    """
    length = tokens.end - tokens.start
    if length.min() < 0 or length.max() > 8 * _WORDS:
        length = np.where((length >= 0) & (length <= 8 * _WORDS), length, 0)
    count = max(1, -(-int(length.max()) // 8))
    points = np.zeros(len(tokens), dtype=np.uint64)
    wrong = np.zeros(len(tokens), dtype=np.uint64)
    parts = []
    for word, digits in enumerate(words_before(tokens.buffer, tokens.end, count)):
        digits ^= ZEROS
        digits &= _KEPT[word].take(length)
        point = digits & _NO_DIGIT
        wrong |= _blank(digits, point)
        point >>= np.uint64(word)
        points |= point
        parts.append(numbers_of(digits))
    if (points == points[0]).all():
        points = points[:1]  # as in most runs; what follows from it is worked out once
    below = points - np.uint64(1)
    place = np.bitwise_count(below).astype(np.intp)
    below &= points  # not zero if there are two points
    wrong &= HIGHEST_BITS
    wrong |= below
    valid = wrong == 0
    if length.min() < 2:
        valid &= (length > 1) | ((length == 1) & (points == 0))
    return parts, place, valid


def _blank(digits: WordArray, point: WordArray) -> WordArray:
    """Make the point a digit zero, in place; high bits tell which words hold anything else.

    A byte below the point's borrows and keeps its high bit; one above gets it from the 9.
    """
    marks = point >> np.uint64(4)
    digits -= marks * _POINT
    marks *= np.uint64(9)
    marks += ABOVE_NINE
    marks += digits
    marks |= digits
    return marks


def _close_gap(parts: list[IntArray], place: IntArray, valid: BoolArray) -> IntArray:
    """Join the parts to X and take out the digit that was the point; valid where that is exact."""
    joined = parts[0]
    if len(parts) > 1:
        joined += parts[1] * 10**8
    rough = joined.astype(np.float64)
    if len(parts) > 2:
        top = np.minimum(parts[2], _MOST_TOP)
        rough += top * 1e16
        joined += top * 10**16  # modulo 2**64, as the gap
    whole = np.rint(rough * _SPLIT.take(place))
    if len(parts) > 1:
        valid &= whole <= 2.0**48  # above, the errors of `rough` could reach one half
    if len(parts) > 2 and top.max() > 920:  # X may be 2**63 or more, but is the mantissa?
        valid &= top < _MOST_TOP
        valid &= rough - whole * 9 * POWERS.take(_DECIMALS.take(place)) < 9.2e18
    gap = whole.astype(np.int64)
    gap *= _GAP.take(place)
    joined -= gap
    return joined
