"""JSON of any layout: an object a line, one large value, or several values.

Shapes interpret the records (`ragkpi.formats.shapes`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from json import JSONDecoder
from typing import Any

from ragkpi.formats.column_names import Kind
from ragkpi.formats.json_documents import (
    MARK,
    inside_values,
    read_whole,
    refuse_bomb,
    refuse_subset,
    whole_text_of,
)
from ragkpi.formats.json_text import DECODER, QUICK, no_json, text_of
from ragkpi.formats.lines import blocks
from ragkpi.formats.opening import Source
from ragkpi.formats.record_numbers import Record, no_object
from ragkpi.formats.rows import Listed, collect_qrels, stream_listed
from ragkpi.formats.shape import Shape
from ragkpi.formats.shape_choice import LOOKED_AT, choose_shape, likely_shape, object_shape
from ragkpi.formats.shape_reader import ShapeReader
from ragkpi.formats.trec_qrels import QrelsColumns
from ragkpi.formats.trec_runs import RunColumns

_OBJECT = "expected an object with a query and its documents"
_HEAD = 1 << 16
# A longer first line is a whole file of JSON without newlines.
_LONGEST_RECORD = 1 << 24
# Records of one document each that are read together.
_RECORDS_AT_ONCE = 1 << 10


def stream_run(
    source: Source, shape: Shape | None = None, subset: str | None = None
) -> Iterator[RunColumns]:
    """Read a run; without a shape, by the one that fits the first records.

    `subset` names one of several rankings, as in `Shape.records`.
    """
    if _has_lines(source):
        records = _read_lines(_lines_of(source), "run", shape, source.name, subset)
    else:
        records = read_whole(whole_text_of(source), "run", shape, subset)
    yield from stream_listed(source.name, _rows_of(*records))


def read_qrels(source: Source, shape: Shape | None = None) -> QrelsColumns:
    """Read qrels; shapes as in `stream_run`."""
    file = source.name
    if _has_lines(source):
        return collect_qrels(file, _rows_of(*_read_lines(_lines_of(source), "qrels", shape, file)))
    return collect_qrels(file, _rows_of(*read_whole(whole_text_of(source), "qrels", shape)))


def _lines_of(source: Source) -> Iterator[tuple[int, bytes]]:
    return itertools.chain.from_iterable(block.lines() for block in blocks(source))


def _rows_of(reader: ShapeReader, records: Iterator[Record]) -> Iterator[Listed]:
    """Yield the documents of each record."""
    if reader.shape.list:
        for record in records:
            yield reader.listed(record)
        return
    for record in itertools.islice(records, 1):  # its keys speed up the others
        yield reader.listed(record)
    while batch := list(itertools.islice(records, _RECORDS_AT_ONCE)):
        yield from reader.flat(batch)


def _has_lines(source: Source) -> bool:
    """Whether the first of several lines is a whole JSON value."""
    length = _HEAD
    while True:
        head = source.peek(length)
        text = head.removeprefix(MARK).lstrip(b" \t\r\n")
        line, newline, rest = text.partition(b"\n")
        if newline:
            break
        if len(head) < length or length >= _LONGEST_RECORD:
            return False
        length *= 4
    if not rest.strip() and len(head) < length:
        return False
    if line.lstrip().startswith(b"["):
        return False
    try:
        DECODER.decode(text_of(line))
    except (ValueError, RecursionError):
        # A damaged record if it ends like an object; else the beginning of a value of many lines.
        return line.rstrip().endswith(b"}") and rest.lstrip()[:1] in (b"{", b"[")
    return True


def _read_lines(
    lines: Iterator[tuple[int, bytes]],
    kind: Kind,
    shape: Shape | None,
    file: str,
    subset: str | None = None,
) -> tuple[ShapeReader, Iterator[Record]]:
    values = ((line, value) for line, value, _ in _line_values(lines, file))
    reader = None if shape is None else ShapeReader(shape, file)
    ahead: list[tuple[int, Any]] = []

    def first_records() -> Iterator[Any]:
        for line, value in itertools.islice(values, LOOKED_AT):
            ahead.append((line, value))
            if not isinstance(value, dict):
                raise no_object(file, line)
            yield value

    if reader is None:
        reader = choose_shape(kind, first_records(), file)
    if reader is None:
        first = ahead[0][1]
        reader = object_shape(kind, list(first.items()), file)
        reader = reader or likely_shape(kind, first, file)
    refuse_subset(file, reader.shape, subset)
    if not reader.shape.records:
        return reader, _line_records(ahead, lines, file)
    return reader, inside_values(reader.shape, itertools.chain(ahead, values), file, subset)


def _line_records(
    ahead: list[tuple[int, Any]], lines: Iterator[tuple[int, bytes]], file: str
) -> Iterator[Record]:
    for count, (line, value) in enumerate(ahead, start=1):
        yield Record(line, count, value)
    rest = _line_values(lines, file, QUICK)
    for count, (line, value, text) in enumerate(rest, start=len(ahead) + 1):
        yield Record(line, count, value, text=text)


def _line_values(
    lines: Iterable[tuple[int, bytes]], file: str, decoder: JSONDecoder = DECODER
) -> Iterator[tuple[int, Any, str]]:
    """Yield the number, the value and the text of each line that is not blank."""
    for number, line in lines:
        if line.strip():
            refuse_bomb(file, number, line)
            text = text_of(line)
            try:
                value = decoder.decode(text)
            except (ValueError, RecursionError) as problem:
                raise no_json(file, number, problem, _OBJECT) from None
            yield number, value, text
