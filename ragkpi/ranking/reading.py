"""Runs read for their hits on several cores: the ranges of one run, or several runs at once.

However many workers there are, the hits are the same.
"""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from ragkpi.errors import DataError, InputError, RagkpiError, RagkpiWarning
from ragkpi.formats.file_formats import FileReader, Reading, run_format
from ragkpi.formats.inputs import inputs
from ragkpi.formats.line_places import stream_queries, stream_whole
from ragkpi.formats.opening import Source
from ragkpi.formats.trec_runs import no_results
from ragkpi.ranking.hits import (
    JUDGED_ONLY,
    Hits,
    ScatteredQueryError,
    UndecidedError,
    Wanted,
    find_hits,
    join_hits,
)
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.workers import Died, available_workers, side_by_side

if TYPE_CHECKING:
    from ragkpi.ranking.runs_in_memory import RunInMemory

# Bytes for which a worker of its own pays: a range of a run, and whole runs.
_SMALLEST_RANGE = 3 << 23  # 45 MB, a thousand queries of a thousand documents: one worker
_SMALLEST_SHARE = 1 << 22
# How far from an even split a change of query is looked for.
_SEARCHED = 1 << 21

Read = Callable[[str, int], Hits]
Run = TypeVar("Run")


def read_run(
    run: str | RunInMemory,
    judgements: Judgements,
    wanted: Wanted = JUDGED_ONLY,
    workers: int | None = None,
    format_name: Reading | str | None = None,
) -> Hits:
    """Judge a run that is in memory, or the one at a path as `read_hits`, on the usable cores."""
    if not isinstance(run, str):
        return run.read_as(format_name).hits(judgements, wanted)
    return read_hits(run, judgements, wanted, workers or available_workers(), format_name)


def read_hits(
    path: str,
    judgements: Judgements,
    wanted: Wanted = JUDGED_ONLY,
    workers: int = 1,
    format_name: Reading | str | None = None,
) -> Hits:
    """Judge the run at a path (``-`` for standard input), with up to `workers` workers.

    Its format is recognised by its first bytes where no name of one is given.

    Raises
    ------
    InputError, DataError
        As `stream_run` and `find_hits`; also if the run holds no result at all.
    """
    with Source(path) as source:
        hits = None
        format_ = run_format(source, format_name)
        bounds = _bounds(source, workers) if format_.splittable else []
        if len(bounds) > 2:
            hits = _judge_ranges(source, bounds, judgements, wanted)
        if hits is None:
            source.keep_copy()
            try:
                hits = _streamed_hits(source, format_, judgements, wanted)
            except ScatteredQueryError:
                hits = _scattered_hits(source, format_, judgements, wanted)
    if not hits.queries:
        raise no_results(path)
    return hits


def _streamed_hits(
    source: Source, format_: FileReader, judgements: Judgements, wanted: Wanted
) -> Hits:
    """Judge a run block by block; a query that is larger than a block is held if it has to be."""
    if format_.splittable and not wanted.depth:
        try:
            return find_hits(stream_queries(source), judgements, wanted, source)
        except UndecidedError:
            source.restart()
    return find_hits(format_.sieved(format_.stream_run(source)), judgements, wanted)


def _scattered_hits(
    source: Source, format_: FileReader, judgements: Judgements, wanted: Wanted
) -> Hits:
    """Judge a run whose queries are interleaved, from its beginning."""
    if format_.splittable:
        from ragkpi.ranking.scattered_hits import find_scattered_hits

        source.restart()
        hits = find_scattered_hits(source, judgements, wanted)
        if hits is not None:
            return hits
    from ragkpi.ranking.scattered import regroup_run

    source.restart()
    return find_hits(format_.sieved(regroup_run(format_.hold_run(source))), judgements, wanted)


