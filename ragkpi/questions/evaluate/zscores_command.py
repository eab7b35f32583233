"""The command `ragkpi zscores`."""

from typing import Annotated, Any

from typer import Argument

from ragkpi.cli.output import Output
from ragkpi.cli.signature import command
from ragkpi.cli.terminal import expect_files
from ragkpi.library.runs import by_path
from ragkpi.questions.evaluate.zscores import zscores


@command(zscores)
def shell(
    files: Annotated[list[str], Argument(metavar="QRELS RUN RUN...", help="Qrels and runs.")],
    output: Output,
    **arguments: Any,
) -> None:
    """Write means and deviations."""
    qrels, *runs = expect_files(3, files, "qrels and at least two runs")
    result = zscores(qrels, by_path(runs), **arguments)
    if output.choice is None:
        result.save(output.path)
    else:
        output.write(result.report)
