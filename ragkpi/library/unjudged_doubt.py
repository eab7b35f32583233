"""Doubts about comparisons and gates from unjudged documents and ties.

A run outside the judging pool retrieves unjudged documents, which measures treat as not relevant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import NamedTuple

from ragkpi.bounds.bounds import Swap, depth_needed, find_bounds
from ragkpi.evaluation import Evaluation
from ragkpi.interface import spell
from ragkpi.library.session import Evaluations
from ragkpi.library.slices import QuerySlice
from ragkpi.library.ties import BY_ID, over_all_orders
from ragkpi.measures.measure import Metric, Scores, score
from ragkpi.measures.registry import find_metrics
from ragkpi.ranking.judged import Judged, Settings
from ragkpi.ranking.judgements import Judgements
from ragkpi.statistics.bootstrap import Bootstrap
from ragkpi.statistics.gates import BaselineGate, Reservation, Verdict, baseline_verdicts
from ragkpi.statistics.paired import Claim, Difference, Procedure, compare
from ragkpi.wording import percent, rounded

# Depths for comparing judged shares under a metric of whole rankings, down to the longest one.
_DEPTHS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
_DEEPEST = 100  # depth of document names; reading takes 10% longer
_A_POINT = 0.01  # smaller differences between judged shares are not mentioned


@dataclass(frozen=True)
class JudgedShares:
    """The judged shares of a baseline's and a run's top documents, and the effect of holes.

    `can_reverse` is whether a known assignment of levels to unjudged documents reverses the claim.
    """

    depth: int
    baseline: float
    run: float
    can_reverse: bool = False

    def in_words(self, baseline: str, run: str) -> str:
        """Give the shares, and say whether the order of the two runs is open."""
        order = "; unjudged documents could reverse the order" if self.can_reverse else ""
        shares = f"{baseline} {percent(self.baseline)}, {run} {percent(self.run)}"
        return f"judged in the top {self.depth}: {shares}{order} (ragkpi holes)"


@dataclass(frozen=True)
class Doubt:
    """The doubts about a claim on a run against a baseline.

    `shares` are None without doubt from judging. `ties` is the difference over all orders of equal
    scores if it does not support the claim; else None.
    """

    shares: JudgedShares | None = None
    ties: Difference | None = None

    def in_words(self, baseline: str, run: str) -> str:
        """Give the reasons that leave the claim open."""
        texts = [self.shares.in_words(baseline, run)] if self.shares else []
        if self.ties is not None:
            style = self.ties.metric.measure.style
            change = rounded(self.ties.difference, style, signed=True)
            texts.append(
                f"over all orders of equal scores {run} differs by {change}, "
                f"{self.ties.p_in_words} ({spell('ties', 'expected')})"
            )
        return "; ".join(texts)


def limits_of(doubts: Iterable[Doubt]) -> str:
    """Return the words for a claim that depends on judging, or on how ties are broken."""
    every = list(doubts)
    limits = ["as far as judged"] if any(doubt.shares for doubt in every) else []
    if any(doubt.ties is not None for doubt in every):
        limits.append(BY_ID)
    return " and ".join(limits)


@dataclass(frozen=True, eq=False)
class Judging:
    """The judged shares of each run's top documents, by name, and the data for bounds.

    JudgedShares are down to every depth at which the judging of two runs may differ for the metric.
    `expected` are the runs' scores over all orders of equal scores; empty without ties.
    """

    unjudged: Mapping[str, Scores]
    expected: Mapping[str, Scores]
    runs: Mapping[str, Evaluation]  # without runs that have no bounds
    judgements: Judgements
    settings: Settings
    test: Procedure

    def of(self, part: QuerySlice) -> Judging:
        """Return the judged shares of a slice, without bounds."""
        unjudged, expected = part.of_runs(self.unjudged), part.of_runs(self.expected)
        return replace(self, unjudged=unjudged, expected=expected, runs={})

    def doubts(self, baseline: str, claims: Mapping[str, Claim]) -> dict[str, Doubt]:
        """Return the doubts about claims of runs against a baseline, by run.

        There is a doubt if the judged shares at some depth differ significantly (paired test over
        queries, p < 0.05 divided by the depths) and by at least a point, or if the bounds of the
        values overlap. It names the depth of the largest difference. There is another doubt if the
        expected values over all orders of ties do not support the claim.
        """
        names = [baseline, *claims]
        if len(names) < 2 or any(name not in self.unjudged for name in names):
            return {}
        shares: dict[str, list[Difference]] = {name: [] for name in claims}
        for d in compare(names, [self.unjudged[name] for name in names], self.test).differences:
            shares[d.run].append(d)
        ties = self._ties(baseline, claims)
        doubts = {run: Doubt(ties=difference) for run, difference in ties.items()}
        for run, depths in shares.items():
            has_holes = any(d.baseline or d.summary for d in depths)
            decided = has_holes and claims[run] in ("better", "worse")
            swaps = self._swaps(baseline, run) if decided else []
            limit = self.test.limit / len(depths)
            unequal = [d for d in depths if d.p < limit and abs(d.difference) >= _A_POINT]
            if unequal or swaps:
                most = max(unequal or depths, key=lambda d: abs(d.difference))
                can_reverse = any(swap.certain for swap in swaps)
                depth = most.metric.arguments["cutoff"]
                judged = JudgedShares(depth, 1 - most.baseline, 1 - most.summary, can_reverse)
                doubts[run] = Doubt(judged, ties.get(run))
        return doubts

    def _ties(self, baseline: str, claims: Mapping[str, Claim]) -> dict[str, Difference]:
        """Return differences over all orders of ties that do not support their claims, by run."""
        names = [baseline, *claims]
        if any(name not in self.expected for name in names):
            return {}
        test = replace(self.test, correction="holm")
        compared = compare(names, [self.expected[name] for name in names], test)
        return {
            d.run: d
            for d in compared.differences
            if d.decision != claims[d.run] and "untested" not in (d.decision, claims[d.run])
        }

    def _swaps(self, *names: str) -> Sequence[Swap]:
        """Return how holes could change the order of two runs, if their bounds overlap."""
        if any(name not in self.runs for name in names):
            return []
        runs = [self.runs[name] for name in names]
        return find_bounds(self.judgements, runs, self.settings, "cutoff").swaps


def _depths(metric: Metric, runs: Sequence[Judged]) -> list[int]:
    """Return the depth of a metric, or without one the depths down to the longest ranking."""
    if isinstance(metric.arguments.get("cutoff"), int):
        return [metric.depth or _DEPTHS[0]]
    longest = max(int(run.num_ret.max(initial=0)) for run in runs)
    return [depth for depth, above in zip(_DEPTHS, (0, *_DEPTHS), strict=False) if above < longest]


def deciding(metrics: Sequence[Metric]) -> Metric | None:
    """Return the first metric by which a run can be better; None without one."""
    return next((metric for metric in metrics if metric.is_comparable), None)


def names_needed(metrics: Sequence[Metric], settings: Settings) -> int:
    """Return the depth to which `judging_of` needs names of documents; 0 without bounds."""
    first = deciding(metrics)
    if first is None or first.relevance_level is not None or settings.ties == "expected":
        return 0
    depth = depth_needed([first], "cutoff") or 0
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
    unj = find_metrics([f"unj.{depth}" for depth in _depths(metric, rankings)])
    unjudged: dict[str, Scores] = {}
    bounded = {}
    needed = names_needed([metric], settings)
    for (key, run), judged in zip(runs.items(), rankings, strict=True):
        ranked = replace(judged, settings=replace(settings, ties="id"))
        scores = score(ranked, unj, len(ranked.queries))
        if scores.queries != run.scores.queries:
            scores = scores.of_queries(run.scores.queries)
        elif needed and judged.gains is None:
            own = run.scores.only([run.scores[metric.name]])
            bounded[run.name] = replace(run, scores=own)
        unjudged[key] = scores
    test = Procedure(correction="none", bootstrap=Bootstrap(clusters=runs.session.clusters))
    expected = runs.named_systems(over_all_orders(runs, [metric]))
    of_systems = runs.named_systems(unjudged)
    return Judging(of_systems, expected, bounded, runs.session.judgements, settings, test)


class Contender(NamedTuple):
    """A run or a baseline of gates: its name in the call, its name in words, and its scores."""

    key: str
    name: str
    scores: Scores


def verdicts_against(
    baseline: Contender,
    runs: Sequence[Contender],
    gate: BaselineGate,
    evaluated: Evaluations | None,
) -> dict[str, list[Verdict]]:
    """Compare runs with a baseline; return the verdicts by the names of the runs in the call.

    If both were `evaluated`, equal rates count as equal for equal rankings, and doubts are those of
    `holes`. The judging of all runs is examined once for each metric.
    """
    named = evaluated.system_names if evaluated else {}
    metrics = {metric.name: metric for metric in evaluated.metrics} if evaluated else {}

    @cache
    def judging(metric: str) -> Judging | None:
        if evaluated is None or metric not in metrics:  # of a z-score
            return None
        return judging_of(evaluated, metrics[metric])

    def doubt(run: Contender, difference: Difference) -> Reservation:
        judged = judging(difference.metric.name)
        claims = {named[run.key]: difference.decision}
        doubts = judged.doubts(named[baseline.key], claims) if judged else {}
        texts = [one.in_words(baseline.name, run.name) for one in doubts.values()]
        return Reservation(limits_of(doubts.values()), "".join(texts))

    verdicts = {}
    for run in runs:
        both = {baseline.key, run.key} <= named.keys()
        there, here = (evaluated and evaluated.get(one.key) for one in (baseline, run))
        verdicts[run.key] = baseline_verdicts(
            (baseline.name, baseline.scores),
            (run.name, run.scores),
            replace(gate, doubt=partial(doubt, run)) if both else gate,
            "equal" if there and here and here.has_ranking_of(there) else "differ",
        )
    return verdicts
