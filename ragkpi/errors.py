"""The errors of ragkpi, each with its exit status on the command line, and its warnings."""

from __future__ import annotations

import signal
from typing import NamedTuple

_SIGNALLED = 128  # plus the signal number


class RagkpiError(Exception):
    """A failure that the user can fix, with a one-line text and without a traceback."""

    exit_status = 1


class UsageError(RagkpiError):
    """The command line or the call has an unknown or unsuitable argument."""

    exit_status = 1


class InputError(RagkpiError):
    """A file is unreadable or its content invalid.

    The text is ``file:line: fault; expected``, with the physical, 1-based line number;
    ``line`` is left out if the error concerns the whole file. `args` stay as given, because pickle
    calls the constructor with them.
    """

    exit_status = 2

    def __init__(self, file: str, line: int | None, fault: str, expected: str) -> None:
        self.file = file
        self.line = line
        self.fault = fault
        self.expected = expected

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.fault}; {self.expected}"


class UnreadableError(InputError):
    """The system cannot open a file, or stops in the middle of it."""


class MapChoice(NamedTuple):
    """A map for ``--map-run`` or ``--map-qrels`` that a user can choose.

    `choice` distinguishes it from the others; `fold` is the ``--max-passage`` that it needs.
    """

    map: str
    choice: str = ""
    fold: str = ""


class UnsettledError(InputError):
    """Values suggest the parts of a file, but no names confirm them: nothing is read.

    ``argument`` is ``map_run`` or ``map_qrels``. The command line prints the whole command for each
    map.
    """

    def __init__(
        self,
        file: str,
        found: str,
        expected: str,
        argument: str,
        maps: list[MapChoice],
        line: int | None = None,
    ) -> None:
        super().__init__(file, line, found, expected)
        self.argument = argument
        self.maps = maps


class CommandError(InputError):
    """An input error with suggested commands, printed one per line."""

    def __init__(self, problem: InputError, commands: list[str]) -> None:
        expected = "run this command" if len(commands) == 1 else "run one of these commands"
        if any("=?" in command for command in commands):
            expected = f"replace each ? and {expected}"
        super().__init__(problem.file, problem.line, problem.fault, expected)
        self.commands = commands


class SeparateRankingsError(InputError):
    """A run holds several rankings of a query, which must not be merged."""


class GateFailedError(RagkpiError):
    """Values are worse than their limits."""

    exit_status = 3


class GateDoubtedError(RagkpiError):
    """The claim of a gate depends on unjudged documents, or on how ties are broken."""

    exit_status = 5


class DataError(RagkpiError):
    """Files are readable but contradict themselves or each other."""

    exit_status = 4


class NothingInCommonError(RagkpiError):
    """No query is in both qrels and run, so there is nothing to evaluate."""

    exit_status = 7


class RagkpiWarning(UserWarning):
    """A problem that does not stop an evaluation but affects its values."""


class RagkpiNote(RagkpiWarning):
    """A report on the effect of an option, and the number of affected queries or documents."""


class Stopped(BaseException):
    """A signal ends this process; temporary files are removed on the way out."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = _SIGNALLED + number
        self.words = f"stopped by {signal.Signals(number).name}"
