"""What the reader of a number must know, when its inputs do not bear out what it assumes.

Each function takes a judged run and the requested values of the measures that name it, and yields
one line per thing to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragkpi.measures import chance, collapse, evidence, rubric
from ragkpi.measures.measure import Caution, Value
from ragkpi.ranking.judged import Judged


def cautions(judged: Judged, values: Sequence[Value]) -> list[str]:
    """Return the warnings that the requested values call for, in the order of the values."""
    concerned: dict[Caution, list[Value]] = {}
    for value in values:
        for caution in value.measure.cautions:
            concerned.setdefault(caution, []).append(value)
    return [line for caution, affected in concerned.items() for line in caution(judged, affected)]


def _names(values: Sequence[Value]) -> str:
    return ", ".join(value.name for value in values)


def _cutoffs(value: Value) -> tuple[int, ...]:
    cutoff = value.arguments["cutoff"]
    return cutoff if isinstance(cutoff, tuple) else (cutoff,)


def collapse_zone(judged: Judged, values: Sequence[Value]) -> Iterator[str]:
    """Chance succeeds so often that success says nothing; say which K would leave the zone."""
    asked = {(value.arguments["m"], cutoff) for value in values for cutoff in _cutoffs(value)}
    for m in sorted({m for m, _ in asked}):
        deep = sorted(
            cutoff for m_, cutoff in asked if m_ == m and collapse.collapsed(judged, cutoff, m)
        )
        if not deep:
            continue
        outside = (collapse.collapse_depth(judged, m) or deep[0]) - 1
        places = ", ".join(map(str, deep))
        lambda_ = collapse.mean(chance.lambda_(judged, deep[0], m))
        p_rand = collapse.mean(chance.p_rand(judged, deep[0], m))
        advice = f"K = {outside} or less leaves it" if outside else "no K leaves it"
        yield (
            f"bor and its relatives at K = {places} (m = {m}) are in the collapse zone: at "
            f"{deep[0]} a random draw already succeeds with probability {p_rand:.4g} "
            f"(lambda = {lambda_:.3g}); {advice}"
        )


def deeper_than_corpus(judged: Judged, values: Sequence[Value]) -> Iterator[str]:
    """K above N: chance draws the whole corpus."""
    size = judged.corpus_size
    if size is None or not len(size):
        return
    affected = [value for value in values if max(_cutoffs(value)) > size.min()]
    if affected:
        yield (
            f"{_names(affected)}: the corpus has only {size.min()} documents; K is taken as "
            "that number; give a smaller K, or -N if the corpus is larger"
        )


def above_ceiling(judged: Judged, values: Sequence[Value]) -> Iterator[str]:
    """%PROC above 1: the top K holds documents that the pool lacks."""
    for value in values:
        above = int((evidence.pct_proc(judged, **value.arguments) > 1 + 1e-9).sum())
        if above:
            yield (
                f"{value.name}: above 1 for {above} of {len(judged.queries)} queries, whose top K "
                "holds documents that the pool lacks (see pool_miss); give the pool that the run "
                "was selected from, or --pool-union"
            )


def pool_is_the_run(judged: Judged, values: Sequence[Value]) -> Iterator[str]:
    """No pool, and a run cut at K: it is its own ceiling."""
    if judged.pool is not None:
        return
    deepest = judged.num_ret.max(initial=0)
    affected = [value for value in values if max(_cutoffs(value)) >= deepest]
    if affected:
        yield (
            f"{_names(affected)}: no query has more than {deepest} documents, so the run is its "
            "own pool and reaches its ceiling; give the first stage with --pool"
        )


def no_top_grade(judged: Judged, values: Sequence[Value]) -> Iterator[str]:
    """A grade map whose top grade never occurs: weights are fallbacks, recall of it is NA."""
    if judged.queries and not rubric.labelled(judged)[:, 5].any():
        grade_map = judged.settings.grade_map
        yield (
            f"{_names(values)}: no document has grade 5 under the grade map '{grade_map.name}' "
            f"({grade_map}), so every query has fallback weights and n_recall5 is NA; give the "
            "--grade-map of these judgements"
        )


def shallow_estimate(judged: Judged, values: Sequence[Value]) -> Iterator[str]:
    """Fe needs the top 2K."""
    for value in values:
        needed = 2 * max(_cutoffs(value))
        shallow = int((judged.num_ret < needed).sum())
        if shallow:
            yield (
                f"{value.name}: {shallow} of {len(judged.queries)} queries have fewer than "
                f"{needed} documents, so Fe estimates the relevant ones from a shorter list; "
                "give a deeper run or a smaller K"
            )
