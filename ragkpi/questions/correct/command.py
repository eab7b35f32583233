"""The command `ragkpi correct`: what people would say, from few of their judgements."""

from typing import Literal

import ragkpi
from ragkpi.cli.evaluation_options import Arguments, comparing, evaluation
from ragkpi.cli.options import argument, command, option
from ragkpi.cli.output_options import Output, naming, output
from ragkpi.cli.runs import by_path
from ragkpi.cli.terminal import expect_files

testing = comparing.without("test", "trials", "family", "resamples", "seed", "cluster")


@command
def correct(
    evaluating: Arguments = evaluation,
    procedure: Arguments = testing,
    output: Output = output,
    naming: Arguments = naming,
    of: Literal["values", "differences"] = option(
        "--of values|differences",
        "Estimate the values of runs, or how they differ from the first.",
        "values",
        use="common",
    ),
    files: list[str] = argument(
        "PEOPLE QRELS RUN...", "People's judgements of some queries, a model's of all, and runs."
    ),
) -> None:
    """Answer "what would people say?", from few of their judgements and a model's of everything.

    PEOPLE are judgements of a random sample of the queries, ten at least. The values of runs under
    the model's QRELS are corrected by what people say of the same queries (prediction-powered
    inference): the interval is narrower than that of people alone, and right whatever the model's
    bias. There is no --cluster: people judge single queries, so that a cluster would lie on both
    sides. Where turns or paraphrases depend on each other, let people judge one of each; intervals
    of more are too narrow. Without -m: ndcg_cut at 10.
    """
    expected = "people's qrels, a model's, and runs: ragkpi correct PEOPLE QRELS RUN..."
    people, qrels, *runs = expect_files(3, files, expected)
    result = ragkpi.correct(people, qrels, by_path(runs), of=of, **procedure, **evaluating | naming)
    output.write(result.report)
