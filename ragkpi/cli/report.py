"""`ragkpi report`: one page that a team looks at."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

from ragkpi.cli.evaluation_options import By, EvaluationOptions, of_qrels
from ragkpi.cli.option_groups import argument, option, takes
from ragkpi.cli.output_options import File, Labels, labels
from ragkpi.cli.resampling_options import comparing
from ragkpi.cli.run_files import by_path, expect_files, refuse_standard_input_twice
from ragkpi.errors import UsageError

if TYPE_CHECKING:
    from ragkpi.statistics.paired import Procedure


@takes(options=of_qrels, procedure=comparing, labels=labels.without(short=False, long=False))
def command(
    options: EvaluationOptions,
    procedure: "Procedure",
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
    refuse_standard_input_twice([qrels, *paths])
    if output is None:
        raise UsageError("a page is no text for a terminal; give it a file with -o report.html")
    from ragkpi.formats.query_labels import read_query_labels
    from ragkpi.library.reporting import make_report, page_session
    from ragkpi.reports.output_files import write
    from ragkpi.studies.report.report_options import ReportOptions

    asked = page_session(options.session(), len(paths))
    page = ReportOptions(
        title=title or "",
        procedure=procedure,
        query_texts=queries,
        document_texts=corpus,
        labels={} if by is None else read_query_labels(by),
        detail_queries=detail_queries,
        detail_depth=detail_depth,
        signature=asked.signature(asked.metrics(), asked.files(qrels=qrels)),
    )
    made = make_report(asked, qrels, by_path(paths), page, partial(labels.of, paths))
    write(made.html, output)
