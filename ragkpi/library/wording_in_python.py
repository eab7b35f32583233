"""What the command line calls by its options, said in Python's terms."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from ragkpi.errors import RagkpiError

_Given = ParamSpec("_Given")
_Returned = TypeVar("_Returned")

_ARGUMENTS = {
    "-c": 'missing="zero"',
    "--strict": 'missing="error"',
    "-J": 'unjudged="removed"',
    "-l": "relevance_level=",
    "-M": "max_retrieved=",
    "-N": "corpus_size=",
    "-R": "rel_info=",
    "--tokens-per-passage": "tokens_per_passage=",
}
# An option is a word of its own; "-m NAME:" names a measure that was asked for.
_OPTION = re.compile(r"(?<![\w-])(--?[A-Za-z][A-Za-z-]*)(?![\w-])")


def in_python(text: str) -> str:
    """Write arguments for the options that a text of one line names.

    >>> in_python("the run is short; give a deeper one, or --at down to 10, or the size with -N")
    'the run is short; give a deeper one, or at= down to 10, or the size with corpus_size='
    """
    return _OPTION.sub(_argument, re.sub(r"(?<![\w-])-m (?=\S)", "", text))


def _argument(option: re.Match[str]) -> str:
    name = option[1]
    if name in _ARGUMENTS:
        return _ARGUMENTS[name]
    return f"{name[2:].replace('-', '_')}=" if name.startswith("--") else name


def speaks_python(function: Callable[_Given, _Returned]) -> Callable[_Given, _Returned]:
    """Let errors of a function name its arguments."""

    @wraps(function)
    def call(*given: _Given.args, **named: _Given.kwargs) -> _Returned:
        try:
            return function(*given, **named)
        except RagkpiError as problem:
            problem.args = tuple(
                in_python(text) if isinstance(text, str) else text for text in problem.args
            )
            raise

    return call
