"""What is proven of a measure's extremes when documents that it sees are unjudged.

An assignment gives every unjudged document ("hole") that some run retrieves a level of the scale.
A run's *own* holes stand in its ranking where the measure looks; *other* holes stand below its
cutoff or in the rankings of other runs, and count through R and ideals alone.
`ragkpi.studies.holes` searches where a declaration says the extremes lie; tests hold every
declaration against all assignments of small rankings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from ragkpi.ranking.judged import FloatArray
from ragkpi.records import NamedTuple

if TYPE_CHECKING:
    from ragkpi.measures.gain_ratio import GainRatio

Search = Literal["corners", "staircase", "counts", "none"]


def _always(_: Mapping[str, Any]) -> bool:
    return True


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
    tallied
        How the values of many ways to judge a ranking are computed at once from a `HoleTally`:
        by ``"itself"``, where the function of the measure asks a run for nothing that it has not
        (`found_at`, `num_rel` ...), or by a function of its own, (V,). None if each way has to be
        judged, which takes long for long rankings.
    ratio
        The same of a sum of gains over an ideal: from the arguments to what it consists of.
    order
        ``"ignored"`` if it does not matter which own holes have a level, only how many do.
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
    accepts: Callable[[Mapping[str, Any]], bool] = _always
    outer: Callable[..., FloatArray] | None = None
    tallied: Literal["itself"] | Callable[..., FloatArray] | None = None
    ratio: Callable[..., GainRatio | None] | None = None
    order: Literal["matters", "ignored"] = "matters"

    def depth(self, arguments: Mapping[str, Any]) -> int | None:
        """Return the last rank that counts; None for all."""
        cutoff = arguments.get("cutoff")
        return None if cutoff is None else self.reach * int(cutoff)


UNPROVEN = Bounds("none", reason="no bounds are proven for it")
UNCHANGED = Bounds("none", reason="judgements do not change it")
COUNTS_HOLES = Bounds("none", reason="it counts the unjudged documents themselves")
SKIPS_HOLES = Bounds("none", reason="for it an unjudged document is not a worthless one")
OTHER_HOLES = Bounds("none", reason="the pool has unjudged documents of its own")
CHANCE_ALONE = Bounds("none", reason="it is about chance and not about the run")
COUNTED = Bounds("none", reason="it counts queries")

# By name: where the extremes lie, and, as most measures need nothing else of a run, computed from
# a `HoleTally` by the measure itself.
CORNERS = Bounds("corners", tallied="itself")
STAIRCASE = Bounds("staircase", tallied="itself")
STAIRCASE_ALONE = STAIRCASE._replace(other_runs="refused")
STAIRCASE_TWICE_AS_DEEP = STAIRCASE._replace(reach=2)
CORNERS_OF_COUNTS = Bounds("corners", order="ignored")
