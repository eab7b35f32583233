"""How a function speaks: in warnings and by its arguments, or as the command that calls it."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, TypeVar

from ragkpi.errors import RagkpiError, RagkpiWarning
from ragkpi.records import NamedTuple

_Given = ParamSpec("_Given")
_Returned = TypeVar("_Returned")

_ARGUMENTS = {
    "-c": 'missing="zero"',
    "--common": 'missing="common"',
    "--strict": 'missing="error"',
    "-J": 'unjudged="removed"',
    "-l": "relevance_level=",
    "-M": "max_retrieved=",
    "-N": "corpus_size=",
    "-R": "rel_info=",
    "--tokens-per-passage": "tokens_per_passage=",
}
_PHRASES = {
    "(--strict)": '(doubts="refused")',
    "--scores distance": 'scores="distance"',
    "--max-passage '#'": 'max_passage="#"',
}
# An option is a word of its own; "-m NAME:" names a measure that was asked for.
_OPTION = r"(?<![\w-])(--?[A-Za-z][A-Za-z-]*)(?![\w-])"


class Voice(NamedTuple):
    """How an interface speaks to its user.

    Attributes
    ----------
    note, warn
        Say what was left out or assumed, and what may mislead.
    refuse
        End the call because of problems; does nothing without any.
    terms
        Whether texts name options of the command line or arguments of Python.
    """

    note: Callable[[str], None]
    warn: Callable[[str], None]
    refuse: Callable[[Sequence[RagkpiError]], None]
    terms: Callable[[str], str] = str


def in_python(text: str) -> str:
    """Write arguments for the options that a text of one line names.

    >>> in_python("the run is short; give a deeper one, or --at down to 10, or the size with -N")
    'the run is short; give a deeper one, or at= down to 10, or the size with corpus_size='
    """
    for phrase, argument in _PHRASES.items():
        text = text.replace(phrase, argument)
    return re.sub(_OPTION, _argument, re.sub(r"(?<![\w-])-m (?=\S)", "", text))


def _argument(option: re.Match[str]) -> str:
    name = option[1]
    if name in _ARGUMENTS:
        return _ARGUMENTS[name]
    return f"{name[2:].replace('-', '_')}=" if name.startswith("--") else name


def _warn(text: str) -> None:
    # The line that is shown is the caller's, outside this package.
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("ragkpi."):
        frame, level = frame.f_back, level + 1
    warnings.warn(in_python(text), RagkpiWarning, stacklevel=level)


def _raise(problems: Sequence[RagkpiError]) -> None:
    if problems:
        raise problems[0]


_IN_PYTHON = Voice(_warn, _warn, _raise, in_python)
_VOICE: ContextVar[Voice] = ContextVar("voice", default=_IN_PYTHON)


def voice() -> Voice:
    """Return how the function that runs speaks."""
    return _VOICE.get()


@contextmanager
def speaking(as_: Voice) -> Iterator[None]:
    """Let functions speak as the command that calls them."""
    before = _VOICE.set(as_)
    try:
        yield
    finally:
        _VOICE.reset(before)


def speaks_python(function: Callable[_Given, _Returned]) -> Callable[_Given, _Returned]:
    """Let errors of a public function name its arguments, unless a command calls it."""

    @wraps(function)
    def call(*given: _Given.args, **named: _Given.kwargs) -> _Returned:
        try:
            return function(*given, **named)
        except RagkpiError as problem:
            terms = voice().terms
            problem.args = tuple(
                terms(text) if isinstance(text, str) else text for text in problem.args
            )
            raise

    return call
