"""Measures of qrels averaged over the judgment groups of a query (-R qrels_jg)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragkpi.measures.average_precision import average_precision
from ragkpi.measures.precision import P
from ragkpi.measures.recall_points import Rprec_mult
from ragkpi.ranking.judged import FloatArray

if TYPE_CHECKING:  # what only qrels_jg needs is not loaded for every run
    from ragkpi.ranking.judged_groups import JudgedGroups


def map_avgjg(judged: JudgedGroups) -> FloatArray:
    """Average precision, averaged over the judgment groups (assessors) of a query.

    Formula:    (Σ over judgment groups of map) / number of groups
    Range:      0 to 1
    Edge cases: a group without relevant documents counts 0; -J drops documents per group.
    Source:     trec_eval 10.0
    """
    return judged.mean(average_precision(judged.judged))


def P_avgjg(judged: JudgedGroups, cutoff: int) -> FloatArray:
    """Precision at a cutoff, averaged over the judgment groups (assessors) of a query.

    Formula:    (Σ over judgment groups of P_c) / number of groups
    Range:      0 to 1
    Edge cases: a group without relevant documents counts 0; short rankings are padded with
                nonrelevant documents.
    Source:     trec_eval 10.0
    """
    return judged.mean(P(judged.judged, cutoff))


def Rprec_mult_avgjg(judged: JudgedGroups, point: float) -> FloatArray:
    """Precision at a multiple of R, averaged over the judgment groups (assessors) of a query.

    Formula:    (Σ over judgment groups of Rprec_mult_p) / number of groups, R being the group's
    Range:      0 to 1
    Edge cases: a group without relevant documents counts 0.
    Source:     trec_eval 10.0
    """
    return judged.mean(Rprec_mult(judged.judged, point))
