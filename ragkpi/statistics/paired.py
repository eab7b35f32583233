"""Compare runs over the queries that all runs share: with a baseline, or in all pairs."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Literal

import numpy as np

from ragkpi.arrays import BoolArray, FloatArray, IntArray
from ragkpi.errors import NothingInCommonError, RagkpiWarning, UsageError
from ragkpi.interface import option, steps
from ragkpi.measures.measure import Metric, Scores
from ragkpi.statistics.bootstrap import (
    UNKNOWN,
    Bootstrap,
    Interval,
    QuerySample,
    order_statistics,
    query_samples,
)
from ragkpi.statistics.significance import (
    ROUNDING,
    CorrectionName,
    Pair,
    TestName,
    corrected,
    interval_of_rates,
    p_values,
    pairs,
)
from ragkpi.wording import counted


def aligned(names: Sequence[str], runs: Sequence[Scores]) -> list[Scores]:
    """Reduce runs to the queries that all runs share, and warn of dropped queries.

    `NothingInCommonError` if they share no query, `UsageError` if they have different metrics.
    """
    expected = [metric.name for metric in runs[0].metrics]
    for name, run in zip(names, runs, strict=True):
        if [metric.name for metric in run.metrics] != expected:
            raise UsageError(f"{name} was evaluated for other metrics than {names[0]}")
    if all(run.queries == runs[0].queries for run in runs):
        return list(runs)
    shared = set(runs[0].queries).intersection(*(run.queries for run in runs))
    if not shared:
        raise NothingInCommonError(f"{', '.join(names)} share no query; nothing can be compared")
    dropped = [
        f"{len(run.queries) - len(shared)} of {name}"
        for name, run in zip(names, runs, strict=True)
        if len(run.queries) > len(shared)
    ]
    number = counted(len(shared), "query", "queries")
    warnings.warn(
        f"compared over the {number} that all runs have, dropping {', '.join(dropped)}; "
        f"{option('missing', 'zero')} evaluates a missing query as an empty ranking instead",
        RagkpiWarning,
        stacklevel=3,
    )
    return [run.over(np.flatnonzero([query in shared for query in run.queries])) for run in runs]


Family = Literal["metric", "all"]


@dataclass(frozen=True)
class Procedure:
    """The choices of a comparison.

    p-values are corrected for the runs within each ``"metric"``, if each metric is a separate
    question, or for ``"all"`` p-values of the comparison. `trials` is the number of random swaps or
    resamples of a p-value. The test has the seed of the bootstrap.
    """

    test: TestName = "randomization"
    correction: CorrectionName = "holm"
    family: Family = "metric"
    trials: int = 10_000
    bootstrap: Bootstrap = field(default_factory=Bootstrap)


@dataclass(frozen=True)
class Difference:
    """A metric of a run against the baseline, over the queries whose value all runs have.

    Attributes
    ----------
    difference, interval
        The summary of the run minus the baseline's; `UNKNOWN` if all queries differ by one amount.
    wins, ties, losses
        The numbers of queries on which the run is better, equal (to nine digits) and worse.
    effect_size
        Cohen's d_z: the difference in standard deviations of the queries' differences. For ratios
        of means, jackknife pseudo-values replace the queries' values (for means they are equal).
        NaN where all queries differ by the same amount.
    p, corrected
        Two-sided p-value, before and after the correction; NaN if the test gives none.
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
    corrected: float = math.nan


@dataclass(frozen=True)
class Comparison:
    """Runs against a baseline, the first run, over the queries that all runs share.

    Differences are ordered by metric as printed, then by run.
    """

    names: list[str]
    runs: list[Scores]
    differences: list[Difference]
    procedure: Procedure

    @property
    def resampled(self) -> Iterator[tuple[Metric, FloatArray]]:
        """Yield each metric with a resampled interval, and the queries' differences, (n, S)."""
        for sample in query_samples(self.runs, lambda metric: metric.is_comparable):
            for metric, of_metric in zip(sample.metrics, pairs(sample), strict=True):
                for pair in of_metric:
                    if not pair.is_of_rates:
                        yield metric, pair.other - pair.baseline

    @property
    def by_metric(self) -> list[list[Difference]]:
        """The differences of each metric, in nonempty lists."""
        return [
            list(group)
            for _, group in groupby(self.differences, lambda difference: difference.metric.name)
        ]


