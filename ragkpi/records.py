"""`dataclass` and `NamedTuple` as everywhere, made in a tenth of the time.

The standard ones write the source of methods per class and compile it, half a millisecond for a
dataclass and a tenth of that for a tuple; 60 such classes took a tenth of a small evaluation. Here
all classes share one set of methods. Type checkers see the standard ones, and
`tests/test_records.py` holds that both do the same.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import TYPE_CHECKING, Any

__all__ = ["NamedTuple", "asdict", "dataclass", "field", "replace"]

_MISSING = object()


class _Field:
    """What is said of a field, as the standard `field` takes it."""

    default: Any = _MISSING
    default_factory: Callable[[], Any] | None = None
    repr = True
    kw_only = False

    def __init__(self, **given: Any) -> None:
        self.__dict__.update(given)


if TYPE_CHECKING:
    from dataclasses import asdict, dataclass, field, replace
    from typing import NamedTuple
else:
    field = _Field

    def dataclass(*, frozen: bool = False, eq: bool = True, repr: bool = True) -> Callable:
        """Return a decorator that gives a class the methods of a dataclass."""

        def decorate(cls: type) -> type:
            fields: dict[str, _Field] = {}
            for base in reversed(cls.__mro__[1:]):
                fields |= base.__dict__.get("_declared", {})
            for name in cls.__annotations__:
                value = cls.__dict__.get(name, _MISSING)
                if isinstance(value, _Field):
                    # What the standard one does: the class keeps plain defaults only.
                    delattr(cls, name)
                    if value.default is not _MISSING:
                        setattr(cls, name, value.default)
                    fields[name] = value
                else:
                    fields[name] = _Field() if value is _MISSING else _Field(default=value)
            cls._declared = fields
            cls._positional = tuple(name for name, known in fields.items() if not known.kw_only)
            cls._defaults = {
                name: known.default
                for name, known in fields.items()
                if known.default is not _MISSING
            }
            cls._made = {
                name: known.default_factory
                for name, known in fields.items()
                if known.default_factory is not None
            }
            cls._checks = hasattr(cls, "__post_init__")
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
            import dataclasses

            return dataclasses.replace(record, **changes)
        state = record.__dict__
        return type(record)(**{name: state[name] for name in record._declared} | changes)

    def asdict(record: Any) -> dict[str, Any]:
        """Return the values by name, and those of the records among them likewise."""
        return _of_records(record)

    class _TupleMaker(type):
        """Make of annotations the properties of a tuple."""

        def __new__(cls, name: str, bases: tuple[type, ...], names: dict[str, Any]) -> type:
            return super().__new__(cls, name, bases, {**names, "__slots__": ()})

        def __init__(cls, name: str, bases: tuple[type, ...], names: dict[str, Any]) -> None:
            super().__init__(name, bases, names)
            cls._fields = cls.__match_args__ = tuple(cls.__annotations__)
            cls._field_defaults = {name: names[name] for name in cls._fields if name in names}
            for place, field_name in enumerate(cls._fields):
                setattr(cls, field_name, property(itemgetter(place)))

    class NamedTuple(tuple, metaclass=_TupleMaker):
        """What `typing.NamedTuple` is to its classes."""

        def __new__(cls, /, *values: Any, **named: Any) -> Any:
            fields, defaults = cls._fields, cls._field_defaults
            if len(values) != len(fields) or named:
                rest, given = fields[len(values) :], {**defaults, **named}
                if len(values) > len(fields) or not given.keys() >= set(rest) >= named.keys():
                    raise TypeError(f"{cls.__name__}: expected {', '.join(fields)}, each once")
                values += tuple(map(given.__getitem__, rest))
            return tuple.__new__(cls, values)

        def _replace(self, /, **changes: Any) -> Any:
            made = tuple.__new__(type(self), map(changes.pop, self._fields, self))
            if changes:
                raise TypeError(f"{type(self).__name__} has no field {', '.join(changes)}")
            return made

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

        def __repr__(self) -> str:
            shown = (f"{name}={value!r}" for name, value in self._asdict().items())
            return f"{type(self).__name__}({', '.join(shown)})"


def _init(self: Any, /, *values: Any, **named: Any) -> None:
    state, positional = self.__dict__, self._positional
    state.update(self._defaults)
    state.update(zip(positional, values, strict=False))
    state.update(named)
    for name, make in self._made.items():
        if name not in state:
            state[name] = make()
    if len(state) != len(self._declared) or (values and (named or len(values) > len(positional))):
        _refuse_wrong(self, values, named)
    if self._checks:
        self.__post_init__()


def _refuse_wrong(self: Any, values: tuple[Any, ...], named: dict[str, Any]) -> None:
    """Raise `TypeError` unless each field was given once, or has a default."""
    who, positional = type(self).__name__, self._positional
    if len(values) > len(positional):
        raise TypeError(f"{who}: {len(values)} values for {len(positional)} fields")
    for name in named:
        if name in positional[: len(values)]:
            raise TypeError(f"{who}: two values for {name}")
        if name not in self._declared:
            raise TypeError(f"{who} has no field {name}")
    for name in self._declared:
        if name not in self.__dict__:
            raise TypeError(f"{who}: {name} is missing")


def _of_records(value: Any) -> Any:
    """Return a value with dicts in the place of records, as the standard `asdict`; no copies."""
    if hasattr(type(value), "_declared"):
        return {name: _of_records(value.__dict__[name]) for name in value._declared}
    if isinstance(value, dict):
        return {_of_records(name): _of_records(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        items = [_of_records(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


def _values(self: Any) -> tuple[Any, ...]:
    return tuple(self.__dict__[name] for name in self._declared)


def _repr(self: Any) -> str:
    shown = [
        f"{name}={self.__dict__[name]!r}" for name, known in self._declared.items() if known.repr
    ]
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _eq(self: Any, other: object) -> bool:
    return _values(self) == _values(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_values(self))


def _setattr(self: Any, name: str, value: object) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delattr(self: Any, name: str) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot delete field {name!r}")


class _Later:
    """What `dataclasses.fields` and `asdict` look for, made when they do."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: Any) -> Any:
        import dataclasses

        declared = owner._declared.items()
        known: dict[str, Any] = {name: dataclasses.field(**vars(value)) for name, value in declared}
        known["__annotations__"] = dict.fromkeys(owner._declared, Any)
        standard: Any = dataclasses.dataclass(**owner._options)(type(owner.__name__, (), known))
        for name in ("__dataclass_fields__", "__dataclass_params__"):
            setattr(owner, name, getattr(standard, name))
        return getattr(standard, self._name)
