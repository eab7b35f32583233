"""Paths into decoded JSON and into rows of tables: ``query.qid``, ``output[].provenance``.

A path has steps, separated by dots. A bar separates alternatives: the first that leads to a value
counts. A step names a key; ``<document>``, ``<query>`` … match every name in a list of
`column_names.NAMES`. If an object has a key with dots, ``node.id``, the path means that key.
``[]`` after a name goes through the elements of a list, and a number is a place in a list.
``@key`` is the key of the record or document, ``@value`` the record or document itself,
``@number`` the number of the record from 1. An empty path leads nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from operator import itemgetter
from typing import Any

from ragkpi.files.column_names import NAMES, find_only, plain_name

Keys = tuple[str, ...]
Steps = tuple[str, ...]
# JSON has no infinite numbers: the writer of runs writes them as texts.
_NUMBER = re.compile(r"\s*[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|inf)\s*")


def is_scalar(value: Any) -> bool:
    """Whether a value can be an id or a number."""
    return value is not None and not isinstance(value, dict | list | bool)


def is_number(value: Any) -> bool:
    """Whether a decoded value is a number, or the text of one."""
    if isinstance(value, str):
        return bool(_NUMBER.fullmatch(value))
    return isinstance(value, int | float) and not isinstance(value, bool)


def alone(value: Any) -> Any:
    """Return the only element of a list; any other value unchanged."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


@lru_cache(maxsize=1024)
def _alternatives(path: str) -> Sequence[Steps]:
    return [tuple(steps.strip().split(".")) for steps in path.split("|")] if path else []


def values_at(
    path: str, value: Any, key: str | None = None, number: int = 0
) -> Iterator[tuple[Any, Keys]]:
    """Yield the values on a path with their keys, of a record with this key and number."""
    for steps in _alternatives(path):
        yield from _follow(value, steps, key, number)


def first_at(
    path: str, value: Any, key: str | None = None, number: int = 0
) -> tuple[Any, Keys | None]:
    """Return the first value on a path, even null, and its keys; else (None, None)."""
    return next(values_at(path, value, key, number), (None, None))


def any_value(path: str, value: Any) -> Any:
    """Return the first value on a path that is not null; None without."""
    return next((one for one, _ in values_at(path, value) if one is not None), None)


def scalar_at(path: str, value: Any, key: str | None = None, number: int = 0) -> Any:
    """Return the first id or number on a path, or None.

    An id can be the only element of a list, as search engines write fields.
    """
    some = (alone(one) if keys else one for one, keys in values_at(path, value, key, number))
    return next(filter(is_scalar, some), None)


def column_at(
    path: str, values: Sequence[Any], keys: Sequence[str | None], number: int = 0
) -> Sequence[Any]:
    """Return the first value on a path in each of some values; None without."""
    if path == "@key":
        return keys
    if path == "@value":
        return values
    if path and values and set(map(type, values)) == {dict}:
        name = next(_keys_of(values[0], path.partition("|")[0]), None)
        with suppress(KeyError):
            return list(map(itemgetter(name), values))
    numbers = range(number, number + len(values))
    return [first_at(path, *of)[0] for of in zip(values, keys, numbers, strict=True)]


def entries_at(
    path: str, value: Any, key: str | None = None, objects: bool = False
) -> tuple[str, list[str | None], list[Any]] | None:
    """Return the key of the first list on a path, and the keys (or None) and values in it.

    With `objects`, an object counts as a list of its keys and values.
    """
    for steps in _alternatives(path):
        flat = next((place for place, step in enumerate(steps) if step.endswith("[]")), None)
        name: str | None = None
        inner_keys: list[str | None] = []
        values: list[Any] = []
        for container, keys in _follow(value, steps, key, 0):
            if objects and isinstance(container, dict):
                inner_keys += container
                values += container.values()
            elif isinstance(container, list):
                inner_keys += [None] * len(container)
                values += container
            else:
                continue
            name = keys[-1] if keys else ""
            if flat is None:
                break
        if name is None and flat is not None:  # a list around the lists can be empty
            around = _follow(value, (*steps[:flat], steps[flat].removesuffix("[]")), None, 0)
            name = "" if any(isinstance(one, list) for one, _ in around) else None
        if name is not None:
            return name, inner_keys, values
    return None


def _follow(value: Any, steps: Steps, key: str | None, number: int) -> Iterator[tuple[Any, Keys]]:
    if not steps:
        yield value, ()
    elif steps[0] in ("@key", "@value", "@number"):
        own = {"@key": key, "@value": value, "@number": str(number) if number else None}
        yield from _follow(own[steps[0]], steps[1:], key, number)
    elif isinstance(value, list) and steps[0].isdigit():
        for element in value[int(steps[0]) :][:1]:
            yield from _follow(element, steps[1:], key, number)
    elif isinstance(value, dict):
        joined = (length for length in range(len(steps), 1, -1) if _step(steps, length) in value)
        length = next(joined, 1)
        through = steps[length - 1].endswith("[]")
        for name in _keys_of(value, _step(steps, length)):
            children = value[name] if through else [value[name]]
            for child in children if isinstance(children, list) else ():
                for inner, keys in _follow(child, steps[length:], key, number):
                    yield inner, (name, *keys)


def _step(steps: Steps, length: int) -> str:
    return ".".join(steps[:length]).removesuffix("[]")


def _keys_of(value: dict[str, Any], name: str) -> Iterator[str]:
    """Yield the keys of an object that match a step, the preferred key first."""
    if name in value:
        yield name
    elif name in NAMES:
        names = {plain_name(key) for key in value}
        for wanted in NAMES[name]:
            if wanted in names and (key := find_only(list(value), (wanted,))) is not None:
                yield key
