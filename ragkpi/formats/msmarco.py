"""MS MARCO runs: `query document rank`, three columns and no score."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from ragkpi.errors import InputError
from ragkpi.formats.blocks import read_lines
from ragkpi.formats.delimited import descending
from ragkpi.formats.opening import Source
from ragkpi.formats.rows import Ranking, Row, stream_rows
from ragkpi.formats.trec_runs import RunColumns, first_word, one_word
from ragkpi.wording import shown


def stream_run(source: Source) -> Iterator[RunColumns]:
    """Read a run; the score of a document is its negative rank."""
    return stream_rows(source.name, _rows(source))


def _rows(source: Source) -> Iterator[Row]:
    for number, line in read_lines(source):
        words = line.split()
        if not words:
            continue
        if len(words) != 3:
            raise InputError(
                source.name,
                number,
                f"{len(words)} columns ({shown(line)})",
                "expected 3: query document rank",
            )
        query, document, rank = words
        yield Row(number, query, document, descending(source.name, number, rank))


def write_run(rankings: Iterable[Ranking], run_id: bytes, file: BinaryIO) -> None:
    """Write a run; scores are lost, and the order of equal ones is kept."""
    for query, documents, _ in rankings:
        for rank, document in enumerate(documents, start=1):
            file.write(b"%b\t%b\t%d\n" % (first_word(query), one_word(document), rank))
