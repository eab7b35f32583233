"""Which documents of a checked run repeat or tie."""

from __future__ import annotations

import numpy as np

from ragkpi.checks.checked_run import CheckedRun
from ragkpi.formats.identity import tail_keys
from ragkpi.formats.tokens import BoolArray, IntArray
from ragkpi.ranking.duplicates import find_duplicate
from ragkpi.ranking.scattered import number_ids


def repeated_rows(run: CheckedRun) -> tuple[IntArray, IntArray]:
    """Return rows whose query had their document before, and the row where that was first."""
    ranked = run.document.take(run.order)
    if find_duplicate(run.starts, ranked, tail_keys(ranked)) is None:  # as in nearly all runs
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    number, _ = number_ids(run.document)
    order = np.lexsort((run.line, number, run.query))
    again = np.zeros(len(run), dtype=bool)
    again[1:] = (np.diff(run.query[order]) == 0) & (np.diff(number[order]) == 0)
    first = np.maximum.accumulate(np.where(again, 0, np.arange(len(run))))
    return order[again], order[first[again]]


def tied_with_above(run: CheckedRun) -> BoolArray:
    """Say for each place of the ranking whether the one above has its query and score, (n,)."""
    query, score = run.query[run.order], run.score[run.order]
    tied = np.zeros(len(run), dtype=bool)
    if len(run):
        tied[1:] = (query[1:] == query[:-1]) & (score[1:] == score[:-1])
    return tied
