"""JSON of any layout: an object a line, one document, an array, or values one after the other.

What the records mean is a shape's business (`ragkpi.formats.shapes`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ragkpi.errors import InputError
from ragkpi.formats.blocks import BLOCK_SIZE, Block, BlockReader, lines_from
from ragkpi.formats.json_documents import (
    MARK,
    document_text,
    hold,
    inside_values,
    read_document,
    recognised,
    refuse_bomb,
    refuse_subset,
)
from ragkpi.formats.json_objects import read_objects
from ragkpi.formats.json_patterns import LONGEST_PATTERN, pattern_of
from ragkpi.formats.json_scanner import LikeLines, UnlikeError
from ragkpi.formats.json_text import DECODER, no_json, text_of
from ragkpi.formats.line_scanner import Lines
from ragkpi.formats.opening import Source
from ragkpi.formats.record_numbers import Record, no_object
from ragkpi.formats.rows import Listed, collect_qrels, same_strings, stream_listed
from ragkpi.formats.shape import Kind, Shape
from ragkpi.formats.shape_choice import LOOKED_AT, choose_shape, likely_shape, object_shape
from ragkpi.formats.shape_reader import ShapeReader
from ragkpi.formats.tokens import PADDING, Tokens
from ragkpi.formats.trec_qrels import QrelsColumns, parse_numbers
from ragkpi.formats.trec_runs import ColumnOrder, RunColumns, held_columns
from ragkpi.formats.trec_runs import stream_run as stream_rows

# The paths of a shape {query: {document: score}}, whatever its name.
_OBJECTS = ("$", "@key", "@value", "@key", "@value")
_OBJECT = "expected an object with a query and its documents"
_HEAD = 1 << 16
# A first line longer than this is a document that stands in one line.
_LONGEST_RECORD = 1 << 26
# Lines that are tried as the pattern of all of them.
_LINES_TRIED = 20
# Records of one document each that are read together.
_RECORDS_AT_ONCE = 1 << 10


def stream_run(
    source: Source, shape: Shape | None = None, subset: str | None = None, hold: bool = False
) -> Iterator[RunColumns]:
    """Read a run; without a shape, the one that fits the first records.

    `subset` is which of several rankings is read, as `Shape.records` has them. Blocks stay valid
    together only with `hold`.
    """
    if not _has_lines(source):
        yield from _stream_document(source, shape, subset)
        return
    size = BLOCK_SIZE if not hold or source.size is None else source.size + 1
    reader = BlockReader(source, size)
    block = reader.read_all() if hold else reader.read()
    alike = None
    if block is not None and subset is None:
        alike = _layout(block, shape, source.name, "run")
    known: ShapeReader | None = None
    if alike is not None and block is not None:
        layout, reader_before = alike
        try:
            if hold:
                yield from _hold_alike(layout, block)
            else:
                yield from _stream_alike(source, layout, reader, block)
            return
        except UnlikeError as unlike:
            if not hold:
                block = unlike.block
                known = reader_before if block.first_line > 1 else None  # it read those before
    lines = lines_from(reader, block)
    number = 1 if block is None else block.first_line  # each line before it was a record
    records = _read_lines(lines, "run", shape, source.name, number, known, subset)
    yield from stream_listed(source.name, _rows_of(*records))


hold_run = partial(stream_run, hold=True)


def _stream_document(
    source: Source, shape: Shape | None, subset: str | None
) -> Iterator[RunColumns]:
    """Read a document: an object of queries by its quotes, as far as that goes, then the rest."""
    file, octets = source.name, hold(source, PADDING)
    start = PADDING + (len(MARK) if octets.startswith(MARK, PADDING) else 0)
    end = len(octets) - PADDING

    def fits(beginning: bytes) -> bool:
        nonlocal shape
        if subset is not None:
            return False
        known = shape or recognised(document_text(file, beginning), "run").shape
        if (known.records, known.query, known.list, known.doc, known.score) != _OBJECTS:
            return False
        shape = known
        return True

    buffer = np.frombuffer(octets, dtype=np.uint8)
    queries: set[str] = set()
    used = yield from read_objects(file, buffer, start, end, fits, queries)
    if used == start or used < end:
        text = document_text(file, bytes(octets[PADDING:end]), used - start, queries)
        yield from stream_listed(file, _rows_of(*read_document(text, "run", shape, subset)))


def _stream_alike(
    source: Source, layout: ColumnOrder, reader: BlockReader, block: Block
) -> Iterator[RunColumns]:
    """Read lines that look alike; `UnlikeError` with the first block that is not so."""
    seen = block

    def scan_block(next_block: Block) -> Lines:
        nonlocal seen
        seen = next_block
        return layout.scan(next_block)

    try:
        yield from stream_rows(
            source, layout=layout._replace(scan=scan_block), reader=reader, block=block
        )
    except InputError:  # the decoder says best what is wrong
        raise UnlikeError(seen) from None


def _hold_alike(layout: ColumnOrder, block: Block) -> list[RunColumns]:
    try:
        return list(held_columns(block, layout))
    except InputError:
        raise UnlikeError(block) from None


def _layout(
    block: Block, shape: Shape | None, file: str, kind: Kind
) -> tuple[ColumnOrder, ShapeReader] | None:
    """Return where the columns of lines stand that look like one of the first; what reads it."""
    text = block.buffer[block.start : block.end]
    for line in text[:LONGEST_PATTERN].tobytes().split(b"\n", _LINES_TRIED)[:-1]:
        try:
            value = DECODER.decode(text_of(line))
            if type(value) is not dict:
                return None
            reader = ShapeReader(shape, file) if shape else choose_shape(kind, [value], file)
            if reader is None:
                return None
            reader.listed(Record(1, 1, value))
            keys = reader.keys_of(value)
        except (ValueError, RecursionError, InputError):
            return None
        pattern = pattern_of(line, keys) if keys is not None else None
        if pattern is not None:
            return LikeLines(pattern).layout, reader
    return None


def read_qrels(source: Source, shape: Shape | None = None) -> QrelsColumns:
    """Read qrels, as `stream_run` reads a run."""
    file = source.name
    if not _has_lines(source):
        text = document_text(file, bytes(hold(source)))
        return collect_qrels(file, _rows_of(*read_document(text, "qrels", shape)))
    reader = BlockReader(source, BLOCK_SIZE if source.size is None else source.size + 1)
    block = reader.read()
    alike = _layout(block, shape, file, "qrels") if block is not None else None
    if alike is not None and block is not None:
        while not block.last:
            block = reader.read(keep_from=block.start) or block
        columns = _qrels_alike(alike[0], block)
        if columns is not None:
            return columns
    lines = lines_from(reader, block)
    return collect_qrels(file, _rows_of(*_read_lines(lines, "qrels", shape, file)))


def _qrels_alike(layout: ColumnOrder, block: Block) -> QrelsColumns | None:
    """Read lines of judgements that look alike; None if one does not, or is wrong."""
    try:
        tables = [layout.scan(part) for part in block.split(BLOCK_SIZE)]
        line = np.concatenate([table.line for table in tables])
        query, document, level_text = (
            Tokens.joined([table.column(number) for table in tables]) for number in range(3)
        )
        level, gain = parse_numbers(block.file, level_text, line, truth=True)
    except (UnlikeError, InputError):
        return None
    empty = any((ids.start == ids.end).any() for ids in (query, document))
    if empty or np.isnan(layout.numbers(level_text)).any():
        return None
    iteration = same_strings(b"0", len(line))
    return QrelsColumns(block.file, query, iteration, document, level, line, gain)


def _rows_of(reader: ShapeReader, records: Iterator[Record]) -> Iterator[Listed]:
    """Interpret record after record."""
    if reader.shape.list:
        for record in records:
            yield reader.listed(record)
        return
    for record in itertools.islice(records, 1):  # from which the keys are known
        yield reader.listed(record)
    while batch := list(itertools.islice(records, _RECORDS_AT_ONCE)):
        yield from reader.flat(batch)


def _has_lines(source: Source) -> bool:
    """Say whether the first of several lines is a whole value."""
    length = _HEAD
    while True:
        head = source.peek(length)
        text = head.removeprefix(MARK).lstrip(b" \t\r\n")
        line, newline, rest = text.partition(b"\n")
        if newline:
            break
        if len(head) < length or length > _LONGEST_RECORD:
            return False
        if source.size is not None and not _has_newline(source, length):
            return False
        length *= 4
    if not rest.strip() and len(head) < length:
        return False
    if line.lstrip().startswith(b"["):
        return False
    try:
        DECODER.decode(text_of(line))
    except (ValueError, RecursionError):
        # A damaged record rather than the beginning of a document: it ends as an object does.
        return line.rstrip().endswith(b"}") and rest.lstrip()[:1] in (b"{", b"[")
    return True


def _has_newline(source: Source, offset: int) -> bool:
    """Look for a newline in a plain file, from an offset on, without holding what is before it."""
    while piece := source.look_at(offset, _HEAD):
        if b"\n" in piece:
            return True
        offset += len(piece)
    return False


def _read_lines(
    lines: Iterator[tuple[int, bytes]],
    kind: Kind,
    shape: Shape | None,
    file: str,
    number: int = 1,
    reader: ShapeReader | None = None,
    subset: str | None = None,
) -> tuple[ShapeReader, Iterator[Record]]:
    values = _line_values(lines, file)
    if reader is None and shape is not None:
        reader = ShapeReader(shape, file)
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
    all_values = itertools.chain(ahead, values)
    if not reader.shape.records:
        numbered = enumerate(all_values, start=number)
        return reader, (Record(line, number, value) for number, (line, value) in numbered)
    return reader, inside_values(reader.shape, all_values, file, subset)


def _line_values(lines: Iterable[tuple[int, bytes]], file: str) -> Iterator[tuple[int, Any]]:
    for number, line in lines:
        if line.strip():
            refuse_bomb(file, number, line)
            try:
                yield number, DECODER.decode(text_of(line))
            except (ValueError, RecursionError) as problem:
                raise no_json(file, number, problem, _OBJECT) from None
