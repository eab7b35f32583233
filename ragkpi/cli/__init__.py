"""The command line: `ragkpi COMMAND …`."""

from __future__ import annotations

import os
import sys

_INTERRUPTED = 130


def entry() -> None:
    """Run as a program: what the `ragkpi` script calls."""
    # Whoever presses Ctrl-C while modules are imported gets a line too, and no traceback.
    sys.excepthook = _end
    from ragkpi.cli.program import run

    run()


def main(arguments: list[str]) -> int:
    """Run one command in this process; return its exit status."""
    from ragkpi.cli.program import main

    return main(arguments)


def _end(kind: type[BaseException], problem: BaseException, trace: object) -> None:
    if issubclass(kind, KeyboardInterrupt):
        os.write(2, b"ragkpi: interrupted\n")
        os._exit(_INTERRUPTED)
    sys.__excepthook__(kind, problem, trace)  # type: ignore[arg-type]
