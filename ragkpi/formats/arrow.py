"""Parquet and Arrow (IPC files and streams, Feather) with named columns, through pyarrow.

A run streams through in pieces: a table of few bytes may hold very many rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from ragkpi.errors import InputError
from ragkpi.formats import column_names as fields
from ragkpi.formats.arrow_tables import ArrowTable, Wanted, broken, refuse_bomb
from ragkpi.formats.opening import Source
from ragkpi.formats.record_numbers import Record
from ragkpi.formats.rows import Listed, collect_qrels, stream_listed
from ragkpi.formats.score_order import warn_of_order
from ragkpi.formats.shape import Kind, Shape
from ragkpi.formats.shape_choice import choose_shape, likely_shape
from ragkpi.formats.shape_reader import ShapeReader
from ragkpi.formats.shapes import SHAPES
from ragkpi.formats.tokens import FloatArray, IntArray, Tokens
from ragkpi.formats.trec_qrels import QrelsColumns, judged_or_not
from ragkpi.formats.trec_runs import RunColumns, refuse_empty, run_id_of
from ragkpi.interface import option

_IDS = ("query", "doc")
_QRELS: tuple[Wanted, ...] = ("ids", "ids", "level")
_ROWS_OF_PIECE = 1 << 16  # that are looked at together
_RECORDS_AT_ONCE = 1 << 11  # each may hold a long list


def stream_run(source: Source, shape: Shape | None = None) -> Iterator[RunColumns]:
    """Read a run block by block; its `line` numbers are rows from 1."""
    with ArrowTable(source) as table:
        if _is_nested(table, shape, SHAPES["run"]):
            yield from stream_listed(source.name, _listed(source, table, "run", shape))
        else:
            yield from _stream_flat(source, table, shape or SHAPES["run"]["flat"])


def _stream_flat(source: Source, table: ArrowTable, shape: Shape) -> Iterator[RunColumns]:
    query, document = (_named(source, table, shape, part) for part in _IDS)
    score, rank, run_id = (
        _find(source, table, path) for path in (shape.score, shape.rank, shape.run_id)
    )
    for part in shape.required:
        _named(source, table, shape, part)
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
        by_rank = None
        if scores is None and ranks is not None:
            by_rank = np.ones(len(ranks), dtype=bool)
        if scores is None:
            scores, ranks = -line.astype(np.float64) if ranks is None else -ranks, None
        refuse_empty(source.name, queries, line, "query id")
        refuse_empty(source.name, documents, line, "document id")
        starts = queries.changes()
        yield RunColumns(
            file=source.name,
            query=queries.take(starts[:-1]),
            starts=starts,
            document=documents,
            score=scores,
            line=line,
            run_id=run_id_of(source.name) if run_ids is None else run_ids[len(queries) - 1],
            rank=ranks,
            by_rank=by_rank,
        )


def _joined(batches: Sequence[list[Any]]) -> list[Any]:
    if len(batches) == 1:
        return batches[0]
    return [
        _joined_ids(parts) if isinstance(parts[0], Tokens) else np.concatenate(parts)
        for parts in zip(*batches, strict=True)
    ]


def _joined_ids(parts: Sequence[Tokens]) -> Tokens:
    """Put ids together that stand next to each other in each part, without what is around them."""
    text = b"".join(part.buffer[part.start[0] : part.end[-1]].tobytes() for part in parts)
    return Tokens.from_text(text, np.concatenate([part.end - part.start for part in parts]))


def read_qrels(source: Source, shape: Shape | None = None) -> QrelsColumns:
    """Read qrels; their `line` numbers are rows from 1."""
    with ArrowTable(source) as table:
        if _is_nested(table, shape, SHAPES["qrels"]):
            return collect_qrels(source.name, _listed(source, table, "qrels", shape))
        shape = shape or SHAPES["qrels"]["flat"]
        names = [_named(source, table, shape, part) for part in (*_IDS, "level")]
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
    return QrelsColumns(
        file=source.name,
        query=query,
        iteration=Tokens.repeated(b"0", len(query)),
        document=document,
        level=level,
        line=line,
        gain=gain,
    )


def _is_nested(table: ArrowTable, shape: Shape | None, shapes: Mapping[str, Shape]) -> bool:
    """Say whether rows hold lists of documents: the shape says so, or flat columns are lacking."""
    if shape is not None:
        return bool(shape.list)
    found = fields.find_one("", None, table.names, fields.NAMES[shapes["flat"].doc])
    return found is None and table.nested


def _listed(source: Source, table: ArrowTable, kind: Kind, shape: Shape | None) -> Iterator[Listed]:
    """Interpret rows as if they were objects of JSON."""
    reader = None if shape is None else ShapeReader(shape, source.name)
    number = 0
    for rows in table.rows(table.names, _RECORDS_AT_ONCE):
        if reader is None:
            reader = choose_shape(kind, rows[:100], source.name)
            reader = reader or likely_shape(kind, rows[0], source.name)
        for row in rows:
            number += 1
            yield reader.listed(Record(number, number, row))


def _find(source: Source, table: ArrowTable, path: str) -> str | None:
    """Return the column that a path names; None if there is none."""
    names = table.names
    for name in path.split("|"):
        if name in names:
            return name
        wanted = fields.NAMES.get(name, (fields.plain_name(name),))
        found = fields.find_one(source.name, None, names, wanted)
        if found is not None:
            return found
    return None


def _named(source: Source, table: ArrowTable, shape: Shape, part: str) -> str:
    path = getattr(shape, part)
    name = _find(source, table, path)
    if name is None:
        wanted = fields.NAMES.get(path, (path,))
        raise InputError(
            source.name,
            None,
            f"names no {wanted[0]} ({fields.shown_names(table.names)})",
            f"expected one of {' '.join(wanted)}, or {option('map_' + shape.kind)} '{part}=…'",
        )
    return name


def _levels(
    source: Source, name: str, number: IntArray | FloatArray
) -> tuple[IntArray, FloatArray | None]:
    """Return levels, and gains if any is fractional, as `QrelsColumns` has them."""
    if number.dtype == np.int64:
        return number.astype(np.int64, copy=False), None
    if not (np.abs(number) <= 2.0**53).all():
        raise broken(source, f"column {name} (numbers beyond 2^53)")
    gain = number.astype(np.float64, copy=False)
    return judged_or_not(gain), gain
