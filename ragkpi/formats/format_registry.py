"""The formats of runs and qrels, as data; the module of each is imported when it is used."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO

from ragkpi.errors import UsageError
from ragkpi.formats.opening import Source
from ragkpi.formats.trec_qrels import QrelsColumns
from ragkpi.formats.trec_runs import RunColumns
from ragkpi.records import NamedTuple

if TYPE_CHECKING:
    from ragkpi.formats.rankings import Rankings
    from ragkpi.formats.shape import Kind, Shape


class FileFormat(NamedTuple):
    """A format of files.

    Attributes
    ----------
    name
        What ``--run-format``, ``--qrels-format`` and ``--to`` call it.
    description
        What such a file looks like, in a line.
    suffixes
        File names that ask `ragkpi convert` for it.
    run, qrels
        Functions as ``module:name`` in ``ragkpi.formats`` that read it; empty if it holds none.
    run_writer, qrels_writer
        Those that write it; empty if it is only read.
    shaped
        Whether names or keys tell what is in it, so that a shape can.
    subsets
        Whether a shape of it may hold several rankings of a query.
    """

    name: str
    description: str
    suffixes: tuple[str, ...] = ()
    run: str = ""
    qrels: str = ""
    run_writer: str = ""
    qrels_writer: str = ""
    shaped: bool = True
    subsets: bool = False

    def stream_run(
        self, source: Source, shape: Shape | None = None, subset: str | None = None
    ) -> Iterator[RunColumns]:
        """Read a run block by block; a query may go on from one to the next."""
        blocks: Iterator[RunColumns] = self._read(self.run, source, shape, subset)
        return blocks

    def read_qrels(self, source: Source, shape: Shape | None = None) -> QrelsColumns:
        """Read qrels."""
        columns: QrelsColumns = self._read(self.qrels, source, shape)
        return columns

    def write_run(self, rankings: Iterable[Rankings], run_id: bytes, file: BinaryIO) -> None:
        """Write a run."""
        _function(self.run_writer)(rankings, run_id, file)

    def write_qrels(self, qrels: QrelsColumns, file: BinaryIO) -> None:
        """Write qrels."""
        _function(self.qrels_writer)(qrels, file)

    def _read(
        self, function: str, source: Source, shape: Shape | None, subset: str | None = None
    ) -> Any:
        if subset is not None:
            return _function(function)(source, shape, subset)
        return _function(function)(source, shape) if self.shaped else _function(function)(source)


def _function(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(f"ragkpi.formats.{module}"), name)


_FORMATS = (
    FileFormat(
        "trec",
        "query Q0 document rank score run_id, or query iteration document level",
        (".run", ".qrels", ".txt", ".trec", ".res", ".qrel"),
        run="trec_runs:stream_run",
        qrels="trec_qrels:qrels_of",
        run_writer="text_writing:write_trec",
        qrels_writer="text_writing:write_trec_qrels",
        shaped=False,
    ),
    FileFormat(
        "msmarco",
        "query document rank, separated by white space; no scores",
        (".msmarco",),
        run="unnamed_columns:stream_msmarco",
        run_writer="text_writing:write_msmarco",
    ),
    FileFormat(
        "colbert",
        "ColBERT: query document rank score, separated by white space",
        run="unnamed_columns:stream_colbert",
    ),
    FileFormat(
        "tevatron",
        "Tevatron: query document score, separated by white space",
        run="unnamed_columns:stream_tevatron",
    ),
    FileFormat(
        "beir",
        "TSV that begins with: query-id, corpus-id, score",
        qrels="delimited:read_table_qrels",
        qrels_writer="text_writing:write_beir_qrels",
    ),
    FileFormat(
        "tsv",
        "a line of column names, then values between tabs; never quoted",
        (".tsv",),
        run="delimited:stream_table",
        qrels="delimited:read_table_qrels",
        run_writer="text_writing:write_tsv",
        qrels_writer="text_writing:write_tsv_qrels",
    ),
    FileFormat(
        "csv",
        "a line of column names, then values between commas; quoted where needed",
        (".csv",),
        run="delimited:stream_csv",
        qrels="delimited:read_csv_qrels",
        run_writer="text_writing:write_csv",
        qrels_writer="text_writing:write_csv_qrels",
    ),
    FileFormat(
        "json",
        'one document, such as {"query": {"document": number}}, or an array of what jsonl holds',
        (".json",),
        run="json_files:stream_run",
        qrels="json_files:read_qrels",
        run_writer="text_writing:write_json_document",
        qrels_writer="text_writing:write_json_qrels_document",
        subsets=True,
    ),
    FileFormat(
        "jsonl",
        "an object a line: a query with its list of documents, or a document; see the shapes",
        (".jsonl", ".ndjson"),
        run="json_files:stream_run",
        qrels="json_files:read_qrels",
        run_writer="text_writing:write_json_lines",
        qrels_writer="text_writing:write_json_qrels_lines",
        subsets=True,
    ),
    FileFormat(
        "parquet",
        "a table with named columns, or a folder of its parts; needs pyarrow",
        (".parquet", ".pq"),
        run="arrow:stream_run",
        qrels="arrow:read_qrels",
        run_writer="arrow_writing:write_parquet",
        qrels_writer="arrow_writing:write_parquet_qrels",
    ),
    FileFormat(
        "arrow",
        "an Arrow IPC file or stream with named columns; needs pyarrow",
        (".arrow", ".feather", ".ipc"),
        run="arrow:stream_run",
        qrels="arrow:read_qrels",
        run_writer="arrow_writing:write_arrow",
        qrels_writer="arrow_writing:write_arrow_qrels",
    ),
)
RUN_FORMATS: Mapping[str, FileFormat] = {form.name: form for form in _FORMATS if form.run}
QRELS_FORMATS: Mapping[str, FileFormat] = {form.name: form for form in _FORMATS if form.qrels}
FILE_FORMATS: Mapping[Kind, Mapping[str, FileFormat]] = {"run": RUN_FORMATS, "qrels": QRELS_FORMATS}


def written_formats(kind: Kind) -> Mapping[str, FileFormat]:
    """Return the formats that are written, by name."""
    forms = FILE_FORMATS[kind]
    return {
        name: form
        for name, form in forms.items()
        if (form.run_writer if kind == "run" else form.qrels_writer)
    }


def find_written_format(kind: Kind, name: str, option: str) -> FileFormat:
    """Return a format that is written, by its name; `UsageError` naming all, if there is none."""
    known = written_formats(kind)
    if name not in known:
        raise UsageError(
            f"{option} {name}: no such format of {kind}; expected one of {', '.join(known)}"
        )
    return known[name]
