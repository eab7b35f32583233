"""What the queries of a comparison can show: how many they are, and how they go together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from ragkpi.interface import spell
from ragkpi.measures.measure import Metric, Scores
from ragkpi.statistics.significance import Clustering, correlation_within
from ragkpi.statistics.units import Clusters, numbered_units, rarest_seen, turns_of, units_of
from ragkpi.wording import counted, listed, short_p

_FEW, _SOME = 30, 100  # queries, below which a note or the explanation says what could not show
_SIGNIFICANT = 0.05


def evidence_notes(
    runs: Sequence[Scores], metric: Metric, clusters: Clusters | None
) -> Iterator[str]:
    """Yield what changes how far to believe claims: few queries, and turns taken for queries."""
    queries = runs[0].queries
    if 1 < _units(queries, clusters) < _FEW:
        yield _unseen(queries, clusters)
    turns = turns_of(queries) if clusters is None else {}
    alike = correlation_of_differences(runs, metric, turns)
    if alike.p < _SIGNIFICANT:
        yield (
            f"Queries ({listed(queries, 2)}) look like turns, and turns of one conversation differ "
            f"alike ({metric.name}: correlation {alike.within:.2f}); {spell('cluster')} tells them"
        )


def evidence_in_words(
    runs: Sequence[Scores], metric: Metric, clusters: Clusters | None
) -> Iterator[str]:
    """Yield lines of an explanation: clusters, and what so few queries could not show."""
    queries = runs[0].queries
    units = _units(queries, clusters)
    if units < len(queries):
        alike = correlation_of_differences(runs, metric, clusters or {})
        correlation = (
            f". Differences by {metric.name} have a correlation of {alike.within:.2f} within "
            f"clusters (p = {short_p(alike.p)}): a design effect of {alike.design_effect:.2f}"
        )
        yield (
            f"clusters: {units:,} of {counted(len(queries), 'query', 'queries')}, "
            "which are evidence as a whole; the value is that over queries"
            f"{'' if math.isnan(alike.within) else correlation}"
        )
    if _FEW <= units < _SOME:
        yield _unseen(queries, clusters)


def _unseen(queries: Sequence[bytes], clusters: Clusters | None) -> str:
    units, nouns = _units(queries, clusters), "clusters" if clusters else "queries"
    rare = f"fewer than 1 in {rarest_seen(units)} {nouns}"
    return f"A complete failure on {rare} might not show in these {units}."


def _units(queries: Sequence[bytes], clusters: Clusters | None) -> int:
    return int(numbered_units(queries, clusters).max()) + 1


def correlation_of_differences(
    runs: Sequence[Scores], metric: Metric, clusters: Clusters
) -> Clustering:
    """Return the correlation within clusters of the run whose differences show it most.

    p is corrected for the number of runs; NaN without a cluster of two queries.
    """
    columns = [run[metric.name] for run in runs]
    with np.errstate(invalid="ignore"):
        changes = [column.per_query - columns[0].per_query for column in columns[1:]]
    finite = np.flatnonzero(np.isfinite(changes).all(axis=0))
    unit = units_of([runs[0].queries[row] for row in finite], clusters)
    if unit is None:
        return Clustering(math.nan, math.nan, math.nan)
    each = [correlation_within(values[finite], unit) for values in changes]
    most = min(each, key=lambda one: (math.isnan(one.p), one.p))
    return most._replace(p=min(1.0, most.p * len(each)))
