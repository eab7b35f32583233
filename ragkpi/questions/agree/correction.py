"""Estimates of human values over all queries: people judged some queries, a model all of them.

Source: A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan and T. Zrnic, Prediction-powered
        inference, Science 382, 2023; A. N. Angelopoulos, J. C. Duchi and T. Zrnic, PPI++:
        Efficient prediction-powered inference, 2023.

The estimate shifts the human mean by the difference that the model sees between all queries and
those that people judged, weighted by how far the model can be trusted. A query with the value NA
adds nothing to sums or to their count, so every summary is a function of means.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ragkpi.arrays import BoolArray, FloatArray
from ragkpi.errors import NothingInCommonError, UsageError
from ragkpi.measures.measure import SUM, Metric, MetricScores, Scores
from ragkpi.reports.layout import Answer, Cell, Column, Table, finite
from ragkpi.statistics.bootstrap import UNKNOWN, Interval, special
from ragkpi.statistics.decisions import CorrectionName
from ragkpi.statistics.significance import corrected
from ragkpi.wording import counted, listed, rounded

FEWEST = 10  # queries with both judgements; fewer make intervals too narrow

Value = Callable[[FloatArray], float]
"""A function from the means of T statistics over queries, (T,), to the estimated value."""


@dataclass(frozen=True)
class Corrected:
    """A value over all queries, under the other judgement, people's, and as estimated.

    Attributes
    ----------
    other, human, estimate
        The value under the other judgement over all queries; the human value over the queries
        that people judged; and the estimated human value over all queries.
    tuning
        The weight of the other judgement: 0 for none, 1 as in untuned inference.
    standard_error
        The standard error of the estimate.
    worth
        The number of queries that people alone would have to judge for an equally wide interval.
    p
        The two-sided p-value for a value of 0, meant for differences.
    """

    other: float
    human: float
    human_interval: Interval
    estimate: float
    interval: Interval
    tuning: float
    standard_error: float
    worth: float
    p: float


def prediction_powered(
    human: FloatArray, other: FloatArray, rest: FloatArray, value: Value, level: float = 0.95
) -> Corrected:
    """Estimate a value under human judgement from n queries of people and n + m of a model.

    `human` and `other`, (n, T), are statistics of the queries that people judged, under both
    judgements, n from 3; `rest`, (m, T), are those of the other queries under the other one.

    The human mean is shifted by the difference that the other judgement sees between the other
    queries and these. The share of the shift (`tuning`) minimises the variance. A value that is
    not a mean is a function of means: its variance is that of its linear part at the estimate.

    Formula:    lambda * mean(rest) + mean(human - lambda * other), with
                lambda = cov(human, other) / ((1 + n/m) * var(other and rest)), between 0 and 1;
                variance: lambda^2 * var(rest) / m + var(human - lambda * other) / n
    Interval:   Student's t with n - 2 degrees of freedom, as both a mean and lambda are estimated,
                where the paper has the normal distribution, too narrow for few queries; NaN where
                the value is infinite or undefined, or does not vary among the queries
    """
    n, m = len(human), len(rest)
    at_people, everywhere = human.mean(axis=0), np.concatenate([other, rest]).mean(axis=0)
    slope = _gradient(value, at_people)
    alone = _t_interval(value(at_people), _error(human @ slope, 1), n - 1, level)
    tuning = _tuning(human @ slope, other @ slope, rest @ slope)
    means = at_people + tuning * (rest.mean(axis=0) - other.mean(axis=0))
    slope = _gradient(value, means)
    error = math.hypot(
        tuning * _error(rest @ slope, 1) if m > 1 else 0.0,
        _error((human - tuning * other) @ slope, 2),
    )
    estimate = value(means)
    interval = _t_interval(estimate, error, n - 2, level)
    defined = not math.isnan(interval.low)
    return Corrected(
        other=value(everywhere),
        human=value(at_people),
        human_interval=alone,
        estimate=estimate,
        interval=interval,
        tuning=tuning,
        standard_error=error if defined else math.nan,
        worth=float((human @ slope).var(ddof=1) / error**2) if defined else math.nan,
        p=float(2 * special().stdtr(n - 2, -abs(estimate) / error)) if defined else math.nan,
    )


def _tuning(human: FloatArray, other: FloatArray, rest: FloatArray) -> float:
    """Return the lambda of least variance, (n,), (n,) and (m,) to a number from 0 to 1."""
    covariance = ((human - human.mean()) * (other - other.mean())).mean()
    variance = (1 + len(other) / len(rest)) * np.concatenate([other, rest]).var(ddof=1)
    if not (np.isfinite(covariance) and variance > 0):
        return 0.0
    return float(np.clip(covariance / variance, 0.0, 1.0))


def _error(values: FloatArray, parameters: int) -> float:
    """Return the standard error of a mean, given the number of estimated parameters."""
    spread = ((values - values.mean()) ** 2).sum() / (len(values) - parameters)
    return math.sqrt(spread / len(values))


def _gradient(value: Value, means: FloatArray) -> FloatArray:
    """Return the partial derivatives of a value by the means, (T,)."""
    slope = np.empty(len(means))
    for column, mean in enumerate(means):
        step = np.zeros(len(means))
        step[column] = 1e-6 * abs(mean) or 1e-9
        low = means - step if mean else means  # 0 may be the least possible mean
        high = means + step
        slope[column] = (value(high) - value(low)) / (high[column] - low[column])
    return slope


def _t_interval(centre: float, error: float, freedom: int, level: float) -> Interval:
    if not (math.isfinite(centre) and math.isfinite(error) and error > 1e-12 * abs(centre)):
        return UNKNOWN
    half = float(special().stdtrit(freedom, (1 + level) / 2)) * error
    return Interval(centre - half, centre + half)


Of = Literal["values", "differences"]
_RARE = 10  # with fewer queries of the rarer of two values, an interval covers too little
_UNLIKELY = 0.05


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
    p: float  # from Welch's t test for equal means, corrected for all metrics

    @property
    def doubtful(self) -> bool:
        return self.p < _UNLIKELY


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
    number = {query: row for row, query in enumerate(other[0].queries)}
    # Both are in byte order, so the rows of one match the kept rows of the other.
    kept = np.flatnonzero([query in number for query in human[0].queries])
    judged = np.zeros(len(number), dtype=np.bool_)
    judged[[number[human[0].queries[row]] for row in kept]] = True
    if not len(kept):
        raise NothingInCommonError("people and the other judge share no query")
    if len(kept) < FEWEST:
        raise UsageError(
            f"people and the other judge share {counted(len(kept), 'query', 'queries')}; "
            f"expected at least {FEWEST}, below which no interval can be trusted"
        )
    if len(kept) == len(number):
        raise UsageError(
            f"people judged all {len(number)} queries, so there is nothing to estimate; expected "
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
        queries=len(number),
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
    has_value = column.known
    return np.column_stack([np.where(has_value[:, np.newaxis], column.statistics, 0.0), has_value])


def _sampling(
    metrics: Sequence[Metric],
    other: Sequence[Scores],
    judged: BoolArray,
    correction: CorrectionName,
) -> list[Sampling]:
    """Compare the judged queries with the others, by the other judge's values."""
    from scipy.stats import ttest_ind

    samplings = []
    for metric in metrics:
        with np.errstate(invalid="ignore"):
            values = np.mean([run[metric.name].per_query for run in other], axis=0)
        has_value = np.isfinite(values)
        groups = values[judged & has_value], values[~judged & has_value]
        if min(map(len, groups)) > 1 and np.ptp(values[has_value]) > 0:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # scipy warns about nearly equal values
                p = float(ttest_ind(*groups, equal_var=False).pvalue)
            in_sample, in_rest = (float(group.mean()) for group in groups)
            samplings.append(Sampling(metric, in_sample, in_rest, p))
    p_of = corrected(np.array([sampling.p for sampling in samplings]), correction)
    return [replace(sampling, p=float(p)) for sampling, p in zip(samplings, p_of, strict=True)]


