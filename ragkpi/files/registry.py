"""Find readers and writers by the name of a format.

This module imports the readers of all formats, so `ragkpi.files.formats` imports it only if a file
is not TREC.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, get_args

from ragkpi.errors import UsageError
from ragkpi.files import json_files, tables, trec, writing
from ragkpi.files.arrow import (
    ArrowTable,
    write_arrow,
    write_arrow_qrels,
    write_parquet,
    write_parquet_qrels,
)
from ragkpi.files.delimited import open_csv, open_tsv
from ragkpi.files.opening import Kind, Source
from ragkpi.files.shapes import Shape
from ragkpi.files.tables import TableFile
from ragkpi.files.trec import QrelsColumns, RunColumns
from ragkpi.wording import did_you_mean


def _readers(
    open_: Callable[[Source, Shape | None], TableFile],
) -> Mapping[Kind, Callable[..., Any]]:
    """Return the readers of tables."""

    def stream_run(source: Source, shape: Shape | None = None) -> Iterator[RunColumns]:
        return tables.stream_run(open_(source, shape), shape)

    def read_qrels(source: Source, shape: Shape | None = None) -> QrelsColumns:
        return tables.read_qrels(open_(source, shape), shape)

    return {"run": stream_run, "qrels": read_qrels}


_ARROW = _readers(lambda source, _: ArrowTable(source))
_CSV, _TSV = _readers(open_csv), _readers(open_tsv)


class FileFormat(NamedTuple):
    """A file format, with its readers and writers by kind.

    A reader takes a `Source` and, except for TREC, a ``shape``. A reader of runs yields
    `RunColumns`, and a query can continue in the next block; a reader of qrels returns
    `QrelsColumns`. Writers take (rankings, file) or (qrels, file), and can iterate over the
    rankings again.
    """

    name: str  # in --run-format, --qrels-format and --to
    description: str  # in one line
    suffixes: tuple[str, ...]  # of output files that `ragkpi convert` writes in this format
    readers: Mapping[Kind, Callable[..., Any]]
    writers: Mapping[Kind, Callable[..., None]]
    empty: bool = False  # whether it can represent a query without documents


_FORMATS = (
    FileFormat(
        "trec",
        "query Q0 document rank score run_id, or query iteration document level",
        (".run", ".qrels", ".txt", ".trec", ".res", ".qrel"),
        {"run": trec.stream_run, "qrels": trec.qrels_of},
        {"run": writing.write_trec, "qrels": writing.write_trec_qrels},
    ),
    FileFormat(
        "msmarco",
        "query document rank, separated by whitespace; no scores",
        (".msmarco",),
        {"run": trec.stream_msmarco},
        {"run": writing.write_msmarco},
    ),
    FileFormat(
        "beir",
        "TSV with the columns query-id, corpus-id, score",
        (),
        {"qrels": _TSV["qrels"]},
        {"qrels": writing.write_beir_qrels},
    ),
    FileFormat(
        "tsv",
        "tab-separated values with column names; quoted if all names are",
        (".tsv",),
        _TSV,
        {"run": writing.write_tsv, "qrels": writing.write_tsv_qrels},
    ),
    FileFormat(
        "csv",
        "values separated by , ; or | with column names; quoted where needed",
        (".csv",),
        _CSV,
        {"run": writing.write_csv, "qrels": writing.write_csv_qrels},
    ),
    FileFormat(
        "json",
        'one document, such as {"query": {"document": number}}, or an array of jsonl objects',
        (".json",),
        {"run": json_files.stream_run, "qrels": json_files.read_qrels},
        {"run": writing.write_json_document, "qrels": writing.write_json_qrels_document},
        empty=True,
    ),
    FileFormat(
        "jsonl",
        "one object per line: a query with its list of documents, or one document",
        (".jsonl", ".ndjson"),
        {"run": json_files.stream_run, "qrels": json_files.read_qrels},
        {"run": writing.write_json_lines, "qrels": writing.write_json_qrels_lines},
        empty=True,
    ),
    FileFormat(
        "parquet",
        "a table with named columns, or a folder of parts; needs pyarrow",
        (".parquet", ".pq"),
        _ARROW,
        {"run": write_parquet, "qrels": write_parquet_qrels},
    ),
    FileFormat(
        "arrow",
        "an Arrow IPC file or stream with named columns; needs pyarrow",
        (".arrow", ".feather", ".ipc"),
        _ARROW,
        {"run": write_arrow, "qrels": write_arrow_qrels},
    ),
)
FILE_FORMATS: Mapping[Kind, Mapping[str, FileFormat]] = {
    kind: {form.name: form for form in _FORMATS if kind in form.readers} for kind in get_args(Kind)
}


def find_format(kind: Kind, name: str, option: str) -> None:
    """Raise `UsageError` if no format has this name."""
    if name not in FILE_FORMATS[kind]:
        advice = did_you_mean(name, FILE_FORMATS[kind], "'ragkpi formats' lists them")
        raise UsageError(f"{option} {name}: unknown {kind} format; {advice}")
