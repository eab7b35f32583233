"""Tasks in child processes: their results as they come, and no child that outlives its parent.

Linux only; `ragkpi.ranking.workers` says when it is safe.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NoReturn, TypeVar

from ragkpi.ranking.workers import PATIENCE, Died, Task
from ragkpi.records import dataclass

T = TypeVar("T")

_LENGTH = 8  # bytes that say how long a result is
_ENDING = (signal.SIGINT, signal.SIGTERM) + ((signal.SIGHUP,) if hasattr(signal, "SIGHUP") else ())
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG


@dataclass(frozen=True)
class _Child:
    pid: int
    task: int


@contextmanager
def forked(
    tasks: Sequence[Task[T]], idle: Callable[[], None] = lambda: None
) -> Iterator[Iterator[tuple[int, T | Died]]]:
    """Run each task in a child process of its own; as `ragkpi.ranking.workers.side_by_side`.

    Children begin on entering, and are killed on any way out. They hold neither standard output
    nor each other's pipes, and die with this process even if it is killed. What they warn of is
    warned of here.
    """
    children: dict[int, _Child] = {}  # by the pipe that they write to
    failed: list[tuple[int, T | Died]] = []
    try:
        for number, task in enumerate(tasks):
            try:
                _start(number, task, children)
            except OSError as problem:
                failed.append((number, Died(f"could not be started ({problem.strerror})")))
        yield _results(children, failed, idle)
    finally:
        for pipe, child in children.items():
            with suppress(ProcessLookupError):
                os.kill(child.pid, signal.SIGKILL)
            _reap(pipe, child)


def _start(number: int, task: Task[T], children: dict[int, _Child]) -> None:
    reading, writing = os.pipe()
    parent = os.getpid()
    # What a signal raises in the midst of forking is lost: Python prints it and goes on.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        pid = os.fork()
        if not pid:
            _work(task, writing, [reading, *children], parent, mask)
        children[reading] = _Child(pid, number)
    except OSError:
        os.close(reading)
        raise
    finally:
        os.close(writing)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _work(
    task: Task[T], pipe: int, others: Sequence[int], parent: int, mask: Iterable[int]
) -> NoReturn:
    """Do a task in a child process, and end it."""
    status = 1
    try:
        _die_with(parent)
        for number in _ENDING:
            signal.signal(number, signal.SIG_DFL)  # the parent says what there is to say
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for other in others:
            os.close(other)
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        warned: list[Warning | str] = []

        def keep(message: Warning | str, *_: Any, **__: Any) -> None:
            warned.append(message)

        warnings.showwarning = keep
        with open(pipe, "wb") as file:
            for result in task():
                octets = pickle.dumps((result, warned), protocol=pickle.HIGHEST_PROTOCOL)
                warned.clear()
                file.write(len(octets).to_bytes(_LENGTH, "big"))
                file.write(octets)
                file.flush()
        status = 0
    except BaseException:
        status = 1  # what went wrong here goes wrong again in the parent, which can say what
    finally:
        os._exit(status)


def _die_with(parent: int) -> None:
    """Have the system kill this process when its parent ends."""
    import ctypes  # which numpy has imported

    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _results(
    children: dict[int, _Child], failed: list[tuple[int, T | Died]], idle: Callable[[], None]
) -> Iterator[tuple[int, T | Died]]:
    yield from failed
    poll = select.poll()
    for pipe in children:
        poll.register(pipe, select.POLLIN)
    while children:
        ready = poll.poll(1000 * PATIENCE)
        if not ready:
            idle()
        for pipe, _ in ready:
            task = children[pipe].task
            octets = _receive(pipe)
            if octets is not None:
                result, warned = pickle.loads(octets)
                for message in warned:
                    warnings.warn(message, stacklevel=2)
                yield task, result
                continue
            poll.unregister(pipe)
            how = _reap(pipe, children.pop(pipe))
            if how is not None:
                yield task, Died(how)


def _receive(pipe: int) -> bytes | None:
    """Read a result; None if the child ended before it was sent."""
    length = _read(pipe, _LENGTH)
    if length is None:
        return None
    return _read(pipe, int.from_bytes(length, "big"))


def _read(pipe: int, length: int) -> bytes | None:
    pieces = []
    while length:
        piece = os.read(pipe, min(length, 1 << 20))
        if not piece:
            return None
        pieces.append(piece)
        length -= len(piece)
    return b"".join(pieces)


def _reap(pipe: int, child: _Child) -> str | None:
    """Wait for the end of a child; say how it died, None if it did its task."""
    os.close(pipe)
    try:
        _, status = os.waitpid(child.pid, 0)
    except ChildProcessError:  # somebody waited for all children of this process
        return "was lost"
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        known = {signal_.value: signal_.name for signal_ in signal.Signals}
        return f"was killed by {known.get(number, f'signal {number}')}"
    return f"ended with status {os.WEXITSTATUS(status)}" if status else None