_FEW = 30  # with fewer queries, intervals assume values that are not very skewed


def correction_answer(correction: Correction) -> Answer:
    """Put a correction into words."""
    differences = correction.of == "differences"
    columns = [
        Column("measure"),
        Column("run"),
        Column("other", "decimal", signed=differences, digits=3, role="detail"),
        Column("people", "decimal", signed=differences, digits=3),
        Column("corrected", "decimal", signed=differences, digits=3),
        Column("believed", "decimal", digits=2, role="detail"),
        Column("worth", "decimal", digits=0),
        Column("p", "decimal", role="detail"),
        Column("p_corrected", "decimal"),
    ]
    selection = slice(None if differences else -2)
    rows = []
    for entry in correction.corrected:
        result, style = entry.result, entry.metric.measure.style
        cells = [
            *map(Cell, (entry.metric.name, entry.run)),
            Cell(result.other, style=style),
            Cell(result.human, finite(result.human_interval), style=style),
            Cell(result.estimate, finite(result.interval), style=style),
            *map(Cell, (result.tuning, result.worth, result.p, entry.p_corrected)),
        ]
        rows.append(cells[selection])
    table = Table(
        columns[selection],
        rows,
        list(_correction_notes(correction)),
        explanation=list(_computed(correction)),
    )
    return Answer(
        "compare" if differences else "eval",
        table,
        [_verdict(correction)],
        _correction_findings(correction),
        1,
    )


