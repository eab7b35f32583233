"""Byte strings told apart without making Python objects of them: keys, hashes, equality, order.

Everything works on words of eight bytes of all tokens at once, a step of three words after the
other, and goes on with the tokens that are not settled. A result depends on a token's own bytes
and on nothing else: not on its neighbours, its place in the buffer or the longest token around.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ragkpi.formats.token_words import (
    LAST_BYTES,
    MOST_WORDS,
    WordArray,
    chunks,
    words_before,
    words_from,
)
from ragkpi.formats.tokens import BoolArray, IntArray, Tokens

if TYPE_CHECKING:
    import numpy.typing as npt

KeyArray = WordArray
Key = TypeVar("Key", bound=np.generic)

# An odd constant whose products spread keys over the high bits (Fibonacci hashing).
SPREAD = np.uint64(0x9E3779B97F4A7C15)
_LENGTH_SPREAD = np.uint64(0xC2B2AE3D27D4EB4F)
# Of each process its own, so that nobody can make ids whose hashes are equal. Odd, and with a
# high bit, as they have to be to mix; no result depends on them.
_FIRST_SPREAD, _PLACE_SPREAD = (
    np.frombuffer(os.urandom(16), dtype=np.uint64) | np.uint64(0x8000_0000_0000_0001)
).tolist()
_STEP = 8 * MOST_WORDS
# What is longer than so many steps is handled one by one: a freak of an id costs no pass over
# all tokens for every few of its bytes.
_LONG = 40 * _STEP
_SPAN = 1 << 16


def tail_keys(tokens: Tokens) -> KeyArray:
    """Return a key of each token's last eight bytes and its length, (n,).

    One look per token. Equal tokens have equal keys; tokens of one length, of up to eight bytes,
    with equal keys are equal.
    """
    keys = np.empty(len(tokens), dtype=np.uint64)
    for rows, chunk in chunks(tokens):
        length = chunk.end - chunk.start
        (key,) = words_before(chunk.buffer, chunk.end, 1)
        if length.min() < 8:
            key &= LAST_BYTES.take(length, mode="clip")
        keys[rows] = key ^ length.view(np.uint64) * _LENGTH_SPREAD
    return keys


def hash_tokens(tokens: Tokens) -> KeyArray:
    """Return a 64-bit hash of all bytes of each token, (n,)."""
    hashes = np.empty(len(tokens), dtype=np.uint64)
    for rows, chunk in chunks(tokens):
        hashes[rows] = _hash_chunk(chunk)
    return hashes


def _hash_chunk(tokens: Tokens) -> KeyArray:
    """Sum the words of each token, mixed in a way that depends on their place, and its length."""
    length = tokens.end - tokens.start
    hashes: KeyArray = length.view(np.uint64) * _LENGTH_SPREAD
    longest = int(length.max())
    for offset in range(0, min(longest, _LONG), _STEP):
        count = min(MOST_WORDS, -(-(longest - offset) // 8))
        # Zeros behind a token add nothing, so that rows are only picked where it pays.
        rows: IntArray | slice = slice(None)
        if 2 * np.count_nonzero(length > offset) < len(tokens):
            rows = np.flatnonzero(length > offset)
        for number, word in enumerate(words_from(tokens.take(rows), offset, count)):
            hashes[rows] += _mix(word, offset // 8 + number)
    if longest > _LONG:
        for row in np.flatnonzero(length > _LONG).tolist():
            hashes[row] = _hash_long(tokens, row)
    return hashes


def _mix(word: WordArray, place: int) -> WordArray:
    """Mix the bits of words, in place, by multiplications that depend on their place; 0 is 0."""
    word ^= word >> np.uint64(32)
    word *= np.uint64(_FIRST_SPREAD)
    word ^= word >> np.uint64(29)
    word *= np.uint64(_PLACE_SPREAD * (2 * place + 1) % 2**64)
    word ^= word >> np.uint64(32)
    return word


def _hash_long(tokens: Tokens, row: int) -> np.uint64:
    from hashlib import blake2b  # hardly ever needed, and slow to import

    text = tokens.buffer[tokens.start[row] : tokens.end[row]]
    return np.uint64(int.from_bytes(blake2b(text.data, digest_size=8).digest(), "little"))


def distinct(keys: npt.NDArray[Key]) -> npt.NDArray[Key]:
    """Return the different keys, ascending; the keys themselves are put in order.

    As `np.unique`, which imports numpy.ma: longer than a small run takes to read.
    """
    keys.sort()
    first = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    return keys[first]


class DistinctKeys:
    """The different ones of many keys, in the memory of at most twice as many."""

    def __init__(self) -> None:
        self._keys = np.empty(_SPAN, dtype=np.uint64)
        self._count = 0

    def add(self, keys: KeyArray) -> None:
        """Take keys, which may be here already."""
        if self._count + len(keys) > len(self._keys):
            self._close_up()
            longer = np.empty(2 * (self._count + len(keys)), dtype=np.uint64)
            longer[: self._count] = self._keys[: self._count]
            self._keys = longer
        self._keys[self._count : self._count + len(keys)] = keys
        self._count += len(keys)

    def ascending(self) -> KeyArray:
        """Return them, in the array that holds them."""
        self._close_up()
        return self._keys[: self._count]

    def _close_up(self) -> None:
        """Keep one of each, a span at a time, so that no second array is as large."""
        self._keys[: self._count].sort()
        kept = 0
        for begin in range(0, self._count, _SPAN):
            span = self._keys[begin : min(begin + _SPAN, self._count)]
            first = np.empty(len(span), dtype=np.bool_)
            first[0] = not kept or span[0] != self._keys[kept - 1]
            np.not_equal(span[1:], span[:-1], out=first[1:])
            span = span[first]
            self._keys[kept : kept + len(span)] = span
            kept += len(span)
        self._count = kept


def equal_tokens(a: Tokens, rows_a: IntArray, b: Tokens, rows_b: IntArray) -> BoolArray:
    """Compare ``a[rows_a[i]]`` with ``b[rows_b[i]]``, byte by byte, (n,)."""
    a, b = a.take(rows_a), b.take(rows_b)
    length = a.end - a.start
    equal: BoolArray = length == b.end - b.start
    rows = np.flatnonzero(equal)
    if len(rows) < len(equal):
        a, b, length = a.take(rows), b.take(rows), length[rows]
    for offset in range(0, _LONG, _STEP):
        count = min(MOST_WORDS, -(-(int(length.max(initial=0)) - offset) // 8))
        if count <= 0:
            return equal
        words_a, words_b = words_from(a, offset, count), words_from(b, offset, count)
        same = words_a[0] == words_b[0]
        for word_a, word_b in zip(words_a[1:], words_b[1:], strict=True):
            same &= word_a == word_b
        equal[rows] = same
        open_ = np.flatnonzero(same & (length > offset + _STEP))
        rows, a, b, length = rows[open_], a.take(open_), b.take(open_), length[open_]
    for pair, row in enumerate(rows.tolist()):
        text_a = a.buffer[a.start[pair] : a.end[pair]]
        text_b = b.buffer[b.start[pair] : b.end[pair]]
        equal[row] = text_a.data == text_b.data
    return equal


def sort_descending(tokens: Tokens, group: IntArray) -> IntArray:
    """Return the order of rows by group ascending, then by bytes descending.

    Bytes are unsigned, and a string comes after its own extensions. Equal strings keep their
    order.
    """
    length = tokens.end - tokens.start
    short = len(tokens) > 0 and length.max() <= 8
    quickly = _sort_short(tokens, group) if short else None
    if quickly is not None:
        return quickly
    order: IntArray = np.arange(len(tokens))
    places = order.copy()  # where in `order` the rows stand that are not settled yet
    for offset in range(0, _LONG, _STEP):
        rows = order[places]
        keys = [*_descending_keys(tokens.take(rows), offset), group]
        by_key = np.lexsort(keys)
        order[places] = rows = rows[by_key]
        if length.max(initial=0) <= offset + _STEP:
            return order
        differs = np.zeros(len(rows), dtype=bool)
        for key in keys:
            ordered = key[by_key]
            differs[1:] |= ordered[1:] != ordered[:-1]
        group = np.cumsum(differs)
        unsettled = (np.bincount(group) > 1)[group] & (length[rows] > offset + _STEP)
        places, group = places[unsettled], group[unsettled]
        if not len(places):
            return order
    rows = order[places]
    rests = Tokens(tokens.buffer, tokens.start[rows] + _LONG, tokens.end[rows]).tolist()
    by_rest = np.array(sorted(range(len(rows)), key=rests.__getitem__, reverse=True))
    order[places] = rows[by_rest[np.argsort(group[by_rest], kind="stable")]]
    return order


def _sort_short(tokens: Tokens, group: IntArray) -> IntArray | None:
    """Sort tokens of up to eight bytes as `sort_descending`; None if some look equal.

    They are sorted by their bytes first, in no fixed order of equals, and by groups then. Sixteen
    bits are sorted by counting.
    """
    key = ~words_from(tokens, 0, 1)[0].byteswap()
    order = np.argsort(key)
    group = group - group.min()
    group = group[order].astype(np.uint16 if group.max() < 1 << 16 else np.int64)
    by_group = np.argsort(group, kind="stable")
    order = order[by_group]
    key, group = key[order], group[by_group]
    if ((key[1:] == key[:-1]) & (group[1:] == group[:-1])).any():
        return None
    return order


def sort_ascending(tokens: Tokens, group: IntArray) -> IntArray:
    """Return the order of rows by group and bytes, both ascending; of equal strings any."""
    return sort_descending(tokens, -group)[::-1]


def _descending_keys(tokens: Tokens, offset: int) -> list[IntArray | KeyArray]:
    """Return keys of one step of bytes, the deciding one last; those all alike are left out.

    The length, as far as it is of this step, decides between a string and itself with NUL bytes
    behind it, and so leaves either all of some equal rows to the next step or none.
    """
    length = tokens.end - tokens.start
    count = min(MOST_WORDS, max(0, -(-(int(length.max(initial=0)) - offset) // 8)))
    words = words_from(tokens, offset, count)[::-1]
    keys = [-np.minimum(length, offset + _STEP + 1), *((~word).byteswap() for word in words)]
    return [key for key in keys if (key[1:] != key[:-1]).any()]
