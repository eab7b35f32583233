"""The command `ragkpi inspect`: what files are."""

from typing import Annotated, Any

from typer import Argument

from ragkpi.cli.output import TextOutput
from ragkpi.cli.signature import command
from ragkpi.questions.inspect.function import inspect


@command(inspect)
def shell(
    files: Annotated[
        list[str], Argument(metavar="FILE...", help="Runs, qrels, and folders of them.")
    ],
    output: TextOutput,
    **arguments: Any,
) -> None:
    """Write what files are."""
    output.write(inspect(files, **arguments).report)
