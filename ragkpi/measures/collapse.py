"""Where the collapse zone begins: chance succeeds so often that success says nothing."""

from __future__ import annotations

import numpy as np

from ragkpi.measures import chance
from ragkpi.measures.corpus import corpus_size
from ragkpi.ranking.judged import FloatArray, Judged

LAMBDA_LIMIT = 3.0  # relevant documents that chance finds
CEILING_LIMIT = 0.1  # bits


def mean(per_query: FloatArray) -> float:
    """Return the mean of what is not NA; 0 if all is."""
    valid = per_query[~np.isnan(per_query)]
    return float(valid.mean()) if len(valid) else 0.0


def collapsed(judged: Judged, cutoff: int, m: int) -> bool:
    """Whether lambda is 3 or more (which speaks of one hit, not of m), or bor_max below 0.1."""
    crowded = m == 1 and mean(chance.lambda_(judged, cutoff, m)) >= LAMBDA_LIMIT
    return crowded or mean(chance.p_rand(judged, cutoff, m)) > 2.0**-CEILING_LIMIT


def collapse_depth(judged: Judged, m: int) -> int | None:
    """Return the smallest K in the collapse zone; None if even the whole corpus is not in it."""
    inside, outside = int(corpus_size(judged).max(initial=0)), 0
    if not inside or not collapsed(judged, inside, m):
        return None
    while inside - outside > 1:
        middle = (inside + outside) // 2
        inside, outside = (middle, outside) if collapsed(judged, middle, m) else (inside, middle)
    return inside
