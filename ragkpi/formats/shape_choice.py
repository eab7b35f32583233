"""Choose the shape of a file by its first records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ragkpi.formats.column_names import RECORD_KEYS, RECORDS_INSIDE, Kind, plain_name
from ragkpi.formats.paths import KeyTwiceError, Path, is_scalar
from ragkpi.formats.shape import Shape
from ragkpi.formats.shape_reader import ShapeReader
from ragkpi.formats.shapes import SHAPES, most_specific_first

# Records that a shape is recognised by.
LOOKED_AT = 100


def choose_shape(kind: Kind, records: Iterable[Any], file: str) -> ShapeReader | None:
    """Return the most specific shape that fits the first record that any shape fits, or None.

    Where all lists of documents are empty, it is the most specific shape with such a list.
    """
    shapes = [shape for shape in most_specific_first(kind) if not shape.records]
    readers = [ShapeReader(shape, file) for shape in shapes]
    empty: ShapeReader | None = None
    for record in records:
        for reader in readers:
            fit = reader.fits(record)
            if fit == "yes":
                return reader
            if fit == "empty":
                empty = empty or reader
    return empty


def likely_shape(kind: Kind, record: Any, file: str) -> ShapeReader:
    """Return the shape whose messages explain best why a record has no shape."""
    shapes: Mapping[str, Shape] = SHAPES[kind]
    has_list = isinstance(record, dict) and any(
        isinstance(value, list | dict) for value in record.values()
    )
    if kind == "qrels" and not has_list:
        return ShapeReader(shapes["flat"], file)
    if kind == "run" and isinstance(record, dict) and not has_list:
        try:
            if Path("<document>").scalar(record) is not None:
                return ShapeReader(shapes["flat"], file)
        except KeyTwiceError:
            return ShapeReader(shapes["flat"], file)
    return ShapeReader(shapes["lists"], file)


def is_record(entries: list[tuple[Any, Any]]) -> bool:
    """Whether an object has the keys of a record, rather than ids of queries.

    The id of a query may be ``qid`` or ``docid``, if its value is an object of documents and
    numbers, while a record has an id there. A record's ``query`` may be another record.
    """
    return any(
        plain_name(str(key)) in RECORD_KEYS
        and not (
            isinstance(value, dict)
            and all(is_scalar(number) for number in value.values())
            and not (
                plain_name(str(key)) in RECORDS_INSIDE
                and any(plain_name(inner) in RECORD_KEYS for inner in value)
            )
        )
        for key, value in entries
    )


def object_shape(kind: Kind, entries: list[tuple[Any, Any]], file: str) -> ShapeReader | None:
    """Return the most specific shape of objects of queries that fits the first values, or None."""
    if is_record(entries):
        return None
    for shape in most_specific_first(kind):
        if shape.records == "$":
            reader = ShapeReader(shape, file)
            fits = [reader.fits(value, key) for key, value in entries[:LOOKED_AT]]
            if "yes" in fits or (fits and set(fits) == {"empty"}):
                return reader
    return None
