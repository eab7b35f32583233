"""JSON of any layout: an object a line, one document, an array, or values one after the other.

What the records mean is a shape's business (`ragkpi.formats.shapes`).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, BinaryIO

from ragkpi.errors import InputError
from ragkpi.formats.blocks import BLOCK_SIZE, Block, BlockReader, lines_from, read_lines
from ragkpi.formats.column_names import RECORD_KEYS, RECORDS_INSIDE, plain_name, shown_names
from ragkpi.formats.json_scanner import LONGEST_PATTERN, UnlikeError, like
from ragkpi.formats.json_text import DECODER, JsonText, no_json, text_of, written
from ragkpi.formats.line_scanner import Lines
from ragkpi.formats.opening import MOST_HELD, Source
from ragkpi.formats.paths import entries_of, is_scalar
from ragkpi.formats.rows import Ranking, collect_qrels, score_texts, stream_listed
from ragkpi.formats.shape_reader import (
    Record,
    ShapeReader,
    choose_shape,
    likely_shape,
    no_object,
    rows_of,
)
from ragkpi.formats.shapes import SHAPES, Kind, Shape
from ragkpi.formats.trec_qrels import QrelsColumns
from ragkpi.formats.trec_runs import ColumnOrder, RunColumns, held_columns
from ragkpi.formats.trec_runs import stream_run as stream_rows

_DOCUMENT = 'expected {"query": {"document": number, …}, …} or an array of results'
_OBJECT = "expected an object with a query and its documents"
_MARK = b"\xef\xbb\xbf"
# Bytes of ASCII that a string of JSON holds as escapes.
_ESCAPED = bytes(range(32)) + b'"\\'
_HEAD = 1 << 16
# A first line longer than this is a document that stands in one line.
_LONGEST_RECORD = 1 << 26
# Records that are looked at to recognise a shape, and keys of an object that are.
_LOOKED_AT = 100
_MOST_KEYS = 40
# Lines that are tried as the pattern of all of them.
_LINES_TRIED = 20
_PIECE = 1 << 20
# A run has more bytes per value, even {"1":1,"2":1}; of fewer there are not enough for a bomb.
_SHORTEST_VALUE = 5
_SMALLEST_BOMB = 1 << 24
_COST = 100  # bytes of memory that a decoded value needs
# Decoded JSON takes at most about this many times the memory of its text.
_KEY = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?', re.DOTALL)


def stream_run(
    source: Source, shape: Shape | None = None, hold: bool = False
) -> Iterator[RunColumns]:
    """Read a run; without a shape, the one that fits the first records.

    Blocks stay valid together only with `hold`.
    """
    if not _has_lines(source):
        yield from stream_listed(
            source.name, rows_of(*_read_document(_document(source), "run", shape))
        )
        return
    size = BLOCK_SIZE if not hold or source.size is None else source.size + 1
    reader = BlockReader(source, size)
    block = reader.read_all() if hold else reader.read()
    layout = _layout(block, shape, source.name) if block is not None else None
    if layout is not None and block is not None:
        try:
            if hold:
                yield from _hold_alike(layout, block)
            else:
                yield from _stream_alike(source, layout, reader, block)
            return
        except UnlikeError as unlike:
            block = block if hold else unlike.block
    lines = lines_from(reader, block)
    yield from stream_listed(source.name, rows_of(*_read_lines(lines, "run", shape, source.name)))


hold_run = partial(stream_run, hold=True)


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


def _layout(block: Block, shape: Shape | None, file: str) -> ColumnOrder | None:
    """Return where the columns of lines stand that look like one of the first; None if none do."""
    text = block.buffer[block.start : block.end]
    for line in text[:LONGEST_PATTERN].tobytes().split(b"\n")[:-1][:_LINES_TRIED]:
        try:
            value = DECODER.decode(text_of(line))
            if type(value) is not dict:
                return None
            reader = ShapeReader(shape, file) if shape else choose_shape("run", [value], file)
            if reader is None:
                return None
            reader.listed(Record(1, 1, value))
            keys = reader.keys_of(value)
        except (ValueError, RecursionError, InputError):
            return None
        alike = like(line, keys) if keys is not None else None
        if alike is not None and keys is not None:
            place = {name: number for number, name in enumerate(alike.columns)}
            return ColumnOrder(
                alike.scan,
                place[keys.query],
                place[keys.document],
                place[keys.score] if keys.score else None,
                place[keys.rank] if keys.rank else None,
                place[keys.run_id] if keys.run_id else None,
            )
    return None


def read_qrels(source: Source, shape: Shape | None = None) -> QrelsColumns:
    """Read qrels, as `stream_run` reads a run."""
    return collect_qrels(source.name, rows_of(*_read(source, "qrels", shape)))


def hold(source: Source) -> bytes:
    """Read all that is left of a source; `InputError` if that is more than can be held."""
    pieces, size = [], 0
    buffer = bytearray(_PIECE)
    while count := source.fill(memoryview(buffer)):
        pieces.append(bytes(buffer[:count]))
        size += count
        if size > MOST_HELD:
            found = f"more than {MOST_HELD >> 30} GB that have to be held in memory"
            raise InputError(source.name, None, found, "expected a format of lines")
    return b"".join(pieces)


def _read(source: Source, kind: Kind, shape: Shape | None) -> tuple[ShapeReader, Iterator[Record]]:
    if _has_lines(source):
        return _read_lines(read_lines(source), kind, shape, source.name)
    return _read_document(_document(source), kind, shape)


def _document(source: Source) -> JsonText:
    octets = hold(source).removeprefix(_MARK)
    if not octets.strip():
        raise InputError(source.name, None, "is empty", _DOCUMENT)
    _refuse_bomb(source.name, None, octets)
    text = text_of(octets)
    return JsonText(source.name, text, _DOCUMENT)


def _has_lines(source: Source) -> bool:
    """Say whether the first of several lines is a whole value."""
    length = _HEAD
    while True:
        head = source.peek(length)
        text = head.removeprefix(_MARK).lstrip(b" \t\r\n")
        line, newline, rest = text.partition(b"\n")
        if newline:
            break
        if len(head) < length or length > _LONGEST_RECORD:
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


def _read_lines(
    lines: Iterator[tuple[int, bytes]], kind: Kind, shape: Shape | None, file: str
) -> tuple[ShapeReader, Iterator[Record]]:
    values = _line_values(lines, file)
    reader = None if shape is None else ShapeReader(shape, file)
    ahead: list[tuple[int, Any]] = []

    def first_records() -> Iterator[Any]:
        for line, value in itertools.islice(values, _LOOKED_AT):
            ahead.append((line, value))
            if not isinstance(value, dict):
                raise no_object(file, line)
            yield value

    if reader is None:
        reader = choose_shape(kind, first_records(), file)
    if reader is None:
        first = ahead[0][1]
        reader = _object_shape(kind, list(first.items()), file)
        reader = reader or likely_shape(kind, first, file)
    found = itertools.chain(ahead, values)
    if not reader.shape.records:
        return reader, (
            Record(line, number, value) for number, (line, value) in enumerate(found, start=1)
        )
    return reader, _inside_values(reader.shape, found, file)


def _line_values(lines: Iterable[tuple[int, bytes]], file: str) -> Iterator[tuple[int, Any]]:
    for number, line in lines:
        if line.strip():
            _refuse_bomb(file, number, line)
            try:
                yield number, DECODER.decode(text_of(line))
            except (ValueError, RecursionError) as problem:
                raise no_json(file, number, problem, _OBJECT) from None


def _refuse_bomb(file: str, line: int | None, text: bytes) -> None:
    """Raise `InputError` for very many values of hardly a byte, of which each takes a hundred."""
    if len(text) < _SMALLEST_BOMB:
        return
    values = sum(text.count(mark) for mark in (b",", b"[", b"{"))
    if values * _SHORTEST_VALUE > len(text) and values * _COST > MOST_HELD:
        found = f"{values:,} values in {len(text) >> 20} MB, which would fill the memory"
        raise InputError(file, line, found, "expected ids and numbers")


def _inside_values(shape: Shape, values: Iterable[tuple[int, Any]], file: str) -> Iterator[Record]:
    """Yield the records inside values that are decoded already."""
    steps = _steps(shape)
    number = 0
    for line, value in values:
        for key, record in _descend(value, steps, shape.needs, file, line):
            number += 1
            yield Record(line, number, record, key)


def _descend(
    value: Any, steps: list[str], besides: tuple[str, ...], file: str, line: int
) -> Iterator[tuple[str | None, Any]]:
    if not isinstance(value, dict | list):
        raise no_object(file, line)
    if not steps:
        yield from entries_of(value)
        return
    found = False
    for key, inner in entries_of(value):
        if steps[0] == key or (steps[0] == "*" and key not in besides):
            found = True
            yield from _descend(inner, steps[1:], (), file, line)
    if not found:
        raise _no_records(file, line, steps[0], [str(key) for key, _ in entries_of(value)])


def _no_records(file: str, line: int, step: str, keys: list[str]) -> InputError:
    return InputError(
        file, line, f"no key {step} (keys: {shown_names(keys)})", "expected the records there"
    )


def _steps(shape: Shape) -> list[str]:
    return shape.records.removeprefix("$").strip(".").split(".") if shape.records != "$" else []


def _read_document(
    text: JsonText, kind: Kind, shape: Shape | None
) -> tuple[ShapeReader, Iterator[Record]]:
    reader = _recognised(text, kind) if shape is None else ShapeReader(shape, text.file)
    return reader, _document_records(text, reader.shape)


def _recognised(text: JsonText, kind: Kind) -> ShapeReader:
    probe = text.copy()
    if probe.next() == "[":
        records = [value for _, _, value, _ in itertools.islice(probe.entries(), _LOOKED_AT)]
        reader = choose_shape(kind, records, text.file)
        return reader or likely_shape(kind, records[0] if records else None, text.file)
    keys = text.copy().some_keys(_MOST_KEYS)
    for shape in SHAPES[kind].values():
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
    reader = _object_shape(kind, entries, text.file)
    if reader is not None:
        return reader
    # None fits: its messages explain best what is wrong.
    queries = not entries or (isinstance(entries[0][1], dict) and not _is_record(entries))
    if queries:
        return ShapeReader(SHAPES[kind]["object"], text.file)
    return likely_shape(kind, first, text.file)


def _is_record(entries: list[tuple[Any, Any]]) -> bool:
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


def _object_shape(kind: Kind, entries: list[tuple[Any, Any]], file: str) -> ShapeReader | None:
    """Return the shape of an object of queries that fits its first values."""
    if _is_record(entries):
        return None
    for shape in SHAPES[kind].values():
        if shape.records == "$":
            reader = ShapeReader(shape, file)
            fits = [reader.fits(value, key) for key, value in entries[:_LOOKED_AT]]
            if "yes" in fits or (fits and set(fits) == {"empty"}):
                return reader
    return None


def _document_records(text: JsonText, shape: Shape) -> Iterator[Record]:
    steps, number = _steps(shape), 0
    while text.next():
        if shape.records:
            entries = text.inside(steps, shape.needs)
        elif text.next() == "[":
            entries = text.entries()
        else:
            entries = text.single()
        for line, key, value, (start, end) in entries:
            number += 1
            lines: list[int] = []
            if shape.doc == "@key" and "\n" in text.text[start:end] and isinstance(value, dict):
                lines = _lines_of_keys(text.text, line, start, end, len(entries_of(value)))
            yield Record(line, number, value, key, lines)


def _lines_of_keys(text: str, line: int, start: int, end: int, count: int) -> list[int]:
    """Return the physical lines of the keys of a flat object that stands at ``start:end``."""
    lines = []
    for match in _KEY.finditer(text, start, end):
        if match[1]:
            line += text.count("\n", start, match.start())
            start = match.start()
            lines.append(line)
    return lines[:count]


def write_lines(rankings: Iterable[Ranking], run_id: bytes, file: BinaryIO) -> None:
    """Write a line per query: ``{"qid", "run_id", "candidates": [{"docid", "score"}, …]}``."""
    system = written(text_of(run_id))
    for query, documents, scores in rankings:
        candidates = b'}, {"docid": '.join(
            map(b', "score": '.join, zip(_strings(documents), _numbers(scores), strict=True))
        )
        begin = b'{"qid": ' + written(text_of(query)) + b', "run_id": ' + system
        listed = b'[{"docid": ' + candidates + b"}]" if documents else b"[]"
        file.write(begin + b', "candidates": ' + listed + b"}\n")


def _strings(ids: list[bytes]) -> list[bytes]:
    """Return ids as JSON strings."""
    text = b"".join(ids)
    if text.isascii() and len(text.translate(None, _ESCAPED)) == len(text):
        return [b'"' + id_ + b'"' for id_ in ids]  # of a whole ranking, as nearly always
    return [written(text_of(id_)) for id_ in ids]


def _numbers(scores: list[float]) -> list[bytes]:
    """Return scores as JSON numbers; JSON has no infinity, which is written as a string."""
    texts = score_texts(scores)
    if {b"inf", b"-inf"}.isdisjoint(texts):
        return texts
    return [b'"' + text + b'"' if text.endswith(b"inf") else text for text in texts]


def write_qrels_lines(qrels: QrelsColumns, file: BinaryIO) -> None:
    """Write a line per judgement: ``{"query_id", "doc_id", "relevance"}``."""
    for query, document, level in qrels.judgements():
        record = {"query_id": text_of(query), "doc_id": text_of(document), "relevance": level}
        file.write(written(record) + b"\n")


def write_document(rankings: Iterable[Ranking], run_id: bytes, file: BinaryIO) -> None:
    """Write ``{query: {document: score}}``, a line per query."""
    _write(
        (
            (query, zip(_strings(documents), _numbers(scores), strict=True))
            for query, documents, scores in rankings
        ),
        file,
    )


def write_qrels_document(qrels: QrelsColumns, file: BinaryIO) -> None:
    """Write ``{query: {document: level}}``, a line per query."""
    queries: dict[bytes, list[tuple[bytes, bytes]]] = {}
    for query, document, level in qrels.judgements():
        queries.setdefault(query, []).append((written(text_of(document)), b"%d" % level))
    _write(queries.items(), file)


def _write(queries: Iterable[tuple[bytes, Iterable[tuple[bytes, bytes]]]], file: BinaryIO) -> None:
    before = b"{\n"
    for query, documents in queries:
        inner = b", ".join(map(b": ".join, documents))
        file.write(before + written(text_of(query)) + b": {" + inner + b"}")
        before = b",\n"
    file.write(b"{}\n" if before == b"{\n" else b"\n}\n")
