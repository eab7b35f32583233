"""Neighbours with the same id: where one query's lines end and the next one's begin."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ragkpi.formats.identity import equal_tokens, tail_keys
from ragkpi.formats.tokens import IntArray, Tokens


def group_starts(tokens: Tokens) -> IntArray:
    """Return where runs of equal neighbours start, and the length at the end: (G+1,)."""
    if not len(tokens):
        return np.zeros(1, dtype=np.int64)
    keys = tail_keys(tokens)
    same = np.empty(len(tokens), dtype=bool)
    same[0] = False
    np.equal(keys[1:], keys[:-1], out=same[1:])
    if (tokens.end - tokens.start).max() > 8:  # the keys are the last eight bytes
        rows = np.flatnonzero(same)
        same[rows] = equal_tokens(tokens, rows, tokens, rows - 1)
    return np.append(np.flatnonzero(~same), len(tokens))


def spans(starts: IntArray, most: int) -> Iterator[tuple[int, int]]:
    """Cut groups into spans ``first, last`` of at most `most` rows, or of one larger group.

    Group g is the rows ``starts[g]:starts[g + 1]``.
    """
    first = 0
    while first < len(starts) - 1:
        last = int(np.searchsorted(starts, starts[first] + most, side="right")) - 1
        last = max(last, first + 1)
        yield first, last
        first = last
