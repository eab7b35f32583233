"""Rank-biased precision: a user who goes on to the next document with probability p."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ragkpi.measures.gain_lists import gains_from_zero, worth
from ragkpi.ranking.judged import FloatArray, IntArray, Judged, quotient

if TYPE_CHECKING:
    from ragkpi.measures.gain_ratio import GainRatio

# A weight below this share of a sum is less than half a unit in its last place: it is lost.
NEGLIGIBLE = 2.0**-54
BLOCK = 1 << 18


def rbp(judged: Judged, gains: Mapping[int, float], p: float) -> FloatArray:
    """Rank-biased precision, its gains scaled to at most 1 for each query.

    Formula:    (1 - p) · Σ over ranks i of gain(i) · p^(i-1); if any level or gain g(i) lies
                outside 0 to 1: gain(i) = (g(i) - lo) / (hi - lo), lo and hi the lowest and highest
                of them, or 0
    Range:      0 to 1
    Edge cases: the gain of a document is its level unless given, hi the highest level judged for
                this query: graded queries of one collection may be scaled differently. Unjudged
                documents gain 0.
    Source:     Moffat and Zobel, TOIS 2008; trec_eval 10.0, with lo and hi starting at 0 (there
                they are not initialised and the value varies)
    """
    weights = weights_at(p, judged.rank)
    return (1.0 - p) * judged.per_query(scaled_gains(judged, gains) * weights)


def scaled_gains(judged: Judged, gains: Mapping[int, float]) -> FloatArray:
    """Return the gain of each hit as `rbp` scales it, (H,)."""
    if judged.gains is None:
        low = np.full(len(judged.queries), min([0.0, *gains.values()]))
        high = np.maximum(_highest_level_without_gain(judged, gains), max([0.0, *gains.values()]))
        gain = worth(judged.level, gains)
    else:
        starts, best_first = judged.gains.starts, np.append(judged.gains.best_first, 0.0)
        judged_any = np.diff(starts) > 0
        low = np.where(judged_any, np.minimum(best_first[starts[1:] - 1], 0.0), 0.0)
        high = np.where(judged_any, np.maximum(best_first[starts[:-1]], 0.0), 0.0)
        gain = judged.gains.of_hits
    outside = ((low < 0) | (high > 1))[judged.query] & (judged.level >= 0)
    return np.where(outside, quotient(gain - low[judged.query], (high - low)[judged.query]), gain)


def is_plain(arguments: Mapping[str, Any]) -> bool:
    """Whether no document takes away from `rbp`, and deeper ones add less."""
    return gains_from_zero(arguments) and 0 <= arguments["p"] <= 1


def rbp_ratio(gains: Mapping[int, float], p: float) -> GainRatio | None:
    """Say what `rbp` sums up; nothing with gains of one's own, which scale it by levels."""
    from ragkpi.measures.gain_ratio import GainRatio  # bounds alone need it

    if gains:
        return None
    return GainRatio(
        gain=lambda levels: worth(levels, {}),
        weight=lambda ranks: (1.0 - p) * weights_at(p, ranks),
        ideal="highest",
        floor=1.0,
    )


def rbp_resid(judged: Judged, p: float) -> FloatArray:
    """Residual of rank-biased precision: what the unjudged documents could add.

    Formula:    p^n + (1 - p) · Σ over ranks i of unjudged documents of p^(i-1)
    Range:      0 to 1
    Edge cases: 0 if every retrieved document is judged, although p^n is left then, too; a negative
                level is unjudged.
    Source:     Moffat and Zobel, TOIS 2008; trec_eval 10.0
    """
    all_judged = judged.per_query(judged.level >= 0) == judged.num_ret
    left = weights_at(p, judged.num_ret + 1)
    return np.where(all_judged, 0.0, left + (1.0 - p) * _unjudged_weight(judged, p))


def _highest_level_without_gain(judged: Judged, gains: Mapping[int, float]) -> FloatArray:
    """Highest level up to each query's top judged one that is its own gain, (Q,); -1 for none."""
    padded = np.append(-1, judged.levels)
    highest = np.where(np.diff(judged.level_starts) > 0, padded[judged.level_starts[1:]], -1)
    for level in sorted(gains, reverse=True):
        highest = np.where(highest == level, highest - 1, highest)
    return highest.astype(np.float64)


def weights_at(p: float, ranks: IntArray) -> FloatArray:
    """p^(rank - 1) as the running product rounds it, for ranks of any shape."""
    depth = int(ranks.max(initial=1))
    factors = np.full(min(depth, BLOCK), p)
    factors[0] = 1.0
    blocks = [np.multiply.accumulate(factors)]
    # What no longer changes, as 0, is the weight of all further ranks.
    while len(blocks) * BLOCK < depth and blocks[-1][-1] != blocks[-1][-1] * p:
        factors[0] = blocks[-1][-1] * p
        blocks.append(np.multiply.accumulate(factors))
    weights = np.concatenate(blocks)
    return weights.take(np.minimum(ranks, len(weights)) - 1)


def _unjudged_weight(judged: Judged, p: float) -> FloatArray:
    """Σ of the weights of unjudged ranks, added from the first rank to the last, (Q,).

    The ranks come in blocks of all queries at once, until what is left cannot change any sum:
    a run of millions of lines needs its first few hundred ranks.
    """
    total = np.zeros(len(judged.queries))
    known = judged.level >= 0
    query, rank = judged.query[known], judged.rank[known]
    width = max(1, BLOCK // max(1, len(total)))
    ranks = np.arange(1, int(judged.num_ret.max(initial=0)) + 1)
    weights = weights_at(p, ranks)
    for before in range(0, len(ranks), width):
        unfinished = judged.num_ret > before
        if not (unfinished & (abs(weights[before]) > abs(total) * NEGLIGIBLE)).any():
            break
        block = slice(before, before + width)
        addends = np.where(ranks[block] <= judged.num_ret[:, None], weights[block], 0.0)
        here = (rank > before) & (rank <= before + width)
        addends[query[here], rank[here] - before - 1] = 0.0
        addends[:, 0] += total
        total = np.add.accumulate(addends, axis=1)[:, -1]
    return total
