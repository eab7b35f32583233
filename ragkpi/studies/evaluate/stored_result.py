"""A result that ragkpi stored, as ``--format json`` or jsonl or in a record, as a baseline."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ragkpi.errors import DataError, InputError, UsageError
from ragkpi.interface import option
from ragkpi.measures.scores import MetricScores, Scores
from ragkpi.records import dataclass
from ragkpi.statistics.gates import BaselineGate, Gate, Verdict, baseline_verdicts, verdicts

_LARGEST = 1 << 30  # a stored result of a gigabyte is none


@dataclass(frozen=True)
class StoredResult:
    """What a run scored once.

    Attributes
    ----------
    name
        Of the run, and where it is stored.
    queries
        How many its values are over.
    values
        The values over all queries by printed name; NaN for NA.
    per_query
        The same for each query, if they were stored (``-q``).
    qrels
        The SHA-256 of the qrels, in hex; nothing if that was not stored.
    """

    name: str
    queries: int
    values: Mapping[str, float]
    per_query: Mapping[bytes, Mapping[str, float]]
    qrels: str = ""


def is_stored_result(path: str) -> bool:
    """Say whether a file begins as a result of ragkpi does; a run never does."""
    try:
        with open(path, "rb") as file:
            start = file.read(200).lstrip() if file.seekable() else b""
    except OSError:
        return False
    return start.startswith(b"{") and b'"ragkpi"' in start


def read_stored_result(path: str) -> StoredResult:
    """Read the only run of a stored result, or the last one of a record.

    Raises
    ------
    InputError
        If it is not the JSON that ragkpi writes.
    UsageError
        If it holds several runs.
    """
    expected = f"expected what ragkpi eval {option('format')} json or {option('log')} wrote"
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        text = file.read(_LARGEST)
    try:
        objects = [line for line in _objects(text) if "slice" not in line]
        if "runs" in objects[0]:
            runs = objects[0]["runs"]
            if len(runs) != 1:
                names = ", ".join(str(run["name"]) for run in runs)
                raise UsageError(f"{path}: it holds {len(runs)} runs ({names}); store one")
            run = runs[0]
            per_query = run.get("per_query", {})
        else:
            last = max(number for number, line in enumerate(objects) if line["kind"] == "run")
            run = objects[last]
            per_query = {line["query"]: line["values"] for line in objects[last + 1 :]}
            per_query = per_query or run.get("per_query", {})
        return StoredResult(
            f"{run['name']} of {path}",
            int(run["queries"]),
            _numbers(run["values"]),
            {
                query.encode("utf-8", "surrogateescape"): _numbers(values)
                for query, values in per_query.items()
            },
            _qrels_of(str(run.get("signature") or "")),
        )
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as problem:
        raise InputError(path, None, f"no stored result ({problem!r})", expected) from None


def _qrels_of(signature: str) -> str:
    """Return the hash of the qrels that a signature names; nothing if it names none."""
    return signature.partition("|qrels:sha256:")[2].partition("|")[0]


def _objects(text: str) -> Iterator[Any]:
    try:
        yield json.loads(text)
    except ValueError:
        yield from (json.loads(line) for line in text.splitlines() if line.strip())


def _numbers(values: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers among stored values: null is NA, infinities are texts, labels are left."""
    numbers = {}
    for name, value in values.items():
        if value is None:
            numbers[name] = math.nan
        elif isinstance(value, int | float) or value in ("inf", "-inf"):
            numbers[name] = float(value)
    return numbers


def stored_verdicts(
    stored: StoredResult, run: tuple[str, Scores], gate: BaselineGate
) -> list[Verdict]:
    """Hold a run against a stored result, value by value.

    Means of values that were stored per query are compared over the queries that both have, all
    other values as they are, which needs as many queries.

    Raises
    ------
    DataError
        If values are over different numbers of queries.
    UsageError
        If no value can be compared, or more than a value is asked for of what was stored without
        its queries.
    """
    name, scores = run
    compared = [
        column
        for column in scores.columns
        if column.metric.is_comparable and column.name in stored.values
    ]
    if not compared:
        raise UsageError(f"{stored.name}: it has none of the values of this evaluation")
    by_query = [column for column in compared if _is_stored_by_query(stored, column)]
    alone = [column for column in compared if column not in by_query]
    held: list[Verdict] = []
    if by_query:
        baseline = _scores(stored, by_query)
        held += baseline_verdicts((stored.name, baseline), (name, scores.only(by_query)), gate)
    if alone and gate.decided_by != "value":
        names = ", ".join(column.name for column in alone)
        raise UsageError(
            f"{stored.name}: {names} without values per query, which {option('gate_by')} "
            f"{gate.decided_by} needs; store means with -q"
        )
    if alone and stored.queries != scores.divisor:
        raise DataError(
            f"{stored.name} is over {stored.queries} queries, {name} over {scores.divisor}; "
            f"evaluate both with {option('missing', 'zero')}, or store the baseline with -q"
        )
    limits = [
        Gate(
            column.name,
            stored.values[column.name]
            - column.metric.measure.sign * gate.margin.below(stored.values[column.name]),
        )
        for column in alone
        if not math.isnan(stored.values[column.name])
    ]
    return held + verdicts(name, scores, limits)


def _is_stored_by_query(stored: StoredResult, column: MetricScores) -> bool:
    """Whether the values of the queries say all: their mean is the summary."""
    return (
        column.metric.measure.is_mean
        and bool(stored.per_query)
        and all(column.name in values for values in stored.per_query.values())
    )


def _scores(stored: StoredResult, columns: Sequence[MetricScores]) -> Scores:
    queries = sorted(stored.per_query)
    made = [
        MetricScores(
            column.metric,
            np.array([[stored.per_query[query][column.name]] for query in queries]),
            len(queries),
        )
        for column in columns
    ]
    return Scores(b"", queries, made, len(queries))
