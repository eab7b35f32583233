"""`ragkpi agree`: whether judgements agree with others, and order runs alike."""

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from ragkpi.cli.evaluation_options import EvaluationOptions, without_pool
from ragkpi.cli.option_groups import argument, option, takes
from ragkpi.cli.output_options import Output, output_and_plot
from ragkpi.cli.resampling_options import comparing
from ragkpi.cli.run_files import evaluate_every, expect_files, refuse_standard_input_twice
from ragkpi.errors import RagkpiWarning, UsageError

if TYPE_CHECKING:
    from ragkpi.measures.scores import Scores
    from ragkpi.ranking.judgements import Judgements
    from ragkpi.statistics.paired import Procedure
    from ragkpi.studies.agree.panel import Panel

_DEFAULT = ("ndcg_cut.10",)


@takes(options=without_pool, output=output_and_plot, procedure=comparing)
def command(
    options: EvaluationOptions,
    output: Output,
    procedure: "Procedure",
    files: Annotated[
        list[str] | None,
        argument(
            metavar="QRELS OTHER [RUN...]",
            help="The reference, such as people; the judgements in question; runs.",
        ),
    ] = None,
    judge: Annotated[
        list[str],
        option("--judge", metavar="QRELS", help="One more judge; repeatable."),
    ] = [],  # noqa: B006 - typer copies defaults
    judges: Annotated[
        str | None,
        option(
            "--judges", metavar="NAME,NAME,...", help="Call the judges so, not after their files."
        ),
    ] = None,
    map_levels: Annotated[
        str | None,
        option(
            "--map-levels",
            metavar="MAP",
            help="Put the levels of QRELS on another scale, e.g. 0=0,1=0,2=1,3=2.",
        ),
    ] = None,
    map_other: Annotated[
        str | None,
        option("--map-other", metavar="MAP", help="The same for OTHER, and for --judge."),
    ] = None,
    per_query: Annotated[
        bool,
        option(
            "-q",
            "--per-query",
            "--query_eval_wanted",
            help="Also show what the judges disagree about: a row per query, the worst first.",
        ),
    ] = False,
    differences: Annotated[
        str | None,
        option(
            "--differences",
            metavar="FILE",
            help="Write every document with different levels, or that one judge alone judged: "
            "tab-separated query, document, levels.",
        ),
    ] = None,
) -> None:
    """Answer "may I trust these judgements?".

    Over the documents that both judged: agreement, Cohen's kappa (plain, linear, quadratic, and of
    every level as a threshold), Krippendorff's alpha, and by how many levels OTHER is above QRELS,
    with bootstrap intervals over queries. With runs: their values under both judgements, over the
    queries that both judged, how alike the orders are (tau-b, tau_AP, Spearman, Pearson,
    rank-biased overlap), and which pairs of runs change places. What people would say, from OTHER
    and few human judgements: eval --human, compare --human. Without -m: ndcg_cut at 10.
    """
    expected = "two qrels, then runs: ragkpi agree [options] QRELS OTHER [RUN...]"
    qrels, other, *runs = expect_files(2, files, expected)
    refuse_standard_input_twice([qrels, other, *judge, *runs])
    from ragkpi.reports.run_names import run_names
    from ragkpi.studies.agree.agree_answer import agree_answer
    from ragkpi.studies.agree.agree_charts import agree_charts
    from ragkpi.studies.agree.agree_study import agree
    from ragkpi.studies.agree.panel import panel, scales_differ

    paths = [qrels, other, *judge]
    given = _judges(options, paths, map_levels, map_other)
    together = panel(_names(judges, paths), given)
    doubt = scales_differ(together)
    if doubt and not (map_levels or map_other):
        warnings.warn(doubt, RagkpiWarning, stacklevel=2)
    scores = _evaluated(options, given, runs) if runs else []
    found = agree(together, run_names(runs), scores, procedure)
    _write_differences(together, differences)
    output.write(agree_answer(found, "shown" if per_query else "hidden"), agree_charts(found))


def _judges(
    options: EvaluationOptions, paths: Sequence[str], map_levels: str | None, map_other: str | None
) -> "list[Judgements]":
    """Read the judgements, each on the common scale."""
    from ragkpi.formats.file_formats import read_any_qrels
    from ragkpi.ranking.judgements import group_judgements
    from ragkpi.studies.agree.panel import mapped, parse_level_map

    scales = {
        side: parse_level_map(text, side) if text is not None else {}
        for side, text in (("--map-levels", map_levels), ("--map-other", map_other))
    }
    read = [group_judgements(read_any_qrels(path, options.qrels_format)) for path in paths]
    sides = ["--map-levels", *["--map-other"] * (len(paths) - 1)]
    return [
        mapped(judgements, scales[side], side) for judgements, side in zip(read, sides, strict=True)
    ]


def _names(judges: str | None, paths: Sequence[str]) -> list[str]:
    from ragkpi.reports.run_names import run_names

    if judges is None:
        return run_names(paths)
    names = judges.split(",")
    if len(names) != len(paths) or len(set(names)) < len(names):
        raise UsageError(f"--judges {judges}: expected {len(paths)} different names")
    return names


def _evaluated(
    options: EvaluationOptions, judges: "Sequence[Judgements]", runs: Sequence[str]
) -> "list[list[Scores]]":
    """Evaluate the runs under every judge."""
    from ragkpi.studies.agree.agree_study import evaluators

    metrics = options.values(_DEFAULT)
    return [
        [result.scores for result in evaluate_every(evaluator, runs, metrics)]
        for evaluator in evaluators(judges, options.settings)
    ]


def _write_differences(together: "Panel", path: str | None) -> None:
    if path is not None:
        from ragkpi.reports.output_files import replacing
        from ragkpi.studies.agree.panel import difference_lines

        with replacing(path, "--differences") as file:
            file.writelines(difference_lines(together))
