"""CSV and TSV, usually with a header; BEIR's qrels are TSV.

CSV is quoted as in RFC 4180. TSV is never quoted: an id has no tabs and newlines. Nothing is
decoded, so ids keep their bytes.
"""

from __future__ import annotations

import csv
import itertools
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ragkpi.errors import InputError
from ragkpi.files.column_names import DOCUMENT, JUDGED, QUERY, QUERY_TEXT, find
from ragkpi.files.json_text import is_number, listed_in, text_of, unfolded
from ragkpi.files.lines import Block, LineColumns, Tokens, blocks, split_lines
from ragkpi.files.opening import Kind, Source
from ragkpi.files.recogniser import LOOKED_AT, recognise
from ragkpi.files.shape_reader import (
    DocumentColumns,
    Record,
    ShapeReader,
    collect_qrels,
    shape_for,
    stream_documents,
)
from ragkpi.files.shapes import SHAPES, Shape, id_columns, layout_of, need_column, rows_shape
from ragkpi.files.trec import (
    Origin,
    QrelsColumns,
    RunColumns,
    columns_of_lines,
    parse_numbers,
    plain_qrels,
    refuse_empty,
)
from ragkpi.wording import shown

_RECORDS_AT_ONCE = 1 << 16
_NAMES = (*QUERY, *QUERY_TEXT, *DOCUMENT, *JUDGED, "id")
CsvRecords = Iterator[tuple[int, Sequence[bytes]]]


class _Header(NamedTuple):
    names: list[str]
    line: int  # 0 without a header


def _list_or_text(cell: str) -> Any:
    of = unfolded(cell)
    return of if isinstance(of, list | dict) and len(of) > 1 else cell


