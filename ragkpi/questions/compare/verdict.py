"""The verdicts of comparisons: one or two sentences that a referee would sign."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from ragkpi.library.unjudged_doubt import Doubt, percent
from ragkpi.reports.names import short_names
from ragkpi.statistics.all_pairs import AllPairs, MetricPairs
from ragkpi.statistics.paired import Claim, Comparison, Difference
from ragkpi.wording import joined, rounded, short_p

LINES, COLUMNS = 3, 80  # of a verdict on a terminal
_BESIDE_NAMES = 53  # columns of a terminal for a difference, its interval and p
_SHORTEST = 12  # shorter names would look alike
_MOST_NAMED = 3  # runs besides the baseline that are named one by one

# What is said of a run, and the word before the run that it is compared with.
_SAID: Mapping[Claim, tuple[str, str]] = {
    "better": ("better", "than"),
    "worse": ("worse", "than"),
    "undecided": ("not shown to differ", "from"),
    "untested": ("not tested", "against"),
}
Names = Mapping[str, str]


def shown_names(
    names: Sequence[str],
    metrics: Sequence[str],
    width: int,
    sentences: Callable[[Names], list[str]],
) -> Names:
    """Return runs' names as the rows of a table of this width, and its verdict, have room for."""
    room = max(width - _BESIDE_NAMES - max(map(len, metrics)), _SHORTEST)
    shown: Names = {}
    for most in range(room, _SHORTEST - 1, -1):
        shown = dict(zip(names, short_names(names, most), strict=True))
        if _lines(fitted(shown, sentences)) <= LINES:
            break
    return shown


def fitted(shown: Names, sentences: Callable[[Names], list[str]]) -> list[str]:
    """Write sentences with whole names of runs; as they are shown if that takes over `LINES`."""
    whole = sentences({name: name for name in shown})
    return whole if _lines(whole) <= LINES else sentences(shown)


def _lines(sentences: Iterable[str]) -> int:
    return sum(len(textwrap.wrap(text, COLUMNS, break_on_hyphens=False)) for text in sentences)


def comparison_sentences(
    comparison: Comparison, doubts: Mapping[str, Doubt], names: Names
) -> list[str]:
    """Say which runs are better than the baseline, and how far to believe it."""
    base, *others = comparison.names
    against = names[base] + _judged(doubts)
    claims = [found for found in comparison.by_metric if found[0].decision != "described"]
    if unreachable := comparison.out_of_reach():
        alone = [_of_one(claims[0][0], names, against)] if len(comparison.claims) == 1 else []
        return [*alone, unreachable]
    shares = _shares(doubts, names, base, len(claims))
    if len(comparison.claims) == 1:
        return [_of_one(claims[0][0], names, against) + shares]
    if len(others) == 1:
        said = [
            f"{_with_p(some)}, {names[others[0]]} is {' '.join(_SAID[claim])} {against}"
            for claim, some in _grouped((d.metric.name, d) for (d,) in claims)
        ]
        return [f"By {'; by '.join(said)}.{shares}"]
    sentences = [_of_runs(found, names, against, _most(doubts)) for found in claims]
    sentences[-1] += shares
    if len(claims) > 1 and _lines(sentences) > LINES:
        numbers = [(d[0].metric.name, Counter(one.decision for one in d)) for d in claims]
        counts = [f"by {name} {n['better']} and {n['worse']}" for name, n in numbers]
        text = f"Better and worse than {against}, of {len(others)} runs: "
        return [f"{text}{', '.join(counts)}.{shares}"]
    return sentences


def _of_one(found: Difference, names: Names, against: str) -> str:
    """Say what one measure decides of the only other run."""
    style, said = found.metric.measure.style, " ".join(_SAID[found.decision])
    change, *bounds = (rounded(x, style, signed=True) for x in (found.difference, *found.interval))
    interval = "" if math.isnan(found.interval.low) else f" [{', '.join(bounds)}]"
    return (
        f"By {found.metric.name}, {names[found.run]} is {said} {against}: {change}{interval}, "
        f"{found.p_in_words}."
    )


def _of_runs(found: Sequence[Difference], names: Names, against: str, most: int) -> str:
    """Say what one measure decides of several runs: by name, or counted, with the best."""
    by, groups = f"By {found[0].metric.name}, ", _grouped((names[d.run], d) for d in found)
    if len(found) <= most:
        named = [
            f"{_with_p(some)} {_are(len(some))} {' '.join(_SAID[claim])} {against}"
            for claim, some in groups
        ]
        return f"{by}{'; '.join(named)}."
    (claim, some), *others = groups
    number = "all" if len(some) == len(found) else f"{len(some)} of"
    said = f"{number} {len(found)} runs {_are(len(some))} {' '.join(_SAID[claim])} {against}"
    if number == "all" and claim == "undecided":
        said = f"none of {len(found)} runs is shown to differ from {against}"
    rest = [f"{len(runs)} {_are(len(runs))} {_SAID[other][0]}" for other, runs in others]
    best = max(found, key=goodness)
    change = rounded(best.difference, best.metric.measure.style, signed=True)
    return (
        f"{by}{joined([said, *rest])}; the best value is {names[best.run]}'s "
        f"({change}, {best.p_in_words})."
    )


