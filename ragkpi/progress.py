"""Progress of work: noted here, which costs next to nothing, and shown by the command line.

`ragkpi.cli.terminal` shows it on terminals; in Python nothing does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


class Work:
    """A piece of work in progress, and how many of its steps are done; a `total` may be unknown."""

    def __init__(self, label: str, total: int | None) -> None:
        self.label = label
        self.total = total
        self.done = 0


# Each is a part of the work before it.
_WORKS: list[Work] = []
_FILE = Work("", None)


@contextmanager
def doing(label: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Begin a piece of work; yield a function that takes how many steps are done."""
    work = Work(label, total)
    _WORKS.append(work)

    def watch(done: int) -> None:
        work.done = done

    try:
        yield watch
    finally:
        _WORKS.remove(work)


def steps(items: Iterable[T], label: str, total: int) -> Iterator[T]:
    """Yield items, each a step of a piece of work.

    >>> list(steps("ab", "letters", 2))
    ['a', 'b']
    """
    with doing(label, total) as watch:
        for done, item in enumerate(items):
            watch(done)
            yield item


def reading(name: str, done: int, size: int | None) -> None:
    """Note how many bytes of a file are read; a file that is read to its end is forgotten."""
    over = size is not None and done >= size
    _FILE.label, _FILE.total, _FILE.done = "" if over else f"reading {name}", size, done


def present() -> list[Work]:
    """Return the work in progress, from the whole to its parts."""
    return [*_WORKS, *([_FILE] if _FILE.label else [])]


def share(works: Iterable[Work]) -> float | None:
    """Return how much is done, from 0 to 1; None if that is unknown."""
    known: float | None = None
    for work in reversed(list(works)):
        if work.total is None or (work.total < 2 and known is None):
            known = None  # the progress of a single step is unknown
        else:
            known = min((work.done + (known or 0.0)) / max(work.total, 1), 1.0)
    return known