def _correction_notes(correction: Correction) -> Iterator[str]:
    judged = correction.judged
    yield f"Assumed: the {judged} queries are a random sample of all{_sampled(correction)}"
    rare = dict.fromkeys(entry.metric.name for entry in correction.corrected if entry.rare)
    if rare:
        yield (
            f"{', '.join(rare)}: few judged queries have the rarer of two values, "
            "which makes the interval too narrow"
        )
    for metric, reason in correction.refused:
        yield f"{metric.name}: left out, {reason}"
    if judged < _FEW:
        yield f"{judged} queries are few: very skewed values need more for these intervals"
    if correction.left_out:
        left = counted(correction.left_out, "query", "queries")
        yield f"{left} judged by {correction.judges[0]} alone left out"


def _computed(correction: Correction) -> Iterator[str]:
    people, other = correction.judges
    what = f"difference from {correction.runs[0]}" if correction.of == "differences" else "value"
    yield (
        f"other: the {what} by {other} over {counted(correction.queries, 'query', 'queries')}; "
        f"people: by {people} over the {correction.judged} of them that they judged; corrected: "
        "what they would say over all of them (PPI++)"
    )
    yield (
        f"[low, high]: {correction.level * 100:.12g} % interval by Student's t; believed: how far "
        f"{other} is followed, 0 to 1; worth: judged queries that would give people alone that "
        "interval"
    )
    if correction.of == "differences":
        yield _worth(correction)


def _sampled(correction: Correction) -> str:
    """State whether the judged queries look like a random sample, by the most doubtful metric."""
    if not correction.sampling:
        return ""
    worst = min(correction.sampling, key=lambda sampling: sampling.p)
    style = worst.metric.measure.style
    judged, rest = (rounded(value, style) for value in (worst.judged, worst.rest))
    verdict = "they do not look like one" if worst.doubtful else "nothing speaks against it"
    return (
        f"; {verdict}: the other judge gives them {worst.metric.name} {judged}, "
        f"the others {rest} (p = {worst.p:.2g})"
    )


def correction_doubt(correction: Correction) -> str:
    """Warn if the judged queries do not look like a random sample; empty if they do."""
    doubtful = [sampling.metric.name for sampling in correction.sampling if sampling.doubtful]
    if not doubtful:
        return ""
    return (
        "the queries that people judged do not look like a random sample: the other judge's "
        f"{listed([name.encode() for name in doubtful])} differs on them; what is corrected by "
        "them may be wrong"
    )


