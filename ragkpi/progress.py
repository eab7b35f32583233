"""What is being done, and how much of it is done, for whoever waits.

Work says so here, which costs next to nothing; a command line that has a terminal shows it
(`ragkpi.cli.progress_bar`). In a library nobody looks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


class Work:
    """Something that is being done.

    Attributes
    ----------
    label
        What it is, in a word or two.
    total, done
        How many steps it has, None if nobody knows, and how many of them are done.
    """

    def __init__(self, label: str, total: int | None) -> None:
        self.label = label
        self.total = total
        self.done = 0


# Each item a part of the one before it.
_WORKS: list[Work] = []
_FILE = Work("", None)


@contextmanager
def doing(label: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Say what is being done; yield a function that takes how many steps are done."""
    work = Work(label, total)
    _WORKS.append(work)

    def watch(done: int) -> None:
        work.done = done

    try:
        yield watch
    finally:
        _WORKS.remove(work)


def steps(items: Iterable[T], label: str, total: int) -> Iterator[T]:
    """Yield items, and say that each is a step of some work.

    >>> list(steps("ab", "letters", 2))
    ['a', 'b']
    """
    with doing(label, total) as watch:
        for done, item in enumerate(items):
            watch(done)
            yield item


def reading(name: str, done: int, size: int | None) -> None:
    """Say how many bytes of a file are read; with all of them nothing more is said of it."""
    over = size is not None and done >= size
    _FILE.label, _FILE.total, _FILE.done = "" if over else f"reading {name}", size, done


def present() -> list[Work]:
    """Return what is being done, from the whole to its parts."""
    return [*_WORKS, *([_FILE] if _FILE.label else [])]


def share(works: Iterable[Work]) -> float | None:
    """Return how much is done, from 0 to 1; None if nobody knows."""
    known: float | None = None
    for work in reversed(list(works)):
        if work.total is None or (work.total < 2 and known is None):
            known = None  # nothing can be said of a single step
        else:
            known = min((work.done + (known or 0.0)) / max(work.total, 1), 1.0)
    return known