def _bounds(source: Source, workers: int) -> list[int]:
    """Return byte offsets that split a plain file into shares of whole queries, ends included."""
    if source.size is None:
        return []
    shares = min(workers, source.size // _SMALLEST_RANGE)
    inner = [
        _query_change(source, source.size * share // shares) for share in range(1, max(shares, 1))
    ]
    return [0, *(offset for offset in inner if offset is not None), source.size]


def _query_change(source: Source, offset: int) -> int | None:
    """Return where, behind an offset, a line begins whose query is not that of the line above."""
    text = source.look_at(offset, _SEARCHED)
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
    source: Source, bounds: list[int], judgements: Judgements, wanted: Wanted
) -> Hits | None:
    """Judge each range in a worker of its own, the first in this one.

    None if that did not work out: a query in two ranges, or an error, whose line number only a
    worker that reads from the start can tell.
    """
    # Of pieces no names are kept.
    stream = stream_whole if wanted.depth else stream_queries

    def judge_range(text: Source, length: int) -> Hits | None:
        try:
            return find_hits(stream(text, length), judgements, wanted, text)
        except (ScatteredQueryError, UndecidedError, InputError, DataError):
            return None

    def task(text: Source, length: int) -> Iterable[Hits | None]:
        yield judge_range(text, length)

    judgements.prepare()  # before there are workers, so that it is done once
    ranges = [  # as much of each is done as of the first
        (source.beginning_at(start, 0 if start else end), end - start)
        for start, end in itertools.pairwise(bounds)
    ]
    parts: list[Hits | Died | None] = [None] * len(ranges)
    with side_by_side([partial(task, *range_) for range_ in ranges[1:]]) as results:
        try:
            parts[0] = judge_range(*ranges[0])
            for number, part in results:
                parts[number + 1] = part
                if isinstance(part, Died):
                    _warn_of(part, source.name)
        finally:
            for text, _ in ranges:
                text.stop()  # nobody waits for a thread that goes on to the end of its range
    whole = [part for part in parts if isinstance(part, Hits)]
    if len(whole) < len(parts):
        return None
    hits = join_hits(whole)
    return hits if len(set(hits.queries)) == len(hits.queries) else None


def read_runs(
    paths: Sequence[str],
    read: Read,
    workers: int,
    watch: Callable[[int], None] = lambda _: None,
) -> list[Hits | RagkpiError]:
    """Read every run; in the place of one that cannot be read is its error.

    Parameters
    ----------
    paths
        Of the runs.
    read
        From a path, and how many workers it may have, to what the run retrieved.
    workers
        How many may work at a time.
    watch
        Told how many runs are read: after each, and several times a second while others work.
    """
    outcomes: list[Hits | RagkpiError | None] = [None] * len(paths)

    def read_share(share: Sequence[int]) -> Iterable[tuple[int, Hits | RagkpiError]]:
        for number in share:
            yield number, try_to_read(read, paths[number], max(1, workers // len(shares)))

    def done() -> int:
        return sum(outcome is not None for outcome in outcomes)

    shares = _shares(paths, workers)
    tasks = [partial(read_share, share) for share in shares]
    dealt = {number for share in shares for number in share}
    for number in dealt:
        inputs().note_file(paths[number])  # what processes read is not known here
    with side_by_side(tasks, idle=lambda: watch(done())) as results:
        for number, path in enumerate(paths):
            if number not in dealt:
                outcomes[number] = try_to_read(read, path, 1 if shares else workers)
                watch(done())
        for worker, result in results:
            if isinstance(result, Died):
                lost = [paths[number] for number in shares[worker] if outcomes[number] is None]
                _warn_of(result, ", ".join(lost))
                continue
            number, outcome = result
            outcomes[number] = outcome
            watch(done())
    # A run whose worker died is read here.
    return [
        try_to_read(read, path, 1) if outcome is None else outcome
        for path, outcome in zip(paths, outcomes, strict=True)
    ]


def _warn_of(death: Died, runs: str) -> None:
    warnings.warn(
        f"a worker that read {runs} {death.how}; what it should have read is read again",
        RagkpiWarning,
        stacklevel=2,
    )


def try_to_read(read: Callable[[Run, int], Hits], run: Run, workers: int) -> Hits | RagkpiError:
    """Read a run, or return what is wrong with it."""
    try:
        return read(run, workers)
    except RagkpiError as problem:
        return problem


def _shares(paths: Sequence[str], workers: int) -> list[list[int]]:
    """Deal the files out, the largest first, each to the worker with the least to do.

    Pipes stay here: what a process that dies has read of one cannot be read again.
    """
    sizes = {
        number: os.path.getsize(path)
        for number, path in enumerate(paths)
        if path != "-" and os.path.isfile(path)
    }
    count = min(workers, len(sizes), sum(sizes.values()) // _SMALLEST_SHARE)
    if count < 2:
        return []
    shares: list[list[int]] = [[] for _ in range(count)]
    load = [0] * count
    for number in sorted(sizes, key=sizes.__getitem__, reverse=True):
        least = load.index(min(load))
        shares[least].append(number)
        load[least] += sizes[number]
    return [share for share in shares if share]
