r"""Paths into decoded JSON and into rows of tables: ``query.qid``, ``output[].provenance``.

A path has steps, separated by dots. A bar separates alternatives: the first that leads to a value
counts. A step names a key; ``<document>``, ``<query>`` … match every name in a list of
`column_names.NAMES`. If an object has a key with dots, ``node.id``, the path means that key.
``[]`` after a name goes through the elements of a list. ``@key`` is the key of the record or
document, ``@value`` the record or document itself, ``@number`` the number of the record from 1.

`DECODER` keeps numbers as texts, because an id may be a number, and all values of a repeated key.

Bytes that are not UTF-8 become lone surrogates (`surrogateescape`). They are written as escapes
such as ``\udcff``, which are ASCII and read back as the same bytes.
"""

from __future__ import annotations

import json
import re
from ast import literal_eval
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from operator import itemgetter
from typing import Any

from ragkpi.errors import InputError, SeparateRankingsError
from ragkpi.files.column_names import (
    NAMES,
    KeyTwiceError,
    find_only,
    plain_name,
    shown_names,
)
from ragkpi.wording import shown

_OF_RECORDS = ("@key", "@value", "@number")

Keys = tuple[str, ...]


class Repeated(dict[str, Any]):
    """An object with a repeated key; `pairs` are its keys and values in file order."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs

    def twice(self) -> str:
        """Return the first key that is repeated."""
        names = [name for name, _ in self.pairs]
        return next(name for number, name in enumerate(names) if name in names[:number])


def is_scalar(value: Any) -> bool:
    """Whether a value can be an id or a number."""
    return value is not None and not isinstance(value, dict | list | bool)


def alone(value: Any) -> Any:
    """Return the only element of a list; any other value unchanged."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


class Path:
    """A parsed path; an empty text leads nowhere."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._alternatives = [steps.strip().split(".") for steps in text.split("|")] if text else []

    def __bool__(self) -> bool:
        return bool(self.text)

    def _values(
        self, value: Any, key: str | None = None, number: int = 0
    ) -> Iterator[tuple[Any, Keys]]:
        """Yield the values on the path with their keys; may raise `KeyTwiceError`."""
        for steps in self._alternatives:
            yield from _follow(value, steps, key, number)

    def scalar(self, value: Any, key: str | None = None, number: int = 0) -> Any:
        """Return the first id or number on the path, or None.

        An id can be the only element of a list, as search engines write fields.
        """
        some = (alone(one) if keys else one for one, keys in self._values(value, key, number))
        return next(filter(is_scalar, some), None)

    def any_value(self, value: Any, key: str | None = None, number: int = 0) -> Any:
        """Return the first value on the path, of any type; None for null or no value."""
        some = (one for one, _ in self._values(value, key, number))
        return next((one for one in some if one is not None), None)

    def first(self, value: Any, key: str | None = None, number: int = 0) -> tuple[Any, Keys | None]:
        """Return the first value on the path, even null, and its keys; else (None, None)."""
        return next(self._values(value, key, number), (None, None))

    def column(
        self, values: Sequence[Any], keys: Sequence[str | None], number: int = 0
    ) -> Sequence[Any]:
        """Return the first value on the path in each of some values; None without."""
        if self.text in ("@key", "@value"):
            return values if self.text == "@value" else keys
        if not self.text:
            return [None] * len(values)
        if values and set(map(type, values)) == {dict}:
            name = next(_named_keys(values[0], self.text.partition("|")[0]), None)
            with suppress(KeyError):
                return list(map(itemgetter(name), values))
        numbers = range(number, number + len(values))
        return [one for one, _ in map(self.first, values, keys, numbers)]

    def listed(
        self, value: Any, key: str | None = None, objects: bool = False
    ) -> tuple[str, list[str | None], list[Any]] | None:
        """Return the key of the first list on the path, and the keys (or None) and values in it.

        With `objects`, an object counts as a list of its keys and values.
        """
        kinds = list | dict if objects else list
        for steps in self._alternatives:
            flat = any(step.endswith("[]") for step in steps)
            inner_keys: list[str | None] = []
            values: list[Any] = []
            name = None
            for found, keys in _follow(value, steps, key, 0):
                found = (
                    listed_in(found) if isinstance(found, str) and "|" in found else unfolded(found)
                )
                if isinstance(found, kinds):
                    name = keys[-1] if keys else ""
                    some_keys, some = entries_of(found)
                    inner_keys += some_keys
                    values += some
                    if not flat:
                        break
            if name is not None or (flat and _leads_to_list(value, steps)):
                return name or "", inner_keys, values
        return None


class JoinedPath(Path):
    """An id of several keys, ``{source}#{page}``; None if one of them is missing."""

    def __init__(self, text: str) -> None:
        super().__init__("")
        self.text = text
        pieces = re.split(r"\{([^{}]*)\}", text)
        self._between, self._paths = pieces[::2], [Path(piece) for piece in pieces[1::2]]

    def _values(
        self, value: Any, key: str | None = None, number: int = 0
    ) -> Iterator[tuple[Any, Keys]]:
        ids = [path.scalar(value, key, number) for path in self._paths]
        if None not in ids:
            yield "".join(map(str, chain(*zip(self._between, [*ids, ""], strict=True)))), ()


