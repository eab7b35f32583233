"""Parts of qrels and of judged runs: some queries, as if the qrels had no others."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ragkpi.formats.groups import rows_of
from ragkpi.ranking.hits import NO_BEGINNING, Hits, TopDocuments
from ragkpi.ranking.judged import IntArray, Judged, RealGains
from ragkpi.ranking.judgements import Judgements, TiedRanks
from ragkpi.records import NamedTuple, replace


def part_of(judged: Judged, queries: IntArray) -> Judged:
    """Keep some queries, by their numbers, ascending.

    Measures of a query depend on that query alone, so values of a part are those of an evaluation
    on qrels with these queries only.
    """
    hits, starts = rows_of(judged.starts, queries)
    levels, level_starts = rows_of(judged.level_starts, queries)
    number = _numbers(len(judged.queries), queries)
    gains = judged.gains
    if gains is not None:
        worth, gain_starts = rows_of(gains.starts, queries)
        gains = RealGains(gains.of_hits[hits], gain_starts, gains.best_first[worth])
    outside = judged.outside_pool
    if outside is not None:
        outside = outside[number[outside[:, 0]] >= 0]
        outside = np.column_stack([number[outside[:, 0]], outside[:, 1]])
    return replace(
        judged,
        queries=[judged.queries[query] for query in queries.tolist()],
        num_ret=judged.num_ret[queries],
        level_starts=level_starts,
        levels=judged.levels[levels],
        level_counts=judged.level_counts[levels],
        starts=starts,
        query=number[judged.query[hits]],
        rank=judged.rank[hits],
        level=judged.level[hits],
        judgement=judged.judgement[hits],
        corpus_size=None if judged.corpus_size is None else judged.corpus_size[queries],
        pool=None if judged.pool is None else part_of(judged.pool, queries),
        outside_pool=outside,
        tied=None if judged.tied is None else TiedRanks(*(ranks[hits] for ranks in judged.tied)),
        gains=gains,
        judged_below=None if judged.judged_below is None else judged.judged_below[queries],
    )


class JudgementPart(NamedTuple):
    """Some queries of qrels, as if they had no others.

    Attributes
    ----------
    judgements
        With these queries alone.
    query : (Q,)
        For each query of the whole qrels its number in the part, -1 for other queries.
    row : (J,)
        For each row of the whole qrels its row in the part, -1 for other rows.
    """

    judgements: Judgements
    query: IntArray
    row: IntArray

    @classmethod
    def of(cls, judgements: Judgements, queries: Collection[bytes]) -> JudgementPart:
        """Keep some queries."""
        kept = np.flatnonzero([query in queries for query in judgements.queries])
        rows, _ = rows_of(judgements.starts, kept)
        numbers = _numbers(len(judgements.queries), kept), _numbers(len(judgements.level), rows)
        return cls(judgements.of_queries(kept), *numbers)

    def hits(self, run: Hits) -> Hits:
        """Return the hits for these queries; the other queries of the run count as not judged."""
        judged = self.row[run.judgement]
        kept, top = judged >= 0, run.top
        query = np.where(run.query >= 0, self.query[run.query], -1)
        named = np.flatnonzero(self.query[top.query] >= 0)
        rows, starts = rows_of(top.starts, named)
        return replace(
            run,
            query=query,
            judgement=judged[kept],
            rank=run.rank[kept],
            top=TopDocuments(self.query[top.query[named]], starts, top.document.take(rows)),
            beginning=NO_BEGINNING,
            tied=None if run.tied is None else TiedRanks(*(ranks[kept] for ranks in run.tied)),
        )


def _numbers(count: int, kept: IntArray) -> IntArray:
    numbers: IntArray = np.full(count, -1, dtype=np.int64)
    numbers[kept] = np.arange(len(kept))
    return numbers
