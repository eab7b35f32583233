"""Slices of queries, for every function that takes ``by=``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragkpi.errors import UsageError
from ragkpi.interface import option
from ragkpi.measures.scores import Scores

if TYPE_CHECKING:
    from ragkpi.formats.query_labels import QueryLabels
    from ragkpi.reports.layout import Report
    from ragkpi.statistics.query_slices import QuerySlice

MOST_SLICES = 1000


def labels_of(given: Any) -> QueryLabels | None:
    """Return labels of queries, from a path or by kind and query; None if there are none."""
    if given is None:
        return None
    if isinstance(given, str | os.PathLike):
        from ragkpi.formats.query_labels import read_query_labels

        return read_query_labels(os.fspath(given))
    if not isinstance(given, Mapping) or not all(isinstance(of, Mapping) for of in given.values()):
        raise UsageError(f"by={given!r}: expected a path, or {{kind: {{query: label}}}}")
    from ragkpi.formats.given_columns import octets

    return {
        str(kind): {octets(query): str(label) for query, label in labels.items()}
        for kind, labels in given.items()
    }


def slices_of(labels: QueryLabels | None, evaluated: Sequence[bytes]) -> list[QuerySlice]:
    """Return the slices of some queries; none without labels.

    Raises
    ------
    NothingInCommonError
        If no query has a label.
    UsageError
        If there are too many slices: ids were given for labels.
    """
    if labels is None:
        return []
    from ragkpi.statistics.query_slices import query_slices

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

    Parameters
    ----------
    whole
        The report on all queries.
    labels
        The labels of queries.
    evaluated
        All queries.
    reported
        Makes the report on a slice.
    caution
        A note for readers of many slices.
    """
    if labels is None:
        return whole
    from ragkpi.reports.sliced_report import ReportPart, SlicedReport
    from ragkpi.statistics.query_slices import unlabelled

    parts = [
        ReportPart(part.by, part.label, len(part.queries), reported(part))
        for part in slices_of(labels, evaluated)
    ]
    notes = [*unlabelled(labels, evaluated), *([caution] if caution else [])]
    return SlicedReport(whole, len(evaluated), parts, notes)


def queries_of(runs: Iterable[Scores]) -> list[bytes]:
    """Return the queries that any run is evaluated over, in byte order."""
    return sorted(set().union(*(scores.queries for scores in runs)))
