"""What is proven of a measure's extremes when documents that it sees are unjudged.

An assignment gives every unjudged document ("hole") that some run retrieves a level of the scale.
A run's *own* holes stand in its ranking where the measure looks; *other* holes stand below its
cutoff or in the rankings of other runs, and count through R and ideals alone.
`ragkpi.studies.holes` searches where a declaration says the extremes lie; tests hold every
declaration against all assignments of small rankings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from ragkpi.ranking.judged import FloatArray

Search = Literal["corners", "staircase", "counts", "none"]


class Bounds(NamedTuple):
    """Where the extremes of a measure lie among all assignments.

    Attributes
    ----------
    search
        ``"corners"``: the value only rises, or only falls, with the level of own holes, and so it
        does with that of others: all own at one end of the scale, all others at one end.
        ``"staircase"``: of a number of equally good own holes the highest ranks give the greatest
        and the lowest ranks the least value, and others never raise it: levels that fall down the
        ranks with others worthless for the greatest, the top level at the last ranks with others
        at the top for the least. ``"counts"``: order does not matter, only how many holes have
        which level. ``"none"``: no bounds are offered.
    levels
        Whether a staircase needs ``"all"`` levels, or tells ``"relevant"`` documents from others
        alone. With all of them the value must be a ratio whose both parts are sums over levels,
        and a judged document must never make a better one of its level more worthwhile.
    reach
        How many times its cutoff deep the measure looks.
    other_runs
        ``"refused"`` where other holes move the value both ways.
    reason
        Why there are no bounds.
    accepts
        For which arguments the declaration holds.
    outer
        For ``"counts"``, where trying all out takes too long: from a run, the numbers of own and
        other holes of its queries and the arguments to statistics, (Q, C, S), whose extremes are
        no narrower than the true ones.
    """

    search: Search
    levels: Literal["relevant", "all"] = "relevant"
    reach: int = 1
    other_runs: Literal["bounded", "refused"] = "bounded"
    reason: str = ""
    accepts: Callable[[Mapping[str, Any]], bool] = lambda _: True
    outer: Callable[..., FloatArray] | None = None

    def depth(self, arguments: Mapping[str, Any]) -> int | None:
        """Return the last rank that counts; None for all."""
        cutoff = arguments.get("cutoff")
        return None if cutoff is None else self.reach * int(cutoff)


def gains_from_zero(arguments: Mapping[str, Any]) -> bool:
    """Whether no gain of one's own is negative."""
    return all(gain >= 0 for gain in arguments["gains"].values())


UNPROVEN = Bounds("none", reason="no bounds are proven for it")
UNCHANGED = Bounds("none", reason="judgements do not change it")
COUNTS_HOLES = Bounds("none", reason="it counts the unjudged documents themselves")
SKIPS_HOLES = Bounds("none", reason="for it an unjudged document is not a worthless one")
OTHER_HOLES = Bounds("none", reason="the pool has unjudged documents of its own")
CHANCE_ALONE = Bounds("none", reason="it is about chance and not about the run")
COUNTED = Bounds("none", reason="it counts queries")

CORNERS = Bounds("corners")
CORNERS_BY_GAIN = Bounds("corners", accepts=gains_from_zero)
STAIRCASE = Bounds("staircase")
STAIRCASE_ALONE = Bounds("staircase", other_runs="refused")
STAIRCASE_TWICE_AS_DEEP = Bounds("staircase", reach=2)
GRADED = Bounds("staircase", "all")
GRADED_BY_GAIN = Bounds("staircase", "all", accepts=gains_from_zero)
