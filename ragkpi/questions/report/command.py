"""The command `ragkpi report`: one HTML page for a team."""

import os
from typing import Annotated, Any

from typer import Argument

from ragkpi.cli.output import OutputFile
from ragkpi.cli.signature import command
from ragkpi.cli.terminal import expect_files
from ragkpi.errors import UsageError
from ragkpi.library.runs import by_path, run_path
from ragkpi.library.stored import is_result
from ragkpi.questions.report.function import report
from ragkpi.reports.output_files import write


# The page has texts of queries under --queries, and all pairs have a test of their own.
@command(report, without=("query_ids", "ties", "gains", "rel_info", "test", "correction"))
def shell(
    files: Annotated[
        list[str],
        Argument(
            metavar="[QRELS] RUN...",
            help="Qrels and runs. Runs may be results that 'ragkpi eval -q -o FILE.json' stored; "
            "if all are, QRELS may be left out. Their page has no documents.",
        ),
    ],
    output: OutputFile = None,
    **arguments: Any,
) -> None:
    """Write the page."""
    results = is_result(run_path(files[0]))
    expected = "qrels and runs: ragkpi report QRELS RUN... -o FILE"
    paths = expect_files(2 - results, files, expected, arguments.get("by"))
    qrels, runs = (None, paths) if results else (paths[0], paths[1:])
    if output is None:
        raise UsageError("a page does not fit a terminal; give it a file with -o report.html")
    suffix = os.path.splitext(output)[1].lower()
    if suffix not in ("", ".html", ".htm"):
        raise UsageError(f"-o {output}: the page is HTML; expected the suffix .html")
    page = report(qrels, by_path(runs), **arguments)
    write([page.html], output)
