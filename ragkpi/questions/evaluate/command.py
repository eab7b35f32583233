"""The commands `ragkpi eval`, `ragkpi zscores` and `ragkpi log`."""

from typing import Literal

import ragkpi
from ragkpi.cli.evaluation_options import (
    BY,
    Arguments,
    evaluation,
    intervals,
)
from ragkpi.cli.options import argument, command, option, option_group
from ragkpi.cli.output_options import (
    Output,
    Signed,
    naming,
    output,
    output_of_eval,
    signature,
    tell_gates,
)
from ragkpi.cli.runs import by_path, run_path
from ragkpi.cli.terminal import exit_with, expect_files, tell
from ragkpi.errors import UsageError
from ragkpi.files.inputs import inputs
from ragkpi.reports.output_files import output_file
from ragkpi.reports.renderers import REPORT_FORMATS
from ragkpi.version import __version__


@option_group("Gates")
def gates(
    fail_under: list[str] = option(
        "--fail-under NAME=LIMIT",
        "Exit with status 3 if a value, such as ndcg_cut_10=0.35, is worse, or that of a "
        "slice, lang=de:ndcg_cut_10=0.4 with --by; repeatable.",
        use="common",
    ),
    fail_under_baseline: list[str] = option(
        "--fail-under-baseline RUN",
        "Exit with status 3 if any value is shown to be worse than that of RUN, or of a "
        "result that ragkpi stored (-q --format json, jsonl or --log) over the same queries, with "
        "the same qrels and settings.",
        parse=run_path,
    ),
    margin: str | None = option(
        "--margin AMOUNT", "How much worse than the baseline is still good, e.g. 0.01 or 2%."
    ),
    gate_by: Literal["worse", "noninferior", "value"] | None = option(
        "--gate-by worse|noninferior|value",
        "What fails a run against the baseline: that 'ragkpi compare --family all' says it is "
        "worse, and by more than the margin; that it is not shown to be no worse; or its value "
        "alone, which fails one of two equal runs half of the time. Default: worse.",
    ),
    gate_confidence: float | None = option(
        "--gate-confidence SHARE",
        "How sure --gate-by worse or noninferior has to be. Default: 0.95.",
    ),
) -> Arguments:
    """Return the gates that runs must pass."""
    arguments = locals()
    if len(fail_under_baseline) > 1:
        raise UsageError(
            f"--fail-under-baseline {' and '.join(fail_under_baseline)}: expected one; call "
            "'ragkpi eval' for each"
        )
    return {**arguments, "fail_under_baseline": next(iter(fail_under_baseline), None)}


@option_group("Record")
def record(
    log: str | None = option(
        "--log FILE",
        "Append a line of JSON per run to FILE: files and their hashes, signature, time, "
        "values, those of queries with -q. 'ragkpi log FILE' shows it.",
    ),
    meta: list[str] = option(
        "--meta KEY=VALUE", "Say it in the record, e.g. index=2026-11-01; repeatable."
    ),
) -> Arguments:
    """Return the arguments of `RunResults.log`; nothing without ``--log``."""
    if log is None:
        if meta:
            raise UsageError(f"--meta {meta[0]}: nothing is logged; give --log FILE with it")
        return {}
    return {"path": log, "meta": _meta(meta)}


def _meta(texts: list[str]) -> dict[str, str]:
    """Read ``KEY=VALUE`` pairs."""
    meta: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not (key and equals):
            raise UsageError(f"--meta {text}: expected KEY=VALUE, such as index=2026-11-01")
        if key in meta:
            raise UsageError(f"--meta {text}: '{key}' is given twice")
        meta[key] = value
    return meta


