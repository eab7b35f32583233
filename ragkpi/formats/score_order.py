"""Scores and ranks, and whether scores agree with the ranks or the order beside them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ragkpi.errors import RagkpiWarning, SeparateRankingsError
from ragkpi.formats.column_names import shown_names
from ragkpi.formats.groups import within_groups
from ragkpi.formats.lines import refuse_invalid
from ragkpi.formats.tokens import FloatArray, IntArray, Tokens
from ragkpi.wording import named

if TYPE_CHECKING:
    from ragkpi.formats.trec_runs import RunColumns


_DIGITS = 16  # of 2 ** 53


def parse_ranks(file: str, text: Tokens, line: IntArray) -> FloatArray:
    """Read ranks, (n,); `InputError` with the line for anything but a whole number from 0.

    ``1.0`` is valid: programs write a column with gaps as decimals.
    """
    rank = text.numbers()
    with np.errstate(invalid="ignore"):
        whole = (rank >= 0) & (rank == np.floor(rank)) & (rank < 2.0**53)
    refuse_invalid(file, line, text, whole, "rank", "expected a whole number from 1")
    return rank


def parse_scores(file: str, text: Tokens, line: IntArray) -> FloatArray:
    """Read scores, (n,); `InputError` with the line for anything but a number."""
    score = text.numbers()
    refuse_invalid(file, line, text, ~np.isnan(score), "score", "expected a decimal number")
    return score


def descending(file: str, line: int, rank: bytes) -> bytes:
    """Return the text of a score that falls with the rank; errors as `parse_ranks`."""
    rank = rank.strip()
    if rank.isdigit() and len(rank) < _DIGITS:  # nearly always
        return b"-" + rank
    return b"-%d" % parse_ranks(file, Tokens.from_strings([rank]), np.array([line]))[0]


def ranked_once(columns: RunColumns) -> RunColumns:
    """Return the columns of whole queries; `SeparateRankingsError` if a query is ranked twice.

    Either a rank comes twice, or some documents of the query have scores and others ranks only.
    """
    if columns.by_rank is None:
        return columns
    group, score = columns.group(), columns.score
    rises = (group[1:] == group[:-1]) & (score[1:] >= score[:-1])
    if columns.by_rank.all() and not rises.any():  # nearly always
        return columns._replace(by_rank=None)
    order = np.lexsort((columns.line, score, group))
    again = (group[order[1:]] == group[order[:-1]]) & (score[order[1:]] == score[order[:-1]])
    again &= columns.by_rank[order[1:]] & columns.by_rank[order[:-1]]
    rows, first = order[1:][again], order[:-1][again]
    what = "rank {rank:.0f} of query {query}"
    if not len(rows):
        of_group = columns.starts[:-1][group]
        rows = np.flatnonzero(columns.by_rank != columns.by_rank[of_group])
        first, what = of_group[rows], "query {query} with and without scores"
    if not len(rows):
        return columns._replace(by_rank=None)
    earliest = int(np.lexsort((rows, columns.line[rows]))[0])
    row, line = int(rows[earliest]), int(columns.line[first[earliest]])
    text = what.format(rank=abs(score[row]), query=named(columns.query[int(group[row])]))
    raise SeparateRankingsError(
        columns.file,
        int(columns.line[row]),
        f"{text} again, first at line {line}",
        "expected one ranking of each query",
        "ranks-twice",
    )


def warn_of_order(file: str, names: Sequence[str]) -> None:
    """Warn that rows have neither scores nor ranks; `names` are those of their columns."""
    warnings.warn(
        f"{file}: names no score and no rank ({shown_names(names)}); the order of the rows counts",
        RagkpiWarning,
        stacklevel=2,
    )


def warn_of_contradiction(columns: RunColumns) -> bool:
    """Warn of a query whose scores contradict its ranks; return whether there is one."""
    if columns.rank is None:
        return False
    rises, falls = columns.score[1:] > columns.score[:-1], columns.score[1:] < columns.score[:-1]
    below, above = columns.rank[1:] > columns.rank[:-1], columns.rank[1:] < columns.rank[:-1]
    contradict = (rises & below) | (falls & above)
    wrong = np.flatnonzero(within_groups(columns.starts, contradict))
    if not len(wrong):
        return False
    group = int(np.searchsorted(columns.starts, wrong[0], side="right")) - 1
    warnings.warn(
        f"{columns.file}: scores and ranks contradict each other (first for query "
        f"{named(columns.query[group])}); the scores count",
        RagkpiWarning,
        stacklevel=2,
    )
    return True
