"""`Judged`: the arrays from which measures compute, with the settings, grade map and gains.

Qrels and gains have separate tasks. Qrels determine which documents are judged and relevant; gains
determine what a judged document is worth to the measures that take gains. A judged document without
a gain is worth 0; unjudged documents have no gain. Qrels with fractional levels have gains instead
of levels.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from typing import Any, Concatenate, Literal, NamedTuple, ParamSpec, TypeVar, cast

import numpy as np

from ragkpi.arrays import BoolArray, FloatArray, IntArray
from ragkpi.errors import DataError, UsageError
from ragkpi.files.inputs import new_sha256
from ragkpi.files.trec import QrelsColumns
from ragkpi.interface import spell
from ragkpi.ranking.judgements import Judgements, TiedRanks, group_judgements
from ragkpi.wording import counted, named


@dataclass(frozen=True)
class GradeMap:
    """A named map from judged levels to rubric grades (5 best, 1 worst).

    A level from 0 that is not in the map is an error, because guessing a file's scale from its
    levels fails if the top grade is rare.
    """

    name: str
    rubric: Mapping[int, int]

    def __hash__(self) -> int:
        return hash((self.name, tuple(sorted(self.rubric.items()))))

    def lacks(self, levels: IntArray) -> str:
        """Name the level missing from the map and the presets that would fit; else ""."""
        present = set(levels[levels >= 0].tolist())
        unknown = sorted(present - set(self.rubric))
        if not unknown:
            return ""
        fitting = [name for name, map_ in GRADE_MAPS.items() if present <= set(map_.rubric)]
        advice = " or ".join(f"{spell('grade_map')} {name}" for name in fitting)
        return (
            f"judged level {unknown[0]} is not in the grade map '{self.name}' "
            f"({self}); give " + (advice or f"{spell('grade_map')} 0=1,1=3,… with every level")
        )

    def __str__(self) -> str:
        return ",".join(f"{level}={grade}" for level, grade in sorted(self.rubric.items()))


GRADE_MAPS: Mapping[str, GradeMap] = {
    map_.name: map_
    for map_ in (
        GradeMap("umbrela", {0: 1, 1: 3, 2: 4, 3: 5}),
        GradeMap("umbrela-strict", {0: 1, 1: 2, 2: 4, 3: 5}),
        GradeMap("rag25", {0: 1, 1: 2, 2: 3, 3: 4, 4: 5}),
        GradeMap("rubric", {1: 1, 2: 2, 3: 3, 4: 4, 5: 5}),
        GradeMap("binary", {0: 1, 1: 5}),
    )
}


def parse_grade_map(text: str) -> GradeMap:
    """Read a preset's name or a list such as ``0=1,1=3,2=4,3=5``; else `UsageError`."""
    if text in GRADE_MAPS:
        return GRADE_MAPS[text]
    presets = ", ".join(GRADE_MAPS)
    wrong = (
        f"neither a preset ({presets}) nor LEVEL=GRADE with a level from 0 and a grade from 1 to 5"
    )
    rubric = parse_levels(text, spell("grade_map"), wrong)
    for level, grade in rubric.items():
        if level < 0 or not 1 <= grade <= 5:
            raise UsageError(f"{spell('grade_map')} {text}: '{level}={grade}' is {wrong}")
    return GradeMap(text, rubric)


def parse_levels(text: str, name: str, wrong: str) -> dict[int, int]:
    """Read a list such as ``0=0,1=0,2=1`` of the option `name`; other texts are `wrong`."""
    numbers: dict[int, int] = {}
    for item in text.split(","):
        level, _, number = item.partition("=")
        if not (level.removeprefix("-").isdecimal() and number.isdecimal()):
            raise UsageError(f"{name} {text}: '{item}' is {wrong}")
        if int(level) in numbers:
            raise UsageError(f"{name} {text}: level {level} is given twice")
        numbers[int(level)] = int(number)
    return numbers


class Worth(NamedTuple):
    """The worth of each judgement, (J,), and whether it has a gain, (J,)."""

    gain: FloatArray
    has_gain: BoolArray


