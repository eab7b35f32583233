"""From a session to an answer and its charts: what functions and commands have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from ragkpi.errors import NothingInCommonError, UsageError
from ragkpi.evaluation import Evaluation, Run
from ragkpi.library.session import Session
from ragkpi.measures.measure import Metric
from ragkpi.ranking.hits import Hits
from ragkpi.ranking.judged import Judged, judged_from_counts
from ragkpi.ranking.relevance import Qrels, Relevance
from ragkpi.reports.answer import Answer
from ragkpi.wording import listed

if TYPE_CHECKING:
    from ragkpi.charts.chart import Chart, Charts
    from ragkpi.formats.query_files import Quality
    from ragkpi.statistics.bootstrap import Bootstrap
    from ragkpi.studies.depth.depth_curves import Curves
    from ragkpi.studies.depth.depth_limits import Limits
    from ragkpi.studies.diagnose.diagnosis_study import Thresholds
    from ragkpi.studies.holes.assessment import Candidate
    from ragkpi.studies.holes.holes_study import Within

Answered = tuple[Answer, "Charts"]
QrelsGiven = str | Relevance

CALIBRATED = ("P.10", "recall.10", "ndcg_cut.10", "t.10", "t_code.10", "F.10", "Fe.10")
BOUNDED = ("P.10", "recall.10", "ndcg_cut.10")
_EVERYTHING = 1 << 62


def answer_depth(
    asked: Session,
    qrels: QrelsGiven | None,
    runs: Mapping[str, Run],
    depths: Sequence[int] | None,
    limits: Limits,
    tokens: float | None = None,
    relevant: Sequence[int] | None = None,
    bootstrap: Bootstrap | None = None,
) -> Answered:
    """Say how deep to retrieve, from runs or from counts of relevant documents."""
    from ragkpi.charts.chart import noted
    from ragkpi.studies.depth.depth_answer import depth_answer
    from ragkpi.studies.depth.depth_charts import depth_charts
    from ragkpi.studies.depth.depth_trace import every_depth, trace

    if relevant is not None:
        curves, judged = _curves_of_counts(asked, relevant, depths, limits)
    else:
        assert qrels is not None
        alone, asked = asked, asked.side_by_side() if len(runs) > 1 else asked
        curves, judged = _curves_of_runs(alone, asked, qrels, runs, depths, limits, bootstrap)

    def charts() -> list[Chart]:
        drawn = every_depth([*curves.depths, *curves.chosen])
        traces = [trace(of_run, drawn, limits.m) for of_run in judged]
        metrics = curves.curves[0].scores.metrics
        return noted(depth_charts(curves, traces), _origin(asked, qrels, metrics, judged[0]))

    return depth_answer(curves, tokens), charts


def _origin(
    asked: Session, qrels: QrelsGiven | None, metrics: Sequence[Metric], judged: Judged
) -> list[str]:
    """Say in small print what a picture is of: queries, N where it matters, the signature."""
    from ragkpi.wording import counted

    texts = [counted(len(judged.queries), "query", "queries")]
    needed = any("corpus_size" in metric.measure.needs for metric in metrics)
    sizes = judged.corpus_size if needed else None
    if sizes is not None and len(sizes):
        least, most = int(sizes.min()), int(sizes.max())
        size = f"N = {least:,}" if least == most else f"N = {least:,} to {most:,}"
        known = asked.settings.corpus_size is not None or asked.settings.corpus_sizes
        texts.append(size if known else f"{size} (documents seen)")
    signature = asked.signature(metrics, asked.files(qrels=qrels))
    return ["; ".join([*texts, signature.short()])]


def _curves_of_counts(
    asked: Session, relevant: Sequence[int], depths: Sequence[int] | None, limits: Limits
) -> tuple[Curves, list[Judged]]:
    from ragkpi.measures.scores import score
    from ragkpi.studies.depth.depth_curves import Curve, Curves
    from ragkpi.studies.depth.depth_study import DEPTHS, count_values, study_counts

    size = asked.settings.corpus_size
    if size is None:
        raise UsageError("--relevant: the number to choose from is missing; give it with -N")
    judged = judged_from_counts(size, relevant, asked.settings)
    depths = depths or sorted({*(depth for depth in DEPTHS if depth < size), size})
    _refuse_above(size, depths)
    study = study_counts(judged, depths, limits)
    curve = Curve("", score(judged, count_values(depths, limits.m)), study)
    return Curves([curve], depths, limits, corpus_size=size), [judged]


def _curves_of_runs(
    alone: Session,
    asked: Session,
    qrels: QrelsGiven,
    runs: Mapping[str, Run],
    depths: Sequence[int] | None,
    limits: Limits,
    bootstrap: Bootstrap | None,
) -> tuple[Curves, list[Judged]]:
    from ragkpi.measures.chance import corpus_size
    from ragkpi.reports.run_names import run_names
    from ragkpi.studies.depth.depth_curves import Curve, Curves, interval_by_name
    from ragkpi.studies.depth.depth_study import DEPTHS, run_values, study_run

    everywhere = run_values(depths or DEPTHS, limits.m)
    evaluator = asked.evaluator(qrels, everywhere)
    # What is read of a run does not depend on the depths, but the depths on what was read.
    read = asked.read(evaluator, runs, evaluator.needs(everywhere))
    retrieved = [run.num_ret for run in read if isinstance(run, Hits)]
    deepest = max((int(numbers.max(initial=1)) for numbers in retrieved), default=1)
    if asked.settings.max_retrieved is not None:
        deepest = max(1, min(deepest, asked.settings.max_retrieved))
    depths = depths or [depth for depth in DEPTHS if depth <= deepest]
    outcomes = evaluator.score(read, run_values(depths, limits.m))
    for result in asked.done(list(runs), outcomes):
        _refuse_above(int(corpus_size(result.plain).min()), depths)
    results = asked.done(list(runs), asked.compared(alone, runs, evaluator, outcomes))
    curves = []
    for name, path, result in zip(run_names(list(runs)), runs, results, strict=True):
        judged = result.plain
        deepest = int(judged.num_ret.max())
        if depths[-1] > deepest:  # success cannot rise there, but chance does
            asked.warn(
                f"no query has more than {deepest} documents, so K above is chance rising alone; "
                f"give a deeper run, or --at down to {deepest} ({path})"
            )
        found = interval_by_name(result.scores, bootstrap) if bootstrap else {}
        curves.append(Curve(name, result.scores, study_run(judged, depths, limits), found))
    return Curves(curves, depths, limits, bootstrap), [result.plain for result in results]


def _refuse_above(size: int, depths: Sequence[int]) -> None:
    if depths[-1] > size:
        raise UsageError(
            f"--at {depths[-1]}: the corpus has only {size} documents; give a smaller K, or -N if "
            "it is larger"
        )


def answer_diagnose(
    asked: Session,
    qrels: QrelsGiven,
    run: Mapping[str, Run],
    cutoff: int,
    thresholds: Thresholds,
    most_queries: int | None,
    most_missed: int,
) -> Answered:
    """Say whether it is the retriever or the reranker."""
    from ragkpi.charts.chart import noted
    from ragkpi.measures.registry import find_metrics
    from ragkpi.studies.diagnose.diagnosis_answer import diagnosis_answer, diagnosis_chart
    from ragkpi.studies.diagnose.diagnosis_study import diagnose, with_shown_at_their_best

    metrics = find_metrics([f"pct_proc.{cutoff}", f"pool_miss.{cutoff}"])
    evaluator = asked.evaluator(qrels, metrics)
    (read,) = asked.read(evaluator, run, evaluator.needs(metrics, cutoff))
    (result,) = asked.every(list(run), evaluator.score([read], metrics))
    judgements = evaluator.relevance.judgements
    diagnosis = diagnose(result.plain, judgements, cutoff, thresholds)
    if isinstance(read, Hits) and asked.pool != "-":  # which is read again
        best = with_shown_at_their_best(judgements, read, asked.settings, cutoff)
        if best is not None:
            generous = asked.evaluator(Qrels(best[0]), metrics)
            (at_best,) = asked.done(list(run), generous.score([best[1]], metrics))
            shares = diagnose(at_best.plain, best[0], cutoff, thresholds).decomposition.means()
            diagnosis = replace(diagnosis, best_case=shares)
    answer = diagnosis_answer(diagnosis, judgements.document, most_queries, most_missed)
    chart = diagnosis_chart(diagnosis)
    return answer, lambda: noted([chart], _origin(asked, qrels, metrics, result.plain))


def answer_calibrate(
    asked: Session,
    qrels: QrelsGiven,
    runs: Mapping[str, Run],
    quality: str | Quality,
    alphas: Sequence[float],
    folds: int,
    bootstrap: Bootstrap,
) -> Answered:
    """Say which measure tracks the quality of responses; `quality` is a path or was read."""
    from ragkpi.charts.chart import noted
    from ragkpi.formats.query_files import read_quality
    from ragkpi.studies.calibrate.calibration_answer import calibration_answer
    from ragkpi.studies.calibrate.calibration_charts import calibration_charts
    from ragkpi.studies.calibrate.calibration_study import calibrate
    from ragkpi.studies.calibrate.observations import observe

    metrics = asked.metrics(CALIBRATED)
    path = quality if isinstance(quality, str) else "quality"
    scores = read_quality(quality) if isinstance(quality, str) else quality
    results = asked.evaluate_every(asked.evaluator(qrels, metrics), runs, metrics)
    found = calibrate(
        observe(_scored(asked, list(runs), results, scores, path)),
        metrics,
        list(alphas),
        bootstrap,
        folds,
    )

    def charts() -> list[Chart]:
        return noted(calibration_charts(found), _origin(asked, qrels, metrics, results[0].plain))

    return calibration_answer(found), charts


def _scored(
    asked: Session,
    paths: Sequence[str],
    results: Sequence[Evaluation],
    scores: Quality,
    file: str,
) -> list[tuple[Judged, Mapping[bytes, float]]]:
    """Pair every run with its scores; say which queries have none."""
    from ragkpi.reports.run_names import run_names

    found = []
    for path, name, result in zip(paths, run_names(paths), results, strict=True):
        judged = result.plain
        called = [path.encode(), name.encode(), judged.run_id]
        known = [one for one in called if one in scores]
        if None in scores and len(paths) > 1:
            raise UsageError(
                f"{file} names no runs, and there are {len(paths)}; expected lines QUERY RUN SCORE"
            )
        if None not in scores and not known:
            names = ", ".join(str(one, "utf-8", "replace") for one in scores if one)
            raise UsageError(
                f"{file} has no scores of {path}, called {name} or {judged.run_id.decode()}; "
                f"it has {names}"
            )
        of_run = scores[known[0] if known else None]
        lacking = [query for query in judged.queries if query not in of_run]
        if len(lacking) == len(judged.queries):
            raise NothingInCommonError(
                f"{file} has no score of any evaluated query of {path} (evaluated: "
                f"{listed(judged.queries, 3)}; scored: {listed(sorted(of_run), 3)})"
            )
        if lacking:
            asked.note(
                f"{len(lacking)} of {len(judged.queries)} queries of {path} have no score "
                f"in {file} and are left out ({listed(lacking, 3)})"
            )
        found.append((judged, of_run))
    return found


def answer_holes(
    asked: Session,
    qrels: QrelsGiven,
    runs: Mapping[str, Run],
    within: Within,
    per_query: Literal["hidden", "shown"],
    first: int,
) -> tuple[Answer, Charts, list[Candidate]]:
    """Say how much unjudged documents could change; also all documents worth judging."""
    from ragkpi.charts.chart import noted
    from ragkpi.reports.run_names import run_names
    from ragkpi.studies.holes.assessment import candidates, removed_together
    from ragkpi.studies.holes.holes_answer import holes_answer
    from ragkpi.studies.holes.holes_charts import holes_charts
    from ragkpi.studies.holes.holes_study import depth_needed, find_bounds

    metrics = asked.metrics(BOUNDED)
    alone, asked = asked, asked.side_by_side() if len(runs) > 1 else asked
    evaluator = asked.evaluator(qrels, metrics)
    depth = depth_needed(metrics, within) or _EVERYTHING
    read = asked.read(evaluator, runs, evaluator.needs(metrics, depth))
    outcomes = asked.compared(alone, runs, evaluator, evaluator.score(read, metrics))
    results = asked.done(list(runs), outcomes)
    hits = [run for run in read if isinstance(run, Hits)]
    judgements = evaluator.relevance.judgements
    with asked.voice.progress(len(metrics), "bounds") as watch:
        found = find_bounds(judgements, hits, results, asked.settings, within, watch)
    with asked.voice.progress(len(metrics), "documents to judge") as watch:
        listed = candidates(found, results, asked.settings, watch)
    names = run_names(list(runs))
    together = removed_together(found, results, asked.settings, listed[:first])
    answer = holes_answer(found, names, listed, first, per_query, together)

    def charts() -> list[Chart]:
        return noted(holes_charts(found, names), _origin(asked, qrels, metrics, results[0].plain))

    return answer, charts, listed
