r"""JSON as text: a decoder, a cursor that counts lines, and bytes of ids.

`DECODER` keeps numbers as texts, because an id may be a number, and refuses a repeated key.

Bytes that are not UTF-8 become lone surrogates (`surrogateescape`). They are written as escapes
such as ``\udcff``, which are ASCII and read back as the same bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from ragkpi.errors import InputError, SeparateRankingsError
from ragkpi.files.column_names import KeyTwiceError, shown_names
from ragkpi.wording import shown


def _behind(key: str | None, steps: Sequence[str]) -> Sequence[str] | None:
    """Return the steps after a key, which uses several if it has dots; None for another key."""
    count = str(key).count(".") + 1
    return steps[count:] if ".".join(steps[:count]).removesuffix("[]") == key else None


Element = tuple[int, Any, str | None]
"""A line, the value there, and its key; None in an array."""

_SPACE = re.compile(r"[ \t\n\r]*")
# MongoDB's extended JSON: {"$numberDouble": "0.5"}.
_TYPES = {"$oid", "$uuid", "$numberInt", "$numberLong", "$numberDouble", "$numberDecimal"}


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of some keys and values; `KeyTwiceError` if a key is repeated."""
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise KeyTwiceError(f"repeated key {shown(twice)}")
    return values


def _object(pairs: list[tuple[str, Any]]) -> Any:
    values = dict(pairs)
    if len(values) == len(pairs) != 1:
        return values
    return pairs[0][1] if len(pairs) == 1 and pairs[0][0] in _TYPES else once(pairs)


DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=str, parse_float=str, parse_constant=str
)


class JsonText:
    """A cursor in a text of JSON values, or in one value on the line `of_line`.

    Its error messages end with `expected`.
    """

    def __init__(self, file: str, text: str, expected: str, of_line: int | None = None) -> None:
        self.file, self.text, self.of_line = file, text, of_line
        self._expected = expected
        self._position, self._line = 0, of_line or 1

    def end(self) -> None:
        """Refuse anything but whitespace after the cursor."""
        if self.next():
            raise self._refusal("Extra data")

    def next(self) -> str:
        """Move to the next character that is not whitespace and return it; "" at the end."""
        match = _SPACE.match(self.text, self._position)
        self._go(match.end() if match else self._position)
        return self.text[self._position : self._position + 1]

    def value(self) -> Any:
        """Decode the value at the cursor, and move past it."""
        self.next()
        try:
            value, end = DECODER.raw_decode(self.text, self._position)
        except (ValueError, RecursionError) as problem:
            of_text = isinstance(problem, json.JSONDecodeError)
            line = self.of_line or 1 if of_text else self._line
            raise no_json(self.file, line, problem, self._expected) from None
        self._go(end)
        return value

    def entries(self) -> Iterator[Element]:
        """Yield the entries of the object or array at the cursor."""
        return map(self.entry, self._keys())

    def under(self, keys: Sequence[str]) -> Iterator[None]:
        """Go to each value under nested keys of the object at the cursor; the caller skips it.

        A key with ``[]`` goes through each element of its list.
        """
        if not keys:
            yield
            return
        if keys[0] == "[]":
            for _ in self._keys():
                yield from self.under(keys[1:])
            return
        line, found, others = self._line, False, list[str]()
        for key in self._keys():
            rest = _behind(key, keys)
            if rest is None:
                others.append(str(key))
                self.value()
                continue
            found = True
            for _ in self._keys() if keys[0].endswith("[]") else (key,):
                yield from self.under(rest)
        if not found:
            fault = f"no key {keys[0]} (keys: {shown_names(others)})"
            raise InputError(self.file, line, fault, "expected the key of the records")

    def entry(self, key: str | None = None) -> Element:
        """Decode the value at the cursor, as the entry with this key."""
        self.next()
        return self._line, self.value(), key

    def _keys(self) -> Iterator[str | None]:
        """Yield each key with the cursor at its value; the caller skips the value."""
        seen = set[str]()
        opened = self._take("{[")
        closed = "}" if opened == "{" else "]"
        if self.next() == closed:
            self._take(closed)
            return
        separator = ","
        while separator == ",":
            key = None
            if opened == "{":
                if self.next() != '"':
                    raise self._refusal("Expecting property name enclosed in double quotes")
                key = self.value()
                if key in seen:
                    problem = KeyTwiceError(f"repeated key {shown(key)}")
                    raise no_json(self.file, self._line, problem, "")
                seen.add(key)
                self._take(":")
            self.next()
            yield key
            separator = self._take("," + closed)

    def _go(self, position: int) -> None:
        self._line += self.text.count("\n", self._position, position)
        self._position = position

    def _take(self, wanted: str) -> str:
        found = self.next()
        if not found or found not in wanted:
            raise self._refusal(f"Expecting {' or '.join(wanted)}")
        self._position += 1
        return found

    def _refusal(self, reason: str) -> InputError:
        column = self._position - self.text.rfind("\n", 0, self._position)
        return InputError(
            self.file, self._line, f"invalid JSON ({reason} at column {column})", self._expected
        )


def text_of(octets: bytes | bytearray) -> str:
    """Decode JSON, or an id for `written`, and keep every byte."""
    return octets.decode("utf-8", "surrogateescape")


def all_octets(values: Sequence[Any]) -> list[bytes] | None:
    """Return strings and texts of numbers as bytes; None if there is any other value."""
    with suppress(UnicodeEncodeError, TypeError):
        return list(map(str.encode, values))
    with suppress(UnicodeEncodeError, TypeError):
        return [str.encode(value, "utf-8", "surrogateescape") for value in values]
    return None


def octets_of(value: object, file: str, line: int, what: str) -> bytes:
    """Return an id or a number as bytes; `InputError` for any other value."""
    if isinstance(value, str):
        try:
            return value.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            found = f"{what} {shown(value)}"
            raise InputError(file, line, found, "expected Unicode text") from None
    if isinstance(value, bytes):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return repr(value).encode()  # from a table
    raise InputError(file, line, f"{what} is {kind_of(value)}", "expected a string or a number")


def kind_of(value: object) -> str:
    """Return the type of a JSON value, for a message."""
    kinds = {list: "an array", bool: "true or false", type(None): "null", str: "a text or number"}
    return "an object" if isinstance(value, dict) else kinds.get(type(value), "no text")


def no_json(file: str, line: int, problem: Exception, expected: str) -> InputError:
    """Return the error for text that the JSON decoder rejects with `problem`."""
    if isinstance(problem, KeyTwiceError):
        return SeparateRankingsError(file, line, str(problem), "expected each key once")
    if isinstance(problem, RecursionError):
        reason = "nested too deeply"
    elif isinstance(problem, json.JSONDecodeError):
        line += problem.lineno - 1
        reason = f"{problem.msg} at column {problem.colno}"
    else:
        reason = str(problem)
    return InputError(file, line, f"invalid JSON ({reason})", expected)


def written(value: object) -> bytes:
    """Encode a value as one line of JSON."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")
