"""Tables of delimited text, Parquet and Arrow: read by columns, or row by row.

If the names of columns do not identify all parts, rows are read like JSON records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from shlex import quote
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from ragkpi.arrays import IntArray
from ragkpi.errors import InputError
from ragkpi.files.cells import cell_value, list_in, lists_of_places
from ragkpi.files.dumps import LOOKED_AT, recognise
from ragkpi.files.lines import Tokens
from ragkpi.files.opening import MOST_HELD, Kind, too_large
from ragkpi.files.shape_reader import (
    DocumentColumns,
    Record,
    ShapeReader,
    are_of_pandas,
    collect_qrels,
    shape_for,
    stream_documents,
)
from ragkpi.files.shapes import SHAPES, Shape, layout_of, need_columns, rows_shape
from ragkpi.files.trec import (
    NumberColumn,
    Origin,
    QrelsColumns,
    RunColumns,
    RunLayout,
    parse_numbers,
    plain_qrels,
    refuse_empty,
    refuse_systems,
    run_of_columns,
)
from ragkpi.wording import visible

ROW_COST = 200  # bytes of memory that the smallest row or element takes
Row = tuple[int, dict[str, Any]]  # its line, and its values by column


Cell = Literal["id", "number", "level", "other"]
"""The content of a column: a level can be a word or empty, another column anything."""


class Piece(NamedTuple):
    """Some rows of a table: their lines, the columns of ids and levels, and those of numbers.

    Numbers are written as in TREC's files.
    """

    line: IntArray
    texts: Mapping[str, Tokens]
    numbers: Mapping[str, NumberColumn]


OddIds = Literal["refused", "kept"]
"""Whether empty ids, and ids that pandas wrote as 1.0, are refused."""


class TableFile(Protocol):
    """The rows of a file or of a Python object: read once, as records or by columns."""

    @property
    def file(self) -> str: ...

    names: list[str]  # of its columns
    line: int | None  # of the names
    odd_ids: OddIds

    @property
    def nested(self) -> list[str]: ...  # the columns of lists

    def rows(self) -> Iterator[Row]: ...
    def pieces(self, cells: Mapping[str, Cell]) -> Iterator[Piece]: ...


def stream_run(table: TableFile, user: Shape | None) -> Iterator[RunColumns]:
    """Read a run in blocks, by the map of a `user` or by the names in the table."""
    shape = rows_shape("run", table.names, user, table.nested)
    if shape is None:
        yield from stream_documents(table.file, _documents(table, "run", user))
    else:
        layout = layout_of(shape, table.names, table.file, table.line)
        of_cells: dict[Cell, Sequence[str | None]] = {
            "other": [*layout.others.values()],
            "number": [layout.number],
            "id": [layout.query, layout.document, layout.run_id],
        }
        cells = {name: cell for cell, names in of_cells.items() for name in names if name}
        for piece in table.pieces(cells):
            block = _run_of(table, piece, layout)
            if table.odd_ids == "refused":
                query, document = block.query, block.document
                refuse_empty(table.file, document, block.line, "document id")
                refuse_empty(table.file, query, block.line[block.starts[:-1]], "query id")
                _refuse_fractions(table.file, shape, query, document)
            yield block


def read_qrels(table: TableFile, user: Shape | None) -> QrelsColumns:
    """Read qrels, like `stream_run`; two columns are queries and their relevant documents."""
    if user is None and table.names == ["1", "2"]:
        user = SHAPES["qrels"]["flat"]._replace(query="1", doc="2")
    shape = rows_shape("qrels", table.names, user, table.nested)
    if shape is None:
        return collect_qrels(table.file, _documents(table, "qrels", user))
    where = table.names, table.file, table.line
    are_pairs = len(table.names) == 2 and "level" not in shape.required
    # The level first: a file without it could be a run.
    level = None if are_pairs else need_columns(shape, *where, "level")[-1]
    ids = need_columns(shape, *where, "query", "doc")[-2:]
    qrels = _qrels_of(table, ids, level)
    if not len(qrels.line):
        return collect_qrels(table.file, ())
    if table.odd_ids == "refused":
        refuse_empty(table.file, qrels.query, qrels.line, "query id")
        refuse_empty(table.file, qrels.document, qrels.line, "document id")
        _refuse_fractions(table.file, shape, qrels.query, qrels.document)
    return qrels._replace(origin=Origin(ids[1], f"level={level or '@number'}"))


def _run_of(table: TableFile, piece: Piece, layout: RunLayout) -> RunColumns:
    texts = piece.texts
    if layout.run_id is not None:
        ids, run_ids = (texts[layout.query], texts[layout.document]), texts[layout.run_id]
        place = table.names.index(layout.run_id) + 1 if table.line else None
        refuse_systems(table.file, ids, run_ids, piece.line, layout.run_id, place)
    return run_of_columns(table.file, texts, piece.numbers, piece.line, layout)


def _qrels_of(table: TableFile, ids: Sequence[str], level: str | None) -> QrelsColumns:
    """Read all rows; without a column of levels, all have level 1."""
    cells: dict[str, Cell] = {level: "level"} if level else {}
    parts = []
    for part in table.pieces(cells | dict.fromkeys(ids, "id")):
        parts.append(part)
        if int(part.line[-1]) * ROW_COST > MOST_HELD:  # from a table of few bytes
            raise too_large(table.file, "expected a smaller table, or a format of lines")
    line = np.concatenate([np.zeros(0, np.int64), *(part.line for part in parts)])

    def column(name: str) -> Tokens:
        return Tokens.joined([Tokens.from_strings([]), *(part.texts[name] for part in parts)])

    query, document = map(column, ids)
    text = column(level) if level else Tokens.repeated(b"1", len(line))
    # Quepid writes a line without document and rating for an unjudged query.
    filled = (document.end > document.start) | (text.end > text.start)
    query, document, text = (of.take(filled) for of in (query, document, text))
    levels, gain = parse_numbers(table.file, text, line[filled], truth=True)
    return plain_qrels(table.file, query, document, levels, line[filled], gain)


def _refuse_fractions(file: str, shape: Shape, query: Tokens, document: Tokens) -> None:
    """Refuse ids that pandas wrote as 1.0 and 2.0, unless a map names them."""
    for part, what, ids in (("query", "query", query), ("doc", "document", document)):
        if part not in shape.required and are_of_pandas(ids):
            command = rf"""sed -E 's/\.0([",;|[:space:]]|$)/\1/g' {quote(visible(file))} > whole"""
            fault = f"{what} ids are numbers with a fraction, such as {ids[0].decode()}"
            raise InputError(file, None, fault, f"expected whole numbers: {command}")


def _documents(table: TableFile, kind: Kind, user: Shape | None) -> Iterator[DocumentColumns]:
    """Read rows as records, including lists written as text in a cell."""
    gathered = lists_of_places(table.names)
    rows = ((line, gathered(row)) for line, row in table.rows())
    first = list(islice(rows, LOOKED_AT))
    records = [{name: cell_value(name, cell) for name, cell in row.items()} for _, row in first]
    shape = shape_for(kind, table.file, user, partial(recognise, records, kind))
    if kind == "qrels" and user is None and len(table.names) == 2 and not shape.list:
        shape = shape._replace(level="")
    lists = {path.removesuffix("[]") for path in (shape.list, shape.scores, shape.levels)}
    parts = (shape.query, shape.list, shape.doc, shape.score, shape.rank, shape.level)
    inner = {
        of for of in table.names if any(path.startswith((f"{of}.", f"{of}[")) for path in parts)
    }

    def value_of(name: str, cell: Any) -> Any:
        if name in lists and isinstance(cell, str):
            return list_in(cell)
        return cell_value(name, cell) if name in inner else cell

    yield from ShapeReader(shape, table.file).read(
        Record(line, {name: value_of(name, cell) for name, cell in row.items()})
        for line, row in chain(first, rows)
    )
