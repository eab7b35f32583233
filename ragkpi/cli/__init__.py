"""The command line: `ragkpi COMMAND …`."""

import os
import sys

from ragkpi.errors import Stopped

_INTERRUPTED = 130


def entry() -> None:
    """Run as a program: what the `ragkpi` script calls."""
    # Ctrl-C while modules are imported ends in a line, too, and no traceback.
    sys.excepthook = _end
    sys.unraisablehook = _end_anywhere
    from ragkpi.cli.program import run

    run()


def _end(kind: type[BaseException], problem: BaseException | None, trace: object) -> None:
    if isinstance(problem, KeyboardInterrupt):
        _leave("interrupted", _INTERRUPTED)
    elif isinstance(problem, Stopped):
        _leave(problem.words, problem.status)
    sys.__excepthook__(kind, problem, trace)  # type: ignore[arg-type]


def _end_anywhere(event: "sys.UnraisableHookArgs") -> None:
    """End after a signal that comes while Python cleans up; Python itself would go on."""
    if isinstance(event.exc_value, KeyboardInterrupt | Stopped):
        _end(event.exc_type, event.exc_value, event.exc_traceback)
    sys.__unraisablehook__(event)


def _leave(words: str, status: int) -> None:
    os.write(2, f"ragkpi: {words}\n".encode())
    os._exit(status)
