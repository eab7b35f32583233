"""The command line: `ragkpi COMMAND …`."""

import os
import sys

from ragkpi.errors import InputError, Stopped

_INTERRUPTED = 130


def entry() -> None:
    """Run the program; the `ragkpi` script calls this."""
    # Ctrl-C during imports also prints one line and no traceback.
    sys.excepthook = _end
    sys.unraisablehook = _end_anywhere
    from ragkpi.cli.process import MEMORY, has_room

    if not has_room():  # not even for numpy, whose own message would be long
        _leave(f"error: {MEMORY}", InputError.exit_status)
    from ragkpi.cli.program import run

    run()


def _end(kind: type[BaseException], problem: BaseException | None, trace: object) -> None:
    if isinstance(problem, KeyboardInterrupt):
        _leave("interrupted", _INTERRUPTED)
    elif isinstance(problem, Stopped):
        _leave(problem.words, problem.status)
    sys.__excepthook__(kind, problem, trace)  # type: ignore[arg-type]


def _end_anywhere(event: "sys.UnraisableHookArgs") -> None:
    """End the process on a signal during Python's cleanup; Python itself would ignore it."""
    if isinstance(event.exc_value, KeyboardInterrupt | Stopped):
        _end(event.exc_type, event.exc_value, event.exc_traceback)
    sys.__unraisablehook__(event)


def _leave(words: str, status: int) -> None:
    os.write(2, f"ragkpi: {words}\n".encode())
    os._exit(status)
