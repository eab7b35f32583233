"""Groups of neighbouring rows: cut into spans, and gathered.

Group g is the rows ``starts[g]:starts[g + 1]``.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ragkpi.formats.tokens import BoolArray, IntArray


def spans(starts: IntArray, most: int) -> Iterator[tuple[int, int]]:
    """Yield spans ``first, last`` of groups with at most `most` rows, or of one larger group."""
    first = 0
    while first < len(starts) - 1:
        last = int(np.searchsorted(starts, starts[first] + most, side="right")) - 1
        last = max(last, first + 1)
        yield first, last
        first = last


def within_groups(starts: IntArray, holds: BoolArray) -> BoolArray:
    """Clear the elements of `holds`, (n-1,), that compare rows of two different groups.

    Element i compares rows i and i + 1. Groups may be empty.
    """
    inner = starts[(starts > 0) & (starts <= len(holds))]
    holds[inner - 1] = False
    return holds


def rows_of(starts: IntArray, groups: IntArray) -> tuple[IntArray, IntArray]:
    """Return the rows of some groups, in that order, and where each group starts among them."""
    sizes = np.diff(starts)[groups]
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    rows = np.arange(bounds[-1]) + np.repeat(starts[groups] - bounds[:-1], sizes)
    return rows, bounds