def compare(names: Sequence[str], runs: Sequence[Scores], procedure: Procedure) -> Comparison:
    """Compare every other run with the first run, by every comparable metric.

    Texts, counts of queries and properties of the collection are left out, because none of their
    values is better than another.
    """
    return compare_each(names, runs, procedure, [0])[0]


def nothing_to_compare(scores: Scores) -> UsageError:
    """Return the error for a comparison without comparable metrics."""
    asked = ", ".join(metric.name for metric in scores.metrics)
    return UsageError(f"nothing to compare: no better or worse in {asked}; ask for more with -m")


def compare_each(
    names: Sequence[str], runs: Sequence[Scores], procedure: Procedure, baselines: Sequence[int]
) -> list[Comparison]:
    """Compare the runs with several baselines, given by their indices.

    Resampling the queries, which is most of the work, happens once for all baselines.
    """
    if len(runs) < 2:
        raise UsageError("compare needs a baseline and at least one other run")
    shared = aligned(names, runs)
    orders = [
        [baseline, *(run for run in range(len(runs)) if run != baseline)] for baseline in baselines
    ]
    by_baseline: list[dict[str, list[Difference]]] = [{} for _ in baselines]
    for sample in query_samples(shared, lambda metric: metric.is_comparable):
        replicates = sample.replicates(procedure.bootstrap) if sample.queries > 1 else []
        for differences, order in zip(by_baseline, orders, strict=True):
            reordered = replace(sample, statistics=sample.statistics[:, order])
            others = [names[run] for run in order[1:]]
            resampled = [summary[:, order] for summary in replicates]
            differences.update(_differences(reordered, others, resampled, procedure))
    if not by_baseline[0]:
        raise nothing_to_compare(shared[0])
    comparisons = []
    for by_name, order in zip(by_baseline, orders, strict=True):
        found = [found for metric in shared[0].metrics for found in by_name.get(metric.name, [])]
        ordered = [names[run] for run in order], [shared[run] for run in order]
        comparisons.append(Comparison(*ordered, _corrected(found, procedure), procedure))
    return comparisons


@np.errstate(invalid="ignore")
def _differences(
    sample: QuerySample,
    names: Sequence[str],
    replicates: Sequence[FloatArray],
    procedure: Procedure,
) -> dict[str, list[Difference]]:
    seed, paired, observed = procedure.bootstrap.seed, pairs(sample), sample.observed()
    rows = zip(
        sample.metrics,
        observed,
        _intervals(paired, replicates, procedure.bootstrap),
        _effect_sizes(sample),
        p_values(sample, procedure.test, procedure.trials, seed),
        paired,
        strict=True,
    )
    return {
        metric.name: [
            Difference(
                name,
                metric,
                sample.queries,
                float(summary[0]),
                float(summary[run]),
                float(summary[run] - summary[0]),
                interval[run - 1],
                *_outcomes(pair[run - 1], metric),
                float(effect[run - 1]),
                p[run - 1],
            )
            for run, name in enumerate(names, start=1)
        ]
        for metric, summary, interval, effect, p, pair in rows
    }


def _outcomes(pair: Pair, metric: Metric) -> tuple[int, int, int]:
    higher, lower = pair.outcomes()
    wins, losses = (lower, higher) if metric.measure.better == "lower" else (higher, lower)
    return wins, len(pair.baseline) - higher - lower, losses


