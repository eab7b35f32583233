"""The process of a command: standard streams, signals, and a limit on memory."""

from __future__ import annotations

import io
import os
import signal
import sys
from mmap import mmap
from typing import Any

from ragkpi.cli.terminal import end_bar
from ragkpi.errors import RagkpiError, Stopped, UsageError

try:
    import resource
except ImportError:  # on Windows
    resource = None  # type: ignore[assignment]

MEMORY = "not enough memory for this input (--max-memory SIZE sets the limit)"
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_LEAST = 64 << 20
_TO_START = 80 << 20  # numpy maps this much; with less, OpenBLAS ends the process its own way
_CONTROL_GROUP = "/sys/fs/cgroup/memory.max"


class OutputError(RagkpiError):
    """Standard output is not writable."""


class StandardOutput(io.FileIO):
    """Standard output: writing removes the progress bar, and errors become `OutputError`."""

    def write(self, octets: Any, /) -> int:
        end_bar()
        try:
            return super().write(octets) or 0
        except BrokenPipeError:
            raise
        except OSError as problem:
            raise OutputError(f"standard output cannot be written ({problem.strerror})") from None


class _StandardError(io.FileIO):
    """Standard error: a failed write loses the message, but never the result or the status."""

    def write(self, octets: Any, /) -> int:
        try:
            return super().write(octets) or len(octets)
        except OSError:
            return len(octets)


def open_standard_streams() -> None:
    """Report errors of standard output and ignore those of standard error.

    A closed stream becomes /dev/null, so that no input file gets its descriptor.
    """
    for stream in (0, 1, 2):
        try:
            os.fstat(stream)
        except OSError:
            # Read-only: writing to a closed standard output is an error.
            os.open(os.devnull, os.O_RDWR if stream == 2 else os.O_RDONLY)
    encoding = "utf-8" if sys.stdout is None else sys.stdout.encoding
    raw = StandardOutput(1, "w", closefd=False)
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(raw), encoding, "backslashreplace", line_buffering=raw.isatty()
    )
    errors = io.BufferedWriter(_StandardError(2, "w", closefd=False))
    sys.stderr = io.TextIOWrapper(errors, encoding, "backslashreplace", line_buffering=True)


def drop_output() -> None:
    """Discard the rest of standard output after a broken pipe."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def catch_signals() -> None:
    """Turn signals that end the process into `Stopped`, so that temporary files are removed."""
    for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        if signal.getsignal(number) is signal.SIG_DFL:  # under nohup it is ignored
            signal.signal(number, _stop)


def _stop(number: int, _: object) -> None:
    signal.signal(number, signal.SIG_DFL)  # a second signal ends the process at once
    raise Stopped(number)


def limit_memory(size: str | None) -> None:
    """Limit the memory of this process, by default to 75% of the available memory."""
    if resource is None:
        return
    limit = _available() * 3 // 4 if size is None else _size_of(size)
    before, most = resource.getrlimit(resource.RLIMIT_DATA)
    limits = [limit for limit in (limit, before, most) if limit > 0]  # RLIM_INFINITY is -1
    if limits:
        resource.setrlimit(resource.RLIMIT_DATA, (min(limits), most))


def has_room() -> bool:
    """Return whether `ulimit -v`, if set, lets a process start."""
    if resource is None or resource.getrlimit(resource.RLIMIT_AS)[0] < 0:
        return True
    try:
        mmap(-1, _TO_START).close()
    except OSError:
        return False
    return True


def _size_of(text: str) -> int:
    number, unit = text.lower().removesuffix("b"), ""
    if number[-1:].isalpha():
        number, unit = number[:-1], number[-1]
    try:
        size = int(float(number) * _UNITS[unit])
    except (ValueError, KeyError, OverflowError):
        size = 0
    if size < _LEAST:
        raise UsageError(f"--max-memory {text}: expected a size from 64M, such as 512M or 4G")
    return size


def _available() -> int:
    """Return the bytes of memory available to this process; 0 if unknown."""
    try:
        available = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0
    try:
        with open(_CONTROL_GROUP) as file:
            text = file.read().strip()
    except OSError:
        return available
    return min(available, int(text)) if text.isdecimal() else available
