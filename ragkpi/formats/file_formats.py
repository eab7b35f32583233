"""Choose how a file is read: its format and shape, as the user names them or as recognised."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from ragkpi.errors import InputError, UsageError
from ragkpi.formats import trec_qrels, trec_runs
from ragkpi.formats.column_names import Kind
from ragkpi.formats.opening import Source
from ragkpi.formats.recognition import (
    HEAD_LENGTH,
    foreign,
    recognise_layout,
    recognise_qrels,
    recognise_run,
)
from ragkpi.formats.score_order import warn_of_contradiction
from ragkpi.formats.trec_qrels import Numbers, QrelsColumns
from ragkpi.formats.trec_runs import RunColumns
from ragkpi.interface import option
from ragkpi.records import NamedTuple

if TYPE_CHECKING:
    from ragkpi.formats.shape import Shape
    from ragkpi.formats.sieve import Sieve

ScoreKind = Literal["similarity", "distance"]


class Reading(NamedTuple):
    """How the user wants a file to be read; None: recognised by the file's first bytes.

    Attributes
    ----------
    format
        The name of its format or of its shape.
    shape
        Which keys or columns hold what (``--map-run``, ``--map-qrels``).
    scores
        ``"distance"`` if smaller scores are better.
    sieve
        Which documents are left out or folded before ranking.
    subset
        Which of several rankings of the queries is read, where a file holds them.
    """

    format: str | None = None
    shape: Shape | None = None
    scores: ScoreKind = "similarity"
    sieve: Sieve | None = None
    subset: str | None = None

    def of_pool(self) -> Reading:
        """Return how the pool of such a run is read: its format is its own."""
        return Reading(sieve=self.sieve)


class FileReader(NamedTuple):
    """The reader of an opened file.

    Attributes
    ----------
    name
        The name of the file's format.
    read
        Reads a source of this format: as blocks of a run, or as qrels.
    scores, sieve
        As in `Reading`.
    """

    name: str
    read: Callable[[Source], Any]
    scores: ScoreKind = "similarity"
    sieve: Sieve | None = None

    def stream_run(self, source: Source) -> Iterator[RunColumns]:
        """Read the documents of a run that the kernel needs."""
        blocks = self.stream_columns(source)
        if self.sieve is None or self.sieve.in_kernel:
            return blocks
        return self.sieve.folded(blocks)

    def stream_columns(self, source: Source) -> Iterator[RunColumns]:
        """Read all documents of a run. Distances become scores.

        Warns of scores that contradict the ranks beside them.
        """
        # trec_eval ignores ranks; 'ragkpi check' compares them with the scores.
        warned = self.name == "trec"
        for block in self.read(source):
            if self.scores == "distance":
                block = block._replace(score=-block.score)
            warned = warned or warn_of_contradiction(block)
            yield block

    def read_qrels(self, source: Source) -> QrelsColumns:
        """Read qrels; the sieve folds passages into documents."""
        columns: QrelsColumns = self.read(source)
        return self.sieve.qrels(columns) if self.sieve else columns

    @property
    def has_lines(self) -> bool:
        """Whether the run is TREC and read unchanged, so that single lines can be checked."""
        return self.name == "trec" and self.scores == "similarity" and not self.sieve

    @property
    def is_fed(self) -> bool:
        """Whether the kernel reads the text itself; else it takes columns."""
        return self.name == "trec" and (self.sieve is None or self.sieve.in_kernel)

    @property
    def treatment(self) -> dict[str, Any]:
        """What the kernel does with documents and scores, as arguments of `kernel.Run`."""
        treated = self.sieve.treatment if self.sieve else {}
        return {**treated, "distance": self.is_fed and self.scores == "distance"}


def reader_of(kind: Kind, source: Source, reading: Reading | str | None = None) -> FileReader:
    """Choose the reader of an opened file, by what the user named or by the file's first bytes.

    Raises `InputError` for a file that is recognised as neither run nor qrels, and for a subset of
    a format that has none.
    """
    asked = reading if isinstance(reading, Reading) else Reading(reading)
    head = source.peek(HEAD_LENGTH)
    name, shape = asked.format, asked.shape
    if name is None and shape is None:
        other = foreign(head)
        if other is not None:
            raise InputError(source.name, None, *other)
        name = recognise_run(head) if kind == "run" else recognise_qrels(head)
    if name == "trec" and asked.subset is None:
        read: Callable[[Source], Any]
        read = trec_runs.stream_run if kind == "run" else trec_qrels.qrels_of
        return FileReader(name, read, asked.scores, asked.sieve)
    # Most files are TREC, and the readers of all other formats take 15 ms to import.
    from ragkpi.formats.format_registry import FILE_FORMATS
    from ragkpi.formats.json_documents import no_subsets
    from ragkpi.formats.shapes import SHAPES

    if name is None or name not in FILE_FORMATS[kind]:
        shape = shape or SHAPES[kind][str(name)]
        name = recognise_layout(head)
    form = FILE_FORMATS[kind][name]
    more: dict[str, Any] = {"shape": shape}
    if asked.subset is not None:
        if not form.subsets:
            raise no_subsets(source.name, asked.subset)
        if kind == "run":
            more["subset"] = asked.subset
    return FileReader(form.name, partial(form.readers[kind], **more), asked.scores, asked.sieve)


def run_format(source: Source, reading: Reading | str | None = None) -> FileReader:
    """Choose the reader of an opened run, as `reader_of`."""
    return reader_of("run", source, reading)


def read_any_qrels(
    path: str, reading: Reading | str | None = None, numbers: Numbers = "levels"
) -> QrelsColumns:
    """Read qrels of any format.

    A path may be a name: ``irds:DATASET``, or a name in ``$RAGKPI_QRELS`` (`named_qrels`).
    Fractional levels are refused in TREC's columns, and everywhere unless `numbers` is ``"gains"``.
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


