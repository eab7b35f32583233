"""`ragkpi.records` does what `dataclasses` does."""

import copy
import dataclasses
import pickle

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
