"""`JudgedPreferences`: what preference measures see of a run, and how preferences are counted.

Documents are numbered so that the retrieved ones come first, in ranking order. A preference is
then fulfilled if its better document is retrieved and has the smaller number, and everything is a
sum over a corner of a matrix.
"""

from __future__ import annotations

import numpy as np

from ragkpi.formats.tokens import FloatArray, IntArray
from ragkpi.ranking.judged import quotient
from ragkpi.ranking.preference_pairs import PreferencePairs
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


# Fulfilled and possible preferences.
_Counts = tuple[float, float]


def group_tallies(pairs: PreferencePairs, retrieved: int) -> list[_Counts]:
    """Count the preferences of a judgment group, of whose documents the first are retrieved.

    Returns
    -------
    list of (fulfilled, possible)
        Of every preference, of those with both documents retrieved, of those with at least one,
        and of the first two again with the number of nonrelevant documents limited.
    """
    weight = pairs.weight
    every = _count(weight, retrieved)
    both = _count(weight[:retrieved, :retrieved], retrieved)
    implied = every[0], every[1] - int(weight[retrieved:, retrieved:].sum())
    return [
        every,
        both,
        implied,
        _limited(pairs, every, retrieved, None),
        _limited(pairs, both, retrieved, retrieved),
    ]


def _count(weight: IntArray, retrieved: int) -> tuple[int, int]:
    return int(np.triu(weight[:retrieved], 1).sum()), int(weight.sum())


def _limited(
    pairs: PreferencePairs, unlimited: tuple[int, int], retrieved: int, scope: int | None
) -> tuple[int, int]:
    """Count with as many nonrelevant documents as relevant ones, among the first `scope`."""
    surplus = int(pairs.relevant[:scope].sum() - pairs.nonrelevant[:scope].sum())
    if surplus < 0:
        return _count(pairs.limited(scope)[:scope, :scope], retrieved)
    # Nonrelevant documents that were not judged stand in: every relevant one beats them.
    fulfilled, possible = unlimited
    return (
        fulfilled + surplus * int(pairs.relevant[:retrieved].sum()),
        possible + surplus * int(pairs.relevant.sum()),
    )


def pair_tallies(weight: IntArray, retrieved: int) -> list[_Counts]:
    """Count the pairs of documents of a query for which any judgment group has a preference.

    Parameters
    ----------
    weight : (n, n)
        How often the row is preferred over the column, in all groups together.
    retrieved
        How many of the documents, the first ones, are retrieved.

    Returns
    -------
    list of (fulfilled, possible)
        The sum over pairs of the share of preferences that the ranking fulfils, and the number of
        pairs: of all pairs, of those with both documents retrieved, of those with at least one.
    """
    total = weight + weight.T
    compared = np.triu(total > 0, 1)
    above = slice(0, retrieved)
    share = np.zeros(compared.shape)
    np.divide(weight, total, out=share, where=compared)
    either, both = compared[above], compared[above, above]
    fulfilled = _sequential_sum(share[above][either])
    return [
        (fulfilled, int(compared.sum())),
        (_sequential_sum(share[above, above][both]), int(both.sum())),
        (fulfilled, int(either.sum())),
    ]


def _sequential_sum(terms: FloatArray) -> float:
    """Add from left to right, as trec_eval does; numpy's own sum is pairwise."""
    return float(np.add.accumulate(terms)[-1]) if len(terms) else 0.0
