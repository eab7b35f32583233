"""Tokens in hostile surroundings, for the tests of everything that reads them by words."""

import numpy as np

from ragkpi.files.lines import Tokens

PADDING = 32  # how often the first of them stands before and behind all


def followed(strings, followers):
    """Tokens each with other bytes behind it; the first of those stand before and behind all."""
    followers = iter(followers)
    around = next(followers) * PADDING
    text = bytearray(around)
    start, end = [], []
    for string, follower in zip(strings, followers, strict=False):
        start.append(len(text))
        text += string
        end.append(len(text))
        text += follower
    text += around
    return Tokens(np.frombuffer(bytes(text), np.uint8), np.array(start, int), np.array(end, int))
