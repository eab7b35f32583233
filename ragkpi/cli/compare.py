"""`ragkpi compare`: runs against a baseline."""

from typing import TYPE_CHECKING, Annotated

from ragkpi.cli.evaluation_options import EvaluationOptions, evaluation
from ragkpi.cli.human_judgements import Human, refuse_beside_human, write_corrected
from ragkpi.cli.option_groups import argument, takes
from ragkpi.cli.output_options import Labels, Output, is_signed, labels, output
from ragkpi.cli.resampling_options import comparing, procedure_arguments
from ragkpi.cli.run_files import by_path, exit_with, expect_files, refuse_standard_input_twice

if TYPE_CHECKING:
    from ragkpi.statistics.paired import Procedure


@takes(options=evaluation, procedure=comparing, output=output, labels=labels)
def command(
    options: EvaluationOptions,
    procedure: "Procedure",
    output: Output,
    labels: Labels,
    files: Annotated[
        list[str] | None,
        argument(metavar="QRELS BASELINE RUN...", help="Files; - is standard input."),
    ] = None,
    human: Human = None,
) -> None:
    """Compare runs with a baseline, query by query.

    A row per value and run: its mean, the difference from the baseline with an interval, on how
    many queries the run is better, equal and worse, the effect size, and how likely such a
    difference is by chance. Lines below explain the test, and a sentence for each value says who is
    better. Everything is over all judged queries, as with -c, or with --common over those that all
    runs have. Without -m: map, ndcg_cut.10, recip_rank and recall.100, or what -R serves.
    """
    expected = "three or more: ragkpi compare [options] QRELS BASELINE RUN..."
    qrels, *paths = expect_files(3, files, expected)
    refuse_standard_input_twice([qrels, *paths])
    if human is not None:
        refuse_beside_human(
            {
                "--test": procedure.test != "randomization",
                "--trials": procedure.trials != 10_000,
            }
        )
        level, correction = procedure.bootstrap.level, procedure.correction
        judges = (human, qrels)
        write_corrected("differences", options, judges, paths, output, labels, level, correction)
        return
    from ragkpi.formats.inputs import inputs
    from ragkpi.library.comparing import compare

    inputs().hashed = is_signed(output, labels)
    result = compare(
        qrels,
        by_path(paths),
        options.requests,
        **procedure_arguments(procedure),
        problems="kept",
        **options.named(labels.names),
    )
    output.write(result.report, signature=labels.signature)
    exit_with(result.problems)
