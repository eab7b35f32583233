"""Holes: the unjudged documents that runs retrieved, and runs judged under any levels for them.

What a run has where a measure looks stands among its hits; all other holes are only counted, for
they change nothing but how many documents of each level there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ragkpi.formats.identity import equal_tokens, hash_tokens
from ragkpi.formats.tokens import IntArray, Tokens
from ragkpi.measures.open_ranking import OpenRanking, level_counts
from ragkpi.ranking.hits import Hits
from ragkpi.ranking.judged import BoolArray, Judged
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.settings import Settings

UNRETRIEVED = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Holes:
    """The n unjudged documents that R runs retrieved for judged queries.

    Attributes
    ----------
    judgements
        The qrels.
    query : (n,)
        The query of each hole, as a number in the judgements.
    document : Tokens, length n
        Their ids.
    rank : (R, n)
        Where each run has them; `UNRETRIEVED` where it does not.
    known
        The numbers of holes that were judged meanwhile, and the level that they got.
    """

    judgements: Judgements
    query: IntArray
    document: Tokens
    rank: IntArray
    known: tuple[IntArray, int] = (np.empty(0, dtype=np.int64), 0)

    @cached_property
    def best_rank(self) -> IntArray:
        """The best rank that a run has each hole at, (n,)."""
        return np.asarray(self.rank.min(axis=0, initial=UNRETRIEVED))

    @cached_property
    def opened(self) -> dict[tuple[int, int | None, int | None], OpenRun]:
        """Runs that were opened already, by number, depth and `within`; see `open_run`."""
        return {}

    def within(self, depth: int | None) -> BoolArray:
        """Whether any run has each hole at or above a rank; None is the last, (n,)."""
        deepest = UNRETRIEVED - 1 if depth is None else depth
        return np.asarray(self.best_rank <= deepest)

    def with_known(self, chosen: Sequence[int], level: int) -> Holes:
        """Give some holes a level, so that they are none any more."""
        return replace(self, known=(np.array(chosen, dtype=np.int64), level))


def find_holes(judgements: Judgements, runs: Sequence[Hits], settings: Settings) -> Holes:
    """Find the holes of runs that were read with the names of their top documents.

    Unjudged are documents without a judgement and those with a negative level. Ranks below -M
    do not exist. `UsageError` for qrels that have gains and no levels.
    """
    judgements.refuse_gains("holes are filled with levels")
    deepest = UNRETRIEVED if settings.max_retrieved is None else settings.max_retrieved
    chosen = []
    for top in (run.top for run in runs):
        unjudged = (top.judgement < 0) | (judgements.level[top.judgement] < 0)
        rows = np.flatnonzero(unjudged & (top.rank <= deepest))
        chosen.append((top.query[rows], top.document.take(rows), top.rank[rows]))
    queries, documents, ranks = zip(*chosen, strict=True)
    query, document = np.concatenate(queries), Tokens.joined(documents)
    of_run = np.repeat(np.arange(len(runs)), [len(of_one) for of_one in ranks])
    first = np.arange(len(query)) if len(runs) == 1 else _first_of_equals(query, document)
    is_first = first == np.arange(len(first))
    rows = np.flatnonzero(is_first)
    number = np.cumsum(is_first)[first] - 1
    rank = np.full((len(runs), len(rows)), UNRETRIEVED)
    rank[of_run, number] = np.concatenate(ranks)
    return Holes(judgements, query[rows], document.take(rows), rank)


def _first_of_equals(query: IntArray, document: Tokens) -> IntArray:
    """Return for each row the first row with the same query and document, (n,)."""
    keys = hash_tokens(document) ^ (query.astype(np.uint64) << np.uint64(40))
    order = np.argsort(keys)
    ordered = keys[order]
    new = np.ones(len(order), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    first = np.empty(len(order), dtype=np.int64)
    starts = np.flatnonzero(new)
    if len(starts):
        first[order] = np.repeat(
            np.minimum.reduceat(order, starts), np.diff(starts, append=len(order))
        )
    rows = np.flatnonzero(first != np.arange(len(first)))
    same = query[rows] == query[first[rows]]
    if not (same.all() and equal_tokens(document, rows, document, first[rows]).all()):
        # Two ids with one key: hardly possible, yet a hash must not decide.
        seen: dict[tuple[int, bytes], int] = {}
        pairs = zip(query.tolist(), document, strict=True)
        return np.array([seen.setdefault(pair, row) for row, pair in enumerate(pairs)])
    return first


@dataclass(frozen=True, eq=False)
class OpenRun(OpenRanking):
    """An `OpenRanking` that knows which holes it has.

    Attributes
    ----------
    number : (Q, U)
        Which of all n holes each of the at most U own ones of a query is; -1 for none.
    row : (n,)
        For each hole its query in the run; -1 if it is none here.
    """

    number: IntArray
    row: IntArray

    def assigned(
        self, query: IntArray, levels: IntArray, others: IntArray, scale: Sequence[int]
    ) -> Judged:
        """Judge V rankings.

        Parameters
        ----------
        query : (V,)
            For each ranking a query of the run.
        levels : (V, U)
            Levels of a scale for its own holes; whatever stands behind the last is ignored.
        others : (V, len(scale))
            How many of the other holes have each level of the scale.
        """
        judged = self.judged
        size = np.diff(judged.starts)[query]
        starts = np.concatenate([[0], np.cumsum(size)])
        of = np.repeat(np.arange(len(query)), size)
        hit = np.arange(starts[-1]) - starts[of] + judged.starts[query][of]
        level, hole = judged.level[hit], self.hole[hit]
        open_ = np.flatnonzero(hole >= 0)
        level[open_] = levels[of[open_], hole[open_]]
        known, counts = level_counts(judged, query, scale)
        place = np.searchsorted(known, level[open_])
        added = np.bincount(of[open_] * len(known) + place, minlength=counts.size)
        counts += added.reshape(counts.shape)
        for step, count in zip(scale, others.T, strict=True):
            counts[:, np.searchsorted(known, step)] += count
        row, column = np.nonzero(counts)
        return replace(
            judged,
            queries=[judged.queries[number] for number in query.tolist()],
            num_ret=judged.num_ret[query],
            level_starts=np.searchsorted(row, np.arange(len(query) + 1)),
            levels=known[column],
            level_counts=counts[row, column],
            starts=starts,
            query=of,
            rank=judged.rank[hit],
            level=level,
            judgement=judged.judgement[hit],
            corpus_size=None if judged.corpus_size is None else judged.corpus_size[query],
        )


def open_run(
    holes: Holes, run: int, judged: Judged, depth: int | None, within: int | None = None
) -> OpenRun:
    """Put holes among the hits of a run.

    Parameters
    ----------
    holes, run
        The holes, and the number of the run.
    judged
        The same run.
    depth
        Holes that the run has below this rank are others; None is the last.
    within
        What all runs have below this rank stays unjudged.
    """
    key = (run, depth, within)
    if key not in holes.opened:
        holes.opened[key] = _opened(holes, run, judged, depth, within)
    return holes.opened[key]


def _opened(
    holes: Holes, run: int, judged: Judged, depth: int | None, within: int | None
) -> OpenRun:
    deepest = UNRETRIEVED - 1 if depth is None else depth
    num_queries = len(judged.queries)
    row = holes.judgements.places_among(judged.queries)[holes.query]
    known, level = holes.known
    known = known[row[known] >= 0]
    of_known = row[known]
    if within is not None:
        row[~holes.within(within)] = -1
    row[known] = -1
    own = np.flatnonzero((holes.rank[run] <= deepest) & (row >= 0))
    own = own[np.lexsort((holes.rank[run, own], row[own]))]
    starts = np.searchsorted(row[own], np.arange(num_queries + 1))
    place = np.arange(len(own)) - starts[row[own]]
    number = np.full((num_queries, int(place.max(initial=-1)) + 1), -1)
    number[row[own], place] = own
    num_open = np.bincount(row + 1, minlength=num_queries + 1)[1:]

    kept = np.flatnonzero((judged.level >= 0) & (judged.rank <= deepest))
    shown = holes.rank[run, known] <= deepest
    query = np.concatenate([judged.query[kept], of_known[shown], row[own]])
    rank = np.concatenate([judged.rank[kept], holes.rank[run, known[shown]], holes.rank[run, own]])
    order = np.lexsort((rank, query))
    added = [np.full(int(shown.sum()), level), np.full(len(own), -1)]
    hole = np.concatenate([np.full(len(kept) + len(added[0]), -1), place])
    opened = replace(
        _with_levels(judged, of_known, level),
        starts=np.searchsorted(query[order], np.arange(num_queries + 1)),
        query=query[order],
        rank=rank[order],
        level=np.concatenate([judged.level[kept], *added])[order],
        judgement=np.append(judged.judgement[kept], np.full(len(order) - len(kept), -1))[order],
    )
    return OpenRun(opened, hole[order], num_open - np.diff(starts), number, row)


def _with_levels(judged: Judged, query: IntArray, level: int) -> Judged:
    """Count documents of some queries, judged meanwhile, among the judged ones."""
    if not len(query):
        return judged
    levels, counts = level_counts(judged, np.arange(len(judged.queries)), [level])
    np.add.at(counts[:, np.searchsorted(levels, level)], query, 1)
    row, column = np.nonzero(counts)
    return replace(
        judged,
        level_starts=np.searchsorted(row, np.arange(len(judged.queries) + 1)),
        levels=levels[column],
        level_counts=counts[row, column],
    )
