"""What unjudged documents leave open of a comparison, and gates that say it.

A run outside the pool shows documents that nobody judged, and a measure takes them for bad ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ragkpi.bounds.bounds import Swap, depth_needed, find_bounds
from ragkpi.evaluation import Evaluation
from ragkpi.library.session import Evaluations
from ragkpi.library.slices import QuerySlice
from ragkpi.library.systems import by_system
from ragkpi.measures.measure import Metric, Scores, score
from ragkpi.measures.registry import find_metrics
from ragkpi.ranking.judged import Judged, Settings
from ragkpi.ranking.judgements import Judgements
from ragkpi.statistics.bootstrap import Bootstrap
from ragkpi.statistics.gates import BaselineGate, Verdict, baseline_verdicts
from ragkpi.statistics.paired import Claim, Difference, Procedure, compare
from ragkpi.wording import percent

# Where judging is compared for a metric that looks at whole rankings: down to the longest one.
_DEPTHS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
_DEEPEST = 100  # names of documents are read down to here; reading takes a tenth longer
_A_POINT = 0.01  # smaller differences between judged shares are not worth a word


@dataclass(frozen=True)
class Doubt:
    """The judged shares of a baseline's and a run's top documents, and what holes could change.

    `can_reverse` is whether some assignment of levels to unjudged documents surely reverses the
    claim.
    """

    depth: int
    baseline: float
    run: float
    can_reverse: bool = False

    def in_words(self, baseline: str, run: str) -> str:
        """Say the shares, and whether the order of the two runs is open."""
        order = "; unjudged documents could reverse the order" if self.can_reverse else ""
        shares = f"{baseline} {percent(self.baseline)}, {run} {percent(self.run)}"
        return f"judged in the top {self.depth}: {shares}{order} (ragkpi holes)"


@dataclass(frozen=True, eq=False)
class Judging:
    """The unjudged shares of each run's top documents, by name, and what bounds are made from.

    Shares are down to every depth at which the judging of two runs may differ for the metric.
    """

    unjudged: Mapping[str, Scores]
    runs: Mapping[str, Evaluation]  # without those that have no bounds
    judgements: Judgements
    settings: Settings
    test: Procedure

    def of(self, part: QuerySlice) -> Judging:
        """Return the judged shares of a slice, without bounds."""
        return replace(self, unjudged=part.of_runs(self.unjudged), runs={})

    def doubts(self, baseline: str, claims: Mapping[str, Claim]) -> dict[str, Doubt]:
        """Return the doubts about claims of runs against a baseline, by run.

        There is one where the judged shares at some depth differ by more than chance (paired test
        over queries, p < 0.05 divided by the depths) and at least a point, or where the bounds of
        the values overlap. It says the depth at which they differ most.
        """
        names = [baseline, *claims]
        if len(names) < 2 or any(name not in self.unjudged for name in names):
            return {}
        shares: dict[str, list[Difference]] = {name: [] for name in claims}
        for d in compare(names, [self.unjudged[name] for name in names], self.test).differences:
            shares[d.run].append(d)
        doubts = {}
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
                doubts[run] = Doubt(depth, 1 - most.baseline, 1 - most.summary, can_reverse)
        return doubts

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
    """Collect the judged shares of runs read down to `names_needed`; None if no qrels say them.

    They are those for `metric`, by default for the first by which a run can be better.
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
            kept = set(run.scores.queries)
            scores = scores.over(np.flatnonzero([query in kept for query in scores.queries]))
        elif needed and judged.gains is None:
            own = run.scores.only([run.scores[metric.name]])
            bounded[run.name] = replace(run, scores=own)
        unjudged[key] = scores
    names = runs.system_names
    unjudged = {names[key]: scores for key, scores in by_system(unjudged).items()}
    test = Procedure(correction="none", bootstrap=Bootstrap(clusters=runs.session.clusters))
    return Judging(unjudged, bounded, runs.session.judgements, settings, test)


def verdicts_on_run(
    evaluated: Evaluations | None,
    keys: tuple[str, str],
    baseline: tuple[str, Scores],
    run: tuple[str, Scores],
    gate: BaselineGate,
) -> list[Verdict]:
    """Hold a run against a baseline; `keys` are their names in the call.

    Where both were read there, rates that are equal stay equal if the runs rank alike, and doubts
    are those of `holes`.
    """
    named = evaluated.system_names if evaluated else {}
    if evaluated is None or not named.keys() >= set(keys):
        return baseline_verdicts(baseline, run, gate)
    there, here = (evaluated.get(key) for key in keys)
    names = [named[key] for key in keys]

    def doubt(difference: Difference) -> str:
        if difference.metric not in evaluated.metrics:  # a z-score
            return ""
        judging = judging_of(evaluated, difference.metric)
        doubts = judging.doubts(names[0], {names[1]: difference.decision}) if judging else {}
        return doubts[names[1]].in_words(baseline[0], run[0]) if doubts else ""

    alike = there is not None and here is not None and here.has_ranking_of(there)
    rankings: Literal["equal", "differ"] = "equal" if alike else "differ"
    return baseline_verdicts(baseline, run, replace(gate, doubt=doubt), rankings)
