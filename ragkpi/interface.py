"""The interface through which ragkpi is used: names of arguments, notes, and progress.

`ragkpi.cli.terminal` shows it on terminals; in Python nothing does.

Python is the default. The command line is a subclass of `Interface` (`ragkpi.cli.terminal`).
Every message asks for the name of an option when it is written, so that no text is translated.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from ragkpi.errors import RagkpiError, RagkpiWarning

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


class Interface:
    """Python: arguments by name, notes as warnings, the first problem raised."""

    def option(self, argument: str, value: str) -> str:
        return f'{argument}="{value}"' if value else f"{argument}="

    def request_text(self, measure: str) -> str:
        return measure

    def note(self, text: str) -> None:
        """Tell the user what was left out or assumed."""
        self.warn(text)

    def warn(self, text: str) -> None:
        """Tell the user what may mislead."""
        # The warning shows the line of the caller outside this package.
        frame, level = sys._getframe(1), 2
        while frame.f_back and frame.f_globals.get("__name__", "").startswith("ragkpi."):
            frame, level = frame.f_back, level + 1
        warnings.warn(text, RagkpiWarning, stacklevel=level)

    def refuse(self, problems: Sequence[RagkpiError]) -> None:
        """End the call if there are problems."""
        if problems:
            raise problems[0]


# Threads that read runs share it, which a context variable would not give them.
_CURRENT = [Interface()]


def interface() -> Interface:
    """Return the interface in use."""
    return _CURRENT[-1]


@contextmanager
def using(other: Interface) -> Iterator[None]:
    """Use another interface for a while."""
    _CURRENT.append(other)
    try:
        yield
    finally:
        _CURRENT.pop()


def option(argument: str, value: str = "") -> str:
    """Name an argument, or one with its value, as the user writes it.

    >>> option("corpus_size"), option("missing", "zero")
    ('corpus_size=', 'missing="zero"')
    """
    return interface().option(argument, value)


def request_text(measure: str, parameters: str | None = None) -> str:
    """Return how the user asks for a measure: ``-m P.5`` on a command line."""
    name = measure if parameters is None else f"{measure}.{parameters}"
    return interface().request_text(name)