Named = tuple[str, Difference]  # what a difference is called in a sentence: a run, or a measure


def _grouped(found: Iterable[Named]) -> list[tuple[Claim, list[Named]]]:
    """Group differences by what is claimed."""
    all_found = list(found)
    groups = [(claim, [one for one in all_found if one[1].decision == claim]) for claim in _SAID]
    return [(claim, some) for claim, some in groups if some]


def goodness(found: Difference) -> float:
    """Return what to sort by: NA is last."""
    value = found.metric.measure.sign * found.summary
    return -math.inf if math.isnan(value) else value


def _with_p(found: Iterable[Named]) -> str:
    return joined([f"{name} ({difference.p_in_words})" for name, difference in found])


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _judged(doubts: Mapping[str, Doubt]) -> str:
    return " as far as judged" if doubts else ""


def _most(doubts: Mapping[str, Doubt]) -> int:
    return _MOST_NAMED - bool(doubts)  # doubts take a line


def _shares(doubts: Mapping[str, Doubt], names: Names, base: str, metrics: int) -> str:
    """Say how much of the top documents is judged, of the baseline and of doubtful runs."""
    if not doubts:
        return ""
    run, doubt = max(doubts.items(), key=lambda item: abs(item[1].run - item[1].baseline))
    if len(doubts) > 1:
        alike = [d.run for d in doubts.values() if d.depth == doubt.depth]
        least, most = percent(min(alike)), percent(max(alike))
        share = least if least == most else f"{least} to {most}"
        begin = f" Judged in the top {doubt.depth}: {names[base]} {percent(doubt.baseline)}, "
        return f"{begin}{len(alike)} others {share} (ragkpi holes)."
    # What could be reversed is the order by the first measure.
    doubt = replace(doubt, can_reverse=doubt.can_reverse and metrics == 1)
    words = doubt.in_words(names[base], names[run])
    return f" {words[0].upper()}{words[1:]}."


def beaten_by_best(pairs: AllPairs, found: MetricPairs) -> dict[str, Claim]:
    """Return what is claimed of every other run against the best one."""
    best, *others = found.order
    claims: dict[str, Claim] = {}
    for run in others:
        p = float(found.p[best, run])
        differs = p < pairs.procedure.limit  # False for NaN
        claims[pairs.names[run]] = "worse" if differs else "untested" if p != p else "undecided"
    return claims


def all_pairs_sentences(pairs: AllPairs, doubts: Mapping[str, Doubt], names: Names) -> list[str]:
    """Name the best run, what it is better than, and what it is not shown to differ from."""
    judged, best = _judged(doubts), pairs.names[pairs.claims[0].order[0]]
    shares = _shares(doubts, names, best, len(pairs.claims))
    sentences = [
        f"By {found.metric.name}, {names[pairs.names[found.order[0]]]} has the best value{judged}; "
        f"it is {_best_against(pairs, found, names, _most(doubts))}."
        for found in pairs.claims
    ]
    sentences[-1] += shares
    if len(pairs.claims) > 1 and _lines(sentences) > LINES:
        differ = [int((found.p < pairs.procedure.limit).sum()) // 2 for found in pairs.claims]
        counts = [f"{n} by {d.metric.name}" for n, d in zip(differ, pairs.claims, strict=True)]
        text = f"Pairs shown to differ{judged}, of {math.comb(len(pairs.names), 2)}: "
        text += f"{joined(counts)}; {names[best]} has the best value by "
        return [f"{text}{pairs.claims[0].metric.name}.{shares}"]
    return sentences


def _best_against(pairs: AllPairs, found: MetricPairs, names: Names, most: int) -> str:
    """Say what the best run is better than, with p, and what it is not shown to differ from."""
    claims, best = beaten_by_best(pairs, found), found.order[0]
    said = []
    worse = [run for run, claim in claims.items() if claim == "worse"]
    if len(worse) > most:
        said.append(f"better than {len(worse)} runs")
    elif worse:
        p = [short_p(float(found.p[best, pairs.names.index(run)])) for run in worse]
        some = [f"{names[run]} (p = {of_run})" for run, of_run in zip(worse, p, strict=True)]
        said.append(f"better than {joined(some)}")
    for other in ("undecided", "untested"):
        some = [names[run] for run, claim in claims.items() if claim == other]
        if some:
            more = [f"{len(some) - most} more"] if len(some) > most else []
            said.append(f"{' '.join(_SAID[other])} {joined(some[:most] + more)}")
    return joined(said)