# JSON has no infinite numbers: the writer of runs writes them as texts.
_NUMBER = re.compile(r"\s*[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|inf)\s*")


_SCORED = re.compile(r"(.+):(-?\d*\.\d+)")  # doc-17:0.912


def unfolded(value: Any) -> Any:
    """Return the object or list in a text, as JSON or printed by Python; else the value."""
    if not isinstance(value, str) or value[:1] not in ("{", "[", "("):
        return value
    with suppress(ValueError, RecursionError):
        return DECODER.decode(value)
    with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
        inner = literal_eval(value)
        return _without_tuples(inner) if isinstance(inner, dict | list | tuple) else value
    return value


def is_number(value: Any) -> bool:
    """Whether a decoded value is a number, or the text of one."""
    if isinstance(value, str):
        return bool(_NUMBER.fullmatch(value))
    return isinstance(value, int | float) and not isinstance(value, bool)


def listed_in(text: str) -> Any:
    """Return the list in a cell: JSON, Python's, or values between bars, semicolons or commas.

    Ids followed by a colon and a score become an object of numbers. Text that only begins like a
    list stays text.
    """
    value = unfolded(text)
    if not isinstance(value, str) or value[:1] in ("{", "[", "("):
        return value
    separator = next((mark for mark in "|;,\n" if mark in text), None)
    parts = [part.strip() for part in (text.split(separator) if separator else [text])]
    scored = [_SCORED.fullmatch(part) for part in parts]
    return {of[1]: of[2] for of in scored if of} if all(scored) else parts


