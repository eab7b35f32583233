"""`ragkpi depth`: how many passages to retrieve, or tools to show."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from ragkpi.cli.evaluation_options import EvaluationOptions, without_pool
from ragkpi.cli.option_groups import argument, option, takes
from ragkpi.cli.output_options import Output, output_and_plot
from ragkpi.cli.resampling_options import intervals
from ragkpi.cli.run_files import Results, expect_files, read_runs
from ragkpi.errors import UsageError

if TYPE_CHECKING:
    from ragkpi.statistics.bootstrap import Bootstrap
    from ragkpi.studies.depth.depth_curves import Curves
    from ragkpi.studies.depth.depth_study import Limits


@takes(options=without_pool.without(measure=[]), output=output_and_plot, bootstrap=intervals)
def command(
    options: EvaluationOptions,
    output: Output,
    bootstrap: "Bootstrap | None",
    files: Annotated[
        list[str] | None,
        argument(metavar="[QRELS RUN...]", help="Qrels and runs."),
    ] = None,
    at: Annotated[
        str | None,
        option(
            "--at",
            metavar="K,K,...",
            help="Depths. Default: 1,2,3,5,10,20,50,100,200,500,1000, as deep as the runs are.",
        ),
    ] = None,
    at_least: Annotated[
        int,
        option("--at-least", metavar="M", min=1, help="Relevant documents that make a success."),
    ] = 1,
    max_loss: Annotated[
        float | None,
        option(
            "--max-loss",
            metavar="BITS",
            min=0,
            help="Bits of BoR that the answer may lie below the best depth. Default: any; what "
            "one bit buys is said.",
        ),
    ] = None,
    plateau: Annotated[
        float,
        option(
            "--plateau",
            metavar="SHARE",
            min=0,
            max=1,
            help="Success has plateaued where deeper lists add no more than this.",
        ),
    ] = 0.02,
    tokens: Annotated[
        float | None,
        option(
            "--tokens-per-passage", metavar="TOKENS", min=0, help="Also show the cost in tokens."
        ),
    ] = None,
    relevant: Annotated[
        str | None,
        option(
            "--relevant",
            metavar="R[,R...]",
            help="Without files: how many of the -N are relevant, per query.",
        ),
    ] = None,
) -> None:
    """Answer "how many passages should I retrieve?", or "how many tools may I show the agent?".

    Deeper lists succeed more often, and so does chance. For each depth K: success (p_obs), chance
    (p_rand), their ratio in bits (bor) and its ceiling (bor_max), recall, RA-nWG, and what the step
    from the depth before changed (dbor) beside what sparse theory predicts (dbor_sparse). --ci adds
    intervals of p_obs and bor.

    The answer is the smallest of: the depth where success has plateaued (--plateau), the last one
    outside the collapse zone, and the deepest one within --max-loss bits of the best.

    Without files, 'ragkpi depth -N 58 --relevant 4' says what chance and a perfect selector do.
    """
    from ragkpi.studies.depth.depth_answer import depth_answer
    from ragkpi.studies.depth.depth_charts import depth_charts
    from ragkpi.studies.depth.depth_study import Limits

    limits = Limits(at_least, max_loss, plateau)
    depths = None if at is None else _numbers("--at", at)
    if relevant is not None:
        if files:
            raise UsageError("--relevant stands in place of files; expected one or the other")
        if bootstrap is not None:
            raise UsageError("--ci: without files there are no queries to draw; leave it out")
        found = _from_counts(options, _numbers("--relevant", relevant), depths, limits)
    else:
        some = expect_files(2, files, "qrels and runs, or -N and --relevant")
        found = _from_files(options, some, depths, limits, bootstrap)
    output.write(depth_answer(found, tokens), depth_charts(found))


def _from_counts(
    options: EvaluationOptions,
    relevant: Sequence[int],
    depths: Sequence[int] | None,
    limits: "Limits",
) -> "Curves":
    from ragkpi.measures.scores import score
    from ragkpi.ranking.judged import judged_from_counts
    from ragkpi.studies.depth.depth_curves import Curve, Curves
    from ragkpi.studies.depth.depth_study import DEPTHS, count_values, study_counts

    size = options.settings.corpus_size
    if size is None:
        raise UsageError("--relevant: the number to choose from is missing; give it with -N")
    judged = judged_from_counts(size, relevant, options.settings)
    depths = depths or sorted({*(depth for depth in DEPTHS if depth < size), size})
    _refuse_above(size, depths)
    study = study_counts(judged, depths, limits)
    curve = Curve("", score(judged, count_values(depths, limits.m)), study)
    return Curves([curve], depths, limits, corpus_size=size)


def _from_files(
    options: EvaluationOptions,
    files: Sequence[str],
    depths: Sequence[int] | None,
    limits: "Limits",
    bootstrap: "Bootstrap | None",
) -> "Curves":
    from ragkpi.measures.chance import corpus_size
    from ragkpi.ranking.hits import Hits
    from ragkpi.reports.run_names import run_names
    from ragkpi.studies.depth.depth_curves import Curve, Curves, interval_by_name
    from ragkpi.studies.depth.depth_study import DEPTHS, run_values, study_run

    qrels, *paths = files
    everywhere = run_values(depths or DEPTHS, limits.m)
    evaluator = options.evaluator(qrels, everywhere)
    # What is read of a run does not depend on the depths, but the depths on what was read.
    runs = read_runs(evaluator, paths, evaluator.needs(everywhere))
    retrieved = [run.num_ret for run in runs if isinstance(run, Hits)]
    deepest = max((int(numbers.max(initial=1)) for numbers in retrieved), default=1)
    if options.settings.max_retrieved is not None:
        deepest = max(1, min(deepest, options.settings.max_retrieved))
    depths = depths or [depth for depth in DEPTHS if depth <= deepest]
    outcomes = Results(paths, evaluator.score(runs, run_values(depths, limits.m)))
    results = outcomes.every()
    for result in results:
        _refuse_above(int(corpus_size(result.plain).min()), depths)
    outcomes.say()
    curves = []
    for name, path, result in zip(run_names(paths), paths, results, strict=True):
        judged = result.plain
        _warn_below(int(judged.num_ret.max()), depths, path)
        found = interval_by_name(result.scores, bootstrap) if bootstrap else {}
        curves.append(Curve(name, result.scores, study_run(judged, depths, limits), found))
    return Curves(curves, depths, limits, bootstrap)


def _numbers(option: str, text: str) -> list[int]:
    """Read whole numbers from 1 between commas."""
    parts = text.split(",")
    if not all(part.isdecimal() and int(part) for part in parts):
        raise UsageError(f"{option} {text}: expected whole numbers from 1, with commas between")
    return sorted({int(part) for part in parts})


def _refuse_above(size: int, depths: Sequence[int]) -> None:
    if depths[-1] > size:
        raise UsageError(
            f"--at {depths[-1]}: the corpus has only {size} documents; give a smaller K, or -N if "
            "it is larger"
        )


def _warn_below(deepest: int, depths: Sequence[int], run: str) -> None:
    """Say that success cannot rise where nothing was retrieved, but chance does."""
    import warnings

    from ragkpi.errors import RagkpiWarning

    if depths[-1] > deepest:
        warnings.warn(
            f"no query has more than {deepest} documents, so K above is chance rising alone; give "
            f"a deeper run, or --at down to {deepest} ({run})",
            RagkpiWarning,
            stacklevel=2,
        )
