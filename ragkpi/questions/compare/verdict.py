"""The verdicts of comparisons: one or two sentences that a referee would sign."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from ragkpi.questions.compare.judging import Doubt
from ragkpi.reports.names import short_names
from ragkpi.statistics.paired import AllPairs, Claim, Comparison, Difference, MetricPairs
from ragkpi.wording import counted, rounded, short_p

LINES, COLUMNS = 3, 80  # of a verdict on a terminal
_BESIDE_NAMES = 53  # columns of a terminal for a difference, its interval and p
_SHORTEST = 12  # shorter names would look alike
_MOST_NAMED = 3  # runs besides the baseline that are named one by one

_IS: Mapping[Claim, tuple[str, str]] = {  # for one run, for several
    "better": ("is better than", "are better than"),
    "worse": ("is worse than", "are worse than"),
    "undecided": ("is not shown to differ from", "are not shown to differ from"),
    "untested": ("cannot be tested against", "cannot be tested against"),
}
_ORDER: Sequence[Claim] = ("better", "worse", "undecided", "untested")
Names = Mapping[str, str]


def joined(names: Sequence[str]) -> str:
    """Format a list of names for a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def shown_names(names: Sequence[str], metrics: Sequence[str], width: int | None) -> Names:
    """Return runs' names as the rows of a table of this width have room for, by name."""
    if width is None:
        return dict(zip(names, names, strict=True))
    room = max(width - _BESIDE_NAMES - max(map(len, metrics)), _SHORTEST)
    return dict(zip(names, short_names(names, room), strict=True))


def fitted(shown: Names, sentences: Callable[[Names], list[str]]) -> list[str]:
    """Write sentences with whole names of runs; with shorter ones if they take over `LINES`."""
    shortest = dict(zip(shown, short_names(list(shown), _SHORTEST), strict=True))
    made: list[str] = []
    for names in ({name: name for name in shown}, shown, shortest):
        made = sentences(names)
        if _lines(made) <= LINES:
            break
    return made


def _lines(sentences: Iterable[str]) -> int:
    return sum(len(textwrap.wrap(text, COLUMNS, break_on_hyphens=False)) for text in sentences)


def claims_of(comparison: Comparison) -> dict[str, Claim]:
    """Return what the first metric claims of each run."""
    return {found.run: found.decision for found in comparison.by_metric[0]}


def comparison_sentences(
    comparison: Comparison, doubts: Mapping[str, Doubt], names: Names
) -> list[str]:
    """Say which runs are better than the baseline, and how far to believe it."""
    base = comparison.names[0]
    claims = comparison.by_metric
    if comparison.procedure.family == "first":
        claims = claims[:1]
    if len(claims) == 1:
        said = [_by_metric(claims[0], names, names[base], doubts)]
    elif len(claims[0]) == 1:
        said = [
            _by_metrics([of_metric[0] for of_metric in claims], names, names[base], bool(doubts))
        ]
    else:
        said = [_by_metric(found, names, names[base], doubts) for found in claims]
        if _lines(said) > LINES:
            said = [_counts(claims, names[base], bool(doubts))]
    return [*said, *filter(None, [comparison.out_of_reach])]


def _by_metric(
    found: Sequence[Difference],
    names: Names,
    base: str,
    doubts: Mapping[str, Doubt],
) -> str:
    """Say what one metric decides of the runs."""
    by = f"By {found[0].metric.name}, "
    if len(found) == 1:
        return by + _of_one(found[0], names[found[0].run], base, doubts.get(found[0].run))
    judged = " as far as judged" if doubts else ""
    if len(found) > _MOST_NAMED - bool(doubts):  # doubts take a line
        return f"{by}{_of_many(found, names, base, judged)}."
    parts = []
    for decision in _ORDER:
        runs = [d for d in found if d.decision == decision]
        if len(runs) == 1:
            said = f"{names[runs[0].run]} {_IS[decision][0]} {base}{judged}{_p(runs[0])}"
            parts.append(said)
        elif runs:
            several = joined([f"{names[d.run]}{_p(d)}" for d in runs])
            parts.append(f"{several} {_IS[decision][1]} {base}{judged}")
    return f"{by}{'; '.join(parts)}."


