"""The values of single queries for programs: by columns, in blocks, and never all at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ragkpi.measures.scores import MetricScores, Scores
from ragkpi.reports.layout import Block
from ragkpi.wording import as_json, decoded, exact_numbers

# Queries that are made ready at a time: enough to be fast, few enough to stream.
_BLOCK = 1000


class QueryObjects(Mapping[str, dict[str, Any]]):
    """By query, the values of a run by the names of metrics, as JSON has them.

    Parameters
    ----------
    scores
        Of the run.
    queries
        Which of them, and in which order; what the run lacks is left out.
    digits
        Places behind the point; None for all that there are.
    """

    def __init__(self, scores: Scores, queries: Sequence[bytes], digits: int | None) -> None:
        self._columns = scores.printed("query")
        self._digits = digits
        rows = {query: row for row, query in enumerate(scores.queries)}
        self._rows = {query: rows[query] for query in queries if query in rows}

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[str]:
        return (decoded(query) for query in self._rows)

    def __getitem__(self, query: str) -> dict[str, Any]:
        row = self._rows[query.encode("utf-8", "surrogateescape")]
        return next(self._objects([row]))

    def items(self) -> Any:
        """Yield pairs of query and values."""
        rows = list(self._rows.values())
        for start in range(0, len(rows), _BLOCK):
            block = slice(start, start + _BLOCK)
            yield from zip(self._names[block], self._objects(rows[block]), strict=True)

    @cached_property
    def _names(self) -> list[str]:
        return list(self)

    def _objects(self, rows: Sequence[int]) -> Iterator[dict[str, Any]]:
        names = [column.name for column in self._columns]
        columns = [self._as_json(column, rows) for column in self._columns]
        for values in zip(*columns, strict=True):
            yield dict(zip(names, values, strict=True))
        if not columns:
            yield from ({} for _ in rows)

    def _as_json(self, column: MetricScores, rows: Sequence[int]) -> Sequence[Any]:
        values = column.per_query[rows].tolist()
        style = column.metric.measure.style
        numbers = exact_numbers(values, style) if self._digits is None else None
        return numbers or [as_json(value, style, self._digits) for value in values]


def query_blocks(
    titles: Sequence[str],
    runs: Sequence[Scores],
    names: Sequence[str],
    queries: Sequence[bytes],
) -> Iterator[Block]:
    """Yield the rows of runs with these titles: run, query and a value per metric, as columns.

    There is a row per query and run that has it; a metric without values per query has None.
    """
    rows_of = [{query: row for row, query in enumerate(run.queries)} for run in runs]
    for start in range(0, len(queries), _BLOCK):
        found = [
            (query, number, rows[query])
            for query in queries[start : start + _BLOCK]
            for number, rows in enumerate(rows_of)
            if query in rows
        ]
        numbers = np.array([number for _, number, _ in found], dtype=np.int64)
        rows = np.array([row for _, _, row in found], dtype=np.int64)
        yield [
            [titles[number] for number in numbers.tolist()],
            [query for query, _, _ in found],
            *(_column([run[name] for run in runs], numbers, rows) for name in names),
        ]


def _column(columns: Sequence[MetricScores], numbers: Any, rows: Any) -> Sequence[Any]:
    """Take each value from the run of that number and its row."""
    if not columns[0].metric.is_printed("query"):
        return [None] * len(rows)
    if len(columns) == 1:
        return list(columns[0].per_query[rows].tolist())
    values = np.empty(len(rows), dtype=columns[0].per_query.dtype)
    for number, column in enumerate(columns):
        mine = numbers == number
        values[mine] = column.per_query[rows[mine]]
    return list(values.tolist())
