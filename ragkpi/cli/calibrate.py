"""`ragkpi calibrate`: which measure tracks the quality of responses."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

from ragkpi.cli.evaluation_options import EvaluationOptions, of_qrels
from ragkpi.cli.messages import tell
from ragkpi.cli.option_groups import argument, option, takes
from ragkpi.cli.output_options import Output, output_and_plot
from ragkpi.cli.resampling_options import resampling
from ragkpi.cli.run_files import evaluate_every, expect_files
from ragkpi.errors import NothingInCommonError, UsageError

if TYPE_CHECKING:
    from ragkpi.evaluation import Evaluation
    from ragkpi.formats.query_files import Quality
    from ragkpi.ranking.judged import Judged
    from ragkpi.statistics.bootstrap import Bootstrap

_DEFAULT = ("P.10", "recall.10", "ndcg_cut.10", "t.10", "t_code.10", "F.10", "Fe.10")
_GRID = ",".join(f"{5 * step / 100:g}" for step in range(1, 20))


@takes(options=of_qrels, output=output_and_plot, bootstrap=resampling)
def command(
    options: EvaluationOptions,
    output: Output,
    bootstrap: "Bootstrap",
    quality: Annotated[
        str,
        option(
            "--quality",
            metavar="FILE",
            help="How good the responses were: lines QUERY SCORE, or QUERY RUN SCORE for several "
            "runs. Any numbers whose order means something.",
        ),
    ],
    files: Annotated[
        list[str] | None,
        argument(metavar="QRELS RUN...", help="Qrels and runs."),
    ] = None,
    alphas: Annotated[
        str,
        option("--alphas", metavar="A,A,...", help="Alphas to try out, from 0 to 1."),
    ] = _GRID,
    folds: Annotated[
        int,
        option(
            "--folds", metavar="N", min=2, help="Parts of the queries that are held out in turn."
        ),
    ] = 5,
) -> None:
    """Answer "which measure tracks the quality of responses here?".

    Every value is correlated with quality over the queries: Spearman's rho, Kendall's tau-b and
    Pearson's r, with bootstrap intervals; over all queries and, as the right measure may
    depend on it, over those whose cutoff K is below R, and from R. For measures with an alpha from
    0 to 1 (t, t_code, F, Fe) the alpha with the greatest rho is chosen, with its stability over
    resamples, and rho on queries that it was not chosen on. Without -m: P, recall, ndcg_cut, t,
    t_code, F and Fe at 10.
    """
    from ragkpi.formats.query_files import read_quality
    from ragkpi.studies.calibrate.calibration_answer import calibration_answer
    from ragkpi.studies.calibrate.calibration_charts import calibration_charts
    from ragkpi.studies.calibrate.calibration_study import calibrate
    from ragkpi.studies.calibrate.observations import observe

    expected = "qrels and runs: ragkpi calibrate --quality SCORES QRELS RUN"
    qrels, *paths = expect_files(2, files, expected)
    grid = _alphas(alphas)
    values = options.values(_DEFAULT)
    scores = read_quality(quality)
    results = evaluate_every(options.evaluator(qrels, values), paths, values)
    runs = _scored(paths, results, scores, quality)
    found = calibrate(observe(runs), values, grid, bootstrap, folds)
    output.write(calibration_answer(found), calibration_charts(found))


def _alphas(text: str) -> list[float]:
    found = []
    for item in text.split(","):
        try:
            alpha = float(item)
        except ValueError:
            alpha = -1.0
        if not 0 <= alpha <= 1:
            raise UsageError(f"--alphas {text}: '{item}'; expected numbers from 0 to 1")
        found.append(alpha)
    return sorted(set(found))


def _scored(
    paths: Sequence[str], results: "Sequence[Evaluation]", scores: "Quality", file: str
) -> "list[tuple[Judged, Mapping[bytes, float]]]":
    """Pair every run with its scores; say which queries have none."""
    from ragkpi.reports.run_names import run_names
    from ragkpi.wording import shown_queries

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
                f"{shown_queries(judged.queries)}; scored: {shown_queries(sorted(of_run))})"
            )
        if lacking:
            tell(
                f"{len(lacking)} of {len(judged.queries)} queries of {path} have no score "
                f"in {file} and are left out ({shown_queries(lacking)})"
            )
        found.append((judged, of_run))
    return found
