r"""JSON as opaque ids need it: numbers keep their text, keys their repetitions, bytes their bytes.

Bytes that are not UTF-8 become lone surrogates (`surrogateescape`), which are written as escapes
such as ``\udcff``: the file stays ASCII there, and reading it gives the same bytes.
"""

from __future__ import annotations

import json
from typing import Any

from ragkpi.errors import InputError
from ragkpi.wording import quoted


class Number(str):
    """The text of a number."""

    __slots__ = ()


class JsonObject(list[tuple[str, Any]]):
    """An object: its keys and values in the order of the file."""

    __slots__ = ()


DECODER = json.JSONDecoder(
    object_pairs_hook=JsonObject, parse_int=Number, parse_float=Number, parse_constant=Number
)


def text_of(octets: bytes) -> str:
    """Decode JSON text, or an id for `written`, without losing a byte."""
    return octets.decode("utf-8", "surrogateescape")


def octets_of(value: object, file: str, line: int, what: str) -> bytes:
    """Return an id or a number as bytes; `InputError` for any other value."""
    if isinstance(value, str):
        try:
            return value.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            found = f"{what} {quoted(value)}"
            raise InputError(file, line, found, "expected Unicode text") from None
    kind = "an object" if isinstance(value, JsonObject) else _KINDS.get(type(value), "no text")
    raise InputError(file, line, f"{what} is {kind}", "expected a string or a number")


_KINDS = {list: "an array", bool: "true or false", type(None): "null"}


def no_json(file: str, line: int, problem: Exception, expected: str) -> InputError:
    """Explain a text that the decoder refuses: `problem` is its error."""
    if isinstance(problem, RecursionError):
        reason = "nested too deeply"
    elif isinstance(problem, json.JSONDecodeError):
        line += problem.lineno - 1
        reason = f"{problem.msg} at column {problem.colno}"
    else:
        reason = str(problem)
    return InputError(file, line, f"no JSON ({reason})", expected)


def written(value: object) -> bytes:
    """Encode a value as one line of JSON; infinity has no JSON and is written as a string."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")


def number_for(score: float) -> float | str:
    """Return a score for `written`: JSON has no infinity, which becomes the string ``"inf"``."""
    return score if abs(score) != float("inf") else repr(score)
