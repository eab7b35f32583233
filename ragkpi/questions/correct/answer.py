"""Estimates of the values of runs if people had judged all queries, and their answer."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ragkpi.arrays import BoolArray, FloatArray
from ragkpi.errors import NothingInCommonError, UsageError
from ragkpi.measures.measure import SUM, Metric, MetricScores, Scores, names_of
from ragkpi.reports.layout import Answer, Cell, Column, filled, finite
from ragkpi.statistics.prediction_powered import About, Corrected, Shape, Value, prediction_powered
from ragkpi.statistics.significance import corrected, correlation_within
from ragkpi.wording import beside, counted, exact_percent, p_text, rounded, with_interval

FEWEST = 10  # queries with both judgements; fewer make intervals too narrow
_FEW = 30  # with fewer queries, intervals assume values that are not very skewed
_NAMED = 3  # runs in a verdict
UNLIKELY = 0.05

Of = Literal["values", "differences"]
# Values are for these queries; differences are for all queries like these.
_ABOUT: Mapping[Of, About] = {"values": "these queries", "differences": "queries like these"}


@dataclass(frozen=True)
class CorrectedMetric:
    """A metric of one run, or its difference from the first run."""

    metric: Metric
    run: str
    result: Corrected
    p_corrected: float = math.nan  # of a difference, corrected for all; NaN for a value


@dataclass(frozen=True)
class Sampling:
    """The difference in the other judge's values between human-judged and other queries."""

    measure: str  # a query's value is the mean over the runs
    judged: float  # the mean over the human-judged queries
    rest: float  # the mean over the other queries
    p: float  # from Student's t test for equal means


@dataclass(frozen=True)
class Correction:
    """Metrics of runs, corrected by human judgements."""

    of: Of  # whether to estimate values, or differences from the first run
    runs: Sequence[str]
    judges: tuple[str, str]  # the names of the human and of the other judgements
    corrected: list[CorrectedMetric]  # by metric, then by run
    refused: list[Metric]  # metrics that are no mean over queries
    judged: int  # number of human-judged queries
    queries: int  # number of all queries of the other judge
    left_out: int  # number of queries with human judgements only
    sampling: Sampling | None  # evidence against a random sample of queries; None without a test
    level: float  # the confidence level of the intervals


def correct(
    runs: Sequence[str],
    judges: tuple[str, str],
    human: Sequence[Scores],
    other: Sequence[Scores],
    of: Of,
    level: float = 0.95,
) -> Correction:
    """Estimate the scores of runs if people had judged all queries.

    `human` and `other` are scores of the same runs and metrics, under human judgements and the
    other judge's (`judges` has both names), each over all of its queries.
    """
    queries = other[0].queries
    both = {*human[0].queries} & {*queries}
    # Both are in byte order, so the rows of one match the kept rows of the other.
    kept = np.flatnonzero([query in both for query in human[0].queries])
    judged = np.array([query in both for query in queries])
    if not len(kept):
        raise NothingInCommonError("the human and the LLM judgements share no query")
    if len(kept) < FEWEST:
        raise UsageError(
            f"the human and the LLM judgements share {counted(len(kept), 'query', 'queries')}; "
            f"expected at least {FEWEST}: with fewer, intervals are unreliable"
        )
    if len(kept) == len(queries):
        raise UsageError(
            f"all {len(queries)} queries have human judgements, so there is nothing to estimate; "
            "add queries that only the LLM judged, or evaluate with the human file as QRELS"
        )
    people = [run.over(kept) for run in human]
    means = [m for m in human[0].metrics if m.is_estimate and m.measure.aggregate is not SUM]
    if not means:
        raise UsageError("no chosen measure is a mean over queries; choose others with -m")
    estimated = [
        estimate
        for metric in means
        for estimate in _estimates(metric, runs, people, other, judged, of, level)
    ]
    if of == "differences":
        p_values = corrected(np.array([one.result.p for one in estimated]), "holm")
        estimated = [
            replace(one, p_corrected=float(p)) for one, p in zip(estimated, p_values, strict=True)
        ]
    return Correction(
        of,
        runs,
        judges,
        estimated,
        refused=[metric for metric in human[0].metrics if metric not in means],
        judged=len(kept),
        queries=len(queries),
        left_out=len(human[0].queries) - len(kept),
        sampling=_sampling(means[0], other, judged),
        level=level,
    )


