"""The command `ragkpi calibrate`: which measure tracks the quality of responses."""

from typing import Annotated, Any

from typer import Argument

from ragkpi.cli.output import PlotOutput
from ragkpi.cli.signature import command
from ragkpi.cli.terminal import expect_files
from ragkpi.library.runs import by_path
from ragkpi.questions.calibrate.function import calibrate


@command(calibrate, without=("ties", "gains", "rel_info", "names"))
def shell(
    files: Annotated[list[str], Argument(metavar="QRELS RUN...", help="Qrels and runs.")],
    output: PlotOutput,
    **arguments: Any,
) -> None:
    """Write how measures are correlated with quality."""
    expected = "qrels and runs: ragkpi calibrate --quality SCORES QRELS RUN"
    qrels, *runs = expect_files(2, files, expected)
    result = calibrate(qrels, by_path(runs), **arguments)
    output.write(result.report)
    output.draw(result.charts)
