"""The verdicts of comparisons, in sentences that a referee would sign, and what they rest on."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from ragkpi.interface import spell
from ragkpi.library.unjudged_doubt import Doubt, Judging
from ragkpi.measures.measure import Metric, Scores
from ragkpi.statistics.all_pairs import AllPairs, MetricPairs
from ragkpi.statistics.paired import Claim, Comparison, Difference
from ragkpi.statistics.significance import Clustering, correlation_within
from ragkpi.statistics.units import Clusters, numbered_units, rarest_seen, turns_of, units_of
from ragkpi.wording import counted, joined, listed, percent, rounded, short_p

_MOST_NAMED = 3  # runs besides the baseline that are named one by one
_MOST_MEASURES = 2  # that have a sentence of their own

Named = tuple[str, Difference]  # what a difference is called in a sentence: a run, or a measure
Conclusion = Claim | Literal["identical"]
# What a sentence says of a run, and the word before the run that it is compared with.
CLAIM_WORDS: Mapping[Conclusion, tuple[str, str]] = {
    "better": ("better", "than"),
    "worse": ("worse", "than"),
    "undecided": ("not shown to differ", "from"),
    "identical": ("identical on every query", "to"),
    "untested": ("not tested", "against"),
}


def comparison_sentences(comparison: Comparison, doubts: Mapping[str, Doubt]) -> list[str]:
    """Say which runs are better than the baseline, which it is, and how far to believe it."""
    base, *others = comparison.names
    against = f"the baseline {base}{_judged(doubts)}"
    claims = [of_metric for of_metric in comparison.by_metric if of_metric[0] in comparison.claims]
    if unreachable := comparison.out_of_reach():
        alone = [_of_one(claims[0][0], against)] if len(comparison.claims) == 1 else []
        return [*alone, unreachable]
    if len(comparison.claims) == 1:
        sentences = [_of_one(claims[0][0], against)]
    elif len(others) == 1:
        groups = _grouped(((d.metric.name, d) for (d,) in claims), against)
        phrases = [f"{_with_p(some)}, {others[0]} is {words}" for some, words in groups]
        sentences = [f"By {'; by '.join(phrases)}."]
    elif len(claims) <= _MOST_MEASURES:
        sentences = [_of_runs(of_metric, base, against) for of_metric in claims]
    else:
        numbers = [(d[0].metric.name, Counter(one.decision for one in d)) for d in claims]
        counts = [f"by {name} {n['better']} and {n['worse']}" for name, n in numbers]
        text = f"Better and worse than {against}, of {len(others)} runs: "
        sentences = [f"{text}{', '.join(counts)}."]
    sentences[-1] += _contrary(comparison) + _shares(doubts, base, len(claims))
    return sentences


def _contrary(comparison: Comparison) -> str:
    """Say which described measure moves against a claim, with a small p of its own."""
    signs = {"better": 1.0, "worse": -1.0}
    claims = {d.run: signs.get(d.decision, 0.0) for d in comparison.claims}
    contrary = [
        d
        for d in comparison.differences
        if d.decision == "described" and claims[d.run] * d.gain < 0
        if d.p < comparison.procedure.limit
    ]
    if not contrary:
        return ""
    d, *others = sorted(contrary, key=lambda d: d.p)
    change = rounded(d.difference, d.metric.measure.style, signed=True)
    more = f", and {counted(len(others), 'other')}" if others else ""
    word = "worse" if d.gain < 0 else "better"
    return (
        f" But by {d.metric.name}, described, {d.run} is {word} ({change}, "
        f"p = {short_p(d.p)}{more})."
    )


def _of_one(d: Difference, against: str) -> str:
    """Say what one measure decides of the only other run."""
    begin, style = f"By {d.metric.name}, {d.run} is", d.metric.measure.style
    if _conclusion(d) == "identical":
        return f"{begin} identical to {against} on all {counted(d.queries, 'query', 'queries')}."
    change, *bounds = (rounded(x, style, signed=True) for x in (d.difference, *d.interval))
    interval = "" if math.isnan(d.interval.low) else f" [{', '.join(bounds)}]"
    words = " ".join(CLAIM_WORDS[d.decision])
    return f"{begin} {words} {against}: {change}{interval}, {d.p_in_words}."


def _of_runs(differences: Sequence[Difference], base: str, against: str) -> str:
    """Say what one measure decides of several runs: by name, or counted, with the best."""
    by = f"By {differences[0].metric.name}, "
    groups = _grouped(((d.run, d) for d in differences), against)
    if len(differences) <= _MOST_NAMED:
        named = [f"{_with_p(some)} {_are(len(some))} {words}" for some, words in groups]
        return f"{by}{'; '.join(named)}."
    numbers = [f"{len(some)} {_are(len(some))} {words}" for some, words in groups]
    every = f"{len(differences)} runs"
    if len(groups) > 1:
        numbers[0] = numbers[0].replace(" ", f" of {every} ", 1)
    elif all(_conclusion(d) == "undecided" for d in differences):
        numbers = [f"none of {every} is shown to differ from {against}"]
    else:
        numbers = [f"all {every} are {groups[0][1]}"]
    return f"{by}{joined(numbers)}; the best value is {_best(differences, base)}."


def _best(differences: Sequence[Difference], baseline: str) -> str:
    """Name the owners of the best value, with the value or its difference from the baseline's."""
    best = max(differences, key=goodness)
    measure = best.metric.measure
    equal = [d.run for d in differences if d.gain == max(best.gain, 0)]
    if best.gain > 0:
        change = rounded(best.difference, measure.style, signed=True)
        owners, value = equal, change if len(equal) > 1 else f"{change}, {best.p_in_words}"
    else:
        owners, value = [baseline, *equal], rounded(best.baseline, measure.style)
    if len(owners) > 2:
        return f"that of {len(owners)} runs ({value})"
    whose = joined([f"{owner}'s" for owner in owners])
    return f"{whose} ({value})"