def _estimates(
    metric: Metric,
    runs: Sequence[str],
    people: Sequence[Scores],
    other: Sequence[Scores],
    judged: BoolArray,
    of: Of,
    level: float,
) -> Iterator[CorrectedMetric]:
    """Estimate a metric of every run, or its difference from the first."""

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
        outcomes = np.isin(np.concatenate([human[:, 0], model[:, 0]]), (0.0, 1.0)).all()
        shape: Shape = "rate" if of == "values" and metric.is_rate and outcomes else "student"
        parts = human, model[judged], model[~judged]
        result = prediction_powered(*parts, estimated, level, _ABOUT[of], shape)
        yield CorrectedMetric(metric, run, result)


def _counted(column: MetricScores) -> FloatArray:
    """Return each query's statistics and a 1, (Q, S + 1); all 0 for NA."""
    has_value = column.has_value
    return np.column_stack([np.where(has_value[:, np.newaxis], column.statistics, 0.0), has_value])


def _sampling(metric: Metric, other: Sequence[Scores], judged: BoolArray) -> Sampling | None:
    """Compare the judged queries with the others, by the other judge's values of a metric."""
    with np.errstate(invalid="ignore"):
        values = np.mean([run[metric.name].per_query for run in other], axis=0)
    has_value = np.isfinite(values)
    values, inside = values[has_value], judged[has_value]
    if not 1 < inside.sum() < len(inside) - 1 or np.ptp(values) == 0:
        return None
    # Parts of one sample have equal variance: for two parts, the F test is Student's.
    p = correlation_within(values, inside.astype(np.int64)).p
    return Sampling(metric.name, float(values[inside].mean()), float(values[~inside].mean()), p)


def correction_answer(correction: Correction) -> Answer:
    """Put a correction into words."""
    differences = correction.of == "differences"
    columns = [
        Column("measure"),
        Column("run"),
        Column("other", "decimal", signed=differences, digits=3, role="detail"),
        Column("people", "decimal", signed=differences, digits=3),
        Column("corrected", "decimal", signed=differences, digits=3),
        Column("lambda", "decimal", digits=2, role="detail"),
        Column("n_effective", "decimal", digits=0),
        Column("p", "probability", role="detail"),
        Column("p_corrected", "probability"),
    ]
    rows = []
    for entry in correction.corrected:
        result, style = entry.result, entry.metric.measure.style
        cells = [
            *map(Cell, (entry.metric.name, entry.run)),
            Cell(result.other, style=style),
            Cell(result.human, finite(result.human_interval), style=style),
            Cell(result.estimate, finite(result.interval), style=style),
            *map(Cell, (result.tuning, result.worth)),
            *map(Cell, (result.p, entry.p_corrected) if differences else (None, None)),
        ]
        rows.append(cells)
    return Answer(
        *filled(columns, rows),
        list(_notes(correction)),
        verdict=[_verdict(correction)],
        explanation=list(_explanation(correction)),
        question="correct",
        findings=_findings(correction),
        heads=1,
    )


def _notes(correction: Correction) -> Iterator[str]:
    judged, sampling, check = correction.judged, correction.sampling, ""
    if sampling is not None:
        no_sample = (
            f"they do not look like one, so corrected values may be wrong: {_evidence(sampling)}"
        )
        no_doubt = f"no evidence against it: {_evidence(sampling)}"
        check = f"; {no_sample if sampling.p < UNLIKELY else no_doubt}"
    yield f"Assumed: the {judged} queries are a random sample of all{check}"
    if correction.refused:
        yield f"{names_of(correction.refused)}: left out, not a mean over queries"
    if judged < _FEW:
        yield f"with {judged} queries, intervals of very skewed values are unreliable"
    tests = sum(not math.isnan(entry.p_corrected) for entry in correction.corrected)
    if tests > 1:
        yield f"intervals are not adjusted for multiple comparisons; p_corrected is ({tests} tests)"
    if correction.left_out:
        left = counted(correction.left_out, "query", "queries")
        yield f"{left} judged by {correction.judges[0]} alone left out"


