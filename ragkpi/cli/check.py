"""`ragkpi check`: everything wrong or suspicious about runs, and the mended run."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ragkpi.cli.evaluation_options import Level, Measures
from ragkpi.cli.option_groups import argument, option, takes
from ragkpi.cli.output_options import Output, output
from ragkpi.cli.reading_options import reading_options
from ragkpi.errors import GateFailedError, InputError, UsageError

if TYPE_CHECKING:
    from ragkpi.formats.file_formats import Reading
    from ragkpi.ranking.judgements import Judgements
    from ragkpi.studies.check.checked_run import CheckedRun
    from ragkpi.studies.check.mend import Mended

_DEFAULT_MEASURES = ("P.10", "recall.10,100", "success.10", "ndcg_cut.10", "recip_rank")


@takes(output=output, reading=reading_options)
def command(
    output: Output,
    reading: "tuple[Reading | None, Reading | None]",
    files: Annotated[
        list[str] | None,
        argument(metavar="[QRELS] RUN...", help="Qrels and runs, or one run alone."),
    ] = None,
    measure: Measures = [],  # noqa: B006 - typer copies defaults
    level: Level = 1,
    max_hits: Annotated[
        int | None,
        option("--max-hits", min=1, help="Most documents of a query, e.g. 100 for TREC RAG."),
    ] = None,
    strict: Annotated[
        bool, option("--strict", help="Warnings, too, leave with exit status 3.")
    ] = False,
    fix: Annotated[
        str | None,
        option(
            "--fix",
            metavar="OUT",
            help="Write the run sorted, ranked, without repetitions and unreadable lines, cut at "
            "--max-hits.",
        ),
    ] = None,
    list_: Annotated[
        bool, option("--list", help="Explain every finding and every refusal, and stop.")
    ] = False,
) -> None:
    """Report everything that is wrong with runs or suspicious about them, and where.

    Ties are looked for at the cutoffs of the measures of -m, and the range that they leave these;
    without -m: P.10, recall.10,100, success.10, ndcg_cut.10 and recip_rank.

    Exit status: 3 if there are errors (with --strict also for warnings), 0 otherwise, 2 if a
    file cannot be read at all. It is about the runs, whatever --fix could mend.

    'ragkpi check --list' is the catalogue: every finding, and every reason for which any command
    refuses a file.
    """
    if list_:
        from ragkpi.studies.check.catalogue import described

        print("\n".join(described()))
        return
    if not files:
        raise UsageError("no run is given; expected ragkpi check [options] [QRELS] RUN...")
    qrels, runs = (None, files) if len(files) == 1 else (files[0], files[1:])
    if fix is not None and len(runs) > 1:
        raise UsageError(f"--fix {fix}: {len(runs)} runs; expected one")
    of_qrels, of_run = reading
    from dataclasses import replace

    from ragkpi.measures.registry import find_metrics
    from ragkpi.ranking.settings import Settings
    from ragkpi.studies.check.check_answer import check_answer
    from ragkpi.studies.check.finding import Subject
    from ragkpi.studies.check.inspection import inspect_run
    from ragkpi.studies.check.mend import mend

    metrics = find_metrics(measure or list(_DEFAULT_MEASURES))
    judgements = _read_qrels(qrels, runs[0], of_qrels)
    settings = Settings(relevance_level=level)
    inspections = []
    for run in runs:
        checked = _read_run(run, of_run)
        inspection = inspect_run(Subject(checked, judgements, metrics, settings, max_hits))
        if fix is not None:
            mended = mend(checked, max_hits)
            _write(mended, fix)
            inspection = replace(inspection, changes=mended.changes)
        inspections.append(inspection)
    output.write(check_answer(inspections))
    found = [inspection.count("error") for inspection in inspections]
    if strict:
        found += [inspection.count("warning") for inspection in inspections]
    if any(found):
        sys.stdout.flush()
        raise typer.Exit(GateFailedError.exit_status)


def _read_run(path: str, reading: "Reading | None") -> "CheckedRun":
    from ragkpi.formats.opening import Source
    from ragkpi.studies.check.checked_run import read_checked_run

    with Source(path) as source:
        return read_checked_run(source, reading)


def _read_qrels(path: str | None, run: str, reading: "Reading | None") -> "Judgements | None":
    """Read the qrels; where they are none but the first run is, say that the two are swapped."""
    if path is None:
        return None
    from ragkpi.formats.file_formats import read_any_qrels
    from ragkpi.ranking.judgements import group_judgements

    try:
        return group_judgements(read_any_qrels(path, reading))
    except InputError as problem:
        if _is_qrels(run):
            raise UsageError(
                f"{problem}; {run} holds qrels, so the two are swapped: ragkpi check {run} {path}"
            ) from None
        raise


def _is_qrels(path: str) -> bool:
    from ragkpi.formats.opening import Source
    from ragkpi.formats.recognition import HEAD_LENGTH, recognise_kind

    try:
        with Source(path) as source:
            return recognise_kind(source.peek(HEAD_LENGTH)) == "qrels"
    except InputError:
        return False


def _write(mended: "Mended", target: str) -> None:
    from ragkpi.formats.file_formats import RUN_FORMATS
    from ragkpi.reports.output_files import replacing

    if not len(mended.run):
        raise UsageError(f"--fix {target}: nothing of the run can be read, so nothing is written")
    with replacing(target, "--fix") as file:
        RUN_FORMATS["trec"].write_run(mended.rankings(), mended.run.last_run_id, file)
