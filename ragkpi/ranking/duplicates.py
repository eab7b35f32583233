"""Documents that a query holds twice, found without sorting ids as strings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ragkpi.formats.identity import SPREAD, KeyArray, equal_tokens, hash_tokens, spans
from ragkpi.formats.tokens import IntArray, Tokens

if TYPE_CHECKING:
    import numpy.typing as npt

_SLOTS_PER_ROW = 16
_ROWS_AT_ONCE = 1 << 16  # their slots fit the cache
_HALF = np.uint64(32)


def find_duplicate(starts: IntArray, document: Tokens, key: KeyArray) -> tuple[int, int] | None:
    """Return two rows of one group with the same document, or None.

    Every row writes its number to a slot of its group, chosen by its key. Two equal rows share a
    slot, so when one of them is the slot's last writer the other finds it there; rows that find
    an unequal one try again among themselves, with the last writers gone. No pair can be missed.

    Parameters
    ----------
    starts : (G+1,)
        Group g is the rows ``starts[g]:starts[g + 1]``, 0 and n at the ends.
    document, key : length n
        The document of each row, and a number that is equal for equal documents.
    """
    for first, last in spans(starts, _ROWS_AT_ONCE):
        begin, end = int(starts[first]), int(starts[last])
        within = slice(begin, end)
        pair = _find_within(starts[first : last + 1] - begin, document.take(within), key[within])
        if pair is not None:
            return begin + pair[0], begin + pair[1]
    return None


def _find_within(starts: IntArray, document: Tokens, key: KeyArray) -> tuple[int, int] | None:
    rows: IntArray = np.arange(len(key))
    while len(rows) > 1:
        last = _last_writers(starts, key)
        losers = np.flatnonzero(last != np.arange(len(rows), dtype=np.int32))
        winners = last[losers].astype(np.int64)
        alike = np.flatnonzero(key[losers] == key[winners])
        if len(alike):
            mine, theirs = rows[losers[alike]], rows[winners[alike]]
            pairs = np.flatnonzero(equal_tokens(document, mine, document, theirs))
            if len(pairs):
                return int(theirs[pairs[0]]), int(mine[pairs[0]])
        rows, starts = rows[losers], np.searchsorted(losers, starts)
        # Keys that say little (ids that end alike) give way to hashes of all bytes.
        key = key[losers] if 2 * len(losers) < len(key) else hash_tokens(document.take(rows))
    return None


def _last_writers(starts: IntArray, key: KeyArray) -> npt.NDArray[np.int32]:
    """Return for each row the last one of those that share its slot, (n,).

    The slots of a group stand together, so that few bytes of memory are in use at a time.
    """
    sizes = np.diff(starts)
    slot = key * SPREAD
    slot >>= _HALF
    slot *= np.repeat((sizes * _SLOTS_PER_ROW).astype(np.uint64), sizes)
    slot >>= _HALF
    slots = slot.view(np.int64)
    slots += np.repeat(starts[:-1] * _SLOTS_PER_ROW, sizes)
    writer = np.empty(len(key) * _SLOTS_PER_ROW, dtype=np.int32)  # only written slots are read
    writer[slots] = np.arange(len(key), dtype=np.int32)
    return writer[slots]
