"""The command `ragkpi report`: one HTML page for a team."""

import os

import ragkpi
from ragkpi.cli.evaluation_options import BY, Arguments, comparing, of_qrels
from ragkpi.cli.options import argument, command, option
from ragkpi.cli.output_options import FILE, naming
from ragkpi.cli.runs import by_path, run_path
from ragkpi.cli.terminal import expect_files
from ragkpi.errors import UsageError
from ragkpi.reports.output_files import write

_comparing = comparing.without("test", "correction")  # of all pairs, which have their own
_evaluating = of_qrels.without("query_ids")  # the page has texts of queries under that name


@command
def report(
    evaluating: Arguments = _evaluating,
    procedure: Arguments = _comparing,
    naming: Arguments = naming,
    files: list[str] = argument(
        "[QRELS] RUN...",
        "Qrels and runs. Runs may be results that 'ragkpi eval -q -o FILE.json' stored; if all "
        "are, QRELS may be left out. Their page has no documents.",
    ),
    output: str | None = FILE,
    queries: str | None = option(
        "--queries FILE",
        "Texts of the queries: lines ID<TAB>TEXT, CSV, JSON Lines, or parquet.",
        use="common",
    ),
    corpus: str | None = option(
        "--corpus FILE",
        "Texts of the documents, in the same formats; BEIR's corpus.jsonl is one.",
        use="common",
    ),
    by: str | None = BY,
    title: str | None = option("--title TEXT", "Of the page.", use="common"),
    detail_queries: int = option(
        "--detail-queries N",
        "Show the documents of N queries: those on which the runs differ most.",
        200,
        min=0,
    ),
    detail_depth: int = option(
        "--detail-depth N", "Show N documents of a query of a run.", 100, min=1
    ),
) -> None:
    """Write one HTML page about runs: which is better, on which queries, through which documents.

    The page says which run is best as 'compare --all-pairs' does, what to do, and shows each run
    with its interval; then two runs against each other, values of queries by run, depth, --pool's
    diagnosis, what unjudged documents could change, and of each query the rankings side by side. It
    needs no network and no other file: open it from disk, mail it, keep it with a build. -o -
    writes it to standard output. Its data are in it as JSON, which 'ragkpi schema' describes. Texts
    that a run in JSON Lines carries are shown without --queries and --corpus. Without -m: ndcg_cut,
    P and recall at 10, recip_rank; with --pool also ra_nwg and pct_proc at 10, with -N bor at 10.
    """
    expected = "qrels and runs: ragkpi report QRELS RUN... -o FILE"
    from ragkpi.library.stored import is_result  # with numpy, which help does not need

    results = bool(files) and is_result(run_path(files[0]))
    paths = expect_files(2 - results, files, expected, by)
    qrels, runs = (None, paths) if results else (paths[0], paths[1:])
    if output is None:
        raise UsageError("a page does not fit a terminal; give it a file with -o report.html")
    suffix = os.path.splitext(output)[1].lower()
    if suffix not in ("", ".html", ".htm"):
        raise UsageError(f"-o {output}: the page is HTML; expected the suffix .html")
    page = ragkpi.report(
        qrels,
        by_path(runs),
        queries=queries,
        corpus=corpus,
        by=by,
        title=title,
        detail_queries=detail_queries,
        detail_depth=detail_depth,
        **procedure,
        **evaluating | naming,
    )
    write([page.html], output)
