"""Division by powers of ten, rounded once: pairs of doubles hold what one has no room for."""

from __future__ import annotations

import numpy as np

from ragkpi.formats.tokens import BoolArray, FloatArray, IntArray

# Powers of ten as sums of two doubles. The second is zero up to 10**22.
MOST_DECIMALS = 128
_EXACT = [10**k for k in range(MOST_DECIMALS + 1)]
POWERS: FloatArray = np.array([float(power) for power in _EXACT])
_POWER_RESTS: FloatArray = np.array([float(power - int(float(power))) for power in _EXACT])


def divide_exactly(mantissa: IntArray, decimals: IntArray) -> tuple[FloatArray, BoolArray]:
    """Divide by a power of ten in pairs of doubles; say where the rounding is beyond doubt.

    The first quotient is corrected by its remainder, which leaves an error below 2**-102 of it.
    Where four times that would round differently (near a tie), `float` must decide.
    """
    high = mantissa.astype(np.float64)
    low = (mantissa - high.astype(np.int64)).astype(np.float64)
    power = POWERS.take(decimals)
    quotient = high / power
    product, product_rest = _multiply_exactly(quotient, power)
    correction = high - product
    correction -= product_rest
    correction += low
    if decimals.max() > 22:
        correction -= quotient * _POWER_RESTS.take(decimals)
    correction /= power
    doubt = quotient * 2.0**-100
    numbers = quotient + (correction - doubt)
    return numbers, numbers == quotient + (correction + doubt)


def _multiply_exactly(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Product and its rounding error (Dekker), with nothing but doubles, on any machine."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    rest = a_high * b_high
    rest -= product
    rest += a_high * b_low
    rest += a_low * b_high
    rest += a_low * b_low
    return product, rest


def _halves(a: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Split 53 bits into 26 and 27 (Veltkamp)."""
    scaled = a * (2.0**27 + 1)
    high = scaled - (scaled - a)
    return high, a - high