def _conclusion(d: Difference) -> Conclusion:
    return "identical" if d.decision == "undecided" and not d.reach.differing else d.decision


def _grouped(differences: Iterable[Named], against: str) -> list[tuple[list[Named], str]]:
    """Group differences by what is claimed, in words; the first words say against what."""
    groups: dict[Conclusion, list[Named]] = {conclusion: [] for conclusion in CLAIM_WORDS}
    for named in differences:
        groups[_conclusion(named[1])].append(named)
    said = [(some, CLAIM_WORDS[conclusion]) for conclusion, some in groups.items() if some]
    return [
        (some, words if number else f"{words} {joint} {against}")
        for number, (some, (words, joint)) in enumerate(said)
    ]


def goodness(d: Difference) -> float:
    """Return what to sort by: NA is last."""
    value = d.metric.measure.sign * d.summary
    return -math.inf if math.isnan(value) else value


def _with_p(differences: Iterable[Named]) -> str:
    return joined([f"{name} ({difference.p_in_words})" for name, difference in differences])


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _judged(doubts: Mapping[str, Doubt]) -> str:
    return " as far as judged" if doubts else ""


def _shares(doubts: Mapping[str, Doubt], base: str, metrics: int) -> str:
    """Say how much of the top documents is judged, of the baseline and of doubtful runs."""
    if not doubts:
        return ""
    run, doubt = max(doubts.items(), key=lambda item: abs(item[1].run - item[1].baseline))
    if len(doubts) > 1:
        alike = [d.run for d in doubts.values() if d.depth == doubt.depth]
        least, most = percent(min(alike)), percent(max(alike))
        share = least if least == most else f"{least} to {most}"
        others = run if len(alike) == 1 else f"{len(alike)} others"
        begin = f" Judged in the top {doubt.depth}: {base} {percent(doubt.baseline)}, "
        return f"{begin}{others} {share} (ragkpi holes)."
    # What could be reversed is the order by the first measure.
    doubt = replace(doubt, can_reverse=doubt.can_reverse and metrics == 1)
    words = doubt.in_words(base, run)
    return f" {words[0].upper()}{words[1:]}."


def beaten_by_best(pairs: AllPairs, matrix: MetricPairs) -> dict[str, Claim]:
    """Return what is claimed of every other run against the best one."""
    best, *others = matrix.order
    claims: dict[str, Claim] = {}
    for run in others:
        p = float(matrix.p[best, run])
        differs = p < pairs.procedure.limit  # False for NaN
        claims[pairs.names[run]] = "worse" if differs else "untested" if p != p else "undecided"
    return claims


def doubts_of_best(pairs: AllPairs, judging: Judging | None) -> Mapping[str, Doubt]:
    """Return the runs whose order against the best one, by the first metric, rests on judging."""
    decisive = pairs.claims[0]
    best = pairs.names[decisive.order[0]]
    return judging.doubts(best, beaten_by_best(pairs, decisive)) if judging else {}


def doubts_of_claims(comparison: Comparison, judging: Judging | None) -> Mapping[str, Doubt]:
    """Return the runs whose order against the baseline, by the first metric, rests on judging."""
    claims = {d.run: d.decision for d in comparison.by_metric[0]}
    return judging.doubts(comparison.names[0], claims) if judging else {}


