"""The formats of runs and qrels, as data; the module of each is imported when it is used."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple

from ragkpi.errors import InputError, UsageError
from ragkpi.formats.opening import Source
from ragkpi.formats.recognition import (
    HEAD_LENGTH,
    foreign,
    recognise_layout,
    recognise_qrels,
    recognise_run,
)
from ragkpi.formats.trec_qrels import Numbers, QrelsColumns
from ragkpi.formats.trec_runs import RunColumns

if TYPE_CHECKING:
    from ragkpi.formats.shape import Shape
    from ragkpi.formats.sieve import Sieve
    from ragkpi.formats.text_writing import Ranking

Kind = Literal["run", "qrels"]
Scores = Literal["similarity", "distance"]


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
    hold
        The one that reads a run in blocks that stay valid together, if `run` does not.
    run_writer, qrels_writer
        Those that write it; empty if it is only read.
    shaped
        Whether names or keys tell what is in it, so that a shape can.
    """

    name: str
    description: str
    suffixes: tuple[str, ...] = ()
    run: str = ""
    qrels: str = ""
    hold: str = ""
    run_writer: str = ""
    qrels_writer: str = ""
    shaped: bool = True

    def stream_run(self, source: Source, shape: Shape | None = None) -> Iterator[RunColumns]:
        """Read a run in blocks that hold all neighbouring lines of their queries."""
        blocks: Iterator[RunColumns] = self._read(self.run, source, shape)
        return blocks

    def hold_run(self, source: Source, shape: Shape | None = None) -> Iterator[RunColumns]:
        """Read a run in blocks that stay valid together."""
        blocks: Iterator[RunColumns] = self._read(self.hold or self.run, source, shape)
        return blocks

    def read_qrels(self, source: Source, shape: Shape | None = None) -> QrelsColumns:
        """Read qrels."""
        columns: QrelsColumns = self._read(self.qrels, source, shape)
        return columns

    def write_run(self, rankings: Iterable[Ranking], run_id: bytes, file: BinaryIO) -> None:
        """Write a run."""
        _function(self.run_writer)(rankings, run_id, file)

    def write_qrels(self, qrels: QrelsColumns, file: BinaryIO) -> None:
        """Write qrels."""
        _function(self.qrels_writer)(qrels, file)

    def _read(self, function: str, source: Source, shape: Shape | None) -> Any:
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
        hold="trec_runs:hold_run",
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
        hold="unnamed_columns:hold_msmarco",
        run_writer="text_writing:write_msmarco",
    ),
    FileFormat(
        "colbert",
        "ColBERT: query document rank score, separated by white space",
        run="unnamed_columns:stream_colbert",
        hold="unnamed_columns:hold_colbert",
    ),
    FileFormat(
        "tevatron",
        "Tevatron: query document score, separated by white space",
        run="unnamed_columns:stream_tevatron",
        hold="unnamed_columns:hold_tevatron",
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
        hold="delimited:hold_tsv",
        qrels="delimited:read_table_qrels",
        run_writer="text_writing:write_tsv",
        qrels_writer="text_writing:write_tsv_qrels",
    ),
    FileFormat(
        "csv",
        "a line of column names, then values between commas; quoted where needed",
        (".csv",),
        run="delimited:stream_csv",
        hold="delimited:hold_csv",
        qrels="delimited:read_csv_qrels",
        run_writer="text_writing:write_csv",
        qrels_writer="text_writing:write_csv_qrels",
    ),
    FileFormat(
        "json",
        'one document, such as {"query": {"document": number}}, or an array of what jsonl holds',
        (".json",),
        run="json_files:stream_run",
        hold="json_files:hold_run",
        qrels="json_files:read_qrels",
        run_writer="text_writing:write_json_document",
        qrels_writer="text_writing:write_json_qrels_document",
    ),
    FileFormat(
        "jsonl",
        "an object a line: a query with its list of documents, or a document; see the shapes",
        (".jsonl", ".ndjson"),
        run="json_files:stream_run",
        hold="json_files:hold_run",
        qrels="json_files:read_qrels",
        run_writer="text_writing:write_json_lines",
        qrels_writer="text_writing:write_json_qrels_lines",
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


class Reading(NamedTuple):
    """How a file is to be read; what is not said is recognised.

    Attributes
    ----------
    format
        The name of its format or of its shape.
    shape
        Which keys or columns hold what (``--map-run``, ``--map-qrels``).
    scores
        ``"distance"`` if the smaller score is the better one.
    sieve
        What is done with documents before they are ranked.
    """

    format: str | None = None
    shape: Shape | None = None
    scores: Scores = "similarity"
    sieve: Sieve | None = None

    def of_pool(self) -> Reading:
        """Return how the pool of such a run is read: its format is its own."""
        return Reading(sieve=self.sieve)


class FileReader(NamedTuple):
    """A format, and how a file in it is to be read."""

    format: FileFormat
    shape: Shape | None = None
    scores: Scores = "similarity"
    sieve: Sieve | None = None

    @property
    def name(self) -> str:
        """The name of the format."""
        return self.format.name

    def stream_run(self, source: Source) -> Iterator[RunColumns]:
        """Read a run as `FileFormat.stream_run` does."""
        return self._watched(self.format.stream_run(source, self.shape))

    def hold_run(self, source: Source) -> Iterator[RunColumns]:
        """Read a run as `FileFormat.hold_run` does."""
        return self._watched(self.format.hold_run(source, self.shape))

    def read_qrels(self, source: Source) -> QrelsColumns:
        """Read qrels."""
        columns = self.format.read_qrels(source, self.shape)
        return self.sieve.qrels(columns) if self.sieve else columns

    def sieved(self, blocks: Iterator[RunColumns]) -> Iterator[RunColumns]:
        """Treat the documents of blocks of whole queries as was asked for."""
        return self.sieve.run(blocks) if self.sieve else blocks

    @property
    def splittable(self) -> bool:
        """Whether several processes may read ranges of the file by `trec_runs.stream_run`."""
        return self.name == "trec" and self.scores == "similarity" and not self.sieve

    def _watched(self, blocks: Iterator[RunColumns]) -> Iterator[RunColumns]:
        """Turn distances into scores; warn of scores that contradict the ranks beside them."""
        if self.name == "trec" and self.scores == "similarity":
            yield from blocks  # trec_eval ignores ranks; 'ragkpi check' looks at them
            return
        from ragkpi.formats.score_order import warn_of_contradiction

        warned = self.name == "trec"
        for block in blocks:
            if self.scores == "distance":
                block = block._replace(score=-block.score)
            warned = warned or warn_of_contradiction(block)
            yield block


def find_format(kind: Kind, name: str, option: str) -> None:
    """Raise `UsageError` if neither a format nor a shape has this name."""
    from ragkpi.formats.shapes import SHAPES

    if name not in FILE_FORMATS[kind] and name not in SHAPES[kind]:
        import difflib

        near = difflib.get_close_matches(name, [*FILE_FORMATS[kind], *SHAPES[kind]], n=1)
        advice = f"did you mean {near[0]}?" if near else "'ragkpi formats' lists them"
        raise UsageError(f"{option} {name}: no such format of {kind}; {advice}")


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


def _resolved(kind: Kind, head: bytes, reading: Reading) -> tuple[FileFormat, Shape | None]:
    """Return the format of a file and its shape, if one is asked for."""
    name, shape = reading.format, reading.shape
    if name is not None and name not in FILE_FORMATS[kind]:
        from ragkpi.formats.shapes import SHAPES

        shape = shape or SHAPES[kind][name]
        name = None
    if name is None and shape is not None:
        name = recognise_layout(head)
    if name is None:
        name = recognise_run(head) if kind == "run" else recognise_qrels(head)
    return FILE_FORMATS[kind][name], shape


def run_format(source: Source, reading: Reading | str | None = None) -> FileReader:
    """Return how an opened run is read: as asked for, or as its first bytes say."""
    return reader_of("run", source, reading)


def reader_of(kind: Kind, source: Source, reading: Reading | str | None = None) -> FileReader:
    """Return how an opened file is read: as asked for, or as its first bytes say."""
    reading = reading if isinstance(reading, Reading) else Reading(reading)
    head = source.peek(HEAD_LENGTH)
    stranger = foreign(head) if reading.format is None and reading.shape is None else None
    if stranger is not None:
        raise InputError(source.name, None, *stranger)
    form, shape = _resolved(kind, head, reading)
    return FileReader(form, shape, reading.scores, reading.sieve)


def read_any_qrels(
    path: str, reading: Reading | str | None = None, numbers: Numbers = "levels"
) -> QrelsColumns:
    """Read qrels as asked for, or as their first bytes say.

    A path may be a name: ``irds:DATASET``, or one of ``$RAGKPI_QRELS`` (`named_qrels`). Fractional
    levels are refused in TREC's columns, and everywhere unless `numbers` is ``"gains"``.
    """
    if path.startswith("irds:") or (os.environ.get("RAGKPI_QRELS") and not os.path.exists(path)):
        from ragkpi.formats.named_qrels import is_dataset, read_dataset, resolved

        if is_dataset(path):
            columns = read_dataset(path)
            sieve = reading.sieve if isinstance(reading, Reading) else None
            return sieve.qrels(columns) if sieve else columns
        path = resolved(path)
    with Source(path) as source:
        return reader_of("qrels", source, reading).read_qrels(source).read_as(numbers)


def reading(
    kind: Kind,
    format_name: str | None = None,
    map_: str | Mapping[str, str] | None = None,
    scores: Scores = "similarity",
    sieve: Sieve | None = None,
    options: tuple[str, str] | None = None,
) -> Reading:
    """Return how a file is to be read, from what a user says about it.

    Parameters
    ----------
    kind
        Whether it holds a run or qrels.
    format_name
        The name of a format or of a shape; None if the file's first bytes are to tell.
    map_
        Which keys or columns hold what, as a text or by part (`ragkpi.formats.shapes`).
    scores
        Whether the greater or (``"distance"``) the smaller score is the better one.
    sieve
        What is done with documents before they are ranked.
    options
        What messages call `format_name` and `map_`; by default the options of the command line.

    Raises
    ------
    UsageError
        If there is no such format, or the map says nothing of the kind.
    """
    from ragkpi.formats.shapes import mapped, parse_map

    format_option, map_option = options or (f"--{kind}-format", f"--map-{kind}")
    if format_name is not None:
        find_format(kind, format_name, format_option)
    shape = None
    if map_ is not None:
        shape = parse_map(map_, kind, map_option) if isinstance(map_, str) else mapped(map_, kind)
    return Reading(format_name, shape, scores, sieve)
