"""`ragkpi agree`: whether judges agree, and order runs alike."""

import ragkpi
from ragkpi.cli.evaluation_options import Arguments, resampling, without_pool
from ragkpi.cli.options import argument, command, option
from ragkpi.cli.output_options import Output, naming, output_and_plot
from ragkpi.cli.runs import by_path, refuse_equal_names, run_path
from ragkpi.cli.terminal import expect_files
from ragkpi.reports.names import run_names

# Runs are always compared over the queries that all judges share.
agree_options = without_pool.without("complete", "common", "debug")


@command
def agree(
    evaluating: Arguments = agree_options,
    output: Output = output_and_plot,
    naming: Arguments = naming,
    resampling: Arguments = resampling,
    files: list[str] = argument(
        "QRELS OTHER [RUN...]", "The reference, such as people; the judgements in question; runs."
    ),
    judge: list[str] = option("--judge QRELS", "One more judge; repeatable.", use="common"),
    map_levels: str | None = option(
        "--map-levels MAP",
        "Put the levels of QRELS on another scale, such as 0=0,1=0,2=1,3=2.",
        use="common",
    ),
    map_other: str | None = option("--map-other MAP", "The same for OTHER, and for --judge."),
    per_query: bool = option(
        "-q, --per-query, --query_eval_wanted",
        "Also show what the judges disagree about: a row per query, the worst first.",
        use="common",
    ),
    differences: str | None = option(
        "--differences FILE",
        "Write every document with different levels, or that one judge alone judged: "
        "tab-separated query, document, levels.",
        use="common",
    ),
) -> None:
    """Answer "may I trust these judgements?".

    Over the documents that both judged: agreement, Cohen's kappa (plain, linear, quadratic, and of
    every level as a threshold), Krippendorff's alpha, and by how many levels OTHER is above QRELS,
    with bootstrap intervals over queries. With runs: their values under both judgements, over the
    queries that both judged, how alike the orders are (tau-b, tau_AP, Spearman, Pearson), and which
    pairs of runs change places. What people would say, from OTHER and few human judgements: ragkpi
    correct. NAME=PATH names a judge. Without -m: ndcg_cut at 10.
    """
    expected = "two qrels, then runs: ragkpi agree [options] QRELS OTHER [RUN...]"
    qrels, other, *runs = expect_files(2, files, expected, *judge)
    judges = [run_path(word) for word in (qrels, other, *judge)]
    refuse_equal_names(judges)
    reference, *others = run_names(judges)
    result = ragkpi.agree(
        judges[0],
        dict(zip(others, judges[1:], strict=True)),
        by_path(runs) or None,
        map_levels=map_levels,
        map_other=map_other,
        reference=reference,
        per_query=per_query,
        differences=differences,
        **resampling,
        **evaluating | naming,
    )
    output.write(result.report, result.charts)
