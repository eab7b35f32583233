"""RA-nWG, PROC and related measures: how much of the existing evidence the top K holds.

Labels are grades 1 to 5 of a rubric; the grade map derives them from judged levels. Documents
without a label take a place and have no gain. Order does not matter, so a query is three rows of
counts by grade: all labelled documents, those in the top K, and those in the pool. Column g counts
grade g; column 0 is 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ragkpi.arrays import BoolArray, FloatArray, IntArray
from ragkpi.errors import UsageError
from ragkpi.interface import spell
from ragkpi.measures.measure import (
    CORNERS_OF_COUNTS,
    OTHER_HOLES,
    RATIO_OF_MEANS,
    SUM,
    UNCHANGED,
    Bounds,
    Measure,
    Metric,
    names_of,
    record,
)
from ragkpi.measures.parameters import Grammar, Option
from ragkpi.ranking.judged import Judged, ratio, shared
from ragkpi.wording import counted

GRADES = 6  # 1 to 5, and 0 for unlabelled documents


def _counts(
    judged: Judged, query: IntArray, levels: IntArray, weight: IntArray | BoolArray
) -> IntArray:
    """Count documents per query and rubric grade from their queries and judged levels."""
    grade = grades(judged, levels)
    queries = len(judged.queries)
    cells = np.bincount(query * GRADES + grade, weights=weight, minlength=queries * GRADES)
    counts = cells.astype(np.int64).reshape(queries, GRADES)
    counts[:, 0] = 0
    return counts


def _of_hits(judged: Judged, chosen: BoolArray) -> IntArray:
    return _counts(judged, judged.query, judged.level, chosen)


@shared
def labelled(judged: Judged) -> IntArray:
    """Count the labelled documents per grade, retrieved or not, (Q, 6)."""
    return _counts(judged, judged.level_query, judged.levels, judged.level_counts)


@shared
def in_top(judged: Judged, cutoff: int) -> IntArray:
    """Count the labelled documents of the top K per grade, (Q, 6)."""
    return _of_hits(judged, judged.rank <= cutoff)


@shared
def pooled(judged: Judged, cutoff: int) -> IntArray:
    """Count the labelled documents of the pool per grade, (Q, 6).

    Without a pool the whole ranking is the pool. The setting ``pool_union="union"`` adds the
    documents of the top K.
    """
    pool = judged if judged.pool is None else judged.pool
    counts = _of_hits(pool, np.ones(len(pool.rank), dtype=np.bool_))
    if judged.settings.pool_union == "union":
        added = ~np.isin(judged.judgement, pool.judgement) & (judged.rank <= cutoff)
        counts = counts + _of_hits(judged, added)
    return counts


def grades(judged: Judged, levels: IntArray) -> IntArray:
    """Return the rubric grade of judged levels, 0 (unlabelled) for negative levels.

    `UsageError` if the grade map lacks a level of these documents.
    """
    rubric = np.array(sorted(judged.settings.grade_map.rubric.items()), dtype=np.int64)
    if problem := judged.settings.grade_map.lacks(judged.levels):
        raise UsageError(problem)
    place = np.searchsorted(rubric[:, 0], levels).clip(max=len(rubric) - 1)
    return np.where(rubric[place, 0] == levels, rubric[place, 1], 0)


@np.errstate(over="ignore")
def weights(
    counts: IntArray,
    *,
    alpha: float,
    cap4: float,
    cap3: float,
    u5: float,
    u4: float,
    u3: float,
    fallback4: float,
    fallback3: float,
) -> FloatArray:
    """Return the weight of a document of each grade, (Q, 6), from the labelled counts, (Q, 6).

    The rarer a grade compared with the top grade, the larger its weight, up to a cap. Without the
    top grade, weights are fixed.
    """
    top = counts[:, 5:]
    rarity = (top / np.maximum(counts, 1)) ** alpha
    utility = np.array([0.0, 0.0, 0.0, u3, u4, u5]) / u5
    caps = np.array([0.0, 0.0, 0.0, cap3, cap4, 1.0])
    useful = (counts > 0) & (utility > 0)
    weight = np.minimum(np.where(useful, rarity, 0.0) * utility, caps)
    return np.where(top > 0, weight, np.array([0.0, 0.0, 0.0, fallback3, fallback4, 1.0]))


def sum_weights(counts: IntArray, weight: FloatArray) -> FloatArray:
    """Sum the weights of documents counted per grade, (Q,)."""
    return np.asarray((counts * weight).sum(axis=1))


def best_sum(counts: IntArray, weight: FloatArray, cutoff: int) -> FloatArray:
    """Sum the K largest weights, (Q,); a rare 3 can have a larger weight than a 4."""
    order = np.argsort(-weight, axis=1)
    available = np.take_along_axis(counts, order, axis=1)
    up_to = np.minimum(np.cumsum(available, axis=1), cutoff)
    taken = np.diff(up_to, axis=1, prepend=0)
    return sum_weights(taken, np.take_along_axis(weight, order, axis=1))


def _from_grade(counts: IntArray, grade: int) -> IntArray:
    return np.asarray(counts[:, grade:].sum(axis=1))


def _normalized_recall(counts: IntArray, held: IntArray, cutoff: int, grade: int) -> FloatArray:
    return ratio(
        np.minimum(_from_grade(held, grade), cutoff),
        np.minimum(_from_grade(counts, grade), cutoff),
    )


def _box(
    counts: IntArray, added: IntArray, weighing: Mapping[str, float]
) -> tuple[FloatArray, FloatArray]:
    """Return the minimum and maximum weight of each grade, (Q, 6), with documents added."""
    more = added[:, np.newaxis]
    fewest, most = np.maximum(counts, 1), np.maximum(counts + more, 1)
    is_top = np.arange(GRADES) == 5
    light = weights(np.where(is_top, fewest, most), **weighing)
    heavy = weights(np.where(is_top, most, fewest), **weighing)
    fixed = weights(np.zeros_like(counts), **weighing)
    never_top, not_yet = (counts + more)[:, 5:] == 0, counts[:, 5:] == 0
    light = np.where(never_top, fixed, np.where(not_yet, np.minimum(light, fixed), light))
    heavy = np.where(never_top, fixed, np.where(not_yet, np.maximum(heavy, fixed), heavy))
    return light, heavy


def _ra_nwg_range(
    judged: Judged, own: IntArray, other: IntArray, cutoff: int, **weighing: float
) -> FloatArray:
    """Bound RA-nWG from outside over all labels of some unlabelled documents.

    `own` of them, (Q,), are in the top K, and `other`, (Q,), elsewhere. With fixed weights, the
    minimum has worthless own documents and top-grade others; the maximum is the reverse. The
    weights lie in a box, as they rise with n5 and fall with n4 and n3. The value is a linear
    function of them over a convex one, so its minimum over the box is at a corner. For the maximum,
    the numerator is taken at one corner of the box and the denominator at the opposite corner.

    Return a lower bound, an upper bound, and the upper bound again, or NaN if all documents can be
    useless, (Q, 3, 1). All three are NaN if no document can be useful.
    """
    counts, seen = labelled(judged), in_top(judged, cutoff)
    light, heavy = _box(counts, own + other, weighing)
    top = np.eye(GRADES, dtype=np.int64)[5]
    corners = []
    for lightest4 in (True, False):
        for lightest3 in (True, False):
            weight = heavy.copy()
            weight[:, 4] = (light if lightest4 else heavy)[:, 4]
            weight[:, 3] = (light if lightest3 else heavy)[:, 3]
            best = best_sum(counts + other[:, np.newaxis] * top, weight, cutoff)
            corners.append(ratio(sum_weights(seen, weight), best))
    low = np.min(corners, axis=0)
    best = best_sum(counts + own[:, np.newaxis] * top, light, cutoff)
    high = np.minimum(ratio(sum_weights(seen, heavy) + own, best), 1.0)
    # Without useful documents elsewhere, all useful documents are own documents.
    low = np.where(np.isnan(low), high, low)
    high = np.where(np.isnan(high) & (other > 0), 0.0, high)
    useless = counts[:, 3:].sum(axis=1) == 0
    return np.stack([low, high, np.where(useless, np.nan, high)], axis=1)[:, :, np.newaxis]


def no_top_grade(judged: Judged, metrics: Sequence[Metric]) -> Iterator[str]:
    """Warn that no document has the top grade: weights are fallbacks, and n_recall5 is NA.

    With a single useful grade, as in binary judgements, weights cancel out.
    """
    useful = labelled(judged)[:, 3:].sum(axis=0)
    if np.count_nonzero(useful) == 1:
        metrics = [metric for metric in metrics if "fallback3" not in metric.arguments]
    if metrics and judged.queries and not useful[-1]:
        grade_map = judged.settings.grade_map
        yield (
            f"{names_of(metrics)}: no document has grade 5 under the grade map '{grade_map.name}' "
            f"({grade_map}), so every query has fallback weights and n_recall5 is NA; give the "
            f"{spell('grade_map')} of these judgements"
        )


def pool_is_the_run(judged: Judged, metrics: Sequence[Metric]) -> Iterator[str]:
    """Warn that a run without a pool is its own pool, and its own ceiling if cut at K."""
    if judged.pool is not None:
        return
    yield (
        f"{names_of(metrics)}: without {spell('pool')} the run itself, "
        f"{judged.num_ret.max(initial=0)} documents deep, is the pool and its own ceiling; name "
        "the first stage if the run was selected from more documents"
    )


def above_ceiling(judged: Judged, metrics: Sequence[Metric]) -> Iterator[str]:
    """Warn that %PROC is above 1, because the top K holds documents outside the pool."""
    for metric in metrics:
        above = int((pct_proc(judged, **metric.arguments) > 1 + 1e-9).sum())
        if above:
            queries = counted(len(judged.queries), "query", "queries")
            yield (
                f"{metric.name}: above 1 for {above} of {queries}, whose top K contain documents "
                "that the pool lacks (see pool_miss); name the run's first stage, "
                f"or {spell('pool_union')}"
            )


MEASURES: list[Measure] = []

_WEIGHTS = {
    "alpha": Option(1.0, 0),
    "cap4": Option(1.0, 0),
    "cap3": Option(0.25, 0),
    "u5": Option(1.0, 0.001, 1000),
    "u4": Option(0.5, 0, 1000),
    "u3": Option(0.1, 0, 1000),
    "fallback4": Option(1.0, 0, 1),
    "fallback3": Option(0.2, 0, 1),
}
_DEPTHS = (10, 30)

_evidence = partial(
    record,
    MEASURES,
    parameters=Grammar("cutoffs", _DEPTHS),
    needs=frozenset({"grade_map"}),
    better="higher",
    bounds=CORNERS_OF_COUNTS,
    ties="unproven",
    question="evidence",
)
_weighted = partial(
    _evidence, parameters=Grammar("cutoffs", _DEPTHS, _WEIGHTS), cautions=(no_top_grade,)
)
_ceiling = partial(_weighted, bounds=OTHER_HOLES, cautions=(no_top_grade, pool_is_the_run))
_share_of_ceiling = partial(_ceiling, cautions=(no_top_grade, pool_is_the_run, above_ceiling))
_count_ceiling = partial(_evidence, bounds=OTHER_HOLES)


@_weighted(
    bounds=Bounds("counts", outer=_ra_nwg_range, order="ignored", parameters="default"),
    aliases=("RA-nWG", "RA_nWG"),
)
def ra_nwg(judged: Judged, cutoff: int, **weighing: float) -> FloatArray:
    """Rarity-aware normalised weighted gain: the weight of the top K over that of the best K.

    Formula:    sum of w in the top K / sum of the min(K, labelled) largest w of all labelled;
                w5 = 1, w4 = min(u4/u5 (n5/n4)^alpha, cap4), w3 = min(u3/u5 (n5/n3)^alpha, cap3)
    Range:      0 to 1
    Edge cases: NA without a grade of 3 or more, or if all weights are 0. Without a 5:
                w4 = fallback4, w3 = fallback3 (num_q_fallback counts such queries). Order within
                the top K does not matter.
    Source:     arXiv 2511.09545, section 2.4
    """
    counts = labelled(judged)
    weight = weights(counts, **weighing)
    obtained = sum_weights(in_top(judged, cutoff), weight)
    return ratio(obtained, best_sum(counts, weight, cutoff))


@_ceiling()
def proc(judged: Judged, cutoff: int, **weighing: float) -> FloatArray:
    """Pool-restricted oracle ceiling: the RA-nWG of the best K documents of the pool.

    Formula:    sum of the K largest w in the pool / the same ideal as ra_nwg
    Range:      0 to 1
    Edge cases: weights come from all labelled documents, with the parameters of ra_nwg. Without
                --pool, the ranking itself is the pool. NA if ra_nwg is NA.
    Source:     arXiv 2511.09545
    """
    counts = labelled(judged)
    weight = weights(counts, **weighing)
    reachable = best_sum(pooled(judged, cutoff), weight, cutoff)
    return ratio(reachable, best_sum(counts, weight, cutoff))


@_share_of_ceiling()
def pct_proc(judged: Judged, cutoff: int, **weighing: float) -> FloatArray:
    """Share of the ceiling reached: how well the top K were selected from the pool.

    Formula:    mean of ra_nwg / proc
    Range:      0 to 1; above 1 if the top K holds documents outside the pool
    Edge cases: NA if proc is NA or 0. The paper reports ratios of means: pct_proc_rom.
    Source:     arXiv 2511.09545, per query as in its author's blog post
    """
    obtained, ceiling = pct_proc_rom(judged, cutoff, **weighing).T
    return ratio(obtained, ceiling)


@_share_of_ceiling(aggregate=replace(RATIO_OF_MEANS, prints="summary"))
def pct_proc_rom(judged: Judged, cutoff: int, **weighing: float) -> FloatArray:
    """Share of the ceiling reached, as a ratio of means.

    Formula:    mean ra_nwg / mean proc, over the queries where proc is above 0
    Range:      0 to 1; above 1 if the top K holds documents outside the pool
    Edge cases: NA if proc is NA or 0 for every query.
    Source:     arXiv 2511.09545, tables 3 to 6
    """
    ceiling = proc(judged, cutoff, **weighing)
    rows = np.column_stack([ra_nwg(judged, cutoff, **weighing), ceiling])
    rows[ceiling == 0] = np.nan
    return rows


@_evidence(needs=frozenset({"outside_pool"}), better="lower", bounds=UNCHANGED)
def pool_miss(judged: Judged, cutoff: int) -> IntArray:
    """Documents of the top K outside the pool, judged or not.

    Formula:    |S - P|, S the top K and P the pool, as sets
    Range:      0 to K
    Edge cases: if above 0, PROC is not a ceiling; --pool-union adds these documents to the pool.
                0 without --pool.
    Source:     ragkpi; arXiv 2511.09545 assumes 0
    """
    if judged.outside_pool is None:
        return np.zeros(len(judged.queries), dtype=np.int64)
    query, rank = judged.outside_pool.T
    return np.bincount(query[rank <= cutoff], minlength=len(judged.queries))


@_evidence()
def n_recall4(judged: Judged, cutoff: int) -> FloatArray:
    """Normalised recall of grades 4 and 5: the share found of those that K places can hold.

    Formula:    (4s and 5s in the top K) / min(K, n4 + n5)
    Range:      0 to 1
    Edge cases: NA without a 4 or 5.
    Source:     arXiv 2511.09545, N-Recall4+
    """
    return _normalized_recall(labelled(judged), in_top(judged, cutoff), cutoff, 4)


@_evidence(cautions=(no_top_grade,))
def n_recall5(judged: Judged, cutoff: int) -> FloatArray:
    """Normalised recall of grade 5: the share found of those that K places can hold.

    Formula:    (5s in the top K) / min(K, n5)
    Range:      0 to 1
    Edge cases: NA without a 5.
    Source:     arXiv 2511.09545, N-Recall5
    """
    return _normalized_recall(labelled(judged), in_top(judged, cutoff), cutoff, 5)


@_count_ceiling(cautions=(pool_is_the_run,))
def proc_n_recall4(judged: Judged, cutoff: int) -> FloatArray:
    """Ceiling of n_recall4: its value for the best K documents of the pool.

    Formula:    min(K, 4s and 5s in the pool) / min(K, n4 + n5)
    Range:      0 to 1
    Edge cases: NA without a 4 or 5. Without --pool the ranking itself is the pool.
    Source:     arXiv 2511.09545, table 3
    """
    return _normalized_recall(labelled(judged), pooled(judged, cutoff), cutoff, 4)


@_count_ceiling(cautions=(no_top_grade, pool_is_the_run))
def proc_n_recall5(judged: Judged, cutoff: int) -> FloatArray:
    """Ceiling of n_recall5: its value for the best K documents of the pool.

    Formula:    min(K, 5s in the pool) / min(K, n5)
    Range:      0 to 1
    Edge cases: NA without a 5. Without --pool the ranking itself is the pool.
    Source:     arXiv 2511.09545, table 3
    """
    return _normalized_recall(labelled(judged), pooled(judged, cutoff), cutoff, 5)


@_evidence()
def precision4(judged: Judged, cutoff: int) -> FloatArray:
    """Precision of grades 4 and 5.

    Formula:    (4s and 5s in the top K) / K
    Range:      0 to 1
    Edge cases: empty places lower it.
    Source:     arXiv 2511.09545, Precision4+
    """
    return _from_grade(in_top(judged, cutoff), 4) / cutoff


@_evidence(better="lower")
def harm(judged: Judged, cutoff: int) -> FloatArray:
    """Fraction of the K places taken by worthless documents; lower is better.

    Formula:    (1s and 2s in the top K) / K
    Range:      0 to 1
    Edge cases: a lower bound: unlabelled documents count as harmless; see harm_u. So do empty
                places, which favours short rankings.
    Source:     arXiv 2511.09545, Harm
    """
    counts = in_top(judged, cutoff)
    return (counts[:, 1] + counts[:, 2]) / cutoff


@_evidence(better="lower")
def harm_u(judged: Judged, cutoff: int) -> FloatArray:
    """Fraction of the K places taken by worthless or unlabelled documents; lower is better.

    Formula:    harm + (unlabelled in the top K) / K
    Range:      harm to 1
    Edge cases: an upper bound: some unlabelled documents may be good.
    Source:     ragkpi; unjudged documents as TREC treats them
    """
    useful = _from_grade(in_top(judged, cutoff), 3)
    return (np.minimum(cutoff, judged.num_ret) - useful) / cutoff


@_evidence(rate="always")
def full_hit(judged: Judged, cutoff: int) -> FloatArray:
    """Whether the top K holds the full evidence: every document of grades 4 and 5.

    Formula:    [(4s and 5s in the top K) = n4 + n5]
    Range:      0 to 1
    Edge cases: NA without a 4 or 5; 0 if more than K exist. Not the hit rate (success).
    Source:     arXiv 2511.09545, Hit@K
    """
    existing = _from_grade(labelled(judged), 4)
    complete = _from_grade(in_top(judged, cutoff), 4) == existing
    return np.where(existing > 0, complete, np.nan)


@_evidence(parameters=Grammar(), aggregate=SUM, style="integer", better="neither")
def num_q_fallback(judged: Judged) -> BoolArray:
    """Number of queries without a document of grade 5, which use fallback weights.

    Formula:    queries with n5 = 0
    Range:      0 to num_q
    Edge cases: includes queries without useful documents, whose ra_nwg is NA.
    Source:     ragkpi
    """
    return np.asarray(labelled(judged)[:, 5] == 0)
