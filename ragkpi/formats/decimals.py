"""Numbers of runs and qrels, from text to the doubles and integers that Python would read."""

from __future__ import annotations

import math
import re

import numpy as np

from ragkpi.formats.tokens import BoolArray, FloatArray, IntArray, Tokens

_DECIMAL = re.compile(
    rb"[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|inf(inity)?)", re.IGNORECASE | re.ASCII
)
_INTEGER = re.compile(rb"[+-]?\d+", re.ASCII)


def parse_decimals(tokens: Tokens) -> FloatArray:
    """Read each token as a decimal number, (n,), correctly rounded; NaN if it is none."""
    return np.array(
        [float(text) if _DECIMAL.fullmatch(text) else math.nan for text in tokens.tolist()],
        dtype=np.float64,
    )


def parse_integers(tokens: Tokens) -> tuple[IntArray, BoolArray]:
    """Read each token as a 64-bit integer, (n,); and say which are, (n,)."""
    values = np.zeros(len(tokens), dtype=np.int64)
    valid = np.zeros(len(tokens), dtype=bool)
    for row, text in enumerate(tokens.tolist()):
        if _INTEGER.fullmatch(text) and -(2**63) <= int(text) < 2**63:
            values[row], valid[row] = int(text), True
    return values, valid
