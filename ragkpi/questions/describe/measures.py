"""The command `ragkpi measures`: what ragkpi computes."""

from typing import Annotated

from typer import Argument

from ragkpi.cli.output import TextOutput
from ragkpi.cli.signature import command
from ragkpi.library.options import complete_measure
from ragkpi.questions.describe.function import describe_measures
from ragkpi.reports.output_files import write
from ragkpi.reports.terminal import on_terminal


@command()
def shell(
    output: TextOutput,
    names: Annotated[
        list[str],
        Argument(
            metavar="[NAME|WORD]...",
            help="Measures or nicknames, or words to search for.",
            autocompletion=complete_measure,
        ),
    ] = [],  # noqa: B006 - typer's way to say that it may be left out
) -> None:
    """List every measure under the question that it answers, or explain those named.

    Other words are searched for: in names, in definitions, and in what other tools call a
    measure. With --format it is the same as a table: a row per measure.
    """
    description = describe_measures(*names)
    if output.choice is not None:
        output.write(description.report)
    else:
        write([on_terminal(f"{description}\n")], output.path)
