"""Messages on standard error: one line each, which no id or file name can forge."""

import os
import sys
from typing import Literal

from ragkpi.cli.progress_bar import hidden_bar
from ragkpi.wording import visible


class Finished(Exception):  # noqa: N818 - no error: all messages are printed
    """The command ends here, with a status."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


_YELLOW, _PLAIN = "\x1b[33m", "\x1b[0m"
_warnings: Literal["coloured", "plain"] = "coloured"


def colour_warnings(wanted: Literal["auto", "always", "never"]) -> None:
    """Obey ``--color``, but colour messages on terminals alone."""
    global _warnings
    _warnings = "plain" if wanted == "never" else "coloured"


def tell(text: object) -> None:
    r"""Print a line about this command; control characters show as ``\x1b``."""
    line = f"ragkpi: {visible(' '.join(str(text).split(chr(10))))}"
    if sys.stderr.isatty():
        line = _wrapped(line)
        coloured = _warnings == "coloured" and not os.environ.get("NO_COLOR")
        if coloured and line.startswith("ragkpi: warning:"):
            line = f"{_YELLOW}{line}{_PLAIN}"
    with hidden_bar():
        print(line, file=sys.stderr)


def _wrapped(line: str) -> str:
    """Break a line at words where it is longer than the terminal is wide."""
    try:
        width = os.get_terminal_size(2).columns
    except (OSError, ValueError):
        return line
    if not 0 < width < len(line):
        return line
    from ragkpi.reports.fitting import wrapped

    return "\n  ".join(wrapped(line, max(width - 2, 40)))
