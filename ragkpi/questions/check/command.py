"""The command `ragkpi check`: mistakes and suspicious features of runs, and the mended run."""

import sys

import ragkpi
from ragkpi.cli.evaluation_options import LEVEL, MEASURES, Arguments, reading_options
from ragkpi.cli.options import argument, command, option
from ragkpi.cli.output_options import Output, output_of_texts
from ragkpi.cli.runs import by_path
from ragkpi.cli.terminal import Finished
from ragkpi.errors import GateFailedError, UsageError
from ragkpi.reports.terminal import on_terminal


@command
def check(
    output: Output = output_of_texts,
    reading: Arguments = reading_options,
    files: list[str] = argument("[QRELS] RUN...", "Qrels and runs, or one run alone."),
    measure: list[str] = MEASURES,
    level: int = LEVEL,
    max_hits: int | None = option(
        "--max-hits N", "Most documents of a query, such as 100 for TREC RAG.", min=1, use="common"
    ),
    strict: bool = option("--strict", "Warnings, too, leave with exit status 3.", use="common"),
    fix: str | None = option(
        "--fix OUT",
        "Write the run sorted, ranked, without repetitions and unreadable lines, cut at "
        "--max-hits.",
        use="common",
    ),
    list_: bool = option("--list", "Explain every finding, and stop.", use="common"),
) -> None:
    """Report everything that is wrong with runs or suspicious about them, and where.

    Ties are looked for at the cutoffs of the measures of -m, and the range that they leave these;
    without -m: P.10, recall.10,100, success.10, ndcg_cut.10 and recip_rank.

    Exit status: 3 if there are errors (with --strict also for warnings), 0 otherwise, 2 if a
    file cannot be read at all. It is about the runs, whatever --fix could mend.

    'ragkpi check --list' is the catalogue of findings.
    """
    if list_:
        from ragkpi.questions.check.findings import catalogue

        print(on_terminal("\n".join(catalogue()) + "\n"), end="")
        return
    if not files:
        raise UsageError("no run is given; expected ragkpi check [options] [QRELS] RUN...")
    qrels, words = (None, files) if len(files) == 1 else (files[0], files[1:])
    runs = list(by_path(words))
    result = ragkpi.check(
        runs, qrels, measure, relevance_level=level, max_hits=max_hits, fix=fix, **reading
    )
    output.write(result.report)
    if result.count("error") or (strict and result.count("warning")):
        sys.stdout.flush()
        raise Finished(GateFailedError.exit_status)
