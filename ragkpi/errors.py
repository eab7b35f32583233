"""The ways an evaluation can fail, each with the exit status the command line gives it."""

from __future__ import annotations

import signal
from typing import Any

_SIGNALLED = 128  # and the number of the signal


class RagkpiError(Exception):
    """A failure that the user can mend; its text is one line, and no traceback is shown."""

    exit_status = 1


class UsageError(RagkpiError):
    """The command line or the call asks for something that does not exist or does not fit."""

    exit_status = 1


class InputError(RagkpiError):
    """A file cannot be read, or holds something that it must not hold.

    The text is ``file:line: found; expected``, with the physical, 1-based line number;
    ``line`` is left out where the error concerns the whole file.
    """

    exit_status = 2

    def __init__(self, file: str, line: int | None, found: str, expected: str) -> None:
        place = file if line is None else f"{file}:{line}"
        super().__init__(f"{place}: {found}; {expected}")
        self.file = file
        self.line = line
        self.found = found
        self.expected = expected

    def __reduce__(self) -> tuple[type[InputError], tuple[Any, ...]]:
        # Pickle would call the constructor with the text alone.
        return type(self), (self.file, self.line, self.found, self.expected)


class SeparateRankingsError(InputError):
    """A run holds several rankings of a query, which are not to be merged.

    ``finding`` is what ``ragkpi check`` calls it.
    """

    def __init__(
        self, file: str, line: int | None, found: str, expected: str, finding: str
    ) -> None:
        super().__init__(file, line, found, expected)
        self.finding = finding

    def __reduce__(self) -> tuple[type[InputError], tuple[Any, ...]]:
        return type(self), (self.file, self.line, self.found, self.expected, self.finding)


class GateFailedError(RagkpiError):
    """Numbers are worse than the limits that were set for them."""

    exit_status = 3


class DataError(RagkpiError):
    """Files that can be read, but contradict themselves or each other."""

    exit_status = 4


class NothingInCommonError(RagkpiError):
    """No query is both judged and retrieved for, so there is nothing to evaluate."""

    exit_status = 7


class RagkpiWarning(UserWarning):
    """Something that does not stop an evaluation, but that its reader must know."""


class RagkpiNote(RagkpiWarning):
    """Something that was done as asked for, and how much of it."""


class Stopped(BaseException):
    """A signal asks this process to end; on the way out files are cleaned up."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = _SIGNALLED + number
        self.words = f"stopped by {signal.Signals(number).name}"
