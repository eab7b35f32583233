"""Ranks as scores, and whether scores agree with the ranks or the order beside them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from ragkpi.errors import InputError, RagkpiWarning
from ragkpi.formats.decimals import parse_decimals
from ragkpi.formats.tokens import FloatArray, IntArray, Tokens
from ragkpi.wording import named, shown

if TYPE_CHECKING:
    from ragkpi.formats.trec_runs import RunColumns


def parse_ranks(file: str, text: Tokens, line: IntArray) -> FloatArray:
    """Read ranks, (n,); `InputError` with the line for one that is no whole number from 0.

    ``1.0`` is one: a column with gaps becomes a column of decimals.
    """
    rank = parse_decimals(text)
    with np.errstate(invalid="ignore"):
        whole = (rank >= 0) & (rank == np.floor(rank)) & (rank < 2.0**53)
    if not whole.all():
        row = int(np.flatnonzero(~whole)[0])
        raise InputError(
            file, int(line[row]), f"rank {shown(text[row])}", "expected a whole number from 1"
        )
    return rank


def descending(file: str, line: int, rank: bytes) -> bytes:
    """Return the text of a score that falls with the rank; errors as `parse_ranks` has them."""
    number = parse_ranks(file, Tokens.from_strings([rank.strip()]), np.array([line]))
    return b"-%d" % number[0]


class OrderWatch:
    """Whether scores agree with ranks, or with the order of the lists where there are no ranks."""

    def __init__(self) -> None:
        self._file = ""
        self._contradiction = b""
        self._rising = self._falling = 0

    def see(self, columns: RunColumns) -> None:
        """Look at a block: neighbours of one query."""
        self._file = columns.file
        inside = np.ones(max(len(columns.score) - 1, 0), dtype=bool)
        inside[columns.starts[1:-1] - 1] = False
        higher = np.diff(columns.score)[inside]
        if columns.rank is None:
            self._rising += int(np.count_nonzero(higher > 0))
            self._falling += int(np.count_nonzero(higher < 0))
        elif not self._contradiction:
            wrong = np.flatnonzero(inside)[higher * np.diff(columns.rank)[inside] > 0]
            if len(wrong):
                group = int(np.searchsorted(columns.starts, wrong[0], side="right")) - 1
                self._contradiction = columns.query[group]

    def warn(self) -> None:
        """Say what was found, in a warning."""
        if self._contradiction:
            self._say(
                f"scores and ranks contradict each other (first for query "
                f"{named(self._contradiction)}); the scores count"
            )
        elif self._rising and not self._falling:
            self._say(
                "scores rise down every list, as distances do; if smaller is better, "
                "say so with --scores distance"
            )

    def _say(self, text: str) -> None:
        warnings.warn(f"{self._file}: {text}", RagkpiWarning, stacklevel=2)
