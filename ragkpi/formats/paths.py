"""Paths into decoded JSON and into rows of tables: ``query.qid``, ``output[].provenance``.

A path is steps between dots; alternatives stand between bars, and the first that leads somewhere
counts. A step is the name of a key; ``<document>`` and its like stand for all names of the kind
(`column_names.NAMES`). Where an object has a key with dots in it, ``node.id``, that key is meant.
``[]`` behind a name goes through the elements of a list. ``@key`` is the key under which a record
or a document stands, ``@value`` what stands there, ``@number`` the number of the record from 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragkpi.formats.column_names import NAMES, find_only, plain_name
from ragkpi.wording import shown

_MOST_LAYOUTS = 256
_OF_RECORDS = ("@key", "@value", "@number")


class Repeated(dict[str, Any]):
    """An object with a key twice; `pairs` are its keys and values in the order of the file."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs

    def twice(self) -> str:
        """Name the first key that comes again."""
        names = [name for name, _ in self.pairs]
        return next(name for place, name in enumerate(names) if name in names[:place])


class KeyTwiceError(ValueError):
    """An object on the way has a key twice, or two keys that mean the same."""


def is_scalar(value: Any) -> bool:
    """Say whether a value may be an id or a number, which no list, null or truth value is."""
    return value is not None and not isinstance(value, dict | list | bool)


class Path:
    """A path, ready to be followed.

    Parameters
    ----------
    text
        As the module describes it; empty for a path that leads nowhere.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._alternatives = [one.strip().split(".") for one in text.split("|")] if text else []
        # By the keys of an object: the one that holds the value, where a single step leads to it;
        # None where no key can.
        self._layouts: dict[tuple[str, ...], str | None] = {}

    def __bool__(self) -> bool:
        return bool(self.text)

    def scalar(self, value: Any, key: str | None = None, number: int = 0) -> Any:
        """Return the id or number that the path leads to; None if there is none.

        Raises `KeyTwiceError`.
        """
        layout: tuple[str, ...] = ()
        if type(value) is dict:
            layout = tuple(value)
            name = self._layouts.get(layout)
            if name is not None and is_scalar(value[name]):
                return value[name]
            if name is None and layout in self._layouts:
                return None
        first = True  # whether no key before it could hold the value in another object
        for steps in self._alternatives:
            for found, way in _follow(value, steps, key, number):
                if is_scalar(found):
                    if first and layout and len(way) == 1 and way[0] in value:
                        self._remember(layout, way[0])
                    return found
                first = first and not way
        if layout and not any(self._begins(value, steps) for steps in self._alternatives):
            self._remember(layout, None)
        return None

    def first(self, value: Any, key: str | None = None) -> tuple[Any, tuple[str, ...] | None]:
        """Return the first thing that the path leads to, null too, and by which keys.

        None and None if it leads nowhere. Raises `KeyTwiceError`.
        """
        layout = tuple(value) if type(value) is dict else ()
        if layout in self._layouts:
            name = self._layouts[layout]
            return (None, None) if name is None else (value[name], (name,))
        for steps in self._alternatives:
            for found, way in _follow(value, steps, key, 0):
                if layout and len(way) == 1 and is_scalar(found):
                    self._remember(layout, way[0])
                return found, way
        if layout and not any(self._begins(value, steps) for steps in self._alternatives):
            self._remember(layout, None)
        return None, None

    def name_in(self, layout: tuple[str, ...]) -> str | None:
        """Return the key that the path leads to in objects of some keys, where one is known."""
        return self._layouts.get(layout)

    def lacks(self, layout: tuple[str, ...]) -> bool:
        """Say whether the path is known to lead nowhere in objects of some keys."""
        return not self.text or self._layouts.get(layout, "") is None

    def _remember(self, layout: tuple[str, ...], name: str | None) -> None:
        if len(self._layouts) >= _MOST_LAYOUTS:
            self._layouts.clear()
        self._layouts[layout] = name

    @staticmethod
    def _begins(value: dict[str, Any], steps: list[str]) -> bool:
        step = steps[: _length_of_first(value, steps)]
        return step[0] in _OF_RECORDS or any(_names(value, ".".join(step).removesuffix("[]")))

    def any_value(self, value: Any, key: str | None = None, number: int = 0) -> Any:
        """Return what the path leads to, of whatever kind; None if it is nothing."""
        layout = tuple(value) if type(value) is dict else ()
        name = self._layouts.get(layout)
        if name is not None and value[name] is not None:
            return value[name]
        first = True
        for steps in self._alternatives:
            for found, way in _follow(value, steps, key, number):
                if found is not None:
                    if first and layout and len(way) == 1 and is_scalar(found):
                        self._remember(layout, way[0])
                    return found
                first = False
        return None

    def listed(
        self, value: Any, key: str | None = None, objects: bool = False
    ) -> tuple[str, list[tuple[Any, Any]]] | None:
        """Return the name and the entries, (key or None, value), of the list the path leads to.

        With `objects`, the keys and values of an object are such entries too.
        """
        kinds = list | dict if objects else list
        for steps in self._alternatives:
            flat = any(step.endswith("[]") for step in steps)
            entries: list[tuple[Any, Any]] = []
            name = None
            for found, way in _follow(value, steps, key, 0):
                if isinstance(found, kinds):
                    name = way[-1] if way else ""
                    entries += entries_of(found)
                    if not flat:
                        break
            if name is not None or (flat and _leads_to_list(value, steps)):
                return name or "", entries
        return None


def entries_of(container: Any) -> list[tuple[Any, Any]]:
    """Return the elements of a list, or the keys and values of an object."""
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
) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """Yield what steps lead to, and by which keys."""
    if not steps:
        yield value, ()
        return
    length = _length_of_first(value, steps)
    step, rest = ".".join(steps[:length]), steps[length:]
    if step in _OF_RECORDS:
        if not rest:
            yield (
                {"@key": key, "@value": value, "@number": str(number) if number else None}[step],
                (),
            )
        elif step == "@value":
            yield from _follow(value, rest, key, number)
        return
    if not isinstance(value, dict):
        return
    if isinstance(value, Repeated):
        raise KeyTwiceError(f"key {shown(value.twice())} twice")
    name, through = step.removesuffix("[]"), step.endswith("[]")
    for known in _names(value, name):
        children = value[known]
        if through and not isinstance(children, list):
            continue
        for child in children if through else (children,):
            for found, way in _follow(child, rest, key, number):
                yield found, (known, *way)


def _length_of_first(value: Any, steps: list[str]) -> int:
    """Return how many steps the first key is: as many as name a key with dots, or one."""
    if isinstance(value, dict):
        for length in range(len(steps), 1, -1):
            if ".".join(steps[:length]).removesuffix("[]") in value:
                return length
    return 1


def _names(value: dict[str, Any], name: str) -> Iterator[str]:
    """Yield the keys of an object that a step names, the one that is meant first."""
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
