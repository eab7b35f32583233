"""Parquet and Arrow (IPC files and streams, Feather) with named columns, through pyarrow.

A run is read in pieces, because a table of few bytes may hold very many rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from ragkpi.formats import column_names as fields
from ragkpi.formats.arrow_tables import ArrowTable, Wanted, broken, refuse_bomb
from ragkpi.formats.column_names import Kind
from ragkpi.formats.opening import Source
from ragkpi.formats.record_numbers import Record
from ragkpi.formats.rows import Listed, collect_qrels, stream_listed
from ragkpi.formats.score_order import warn_of_order
from ragkpi.formats.shape import Shape, find_column, need_column
from ragkpi.formats.shape_choice import choose_shape, likely_shape
from ragkpi.formats.shape_reader import ShapeReader
from ragkpi.formats.shapes import SHAPES
from ragkpi.formats.tokens import FloatArray, IntArray, Tokens
from ragkpi.formats.trec_qrels import QrelsColumns, judged_or_not, plain_qrels
from ragkpi.formats.trec_runs import RunColumns, refuse_empty, run_columns, run_id_of

_IDS = ("query", "doc")
_QRELS: tuple[Wanted, ...] = ("ids", "ids", "level")
_ROWS_OF_PIECE = 1 << 16  # that are read together
_RECORDS_AT_ONCE = 1 << 11  # each may hold a long list


def stream_run(source: Source, shape: Shape | None = None) -> Iterator[RunColumns]:
    """Read a run in blocks; its `line` numbers are rows from 1."""
    with ArrowTable(source) as table:
        if _is_nested(table, shape, SHAPES["run"]):
            yield from stream_listed(source.name, _listed(source, table, "run", shape))
        else:
            yield from _stream_flat(source, table, shape or SHAPES["run"]["flat"])


def _stream_flat(source: Source, table: ArrowTable, shape: Shape) -> Iterator[RunColumns]:
    query, document = (need_column(shape, part, table.names, source.name, None) for part in _IDS)
    score, rank, run_id = (
        find_column(shape, part, table.names, source.name, None)
        for part in ("score", "rank", "run_id")
    )
    for part in shape.required:
        need_column(shape, part, table.names, source.name, None)
    if score is None and rank is None:
        warn_of_order(source.name, table.names)
    wanted: list[tuple[str, Wanted]] = [(query, "ids"), (document, "ids")]
    wanted += [(name, "number") for name in (score, rank) if name is not None]
    wanted += [] if run_id is None else [(run_id, "ids")]
    row = 0
    for columns in table.columns(wanted, _ROWS_OF_PIECE):
        queries, documents, *rest = cast(list[Any], columns)
        line = np.arange(row + 1, row + 1 + len(queries))
        row += len(queries)
        scores = None if score is None else rest.pop(0)
        ranks = None if rank is None else rest.pop(0)
        run_ids = None if run_id is None else rest.pop(0)
        name = run_id_of(source.name) if run_ids is None else run_ids[len(queries) - 1]
        yield run_columns(source.name, queries, documents, scores, ranks, line, name)


def _joined(batches: Sequence[list[Any]]) -> list[Any]:
    if len(batches) == 1:
        return batches[0]
    return [
        Tokens.joined(parts) if isinstance(parts[0], Tokens) else np.concatenate(parts)
        for parts in zip(*batches, strict=True)
    ]


def read_qrels(source: Source, shape: Shape | None = None) -> QrelsColumns:
    """Read qrels; their `line` numbers are rows from 1."""
    with ArrowTable(source) as table:
        if _is_nested(table, shape, SHAPES["qrels"]):
            return collect_qrels(source.name, _listed(source, table, "qrels", shape))
        shape = shape or SHAPES["qrels"]["flat"]
        names = [
            need_column(shape, part, table.names, source.name, None) for part in (*_IDS, "level")
        ]
        wanted: list[tuple[str, Wanted]] = list(zip(names, _QRELS, strict=True))
        batches, rows = [], 0
        for batch in table.columns(wanted, _ROWS_OF_PIECE):
            batches.append(batch)
            rows += len(batch[0])
            refuse_bomb(source, rows)
    nothing: list[Any] = [Tokens.from_strings([]), Tokens.from_strings([]), np.zeros(0, np.int64)]
    query, document, number = _joined(batches) if batches else nothing
    level, gain = _levels(source, names[-1], number)
    line = np.arange(1, len(query) + 1)
    refuse_empty(source.name, query, line, "query id")
    refuse_empty(source.name, document, line, "document id")
    return plain_qrels(source.name, query, document, level, line, gain)


def _is_nested(table: ArrowTable, shape: Shape | None, shapes: Mapping[str, Shape]) -> bool:
    """Whether rows hold lists of documents: by their shape, or for want of a flat column of ids."""
    if shape is not None:
        return bool(shape.list)
    found = fields.find_one("", None, table.names, fields.NAMES[shapes["flat"].doc])
    return found is None and table.nested


def _listed(source: Source, table: ArrowTable, kind: Kind, shape: Shape | None) -> Iterator[Listed]:
    """Yield the documents of rows, read like objects of JSON."""
    reader = None if shape is None else ShapeReader(shape, source.name)
    number = 0
    for rows in table.rows(table.names, _RECORDS_AT_ONCE):
        if reader is None:
            reader = choose_shape(kind, rows[:100], source.name)
            reader = reader or likely_shape(kind, rows[0], source.name)
        for row in rows:
            number += 1
            yield reader.listed(Record(number, number, row))


def _levels(
    source: Source, name: str, number: IntArray | FloatArray
) -> tuple[IntArray, FloatArray | None]:
    """Return levels, and gains if any is fractional, as in `QrelsColumns`."""
    if number.dtype == np.int64:
        return number.astype(np.int64, copy=False), None
    if not (np.abs(number) <= 2.0**53).all():
        raise broken(source, f"column {name} (numbers beyond 2^53)")
    gain = number.astype(np.float64, copy=False)
    return judged_or_not(gain), gain
