"""A run judged by several processes, each a range of the file; the result is the same."""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING

from ragkpi.errors import DataError, InputError
from ragkpi.formats.file_formats import run_format
from ragkpi.formats.opening import Source
from ragkpi.formats.trec_runs import no_results, stream_run
from ragkpi.ranking.hits import (
    JUDGED_ONLY,
    Hits,
    ScatteredQueryError,
    Wanted,
    find_hits,
    join_hits,
)
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.scattered import regroup_run

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

# Below this a second process costs more than it saves.
_SMALLEST_SHARE = 1 << 24
# How far from an even split a change of query is looked for.
_SEARCHED = 1 << 21


def read_hits(
    path: str,
    judgements: Judgements,
    wanted: Wanted = JUDGED_ONLY,
    workers: int = 1,
    format_name: str | None = None,
) -> Hits:
    """Judge the run at a path (``-`` for standard input), with up to `workers` processes.

    Its format is recognised by its first bytes where no name of one is given.

    Raises
    ------
    InputError, DataError
        As `stream_run` and `find_hits`; also if the run holds no result at all.
    """
    with Source(path) as source:
        hits = None
        format_ = run_format(source, format_name)
        bounds = _bounds(source, path, workers) if format_.name == "trec" else []
        if len(bounds) > 2:
            hits = _judge_ranges(path, bounds, judgements, wanted)
        if hits is None:
            source.keep_copy()
            try:
                hits = find_hits(format_.stream_run(source), judgements, wanted)
            except ScatteredQueryError:
                source.restart()
                hits = find_hits(regroup_run(format_.hold_run(source)), judgements, wanted)
    if not hits.queries:
        raise no_results(path)
    return hits


def available_workers() -> int:
    """Return the number of processes to use: ``RAGKPI_WORKERS``, else the usable cores.

    One where forking is not safe: in a process with threads, as a notebook's is, and on systems
    whose libraries start some.
    """
    wanted = os.environ.get("RAGKPI_WORKERS", "")
    if wanted.isdecimal() and int(wanted):
        return int(wanted)
    try:
        threads = len(os.listdir("/proc/self/task"))
    except OSError:  # not Linux
        return 1
    return len(os.sched_getaffinity(0)) if threads == 1 else 1


def _bounds(source: Source, path: str, workers: int) -> list[int]:
    """Return byte offsets that split a plain file into shares of whole queries, ends included."""
    if source.size is None or not hasattr(os, "fork"):
        return []
    shares = min(workers, source.size // _SMALLEST_SHARE)
    inner = [
        _query_change(path, source.size * share // shares) for share in range(1, max(shares, 1))
    ]
    return [0, *(offset for offset in inner if offset is not None), source.size]


def _query_change(path: str, offset: int) -> int | None:
    """Return where, behind an offset, a line begins whose query is not that of the line above."""
    with open(path, "rb") as file:
        file.seek(offset)
        text = file.read(_SEARCHED)
    begin = text.find(b"\n") + 1
    above = None
    while begin:
        end = text.find(b"\n", begin)
        if end < 0:
            return None
        query = text[begin:end].split(None, 1)[:1]
        if above is not None and query != above:
            return offset + begin
        above, begin = query, end + 1
    return None


def _judge_ranges(
    path: str, bounds: list[int], judgements: Judgements, wanted: Wanted
) -> Hits | None:
    """Judge each range in a process of its own, the first in this one.

    None if that did not work out: a query in two ranges, or an error, whose line number only a
    process that reads from the start can tell.
    """
    import multiprocessing

    def judge_range(start: int, end: int) -> Hits | None:
        try:
            with Source(path) as source:
                source.seek(start)
                return find_hits(stream_run(source, end - start), judgements, wanted)
        except (ScatteredQueryError, InputError, DataError):
            return None

    judgements.prepare()  # before forking, so that it is done once
    context = multiprocessing.get_context("fork")
    children = []
    for start, end in itertools.pairwise(bounds[1:]):
        receiver, sender = context.Pipe(duplex=False)
        child = context.Process(target=_send, args=(judge_range, start, end, sender))
        child.start()
        sender.close()
        children.append((child, receiver))
    try:
        parts = [judge_range(bounds[0], bounds[1])]
        for _, receiver in children:
            try:
                parts.append(receiver.recv())
            except EOFError:
                parts.append(None)
    except BaseException:  # above all an interrupt: nobody waits for them any more
        for child, _ in children:
            child.kill()
        raise
    for child, _ in children:
        child.join()
    whole = [part for part in parts if part is not None]
    if len(whole) < len(parts):
        return None
    hits = join_hits(whole)
    return hits if len(set(hits.queries)) == len(hits.queries) else None


def _send(judge: Callable[[int, int], Hits | None], start: int, end: int, to: Connection) -> None:
    """Judge a range in a child process, which ends without a word if that does not work out.

    What goes wrong here goes wrong again in the parent, which can say where.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        part = judge(start, end)
    except Exception:
        part = None
    to.send(part)
