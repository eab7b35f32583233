"""Settings: the choices of an evaluation besides its files; every policy is a named value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from ragkpi.errors import UsageError
from ragkpi.interface import option
from ragkpi.ranking.grade_maps import GRADE_MAPS, GradeMap
from ragkpi.records import dataclass, field

if TYPE_CHECKING:
    from ragkpi.ranking.gains import GivenGains

Missing = Literal["intersection", "zero", "error", "common"]
Unjudged = Literal["kept", "removed"]
TieOrder = Literal["id", "expected"]
Draws = Literal["nominal", "ret"]
Doubts = Literal["said", "refused"]
PoolUnion = Literal["pool", "union"]

_DEEPEST = 2**62


@dataclass(frozen=True)
class Settings:
    """The choices that change numbers.

    Attributes
    ----------
    relevance_level
        Lowest judged level that counts as relevant for binary measures (``-l``), at least 0.
    missing
        What becomes of judged queries that the run lacks: ``"intersection"`` leaves them out,
        ``"zero"`` evaluates an empty ranking (``-c``), ``"error"`` refuses the run (``--strict``),
        and ``"common"`` leaves out what any of several runs lacks (``--common``).
    unjudged
        ``"kept"`` leaves unjudged documents in the ranking as nonrelevant, ``"removed"`` closes
        the ranks over them before anything is computed (``-J``).
    max_retrieved
        Only this many top documents of each query exist (``-M``); None for all.
    ties
        ``"id"`` ranks documents of equal scores by their ids, as trec_eval does; ``"expected"``
        takes the expected value over all their orders (``--ties expected``).
    gains
        What judged documents are worth where that is not their level (``--gains``).
    only_query
        Evaluate this query alone (``-D 0.QID``).
    corpus_size
        Number of documents that could have been retrieved (``-N``); None if not given.
    corpus_sizes
        The same for single queries (``--corpus-sizes``); overrides `corpus_size`.
    draws
        Whether chance draws K documents (``"nominal"``) or min(K, retrieved) (``"ret"``).
    grade_map
        How judged levels map to the 1-5 rubric of the evidence measures.
    pool_depth
        Only this many top documents of each query of the pool exist; None for all.
    pool_union
        ``"pool"`` keeps the pool as given, ``"union"`` adds each run's top K to it.
    doubts
        Whether doubts about all values of a run are ``"said"`` or ``"refused"`` (``--strict``);
        see `ragkpi.ranking.doubts`.
    """

    relevance_level: int = 1
    missing: Missing = "intersection"
    unjudged: Unjudged = "kept"
    max_retrieved: int | None = None
    ties: TieOrder = "id"
    gains: GivenGains | None = None
    only_query: bytes | None = None
    corpus_size: int | None = None
    corpus_sizes: Mapping[bytes, int] = field(default_factory=dict)
    draws: Draws = "nominal"
    grade_map: GradeMap = GRADE_MAPS["umbrela"]
    pool_depth: int | None = None
    pool_union: PoolUnion = "pool"
    doubts: Doubts = "said"

    def __post_init__(self) -> None:
        """Cut depths to the deepest that numpy can compare with.

        Raises
        ------
        UsageError
            If an expectation over ties is asked for that has no closed form.
        """
        if (
            self.ties == "expected"
            and self.unjudged == "removed"
            and self.max_retrieved is not None
        ):
            raise UsageError(
                f"{option('ties')} expected: with {option('unjudged', 'removed')} and "
                f"{option('max_retrieved')} together it depends on chance how many documents "
                "are left; expected one of the two"
            )
        for name in ("max_retrieved", "pool_depth"):
            depth = getattr(self, name)
            if depth is not None and depth > _DEEPEST:
                object.__setattr__(self, name, _DEEPEST)
