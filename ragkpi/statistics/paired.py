"""Compare runs with a baseline, over the queries that all runs share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Literal

import numpy as np

from ragkpi.arrays import ROUNDING, FloatArray
from ragkpi.errors import DataError, UsageError
from ragkpi.interface import spell
from ragkpi.measures.measure import Metric, Scores, names_of
from ragkpi.statistics.bootstrap import Bootstrap, Interval, QuerySample, query_samples
from ragkpi.statistics.decisions import CorrectionName, Family, TestName
from ragkpi.statistics.replicates import (
    DECIDING,
    Evidence,
    System,
    difference_of,
    systems_of,
)
from ragkpi.statistics.significance import (
    corrected,
    intervals_of_differences,
    least_p,
    p_values,
    pairs,
    too_few,
)
from ragkpi.wording import counted, listed, p_text


def refuse_other_grounds(names: Sequence[str], runs: Sequence[Scores]) -> None:
    """Raise `DataError` for runs over other queries, `UsageError` for other metrics."""
    expected = [metric.name for metric in runs[0].metrics]
    for name, run in zip(names, runs, strict=True):
        if [metric.name for metric in run.metrics] != expected:
            raise UsageError(f"{name} was evaluated for other metrics than {names[0]}")
        if run.queries != runs[0].queries:
            extra = sorted(set(run.queries) ^ set(runs[0].queries))
            raise DataError(
                f"{names[0]} is over {counted(len(runs[0].queries), 'query', 'queries')}, {name} "
                f"over {len(run.queries)} (only one has {listed(extra, 3)}); compare them over all "
                f"judged ones with {spell('missing', 'zero')}, or over those of all runs with "
                f"{spell('missing', 'common')}"
            )


# The claim about a run against its baseline; "described" is exploratory.
Claim = Literal["better", "worse", "undecided", "untested", "described"]


@dataclass(frozen=True)
class Procedure:
    """The choices of a comparison.

    With the family ``"first"`` the first metric decides, p-values are corrected for the number of
    runs, and all other metrics are exploratory. With ``"all"`` every metric decides, and p-values
    are corrected for runs and metrics. `trials` is the number of random swaps behind a p-value. The
    test uses the seed and the clusters of the bootstrap.
    """

    test: TestName = "t"
    correction: CorrectionName = "holm"
    family: Family = "first"
    trials: int = 10_000
    bootstrap: Bootstrap = field(default_factory=Bootstrap)

    @property
    def limit(self) -> float:
        """The limit below which a corrected p-value is significant."""
        return round(1 - self.bootstrap.level, 12)  # 0.05, not 0.050000000000000044


@dataclass(frozen=True)
class Difference:
    """A metric of a run against the baseline, over the queries whose value all runs have.

    Attributes
    ----------
    difference, interval
        The summary of the run minus the baseline's; `UNKNOWN` if all queries differ by one amount.
    units, least_p
        The number of units, and the lower bound of p with so many.
    wins, ties, losses
        The numbers of queries on which the run is better, equal (to nine digits) and worse.
    effect_size
        Cohen's d_z: the difference in standard deviations of the queries' differences (for ratios
        of means, of jackknife pseudo-values); NaN if all queries differ by the same amount.
    p, corrected
        Two-sided p-value, before and after the correction; NaN if the test gives none;
        `corrected` is NaN if the metric is exploratory.
    decision
        The claim: the one place that decides, for every command.
    evidence
        The kind of evidence: for systems of several seeds, interval and p account for queries and
        seeds, and too few seeds allow no decision.
    """

    run: str
    metric: Metric
    queries: int
    baseline: float
    summary: float
    difference: float
    interval: Interval
    wins: int
    ties: int
    losses: int
    effect_size: float
    p: float
    units: int
    least_p: float
    corrected: float = math.nan
    decision: Claim = "described"
    evidence: Evidence = "runs"

    @property
    def p_of_claim(self) -> float:
        """The p-value that is corrected and decides; NaN with too few seeds."""
        return self.p if self.evidence in DECIDING else math.nan

    @property
    def gain(self) -> float:
        """How much better the run is: above 0 also if lower is better."""
        return self.metric.measure.sign * self.difference

    @property
    def p_in_words(self) -> str:
        """The p-value that decides, for a sentence."""
        return "no p-value" if math.isnan(self.corrected) else p_text(self.corrected)

    def decided(self, corrected: float, limit: float) -> Difference:
        """Return the difference with its corrected p-value and the decision."""
        decision: Claim = "better" if self.gain > 0 else "worse"
        if math.isnan(corrected):
            decision = "untested"
        elif corrected >= limit or self.gain == 0:
            decision = "undecided"
        return replace(self, corrected=corrected, decision=decision)


@dataclass(frozen=True)
class Comparison:
    """Runs against a baseline, the first run, over the queries that all runs share.

    Differences are ordered by metric as printed, then by run. `tests` is the number of p-values
    that were corrected together, also of other comparisons.
    """

    names: list[str]
    runs: list[Scores]
    differences: list[Difference]
    procedure: Procedure
    tests: int = 0

    @property
    def metrics(self) -> list[Metric]:
        """The compared metrics, as printed."""
        return [differences[0].metric for differences in self.by_metric]

    @property
    def by_metric(self) -> list[list[Difference]]:
        """The differences of each metric, in nonempty lists."""
        return [
            list(group)
            for _, group in groupby(self.differences, lambda difference: difference.metric.name)
        ]

    @property
    def claims(self) -> list[Difference]:
        """The differences that are decided, or would be with a p-value."""
        return [d for d in self.differences if d.decision != "described"]

    @property
    def out_of_reach(self) -> str:
        """Say that no claim is possible with so few units; else ""."""
        largest = max(self.claims, key=lambda d: d.units)
        least = min(d.least_p for d in self.claims if d.units == largest.units)
        return too_few(largest.units, largest.queries, least, self.procedure.limit)


def compare(names: Sequence[str], runs: Sequence[Scores], procedure: Procedure) -> Comparison:
    """Compare every other run with the first run, by every comparable metric.

    Texts, counts of queries and properties of the collection are left out, because no value is
    better than another.
    """
    return compare_each(names, runs, procedure, [0])[0]


def compare_each(
    names: Sequence[str], runs: Sequence[Scores], procedure: Procedure, baselines: Sequence[int]
) -> list[Comparison]:
    """Compare the runs with several baselines, given by their indices."""
    samples = comparable_samples(names, runs, procedure)
    comparisons = []
    for baseline in baselines:
        order = [baseline, *(run for run in range(len(runs)) if run != baseline)]
        by_name: dict[str, list[Difference]] = {}
        for sample in samples:
            seeds = [sample.seeds[run] for run in order] if sample.seeds else ()
            reordered = replace(sample, statistics=sample.statistics[:, order], seeds=seeds)
            by_name.update(_differences(reordered, [names[run] for run in order[1:]], procedure))
        of_metrics = [by_name[m.name] for m in runs[0].metrics if m.name in by_name]
        deciding = of_metrics if procedure.family == "all" else of_metrics[:1]
        claims = [replace(d, decision="untested") for of_metric in deciding for d in of_metric]
        others = [d for of_metric in of_metrics[len(deciding) :] for d in of_metric]
        ordered = [names[run] for run in order], [runs[run] for run in order]
        comparisons += decided_together([Comparison(*ordered, claims + others, procedure)])
    return comparisons


def decided_together(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Correct and decide the claims of comparisons as one family: of all queries and of slices."""
    procedure = comparisons[0].procedure
    p = np.array([d.p_of_claim for comparison in comparisons for d in comparison.claims])
    of_claims, tests = iter(corrected(p, procedure.correction).tolist()), int(np.isfinite(p).sum())
    return [
        replace(
            comparison,
            tests=tests,
            differences=[
                d if d.decision == "described" else d.decided(next(of_claims), procedure.limit)
                for d in comparison.differences
            ],
        )
        for comparison in comparisons
    ]