def _intervals(
    paired: Sequence[Sequence[Pair]], replicates: Sequence[FloatArray], bootstrap: Bootstrap
) -> list[list[Interval]]:
    """Return the interval of each difference from the first run, per metric."""
    if not replicates:
        return [[UNKNOWN] * len(of_metric) for of_metric in paired]
    return [
        [
            interval_of_rates(pair, bootstrap.level) or _resampled(differences, bootstrap)
            for pair, differences in zip(of_metric, summary.T[1:] - summary.T[:1], strict=True)
        ]
        for of_metric, summary in zip(paired, replicates, strict=True)
    ]


def _resampled(differences: FloatArray, bootstrap: Bootstrap) -> Interval:
    low, high = order_statistics(differences, bootstrap.tails)
    return UNKNOWN if math.isclose(low, high, rel_tol=1e-9) else Interval(low, high)


@np.errstate(invalid="ignore", divide="ignore")
def _effect_sizes(sample: QuerySample) -> list[FloatArray]:
    """Compute d_z of every metric and run but the first, (R - 1,) per metric."""
    if sample.queries < 2:
        return [np.full(sample.statistics.shape[1] - 1, np.nan)] * len(sample.metrics)
    sizes = []
    for summary, spread in zip(sample.observed(), sample.spreads(), strict=True):
        noise = 1e-12 * sample.queries * np.maximum(np.abs(summary[1:]), np.abs(summary[0]))
        sizes.append(np.where(spread > noise, (summary[1:] - summary[0]) / spread, np.nan))
    return sizes


def _corrected(differences: list[Difference], procedure: Procedure) -> list[Difference]:
    def family(difference: Difference) -> str:
        return difference.metric.name if procedure.family == "metric" else "all"

    of_all = []
    for _, members in groupby(differences, family):
        tested = list(members)
        p = corrected(np.array([difference.p for difference in tested]), procedure.correction)
        of_all += [replace(t, corrected=float(q)) for t, q in zip(tested, p, strict=True)]
    return of_all


_AT_ONCE = 1 << 14  # random numbers, which stay in the cache with the statistics they shuffle


@dataclass(frozen=True)
class MetricPairs:
    """The comparison of all pairs of R runs by one metric.

    Queries are those whose value all runs have. `values`, (R,), are the summaries, `p`, (R, R), the
    corrected p-values, NaN if the test gives none. For `letters` see `letters_of`.
    """

    metric: Metric
    queries: int
    values: FloatArray
    p: FloatArray
    letters: list[str]

    @property
    def order(self) -> list[int]:
        """The indices of the runs, the best first, NA last."""
        goodness = self.metric.measure.sign * self.values
        order: list[int] = np.argsort(-goodness, kind="stable").tolist()
        return order


@dataclass(frozen=True)
class AllPairs:
    """The comparison of all pairs of runs by every metric."""

    names: list[str]
    runs: list[Scores]
    by_metric: list[MetricPairs]
    procedure: Procedure

    @property
    def is_tukey(self) -> bool:
        """Whether one test covered all pairs and so needs no correction."""
        return self.procedure.test == "randomization"


def compare_all(names: Sequence[str], runs: Sequence[Scores], procedure: Procedure) -> AllPairs:
    """Compare every run with every other, by every comparable metric.

    The randomization test is `tukey`; other tests are pair by pair, corrected for all pairs.
    """
    if len(runs) < 2:
        raise UsageError("all pairs: expected at least two runs")
    shared = aligned(names, runs)
    uncorrected: dict[str, tuple[QuerySample, FloatArray, FloatArray]] = {}
    for sample in query_samples(shared, lambda metric: metric.is_comparable):
        if procedure.test == "randomization":
            tests = tukey(sample, procedure.trials, procedure.bootstrap.seed)
        else:
            tests = pair_by_pair(sample, procedure)
        for metric, values, p in zip(sample.metrics, sample.observed(), tests, strict=True):
            uncorrected[metric.name] = sample, values, p
    if not uncorrected:
        raise nothing_to_compare(shared[0])
    metrics = [metric for metric in shared[0].metrics if metric.name in uncorrected]
    matrices = [uncorrected[metric.name][2] for metric in metrics]
    if procedure.test != "randomization":
        matrices = corrected_pairs(matrices, procedure)
    limit = 1 - procedure.bootstrap.level
    tested = []
    for metric, p in zip(metrics, matrices, strict=True):
        sample, values, _ = uncorrected[metric.name]
        order = np.argsort(-metric.measure.sign * values, kind="stable")
        letters = letters_of((p < limit)[np.ix_(order, order)])
        of_run = [letters[rank] for rank in np.argsort(order)]
        tested.append(MetricPairs(metric, sample.queries, values, p, of_run))
    return AllPairs(list(names), shared, tested, procedure)


