"""Texts that stand again and again between the values of JSON, compared at all their places."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragkpi.formats.token_words import stretches
from ragkpi.formats.tokens import ByteArray, IntArray

_QUOTE, _SPACE = b'" '


def stand_alone(
    buffer: ByteArray, start: int, end: int, literals: Sequence[tuple[bytes, IntArray]]
) -> bool:
    """Say whether literals stand at all their places, and no quote or control character elsewhere.

    What is between them is then the inside of strings, or numbers, if it has no backslash.

    Parameters
    ----------
    buffer, start, end
        The text.
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
    outside = places.min() < start or places.max() + len(literal) > end
    if outside or len(places) * len(literal) > end - start:
        return False
    texts = stretches(buffer, len(literal))[places].view(np.uint8).reshape(-1, len(literal))
    return bool((texts == np.frombuffer(literal, dtype=np.uint8)).all())
