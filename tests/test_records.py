"""`ragkpi.records` does what `dataclasses` does."""

import copy
import dataclasses
import pickle
import typing

import pytest

from ragkpi import records


def classes(module):
    @module.dataclass(frozen=True)
    class Frozen:
        a: int
        b: str = "b"
        c: list = module.field(default_factory=list, repr=False)
        d: float = module.field(default=0.5, kw_only=True)
        e: int = module.field(kw_only=True)

        def __post_init__(self):
            if self.a < 0:
                raise ValueError("below 0")

    @module.dataclass(frozen=True)
    class Derived(Frozen):
        f: int = 7
        b: str = "other"

    @module.dataclass()
    class Open:
        a: int
        b: int = 2

    @module.dataclass(eq=False, repr=False)
    class Identical:
        a: int = 1

    return {one.__name__: one for one in (Frozen, Derived, Open, Identical)}


STANDARD, OURS = classes(dataclasses), classes(records)

CALLS = [
    ("Frozen", (1,), {"e": 3}),
    ("Frozen", (1, "x", (1, 2)), {"e": 3, "d": 1.0}),
    ("Frozen", (), {"a": 1, "e": 2, "b": "y", "c": ()}),
    ("Frozen", (1,), {}),
    ("Frozen", (), {"e": 1}),
    ("Frozen", (1, "x", [], 0.5), {"e": 3}),
    ("Frozen", (1,), {"a": 1, "e": 3}),
    ("Frozen", (1,), {"e": 3, "nosuch": 1}),
    ("Frozen", (-1,), {"e": 3}),
    ("Derived", (1, "x"), {"e": 3}),
    ("Derived", (1, "x", [], 9), {"e": 3}),
    ("Open", (1,), {}),
    ("Open", (1, 2, 3), {}),
    ("Identical", (), {}),
    ("Identical", (5,), {}),
]


def made(of, name, values, named):
    try:
        return of[name](*values, **named)
    except (TypeError, ValueError) as problem:
        return type(problem)


def facts(module, record):
    """All that can be asked of a record."""
    if isinstance(record, type):
        return record
    kept = {}
    for name in ("a", "new"):
        try:
            setattr(copy.copy(record), name, 9)
            kept[name] = "set"
        except dataclasses.FrozenInstanceError:
            kept[name] = "frozen"
    try:
        hashed = isinstance(hash(record), int)
    except TypeError:
        hashed = "no hash"
    return {
        "text": repr(record).partition("Identical object")[0].replace("classes.<locals>.", ""),
        "values": dataclasses.asdict(record),
        "names": [field.name for field in dataclasses.fields(record)],
        "match": type(record).__match_args__,
        "equal": (copy.copy(record) == record, record == (1,), record != 1),
        "hash": hashed,
        "kept": kept,
        "replaced": vars(module.replace(record, a=4)),
        "by the standard": vars(dataclasses.replace(record, a=4)),
        "class": {name: getattr(type(record), name, "none") for name in "abcdef"},
    }


@pytest.mark.parametrize(("name", "values", "named"), CALLS)
def test_both_do_the_same(name, values, named):
    ours = facts(records, made(OURS, name, values, named))
    assert ours == facts(dataclasses, made(STANDARD, name, values, named))


def test_values_by_name():
    def nested(module, pair):
        @module.dataclass(frozen=True)
        class Inner:
            x: int

        @module.dataclass(frozen=True)
        class Outer:
            inner: Inner
            several: list
            named: dict
            pair: tuple

        inner = Inner(1)
        return module.asdict(Outer(inner, [inner, (inner, 2)], {"k": inner}, pair(1, inner)))

    for pair in (PAIRS["Pair"], TUPLES["Pair"]):
        ours = nested(records, pair)
        assert ours == nested(dataclasses, pair)
        assert type(ours["pair"]) is pair


def test_a_standard_one_may_inherit():
    @dataclasses.dataclass(frozen=True)
    class Further(OURS["Frozen"]):
        g: int = 1

    assert dataclasses.asdict(Further(1, e=2)) == {
        "a": 1,
        "b": "b",
        "c": [],
        "d": 0.5,
        "e": 2,
        "g": 1,
    }


def test_records_go_to_other_processes():
    from ragkpi.ranking.settings import Settings

    settings = Settings(relevance_level=3)
    assert pickle.loads(pickle.dumps(settings)) == settings
    assert records.replace(settings, relevance_level=1) == Settings()


def tuples(base):
    class Pair(base):
        """Two values."""

        first: int
        second: str = "b"
        third: float | None = None

        @property
        def both(self):
            return f"{self.first} {self.second}"

    class Single(base):
        only: list

    return {"Pair": Pair, "Single": Single}


PAIRS, TUPLES = tuples(typing.NamedTuple), tuples(records.NamedTuple)


def tuple_facts(record):
    """All that can be asked of a tuple with names."""
    if isinstance(record, type):
        return record
    kind = type(record)
    name = kind._fields[0]
    refused = {}
    for attribute in (name, "new"):
        with pytest.raises(AttributeError):
            setattr(record, attribute, 9)
        refused[attribute] = hasattr(record, attribute)
    match record:
        case kind(first):
            matched = first
    return {
        "text": repr(record),
        "values": (tuple(record), record[0], getattr(record, name), matched, len(record)),
        "names": (kind._fields, kind._field_defaults, record._asdict()),
        "equal": (record == tuple(record), copy.copy(record) == record),
        "hash": hash(record) == hash(tuple(record)) if name == "first" else None,
        "refused": refused,
        "replaced": tuple(record._replace(**{name: 4})),
        "more": getattr(record, "both", None),
        "doc": kind.__doc__ if name == "first" else None,
        "dict": hasattr(record, "__dict__"),
    }


@pytest.mark.parametrize(
    ("name", "values", "named"),
    [
        ("Pair", (1,), {}),
        ("Pair", (1, "x"), {}),
        ("Pair", (1, "x", 2.0), {}),
        ("Pair", (1,), {"third": 2.0}),
        ("Pair", (), {"second": "x", "first": 1}),
        ("Pair", (), {}),
        ("Pair", (), {"second": "x"}),
        ("Pair", (1,), {"first": 1}),
        ("Pair", (1, "x", 2.0), {"third": 1.0}),
        ("Pair", (1, "x", 2.0, 3), {}),
        ("Pair", (1,), {"nosuch": 1}),
        ("Single", ([1],), {}),
        ("Single", (), {}),
    ],
)
def test_tuples_do_the_same(name, values, named):
    ours, standard = (made(of, name, values, named) for of in (TUPLES, PAIRS))
    assert tuple_facts(ours) == tuple_facts(standard)


def test_tuples_go_to_other_processes():
    from ragkpi.ranking.hits import Wanted

    wanted = Wanted("counted", depth=7)
    again = pickle.loads(pickle.dumps(wanted))
    assert again == wanted
    assert type(again) is Wanted
    assert pickle.loads(pickle.dumps(wanted, 0)) == wanted
