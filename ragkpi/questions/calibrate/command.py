"""`ragkpi calibrate`: the measure that tracks the quality of responses."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Unpack

from typer import Argument, Option

from ragkpi.charts.chart import noted
from ragkpi.cli.output import PlotOutput
from ragkpi.cli.signature import command
from ragkpi.cli.terminal import expect_files
from ragkpi.errors import NothingInCommonError, UsageError
from ragkpi.files.query_files import Quality, read_quality
from ragkpi.interface import spell
from ragkpi.library.arguments import bootstrap_of, in_one_order, session_of
from ragkpi.library.options import Estimating, Measures
from ragkpi.library.result import Result
from ragkpi.library.runs import AnyQrels, ById, Path, Runs, by_path, named_runs
from ragkpi.library.session import Evaluations
from ragkpi.questions.calibrate.answer import calibration_answer, calibration_charts
from ragkpi.questions.calibrate.study import calibrate as calibrate_measures
from ragkpi.questions.calibrate.study import observe
from ragkpi.ranking.judged import Judged
from ragkpi.reports.names import run_names
from ragkpi.wording import decoded, joined, listed, octets, visible

_LEAST_RESAMPLES = 1000
_WEIGHTS = 10_000_000  # draws of queries over all bootstrap samples
CALIBRATED = ("P.10", "recall.10", "ndcg_cut.10", "t.10", "t_code.10", "F.10", "Fe.10")


def calibrate(
    qrels: AnyQrels,
    runs: Runs,
    quality: Annotated[
        Path | ById[float] | Mapping[str, ById[float]],
        Option(
            "--quality",
            metavar="FILE",
            help="Quality of the responses: lines QUERY SCORE, or QUERY RUN SCORE for several "
            "runs. Any numbers, higher is better.",
        ),
    ],
    measures: Measures = (),
    **how: Unpack[Estimating],
) -> Result:
    """Answer "which measure tracks the quality of responses here?".

    Every measure is correlated with quality over the queries: Spearman's rho with a bootstrap
    interval, Kendall's tau-b and Pearson's r; with several runs also within queries and over runs.
    A measure is named only if a permutation test of all measures together is significant for it.
    Without -m: P, recall, ndcg_cut, t, t_code, F and Fe at 10.

    Parameters
    ----------
    qrels, runs, measures, how
        As for `evaluate`. `resamples` is also the maximum number of permutations, and `seed` also
        theirs; with more than 2,000 queries the default is lower, at least 1,000.
    quality
        A path; ``{query: score}``; or ``{run: {query: score}}`` for several runs.
    """
    session = session_of(qrels, measures, in_one_order(how), Estimating)
    bootstrap = bootstrap_of(how, clusters=session.clusters)
    path = os.fspath(quality) if isinstance(quality, str | os.PathLike) else "quality"
    scores = _quality_of(quality)
    metrics = session.metrics(CALIBRATED)
    evaluated = session.evaluate(named_runs(runs), metrics)
    observed = observe(_scored(evaluated, scores, path), session.clusters)
    if "resamples" not in how:  # intervals of many queries are narrow, and need fewer digits
        most = max(_LEAST_RESAMPLES, _WEIGHTS // len(observed.queries))
        bootstrap = replace(bootstrap, resamples=min(bootstrap.resamples, most))
    calibration = calibrate_measures(observed, metrics, bootstrap)
    return Result(
        calibration_answer(calibration),
        lambda: noted(calibration_charts(calibration), evaluated.small_print()),
        tuple(session.notes),
        session.signed(metrics),
    )


def _quality_of(quality: Any) -> Quality:
    """Read a file, a mapping from queries to numbers, or a mapping from runs to such mappings."""
    if isinstance(quality, str | os.PathLike):
        return read_quality(os.fspath(quality))
    expected = "expected a path, {query: number} or {run: {query: number}}"
    if not isinstance(quality, Mapping) or not quality:
        raise UsageError(f"{spell('quality')} is {type(quality).__name__}; {expected}")
    nested = all(isinstance(of_run, Mapping) for of_run in quality.values())
    by_run: Mapping[Any, Any] = quality if nested else {None: quality}
    try:
        return {
            None if run is None else octets(run): {
                octets(one): float(number) for one, number in of_run.items()
            }
            for run, of_run in by_run.items()
        }
    except (TypeError, ValueError):
        raise UsageError(f"{spell('quality')}: a value is not a number; {expected}") from None


def _scored(
    runs: Evaluations, quality: Quality, file: str
) -> list[tuple[Judged, Mapping[bytes, float]]]:
    """Pair every run with its quality scores; note the queries without scores.

    They are found by the run's path, its name or its run id; those without a run belong to a single
    run. `UsageError` for a run without scores.
    """
    scored = []
    for (path, run), stem in zip(runs.items(), run_names(list(runs)), strict=True):
        judged = run.plain
        names = [*map(str.encode, (path, run.name, stem)), judged.run_id]
        matches: list[bytes | None] = [name for name in names if name in quality]
        if None in quality and len(runs) == 1:
            matches = [None]
        if not matches:
            whose = joined([visible(decoded(name)) for name in dict.fromkeys(names)])
            has = joined([visible(decoded(name)) for name in quality if name] or ["no run"])
            raise UsageError(
                f"{spell('quality')}: no scores for {whose}; expected lines with one of these "
                f"names, but they name {has}"
            )
        of_run = quality[matches[0]]
        lacking = [query for query in judged.queries if query not in of_run]
        if len(lacking) == len(judged.queries):
            raise NothingInCommonError(
                f"{file} has no score of any evaluated query of {path} (evaluated: "
                f"{listed(judged.queries, 3)}; scored: {listed(sorted(of_run), 3)})"
            )
        if lacking:
            runs.session.note(
                f"{len(lacking)} of {len(judged.queries)} queries of {path} have no score "
                f"in {file} and are left out ({listed(lacking, 3)})"
            )
        scored.append((judged, of_run))
    return scored


@command(
    calibrate,
    without=("ties", "gains", "rel_info", "names"),
    examples=(
        "ragkpi calibrate --quality quality.tsv qrels.txt reranked.run",
        "ragkpi calibrate -m P.10,F.10 --quality quality.tsv qrels.txt reranked.run",
        "ragkpi calibrate -m P.5,P.10 --quality quality.tsv qrels.txt reranked.run",
    ),
)
def shell(
    files: Annotated[list[str], Argument(metavar="QRELS RUN...", help="Qrels and runs.")],
    output: PlotOutput,
    **arguments: Any,
) -> None:
    """Write the correlations of measures with quality."""
    expected = "qrels and runs: ragkpi calibrate --quality SCORES QRELS RUN"
    qrels, *runs = expect_files(2, files, expected)
    result = calibrate(qrels, by_path(runs), **arguments)
    output.write(result.report)
    output.draw(result.charts)
