"""The command `ragkpi log`."""

from typing import Annotated, Any

from typer import Argument

from ragkpi.cli.output import Output
from ragkpi.cli.signature import command
from ragkpi.questions.evaluate.record import log


@command(log)
def shell(
    file: Annotated[str, Argument(metavar="FILE", help="What --log FILE wrote.")],
    output: Output,
    **arguments: Any,
) -> None:
    """Write logged evaluations."""
    output.write(log(file, **arguments).report)
