"""Corrections of p-values for many tests at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np

from ragkpi.measures.aggregates import FloatArray

CorrectionName = Literal["holm", "benjamini-hochberg", "none"]


def holm(p: FloatArray) -> FloatArray:
    """Control the probability of even one false rejection.

    Formula:    the i-th smallest of m p-values times (m - i + 1), made monotone, at most 1
    Source:     S. Holm, A simple sequentially rejective multiple test procedure, 1979
    """
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return np.minimum(stepped, 1)[np.argsort(order)]


def benjamini_hochberg(p: FloatArray) -> FloatArray:
    """Control the expected share of false ones among the rejections.

    Formula:    the i-th smallest of m p-values times m / i, made monotone from the largest
    Source:     Y. Benjamini and Y. Hochberg, Controlling the false discovery rate, 1995
    """
    order = np.argsort(p, kind="stable")
    scaled = p[order] * len(p) / np.arange(1, len(p) + 1)
    return np.minimum.accumulate(scaled[::-1])[::-1][np.argsort(order)]


def uncorrected(p: FloatArray) -> FloatArray:
    """Return the p-values unchanged, as if each test were the only one."""
    return p


CORRECTIONS: Mapping[CorrectionName, Callable[[FloatArray], FloatArray]] = {
    "holm": holm,
    "benjamini-hochberg": benjamini_hochberg,
    "none": uncorrected,
}


def corrected(p: FloatArray, correction: CorrectionName) -> FloatArray:
    """Correct p-values of one family, (m,); NaN means not tested and stays NaN."""
    tested = ~np.isnan(p)
    values = p.copy()
    values[tested] = CORRECTIONS[correction](p[tested])
    return values