def comparable_samples(
    names: Sequence[str], runs: Sequence[Scores], procedure: Procedure
) -> list[QuerySample]:
    """Return samples of the comparable metrics; `RagkpiError` if there are none."""
    if len(runs) < 2:
        raise UsageError("compare needs a baseline and at least one other run")
    refuse_other_grounds(names, runs)
    if procedure.test != "t" and any(run.seeds > 1 for run in runs):
        raise UsageError(
            f"{spell('test', procedure.test)}: it knows of queries and not of seeds; systems of "
            "several seeds have the t test; leave it out"
        )
    clusters = procedure.bootstrap.clusters
    samples = query_samples(runs, lambda metric: metric.is_comparable, clusters)
    if not samples:
        metrics = names_of(runs[0].metrics)
        raise UsageError(
            f"nothing to compare: no better or worse in {metrics}; ask for more with -m"
        )
    return samples


@np.errstate(invalid="ignore")
def _differences(
    sample: QuerySample, names: Sequence[str], procedure: Procedure
) -> dict[str, list[Difference]]:
    rows = zip(
        sample.metrics,
        sample.observed(),
        intervals_of_differences(sample, procedure.bootstrap.level),
        _effect_sizes(sample),
        p_values(sample, procedure.test, procedure.trials, procedure.bootstrap.seed),
        pairs(sample),
        strict=True,
    )
    by_metric: dict[str, list[Difference]] = {}
    for metric, summary, intervals, effects, p, of_metric in rows:
        differences = by_metric.setdefault(metric.name, [])
        for run, (name, pair) in enumerate(zip(names, of_metric, strict=True)):
            wins, ties, losses = pair.outcomes[:: 1 if metric.measure.sign > 0 else -1]
            units = len(pair.differing)
            differences.append(
                Difference(
                    name,
                    metric,
                    sample.queries,
                    float(summary[0]),
                    float(summary[run + 1]),
                    float(summary[run + 1] - summary[0]),
                    intervals[run],
                    wins,
                    ties,
                    losses,
                    float(effects[run]),
                    p[run],
                    units,
                    least_p(procedure.test, units, procedure.trials, pair.is_of_rates),
                )
            )
    if sample.seeds:
        for of_runs, (baseline, *others) in zip(
            by_metric.values(), systems_of(sample), strict=True
        ):
            each = zip(of_runs, others, strict=True)
            of_runs[:] = [_of_systems(d, baseline, one, sample, procedure) for d, one in each]
    return by_metric


def _of_systems(
    d: Difference, baseline: System, other: System, sample: QuerySample, procedure: Procedure
) -> Difference:
    """Decide a difference by queries and seeds instead of queries alone."""
    result = difference_of(baseline, other, sample.freedom, procedure.bootstrap.level)
    if result.evidence == "runs":
        return d
    return replace(
        d,
        baseline=baseline.value,
        summary=other.value,
        difference=result.difference,
        interval=result.interval,
        p=result.p,
        least_p=0.0,
        evidence=result.evidence,
    )


@np.errstate(invalid="ignore", divide="ignore")
def _effect_sizes(sample: QuerySample) -> list[FloatArray]:
    """Compute d_z of every metric and run but the first, (R - 1,) per metric, from queries."""
    if sample.queries < 2:
        return [np.full(sample.statistics.shape[1] - 1, np.nan)] * len(sample.metrics)
    sizes = []
    for summary, spread in zip(
        sample.observed(), replace(sample, unit=None).spreads(), strict=True
    ):
        noise = ROUNDING * sample.queries * np.maximum(np.abs(summary[1:]), np.abs(summary[0]))
        sizes.append(np.where(spread > noise, (summary[1:] - summary[0]) / spread, np.nan))
    return sizes
