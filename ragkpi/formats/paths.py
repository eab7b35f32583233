"""Paths into decoded JSON and into rows of tables: ``query.qid``, ``output[].provenance``.

A path is steps between dots. A bar separates alternatives: the first one that leads to a value
counts. A step is the name of a key; ``<document>`` and its like are all names of that kind
(`column_names.NAMES`). If an object has a key with dots, ``node.id``, the path means that key.
``[]`` behind a name goes through the elements of a list. ``@key`` is the key of the record or
document, ``@value`` the record or document itself, ``@number`` the number of the record from 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ragkpi.formats.column_names import NAMES, find_only, plain_name
from ragkpi.wording import shown

_MOST_LAYOUTS = 256
_OF_RECORDS = ("@key", "@value", "@number")

Keys = tuple[str, ...]


class Repeated(dict[str, Any]):
    """An object with a repeated key; `pairs` are its keys and values in the order of the file."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs

    def twice(self) -> str:
        """Return the first key that is repeated."""
        names = [name for name, _ in self.pairs]
        return next(name for number, name in enumerate(names) if name in names[:number])


class KeyTwiceError(ValueError):
    """An object on the path has a key twice, or two keys of the same meaning."""


def is_scalar(value: Any) -> bool:
    """Whether a value may be an id or a number: no list, object, null or truth value is."""
    return value is not None and not isinstance(value, dict | list | bool)


def _is_there(value: Any) -> bool:
    return value is not None


def _is_anything(_: Any) -> bool:
    return True


class Path:
    """A path, ready to be followed.

    Parameters
    ----------
    text
        A path as in the description of this module; empty for a path that leads nowhere.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._alternatives = [steps.strip().split(".") for steps in text.split("|")] if text else []
        # A cache. By the keys of an object: the key with the value, if the path leads to it in a
        # single step; None if the path leads nowhere in any object with these keys.
        self._layouts: dict[Keys, str | None] = {}

    def __bool__(self) -> bool:
        return bool(self.text)

    def scalar(self, value: Any, key: str | None = None, number: int = 0) -> Any:
        """Return the first id or number on the path, or None; may raise `KeyTwiceError`."""
        return self._first(value, key, number, is_scalar)[0]

    def any_value(self, value: Any, key: str | None = None, number: int = 0) -> Any:
        """Return the first value on the path, of whatever kind; None for none and for null."""
        return self._first(value, key, number, _is_there)[0]

    def first(self, value: Any, key: str | None = None) -> tuple[Any, Keys | None]:
        """Return the first value on the path, null too, and its keys; (None, None) for none.

        Raises `KeyTwiceError`.
        """
        return self._first(value, key, 0, _is_anything)

    def _first(
        self, value: Any, key: str | None, number: int, accepted: Callable[[Any], bool]
    ) -> tuple[Any, Keys | None]:
        layout: Keys = ()
        if type(value) is dict:
            layout = tuple(value)
            if layout in self._layouts:
                name = self._layouts[layout]
                if name is None:
                    return None, None
                if accepted(value[name]):
                    return value[name], (name,)
        alone = True  # no key before could hold the value in another object of this layout
        for steps in self._alternatives:
            for found, keys in _follow(value, steps, key, number):
                if accepted(found):
                    if alone and layout and len(keys) == 1 and is_scalar(found):
                        self._remember(layout, keys[0])
                    return found, keys
                alone = alone and not keys
        if layout and not any(_begins(value, steps) for steps in self._alternatives):
            self._remember(layout, None)
        return None, None

    def name_in(self, layout: Keys) -> str | None:
        """Return the key on the path in objects with these keys, if known from objects before."""
        return self._layouts.get(layout)

    def lacks(self, layout: Keys) -> bool:
        """Whether the path is known to lead nowhere in objects with these keys."""
        return not self.text or self._layouts.get(layout, "") is None

    def _remember(self, layout: Keys, name: str | None) -> None:
        if len(self._layouts) >= _MOST_LAYOUTS:
            self._layouts.clear()
        self._layouts[layout] = name

    def listed(
        self, value: Any, key: str | None = None, objects: bool = False
    ) -> tuple[str, list[tuple[Any, Any]]] | None:
        """Return the key of the first list on the path, and its entries as (key or None, value).

        With `objects`, an object is such a list too, of its keys and values.
        """
        kinds = list | dict if objects else list
        for steps in self._alternatives:
            flat = any(step.endswith("[]") for step in steps)
            entries: list[tuple[Any, Any]] = []
            name = None
            for found, keys in _follow(value, steps, key, 0):
                if isinstance(found, kinds):
                    name = keys[-1] if keys else ""
                    entries += entries_of(found)
                    if not flat:
                        break
            if name is not None or (flat and _leads_to_list(value, steps)):
                return name or "", entries
        return None


def entries_of(container: Any) -> list[tuple[Any, Any]]:
    """Return the elements of a list as (None, element), or the keys and values of an object."""
    if isinstance(container, Repeated):
        return container.pairs
    if isinstance(container, dict):
        return list(container.items())
    return [(None, element) for element in container]


def _leads_to_list(value: Any, steps: list[str]) -> bool:
    first = steps[: next(i for i, step in enumerate(steps) if step.endswith("[]")) + 1]
    names = [*first[:-1], first[-1].removesuffix("[]")]
    return any(isinstance(found, list) for found, _ in _follow(value, names, None, 0))


def _follow(
    value: Any, steps: list[str], key: str | None, number: int
) -> Iterator[tuple[Any, Keys]]:
    """Yield each value that the steps lead to, and its keys."""
    if not steps:
        yield value, ()
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
        raise KeyTwiceError(f"key {shown(value.twice())} twice")
    name, through = step.removesuffix("[]"), step.endswith("[]")
    for known in _named_keys(value, name):
        children = value[known]
        if through and not isinstance(children, list):
            continue
        for child in children if through else (children,):
            for found, keys in _follow(child, rest, key, number):
                yield found, (known, *keys)


def _begins(value: dict[str, Any], steps: list[str]) -> bool:
    """Whether an object has the first key of a path."""
    step = ".".join(steps[: _length_of_first(value, steps)])
    return steps[0] in _OF_RECORDS or any(_named_keys(value, step.removesuffix("[]")))


def _length_of_first(value: Any, steps: list[str]) -> int:
    """Return how many steps make up the first key: several if the object has a key with dots."""
    if isinstance(value, dict):
        for length in range(len(steps), 1, -1):
            if ".".join(steps[:length]).removesuffix("[]") in value:
                return length
    return 1


def _named_keys(value: dict[str, Any], name: str) -> Iterator[str]:
    """Yield the keys of an object that a step names, the preferred one first."""
    if name in value:
        yield name
    elif name in NAMES:
        names = {plain_name(key) for key in value}
        for wanted in NAMES[name]:
            if wanted in names:
                try:
                    known = find_only(list(value), (wanted,))
                except ValueError as problem:
                    raise KeyTwiceError(str(problem)) from None
                if known is not None:
                    yield known
    elif name == "*":
        yield from value
