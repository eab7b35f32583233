"""The data of a page, as one JSON object that programs can read as well."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np

from ragkpi import __version__
from ragkpi.charts.chart import chart_object
from ragkpi.errors import RagkpiError, UsageError
from ragkpi.evaluation import Evaluation, Evaluator, Run
from ragkpi.formats.texts import Text
from ragkpi.measures.measure import Metric
from ragkpi.measures.registry import find_metrics
from ragkpi.ranking.hits import Hits, Wanted
from ragkpi.ranking.notes import concerning
from ragkpi.ranking.relevance import Qrels
from ragkpi.records import replace
from ragkpi.reports.layout import Layout
from ragkpi.studies.holes.assessment import candidates, removed_together
from ragkpi.studies.holes.holes_answer import holes_answer
from ragkpi.studies.holes.holes_charts import holes_charts
from ragkpi.studies.holes.holes_study import find_bounds
from ragkpi.studies.report.query_details import QueryDetail, query_details, telling_queries
from ragkpi.studies.report.report_options import ReportOptions
from ragkpi.studies.report.report_runs import (
    ReportedRun,
    best_case,
    metrics_needed,
    only,
    reported_runs,
)
from ragkpi.studies.report.shown_texts import shown_texts
from ragkpi.studies.report.slices import MOST_RUNS, MOST_SLICES, largest_slices, slice_object
from ragkpi.wording import as_json, counted, decoded

EVERYTHING = 1 << 62
_MOST_CELLS = 5_000  # queries times runs, up to which all names of documents are kept in memory
_MOST_DIGITS_CELLS = 100_000  # values of queries, up to which all digits are written
_FEW_DIGITS = 6
_MOST_TRIALS = 2_000_000_000  # swaps of a query, over all pairs of runs
_MOST_ENTRIES = 600_000  # documents of queries, and places in rankings: some 8 MB
_FIRST_TO_JUDGE = 10
_MOST_HOLES = 3_000  # with more, the page names no documents to judge first


def wanted_of(evaluator: Evaluator, shown: Sequence[Metric], runs: int) -> Wanted:
    """Return what to read of the runs: the names of all documents, if memory allows it.

    Raises `UsageError` for metrics that make no page.
    """
    _main(shown, ReportOptions())
    evaluator.relevance.judgements.refuse_gains("a report shows levels")
    small = len(evaluator.relevance.judgements.queries) * runs <= _MOST_CELLS
    metrics = metrics_needed(shown, evaluator.pool is not None)
    return evaluator.needs(metrics, EVERYTHING if small else 0)


def report_document(
    evaluator: Evaluator,
    runs: Sequence[Run],
    names: Sequence[str],
    hits: Sequence[Hits],
    evaluations: Sequence[Evaluation],
    shown: Sequence[Metric],
    options: ReportOptions,
) -> dict[str, Any]:
    """Collect the data of a page.

    Parameters
    ----------
    evaluator
        The evaluator of the runs.
    runs, names
        Paths or columns, and their names on the page.
    hits, evaluations
        The runs, read for `wanted_of` and scored by `metrics_needed`.
    shown
        The shown measures.
    options
        What else belongs on the page.

    Returns
    -------
    dict
        Valid under ``schema.json#/$defs/report``.
    """
    best = [best_case(evaluator, run) for run in hits]
    reported = reported_runs(names, evaluations, best, shown)
    scores, judgements = reported[0].scores, evaluator.relevance.judgements
    queries, main, pooled = scores.queries, _main(shown, options), evaluator.pool is not None
    chosen = telling_queries(reported, main, options.detail_queries)
    small = len(judgements.queries) * len(runs) <= _MOST_CELLS
    details = _details(evaluator, runs, reported, hits if small else None, chosen, options)
    files = [run for run in runs if isinstance(run, str) and run != "-"]
    query_texts, texts = shown_texts(
        details, set(queries), options.query_texts, options.document_texts, files
    )
    holes = _holes(evaluator, hits, evaluations, shown, names) if small else None
    pairs = len(runs) * (len(runs) - 1) // 2
    many_trials = pairs * len(queries) * options.procedure.trials > _MOST_TRIALS
    procedure = replace(options.procedure, test="t") if many_trials else options.procedure
    slices, left_out = largest_slices(queries, options.labels)

    by_name = dict(zip(names, evaluations, strict=True))
    notes = [*options.compared]
    notes += concerning({name: run.warnings for name, run in by_name.items()})
    notes += concerning({name: run.notes for name, run in by_name.items()})
    if many_trials:
        notes.append(f"p-values of {pairs:,} pairs of runs: the paired t test, which is quick")
    if left_out:
        notes.append(f"the page has the {MOST_SLICES} largest slices; {left_out} are left out")
    if len(details) < len(queries):
        notes.append(
            f"documents are shown for {counted(len(details), 'query', 'queries')} of "
            f"{len(queries):,}, those on which the runs differ most; --detail-queries and "
            "--detail-depth say of how many at most"
        )
    if holes is None:
        notes.append("what unjudged documents could change: ragkpi holes QRELS RUN... says it")
    if len(runs) > MOST_RUNS:
        notes.append(f"depth and diagnosis are of the first {MOST_RUNS} runs")
    return {
        "ragkpi": __version__,
        "kind": "report",
        "title": options.title,
        "notes": notes,
        "measures": _measures(scores.metrics, main),
        "pool": pooled,
        "relevance_level": evaluator.settings.relevance_level,
        "runs": [run.name for run in reported],
        "queries": [decoded(query) for query in queries],
        "query_texts": [_text(query_texts.get(query)) for query in queries],
        "per_query": _per_query(reported),
        "slices": [
            slice_object(part, reported, judgements, procedure, options.signature)
            for part in slices
        ],
        "details": [detail.document(pooled=pooled) for detail in details],
        "texts": {decoded(name): _text(text) for name, text in sorted(texts.items())},
        **({} if holes is None else {"holes": holes}),
    }


def _main(metrics: Sequence[Metric], options: ReportOptions) -> int:
    """Return the place of the measure that comes first on the page."""
    numeric = [i for i, m in enumerate(metrics) if m.measure.numeric and m.is_printed("summary")]
    if not numeric:
        raise UsageError("a page needs a measure that is a number; give one with -m")
    first = {metric.name for metric in find_metrics([options.main])} if options.main else set()
    return next((i for i in numeric if metrics[i].name in first), numeric[0])


def read_every(evaluator: Evaluator, runs: Sequence[Run], wanted: Wanted) -> list[Hits]:
    """Read runs from their files or columns; raise the error of one that cannot be read."""
    hits = []
    for read in evaluator.read(runs, wanted):
        if isinstance(read, RagkpiError):
            raise read
        hits.append(read)
    return hits


def _details(
    evaluator: Evaluator,
    runs: Sequence[Run],
    reported: Sequence[ReportedRun],
    read: Sequence[Hits] | None,
    chosen: Sequence[int],
    options: ReportOptions,
) -> list[QueryDetail]:
    """Collect the documents of some queries; without `read`, the files are read again."""
    if not chosen:
        return []
    judgements = evaluator.relevance.judgements
    ids = [reported[0].scores.queries[query] for query in chosen]
    some = replace(judgements, index={query: judgements.index[query] for query in ids})
    reader = copy(evaluator)
    reader.relevance = Qrels(some)
    if read is None and "-" in runs:
        raise UsageError("-: so many queries are read twice, which a pipe cannot be; give a file")
    depth = EVERYTHING if evaluator.settings.unjudged == "removed" else options.detail_depth
    tops = read or read_every(reader, runs, Wanted(depth=depth))
    pool = None
    if evaluator.pool is not None:
        (pool,) = read_every(reader, [evaluator.pool], Wanted(depth=EVERYTHING))
    details = query_details(chosen, reported, tops, pool, judgements, options.detail_depth)
    entries = np.cumsum([len(query.documents) + sum(map(len, query.rankings)) for query in details])
    return details[: int(np.searchsorted(entries, _MOST_ENTRIES, side="right"))]


def _holes(
    evaluator: Evaluator,
    hits: Sequence[Hits],
    evaluations: Sequence[Evaluation],
    shown: Sequence[Metric],
    names: Sequence[str],
) -> dict[str, Any]:
    """Return the answer and the charts of `ragkpi holes`."""
    some = [replace(run, scores=only(run.scores, shown)) for run in evaluations]
    bounds = find_bounds(evaluator.relevance.judgements, hits, some, evaluator.settings)
    few = len(bounds.holes.query) <= _MOST_HOLES
    listed = candidates(bounds) if few else []
    together = removed_together(bounds, listed[:_FIRST_TO_JUDGE])
    answer = holes_answer(bounds, names, listed, _FIRST_TO_JUDGE, "hidden", together)
    charts = [chart_object(chart) for chart in holes_charts(bounds, names)]
    return {"answer": answer.document(Layout()), "charts": charts}


def _measures(metrics: Sequence[Metric], main: int) -> list[dict[str, Any]]:
    """Describe the measures that are numbers, the main one first."""
    return [
        {
            "name": metric.name,
            "better": metric.measure.better,
            "style": metric.measure.style,
            "definition": metric.measure.help,
        }
        for metric in (metrics[main], *metrics[:main], *metrics[main + 1 :])
        if metric.measure.numeric
    ]


def _per_query(runs: Sequence[ReportedRun]) -> dict[str, list[list[Any]]]:
    """Return a list of values per run by measure, in the order of the queries."""
    shown = [
        metric
        for metric in runs[0].scores.metrics
        if metric.measure.numeric and metric.is_printed("query")
    ]
    many = len(shown) * len(runs) * len(runs[0].scores.queries) > _MOST_DIGITS_CELLS

    def values(run: ReportedRun, metric: Metric) -> list[Any]:
        numbers = run.scores[metric.name].per_query.tolist()
        if many:
            numbers = [float(f"{number:.{_FEW_DIGITS}g}") for number in numbers]
        return [as_json(number, metric.measure.style) for number in numbers]

    return {metric.name: [values(run, metric) for run in runs] for metric in shown}


def _text(text: Text | None) -> list[Any] | None:
    return None if text is None else [decoded(text[0]), text[1]]
