"""What people would say over all queries, from their judgements of some and another judge's of all.

Every statistic of a query that was not judged by people is moved as far as the other judge is worth
believing. A query for which a value is NA adds nothing to sums and nothing to their count, so that
a summary over the queries with a value is a function of means like any other.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Literal

import numpy as np

from ragkpi.errors import NothingInCommonError, UsageError
from ragkpi.formats.tokens import BoolArray
from ragkpi.measures.aggregates import SUM, Aggregate, FloatArray
from ragkpi.measures.measure import Metric
from ragkpi.measures.scores import MetricScores, Scores
from ragkpi.records import dataclass, replace
from ragkpi.statistics.corrections import CorrectionName, corrected
from ragkpi.statistics.prediction_powered import FEWEST, Corrected, Value, prediction_powered
from ragkpi.wording import counted

Of = Literal["values", "differences"]
_RARE = 10  # queries with the rarer of two values: below, such an interval covers too little
_UNLIKELY = 0.05


@dataclass(frozen=True)
class CorrectedMetric:
    """A metric of one run, or its difference from the first run.

    Attributes
    ----------
    metric, run
        What, and the number of the run.
    result
        The estimates.
    p_corrected
        Of a difference, corrected for all in the call.
    rare
        Whether the value is one of two, and people gave the rarer one to hardly any query.
    """

    metric: Metric
    run: int
    result: Corrected
    p_corrected: float = math.nan
    rare: bool = False


@dataclass(frozen=True)
class Sampling:
    """How the queries that people judged differ from the others, as the other judge sees them.

    Attributes
    ----------
    metric
        By what, the mean over the runs.
    judged, rest
        Its mean over the queries that people judged, and over the others.
    p
        Of Welch's t test of both being equal, corrected for all metrics.
    """

    metric: Metric
    judged: float
    rest: float
    p: float

    @property
    def doubtful(self) -> bool:
        """Whether the queries hardly are a random sample."""
        return self.p < _UNLIKELY


@dataclass(frozen=True)
class Correction:
    """Metrics of runs, corrected.

    Attributes
    ----------
    of
        Whether values are estimated, or differences from the first run.
    corrected
        By metric, then by run.
    refused
        Metrics that are no means, and why.
    judged, queries, left_out
        Queries that people judged, all queries of the other judge, and those that people alone
        judged.
    sampling
        Whether the queries look like a random sample, by metric.
    level
        The probability that an interval covers.
    """

    of: Of
    corrected: list[CorrectedMetric]
    refused: list[tuple[Metric, str]]
    judged: int
    queries: int
    left_out: int
    sampling: list[Sampling]
    level: float


def correct(
    human: Sequence[Scores],
    other: Sequence[Scores],
    of: Of,
    level: float = 0.95,
    correction: CorrectionName = "holm",
) -> Correction:
    """Estimate what runs would score if people had judged all queries.

    Parameters
    ----------
    human, other
        The same runs for the same metrics, under people's judgements and under the other judge's,
        each over all queries of theirs.
    of
        ``"values"`` of every run, or ``"differences"`` from the first one.
    level, correction
        Of the intervals; and what becomes of the p-values of many differences.

    Raises
    ------
    NothingInCommonError
        If no query has both judgements.
    UsageError
        If they are fewer than `FEWEST`, or all that there are, or if no metric is a mean.
    """
    number = {query: row for row, query in enumerate(other[0].queries)}
    shared = [query for query in human[0].queries if query in number]
    if not shared:
        raise NothingInCommonError("people and the other judge share no query")
    if len(shared) < FEWEST:
        raise UsageError(
            f"people and the other judge share {counted(len(shared), 'query', 'queries')}; "
            f"expected at least {FEWEST}, below which no interval can be trusted"
        )
    if len(shared) == len(number):
        raise UsageError(
            f"people judged all {len(number)} queries, so there is nothing to estimate; expected "
            "judgements of more queries, or the people's file as QRELS"
        )
    judged = np.zeros(len(number), dtype=np.bool_)
    judged[[number[query] for query in shared]] = True
    # Both are in byte order, so the judged rows of the one are the kept rows of the other.
    kept = np.flatnonzero([query in number for query in human[0].queries])
    people = [run.over(kept) for run in human]
    names, refused = _means(human[0])
    if not names:
        raise UsageError("no mean over queries in what was asked for; ask for others with -m")
    metrics = [
        metric for name in names for metric in _of_metric(name, people, other, judged, of, level)
    ]
    return Correction(
        of=of,
        corrected=_with_p(metrics, correction) if of == "differences" else metrics,
        refused=refused,
        judged=len(shared),
        queries=len(number),
        left_out=len(human[0].queries) - len(shared),
        sampling=_sampling(names, other, judged, correction),
        level=level,
    )


def _means(scores: Scores) -> tuple[list[str], list[tuple[Metric, str]]]:
    """Return the names of what can be estimated, and what cannot, with the reason."""
    names: list[str] = []
    refused: list[tuple[Metric, str]] = []
    for metric in scores.metrics:
        if not metric.is_estimate:
            refused.append((metric, "it is not estimated from queries"))
        elif metric.measure.aggregate is SUM:
            refused.append((metric, "it is a sum over queries, not a mean"))
        else:
            names.append(metric.name)
    return names, refused


def _of_metric(
    name: str,
    people: Sequence[Scores],
    other: Sequence[Scores],
    judged: BoolArray,
    of: Of,
    level: float,
) -> list[CorrectedMetric]:
    metric = people[0][name].metric
    aggregate = metric.measure.aggregate
    by_people = [_counted(run[name]) for run in people]
    by_other = [_counted(run[name]) for run in other]
    metrics = []
    for run in range(1 if of == "differences" else 0, len(people)):
        value: Value = _summary(aggregate)
        human, model = by_people[run], by_other[run]
        if of == "differences":
            value = _difference(value, human.shape[1])
            human = np.concatenate([human, by_people[0]], axis=1)
            model = np.concatenate([model, by_other[0]], axis=1)
        result = prediction_powered(human, model[judged], model[~judged], value, level)
        metrics.append(CorrectedMetric(metric, run, result, rare=_rare(human)))
    return metrics


def _counted(column: MetricScores) -> FloatArray:
    """Return the statistics of every query and whether it has any, (Q, S + 1); NA is all 0."""
    known = column.known
    return np.column_stack([np.where(known[:, np.newaxis], column.statistics, 0.0), known])


def _summary(aggregate: Aggregate) -> Value:
    def value(means: FloatArray) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(aggregate.summary(means[:-1], means[-1]))

    return value


def _difference(value: Value, size: int) -> Value:
    return lambda means: value(means[:size]) - value(means[size:])


def _rare(statistics: FloatArray) -> bool:
    """Say whether the first statistic has two values, and few queries have the rarer one."""
    _, counts = np.unique(statistics[:, 0], return_counts=True)
    return len(counts) == 2 and int(counts.min()) < _RARE


def _with_p(metrics: list[CorrectedMetric], correction: CorrectionName) -> list[CorrectedMetric]:
    p = corrected(np.array([metric.result.p for metric in metrics]), correction)
    return [
        replace(metric, p_corrected=float(value)) for metric, value in zip(metrics, p, strict=True)
    ]


def _sampling(
    names: Sequence[str], other: Sequence[Scores], judged: BoolArray, correction: CorrectionName
) -> list[Sampling]:
    """Compare the judged queries with the others, by the other judge's values."""
    from scipy.stats import ttest_ind

    samplings = []
    for name in names:
        with np.errstate(invalid="ignore"):
            values = np.mean([run[name].per_query for run in other], axis=0)
        known = np.isfinite(values)
        groups = values[judged & known], values[~judged & known]
        if min(map(len, groups)) > 1 and np.ptp(values[known]) > 0:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # scipy's, about nearly equal values
                p = float(ttest_ind(*groups, equal_var=False).pvalue)
            means = [float(group.mean()) for group in groups]
            samplings.append(Sampling(other[0][name].metric, means[0], means[1], p))
    p_of = corrected(np.array([sampling.p for sampling in samplings]), correction)
    return [replace(sampling, p=float(p)) for sampling, p in zip(samplings, p_of, strict=True)]
