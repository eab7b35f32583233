"""The command `ragkpi holes`: how much unjudged documents can change values."""

from typing import Annotated, Any

from typer import Argument, Option

from ragkpi.cli.output import PlotOutput
from ragkpi.cli.signature import command
from ragkpi.cli.terminal import expect_files
from ragkpi.library.options import MORE
from ragkpi.library.runs import by_path
from ragkpi.questions.holes.function import holes
from ragkpi.reports.output_files import replacing


@command(
    holes, without=("pool", "pool_depth", "pool_union", "ties", "gains", "rel_info", "unjudged")
)
def shell(
    files: Annotated[list[str], Argument(metavar="QRELS RUN...", help="Qrels and runs.")],
    output: PlotOutput,
    assess: Annotated[
        str | None,
        Option(
            metavar="FILE",
            help="Write all documents worth judging, best ranks first (for RA-nWG alone those "
            "that settle most): tab-separated query, document, share of the uncertainty, runs, "
            "best rank.",
        ),
    ] = None,
    assess_qrels: Annotated[
        str | None,
        Option(
            metavar="FILE",
            help="The same as qrels lines of level -1 (unjudged), for assessors to fill in.",
            rich_help_panel=MORE,
        ),
    ] = None,
    **arguments: Any,
) -> None:
    """Write the bounds, and the documents to judge."""
    qrels, *runs = expect_files(2, files, "qrels and runs: ragkpi holes QRELS RUN")
    result = holes(qrels, by_path(runs), **arguments)
    if assess is not None:
        with replacing(assess, "--assess") as file:
            file.writelines(result.assessment_lines())
    if assess_qrels is not None:
        with replacing(assess_qrels, "--assess-qrels") as file:
            file.writelines(result.open_qrels_lines())
    output.write(result.report)
    output.draw(result.charts)
