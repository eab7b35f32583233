"""The size of the corpus, checked against what the files show of it."""

from __future__ import annotations

import numpy as np

from ragkpi.errors import UsageError
from ragkpi.measures.shared import shared
from ragkpi.ranking.judged import IntArray, Judged


@shared
def corpus_size(judged: Judged) -> IntArray:
    """Return N, (Q,): how many documents could have been retrieved.

    Raises
    ------
    UsageError
        If N is not known, or smaller than the documents judged or retrieved for a query.
    """
    size = judged.corpus_size
    if size is None:
        raise UsageError(
            "the size of the corpus is not known; give it with -N, with --corpus-sizes for "
            "single queries, or in the environment variable RAGKPI_CORPUS_SIZE"
        )
    labelled = np.bincount(
        judged.level_query, weights=judged.level_counts, minlength=len(judged.queries)
    )
    seen = (judged.num_ret + labelled - judged.per_query(judged.level >= 0)).astype(np.int64)
    too_small = np.flatnonzero(seen > size)
    if len(too_small):
        worst = too_small[np.argmax(seen[too_small])]
        query = judged.queries[worst].decode("utf-8", "replace")
        raise UsageError(
            f"query {query}: {seen[worst]} documents are judged or retrieved, "
            f"but the corpus size is {size[worst]}; "
            "give -N (or --corpus-sizes) the number of documents that could be retrieved"
        )
    return size
