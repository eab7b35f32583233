"""Documents that a query holds twice, found without sorting ids as strings."""

from __future__ import annotations

import numpy as np

from ragkpi.formats.identity import SPREAD, KeyArray, equal_tokens, hash_tokens
from ragkpi.formats.tokens import IntArray, Tokens

_SLOTS_PER_ROW = 8


def find_duplicate(group: IntArray, document: Tokens, key: KeyArray) -> tuple[int, int] | None:
    """Return two rows with the same group and document, or None.

    Every row writes its number to a slot chosen by its key. Two equal rows share a slot, so when
    one of them is the slot's last writer the other finds it there; rows that find an unequal one
    try again among themselves, with the last writers gone. No pair can be missed.

    Parameters
    ----------
    group, document, key : length n
        The query of each row, its document, and a number that is equal for equal documents.
    """
    rows: IntArray = np.arange(len(key))
    salt = group.astype(np.uint64)
    mixed = (key + salt) * SPREAD
    while len(rows) > 1:
        bits = int(len(rows) * _SLOTS_PER_ROW - 1).bit_length()
        slot = (mixed >> np.uint64(64 - bits)).astype(np.int64)
        writer = np.empty(1 << bits, dtype=np.int32)  # only written slots are read
        writer[slot] = np.arange(len(rows), dtype=np.int32)
        last = writer[slot]
        other = np.flatnonzero(last != np.arange(len(rows), dtype=np.int32))
        mine, theirs = rows[other], rows[last[other]]
        alike = np.flatnonzero((key[mine] == key[theirs]) & (group[mine] == group[theirs]))
        same = equal_tokens(document, mine[alike], document, theirs[alike])
        if same.any():
            pair = alike[np.flatnonzero(same)[0]]
            return int(theirs[pair]), int(mine[pair])
        if 2 * len(other) > len(rows):
            # The keys say little (ids that end alike): go on with hashes of all bytes.
            key = key.copy()
            key[mine] = hash_tokens(document.take(mine))
            mixed[other] = (key[mine] + salt[mine]) * SPREAD
        rows, mixed = mine, mixed[other]
    return None
