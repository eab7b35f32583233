"""The verdicts of comparisons in sentences that a referee would sign, and their evidence."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

from ragkpi.arrays import FloatArray
from ragkpi.evaluation import RunOrPath
from ragkpi.interface import interface, spell
from ragkpi.library.doubts import Doubt, Judging, limits_of
from ragkpi.library.stored import StoredResult
from ragkpi.measures.measure import Metric, Scores
from ragkpi.reports.names import Seed, run_names
from ragkpi.statistics.all_pairs import AllPairs, MetricPairs
from ragkpi.statistics.paired import Claim, Comparison, Difference
from ragkpi.statistics.replicates import DECIDING, TOO_FEW_SEEDS, evidence_of, look_like_seeds
from ragkpi.statistics.significance import Clustering, correlation_within
from ragkpi.statistics.units import Clusters, numbered_units, rarest_seen, turns_of, units_of
from ragkpi.wording import counted, joined, listed, p_text, rounded, visible, with_interval

_MOST_NAMED = 3  # runs named one by one

Conclusion = Claim | Literal["identical"]
# The claim about a run in words, and the word before the other run.
CLAIM_WORDS: Mapping[Conclusion, tuple[str, str]] = {
    "better": ("better", "than"),
    "worse": ("worse", "than"),
    "undecided": ("not significantly different", "from"),
    "identical": ("identical on every query", "to"),
    "untested": ("not tested", "against"),
}


def sentences(compared: Comparison | AllPairs, doubts: Mapping[str, Doubt]) -> list[str]:
    """Say which runs are better than which run, and how certain that is.

    `doubts` are about the runs against the baseline, or against the best run.
    """
    limits = limits_of(doubts.values())
    judged = limits and f" {limits}"
    numbers = range(len(compared.runs))
    if isinstance(compared, Comparison):
        reference, unreachable = compared.names[0], compared.out_of_reach
        claims = [of for of in compared.by_metric if of[0] in compared.claims]
        said = [_of_runs(of, reference, judged) for of in claims]
        pairs: Iterable[tuple[int, int]] = ((0, run) for run in numbers[1:])
    else:
        reference = compared.names[compared.claims[0].order[0]]
        unreachable = compared.out_of_reach
        said = [_of_pairs(compared, one, judged) for one in compared.claims]
        pairs = itertools.combinations(numbers, 2)
    if unreachable:
        return [*(said if len(said) == 1 else ()), unreachable]
    said += seeds_in_words(compared.names, compared.runs)
    seeds = [run.seeds for run in compared.runs]
    for evidence in dict.fromkeys(evidence_of(seeds[one], seeds[other]) for one, other in pairs):
        if evidence not in DECIDING:
            reason = TOO_FEW_SEEDS[evidence]
            said.append(f"{reason[0].upper()}{reason[1:]}.")
    if isinstance(compared, Comparison):
        said[-1] += _contrary(compared)
    if doubts:
        run, doubt = next(iter(doubts.items()))
        text = doubt.in_words(
            reference, f"{run} (one of {len(doubts)})" if doubts.keys() > {run} else run
        )
        said[-1] += f" {text[0].upper()}{text[1:]}."
    return said


def seeds_in_words(names: Sequence[str], runs: Sequence[Scores]) -> list[str]:
    """Give the numbers of seeds behind the values; nothing for single runs."""
    if max(run.seeds for run in runs) == 1:
        return []
    each = [f"{name} {run.seeds}" for name, run in zip(names, runs, strict=True)]
    return [f"Values are means over seeds: {', '.join(each)}."]


def _of_runs(differences: Sequence[Difference], base: str, judged: str) -> str:
    """State the decisions of one measure about runs: by name, or as counts with the best one."""
    d, against = differences[0], f"the baseline {base}{judged}"
    begin, style = f"By {d.metric.name}, ", d.metric.measure.style
    if len(differences) == 1:
        words, joint = CLAIM_WORDS[_conclusion(d)]
        change = rounded(d.difference, style, signed=True)
        if not math.isnan(d.interval.low):
            change = with_interval(d.difference, d.interval, style, signed=True, limit=0)
        if d.evidence in DECIDING:
            change = "" if _conclusion(d) == "identical" else f"{change}, {d.p_in_words}"
        return f"{begin}{d.run} is {words} {joint} {against}{change and f': {change}'}."
    many = len(differences) > _MOST_NAMED
    phrases: list[str] = []
    for conclusion, (words, joint) in CLAIM_WORDS.items():
        named = [one for one in differences if _conclusion(one) == conclusion]
        if runs := [f"{one.run} ({one.p_in_words})" for one in named]:
            some = counted(len(runs), "run") if many else joined(runs)
            words = words if phrases else f"{words} {joint} {against}"
            phrases.append(f"{some} {'is' if len(runs) == 1 else 'are'} {words}")
    if many:
        values = np.array([d.baseline, *(one.summary for one in differences)])
        phrases.append(best_value(d.metric, [base, *(one.run for one in differences)], values))
    return f"{begin}{'; '.join(phrases)}."


def _conclusion(d: Difference) -> Conclusion:
    equal = d.ties == d.queries and d.difference == 0
    return "identical" if d.decision == "undecided" and equal else d.decision


def _of_pairs(pairs: AllPairs, matrix: MetricPairs, judged: str) -> str:
    """Name the best run by one measure, and the claims about it."""
    begin = f"By {matrix.metric.name}, {best_value(matrix.metric, pairs.names, matrix.values)}"
    if np.isnan(matrix.values).all():
        return f"{begin}."
    claims, best = beaten_by_best(pairs, matrix), matrix.order[0]
    phrases = []
    for claim, conclusion in _OF_THE_BEST.items():
        runs = [run for run, one in claims.items() if one == claim]
        if claim == "worse":
            p = (float(matrix.p[best, pairs.names.index(run)]) for run in runs)
            runs = [f"{run} ({p_text(one)})" for run, one in zip(runs, p, strict=True)]
        if runs:
            some = joined(runs) if len(runs) <= _MOST_NAMED else f"{len(runs)} runs"
            phrases.append(f"{' '.join(CLAIM_WORDS[conclusion])} {some}")
    return f"{begin}{judged}; it is {joined(phrases)}."


# By the claim about another run, what the best run is.
_OF_THE_BEST: Mapping[Claim, Claim] = {
    "worse": "better",
    "undecided": "undecided",
    "untested": "untested",
}


def beaten_by_best(pairs: AllPairs, matrix: MetricPairs) -> dict[str, Claim]:
    """Return the claim about every other run against the best one."""
    best, *others = matrix.order
    claims: dict[str, Claim] = {}
    for run in others:
        p = float(matrix.p[best, run])
        differs = p < pairs.procedure.limit  # False for NaN
        claims[pairs.names[run]] = "worse" if differs else "untested" if p != p else "undecided"
    return claims


def best_value(metric: Metric, names: Sequence[str], values: FloatArray) -> str:
    """Name the run with the best value, and the runs with the same value."""
    if np.isnan(values).all():
        return "no run has a value"
    order = metric.best_first(values)
    best, *equal = (names[run] for run in order if values[run] == values[order[0]])
    also = f" (so has {equal[0]})" if len(equal) == 1 else f" (so have {len(equal)} others)"
    return f"{best} has the best value{also * bool(equal)}"


def _contrary(comparison: Comparison) -> str:
    """Name an exploratory measure that contradicts a claim with a small p-value."""
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
    d = min(contrary, key=lambda d: d.p)
    change = rounded(d.difference, d.metric.measure.style, signed=True)
    word = "worse" if d.gain < 0 else "better"
    return f" But by {d.metric.name} (exploratory), {d.run} is {word} ({change}, {p_text(d.p)})."


def goodness(d: Difference) -> float:
    """Return the sort key of a value: NA is last."""
    value = d.metric.measure.sign * d.summary
    return -math.inf if math.isnan(value) else value


def doubts_of(compared: Comparison | AllPairs, judging: Judging | None) -> Mapping[str, Doubt]:
    """Return the doubts, by the first metric, about runs against the baseline or the best run."""
    if judging is None:
        return {}
    if isinstance(compared, Comparison):
        claims = {d.run: d.decision for d in compared.by_metric[0]}
        return judging.doubts(compared.names[0], claims)
    decisive = compared.claims[0]
    return judging.doubts(compared.names[decisive.order[0]], beaten_by_best(compared, decisive))


def seeds_note(runs: Mapping[str, RunOrPath | StoredResult]) -> str:
    """Name runs that look like seeds of one system, by their files, and how to say so; or ""."""
    alone = [(name, run) for name, run in runs.items() if not isinstance(name, Seed)]
    files = [run if isinstance(run, str) else name for name, run in alone]
    for system, seeds in look_like_seeds(files).items():
        name = run_names([system])[0].strip("-_. ") or "system"
        return (
            f"{joined([*map(visible, seeds)])} look like seeds of one system, and each alone says "
            f"little of it; as one system: {visible(interface().system_text(name, seeds))}"
        )
    return ""


_FEW, _SOME = 30, 100  # queries, below which a note or the explanation names what can go unseen
_SIGNIFICANT = 0.05


def evidence_notes(
    runs: Sequence[Scores], metric: Metric, clusters: Clusters | None
) -> Iterator[str]:
    """Yield reasons for caution about claims: few queries, and turns counted as queries."""
    queries = runs[0].queries
    yield from _unseen(queries, clusters, 2, _FEW)
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
    """Yield lines of an explanation: clusters, and what few queries can miss."""
    queries = runs[0].queries
    if clusters and (unit := units_of(queries, clusters)) is not None:
        alike = correlation_of_differences(runs, metric, clusters)
        correlation = (
            f". Differences by {metric.name} have a correlation of {alike.within:.2f} within "
            f"clusters ({p_text(alike.p)}): a design effect of {alike.design_effect:.2f}"
        )
        yield (
            f"clusters: {int(unit.max()) + 1:,} of {counted(len(queries), 'query', 'queries')}, "
            "which are evidence as a whole; the value is that over queries"
            f"{'' if math.isnan(alike.within) else correlation}"
        )
    yield from _unseen(queries, clusters, _FEW, _SOME)


def _unseen(
    queries: Sequence[bytes], clusters: Clusters | None, fewest: int, most: int
) -> Iterator[str]:
    """Say what can go unseen with at least `fewest` units, and fewer than `most`."""
    units = int(numbered_units(queries, clusters).max()) + 1
    nouns = "clusters" if clusters else "queries"
    if fewest <= units < most:
        rare = f"fewer than 1 in {rarest_seen(units)} {nouns}"
        yield f"{units} {nouns} can miss a failure that affects {rare}."


def correlation_of_differences(
    runs: Sequence[Scores], metric: Metric, clusters: Clusters
) -> Clustering:
    """Return the largest correlation of differences within clusters, over runs.

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
