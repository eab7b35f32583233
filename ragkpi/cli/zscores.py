"""`ragkpi zscores`: the file of means and deviations that `ragkpi eval -Z` reads."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from ragkpi.cli.evaluation_options import EvaluationOptions, evaluation
from ragkpi.cli.option_groups import argument, takes
from ragkpi.cli.output_options import Output, output
from ragkpi.cli.run_files import by_path, expect_files

if TYPE_CHECKING:
    from ragkpi.reports.answer import Answer


@takes(options=evaluation, output=output)
def command(
    options: EvaluationOptions,
    output: Output,
    files: Annotated[
        list[str] | None,
        argument(metavar="QRELS RUN RUN...", help="Qrels and runs."),
    ] = None,
) -> None:
    """Write a line "query measure mean deviation" per query and measure, over several runs.

    'ragkpi eval -Z FILE' (and trec_eval -Z) then says how many deviations a run is above the mean
    of these. The deviation is that of a sample (divisor: runs - 1). A run counts for the queries
    that it has; with -c a missing one counts as an empty ranking. What has no value per query
    (num_q, gm_map, texts) is left out. Without --format these are lines that -Z reads. Without -m:
    official, or what -R serves.
    """
    qrels, *runs = expect_files(3, files, "qrels and at least two runs")
    from ragkpi.statistics.zscores import zscore_lines

    asked = options.session()
    metrics = asked.metrics()
    results = asked.evaluate_every(asked.evaluator(qrels, metrics), by_path(runs), metrics)
    lines = list(zscore_lines([result.scores for result in results]))
    if output.format is not None:
        output.write(_answer(lines, len(runs)))
        return
    from ragkpi.reports.output_files import opened

    with opened(output.path) as file:
        file.writelines(lines)


def _answer(lines: Sequence[bytes], runs: int) -> "Answer":
    from ragkpi.reports.answer import Answer
    from ragkpi.reports.layout import Cell, Column, Table

    columns = [
        Column("query"),
        Column("measure"),
        Column("mean", "decimal"),
        Column("deviation", "decimal"),
    ]
    rows = []
    for line in lines:
        query, measure, mean, deviation = line.split()
        rows.append([Cell(query), Cell(measure), Cell(float(mean)), Cell(float(deviation))])
    return Answer(
        "zscores", Table(columns, rows), [f"Means and deviations are over {runs} runs."], {}
    )