class _DelimitedFile:
    """The lines of a delimited file, after its header.

    The shape names the columns, or numbers them from 1 in a file without a header.
    """

    def __init__(self, source: Source, separator: bytes, kind: Kind, shape: Shape | None) -> None:
        self._source, self._separator = source, separator
        self._blocks = blocks(source)
        self._kind = kind
        self._header = self._take_header(numbered=shape is not None and shape.query.isdigit())
        if kind == "qrels" and len(self._header.names) == 2 and not self._header.line and not shape:
            shape = SHAPES[kind]["flat"]._replace(query="1", doc="2", level="")
        first = self._first_rows(b"[")[:1]
        nested = [name for row in first for name, cell in row.items() if isinstance(cell, list)]
        of_columns = rows_shape(kind, self._header.names, shape, nested)
        self._shape = of_columns or self._shape_of_rows(kind, shape)

    def _shape_of_rows(self, kind: Kind, shape: Shape | None) -> Shape:
        readings_of = partial(recognise, self._first_rows(), kind)
        of = shape_for(kind, self._source.name, shape, readings_of, SHAPES[kind]["flat"])
        pairs = kind == "qrels" and shape is None and len(self._header.names) == 2
        return of._replace(level="") if pairs and not of.list else of

    def _first_rows(self, mark: bytes = b"") -> list[dict[str, Any]]:
        """Return the first rows, which stay in the blocks, if a mark is in their text."""
        ahead = list(itertools.islice(self._blocks, 1))
        self._blocks = itertools.chain(ahead, self._blocks)
        lines = (line for block in ahead if mark in block.text for line in block.lines())
        rows = itertools.islice(self._rows(lines), LOOKED_AT)
        return [{name: _list_or_text(cell) for name, cell in row.items()} for _, row in rows]

    def _rows(self, lines: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, dict[str, str]]]:
        """Yield rows as mappings from column to cell."""
        for number, record in self._records(lines):
            yield number, dict(zip(self._header.names, map(text_of, record), strict=True))

    def _records(self, lines: Iterable[tuple[int, bytes]]) -> CsvRecords:
        """Yield the values of lines; `InputError` for a record of another width."""
        for number, record in split_values(self._source.name, lines, self._separator):
            if len(record) != len(self._header.names):
                raise self._wrong_width(number, len(record), shown(b" ".join(record[:20])))
            yield number, record

    def _document_columns(self) -> Iterator[DocumentColumns]:
        """Yield the documents of rows with lists in their cells."""
        lines = itertools.chain.from_iterable(block.lines() for block in self._blocks)

        def records() -> Iterator[Record]:
            for number, row in self._rows(lines):
                cells: dict[str, Any] = dict(row)
                for name in {self._shape.list, self._shape.scores} & row.keys():
                    cells[name] = listed_in(row[name]) if row[name].strip() else []
                yield Record(number, cells)

        yield from ShapeReader(self._shape, self._source.name).read(records())

    def run(self) -> Iterator[RunColumns]:
        if self._shape.by_record:
            yield from stream_documents(self._source.name, self._document_columns())
            return
        layout = layout_of(self._shape, *self._place_of_names)
        for lines in self._lines(_RECORDS_AT_ONCE):
            yield columns_of_lines(self._source.name, lines, self._header.names, layout)

    def qrels(self) -> QrelsColumns:
        if self._shape.by_record:
            return collect_qrels(self._source.name, self._document_columns())
        file, names = self._source.name, self._header.names
        level = ""
        if self._shape.level:  # named first: a file without it may be a run
            level = need_column(self._shape, "level", *self._place_of_names)
        ids = id_columns(self._shape, *self._place_of_names)
        if texts := list(self._blocks):
            self._blocks = iter([texts[0]._replace(text=b"".join(block.text for block in texts))])
        lines = next(self._lines(sys.maxsize), None)
        if lines is None:
            return collect_qrels(file, ())
        columns, line = [lines.column(names.index(name)) for name in ids], lines.line
        of_level = lines.column(names.index(level)) if level else Tokens.repeated(b"1", len(lines))
        columns.append(of_level)
        # Quepid writes a line without document and rating for an unjudged query.
        empty = (columns[1].end == columns[1].start) & (columns[2].end == columns[2].start)
        if empty.any():
            columns, line = [column.take(~empty) for column in columns], line[~empty]
        if not len(line):
            return collect_qrels(file, ())
        refuse_empty(file, columns[0], line, "query id")
        refuse_empty(file, columns[1], line, "document id")
        judged, gain = parse_numbers(file, columns[2], line, truth=True)
        origin = Origin(ids[1], f"level={level or '@number'}")
        return plain_qrels(file, columns[0], columns[1], judged, line, gain, origin)

    def _take_header(self, numbered: bool) -> _Header:
        """Read the header, and leave the later lines in the blocks.

        A column without a name, as pandas writes its index, has pandas' name for it.
        """
        for block in self._blocks:
            filled = ((number, line) for number, line in block.lines() if line.strip())
            number, line = next(filled, (0, b""))
            if not number:
                continue
            if self._separator == b"," and b"," not in line:
                self._separator = (
                    max(b";", b"|", key=line.count) if line.count(b";") + line.count(b"|") else b","
                )
            split = split_values(self._source.name, [(number, line)], self._separator)
            _, words = next(split)
            numbers = [str(place) for place in range(1, len(words) + 1)]
            names = [text_of(word) or f"Unnamed: {place}" for place, word in enumerate(words)]
            begin = block.text.index(line)
            values = len(names) == 2 or any(map(is_number, names))
            if numbered or (values and find(names, _NAMES) is None):
                names, header = numbers, 0
            else:
                begin, header = begin + len(line) + 1, number
            rest = Block(block.file, block.text[begin:], number + bool(header))
            padded = any(word[:1] == b" " for word in words[1:])
            if header and padded and self._separator + b" " in rest.text.partition(b"\n")[0]:
                # Ids keep their bytes, so " d1" would match no "d1".
                fault = f"a space after {shown(self._separator)}"
                raise InputError(self._source.name, number, fault, "expected none")
            self._blocks = itertools.chain([rest] if rest.text else [], self._blocks)
            return _Header(names, header)
        raise InputError(self._source.name, None, "is empty", "expected a line of column names")

    @property
    def _place_of_names(self) -> tuple[list[str], str, int]:
        """The names of the columns, and the file and the line that has them."""
        return self._header.names, self._source.name, self._header.line or 1

    def _lines(self, most: int) -> Iterator[LineColumns]:
        """Yield the columns of each block that has lines.

        From the first quote inside a value on, CSV is read by record, `most` at a time.
        """
        for block in self._blocks:
            lines, wrong = split_lines(block, len(self._header.names), self._separator[0])
            if not wrong:
                if len(lines):
                    yield lines
                continue
            if self._separator != b"\t" and b'"' in block.text:
                texts = map(Block.lines, itertools.chain([block], self._blocks))
                yield from self._quoted(itertools.chain.from_iterable(texts), most)
                return
            number, text = wrong[0]
            if b"\0" in text:
                raise InputError(block.file, number, "a NUL byte", "expected text")
            if b"\r" in text:
                fault, expected = "a carriage return inside a line", "lines that end with a newline"
                raise InputError(block.file, number, fault, f"expected {expected}")
            excerpt = shown(text.replace(self._separator, b" "))
            raise self._wrong_width(number, text.count(self._separator) + 1, excerpt)

    def _wrong_width(self, number: int, count: int, text: str) -> InputError:
        names, file, line = self._place_of_names
        expected = f"expected {len(names)}, as line {line} names"
        return InputError(file, number, f"{count} columns ({text})", expected)

    def _quoted(self, lines: Iterable[tuple[int, bytes]], most: int) -> Iterator[LineColumns]:
        records = self._records(lines)
        while some := list(itertools.islice(records, most)):
            line = np.array([number for number, _ in some], np.int64)
            values = Tokens.from_strings(value for _, record in some for value in record)
            start, end = (of.reshape(len(some), -1) for of in (values.start, values.end))
            yield LineColumns(values.buffer, start, end, line, end[:, -1])


