"""What the reader of a number must know, when its inputs do not bear out what it assumes.

Each function takes a judged run and the requested metrics of the measures that name it, and yields
one line per thing to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragkpi.interface import option
from ragkpi.measures.measure import Caution, Metric
from ragkpi.ranking.judged import Judged
from ragkpi.ranking.judgements import Judgements


def cautions(judged: Judged, metrics: Sequence[Metric]) -> list[str]:
    """Return the warnings that the requested metrics call for, in the order of the metrics."""
    concerned: dict[Caution, list[Metric]] = {}
    for metric in metrics:
        for caution in metric.measure.cautions:
            concerned.setdefault(caution, []).append(metric)
    return [line for caution, affected in concerned.items() for line in caution(judged, affected)]


def no_level_so_high(metrics: Sequence[Metric], judgements: Judgements) -> list[str]:
    """Say for which metrics no document is relevant, as their own level is above all there are."""
    highest = int(judgements.level.max(initial=-1))
    names = [metric.name for metric in metrics if (metric.relevance_level or 0) > highest]
    if not names:
        return []
    return [f"{', '.join(names)}: no document is relevant: the highest judged level is {highest}"]


def _names(metrics: Sequence[Metric]) -> str:
    return ", ".join(metric.name for metric in metrics)


def _cutoffs(metric: Metric) -> tuple[int, ...]:
    cutoff = metric.arguments["cutoff"]
    return cutoff if isinstance(cutoff, tuple) else (cutoff,)


def collapse_zone(judged: Judged, metrics: Sequence[Metric]) -> Iterator[str]:
    """Chance succeeds so often that success says nothing; say which K would leave the zone."""
    from ragkpi.measures import chance

    asked = {(metric.arguments["m"], cutoff) for metric in metrics for cutoff in _cutoffs(metric)}
    for m in sorted({m for m, _ in asked}):
        deep = sorted(
            cutoff for m_, cutoff in asked if m_ == m and chance.in_collapse_zone(judged, cutoff, m)
        )
        if not deep:
            continue
        outside = (chance.collapse_depth(judged, m) or deep[0]) - 1
        places = ", ".join(map(str, deep))
        lambda_ = chance.mean_known(chance.lambda_(judged, deep[0], m))
        p_rand = chance.mean_known(chance.p_rand(judged, deep[0], m))
        advice = f"K = {outside} or less leaves it" if outside else "no K leaves it"
        yield (
            f"bor and its relatives at K = {places} (m = {m}) are in the collapse zone: at "
            f"{deep[0]} a random draw already succeeds with probability {p_rand:.4g} "
            f"(lambda = {lambda_:.3g}); {advice}"
        )


def deeper_than_corpus(judged: Judged, metrics: Sequence[Metric]) -> Iterator[str]:
    """K above N: chance draws the whole corpus."""
    size = judged.corpus_size
    if size is None or not len(size):
        return
    affected = [metric for metric in metrics if max(_cutoffs(metric)) > size.min()]
    if affected:
        yield (
            f"{_names(affected)}: the corpus has only {size.min()} documents; K is taken as "
            f"that number; give a smaller K, or {option('corpus_size')} if the corpus is larger"
        )


def above_ceiling(judged: Judged, metrics: Sequence[Metric]) -> Iterator[str]:
    """%PROC above 1: the top K holds documents that the pool lacks."""
    from ragkpi.measures import evidence

    for metric in metrics:
        above = int((evidence.pct_proc(judged, **metric.arguments) > 1 + 1e-9).sum())
        if above:
            yield (
                f"{metric.name}: above 1 for {above} of {len(judged.queries)} queries, whose top K "
                "holds documents that the pool lacks (see pool_miss); give the pool that the run "
                f"was selected from, or {option('pool_union')}"
            )


def pool_is_the_run(judged: Judged, metrics: Sequence[Metric]) -> Iterator[str]:
    """No pool: the run is taken as its own; cut at K, it is its own ceiling."""
    if judged.pool is not None:
        return
    deepest = judged.num_ret.max(initial=0)
    reached = [metric for metric in metrics if max(_cutoffs(metric)) >= deepest]
    deeper = [metric for metric in metrics if metric not in reached]
    if reached:
        yield (
            f"{_names(reached)}: no query has more than {deepest} documents, so the run is its "
            f"own pool and reaches its ceiling; give the first stage with {option('pool')}"
        )
    if deeper:
        yield (
            f"{_names(deeper)}: without {option('pool')} the run itself, {deepest} "
            f"documents deep, is the "
            "pool; give the first stage if the run was selected from more"
        )


def no_top_grade(judged: Judged, metrics: Sequence[Metric]) -> Iterator[str]:
    """A grade map whose top grade never occurs: weights are fallbacks, recall of it is NA."""
    from ragkpi.measures import rubric

    if judged.queries and not rubric.labelled(judged)[:, 5].any():
        grade_map = judged.settings.grade_map
        yield (
            f"{_names(metrics)}: no document has grade 5 under the grade map '{grade_map.name}' "
            f"({grade_map}), so every query has fallback weights and n_recall5 is NA; give the "
            f"{option('grade_map')} of these judgements"
        )


def shallow_estimate(judged: Judged, metrics: Sequence[Metric]) -> Iterator[str]:
    """Fe needs the top 2K."""
    for metric in metrics:
        needed = 2 * max(_cutoffs(metric))
        shallow = int((judged.num_ret < needed).sum())
        if shallow:
            yield (
                f"{metric.name}: {shallow} of {len(judged.queries)} queries have fewer than "
                f"{needed} documents, so Fe estimates the relevant ones from a shorter list; "
                "give a deeper run or a smaller K"
            )