@dataclass(frozen=True, eq=False)
class ExternalGains:
    """Gains from a file or from memory, for any qrels."""

    grouped: Judgements  # the documents with a gain
    gain: FloatArray  # of each

    @classmethod
    def of(cls, columns: QrelsColumns) -> ExternalGains:
        """Group gains by query; `DataError` if a document has two."""
        grouped = group_judgements(columns)
        gain = grouped.level.astype(np.float64) if grouped.gain is None else grouped.gain
        return cls(grouped, gain)

    @property
    def sha256(self) -> str:
        """Hash the sorted gains, so that file formats do not matter."""
        query = self.grouped.query.tolist()
        rows = zip(query, self.grouped.document, self.gain.tolist(), strict=True)
        lines = sorted(b"%b %b %r\n" % (self.grouped.queries[q], doc, g) for q, doc, g in rows)
        digest = new_sha256()
        digest.update(b"".join(lines))
        return str(digest.hexdigest())

    def worth(self, judgements: Judgements) -> Worth:
        """Return each judgement's worth; `DataError` for an unjudged document with a gain."""
        grouped = self.grouped
        query = np.array([judgements.index.get(id_, -1) for id_ in grouped.queries], dtype=np.int64)
        line, row = judgements.find(query, grouped.starts, grouped.document)
        line, row = (places[judgements.level[row] >= 0] for places in (line, row))
        unjudged = query[grouped.query] >= 0
        unjudged[line] = False
        if unjudged.any():
            first = int(np.flatnonzero(unjudged)[0])
            count = counted(int(unjudged.sum()), "document has", "documents have")
            raise DataError(
                f"{grouped.file}: {count} a gain and no judgement in {judgements.file}, first "
                f"{named(grouped.document[first])} of query "
                f"{named(grouped.queries[grouped.query[first]])}; expected gains of judged "
                "documents"
            )
        worth = Worth(np.zeros(len(judgements.level)), np.zeros(len(judgements.level), dtype=bool))
        worth.gain[row] = self.gain[line]
        worth.has_gain[row] = True
        return worth

    def notes(self, judgements: Judgements, relevance_level: int) -> list[str]:
        """Return a note on relevant documents without a gain."""
        notes = []
        relevant = judgements.level >= max(relevance_level, 1)
        missing = int((relevant & ~self.worth(judgements).has_gain).sum())
        if missing:
            have = counted(missing, "relevant document has", "relevant documents have")
            notes.append(f"{have} no gain in {self.grouped.file}: worth 0")
        return notes


def gains_of(
    judgements: Judgements,
    gains: ExternalGains | None,
    number: IntArray,
    queries: int,
    hits: IntArray,
) -> RealGains | None:
    """Return the gains of a judged run; None if its levels are its gains.

    `number` maps each query of the qrels to its number among the `queries` of the run, or -1.
    `hits` are the judgements of the hits, (H,).
    """
    worth = judgements.gain if gains is None else gains.worth(judgements).gain
    if worth is None:
        return None
    query = number[judgements.query]
    rows = np.flatnonzero((query >= 0) & (judgements.level >= 0))
    rows = rows[np.lexsort((-worth[rows], query[rows]))]
    starts = np.searchsorted(query[rows], np.arange(queries + 1))
    return RealGains(np.where(judgements.level >= 0, worth, 0.0)[hits], starts, worth[rows])


Missing = Literal["intersection", "zero", "error", "common", "trec_eval"]
"""Judged queries missing from a run are left out, evaluated as empty rankings (-c), an error
(--strict), left out of all runs (--common), or left out of a TREC file and else empty rankings."""
Unjudged = Literal["kept", "removed"]
"""Unjudged documents stay and count as nonrelevant, or are removed from the ranking (-J)."""
TieOrder = Literal["id", "expected"]
"""Documents with equal scores rank by id, as in trec_eval, or values are expectations over all
orders (--ties expected)."""
Draws = Literal["nominal", "ret"]
"""A random draw has K documents, or min(K, retrieved)."""
Doubts = Literal["said", "refused"]
"""How to treat doubts about all values of a run (`ragkpi.ranking.notes`; --strict)."""
PoolUnion = Literal["pool", "union"]
"""The pool stays as it is, or each run's top K is added."""

DEEPEST = 2**62


@dataclass(frozen=True)
class Settings:
    """The choices that change values."""

    relevance_level: int = 1  # the lowest judged level that counts as relevant, from 0 (-l)
    missing: Missing = "zero"
    unjudged: Unjudged = "kept"
    max_retrieved: int | None = None  # keep only this many top documents of each query (-M)
    ties: TieOrder = "id"
    gains: ExternalGains | None = None  # of judged documents, unless levels are gains
    only_query: bytes | None = None  # evaluate only this query (-D 0.QID)
    corpus_size: int | None = None  # the number of retrievable documents (-N)
    corpus_sizes: Mapping[bytes, int] = field(default_factory=dict)  # of single queries
    draws: Draws = "nominal"
    grade_map: GradeMap = GRADE_MAPS["umbrela"]  # from judged levels to the 1-5 rubric
    pool_depth: int | None = None  # keep only this many top documents of each query of the pool
    pool_union: PoolUnion = "pool"
    doubts: Doubts = "said"

    def __post_init__(self) -> None:
        """Cap depths at the deepest that numpy can compare.

        Raises `UsageError` for an expectation over ties without a closed form.
        """
        if self.ties == "expected" and self.unjudged == "removed":
            options = f"{spell('ties')} expected and {spell('unjudged', 'removed')}"
            raise UsageError(f"{options}: give one of the two")
        for name in ("max_retrieved", "pool_depth"):
            depth = getattr(self, name)
            if depth is not None and depth > DEEPEST:
                object.__setattr__(self, name, DEEPEST)


