"""Messages on standard error: the progress bar, notes, warnings and problems.

A timer signal draws the bar, since single steps can take seconds. The thread of rich's `Live` hides
the cursor, even after the process is killed, and draws over a command in the foreground.
"""

import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

from typer import Exit

from ragkpi.errors import RagkpiError, UsageError
from ragkpi.interface import present, share, wants_colour
from ragkpi.wording import counted, text_lines, visible

# Seconds until the first drawing, and between drawings.
_FIRST = 0.3
_EVERY = 0.1

_CLEAR = "\r\x1b[K"
_TURNING = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_WIDTH = 20


class Bar:
    """The bar of one command."""

    def __init__(self, command: str) -> None:
        self._command = command
        self._begun = time.monotonic()
        self._ticks = 0
        self._drawn = False
        self._over = False

    def tick(self, *_: object) -> None:
        """Draw the bar, except on another command's terminal."""
        if self._over or _notes == "hidden" or in_background():
            return
        try:
            self._ticks += 1
            os.write(2, f"{_CLEAR}{self._line()}".encode())
            self._drawn = True
        except (OSError, UnicodeError):
            self._over = True

    def end(self) -> None:
        """Remove the bar from the screen for good."""
        self._over = True  # first: a tick can come at any time
        if self._drawn:
            self._drawn = False
            os.write(2, _CLEAR.encode())

    def _line(self) -> str:
        works = present()
        done = share(works)
        parts = [_TURNING[self._ticks % len(_TURNING)], f"ragkpi {self._command}"]
        if done is not None:
            full = round(done * _WIDTH)
            parts += ["━" * full + "╌" * (_WIDTH - full), f"{100 * done:3.0f}%"]
        seconds = int(time.monotonic() - self._begun)
        parts += [f"{seconds // 60}:{seconds % 60:02d}"]
        parts += [", ".join(dict.fromkeys(work.label for work in works))]
        return visible(" ".join(parts))[: (os.get_terminal_size(2).columns or 80) - 1]


def in_background() -> bool:
    """Return whether another command has the terminal."""
    try:
        return os.tcgetpgrp(2) != os.getpgrp()
    except OSError:  # no foreground process group
        return False


_BAR: Bar | None = None


def end_bar() -> None:
    """Remove the bar before a result is written."""
    if _BAR is not None:
        _BAR.end()


@contextmanager
def bar(command: str) -> Iterator[None]:
    """Show a progress bar, after a delay, if standard error is a terminal."""
    global _BAR
    plain = not sys.stderr.isatty() or os.environ.get("TERM", "dumb") == "dumb"
    if plain or not hasattr(signal, "setitimer"):
        yield
        return
    _BAR = Bar(command)
    before = signal.signal(signal.SIGALRM, _BAR.tick)
    signal.setitimer(signal.ITIMER_REAL, _FIRST, _EVERY)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        _BAR.end()
        _BAR = None


_COLOURS = {"error": "\x1b[1;31m", "warning": "\x1b[1;33m"}
_PLAIN = "\x1b[0m"
_messages: Literal["coloured", "plain"] = "coloured"
_notes: Literal["shown", "hidden"] = "shown"


def colour_messages(choice: Literal["auto", "always", "never"]) -> None:
    """Apply ``--color`` to messages, but only on terminals."""
    global _messages
    _messages = "plain" if choice == "never" else "coloured"


def hide_notes(quiet: bool) -> None:
    """Apply ``--quiet``: notes are hidden, warnings and errors are not."""
    global _notes
    _notes = "hidden" if quiet else "shown"


def _is_hidden(kind: str) -> bool:
    return kind == "note" and _notes == "hidden"


def tell(text: object) -> None:
    r"""Print a line about this command; control characters show as ``\x1b``."""
    kind, colon, rest = str(text).replace("\n", " ").partition(":")
    if _is_hidden(kind):
        return
    line = f"ragkpi: {visible(f'{kind}{colon}{rest}')}"
    if sys.stderr.isatty():
        line = _fitted(line)
    if kind in _COLOURS and _messages == "coloured" and wants_colour(sys.stderr):
        line = line.replace(f"{kind}:", f"{_COLOURS[kind]}{kind}:{_PLAIN}", 1)
    # One write: threads that read runs also print notes, and the bar can be drawn at any time.
    sys.stderr.write(f"{line}\n" if _BAR is None else f"{_CLEAR}{line}\n")


_held: list[str] = []


def hold(text: str) -> None:
    """Print a note or warning at once; on a terminal hold it, since the answer comes first."""
    if not sys.stdout.isatty():
        tell(text)
    elif not _is_hidden(text.partition(":")[0]):
        _held.append(text)


def held_notes() -> list[str]:
    """Return the held notes and warnings, which the caller has to show."""
    notes = _held[:]
    _held.clear()
    return notes


def _fitted(line: str) -> str:
    """Wrap a line at words to the width of the terminal."""
    try:
        width = os.get_terminal_size(2).columns
    except (OSError, ValueError):
        return line
    return line if not 0 < width < len(line) else "\n  ".join(text_lines(line, max(width - 2, 40)))


def expect_files(
    least: int, files: Sequence[str], expected: str, *others: str | None
) -> Sequence[str]:
    """Return the files of a command line; `UsageError` for too few.

    Standard input can appear only once among them and the `others`, the files of options.
    """
    if len(files) < least:
        raise UsageError(f"{counted(len(files), 'file')}; expected {expected}")
    count = sum(f"={file}".endswith("=-") for file in (*files, *others) if file is not None)
    if count > 1:
        raise UsageError(f"{count} files are -, but standard input can be read only once")
    return files


def exit_with(problems: Sequence[RagkpiError]) -> None:
    """If there are problems, print a line for each and end with the status of the first."""
    if problems:
        sys.stdout.flush()
        if len(problems) == 1:
            raise problems[0]
        for problem in problems:
            tell(f"error: {problem}")
        raise Exit(problems[0].exit_status)
