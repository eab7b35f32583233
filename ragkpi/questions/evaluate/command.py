"""Options that say what runs have to reach: --fail-under, --fail-under-baseline, --margin."""

from typing import TYPE_CHECKING, Literal

from ragkpi.cli.evaluation_options import BY, EvaluationOptions, evaluation
from ragkpi.cli.options import argument, option, option_group, takes
from ragkpi.cli.output_options import Labels, Output, is_signed, labels, output_of_eval
from ragkpi.cli.resampling_options import Arguments, intervals
from ragkpi.cli.terminal import by_path, exit_with, expect_files, refuse_standard_input_twice, tell
from ragkpi.errors import UsageError
from ragkpi.questions.agree.command import HUMAN, refuse_beside_human, write_corrected
from ragkpi.reports.renderers import REPORT_FORMATS
from ragkpi.wording import counted, visible


@option_group("Gates")
def gates(
    fail_under: list[str] = option(
        "--fail-under NAME=LIMIT",
        "Exit with status 3 if a value, such as ndcg_cut_10=0.35, is worse, or that of a "
        "slice, lang=de:ndcg_cut_10=0.4 with --by; repeatable.",
        use="common",
    ),
    fail_under_baseline: str | None = option(
        "--fail-under-baseline RUN",
        "Exit with status 3 if any value is worse than that of RUN, or of a result that "
        "ragkpi stored (--format json, jsonl or --log).",
    ),
    margin: str | None = option(
        "--margin AMOUNT", "How much worse than the baseline is still good, e.g. 0.01 or 2%."
    ),
    gate_by: Literal["value", "worse", "noninferior"] | None = option(
        "--gate-by value|worse|noninferior",
        "What fails a run against the baseline: its value; that it is shown to be worse by "
        "more than the margin; or that it is not shown to be no worse. Default: value, "
        "which fails one of two equal runs half of the time.",
    ),
    gate_confidence: float | None = option(
        "--gate-confidence SHARE",
        "How sure --gate-by worse or noninferior has to be. Default: 0.95.",
    ),
) -> Arguments:
    """Return what runs have to reach, as `ragkpi.evaluate` takes it by name."""
    limits = []
    if fail_under:
        from ragkpi.statistics.gates import parse_gate

        limits = [(gate.name, gate.limit) for gate in map(parse_gate, fail_under)]
    return {
        "fail_under": limits,
        "fail_under_baseline": fail_under_baseline,
        "margin": margin,
        "gate_by": gate_by,
        "gate_confidence": gate_confidence,
    }


@option_group("Record")
def record(
    log: str | None = option(
        "--log FILE",
        "Append a line of JSON per run to FILE: files and their hashes, signature, time, "
        "values. 'ragkpi log FILE' shows it.",
    ),
    meta: list[str] = option(
        "--meta KEY=VALUE", "Say it in the record, e.g. index=2026-11-01; repeatable."
    ),
) -> Arguments:
    """Return the arguments of `RunResults.log`; nothing without ``--log``."""
    if log is None:
        if meta:
            raise UsageError(f"--meta {meta[0]}: nothing is written down; give --log FILE with it")
        return {}
    from ragkpi.questions.evaluate.record import parse_meta

    return {"path": log, "meta": parse_meta(meta)}


