"""CSV and TSV, usually with a header; BEIR's qrels are TSV.

CSV is quoted as in RFC 4180, and TSV only if all its names are quoted: ids cannot contain tabs or
newlines. Nothing is decoded, so ids keep their bytes.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Literal

import numpy as np

from ragkpi.errors import InputError
from ragkpi.files import column_names as fields
from ragkpi.files.cells import cell_value
from ragkpi.files.dumps import LOOKED_AT
from ragkpi.files.json_text import text_of
from ragkpi.files.lines import PRINTED, Block, LineColumns, Tokens, blocks, split_lines
from ragkpi.files.opening import Source
from ragkpi.files.paths import is_number
from ragkpi.files.shapes import Shape
from ragkpi.files.tables import Cell, OddIds, Piece, Row
from ragkpi.wording import counted, shown

_RECORDS_AT_ONCE = 1 << 16
_HEAD = 1 << 13  # bytes
_NAMES = ("id", *fields.QUERY, *fields.QUERY_TEXT, *fields.DOCUMENT, *fields.SOURCES)
_NUMBERS = (*fields.SCORE, *fields.DISTANCE, *fields.LEVEL_OR_SCORE)
_KEPT = (*_NAMES, *fields.JUDGED, *fields.RETRIEVED)
_GAP = rb"(?: |\xc2\xa0|\xe2\x80\xaf)?"  # includes no-break spaces
_FORMS = [
    (re.compile(rb"[+-]?[0-9]+(\.[0-9]+)?" + _GAP + rb"%"), b"e-2"),
    (re.compile(rb"[+-]?[0-9]+(,[0-9]+)?" + _GAP + rb"%"), b"e-2"),
    (re.compile(rb"[+-]?[0-9]+,[0-9]+"), b""),
]
_AROUND = b"% \xc2\xa0\xe2\x80\xaf"
_THOUSANDS = re.compile(rb"[+-]?[1-9][0-9]{0,2},[0-9]{3}(?![0-9])")
CsvRecords = Iterator[tuple[int, Sequence[bytes]]]

Header = Literal["first line", "recognised", "none"]
"""Whether the first line has names; recognised by known names or by values."""

Cells = Literal["decimals", "texts"]
"""Whether numbers of spreadsheets are written as decimals."""


class DelimitedFile:
    """The lines of a delimited file, after its header.

    Columns have numbers from 1 in a file without a header.
    """

    def __init__(
        self, source: Source, separator: bytes, cells: Cells, header: Header = "recognised"
    ) -> None:
        self.file, self._cells = source.name, cells
        self.odd_ids: OddIds = "refused"
        if PRINTED.match(source.peek(_HEAD)):
            fault = "a printed table with bars"
            expected = "expected CSV: psql --csv, duckdb -csv or sqlite3 -csv -header"
            raise InputError(self.file, None, fault, expected)
        self._separator, self._blocks = separator, blocks(source)
        self.line: int | None
        self.names, self.line, rest = self._take_header(header)
        lines = rest.lines() if b"[" in rest.text else ()
        some = split_values(self.file, lines, self._separator, self._has_quotes)
        columns = itertools.zip_longest(*(of for _, of in itertools.islice(some, LOOKED_AT)))
        self.nested = [
            name
            for name, cells in zip(self.names, columns, strict=False)
            if any(cell and isinstance(cell_value("", text_of(cell)), list) for cell in cells)
        ]
        if fields.find(self.names, _NUMBERS) not in (None, *self.nested):
            # An id next to its own number is not a list, though it can look like one.
            document = fields.find(self.names, fields.DOCUMENT)
            self.nested = [name for name in self.nested if name != document]

    def rows(self) -> Iterator[Row]:
        for lines in self._lines():
            columns = []
            for place, name in enumerate(self.names):
                cells: Sequence[bytes] = lines.column(place).tolist()
                # Ids, lists, and possible ids of ranked columns, as doc_1, stay unchanged.
                kept = (
                    self._cells == "texts"
                    or fields.plain_name(name) in _KEPT
                    or name[-1:].isdigit()
                )
                columns.append(map(text_of, cells if kept else self._decimals(cells)))
            for line, row in zip(lines.line.tolist(), zip(*columns, strict=True), strict=True):
                yield line, dict(zip(self.names, row, strict=True))

    def _decimals(self, cells: Sequence[bytes]) -> Sequence[bytes]:
        """Write numbers of spreadsheets as decimals, if a whole column has one form.

        0,91 is 0.91 if commas do not separate values. 1,234 is ambiguous: 1.234 or 1234.
        """
        for form, exponent in _FORMS[:1] if self._separator == b"," else _FORMS:
            if all(map(form.fullmatch, cells)) and not all(map(_THOUSANDS.match, cells)):
                numbers = (cell.rstrip(_AROUND).replace(b",", b".") for cell in cells)
                return [number + exponent for number in numbers]
        return cells

    def pieces(self, cells: Mapping[str, Cell]) -> Iterator[Piece]:
        """Yield the columns of each block."""
        for lines in self._lines():
            columns = {name: lines.column(self.names.index(name)) for name in cells}
            numbers = {name: self._numbers(columns[name]) for name in cells if cells[name] != "id"}
            yield Piece(lines.line, columns | numbers, numbers)

    def _numbers(self, text: Tokens) -> Tokens:
        """Return a column of numbers as decimals."""
        first = text[0]
        plain = b"," not in first and b"%" not in first
        return text if plain else Tokens.from_strings(self._decimals(text.tolist()))

    def _take_header(self, kind: Header) -> tuple[list[str], int, Block]:
        """Read the header; return the names, their line and the following lines of a block.

        A column without a name, such as the index of pandas, gets the name pandas gives it.
        """
        for block in self._blocks:
            filled = ((number, line) for number, line in block.lines() if line.strip())
            number, line = next(filled, (0, b""))
            if line.startswith(b"sep="):  # of Excel, above the names
                number, line = next(filled, (0, b""))
            if not number:
                continue
            if self._separator == b"," and b"," not in line:
                self._separator = max(b",", b";", b"|", key=line.count)
            quotes = re.fullmatch(rb'"[^"\t]*"(\t"[^"\t]*")*\r?', line) is not None
            self._has_quotes = self._separator != b"\t" or quotes
            split = split_values(self.file, [(number, line)], self._separator, self._has_quotes)
            _, words = next(split)
            numbers = [str(place) for place in range(1, len(words) + 1)]
            names = [text_of(word) or f"Unnamed: {place}" for place, word in enumerate(words)]
            begin = block.text.index(line)
            values = (
                kind == "recognised"
                and (len(names) == 2 or any(map(is_number, names)))
                and fields.find(names, (*_NAMES, *fields.JUDGED)) is None
            )
            if kind == "none" or values:
                names, header = numbers, 0
            else:
                begin, header = begin + len(line) + 1, number
            rest = Block(block.file, block.text[begin:], number + bool(header))
            padded = any(word[:1] == b" " for word in words[1:])
            if header and padded and self._separator + b" " in rest.text.partition(b"\n")[0]:
                # Ids keep their bytes, so " d1" would never match "d1".
                fault = f"a space after {shown(self._separator)}"
                raise InputError(self.file, number, fault, "expected no space")
            self._blocks = itertools.chain([rest] if rest.text else [], self._blocks)
            return names, header or 1, rest
        raise InputError(self.file, None, "is empty", "expected a line of column names")

    def _lines(self) -> Iterator[LineColumns]:
        """Yield the columns of each block that has lines.

        From the first quote inside a value on, CSV is read by record, and so is quoted text with
        other separators, which the kernel does not support.
        """
        for block in self._blocks:
            lines, wrong = split_lines(block, len(self.names), self._separator[0])
            quotes = self._has_quotes and b'"' in block.text
            if not wrong and (self._separator == b"," or not quotes):
                if len(lines):
                    yield lines
                continue
            if quotes:
                texts = map(Block.lines, itertools.chain([block], self._blocks))
                yield from self._quoted(itertools.chain.from_iterable(texts))
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
        expected = f"expected {len(self.names)}, as line {self.line} names"
        return InputError(self.file, number, f"{counted(count, 'column')} ({text})", expected)

    def _quoted(self, lines: Iterable[tuple[int, bytes]]) -> Iterator[LineColumns]:
        records = split_values(self.file, lines, self._separator, self._has_quotes)
        while some := list(itertools.islice(records, _RECORDS_AT_ONCE)):
            for number, record in some:
                if len(record) != len(self.names):
                    raise self._wrong_width(number, len(record), shown(b" ".join(record[:20])))
            line = np.array([number for number, _ in some], np.int64)
            values = Tokens.from_strings(value for _, record in some for value in record)
            start, end = (of.reshape(len(some), -1) for of in (values.start, values.end))
            yield LineColumns(values.buffer, start, end, line, end[:, -1])


def split_values(
    file: str, lines: Iterable[tuple[int, bytes]], separator: bytes = b",", quoted: bool = False
) -> CsvRecords:
    """Yield the first line number and the values of each record; between tabs, `quoted` or not."""
    if separator == b"\t" and not quoted:
        rows = ((number, line.removesuffix(b"\r").split(b"\t")) for number, line in lines)
        yield from ((number, words) for number, words in rows if len(words) > 1 or words[0].strip())
        return
    lines = iter(lines)
    begin, line = next(lines, (1, b""))
    # In Latin-1 each byte is one character, so encoding restores the bytes.
    texts = (f"{text.decode('latin-1')}\n" for _, text in itertools.chain([(begin, line)], lines))
    records = csv.reader(texts, strict=True, delimiter=separator.decode())
    number = begin
    try:
        for record in records:
            if len(record) > 1 or "".join(record).strip():
                yield number, [value.encode("latin-1") for value in record]
            number = begin + records.line_num
    except csv.Error as problem:
        fault = f"invalid CSV ({problem})"
        raise InputError(file, number, fault, "expected values between separators") from None


def _opened(source: Source, shape: Shape | None, *, separator: bytes) -> DelimitedFile:
    """Open a run or qrels; a map has the names or the numbers of columns."""
    cells: Cells = "decimals" if shape is None else "texts"
    paths = [] if shape is None else [str(getattr(shape, part)) for part in shape.required]
    header: Header = "recognised"
    if paths and not paths[0].startswith("@"):
        header = "none" if paths[0].isdigit() else "first line"
    return DelimitedFile(source, separator, cells, header)


open_csv = partial(_opened, separator=b",")
open_tsv = partial(_opened, separator=b"\t")
