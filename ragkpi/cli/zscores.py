"""`ragkpi zscores`: the file of means and deviations that `ragkpi eval -Z` reads."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ragkpi.cli.evaluation_options import EvaluationOptions, evaluation
from ragkpi.cli.run_files import evaluate_every, expect_files
from ragkpi.cli.shared_options import takes


@takes(asked=evaluation)
def command(
    asked: EvaluationOptions,
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="QRELS RUN RUN...", help="Qrels and runs.", show_default=False),
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

    metrics = asked.values()
    results = evaluate_every(asked.evaluator(qrels, metrics), runs, metrics)
    sys.stdout.buffer.writelines(list(zscore_lines([result.scores for result in results])))
