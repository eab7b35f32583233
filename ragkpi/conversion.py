"""Conversion of runs and qrels from one format to another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from ragkpi import kernel
from ragkpi.formats import lines, opening
from ragkpi.formats.column_names import Kind
from ragkpi.formats.file_formats import FileReader, Reading, reader_of
from ragkpi.formats.format_registry import FileFormat
from ragkpi.formats.opening import Source
from ragkpi.formats.rankings import Ranking, Rankings
from ragkpi.formats.recognition import HEAD_LENGTH, recognise_kind
from ragkpi.formats.tokens import Tokens
from ragkpi.formats.trec_runs import no_results
from ragkpi.ranking.hits import DEEPEST
from ragkpi.ranking.judgements import group_judgements
from ragkpi.ranking.reading import ScatteredQueryError, pushed, refusals


class Conversion:
    """An opened file, to be written in another format.

    Parameters
    ----------
    source
        The file.
    kind
        Whether it holds a run or qrels; None to recognise it by the first bytes.
    reading
        How to read it, or the name of its format; None to recognise it by the first bytes.
    """

    def __init__(self, source: Source, kind: Kind | None, reading: Reading | str | None) -> None:
        self._source = source
        self.kind: Kind = kind or recognise_kind(source.peek(HEAD_LENGTH))
        self._format = reader_of(self.kind, source, reading)

    def write(self, to: FileFormat, file: BinaryIO) -> None:
        """Write all of it to a file, rankings in trec_eval's order.

        A run is written block by block, and again from the start if its queries turn out to be
        scattered, or its last run id to differ from the first.

        Parameters
        ----------
        to
            The format.
        file
            Opened for bytes, and seekable.

        Raises
        ------
        InputError
            If the file holds no run or no qrels.
        DataError
            If a query has a document twice, or the format cannot hold an id.
        """
        if self.kind == "qrels":
            qrels = self._format.read_qrels(self._source)
            group_judgements(qrels)  # refuses documents that are judged twice
            to.writers["qrels"](qrels, file)
            return
        self._source.keep_copy()
        begin = file.tell()
        blocks = _Blocks(self._source, self._format)
        while True:
            try:
                to.writers["run"](blocks, blocks.begin(), file)
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
    """The last run id differs from the first; the last one counts."""

    def __init__(self, run_id: bytes) -> None:
        super().__init__()
        self.run_id = run_id


class _Blocks:
    """The rankings of a run, block by block; each iteration reads the source from the start.

    Attributes
    ----------
    scattered
        Whether the lines of a query are apart: then the whole run is held.
    run_id
        The run id of the last line, where it is known.
    """

    def __init__(self, source: Source, reader: FileReader) -> None:
        self._source, self._reader = source, reader
        self._read_before = False
        self._pushed: Iterator[bytes] | None = None
        self.scattered = False
        self.run_id = b""

    def begin(self) -> bytes:
        """Read the first block, from the start of the source; return the run id to write."""
        if self._read_before:
            self._source.restart()
        self._read_before = True
        self._run = kernel.Run(
            kernel.Documents([], np.zeros(1, dtype=np.int64), *Tokens.from_strings([]).column),
            name_all=True,
            depth=DEEPEST,
            held=self.scattered,
            most_held=opening.MOST_HELD,
            longest_line=lines.LONGEST_LINE,
            **self._reader.treatment,
        )
        self._pushed = pushed(self._source, self._reader, self._run, self.scattered)
        self._named = 0  # queries whose rankings were taken
        with refusals(self._source.name):
            first = next(filter(None, self._pushed), b"")
        self.run_id = self.run_id or first
        return self.run_id

    def __iter__(self) -> Iterator[Rankings]:
        if self._pushed is None:
            self.begin()
        pushed_blocks, self._pushed = self._pushed, None
        assert pushed_blocks is not None
        last = self.run_id
        with refusals(self._source.name):
            yield from self._taken()
            for run_id in pushed_blocks:
                last = run_id
                yield from self._taken()
            found = self._run.finish()
            if not found["queries"]:
                raise no_results(self._source.name)
            yield from self._taken()
        if last != self.run_id:
            raise _OtherRunIdError(last)
        if self._reader.sieve is not None:
            self._reader.sieve.say(self._source.name, found["left_out"])

    def _taken(self) -> Iterator[Rankings]:
        """Take the rankings that are complete out of the kernel."""
        names = self._run.take_names()
        sizes = np.frombuffer(names["size"], np.int64)
        queries = self._run.query_names(self._named, len(sizes))
        self._named += len(sizes)
        ends = np.frombuffer(names["ends"], np.int64)
        document = Tokens(np.frombuffer(names["text"], np.uint8), np.append(0, ends)[:-1], ends)
        score = np.frombuffer(names["score"], np.float64)
        starts = np.append(0, np.cumsum(sizes))
        yield from Rankings(Tokens.from_strings(queries), starts, document, score).pieces()
