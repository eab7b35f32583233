"""Several runs read at once, each by one process; one that cannot be read hides no other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from ragkpi.errors import RagkpiError
from ragkpi.ranking.hits import Hits

Read = Callable[[str, int], Hits]

# Bytes for which a process of its own pays.
_SMALLEST_SHARE = 1 << 22
_PATIENCE = 0.25


def read_runs(
    paths: Sequence[str], read: Read, workers: int, watch: Callable[[int], None]
) -> Iterator[tuple[int, Hits | RagkpiError]]:
    """Read every run.

    Parameters
    ----------
    paths
        Of the runs.
    read
        From a path, and how many processes may work on it, to what the run retrieved.
    workers
        How many processes may work at a time.
    watch
        Told how many runs are read: after each, and several times a second while others work.

    Yields
    ------
    int, Hits or RagkpiError
        The place in `paths` and what came of it, in the order in which they are ready.
    """
    shares = _shares(paths, workers)
    if len(shares) > 1:
        found = _read_shares(paths, shares, read, max(1, workers // len(shares)), watch)
    else:
        found = ((place, _attempt(read, path, workers)) for place, path in enumerate(paths))
    for done, outcome in enumerate(found, start=1):
        watch(done)
        yield outcome


def _attempt(read: Read, path: str, workers: int) -> Hits | RagkpiError:
    try:
        return read(path, workers)
    except RagkpiError as problem:
        return problem


def _shares(paths: Sequence[str], workers: int) -> list[list[int]]:
    """Deal the runs out, the largest first, each to the process with the least to do."""
    sizes = [os.path.getsize(path) if os.path.isfile(path) else 0 for path in paths]
    count = min(workers, len(paths), sum(sizes) // _SMALLEST_SHARE)
    if count < 2 or not hasattr(os, "fork"):
        return []
    shares: list[list[int]] = [[] for _ in range(count)]
    load = [0] * count
    for place in sorted(range(len(paths)), key=sizes.__getitem__, reverse=True):
        least = load.index(min(load))
        shares[least].append(place)
        load[least] += sizes[place]
    return [share for share in shares if share]


def _read_shares(
    paths: Sequence[str],
    shares: list[list[int]],
    read: Read,
    workers: int,
    watch: Callable[[int], None],
) -> Iterator[tuple[int, Hits | RagkpiError]]:
    import multiprocessing
    from multiprocessing.connection import Connection, wait

    def read_share(share: list[int], sender: Any) -> None:
        # Interrupted, or nobody listens any more: the parent says what there is to say.
        with suppress(KeyboardInterrupt, BrokenPipeError):
            for place in share:
                sender.send((place, _attempt(read, paths[place], workers)))

    context = multiprocessing.get_context("fork")
    waiting: dict[Any, set[int]] = {}
    children = []
    for share in shares:
        receiver, sender = context.Pipe(duplex=False)
        children.append(context.Process(target=read_share, args=(share, sender)))
        children[-1].start()
        sender.close()
        waiting[receiver] = set(share)
    done = 0
    lost: set[int] = set()
    while waiting:
        ready: list[Connection] = wait(list(waiting), timeout=_PATIENCE)  # type: ignore[assignment]
        if not ready:
            watch(done)
        for receiver in ready:
            try:
                place, outcome = receiver.recv()
            except EOFError:
                lost |= waiting.pop(receiver)
                continue
            waiting[receiver].remove(place)
            done += 1
            yield place, outcome
    for child in children:
        child.join()
    for place in sorted(lost):  # their process died of something that is not the run's fault
        yield place, _attempt(read, paths[place], 1)
