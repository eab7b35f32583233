"""Slices: labels of queries as users give them, and a report with one on each slice."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ragkpi.errors import UsageError
from ragkpi.files.in_memory import octets
from ragkpi.files.texts import QueryLabels, read_query_labels
from ragkpi.interface import option
from ragkpi.measures.scores import Scores
from ragkpi.reports.layout import Report, ReportPart, SlicedReport
from ragkpi.statistics.query_slices import QuerySlice, query_slices, unlabelled

MOST_SLICES = 1000


def labels_of(given: Any) -> QueryLabels | None:
    """Return labels of queries, from a path or by kind and query; None if there are none."""
    if given is None:
        return None
    if isinstance(given, str | os.PathLike):
        return read_query_labels(os.fspath(given))
    if not isinstance(given, Mapping) or not all(isinstance(of, Mapping) for of in given.values()):
        raise UsageError(f"by={given!r}: expected a path, or {{kind: {{query: label}}}}")

    return {
        str(kind): {octets(query): str(label) for query, label in labels.items()}
        for kind, labels in given.items()
    }


def slices_of(labels: QueryLabels | None, evaluated: Sequence[bytes]) -> list[QuerySlice]:
    """Return the slices of some queries; `UsageError` for so many that labels must be ids."""
    if labels is None:
        return []
    slices = query_slices(labels, evaluated)
    if len(slices) > MOST_SLICES:
        raise UsageError(
            f"{option('by')}: {len(slices):,} labels; expected at most {MOST_SLICES:,}"
        )
    return slices


def with_slices(
    whole: Report,
    labels: QueryLabels | None,
    evaluated: Sequence[bytes],
    reported: Callable[[QuerySlice], Report],
    caution: str = "",
) -> Report:
    """Add reports on slices to the report on all queries, if there are labels.

    `reported` makes the report on a slice; `caution` is a note for readers of many.
    """
    if labels is None:
        return whole
    parts = [
        ReportPart(part.by, part.label, len(part.queries), reported(part))
        for part in slices_of(labels, evaluated)
    ]
    notes = [*unlabelled(labels, evaluated), *([caution] if caution else [])]
    return SlicedReport(whole, len(evaluated), parts, notes)


def queries_of(runs: Iterable[Scores]) -> list[bytes]:
    """Return the queries that any run is evaluated over, in byte order."""
    return sorted(set().union(*(scores.queries for scores in runs)))
