"""What unjudged documents leave open of a comparison.

A run outside the pool shows documents that nobody judged, and a measure takes them for bad ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ragkpi.bounds.bounds import Swap, depth_needed, find_bounds
from ragkpi.evaluation import Evaluation
from ragkpi.library.call import Evaluations
from ragkpi.library.slices import QuerySlice
from ragkpi.measures.measure import Metric, Scores, score
from ragkpi.measures.registry import find_metrics
from ragkpi.ranking.judged import Judged, Settings
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.reading import Hits
from ragkpi.statistics.paired import Claim, Procedure, compare

_TOP = 10  # documents, for a metric without a cutoff
_DEEPEST = 100  # names of documents are read down to here; reading takes a tenth longer
_TEST = Procedure(correction="none", trials=1000)
_A_POINT = 0.01  # smaller differences between judged shares are not worth a word


@dataclass(frozen=True)
class Doubt:
    """The judged shares of a baseline's and a run's top documents, and what holes could turn.

    `turned` is whether some assignment of levels to unjudged documents surely reverses the claim.
    """

    cutoff: int
    baseline: float
    run: float
    turned: bool = False


@dataclass(frozen=True, eq=False)
class Judging:
    """The unjudged share of each run's top documents, by name, and what bounds are made from."""

    metric: Metric
    unjudged: Mapping[str, Scores]
    runs: Mapping[str, tuple[Hits, Evaluation]]  # without those that have no bounds
    judgements: Judgements
    settings: Settings

    def of(self, part: QuerySlice) -> Judging:
        """Return the judged shares of a slice, without bounds."""
        return replace(self, unjudged=part.of_runs(self.unjudged), runs={})

    def doubts(self, baseline: str, claims: Mapping[str, Claim]) -> dict[str, Doubt]:
        """Return the doubts about claims of runs against a baseline, by run.

        There is one where the judged shares differ by more than chance (paired test over queries,
        p < 0.05) and at least a point, or where the bounds of the values overlap.
        """
        names = [baseline, *claims]
        if len(names) < 2 or any(name not in self.unjudged for name in names):
            return {}
        found = {}
        for d in compare(names, [self.unjudged[name] for name in names], _TEST).differences:
            decided = (d.baseline or d.summary) and claims[d.run] in ("better", "worse")
            swaps = self._swaps(baseline, d.run) if decided else []
            unequal = d.p < _TEST.limit and abs(d.difference) >= _A_POINT
            if unequal or swaps:
                turned = any(swap.certain for swap in swaps)
                found[d.run] = Doubt(cutoff_of(self.metric), 1 - d.baseline, 1 - d.summary, turned)
        return found

    def _swaps(self, *names: str) -> Sequence[Swap]:
        """Return how holes could change the order of two runs, if their bounds overlap."""
        if any(name not in self.runs for name in names):
            return []
        hits, evaluations = zip(*(self.runs[name] for name in names), strict=True)
        return find_bounds(self.judgements, hits, evaluations, self.settings, "cutoff").swaps


def cutoff_of(metric: Metric) -> int:
    """Return the number of top documents whose judging matters most to a metric."""
    cutoff = metric.arguments.get("cutoff")
    return cutoff if isinstance(cutoff, int) else _TOP


def _deciding(metrics: Sequence[Metric]) -> Metric | None:
    """Return the first metric by which a run can be better; None without one."""
    return next((metric for metric in metrics if metric.is_comparable), None)


def names_needed(metrics: Sequence[Metric], settings: Settings) -> int:
    """Return the depth to which `judging_of` needs names of documents; 0 without bounds."""
    first = _deciding(metrics)
    if first is None or first.relevance_level is not None or settings.ties == "expected":
        return 0
    depth = depth_needed([first], "cutoff") or 0
    return depth if depth <= _DEEPEST and settings.unjudged == "kept" else 0


def judging_of(runs: Evaluations) -> Judging | None:
    """Collect the judged shares of runs read down to `names_needed`; None if no qrels say them."""
    metrics, settings = runs.metrics, runs.call.settings
    metric = _deciding(metrics)
    if metric is None or settings.unjudged == "removed":
        return None
    unj = find_metrics([f"unj.{cutoff_of(metric)}"])
    unjudged, bounded = {}, {}
    needed = names_needed(metrics, settings)
    for name, run, evaluation in zip(runs.names, runs.hits, runs, strict=True):
        if not isinstance(evaluation.judged, Judged):
            return None
        ranked = replace(evaluation.judged, settings=replace(settings, ties="id"))
        scores = score(ranked, unj, len(ranked.queries))
        if scores.queries != evaluation.scores.queries:
            kept = set(evaluation.scores.queries)
            scores = scores.over(np.flatnonzero([query in kept for query in scores.queries]))
        elif needed and evaluation.judged.gains is None:
            own = evaluation.scores.only([evaluation.scores[metric.name]])
            bounded[name] = run, replace(evaluation, scores=own)
        unjudged[name] = scores
    return Judging(metric, unjudged, bounded, runs.judgements, settings)
