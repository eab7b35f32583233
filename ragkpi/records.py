"""`dataclass` for classes that every evaluation needs: the same, made in a tenth of the time.

The standard one writes the source of six methods per class and compiles it, half a millisecond; 30
such classes took a tenth of a small evaluation. Here all classes share one set of methods. Type
checkers see the standard one, and `tests/test_records.py` holds that both do the same.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, field
from typing import TYPE_CHECKING, Any, TypeVar

__all__ = ["dataclass", "field", "replace"]

if TYPE_CHECKING:
    from dataclasses import dataclass, replace
else:
    Class = TypeVar("Class", bound=type)

    def dataclass(*, frozen: bool = False, eq: bool = True, repr: bool = True) -> Callable:
        """Return a decorator that gives a class the methods of a dataclass."""

        def decorate(cls: Class) -> Class:
            declared = {}
            for base in reversed(cls.__mro__[1:]):
                declared |= base.__dict__.get("_declared", {})
            for name in cls.__annotations__:
                value = cls.__dict__.get(name, MISSING)
                if isinstance(value, Field):
                    # What the standard one does: the class keeps plain defaults only.
                    delattr(cls, name)
                    if value.default is not MISSING:
                        setattr(cls, name, value.default)
                declared[name] = value
            cls._declared = declared
            cls._positional = tuple(
                name
                for name, value in declared.items()
                if not (isinstance(value, Field) and value.kw_only is True)
            )
            defaults = {
                name: value.default if isinstance(value, Field) else value
                for name, value in declared.items()
            }
            cls._defaults = {n: value for n, value in defaults.items() if value is not MISSING}
            cls._made = {
                name: value.default_factory
                for name, value in declared.items()
                if isinstance(value, Field) and value.default_factory is not MISSING
            }
            cls._options = {"frozen": frozen, "eq": eq, "repr": repr}
            cls.__init__ = _init
            cls.__match_args__ = cls._positional
            cls.__dataclass_fields__ = _Later("__dataclass_fields__")
            cls.__dataclass_params__ = _Later("__dataclass_params__")
            if repr:
                cls.__repr__ = _repr
            if eq:
                cls.__eq__ = _eq
                cls.__hash__ = _hash if frozen else None
            if frozen:
                cls.__setattr__ = _setattr
                cls.__delattr__ = _delattr
            return cls

        return decorate

    def replace(record: Any, /, **changes: Any) -> Any:
        """Return a copy with other values."""
        if not hasattr(record, "_declared"):
            return dataclasses.replace(record, **changes)
        state = record.__dict__
        return type(record)(**{name: state[name] for name in record._declared} | changes)


def _init(self: Any, /, *values: Any, **named: Any) -> None:
    state, positional = self.__dict__, self._positional
    state.update(self._defaults)
    if values:
        if len(values) > len(positional):
            raise TypeError(
                f"{type(self).__name__}: {len(values)} values for {len(positional)} fields"
            )
        given = dict(zip(positional, values, strict=False))
        for name in given.keys() & named.keys():
            raise TypeError(f"{type(self).__name__}: two values for {name}")
        state.update(given)
    state.update(named)
    for name, make in self._made.items():
        if name not in state:
            state[name] = make()
    if len(state) != len(self._declared):
        unknown = [name for name in named if name not in self._declared]
        if unknown:
            raise TypeError(f"{type(self).__name__} has no field {', '.join(unknown)}")
        missing = next(name for name in self._declared if name not in state)
        raise TypeError(f"{type(self).__name__}: {missing} is missing")
    if hasattr(self, "__post_init__"):
        self.__post_init__()


def _values(self: Any) -> tuple[Any, ...]:
    return tuple(self.__dict__[name] for name in self._declared)


def _repr(self: Any) -> str:
    shown = [
        f"{name}={self.__dict__[name]!r}"
        for name, value in self._declared.items()
        if not isinstance(value, Field) or value.repr
    ]
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _eq(self: Any, other: object) -> bool:
    return _values(self) == _values(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_values(self))


def _setattr(self: Any, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delattr(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


class _Later:
    """What `dataclasses.fields` and `asdict` look for, made when they do."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: Any) -> Any:
        known = {name: value for name, value in owner._declared.items() if value is not MISSING}
        known["__annotations__"] = dict.fromkeys(owner._declared, Any)
        standard: Any = dataclasses.dataclass(**owner._options)(type(owner.__name__, (), known))
        for name in ("__dataclass_fields__", "__dataclass_params__"):
            setattr(owner, name, getattr(standard, name))
        return getattr(standard, self._name)
