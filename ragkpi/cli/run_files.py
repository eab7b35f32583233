"""The files of a command line, and how a command speaks of them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ragkpi.cli.messages import Finished, tell
from ragkpi.errors import RagkpiError, UsageError

if TYPE_CHECKING:
    from ragkpi.library.voice import Voice

# How long nobody needs to be told that something happens, in seconds.
_SHORT = 1.0


def expect_files(least: int, files: Sequence[str] | None, expected: str) -> Sequence[str]:
    """Return the files of a command line; `UsageError` if there are fewer."""
    if files is None or len(files) < least:
        raise UsageError(f"{len(files or [])} files; expected {expected}")
    return files


def by_path(paths: Sequence[str]) -> dict[str, str]:
    """Return paths by different names: a file that is given twice is two runs."""
    return {
        path if paths.count(path) == 1 else f"{path}#{place}": path
        for place, path in enumerate(paths, start=1)
    }


def refuse_standard_input_twice(files: Sequence[str]) -> None:
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
        progress=progress,
        note=lambda text: tell(f"note: {text}"),
        warn=lambda text: warnings.warn(text, RagkpiWarning, stacklevel=2),
        refuse=exit_with,
    )


@contextmanager
def progress(total: int, label: str = "runs") -> Iterator[Callable[[int], None]]:
    """Draw a bar on stderr, if that is a terminal and the work takes more than a second.

    Yields a function that takes how many are done.
    """
    if total < 2 or not sys.stderr.isatty():
        yield lambda done: None
        return
    bar = _Bar(total, label)
    try:
        yield bar
    finally:
        bar.stop()


class _Bar:
    def __init__(self, total: int, label: str) -> None:
        self._total, self._label = total, label
        self._begun = time.monotonic()
        self._drawn: Callable[[int], None] | None = None
        self.stop: Callable[[], None] = lambda: None

    def __call__(self, done: int) -> None:
        if self._drawn is None and time.monotonic() - self._begun > _SHORT and done < self._total:
            self._drawn = self._draw()
        if self._drawn is not None:
            self._drawn(done)

    def _draw(self) -> Callable[[int], None]:
        from rich.console import Console
        from rich.progress import Progress

        # No thread refreshes it: processes may still be forked.
        bar = Progress(console=Console(stderr=True), auto_refresh=False, transient=True)
        runs = bar.add_task(self._label, total=self._total)
        bar.start()
        self.stop = bar.stop
        return lambda done: bar.update(runs, completed=done, refresh=True)
