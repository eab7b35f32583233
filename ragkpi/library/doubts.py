"""Doubts about claims on runs: those that unjudged documents or another order of ties could change.

A run outside the judging pool retrieves unjudged documents, which measures treat as not relevant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import get_args

from ragkpi.bounds.bounds import Swap, depth_needed, find_bounds
from ragkpi.evaluation import Evaluation
from ragkpi.interface import spell
from ragkpi.library.session import Evaluations, Session
from ragkpi.library.slices import QuerySlice
from ragkpi.measures.measure import Metric, Scores, score
from ragkpi.measures.registry import find_metrics
from ragkpi.ranking.judged import Judged, Settings
from ragkpi.ranking.reading import FirstOfTies
from ragkpi.statistics.bootstrap import Bootstrap
from ragkpi.statistics.gates import BaselineGate, Verdict, baseline_verdicts
from ragkpi.statistics.paired import Claim, Difference, Procedure, compare
from ragkpi.wording import percent, rounded

# Depths for comparing judged shares under a metric of whole rankings, down to the longest one.
_DEPTHS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
_DEEPEST = 100  # depth of document names; reading takes 10% longer
_A_POINT = 0.01  # smaller differences between judged shares are not mentioned
BY_ID = "as far as ties are broken by id"
"""The words of a claim that another order of equal scores would change."""


@dataclass(frozen=True)
class Doubt:
    """The doubts about a claim on a run against a baseline.

    Attributes
    ----------
    unjudged
        The difference between the unjudged shares of their top documents; None without doubt.
    can_reverse
        Whether a known assignment of levels to unjudged documents reverses the claim.
    ties
        The difference over all orders of equal scores if it does not support the claim; else None.
    """

    unjudged: Difference | None = None
    can_reverse: bool = False
    ties: Difference | None = None

    def in_words(self, baseline: str, run: str) -> str:
        """Give the reasons that leave the claim open."""
        texts = []
        if (d := self.unjudged) is not None:
            shares = f"{baseline} {percent(1 - d.baseline)}, {run} {percent(1 - d.summary)}"
            order = "; unjudged documents could reverse the order" if self.can_reverse else ""
            depth = d.metric.arguments["cutoff"]
            texts.append(f"judged in the top {depth}: {shares}{order} (ragkpi holes)")
        if (d := self.ties) is not None:
            change = rounded(d.difference, d.metric.measure.style, signed=True)
            order, option = "over all orders of equal scores", f" ({spell('ties', 'expected')})"
            if d.metric.measure.expectation is None:
                order, option = "in the least favourable order of equal scores", ""
            texts.append(f"{order} {run} differs by {change}, {d.p_in_words}{option}")
        return "; ".join(texts)


def limits_of(doubts: Iterable[Doubt]) -> str:
    """Return the words for a claim that depends on judging, or on how ties are broken."""
    every = list(doubts)
    limits = ["as far as judged"] if any(doubt.unjudged for doubt in every) else []
    return " and ".join([*limits, BY_ID] if any(doubt.ties for doubt in every) else limits)


@dataclass(frozen=True, eq=False)
class Judging:
    """The data behind doubts, by the names of runs.

    Attributes
    ----------
    session
        The call that evaluated the runs.
    unjudged
        The unjudged shares, down to every depth at which the judging of two runs may differ.
    expected, extremes
        The scores over all orders of equal scores, or for a metric without an expectation those
        with the highest level first among equal scores, and last; empty without ties.
    bounded
        The runs that have bounds.
    """

    session: Session
    unjudged: Mapping[str, Scores]
    expected: Mapping[str, Scores]
    extremes: Sequence[Mapping[str, Scores]]
    bounded: Mapping[str, Evaluation]

    def of(self, part: QuerySlice) -> Judging:
        """Return the data of a slice, without bounds."""
        unjudged, expected, *extremes = map(
            part.of_runs, (self.unjudged, self.expected, *self.extremes)
        )
        return replace(self, unjudged=unjudged, expected=expected, extremes=extremes, bounded={})

    def doubts(self, baseline: str, claims: Mapping[str, Claim]) -> dict[str, Doubt]:
        """Return the doubts about claims of runs against a baseline, by run.

        There is a doubt if the judged shares at some depth differ significantly (paired test over
        queries, p < 0.05 divided by the depths) and by at least a point, or if the bounds of the
        values overlap. It names the depth of the largest difference. There is another doubt if the
        expected values over all orders of ties do not support the claim, or if the least favourable
        order does not support that a run is better or worse.
        """
        names = [baseline, *claims]
        if len(names) < 2 or not self.unjudged.keys() >= {*names}:
            return {}
        plain = Procedure(correction="none", bootstrap=Bootstrap(clusters=self.session.clusters))
        ties: dict[str, Difference] = {}
        if self.expected.keys() >= {*names}:
            over_orders = [self.expected[name] for name in names]
            for d in compare(names, over_orders, replace(plain, correction="holm")).differences:
                if d.decision != claims[d.run] and "untested" not in (d.decision, claims[d.run]):
                    ties[d.run] = d
        for run, claim in claims.items() if self.extremes else ():
            first, last = self.extremes
            if first[run].metrics[0].measure.sign < 0:
                first, last = last, first
            there, here = (first, last) if claim == "better" else (last, first)
            (d,) = compare([baseline, run], [there[baseline], here[run]], plain).differences
            if claim in ("better", "worse") and d.decision != claim:
                ties[run] = d
        shares = compare(names, [self.unjudged[name] for name in names], plain).differences
        doubts: dict[str, Doubt] = {}
        for run, claim in claims.items():
            depths = [d for d in shares if d.run == run]
            swaps: Sequence[Swap] = ()
            decided = claim in ("better", "worse") and any(d.baseline or d.summary for d in depths)
            if decided and {baseline, run} <= self.bounded.keys():
                both = [self.bounded[baseline], self.bounded[run]]
                judgements, settings = self.session.judgements, self.session.settings
                swaps = find_bounds(judgements, both, settings, "cutoff").swaps
            limit = plain.limit / len(depths)
            unequal = [d for d in depths if d.p < limit and abs(d.difference) >= _A_POINT]
            most = None
            if unequal or swaps:
                most = max(unequal or depths, key=lambda d: abs(d.difference))
            if most or run in ties:
                doubts[run] = Doubt(most, any(swap.certain for swap in swaps), ties.get(run))
        return doubts


def deciding(metrics: Sequence[Metric]) -> Metric | None:
    """Return the first metric by which a run can be better; None without one."""
    return next((metric for metric in metrics if metric.is_comparable), None)


def names_needed(metrics: Sequence[Metric], settings: Settings) -> int:
    """Return the depth to which `judging_of` needs names of documents; 0 without bounds."""
    first = deciding(metrics)
    if first is None or first.relevance_level is not None or settings.ties == "expected":
        return 0
    depth = depth_needed([first]) or 0
    return depth if depth <= _DEEPEST and settings.unjudged == "kept" else 0


def judging_of(runs: Evaluations, metric: Metric | None = None) -> Judging | None:
    """Collect the judged shares of runs read down to `names_needed`; None without qrels.

    They are for `metric`, by default for the first by which a run can be better.
    """
    settings = runs.session.settings
    metric = metric or deciding(runs.metrics)
    rankings = [run.judged for run in runs.values() if isinstance(run.judged, Judged)]
    if metric is None or settings.unjudged == "removed" or len(rankings) < len(runs):
        return None
    depths = [metric.depth or _DEPTHS[0]]
    if not isinstance(metric.arguments.get("cutoff"), int):
        longest = max(int(run.num_ret.max(initial=0)) for run in rankings)
        above = zip(_DEPTHS, (0, *_DEPTHS), strict=False)
        depths = [depth for depth, before in above if before < longest]
    shares = find_metrics([f"unj.{depth}" for depth in depths])
    unjudged: dict[str, Scores] = {}
    bounded = {}
    needed = names_needed([metric], settings)
    for (key, run), judged in zip(runs.items(), rankings, strict=True):
        ranked = replace(judged, settings=replace(settings, ties="id"))
        scores = score(ranked, shares, len(ranked.queries))
        if scores.queries != run.scores.queries:
            scores = scores.of_queries(run.scores.queries)
        elif needed and judged.gains is None:
            own = run.scores.only([run.scores[metric.name]])
            bounded[run.name] = replace(run, scores=own)
        unjudged[key] = scores
    expected = runs.named_systems(over_all_orders(runs, [metric]))
    extremes: list[Mapping[str, Scores]] = []
    if metric.measure.expectation is None and settings.ties == "id":
        for ordered in in_extreme_orders(runs, [metric]):
            scored = {
                key: one.scores.of_queries(runs[key].scores.queries) for key, one in ordered.items()
            }
            extremes.append(runs.named_systems(scored))
    return Judging(runs.session, runs.named_systems(unjudged), expected, extremes, bounded)


def over_all_orders(runs: Evaluations, metrics: Sequence[Metric]) -> dict[str, Scores]:
    """Return the expected scores over all orders of ties, by the keys of runs.

    A metric without an expectation keeps its values. Where no metric can differ, there are none.
    """
    session = runs.session
    expected = [metric for metric in metrics if metric.measure.expectation is not None]
    tied = any(run.hits.is_tied for run in runs.values())
    if session.settings.ties != "id" or not expected or not tied:
        return {}
    over_orders = copy(session)  # with the qrels that were read, which may be standard input
    over_orders.settings = replace(session.settings, ties="expected")
    scored = over_orders.score({key: run.hits for key, run in runs.items()}, expected)
    scores = {}
    for key, run in scored.items():
        own = runs[key].scores
        others = run.scores.of_queries(own.queries)
        scores[key] = own.only((others if m.name in others else own)[m.name] for m in metrics)
    return scores


def in_extreme_orders(runs: Evaluations, metrics: Sequence[Metric]) -> list[Evaluations]:
    """Evaluate runs with their best levels first among equal scores, and last; none without ties.

    Of metrics the extremes are known where a higher level is never worth less.
    """
    session = runs.session
    if not any(run.hits.is_tied for run in runs.values()):
        return []
    extremes = (
        {key: run.hits.among_ties(session.judgements, first) for key, run in runs.items()}
        for first in get_args(FirstOfTies)
    )
    return [session.score(hits, metrics) for hits in extremes]


_NOT_SAVED = "unjudged documents and ties of a saved result are not known"


def verdicts_against(
    baseline: str,
    names: Mapping[str, str],
    scores: Mapping[str, Scores],
    gate: BaselineGate,
    evaluated: Evaluations | None,
) -> dict[str, list[Verdict]]:
    """Compare runs with a baseline; `names` are those in words by those of the call.

    If both were `evaluated`, equal rates count as equal for equal rankings, and claims can be in
    doubt; of a saved baseline the gate says that doubts are not known. The judging of all runs is
    examined once for each metric.
    """
    named = evaluated.system_names if evaluated else {}
    metrics = {metric.name: metric for metric in evaluated.metrics} if evaluated else {}

    @cache
    def judging(metric: str) -> Judging | None:
        if evaluated is None or metric not in metrics:  # of a z-score
            return None
        return judging_of(evaluated, metrics[metric])

    def doubt(run: str, difference: Difference) -> tuple[str, str]:
        judged = judging(difference.metric.name)
        claims = {named[run]: difference.decision}
        doubts = judged.doubts(named[baseline], claims) if judged else {}
        texts = [one.in_words(names[baseline], names[run]) for one in doubts.values()]
        return limits_of(doubts.values()), "".join(texts)

    unknown = _NOT_SAVED if evaluated else ""
    verdicts = {}
    for run in names:
        if run == baseline:
            continue
        both = {baseline, run} <= named.keys()
        there, here = (evaluated and evaluated.get(one) for one in (baseline, run))
        verdicts[run] = baseline_verdicts(
            (names[baseline], scores[baseline]),
            (names[run], scores[run]),
            replace(gate, doubt=partial(doubt, run)) if both else replace(gate, unknown=unknown),
            "equal" if there and here and here.has_ranking_of(there) else "differ",
        )
    return verdicts
