"""Aggregates of Bits-over-Random: logarithms of ratios of means, in bits.

Their statistics are sums over queries like any other. The chance of success of a query takes
several: its complement, which keeps the digits of ceilings near 0 bits, and one number per band
of magnitudes, because the chance of many hits at once is smaller than any double.
"""

from __future__ import annotations

import numpy as np

from ragkpi.measures.aggregates import MEAN, RATIO_OF_MEANS, Aggregate
from ragkpi.measures.hypergeometric import Tail
from ragkpi.ranking.judged import FloatArray
from ragkpi.records import replace

_BAND = 1000  # bits: a double holds 2^-1000 with all its digits
_LARGEST = 63  # bits of a corpus size


def chance_statistics(tail: Tail, m: int) -> FloatArray:
    """Return the chance of success as additive statistics, (Q, 1 + bands).

    The first is P(X < m), the others are P(X >= m) times 2^(1000 j) in the column of its band j
    and 0 in the rest. How many bands there are follows from m alone, for P(X >= m) is at least
    N^-m: blocks of queries have statistics of one shape.
    """
    possible = np.isfinite(tail.log2)
    band = np.floor_divide(-tail.log2, _BAND, out=np.full(len(possible), -1.0), where=possible)
    scaled = np.where(band > 0, np.exp2(tail.log2 + _BAND * band), tail.probability)
    banded = np.zeros((len(possible), 1 + _LARGEST * m // _BAND))
    rows = np.flatnonzero(possible)
    banded[rows, band[rows].astype(np.int64)] = scaled[rows]
    return np.column_stack([tail.complement, banded])


def _log2_mean_chance(sums: FloatArray, count: FloatArray | int) -> FloatArray:
    """log2 of the mean chance of success; NaN if there is none."""
    complement = sums[..., 0] / count
    banded = np.log2(sums[..., 1:]) - _BAND * np.arange(sums.shape[-1] - 1)
    log2 = np.logaddexp2.reduce(banded, axis=-1) - np.log2(count)
    log2 = np.where(complement < 0.5, np.log1p(-complement) / np.log(2.0), log2)
    return np.where(np.isneginf(log2), np.nan, log2)


def _bits(sums: FloatArray, count: FloatArray | int = 1) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log2(sums[..., 0] / count) - _log2_mean_chance(sums[..., 1:], count))


def _ceiling(sums: FloatArray, count: FloatArray | int = 1) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(0.0 - _log2_mean_chance(sums, count))


def _log2_ratio(sums: FloatArray, _: FloatArray | int = 1) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log2(sums[..., 0] / sums[..., 1]))


def _difference(sums: FloatArray, count: FloatArray | int = 1) -> FloatArray:
    half = sums.shape[-1] // 2
    shallow, deep = _bits(sums[..., :half], count), _bits(sums[..., half:], count)
    return _unless_infinite(deep, shallow)


def _sparse_difference(sums: FloatArray, count: FloatArray | int = 1) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        shallow, deep = np.log2(sums[..., 0]), np.log2(sums[..., 1])
        return _unless_infinite(deep - sums[..., 2] / count, shallow)


def _unless_infinite(deep: FloatArray, shallow: FloatArray) -> FloatArray:
    """Subtract; NaN where nothing succeeded at one of the depths."""
    finite = np.isfinite(deep) & np.isfinite(shallow)
    difference = np.full(finite.shape, np.nan)
    np.subtract(deep, shallow, out=difference, where=finite)
    return difference


SUMMARY_MEAN = replace(MEAN, prints="summary")
SUMMARY_RATIO = replace(RATIO_OF_MEANS, prints="summary")
BITS = Aggregate("log2 of mean success / mean chance", _bits, _bits, rises_with_first=True)
CEILING = Aggregate("-log2 of the mean chance", _ceiling, _ceiling, prints="summary")
LOG2_RATIO = Aggregate(
    "log2 of the ratio of the means", _log2_ratio, _log2_ratio, rises_with_first=True
)
LOG2_RATIO_SUMMARY = replace(LOG2_RATIO, prints="summary")
BITS_DIFFERENCE = Aggregate(
    "difference of two log2 ratios", _difference, _difference, prints="summary"
)
SPARSE_DIFFERENCE = Aggregate(
    "log2 of a ratio of means, less its cost",
    _sparse_difference,
    _sparse_difference,
    prints="summary",
)
