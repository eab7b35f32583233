"""Holes: the unjudged documents that runs retrieved for judged queries.

There may be millions, so their ids stay in the runs until they are needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ragkpi.formats.groups import rows_of, spans
from ragkpi.formats.tokens import IntArray, Tokens
from ragkpi.ranking.hits import Hits, TopDocuments
from ragkpi.ranking.judged import BoolArray
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.settings import Settings
from ragkpi.records import dataclass, replace

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragkpi.studies.holes.open_runs import OpenRun

UNRETRIEVED = np.iinfo(np.int32).max
ROWS_AT_ONCE = 1 << 17  # the hashes of so many documents are sorted in the cache

# Numbers of queries, holes or ranks: there may be millions, and int64 takes twice the memory.
SmallInts: TypeAlias = "npt.NDArray[np.int32]"


@dataclass(frozen=True, eq=False)
class Holes:
    """The n unjudged documents that R runs retrieved for judged queries.

    Attributes
    ----------
    judgements
        The qrels.
    runs
        The names of the runs' documents, length R.
    query : (n,)
        The query of each hole, as a number in the judgements, ascending.
    rank : (R, n)
        The rank of each hole in each run; `UNRETRIEVED` if the run lacks it.
    known
        The numbers of holes that count as judged, and their level.
    """

    judgements: Judgements
    runs: Sequence[TopDocuments]
    query: SmallInts
    rank: SmallInts
    known: tuple[IntArray, int] = (np.empty(0, dtype=np.int64), 0)

    def __len__(self) -> int:
        return len(self.query)

    @cached_property
    def best_rank(self) -> SmallInts:
        """The best rank of each hole in any run, (n,)."""
        return np.asarray(self.rank.min(axis=0, initial=UNRETRIEVED))

    @cached_property
    def opened(self) -> dict[tuple[int, int | None, int | None], OpenRun]:
        """The runs that were opened already, by number, depth and cut; see `open_run`."""
        return {}

    def documents(self, chosen: IntArray) -> Tokens:
        """Return the ids of some holes."""
        query, parts, places = self.query[chosen], [], []
        of_run = (self.rank[:, chosen] < UNRETRIEVED).argmax(axis=0)
        for run, top in enumerate(self.runs):
            mine = np.flatnonzero(of_run == run)
            group = places_of(self.judgements, top)[query[mine]]
            rows = top.starts[group] + self.rank[run, chosen[mine]] - 1
            parts.append(Tokens.from_strings(top.document.take(rows)))
            places.append(mine)
        return Tokens.joined(parts).take(np.argsort(np.concatenate(places)))

    def within(self, depth: int | None) -> BoolArray:
        """Whether any run has each hole down to a depth, (n,); None for any depth."""
        deepest = UNRETRIEVED - 1 if depth is None else depth
        return np.asarray(self.best_rank <= deepest)

    def rows(self, queries: Sequence[bytes], cut: int | None) -> SmallInts:
        """Return the row of each hole's query among some queries, (n,).

        It is -1 for other queries, for known holes, and for holes that all runs have below `cut`.
        """
        row = self.judgements.places_among(queries).astype(np.int32)[self.query]
        row[~self.within(cut)] = -1
        row[self.known[0]] = -1
        return np.asarray(row)

    def with_known(self, chosen: Sequence[int], level: int) -> Holes:
        """Return the holes with some of them judged, at a level."""
        return replace(self, known=(np.array(chosen, dtype=np.int64), level))


def places_of(judgements: Judgements, top: TopDocuments) -> IntArray:
    """Return the number of each judged query in a run, -1 if the run lacks it, (Q,)."""
    places = np.full(len(judgements.queries), -1)
    places[top.query] = np.arange(len(top.query))
    return places


def find_holes(judgements: Judgements, runs: Sequence[Hits], settings: Settings) -> Holes:
    """Find the holes of runs that were read with the names of their top documents.

    Documents without a judgement and those of a negative level are unjudged. Ranks below -M do not
    count. `UsageError` for qrels with gains in place of levels.
    """
    judgements.refuse_gains("holes are filled with levels")
    deepest = UNRETRIEVED if settings.max_retrieved is None else settings.max_retrieved
    tops = [run.top for run in runs]
    places = np.stack([places_of(judgements, top) for top in tops])
    sizes = [np.append(np.diff(top.starts), 0) for top in tops]
    rows = sum(size[group] for size, group in zip(sizes, places, strict=True))
    unjudged = [_unjudged(run, judgements) for run in runs]
    parts = []
    for first, last in spans(np.concatenate([[0], np.cumsum(rows)]), ROWS_AT_ONCE):
        retrieved = []
        for top, open_, group in zip(tops, unjudged, places[:, first:last], strict=True):
            retrieved.append(_retrieved(top, open_, group[group >= 0], deepest))
        parts.append(_united(retrieved))
    query, rank = zip(*parts, strict=True)
    return Holes(judgements, tops, np.concatenate(query), np.concatenate(rank, axis=1))


def _unjudged(run: Hits, judgements: Judgements) -> BoolArray:
    """Whether each document that a run names is unjudged, (n,)."""
    unjudged = np.ones(len(run.top.document), dtype=bool)
    rows = run.rows_of_top(judgements)
    unjudged[rows[(rows >= 0) & (judgements.level[run.judgement] >= 0)]] = False
    return unjudged


def _retrieved(
    top: TopDocuments, unjudged: BoolArray, groups: IntArray, deepest: int
) -> tuple[IntArray, IntArray, Tokens]:
    """Return the query, rank and name of the unjudged documents of some queries, (n,) each."""
    rows, starts = rows_of(top.starts, groups)
    group = np.repeat(groups, np.diff(starts))
    rank = rows - top.starts[group] + 1
    kept = np.flatnonzero(unjudged[rows] & (rank <= deepest))
    return top.query[group[kept]], rank[kept], top.document.take(rows[kept])


def _united(runs: Sequence[tuple[IntArray, IntArray, Tokens]]) -> tuple[SmallInts, SmallInts]:
    """Unite the `_retrieved` documents of runs: query, (n,), and rank, (R, n), of each hole."""
    queries, ranks, documents = zip(*runs, strict=True)
    query, of_run = np.concatenate(queries), np.repeat(np.arange(len(runs)), [*map(len, queries)])
    # The first row with the same query and document; a run has each document once.
    first = np.arange(len(query))
    if len(runs) > 1:
        first = Tokens.joined(documents).first_rows(query)
    is_first = first == np.arange(len(first))
    number = np.cumsum(is_first)[first] - 1
    rank = np.full((len(runs), int(is_first.sum())), UNRETRIEVED, dtype=np.int32)
    rank[of_run, number] = np.concatenate(ranks)
    order = np.argsort(query[is_first], kind="stable")
    return query[is_first][order].astype(np.int32), rank[:, order]
