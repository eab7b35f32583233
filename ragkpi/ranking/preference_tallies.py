"""Preferences counted: how many of a judgment group, and of a query, a ranking fulfils.

Documents are numbered so that the retrieved ones come first, in ranking order. A preference is
then fulfilled if its better document is retrieved and has the smaller number, and everything is a
sum over a corner of a matrix.
"""

from __future__ import annotations

import numpy as np

from ragkpi.formats.tokens import FloatArray, IntArray
from ragkpi.ranking.preference_pairs import PreferencePairs

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
