"""Lines with a separator and a line of names: CSV and TSV, of which BEIR's qrels are.

CSV is quoted as RFC 4180 has it. TSV is not quoted at all: tabs and newlines cannot stand in an
id. Neither is decoded, so ids of any bytes survive.
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from ragkpi.errors import InputError
from ragkpi.formats import column_names as fields
from ragkpi.formats.lines import Block, Lines, blocks, split_lines
from ragkpi.formats.opening import Source
from ragkpi.formats.rows import Listed, collect_qrels, stream_listed
from ragkpi.formats.score_order import descending, warn_of_order
from ragkpi.formats.shape import Shape
from ragkpi.formats.shapes import SHAPES
from ragkpi.formats.tokens import Tokens
from ragkpi.formats.trec_qrels import QrelsColumns, parse_numbers
from ragkpi.formats.trec_runs import ColumnOrder, RunColumns, columns_of_blocks, refuse_empty
from ragkpi.interface import option
from ragkpi.records import NamedTuple
from ragkpi.wording import shown

Records = Iterator[tuple[int, Sequence[bytes]]]


class _QuotedError(Exception):
    """A block of CSV with quotes around more than a value, to be read line by line."""

    def __init__(self, block: Block) -> None:
        super().__init__()
        self.block = block


class _Header(NamedTuple):
    """The names of the columns, and the line that holds them; 0 if they are numbered."""

    names: list[str]
    line: int


class _Table:
    """A file of lines with a separator, its header read.

    Parameters
    ----------
    source
        The opened file.
    separator
        A tab or a comma.
    shape
        Which columns hold what; names of columns, or numbers from 1 where there are no names.
    """

    def __init__(self, source: Source, separator: bytes, shape: Shape) -> None:
        self._source, self._separator, self._shape = source, separator, shape
        self._blocks = blocks(source)
        self._header = self._take_header()
        self._numbers = {name: self._number(name) for name in ("query", "doc", "score", "rank")}
        for part in shape.required:
            self._needed(part)

    def run(self) -> Iterator[RunColumns]:
        numbers = self._numbers
        if numbers["score"] is None and numbers["rank"] is None:
            warn_of_order(self._source.name, self._header.names)
        layout = ColumnOrder(
            self._scan,
            self._needed("query"),
            self._needed("doc"),
            numbers["score"],
            numbers["rank"],
            self._number("run_id"),
        )
        try:
            yield from columns_of_blocks(self._blocks, layout)
        except _QuotedError as quoted:
            yield from stream_listed(self._source.name, self._listed(quoted.block, layout))

    def qrels(self) -> QrelsColumns:
        level = self._number("level")
        if level is None and self._shape.level:
            level = self._needed("level")
        query, document = self._needed("query"), self._needed("doc")
        file = self._source.name
        texts = list(self._blocks)
        if not texts:
            return collect_qrels(file, ())
        block = texts[0]._replace(text=b"".join(block.text for block in texts))
        try:
            lines = self._scan(block)
        except _QuotedError as quoted:
            return collect_qrels(file, self._judged(quoted.block, query, document, level))
        columns = [lines.column(number) for number in (query, document)]
        levels = Tokens.repeated(b"1", len(lines)) if level is None else lines.column(level)
        columns.append(levels)
        line = lines.line
        # Quepid has a line without document and rating for a query that nobody judged.
        empty = (columns[1].end == columns[1].start) & (columns[2].end == columns[2].start)
        if empty.any():
            columns, line = [column.take(~empty) for column in columns], line[~empty]
        if not len(line):
            return collect_qrels(file, ())
        refuse_empty(file, columns[0], line, "query id")
        refuse_empty(file, columns[1], line, "document id")
        judged, gain = parse_numbers(file, columns[2], line, truth=True)
        return QrelsColumns(
            file=file,
            query=columns[0],
            iteration=Tokens.repeated(b"0", len(line)),
            document=columns[1],
            level=judged,
            line=line,
            gain=gain,
        )

    def _take_header(self) -> _Header:
        """Read the line of names, and leave what follows it in the blocks."""
        for block in self._blocks:
            filled = ((number, line) for number, line in block.lines() if line.strip())
            number, line = next(filled, (0, b""))
            if not number:
                continue
            words = next(_values(self._source, self._separator, iter([(number, line)])))[1]
            names = [word.decode("utf-8", "surrogateescape") for word in words]
            begin = block.text.index(line)
            if self._shape.query.isdigit():
                names, header = [str(place) for place in range(1, len(names) + 1)], 0
            else:
                begin, header = begin + len(line) + 1, number
            rest = Block(block.file, block.text[begin:], number + bool(header))
            self._blocks = itertools.chain([rest] if rest.text else [], self._blocks)
            return _Header(names, header)
        raise InputError(self._source.name, None, "is empty", "expected a line of column names")

    def _number(self, part: str) -> int | None:
        """Return which column holds a part; None if none does."""
        names = self._header.names
        for path in str(getattr(self._shape, part)).split("|"):
            wanted = fields.NAMES.get(path, (fields.plain_name(path),))
            name = path if path in names else None
            if name is None and path:
                name = fields.find_one(self._source.name, self._header.line or None, names, wanted)
            if name is not None:
                return names.index(name)
        return None

    def _needed(self, part: str) -> int:
        number = self._number(part)
        if number is None:
            path = getattr(self._shape, part).split("|")[0]
            wanted = fields.NAMES.get(path, (path,))
            raise InputError(
                self._source.name,
                self._header.line or 1,
                f"names no {wanted[0]} ({fields.shown_names(self._header.names)})",
                f"expected one of {' '.join(wanted)}, or "
                f"{option('map_' + self._shape.kind)} '{part}=…'",
            )
        return number

    def _scan(self, block: Block) -> Lines:
        width = len(self._header.names)
        lines, wrong = split_lines(block, width, self._separator[0])
        if not wrong:
            return lines
        number, text = wrong[0]
        if self._separator == b"," and b'"' in block.text:
            raise _QuotedError(block)
        if b"\0" in text:
            raise InputError(block.file, number, "a NUL byte", "expected text")
        if b"\r" in text:
            raise InputError(
                block.file,
                number,
                "a carriage return inside a line",
                "expected lines that end with a newline",
            )
        raise InputError(
            block.file,
            number,
            f"{text.count(self._separator) + 1} columns "
            f"({shown(text.replace(self._separator, b' '))})",
            f"expected {width}, as line {self._header.line or 1} names",
        )

    def _records(self, block: Block) -> Records:
        """Read a block, and what follows it, record by record."""
        width, line = len(self._header.names), self._header.line or 1
        texts = itertools.chain([block], self._blocks)
        lines = itertools.chain.from_iterable(block.lines() for block in texts)
        for number, record in _values(self._source, self._separator, lines):
            if len(record) != width:
                raise InputError(
                    self._source.name,
                    number,
                    f"{len(record)} columns ({shown(b' '.join(record[:20]))})",
                    f"expected {width}, as line {line} names",
                )
            yield number, record

    def _listed(self, block: Block, layout: ColumnOrder) -> Iterator[Listed]:
        for number, record in self._records(block):
            ranks = [] if layout.rank is None else [record[layout.rank].strip()]
            if layout.score is not None:
                value = record[layout.score].strip()
            elif ranks:
                value = descending(self._source.name, number, ranks.pop())
            else:
                value = b"-%d" % number
            yield Listed(
                number,
                record[layout.query],
                [record[layout.document]],
                [value],
                ranks,
                b"" if layout.run_id is None else record[layout.run_id],
                layout.score is None and layout.rank is not None,
            )

    def _judged(
        self, block: Block, query: int, document: int, level: int | None
    ) -> Iterator[Listed]:
        for number, record in self._records(block):
            value = b"1" if level is None else record[level].strip()
            if value or record[document]:
                yield Listed(number, record[query], [record[document]], [value])


def _values(source: Source, separator: bytes, lines: Iterable[tuple[int, bytes]]) -> Records:
    """Split lines into values; only in CSV may a value be quoted."""
    if separator != b",":
        for number, line in lines:
            if line.strip():
                yield number, line.removesuffix(b"\r").split(separator)
        return
    number = start = 0
    first = True

    def decoded() -> Iterator[str]:
        # As Latin-1, each byte is a character and becomes the same byte again.
        nonlocal number, start, first
        for number, line in lines:
            if first:
                start, first = number, False
            yield line.decode("latin-1") + "\n"

    records = csv.reader(decoded(), strict=True)
    while True:
        try:
            record = next(records, None)
        except csv.Error as problem:
            raise InputError(
                source.name, start, f"no CSV ({problem})", "expected values separated by commas"
            ) from None
        if record is None:
            return
        if record:
            yield start, [value.encode("latin-1") for value in record]
        start, first = number + 1, False


def stream_table(
    source: Source, shape: Shape | None = None, separator: bytes = b"\t"
) -> Iterator[RunColumns]:
    """Read a run with a line of names."""
    yield from _Table(source, separator, shape or SHAPES["run"]["flat"]).run()


def read_table_qrels(
    source: Source, shape: Shape | None = None, separator: bytes = b"\t"
) -> QrelsColumns:
    """Read qrels with a line of names."""
    return _Table(source, separator, shape or SHAPES["qrels"]["flat"]).qrels()


stream_csv = partial(stream_table, separator=b",")
read_csv_qrels = partial(read_table_qrels, separator=b",")
