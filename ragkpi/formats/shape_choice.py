"""Which shape a file has, by its first records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ragkpi.formats.column_names import RECORD_KEYS, RECORDS_INSIDE, plain_name
from ragkpi.formats.paths import KeyTwiceError, Path, is_scalar
from ragkpi.formats.shape import Kind, Shape
from ragkpi.formats.shape_reader import ShapeReader
from ragkpi.formats.shapes import SHAPES

# Records that are looked at to recognise a shape.
LOOKED_AT = 100


def choose_shape(kind: Kind, records: Iterable[Any], file: str) -> ShapeReader | None:
    """Return the first shape of single records that fits one of some; None if none does."""
    readers = [ShapeReader(shape, file) for shape in SHAPES[kind].values() if not shape.records]
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
    """Return the shape whose messages explain best why no shape fits a record."""
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
    """Say whether an object has the keys of a record, rather than ids of queries.

    A query may be called ``qid`` or ``docid``, if what stands under it is an object of documents
    and numbers: a record has an id there. Under a record's ``query`` may stand another record.
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
    """Return the shape of an object of queries that fits its first values."""
    if is_record(entries):
        return None
    for shape in SHAPES[kind].values():
        if shape.records == "$":
            reader = ShapeReader(shape, file)
            fits = [reader.fits(value, key) for key, value in entries[:LOOKED_AT]]
            if "yes" in fits or (fits and set(fits) == {"empty"}):
                return reader
    return None
