"""The command `ragkpi formats`: what ragkpi reads and writes."""

from typing import Annotated

from typer import Argument

from ragkpi.cli.signature import command
from ragkpi.library.options import complete_format
from ragkpi.questions.describe.function import describe_formats
from ragkpi.reports.terminal import on_terminal


def _complete(incomplete: str) -> list[str]:
    topics = [name for name in ("map", "names") if name.startswith(incomplete)]
    return [*complete_format(incomplete), *topics]


@command()
def shell(
    names: Annotated[
        list[str],
        Argument(
            metavar="[NAME]...",
            help="Formats to explain; map explains --map-run, names lists the names of columns.",
            autocompletion=_complete,
        ),
    ] = [],  # noqa: B006 - typer's way to say that it may be left out
) -> None:
    """List the formats of runs and qrels, and what stacks write in them, or explain those named.

    A file's format, and what its keys or columns hold, are recognised; --run-format and
    --qrels-format name the one, --map-run and --map-qrels the other.
    """
    print(on_terminal(f"{describe_formats(*names)}\n"), end="")
