"""Means over all orders of documents with equal scores, for the expected values of measures.

A document that shares its score with n - 1 others, from rank a on, is at each of the ranks
a ... a + n - 1 equally often. `Judged.tied` holds the first and the last of them. -M cuts the
orders, so a document that ties across the cut is retrieved in a share of them. -J closes the ranks
before; ties are then among judged documents alone.

The sums are those of McSherry and Najork, "Computing information retrieval performance measures
efficiently in the presence of tied scores", ECIR 2008. Where nothing ties, values are those of the
measures themselves, to the last bit. The expected value of a measure is a function `expected_...`
beside the measure.
"""

from __future__ import annotations

import numpy as np

from ragkpi.arrays import BoolArray, FloatArray, IntArray
from ragkpi.measures.hypergeometric import tail
from ragkpi.ranking.judged import Judged
from ragkpi.ranking.judgements import TiedRanks

_DEEPEST = 2**62


def tied_ranks(judged: Judged) -> TiedRanks:
    """Return the ranks that each hit shares, (H,) each; `ValueError` if the run has none."""
    if judged.tied is None:
        raise ValueError("the run was not judged for its ties")
    return judged.tied


def is_alone(judged: Judged) -> BoolArray:
    """Return whether each hit has a score of its own, (H,)."""
    tied = tied_ranks(judged)
    return np.equal(tied.first, tied.last)


def last_rank(judged: Judged, cutoff: int | None) -> int:
    """Return the last rank within the cutoff and -M."""
    limits = (cutoff, judged.settings.max_retrieved)
    return min([_DEEPEST, *(rank for rank in limits if rank is not None)])


def share_within(judged: Judged, depth: int | IntArray) -> FloatArray:
    """Return the share of the orders that have each hit at `depth` or above, (H,)."""
    tied = tied_ranks(judged)
    size = tied.last - tied.first + 1
    return np.clip(depth - tied.first + 1, 0, size) / size


def mean_weight(judged: Judged, weights: FloatArray) -> FloatArray:
    """Average the weights of ranks 1 ... n, (n,), over the ranks of each hit, (H,); others are 0.

    `reduceat` sums in place, so a hit that is alone at its rank has exactly the weight of the rank.
    """
    tied = tied_ranks(judged)
    bounds = np.minimum(np.stack([tied.first - 1, tied.last], axis=1), len(weights))
    sums = np.add.reduceat(np.append(weights, 0.0), bounds.ravel())[::2] if len(bounds) else 0.0
    return sums / (tied.last - tied.first + 1)


def existing_ranks(judged: Judged, cutoff: int | None) -> IntArray:
    """Return all ranks down to the last that exists and counts, from 1."""
    deepest = int(tied_ranks(judged).last.max(initial=0))
    return np.arange(1, min(deepest, last_rank(judged, cutoff)) + 1)


def expected_found_at(judged: Judged, depth: int | IntArray) -> FloatArray:
    """Return the expected number of relevant documents at `depth` or above, (Q,)."""
    return judged.per_query(np.where(judged.relevant, share_within(judged, depth), 0.0))


def share_reaching(judged: Judged, cutoff: int, m: int) -> FloatArray:
    """Return the share of the orders whose first K hold at least m relevant documents, (Q,).

    The cutoff divides one group of ties, of which a part is drawn at random. The number of
    relevant documents in that part is hypergeometric.
    """
    tied, depth = tied_ranks(judged), last_rank(judged, cutoff)
    certain = judged.per_query(judged.relevant & (tied.last <= depth)).astype(np.int64)
    divided = judged.relevant & (tied.first <= depth) & (tied.last > depth)
    possible = judged.per_query(divided).astype(np.int64)
    size, drawn = np.ones((2, len(judged.queries)), dtype=np.int64)
    size[judged.query[divided]] = (tied.last - tied.first + 1)[divided]
    drawn[judged.query[divided]] = depth - tied.first[divided] + 1
    reached = (certain >= m).astype(np.float64)
    lacking = np.where(certain + possible >= m, m - certain, 0)
    for threshold in np.unique(lacking[lacking > 0]).tolist():
        here = lacking == threshold
        reached[here] = tail(size[here], possible[here], drawn[here], threshold).probability
    return reached
