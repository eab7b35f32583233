"""The files of a command line, and the messages of a command."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ragkpi.cli.messages import Finished, tell
from ragkpi.errors import RagkpiError, RagkpiWarning, UsageError
from ragkpi.interface import Interface


def expect_files(least: int, files: Sequence[str] | None, expected: str) -> Sequence[str]:
    """Return the files of a command line; `UsageError` if there are fewer."""
    if files is None or len(files) < least:
        raise UsageError(f"{len(files or [])} files; expected {expected}")
    return files


def by_path(paths: Sequence[str]) -> dict[str, str]:
    """Return paths by different names: a file that is repeated is two runs."""
    return {
        path if paths.count(path) == 1 else f"{path}#{place}": path
        for place, path in enumerate(paths, start=1)
    }


def refuse_standard_input_twice(files: Sequence[str | None]) -> None:
    """Refuse a command line that wants standard input for more than one file."""
    if files.count("-") > 1:
        raise UsageError(f"{files.count('-')} files are -; standard input can be read once")


def exit_with(problems: Sequence[RagkpiError]) -> None:
    """End the command if there are problems: a line each, and the status of the first."""
    if not problems:
        return
    sys.stdout.flush()
    for problem in problems:
        tell(problem)
    raise Finished(problems[0].exit_status)


class CommandLine(Interface):
    """Options as they are declared, notes on stderr, a line for every problem."""

    def option(self, argument: str, value: str) -> str:
        """Name the option that is declared for an argument; without one, after the argument."""
        from shlex import quote

        from ragkpi.cli.evaluation_options import evaluation

        names = {
            argument: parameter.names[0]
            for parameter in evaluation.options()
            for argument in parameter.arguments or [parameter.name]
        }
        flag = names.get(super().option(argument, value))
        if flag is not None:
            return flag
        name = names.get(argument, f"--{argument.replace('_', '-')}")
        return f"{name} {quote(value)}" if value else name

    def request_text(self, measure: str) -> str:
        return f"-m {measure}"

    def note(self, text: str) -> None:
        tell(f"note: {text}")

    def warn(self, text: str) -> None:
        import warnings

        warnings.warn(text, RagkpiWarning, stacklevel=2)

    def refuse(self, problems: Sequence[RagkpiError]) -> None:
        exit_with(problems)
