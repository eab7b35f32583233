"""RA-nWG, PROC and their relatives: how much of the evidence that exists fills the K places.

Labels are grades 1 to 5 of a rubric, which the grade map makes of judged levels. Documents
without a label take a place and gain nothing.
"""

from __future__ import annotations

import numpy as np

from ragkpi.measures import rubric
from ragkpi.ranking.judged import BoolArray, FloatArray, IntArray, Judged, ratio


def _from_grade(counts: IntArray, grade: int) -> IntArray:
    return np.asarray(counts[:, grade:].sum(axis=1))


def ra_nwg(judged: Judged, cutoff: int, alpha: float, cap4: float, cap3: float) -> FloatArray:
    """Rarity-aware normalized weighted gain: the worth of the top K against the best K there are.

    Formula:    sum of w in the top K / sum of the min(K, labelled) greatest w of all labelled;
                w5 = 1, w4 = min(0.5 (n5/n4)^alpha, cap4), w3 = min(0.1 (n5/n3)^alpha, cap3)
    Range:      0 to 1
    Edge cases: NA without a grade of 3 or more. Without a 5: w4 = 1, w3 = 0.2 (num_q_fallback
                counts such queries). Order within the top K does not matter.
    Source:     arXiv 2511.09545, section 2.4
    """
    counts = rubric.labelled(judged)
    worth = rubric.weights(counts, alpha, cap4, cap3)
    obtained = rubric.gain(rubric.shown(judged, cutoff), worth)
    return ratio(obtained, rubric.best_gain(counts, worth, cutoff))


def ra_nwg_range(
    judged: Judged,
    own: IntArray,
    other: IntArray,
    cutoff: int,
    alpha: float,
    cap4: float,
    cap3: float,
) -> FloatArray:
    """Bound RA-nWG from outside over all labels of some unlabelled documents.

    With fixed weights the least value has own documents worthless and the others at the top, and
    the greatest the other way round. The weights lie in a box, for they rise with n5 and fall with
    n4 and n3. The value is a linear function of them over a convex one, so its least over the box
    is at a corner; for the greatest, the numerator is taken at one corner of the box and the
    denominator at the opposite one.

    Parameters
    ----------
    own, other : (Q,)
        How many unlabelled documents the top K holds, and how many may be labelled elsewhere.

    Returns
    -------
    (Q, 3, 1)
        A lower bound, an upper bound, and NaN where no useful document need exist, else the
        upper bound again; all NaN where none can.
    """
    counts, seen = rubric.labelled(judged), rubric.shown(judged, cutoff)
    light, heavy = _box(counts, own + other, alpha, cap4, cap3)
    top = np.eye(rubric.GRADES, dtype=np.int64)[5]
    corners = []
    for lightest4 in (True, False):
        for lightest3 in (True, False):
            worth = heavy.copy()
            worth[:, 4] = (light if lightest4 else heavy)[:, 4]
            worth[:, 3] = (light if lightest3 else heavy)[:, 3]
            best = rubric.best_gain(counts + other[:, np.newaxis] * top, worth, cutoff)
            corners.append(ratio(rubric.gain(seen, worth), best))
    low = np.min(corners, axis=0)
    best = rubric.best_gain(counts + own[:, np.newaxis] * top, light, cutoff)
    high = np.minimum(ratio(rubric.gain(seen, heavy) + own, best), 1.0)
    # Without anything useful elsewhere, own documents that are useful are all there is.
    low = np.where(np.isnan(low), high, low)
    high = np.where(np.isnan(high) & (other > 0), 0.0, high)
    useless = counts[:, 3:].sum(axis=1) == 0
    return np.stack([low, high, np.where(useless, np.nan, high)], axis=1)[:, :, np.newaxis]


