"""Groups of rows that stand together: where they start, how they are cut and gathered.

Group g is the rows ``starts[g]:starts[g + 1]``.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ragkpi.formats.identity import equal_tokens
from ragkpi.formats.token_words import CHUNK, FIRST_BYTES, MOST_WORDS, words_at
from ragkpi.formats.tokens import BoolArray, IntArray, Tokens


def group_starts(tokens: Tokens) -> IntArray:
    """Return where runs of equal neighbours start, and the length at the end: (G+1,)."""
    same = np.zeros(len(tokens), dtype=bool)
    for first in range(0, len(tokens) - 1, CHUNK):
        rows = slice(first, first + CHUNK + 1)  # the last one is the first of the next chunk
        same[rows][1:] = _equal_to_last(tokens.take(rows))
    return np.append(np.flatnonzero(~same), len(tokens))


def _equal_to_last(tokens: Tokens) -> BoolArray:
    """Say of each token but the first whether it equals the one before it, (n-1,).

    Neighbours mostly are equal, and then so is a little of what follows them: words are compared
    with it, and only those that differ without it.
    """
    length = tokens.end - tokens.start
    equal: BoolArray = length[1:] == length[:-1]
    longest = int(length.max())
    if longest > 8 * MOST_WORDS:
        rows = np.flatnonzero(equal) + 1
        equal[rows - 1] = equal_tokens(tokens, rows, tokens, rows - 1)
        return equal
    words = words_at(tokens.buffer, tokens.start, max(1, -(-longest // 8)))
    differs = [word[1:] != word[:-1] for word in words]
    rows = np.flatnonzero(np.logical_or.reduce(differs) & equal)
    for number, word in enumerate(words):
        own = FIRST_BYTES.take(length[rows] - 8 * number, mode="clip")
        equal[rows[(word[rows] ^ word[rows + 1]) & own != 0]] = False
    return equal


def spans(starts: IntArray, most: int) -> Iterator[tuple[int, int]]:
    """Cut groups into spans ``first, last`` of at most `most` rows, or of one larger group."""
    first = 0
    while first < len(starts) - 1:
        last = int(np.searchsorted(starts, starts[first] + most, side="right")) - 1
        last = max(last, first + 1)
        yield first, last
        first = last


def within_groups(starts: IntArray, holds: BoolArray) -> BoolArray:
    """Clear what holds between a row and the next, (n-1,), where another group begins.

    Groups may be empty, also the first and the last ones.
    """
    inner = starts[(starts > 0) & (starts <= len(holds))]
    holds[inner - 1] = False
    return holds


def rows_of(starts: IntArray, groups: IntArray) -> tuple[IntArray, IntArray]:
    """Return the rows of some groups, in the order given, and where each starts among them."""
    sizes = np.diff(starts)[groups]
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    rows = np.arange(bounds[-1]) + np.repeat(starts[groups] - bounds[:-1], sizes)
    return rows, bounds