def all_pairs_sentences(pairs: AllPairs, doubts: Mapping[str, Doubt]) -> list[str]:
    """Name the best run, what it is better than, and what it is not shown to differ from."""
    judged, claims = _judged(doubts), pairs.claims
    if unreachable := pairs.out_of_reach:
        alone = [_of_pairs(pairs, claims[0], judged)] if len(claims) == 1 else []
        return [*alone, unreachable]
    if len(claims) <= _MOST_MEASURES:
        sentences = [_of_pairs(pairs, one, judged) for one in claims]
    else:
        differ = [int((one.p < pairs.procedure.limit).sum()) // 2 for one in claims]
        counts = [f"{n} by {d.metric.name}" for n, d in zip(differ, claims, strict=True)]
        text = f"Pairs shown to differ{judged}, of {math.comb(len(pairs.names), 2)}: "
        best = f"{best_value(pairs, claims[0])} by {claims[0].metric.name}"
        sentences = [f"{text}{joined(counts)}; {best}."]
    sentences[-1] += _shares(doubts, pairs.names[claims[0].order[0]], len(claims))
    return sentences


def _of_pairs(pairs: AllPairs, matrix: MetricPairs, judged: str) -> str:
    """Say which run is the best by one measure, and what is claimed of it."""
    begin = f"By {matrix.metric.name}, {best_value(pairs, matrix)}"
    if np.isnan(matrix.values).all():
        return f"{begin}."
    return f"{begin}{judged}; it is {_best_against(pairs, matrix)}."


def best_value(pairs: AllPairs, matrix: MetricPairs) -> str:
    """Say which run has the best value, and which others have the same."""
    if np.isnan(matrix.values).all():
        return "no run has a value"
    best, *others = (pairs.names[run] for run in matrix.order)
    equal = int((matrix.values[matrix.order[1:]] == matrix.values[matrix.order[0]]).sum())
    also = f" (so has {others[0]})" if equal == 1 else f" (so have {equal} others)" * bool(equal)
    return f"{best} has the best value{also}"


def _best_against(pairs: AllPairs, matrix: MetricPairs) -> str:
    """Say what the best run is better than, with p, and what it is not shown to differ from."""
    claims, best = beaten_by_best(pairs, matrix), matrix.order[0]
    groups: dict[Claim, list[str]] = {"worse": [], "undecided": [], "untested": []}
    for run, claim in claims.items():
        p = short_p(float(matrix.p[best, pairs.names.index(run)]))
        groups[claim].append(f"{run} (p = {p})" if claim == "worse" else run)
    phrases = []
    for group, runs in groups.items():
        if runs:
            words = "better than" if group == "worse" else " ".join(CLAIM_WORDS[group])
            some = joined(runs) if len(runs) <= _MOST_NAMED else f"{len(runs)} runs"
            phrases.append(f"{words} {some}")
    return joined(phrases)


_FEW, _SOME = 30, 100  # queries, below which a note or the explanation says what could not show
_SIGNIFICANT = 0.05


def evidence_notes(
    runs: Sequence[Scores], metric: Metric, clusters: Clusters | None
) -> Iterator[str]:
    """Yield what changes how far to believe claims: few queries, and turns taken for queries."""
    queries = runs[0].queries
    if 1 < _units(queries, clusters) < _FEW:
        yield _unseen(queries, clusters)
    turns = turns_of(queries) if clusters is None else {}
    alike = correlation_of_differences(runs, metric, turns)
    if alike.p < _SIGNIFICANT:
        yield (
            f"Queries ({listed(queries, 2)}) look like turns, and turns of one conversation differ "
            f"alike ({metric.name}: correlation {alike.within:.2f}); {spell('cluster')} tells them"
        )


def evidence_in_words(
    runs: Sequence[Scores], metric: Metric, clusters: Clusters | None
) -> Iterator[str]:
    """Yield lines of an explanation: clusters, and what so few queries could not show."""
    queries = runs[0].queries
    units = _units(queries, clusters)
    if units < len(queries):
        alike = correlation_of_differences(runs, metric, clusters or {})
        correlation = (
            f". Differences by {metric.name} have a correlation of {alike.within:.2f} within "
            f"clusters (p = {short_p(alike.p)}): a design effect of {alike.design_effect:.2f}"
        )
        yield (
            f"clusters: {units:,} of {counted(len(queries), 'query', 'queries')}, "
            "which are evidence as a whole; the value is that over queries"
            f"{'' if math.isnan(alike.within) else correlation}"
        )
    if _FEW <= units < _SOME:
        yield _unseen(queries, clusters)


def _unseen(queries: Sequence[bytes], clusters: Clusters | None) -> str:
    units, nouns = _units(queries, clusters), "clusters" if clusters else "queries"
    rare = f"fewer than 1 in {rarest_seen(units)} {nouns}"
    return f"A complete failure on {rare} might not show in these {units}."


def _units(queries: Sequence[bytes], clusters: Clusters | None) -> int:
    return int(numbered_units(queries, clusters).max()) + 1


def correlation_of_differences(
    runs: Sequence[Scores], metric: Metric, clusters: Clusters
) -> Clustering:
    """Return the correlation within clusters of the run whose differences show it most.

    p is corrected for the number of runs; NaN without a cluster of two queries.
    """
    columns = [run[metric.name] for run in runs]
    with np.errstate(invalid="ignore"):
        changes = [column.per_query - columns[0].per_query for column in columns[1:]]
    finite = np.flatnonzero(np.isfinite(changes).all(axis=0))
    unit = units_of([runs[0].queries[row] for row in finite], clusters)
    if unit is None:
        return Clustering(math.nan, math.nan, math.nan)
    each = [correlation_within(values[finite], unit) for values in changes]
    most = min(each, key=lambda one: (math.isnan(one.p), one.p))
    return most._replace(p=min(1.0, most.p * len(each)))
