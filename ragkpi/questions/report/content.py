"""The data of a page as one JSON object: measures, values, slices, documents and texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ragkpi.arrays import IntArray
from ragkpi.bounds.bounds import find_bounds
from ragkpi.charts.chart import Axis, Chart, Line, PlaneChart, chart_object
from ragkpi.errors import UsageError
from ragkpi.evaluation import RunOrPath
from ragkpi.files.query_files import QueryLabels, Text
from ragkpi.library.doubts import deciding, judging_of, names_needed
from ragkpi.library.ground import Signature
from ragkpi.library.interval_notes import interval_notes
from ragkpi.library.session import Evaluations, Session
from ragkpi.library.slices import slices_of
from ragkpi.measures.chance import corpus_size
from ragkpi.measures.measure import Metric, score
from ragkpi.measures.registry import find_metrics, refuse_unserved
from ragkpi.questions.depth.answer import depth_answer, depth_charts
from ragkpi.questions.depth.study import (
    Curve,
    Curves,
    Limits,
    decide_depth,
    run_values,
    usual_depths,
    values_of,
)
from ragkpi.questions.diagnose.answer import diagnose, diagnosis_answer, diagnosis_chart
from ragkpi.questions.holes.answer import holes_answer, holes_charts
from ragkpi.questions.report.documents import (
    DEPTH,
    TextSource,
    page_texts,
    query_details,
    telling_queries,
)
from ragkpi.questions.report.standings import (
    CUTOFF,
    Decision,
    ReportedRun,
    advice,
    best_first,
    decide,
    more_queries,
    only,
    standing_object,
)
from ragkpi.ranking.judged import Judged
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.reading import DEEPEST
from ragkpi.reports.layout import Answer, Layout
from ragkpi.statistics.bootstrap import UNKNOWN
from ragkpi.statistics.paired import Difference, Procedure, compare_each
from ragkpi.statistics.replicates import intervals_of
from ragkpi.version import __version__
from ragkpi.wording import HIDDEN, as_json, counted, decoded, rounded

MOST_SLICES = 30
_MOST_QUERIES = 20  # maximum queries in the table of diagnose
_MOST_MISSED = 3
_MOST_CELLS = 5_000  # maximum queries times runs for using all holes
_TITLED = 3  # maximum runs in a title
_LEADERS = 10  # best runs with depth, diagnosis, holes and pairs


def default_measures(session: Session) -> list[str]:
    """Name the default measures of a page."""
    measures = ["ndcg_cut.10", "P.10", "recall.10", "recip_rank"]
    if session.pool is not None:
        measures += [f"ra_nwg.{CUTOFF}", f"pct_proc.{CUTOFF}"]
    if session.settings.corpus_size is not None or session.settings.corpus_sizes:
        measures.append(f"bor.{CUTOFF}")
    return measures


def main_first(metrics: Sequence[Metric], request: str = "") -> list[Metric]:
    """Put the main metric first: the requested one if it is a number, else the first number.

    `UsageError` for metrics without a page.
    """
    numeric = [m for m in metrics if m.measure.numeric and m.is_printed("summary")]
    if not numeric:
        raise UsageError("a report needs a numeric measure; give one with -m")
    names = {metric.name for metric in find_metrics([request])} if request else set()
    main = next((metric for metric in numeric if metric.name in names), numeric[0])
    return [main, *(metric for metric in metrics if metric is not main)]


def evaluated_for_page(
    session: Session, runs: Mapping[str, RunOrPath]
) -> tuple[Evaluations, list[Metric]]:
    """Evaluate runs for all parts of a page, with names of documents, and return its metrics.

    `UsageError` for metrics without a page.
    """
    metrics = session.metrics(default_measures(session))
    refuse_unserved(metrics, session.rel_info, session.settings)
    lacking = session.lacking_grade
    if lacking and not session.requests:
        metrics = [metric for metric in metrics if not metric.is_graded]
    main_first(metrics)
    session.judgements.refuse_gains("a report shows levels")
    more = [f"bor.{CUTOFF}"]
    if session.pool is not None:
        more += [f"pool_miss.{CUTOFF}", *([] if lacking else [f"pct_proc.{CUTOFF}"])]
    names = {metric.name for metric in metrics}
    needed = [*metrics, *(metric for metric in find_metrics(more) if metric.name not in names)]
    depth = max(DEPTH, names_needed(metrics, session.settings))
    if _is_small(session, len(runs)) or session.settings.unjudged == "removed":
        depth = DEEPEST
    evaluated = session.evaluate(runs, needed, depth)
    if lacking:
        what = "RA-nWG" if session.pool is None else "RA-nWG, PROC and the diagnosis"
        session.note(f"without {what}: {lacking}")
    return evaluated, metrics


def _is_small(session: Session, runs: int) -> bool:
    return len(session.judgements.queries) * runs <= _MOST_CELLS


def report_document(
    session: Session,
    evaluated: Evaluations | None,
    of_systems: Evaluations | None,
    files: Sequence[str],
    runs: Sequence[ReportedRun],
    metrics: Sequence[Metric],
    procedure: Procedure,
    signature: Signature,
    texts: tuple[TextSource, TextSource],
    labels: QueryLabels,
    detail_queries: int,
) -> dict[str, Any]:
    """Collect the data of a page, valid under ``schema.json#/$defs/report``.

    `evaluated` comes from `evaluated_for_page`; it is None for saved results and for systems, whose
    judged shares `of_systems` has. `files` are the files of the runs, `texts` the texts of queries
    and documents.
    """
    ordered, queries = main_first(metrics, *session.requests[:1]), runs[0].scores.queries
    numeric = [metric for metric in ordered if metric.measure.numeric]
    read, compared = evaluated or of_systems, deciding(ordered)
    judging = judging_of(read, compared) if read else None
    decision = decide(runs, compared, procedure, judging)
    leaders = best_first(runs, ordered[0], decision)[:_LEADERS]
    section = partial(section_object, runs, ordered, evaluated, procedure)
    slices = [section("all queries", np.arange(len(queries)), leaders, decision)]
    by_label = slices_of(labels, queries) if labels else []
    parts = [(f"{part.by}: {part.label}", part.rows(queries)) for part in by_label]
    parts.sort(key=lambda part: (-len(part[1]), part[0]))
    slices += [section(*part, leaders[:2], None) for part in parts[:MOST_SLICES]]

    details, bounds, notes = [], None, []
    if evaluated:
        every = list(evaluated.values())
        chosen = telling_queries(runs, ordered[0], detail_queries)
        details = query_details(session, runs, [run.hits for run in every], chosen)
        notes = evaluated.missing_notes()
        if _is_small(session, len(runs)):
            some = [replace(every[of], scores=only(every[of].scores, metrics)) for of in leaders]
            bounds = find_bounds(session.judgements, some, session.settings)
    of_queries, of_documents = page_texts(details, set(queries), *texts, files)
    notes += session.notes
    if (left_out := len(parts) - MOST_SLICES) > 0:
        notes.append(f"the {MOST_SLICES} largest groups are shown; {left_out} are left out")
    if evaluated and len(details) < len(queries):
        notes.append(
            f"documents are shown for {counted(len(details), 'query', 'queries')} of "
            f"{len(queries):,}, those on which the runs differ most (see --detail-queries)"
        )
    if evaluated and not bounds:
        notes.append("for the effect of unjudged documents, run ragkpi holes QRELS RUN...")
    if evaluated is None:
        notes.append(
            "scores, saved results and systems of several seeds have no documents: depth, "
            "diagnosis, unjudged documents and rankings are only in a report of the runs"
        )
    if len(runs) > _LEADERS:
        notes.append(
            f"depth, diagnosis, unjudged documents and pairs are shown for the best {_LEADERS} of "
            f"{len(runs)} runs"
        )
    names = [run.label for run in runs]
    document = {
        "ragkpi": __version__,
        "kind": "report",
        "title": ", ".join(names) if len(runs) <= _TITLED else "Retrieval report",
        "notes": list(dict.fromkeys(notes)),
        "measures": [
            {"name": m.name, "better": m.measure.better, "definition": m.measure.help}
            for m in numeric
        ],
        "explanation": [
            *(decision.explanation if decision else ()),
            f"judged: the share of judged documents in the top {CUTOFF} of the queries",
            f"Signature: {signature.long()}",
        ],
        "pool": evaluated is not None and session.pool is not None,
        "relevance_level": max(session.settings.relevance_level, 1),
        "cutoff": CUTOFF,
        "hidden": HIDDEN,
        "runs": [run.name for run in runs],
        "names": names,
        "advice": advice(slices[0], ordered[0], more_queries(runs, decision, procedure), bounds),
        "queries": [decoded(query) for query in queries],
        "query_texts": [
            _text(of_queries[query]) if query in of_queries else None for query in queries
        ],
        "per_query": {m.name: _per_query(runs, m) for m in numeric if m.is_printed("query")},
        "slices": slices,
        "details": [
            {**detail, "documents": [*map(decoded, detail["documents"])]} for detail in details
        ],
        "texts": {decoded(name): _text(text) for name, text in sorted(of_documents.items())},
    }
    if bounds:
        of_leaders = [names[leader] for leader in leaders]
        answer = holes_answer(bounds, of_leaders, [], 0, "hidden")
        document["holes"] = _section(answer, holes_charts(bounds, of_leaders))
    return document


def _per_query(runs: Sequence[ReportedRun], metric: Metric) -> dict[str, list[Any]]:
    """Return the distinct values of a measure with their texts, and each query's index in them.

    They include the mean and the spread of the runs' finite values.
    """
    values = np.array([run.scores[metric.name].per_query for run in runs], dtype=np.float64)
    finite = np.ma.masked_invalid(values)
    mean, spread = (of.filled(np.nan) for of in (finite.mean(axis=0), np.ma.ptp(finite, axis=0)))
    distinct, places = np.unique(np.vstack([values, mean, spread]), return_inverse=True)
    numbers, style = distinct.tolist(), metric.measure.style
    *columns, mean, spread = places.reshape(len(runs) + 2, -1).tolist()
    return {
        "numbers": [as_json(number, style) for number in numbers],
        "texts": [rounded(number, style) for number in numbers],
        "runs": columns,
        "mean": mean,
        "spread": spread,
    }


def _text(text: Text) -> list[Any]:
    return [decoded(text[0]), text[1]]


def section_object(
    runs: Sequence[ReportedRun],
    metrics: Sequence[Metric],
    evaluated: Evaluations | None,
    procedure: Procedure,
    name: str,
    queries: IntArray,
    leaders: Sequence[int],
    decision: Decision | None,
) -> dict[str, Any]:
    """Collect the sections of a slice of queries, valid under ``schema.json#/$defs/report_slice``.

    Pairs are those of `leaders` with every run. Sections with grades are left out if levels have
    none, and sections with documents if nothing was `evaluated`, as for saved results.
    """
    runs, bootstrap = [run.over(queries) for run in runs], procedure.bootstrap
    bounds = [intervals_of(run.scores, bootstrap) for run in runs]
    differences: dict[str, dict[int, list[Difference]]] = {metric.name: {} for metric in metrics}
    compared = [metric for metric in metrics if metric.is_comparable]
    if len(runs) > 1 and compared:
        names, scores = [run.name for run in runs], [only(run.scores, compared) for run in runs]
        comparisons = compare_each(names, scores, procedure, leaders)
        for baseline, comparison in zip(leaders, comparisons, strict=True):
            for of_metric in comparison.by_metric:
                differences[of_metric[0].metric.name][baseline] = of_metric
    parts: dict[str, Any] = {
        "name": name,
        "queries": queries.tolist(),
        "intervals": interval_notes(bootstrap, [run.scores for run in runs]),
        "standings": {
            metric.name: standing_object(
                runs,
                metric,
                [of_run.get(metric.name, UNKNOWN) for of_run in bounds],
                differences[metric.name],
                decision if decision and decision.metric is metric else None,
                procedure.limit,
            )
            for metric in metrics
            if metric.measure.numeric and metric.is_printed("summary")
        },
        "depths": [],
    }
    if evaluated:
        session, judgements = evaluated.session, evaluated.session.judgements
        graded = not session.lacking_grade
        first = [(runs[leader], runs[leader].judged) for leader in leaders]
        parts["depths"] = [_depth(run, judged, graded) for run, judged in first if judged]
        if session.pool is not None and graded:
            parts["diagnoses"] = [
                _diagnosis(run, judged, judgements) for run, judged in first if judged
            ]
    return parts


def _depth(run: ReportedRun, judged: Judged, graded: bool) -> dict[str, Any]:
    judged = replace(judged)  # frees the shared results of measures at many depths
    deepest = min(int(judged.num_ret.max(initial=1)), int(corpus_size(judged).min()))
    depths, limits = usual_depths(max(deepest, 1)), Limits()
    study = decide_depth(judged, depths, limits)
    depths = sorted({*depths, *study.named_depths})
    metrics = [m for m in run_values(depths, limits.needed) if graded or not m.is_graded]
    values = values_of(score(judged, [metric]).columns[0] for metric in metrics)
    curve = Curve(run.label, values, study)
    studied = Curves([curve], depths, limits)
    by_depth = [
        PlaneChart(
            f"{label} by depth",
            Axis("K, documents retrieved", "log", ticks=depths),
            Axis(label, low=0, high=1),
            [Line(curve.name, depths, curve.values(measure, depths))],
        )
        for measure, label in {"recall": "recall", "ra_nwg": "RA-nWG"}.items()
        if graded or measure == "recall"
    ]
    charts = [*depth_charts(studied), *by_depth]
    answer = depth_answer(studied)
    return {"run": run.name, **_section(answer, charts), **_todo(answer, study.recommended)}


def _diagnosis(run: ReportedRun, judged: Judged, judgements: Judgements) -> dict[str, Any]:
    diagnosis = diagnose(judged, judgements, CUTOFF)
    answer = diagnosis_answer(diagnosis, judgements.document, _MOST_QUERIES, _MOST_MISSED)
    section = _section(answer, [diagnosis_chart(diagnosis, points="labelled")])
    blame = answer.findings["blame"]
    return {"run": run.name, **section, **_todo(answer, blame and blame["decided"])}


def _todo(answer: Answer, decision: object) -> dict[str, str]:
    """Return the first sentence of an answer as advice, if there is a decision."""
    sentence, _, _ = answer.verdict[0].partition(". ")
    return {"todo": sentence.rstrip(".") + "."} if decision else {}


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
