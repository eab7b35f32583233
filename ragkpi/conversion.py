"""Runs and qrels from one format to another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO

import numpy as np

from ragkpi.formats.file_formats import FileFormat, Kind, Reading, reader_of
from ragkpi.formats.identity import hash_tokens
from ragkpi.formats.opening import Source
from ragkpi.formats.recognition import HEAD_LENGTH, recognise_kind
from ragkpi.formats.rows import Ranking
from ragkpi.formats.trec_runs import RunColumns, no_results
from ragkpi.ranking.duplicates import find_duplicate
from ragkpi.ranking.hits import duplicate_error
from ragkpi.ranking.judgements import group_judgements
from ragkpi.ranking.order import ranks_of
from ragkpi.ranking.scattered import regroup_run


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
        pieces = self._pieces()
        to.write_run(self._ranked(pieces), pieces[-1].run_id, file)

    def rankings(self) -> Iterator[Ranking]:
        """Yield the rankings of a run in trec_eval's order; errors as `write` has them."""
        return self._ranked(self._pieces())

    def _ranked(self, pieces: Sequence[RunColumns]) -> Iterator[Ranking]:
        return _rankings(self._format.sieved(regroup_run(pieces)))

    def _pieces(self) -> list[RunColumns]:
        pieces = list(self._format.hold_run(self._source))
        if not pieces:
            raise no_results(self._source.name)
        return pieces


def _rankings(blocks: Iterator[RunColumns]) -> Iterator[Ranking]:
    for block in blocks:
        duplicate = find_duplicate(block.starts, block.document, hash_tokens(block.document))
        if duplicate is not None:
            raise duplicate_error(block, duplicate, block.query.tolist())
        rank = ranks_of(block, np.arange(len(block.score)), "descending")
        order = np.lexsort((rank, block.group()))
        documents, scores = block.document.take(order).tolist(), block.score[order].tolist()
        bounds = block.starts.tolist()
        for query, start, end in zip(block.query, bounds[:-1], bounds[1:], strict=True):
            yield Ranking(query, documents[start:end], scores[start:end])