if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragkpi.cli.help_pages import Shown
    from ragkpi.library.values import EvaluationReport
    from ragkpi.reports.trec_lines import Lines


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
    record: Arguments,
    gates: Arguments,
    files: list[str] = argument("QRELS RUN...", "Files; - is standard input."),
    per_query: bool = option(
        "-q, --per-query, --query_eval_wanted", "Also print a line per query.", use="common"
    ),
    no_summary: bool = option(
        "-n, --no-summary, --nosummary", "Leave out the lines over all queries."
    ),
    worst: int | None = option(
        "--worst N",
        "Show the N worst queries, in a table (as -q), by --sort or the first of -m.",
        min=1,
        use="common",
    ),
    sort: str | None = option(
        "--sort NAME",
        "With -q or --worst: the queries by this measure, the worst first, in a table.",
    ),
    by: str | None = BY,
    human: str | None = HUMAN,
    zscores: str | None = option(
        "-Z, --zscores, --Zscore FILE",
        "Print z-scores, by a file of means and deviations ('ragkpi zscores' writes it).",
        use="trec_eval",
    ),
    version: bool = option("-v, --version", "Print the version and stop.", use="trec_eval"),
    common_help: bool = option("-h", "Show the common options, or explain the measures of -m."),
    full_help: bool = option("--help", "Show all options, or explain the measures of -m."),
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
        from ragkpi.version import __version__

        print(f"ragkpi {__version__}")
        return
    if common_help or full_help:
        _print_help(options, "all" if full_help else "common")
        return
    qrels, *paths = expect_files(2, files, "two or more: ragkpi eval [options] QRELS RUN...")
    baseline, gains = gates["fail_under_baseline"], options.how.get("gains")
    refuse_standard_input_twice([qrels, *paths, baseline, by, gains])
    if human is not None:
        refused = {
            "--format trec": output.chosen == "trec",
            "-q": per_query,
            "-n": no_summary,
            "--worst": worst is not None,
            "--sort": sort is not None,
            "-Z": zscores is not None,
            "--log": bool(record),
            "--fail-under": bool(gates["fail_under"]) or baseline is not None,
            "--by": by is not None,
        }
        refuse_beside_human(refused)
        level = intervals.get("confidence", 0.95)
        write_corrected("values", options, (human, qrels), paths, output, labels, level)
        return
    if sort is not None and worst is None and not per_query:
        raise UsageError(f"--sort {sort}: it orders queries; expected -q or --worst N with it")
    tables = {
        "ordered": worst is not None or sort is not None,
        "slices": by is not None,
        "runs": len(paths) > 1,
    }
    as_lines = output.chosen == "trec" or (output.chosen is None and not any(tables.values()))
    if as_lines:
        _refuse_as_lines(**tables)
    from ragkpi.files.inputs import inputs
    from ragkpi.questions.evaluate.function import evaluate

    inputs().hashed = bool(record) or is_signed(output, labels)
    result = evaluate(
        qrels,
        by_path(paths) if len(paths) > 1 else paths[0],
        options.requests,
        **intervals,
        zscores=zscores,
        **gates,
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
    if record:
        result.log(**record)
    for run, number in result.passed.items():
        tell(f"note: {visible(run)}: passed {counted(number, 'gate')}")
    exit_with(result.problems)


def _print_help(options: EvaluationOptions, shown: "Shown") -> None:
    """Explain the measures of -m, as trec_eval -h does; without -m, the options."""
    if not options.requests:
        from ragkpi.cli.help_pages import help_page

        print(help_page("eval", shown), end="")
        return
    from ragkpi.library.descriptions import explanation

    measures = {metric.measure.name: metric.measure for metric in options.session().metrics()}
    print("\n\n".join(map(explanation, measures.values())))


def _refuse_as_lines(*, ordered: bool, runs: bool, slices: bool) -> None:
    """Raise `UsageError` where trec_eval's lines cannot show what is asked for."""
    if ordered:
        raise UsageError(
            "--format trec: its lines stand in the order of the ids; expected no --worst and no "
            "--sort, or another format"
        )
    if runs or slices:
        several = "several runs" if runs else "several slices"
        raise UsageError(
            f"--format trec: its lines do not say which of {several} they are of; expected "
            + ", ".join(REPORT_FORMATS)
        )


def _write_lines(
    report: "EvaluationReport",
    output: Output,
    labels: Labels,
    standardized: bool,
    shown: "Mapping[str, Lines]",
) -> None:
    """Write the only run as trec_eval does; notes on stderr explain the intervals."""
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
        from ragkpi.library.values import interval_notes

        for note in interval_notes(report.bootstrap, [run.scores]):
            tell(f"note: {note}")
