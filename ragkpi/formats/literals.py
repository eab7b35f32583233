"""Texts that stand again and again between the values of JSON, compared at all their places."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragkpi.formats.token_words import stretches
from ragkpi.formats.tokens import BoolArray, ByteArray, IntArray

_QUOTE, _SPACE = b'" '


def stand_alone(
    buffer: ByteArray,
    start: int,
    end: int,
    literals: Sequence[tuple[bytes, IntArray]],
    quotes: BoolArray | None = None,
) -> bool:
    """Say whether literals stand at all their places, and no quote or control character elsewhere.

    What is between them is then the inside of strings, or numbers.

    Parameters
    ----------
    buffer, start, end
        The text.
    literals
        Each literal and its places in the buffer.
    quotes : (end - start,)
        Where quotes are that begin and end strings; by default all.
    """
    text = buffer[start:end]
    quotes = text == _QUOTE if quotes is None else quotes
    expected = controls = 0
    for literal, places in literals:
        if not _stands(buffer, start, end, places, literal):
            return False
        # No other quote of a literal can be an escaped one: there is no backslash in it.
        if literal.startswith(b'"') and not quotes[places - start].all():
            return False
        expected += len(places) * literal.count(b'"')
        controls += len(places) * sum(octet < _SPACE for octet in literal)
    return bool(
        np.count_nonzero(quotes) == expected and np.count_nonzero(text < _SPACE) == controls
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