def split_values(
    file: str, lines: Iterable[tuple[int, bytes]], separator: bytes = b","
) -> CsvRecords:
    """Yield the first line number and the values of each record; tabs are never quoted."""
    if separator == b"\t":
        rows = ((number, line.removesuffix(b"\r").split(b"\t")) for number, line in lines)
        yield from ((number, words) for number, words in rows if len(words) > 1 or words[0].strip())
        return
    number = start = 0
    first = True

    def decoded() -> Iterator[str]:
        # In Latin-1 each byte is one character, so encoding restores the bytes.
        nonlocal number, start, first
        for number, line in lines:
            if first:
                start, first = number, False
            yield line.decode("latin-1") + "\n"

    records = csv.reader(decoded(), strict=True, delimiter=separator.decode())
    while True:
        try:
            record = next(records, None)
        except csv.Error as problem:
            fault = f"no CSV ({problem})"
            raise InputError(file, start, fault, "expected values separated by commas") from None
        if record is None:
            return
        if len(record) > 1 or "".join(record).strip():
            yield start, [value.encode("latin-1") for value in record]
        start, first = number + 1, False


def _stream_run(
    source: Source, shape: Shape | None = None, *, separator: bytes
) -> Iterator[RunColumns]:
    return _DelimitedFile(source, separator, "run", shape).run()


def _read_qrels(source: Source, shape: Shape | None = None, *, separator: bytes) -> QrelsColumns:
    return _DelimitedFile(source, separator, "qrels", shape).qrels()


stream_csv = partial(_stream_run, separator=b",")
stream_tsv = partial(_stream_run, separator=b"\t")
read_csv_qrels = partial(_read_qrels, separator=b",")
read_tsv_qrels = partial(_read_qrels, separator=b"\t")
