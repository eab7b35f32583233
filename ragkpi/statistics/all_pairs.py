"""Compare every run with every other: tests of all pairs at once, and letters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from string import ascii_lowercase

import numpy as np

from ragkpi.arrays import ROUNDING, BoolArray, FloatArray
from ragkpi.measures.measure import Metric, Scores, first
from ragkpi.statistics.bootstrap import QuerySample, all_swaps, sums, swapped
from ragkpi.statistics.paired import Procedure, comparable_samples
from ragkpi.statistics.replicates import p_of_pairs, systems_of
from ragkpi.statistics.significance import TIED, least_p, too_few
from ragkpi.statistics.units import by_unit


@dataclass(frozen=True)
class MetricPairs:
    """The comparison of all pairs of R runs by one metric.

    Queries are those whose value all runs have, and units are those queries or their clusters.
    `values`, (R,), are the summaries; `p`, (R, R), the p-values of `step_down`. `letters` (see
    `letters_of`) are None, and p-values not corrected, if the metric is exploratory.
    """

    metric: Metric
    queries: int
    units: int
    values: FloatArray
    p: FloatArray
    letters: list[str] | None = None

    @property
    def order(self) -> list[int]:
        """The indices of the runs, best first, NA last."""
        return self.metric.best_first(self.values)

    def ranks(self, limit: float) -> list[tuple[int, int]]:
        """Return the best and the worst rank that the tests leave open for each run, (R,).

        A run ranks below significantly better ones and above significantly worse ones.
        """
        better = self.metric.measure.sign * (self.values[:, np.newaxis] - self.values)
        with np.errstate(invalid="ignore"):
            significant = self.p < limit
        above = (significant & (better < 0)).sum(axis=1).tolist()
        below = (significant & (better > 0)).sum(axis=1).tolist()
        return [(1 + a, len(self.values) - b) for a, b in zip(above, below, strict=True)]


@dataclass(frozen=True)
class AllPairs:
    """The comparison of all pairs of runs by every metric."""

    names: list[str]
    runs: list[Scores]
    by_metric: list[MetricPairs]
    procedure: Procedure
    factor: int = 1  # of p, for several measures and slices

    @property
    def has_systems(self) -> bool:
        """Whether pairs have the t test of `replicates.difference_of`, corrected by Holm."""
        return any(run.seeds > 1 for run in self.runs)

    @property
    def metrics(self) -> list[Metric]:
        """The compared metrics, as printed."""
        return [of_metric.metric for of_metric in self.by_metric]

    @property
    def claims(self) -> list[MetricPairs]:
        """The metrics that decide."""
        return [of_metric for of_metric in self.by_metric if of_metric.letters is not None]

    @property
    def out_of_reach(self) -> str:
        """Say that no claim is possible with so few units; else ""."""
        largest = max(self.claims, key=lambda of_metric: of_metric.units)
        least = least_p("randomization", largest.units, self.procedure.trials)  # draws signs, too
        least = 0.0 if self.has_systems else min(1.0, self.factor * least)
        return too_few(largest.units, largest.queries, least, self.procedure.limit)


def compare_all(
    names: Sequence[str], runs: Sequence[Scores], procedure: Procedure, families: int = 1
) -> AllPairs:
    """Compare every run with every other, by every comparable metric.

    `step_down` replaces the procedure's test and correction, or `p_of_pairs` if a run is a system
    of several seeds. p of deciding metrics is multiplied by their number, and by that of the
    `families` in the call: all queries, and slices.
    """
    by_name: dict[str, MetricPairs] = {}
    for sample in comparable_samples(names, runs, procedure):
        if sample.seeds:
            systems = systems_of(sample)
            p_values = [p_of_pairs(of_metric, sample.freedom) for of_metric in systems]
            observed = [np.array([one.value for one in of_metric]) for of_metric in systems]
        else:
            p_values = step_down(sample, procedure.trials, procedure.bootstrap.seed)
            observed = sample.observed()
        for metric, values, p in zip(sample.metrics, observed, p_values, strict=True):
            by_name[metric.name] = MetricPairs(metric, sample.queries, sample.units, values, p)
    by_metric = [by_name[metric.name] for metric in runs[0].metrics if metric.name in by_name]
    deciding = by_metric if procedure.family == "all" else by_metric[:1]
    factor = families * len(deciding)  # Bonferroni's
    claims = []
    for of_metric in deciding:
        p = np.minimum(1.0, factor * of_metric.p)
        order = of_metric.order  # the best run has the first letter
        letters = letters_of((p < procedure.limit)[np.ix_(order, order)])
        letters = [letters[rank] for rank in np.argsort(order)]
        claims.append(replace(of_metric, p=p, letters=letters))
    by_metric = claims + by_metric[len(claims) :]
    return AllPairs(list(names), list(runs), by_metric, procedure, factor)


@np.errstate(invalid="ignore")
def step_down(sample: QuerySample, trials: int, seed: int) -> list[FloatArray]:
    """Test all pairs by one random sign per unit, for all pairs at once.

    Formula:    x = |sum of d| / √(sum of d²) over units, d the difference of two runs' sums (of
                ratios of means: jackknife pseudo-values); |t| rises with x, and of rates x is the
                score; p of the i-th largest x is the share of signs under which one of the i-th
                to last has an x as large, made monotone; the observed signs counted in, (count + 1)
                / (trials + 1), or over all signs if there are at most `trials`
    Edge cases: 1 for two runs that are equal on every query; NA with fewer than two units, and for
                a run without a value when some unit is left out
    Source:     P. H. Westfall and S. S. Young, Resampling-Based Multiple Testing, 1993; J. P.
                Romano and M. Wolf, Journal of the American Statistical Association 100, 2005
    """
    runs = sample.statistics.shape[1]
    if sample.units < 2:
        return [np.full((runs, runs), np.nan) for _ in sample.metrics]
    added = by_unit(sample.statistics, sample.unit)
    return [
        _stepped_down(
            first(added[..., columns]) if metric.measure.aggregate.value is first else pseudo,
            trials,
            seed,
        )
        for metric, columns, pseudo in zip(
            sample.metrics, sample.columns, sample.pseudo_values(), strict=True
        )
    ]


_CELLS = 1 << 20  # of trials by pairs in memory


def _stepped_down(values: FloatArray, trials: int, seed: int) -> FloatArray:
    """Return the p-values of all pairs of runs, (R, R), from the units' contributions, (G, R)."""
    runs = values.shape[1]
    p = np.full((runs, runs), np.nan)
    finite = np.flatnonzero(np.isfinite(values).all(axis=0))
    if len(finite) < 2:
        return p
    # Centring each unit reduces rounding errors and does not change differences.
    values = values[:, finite] - values[:, finite].mean(axis=1, keepdims=True)
    tolerance = TIED * np.abs(values).max()
    roots = np.zeros((len(finite), len(finite)))
    for run, column in enumerate(values.T):
        gap = np.abs(values - column[:, np.newaxis])
        roots[run] = np.sqrt((np.where(gap > tolerance, gap, 0.0) ** 2).sum(axis=0))
    one, other = np.nonzero(np.triu(roots))
    p[np.ix_(finite, finite)] = 1.0
    np.fill_diagonal(p, np.nan)
    moving = values[np.ptp(values, axis=1) > tolerance]
    slack = ROUNDING * np.abs(moving).sum(axis=0).max(initial=0)
    gap, root = np.abs(moving.sum(axis=0)[one] - moving.sum(axis=0)[other]), roots[one, other]
    order = np.argsort(gap / root, kind="stable")  # the largest last
    one, other, root, limit = one[order], other[order], root[order], ((gap - slack) / root)[order]
    exact = 2 ** len(moving) <= trials
    flips = iter([all_swaps(len(moving))]) if exact else swapped(len(moving), trials, seed)
    reached, total = (np.zeros(len(one)), 0) if exact else (np.ones(len(one)), 1)
    rows = max(1, _CELLS // max(1, len(one)))
    for block in flips:
        flipped = sums([1.0 - 2.0 * block], moving)
        total += len(flipped)
        for start in range(0, len(flipped), rows):
            some = flipped[start : start + rows]
            x = (np.abs(some[:, one] - some[:, other]) + slack) / root
            reached += (np.maximum.accumulate(x, axis=1) >= limit).sum(axis=0)
    share = np.maximum.accumulate(reached[::-1] / total)[::-1]
    p[finite[one], finite[other]] = p[finite[other], finite[one]] = share
    return p


def letters_of(differ: BoolArray) -> list[str]:
    """Give runs letters: two runs share a letter unless they differ significantly, (R, R).

    Begin with one letter for all; a pair that differs splits each letter that both have; a letter
    whose runs all share another letter is dropped. After ``z`` comes ``a1``, with commas between.

    Source:     H.-P. Piepho, 2004
    """
    groups = [frozenset(range(len(differ)))]
    for one, other in zip(*np.nonzero(np.triu(differ, 1)), strict=True):
        split = []
        for group in groups:
            together = one in group and other in group
            split += [group - {one}, group - {other}] if together else [group]
        distinct = list(dict.fromkeys(split))
        groups = [group for group in distinct if not any(group < other for other in distinct)]
    groups.sort(key=sorted)
    names = [f"{ascii_lowercase[n % 26]}{n // 26 or ''}" for n in range(len(groups))]
    joint = "," if len(groups) > 26 else ""
    return [
        joint.join(name for name, group in zip(names, groups, strict=True) if run in group)
        for run in range(len(differ))
    ]
