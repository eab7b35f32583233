"""Documents that a query holds twice, found without sorting ids as strings."""

from __future__ import annotations

import numpy as np

from ragkpi.formats.groups import spans
from ragkpi.formats.identity import SPREAD, KeyArray, equal_tokens, hash_tokens, sort_descending
from ragkpi.formats.tokens import IntArray, Tokens

_ROWS_AT_ONCE = 1 << 16  # their keys are sorted in the cache
_SLOT_BITS = 16


def find_duplicate(starts: IntArray, document: Tokens, key: KeyArray) -> tuple[int, int] | None:
    """Return two rows of one group with the same document, or None.

    Numbers are sorted fast. Where no two of a group are alike, no two documents are; of the
    others hashes of all bytes are sorted, and of those that are left the documents themselves.

    Parameters
    ----------
    starts : (G+1,)
        Group g is the rows ``starts[g]:starts[g + 1]``, 0 and n at the ends.
    document, key : length n
        The document of each row, and a number that is equal for equal documents.
    """
    for first, last in spans(starts, _ROWS_AT_ONCE):
        begin, end = int(starts[first]), int(starts[last])
        group = np.repeat(np.arange(last - first), np.diff(starts[first : last + 1]))
        rows = _alike(group, key[begin:end])
        if len(rows):
            rows = rows[_alike(group[rows], hash_tokens(document.take(begin + rows)))]
        if len(rows):
            pair = _first_pair(document, begin + rows, group[rows])
            if pair is not None:
                return pair
    return None


def _alike(group: IntArray, key: KeyArray) -> IntArray:
    """Return the rows whose key another row of their group has, ascending, and a few more."""
    key = key + group.view(np.uint64) * SPREAD
    ordered = np.sort(key)
    twice = ordered[1:] == ordered[:-1]
    if not twice.any():
        return np.empty(0, dtype=np.int64)
    comes_again = np.zeros(1 << _SLOT_BITS, dtype=bool)
    comes_again[_slot(ordered[1:][twice])] = True
    return np.flatnonzero(comes_again[_slot(key)])


def _slot(key: KeyArray) -> IntArray:
    return (key * SPREAD >> np.uint64(64 - _SLOT_BITS)).view(np.int64)


def _first_pair(document: Tokens, rows: IntArray, group: IntArray) -> tuple[int, int] | None:
    """Return the first of some rows whose document comes again, and where it comes last."""
    by_id = sort_descending(document.take(rows), group)
    rows, group = rows[by_id], group[by_id]
    again = equal_tokens(document, rows[1:], document, rows[:-1]) & (group[1:] == group[:-1])
    if not again.any():
        return None
    places = np.flatnonzero(again)
    place = last = int(places[np.argmin(rows[places])])
    while last < len(again) and again[last]:
        last += 1
    return int(rows[last]), int(rows[place])
