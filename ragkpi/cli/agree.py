"""`ragkpi agree`: whether judgements agree with others, and order runs alike."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from ragkpi.cli.answer_options import Output, output
from ragkpi.cli.evaluation_options import EvaluationOptions, without_pool
from ragkpi.cli.resampling_options import comparing
from ragkpi.cli.run_files import evaluate_every, expect_files, refuse_standard_input_twice
from ragkpi.cli.shared_options import takes
from ragkpi.errors import RagkpiWarning, UsageError

if TYPE_CHECKING:
    from ragkpi.measures.scores import Scores
    from ragkpi.ranking.judgements import Judgements
    from ragkpi.statistics.paired import Procedure
    from ragkpi.studies.agree.panel import Panel

_DEFAULT = ("ndcg_cut.10",)


@takes(asked=without_pool, out=output, procedure=comparing)
def command(
    asked: EvaluationOptions,
    out: Output,
    procedure: Procedure,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="QRELS OTHER [RUN...]",
            help="The reference, such as people; the judgements in question; runs.",
            show_default=False,
        ),
    ] = None,
    judge: Annotated[
        list[str],
        typer.Option("--judge", metavar="QRELS", help="One more judge; repeatable."),
    ] = [],  # noqa: B006 - typer copies defaults
    judges: Annotated[
        str | None,
        typer.Option(
            "--judges", metavar="NAME,NAME,...", help="Call the judges so, not after their files."
        ),
    ] = None,
    map_levels: Annotated[
        str | None,
        typer.Option(
            "--map-levels",
            metavar="MAP",
            help="Put the levels of QRELS on another scale, e.g. 0=0,1=0,2=1,3=2.",
        ),
    ] = None,
    map_other: Annotated[
        str | None,
        typer.Option("--map-other", metavar="MAP", help="The same for OTHER, and for --judge."),
    ] = None,
    per_query: Annotated[
        bool,
        typer.Option(
            "-q",
            "--query_eval_wanted",
            help="Also show what the judges disagree about: a row per query, the worst first.",
        ),
    ] = False,
    differences: Annotated[
        str | None,
        typer.Option(
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
    given = _judges(asked, paths, map_levels, map_other)
    together = panel(_names(judges, paths), given)
    doubt = scales_differ(together)
    if doubt and not (map_levels or map_other):
        warnings.warn(doubt, RagkpiWarning, stacklevel=2)
    scores = _evaluated(asked, given, runs) if runs else []
    found = agree(together, run_names(runs), scores, procedure)
    _write_differences(together, differences)
    out.write(agree_answer(found, "shown" if per_query else "hidden"), agree_charts(found))


def _judges(
    asked: EvaluationOptions, paths: Sequence[str], map_levels: str | None, map_other: str | None
) -> list[Judgements]:
    """Read the judgements, each on the common scale."""
    from ragkpi.formats.file_formats import read_any_qrels
    from ragkpi.ranking.judgements import group_judgements
    from ragkpi.studies.agree.panel import mapped, parse_level_map

    scales = {
        option: parse_level_map(text, option) if text is not None else {}
        for option, text in (("--map-levels", map_levels), ("--map-other", map_other))
    }
    read = [group_judgements(read_any_qrels(path, asked.qrels_format)) for path in paths]
    options = ["--map-levels", *["--map-other"] * (len(paths) - 1)]
    return [
        mapped(judgements, scales[option], option)
        for judgements, option in zip(read, options, strict=True)
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
    asked: EvaluationOptions, judges: Sequence[Judgements], runs: Sequence[str]
) -> list[list[Scores]]:
    """Evaluate the runs under every judge."""
    from ragkpi.studies.agree.agree_study import evaluators

    metrics = asked.values(_DEFAULT)
    return [
        [result.scores for result in evaluate_every(evaluator, runs, metrics)]
        for evaluator in evaluators(judges, asked.settings)
    ]


def _write_differences(together: Panel, path: str | None) -> None:
    if path is not None:
        from ragkpi.reports.output_files import replacing
        from ragkpi.studies.agree.panel import difference_lines

        with replacing(path, "--differences") as file:
            file.writelines(difference_lines(together))
