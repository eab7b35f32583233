"""How a file is read: in which format and shape, as asked for or recognised."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from ragkpi.errors import InputError, UsageError
from ragkpi.formats.format_registry import FILE_FORMATS, FileFormat
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
from ragkpi.interface import option
from ragkpi.records import NamedTuple

if TYPE_CHECKING:
    from ragkpi.formats.shape import Shape
    from ragkpi.formats.sieve import Sieve

Kind = Literal["run", "qrels"]
Scores = Literal["similarity", "distance"]


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
    subset
        Which of several rankings of its queries is read, where a file holds them.
    """

    format: str | None = None
    shape: Shape | None = None
    scores: Scores = "similarity"
    sieve: Sieve | None = None
    subset: str | None = None

    def of_pool(self) -> Reading:
        """Return how the pool of such a run is read: its format is its own."""
        return Reading(sieve=self.sieve)


class FileReader(NamedTuple):
    """A format, and how a file in it is to be read."""

    format: FileFormat
    shape: Shape | None = None
    scores: Scores = "similarity"
    sieve: Sieve | None = None
    subset: str | None = None

    @property
    def name(self) -> str:
        """The name of the format."""
        return self.format.name

    def stream_run(self, source: Source) -> Iterator[RunColumns]:
        """Read a run with the documents that the kernel is to see."""
        columns = self.stream_columns(source)
        if self.sieve is None or self.sieve.in_kernel:
            return columns
        return self.sieve.folded(columns)

    def stream_columns(self, source: Source) -> Iterator[RunColumns]:
        """Read a run with all of its documents."""
        return self._watched(self.format.stream_run(source, self.shape, self.subset))

    def read_qrels(self, source: Source) -> QrelsColumns:
        """Read qrels."""
        columns = self.format.read_qrels(source, self.shape)
        return self.sieve.qrels(columns) if self.sieve else columns

    @property
    def has_lines(self) -> bool:
        """Whether it is a TREC run as it is, whose lines can be looked at one by one."""
        return self.name == "trec" and self.scores == "similarity" and not self.sieve

    @property
    def is_fed(self) -> bool:
        """Whether the kernel reads the text itself; else it gets columns."""
        return self.name == "trec" and (self.sieve is None or self.sieve.in_kernel)

    @property
    def treatment(self) -> dict[str, Any]:
        """What the kernel is to do with documents and scores."""
        treated = self.sieve.treatment if self.sieve else {}
        return {**treated, "distance": self.is_fed and self.scores == "distance"}

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


def kind_of_format(name: str) -> Kind | None:
    """Return what files of a format or shape hold; None if that may be both, or there is none."""
    from ragkpi.formats.shapes import SHAPES

    kinds: list[Kind] = ["run", "qrels"]
    kinds = [kind for kind in kinds if name in FILE_FORMATS[kind] or name in SHAPES[kind]]
    return kinds[0] if len(kinds) == 1 else None


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
    if reading.subset is not None and not form.subsets:
        from ragkpi.formats.json_documents import no_subsets

        raise no_subsets(source.name, reading.subset)
    return FileReader(form, shape, reading.scores, reading.sieve, reading.subset)


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
    subset: str | None = None,
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
    subset
        Which ranking is read of a file that holds several of its queries.

    Raises
    ------
    UsageError
        If there is no such format, or the map says nothing of the kind.
    """
    from ragkpi.formats.shapes import mapped, parse_map

    if format_name is not None:
        find_format(kind, format_name, option(f"{kind}_format"))
    shape = None
    if map_ is not None:
        shape = (
            parse_map(map_, kind, option(f"map_{kind}"))
            if isinstance(map_, str)
            else mapped(map_, kind)
        )
    return Reading(format_name, shape, scores, sieve, subset)
