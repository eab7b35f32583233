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
from ragkpi.files.json_text import is_number, listed_in, text_of
from ragkpi.files.lines import Block, LineColumns, Tokens, blocks, split_lines
from ragkpi.files.opening import Kind, Source
from ragkpi.files.recogniser import LOOKED_AT, recognise
from ragkpi.files.shape_reader import (
    Listed,
    Record,
    ShapeReader,
    collect_qrels,
    shape_for,
    stream_listed,
)
from ragkpi.files.shapes import SHAPES, Shape, find_column, need_column, order_of, rows_shape
from ragkpi.files.trec import (
    ColumnOrder,
    Origin,
    QrelsColumns,
    RunColumns,
    columns_of_blocks,
    columns_of_lines,
    parse_numbers,
    plain_qrels,
    refuse_empty,
)
from ragkpi.wording import shown

_RECORDS_AT_ONCE = 1 << 16
_NAMES = (*QUERY, *QUERY_TEXT, *DOCUMENT, *JUDGED, "id")
CsvRecords = Iterator[tuple[int, Sequence[bytes]]]


class _QuotedError(Exception):
    """A block of CSV (the argument) has quotes inside values and must be read by record."""


class _Header(NamedTuple):
    names: list[str]
    line: int  # 0 without a header


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
        of_columns = rows_shape(kind, self._header.names, shape)
        self._shape = of_columns or self._recognised(kind, shape)
        for part in () if self._shape.by_record else self._shape.required:
            if getattr(self._shape, part) != "@number":
                self._needed(part)

    def _recognised(self, kind: Kind, shape: Shape | None) -> Shape:
        """Return the shape of the first rows, which are left in the blocks."""
        ahead = list(itertools.islice(self._blocks, 1))
        self._blocks = itertools.chain(ahead, self._blocks)
        lines = (line for block in ahead for line in block.lines())
        rows = itertools.islice(self._rows(lines), LOOKED_AT)
        recognised = partial(recognise, [row for _, row in rows], kind)
        return shape_for(kind, self._source.name, shape, recognised, SHAPES[kind]["flat"])

    def _rows(self, lines: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, dict[str, str]]]:
        """Yield rows as mappings from column to cell."""
        names = self._header.names
        for number, record in split_values(self._source.name, lines, self._separator):
            if len(record) != len(names):
                raise self._wrong_width(number, len(record), shown(b" ".join(record[:20])))
            yield number, dict(zip(names, map(text_of, record), strict=True))

    def _listed(self) -> Iterator[Listed]:
        """Yield the documents of rows with lists in their cells."""
        lines = itertools.chain.from_iterable(block.lines() for block in self._blocks)

        def records() -> Iterator[Record]:
            for place, (number, row) in enumerate(self._rows(lines), start=1):
                cells: dict[str, Any] = dict(row)
                for name in {self._shape.list, self._shape.scores} & row.keys():
                    cells[name] = listed_in(row[name]) if row[name].strip() else []
                yield Record(number, place, cells)

        yield from ShapeReader(self._shape, self._source.name).read(records())

    def run(self) -> Iterator[RunColumns]:
        if self._shape.by_record:
            yield from stream_listed(self._source.name, self._listed())
            return
        names, line = self._header.names, self._header.line or None
        document = self._needed("doc")
        order = order_of(self._shape, names, self._source.name, line)
        layout = ColumnOrder(
            self._scan,
            self._needed("query"),
            document,
            None if order.number is None else names.index(order.number),
            self._number("run_id"),
            Origin(names[document], order.map),
            {map_: names.index(name) for map_, name in order.others.items()},
        )
        try:
            yield from columns_of_blocks(self._blocks, layout)
        except _QuotedError as quoted:
            for lines in self._quoted(quoted.args[0]):
                yield columns_of_lines(self._source.name, lines, layout)

    def qrels(self) -> QrelsColumns:
        if self._shape.by_record:
            return collect_qrels(self._source.name, self._listed())
        level = self._number("level")
        if level is None and self._shape.level:
            level = self._needed("level")
        query, document = self._needed("query"), self._needed("doc")
        file, names = self._source.name, self._header.names
        origin = Origin(names[document], f"level={'@number' if level is None else names[level]}")
        texts = list(self._blocks)
        if not texts:
            return collect_qrels(file, ())
        block = texts[0]._replace(text=b"".join(block.text for block in texts))
        try:
            lines = self._scan(block)
        except _QuotedError as quoted:
            (lines,) = self._quoted(quoted.args[0], sys.maxsize)
        levels = Tokens.repeated(b"1", len(lines)) if level is None else lines.column(level)
        columns, line = [lines.column(query), lines.column(document), levels], lines.line
        # Quepid writes a line without document and rating for an unjudged query.
        empty = (columns[1].end == columns[1].start) & (columns[2].end == columns[2].start)
        if empty.any():
            columns, line = [column.take(~empty) for column in columns], line[~empty]
        if not len(line):
            return collect_qrels(file, ())
        refuse_empty(file, columns[0], line, "query id")
        refuse_empty(file, columns[1], line, "document id")
        judged, gain = parse_numbers(file, columns[2], line, truth=True)
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
            self._blocks = itertools.chain([rest] if rest.text else [], self._blocks)
            return _Header(names, header)
        raise InputError(self._source.name, None, "is empty", "expected a line of column names")

    def _number(self, part: str) -> int | None:
        """Return the number of the column that holds a part, or None."""
        names, line = self._header.names, self._header.line or None
        name = find_column(self._shape, part, names, self._source.name, line)
        return None if name is None else names.index(name)

    def _needed(self, part: str) -> int:
        names, line = self._header.names, self._header.line or 1
        return names.index(need_column(self._shape, part, names, self._source.name, line))

    def _scan(self, block: Block) -> LineColumns:
        width = len(self._header.names)
        lines, wrong = split_lines(block, width, self._separator[0])
        if not wrong:
            return lines
        number, text = wrong[0]
        if self._separator != b"\t" and b'"' in block.text:
            raise _QuotedError(block)
        if b"\0" in text:
            raise InputError(block.file, number, "a NUL byte", "expected text")
        if b"\r" in text:
            found = "a carriage return inside a line"
            raise InputError(block.file, number, found, "expected lines that end with a newline")
        found = shown(text.replace(self._separator, b" "))
        raise self._wrong_width(number, text.count(self._separator) + 1, found)

    def _wrong_width(self, number: int, count: int, text: str) -> InputError:
        expected = f"expected {len(self._header.names)}, as line {self._header.line or 1} names"
        return InputError(self._source.name, number, f"{count} columns ({text})", expected)

    def _records(self, block: Block) -> CsvRecords:
        """Read a block and all later blocks, record by record."""
        texts = itertools.chain([block], self._blocks)
        lines = itertools.chain.from_iterable(block.lines() for block in texts)
        for number, record in split_values(self._source.name, lines, self._separator):
            if len(record) != len(self._header.names):
                raise self._wrong_width(number, len(record), shown(b" ".join(record[:20])))
            yield number, record

    def _quoted(self, block: Block, most: int = _RECORDS_AT_ONCE) -> Iterator[LineColumns]:
        """Read a block and all later blocks into columns, by record."""
        records = self._records(block)
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
        cut = ((number, line.removesuffix(b"\r").split(b"\t")) for number, line in lines)
        yield from ((number, words) for number, words in cut if words != [b""])
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
            found = f"no CSV ({problem})"
            raise InputError(file, start, found, "expected values separated by commas") from None
        if record is None:
            return
        if record:
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
