"""The data of a page as one JSON object: values, texts, slices, and other questions' answers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from ragkpi.arrays import BoolArray, IntArray
from ragkpi.charts.chart import Axis, Chart, Line, PlaneChart, chart_object
from ragkpi.errors import RagkpiError, UsageError
from ragkpi.evaluation import Evaluation, Evaluator, RunOrPath
from ragkpi.files.query_files import QueryLabels, Text, read_texts, texts_of_run
from ragkpi.library.given import query_slices
from ragkpi.library.ground import Signature
from ragkpi.library.session import Evaluations
from ragkpi.library.values import EvaluatedRun, interval_notes, run_object
from ragkpi.measures.chance import corpus_size
from ragkpi.measures.measure import Metric, Scores, score
from ragkpi.measures.registry import find_metrics
from ragkpi.questions.compare.report import ComparisonReport
from ragkpi.questions.depth.answer import depth_answer, depth_charts
from ragkpi.questions.depth.resampling import decide_depth
from ragkpi.questions.depth.study import DEPTHS, Curve, Curves, Limits, run_values, trace
from ragkpi.questions.diagnose.answer import diagnosis_answer, diagnosis_chart
from ragkpi.questions.diagnose.study import (
    BestCase,
    Diagnosis,
    Thresholds,
    best_case,
    diagnose,
)
from ragkpi.questions.holes.answer import holes_answer, holes_charts
from ragkpi.questions.holes.assessment import candidates, removed_together
from ragkpi.questions.holes.study import find_bounds
from ragkpi.ranking.judge import part_of
from ragkpi.ranking.judged import Judged, Settings
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.notes import concerning
from ragkpi.ranking.reading import Hits, Wanted
from ragkpi.ranking.relevance import Qrels
from ragkpi.reports.layout import Answer, Layout
from ragkpi.statistics.bootstrap import intervals
from ragkpi.statistics.paired import Procedure, compare_each
from ragkpi.version import __version__
from ragkpi.wording import as_json, counted, decoded


def default_measures(settings: Settings, pool: object) -> list[str]:
    """Name the default measures of a page."""
    measures = ["ndcg_cut.10", "P.10", "recall.10", "recip_rank"]
    if pool is not None:
        measures += [f"ra_nwg.{CUTOFF}", f"pct_proc.{CUTOFF}"]
    if settings.corpus_size is not None or settings.corpus_sizes:
        measures.append(f"bor.{CUTOFF}")
    return measures


Given = str | Mapping[bytes, Text] | None  # the path of a file of texts, or texts by id


@dataclass(frozen=True)
class ReportOptions:
    """The contents of a page besides an evaluation.

    Attributes
    ----------
    main
        The first measure on the page, as for ``-m``.
    query_texts, document_texts
        Files of texts, or texts by id; None for none.
    labels
        The label of each query, by kind of label.
    detail_queries, detail_depth
        The number of queries with documents on the page, and of documents per run.
    said
        Notes on missing queries that count as empty rankings, and on what is left out.
    """

    title: str
    main: str
    procedure: Procedure
    query_texts: Given
    document_texts: Given
    labels: QueryLabels
    detail_queries: int
    detail_depth: int
    signature: Signature
    said: Sequence[str]


CUTOFF = 10  # documents that a reader sees, in the parts of the page with a fixed depth


@dataclass(frozen=True, eq=False)
class ReportedRun:
    """A run of the page, with the scores of the shown measures.

    `best` is the best case of its unjudged documents; None without any, or without a pool.
    """

    name: str
    scores: Scores
    judged: Judged
    best: BestCase | None = None

    def over(self, queries: IntArray) -> ReportedRun:
        """Return the run over some queries alone, by number."""
        best = self.best and replace(self.best, judged=part_of(self.best.judged, queries))
        judged = part_of(self.judged, queries)
        return replace(self, scores=self.scores.over(queries), judged=judged, best=best)


def metrics_needed(shown: Sequence[Metric], evaluator: Evaluator) -> list[Metric]:
    """Return the metrics to evaluate, so that `Judged` serves all parts of the page."""
    more = [f"bor.{CUTOFF}"]
    if evaluator.pool is not None:
        more += [f"pool_miss.{CUTOFF}"]
        more += [] if evaluator.lacking_grade else [f"pct_proc.{CUTOFF}"]
    known = {metric.name for metric in shown}
    return [*shown, *(metric for metric in find_metrics(more) if metric.name not in known)]


def only(scores: Scores, shown: Sequence[Metric]) -> Scores:
    """Keep the columns of some metrics."""
    return scores.only(scores[metric.name] for metric in shown)


def reported_runs(
    names: Sequence[str],
    evaluations: Sequence[Evaluation],
    best: Sequence[BestCase | None],
    shown: Sequence[Metric],
) -> list[ReportedRun]:
    """Reduce evaluations to the queries that all runs have, and to the shown measures."""
    runs = [
        ReportedRun(name, only(run.scores, shown), run.plain, at_best)
        for name, run, at_best in zip(names, evaluations, best, strict=True)
    ]
    common = set(runs[0].scores.queries).intersection(*(run.scores.queries for run in runs))
    return [
        run if len(common) == len(run.scores.queries) else run.over(_rows(run, common))
        for run in runs
    ]


def _rows(run: ReportedRun, queries: set[bytes]) -> IntArray:
    return np.array([i for i, query in enumerate(run.scores.queries) if query in queries])


def judged_share(run: ReportedRun) -> float:
    """Return the judged share of the documents down to `CUTOFF`; NaN if there are none."""
    judged = run.judged
    places = np.minimum(judged.num_ret, CUTOFF).sum()
    known = ((judged.level >= 0) & (judged.rank <= CUTOFF)).sum()
    return float(known / places) if places else float("nan")


BUDGET = 3_800_000  # bytes of all texts of documents together, with `_AROUND` for each
_AROUND = 40  # bytes: the id, the length, quotes
LONGEST = 2_000  # characters of a text
_FIRST = 10  # people read the first documents of a run, and skim the rest
_FAVOUR = 8  # factor by which texts of the first documents may be longer


def shown_texts(
    details: Sequence[QueryDetail],
    queries: Collection[bytes],
    options: ReportOptions,
    run_files: Iterable[str],
) -> tuple[dict[bytes, Text], dict[bytes, Text]]:
    """Read the texts of queries and of documents that the page shows, by id.

    The files of runs may carry texts, for ids without another text.
    """
    wanted = {name for detail in details for name in detail.documents}
    documents: dict[bytes, Text] = {}
    of_queries: dict[bytes, Text] = {}
    for path in run_files:
        in_queries, in_documents = texts_of_run(path)
        of_queries |= {id_: text for id_, text in in_queries.items() if id_ in queries}
        documents |= {id_: text for id_, text in in_documents.items() if id_ in wanted}
    of_queries |= _known_texts(options.query_texts, queries)
    documents |= _known_texts(options.document_texts, wanted)
    favoured = {
        name
        for detail in details
        for document, name in enumerate(detail.documents)
        if (detail.levels[document] or 0) > 0
        or any(document in ranking[:_FIRST] for ranking in detail.rankings)
    }
    cut_queries = {id_: _cut(text, LONGEST) for id_, text in of_queries.items()}
    return cut_queries, _fitted(documents, favoured)


def _known_texts(texts: Given, wanted: Collection[bytes]) -> Mapping[bytes, Text]:
    if isinstance(texts, str):
        return read_texts(texts, wanted)
    return {id_: texts[id_] for id_ in wanted if id_ in texts} if texts else {}


def _fitted(texts: Mapping[bytes, Text], favoured: Collection[bytes]) -> dict[bytes, Text]:
    """Cut texts to the greatest length at which all fit; favoured texts may be longer."""
    kept = [text[:LONGEST] for text, _ in texts.values()]
    length = np.array([len(text) for text in kept], dtype=np.int64)
    octets = np.array([len(text.encode("utf-8", "replace")) for text in kept], dtype=np.int64)
    bytes_each = octets / np.maximum(length, 1)
    first = np.array([id_ in favoured for id_ in texts], dtype=np.bool_)
    low, high = 0, LONGEST
    while low < high:
        middle = (low + high + 1) // 2
        limit = _limits(first, middle)
        size = np.minimum(length, limit) * bytes_each + _AROUND * (limit > 0)
        low, high = (middle, high) if size.sum() <= BUDGET else (low, middle - 1)
    limits = _limits(first, low).tolist()
    cut = zip(texts.items(), limits, strict=True)
    return {id_: _cut(text, limit) for (id_, text), limit in cut if limit}


def _limits(first: BoolArray, length: int) -> IntArray:
    return np.where(first, length, length // _FAVOUR if length < LONGEST else length)


def _cut(text: Text, length: int) -> Text:
    shown, whole = text
    return Text((shown[:length], whole))


# The first documents of a run by query index in the judgements: id and judgement row, or -1.
_Rankings: TypeAlias = Mapping[int, Sequence[tuple[bytes, int]]]


@dataclass(frozen=True)
class QueryDetail:
    """A query, by number, and its documents: those that runs show, and the relevant ones.

    Attributes
    ----------
    levels, pool_ranks
        Of each document; None if it is unjudged, or not in the pool.
    rankings
        For each run its first documents, as places in `documents`.
    below
        For each run the relevant documents further down, and their ranks.
    """

    query: int
    documents: list[bytes]
    levels: list[int | None]
    pool_ranks: list[int | None]
    rankings: list[list[int]]
    below: list[list[list[int]]]

    def document(self, *, pooled: bool) -> dict[str, Any]:
        """Return the query as a JSON object; with ranks in the pool if there is one."""
        documents = [decoded(name) for name in self.documents]
        ranks = self.pool_ranks if pooled else []
        return {**vars(self), "documents": documents, "pool_ranks": ranks}


def telling_queries(runs: Sequence[ReportedRun], measure: int, most: int) -> list[int]:
    """Return the queries whose documents to show, those first on which the runs differ most.

    Among queries without a difference, and with a single run, the worst come first.
    """
    sign = runs[0].scores.metrics[measure].measure.sign
    values = np.array([run.scores.columns[measure].per_query for run in runs], dtype=np.float64)
    values = np.nan_to_num(values * sign, nan=0.0, posinf=1e308, neginf=-1e308)
    spread = values.max(axis=0) - values.min(axis=0)
    order = np.lexsort((values.mean(axis=0), -spread))
    return [int(query) for query in order[:most]]


def query_details(
    chosen: Sequence[int],
    runs: Sequence[ReportedRun],
    tops: Sequence[Hits],
    pool: Hits | None,
    judgements: Judgements,
    depth: int,
) -> list[QueryDetail]:
    """Collect the documents of queries, given by index, down to a depth of each run.

    `tops` and `pool` were read for the names of their documents by `judgements`.
    """
    settings = runs[0].judged.settings
    rankings = [_rankings(hits, judgements, settings, depth) for hits in tops]
    pooled = {} if pool is None else _rankings(pool, judgements, Settings(), None)
    return [_detail(query, runs, rankings, pooled, judgements) for query in chosen]


def _rankings(
    hits: Hits, judgements: Judgements, settings: Settings, depth: int | None
) -> _Rankings:
    """Name the documents of each query; -J leaves out unjudged ones, -M cuts the ranking."""
    rankings = {}
    top, rows_of_hits = hits.top, hits.rows_of_top(judgements)
    judgement = np.full(len(top.document), -1)
    judgement[rows_of_hits[rows_of_hits >= 0]] = hits.judgement[rows_of_hits >= 0]
    limits = [limit for limit in (depth, settings.max_retrieved) if limit is not None]
    for group, query in enumerate(top.query.tolist()):
        rows = np.arange(top.starts[group], top.starts[group + 1])
        if settings.unjudged == "removed":
            known = judgement[rows]
            rows = rows[(known >= 0) & (judgements.level[known] >= 0)]
        rows = rows[: min(limits, default=None)]
        names = top.document.take(rows).tolist()
        rankings[query] = list(zip(names, judgement[rows].tolist(), strict=True))
    return rankings


def _detail(
    query: int,
    runs: Sequence[ReportedRun],
    rankings: Sequence[_Rankings],
    pooled: _Rankings,
    judgements: Judgements,
) -> QueryDetail:
    number = judgements.index[runs[0].scores.queries[query]]
    rows = np.arange(judgements.starts[number], judgements.starts[number + 1])
    rows = rows[judgements.level[rows] >= max(runs[0].judged.settings.relevance_level, 1)]
    relevant = dict(zip(judgements.document.take(rows).tolist(), rows.tolist(), strict=True))
    shown = [ranking.get(number, ()) for ranking in rankings]
    row_of: dict[bytes, int] = {}
    for documents in (*shown, relevant.items()):
        for name, row in documents:
            row_of.setdefault(name, row)
    place = {name: number for number, name in enumerate(row_of)}
    levels = [int(judgements.level[row]) if row >= 0 else -1 for row in row_of.values()]
    pool_rank = {name: rank for rank, (name, _) in enumerate(pooled.get(number, ()), start=1)}
    below = []
    for run, documents in zip(runs, shown, strict=True):
        hits = slice(int(run.judged.starts[query]), int(run.judged.starts[query + 1]))
        judgement, rank = run.judged.judgement[hits].tolist(), run.judged.rank[hits].tolist()
        rank_of = dict(zip(judgement, rank, strict=True))
        ranks = [(place[name], rank_of.get(row, 0)) for name, row in relevant.items()]
        below.append([[document, rank] for document, rank in ranks if rank > len(documents)])
    return QueryDetail(
        query,
        list(place),
        [level if level >= 0 else None for level in levels],
        [pool_rank.get(name) for name in place],
        [[place[name] for name, _ in documents] for documents in shown],
        below,
    )


MOST_RUNS = 10  # most runs with depth and diagnosis on the page
MOST_SLICES = 30
_MOST_QUERIES = 20  # most queries in the table of diagnose
_MOST_MISSED = 3


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


def slice_object(
    name: str,
    queries: IntArray,
    runs: Sequence[ReportedRun],
    judgements: Judgements,
    main: int,
    procedure: Procedure,
    signature: Signature,
    graded: bool,
) -> dict[str, Any]:
    """Collect the parts of a slice, valid under ``schema.json#/$defs/report_slice``.

    What needs grades is left out unless it is `graded`.
    """
    some, bootstrap = [run.over(queries) for run in runs], procedure.bootstrap
    evaluated = [
        EvaluatedRun(run.name, run.scores, intervals(run.scores, bootstrap), signature)
        for run in some
    ]
    answers: dict[str, Any] = {
        "name": name,
        "queries": queries.tolist(),
        "runs": [run_object(run, bootstrap, Layout()) for run in evaluated],
        "intervals": interval_notes(bootstrap, [run.scores for run in some]),
        "judged": [judged_share(run) for run in some],
        "comparisons": _comparisons(some, main, procedure),
        "depth": _depth(some[:MOST_RUNS], graded),
    }
    if some[0].judged.pool is not None and graded:
        answers["diagnoses"] = [_diagnosis(run, judgements) for run in some[:MOST_RUNS]]
    return answers


def _comparisons(
    runs: Sequence[ReportedRun], main: int, procedure: Procedure
) -> list[dict[str, Any]]:
    """Compare every run with every other, each as the baseline once; the main measure decides."""
    tested = any(metric.is_comparable for metric in runs[0].scores.metrics)
    if len(runs) < 2 or not tested:
        return []
    names, metrics = [run.name for run in runs], runs[0].scores.metrics
    ordered = [metrics[main], *metrics[:main], *metrics[main + 1 :]]
    scores = [only(run.scores, ordered) for run in runs]
    return [
        ComparisonReport(compared).document(Layout())["comparison"]
        for compared in compare_each(names, scores, procedure, range(len(runs)))
    ]


def _depth(runs: Sequence[ReportedRun], graded: bool) -> dict[str, Any]:
    deepest = max(int(run.judged.num_ret.max(initial=1)) for run in runs)
    deepest = min(deepest, *(int(corpus_size(run.judged).min()) for run in runs))
    depths = [depth for depth in DEPTHS if depth <= max(deepest, 1)]
    limits = Limits()
    metrics = [m for m in run_values(depths, limits.needed) if graded or not m.is_graded]
    curves = [
        Curve(
            run.name,
            score(run.judged, metrics),
            decide_depth(run.judged, depths, limits),
        )
        for run in runs
    ]
    studied = Curves(curves, depths, limits)
    drawn = np.union1d(depths, studied.chosen).astype(np.int64)  # few, to keep the page small
    traces = [trace(run.judged, drawn, limits.needed) for run in runs]
    found = [_by_depth(studied, "recall", "recall")]
    if graded:
        found.append(_by_depth(studied, "ra_nwg", "RA-nWG"))
    return _answer(depth_answer(studied, None), [*depth_charts(studied, traces), *found])


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


EVERYTHING = 1 << 62
_MOST_CELLS = 5_000  # queries times runs, up to which all names of documents are kept in memory
_MOST_DIGITS_CELLS = 100_000  # values of queries, up to which all digits are written
_FEW_DIGITS = 6
_MOST_TRIALS = 2_000_000_000  # swaps of a query, over all pairs of runs
_MOST_ENTRIES = 600_000  # documents of queries, and places in rankings: some 8 MB
_FIRST_TO_JUDGE = 10
_MOST_HOLES = 3_000  # with more, the page names no documents to judge first


def wanted_of(evaluator: Evaluator, shown: Sequence[Metric], runs: int) -> Wanted:
    """Return the parts of runs to read, with the names of all documents if memory allows.

    Raises `UsageError` for metrics that make no page.
    """
    _main(shown, "")
    evaluator.relevance.judgements.refuse_gains("a report shows levels")
    small = len(evaluator.relevance.judgements.queries) * runs <= _MOST_CELLS
    metrics = metrics_needed(shown, evaluator)
    return evaluator.needs(metrics, EVERYTHING if small else 0)


def report_document(
    evaluated: Evaluations, shown: Sequence[Metric], options: ReportOptions
) -> dict[str, Any]:
    """Collect the data of a page, valid under ``schema.json#/$defs/report``.

    The runs were read for `wanted_of` and scored by `metrics_needed`.
    """
    evaluator, hits, names = evaluated.evaluator, evaluated.hits, evaluated.names
    runs = list(evaluated.read.runs.values())
    best = [best_case(evaluator, run, CUTOFF) for run in hits]
    reported = reported_runs(names, list(evaluated), best, shown)
    scores, judgements = reported[0].scores, evaluated.judgements
    queries, main, pooled = scores.queries, _main(shown, options.main), evaluator.pool is not None
    chosen = telling_queries(reported, main, options.detail_queries)
    small = len(judgements.queries) * len(runs) <= _MOST_CELLS
    details = _details(evaluator, runs, reported, hits if small else None, chosen, options)
    files = [run for run in runs if isinstance(run, str) and run != "-"]
    query_texts, texts = shown_texts(details, set(queries), options, files)
    holes = _holes(evaluated, shown) if small else None
    pairs = len(runs) * (len(runs) - 1) // 2
    many_trials = pairs * len(queries) * options.procedure.trials > _MOST_TRIALS
    procedure = replace(options.procedure, test="t") if many_trials else options.procedure
    slices, left_out = largest_slices(queries, options.labels)
    graded = not evaluator.lacking_grade

    by_name = dict(zip(names, evaluated, strict=True))
    notes = [
        *options.said,
        *concerning({name: run.warnings for name, run in by_name.items()}),
        *concerning({name: run.notes for name, run in by_name.items()}),
    ]
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
            slice_object(*part, reported, judgements, main, procedure, options.signature, graded)
            for part in slices
        ],
        "details": [detail.document(pooled=pooled) for detail in details],
        "texts": {decoded(name): _text(text) for name, text in sorted(texts.items())},
        **({} if holes is None else {"holes": holes}),
    }


def _main(metrics: Sequence[Metric], main: str) -> int:
    """Return the index of the first measure on the page."""
    numeric = [i for i, m in enumerate(metrics) if m.measure.numeric and m.is_printed("summary")]
    if not numeric:
        raise UsageError("a page needs a measure that is a number; give one with -m")
    first = {metric.name for metric in find_metrics([main])} if main else set()
    return next((i for i in numeric if metrics[i].name in first), numeric[0])


def _details(
    evaluator: Evaluator,
    runs: Sequence[RunOrPath],
    reported: Sequence[ReportedRun],
    read: Sequence[Hits] | None,
    chosen: Sequence[int],
    options: ReportOptions,
) -> list[QueryDetail]:
    """Collect the documents of queries; without `read`, read the files again."""
    if not chosen:
        return []
    judgements = evaluator.relevance.judgements
    ids = [reported[0].scores.queries[query] for query in chosen]
    some = replace(judgements, index={query: judgements.index[query] for query in ids})
    reader = copy(evaluator)
    reader.relevance = Qrels(some)
    if read is None and "-" in runs:
        raise UsageError("-: so many queries are read twice, and a pipe is read once; give a file")
    depth = EVERYTHING if evaluator.settings.unjudged == "removed" else options.detail_depth
    tops = read or _read(reader, runs, depth)
    pool = None
    if evaluator.pool is not None:
        (pool,) = _read(reader, [evaluator.pool], EVERYTHING)
    details = query_details(chosen, reported, tops, pool, judgements, options.detail_depth)
    entries = np.cumsum([len(query.documents) + sum(map(len, query.rankings)) for query in details])
    return details[: int(np.searchsorted(entries, _MOST_ENTRIES, side="right"))]


def _read(evaluator: Evaluator, runs: Sequence[RunOrPath], depth: int) -> list[Hits]:
    hits = []
    for read in evaluator.read(runs, Wanted(depth=depth)):
        if isinstance(read, RagkpiError):
            raise read
        hits.append(read)
    return hits


def _holes(evaluated: Evaluations, shown: Sequence[Metric]) -> dict[str, Any]:
    """Return the answer and the charts of `ragkpi holes`."""
    some = [replace(run, scores=only(run.scores, shown)) for run in evaluated]
    settings, names = evaluated.call.settings, evaluated.names
    bounds = find_bounds(evaluated.judgements, evaluated.hits, some, settings)
    few = len(bounds.holes.query) <= _MOST_HOLES
    listed = candidates(bounds) if few else []
    together = removed_together(bounds, listed[:_FIRST_TO_JUDGE])
    answer = holes_answer(bounds, names, listed, _FIRST_TO_JUDGE, "hidden", together)
    return _answer(answer, holes_charts(bounds, names))


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
