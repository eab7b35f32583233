"""Runs and qrels from one format to another."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from ragkpi.formats.file_formats import FileReader, Kind, Reading, reader_of
from ragkpi.formats.format_registry import FileFormat
from ragkpi.formats.identity import tail_keys
from ragkpi.formats.opening import Source
from ragkpi.formats.rankings import Ranking, Rankings
from ragkpi.formats.recognition import HEAD_LENGTH, recognise_kind
from ragkpi.formats.trec_runs import RunColumns, no_results
from ragkpi.ranking.duplicates import find_duplicate
from ragkpi.ranking.hits import ScatteredQueryError, duplicate_error
from ragkpi.ranking.judgements import group_judgements
from ragkpi.ranking.order import ranks_of
from ragkpi.ranking.scattered import regroup_run, whole_queries


class Conversion:
    """An opened file that is to be written in another format.

    Parameters
    ----------
    source
        The file.
    kind
        Whether it holds a run or qrels; None if its first bytes are to tell.
    reading
        How it is to be read, or the name of its format; None if its first bytes are to tell.
    """

    def __init__(self, source: Source, kind: Kind | None, reading: Reading | str | None) -> None:
        self._source = source
        self.kind: Kind = kind or recognise_kind(source.peek(HEAD_LENGTH))
        self._format = reader_of(self.kind, source, reading)

    def write(self, to: FileFormat, file: BinaryIO) -> None:
        """Write all of it to a file, rankings in trec_eval's order.

        A run goes through block by block. Should it come out late that its queries are scattered,
        or that its last run id is another one, all is written again.

        Parameters
        ----------
        to
            The format.
        file
            Opened for bytes; what was written since can be taken back.

        Raises
        ------
        InputError
            For anything that is no run or no qrels.
        DataError
            If a query has a document twice, or the format cannot hold an id.
        """
        if self.kind == "qrels":
            qrels = self._format.read_qrels(self._source)
            group_judgements(qrels)  # refuses what is judged twice
            to.write_qrels(qrels, file)
            return
        self._source.keep_copy()
        begin = file.tell()
        blocks = _Blocks(self._source, self._format)
        while True:
            try:
                to.write_run(blocks, blocks.begin(), file)
                return
            except ScatteredQueryError:
                blocks.scattered = True
            except _OtherRunIdError as other:
                blocks.run_id = other.run_id
            file.seek(begin)
            file.truncate()

    def rankings(self) -> Iterator[Ranking]:
        """Yield the rankings of a run in trec_eval's order, all of it in memory."""
        blocks = _Blocks(self._source, self._format)
        blocks.scattered = True
        return (ranking for block in blocks for ranking in block.each())


class _OtherRunIdError(Exception):
    """The last line has another run id than the first, and it is the last one that counts."""

    def __init__(self, run_id: bytes) -> None:
        super().__init__()
        self.run_id = run_id


class _Blocks:
    """The rankings of a run, many at a time; to go through them again reads the source again.

    Attributes
    ----------
    scattered
        Whether the lines of a query need not stand together: then all of them are held.
    run_id
        The run id of the last line, where it is known.
    """

    def __init__(self, source: Source, reader: FileReader) -> None:
        self._source, self._reader = source, reader
        self._blocks: Iterator[RunColumns] | None = None
        self._read_before = False
        self.scattered = False
        self.run_id: bytes | None = None

    def begin(self) -> bytes:
        """Read the first block, from the start of the source; return the run id to write."""
        if self._read_before:
            self._source.restart()
        self._read_before = True
        blocks = self._held() if self.scattered else self._streamed()
        first = next(blocks, None)
        if first is None:
            raise no_results(self._source.name)
        self.run_id = self.run_id or first.run_id
        self._blocks = itertools.chain([first], blocks)
        return self.run_id

    def __iter__(self) -> Iterator[Rankings]:
        if self._blocks is None:
            self.begin()
        assert self._blocks is not None
        blocks, self._blocks = self._blocks, None
        for block in self._reader.sieved(blocks):
            yield from _rankings(block).pieces()

    def _held(self) -> Iterator[RunColumns]:
        return regroup_run(self._reader.hold_run(self._source))

    def _streamed(self) -> Iterator[RunColumns]:
        last = None
        for block in whole_queries(self._reader.stream_run(self._source)):
            last = block.run_id
            yield block
        if last is not None and last != self.run_id:
            raise _OtherRunIdError(last)


def _rankings(block: RunColumns) -> Rankings:
    duplicate = find_duplicate(block.starts, block.document, tail_keys(block.document))
    if duplicate is not None:
        raise duplicate_error(block, duplicate, block.query.tolist())
    document, score = block.document, block.score
    rows = np.arange(len(score))
    place = (
        ranks_of(block, rows, "descending")
        - 1
        + np.repeat(block.starts[:-1], np.diff(block.starts))
    )
    if (place != rows).any():
        order = np.empty_like(place)
        order[place] = rows
        document, score = document.take(order), score[order]
    return Rankings(block.query, block.starts, document, score)
