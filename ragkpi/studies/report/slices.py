"""The parts of a page for a set of queries: all queries, or a slice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ragkpi.charts.chart import Axis, Chart, Line, PlaneChart, chart_object
from ragkpi.measures.chance import corpus_size
from ragkpi.measures.scores import score
from ragkpi.ranking.judged import IntArray
from ragkpi.ranking.judgements import Judgements
from ragkpi.records import NamedTuple, replace
from ragkpi.reports.answer import Answer
from ragkpi.reports.layout import Layout
from ragkpi.reports.signature import Signature
from ragkpi.statistics.bootstrap import intervals
from ragkpi.statistics.paired import Procedure, compare_each
from ragkpi.statistics.query_slices import query_slices
from ragkpi.studies.compare.comparison_report import ComparisonReport
from ragkpi.studies.depth.depth_answer import depth_answer
from ragkpi.studies.depth.depth_charts import depth_charts
from ragkpi.studies.depth.depth_curves import Curve, Curves
from ragkpi.studies.depth.depth_limits import Limits
from ragkpi.studies.depth.depth_study import DEPTHS, run_values, study_run
from ragkpi.studies.depth.depth_trace import trace
from ragkpi.studies.diagnose.diagnosis_answer import diagnosis_answer, diagnosis_chart
from ragkpi.studies.diagnose.diagnosis_study import Diagnosis, Thresholds, diagnose
from ragkpi.studies.evaluate.evaluation_report import (
    EvaluatedRun,
    interval_notes,
    run_object,
)
from ragkpi.studies.report.report_runs import CUTOFF, ReportedRun, judged_share
from ragkpi.wording import decoded

MOST_RUNS = 10  # so many runs have depth and diagnosis on the page
MOST_SLICES = 30
_MOST_QUERIES = 20  # in the table of diagnose
_MOST_MISSED = 3


class Slice(NamedTuple):
    """A set of queries, by number, and its name."""

    name: str
    queries: IntArray


def largest_slices(
    queries: Sequence[bytes], labels: Mapping[str, Mapping[bytes, str]]
) -> tuple[list[Slice], int]:
    """Return all queries and the largest slices, and how many slices are left out."""
    slices = [
        Slice(f"{part.by}: {part.label}", part.rows(queries))
        for part in (query_slices(labels, queries) if labels else ())
    ]
    slices.sort(key=lambda part: (-len(part.queries), part.name))
    everything = Slice("all queries", np.arange(len(queries)))
    return [everything, *slices[:MOST_SLICES]], max(0, len(slices) - MOST_SLICES)


def slice_object(
    part: Slice,
    runs: Sequence[ReportedRun],
    judgements: Judgements,
    procedure: Procedure,
    signature: Signature | None,
) -> dict[str, Any]:
    """Collect the parts of a slice, valid under ``schema.json#/$defs/report_slice``."""
    some = [run.over(part.queries) for run in runs]
    answers: dict[str, Any] = {
        "name": part.name,
        "queries": part.queries.tolist(),
        "runs": _evaluated(some, procedure, signature),
        "intervals": interval_notes(procedure.bootstrap, [run.scores for run in some]),
        "judged": [judged_share(run) for run in some],
        "comparisons": _comparisons(some, procedure),
        "depth": _depth(some[:MOST_RUNS]),
    }
    if some[0].judged.pool is not None:
        answers["diagnoses"] = [_diagnosis(run, judgements) for run in some[:MOST_RUNS]]
    return answers


def _evaluated(
    runs: Sequence[ReportedRun], procedure: Procedure, signature: Signature | None
) -> list[dict[str, Any]]:
    bootstrap = procedure.bootstrap
    return [
        run_object(
            EvaluatedRun(run.name, run.scores, intervals(run.scores, bootstrap), signature),
            bootstrap,
            Layout(),
        )
        for run in runs
    ]


def _comparisons(runs: Sequence[ReportedRun], procedure: Procedure) -> list[dict[str, Any]]:
    """Compare every run with every other, with each run as the baseline once."""
    tested = any(metric.is_comparable for metric in runs[0].scores.metrics)
    if len(runs) < 2 or not tested:
        return []
    names, scores = [run.name for run in runs], [run.scores for run in runs]
    return [
        ComparisonReport(compared).document(Layout())["comparison"]
        for compared in compare_each(names, scores, procedure, range(len(runs)))
    ]


def _depth(runs: Sequence[ReportedRun]) -> dict[str, Any]:
    deepest = max(int(run.judged.num_ret.max(initial=1)) for run in runs)
    deepest = min(deepest, *(int(corpus_size(run.judged).min()) for run in runs))
    depths = [depth for depth in DEPTHS if depth <= max(deepest, 1)]
    limits = Limits()
    curves = [
        Curve(
            run.name,
            score(run.judged, run_values(depths, limits.m)),
            study_run(run.judged, depths, limits),
        )
        for run in runs
    ]
    studied = Curves(curves, depths, limits)
    drawn = np.union1d(depths, studied.chosen).astype(np.int64)  # few, to keep the page small
    traces = [trace(run.judged, drawn, limits.m) for run in runs]
    recall = _by_depth(studied, "recall", "recall")
    evidence = _by_depth(studied, "ra_nwg", "RA-nWG")
    return _answer(depth_answer(studied, None), [*depth_charts(studied, traces), recall, evidence])


def _by_depth(curves: Curves, measure: str, label: str) -> Chart:
    """Draw a measure between 0 and 1 by depth, a line per run."""
    depths = curves.depths
    lines = []
    for curve in curves.curves:
        values = [curve.value(measure, depth) for depth in depths]
        lines.append(Line(curve.name, depths, [float("nan") if v is None else v for v in values]))
    return PlaneChart(
        f"{label} by depth",
        Axis("K, documents retrieved", "log", ticks=depths),
        Axis(label, low=0, high=1),
        lines,
    )


def _diagnosis(run: ReportedRun, judgements: Judgements) -> dict[str, Any]:
    diagnosis = diagnose(run.judged, judgements, CUTOFF, Thresholds())
    if run.best is not None:
        best = diagnose(run.best.judged, run.best.judgements, CUTOFF, Thresholds())
        diagnosis = replace(diagnosis, best_case=best.mean_shares)
    answer = diagnosis_answer(diagnosis, judgements.document, _MOST_QUERIES, _MOST_MISSED)
    return {"run": run.name, **_answer(answer, [_labelled(diagnosis)])}


def _labelled(diagnosis: Diagnosis) -> PlaneChart:
    """Label the points of the quadrants, so that a click on a point opens its query."""
    chart = diagnosis_chart(diagnosis)
    groups = []
    for points in chart.points:
        drawn = (np.array(diagnosis.verdicts) == points.name) & ~np.isnan(diagnosis.pct_proc)
        names = [
            decoded(query) for query, kept in zip(diagnosis.queries, drawn, strict=True) if kept
        ]
        groups.append(replace(points, labels=names if len(names) == len(points.x) else ()))
    return replace(chart, points=groups)


def _answer(answer: Answer, charts: Sequence[Chart]) -> dict[str, Any]:
    return {
        "answer": answer.document(Layout()),
        "charts": [chart_object(chart) for chart in charts],
    }
