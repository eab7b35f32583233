"""Find readers and writers by the name of a format, and qrels by the name of a data set.

This module imports the readers of all formats, so `ragkpi.files.formats` imports it only if a file
is not TREC. Named qrels, ``irds:DATASET``, come from ir_datasets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Literal, NamedTuple, get_args
from urllib.parse import quote

import numpy as np

from ragkpi.errors import InputError, UsageError
from ragkpi.files import json_files, tables, trec, writing
from ragkpi.files.arrow import (
    ArrowTable,
    write_arrow,
    write_arrow_qrels,
    write_parquet,
    write_parquet_qrels,
)
from ragkpi.files.delimited import open_csv, open_tsv
from ragkpi.files.inputs import inputs
from ragkpi.files.lines import Tokens
from ragkpi.files.opening import Kind, Source
from ragkpi.files.shapes import Shape
from ragkpi.files.sieve import Fold, Sieve, parse_fold, read_excluded, words_of
from ragkpi.files.tables import TableFile
from ragkpi.files.trec import QrelsColumns, RunColumns, plain_qrels, refuse_empty
from ragkpi.interface import spell
from ragkpi.wording import did_you_mean


def read_dataset(path: str) -> QrelsColumns:
    """Read the qrels of an ir_datasets data set; ir_datasets can download them."""
    try:
        import ir_datasets
    except ImportError as problem:
        raise UsageError(
            f"{path} needs a package ({problem}); install it with: pip install 'ragkpi[datasets]'"
        ) from None
    try:
        dataset = ir_datasets.load(path.removeprefix("irds:"))
        judgements = list(dataset.qrels_iter())
    except KeyError as problem:
        fault = f"cannot be read (unknown data set {problem})"
        raise InputError(path, None, fault, "expected the id of a data set with qrels") from None
    except Exception as problem:  # no qrels, a licence, the network
        reason = (str(problem).splitlines() or [type(problem).__name__])[0][:100]
        fault = f"cannot be read ({reason})"
        raise InputError(path, None, fault, "expected qrels that ir_datasets can fetch") from None
    query, document = (
        Tokens.from_strings(
            getattr(judged, name).encode("utf-8", "surrogateescape") for judged in judgements
        )
        for name in ("query_id", "doc_id")
    )
    level = np.array([judged.relevance for judged in judgements], np.int64)
    line = np.arange(len(query)) + 1
    if not len(line):
        raise InputError(path, None, "contains no judgements", "expected at least one")
    refuse_empty(path, document, line, "document id")
    refuse_empty(path, query, line, "query id")
    return plain_qrels(path, query, document, level, line, None)


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
        {"run": partial(trec.stream_words, columns=("query", "document", "rank"))},
        {"run": writing.write_msmarco},
    ),
    FileFormat(
        "colbert",
        "ColBERT: query document rank score, separated by whitespace",
        (),
        {"run": partial(trec.stream_words, columns=("query", "document", "rank", "score"))},
        {},
    ),
    FileFormat(
        "tevatron",
        "Tevatron: query document score, separated by whitespace",
        (),
        {"run": partial(trec.stream_words, columns=("query", "document", "score"))},
        {},
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


def written_formats(kind: Kind) -> Mapping[str, FileFormat]:
    """Return the formats that can be written, by name."""
    return {name: form for name, form in FILE_FORMATS[kind].items() if kind in form.writers}


def find_written_format(kind: Kind, name: str, option: str) -> FileFormat:
    """Return the writable format of this name; else `UsageError`, which lists all names."""
    formats = written_formats(kind)
    if name not in formats:
        raise UsageError(
            f"{option} {name}: no such {kind} format; expected one of {', '.join(formats)}"
        )
    return formats[name]


def find_format(kind: Kind, name: str, option: str) -> None:
    """Raise `UsageError` if no format has this name."""
    if name not in FILE_FORMATS[kind]:
        advice = did_you_mean(name, FILE_FORMATS[kind], "'ragkpi formats' lists them")
        raise UsageError(f"{option} {name}: no such {kind} format; {advice}")


def kind_of_format(name: str) -> Kind | None:
    """Return the kind of files in a format; None if both are possible, or no name."""
    kinds = [kind for kind in FILE_FORMATS if name in FILE_FORMATS[kind]]
    return kinds[0] if len(kinds) == 1 else None


def sieve_for(
    max_passage: str | None,
    drop_identical: bool,
    exclude: str | None,
    match: Literal["id", "text"] = "id",
    queries: Mapping[bytes, bytes] | None = None,
) -> Sieve | None:
    """Return the sieve that options describe; None without any.

    Errors as in `parse_fold` and `read_excluded`.
    """
    if (max_passage, exclude, queries, match) == (None, None, None, "id") and not drop_identical:
        return None
    if match == "text" and max_passage is not None:
        options = f"{spell('match', 'text')} and {spell('max_passage')}"
        raise UsageError(f"{options}: texts have no chunks; expected one of the two")
    fold = None if max_passage is None else parse_fold(max_passage)
    fold = Fold(words_of) if match == "text" else fold
    excluded = {} if exclude is None else read_excluded(exclude)
    list_ = max_passage[1:] if max_passage and max_passage.startswith("@") else None
    choices = [
        f"max_passage={_digest(list_) if list_ else max_passage}" if max_passage else "",
        "match=text" if match == "text" else "",
        "queries" if queries else "",
        "ignore_identical_ids" if drop_identical else "",
        f"exclude={_digest(exclude)}" if exclude is not None else "",
    ]
    signed = quote(",".join(filter(None, choices)), ",")
    unseen: set[bytes] | None = set() if match == "text" else None
    return Sieve(fold, drop_identical, excluded, signed, queries or {}, unseen)


def _digest(path: str) -> str:
    return f"sha256:{inputs().sha256(path)}"
