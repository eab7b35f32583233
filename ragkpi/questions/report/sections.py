"""What other questions say of the runs, over all queries and over slices of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ragkpi.arrays import IntArray
from ragkpi.bounds.bounds import HoleBounds, find_bounds
from ragkpi.charts.chart import Axis, Chart, Line, PlaneChart, chart_object
from ragkpi.files.query_files import QueryLabels
from ragkpi.library.call import Evaluations
from ragkpi.library.evaluation_report import interval_notes
from ragkpi.library.slices import query_slices
from ragkpi.measures.chance import corpus_size
from ragkpi.measures.measure import Metric, score
from ragkpi.questions.depth.answer import depth_answer, depth_charts
from ragkpi.questions.depth.resampling import decide_depth
from ragkpi.questions.depth.study import Curve, Curves, Limits, run_values, usual_depths, values_of
from ragkpi.questions.diagnose.answer import diagnosis_answer, diagnosis_chart
from ragkpi.questions.diagnose.study import Thresholds, diagnose
from ragkpi.questions.holes.answer import holes_answer, holes_charts
from ragkpi.questions.holes.assessment import candidates
from ragkpi.questions.report.runs import CUTOFF, ReportedRun, only
from ragkpi.questions.report.standings import Decision, standing_object
from ragkpi.ranking.judged import Judged
from ragkpi.ranking.judgements import Judgements
from ragkpi.reports.layout import Answer, Layout
from ragkpi.statistics.bootstrap import UNKNOWN, intervals
from ragkpi.statistics.paired import Difference, Procedure, compare_each
from ragkpi.wording import decoded

MOST_SLICES = 30
_MOST_QUERIES = 20  # most queries in the table of diagnose
_MOST_MISSED = 3
_FIRST_TO_JUDGE = 10
_MOST_HOLES = 3_000  # with more, the page names no documents to judge first


def largest_slices(
    queries: Sequence[bytes], labels: QueryLabels
) -> tuple[list[tuple[str, IntArray]], int]:
    """Return all queries and the largest slices, and the number of slices left out."""
    slices = [
        (f"{part.by}: {part.label}", part.rows(queries))
        for part in (query_slices(labels, queries) if labels else ())
    ]
    slices.sort(key=lambda part: (-len(part[1]), part[0]))
    everything = "all queries", np.arange(len(queries))
    return [everything, *slices[:MOST_SLICES]], max(0, len(slices) - MOST_SLICES)


def section_object(
    runs: Sequence[ReportedRun],
    metrics: Sequence[Metric],
    evaluated: Evaluations | None,
    procedure: Procedure,
    name: str,
    queries: IntArray,
    leaders: Sequence[int],
    decided: Mapping[str, Decision],
) -> dict[str, Any]:
    """Collect what a slice of the queries has, valid under ``schema.json#/$defs/report_slice``.

    Pairs are those of `leaders` with every run. What needs grades is left out where levels have
    none, and what needs documents where nothing was `evaluated`, as of stored results.
    """
    runs, bootstrap = [run.over(queries) for run in runs], procedure.bootstrap
    bounds = [intervals(run.scores, bootstrap) for run in runs]
    differences = _differences(runs, metrics, procedure, leaders)
    parts: dict[str, Any] = {
        "name": name,
        "queries": queries.tolist(),
        "intervals": interval_notes(bootstrap, [run.scores for run in runs]),
        "standings": {
            metric.name: standing_object(
                runs,
                metric,
                [of_run.get(metric.name, UNKNOWN) for of_run in bounds],
                differences.get(metric.name, {}),
                decided.get(metric.name),
                procedure.limit,
            )
            for metric in metrics
            if metric.measure.numeric and metric.is_printed("summary")
        },
        "depths": [],
    }
    if evaluated:
        evaluator, judgements = evaluated.evaluator, evaluated.judgements
        graded = not evaluator.lacking_grade
        first = [(runs[leader], runs[leader].judged) for leader in leaders]
        parts["depths"] = [_depth(run, judged, graded) for run, judged in first if judged]
        if evaluator.pool is not None and graded:
            parts["diagnoses"] = [
                _diagnosis(run, judged, judgements) for run, judged in first if judged
            ]
    return parts


def _differences(
    runs: Sequence[ReportedRun],
    metrics: Sequence[Metric],
    procedure: Procedure,
    baselines: Sequence[int],
) -> dict[str, dict[int, list[Difference]]]:
    """Compare every run with some of the runs, by metric and baseline."""
    compared = [metric for metric in metrics if metric.is_comparable]
    if len(runs) < 2 or not compared:
        return {}
    names, scores = [run.name for run in runs], [only(run.scores, compared) for run in runs]
    differences: dict[str, dict[int, list[Difference]]] = {}
    comparisons = compare_each(names, scores, procedure, baselines)
    for baseline, comparison in zip(baselines, comparisons, strict=True):
        for of_metric in comparison.by_metric:
            differences.setdefault(of_metric[0].metric.name, {})[baseline] = of_metric
    return differences


def _depth(run: ReportedRun, judged: Judged, graded: bool) -> dict[str, Any]:
    judged = replace(judged)  # what measures share at many depths is forgotten with it
    deepest = min(int(judged.num_ret.max(initial=1)), int(corpus_size(judged).min()))
    depths, limits = usual_depths(max(deepest, 1)), Limits()
    study = decide_depth(judged, depths, limits)
    depths = sorted({*depths, *study.named_depths})
    metrics = [m for m in run_values(depths, limits.needed) if graded or not m.is_graded]
    values = values_of(score(judged, [metric]).columns[0] for metric in metrics)
    studied = Curves([Curve(run.label, values, study)], depths, limits)
    by_depth = [_by_depth(studied, "recall", "recall")]
    if graded:
        by_depth.append(_by_depth(studied, "ra_nwg", "RA-nWG"))
    charts = [*depth_charts(studied), *by_depth]
    return {"run": run.name, **_section(depth_answer(studied), charts)}


def _by_depth(curves: Curves, measure: str, label: str) -> Chart:
    """Draw a measure between 0 and 1 by depth, a line per run."""
    depths = curves.depths
    lines = [Line(curve.name, depths, curve.values(measure, depths)) for curve in curves.curves]
    return PlaneChart(
        f"{label} by depth",
        Axis("K, documents retrieved", "log", ticks=depths),
        Axis(label, low=0, high=1),
        lines,
    )


def _diagnosis(run: ReportedRun, judged: Judged, judgements: Judgements) -> dict[str, Any]:
    diagnosis = diagnose(judged, judgements, CUTOFF, Thresholds(), run.best)
    answer = diagnosis_answer(diagnosis, judgements.document, _MOST_QUERIES, _MOST_MISSED)
    return {"run": run.name, **_section(answer, [diagnosis_chart(diagnosis, points="labelled")])}


def bounds_of(
    evaluated: Evaluations, metrics: Sequence[Metric], leaders: Sequence[int]
) -> HoleBounds:
    """Return what unjudged documents could change of some runs."""
    evaluations = list(evaluated)
    some = [
        replace(evaluations[leader], scores=only(evaluations[leader].scores, metrics))
        for leader in leaders
    ]
    hits = [evaluated.hits[leader] for leader in leaders]
    return find_bounds(evaluated.judgements, hits, some, evaluated.call.settings)


def holes_object(bounds: HoleBounds, labels: Sequence[str]) -> dict[str, Any]:
    """Return the answer and the charts of `ragkpi holes` on runs with these labels."""
    few = len(bounds.holes.query) <= _MOST_HOLES
    to_judge = candidates(bounds) if few else []
    answer = holes_answer(bounds, labels, to_judge, _FIRST_TO_JUDGE, "hidden")
    return _section(answer, holes_charts(bounds, labels))


def _section(answer: Answer, charts: Sequence[Chart]) -> dict[str, Any]:
    """Return an answer's sentences, the texts of its table, and charts."""
    return {
        "verdict": list(answer.verdict),
        "notes": list(answer.notes),
        "explanation": answer.explained,
        "numeric": [column.name for column in answer.columns if column.numeric],
        "rows": [
            {
                column.name: decoded(cell.value)  # an id, whose query the page links to
                if isinstance(cell.value, bytes)
                else column.text(cell, Layout())
                for column, cell in zip(answer.columns, row, strict=True)
            }
            for row in answer.rows
        ],
        "charts": [chart_object(chart) for chart in charts],
    }