def pair_by_pair(sample: QuerySample, procedure: Procedure) -> list[FloatArray]:
    """Test every pair separately: the uncorrected p-values, (R, R) per metric."""
    runs, seed = sample.statistics.shape[1], procedure.bootstrap.seed
    matrices = [np.full((runs, runs), np.nan) for _ in sample.metrics]
    for first in steps(range(runs - 1), "pairs", runs - 1):
        rest = QuerySample(sample.metrics, sample.columns, sample.statistics[:, first:])
        tested = p_values(rest, procedure.test, procedure.trials, seed)
        for matrix, of_metric in zip(matrices, tested, strict=True):
            matrix[first, first + 1 :] = matrix[first + 1 :, first] = of_metric
    return matrices


def corrected_pairs(matrices: list[FloatArray], procedure: Procedure) -> list[FloatArray]:
    """Correct the p-values of pairs, (R, R) per metric, for the number of pairs."""
    upper = np.triu_indices(len(matrices[0]), 1)
    pairs = [matrix[upper] for matrix in matrices]
    families = [pairs] if procedure.family == "all" else [[of_metric] for of_metric in pairs]
    values = np.concatenate(
        [corrected(np.concatenate(family), procedure.correction) for family in families]
    )
    whole = []
    for of_metric in values.reshape(len(matrices), -1):
        matrix = np.full_like(matrices[0], np.nan)
        matrix[upper] = of_metric
        whole.append(np.fmax(matrix, matrix.T))
    return whole


def tukey(sample: QuerySample, trials: int, seed: int) -> list[FloatArray]:
    """Test all pairs by shuffling the runs' labels on every query, as if no two runs differed.

    Two runs differ if the best and the worst of shuffled runs are seldom as far apart. So the
    chance of even one false difference among all pairs stays below the level.

    Formula:    p = (shuffles whose range is >= |difference| + 1) / (trials + 1), the range being
                the largest summary less the smallest; where no more than `trials` shuffles exist,
                all are made and p is their share
    Edge cases: 1 for two runs that are equal on every query; NA with fewer than two queries
    Source:     B. Carterette, Multiple testing in statistical analysis of systems-based information
                retrieval experiments, TOIS 2012 (randomized Tukey's HSD)
    """
    runs = sample.statistics.shape[1]
    if sample.queries < 2:
        return [np.full((runs, runs), np.nan) for _ in sample.metrics]
    differ = (sample.statistics != sample.statistics[:, :1]).any(axis=(1, 2))
    moving, still = sample.statistics[differ], sample.statistics[~differ].sum(axis=0)
    certain = math.lgamma(runs + 1) * len(moving) <= math.log(trials)
    shuffled = _all_shuffled(moving) if certain else _shuffled(moving, trials, seed)
    ranges: list[list[FloatArray]] = [[] for _ in sample.metrics]
    for sums in shuffled:
        for kept, summary in zip(ranges, sample.summaries(still + sums), strict=True):
            with np.errstate(invalid="ignore"):
                kept.append(summary.max(axis=1) - summary.min(axis=1))
    observed = zip(sample.observed(), map(np.concatenate, ranges), strict=True)
    return [_shares(values, spread, certain) for values, spread in observed]


