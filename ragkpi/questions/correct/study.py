"""Values of runs, or differences from the first, if people had judged all queries."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ragkpi.arrays import BoolArray, FloatArray
from ragkpi.errors import NothingInCommonError, UsageError
from ragkpi.measures.measure import SUM, Metric, MetricScores, Scores
from ragkpi.statistics.decisions import CorrectionName
from ragkpi.statistics.prediction_powered import Corrected, Value, prediction_powered
from ragkpi.statistics.significance import corrected, correlation_within
from ragkpi.wording import counted

FEWEST = 10  # queries with both judgements; fewer make intervals too narrow

Of = Literal["values", "differences"]
_RARE = 10  # with fewer queries of the rarer of two values, an interval covers too little
UNLIKELY = 0.05


@dataclass(frozen=True)
class CorrectedMetric:
    """A metric of one run, or its difference from the first run."""

    metric: Metric
    run: str
    result: Corrected
    p_corrected: float = math.nan  # of a difference, corrected for all differences in the call
    rare: bool = False  # whether the metric has two values, one of them rare among people's queries


@dataclass(frozen=True)
class Sampling:
    """Difference, by the other judge's values, between queries that people judged and the rest."""

    metric: Metric  # a query's value is the mean over the runs
    judged: float  # the mean over the queries that people judged
    rest: float  # the mean over the other queries
    p: float  # from Student's t test for equal means, corrected for all metrics

    @property
    def doubtful(self) -> bool:
        return self.p < UNLIKELY


@dataclass(frozen=True)
class Correction:
    """Metrics of runs, corrected by people's judgements."""

    of: Of  # whether to estimate values, or differences from the first run
    runs: Sequence[str]
    judges: tuple[str, str]  # the names of people's judgements and of the other judge's
    corrected: list[CorrectedMetric]  # by metric, then by run
    refused: list[tuple[Metric, str]]  # metrics without an estimate, and the reason
    judged: int  # number of queries that people judged
    queries: int  # number of all queries of the other judge
    left_out: int  # number of queries that people alone judged
    sampling: list[Sampling]  # by metric, evidence against a random sample of queries
    level: float  # the confidence level of the intervals


def correct(
    runs: Sequence[str],
    judges: tuple[str, str],
    human: Sequence[Scores],
    other: Sequence[Scores],
    of: Of,
    level: float = 0.95,
    correction: CorrectionName = "holm",
) -> Correction:
    """Estimate the scores of runs if people had judged all queries.

    `human` and `other` are scores of the same runs and metrics, under people's judgements and the
    other judge's (`judges` has both names), each over all of its queries.
    """
    queries = other[0].queries
    both = {*human[0].queries} & {*queries}
    # Both are in byte order, so the rows of one match the kept rows of the other.
    kept = np.flatnonzero([query in both for query in human[0].queries])
    judged = np.array([query in both for query in queries])
    if not len(kept):
        raise NothingInCommonError("people and the other judge share no query")
    if len(kept) < FEWEST:
        raise UsageError(
            f"people and the other judge share {counted(len(kept), 'query', 'queries')}; "
            f"expected at least {FEWEST}, below which no interval can be trusted"
        )
    if len(kept) == len(queries):
        raise UsageError(
            f"people judged all {len(queries)} queries, so there is nothing to estimate; expected "
            "judgements of more queries, or the people's file as QRELS"
        )
    people = [run.over(kept) for run in human]
    refusals = [(metric, _refusal(metric)) for metric in human[0].metrics]
    means = [metric for metric, reason in refusals if not reason]
    if not means:
        raise UsageError("no mean over queries in what was asked for; ask for others with -m")
    metrics = [
        entry
        for metric in means
        for entry in _of_metric(metric, runs, people, other, judged, of, level)
    ]
    if of == "differences":
        p_values = corrected(np.array([entry.result.p for entry in metrics]), correction)
        metrics = [
            replace(entry, p_corrected=float(p)) for entry, p in zip(metrics, p_values, strict=True)
        ]
    return Correction(
        of=of,
        runs=runs,
        judges=judges,
        corrected=metrics,
        refused=[(metric, reason) for metric, reason in refusals if reason],
        judged=len(kept),
        queries=len(queries),
        left_out=len(human[0].queries) - len(kept),
        sampling=_sampling(means, other, judged, correction),
        level=level,
    )


def _refusal(metric: Metric) -> str:
    """Return the reason to refuse a metric; empty for a mean."""
    if not metric.is_estimate:
        return "it is not estimated from queries"
    return "it is a sum over queries, not a mean" if metric.measure.aggregate is SUM else ""


def _of_metric(
    metric: Metric,
    runs: Sequence[str],
    people: Sequence[Scores],
    other: Sequence[Scores],
    judged: BoolArray,
    of: Of,
    level: float,
) -> Iterator[CorrectedMetric]:
    """Estimate a metric of every run, or its difference between every run and the first."""

    def value(means: FloatArray) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(metric.measure.aggregate.summary(means[:-1], means[-1]))

    def difference(means: FloatArray) -> float:
        of_run, of_first = np.split(means, 2)
        return value(of_run) - value(of_first)

    columns = [
        (_counted(by_people[metric.name]), _counted(by_other[metric.name]))
        for by_people, by_other in zip(people, other, strict=True)
    ]
    estimated: Value = value
    if of == "differences":
        estimated, runs = difference, runs[1:]
        (human_first, model_first), *columns = columns
        columns = [
            (np.hstack([human, human_first]), np.hstack([model, model_first]))
            for human, model in columns
        ]
    for run, (human, model) in zip(runs, columns, strict=True):
        result = prediction_powered(human, model[judged], model[~judged], estimated, level)
        _, counts = np.unique(human[:, 0], return_counts=True)
        rare = len(counts) == 2 and int(counts.min()) < _RARE
        yield CorrectedMetric(metric, run, result, rare=rare)


def _counted(column: MetricScores) -> FloatArray:
    """Return each query's statistics and a 1 for having them, (Q, S + 1); NA is all 0."""
    has_value = column.has_value
    return np.column_stack([np.where(has_value[:, np.newaxis], column.statistics, 0.0), has_value])


def _sampling(
    metrics: Sequence[Metric],
    other: Sequence[Scores],
    judged: BoolArray,
    correction: CorrectionName,
) -> list[Sampling]:
    """Compare the judged queries with the others, by the other judge's values."""
    samplings = []
    for metric in metrics:
        with np.errstate(invalid="ignore"):
            values = np.mean([run[metric.name].per_query for run in other], axis=0)
        has_value = np.isfinite(values)
        values, inside = values[has_value], judged[has_value]
        if 1 < inside.sum() < len(inside) - 1 and np.ptp(values) > 0:
            # Parts of one sample vary alike: of two of them, the F test is Student's.
            p = correlation_within(values, inside.astype(np.int64)).p
            means = float(values[inside].mean()), float(values[~inside].mean())
            samplings.append(Sampling(metric, *means, p))
    p_of = corrected(np.array([sampling.p for sampling in samplings]), correction)
    return [replace(sampling, p=float(p)) for sampling, p in zip(samplings, p_of, strict=True)]