@command
def eval(
    evaluating: Arguments = evaluation,
    output: Output = output_of_eval,
    naming: Arguments = naming,
    signature: Signed = signature,
    intervals: Arguments = intervals,
    record: Arguments = record,
    gates: Arguments = gates,
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

    One run prints trec_eval's lines: name, query or all, value, over the queries that a TREC run
    has, or with -c over all judged ones. All else is over all judged queries: several runs, other
    formats, and what is stored, logged or a gate. Several runs print a table: a row per run, a
    column per value. So does --by, with rows for all queries and for those of each label. With --ci
    the lines have the bounds in two more columns, and with --signature there is one more line.

    Options and files may come in any order; short options may be joined (-qcm map) and long
    ones abbreviated. NAME=RUN calls a run so. Without -m: official, or what -R serves; if all
    judged documents are relevant and no run is TREC: success, recall, MRR and nDCG at 5 and 10.
    """
    if version:
        print(f"ragkpi {__version__}")
        return
    if common_help or full_help:
        from ragkpi.cli.help_pages import help_page

        page = help_page("eval", "all" if full_help else "common").rstrip("\n")
        measures = evaluating.get("measures")
        print(ragkpi.describe_measures(*measures) if measures else page)
        return
    for name in ("ci_method", "resamples", "seed", "confidence"):
        if name in intervals and "ci" not in intervals:
            option_of = f"--{name.replace('_', '-')} {intervals[name]}"
            raise UsageError(f"{option_of}: there is no interval; give --ci with it")
    baseline, arguments = gates["fail_under_baseline"], evaluating | naming
    expected = "two or more: ragkpi eval [options] QRELS RUN..."
    cluster = intervals.get("cluster")
    others = baseline, by, cluster, evaluating.get("gains")
    qrels, *words = expect_files(2, files, expected, *others)
    runs = by_path(words)
    if cluster is not None and "ci" not in intervals and baseline is None:
        raise UsageError(
            f"--cluster {cluster}: nothing depends on it; give --ci or --fail-under-baseline with "
            "it"
        )
    if sort is not None and worst is None and not per_query:
        raise UsageError(f"--sort {sort}: it orders queries; expected -q or --worst N with it")
    ordered = worst is not None or sort is not None
    in_table = ordered or by is not None or len(runs) > 1
    as_lines = output.choice == "trec" or (output.choice is None and not in_table)
    if as_lines and ordered:
        raise UsageError(
            "--format trec: its lines are in the order of the ids; expected no --worst and no "
            "--sort, or another format"
        )
    if as_lines and in_table:
        several = "several runs" if len(runs) > 1 else "several slices"
        raise UsageError(
            f"--format trec: its lines do not say which of {several} they are of; expected "
            + ", ".join(REPORT_FORMATS)
        )
    inputs().hashed = bool(record or baseline) or output.is_signed(signature)
    if as_lines and not record and baseline is None and not gates["fail_under"]:
        arguments = {"missing": "trec_eval", **arguments}
    result = ragkpi.evaluate(
        qrels,
        runs if len(runs) > 1 else next(iter(runs)),
        **intervals,
        zscores=zscores,
        **gates,
        worst=worst,
        sort=sort,
        by=by,
        problems="kept",
        **arguments,
    )
    if record:
        inputs().refuse_replacing(record["path"], "--log")
    lines: Arguments = {
        "per_query": "shown" if per_query or worst is not None else "hidden",
        "summary": "hidden" if no_summary else "shown",
    }
    if as_lines:
        assert isinstance(result, ragkpi.RunResult)
        with output_file(output.path) as file:
            values: Literal["measured", "standardized"]
            values = "measured" if zscores is None else "standardized"
            file.writelines(result.trec_lines(signature, values, digits=output.digits, **lines))
        for note in result.report.interval_notes():
            tell(f"note: {note}")
    else:
        if output.choice in ("json", "jsonl"):
            result = result.with_files()
        output.write(result.report, signature=signature, **lines)
    if record:
        result.log(**record, per_query="shown" if per_query else "hidden")
    tell_gates(result.verdicts, elsewhere=not as_lines and output.is_read)
    exit_with(result.problems)


@command
def zscores(
    evaluating: Arguments = evaluation,
    output: Output = output,
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
    result = ragkpi.zscores(qrels, by_path(runs), **evaluating)
    if output.choice is None:
        result.save(output.path)
    else:
        output.write(result.report)


@command
def log(
    output: Output = output,
    file: str = argument("FILE", "What --log FILE wrote."),
    where: list[str] = option(
        "--where CONDITION",
        "Only evaluations with NAME=TEXT or NAME>=NUMBER (!=, <=, <, >), where NAME is a "
        "value, a key of --meta, run, run_id, time, signature or a part of it (N, l, qrels); "
        "repeatable.",
        use="common",
    ),
    sort: str | None = option(
        "--sort NAME",
        "The best value first, of runs over the same queries, qrels and settings. Default: as "
        "they were logged.",
        use="common",
    ),
) -> None:
    """Show logged evaluations: a row per run, the oldest first.

    The best value of every column is marked where all were computed with the same settings; where
    they were not, a column says what differs.
    """
    history = ragkpi.log(file, where, sort)
    output.write(history.report)