def _all_shuffled(statistics: FloatArray) -> Iterator[FloatArray]:
    """Yield the sums over queries, (1, R, T), for every way to shuffle (n, R, T)."""
    queries, runs = statistics.shape[:2]
    orders = np.array(list(itertools.permutations(range(runs))))
    for chosen in itertools.product(range(len(orders)), repeat=queries):
        yield _sums(statistics, orders[list(chosen)][np.newaxis])


def _shuffled(statistics: FloatArray, trials: int, seed: int) -> Iterator[FloatArray]:
    """Yield the sums over queries, (rows, R, T), of shuffles of (n, R, T), `trials` rows."""
    generator = np.random.default_rng(seed)
    queries, runs, columns = statistics.shape
    rows = max(1, _AT_ONCE // (queries * runs))
    some = max(1, _AT_ONCE // (rows * runs))  # queries: all, or a part within one trial
    starts = range(0, trials, rows)
    for start in steps(starts, "randomization test", len(starts)):
        sums = np.zeros((min(rows, trials - start), runs, columns))
        for first in range(0, queries, some):
            part = statistics[first : first + some]
            order = generator.random((len(sums), len(part), runs)).argsort(axis=2)
            sums += _sums(part, order)
        yield sums


def _sums(statistics: FloatArray, order: IntArray) -> FloatArray:
    """Add (n, R, T) over queries, after reordering runs by (rows, n, R), to (rows, R, T)."""
    queries, runs, columns = statistics.shape
    places = order + np.arange(0, queries * runs, runs)[:, np.newaxis]
    taken = statistics.reshape(-1, columns).take(places, axis=0)
    return np.asarray(taken.sum(axis=1))


def _shares(values: FloatArray, ranges: FloatArray, certain: bool) -> FloatArray:
    """Return the share of ranges at least as wide as each difference, (R, R)."""
    with np.errstate(invalid="ignore"):
        apart = np.abs(values[:, np.newaxis] - values)
    known = values[np.isfinite(values)]
    slack = ROUNDING * np.abs(known).max(initial=0)
    ordered = np.sort(ranges)  # undefined ranges, which could have any value, come last
    extreme = len(ordered) - np.searchsorted(ordered, apart - slack)
    share = extreme / len(ordered) if certain else (extreme + 1) / (len(ordered) + 1)
    share = np.where(np.isnan(apart), np.nan, share)
    np.fill_diagonal(share, np.nan)
    return np.asarray(share)


def letters_of(differ: BoolArray) -> list[str]:
    """Give runs letters: two runs share a letter unless the test shows that they differ, (R, R).

    Letters are ``a`` to ``z``, then ``aa``, ``ab``, …, with commas between them if any is longer.

    H.-P. Piepho, An algorithm for a letter-based representation of all-pairwise comparisons, 2004:
    begin with one letter for all; a pair that differs splits each letter that both have; a letter
    whose runs all share another letter is dropped.
    """
    groups = [frozenset(range(len(differ)))]
    for first, second in zip(*np.nonzero(np.triu(differ, 1)), strict=True):
        split = []
        for group in groups:
            together = first in group and second in group
            split += [group - {first}, group - {second}] if together else [group]
        kept = list(dict.fromkeys(split))
        groups = [group for group in kept if not any(group < other for other in kept)]
    groups.sort(key=sorted)
    names = list(itertools.islice(_letter_names(), len(groups)))
    joint = "," if len(groups) > len(_ALPHABET) else ""
    return [
        joint.join(name for name, group in zip(names, groups, strict=True) if run in group)
        for run in range(len(differ))
    ]


_ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def _letter_names() -> Iterator[str]:
    for length in itertools.count(1):
        yield from map("".join, itertools.product(_ALPHABET, repeat=length))
