"""Tokens in hostile surroundings, for the tests of everything that reads them by words."""

import numpy as np

from ragkpi.formats.tokens import PADDING, Tokens


def surrounded(strings, around):
    """Tokens with the same bytes between and around them, in another buffer at other places."""
    text = bytearray(around * PADDING)
    start, end = [], []
    for string in strings:
        start.append(len(text))
        text += string
        end.append(len(text))
        text += around
    text += around * PADDING
    return Tokens(np.frombuffer(bytes(text), np.uint8), np.array(start, int), np.array(end, int))
