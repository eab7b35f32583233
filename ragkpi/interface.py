"""The interface through which ragkpi is used: how arguments are named, and where notes go.

Python is the default. The command line is a subclass of `Interface` (`ragkpi.cli.terminal`).
Every message asks for the name of an option when it is written, so that no text is translated.
"""

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ragkpi.errors import RagkpiError, RagkpiWarning


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
