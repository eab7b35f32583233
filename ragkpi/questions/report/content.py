"""The data of a page as one JSON object: measures, values, slices, documents and texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ragkpi.evaluation import Evaluator
from ragkpi.files.query_files import QueryLabels, Text
from ragkpi.library.call import Evaluations
from ragkpi.library.ground import Signature
from ragkpi.library.unjudged_doubt import deciding, judging_of
from ragkpi.measures.measure import Metric
from ragkpi.questions.report.documents import query_details, telling_queries
from ragkpi.questions.report.runs import (
    CUTOFF,
    ReportedRun,
    main_first,
    metrics_needed,
)
from ragkpi.questions.report.sections import (
    MOST_SLICES,
    bounds_of,
    holes_object,
    largest_slices,
    section_object,
)
from ragkpi.questions.report.standings import advice, best_first, decisions, more_queries
from ragkpi.questions.report.texts import TextSource, page_texts
from ragkpi.ranking.judged import Settings
from ragkpi.ranking.reading import DEEPEST, RunParts
from ragkpi.statistics.paired import Procedure
from ragkpi.version import __version__
from ragkpi.wording import HIDDEN, as_json, counted, decoded, rounded, visible

_MOST_CELLS = 5_000  # queries times runs, up to which all names of documents are kept in memory
_TITLED = 3  # most runs in a title
_LEADERS = 10  # best runs with depth, diagnosis, holes and pairs


def parts_of_runs(evaluator: Evaluator, metrics: Sequence[Metric], runs: int) -> RunParts:
    """Return the parts of runs to read, with the names of all documents if memory allows.

    Raises `UsageError` for metrics that make no page.
    """
    main_first(metrics)
    evaluator.relevance.judgements.refuse_gains("a report shows levels")
    depth = DEEPEST if _is_small(evaluator, runs) else 0
    return evaluator.needs(metrics_needed(metrics, evaluator), depth)


def _is_small(evaluator: Evaluator, runs: int) -> bool:
    return len(evaluator.relevance.judgements.queries) * runs <= _MOST_CELLS


def report_document(
    evaluated: Evaluations | None,
    runs: Sequence[ReportedRun],
    metrics: Sequence[Metric],
    procedure: Procedure,
    signature: Signature,
    call_notes: Sequence[str],
    title: str | None,
    main: str,
    texts: tuple[TextSource, TextSource],
    labels: QueryLabels,
    settings: Settings,
    detail_queries: int,
    detail_depth: int,
) -> dict[str, Any]:
    """Collect the data of a page, valid under ``schema.json#/$defs/report``.

    What was evaluated was read for `parts_of_runs` and scored by `metrics_needed`; it is None for
    stored results. `main` is the first measure as for ``-m``, empty for the first that is a number;
    `texts` those of queries and of documents.
    """
    ordered, queries = main_first(metrics, main), runs[0].scores.queries
    numeric = [metric for metric in ordered if metric.measure.numeric]
    small = evaluated is not None and _is_small(evaluated.evaluator, len(runs))
    details, files, judging = [], [], None
    if evaluated:
        evaluator, paths = evaluated.evaluator, list(evaluated.runs.values())
        chosen = telling_queries(runs, ordered[0], detail_queries)
        hits = evaluated.hits if small else None
        details = query_details(evaluator, runs, paths, hits, chosen, detail_depth)
        files = [path for path in paths if isinstance(path, str) and path != "-"]
        judging = judging_of(evaluated, deciding(ordered))
        if judging and not small:
            judging = replace(judging, runs={})  # whose documents have no names
    of_queries, of_documents = page_texts(details, set(queries), *texts, files)
    pooled = evaluated is not None and evaluated.evaluator.pool is not None

    decided = decisions(runs, ordered, procedure, judging)
    more = more_queries(runs, ordered[0], decided.get(ordered[0].name), procedure)
    leaders = best_first(runs, ordered[0], decided.get(ordered[0].name))[:_LEADERS]
    bounds = bounds_of(evaluated, metrics, leaders) if evaluated and small else None
    parts, left_out = largest_slices(queries, labels)
    section = partial(section_object, runs, ordered, evaluated, procedure)
    slices = [section(*parts[0], leaders, decided)]
    slices += [section(*part, leaders[:2], {}) for part in parts[1:]]

    notes = list(dict.fromkeys(call_notes))
    if left_out:
        notes.append(f"the page has the {MOST_SLICES} largest slices; {left_out} are left out")
    if evaluated and len(details) < len(queries):
        notes.append(
            f"documents are shown for {counted(len(details), 'query', 'queries')} of "
            f"{len(queries):,}, those on which the runs differ most; --detail-queries and "
            "--detail-depth say of how many at most"
        )
    if evaluated and not small:
        notes.append("what unjudged documents could change: ragkpi holes QRELS RUN... says it")
    if evaluated is None:
        notes.append(
            "stored results have no documents: how deep to retrieve, retriever or reranker, "
            "unjudged documents and rankings are on a page of the runs"
        )
    if len(runs) > _LEADERS:
        notes.append(
            f"depth, diagnosis and unjudged documents are of the best {_LEADERS} of {len(runs)} "
            "runs, and pairs have one of them"
        )
    titled = [run.label for run in runs[:_TITLED]] + ["…"] * (len(runs) > _TITLED)
    return {
        "ragkpi": __version__,
        "kind": "report",
        "title": visible(title) if title else ", ".join(titled),
        "notes": notes,
        "measures": [
            {"name": m.name, "better": m.measure.better, "definition": m.measure.help}
            for m in numeric
        ],
        "explanation": [
            *next((one.explanation for one in decided.values()), ()),
            f"judged: the share of judged documents among the first {CUTOFF} of the queries",
            f"Signature: {signature.long()}",
        ],
        "pool": pooled,
        "relevance_level": max(settings.relevance_level, 1),
        "cutoff": CUTOFF,
        "hidden": HIDDEN,
        "runs": [run.name for run in runs],
        "names": [run.label for run in runs],
        "advice": advice(slices[0], runs[leaders[0]], ordered[0], more, bounds),
        "queries": [decoded(query) for query in queries],
        "query_texts": [
            _text(of_queries[query]) if query in of_queries else None for query in queries
        ],
        "per_query": {m.name: _per_query(runs, m) for m in numeric if m.is_printed("query")},
        "slices": slices,
        "details": [detail.document(pooled=pooled) for detail in details],
        "texts": {decoded(name): _text(text) for name, text in sorted(of_documents.items())},
        **(
            {"holes": holes_object(bounds, [runs[leader].label for leader in leaders])}
            if bounds
            else {}
        ),
    }


def _per_query(runs: Sequence[ReportedRun], metric: Metric) -> dict[str, list[Any]]:
    """Return the distinct values of a measure, with their texts, and where each query's is there.

    Besides the runs', these are the mean and the spread of the runs' finite values.
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
