"""One JSON document: ``{query: {document: score}}``, or an array of what JSON Lines holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO

from ragkpi.errors import InputError
from ragkpi.formats.json_lines import row_of_judgement, rows_of_result
from ragkpi.formats.json_text import (
    DECODER,
    JsonObject,
    no_json,
    number_for,
    octets_of,
    text_of,
    written,
)
from ragkpi.formats.opening import MOST_HELD, Source
from ragkpi.formats.rows import Ranking, Row, collect_qrels, stream_rows
from ragkpi.formats.trec_qrels import QrelsColumns
from ragkpi.formats.trec_runs import RunColumns
from ragkpi.wording import quoted

_EXPECTED = 'expected {"query": {"document": number, …}, …} or an array of results'
_SPACE = re.compile(r"[ \t\n\r]*")
# A string, and whether it is a key. One that is none is used up too: looked at again from each
# of its quotes, it would take quadratic time.
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"(\s*:)?', re.DOTALL)
_PIECE = 1 << 20


def stream_run(source: Source) -> Iterator[RunColumns]:
    """Read a run."""
    return stream_rows(source.name, _rows(source, rows_of_result))


def read_qrels(source: Source) -> QrelsColumns:
    """Read qrels."""

    def rows(record: Any, file: str, line: int) -> Iterator[Row]:
        yield row_of_judgement(record, file, line)

    return collect_qrels(source.name, _rows(source, rows))


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


def _rows(source: Source, of_record: Callable[[Any, str, int], Iterator[Row]]) -> Iterator[Row]:
    text = text_of(hold(source).removeprefix(b"\xef\xbb\xbf"))
    if not text.strip():
        raise InputError(source.name, None, "is empty", _EXPECTED)
    for line, query, value, end in _Document(source.name, text).entries():
        if query is None:
            yield from of_record(value, source.name, line)
            continue
        key = octets_of(query, source.name, line, "query id")
        if not isinstance(value, JsonObject):
            raise InputError(source.name, line, f"no object under {quoted(query)}", _EXPECTED)
        for place, (document, number) in zip(_lines(text, value, line, end), value, strict=True):
            yield Row(
                place,
                key,
                octets_of(document, source.name, place, "document id"),
                octets_of(number, source.name, place, "number"),
            )


class _Document:
    """Takes the entries of a JSON object or array one by one, with the line that each is on."""

    def __init__(self, file: str, text: str) -> None:
        self._file = file
        self._text = text
        self._place = 0
        self._line = 1

    def entries(self) -> Iterator[tuple[int, str | None, Any, tuple[int, int]]]:
        """Yield line, key (None in an array), value, and from where to where that stands."""
        opened = self._take("{[")
        closed = "}" if opened == "{" else "]"
        if self._next() == closed:
            self._take(closed)
        else:
            separator = ","
            while separator == ",":
                key = None
                if opened == "{":
                    self._next()
                    key = self._value()
                    if type(key) is not str:
                        raise self._refusal("Expecting property name enclosed in double quotes")
                    self._take(":")
                self._next()
                line, start = self._line, self._place
                value = self._value()
                yield line, key, value, (start, self._place)
                self._line += self._text.count("\n", start, self._place)
                separator = self._take("," + closed)
        if self._next():
            raise self._refusal("Extra data")

    def _next(self) -> str:
        """Go to the next character that is no white space; empty at the end."""
        match = _SPACE.match(self._text, self._place)
        end = match.end() if match else self._place
        self._line += self._text.count("\n", self._place, end)
        self._place = end
        return self._text[end : end + 1]

    def _take(self, wanted: str) -> str:
        found = self._next()
        if not found or found not in wanted:
            raise self._refusal(f"Expecting {' or '.join(wanted)}")
        self._place += 1
        return found

    def _value(self) -> Any:
        try:
            value, self._place = DECODER.raw_decode(self._text, self._place)
        except RecursionError as problem:
            raise no_json(self._file, self._line, problem, _EXPECTED) from None
        except ValueError as problem:
            raise no_json(self._file, 1, problem, _EXPECTED) from None
        return value

    def _refusal(self, reason: str) -> InputError:
        column = self._place - self._text.rfind("\n", 0, self._place)
        return InputError(
            self._file, self._line, f"no JSON ({reason} at column {column})", _EXPECTED
        )


def _lines(text: str, value: JsonObject, line: int, where: tuple[int, int]) -> Iterator[int]:
    """Yield the physical line of every key of a flat object that stands at `where`."""
    start, end = where
    if text.find("\n", start, end) < 0:
        yield from [line] * len(value)
        return
    keys = (match for match in _STRING.finditer(text, start, end) if match[1])
    for match, _ in zip(keys, value, strict=False):
        line += text.count("\n", start, match.start())
        start = match.start()
        yield line


def write_run(rankings: Iterable[Ranking], run_id: bytes, file: BinaryIO) -> None:
    """Write ``{query: {document: score}}``, a line per query."""
    _write(
        (
            (ranking.query, zip(ranking.documents, map(number_for, ranking.scores), strict=True))
            for ranking in rankings
        ),
        file,
    )


def write_qrels(qrels: QrelsColumns, file: BinaryIO) -> None:
    """Write ``{query: {document: level}}``, a line per query."""
    queries: dict[bytes, list[tuple[bytes, float | str]]] = {}
    for query, document, level in qrels.judgements():
        queries.setdefault(query, []).append((document, level))
    _write(queries.items(), file)


def _write(
    queries: Iterable[tuple[bytes, Iterable[tuple[bytes, float | str]]]], file: BinaryIO
) -> None:
    before = b"{\n"
    for query, documents in queries:
        inner = {text_of(document): number for document, number in documents}
        file.write(before + written(text_of(query)) + b": " + written(inner))
        before = b",\n"
    file.write(b"{}\n" if before == b"{\n" else b"\n}\n")
