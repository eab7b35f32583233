"""JSON and JSON Lines: find the records of a file, which its shape (`ragkpi.files.shapes`) reads.

JSON Lines are read as a stream; any other JSON is read into memory as a whole.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from ragkpi.errors import InputError
from ragkpi.files import column_names as fields
from ragkpi.files.dumps import LOOKED_AT, TABLE, Root, recognise, table_rows
from ragkpi.files.json_text import (
    DECODER,
    JsonText,
    no_json,
    text_of,
)
from ragkpi.files.lines import Block, blocks
from ragkpi.files.opening import BYTE_ORDER_MARK, MOST_HELD, Kind, Source
from ragkpi.files.paths import is_scalar
from ragkpi.files.shape_reader import (
    DocumentColumns,
    Record,
    Records,
    ShapeReader,
    collect_qrels,
    no_object,
    shape_for,
    stream_documents,
)
from ragkpi.files.shapes import Shape
from ragkpi.files.trec import QrelsColumns, RunColumns

_WHOLE = 'expected {"query": {"document": number, …}, …} or an array of results'
# A run has more bytes per value, even {"1":1,"2":1}, and a smaller file cannot fill memory.
_SHORTEST_VALUE = 5
SMALLEST_BOMB = 1 << 24
_COST = 100  # bytes of memory per decoded value


def _read_whole(source: Source, kind: Kind, shape: Shape | None) -> Iterator[DocumentColumns]:
    """Read the records of a JSON text; without a shape, use one that fits the first ones."""
    text = _whole_text(source)
    if shape is None or shape.partial_map is not None:
        root: Root = "$" if text.next() == "{" else "$[]"
        if root == "$[]" and text.next() != "[":
            raise no_object(text.file, 1)
        some = list(itertools.islice(JsonText(text.file, text.text, _WHOLE).entries(), LOOKED_AT))
        records = [value for _, value, _ in some]
        records = [{key: value for _, value, key in some}] if root == "$" else records
        find = partial(recognise, records, kind, root=root)
        shape = shape_for(kind, text.file, shape, find)
    return ShapeReader(shape, text.file).read(_records([text], shape))


def _records(texts: Iterable[JsonText], shape: Shape) -> Iterator[Record]:
    """Yield the records of all values in some texts."""
    steps = [step for step in shape.records.removeprefix("$").split(".") if step]
    of_table = steps[-1:] == [TABLE]
    for text in texts:
        while bracket := text.next():
            for _ in text.under(steps[:-1] if of_table else steps):
                if of_table:
                    line, value, _ = text.entry()
                    if (rows := table_rows(value)) is None:
                        expected = "expected columns and rows of the same width"
                        raise InputError(text.file, line, "not a table", expected)
                    yield from (Record(line, row) for row in rows)
                elif shape.records or bracket == "[":
                    yield from itertools.starmap(Record, text.entries())
                else:
                    yield Record(*text.entry())
            if text.of_line:
                text.end()


def _whole_text(source: Source, expected: str = _WHOLE) -> JsonText:
    """Read the rest of a source as a JSON text; `InputError` if it is empty or too large."""
    octets = source.whole("expected a format of lines")
    if not octets.strip():
        raise InputError(source.name, None, "is empty", expected)
    refuse_bomb(source.name, None, octets)
    return JsonText(source.name, text_of(octets), expected)


def refuse_bomb(file: str, line: int | None, text: bytes | bytearray) -> None:
    """Raise `InputError` if decoding many tiny values would fill memory."""
    if len(text) < SMALLEST_BOMB:
        return
    values = sum(text.count(mark) for mark in (b",", b"[", b"{"))
    if values * _SHORTEST_VALUE > len(text) and values * _COST > MOST_HELD:
        fault = f"{values:,} values in {len(text) >> 20} MB, too many for memory"
        raise InputError(file, line, fault, "expected ids and numbers")


_OBJECT = "expected an object with a query and its documents"
_RECORDS = "expected an object a line, or an array of objects"
_HEAD = 1 << 16
# A longer first line means a JSON file without newlines.
_LONGEST_RECORD = 1 << 24


def stream_run(source: Source, shape: Shape | None = None) -> Iterator[RunColumns]:
    """Read a run; without a shape, use the shape that fits the first records."""
    yield from stream_documents(source.name, _document_columns(source, "run", shape))


def read_qrels(source: Source, shape: Shape | None = None) -> QrelsColumns:
    """Read qrels; shapes as in `stream_run`."""
    return collect_qrels(source.name, _document_columns(source, "qrels", shape))


def _document_columns(source: Source, kind: Kind, shape: Shape | None) -> Iterator[DocumentColumns]:
    """Yield the documents of each record."""
    read = _read_lines if _has_lines(source) else _read_whole
    yield from read(source, kind, shape)


def _has_lines(source: Source) -> bool:
    """Whether the first of several lines is a whole JSON value."""
    length = _HEAD
    while True:
        head = source.peek(length)
        text = head.removeprefix(BYTE_ORDER_MARK).lstrip(b" \t\r\n")
        line, newline, rest = text.partition(b"\n")
        if newline:
            break
        if len(head) < length or length >= _LONGEST_RECORD:
            return False
        length *= 4
    if not rest.strip() and len(head) < length:
        return False
    try:
        value = DECODER.decode(text_of(line))
    except (ValueError, RecursionError):
        # A line that ends like an object is a damaged record; else a value spans several lines.
        return line.rstrip().endswith(b"}") and rest.lstrip()[:1] in (b"{", b"[")
    # An array of records is a page of them; one that begins with an id is a record.
    return not isinstance(value, list) or (len(value) > 1 and is_scalar(value[0]))


def _read_lines(source: Source, kind: Kind, shape: Shape | None) -> Iterator[DocumentColumns]:
    """Read the records of JSON Lines; without a shape, use one that fits."""
    file, texts = source.name, blocks(source)
    ahead: list[Block] = []

    def first_records() -> Iterator[Any]:
        for block in texts:
            ahead.append(block)
            for line, text in _lines_of(block):
                value = _value_of(file, line, text)
                if not isinstance(value, dict | list):
                    raise no_object(file, line)
                yield value

    if shape is None or shape.partial_map is not None:
        records = list(itertools.islice(first_records(), LOOKED_AT))
        shape = shape_for(kind, file, shape, partial(recognise, records, kind, root="$"))
    reader, texts = ShapeReader(shape, file), itertools.chain(ahead, texts)
    if shape.records:
        lines = itertools.chain.from_iterable(map(_lines_of, texts))
        objects = (JsonText(file, text, _OBJECT, line) for line, text in lines)
        yield from reader.read(_records(objects, shape))
        return
    number = 1
    for numbers, values in _values_of(texts):
        none = [None] * len(values)
        yield from reader.read_together(Records(numbers, values, none, number))
        number += len(values)


def read_objects(source: Source) -> Iterator[tuple[int, Any]]:
    """Yield the line and the value of each record: of lines, of an array, or the one object.

    An object of objects contains a record for each query, its key.
    """
    if _has_lines(source):
        for numbers, values in _values_of(blocks(source), _RECORDS):
            yield from zip(numbers, values, strict=True)
        return
    entries = list(_whole_text(source, _RECORDS).entries())
    if any(key is None or not isinstance(value, dict) for _, value, key in entries):
        of_keys = {key: value for _, value, key in entries if key is not None}
        entries = [(1, of_keys, None)] if of_keys else entries
    for number, value, key in entries:
        yield number, value if key is None else {**value, fields.QUERY[0]: key}


def _lines_of(block: Block) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of each line that is not blank."""
    for number, line in block.lines():
        if line.strip():
            refuse_bomb(block.file, number, line)
            yield number, text_of(line)


def _values_of(
    texts: Iterable[Block], expected: str = _OBJECT
) -> Iterator[tuple[Sequence[int], Sequence[Any]]]:
    """Yield the numbers and the values of lines: of a block at once, or line by line to refuse one.

    A random mark separates the lines, so a value that spans lines contains the mark.
    """
    mark = os.urandom(8).hex()
    for block in texts:
        values: list[Any] = []
        if len(block.text) < SMALLEST_BOMB:
            with suppress(ValueError, RecursionError):
                lines = text_of(block.text[:-1]).replace("\n", f',"{mark}",')
                values = DECODER.decode(f"[{lines}]")
        count = block.text.count(b"\n")
        if len(values) == 2 * count - 1 and values[1::2] == [mark] * (count - 1):
            yield range(block.first_line, block.first_line + count), values[::2]
        else:
            for number, text in _lines_of(block):
                yield [number], [_value_of(block.file, number, text, expected)]


def _value_of(file: str, line: int, text: str, expected: str = _OBJECT) -> Any:
    try:
        return DECODER.decode(text)
    except (ValueError, RecursionError) as problem:
        raise no_json(file, line, problem, expected) from None
