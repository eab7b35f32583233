"""The verdicts of comparisons: one or two sentences that a referee would sign."""

from __future__ import annotations

import math
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from ragkpi.library.unjudged_doubt import Doubt, Judging
from ragkpi.statistics.all_pairs import AllPairs, MetricPairs
from ragkpi.statistics.paired import Claim, Comparison, Difference
from ragkpi.wording import counted, joined, percent, rounded, short_p

LINES, COLUMNS = 3, 80  # of a verdict on a terminal
_MOST_NAMED = 3  # runs besides the baseline that are named one by one

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


def lines_of(sentences: Iterable[str]) -> int:
    """Return how many lines of a terminal sentences take."""
    return sum(len(textwrap.wrap(text, COLUMNS, break_on_hyphens=False)) for text in sentences)


def comparison_sentences(comparison: Comparison, doubts: Mapping[str, Doubt]) -> list[str]:
    """Say which runs are better than the baseline, which it is, and how far to believe it."""
    first, *others = _sentences(comparison, doubts)
    base = comparison.names[0]
    mention = rf"\b({'|'.join({word for _, word in CLAIM_WORDS.values()})}) (?={re.escape(base)})"
    return [re.sub(mention, r"\1 the baseline ", first, count=1), *others]


def _sentences(comparison: Comparison, doubts: Mapping[str, Doubt]) -> list[str]:
    base, *others = comparison.names
    against = base + _judged(doubts)
    claims = [of_metric for of_metric in comparison.by_metric if of_metric[0] in comparison.claims]
    if unreachable := comparison.out_of_reach():
        alone = [_of_one(claims[0][0], against)] if len(comparison.claims) == 1 else []
        return [*alone, unreachable]
    end = _contrary(comparison) + _shares(doubts, base, len(claims))
    if len(comparison.claims) == 1:
        return [_of_one(claims[0][0], against) + end]
    if len(others) == 1:
        groups = [
            f"{_with_p(some)}, {others[0]} is {' '.join(CLAIM_WORDS[conclusion])} {against}"
            for conclusion, some in _grouped((d.metric.name, d) for (d,) in claims)
        ]
        return [f"By {'; by '.join(groups)}.{end}"]
    sentences = [_of_runs(of_metric, base, against, _most(doubts)) for of_metric in claims]
    sentences[-1] += end
    if len(claims) > 1 and lines_of(sentences) > LINES:
        numbers = [(d[0].metric.name, Counter(one.decision for one in d)) for d in claims]
        counts = [f"by {name} {n['better']} and {n['worse']}" for name, n in numbers]
        text = f"Better and worse than {against}, of {len(others)} runs: "
        return [f"{text}{', '.join(counts)}.{end}"]
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


def _of_runs(differences: Sequence[Difference], base: str, against: str, most: int) -> str:
    """Say what one measure decides of several runs: by name, or counted, with the best."""
    by = f"By {differences[0].metric.name}, "
    groups = _grouped((d.run, d) for d in differences)
    if len(differences) <= most:
        named = [
            f"{_with_p(some)} {_are(len(some))} {' '.join(CLAIM_WORDS[conclusion])} {against}"
            for conclusion, some in groups
        ]
        return f"{by}{'; '.join(named)}."
    (conclusion, some), *others = groups
    runs = f"{len(differences)} runs"
    number = f"all {runs}" if len(some) == len(differences) else f"{len(some)} of {runs}"
    begin = f"{number} {_are(len(some))} {' '.join(CLAIM_WORDS[conclusion])} {against}"
    if not others and conclusion == "undecided":
        begin = f"none of {runs} is shown to differ from {against}"
    rest = [f"{len(runs)} {_are(len(runs))} {CLAIM_WORDS[other][0]}" for other, runs in others]
    return f"{by}{joined([begin, *rest])}; the best value is {_best(differences, base)}."


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


def _grouped(differences: Iterable[Named]) -> list[tuple[Conclusion, list[Named]]]:
    """Group differences by what is claimed."""
    groups: dict[Conclusion, list[Named]] = {conclusion: [] for conclusion in CLAIM_WORDS}
    for named in differences:
        groups[_conclusion(named[1])].append(named)
    return [(conclusion, some) for conclusion, some in groups.items() if some]


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


def _most(doubts: Mapping[str, Doubt]) -> int:
    return _MOST_NAMED - bool(doubts)  # doubts take a line


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


def all_pairs_sentences(pairs: AllPairs, doubts: Mapping[str, Doubt]) -> list[str]:
    """Name the best run, what it is better than, and what it is not shown to differ from."""
    judged, best = _judged(doubts), pairs.names[pairs.claims[0].order[0]]
    shares = _shares(doubts, best, len(pairs.claims))
    sentences = [
        f"By {one.metric.name}, {best_value(pairs, one)}{judged}; it is "
        f"{_best_against(pairs, one, _most(doubts))}."
        if not np.isnan(one.values).all()
        else f"By {one.metric.name}, {best_value(pairs, one)}."
        for one in pairs.claims
    ]
    if unreachable := pairs.out_of_reach:
        return [*(sentences if len(sentences) == 1 else []), unreachable]
    sentences[-1] += shares
    if len(pairs.claims) > 1 and lines_of(sentences) > LINES:
        differ = [int((one.p < pairs.procedure.limit).sum()) // 2 for one in pairs.claims]
        counts = [f"{n} by {d.metric.name}" for n, d in zip(differ, pairs.claims, strict=True)]
        text = f"Pairs shown to differ{judged}, of {math.comb(len(pairs.names), 2)}: "
        text += f"{joined(counts)}; {best_value(pairs, pairs.claims[0])} by "
        return [f"{text}{pairs.claims[0].metric.name}.{shares}"]
    return sentences


def best_value(pairs: AllPairs, matrix: MetricPairs) -> str:
    """Say which run has the best value, and which others have the same."""
    if np.isnan(matrix.values).all():
        return "no run has a value"
    best, *others = (pairs.names[run] for run in matrix.order)
    equal = int((matrix.values[matrix.order[1:]] == matrix.values[matrix.order[0]]).sum())
    also = f" (so has {others[0]})" if equal == 1 else f" (so have {equal} others)" * bool(equal)
    return f"{best} has the best value{also}"


def _best_against(pairs: AllPairs, matrix: MetricPairs, most: int) -> str:
    """Say what the best run is better than, with p, and what it is not shown to differ from."""
    claims, best = beaten_by_best(pairs, matrix), matrix.order[0]
    phrases = []
    worse = [run for run, claim in claims.items() if claim == "worse"]
    if len(worse) > most:
        phrases.append(f"better than {len(worse)} runs")
    elif worse:
        p = [short_p(float(matrix.p[best, pairs.names.index(run)])) for run in worse]
        some = [f"{run} (p = {of_run})" for run, of_run in zip(worse, p, strict=True)]
        phrases.append(f"better than {joined(some)}")
    for other in ("undecided", "untested"):
        some = [run for run, claim in claims.items() if claim == other]
        if some:
            more = [f"{len(some) - most} more"] if len(some) > most else []
            phrases.append(f"{' '.join(CLAIM_WORDS[other])} {joined(some[:most] + more)}")
    return joined(phrases)
