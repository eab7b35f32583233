"""Rows, as the readers of JSON, tables and quoted CSV yield them, and their columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ragkpi.errors import InputError
from ragkpi.formats.score_order import parse_ranks, parse_scores
from ragkpi.formats.tokens import FloatArray, IntArray, Tokens
from ragkpi.formats.trec_qrels import QrelsColumns, parse_numbers, plain_qrels
from ragkpi.formats.trec_runs import RunColumns, refuse_empty, run_id_of

_ROWS_AT_ONCE = 1 << 16


class Listed(NamedTuple):
    """The documents of one record for a query: a list, or a single document.

    Attributes
    ----------
    lines
        The physical line of each document, or the line of the record; in a file without lines,
        the row from 1.
    values
        The scores, as texts or floats, or the texts of the judged levels.
    ranks
        The texts of ranks beside scores; else empty.
    by_rank
        Whether the values are negative ranks, each of them once per query.
    """

    lines: int | list[int]
    query: bytes
    documents: list[bytes]
    values: Sequence[bytes | float]
    ranks: list[bytes] = []  # noqa: RUF012 - never changed
    run_id: bytes = b""
    by_rank: bool = False


class _RecordColumns:
    """Gathers records for one block of columns."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.queries: list[bytes] = []
        self.counts: list[int] = []
        self.documents: list[bytes] = []
        self.values: list[bytes | float] = []
        self.ranks: list[bytes] = []
        self.lines: list[int] = []
        self.by_rank: list[bool] = []
        self.run_id = b""

    def add(self, listed: Listed) -> None:
        count = len(listed.documents)
        self.queries.append(listed.query)
        self.counts.append(count)
        self.documents += listed.documents
        self.values += listed.values
        self.ranks += listed.ranks
        self.by_rank.append(listed.by_rank)
        self.lines += listed.lines if isinstance(listed.lines, list) else [listed.lines] * count
        self.run_id = listed.run_id or self.run_id

    def line(self) -> IntArray:
        return np.array(self.lines, dtype=np.int64)

    def texts(self) -> Tokens:
        """Return the texts of the scores or levels."""
        return Tokens.from_strings(
            value if isinstance(value, bytes) else repr(value).encode() for value in self.values
        )

    def scores(self, line: IntArray) -> FloatArray:
        if set(map(type, self.values)) == {float}:
            return np.array(self.values)
        return parse_scores(self.file, self.texts(), line)

    def ids(self, line: IntArray) -> tuple[Tokens, Tokens]:
        """Return the query of each record and the documents; refuse empty ids."""
        query, document = Tokens.from_strings(self.queries), Tokens.from_strings(self.documents)
        refuse_empty(self.file, document, line, "document id")
        first = np.cumsum(self.counts) - self.counts
        refuse_empty(self.file, query, line[np.minimum(first, len(line) - 1)], "query id")
        return query, document


def stream_listed(file: str, records: Iterable[Listed]) -> Iterator[RunColumns]:
    """Gather records into blocks of a run."""
    gathered = _RecordColumns(file)
    for record in records:
        if not record.documents:
            continue
        if len(gathered.documents) >= _ROWS_AT_ONCE:
            yield _run_columns(gathered)
            gathered = _RecordColumns(file)
        gathered.add(record)
    if gathered.documents:
        yield _run_columns(gathered)


def _run_columns(gathered: _RecordColumns) -> RunColumns:
    line = gathered.line()
    query, document = gathered.ids(line)
    groups = query.changes()
    starts = np.concatenate([[0], np.cumsum(gathered.counts)])[groups]
    rank = None
    if len(gathered.ranks) == len(line):
        rank = parse_ranks(gathered.file, Tokens.from_strings(gathered.ranks), line)
    return RunColumns(
        file=gathered.file,
        query=query.take(groups[:-1]),
        starts=starts,
        document=document,
        score=gathered.scores(line),
        line=line,
        run_id=gathered.run_id or run_id_of(gathered.file),
        rank=rank,
        by_rank=np.repeat(gathered.by_rank, gathered.counts) if any(gathered.by_rank) else None,
    )


def collect_qrels(file: str, records: Iterable[Listed]) -> QrelsColumns:
    """Gather the records of qrels into columns; `InputError` if there are none."""
    gathered = _RecordColumns(file)
    for record in records:
        gathered.add(record)
    if not gathered.documents:
        raise InputError(file, None, "holds no judgements", "expected qrels of at least one")
    line = gathered.line()
    query, document = gathered.ids(line)
    level, gain = parse_numbers(file, gathered.texts(), line, truth=True)
    query = query.take(np.repeat(np.arange(len(query)), gathered.counts))
    return plain_qrels(file, query, document, level, line, gain)
