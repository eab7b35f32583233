"""`Judged` without files: how many relevant documents there are, and nothing retrieved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ragkpi.errors import UsageError
from ragkpi.ranking.judged import Judged
from ragkpi.ranking.settings import Settings


def judged_from_counts(corpus_size: int, relevant: Sequence[int], settings: Settings) -> Judged:
    """Describe one query per count of relevant documents; what chance does needs no more.

    Raises
    ------
    UsageError
        If more are relevant than there are.
    """
    counts = np.array(relevant, dtype=np.int64)
    if not len(counts) or counts.min() < 1 or counts.max() > corpus_size:
        given = ",".join(map(str, relevant))
        raise UsageError(
            f"--relevant {given}: expected numbers from 1 to the corpus size, {corpus_size}"
        )
    queries = np.arange(len(counts))
    nothing = np.empty(0, dtype=np.int64)
    return Judged(
        queries=[b"%d" % number for number in queries],
        num_ret=np.zeros(len(counts), dtype=np.int64),
        level_starts=np.arange(len(counts) + 1),
        levels=np.full(len(counts), max(settings.relevance_level, 1), dtype=np.int64),
        level_counts=counts,
        starts=np.zeros(len(counts) + 1, dtype=np.int64),
        query=nothing,
        rank=nothing,
        level=nothing,
        judgement=nothing,
        settings=replace(settings, draws="nominal"),  # "ret" would draw none
        corpus_size=np.full(len(counts), corpus_size, dtype=np.int64),
    )
