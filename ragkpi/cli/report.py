"""`ragkpi report`: one page that a team looks at."""

import os

from ragkpi.cli.evaluation_options import By, EvaluationOptions, of_qrels
from ragkpi.cli.option_groups import Annotated, argument, option, takes
from ragkpi.cli.output_options import File, Labels, labels
from ragkpi.cli.resampling_options import Arguments, comparing
from ragkpi.cli.run_files import by_path, expect_files, refuse_standard_input_twice
from ragkpi.errors import UsageError


@takes(options=of_qrels, procedure=comparing, labels=labels.without(short=False, long=False))
def command(
    options: EvaluationOptions,
    procedure: Arguments,
    labels: Labels,
    files: Annotated[
        list[str] | None,
        argument(metavar="QRELS RUN...", help="Qrels and runs."),
    ] = None,
    output: File = None,
    queries: Annotated[
        str | None,
        option(
            "--queries",
            metavar="FILE",
            help="Texts of the queries: lines ID<TAB>TEXT, JSON Lines, or parquet.",
        ),
    ] = None,
    corpus: Annotated[
        str | None,
        option(
            "--corpus",
            metavar="FILE",
            help="Texts of the documents, in the same formats; BEIR's corpus.jsonl is one.",
        ),
    ] = None,
    by: By = None,
    title: Annotated[str | None, option("--title", metavar="TEXT", help="Of the page.")] = None,
    detail_queries: Annotated[
        int,
        option(
            "--detail-queries",
            metavar="N",
            min=0,
            help="Show the documents of N queries: those on which the runs differ most.",
        ),
    ] = 200,
    detail_depth: Annotated[
        int,
        option("--detail-depth", metavar="N", min=1, help="Show N documents of a query of a run."),
    ] = 100,
) -> None:
    """Write one HTML page about runs: which is better, on which queries, through which documents.

    The page holds a summary with intervals and p-values against any of the runs, two runs against
    each other, values of queries by run, depth, --pool's diagnosis, what unjudged documents could
    change, and of each query the rankings side by side. It needs no network and no other file:
    open it from disk, mail it, keep it with a build. -o - writes it to standard output. The JSON
    that it shows stands in it; 'ragkpi schema' describes it. Texts that a run in JSON Lines carries
    are shown without --queries and --corpus. Without -m: ndcg_cut, P and recall at 10, recip_rank;
    with --pool also ra_nwg and pct_proc at 10, with -N bor at 10.

    With several runs all judged queries count, and one that a run lacks scores as empty.
    """
    qrels, *paths = expect_files(2, files, "qrels and runs: ragkpi report QRELS RUN... -o FILE")
    refuse_standard_input_twice([qrels, *paths, by])
    if output is None:
        raise UsageError("a page is no text for a terminal; give it a file with -o report.html")
    suffix = os.path.splitext(output)[1].lower()
    if suffix not in ("", ".html", ".htm"):
        raise UsageError(f"-o {output}: the page is HTML; expected the suffix .html")
    from ragkpi.library.reporting import report
    from ragkpi.reports.output_files import write

    page = report(
        qrels,
        by_path(paths),
        options.requests,
        queries=queries,
        corpus=corpus,
        by=by,
        title=title,
        detail_queries=detail_queries,
        detail_depth=detail_depth,
        **procedure,
        **options.named(labels.names),
    )
    write(page.html, output)
