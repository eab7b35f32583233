"""The command `ragkpi verify`: whether a stored result follows from its files."""

from typing import Annotated

from typer import Argument

from ragkpi.cli.output import Output
from ragkpi.cli.signature import command
from ragkpi.cli.terminal import exit_with
from ragkpi.questions.verify.function import verify


@command(verify)
def shell(
    file: Annotated[
        str,
        Argument(metavar="RESULT", help="What eval -o FILE.json, FILE.jsonl or --log FILE wrote."),
    ],
    output: Output,
) -> None:
    """Write what differs."""
    verification = verify(file)
    output.write(verification.report)
    exit_with(verification.problems)
