"""Files of gains: real numbers, the worth of documents to a query."""

from __future__ import annotations

from ragkpi.formats.file_formats import Reading, reader_of
from ragkpi.formats.lines import LineShape, table_of
from ragkpi.formats.opening import Source
from ragkpi.formats.recognition import HEAD_LENGTH, is_number
from ragkpi.formats.trec_qrels import QrelsColumns, parse_numbers, plain_qrels, qrels_of

_LINE = LineShape(("query", "document", "gain"), "refused", "first_column")
_JSON = b'{["'  # the first byte of JSON


def read_gains(path: str, reading: Reading | str | None = None) -> QrelsColumns:
    """Read lines of query, document and gain, or a file in any format of qrels.

    Raises `InputError` with the line for anything but a number.
    """
    with Source(path) as source:
        line = source.peek(HEAD_LENGTH).lstrip().split(b"\n", 1)[0]
        words = line.split()
        if line[:1] in _JSON or b"," in line or len(words) != 3 or not is_number(words[2]):
            reader = reader_of("qrels", source, reading)
            return qrels_of(source, "gains") if reader.name == "trec" else reader.read_qrels(source)
        table = table_of(source, _LINE)
        query, document, text = map(table.column, range(3))
        level, gain = parse_numbers(source.name, text, table.line)
        return plain_qrels(source.name, query, document, level, table.line, gain)
