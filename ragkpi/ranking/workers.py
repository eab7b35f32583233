"""Tasks side by side on several cores: in processes where forking is safe, in threads elsewhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, TypeVar

from ragkpi.errors import UsageError
from ragkpi.records import dataclass
from ragkpi.wording import shown

if TYPE_CHECKING:
    from queue import SimpleQueue

T = TypeVar("T")
Task = Callable[[], Iterable[T]]

PATIENCE = 0.25  # seconds of silence after which `idle` is called


@dataclass(frozen=True)
class Died:
    """A worker ended before its task did.

    Attributes
    ----------
    how
        For a message, such as ``was killed by SIGKILL``.
    """

    how: str


@dataclass(frozen=True)
class _Ended:
    """Nothing more comes of a task."""


def available_workers() -> int:
    """Return how many tasks may run at a time: ``RAGKPI_WORKERS``, else the usable cores.

    Raises
    ------
    UsageError
        If the variable holds something else than a number from 1.
    """
    wanted = os.environ.get("RAGKPI_WORKERS", "")
    if wanted:
        if not (wanted.isascii() and wanted.isdecimal() and len(wanted) < 5 and int(wanted)):
            raise UsageError(f"RAGKPI_WORKERS={shown(wanted)}: expected a number of cores from 1")
        return int(wanted)
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def side_by_side(
    tasks: Sequence[Task[T]], idle: Callable[[], None] = lambda: None
) -> AbstractContextManager[Iterator[tuple[int, T | Died]]]:
    """Run each task in a worker of its own, all at once.

    Workers begin on entering, and none is left on any way out. numpy lets threads compute side by
    side; processes do so for Python's own code, too, and are taken where they can be.

    Parameters
    ----------
    tasks
        Each returns its results, which are handed over as they come.
    idle
        Called several times a second while nothing comes.

    Yields
    ------
    Iterator of (int, T or Died)
        The number of a task and a result of it, as they come. A worker that ends too early gives
        `Died` last: killed, not started, or failed with whatever its task raised.

    Examples
    --------
    >>> with side_by_side([lambda: [1, 2], lambda: [3]]) as results:
    ...     sorted(results)
    [(0, 1), (0, 2), (1, 3)]
    """
    if not tasks:
        return nullcontext(iter(()))
    if may_fork():
        from ragkpi.ranking.forked import forked

        return forked(tasks, idle)
    return threaded(tasks, idle)


def may_fork() -> bool:
    """Say whether this process may fork: on Linux, with one thread.

    A child has the locks of other threads, but not the threads that would release them; the
    libraries of macOS start threads that nobody sees.
    """
    if sys.platform != "linux":
        return False
    try:
        return len(os.listdir("/proc/self/task")) == 1
    except OSError:
        return False


@contextmanager
def threaded(
    tasks: Sequence[Task[T]], idle: Callable[[], None] = lambda: None
) -> Iterator[Iterator[tuple[int, T | Died]]]:
    """Run each task in a thread; as `side_by_side`.

    On the way out a thread is waited for; it stops after the result that it works on.
    """
    import threading  # most commands need neither
    from queue import SimpleQueue

    results: SimpleQueue[tuple[int, T | Died | _Ended]] = SimpleQueue()
    stopped = threading.Event()

    def work(number: int, task: Task[T]) -> None:
        try:
            for result in task():
                results.put((number, result))
                if stopped.is_set():
                    break
        except BaseException as problem:  # it goes wrong again where it is done again
            results.put((number, Died(f"failed ({type(problem).__name__})")))
        results.put((number, _Ended()))

    threads = []
    try:
        for number, task in enumerate(tasks):
            thread = threading.Thread(target=work, args=(number, task), daemon=True)
            try:
                thread.start()
            except (RuntimeError, MemoryError) as problem:
                results.put((number, Died(f"could not be started ({problem})")))
                results.put((number, _Ended()))
                continue
            threads.append(thread)
        yield _until_ended(results, len(tasks), idle)
    finally:
        stopped.set()
        for thread in threads:
            thread.join()


def _until_ended(
    results: SimpleQueue[tuple[int, T | Died | _Ended]], tasks: int, idle: Callable[[], None]
) -> Iterator[tuple[int, T | Died]]:
    from queue import Empty

    while tasks:
        try:
            number, result = results.get(timeout=PATIENCE)
        except Empty:
            idle()
            continue
        if isinstance(result, _Ended):
            tasks -= 1
        else:
            yield number, result
