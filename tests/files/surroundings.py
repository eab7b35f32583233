"""Tokens in hostile surroundings, for the tests of everything that reads them by words."""

import itertools

import numpy as np

from ragkpi.files.lines import Tokens
from ragkpi.files.shapes import SHAPES

PADDING = 32  # how often the first of them stands before and behind all


def surrounded(strings, around):
    """Tokens with the same bytes between and around them, in another buffer at other places."""
    return followed(strings, itertools.repeat(around))


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


# Code and messages know these by name; their specificities differ.
_GENERAL = ("lists", "flat", "object", "id-lists", "rank_eval")


def _renamed(shapes):
    """Give other names, so that those that come first in the alphabet come last."""
    others = sorted(name for name in shapes if name not in _GENERAL)
    names = {name: f"{len(others) - place:02}" for place, name in enumerate(others)}
    return {
        names.get(name, name): shape._replace(name=names.get(name, name))
        for name, shape in shapes.items()
    }


PERMUTATIONS = {
    "reversed": lambda shapes: dict(reversed(shapes.items())),
    "by name": lambda shapes: dict(sorted(shapes.items())),
    "the last one first": lambda shapes: dict([*shapes.items()][-1:] + [*shapes.items()][:-1]),
    "renamed": _renamed,
}


def permute_shapes(monkeypatch, permuted):
    """Put the shapes into another order, or give them other names."""
    for kind, shapes in list(SHAPES.items()):
        monkeypatch.setitem(SHAPES, kind, permuted(shapes))
