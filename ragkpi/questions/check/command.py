"""`ragkpi check`: errors and suspicious features of runs, and the fixed run."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Unpack, get_args

from typer import Argument, Exit, Option

from ragkpi.cli.output import TextOutput
from ragkpi.cli.signature import command
from ragkpi.errors import GateFailedError, SeparateRankingsError, UsageError
from ragkpi.files.formats import read_any_qrels, reader_of
from ragkpi.files.opening import Source
from ragkpi.files.writing import write_trec, write_trec_qrels
from ragkpi.interface import spell
from ragkpi.library.arguments import readings_of
from ragkpi.library.examiner import Examination, ExaminedRun, examine
from ragkpi.library.options import HowRead, Level, Measures, one_of, whole
from ragkpi.library.result import Result
from ragkpi.library.runs import by_path
from ragkpi.measures.registry import find_metrics
from ragkpi.questions.check.answer import (
    Inspection,
    check_answer,
    inspect_run,
    judged_again,
    mended,
    refused_run,
)
from ragkpi.questions.check.findings import Severity, catalogue
from ragkpi.ranking.judged import Settings
from ragkpi.ranking.judgements import Fold, folded, group_judgements, repeated_rows
from ragkpi.reports.output_files import replacing
from ragkpi.reports.terminal import on_terminal

USUAL_MEASURES = ("P.10", "recall.10,100", "success.10", "ndcg_cut.10", "recip_rank")


@dataclass(frozen=True, eq=False, repr=False)
class CheckResult(Result):
    """The findings about runs.

    Attributes
    ----------
    inspections
        All findings about each run.
    """

    inspections: Sequence[Inspection] = ()

    def count(self, severity: Severity) -> int:
        """Count the findings of a severity, over all runs."""
        return sum(inspection.count(severity) for inspection in self.inspections)


def check(
    run: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    qrels: str | os.PathLike[str] | None = None,
    measures: Measures = (),
    *,
    relevance_level: Level = 1,
    max_hits: Annotated[
        int | None,
        Option(metavar="N", min=1, help="Maximum documents per query, such as 100 for TREC RAG."),
    ] = None,
    fix: Annotated[
        str | os.PathLike[str] | None,
        Option(
            metavar="OUT",
            help="Write a fixed run: sorted, ranked, without duplicates and unreadable lines, "
            "cut at --max-hits.",
        ),
    ] = None,
    repeated: Annotated[
        str | None,
        Option(
            metavar="max|mean|last",
            help="With --fix, write the qrels instead, and of repeated judgements this level.",
        ),
    ] = None,
    **how: Unpack[HowRead],
) -> CheckResult:
    """Report errors and suspicious features of runs, with their lines.

    Ties are checked at the cutoffs of the measures of -m, with the range that they leave for each
    measure; without -m: P.10, recall.10,100, success.10, ndcg_cut.10 and recip_rank.

    Exit status: 3 if there are errors (with --strict also for warnings), 0 otherwise, 2 if a
    file is unreadable. The status is about the input, whatever --fix fixes.

    'ragkpi check --list' shows the catalogue of findings.

    Parameters
    ----------
    run
        A path, or several. Runs in memory have no lines to report; functions refuse them if they
        are wrong.
    qrels
        A path, for the findings that need judgements.
    measures
        The measures whose cutoffs are checked for ties.
    how
        See `HowRead`: ``map_run``, ``score_order``, ``max_passage``, …

    Examples
    --------
    >>> import ragkpi
    >>> result = ragkpi.check("fixtures/runs/fusion.run", "fixtures/qrels.txt")
    >>> {row["finding"] for row in result.rows}
    {...'ties'...}
    """
    paths: list[Any] = list(run) if isinstance(run, list | tuple) else [run]
    wrong = [path for path in (*paths, qrels or "") if not isinstance(path, str | os.PathLike)]
    if wrong:
        raise UsageError(f"check is about files, not {type(wrong[0]).__name__}; expected a path")
    if fix is not None and len(paths) > 1:
        raise UsageError(f"{spell('fix')} {os.fspath(fix)}: {len(paths)} runs; expected one")
    level = whole("relevance_level", relevance_level, 0)
    most = None if max_hits is None else whole("max_hits", max_hits, 1)
    of_qrels, of_run = readings_of(how)
    requests = [measures] if isinstance(measures, str) else list(measures)
    metrics = find_metrics(requests or list(USUAL_MEASURES))
    judgements, inspections = None, []
    fold: Fold = "max" if repeated is None else one_of("repeated", repeated, get_args(Fold))
    if repeated is not None and (fix is None or qrels is None):
        raise UsageError(f"{spell('repeated', repeated)}: expected QRELS and {spell('fix', 'OUT')}")
    if qrels is not None:
        columns = read_any_qrels(os.fspath(qrels), of_qrels)
        if len(repeated_rows(columns)[0]):
            inspections.append(judged_again(columns))
            columns = folded(columns, fold)
        if repeated is not None and fix is not None:
            with replacing(os.fspath(fix), spell("fix")) as out:
                write_trec_qrels(columns.read_as("levels"), out)
            fix = None
        judgements = group_judgements(columns)
    examination = Examination(judgements, metrics, Settings(relevance_level=level), most)
    for path in paths:
        with Source(os.fspath(path)) as source:
            run_of_path: ExaminedRun | None = None
            try:
                run_of_path = examine(source, reader_of("run", source, of_run), examination)
                inspection = inspect_run(run_of_path)
            except SeparateRankingsError as problem:
                inspection = refused_run(source.name, problem)
            if fix is not None:
                if not run_of_path:
                    raise UsageError(
                        f"{spell('fix')} {os.fspath(fix)}: no line of the run is readable, so "
                        "no file is written"
                    )
                with replacing(os.fspath(fix), spell("fix")) as out:
                    write_trec(mended(run_of_path), out)
        inspections.append(inspection if fix else replace(inspection, changes=None))
    return CheckResult(check_answer(inspections), inspections=inspections)


@command(
    check,
    examples=(
        "ragkpi check qrels.txt runs/bm25.run runs/dense.run",
        "ragkpi check --fix fixed.run first_stage.run",
        "ragkpi check --list",
    ),
)
def shell(
    output: TextOutput,
    files: Annotated[
        list[str], Argument(metavar="[QRELS] RUN...", help="Qrels and runs, or one run alone.")
    ] = [],  # noqa: B006 - typer's way to say that it may be left out
    strict: Annotated[
        bool, Option("--strict", help="Also exit with status 3 for warnings.")
    ] = False,
    list_: Annotated[bool, Option("--list", help="Explain every finding and exit.")] = False,
    **arguments: Any,
) -> None:
    """Write the findings."""
    if list_:
        print(on_terminal("\n".join(catalogue()) + "\n"), end="")
        return
    if not files:
        raise UsageError("no run; expected ragkpi check [options] [QRELS] RUN...")
    qrels, runs = (None, files) if len(files) == 1 else (files[0], files[1:])
    each = [of if isinstance(of, list) else [of] for of in by_path(runs).values()]
    result = check([run for seeds in each for run in seeds], qrels, **arguments)
    output.write(result.report)
    if result.count("error") or (strict and result.count("warning")):
        sys.stdout.flush()
        raise Exit(GateFailedError.exit_status)
