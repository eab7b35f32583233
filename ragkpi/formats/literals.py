"""Texts that stand again and again between the values of JSON, compared at all their places."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragkpi.formats.token_words import FIRST_BYTES, words_at
from ragkpi.formats.tokens import ByteArray, IntArray

_QUOTE, _SPACE = b'" '
_WORDS = 3


def stand_alone(
    buffer: ByteArray, start: int, end: int, literals: Sequence[tuple[bytes, IntArray]]
) -> bool:
    """Say whether literals stand at all their places, and no quote or control character elsewhere.

    What is between them is then the inside of strings, or numbers, if it has no backslash.

    Parameters
    ----------
    buffer, start, end
        The text, with `PADDING` bytes behind it.
    literals
        Each literal and its places in the buffer.
    """
    quotes = controls = 0
    for literal, places in literals:
        if not _stands(buffer, start, end, places, literal):
            return False
        quotes += len(places) * literal.count(b'"')
        controls += len(places) * sum(octet < _SPACE for octet in literal)
    text = buffer[start:end]
    return bool(
        np.count_nonzero(text == _QUOTE) == quotes and np.count_nonzero(text < _SPACE) == controls
    )


def _stands(buffer: ByteArray, start: int, end: int, places: IntArray, literal: bytes) -> bool:
    """Say whether a text stands at every place."""
    if not len(places) or not literal:
        return True
    if places.min() < start or places.max() + len(literal) > end:
        return False
    for offset in range(0, len(literal), 8 * _WORDS):
        piece = literal[offset : offset + 8 * _WORDS]
        words = words_at(buffer, places + offset, -(-len(piece) // 8))
        for number, word in enumerate(words):
            wanted = piece[8 * number : 8 * number + 8]
            word &= FIRST_BYTES[len(wanted)]
            if (word != np.uint64(int.from_bytes(wanted, "little"))).any():
                return False
    return True
