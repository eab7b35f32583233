"""The command `ragkpi check`: mistakes and suspicious features of runs, and the mended run."""

import sys
from typing import Annotated, Any

from typer import Argument, Exit, Option

from ragkpi.cli.output import TextOutput
from ragkpi.cli.signature import command
from ragkpi.errors import GateFailedError, UsageError
from ragkpi.library.runs import by_path
from ragkpi.questions.check.findings import catalogue
from ragkpi.questions.check.function import check
from ragkpi.reports.terminal import on_terminal


@command(check)
def shell(
    output: TextOutput,
    files: Annotated[
        list[str], Argument(metavar="[QRELS] RUN...", help="Qrels and runs, or one run alone.")
    ] = [],  # noqa: B006 - typer's way to say that it may be left out
    strict: Annotated[
        bool, Option("--strict", help="Warnings, too, leave with exit status 3.")
    ] = False,
    list_: Annotated[bool, Option("--list", help="Explain every finding, and stop.")] = False,
    **arguments: Any,
) -> None:
    """Write the findings."""
    if list_:
        print(on_terminal("\n".join(catalogue()) + "\n"), end="")
        return
    if not files:
        raise UsageError("no run is given; expected ragkpi check [options] [QRELS] RUN...")
    qrels, runs = (None, files) if len(files) == 1 else (files[0], files[1:])
    result = check(list(by_path(runs)), qrels, **arguments)
    output.write(result.report)
    if result.count("error") or (strict and result.count("warning")):
        sys.stdout.flush()
        raise Exit(GateFailedError.exit_status)
