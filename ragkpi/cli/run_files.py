"""The files of a command line, and the messages of a command."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragkpi.cli.messages import Finished, tell
from ragkpi.errors import RagkpiError, UsageError

if TYPE_CHECKING:
    from ragkpi.library.voice import Voice


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


def terminal() -> Voice:
    """Speak on stderr."""
    import warnings

    from ragkpi.errors import RagkpiWarning
    from ragkpi.library.voice import Voice

    return Voice(
        note=lambda text: tell(f"note: {text}"),
        warn=lambda text: warnings.warn(text, RagkpiWarning, stacklevel=2),
        refuse=exit_with,
    )
