"""`ragkpi eval`: what trec_eval does, and more, with its options."""

from typing import TYPE_CHECKING

from ragkpi.cli.evaluation_options import By, EvaluationOptions, evaluation
from ragkpi.cli.gate_options import GateOptions, gates
from ragkpi.cli.human_judgements import Human, refuse_beside_human, write_corrected
from ragkpi.cli.messages import tell
from ragkpi.cli.option_groups import Annotated, argument, option, takes
from ragkpi.cli.output_options import Labels, Output, is_signed, labels, output_of_eval
from ragkpi.cli.record_options import LogFile, record
from ragkpi.cli.resampling_options import Arguments, intervals
from ragkpi.cli.run_files import by_path, exit_with, expect_files, refuse_standard_input_twice
from ragkpi.errors import UsageError
from ragkpi.reports.renderers import REPORT_FORMATS
from ragkpi.wording import counted, visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragkpi.measures.measure import Metric
    from ragkpi.reports.trec_lines import Lines
    from ragkpi.studies.evaluate.evaluation_report import EvaluationReport


@takes(
    options=evaluation,
    output=output_of_eval,
    labels=labels,
    intervals=intervals,
    record=record,
    gates=gates,
)
def command(
    options: EvaluationOptions,
    output: Output,
    labels: Labels,
    intervals: Arguments,
    record: LogFile | None,
    gates: GateOptions,
    files: Annotated[
        list[str] | None,
        argument(metavar="QRELS RUN...", help="Files; - is standard input."),
    ] = None,
    per_query: Annotated[
        bool,
        option("-q", "--per-query", "--query_eval_wanted", help="Also print a line per query."),
    ] = False,
    no_summary: Annotated[
        bool,
        option("-n", "--no-summary", "--nosummary", help="Leave out the lines over all queries."),
    ] = False,
    worst: Annotated[
        int | None,
        option(
            "--worst",
            metavar="N",
            min=1,
            help="Show the N worst queries, in a table (as -q), by --sort or the first of -m.",
        ),
    ] = None,
    sort: Annotated[
        str | None,
        option(
            "--sort",
            metavar="NAME",
            help="With -q or --worst: the queries by this measure, the worst first, in a table.",
        ),
    ] = None,
    by: By = None,
    human: Human = None,
    zscores: Annotated[
        str | None,
        option(
            *("-Z", "--zscores", "--Zscore"),
            metavar="FILE",
            help="Print z-scores, by a file of means and deviations ('ragkpi zscores' writes it).",
        ),
    ] = None,
    version: Annotated[bool, option("-v", "--version", help="Print the version and stop.")] = False,
    help_: Annotated[  # an option like the others: it takes the measures of -m into account
        bool, option("-h", "--help", help="Explain the options, or the measures of -m.")
    ] = False,
) -> None:
    """Evaluate runs against qrels.

    One run prints trec_eval's lines: name, query or all, value. Several print a table: a row per
    run, a column per value; all are over all judged queries then, as with -c, or with --common
    over those that all runs have. So is a run that a limit or a baseline is set for. With --by
    there is a table, too, with rows for all queries and for those of each label. With --ci the
    lines have the bounds in two more columns, and with --signature there is one more line.

    Options and files may stand in any order; short options may be joined (-qcm map) and long
    ones abbreviated. -h -m NAME explains a measure. Without -m: official, or what -R serves.
    """
    if version:
        from ragkpi import __version__

        print(f"ragkpi {__version__}")
        return
    if help_ and not options.requests:
        from ragkpi.cli.help_pages import page_of_command

        print(page_of_command("eval"), end="")
        return
    if help_:
        _explain(options.session().metrics())
        return
    qrels, *paths = expect_files(2, files, "two or more: ragkpi eval [options] QRELS RUN...")
    baseline = gates.fail_under_baseline
    refuse_standard_input_twice([qrels, *paths, baseline, by, options.how.get("gains")])
    if human is not None:
        refused = {
            "--format trec": output.chosen == "trec",
            "-q": per_query,
            "-n": no_summary,
            "--worst": worst is not None,
            "--sort": sort is not None,
            "-Z": zscores is not None,
            "--log": record is not None,
            "--fail-under": gates.given,
            "--by": by is not None,
        }
        refuse_beside_human(refused)
        level = intervals.get("confidence", 0.95)
        write_corrected("values", options, (human, qrels), paths, output, labels, level)
        return
    ordered = worst is not None or sort is not None
    if sort is not None and worst is None and not per_query:
        raise UsageError(f"--sort {sort}: it orders queries; expected -q or --worst N with it")
    if ordered and output.chosen == "trec":
        raise UsageError(
            "--format trec: its lines stand in the order of the ids; expected no --worst and no "
            "--sort, or another format"
        )
    alone = len(paths) == 1 and by is None
    as_lines = output.chosen == "trec" or (output.chosen is None and alone and not ordered)
    if output.chosen == "trec" and not alone:
        several = "several runs" if len(paths) > 1 else "several slices"
        raise UsageError(
            f"--format trec: its lines do not say which of {several} they are of; expected "
            + ", ".join(REPORT_FORMATS)
        )
    from ragkpi.formats.inputs import inputs
    from ragkpi.library.evaluating import evaluate

    inputs().hashed = record is not None or is_signed(output, labels)
    result = evaluate(
        qrels,
        by_path(paths) if len(paths) > 1 else paths[0],
        options.requests,
        **intervals,
        zscores=zscores,
        **gates._asdict(),
        worst=worst,
        sort=sort,
        by=by,
        problems="kept",
        **options.named(labels.names),
    )
    shown: Mapping[str, Lines] = {
        "per_query": "shown" if per_query or worst is not None else "hidden",
        "summary": "hidden" if no_summary else "shown",
    }
    if as_lines:
        _write_lines(result.evaluation, output, labels, zscores is not None, shown)
    else:
        output.write(result.report, signature=labels.signature, **shown)
    if record is not None:
        result.log(record.path, record.meta)
    for run, number in result.passed.items():
        tell(f"note: {visible(run)}: passed {counted(number, 'gate')}")
    exit_with(result.problems)


def _write_lines(
    report: "EvaluationReport",
    output: Output,
    labels: Labels,
    standardized: bool,
    shown: "Mapping[str, Lines]",
) -> None:
    """Write the only run as trec_eval does; what the bounds are is said on stderr."""
    from ragkpi.reports.output_files import opened
    from ragkpi.reports.trec_lines import NAME_WIDTH, trec_lines

    (run,) = report.runs
    with opened(output.path) as file:
        lines = trec_lines(
            run.scores,
            **shown,
            name_width=NAME_WIDTH + standardized,
            digits=output.digits,
            intervals=run.intervals,
        )
        file.writelines(lines)
        if run.signature is not None and labels.signature != "none":
            long = labels.signature == "long"
            text = run.signature.long() if long else run.signature.short()
            file.write(f"{'signature':<{NAME_WIDTH}}\tall\t{text}\n".encode())
    if report.bootstrap is not None:
        from ragkpi.studies.evaluate.evaluation_report import interval_notes

        for note in interval_notes(report.bootstrap, [run.scores]):
            tell(f"note: {note}")


def _explain(metrics: "list[Metric]") -> None:
    from ragkpi.library.describing import explanation

    measures = {metric.measure.name: metric.measure for metric in metrics}
    print("\n\n".join(map(explanation, measures.values())))