def _without_tuples(value: Any) -> Any:
    """Return a Python value as decoded JSON; numbers keep their text."""
    if isinstance(value, dict):
        return {str(key): _without_tuples(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_without_tuples(one) for one in value]
    return value if isinstance(value, str | bool) or value is None else str(value)


def entries_of(container: Any) -> tuple[Sequence[str | None], Sequence[Any]]:
    """Return the keys of an object, or None for each element of a list, and the values."""
    if isinstance(container, Repeated):
        keys, values = zip(*container.pairs, strict=True)
        return keys, values
    if isinstance(container, dict):
        return list(container), list(container.values())
    return [None] * len(container), container


def _leads_to_list(value: Any, steps: list[str]) -> bool:
    first = steps[: next(i for i, step in enumerate(steps) if step.endswith("[]")) + 1]
    names = [*first[:-1], first[-1].removesuffix("[]")]
    return any(isinstance(found, list) for found, _ in _follow(value, names, None, 0))


def _follow(
    value: Any, steps: list[str], key: str | None, number: int
) -> Iterator[tuple[Any, Keys]]:
    if not steps:
        yield value, ()
        return
    if steps[0] not in _OF_RECORDS and not any(_keys_of_first(value, steps)):
        value = unfolded(value)
        if isinstance(value, list) and steps[0].isdigit():
            for element in value[int(steps[0]) :][:1]:
                yield from _follow(element, steps[1:], key, number)
            return
    length = _length_of_first(value, steps)
    step, rest = ".".join(steps[:length]), steps[length:]
    if step in _OF_RECORDS:
        if not rest:
            numbered = str(number) if number else None
            yield {"@key": key, "@value": value, "@number": numbered}[step], ()
        elif step == "@value":
            yield from _follow(value, rest, key, number)
        return
    if not isinstance(value, dict):
        return
    if isinstance(value, Repeated):
        raise KeyTwiceError(f"repeated key {shown(value.twice())}")
    name, through = step.removesuffix("[]"), step.endswith("[]")
    for known in _named_keys(value, name):
        children = unfolded(value[known]) if through else value[known]
        if through and not isinstance(children, list):
            continue
        for child in children if through else (children,):
            for found, keys in _follow(child, rest, key, number):
                yield found, (known, *keys)


def _keys_of_first(value: Any, steps: list[str]) -> Iterator[str]:
    """Yield the keys of an object that match the first step, or the first steps joined."""
    if isinstance(value, dict):
        step = ".".join(steps[: _length_of_first(value, steps)])
        yield from _named_keys(value, step.removesuffix("[]"))


def _length_of_first(value: Any, steps: list[str]) -> int:
    """Return the number of steps in the first key: several if the key has dots."""
    if isinstance(value, dict):
        for length in range(len(steps), 1, -1):
            if ".".join(steps[:length]).removesuffix("[]") in value:
                return length
    return 1


def _named_keys(value: dict[str, Any], name: str) -> Iterator[str]:
    """Yield the keys of an object that match a step, the preferred key first."""
    if name in value:
        yield name
    elif name in NAMES:
        names = {plain_name(key) for key in value}
        for wanted in NAMES[name]:
            if wanted in names and (known := find_only(list(value), (wanted,))) is not None:
                yield known


def _behind(key: str | None, steps: Sequence[str]) -> Sequence[str] | None:
    """Return the steps after a key, which uses several if it has dots; None for another key."""
    count = str(key).count(".") + 1
    return steps[count:] if ".".join(steps[:count]).removesuffix("[]") == key else None


# Line, key (None in an array), value, and its start and end in the text.
Element = tuple[int, str | None, Any, tuple[int, int]]

_SPACE = re.compile(r"[ \t\n\r]*")
# MongoDB's extended JSON: {"$numberDouble": "0.5"}.
_TYPES = {"$oid", "$uuid", "$numberInt", "$numberLong", "$numberDouble", "$numberDecimal"}


def _object(pairs: list[tuple[str, Any]]) -> Any:
    values = dict(pairs)
    if len(values) == len(pairs) != 1:
        return values
    if len(values) < len(pairs):
        return Repeated(pairs)
    ((key, value),) = pairs
    return value if key in _TYPES else values


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

    def copy(self) -> JsonText:
        """Return a cursor at the beginning of the same text."""
        return JsonText(self.file, self.text, self._expected, self.of_line)

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
            line = self.of_line or 1 if isinstance(problem, ValueError) else self._line
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
        line, start = self._line, self._position
        value = self.value()
        return line, key, value, (start, self._position)

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
                    raise key_twice(self.file, self._line, key)
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


def key_twice(file: str, line: int | None, key: str) -> SeparateRankingsError:
    """Return the error for an object with a repeated key."""
    found = f"repeated key {shown(key)}"
    return SeparateRankingsError(file, line, found, "expected each key once")


def no_json(file: str, line: int, problem: Exception, expected: str) -> InputError:
    """Return the error for text that the JSON decoder rejects with `problem`."""
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
