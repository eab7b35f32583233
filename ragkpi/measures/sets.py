"""Measures of the retrieved set as a whole, whatever its order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ragkpi.ranking.judged import FloatArray, IntArray, Judged, quotient


def set_P(judged: Judged) -> FloatArray:
    """Precision of the whole retrieved set.

    Formula:    rr / n, rr = relevant documents retrieved, n = documents retrieved
    Range:      0 to 1
    Edge cases: 0 for an empty ranking.
    Source:     trec_eval 10.0
    """
    return quotient(judged.num_rel_ret, judged.num_ret)


def set_recall(judged: Judged) -> FloatArray:
    """Recall of the whole retrieved set.

    Formula:    rr / R
    Range:      0 to 1
    Edge cases: 0 for a query without relevant documents.
    Source:     trec_eval 10.0
    """
    return quotient(judged.num_rel_ret, judged.num_rel)


def set_relative_P(judged: Judged) -> FloatArray:
    """Precision of the whole retrieved set relative to the best that is possible.

    Formula:    rr / min(n, R)
    Range:      0 to 1
    Edge cases: 0 for an empty ranking or a query without relevant documents.
    Source:     trec_eval 10.0
    """
    return quotient(judged.num_rel_ret, np.minimum(judged.num_ret, judged.num_rel))


def set_map(judged: Judged) -> FloatArray:
    """Unranked average precision: precision times recall of the whole retrieved set.

    Formula:    (rr · rr) / (n · R)
    Range:      0 to 1
    Edge cases: 0 for an empty ranking or a query without relevant documents.
    Source:     trec_eval 10.0
    """
    relevant = judged.num_rel_ret.astype(np.float64)
    return quotient(relevant * relevant, judged.num_ret.astype(np.float64) * judged.num_rel)


def set_F(judged: Judged, weight: tuple[float, ...]) -> FloatArray:
    """Weighted harmonic mean of the precision and the recall of the whole retrieved set.

    Formula:    ((x + 1) · P · Rc) / (x · P + Rc), P = set_P, Rc = set_recall, x the parameter
    Range:      0 to 1
    Edge cases: x is not squared: what others call F_2 is set_F.4. 0 if nothing relevant is
                retrieved.
    Source:     trec_eval 10.0
    """
    x = weight[0]
    P, Rc = set_P(judged), set_recall(judged)
    return quotient((x + 1.0) * P * Rc, x * P + Rc)


def weighs_from_zero(arguments: Mapping[str, Any]) -> bool:
    """Whether `set_F` rises with each relevant document: its weight is not negative."""
    return bool(arguments["weight"][0] >= 0)


def utility(judged: Judged, coefficients: tuple[float, ...]) -> FloatArray:
    """Linear utility of the whole retrieved set.

    Formula:    a·rr + b·(n - rr) + c·(R - rr) + d·(N + rr - n - R), N = documents in the
                collection (-N), the parameters are a,b,c,d
    Range:      any number
    Edge cases: without -N the collection counts as 0 documents. An empty ranking scores
                c·R + d·(N - R).
    Source:     trec_eval 10.0
    """
    a, b, c, d = coefficients
    N = _corpus_size_said(judged)
    rr, n, R = judged.num_rel_ret, judged.num_ret, judged.num_rel
    gained: FloatArray = a * rr + b * (n - rr) + c * (R - rr) + d * (N + rr - n - R)
    return gained


def _corpus_size_said(judged: Judged) -> IntArray:
    """Documents in the collection as the user gave them, never estimated, (Q,); 0 if not said."""
    said = judged.settings.corpus_size or 0
    if not judged.settings.corpus_sizes:
        return np.full(len(judged.queries), said)
    single = judged.settings.corpus_sizes
    return np.array([single.get(query, said) for query in judged.queries], dtype=np.int64)
