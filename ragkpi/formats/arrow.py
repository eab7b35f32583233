"""Parquet and Arrow (IPC files and streams, Feather) with named columns, through pyarrow.

A run streams through in pieces: a table of few bytes may hold very many rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ragkpi.errors import InputError
from ragkpi.formats import column_names as fields
from ragkpi.formats.arrow_tables import (
    ROWS_AT_ONCE,
    Pieces,
    numbers_of_column,
    pyarrow,
    refuse_bomb,
    tokens_of_column,
)
from ragkpi.formats.groups import group_starts
from ragkpi.formats.opening import Source
from ragkpi.formats.record_numbers import Record
from ragkpi.formats.rows import Listed, collect_qrels, same_strings, stream_listed
from ragkpi.formats.score_order import warn_of_order
from ragkpi.formats.shape import Kind, Shape
from ragkpi.formats.shape_choice import choose_shape, likely_shape
from ragkpi.formats.shape_reader import ShapeReader
from ragkpi.formats.shapes import SHAPES
from ragkpi.formats.tokens import FloatArray, IntArray, Tokens
from ragkpi.formats.trec_qrels import QrelsColumns, judged_or_not
from ragkpi.formats.trec_runs import RunColumns, refuse_empty, run_id_of

_IDS = ("query", "doc")
_ROWS_OF_PIECE = 1 << 16  # that are looked at together


def stream_run(source: Source, shape: Shape | None = None) -> Iterator[RunColumns]:
    """Read a run in blocks of whole queries; its `line` numbers are rows from 1."""
    pieces = Pieces(source)
    first = pieces.read(_ROWS_OF_PIECE)
    if _is_nested(first, shape, SHAPES["run"]):
        yield from stream_listed(source.name, _listed(source, first, pieces, "run", shape))
        return
    columns = _RunReader(source, first, shape or SHAPES["run"]["flat"])
    rest, rows = first, _ROWS_OF_PIECE
    while len(rest):
        more = pieces.read(rows)
        used = len(rest) if more is None else columns.whole_queries(rest)
        if used:
            yield columns.read(rest.slice(0, used))
        if more is None:
            return
        rest = rest.slice(used)
        refuse_bomb(source, len(rest))
        rows = max(_ROWS_OF_PIECE, len(rest))  # of one long query twice as many, each time
        rest = pieces.joined([rest, more])


class _RunReader:
    """Which columns of a table hold a run."""

    def __init__(self, source: Source, table: Any, shape: Shape) -> None:
        self._source = source
        self._query, self._document = (_named(source, table, shape, part) for part in _IDS)
        self._score, self._rank, self._run_id = (
            _find(source, table, path) for path in (shape.score, shape.rank, shape.run_id)
        )
        for part in shape.required:
            _named(source, table, shape, part)
        self._row = 0
        if self._score is None and self._rank is None:
            warn_of_order(source.name, table.column_names)

    def whole_queries(self, table: Any) -> int:
        """Return how many rows stand above the last query, which may go on."""
        return int(group_starts(self._tokens(table, self._query))[-2])

    def read(self, table: Any) -> RunColumns:
        """Return the columns of the rows that come next."""
        source = self._source
        query, document = self._tokens(table, self._query), self._tokens(table, self._document)
        line = np.arange(self._row + 1, self._row + 1 + len(query))
        rank = None
        if self._rank is not None:
            rank = numbers_of_column(source, table, self._rank, "float64", self._row)
        if self._score is not None:
            score = numbers_of_column(source, table, self._score, "float64", self._row)
        else:
            score = -line.astype(np.float64) if rank is None else -rank
        refuse_empty(source.name, query, line, "query id")
        refuse_empty(source.name, document, line, "document id")
        starts = group_starts(query)
        run_ids = None if self._run_id is None else self._tokens(table, self._run_id)
        self._row += len(query)
        return RunColumns(
            file=source.name,
            query=query.take(starts[:-1]),
            starts=starts,
            document=document,
            score=score,
            line=line,
            run_id=run_id_of(source.name) if run_ids is None else run_ids[len(query) - 1],
            rank=None if self._score is None else rank,
            by_rank=(
                np.ones(len(query), dtype=bool)
                if self._score is None and self._rank is not None
                else None
            ),
        )

    def _tokens(self, table: Any, name: str) -> Tokens:
        return tokens_of_column(self._source, table, name, self._row)


def read_qrels(source: Source, shape: Shape | None = None) -> QrelsColumns:
    """Read qrels; their `line` numbers are rows from 1."""
    pieces = Pieces(source)
    table = pieces.read(_ROWS_OF_PIECE)
    if _is_nested(table, shape, SHAPES["qrels"]):
        return collect_qrels(source.name, _listed(source, table, pieces, "qrels", shape))
    tables = [table]
    while (more := pieces.read(_ROWS_OF_PIECE)) is not None:
        tables.append(more)
        refuse_bomb(source, sum(map(len, tables)))
    table = pieces.joined(tables)
    shape = shape or SHAPES["qrels"]["flat"]
    query, document = (
        tokens_of_column(source, table, _named(source, table, shape, part)) for part in _IDS
    )
    level, gain = _levels(source, table, _named(source, table, shape, "level"))
    line = np.arange(1, len(query) + 1)
    refuse_empty(source.name, query, line, "query id")
    refuse_empty(source.name, document, line, "document id")
    return QrelsColumns(
        file=source.name,
        query=query,
        iteration=same_strings(b"0", len(query)),
        document=document,
        level=level,
        line=line,
        gain=gain,
    )


def _is_nested(table: Any, shape: Shape | None, shapes: Mapping[str, Shape]) -> bool:
    """Say whether rows hold lists of documents: the shape says so, or flat columns are lacking."""
    if shape is not None:
        return bool(shape.list)
    types = pyarrow("pyarrow").types
    flat = shapes["flat"]
    found = fields.find_one("", None, table.column_names, fields.NAMES[flat.doc])
    return found is None and any(
        types.is_list(field.type) or types.is_large_list(field.type) or types.is_struct(field.type)
        for field in table.schema
    )


def _listed(
    source: Source, first: Any, pieces: Pieces, kind: Kind, shape: Shape | None
) -> Iterator[Listed]:
    """Interpret rows as if they were objects of JSON."""
    reader = None if shape is None else ShapeReader(shape, source.name)
    number = 0
    later = iter(lambda: pieces.read(_ROWS_OF_PIECE), None)
    for table in itertools.chain([first], later):
        for batch in table.to_batches(max_chunksize=ROWS_AT_ONCE):
            rows = batch.to_pylist()
            if reader is None and rows:
                reader = choose_shape(kind, rows[:100], source.name)
                reader = reader or likely_shape(kind, rows[0], source.name)
            for row in rows:
                number += 1
                assert reader is not None
                yield reader.listed(Record(number, number, row))


def _find(source: Source, table: Any, path: str) -> str | None:
    """Return the column that a path names; None if there is none."""
    names = table.column_names
    for name in path.split("|"):
        if name in names:
            return name
        wanted = fields.NAMES.get(name, (fields.plain_name(name),))
        found = fields.find_one(source.name, None, names, wanted)
        if found is not None:
            return found
    return None


def _named(source: Source, table: Any, shape: Shape, part: str) -> str:
    path = getattr(shape, part)
    name = _find(source, table, path)
    if name is None:
        wanted = fields.NAMES.get(path, (path,))
        raise InputError(
            source.name,
            None,
            f"names no {wanted[0]} ({fields.shown_names(table.column_names)})",
            f"expected one of {' '.join(wanted)}, or --map-{shape.kind} '{part}=…'",
        )
    return name


def _levels(source: Source, table: Any, name: str) -> tuple[IntArray, FloatArray | None]:
    """Return levels, and gains if any is fractional, as `QrelsColumns` has them."""
    try:
        return numbers_of_column(source, table, name, "int64"), None
    except InputError as no_whole_numbers:
        try:
            gain = numbers_of_column(source, table, name, "float64")
        except InputError:
            raise no_whole_numbers from None
        if not (np.abs(gain) <= 2.0**53).all():
            raise
        return judged_or_not(gain), gain
