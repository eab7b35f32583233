"""`ragkpi check`: everything wrong or suspicious about a run, and the mended run."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ragkpi.cli.evaluation_options import QrelsFormat, RunFormat, refuse_unknown_formats
from ragkpi.cli.output_options import Digits, File, Format, output
from ragkpi.errors import UsageError

if TYPE_CHECKING:
    from ragkpi.ranking.judgements import Judgements
    from ragkpi.studies.check.mend import Mended

_DEFAULT_MEASURES = ("P.10", "recall.10,100", "success.10", "ndcg_cut.10", "recip_rank")


def command(
    run: Annotated[
        str | None, typer.Argument(metavar="RUN", help="Run; - is standard input.")
    ] = None,
    qrels: Annotated[
        str | None, typer.Argument(metavar="[QRELS]", help="Qrels, for what depends on them.")
    ] = None,
    measure: Annotated[
        list[str],
        typer.Option(
            "-m",
            "--measure",
            metavar="NAME[.PARAMS]",
            help="Look for ties at the cutoffs of these measures, and for the range that ties "
            f"leave them; repeatable. Default: {' '.join(_DEFAULT_MEASURES)}.",
        ),
    ] = [],  # noqa: B006 - typer copies defaults
    level: Annotated[
        int, typer.Option("-l", "--level_for_rel", min=0, help="Lowest level that is relevant.")
    ] = 1,
    max_hits: Annotated[
        int | None,
        typer.Option("--max-hits", min=1, help="Most documents of a query, e.g. 100 for TREC RAG."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 for warnings, too.")
    ] = False,
    format_: Format = None,
    file: File = None,
    digits: Digits = None,
    fix: Annotated[
        str | None,
        typer.Option(
            "--fix",
            metavar="OUT",
            help="Write the run sorted, ranked, without repetitions and unreadable lines, cut at "
            "--max-hits.",
        ),
    ] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="Explain every finding and every refusal, and stop.")
    ] = False,
    qrels_format: QrelsFormat = None,
    run_format: RunFormat = None,
) -> None:
    """Report everything that is wrong with a run or suspicious about it, and where.

    Exit status: 1 if there are errors (with --strict also for warnings), 0 otherwise, 2 if the
    file cannot be read at all. It is about RUN, whatever --fix could mend.

    'ragkpi check --list' is the catalogue: every finding, and every reason for which any command
    refuses a file.
    """
    if list_:
        from ragkpi.studies.check.catalogue import described

        print("\n".join(described()))
        return
    if run is None:
        raise UsageError("no run is given; expected ragkpi check [options] RUN [QRELS]")
    out = output(format_, file, digits)
    out.refuse_trec("trec_eval has no lines for findings")
    refuse_unknown_formats(qrels_format, run_format)
    from dataclasses import replace

    from ragkpi.formats.opening import Source
    from ragkpi.measures.registry import find_metrics
    from ragkpi.ranking.settings import Settings
    from ragkpi.studies.check.check_answer import check_answer
    from ragkpi.studies.check.checked_run import read_checked_run
    from ragkpi.studies.check.finding import Subject
    from ragkpi.studies.check.inspection import inspect_run
    from ragkpi.studies.check.mend import mend

    metrics = find_metrics(measure or list(_DEFAULT_MEASURES))
    judgements = _read_qrels(qrels, qrels_format)
    with Source(run) as source:
        checked = read_checked_run(source, run_format)
    settings = Settings(relevance_level=level)
    inspection = inspect_run(Subject(checked, judgements, metrics, settings, max_hits))
    if fix is not None:
        mended = mend(checked, max_hits)
        _write(mended, fix)
        inspection = replace(inspection, changes=mended.changes)
    out.write(check_answer([inspection]), out.layout())
    if inspection.count("error") or (strict and inspection.count("warning")):
        sys.stdout.flush()
        raise typer.Exit(1)


def _read_qrels(path: str | None, format_name: str | None) -> Judgements | None:
    if path is None:
        return None
    from ragkpi.formats.file_formats import read_any_qrels
    from ragkpi.ranking.judgements import group_judgements

    return group_judgements(read_any_qrels(path, format_name))


def _write(mended: Mended, target: str) -> None:
    from ragkpi.formats.file_formats import RUN_FORMATS
    from ragkpi.reports.output_files import replacing

    if not len(mended.run):
        raise UsageError(f"--fix {target}: nothing of the run can be read, so nothing is written")
    with replacing(target, "--fix") as file:
        RUN_FORMATS["trec"].write_run(mended.rankings(), mended.run.last_run_id, file)
