"""`ragkpi eval`: what trec_eval does, and more, with its options."""

from typing import TYPE_CHECKING, Annotated, Literal

from ragkpi.cli.eval_output import Findings, Origin
from ragkpi.cli.evaluation_options import EvaluationOptions, evaluation
from ragkpi.cli.gate_options import Gates, gates
from ragkpi.cli.human_judgements import Human, refuse_beside_human, write_corrected
from ragkpi.cli.option_groups import argument, option, takes
from ragkpi.cli.output_options import Labels, Output, labels, output_of_eval
from ragkpi.cli.record_options import LogFile, record
from ragkpi.cli.resampling_options import intervals
from ragkpi.cli.run_files import (
    evaluate_runs,
    evaluate_side_by_side,
    exit_with,
    expect_files,
    refuse_standard_input_twice,
)
from ragkpi.errors import UsageError
from ragkpi.reports.renderers import FORMATS_OF_REPORTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragkpi.measures.measure import Metric
    from ragkpi.measures.scores import Scores
    from ragkpi.reports.trec_lines import Lines
    from ragkpi.statistics.bootstrap import Bootstrap


@takes(
    options=evaluation,
    output=output_of_eval,
    labels=labels,
    bootstrap=intervals,
    record=record,
    gates=gates,
)
def command(
    options: EvaluationOptions,
    output: Output,
    labels: Labels,
    bootstrap: "Bootstrap | None",
    record: LogFile | None,
    gates: Gates,
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
    over those that all runs have. So is a run that a limit or a baseline is set for. With --ci the
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
    metrics = options.values()
    if help_:
        _explain(metrics)
        return
    qrels, *paths = expect_files(2, files, "two or more: ragkpi eval [options] QRELS RUN...")
    refuse_standard_input_twice([qrels, *paths, *gates.files])
    if human is not None:
        refused = {
            "--format trec": output.format == "trec",
            "-q": per_query,
            "-n": no_summary,
            "-Z": zscores is not None,
            "--log": record is not None,
            "--fail-under": gates != Gates([], None, None),
        }
        refuse_beside_human(refused)
        level = 0.95 if bootstrap is None else bootstrap.level
        write_corrected("values", options, (human, qrels), paths, output, labels, level)
        return
    as_lines = output.format == "trec" or (output.format is None and len(paths) == 1)
    if output.format == "trec" and len(paths) > 1:
        raise UsageError(
            "--format trec: its lines do not say which of several runs they are of; expected "
            + ", ".join(FORMATS_OF_REPORTS)
        )
    from ragkpi.formats.inputs import inputs

    inputs().hashed = record is not None or Origin.is_shown(output, labels)
    runs = [*paths, *gates.files]
    if len(runs) > 1 or gates.limits:
        results = evaluate_side_by_side(options, qrels, runs, metrics)
        options = options.side_by_side()
    else:
        results = evaluate_runs(options.evaluator(qrels, metrics), runs, metrics)
    done = results.among(slice(len(paths)))
    if not done:
        exit_with(results.problems)
    scored = [one.scores for _, one in done]
    limits = [one.scores for _, one in results.among(slice(len(paths), None))]
    if zscores is not None:
        scored, limits = _standardized(zscores, scored), _standardized(zscores, limits)
    origin = None
    if record is not None or Origin.is_shown(output, labels):
        origin = Origin.of(options, metrics, {"qrels": qrels, "zscores": zscores})
    found = Findings(
        [path for path, _ in done],
        labels.of([path for path, _ in done], scored),
        scored,
        bootstrap,
        origin,
    )
    missed = gates.missed(found.names, scored, limits)
    shown: Mapping[str, Lines] = {
        "per_query": "shown" if per_query else "hidden",
        "summary": "hidden" if no_summary else "shown",
    }
    if as_lines:
        kind: Literal["plain", "standardized"] = "plain" if zscores is None else "standardized"
        found.write_lines(output, labels, metrics=kind, **shown)
    else:
        output.write(found.report, signature=labels.signature, **shown)
    if record is not None and origin is not None:
        record.append(found.report.runs, found.paths, bootstrap, origin.files)
    exit_with([*results.problems, *missed])


def _standardized(path: str, runs: "Sequence[Scores]") -> "list[Scores]":
    from ragkpi.formats.query_files import read_zscores
    from ragkpi.statistics.zscores import standardize

    norms = read_zscores(path)
    return [standardize(scores, norms) for scores in runs]


def _explain(metrics: "list[Metric]") -> None:
    from ragkpi.cli.measures import explanation

    measures = {metric.measure.name: metric.measure for metric in metrics}
    print("\n\n".join(map(explanation, measures.values())))
