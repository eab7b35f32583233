"""`JudgedPreferences`: what preference measures see of a run."""

from __future__ import annotations

import numpy as np

from ragkpi.formats.tokens import FloatArray, IntArray
from ragkpi.ranking.judged import quotient
from ragkpi.records import dataclass


@dataclass(frozen=True)
class Tally:
    """Preferences that a ranking fulfils, out of those it could fulfil.

    Attributes
    ----------
    fulfilled, possible : (G,) or (Q,)
        Per judgment group or per query.
    """

    fulfilled: FloatArray
    possible: FloatArray

    @property
    def share(self) -> FloatArray:
        """What part is fulfilled; 0 where there is nothing to fulfil."""
        return quotient(self.fulfilled, self.possible)


@dataclass(frozen=True)
class JudgedPreferences:
    """How a run orders the documents of Q queries and their G judgment groups.

    A preference is fulfilled if its better document is retrieved above its worse one, or if only
    its better one is retrieved. Ties, `-M` and missing queries are settled before.

    Attributes
    ----------
    queries : list of bytes, length Q
        Query ids in byte order.
    run_id
        The last run id of the file.
    group_query : (G,)
        The query of each judgment group; the groups of a query in byte order of their names.
    every, retrieved, implied : Tally of (G,)
        Preferences of each group: all, those with both documents retrieved, and those with at
        least one retrieved.
    limited, limited_retrieved : Tally of (G,)
        As `every` and `retrieved`, when only as many nonrelevant documents count as there are
        relevant ones.
    pairs, pairs_retrieved, pairs_implied : Tally of (Q,)
        Pairs of documents that any group has a preference for: the share of those preferences
        that the ranking fulfils, summed, and the number of pairs; scopes as above.
    """

    queries: list[bytes]
    run_id: bytes
    group_query: IntArray
    every: Tally
    retrieved: Tally
    implied: Tally
    limited: Tally
    limited_retrieved: Tally
    pairs: Tally
    pairs_retrieved: Tally
    pairs_implied: Tally

    def per_query(self, of_groups: FloatArray) -> FloatArray:
        """Sum a quantity of the judgment groups, (G,), per query, (Q,), in order of the groups."""
        sums = np.bincount(self.group_query, weights=of_groups, minlength=len(self.queries))
        return sums.astype(np.float64, copy=False)

    def group_mean(self, of_groups: FloatArray) -> FloatArray:
        """Average a quantity of the judgment groups, (G,), per query, (Q,)."""
        groups = np.bincount(self.group_query, minlength=len(self.queries))
        return quotient(self.per_query(of_groups), groups)
