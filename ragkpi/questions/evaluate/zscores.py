"""`ragkpi zscores`: the file of means and deviations that `ragkpi eval -Z` reads."""

from ragkpi.cli.evaluation_options import EvaluationOptions, evaluation
from ragkpi.cli.options import argument, takes
from ragkpi.cli.output_options import Output, output
from ragkpi.cli.terminal import by_path, expect_files


@takes(options=evaluation, output=output)
def command(
    options: EvaluationOptions,
    output: Output,
    files: list[str] = argument("QRELS RUN RUN...", "Qrels and runs."),
) -> None:
    """Write a line "query measure mean deviation" per query and measure, over several runs.

    'ragkpi eval -Z FILE' (and trec_eval -Z) then says how many deviations a run is above the mean
    of these. The deviation is that of a sample (divisor: runs - 1). A run counts for the queries
    that it has; with -c a missing one counts as an empty ranking. What has no value per query
    (num_q, gm_map, texts) is left out. Unless --format or the suffix of -o names another format,
    these are lines that -Z reads. Without -m: official, or what -R serves.
    """
    qrels, *runs = expect_files(3, files, "qrels and at least two runs")
    from ragkpi.questions.evaluate.deviations import zscores

    result = zscores(qrels, by_path(runs), options.requests, **options.how)
    if output.chosen is None:
        result.save(output.path)
    else:
        output.write(result.report)