Parameters = ParamSpec("Parameters")
Derived = TypeVar("Derived")


class RealGains(NamedTuple):
    """Gains of a judged run."""

    of_hits: FloatArray  # (H,)
    starts: IntArray  # (Q+1,), of the queries in `best_first`
    best_first: FloatArray  # gains of each query's judged documents, retrieved or not, descending


@dataclass(frozen=True, eq=False)
class Judged:
    """The retrieved and judged documents ("hits") of a run, for Q queries and H hits.

    An unjudged document only takes a rank, so a run of millions of lines becomes a few flat arrays,
    ordered by query and rank. `-M`, `-J`, ties, duplicates and missing queries have been resolved:
    every measure computes from these arrays.

    Query q has the hits ``starts[q]:starts[q + 1]``, and ``level_counts[j]`` judged documents of
    ``levels[j]`` for j in ``level_starts[q]:level_starts[q + 1]``.
    """

    queries: list[bytes]  # ids in byte order
    num_ret: IntArray  # (Q,), retrieved documents
    level_starts: IntArray  # (Q+1,)
    levels: IntArray  # (L,), of judged documents, retrieved or not, from 0, ascending in a query
    level_counts: IntArray  # (L,)
    starts: IntArray  # (Q+1,)
    query: IntArray  # (H,), of each hit, 0..Q-1
    rank: IntArray  # (H,), from 1
    level: IntArray  # (H,); negative: in the pool but unjudged
    judgement: IntArray  # (H,), row of the judgements
    settings: Settings
    run_id: bytes = b""  # the last of the file
    # (Q,), the corpus size of each query; None if no measure needs it.
    corpus_size: IntArray | None = None
    pool: Judged | None = None  # the first stage of the run, over the same queries
    # (M, 2), query and rank of every retrieved document outside the pool, judged or not; None
    # without a pool, or if no measure needs it.
    outside_pool: IntArray | None = None
    # The ranks that each hit shares with equal scores, also below -M; None unless
    # ``settings.ties`` is ``"expected"``.
    tied: TiedRanks | None = None
    gains: RealGains | None = None  # of hits and judged documents; None if levels are gains
    # (Q,), retrieved documents that can be judged but are not hits, because hits end at some rank;
    # None if all judged documents are hits.
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
        return np.repeat(np.arange(len(self.queries)), np.diff(self.level_starts))

    @cached_property
    def num_judged(self) -> IntArray:
        """Documents judged at level 0 or above, retrieved or not, (Q,)."""
        sums = np.bincount(self.level_query, self.level_counts, minlength=len(self.queries))
        return sums.astype(np.int64)

    @cached_property
    def num_rel(self) -> IntArray:
        """R: documents judged at or above the relevance level, retrieved or not, (Q,)."""
        counted = np.where(self.levels >= self.settings.relevance_level, self.level_counts, 0)
        sums = np.bincount(self.level_query, weights=counted, minlength=len(self.queries))
        return sums.astype(np.int64)

    @cached_property
    def num_rel_ret(self) -> IntArray:
        return self.per_query(self.relevant).astype(np.int64)

    @cached_property
    def rel_count(self) -> IntArray:
        """r(i): relevant documents down to and including each hit, (H,)."""
        return self.running(self.relevant)

    def running(self, counted: BoolArray) -> IntArray:
        """For each hit, how many `counted` hits of its query rank at or above it, (H,)."""
        total = np.concatenate([[0], np.cumsum(counted, dtype=np.int64)])
        above: IntArray = total[1:] - total[self.starts[:-1]][self.query]
        return above

    @cached_property
    def num_judged_ret(self) -> IntArray:
        hits = self.per_query(self.level >= 0).astype(np.int64)
        return hits if self.judged_below is None else hits + self.judged_below

    def share_judged(self, depth: int | None = None) -> float:
        """Judged share of retrieved documents, all or down to a depth; NaN if there are none."""
        last = DEEPEST if depth is None else depth
        retrieved = int(np.minimum(self.num_ret, last).sum())
        return float(self.judged_at(last).sum() / retrieved) if retrieved else float("nan")

    def judged_at(self, cutoff: int) -> FloatArray:
        """Judged documents among the first `cutoff` retrieved, (Q,)."""
        return self.per_query((self.level >= 0) & (self.rank <= cutoff))

    def num_rel_at(self, depth: int | FloatArray | IntArray) -> FloatArray | IntArray:
        """Relevant documents among the first `depth` retrieved, a number or one per query, (Q,).

        With ``ties="expected"``, the mean over all orders of equal scores.
        """
        of_hits = depth[self.query] if isinstance(depth, np.ndarray) else depth
        if self.tied is not None:
            return self.per_query(np.where(self.relevant, self.share_within(of_hits), 0.0))
        return self.per_query(self.relevant & (self.rank <= of_hits)).astype(np.int64)

    @property
    def tied_ranks(self) -> TiedRanks:
        """The ranks that each hit shares; `ValueError` if the run was judged without its ties."""
        if self.tied is None:
            raise ValueError("the run was not judged for its ties")
        return self.tied

    def share_within(self, depth: int | FloatArray | IntArray) -> FloatArray:
        """Share of the orders of equal scores that have each hit at `depth` or above, (H,).

        -M cuts every order.
        """
        (first, last), limit = self.tied_ranks, self.settings.max_retrieved
        deepest = depth if limit is None else np.minimum(depth, limit)
        size = last - first + 1
        return np.asarray(np.clip(deepest - first + 1, 0, size) / size)

    @cached_property
    def precision_at_relevant(self) -> FloatArray:
        """r(i)/i at the rank i of each relevant hit, 0 at other hits, (H,)."""
        return np.where(self.relevant, self.rel_count, 0) / self.rank

    def precision_sum(self, cutoff: int | None = None) -> FloatArray:
        """Sum r(i)/i over the ranks i of relevant documents, all or down to a cutoff, (Q,)."""
        precision = self.precision_at_relevant
        if cutoff is not None:
            precision = np.where(self.rank <= cutoff, precision, 0.0)
        return self.per_query(precision)

    def first_relevant(self, cutoff: int | None = None) -> IntArray:
        """Rank of the first relevant document, all or down to a cutoff, (Q,); 0 for none."""
        first = self.relevant & (self.rel_count == 1)
        if cutoff is not None:
            first &= self.rank <= cutoff
        return self.per_query(np.where(first, self.rank, 0)).astype(np.int64)