def _box(
    counts: IntArray, added: IntArray, alpha: float, cap4: float, cap3: float
) -> tuple[FloatArray, FloatArray]:
    """Return the least and the greatest weight of each grade, (Q, 6), with documents added."""
    more = added[:, np.newaxis]
    fewest, most = np.maximum(counts, 1), np.maximum(counts + more, 1)
    is_top = np.arange(rubric.GRADES) == 5
    light = rubric.weights(np.where(is_top, fewest, most), alpha, cap4, cap3)
    heavy = rubric.weights(np.where(is_top, most, fewest), alpha, cap4, cap3)
    fixed = rubric.weights(np.zeros_like(counts), alpha, cap4, cap3)
    never_top, not_yet = (counts + more)[:, 5:] == 0, counts[:, 5:] == 0
    light = np.where(never_top, fixed, np.where(not_yet, np.minimum(light, fixed), light))
    heavy = np.where(never_top, fixed, np.where(not_yet, np.maximum(heavy, fixed), heavy))
    return light, heavy


def proc(judged: Judged, cutoff: int, alpha: float, cap4: float, cap3: float) -> FloatArray:
    """Pool-restricted oracle ceiling: the RA-nWG of the best K documents of the pool.

    Formula:    sum of the K greatest w in the pool / the same ideal as ra_nwg
    Range:      0 to 1
    Edge cases: weights are those of all labelled documents. Without --pool the ranking itself is
                the pool. NA without a grade of 3 or more.
    Source:     arXiv 2511.09545
    """
    counts = rubric.labelled(judged)
    worth = rubric.weights(counts, alpha, cap4, cap3)
    reachable = rubric.best_gain(rubric.pooled(judged, cutoff), worth, cutoff)
    return ratio(reachable, rubric.best_gain(counts, worth, cutoff))


def pct_proc(judged: Judged, cutoff: int, alpha: float, cap4: float, cap3: float) -> FloatArray:
    """Share of the ceiling that was realized: how well the K were selected from the pool.

    Formula:    mean of ra_nwg / proc
    Range:      0 to 1; above 1 where the top K holds documents that the pool lacks
    Edge cases: NA where proc is NA or 0. The paper's numbers are ratios of means: pct_proc_rom.
    Source:     arXiv 2511.09545, per query as in its author's blog post
    """
    obtained, ceiling = pct_proc_rom(judged, cutoff, alpha, cap4, cap3).T
    return ratio(obtained, ceiling)


def pct_proc_rom(judged: Judged, cutoff: int, alpha: float, cap4: float, cap3: float) -> FloatArray:
    """Share of the ceiling that was realized, as a ratio of means.

    Formula:    mean ra_nwg / mean proc, over the queries where proc is above 0
    Range:      0 to 1; above 1 where the top K holds documents that the pool lacks
    Edge cases: NA where proc is NA or 0 for every query.
    Source:     arXiv 2511.09545, tables 3 to 6
    """
    ceiling = proc(judged, cutoff, alpha, cap4, cap3)
    rows = np.column_stack([ra_nwg(judged, cutoff, alpha, cap4, cap3), ceiling])
    rows[ceiling == 0] = np.nan
    return rows


def pool_miss(judged: Judged, cutoff: int) -> IntArray:
    """Documents of the top K that the pool lacks, judged or not.

    Formula:    |S - P|, S the top K and P the pool, as sets
    Range:      0 to K
    Edge cases: above 0 PROC is no ceiling; --pool-union adds these documents to the pool. 0
                without --pool.
    Source:     ragkpi; arXiv 2511.09545 assumes 0
    """
    if judged.outside_pool is None:
        return np.zeros(len(judged.queries), dtype=np.int64)
    query, rank = judged.outside_pool.T
    return np.bincount(query[rank <= cutoff], minlength=len(judged.queries))


def _normalized_recall(counts: IntArray, found: IntArray, cutoff: int, grade: int) -> FloatArray:
    return ratio(
        np.minimum(_from_grade(found, grade), cutoff),
        np.minimum(_from_grade(counts, grade), cutoff),
    )


def n_recall4(judged: Judged, cutoff: int) -> FloatArray:
    """Normalized recall of grades 4 and 5: of those that K places can hold, the share found.

    Formula:    (4s and 5s in the top K) / min(K, n4 + n5)
    Range:      0 to 1
    Edge cases: NA without a 4 or 5.
    Source:     arXiv 2511.09545, N-Recall4+
    """
    return _normalized_recall(rubric.labelled(judged), rubric.shown(judged, cutoff), cutoff, 4)


