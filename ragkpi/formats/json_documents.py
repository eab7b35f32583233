"""JSON that is held as a whole: one value, or values one after the other, and their records."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ragkpi.errors import InputError, SeparateRankingsError
from ragkpi.formats.column_names import Kind, shown_names
from ragkpi.formats.json_text import (
    QUICK,
    JsonText,
    Way,
    has_more_keys,
    key_twice,
    rest_behind,
    text_of,
)
from ragkpi.formats.opening import MOST_HELD, Source, too_large
from ragkpi.formats.paths import Repeated, entries_of
from ragkpi.formats.record_numbers import Record, no_object
from ragkpi.formats.shape import Shape
from ragkpi.formats.shape_choice import (
    LOOKED_AT,
    choose_shape,
    is_record,
    likely_shape,
    object_shape,
)
from ragkpi.formats.shape_reader import ShapeReader
from ragkpi.formats.shapes import SHAPES, most_specific_first
from ragkpi.interface import option
from ragkpi.wording import listed, named, shown

_WHOLE = 'expected {"query": {"document": number, …}, …} or an array of results'
MARK = b"\xef\xbb\xbf"
# Keys of an object that a shape is recognised by.
_MOST_KEYS = 40
_MOST_SUBSETS = 20  # in a message
_PIECE = 1 << 20
# A run has more bytes per value, even {"1":1,"2":1}; a smaller file does not fill the memory.
_SHORTEST_VALUE = 5
SMALLEST_BOMB = 1 << 24
_COST = 100  # bytes of memory per decoded value
# A string, which may be a key.
_KEY = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?', re.DOTALL)


def read_whole(
    text: JsonText, kind: Kind, shape: Shape | None, subset: str | None = None
) -> tuple[ShapeReader, Iterator[Record]]:
    """Return the reader of a text of JSON, and its records; without a shape, by one that fits."""
    reader = _recognised(text, kind) if shape is None else ShapeReader(shape, text.file)
    return reader, _records(text, reader.shape, subset)


def _recognised(text: JsonText, kind: Kind) -> ShapeReader:
    """Choose the reader of a text of JSON, by its first records or keys."""
    probe = text.copy()
    if probe.next() == "[":
        records = [value for _, _, value, _ in itertools.islice(probe.entries(), LOOKED_AT)]
        reader = choose_shape(kind, records, text.file)
        return reader or likely_shape(kind, records[0] if records else None, text.file)
    keys = text.copy().some_keys(_MOST_KEYS)
    for shape in most_specific_first(kind):
        if shape.records and shape.needs and set(shape.needs) <= set(keys):
            return ShapeReader(shape, text.file)
    first = None
    if len(keys) < _MOST_KEYS:
        first = probe.value()
        reader = choose_shape(kind, [first], text.file)
        if reader is not None:
            return reader
        entries = list(first.items()) if isinstance(first, dict) else []
    else:
        entries = [(key, value) for _, key, value, _ in itertools.islice(probe.entries(), 1)]
    reader = object_shape(kind, entries, text.file)
    if reader is not None:
        return reader
    # No shape fits. Choose the one whose messages explain best what is wrong.
    queries = not entries or (isinstance(entries[0][1], dict) and not is_record(entries))
    if queries:
        return ShapeReader(SHAPES[kind]["object"], text.file)
    return likely_shape(kind, first, text.file)


def _records(text: JsonText, shape: Shape, subset: str | None) -> Iterator[Record]:
    steps, number = _steps(shape), 0
    text.decoder = QUICK
    refuse_subset(text.file, shape, subset)
    while text.next():
        if shape.records:
            keys: Sequence[str] = steps
            if len(steps) > 1 or "*" in steps:
                ways = text.ways(steps, shape.needs)
                keys = _chosen(text.file, shape, ways, subset)
            entries = text.inside(keys)
        elif text.next() == "[":
            entries = text.entries()
        else:
            entries = text.single()
        for line, key, value, (start, end) in entries:
            number += 1
            record = Record(line, number, value, key, text=text.text[start:end])
            if shape.doc == "@key" and "\n" in record.text and isinstance(value, dict):
                if has_more_keys(record.text, len(value)):
                    record = record.exactly(text.file)
                count = len(entries_of(record.value))
                lines = _lines_of_keys(text.text, line, start, end, count)
                record = record._replace(lines=lines)
            yield record


def _lines_of_keys(text: str, line: int, start: int, end: int, count: int) -> list[int]:
    """Return the physical lines of the first `count` keys of the flat object at ``start:end``."""
    lines = []
    for match in _KEY.finditer(text, start, end):
        if match[1]:
            line += text.count("\n", start, match.start())
            start = match.start()
            lines.append(line)
    return lines[:count]


def inside_values(
    shape: Shape, values: Iterable[tuple[int, Any]], file: str, subset: str | None = None
) -> Iterator[Record]:
    """Yield the records inside decoded values."""
    steps = _steps(shape)
    number = 0
    for line, value in values:
        keys = _chosen(file, shape, list(_ways(value, steps, shape.needs)), subset, line)
        for key, record in _descend(value, keys, file, line):
            number += 1
            yield Record(line, number, record, key)


def _ways(value: Any, steps: Sequence[str], besides: Sequence[str] = ()) -> Iterator[Way]:
    """Yield the ways to the records in a decoded value, as `JsonText.ways`."""
    if not steps:
        yield Way()
    elif isinstance(value, dict):
        for key, inner in value.items():
            rest = rest_behind(key, steps, besides)
            for way in () if rest is None else _ways(inner, rest):
                yield way.under(key, steps)


def _descend(
    value: Any, keys: Sequence[str], file: str, line: int
) -> Iterator[tuple[str | None, Any]]:
    if isinstance(value, Repeated):
        raise key_twice(file, line, value.twice())
    if not isinstance(value, dict | list):
        raise no_object(file, line)
    if not keys:
        yield from entries_of(value)
    elif isinstance(value, dict) and keys[0] in value:
        yield from _descend(value[keys[0]], keys[1:], file, line)
    else:
        found = f"no key {keys[0]} (keys: {shown_names(str(key) for key, _ in entries_of(value))})"
        raise InputError(file, line, found, "expected the records there")


def refuse_subset(file: str, shape: Shape, subset: str | None) -> None:
    """Raise `InputError` for a subset of a file whose shape has none."""
    if subset is not None and "*" not in _steps(shape):
        raise no_subsets(file, subset)


def no_subsets(file: str, subset: str) -> InputError:
    """Return the error for a subset of a file with one ranking of each query."""
    found = f"no subset {shown(subset)} (subsets: none)"
    return InputError(file, None, found, f"expected no {option('subset')} here")


def _chosen(
    file: str, shape: Shape, ways: Sequence[Way], subset: str | None, line: int | None = None
) -> Sequence[str]:
    """Return the keys to the records of the one subset, or of the one with this name.

    Raises `SeparateRankingsError` for several such subsets, and `InputError` for none.
    """
    if not ways:
        return _steps(shape)  # the reader refuses the file: it lacks these keys
    by_name = {"/".join(way.subset or way.keys): way.keys for way in ways}
    left = [
        name
        for name in by_name
        if subset is None or name == subset or name.startswith(f"{subset}/")
    ]
    if len(left) == 1:
        return by_name[left[0]]
    names = [name.encode("utf-8", "surrogatepass") for name in left or by_name]
    some = listed(names, _MOST_SUBSETS)
    if not left:
        no_such = f"no subset {shown(subset or '')}"
        raise InputError(file, line, f"{no_such} (subsets: {some})", "expected one of these")
    choice = (
        f"{option('subset')} {named(names[0])}" if shape.kind == "run" else "its keys in records=…"
    )
    raise SeparateRankingsError(
        file,
        line,
        f"{len(left)} separate rankings of the queries ({some})",
        f"expected one of them, such as {choice}",
        "subsets",
    )


def _steps(shape: Shape) -> list[str]:
    return shape.records.removeprefix("$").strip(".").split(".") if shape.records != "$" else []


def whole_text_of(source: Source) -> JsonText:
    """Read the rest of a source as a text of JSON; `InputError` if it is empty."""
    octets = _hold(source).removeprefix(MARK)
    if not octets.strip():
        raise InputError(source.name, None, "is empty", _WHOLE)
    refuse_bomb(source.name, None, octets)
    return JsonText(source.name, text_of(octets), _WHOLE)


def _hold(source: Source) -> bytes:
    """Read the rest of a source; `InputError` if it is too large to be held."""
    octets = bytearray()
    piece = memoryview(bytearray(_PIECE))
    while count := source.fill(piece):
        octets += piece[:count]
        if len(octets) > MOST_HELD:
            raise too_large(source.name, "expected a format of lines")
    return bytes(octets)


def refuse_bomb(file: str, line: int | None, text: bytes) -> None:
    """Raise `InputError` for so many tiny values that decoding them would fill the memory."""
    if len(text) < SMALLEST_BOMB:
        return
    values = sum(text.count(mark) for mark in (b",", b"[", b"{"))
    if values * _SHORTEST_VALUE > len(text) and values * _COST > MOST_HELD:
        found = f"{values:,} values in {len(text) >> 20} MB, which would fill the memory"
        raise InputError(file, line, found, "expected ids and numbers")
