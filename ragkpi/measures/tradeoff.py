"""Precision against recall in one number: T, F and F with an estimated number of relevant ones."""

from __future__ import annotations

import numpy as np

from ragkpi.ranking.judged import FloatArray, IntArray, Judged, quotient


def _shown(judged: Judged, cutoff: int) -> IntArray:
    """Documents of the top K, np + nn; empty places are neither."""
    return np.minimum(cutoff, judged.num_ret)


def t(judged: Judged, cutoff: int, alpha: float) -> FloatArray:
    """T as published: relevant documents of the top K against those that are not.

    Formula:    ((1-alpha) np - alpha nn) / K, np relevant and nn other documents in the top K
    Range:      -alpha to 1-alpha
    Edge cases: P_K - alpha whenever K documents were retrieved; empty places count for
                neither side. Unjudged documents are not relevant. See also t_code.
    Source:     Schwartz, Vasilyev, Sawaya, arXiv 2512.20854, eq. 3-4
    """
    return np.asarray((judged.found_at(cutoff) - alpha * _shown(judged, cutoff)) / cutoff)


def t_code(judged: Judged, cutoff: int, alpha: float) -> FloatArray:
    """T as its authors' program has it: a count against a fraction.

    Formula:    (1-alpha) np - alpha nn / (np + nn)
    Range:      -alpha to (1-alpha) K
    Edge cases: another measure than t; 0 for a query without retrieved documents.
    Source:     github.com/PrimerAI/primer-research, recall_role/corr.py
    """
    found, shown = judged.found_at(cutoff), _shown(judged, cutoff)
    return (1 - alpha) * found - alpha * quotient(shown - found, shown)


def _f(judged: Judged, cutoff: int, alpha: float, num_rel: IntArray) -> FloatArray:
    weighted = (alpha * cutoff + (1 - alpha) * num_rel).astype(np.float64)
    return quotient(judged.found_at(cutoff), weighted)


def F(judged: Judged, cutoff: int, alpha: float) -> FloatArray:
    """F-measure at K: weighted harmonic mean of precision and recall.

    Formula:    np / (alpha K + (1-alpha) R) = 1 / (alpha / P_K + (1-alpha) / recall_K)
    Range:      0 to 1
    Edge cases: alpha weights precision, 0.5 is F1. 0 without relevant documents in the top K.
                set_F.x is this with alpha = 1 / (x+1) and K = retrieved documents.
    Source:     arXiv 2512.20854; van Rijsbergen 1979
    """
    return _f(judged, cutoff, alpha, judged.num_rel)


def Fe(judged: Judged, cutoff: int, alpha: float) -> FloatArray:
    """F-measure at K with the number of relevant documents estimated from the top 2K.

    Formula:    np / (alpha K + (1-alpha) Ne), Ne = relevant documents in the top 2K
    Range:      0 to 1
    Edge cases: needs a ranking of 2K documents, a shorter one makes Ne smaller and Fe greater.
                0 without relevant documents in the top K.
    Source:     arXiv 2512.20854, authors' program ("extend_xK: 2")
    """
    return _f(judged, cutoff, alpha, judged.found_at(2 * cutoff))
