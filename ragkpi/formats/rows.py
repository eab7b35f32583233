"""Rows as the slower formats read and write them, and how they become columns."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ragkpi.errors import InputError
from ragkpi.formats.identity import group_starts, spans
from ragkpi.formats.tokens import IntArray, Tokens
from ragkpi.formats.trec_qrels import QrelsColumns, parse_levels
from ragkpi.formats.trec_runs import RunColumns, parse_scores

_ROWS_AT_ONCE = 1 << 16


class Row(NamedTuple):
    """A retrieved or a judged document.

    `line` is the physical line (in a file without lines, the row from 1), `value` the text of
    the score or of the judged level.
    """

    line: int
    query: bytes
    document: bytes
    value: bytes
    run_id: bytes = b""


class Ranking(NamedTuple):
    """The documents of one query, best first, with their scores."""

    query: bytes
    documents: list[bytes]
    scores: list[float]


def stream_rows(file: str, rows: Iterable[Row]) -> Iterator[RunColumns]:
    """Put rows into blocks of whole queries, as `trec_runs.stream_run` yields them."""
    block: list[Row] = []
    for row in rows:
        if len(block) >= _ROWS_AT_ONCE and row.query != block[-1].query:
            yield _run_columns(file, block)
            block = []
        block.append(row)
    if block:
        yield _run_columns(file, block)


def _run_columns(file: str, rows: list[Row]) -> RunColumns:
    lines, queries, documents, values, run_ids = zip(*rows, strict=True)
    line: IntArray = np.array(lines, dtype=np.int64)
    query = Tokens.from_strings(queries)
    starts = group_starts(query)
    return RunColumns(
        file=file,
        query=query.take(starts[:-1]),
        starts=starts,
        document=Tokens.from_strings(documents),
        score=parse_scores(file, Tokens.from_strings(values), line),
        line=line,
        run_id=run_ids[-1] or run_id_of(file),
    )


def collect_qrels(file: str, rows: Iterable[Row]) -> QrelsColumns:
    """Put the rows of a qrels file into columns; `InputError` without any."""
    all_rows = list(rows)
    if not all_rows:
        raise InputError(file, None, "holds no judgements", "expected qrels of at least one")
    lines, queries, documents, values, _ = zip(*all_rows, strict=True)
    line: IntArray = np.array(lines, dtype=np.int64)
    return QrelsColumns(
        file=file,
        query=Tokens.from_strings(queries),
        iteration=same_strings(b"0", len(lines)),
        document=Tokens.from_strings(documents),
        level=parse_levels(file, Tokens.from_strings(values), line),
        line=line,
    )


def same_strings(text: bytes, count: int) -> Tokens:
    """Return a column in which all strings are the same."""
    return Tokens.from_strings([text]).take(np.zeros(count, dtype=np.int64))


def run_id_of(file: str) -> bytes:
    """Name a run that does not say its name: by its file, without suffixes and white space."""
    name = os.path.basename(file).split(".")[0]
    return b"_".join(os.fsencode(name).split()) if name.strip(" -") else b"run"


def split_columns(columns: RunColumns) -> Iterator[RunColumns]:
    """Cut the columns of a whole run into blocks of whole groups that fit the cache."""
    starts = columns.starts
    for first, last in spans(starts, _ROWS_AT_ONCE):
        rows = slice(int(starts[first]), int(starts[last]))
        yield RunColumns(
            file=columns.file,
            query=columns.query.take(slice(first, last)),
            starts=starts[first : last + 1] - starts[first],
            document=columns.document.take(rows),
            score=columns.score[rows],
            line=columns.line[rows],
            run_id=columns.run_id,
        )
