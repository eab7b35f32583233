"""Byte strings told apart without making Python objects of them: keys, hashes, equality, order.

Everything works on the eight bytes that begin wherever a token stands, for all tokens at once. A
word may reach beyond its token, into the buffer's padding or a neighbour; what does not belong to
the token is masked out, so that a result depends on a token's own bytes and on nothing else.
"""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt

from ragkpi.formats.tokens import BoolArray, ByteArray, IntArray, Tokens

KeyArray = npt.NDArray[np.uint64]

# An odd constant whose products spread keys over the high bits (Fibonacci hashing).
SPREAD = np.uint64(0x9E3779B97F4A7C15)
_LENGTH_SPREAD = np.uint64(0xC2B2AE3D27D4EB4F)
_FIRST_BYTES = np.array([(1 << 8 * count) - 1 for count in range(9)], dtype=np.uint64)
# Longer tokens are handled one by one, so that a freak of an id costs no pass over all of them.
_LONG = 1 << 10


def words_of(buffer: ByteArray) -> KeyArray:
    """View a buffer as the little-endian word that begins at every byte."""
    return np.ndarray((max(len(buffer) - 7, 0),), dtype="<u8", buffer=buffer.data, strides=(1,))


def tail_keys(tokens: Tokens) -> KeyArray:
    """Return a key of each token's last eight bytes and its length, (n,).

    One look per token. Equal tokens have equal keys; tokens of up to eight bytes with equal keys
    are equal.
    """
    length = tokens.end - tokens.start
    key: KeyArray = words_of(tokens.buffer)[tokens.end - 8]
    shortest = length.min(initial=8)
    if shortest < 8:  # what stands before the token goes, and zeros take its place
        key >>= (np.clip(8 - length, 0, 7) * 8).astype(np.uint64)
    if shortest == 0:
        key[length == 0] = 0
    key ^= length.astype(np.uint64) * _LENGTH_SPREAD
    return key


def hash_tokens(tokens: Tokens) -> KeyArray:
    """Return a 64-bit hash of all bytes of each token, (n,)."""
    length = tokens.end - tokens.start
    words = words_of(tokens.buffer)
    hashed = (length.astype(np.uint64) + np.uint64(1)) * _LENGTH_SPREAD
    rows: IntArray | slice = slice(None)
    if length.max(initial=0) >= _LONG:
        rows = np.flatnonzero(length < _LONG)
    start, end = tokens.start[rows], tokens.end[rows]
    state = hashed[rows]
    place, left = start, end - start
    active: IntArray | slice = slice(None)
    while len(left):
        if left.min() < 8:
            finished = left < 8
            done = np.arange(len(state))[active][finished]
            last = words[place[finished]] & _FIRST_BYTES[left[finished]]
            state[done] = _mixed(state[done] ^ last)
            active = np.arange(len(state))[active][~finished]
            place, left = place[~finished], left[~finished]
        state[active] = _mixed(state[active] ^ words[place])
        place, left = place + 8, left - 8
    hashed[rows] = state ^ (state >> np.uint64(29))
    for row in np.flatnonzero(length >= _LONG):
        digest = hashlib.blake2b(tokens[int(row)], digest_size=8).digest()
        hashed[row] = int.from_bytes(digest, "little")
    return hashed


def _mixed(state: KeyArray) -> KeyArray:
    state = state * SPREAD
    state ^= state >> np.uint64(32)
    return state


def equal_tokens(a: Tokens, rows_a: IntArray, b: Tokens, rows_b: IntArray) -> BoolArray:
    """Compare ``a[rows_a[i]]`` with ``b[rows_b[i]]``, byte by byte, (n,)."""
    start_a, start_b = a.start[rows_a], b.start[rows_b]
    length = a.end[rows_a] - start_a
    equal: BoolArray = length == b.end[rows_b] - start_b
    words_a, words_b = words_of(a.buffer), words_of(b.buffer)
    rows = np.flatnonzero(equal & (length < _LONG))
    place_a, place_b, left = start_a[rows], start_b[rows], length[rows]
    while len(rows):
        difference = words_a[place_a] ^ words_b[place_b]
        if left.min() < 8:
            difference &= _FIRST_BYTES[np.minimum(left, 8)]
        differs = difference != 0
        equal[rows[differs]] = False
        going_on = ~differs & (left > 8)
        rows = rows[going_on]
        place_a, place_b = place_a[going_on] + 8, place_b[going_on] + 8
        left = left[going_on] - 8
    for row in np.flatnonzero(equal & (length >= _LONG)):
        equal[row] = a[int(rows_a[row])] == b[int(rows_b[row])]
    return equal


def sort_descending(tokens: Tokens, group: IntArray) -> IntArray:
    """Return the order of rows by group ascending, then by bytes descending.

    Bytes are unsigned, and a string comes after its own extensions.
    """
    length = tokens.end - tokens.start
    longest = int(length.max(initial=0))
    if longest >= _LONG:
        texts = tokens.tolist()
        order = sorted(range(len(texts)), key=texts.__getitem__, reverse=True)
        by_id = np.array(order, dtype=np.int64)
        return by_id[np.argsort(group[by_id], kind="stable")]
    words = words_of(tokens.buffer)
    keys = [~length]  # decides last, between a string and itself with NUL bytes behind it
    for offset in range((longest - 1) // 8 * 8, -1, -8):
        left = np.clip(length - offset, 0, 8)
        place = np.minimum(tokens.start + offset, tokens.end)
        keys.append(~(words[place] & _FIRST_BYTES[left]).byteswap())
    return np.lexsort([*keys, group])