def _p(found: Difference) -> str:
    return "" if math.isnan(found.corrected) else f" (p = {short_p(found.corrected)})"


def _of_one(found: Difference, run: str, base: str, doubt: Doubt | None) -> str:
    said = f"{run} {_IS[found.decision][0]} {base}"
    if doubt is not None:
        shares = f"{_percent(doubt.baseline)} of {base}'s top {doubt.cutoff} is judged"
        shares += f" and {_percent(doubt.run)} of {run}'s"
        worse = run if found.decision == "worse" else base
        turned = {
            "surely": f"; with {worse}'s unjudged documents relevant it could be better",
            "perhaps": "; their bounds over unjudged documents overlap",
            "unknown": "",
        }
        return f"{said} as far as judged{_p(found)}: {shares}{turned[doubt.turned]} (ragkpi holes)."
    style = found.metric.measure.style
    numbers = [rounded(x, style, signed=True) for x in (found.difference, *found.interval)]
    bounds = "" if math.isnan(found.interval.low) else f" [{numbers[1]}, {numbers[2]}]"
    p = "no p-value" if math.isnan(found.corrected) else f"p = {short_p(found.corrected)}"
    return f"{said}: {numbers[0]}{bounds}, {p}."


def _of_many(found: Sequence[Difference], names: Names, base: str, judged: str) -> str:
    """Count the runs that are better, worse and undecided, and name the best."""
    number = Counter(d.decision for d in found)
    gain = {d.run: d.metric.measure.sign * d.difference for d in found}
    known = [d for d in found if not math.isnan(d.difference)] or list(found)
    best, worst = (choose(known, key=lambda d: gain[d.run]) for choose in (max, min))
    rest = []
    if number["better"]:
        some = "all" if number["better"] == len(found) else f"{number['better']} of"
        said = f"{some} {len(found)} runs {_are(number['better'])} better than {base}"
        said += f"{judged}, most of all {_with_difference(best, names)}"
    elif number["worse"] == len(found):
        return f"all {len(found)} runs are worse than {base}{judged}, most of all " + (
            _with_difference(worst, names)
        )
    elif number["worse"]:
        said = f"none of {len(found)} runs is better than {base}{judged}"
    else:
        said = f"none of {len(found)} runs is shown to differ from {base}{judged}"
        return f"{said}; the best value has {_with_difference(best, names)}"
    if number["undecided"]:
        rest.append(f"{number['undecided']} {_are(number['undecided'])} not shown to differ")
    if number["worse"]:
        worse = f"{number['worse']} {_are(number['worse'])} worse"
        named = "" if number["better"] else f", most of all {_with_difference(worst, names)}"
        rest.append(worse + named)
    if number["untested"]:
        rest.append(f"{number['untested']} cannot be tested")
    return f"{said}; {joined(rest)}" if rest else said


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _with_difference(found: Difference, names: Names) -> str:
    difference = rounded(found.difference, found.metric.measure.style, signed=True)
    p = "" if math.isnan(found.corrected) else f", p = {short_p(found.corrected)}"
    return f"{names[found.run]} ({difference}{p})"


def _by_metrics(found: Sequence[Difference], names: Names, base: str, doubtful: bool) -> str:
    """Say by which metrics one run is better or worse."""
    parts: list[str] = []
    judged = " as far as judged" if doubtful else ""
    for decision in _ORDER:
        metrics = [f"{d.metric.name}{_p(d)}" for d in found if d.decision == decision]
        if metrics:
            run = "it" if parts else names[found[0].run]
            other = "" if parts and decision == "undecided" else f" {base}"
            said = _IS[decision][0] if other else "is not shown to differ"
            parts.append(f"{run} {said}{other}{judged} by {joined(metrics)}")
    return f"{'; '.join(parts)}."


