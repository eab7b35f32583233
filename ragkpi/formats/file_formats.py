"""The formats of runs and qrels, as data; the module of each is imported when it is used."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, BinaryIO, Literal, NamedTuple, cast

from ragkpi.errors import UsageError
from ragkpi.formats.opening import Source
from ragkpi.formats.recognition import HEAD_LENGTH, recognise_qrels, recognise_run
from ragkpi.formats.trec_qrels import QrelsColumns
from ragkpi.formats.trec_runs import RunColumns

if TYPE_CHECKING:
    from ragkpi.formats.rows import Ranking

Kind = Literal["run", "qrels"]


class FileFormat(NamedTuple):
    """A format of runs or of qrels.

    Attributes
    ----------
    name
        What ``--run-format``, ``--qrels-format`` and ``--to`` call it.
    description
        What such a file looks like, in a line.
    suffixes
        File names that ask `ragkpi convert` for it.
    reader, writer
        Functions as ``module:name``, in ``ragkpi.formats``.
    """

    name: str
    description: str
    suffixes: tuple[str, ...]
    reader: str
    writer: str

    def stream_run(self, source: Source) -> Iterator[RunColumns]:
        """Read a run in blocks that hold all neighbouring lines of their queries."""
        stream = cast(Callable[[Source], Iterator[RunColumns]], _function(self.reader))
        return stream(source)

    def hold_run(self, source: Source) -> Iterator[RunColumns]:
        """Read a run in blocks that stay valid together."""
        if self.name != "trec":
            return self.stream_run(source)
        stream = cast(Callable[[Source], Iterator[RunColumns]], _function("trec_runs:hold_run"))
        return stream(source)

    def read_qrels(self, source: Source) -> QrelsColumns:
        """Read qrels."""
        read = cast(Callable[[Source], QrelsColumns], _function(self.reader))
        return read(source)

    def write_run(self, rankings: Iterable[Ranking], run_id: bytes, file: BinaryIO) -> None:
        """Write a run."""
        write = cast(Callable[[Iterable["Ranking"], bytes, BinaryIO], None], _function(self.writer))
        write(rankings, run_id, file)

    def write_qrels(self, qrels: QrelsColumns, file: BinaryIO) -> None:
        """Write qrels."""
        write = cast(Callable[[QrelsColumns, BinaryIO], None], _function(self.writer))
        write(qrels, file)


def _function(place: str) -> object:
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(f"ragkpi.formats.{module}"), name)


def _by_name(*formats: FileFormat) -> Mapping[str, FileFormat]:
    return {format_.name: format_ for format_ in formats}


RUN_FORMATS = _by_name(
    FileFormat(
        "trec",
        "query Q0 document rank score run_id, separated by white space",
        (".run", ".txt", ".trec", ".res"),
        "trec_runs:stream_run",
        "trec_runs:write_run",
    ),
    FileFormat(
        "msmarco",
        "query document rank, separated by white space; no scores",
        (".msmarco",),
        "msmarco:stream_run",
        "msmarco:write_run",
    ),
    FileFormat(
        "tsv",
        "a line of column names, then values between tabs; never quoted",
        (".tsv",),
        "delimited:stream_tsv",
        "delimited:write_tsv",
    ),
    FileFormat(
        "csv",
        "a line of column names, then values between commas; quoted where needed",
        (".csv",),
        "delimited:stream_csv",
        "delimited:write_csv",
    ),
    FileFormat(
        "json",
        'one document: {"query": {"document": score}}, or an array of what jsonl holds',
        (".json",),
        "json_documents:stream_run",
        "json_documents:write_run",
    ),
    FileFormat(
        "jsonl",
        "an object per query with a list of candidates (docid, score) or references",
        (".jsonl", ".ndjson"),
        "json_lines:stream_run",
        "json_lines:write_run",
    ),
    FileFormat(
        "parquet",
        "a table with named columns; needs pyarrow",
        (".parquet", ".pq"),
        "arrow:stream_run",
        "arrow:write_parquet",
    ),
    FileFormat(
        "arrow",
        "an Arrow IPC file or stream with named columns; needs pyarrow",
        (".arrow", ".feather", ".ipc"),
        "arrow:stream_run",
        "arrow:write_arrow",
    ),
)

QRELS_FORMATS = _by_name(
    FileFormat(
        "trec",
        "query iteration document level, separated by white space",
        (".qrels", ".txt", ".trec", ".qrel"),
        "trec_qrels:qrels_of",
        "trec_qrels:write_qrels",
    ),
    FileFormat(
        "beir",
        "TSV that begins with: query-id, corpus-id, score",
        (),
        "delimited:read_tsv_qrels",
        "delimited:write_beir_qrels",
    ),
    FileFormat(
        "tsv",
        "a line of column names, then values between tabs; never quoted",
        (".tsv",),
        "delimited:read_tsv_qrels",
        "delimited:write_tsv_qrels",
    ),
    FileFormat(
        "csv",
        "a line of column names, then values between commas; quoted where needed",
        (".csv",),
        "delimited:read_csv_qrels",
        "delimited:write_csv_qrels",
    ),
    FileFormat(
        "json",
        'one document: {"query": {"document": level}}, or an array of what jsonl holds',
        (".json",),
        "json_documents:read_qrels",
        "json_documents:write_qrels",
    ),
    FileFormat(
        "jsonl",
        "an object per judgement: query_id, doc_id, relevance",
        (".jsonl", ".ndjson"),
        "json_lines:read_qrels",
        "json_lines:write_qrels",
    ),
    FileFormat(
        "parquet",
        "a table with named columns; needs pyarrow",
        (".parquet", ".pq"),
        "arrow:read_qrels",
        "arrow:write_parquet_qrels",
    ),
    FileFormat(
        "arrow",
        "an Arrow IPC file or stream with named columns; needs pyarrow",
        (".arrow", ".feather", ".ipc"),
        "arrow:read_qrels",
        "arrow:write_arrow_qrels",
    ),
)

FILE_FORMATS: Mapping[Kind, Mapping[str, FileFormat]] = {"run": RUN_FORMATS, "qrels": QRELS_FORMATS}


def find_format(kind: Kind, name: str, option: str) -> FileFormat:
    """Return a format by its name; `UsageError` naming all, if there is none."""
    if name not in FILE_FORMATS[kind]:
        known = ", ".join(FILE_FORMATS[kind])
        raise UsageError(f"{option} {name}: no such format of {kind}; expected one of {known}")
    return FILE_FORMATS[kind][name]


def run_format(source: Source, forced: str | None = None) -> FileFormat:
    """Return the format of an opened run: the forced one, or what its first bytes say."""
    return RUN_FORMATS[forced or recognise_run(source.peek(HEAD_LENGTH))]


def read_any_qrels(path: str, forced: str | None = None) -> QrelsColumns:
    """Read qrels in the forced format, or in what their first bytes say."""
    with Source(path) as source:
        name = forced or recognise_qrels(source.peek(HEAD_LENGTH))
        return QRELS_FORMATS[name].read_qrels(source)
