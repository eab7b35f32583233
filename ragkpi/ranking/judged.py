"""`Judged`: a run as measures see it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeAlias, TypeVar, cast

import numpy as np

from ragkpi.errors import UsageError
from ragkpi.interface import option
from ragkpi.ranking.judgements import TiedRanks
from ragkpi.ranking.settings import Settings
from ragkpi.records import NamedTuple, dataclass, replace

if TYPE_CHECKING:
    import numpy.typing as npt

IntArray: TypeAlias = "npt.NDArray[np.int64]"
FloatArray: TypeAlias = "npt.NDArray[np.float64]"
BoolArray: TypeAlias = "npt.NDArray[np.bool_]"
Arguments = ParamSpec("Arguments")
Derived = TypeVar("Derived")


class RealGains(NamedTuple):
    """Gains of a judged run.

    Attributes
    ----------
    of_hits : (H,)
        What each hit is worth.
    starts, best_first : (Q+1,), (n,)
        What the judged documents of each query are worth, retrieved or not, descending.
    """

    of_hits: FloatArray
    starts: IntArray
    best_first: FloatArray


@dataclass(frozen=True, eq=False)
class Judged:
    """The retrieved and judged documents ("hits") of a run, for Q queries and H hits.

    An unjudged document is only a place in the ranking, so a run of millions of lines is a few
    flat arrays, ordered by query and rank. `-M`, `-J`, ties, duplicates and missing queries are
    settled before: every measure computes from these arrays.

    Attributes
    ----------
    queries : list of bytes, length Q
        Query ids in byte order.
    num_ret : (Q,)
        Retrieved documents.
    level_starts, levels, level_counts : (Q+1,), (L,), (L,)
        Judged documents per level >= 0, retrieved or not: query q has ``level_counts[j]``
        documents of ``levels[j]`` for j in ``level_starts[q]:level_starts[q + 1]``, levels
        ascending.
    starts : (Q+1,)
        The hits of query q are ``starts[q]:starts[q + 1]``.
    query, rank, level, judgement : (H,)
        For each hit its query (0..Q-1), its 1-based rank, its judged level (negative: in the pool
        but unjudged) and its row in the judgements.
    tied
        The ranks that each hit shares with equal scores, (H,), those below -M included; None
        unless ``settings.ties`` is ``"expected"``.
    gains
        What hits and judged documents are worth; None where that is their level.
    judged_below : (Q,) or None
        Retrieved documents that may be judged though they are no hits, where hits end at some rank;
        None where all judged ones are hits.
    settings
        The choices of this evaluation.
    run_id
        The last run id of the file.
    corpus_size : (Q,) or None
        Documents that could have been retrieved; None where no measure needs it.
    pool : Judged or None
        The first stage that the run was selected from, over the same queries; None if not given.
    outside_pool : (M, 2) or None
        Query and rank of every retrieved document that the pool lacks, judged or not; None
        without a pool, or where no measure needs it.
    """

    queries: list[bytes]
    num_ret: IntArray
    level_starts: IntArray
    levels: IntArray
    level_counts: IntArray
    starts: IntArray
    query: IntArray
    rank: IntArray
    level: IntArray
    judgement: IntArray
    settings: Settings
    run_id: bytes = b""
    corpus_size: IntArray | None = None
    pool: Judged | None = None
    outside_pool: IntArray | None = None
    tied: TiedRanks | None = None
    gains: RealGains | None = None
    judged_below: IntArray | None = None

    def per_query(self, weights: FloatArray | IntArray | BoolArray) -> FloatArray:
        """Sum a quantity of the hits, (H,), per query, (Q,), from the first rank to the last.

        Sequential like a C loop: numpy's `sum` and `add.reduceat` are pairwise and differ from
        trec_eval in the last bit.
        """
        sums = np.bincount(self.query, weights=weights, minlength=len(self.queries))
        return sums.astype(np.float64, copy=False)

    @cached_property
    def relevant(self) -> BoolArray:
        """Whether each hit is relevant, (H,)."""
        return (self.level >= 0) & (self.level >= self.settings.relevance_level)

    @cached_property
    def derived(self) -> dict[Hashable, Any]:
        """Intermediate results that measures share; see `shared`."""
        return {}

    @cached_property
    def level_query(self) -> IntArray:
        """The query that each entry of `levels` belongs to, (L,)."""
        return np.repeat(np.arange(len(self.queries)), np.diff(self.level_starts))

    @cached_property
    def num_rel(self) -> IntArray:
        """R: documents judged at or above the relevance level, retrieved or not, (Q,)."""
        counted = np.where(self.levels >= self.settings.relevance_level, self.level_counts, 0)
        return np.bincount(self.level_query, weights=counted, minlength=len(self.queries)).astype(
            np.int64
        )

    @cached_property
    def num_rel_ret(self) -> IntArray:
        """Relevant documents retrieved, (Q,)."""
        return self.per_query(self.relevant).astype(np.int64)

    @cached_property
    def found(self) -> IntArray:
        """r(i): relevant documents down to and including each hit, (H,)."""
        return self.running(self.relevant)

    def running(self, counted: BoolArray) -> IntArray:
        """For each hit, how many `counted` hits of its query rank at or above it, (H,)."""
        total = np.concatenate([[0], np.cumsum(counted, dtype=np.int64)])
        above: IntArray = total[1:] - total[self.starts[:-1]][self.query]
        return above

    @cached_property
    def num_judged_ret(self) -> IntArray:
        """Judged documents retrieved, (Q,)."""
        hits = self.per_query(self.level >= 0).astype(np.int64)
        return hits if self.judged_below is None else hits + self.judged_below

    def found_at(self, cutoff: int) -> IntArray:
        """Relevant documents among the first `cutoff` retrieved, (Q,)."""
        return self.per_query(self.relevant & (self.rank <= cutoff)).astype(np.int64)

    def found_within(self, depth: FloatArray | IntArray) -> IntArray:
        """Relevant documents among the first `depth` retrieved, a depth per query, (Q,)."""
        within = self.rank <= depth[self.query]
        return self.per_query(self.relevant & within).astype(np.int64)

    @cached_property
    def precision_at_relevant(self) -> FloatArray:
        """r(i)/i at the rank i of each relevant hit, 0 at other hits, (H,)."""
        return np.where(self.relevant, self.found, 0) / self.rank

    def precision_sum(self, cutoff: int | None = None) -> FloatArray:
        """Sum r(i)/i over the ranks i of relevant documents, all or down to a cutoff, (Q,)."""
        precision = self.precision_at_relevant
        if cutoff is not None:
            precision = np.where(self.rank <= cutoff, precision, 0.0)
        return self.per_query(precision)

    def first_relevant(self, cutoff: int | None = None) -> IntArray:
        """Rank of the first relevant document, all or down to a cutoff, (Q,); 0 for none."""
        first = self.relevant & (self.found == 1)
        if cutoff is not None:
            first &= self.rank <= cutoff
        return self.per_query(np.where(first, self.rank, 0)).astype(np.int64)


def judged_from_counts(corpus_size: int, relevant: Sequence[int], settings: Settings) -> Judged:
    """Make a query of each count of relevant documents: chance needs no more.

    Raises
    ------
    UsageError
        If more are relevant than there are.
    """
    if not relevant or min(relevant) < 1 or max(relevant) > corpus_size:
        given = ",".join(map(str, relevant))
        raise UsageError(
            f"{option('relevant')} {given}: expected numbers from 1 to the corpus size, "
            f"{corpus_size}"
        )
    counts = np.array(relevant, dtype=np.int64)
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


def ratio(numerator: FloatArray | IntArray, denominator: FloatArray | IntArray) -> FloatArray:
    """Divide elementwise; NaN, which is NA, where the denominator is 0."""
    below = np.asarray(denominator, dtype=np.float64)
    ratios: FloatArray = np.full(below.shape, np.nan)
    np.divide(numerator, below, out=ratios, where=below != 0)
    return ratios


def quotient(numerator: FloatArray | IntArray, denominator: FloatArray | IntArray) -> FloatArray:
    """Divide elementwise; 0 where the denominator is 0."""
    above = np.asarray(numerator, dtype=np.float64)
    below = np.asarray(denominator, dtype=np.float64)
    return np.divide(above, below, out=np.zeros(np.broadcast(above, below).shape), where=below != 0)


def shared(
    function: Callable[Concatenate[Judged, Arguments], Derived],
) -> Callable[Concatenate[Judged, Arguments], Derived]:
    """Compute ``function(judged, *arguments)`` once per run, and keep it for other measures."""

    @wraps(function)
    def remembered(judged: Judged, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Derived:
        key: Hashable = (function, args, tuple(kwargs.items()))
        if key not in judged.derived:
            judged.derived[key] = function(judged, *args, **kwargs)
        return cast("Derived", judged.derived[key])

    return remembered
