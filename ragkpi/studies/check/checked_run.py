"""`CheckedRun`: the readable lines of a run or of a part of it, and its problems."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ragkpi.formats.tokens import BoolArray, FloatArray, IntArray, Tokens
from ragkpi.records import dataclass
from ragkpi.studies.check.problems import Problems
from ragkpi.wording import named


@dataclass(frozen=True)
class CheckedRun:
    """The n readable lines of a run, or of some whole queries of it, in the order of the file.

    Attributes
    ----------
    file
        The name of the file, for messages.
    queries : list of bytes, length Q
        Ids as they first appear.
    query : (n,)
        The number of each line's query.
    document, score, line : length n
        As in `RunColumns`.
    rank, run_id : Tokens of length n, or None
        The columns that only TREC runs have.
    last_run_id
        The run id of the last line.
    stretches
        How many stretches of neighbouring lines the queries take up; Q if none is scattered.
    problems
        The lines that could not be read, of all parts so far.
    """

    file: str
    queries: list[bytes]
    query: IntArray
    document: Tokens
    score: FloatArray
    line: IntArray
    rank: Tokens | None
    run_id: Tokens | None
    last_run_id: bytes
    stretches: int
    problems: Problems

    def __len__(self) -> int:
        return len(self.line)

    def name_of_query(self, row: int) -> str:
        """Return the query of a row, for people."""
        return named(self.queries[self.query[row]])

    @cached_property
    def order(self) -> IntArray:
        """Rows by query, score descending and id descending: trec_eval's ranking, (n,)."""
        if self._is_by_query and not self._is_tied_or_rising(self.score):
            return np.arange(len(self))
        order: IntArray = np.lexsort((-self.score, self.query))
        query, score = self.query[order], self.score[order]
        ties = np.flatnonzero((query[1:] != query[:-1]) | (score[1:] != score[:-1])) + 1
        bounds = np.concatenate([[0], ties, [len(order)]])
        for tie in np.flatnonzero(np.diff(bounds) > 1).tolist():
            rows = order[bounds[tie] : bounds[tie + 1]]
            ids = self.document.take(rows).tolist()
            by_id = sorted(range(len(ids)), key=ids.__getitem__, reverse=True)
            order[bounds[tie] : bounds[tie + 1]] = rows[by_id]
        return order

    @cached_property
    def ranked(self) -> Tokens:
        """The documents in `order`, (n,)."""
        return self.document.take(self.order)

    @cached_property
    def order_by_rank(self) -> IntArray:
        """Rows by query, the number in the rank column if there is one, and line, (n,)."""
        return self.ordered(self.line if self.rank_numbers is None else self.rank_numbers[0])

    def ordered(self, key: IntArray) -> IntArray:
        """Return rows by query, a key and line, (n,)."""
        if self._is_by_query and not self._is_tied_or_rising(-key):
            return np.arange(len(self))
        return np.lexsort((self.line, key, self.query))

    @cached_property
    def _is_by_query(self) -> bool:
        return bool((self.query[1:] >= self.query[:-1]).all())

    def _is_tied_or_rising(self, value: FloatArray | IntArray) -> bool:
        """Say whether any value is as high as the one above it in the same query."""
        return bool(((self.query[1:] == self.query[:-1]) & (value[1:] >= value[:-1])).any())

    @cached_property
    def starts(self) -> IntArray:
        """Where each query begins in `order`, and the length at the end, (Q+1,)."""
        return np.append(0, np.cumsum(np.bincount(self.query, minlength=len(self.queries))))

    @cached_property
    def first_row(self) -> IntArray:
        """The first row of each query in the file, (Q,); every query must have one."""
        return np.unique(self.query, return_index=True)[1]

    @cached_property
    def ranks(self) -> IntArray:
        """The 1-based rank of each place of `order`, (n,)."""
        sizes = np.diff(self.starts)
        ranks: IntArray = np.arange(len(self)) - np.repeat(self.starts[:-1], sizes) + 1
        return ranks

    @cached_property
    def tied_with_above(self) -> BoolArray:
        """Whether each place of `order` has the query and the score of the place above, (n,)."""
        query, score = self.query[self.order], self.score[self.order]
        tied = np.zeros(len(self), dtype=bool)
        tied[1:] = (query[1:] == query[:-1]) & (score[1:] == score[:-1])
        return tied

    @cached_property
    def repeated(self) -> tuple[IntArray, IntArray]:
        """The rows that repeat a document of their query, and the rows where each was first."""
        first = self.document.first_rows(self.query)
        again = np.flatnonzero(first != np.arange(len(self)))
        return again, first[again]

    @cached_property
    def rank_numbers(self) -> tuple[IntArray, BoolArray] | None:
        """The rank column, and whether each rank is a whole number; None without the column."""
        if self.rank is None:
            return None
        rank = self.rank.numbers()
        whole = np.abs(rank) < 2.0**53
        whole &= rank == np.floor(rank, where=whole, out=np.zeros_like(rank))
        return np.where(whole, rank, 0).astype(np.int64), whole

    @cached_property
    def first_of_run_ids(self) -> dict[int, bytes]:
        """The different run ids, each by its first row; none without the column."""
        if self.run_id is None:
            return {}
        rows = np.unique(self.run_id.first_rows())
        return dict(zip(rows.tolist(), self.run_id.take(rows).tolist(), strict=True))
