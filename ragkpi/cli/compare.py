"""`ragkpi compare`: runs against a baseline."""

from typing import TYPE_CHECKING, Annotated

from ragkpi.cli.eval_output import Origin
from ragkpi.cli.evaluation_options import EvaluationOptions, evaluation
from ragkpi.cli.human_judgements import Human, refuse_beside_human, write_corrected
from ragkpi.cli.option_groups import argument, takes
from ragkpi.cli.output_options import Labels, Output, labels, output
from ragkpi.cli.resampling_options import comparing
from ragkpi.cli.run_files import (
    evaluate_side_by_side,
    exit_with,
    expect_files,
    refuse_standard_input_twice,
)

if TYPE_CHECKING:
    from ragkpi.reports.signature import Signature
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
    from ragkpi.statistics.paired import compare
    from ragkpi.studies.compare.comparison_report import REPORTED, ComparisonReport

    values = options.values(REPORTED if options.rel_info == "qrels" else None)
    inputs().hashed = Origin.is_shown(output, labels)
    results = evaluate_side_by_side(options, qrels, paths, values)
    options = options.side_by_side()
    done = results.among(slice(None))
    if len(done) < 2 or not results.among(slice(1)):
        exit_with(results.problems)
    scored = [one.scores for _, one in done]
    names = labels.of([path for path, _ in done], scored)
    compared = compare(names, scored, procedure)
    signatures: list[Signature] = []
    if Origin.is_shown(output, labels):
        signatures = [Origin.of(options, values, {"qrels": qrels}).signature] * len(done)
    report = ComparisonReport(compared, signatures)
    output.write(report, signature=labels.signature)
    exit_with(results.problems)
