"""Logarithms and sums that round as they do in trec_eval, which is written in C.

numpy's vectorised logarithms round a few arguments in a thousand differently, which is enough to
print another fourth decimal than trec_eval once in a while.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ragkpi.ranking.judged import FloatArray, IntArray

if TYPE_CHECKING:
    import numpy.typing as npt


def log(numbers: FloatArray) -> FloatArray:
    """Return the natural logarithms of positive numbers, (n,)."""
    return _each(math.log, numbers)


def log2(numbers: FloatArray | IntArray) -> FloatArray:
    """Return the base-2 logarithms of positive numbers, (n,)."""
    if np.issubdtype(numbers.dtype, np.integer):
        largest = int(numbers.max(initial=0))
        if largest <= len(numbers):  # ranks repeat from query to query: take each once
            return _each(math.log2, np.arange(1, largest + 1))[numbers - 1]
    return _each(math.log2, numbers)


def _each(function: Callable[[float], float], numbers: npt.NDArray[np.generic]) -> FloatArray:
    return np.fromiter(map(function, numbers.tolist()), dtype=np.float64, count=len(numbers))


def plus_ones(totals: FloatArray, count: IntArray) -> FloatArray:
    """Add 1.0 to each of the totals `count` times, rounding where the single additions round."""
    remaining = count.astype(np.float64)
    while remaining.any():
        # Additions of 1 are exact up to the next power of two, so those are one addition.
        to_power = np.ceil(np.ldexp(1.0, np.frexp(totals)[1]) - totals)
        step = np.minimum(remaining, np.maximum(to_power, 1.0))
        totals = totals + step
        remaining = remaining - step
    return totals
