"""Records: rows of named cells with their lines, from any file format and from Python objects.

Their readers choose the columns and the allowed cells.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from ragkpi.errors import InputError, UsageError
from ragkpi.files.arrow import ArrowTable
from ragkpi.files.column_names import QUERY, QUERY_ID, QUERY_TEXT, find, plain_name
from ragkpi.files.delimited import DelimitedFile, Header
from ragkpi.files.formats import HEAD_LENGTH, is_number, recognise_layout
from ragkpi.files.in_memory import column_of, list_of, names_of
from ragkpi.files.json_files import read_objects
from ragkpi.files.lines import blocks
from ragkpi.files.opening import Source
from ragkpi.files.tables import Row
from ragkpi.wording import counted

MEASURE, VALUE = ("measure", "metric"), ("value", "score", "result")  # names of columns
_OF_RUNS = (b"runid", b"relstring")  # text values in the output of trec_eval


def read_records(
    source: Source, columns: Collection[str] = (), header: Header = "first line"
) -> Iterator[Row]:
    """Yield the line and the fields of each record of JSON, or of a table with named columns.

    Only some `columns` of a parquet or Arrow table are read.
    """
    layout = recognise_layout(source.peek(HEAD_LENGTH))
    if layout in ("parquet", "arrow"):
        table = ArrowTable(source)
        names = [name for name in table.names if not columns or plain_name(name) in columns]
        yield from table.rows(names)
    elif layout in ("json", "jsonl"):
        for number, value in read_objects(source):
            if not isinstance(value, dict):
                raise InputError(source.name, number, "not a JSON object", "expected one per line")
            yield number, value
    else:
        separator = b"\t" if layout == "tsv" else b","
        yield from DelimitedFile(source, separator, cells="texts", header=header).rows()


def records_of(data: Any, argument: str) -> Iterator[Row]:
    """Yield the records of a file, a data frame, rows, columns or mappings by query.

    A file can have the lines of ``trec_eval -q``. Rows in memory have numbers from 1. `UsageError`,
    which names the argument, for other data.
    """
    if isinstance(data, str | os.PathLike):
        with Source(os.fspath(data)) as source:
            of_trec_eval = _is_trec_eval(source.peek(HEAD_LENGTH))
            yield from _of_trec_eval(source) if of_trec_eval else read_records(source)
        return
    records = _rows_of(data, argument)
    if not isinstance(records, Iterable):
        expected = "expected a path, a data frame, rows with names, or dictionaries by query"
        raise UsageError(f"{argument}: {type(data).__name__}; {expected}")
    for number, row in enumerate(records, start=1):
        if not isinstance(row, Mapping):
            kind = type(row).__name__
            raise UsageError(f"{argument}: row {number} is {kind}; expected names and cells")
        yield number, dict(row)


def _rows_of(data: Any, argument: str) -> Any:
    if any(getattr(getattr(data, "index", None), "names", ())):
        data = data.reset_index()  # of pandas
    names: Sequence[str] = names_of(data)
    if not names and isinstance(data, Mapping):
        if not all(isinstance(of, list | tuple | np.ndarray) for of in data.values()):
            return [{QUERY[0]: str(q), **of} for q, of in data.items() if isinstance(of, Mapping)]
        names = list(data)
    if not names:
        return data
    columns = [list_of(column_of(data, name, argument)) for name in names]
    if len({*map(len, columns)}) > 1:
        raise UsageError(f"{argument}: columns of several lengths; expected one length")
    return (dict(zip(map(str, names), row, strict=True)) for row in zip(*columns, strict=True))


def _of_trec_eval(source: Source) -> Iterator[Row]:
    """Yield the values per query from the lines of ``trec_eval -q``."""
    for line, text in chain.from_iterable(block.lines() for block in blocks(source)):
        words = text.decode("utf-8", "surrogateescape").split()
        if words and len(words) != 3:
            expected = "expected lines of measure, query and value, as trec_eval -q prints them"
            raise InputError(source.name, line, counted(len(words), "column"), expected)
        if words and words[1] != "all" and words[0].encode() not in _OF_RUNS:
            yield line, dict(zip((MEASURE[0], QUERY[0], VALUE[0]), words, strict=True))


def _is_trec_eval(head: bytes) -> bool:
    """Return whether a file begins with lines of measure, query and value."""
    lines = [words for line in head.splitlines()[:3] if (words := line.split())]
    return bool(lines) and all(
        len(words) == 3 and (is_number(words[2]) or words[0] in _OF_RUNS) for words in lines
    )


def query_column(names: Sequence[str]) -> str | None:
    """Return the name of the column that identifies queries: by id, else by text."""
    # Of `topic` and `query` the first is the id.
    first = next((name for name in names if plain_name(name) in QUERY), None)
    return find(names, QUERY_ID) or first or find(names, QUERY_TEXT)