def _explanation(correction: Correction) -> Iterator[str]:
    people, other = correction.judges
    what, over, student = "value", f"these {correction.queries}", "Student's, mid-p of a rate"
    if correction.of == "differences":
        what, over = f"difference from {correction.runs[0]}", "queries like these"
        student = "Student's"
    yield (
        f"other: the {what} by {other} over {counted(correction.queries, 'query', 'queries')}; "
        f"people: by {people} over the {correction.judged} of them with human judgements; "
        f"corrected: the estimated human value over {over} (PPI++)"
    )
    yield (
        f"[low, high]: {exact_percent(correction.level)} interval for {over}, {student}; lambda: "
        f"the weight of {other}, 0 to 1; n_effective: the number of human-judged queries that "
        "would give this interval without it"
    )


def _evidence(sampling: Sampling) -> str:
    judged, rest = (rounded(value, "decimal") for value in (sampling.judged, sampling.rest))
    return (
        f"the LLM judge scores {sampling.measure} {judged} on them and {rest} on the rest "
        f"({p_text(sampling.p)})"
    )


def _verdict(correction: Correction) -> str:
    entries = [entry for entry in correction.corrected if finite(entry.result.interval)]
    if not entries:
        return "Nothing can be corrected: no value varies among the human-judged queries."
    about = _about_differences if correction.of == "differences" else _about_values
    people, other = correction.judges
    queries = f"the {correction.judged} human-judged queries"
    least, most = (end(entry.result.worth for entry in entries) for end in (min, max))
    worth = f"With {other}, {queries} are as informative as {least:.0f}"
    if most / correction.judged - 1 < 0.05:
        worth = f"{other} adds little to {queries} of {people}"
    elif most - least >= 1:
        worth += f" to {most:.0f}"
    return f"{about(correction, entries)} {worth}."


def _about_values(correction: Correction, entries: Sequence[CorrectedMetric]) -> str:
    """Give the estimated human values of the best runs by the first measure."""
    metric = entries[0].metric
    of_metric = [entry for entry in entries if entry.metric is metric]
    of_metric.sort(key=lambda entry: -metric.measure.sign * entry.result.estimate)
    values = [f"{entry.run} {_estimated(correction, entry)}" for entry in of_metric[:_NAMED]]
    more = len(of_metric) - _NAMED
    others = f"; {counted(more, 'more run')} below" if more > 0 else ""
    return (
        f"Over all {counted(correction.queries, 'query', 'queries')}, human judgements would give "
        f"{metric.name}: {', '.join(values)}{others}."
    )


def _about_differences(correction: Correction, entries: Sequence[CorrectedMetric]) -> str:
    """Say which runs are better or worse than the first by human judgement, as in `compare`."""
    baseline, limit = correction.runs[0], round(1 - correction.level, 12)
    by_claim: dict[str, list[CorrectedMetric]] = {}
    for entry in entries:
        better = entry.metric.measure.sign * entry.result.estimate > 0
        claim = "better than" if better else "worse than"
        if entry.p_corrected >= limit:
            claim = "not significantly different from"
        by_claim.setdefault(claim, []).append(entry)
    claims = []
    for claim in sorted(by_claim):
        first, *more = by_claim[claim]
        p = beside(first.p_corrected, limit, 2, "g")
        others = f" and {counted(len(more), 'more difference')}" if more else ""
        claims.append(
            f"{first.run} is {claim} {baseline} by {first.metric.name} "
            f"({_estimated(correction, first)}, p = {p}){others}"
        )
    return f"Under human judgements, for queries like these, {'; '.join(claims)}."


def _estimated(correction: Correction, entry: CorrectedMetric) -> str:
    result, style = entry.result, entry.metric.measure.style
    signed = correction.of == "differences"
    return with_interval(result.estimate, result.interval, style, 3, signed, 0 if signed else None)


def _findings(correction: Correction) -> dict[str, Any]:
    return {
        "human": correction.judges[0],
        "other": correction.judges[1],
        "baseline": correction.runs[0] if correction.of == "differences" else None,
        "judged": correction.judged,
        "queries": correction.queries,
        "left_out": correction.left_out,
        "level": correction.level,
        "random_sample": correction.sampling,
        "refused": [metric.name for metric in correction.refused],
    }