def judged_from_counts(corpus_size: int, relevant: Sequence[int], settings: Settings) -> Judged:
    """Make a query for each count of relevant documents, all that a random draw depends on."""
    if not relevant or min(relevant) < 1 or max(relevant) > corpus_size:
        numbers = ",".join(map(str, relevant))
        raise UsageError(
            f"{spell('relevant')} {numbers}: expected numbers from 1 to the corpus size, "
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
        settings=replace(settings, draws="nominal"),  # "ret" would draw no documents
        corpus_size=np.full(len(counts), corpus_size, dtype=np.int64),
    )


def quotient(
    numerator: FloatArray | IntArray, denominator: FloatArray | IntArray, undefined: float = 0.0
) -> FloatArray:
    """Divide elementwise; `undefined` if the denominator is 0."""
    above = np.asarray(numerator, dtype=np.float64)
    below = np.asarray(denominator, dtype=np.float64)
    quotients: FloatArray = np.full(np.broadcast(above, below).shape, undefined)
    return np.divide(above, below, out=quotients, where=below != 0)


def ratio(numerator: FloatArray | IntArray, denominator: FloatArray | IntArray) -> FloatArray:
    """Divide elementwise; NaN (printed as NA) if the denominator is 0."""
    return quotient(numerator, denominator, np.nan)


def shared(
    function: Callable[Concatenate[Judged, Parameters], Derived],
) -> Callable[Concatenate[Judged, Parameters], Derived]:
    """Compute ``function(judged, *arguments)`` once per run and share it among measures."""

    @wraps(function)
    def remembered(
        judged: Judged, /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Derived:
        hashable = (tuple(arg.items()) if isinstance(arg, Mapping) else arg for arg in args)
        key: Hashable = (function, *hashable, *kwargs.items())
        if key not in judged.derived:
            judged.derived[key] = function(judged, *args, **kwargs)
        return cast("Derived", judged.derived[key])

    return remembered
