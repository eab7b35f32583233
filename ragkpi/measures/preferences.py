"""Agreement with preferences (-R prefs, qrels_prefs) and with several assessors (-R qrels_jg).

By a preference, one document is better than another for a query. A ranking fulfils it if the better
document is retrieved above the worse document, or alone.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ragkpi.arrays import FloatArray, IntArray
from ragkpi.measures.measure import SUM, UNPROVEN, Measure, record
from ragkpi.measures.parameters import NINE_CUTOFFS, Grammar
from ragkpi.measures.precision import MULTIPLES_OF_R, P, Rprec_mult, average_precision
from ragkpi.ranking.groups import JudgedGroups
from ragkpi.ranking.judged import quotient
from ragkpi.ranking.preferences import JudgedPreferences, Scope

MEASURES: list[Measure] = []

_assessors = partial(
    record, MEASURES, better="higher", bounds=UNPROVEN, ties="unproven", question="assessors"
)
_share = partial(_assessors, reads="prefs")
_count = partial(_share, aggregate=SUM, style="integer")
_groups = partial(_assessors, reads="qrels_jg")


@_count(better="neither")
def prefs_num_prefs_poss(judged: JudgedPreferences) -> IntArray:
    """Preferences in the judgements, summed over queries.

    Formula:    T = Σ over judgment groups of the number of preferences (a better than b)
    Range:      0 upwards
    Edge cases: two documents of the same level are not a preference; with several sub-groups the
                preferences of a group are closed transitively and each counts once.
    Source:     trec_eval 10.0
    """
    return judged.total(judged.of_groups["all"].possible).astype(np.int64)


@_count()
def prefs_num_prefs_ful(judged: JudgedPreferences) -> IntArray:
    """Preferences that the ranking fulfils, summed over queries.

    Formula:    F = Σ over judgment groups of preferences (a better than b) with a retrieved, and b
                below it or not retrieved
    Range:      0 to prefs_num_prefs_poss
    Edge cases: equal scores are ranked by ascending document id, unlike with qrels.
    Source:     trec_eval 10.0
    """
    return judged.total(judged.of_groups["all"].fulfilled).astype(np.int64)


@_count()
def prefs_num_prefs_ful_ret(judged: JudgedPreferences) -> IntArray:
    """Preferences between retrieved documents that the ranking fulfils, summed over queries.

    Formula:    F = Σ over judgment groups of preferences (a better than b) with both retrieved and
                a above b
    Range:      0 to prefs_num_prefs_ful
    Edge cases: documents cut by -M are not retrieved.
    Source:     trec_eval 10.0
    """
    return judged.total(judged.of_groups["retrieved"].fulfilled).astype(np.int64)


@_share()
def prefs_simp(judged: JudgedPreferences, scope: Scope = "all") -> FloatArray:
    """Share of all preferences that the ranking fulfils, judgment groups pooled.

    Formula:    Σ F / Σ T, both over judgment groups; T = preferences, F = those fulfilled
    Range:      0 to 1
    Edge cases: 0 for a query without preferences.
    Source:     trec_eval 10.0; Carterette et al., Here or There: Preference Judgments for
                Relevance, ECIR 2008
    """
    tally = judged.of_groups[scope]
    return quotient(judged.total(tally.fulfilled), judged.total(tally.possible))


@_share()
def prefs_pair(judged: JudgedPreferences, scope: Scope = "all") -> FloatArray:
    """Share of preferences that the ranking fulfils, averaged over pairs of documents.

    Formula:    mean over pairs of documents with any preference of w / (w + w'); w = preferences
                for the higher ranked document in all judgment groups, w' = for the other
    Range:      0 to 1
    Edge cases: a pair of which neither is retrieved scores 0; 0 for a query without preferences.
    Source:     trec_eval 10.0
    """
    return judged.of_pairs[scope].share


@_share()
def prefs_avgjg(judged: JudgedPreferences, scope: Scope = "all") -> FloatArray:
    """Share of all preferences that the ranking fulfils, averaged over judgment groups.

    Formula:    (Σ over judgment groups of F/T) / number of groups
    Range:      0 to 1
    Edge cases: a group without preferences counts 0.
    Source:     trec_eval 10.0
    """
    return judged.mean(judged.of_groups[scope].share)


@_share()
def prefs_avgjg_Rnonrel(judged: JudgedPreferences, scope: Scope = "limited") -> FloatArray:
    """prefs_avgjg with as many nonrelevant documents as there are relevant ones.

    Formula:    (Σ over judgment groups of f/t) / number of groups; with r relevant (level above 0)
                and N nonrelevant documents in the group:
                if r ≥ N: f = F + (r−N)·(relevant retrieved), t = T + (r−N)·r;
                if r < N: f and t are F and T over the r first ranked nonrelevant documents only
    Range:      0 to 1
    Edge cases: 0 for the whole query if one of its groups has t = 0. In a group of one sub-group
                with r < N the documents of the lowest level that stay also count as pairs against
                each other. Both as in trec_eval. With levels below 0, trec_eval reads past its
                arrays; here N counts all levels up to 0.
    Source:     trec_eval 10.0
    """
    tally = judged.of_groups[scope]
    # A group without preferences is 0/0 in trec_eval, and so is their mean.
    return np.where(judged.mean(tally.possible == 0) > 0, 0.0, judged.mean(tally.share))


@_share()
def prefs_avgjg_Rnonrel_ret(judged: JudgedPreferences) -> FloatArray:
    """prefs_avgjg_Rnonrel over preferences with both documents retrieved.

    Formula:    as prefs_avgjg_Rnonrel, with r and N counting retrieved documents, but
                t = T + (r−N)·(relevant documents of the group, retrieved or not) if r ≥ N
    Range:      0 to 1
    Edge cases: as prefs_avgjg_Rnonrel; a group without retrieved documents makes the query 0.
    Source:     trec_eval 10.0
    """
    return prefs_avgjg_Rnonrel(judged, "limited_retrieved")


_NARROWER: tuple[tuple[str, Scope, str], ...] = (
    ("ret", "retrieved", "both documents retrieved"),
    ("imp", "implied", "at least one document retrieved"),
)
for _suffix, _scope, _with in _NARROWER:
    for _average in (prefs_simp, prefs_pair, prefs_avgjg):
        _narrower = partial(_average, scope=_scope)
        _narrower.__doc__ = f"""{_average.__name__} over preferences with {_with}.

Formula:    as {_average.__name__}, over preferences and pairs with {_with}
Range:      0 to 1
Edge cases: 0 for a query, or a judgment group, without such preferences.
Source:     trec_eval 10.0"""
        _share(f"{_average.__name__}_{_suffix}")(_narrower)


@_groups()
def map_avgjg(judged: JudgedGroups) -> FloatArray:
    """Average precision, averaged over the judgment groups (assessors) of a query.

    Formula:    (Σ over judgment groups of map) / number of groups
    Range:      0 to 1
    Edge cases: a group without relevant documents counts 0; -J drops documents per group.
    Source:     trec_eval 10.0
    """
    return judged.mean(average_precision(judged.judged))


@_groups(parameters=Grammar("cutoffs", NINE_CUTOFFS))
def P_avgjg(judged: JudgedGroups, cutoff: int) -> FloatArray:
    """Precision at a cutoff, averaged over the judgment groups (assessors) of a query.

    Formula:    (Σ over judgment groups of P_c) / number of groups
    Range:      0 to 1
    Edge cases: a group without relevant documents counts 0; short rankings are padded with
                nonrelevant documents.
    Source:     trec_eval 10.0
    """
    return judged.mean(P(judged.judged, cutoff))


@_groups(parameters=Grammar("points", MULTIPLES_OF_R, argument="point"))
def Rprec_mult_avgjg(judged: JudgedGroups, point: float) -> FloatArray:
    """Precision at a multiple of R, averaged over the judgment groups (assessors) of a query.

    Formula:    (Σ over judgment groups of Rprec_mult_p) / number of groups, R being the group's
    Range:      0 to 1
    Edge cases: a group without relevant documents counts 0.
    Source:     trec_eval 10.0
    """
    return judged.mean(Rprec_mult(judged.judged, point))