def n_recall5(judged: Judged, cutoff: int) -> FloatArray:
    """Normalized recall of grade 5: of those that K places can hold, the share found.

    Formula:    (5s in the top K) / min(K, n5)
    Range:      0 to 1
    Edge cases: NA without a 5.
    Source:     arXiv 2511.09545, N-Recall5
    """
    return _normalized_recall(rubric.labelled(judged), rubric.shown(judged, cutoff), cutoff, 5)


def proc_n_recall4(judged: Judged, cutoff: int) -> FloatArray:
    """Ceiling of n_recall4: what the best K documents of the pool would get.

    Formula:    min(K, 4s and 5s in the pool) / min(K, n4 + n5)
    Range:      0 to 1
    Edge cases: NA without a 4 or 5. Without --pool the ranking itself is the pool.
    Source:     arXiv 2511.09545, table 3
    """
    return _normalized_recall(rubric.labelled(judged), rubric.pooled(judged, cutoff), cutoff, 4)


def proc_n_recall5(judged: Judged, cutoff: int) -> FloatArray:
    """Ceiling of n_recall5: what the best K documents of the pool would get.

    Formula:    min(K, 5s in the pool) / min(K, n5)
    Range:      0 to 1
    Edge cases: NA without a 5. Without --pool the ranking itself is the pool.
    Source:     arXiv 2511.09545, table 3
    """
    return _normalized_recall(rubric.labelled(judged), rubric.pooled(judged, cutoff), cutoff, 5)


def precision4(judged: Judged, cutoff: int) -> FloatArray:
    """Precision of grades 4 and 5.

    Formula:    (4s and 5s in the top K) / K
    Range:      0 to 1
    Edge cases: empty places lower it.
    Source:     arXiv 2511.09545, Precision4+
    """
    return _from_grade(rubric.shown(judged, cutoff), 4) / cutoff


def harm(judged: Judged, cutoff: int) -> FloatArray:
    """Fraction of the K places taken by documents labelled worthless; lower is better.

    Formula:    (1s and 2s in the top K) / K
    Range:      0 to 1
    Edge cases: a lower bound, for unlabelled documents count as harmless; see harm_u. Empty
                places are harmless, which flatters short rankings.
    Source:     arXiv 2511.09545, Harm
    """
    counts = rubric.shown(judged, cutoff)
    return (counts[:, 1] + counts[:, 2]) / cutoff


def harm_u(judged: Judged, cutoff: int) -> FloatArray:
    """Fraction of the K places taken by documents worthless or unlabelled; lower is better.

    Formula:    harm + (unlabelled in the top K) / K
    Range:      harm to 1
    Edge cases: an upper bound, for some unlabelled documents may be good.
    Source:     ragkpi; unjudged documents as TREC treats them
    """
    useful = _from_grade(rubric.shown(judged, cutoff), 3)
    return (np.minimum(cutoff, judged.num_ret) - useful) / cutoff


def full_hit(judged: Judged, cutoff: int) -> FloatArray:
    """Whether the top K holds the full evidence: every document of grades 4 and 5.

    Formula:    [(4s and 5s in the top K) = n4 + n5]
    Range:      0 to 1
    Edge cases: NA without a 4 or 5; 0 where there are more than K. Not the hit rate (success).
    Source:     arXiv 2511.09545, Hit@K
    """
    existing = _from_grade(rubric.labelled(judged), 4)
    complete = _from_grade(rubric.shown(judged, cutoff), 4) == existing
    return np.where(existing > 0, complete, np.nan)


def num_q_fallback(judged: Judged) -> BoolArray:
    """Number of queries without a document of grade 5, for which weights are fixed.

    Formula:    queries with n5 = 0
    Range:      0 to num_q
    Edge cases: counts queries without any useful document too, whose ra_nwg is NA.
    Source:     ragkpi
    """
    return np.asarray(rubric.labelled(judged)[:, 5] == 0)
