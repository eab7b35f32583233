"""`ragkpi zscores`: the file of means and deviations that `ragkpi eval -Z` reads."""

import sys
from typing import Annotated

from ragkpi.cli.evaluation_options import EvaluationOptions, evaluation
from ragkpi.cli.option_groups import argument, takes
from ragkpi.cli.run_files import evaluate_every, expect_files


@takes(options=evaluation)
def command(
    options: EvaluationOptions,
    files: Annotated[
        list[str] | None,
        argument(metavar="QRELS RUN RUN...", help="Qrels and runs."),
    ] = None,
) -> None:
    """Write a line "query measure mean deviation" per query and measure, over several runs.

    'ragkpi eval -Z FILE' (and trec_eval -Z) then says how many deviations a run is above the mean
    of these. The deviation is that of a sample (divisor: runs - 1). A run counts for the queries
    that it has; with -c a missing one counts as an empty ranking. What has no value per query
    (num_q, gm_map, texts) is left out. Without -m: official, or what -R serves.
    """
    qrels, *runs = expect_files(3, files, "qrels and at least two runs")
    from ragkpi.statistics.zscores import zscore_lines

    metrics = options.values()
    results = evaluate_every(options.evaluator(qrels, metrics), runs, metrics)
    sys.stdout.buffer.writelines(list(zscore_lines([result.scores for result in results])))