def _known_names(kind: Kind) -> list[str]:
    """Return the names of all formats and shapes."""
    from ragkpi.formats.format_registry import FILE_FORMATS
    from ragkpi.formats.shapes import SHAPES

    return [*FILE_FORMATS[kind], *SHAPES[kind]]


def find_format(kind: Kind, name: str, option: str) -> None:
    """Raise `UsageError` if neither a format nor a shape has this name."""
    known = _known_names(kind)
    if name not in known:
        import difflib

        near = difflib.get_close_matches(name, known, n=1)
        advice = f"did you mean {near[0]}?" if near else "'ragkpi formats' lists them"
        raise UsageError(f"{option} {name}: no such format of {kind}; {advice}")


def kind_of_format(name: str) -> Kind | None:
    """Return what files of a format or shape hold; None if both are possible, or for no name."""
    kinds: list[Kind] = ["run", "qrels"]
    kinds = [kind for kind in kinds if name in _known_names(kind)]
    return kinds[0] if len(kinds) == 1 else None


def reading_for(
    kind: Kind,
    format_name: str | None = None,
    map_: str | Mapping[str, str] | None = None,
    scores: ScoreKind = "similarity",
    sieve: Sieve | None = None,
    subset: str | None = None,
) -> Reading:
    """Return how a file is to be read, from a user's options.

    Parameters
    ----------
    kind
        Whether it holds a run or qrels.
    format_name
        The name of a format or of a shape; None recognises it by the file's first bytes.
    map_
        Which keys or columns hold what, as a text or by part (`ragkpi.formats.shapes`).
    scores
        ``"distance"`` if smaller scores are better.
    sieve
        Which documents are left out or folded before ranking.
    subset
        Which ranking is read of a file with several of its queries.

    Raises
    ------
    UsageError
        If there is no such format, or the map is malformed.
    """
    if format_name is not None:
        find_format(kind, format_name, option(f"{kind}_format"))
    shape = None
    if map_ is not None:
        from ragkpi.formats.shapes import mapped, parse_map

        shape = (
            parse_map(map_, kind, option(f"map_{kind}"))
            if isinstance(map_, str)
            else mapped(map_, kind)
        )
    return Reading(format_name, shape, scores, sieve, subset)
