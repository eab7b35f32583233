"""Every run against every other: one test for all pairs, and letters that summarise it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from ragkpi.errors import UsageError
from ragkpi.measures.aggregates import FloatArray
from ragkpi.measures.measure import Metric
from ragkpi.measures.scores import Scores
from ragkpi.progress import steps
from ragkpi.ranking.judged import BoolArray, IntArray
from ragkpi.records import dataclass
from ragkpi.statistics.alignment import aligned
from ragkpi.statistics.corrections import corrected
from ragkpi.statistics.paired import Procedure, nothing_to_compare
from ragkpi.statistics.query_samples import QuerySample, query_samples
from ragkpi.statistics.significance import ROUNDING, p_values

_AT_ONCE = 1 << 14  # random numbers; they and the statistics they shuffle stay in the cache


@dataclass(frozen=True)
class MetricPairs:
    """The comparison of each two of R runs by one metric.

    Attributes
    ----------
    metric, queries
        The metric, and the number of queries that have it in all runs.
    values : (R,)
        The summary of every run.
    p : (R, R)
        p-values of every two runs, corrected for the number of pairs; NaN where the test has no
        answer, and on the diagonal.
    letters : length R
        Runs that share a letter are not shown to differ; see `letters_of`.
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
        """Whether there was one test for all pairs, which needs no correction."""
        return self.procedure.test == "randomization"


def compare_all(names: Sequence[str], runs: Sequence[Scores], procedure: Procedure) -> AllPairs:
    """Compare every run with every other, by every comparable metric.

    The randomization test is `tukey`; other tests are pair by pair, corrected for all pairs.

    Raises
    ------
    UsageError
        If there is nothing to compare.
    NothingInCommonError
        If the runs share no query.
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
    """Test every pair as if it were the only one: the p-values, (R, R) per metric."""
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
    """If no run differed from any other, their labels could be shuffled on any query.

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
    """Yield the sums over queries, (1, R, T), of every way to shuffle (n, R, T)."""
    queries, runs = statistics.shape[:2]
    orders = np.array(list(itertools.permutations(range(runs))))
    for chosen in itertools.product(range(len(orders)), repeat=queries):
        yield _sums(statistics, orders[list(chosen)][np.newaxis])


def _shuffled(statistics: FloatArray, trials: int, seed: int) -> Iterator[FloatArray]:
    """Yield the sums over queries, (rows, R, T), of shuffles of (n, R, T), `trials` rows."""
    generator = np.random.default_rng(seed)
    queries, runs, columns = statistics.shape
    rows = max(1, _AT_ONCE // (queries * runs))
    some = max(1, _AT_ONCE // (rows * runs))  # queries: all of them, or some of one trial
    starts = range(0, trials, rows)
    for start in steps(starts, "randomization test", len(starts)):
        sums = np.zeros((min(rows, trials - start), runs, columns))
        for first in range(0, queries, some):
            part = statistics[first : first + some]
            order = generator.random((len(sums), len(part), runs)).argsort(axis=2)
            sums += _sums(part, order)
        yield sums


def _sums(statistics: FloatArray, order: IntArray) -> FloatArray:
    """Add (n, R, T) over queries, with the runs in orders, (rows, n, R), to (rows, R, T)."""
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
    ordered = np.sort(ranges)  # undefined ranges, which could be anything, are last
    extreme = len(ordered) - np.searchsorted(ordered, apart - slack)
    share = extreme / len(ordered) if certain else (extreme + 1) / (len(ordered) + 1)
    share = np.where(np.isnan(apart), np.nan, share)
    np.fill_diagonal(share, np.nan)
    return np.asarray(share)


def letters_of(differ: BoolArray) -> list[str]:
    """Give runs letters: two runs share a letter unless they are shown to differ.

    Parameters
    ----------
    differ : (R, R)
        Whether two runs are shown to differ, the runs in the order of their letters.

    Returns
    -------
    length R, the letters of each run in order: ``a`` to ``z``, then ``aa``, ``ab``, …, with commas
    between them if any is longer than a letter.

    Notes
    -----
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
