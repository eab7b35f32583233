"""The values of single queries, some queries at a time: a run may have millions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragkpi.measures.scores import MetricScores, Scores
from ragkpi.studies.evaluate.evaluation_report import EvaluatedRun
from ragkpi.wording import as_json, decoded

QUERIES_AT_ONCE = 1000


class QueryObjects(Mapping[str, dict[str, Any]]):
    """The JSON values of a run by query and by metric, made when they are written.

    Parameters
    ----------
    scores
        The scores of the run.
    queries
        The queries to show, in this order; those that the run lacks are left out.
    digits
        Decimals; None for all digits.
    """

    def __init__(self, scores: Scores, queries: Sequence[bytes], digits: int | None) -> None:
        self._columns = scores.printed("query")
        self._digits = digits
        rows = _rows_by_query(scores)
        self._rows = {query: rows[query] for query in queries if query in rows}

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[str]:
        return map(decoded, self._rows)

    def __getitem__(self, query: str) -> dict[str, Any]:
        row = self._rows[query.encode("utf-8", "surrogateescape")]
        return self._object(_values(self._columns, [row])[0])

    def items(self) -> Any:
        """Yield pairs of query and values."""
        pairs = list(self._rows.items())
        for start in range(0, len(pairs), QUERIES_AT_ONCE):
            some = pairs[start : start + QUERIES_AT_ONCE]
            values = _values(self._columns, [row for _, row in some])
            for (query, _), values_of_query in zip(some, values, strict=True):
                yield decoded(query), self._object(values_of_query)

    def _object(self, values: Sequence[Any]) -> dict[str, Any]:
        return {
            column.name: as_json(value, column.metric.measure.style, self._digits)
            for column, value in zip(self._columns, values, strict=True)
        }


def query_rows(
    runs: Sequence[EvaluatedRun], names: Sequence[str], queries: Sequence[bytes]
) -> Iterator[list[list[Any]]]:
    """Yield the rows of each query: run, query and a value per metric, for each run that has it.

    A metric without values per query has None.
    """
    columns = [[run.scores[name] for name in names] for run in runs]
    row_of = [_rows_by_query(run.scores) for run in runs]
    for start in range(0, len(queries), QUERIES_AT_ONCE):
        some = queries[start : start + QUERIES_AT_ONCE]
        rows_of_runs = []
        for run, columns_of_run, rows in zip(runs, columns, row_of, strict=True):
            known = [query for query in some if query in rows]
            values = _values(columns_of_run, [rows[query] for query in known])
            rows_of_runs.append(
                {query: [run.name, query, *of] for query, of in zip(known, values, strict=True)}
            )
        for query in some:
            yield [rows_of_run[query] for rows_of_run in rows_of_runs if query in rows_of_run]


def _rows_by_query(scores: Scores) -> dict[bytes, int]:
    return {query: row for row, query in enumerate(scores.queries)}


def _values(columns: Sequence[MetricScores], rows: Sequence[int]) -> list[list[Any]]:
    """Return the values of every column in some rows, a list per row."""
    taken = [
        column.per_query[rows].tolist() if column.metric.is_printed("query") else [None] * len(rows)
        for column in columns
    ]
    return [[values[number] for values in taken] for number in range(len(rows))]
