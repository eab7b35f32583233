"""The differences between Python and the command line: names of options, notes, errors, progress.

`Interface` is Python's, which shows no progress; `ragkpi.cli.terminal` has a subclass for the
command line. A message asks the interface for the name of an option, so no text is rewritten later.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO, TypeVar

from ragkpi.errors import RagkpiError, RagkpiWarning

T = TypeVar("T")


class Work:
    """A task in progress, with the number of steps done; the `total` can be unknown."""

    def __init__(self, label: str, total: int | None) -> None:
        self.label = label
        self.total = total
        self.done = 0


# Each task is part of the task before it.
_WORKS: list[Work] = []
_FILE = Work("", None)
_LONGEST = 40  # characters of a file name, from its end, which distinguishes files


@contextmanager
def doing(label: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Begin a task; yield a function that takes the number of steps done."""
    work = Work(label, total)
    _WORKS.append(work)

    def watch(done: int) -> None:
        work.done = done

    try:
        yield watch
    finally:
        _WORKS.remove(work)


def with_progress(items: Iterable[T], label: str, total: int) -> Iterator[T]:
    """Yield items, each a step of a task.

    >>> list(with_progress("ab", "letters", 2))
    ['a', 'b']
    """
    with doing(label, total) as watch:
        for done, item in enumerate(items):
            watch(done)
            yield item


def reading(name: str, done: int, size: int | None) -> None:
    """Record the bytes read of a file; forget the file at its end."""
    over = size is not None and done >= size
    end = name if len(name) <= _LONGEST else f"…{name[1 - _LONGEST :]}"
    _FILE.label, _FILE.total, _FILE.done = "" if over else f"reading {end}", size, done


def present() -> list[Work]:
    """Return the tasks in progress, outermost first."""
    return [*_WORKS, *([_FILE] if _FILE.label else [])]


def share(works: Iterable[Work]) -> float | None:
    """Return the completed share of the outermost work with several steps; None if unknown."""
    shares = (min(work.done / work.total, 1.0) for work in works if work.total and work.total > 1)
    return next(shares, None)


class Interface:
    """Python: arguments by name, notes as warnings, the first problem raised."""

    def spell(self, argument: str, value: str) -> str:
        return f'{argument}="{value}"' if value else f"{argument}="

    def system_text(self, name: str, runs: Sequence[str]) -> str:
        """Return a system of several runs as the user writes it."""
        return str({name: list(runs)})

    def note(self, text: str) -> None:
        """Tell the user of an omission or assumption."""
        self.warn(text)

    def warn(self, text: str) -> None:
        """Tell the user of misleading values."""
        # The warning shows the line of the caller outside this package.
        frame, level = sys._getframe(1), 2
        while frame.f_back and frame.f_globals.get("__name__", "").startswith("ragkpi."):
            frame, level = frame.f_back, level + 1
        warnings.warn(text, RagkpiWarning, stacklevel=level)

    def refuse(self, problems: Sequence[RagkpiError]) -> None:
        """End the call if there are problems."""
        if problems:
            raise problems[0]


# A global, because threads that read runs must share it; they would not share a context variable.
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


def spell(argument: str, value: str = "") -> str:
    """Return an argument, or an argument with its value, as the user writes it.

    >>> spell("corpus_size"), spell("missing", "zero")
    ('corpus_size=', 'missing="zero"')
    """
    return interface().spell(argument, value)


def request_text(measure: str, parameters: str | None = None) -> str:
    """Return a request for a measure as the user writes it: ``-m P.5`` on a command line."""
    return spell("measures", measure if parameters is None else f"{measure}.{parameters}")


def wants_colour(stream: TextIO) -> bool:
    """Return whether to colour: on a terminal or with FORCE_COLOR, never with NO_COLOR."""
    if os.environ.get("NO_COLOR"):
        return False
    return stream.isatty() or os.environ.get("FORCE_COLOR", "0") not in ("", "0")