_NAMED = 3  # runs in a verdict


def _verdict(correction: Correction) -> str:
    entries = [entry for entry in correction.corrected if finite(entry.result.interval)]
    if not entries:
        return "Nothing can be corrected: no value varies among the queries that people judged."
    if correction.of == "differences":
        return _about_differences(correction, entries)
    return f"{_about_values(correction, entries)} {_worth(correction)}"


def _worth(correction: Correction) -> str:
    """Say how many queries of people alone the other judge is worth."""
    people, other = correction.judges
    worth = [e.result.worth for e in correction.corrected if finite(e.result.interval)] or [0.0]
    least, most = min(worth), max(worth)
    span = f"{least:.0f}" if most - least < 1 else f"{least:.0f} to {most:.0f}"
    queries = f"the {correction.judged} queries of {people}"
    if most / correction.judged - 1 < 0.05:
        return f"{other} adds little to {queries}."
    return f"{other} makes {queries} worth {span}."


def _about_values(correction: Correction, entries: Sequence[CorrectedMetric]) -> str:
    """Say what people would give to the best runs by the first measure."""
    metric = entries[0].metric
    of_metric = [entry for entry in entries if entry.metric is metric]
    of_metric.sort(key=lambda entry: -metric.measure.sign * entry.result.estimate)
    values = ", ".join(f"{entry.run} {_estimated(entry, 'plain')}" for entry in of_metric[:_NAMED])
    more = len(of_metric) - _NAMED
    others = f"; {counted(more, 'more run')} below" if more > 0 else ""
    queries = counted(correction.queries, "query", "queries")
    return f"Over all {queries}, people would give {metric.name}: {values}{others}."


def _about_differences(correction: Correction, entries: Sequence[CorrectedMetric]) -> str:
    """Say which runs people would find better or worse than the first, as `compare` decides."""
    baseline, limit = correction.runs[0], round(1 - correction.level, 12)
    by_claim: dict[str, list[CorrectedMetric]] = {}
    for entry in entries:
        better = entry.metric.measure.sign * entry.result.estimate > 0
        claim = "better than" if better else "worse than"
        if entry.p_corrected >= limit:
            claim = "not shown to differ from"
        by_claim.setdefault(claim, []).append(entry)
    claims = []
    for claim in sorted(by_claim):
        first, *more = by_claim[claim]
        others = f" and {counted(len(more), 'more difference')}" if more else ""
        claims.append(
            f"{first.run} is {claim} {baseline} by {first.metric.name} "
            f"({_estimated(first, 'signed')}, p = {first.p_corrected:.2g}){others}"
        )
    return f"By people, over all queries, {'; '.join(claims)}."


def _estimated(entry: CorrectedMetric, sign: Literal["plain", "signed"]) -> str:
    estimate, low, high = (
        rounded(value, entry.metric.measure.style, 3, signed=sign == "signed")
        for value in (entry.result.estimate, *entry.result.interval)
    )
    return f"{estimate} [{low}, {high}]"


def _correction_findings(correction: Correction) -> dict[str, Any]:
    differences = correction.of == "differences"
    fields = ("other", "human", "human_interval", "estimate", "interval", "standard_error", "worth")
    entries = [
        {
            "measure": entry.metric.name,
            "run": entry.run,
            **{name: getattr(entry.result, name) for name in fields},
            "believed": entry.result.tuning,
            **({"p": entry.result.p, "p_corrected": entry.p_corrected} if differences else {}),
        }
        for entry in correction.corrected
    ]
    return {
        "human": correction.judges[0],
        "other": correction.judges[1],
        "baseline": correction.runs[0] if differences else None,
        "judged": correction.judged,
        "queries": correction.queries,
        "left_out": correction.left_out,
        "level": correction.level,
        "corrected": entries,
        "random_sample": [
            {"measure": s.metric.name, "judged": s.judged, "rest": s.rest, "p": s.p}
            for s in correction.sampling
        ],
        "refused": [{"measure": metric.name, "reason": why} for metric, why in correction.refused],
    }
