"""The command `ragkpi calibrate`: which measure tracks the quality of responses."""

from typing import Literal

import ragkpi
from ragkpi.cli.evaluation_options import Arguments, of_qrels, resampling
from ragkpi.cli.options import argument, command, option
from ragkpi.cli.output_options import Output, output_and_plot
from ragkpi.cli.runs import by_path
from ragkpi.cli.terminal import expect_files


@command
def calibrate(
    evaluating: Arguments = of_qrels,
    output: Output = output_and_plot,
    resampling: Arguments = resampling,
    quality: str = option(
        "--quality FILE",
        "How good the responses were: lines QUERY SCORE, or QUERY RUN SCORE for several "
        "runs. Any numbers whose order means something.",
        use="common",
    ),
    files: list[str] = argument("QRELS RUN...", "Qrels and runs."),
    alphas: str | None = option(
        "--alphas A,A,...",
        "Alphas to try out, from 0 to 1. Default: 0.05, 0.1, 0.15 and so on to 0.95.",
        use="common",
    ),
    alpha_by: Literal["spearman", "kendall", "pearson"] = option(
        "--alpha-by spearman|kendall|pearson",
        "The coefficient that the chosen alpha makes greatest.",
        "spearman",
    ),
    folds: int = option("--folds N", "Parts of the queries that are held out in turn.", 5, min=2),
) -> None:
    """Answer "which measure tracks the quality of responses here?".

    Every value is correlated with quality over the queries: Spearman's rho, Kendall's tau-b and
    Pearson's r, with bootstrap intervals; with several runs also within queries and over runs. A
    measure is named only where a permutation test of all measures together shows that it tracks
    quality. As the right measure may depend on it, everything is shown by K/R, too. For measures
    with an alpha from 0 to 1 (t, t_code, F, Fe) the alpha that correlates best is chosen, and tried
    on queries that it was not chosen on. Without -m: P, recall, ndcg_cut, t, t_code, F and Fe at
    10.
    """
    expected = "qrels and runs: ragkpi calibrate --quality SCORES QRELS RUN"
    qrels, *paths = expect_files(2, files, expected)
    result = ragkpi.calibrate(
        qrels,
        by_path(paths),
        quality,
        alphas=alphas,
        alpha_by=alpha_by,
        folds=folds,
        **resampling,
        **evaluating,
    )
    output.write(result.report, result.charts)
