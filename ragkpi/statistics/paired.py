"""Compare runs over the queries that all runs share: with a baseline, or in all pairs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Literal

import numpy as np

from ragkpi.arrays import BoolArray, FloatArray, IntArray
from ragkpi.errors import DataError, UsageError
from ragkpi.interface import option, with_progress
from ragkpi.measures.measure import Metric, Scores
from ragkpi.statistics.bootstrap import Bootstrap, Interval, QuerySample, query_samples
from ragkpi.statistics.decisions import CorrectionName, Family, TestName
from ragkpi.statistics.significance import (
    ROUNDING,
    TESTS,
    Pair,
    corrected,
    intervals_of_differences,
    p_values,
    pairs,
)
from ragkpi.wording import counted, listed, short_p


def refuse_other_grounds(names: Sequence[str], runs: Sequence[Scores]) -> None:
    """Raise `DataError` for runs over other queries, `UsageError` for other metrics."""
    expected = [metric.name for metric in runs[0].metrics]
    for name, run in zip(names, runs, strict=True):
        if [metric.name for metric in run.metrics] != expected:
            raise UsageError(f"{name} was evaluated for other metrics than {names[0]}")
        if run.queries != runs[0].queries:
            apart = sorted(set(run.queries) ^ set(runs[0].queries))
            raise DataError(
                f"{names[0]} is over {counted(len(runs[0].queries), 'query', 'queries')}, {name} "
                f"over {len(run.queries)} (only one has {listed(apart, 3)}); compare them over all "
                f"judged ones with {option('missing', 'zero')}, or over those of all runs with "
                f"{option('missing', 'common')}"
            )


# What is claimed of a run against its baseline; "described" is a value that decides nothing.
Claim = Literal["better", "worse", "undecided", "untested", "described"]


@dataclass(frozen=True)
class Procedure:
    """The choices of a comparison.

    Claims are what is corrected for: with ``"first"`` the first metric decides, and p-values are
    corrected for the runs; all other metrics are described. With ``"all"`` every metric decides,
    and they are corrected for runs and metrics. So a call makes any false claim of equal runs with
    a probability of at most 1 - level. `trials` is the number of random swaps or resamples of a
    p-value. The test has the seed of the bootstrap.
    """

    test: TestName = "randomization"
    correction: CorrectionName = "holm"
    family: Family = "first"
    trials: int = 10_000
    bootstrap: Bootstrap = field(default_factory=Bootstrap)

    @property
    def limit(self) -> float:
        """What a corrected p-value must be below to be a claim."""
        return round(1 - self.bootstrap.level, 12)  # 0.05, not 0.050000000000000044


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
        Two-sided p-value, before and after the correction; NaN if the test gives none, and
        `corrected` of what is described.
    decision
        What is claimed: the one place that decides, for every command.
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
    decision: Claim = "described"

    @property
    def p_in_words(self) -> str:
        """The p-value that decides, for a sentence."""
        return "no p-value" if math.isnan(self.corrected) else f"p = {short_p(self.corrected)}"

    def decided(self, corrected: float, limit: float) -> Difference:
        """Return the difference with its corrected p-value and what follows from it."""
        gain = self.metric.measure.sign * self.difference
        decision: Claim = "better" if gain > 0 else "worse"
        if math.isnan(corrected):
            decision = "untested"
        elif corrected >= limit or gain == 0:
            decision = "undecided"
        return replace(self, corrected=corrected, decision=decision)


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
        """The differences that are decided, or would be if the test gave a p-value."""
        return [found for found in self.differences if found.decision != "described"]

    @property
    def out_of_reach(self) -> str:
        """A sentence if these queries are too few for any claim; else ""."""
        tested = [found for found in self.claims if not math.isnan(found.p)]
        differing = max((found.wins + found.losses for found in tested), default=0)
        return self._unreachable(tested, differing) if differing else ""

    @property
    def too_few(self) -> str:
        """The same sentence if no claim was possible even if all queries differed; else ""."""
        return self._unreachable(self.claims, max(found.queries for found in self.claims))

    def _unreachable(self, tested: Sequence[Difference], differing: int) -> str:
        tests = len(tested) if self.procedure.correction == "holm" else 1
        least_p = TESTS[self.procedure.test].least_p
        least = min(1.0, tests * least_p(differing, self.procedure.trials))
        if least < self.procedure.limit:
            return ""
        queries = counted(tested[0].queries, "query", "queries")
        if differing < tested[0].queries:
            queries = f"{differing} of {queries} that differ"
        p = "p" if tests == 1 else f"p, corrected for {tests} tests,"
        return f"With {queries} no difference can be shown: {p} cannot fall below {least:.4g}."


def compare(names: Sequence[str], runs: Sequence[Scores], procedure: Procedure) -> Comparison:
    """Compare every other run with the first run, by every comparable metric.

    Texts, counts of queries and properties of the collection are left out, because none of their
    values is better than another.
    """
    return compare_each(names, runs, procedure, [0])[0]


def compare_each(
    names: Sequence[str], runs: Sequence[Scores], procedure: Procedure, baselines: Sequence[int]
) -> list[Comparison]:
    """Compare the runs with several baselines, given by their indices."""
    shared, samples = _comparable(names, runs)
    comparisons = []
    for baseline in baselines:
        order = [baseline, *(run for run in range(len(runs)) if run != baseline)]
        by_name: dict[str, list[Difference]] = {}
        for sample in samples:
            reordered = replace(sample, statistics=sample.statistics[:, order])
            by_name.update(_differences(reordered, [names[run] for run in order[1:]], procedure))
        found = [found for metric in shared[0].metrics for found in by_name.get(metric.name, [])]
        ordered = [names[run] for run in order], [shared[run] for run in order]
        comparisons.append(Comparison(*ordered, _decided(found, procedure), procedure))
    return comparisons


def _comparable(
    names: Sequence[str], runs: Sequence[Scores]
) -> tuple[list[Scores], list[QuerySample]]:
    """Return runs over the queries of all, and samples of the metrics that can be compared."""
    if len(runs) < 2:
        raise UsageError("compare needs a baseline and at least one other run")
    refuse_other_grounds(names, runs)
    samples = query_samples(runs, lambda metric: metric.is_comparable)
    if not samples:
        asked = ", ".join(metric.name for metric in runs[0].metrics)
        raise UsageError(f"nothing to compare: no better or worse in {asked}; ask for more with -m")
    return list(runs), samples


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


def _decided(differences: list[Difference], procedure: Procedure) -> list[Difference]:
    """Correct the p-values that make claims, and decide; those of other metrics are described."""
    first = differences[0].metric.name
    claims = [d for d in differences if procedure.family == "all" or d.metric.name == first]
    p = corrected(np.array([d.p for d in claims]), procedure.correction)
    decided = [d.decided(float(q), procedure.limit) for d, q in zip(claims, p, strict=True)]
    return decided + differences[len(decided) :]


_AT_ONCE = 1 << 14  # random numbers, which stay in the cache with the statistics they shuffle


@dataclass(frozen=True)
class MetricPairs:
    """The comparison of all pairs of R runs by one metric.

    Queries are those whose value all runs have. `values`, (R,), are the summaries; `p`, (R, R), the
    p-values, NaN if the test gives none. `letters` (see `letters_of`) are None, and p-values not
    corrected, where the metric is described and decides nothing.
    """

    metric: Metric
    queries: int
    values: FloatArray
    p: FloatArray
    letters: list[str] | None = None

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
    def metrics(self) -> list[Metric]:
        """The compared metrics, as printed."""
        return [found.metric for found in self.by_metric]

    @property
    def is_tukey(self) -> bool:
        """Whether one test covered all pairs of a metric and so needs no correction."""
        return self.procedure.test == "randomization"

    @property
    def claims(self) -> list[MetricPairs]:
        """The metrics that decide."""
        return [found for found in self.by_metric if found.letters is not None]


def compare_all(names: Sequence[str], runs: Sequence[Scores], procedure: Procedure) -> AllPairs:
    """Compare every run with every other, by every comparable metric.

    The randomization test is `tukey`; other tests are pair by pair, corrected for all pairs.
    """
    shared, samples = _comparable(names, runs)
    is_tukey = procedure.test == "randomization"
    by_name: dict[str, MetricPairs] = {}
    for sample in samples:
        if is_tukey:
            tests = tukey(sample, procedure.trials, procedure.bootstrap.seed)
        else:
            tests = pair_by_pair(sample, procedure)
        for metric, values, p in zip(sample.metrics, sample.observed(), tests, strict=True):
            by_name[metric.name] = MetricPairs(metric, sample.queries, values, p)
    found = [by_name[metric.name] for metric in shared[0].metrics if metric.name in by_name]
    deciding = found if procedure.family == "all" else found[:1]
    matrices = [one.p for one in deciding]
    if is_tukey:  # Tukey's p holds for all pairs of one metric; Bonferroni's factor for several
        matrices = [np.minimum(1.0, len(deciding) * p) for p in matrices]
    else:
        matrices = corrected_pairs(matrices, procedure)
    claims = [
        replace(one, p=p, letters=_lettered(one, p < procedure.limit))
        for one, p in zip(deciding, matrices, strict=True)
    ]
    return AllPairs(list(names), shared, claims + found[len(claims) :], procedure)


def _lettered(found: MetricPairs, differ: BoolArray) -> list[str]:
    """Return the letter of each run; the best one has the first."""
    letters = letters_of(differ[np.ix_(found.order, found.order)])
    return [letters[rank] for rank in np.argsort(found.order)]


def pair_by_pair(sample: QuerySample, procedure: Procedure) -> list[FloatArray]:
    """Test every pair separately: the uncorrected p-values, (R, R) per metric."""
    runs, seed = sample.statistics.shape[1], procedure.bootstrap.seed
    matrices = [np.full((runs, runs), np.nan) for _ in sample.metrics]
    for first in with_progress(range(runs - 1), "pairs", runs - 1):
        rest = QuerySample(sample.metrics, sample.columns, sample.statistics[:, first:])
        tested = p_values(rest, procedure.test, procedure.trials, seed)
        for matrix, of_metric in zip(matrices, tested, strict=True):
            matrix[first, first + 1 :] = matrix[first + 1 :, first] = of_metric
    return matrices


def corrected_pairs(matrices: list[FloatArray], procedure: Procedure) -> list[FloatArray]:
    """Correct the p-values of pairs, (R, R) per metric, for all pairs and all these metrics."""
    upper = np.triu_indices(len(matrices[0]), 1)
    values = corrected(np.concatenate([p[upper] for p in matrices]), procedure.correction)
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
    for start in with_progress(starts, "randomization test", len(starts)):
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
