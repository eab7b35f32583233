"""`ragkpi check`: everything wrong or suspicious about runs, and the mended run."""

import sys
from typing import TYPE_CHECKING

from ragkpi.cli.evaluation_options import Level, Measures
from ragkpi.cli.messages import Finished
from ragkpi.cli.option_groups import Annotated, argument, option, takes
from ragkpi.cli.output_options import Output, output_of_texts
from ragkpi.cli.reading_options import reading_options
from ragkpi.errors import GateFailedError, UsageError

if TYPE_CHECKING:
    from ragkpi.cli.reading_options import Readings


@takes(output=output_of_texts, reading=reading_options)
def command(
    output: Output,
    reading: "Readings",
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
        from ragkpi.reports.fitting import on_terminal
        from ragkpi.studies.check.catalogue import described

        print(on_terminal("\n".join(described()) + "\n"), end="")
        return
    if not files:
        raise UsageError("no run is given; expected ragkpi check [options] [QRELS] RUN...")
    qrels, runs = (None, files) if len(files) == 1 else (files[0], files[1:])
    of_qrels, of_run = reading
    from ragkpi.library.checking import check

    result = check(
        runs,
        qrels,
        measure,
        relevance_level=level,
        max_hits=max_hits,
        fix=fix,
        qrels_format=of_qrels,
        run_format=of_run,
    )
    output.write(result.report)
    if result.count("error") or (strict and result.count("warning")):
        sys.stdout.flush()
        raise Finished(GateFailedError.exit_status)
