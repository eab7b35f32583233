"""The holes of runs: unjudged documents that runs retrieved for judged queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ragkpi.arrays import BoolArray, IntArray
from ragkpi.files.lines import Tokens, spans
from ragkpi.ranking.judged import Settings
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.reading import Hits

DEEPEST = np.iinfo(np.int32).max
ROWS_AT_ONCE = 1 << 17  # sorting the hashes of this many documents fits into the cache

# Numbers of queries, holes or ranks: there can be millions, and int64 takes twice the memory.
SmallInts: TypeAlias = "npt.NDArray[np.int32]"


class HolesOfRun(NamedTuple):
    """The m holes that a run retrieves, by query and rank."""

    number: SmallInts  # (m,), of each among all holes
    rank: SmallInts  # (m,)


@dataclass(frozen=True, eq=False)
class Holes:
    """The n unjudged documents that R runs retrieved for judged queries."""

    judgements: Judgements
    of_runs: Sequence[HolesOfRun]  # length R
    query: SmallInts  # (n,), of each hole in the judgements, ascending
    document: Tokens  # (n,)

    def __len__(self) -> int:
        return len(self.query)

    @cached_property
    def best_rank(self) -> SmallInts:
        """The best rank of each hole in any run, (n,)."""
        best = np.full(len(self), DEEPEST, dtype=np.int32)
        for number, rank in self.of_runs:
            best[number] = np.minimum(best[number], rank)
        return best

    @cached_property
    def num_runs(self) -> SmallInts:
        """The number of runs that retrieve each hole, (n,)."""
        count = np.zeros(len(self), dtype=np.int32)
        for number, _ in self.of_runs:
            count[number] += 1  # a run has each document once
        return count

    def within(self, depth: int | None) -> BoolArray:
        """Whether some run retrieves each hole down to a depth, (n,); None for any depth."""
        return np.asarray(self.best_rank <= (DEEPEST if depth is None else depth))

    def num_own(self, depth: int | None) -> IntArray:
        """The number of holes of all runs for each judged query down to a depth, (J,)."""
        deepest, count = DEEPEST if depth is None else depth, len(self.judgements.queries)
        tops = (number[rank <= deepest] for number, rank in self.of_runs)
        numbers = [np.bincount(self.query[number], minlength=count) for number in tops]
        return np.asarray(np.sum(numbers, axis=0))

    def of_queries(self, first: int, last: int) -> tuple[Holes, int]:
        """Return the holes of the queries in a range, and the number of holes before them."""
        before, end = np.searchsorted(self.query, [first, last]).tolist()
        of_runs = []
        for number, rank in self.of_runs:
            some = slice(*np.searchsorted(self.query[number], [first, last]))
            of_runs.append(HolesOfRun(number[some] - before, rank[some]))
        some = slice(before, end)
        part = Holes(self.judgements, of_runs, self.query[some], self.document.take(some))
        return part, before


def find_holes(judgements: Judgements, runs: Sequence[Hits], settings: Settings) -> Holes:
    """Find the holes of runs that were read with the names of their top documents.

    Documents without a judgement or with a negative level are unjudged. Ranks below -M do not
    count. `UsageError` for qrels with gains instead of levels.
    """
    judgements.refuse_gains("holes are filled with levels")
    # One text, with offsets only of these documents: offsets of all documents take three times the
    # memory of the text.
    texts = [run.top.document.buffer for run in runs]
    text = texts[0] if len(texts) == 1 else np.concatenate(texts)
    before = np.cumsum([0, *map(len, texts)]).tolist()
    unjudged = [_unjudged(run, judgements, settings) for run in runs]
    numbers: list[list[SmallInts]] = [[] for _ in runs]
    queries: list[SmallInts] = [np.empty(0, dtype=np.int32)]
    kept, count = [Tokens(text, np.empty(0, np.int64), np.empty(0, np.int64))], 0
    for first, last in spans(np.sum([starts for starts, *_ in unjudged], axis=0), ROWS_AT_ONCE):
        retrieved, sizes = [], []
        for run, (starts, row, _), shift in zip(runs, unjudged, before, strict=False):
            document = run.top.document.take(row[starts[first] : starts[last]])
            retrieved.append(Tokens(text, document.start + shift, document.end + shift))
            sizes.append(np.diff(starts[first : last + 1]))
        document = Tokens.joined(retrieved)
        query = np.repeat(np.tile(np.arange(first, last), len(runs)), np.concatenate(sizes))
        places = np.arange(len(query))
        # A run has each document once.
        alike = document.first_rows(query) if len(runs) > 1 else places
        holes = np.flatnonzero(alike == places)
        holes = holes[np.argsort(query[holes], kind="stable")]
        number = np.empty(len(query), dtype=np.int32)
        number[holes] = count + np.arange(len(holes))
        ends = np.cumsum([size.sum() for size in sizes])[:-1]
        for of_run, part in zip(numbers, np.split(number[alike], ends), strict=True):
            of_run.append(part)
        queries.append(query[holes].astype(np.int32))
        kept.append(document.take(holes))
        count += len(holes)
    of_runs = [
        HolesOfRun(np.concatenate([np.empty(0, dtype=np.int32), *parts]), rank)
        for parts, (*_, rank) in zip(numbers, unjudged, strict=True)
    ]
    return Holes(judgements, of_runs, np.concatenate(queries), Tokens.joined(kept))


def _unjudged(
    run: Hits, judgements: Judgements, settings: Settings
) -> tuple[IntArray, SmallInts, SmallInts]:
    """Return the rows and ranks of the unjudged documents of a run, by query and rank, (m,) each.

    The first array, (J + 1,), has the start of each judged query.
    """
    row, deepest = run.rows_of_top(judgements), settings.max_retrieved
    unjudged = np.ones(len(run.top.document), dtype=bool)
    unjudged[row[(row >= 0) & (judgements.level[run.judgement] >= 0)]] = False
    rank, query = run.top.rank, run.top.query[run.top.group]
    rows = np.flatnonzero(unjudged & (rank <= (DEEPEST if deepest is None else deepest)))
    rows = rows[np.argsort(query[rows], kind="stable")]
    starts = np.searchsorted(query[rows], np.arange(len(judgements.queries) + 1))
    return starts, rows.astype(np.int32), rank[rows].astype(np.int32)