def _counts(claims: Sequence[Sequence[Difference]], base: str, doubtful: bool) -> str:
    """Count the runs that are better and worse, metric by metric."""
    parts = []
    for found in claims:
        number = Counter(d.decision for d in found)
        parts.append(f"by {found[0].metric.name} {number['better']} and {number['worse']}")
    judged = " as far as judged" if doubtful else ""
    return f"Of {len(claims[0])} runs, so many are better and worse than {base}{judged}: " + (
        f"{', '.join(parts)}."
    )


def judged_shares(doubts: Mapping[str, Doubt], names: Names, base: str) -> list[str]:
    """Say how much of the top documents is judged, of the baseline and of doubtful runs."""
    if not doubts:
        return []
    first = next(iter(doubts.values()))
    least, most = (_percent(choose(d.run for d in doubts.values())) for choose in (min, max))
    others = f"{least} of {names[next(iter(doubts))]}'s"
    if len(doubts) > 1:
        others = f"{least if least == most else f'{least} to {most}'} of {len(doubts)} others'"
    shown = f"{_percent(first.baseline)} of {names[base]}'s top {first.cutoff} is judged"
    return [f"{shown} and {others} (ragkpi holes)."]


def _percent(share: float) -> str:
    """Write a share; what is not all, or not nothing, never looks like it."""
    whole = round(share * 100)
    if 0 < share < 1 and whole in (0, 100):
        return f"{share * 100:.1f} %" if 0.0005 <= share < 0.9995 else f"nearly {whole} %"
    return f"{whole} %"


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
    """Name the best run and what it is not shown to differ from, and count the other pairs."""
    return [_best_by(pairs, found, names, bool(doubts)) for found in pairs.claims]


def _best_by(pairs: AllPairs, found: MetricPairs, names: Names, doubtful: bool) -> str:
    claims, runs = beaten_by_best(pairs, found), len(pairs.names)
    best = names[pairs.names[found.order[0]]]
    groups = {
        claim: [run for run, of_run in claims.items() if of_run == claim]
        for claim in ("worse", "undecided", "untested")
    }
    number = runs * (runs - 1) // 2
    apart = int((found.p < pairs.procedure.limit).sum()) // 2
    by, judged = f"By {found.metric.name}, ", " as far as judged" if doubtful else ""
    if not apart:
        few = "the two runs are not" if runs == 2 else f"no two of {runs} runs are"
        return f"{by}{few} shown to differ{judged}; {best} has the best value."
    said = []
    if groups["worse"]:
        said.append(f"better{judged} than {_named(groups['worse'], found, pairs, names)}")
    if groups["undecided"]:
        others = _named(groups["undecided"], None, pairs, names)
        said.append(f"not shown to differ from {others}")
    if groups["untested"]:
        said.append(f"not tested against {_named(groups['untested'], None, pairs, names)}")
    text = f"{by}{best} has the best value; it is {joined(said)}"
    if runs > 2:
        text += f". {apart} of {counted(number, 'pair')} {_are(apart)} shown to differ"
    return f"{text}."


def _named(runs: Sequence[str], found: MetricPairs | None, pairs: AllPairs, names: Names) -> str:
    """Name a few runs, with p-values if `found` is given, and count the others."""
    if found is not None and len(runs) > _MOST_NAMED:
        return counted(len(runs), "run")
    some = []
    for run in runs[:_MOST_NAMED]:
        p = ""
        if found is not None:
            p = short_p(float(found.p[found.order[0], pairs.names.index(run)]))
            p = f" (p = {p})"
        some.append(names[run] + p)
    more = len(runs) - len(some)
    return joined([*some, *([f"{more} more"] if more else [])])
