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

from ragkpi.measures.evidence_range import ra_nwg_range
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


def _gains_from_zero(arguments: Mapping[str, Any]) -> bool:
    return all(gain >= 0 for gain in arguments["gains"].values())


UNPROVEN = Bounds("none", reason="no bounds are proven for it")
UNCHANGED = Bounds("none", reason="judgements do not change it")
COUNTS_HOLES = Bounds("none", reason="it counts the unjudged documents themselves")
SKIPS_HOLES = Bounds("none", reason="for it an unjudged document is not a worthless one")
OTHER_HOLES = Bounds("none", reason="the pool has unjudged documents of its own")
CHANCE_ALONE = Bounds("none", reason="it is about chance and not about the run")

CORNERS = Bounds("corners")
CORNERS_BY_GAIN = Bounds("corners", accepts=_gains_from_zero)
STAIRCASE = Bounds("staircase")
STAIRCASE_ALONE = Bounds("staircase", other_runs="refused")
STAIRCASE_TWICE_AS_DEEP = Bounds("staircase", reach=2)
GRADED = Bounds("staircase", "all")
GRADED_BY_GAIN = Bounds("staircase", "all", accepts=_gains_from_zero)
GRADED_BY_PATIENCE = Bounds(
    "staircase", "all", accepts=lambda given: _gains_from_zero(given) and 0 <= given["p"] <= 1
)
COUNTS = Bounds("counts", outer=ra_nwg_range)
WEIGHTED = Bounds("corners", accepts=lambda given: given["weight"][0] >= 0)

_COLLECTION = ("p_rand", "bor_max", "bor_max_qmean", "bor_opt", "lambda", "collapse")
_WITH_POOL = ("proc", "pct_proc", "pct_proc_rom", "proc_n_recall4", "proc_n_recall5")
_ONE_WAY = (
    *("num_rel", "num_rel_ret", "recip_rank", "P", "recall", "relative_P", "success"),
    *("utility", "set_P", "set_relative_P", "set_recall", "set_map"),
    *("n_recall4", "n_recall5", "precision4", "harm", "harm_u", "full_hit", "num_q_fallback"),
    *("t", "t_code", "F", "accuracy"),
)
_BY_RANK = (
    *("map", "gm_map", "map_cut", "map_min", "yaap", "binG", "iprec_at_recall"),
    *("p_obs", "ef", "bor", "ef_recall", "bor_recall"),
)

# By the name of the measure; `UNPROVEN` for those that are not here.
BOUNDS: Mapping[str, Bounds] = {
    **dict.fromkeys(("runid", "num_q", "num_ret", "pool_miss"), UNCHANGED),
    **dict.fromkeys(("num_nonrel_judged_ret", "unj", "rbp_resid"), COUNTS_HOLES),
    **dict.fromkeys(("bpref", "gm_bpref", "infAP"), SKIPS_HOLES),
    **dict.fromkeys(_COLLECTION, CHANCE_ALONE),
    **dict.fromkeys(_WITH_POOL, OTHER_HOLES),
    **dict.fromkeys(_ONE_WAY, CORNERS),
    **dict.fromkeys(("dcg", "ideal_dcg"), CORNERS_BY_GAIN),
    "set_F": WEIGHTED,
    **dict.fromkeys(_BY_RANK, STAIRCASE),
    **dict.fromkeys(("Rprec", "Rprec_mult"), STAIRCASE_ALONE),
    "Fe": STAIRCASE_TWICE_AS_DEEP,
    **dict.fromkeys(("ndcg_cut", "ndcg_exp", "ndcg_local"), GRADED),
    "ndcg": GRADED_BY_GAIN,
    "rbp": GRADED_BY_PATIENCE,
    "ra_nwg": COUNTS,
}
