"""Slices of an evaluation: the queries of one label, as if there were no others.

Measures of a query depend on that query alone, so the scores of a slice are some rows of the
scores of all queries. They equal those of an evaluation on qrels with these queries alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ragkpi.arrays import IntArray
from ragkpi.errors import NothingInCommonError
from ragkpi.files.texts import QueryLabels
from ragkpi.interface import option
from ragkpi.measures.scores import Scores
from ragkpi.wording import counted, listed


class QuerySlice(NamedTuple):
    """The queries of one label; `by` is the kind of label, which names its column in the file."""

    by: str
    label: str
    queries: frozenset[bytes]

    @property
    def name(self) -> str:
        """Its name in gates: ``lang=de``."""
        return f"{self.by}={self.label}"

    def rows(self, queries: Sequence[bytes]) -> IntArray:
        """Return the indices of queries of the slice among others, ascending."""
        return np.flatnonzero([query in self.queries for query in queries])

    def of(self, scores: Scores) -> Scores:
        """Return the same run over the queries of the slice alone."""
        return scores.over(self.rows(scores.queries))


def query_slices(labels: QueryLabels, evaluated: Sequence[bytes]) -> list[QuerySlice]:
    """Slice the evaluated queries by every kind of label, the largest slice of a kind first.

    A query without a label of a kind is in none of its slices. `NothingInCommonError` if no
    evaluated query has a label.
    """
    slices = []
    for by, label_of in labels.items():
        members: dict[str, list[bytes]] = {}
        for query in evaluated:
            if query in label_of:
                members.setdefault(label_of[query], []).append(query)
        of_kind = [QuerySlice(by, label, frozenset(queries)) for label, queries in members.items()]
        slices += sorted(of_kind, key=lambda part: (-len(part.queries), part.label))
    if not slices:
        labelled = sorted(set().union(*labels.values()))
        raise NothingInCommonError(
            f"{option('by')}: no evaluated query has a label (evaluated: {listed(evaluated, 3)}; "
            f"labelled: {listed(labelled, 3)})"
        )
    return slices


def unlabelled(labels: QueryLabels, evaluated: Sequence[bytes]) -> list[str]:
    """Return a note for each kind about the evaluated queries that are in none of its slices."""
    notes = []
    for by, label_of in labels.items():
        lacking = [query for query in evaluated if query not in label_of]
        if lacking:
            have = counted(len(lacking), "query has", "queries have")
            notes.append(f"{have} no {by} and count among all queries alone ({listed(lacking, 3)})")
    return notes
