"""How far RA-nWG can move when documents get labels: bounds without trying every label out."""

from __future__ import annotations

import numpy as np

from ragkpi.measures import rubric
from ragkpi.ranking.judged import FloatArray, IntArray, Judged, ratio


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
    found = []
    for lightest4 in (True, False):
        for lightest3 in (True, False):
            worth = heavy.copy()
            worth[:, 4] = (light if lightest4 else heavy)[:, 4]
            worth[:, 3] = (light if lightest3 else heavy)[:, 3]
            best = rubric.best_gain(counts + other[:, np.newaxis] * top, worth, cutoff)
            found.append(ratio(rubric.gain(seen, worth), best))
    low = np.min(found, axis=0)
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
