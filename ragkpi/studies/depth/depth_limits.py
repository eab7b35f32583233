"""Limits of a depth, and what a study finds about them."""

from __future__ import annotations

from typing import Literal

from ragkpi.records import dataclass
from ragkpi.studies.depth.depth_target import Reached, Target

CHANCE_LIMIT = 0.05  # a run that chance would equal more often is not shown to be better

Limit = Literal["plateau", "collapse", "max_loss", "deepest", "target", "most"]


@dataclass(frozen=True)
class Limits:
    """What a depth must reach, and what it may cost.

    Attributes
    ----------
    m
        Relevant documents that make a success.
    max_loss
        Bits of BoR that the chosen depth may lie below the best one; None for no such limit.
    plateau
        Success that deeper lists may still gain where it has plateaued.
    target
        A value to reach, which replaces the limits by plateau, collapse and loss.
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
        """The loss that `Affordable` allows: one bit, a factor of 2, unless `max_loss` is set."""
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
    """The deepest depth that costs no more bits than allowed, compared with the best one."""

    depth: int
    bits: float
    best_depth: int
    best: float
    deepest: int


@dataclass(frozen=True)
class Choice:
    """The recommended depth.

    Attributes
    ----------
    depth, limit
        The depth, and which limit set it.
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
    """What limits the depth of a run, or of a system that always succeeds.

    Attributes
    ----------
    collapse
        None if no depth collapses.
    plateau
        None without a run, or if success still rises at the deepest depth, or is 0 there.
    affordable
        By the run's BoR, or by the ceiling without a run; None if nothing can succeed.
    choice
        The smallest depth that a limit sets; None if there is none above 0.
    reached
        Where the target is reached; None without a target.
    final
        Success at the deepest depth; None without a run.
    """

    collapse: Collapse | None = None
    plateau: Plateau | None = None
    affordable: Affordable | None = None
    choice: Choice | None = None
    reached: Reached | None = None
    final: float | None = None
