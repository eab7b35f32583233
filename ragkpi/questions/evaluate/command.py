"""The command `ragkpi eval`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from typer import Argument, Option

from ragkpi.cli.output import EvalOutput, Signed, tell_gates
from ragkpi.cli.signature import command
from ragkpi.cli.terminal import exit_with, expect_files, tell
from ragkpi.errors import UsageError
from ragkpi.files.inputs import inputs
from ragkpi.library.options import MORE, TREC_EVAL, PerQuery
from ragkpi.library.runs import by_path
from ragkpi.questions.evaluate.function import RunResult, evaluate
from ragkpi.reports.output_files import output_file
from ragkpi.reports.renderers import REPORT_FORMATS
from ragkpi.reports.trec_lines import Lines


@dataclass(frozen=True)
class Log:
    """A log of evaluations."""

    log: Annotated[
        str | None,
        Option(
            metavar="FILE",
            help="Append a line of JSON per run to FILE: files and their hashes, signature, time, "
            "values, those of queries with -q. 'ragkpi log FILE' shows it.",
            rich_help_panel=MORE,
        ),
    ] = None
    meta: Annotated[
        Sequence[str],
        list[str],
        Option(
            metavar="KEY=VALUE",
            help="Say it in the record, e.g. index=2026-11-01; repeatable.",
            rich_help_panel=MORE,
        ),
    ] = ()

    def __post_init__(self) -> None:
        if self.meta and self.log is None:
            raise UsageError(f"--meta {self.meta[0]}: nothing is logged; give --log FILE with it")
        _ = self.notes  # refuses wrong ones before any file is read

    @property
    def notes(self) -> dict[str, str]:
        """The pairs of ``--meta``."""
        notes: dict[str, str] = {}
        for text in self.meta:
            key, equals, value = text.partition("=")
            if not (key and equals):
                raise UsageError(f"--meta {text}: expected KEY=VALUE, such as index=2026-11-01")
            if key in notes:
                raise UsageError(f"--meta {text}: '{key}' is given twice")
            notes[key] = value
        return notes


@command(evaluate)
def shell(
    files: Annotated[
        list[str], Argument(metavar="QRELS RUN...", help="Files; - is standard input.")
    ],
    output: EvalOutput,
    record: Log,
    per_query: PerQuery = False,
    no_summary: Annotated[
        bool,
        Option(
            "-n",
            "--no-summary",
            help="Leave out the lines over all queries.",
            rich_help_panel=MORE,
        ),
    ] = False,
    signature: Signed = "none",
    results_format: Annotated[  # noqa: ARG001 - it has one value
        Literal["trec_results"],
        Option(
            "-T",
            "--Results_format",
            help="Format of RUN: trec_results alone.",
            rich_help_panel=TREC_EVAL,
        ),
    ] = "trec_results",
    **arguments: Any,
) -> None:
    """Write an evaluation."""
    _refuse_idle(arguments, per_query)
    baseline = _only_baseline(arguments.pop("fail_under_baseline", []))
    if baseline is not None:
        arguments["fail_under_baseline"] = baseline
    others = (baseline, *(arguments.get(name) for name in ("by", "cluster", "gains")))
    expected = "two or more: ragkpi eval [options] QRELS RUN..."
    qrels, *words = expect_files(2, files, expected, *others)
    runs = by_path(words)
    ordered = "worst" in arguments or "sort" in arguments
    in_table = ordered or "by" in arguments or len(runs) > 1
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
    kept = record.log is not None or baseline is not None
    inputs().hashed = kept or output.is_signed(signature)
    if as_lines and not kept and "fail_under" not in arguments:
        arguments = {"missing": "trec_eval", **arguments}
    result = evaluate(
        qrels,
        runs if len(runs) > 1 else next(iter(runs)),
        problems="kept",
        **arguments,
    )
    if record.log is not None:
        inputs().refuse_replacing(record.log, "--log")
    queries: Lines = "shown" if per_query or "worst" in arguments else "hidden"
    summary: Lines = "hidden" if no_summary else "shown"
    if as_lines:
        assert isinstance(result, RunResult)
        with output_file(output.path) as file:
            values: Literal["measured", "standardized"]
            values = "standardized" if "zscores" in arguments else "measured"
            file.writelines(
                result.trec_lines(
                    signature, values, digits=output.digits, per_query=queries, summary=summary
                )
            )
        for note in result.report.interval_notes():
            tell(f"note: {note}")
    else:
        if output.choice in ("json", "jsonl"):
            result = result.with_files()
        output.write(result.report, signature=signature, per_query=queries, summary=summary)
    if record.log is not None:
        result.log(record.log, record.notes, per_query="shown" if per_query else "hidden")
    tell_gates(result.verdicts, elsewhere=not as_lines and output.is_read)
    exit_with(result.problems)


def _only_baseline(baselines: Sequence[str]) -> str | None:
    if len(baselines) > 1:
        raise UsageError(
            f"--fail-under-baseline {' and '.join(baselines)}: expected one; call 'ragkpi eval' "
            "for each"
        )
    return next(iter(baselines), None)


def _refuse_idle(arguments: Mapping[str, Any], per_query: bool) -> None:
    """Raise `UsageError` for an option that changes nothing without another one."""
    for name in ("ci_method", "resamples", "seed", "confidence"):
        if name in arguments and "ci" not in arguments:
            option = f"--{name.replace('_', '-')} {arguments[name]}"
            raise UsageError(f"{option}: there is no interval; give --ci with it")
    cluster = arguments.get("cluster")
    if cluster is not None and not {"ci", "fail_under_baseline"} & arguments.keys():
        raise UsageError(
            f"--cluster {cluster}: nothing depends on it; give --ci or --fail-under-baseline with "
            "it"
        )
    if "sort" in arguments and "worst" not in arguments and not per_query:
        raise UsageError(
            f"--sort {arguments['sort']}: it orders queries; expected -q or --worst N with it"
        )
