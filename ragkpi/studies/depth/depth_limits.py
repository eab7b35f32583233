"""What limits a depth, and what a run or chance alone says about it."""

from __future__ import annotations

from typing import Literal

from ragkpi.records import dataclass
from ragkpi.studies.depth.depth_target import Reached, Target

CHANCE_LIMIT = 0.05  # a run that chance would equal more often is not shown to be better

Limit = Literal["plateau", "collapse", "max_loss", "deepest", "target", "most"]


@dataclass(frozen=True)
class Limits:
    """What a depth must and may cost.

    Attributes
    ----------
    m
        Relevant documents that make a success.
    max_loss
        Bits of BoR that the chosen depth may lie below the best one; None leaves that open.
    plateau
        Success that may still be gained below the depth where it has plateaued.
    target
        What the depth is to reach, which then sets it instead of the other limits.
    most
        The deepest depth that there is room for; None for any.
    """

    m: int = 1
    max_loss: float | None = None
    plateau: float = 0.02
    target: Target | None = None
    most: int | None = None

    @property
    def allowed_loss(self) -> float:
        """The loss that `Affordable` is about: one bit, a factor of 2, where none is given."""
        return 1.0 if self.max_loss is None else self.max_loss


@dataclass(frozen=True)
class Collapse:
    """The smallest depth in the collapse zone, and what makes it one."""

    depth: int
    lambda_: float
    p_rand: float


@dataclass(frozen=True)
class Plateau:
    """The smallest depth that succeeds nearly as often as the deepest one."""

    depth: int
    success: float
    deepest: int
    final: float


@dataclass(frozen=True)
class Affordable:
    """The deepest depth that costs no more bits than allowed, counted from the best one."""

    depth: int
    bits: float
    best_depth: int
    best: float
    deepest: int


@dataclass(frozen=True)
class Choice:
    """The depth that follows, which limit set it, and what it gives.

    Attributes
    ----------
    depth, limit
        The depth, and what set it.
    success, bits
        Of the run there. Without a run success is None, and bits are those of the ceiling.
    chance
        How often chance succeeds there.
    doubling
        Bits of the ceiling that twice the depth costs; None where that is the whole corpus.
    evidence
        How likely chance would succeed for as many queries, or for more; None without a run.
    """

    depth: int
    limit: Limit
    success: float | None
    bits: float
    chance: float
    doubling: float | None
    evidence: float | None

    @property
    def grounded(self) -> bool:
        """Whether the run is shown to be better than chance at this depth."""
        return self.evidence is None or self.evidence < CHANCE_LIMIT


@dataclass(frozen=True)
class Study:
    """What a run, or chance alone, says about depth; None where there is nothing to say.

    Attributes
    ----------
    collapse
        None if no depth collapses.
    plateau
        None without a run, or if success still rises at the deepest depth, or is 0 there.
    affordable
        Of the run's BoR; of the ceiling without a run.
    choice
        The smallest depth that one of them sets; None if there is none above 0.
    reached
        Where the target is reached; None without a target.
    final
        Success at the deepest depth; None without a run.
    """

    collapse: Collapse | None
    plateau: Plateau | None
    affordable: Affordable | None
    choice: Choice | None
    reached: Reached | None = None
    final: float | None = None
