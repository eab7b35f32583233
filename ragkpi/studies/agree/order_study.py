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
from ragkpi.statistics.bootstrap import UNKNOWN, Tails, order_statistics
from ragkpi.statistics.paired import Procedure
from ragkpi.statistics.query_samples import QuerySample, query_samples
from ragkpi.statistics.rank_agreement import RANK_AGREEMENTS
from ragkpi.statistics.resampling import drawn
from ragkpi.studies.agree.label_study import Estimate

SIGNIFICANT = 0.05
_MOST_ORDERED = 1 << 24  # comparisons of runs held at a time


@dataclass(frozen=True)
class Reversal:
    """Two runs whose order is the other way round under the other judgement.

    Attributes
    ----------
    better, worse
        The numbers of the runs, as the reference has them.
    p_reference, p_other
        Of the difference under either judgement, corrected for all pairs of runs.
    """

    better: int
    worse: int
    p_reference: float
    p_other: float

    @property
    def significant(self) -> bool:
        """Whether the difference is significant under one of them at least."""
        return self.p_reference < SIGNIFICANT or self.p_other < SIGNIFICANT


@dataclass(frozen=True)
class OrderAgreement:
    """How two judgements order runs by one metric.

    Attributes
    ----------
    metric
        The metric.
    queries
        How many queries it is known for, for all runs and under both judgements.
    reference, other : (R,)
        The runs' values under both.
    shifts
        Other less reference, for each run.
    shift
        The mean of these.
    agreements
        The coefficients of `RANK_AGREEMENTS`, by name.
    swaps
        Pairs of runs in reverse order, the most significant ones first.
    leaders
        The numbers of the best run under the reference and under the other judgement.
    drop
        The run that falls farthest from its rank under the reference, and by how many ranks.
    """

    metric: Metric
    queries: int
    reference: FloatArray
    other: FloatArray
    shifts: list[Estimate]
    shift: Estimate
    agreements: Mapping[str, Estimate]
    swaps: list[Reversal]
    leaders: tuple[int, int]
    drop: tuple[int, int]


def order_agreement(
    reference: Sequence[Scores], other: Sequence[Scores], procedure: Procedure
) -> list[OrderAgreement]:
    """Compare the orders of runs, for every metric that can be better or worse.

    Parameters
    ----------
    reference, other
        The same runs for the same metrics over the same queries, under both judgements.
    procedure
        How differences are tested and corrected, and how queries are drawn again.

    Raises
    ------
    UsageError
        If there are fewer than two runs, or no metric has a better or worse.
    """
    if len(reference) < 2:
        raise UsageError("an order needs two runs; expected two or more, or none")
    samples = query_samples([*reference, *other], lambda metric: metric.is_comparable)
    studies = {
        study.metric.name: study for sample in samples for study in _of_sample(sample, procedure)
    }
    if not studies:
        raise UsageError("no better or worse in what was asked for; ask for other measures with -m")
    return [studies[metric.name] for metric in reference[0].metrics if metric.name in studies]


def _of_sample(sample: QuerySample, procedure: Procedure) -> Iterator[OrderAgreement]:
    runs = sample.statistics.shape[1] // 2
    bootstrap = procedure.bootstrap
    observed = sample.observed()
    resampled: list[FloatArray] = []
    if sample.queries > 1:
        weights = drawn(sample.queries, bootstrap.resamples, bootstrap.seed)
        resampled = sample.summaries(sample.resampled(weights))
    halves = (slice(0, runs), slice(runs, 2 * runs))
    p_reference, p_other = (_all_pairs(sample, half, procedure) for half in halves)
    for column, metric in enumerate(sample.metrics):
        sign = metric.measure.sign
        reference, other = (observed[column][half] for half in halves)
        again = [resampled[column][:, half] for half in halves] if resampled else []
        with np.errstate(invalid="ignore"):
            shifts = other - reference
            shifts_again = again[1] - again[0] if again else np.empty((0, runs))
        yield OrderAgreement(
            metric=metric,
            queries=sample.queries,
            reference=reference,
            other=other,
            shifts=[
                _estimate(value, replicates, bootstrap.tails)
                for value, replicates in zip(shifts, shifts_again.T, strict=True)
            ],
            shift=_estimate(shifts.mean(), shifts_again.mean(axis=1), bootstrap.tails),
            agreements=_agreements(
                sign * reference, sign * other, [sign * values for values in again], bootstrap.tails
            ),
            swaps=_swaps(sign * reference, sign * other, p_reference[column], p_other[column]),
            leaders=(int(np.argmax(sign * reference)), int(np.argmax(sign * other))),
            drop=_drop(sign * reference, sign * other),
        )


def _estimate(value: float, replicates: FloatArray, tails: Tails) -> Estimate:
    known = len(replicates) > 0 and np.isfinite(value)
    return Estimate(float(value), order_statistics(replicates, tails) if known else UNKNOWN)


def _agreements(
    reference: FloatArray, other: FloatArray, again: Sequence[FloatArray], tails: Tails
) -> Mapping[str, Estimate]:
    """Compute every coefficient of two orders, and of the orders of every resample."""
    estimates = {}
    for name, agreement in RANK_AGREEMENTS.items():
        replicates = np.empty(0)
        if again:
            rows = max(1, _MOST_ORDERED // len(reference) ** 2)
            parts = range(0, len(again[0]), rows)
            replicates = np.concatenate(
                [agreement(again[0][at : at + rows], again[1][at : at + rows]) for at in parts]
            )
        estimates[name] = _estimate(float(agreement(reference, other)), replicates, tails)
    return estimates


def _all_pairs(sample: QuerySample, half: slice, procedure: Procedure) -> list[FloatArray]:
    """Test every pair of runs under one judgement: per metric corrected p-values, (R, R)."""
    of_judge = replace(sample, statistics=sample.statistics[:, half])
    return corrected_pairs(pair_by_pair(of_judge, procedure), procedure)


def _swaps(
    reference: FloatArray, other: FloatArray, p_reference: FloatArray, p_other: FloatArray
) -> list[Reversal]:
    swaps = []
    for first, second in combinations(range(len(reference)), 2):
        if (reference[first] - reference[second]) * (other[first] - other[second]) < 0:
            better, worse = (
                (first, second) if reference[first] > reference[second] else (second, first)
            )
            p_of = (float(p_reference[first, second]), float(p_other[first, second]))
            swaps.append(Reversal(better, worse, *p_of))
    return sorted(swaps, key=lambda swap: min(swap.p_reference, swap.p_other))


def _drop(reference: FloatArray, other: FloatArray) -> tuple[int, int]:
    """Find the run that falls farthest; ranks count how many runs are better."""
    better = [(values > values[:, np.newaxis]).sum(axis=1) for values in (reference, other)]
    fall = better[1] - better[0]
    return int(np.argmax(fall)), int(fall.max())
