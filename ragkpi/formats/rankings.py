"""Rankings to be written: many in columns, or one as lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ragkpi.formats.groups import spans
from ragkpi.formats.tokens import FloatArray, IntArray, Tokens
from ragkpi.records import NamedTuple


class Ranking(NamedTuple):
    """The documents of one query, best first, with their scores."""

    query: bytes
    documents: list[bytes]
    scores: list[float]


class Rankings(NamedTuple):
    """The documents of G queries as n rows, each query's best first.

    Attributes
    ----------
    query : Tokens of length G
        Their ids.
    starts : (G+1,)
        The ranking of query g is the rows ``starts[g]:starts[g + 1]``, perhaps none.
    document, score : length n
        The retrieved documents.
    """

    query: Tokens
    starts: IntArray
    document: Tokens
    score: FloatArray

    @classmethod
    def of(cls, rankings: Iterable[Ranking]) -> Rankings:
        """Build columns from rankings."""
        listed = list(rankings)
        sizes = [len(ranking.documents) for ranking in listed]
        return cls(
            Tokens.from_strings([ranking.query for ranking in listed]),
            np.cumsum([0, *sizes]),
            Tokens.from_strings([id_ for ranking in listed for id_ in ranking.documents]),
            np.array([score for ranking in listed for score in ranking.scores], dtype=np.float64),
        )

    def each(self) -> Iterator[Ranking]:
        """Yield ranking after ranking."""
        documents, scores, bounds = (
            self.document.tolist(),
            self.score.tolist(),
            self.starts.tolist(),
        )
        for query, start, end in zip(self.query, bounds[:-1], bounds[1:], strict=True):
            yield Ranking(query, documents[start:end], scores[start:end])

    def query_of_rows(self) -> Tokens:
        """Return the query of each row."""
        return self.query.take(np.repeat(np.arange(len(self.query)), np.diff(self.starts)))

    def ranks(self) -> IntArray:
        """Return the rank of each row, from 1."""
        return np.arange(1, len(self.score) + 1) - np.repeat(self.starts[:-1], np.diff(self.starts))

    def cut(self, depth: int) -> Rankings:
        """Keep the first documents of each query."""
        kept = self.ranks() <= depth
        sizes = np.minimum(np.diff(self.starts), depth)
        starts = np.append(0, np.cumsum(sizes))
        return Rankings(self.query, starts, self.document.take(kept), self.score[kept])

    def pieces(self, most: int = 1 << 16) -> Iterator[Rankings]:
        """Yield pieces of at most `most` rows, or of one query with more."""
        for first, last in spans(self.starts, most):
            rows = slice(int(self.starts[first]), int(self.starts[last]))
            yield Rankings(
                self.query.take(slice(first, last)),
                self.starts[first : last + 1] - rows.start,
                self.document.take(rows),
                self.score[rows],
            )
