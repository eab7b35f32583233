"""Whether two judgements order runs alike, with intervals over queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from ragkpi.errors import UsageError
from ragkpi.measures.aggregates import FloatArray
from ragkpi.measures.measure import Metric
from ragkpi.measures.scores import Scores
from ragkpi.records import dataclass, replace
from ragkpi.statistics.all_pairs import corrected_pairs, pair_by_pair
from ragkpi.statistics.bootstrap import UNKNOWN, Interval, Tails, order_statistics
from ragkpi.statistics.paired import Procedure
from ragkpi.statistics.query_samples import QuerySample, query_samples
from ragkpi.statistics.rank_agreement import RANK_AGREEMENTS, RankAgreement
from ragkpi.statistics.resampling import drawn

SIGNIFICANT = 0.05
_MOST_ORDERED = 1 << 24  # comparisons of runs held at a time


@dataclass(frozen=True)
class Estimate:
    """A value and its interval; NaN where there is none."""

    value: float
    interval: Interval


def estimate(value: float, replicates: FloatArray, tails: Tails) -> Estimate:
    """Attach the percentile interval of replicates, (B,); there is none without any."""
    known = len(replicates) > 0 and np.isfinite(value)
    return Estimate(float(value), order_statistics(replicates, tails) if known else UNKNOWN)


@dataclass(frozen=True)
class Reversal:
    """Two runs in one order under the reference, and in the reverse under the other judgement.

    Attributes
    ----------
    better, worse
        The names of the runs, as the reference orders them.
    p_reference, p_other
        Of the difference under either judgement, corrected for all pairs of runs.
    """

    better: str
    worse: str
    p_reference: float
    p_other: float

    @property
    def significant(self) -> bool:
        """Whether the difference is significant under at least one judgement."""
        return self.p_reference < SIGNIFICANT or self.p_other < SIGNIFICANT


@dataclass(frozen=True)
class OrderAgreement:
    """How two judgements order R runs by one metric.

    Attributes
    ----------
    runs, metric
        The names of the runs, and the metric.
    queries
        How many queries have a value for all runs under both judgements.
    reference, other : length R
        The runs' values under each judgement.
    shifts
        Other minus reference, for each run.
    shift
        The mean of the shifts.
    agreements
        The coefficients of `RANK_AGREEMENTS`, by name.
    swaps
        Pairs of runs in reverse order, the most significant ones first.
    leaders
        The best run under the reference, and the best one under the other judgement.
    drop
        The run that falls farthest from its rank under the reference, and by how many ranks.
    """

    runs: Sequence[str]
    metric: Metric
    queries: int
    reference: list[float]
    other: list[float]
    shifts: list[Estimate]
    shift: Estimate
    agreements: Mapping[str, Estimate]
    swaps: list[Reversal]
    leaders: tuple[str, str]
    drop: tuple[str, int]


def order_agreement(
    runs: Sequence[str],
    reference: Sequence[Scores],
    other: Sequence[Scores],
    procedure: Procedure,
) -> list[OrderAgreement]:
    """Compare the orders of runs, for every metric that can be better or worse.

    Parameters
    ----------
    runs
        The names of the runs.
    reference, other
        Their scores, for the same metrics over the same queries, under both judgements.
    procedure
        How differences are tested and corrected, and how queries are resampled.

    Raises
    ------
    UsageError
        If there are fewer than two runs, or no metric can be better or worse.
    """
    if len(reference) < 2:
        raise UsageError("an order needs two runs; expected two or more, or none")
    samples = query_samples([*reference, *other], lambda metric: metric.is_comparable)
    orders = {
        order.metric.name: order for sample in samples for order in _orders(runs, sample, procedure)
    }
    if not orders:
        raise UsageError("no better or worse in what was asked for; ask for other measures with -m")
    return [orders[metric.name] for metric in reference[0].metrics if metric.name in orders]


def _orders(
    runs: Sequence[str], sample: QuerySample, procedure: Procedure
) -> Iterator[OrderAgreement]:
    """Compare orders by every metric of a sample: runs under the reference, then under the other.

    Without a second query there is nothing to resample, and B is 0.
    """
    bootstrap = procedure.bootstrap
    sums = np.empty((0, *sample.statistics.shape[1:]))
    if sample.queries > 1:
        sums = sample.resampled(drawn(sample.queries, bootstrap.resamples, bootstrap.seed))
    halves = (slice(0, len(runs)), slice(len(runs), None))
    by_judge = [replace(sample, statistics=sample.statistics[:, half]) for half in halves]
    p_values = [corrected_pairs(pair_by_pair(part, procedure), procedure) for part in by_judge]
    of_metrics = zip(
        sample.metrics, sample.observed(), sample.summaries(sums), *p_values, strict=True
    )
    for metric, observed, resampled, p_reference, p_other in of_metrics:
        reference, other = (observed[half] for half in halves)
        reference_again, other_again = (resampled[:, half] for half in halves)  # (B, R)
        with np.errstate(invalid="ignore"):
            shifts, shifts_again = other - reference, other_again - reference_again
        sign = metric.measure.sign
        worth = (sign * reference, sign * other)  # greater is better
        worth_again = (sign * reference_again, sign * other_again)
        better = [(values > values[:, np.newaxis]).sum(axis=1) for values in worth]
        fall = better[1] - better[0]
        yield OrderAgreement(
            runs=runs,
            metric=metric,
            queries=sample.queries,
            reference=reference.tolist(),
            other=other.tolist(),
            shifts=[
                estimate(value, replicates, bootstrap.tails)
                for value, replicates in zip(shifts, shifts_again.T, strict=True)
            ],
            shift=estimate(shifts.mean(), shifts_again.mean(axis=1), bootstrap.tails),
            agreements={
                name: estimate(
                    float(coefficient(*worth)),
                    _in_parts(coefficient, *worth_again),
                    bootstrap.tails,
                )
                for name, coefficient in RANK_AGREEMENTS.items()
            },
            swaps=_swaps(runs, *worth, p_reference, p_other),
            leaders=(runs[int(np.argmax(worth[0]))], runs[int(np.argmax(worth[1]))]),
            drop=(runs[int(np.argmax(fall))], int(fall.max())),
        )


def _in_parts(coefficient: RankAgreement, reference: FloatArray, other: FloatArray) -> FloatArray:
    """Compute a coefficient of every resample, (B,), a bounded number of comparisons at a time."""
    rows = max(1, _MOST_ORDERED // reference.shape[1] ** 2)
    parts = [slice(start, start + rows) for start in range(0, len(reference), rows)]
    return np.concatenate(
        [np.empty(0), *(coefficient(reference[part], other[part]) for part in parts)]
    )


def _swaps(
    runs: Sequence[str],
    reference: FloatArray,
    other: FloatArray,
    p_reference: FloatArray,
    p_other: FloatArray,
) -> list[Reversal]:
    """List the pairs of runs in reverse order, the most significant ones first."""
    swaps = []
    for pair in combinations(range(len(runs)), 2):
        better, worse = sorted(pair, key=lambda run: -reference[run])
        if reference[better] > reference[worse] and other[better] < other[worse]:
            p_of = (float(p_reference[better, worse]), float(p_other[better, worse]))
            swaps.append(Reversal(runs[better], runs[worse], *p_of))
    return sorted(swaps, key=lambda swap: min(swap.p_reference, swap.p_other))
