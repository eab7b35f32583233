"""A shape: where records of JSON and rows of tables hold queries, documents, scores and levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ragkpi.errors import InputError
from ragkpi.formats import column_names as fields
from ragkpi.formats.column_names import Kind
from ragkpi.interface import option
from ragkpi.records import NamedTuple

ID = "<query id>|metadata.<query id>"
ANY_ID = (
    "query.<query or id>|topic.<query or id>|<query id>|metadata.<query id>|"
    "<list>[].<query id>|<query or id>"
)
ITEM = "@value|<document or id>|<document>.<document or id>|node.<document or id>"
RUN = "<run>|metadata.<run>"


class Shape(NamedTuple):
    """The keys that hold the parts of a run or of qrels; `ragkpi.formats.paths` explains paths.

    Attributes
    ----------
    name
        The name that ``--run-format`` and ``--qrels-format`` take.
    kind
        Whether it is a run or qrels.
    written_by
        The programs that write such files, and what the files look like.
    doc, query
        The ids of the document, from an element of the list, and of the query, from the record.
    list
        The list of documents, from the record; empty if each record is one document.
    score, rank, level
        From an element of the list. Without score the rank counts, without rank the order;
        without level each document has level 1.
    scores
        A second list, of the scores of the documents in the first one.
    records
        The path to the records: empty if each line, or each element of one array, is a record;
        ``$`` for the values of one object; ``$.results`` for the values under that key. ``*`` is
        any key: each holds another ranking of the queries, a subset, and one of them is read.
    needs
        Keys beside `records`, or of the record, without which the shape is not recognised.
    repeated
        Whether a document that a list repeats is ``"refused"`` or ``"dropped"``; with another
        level it is always refused.
    run_id
        The name of the run.
    required
        The parts that a map names: a record that lacks one is refused.
    """

    name: str
    kind: Kind
    written_by: str
    doc: str = ITEM
    query: str = ID
    list: str = ""
    score: str = ""
    rank: str = ""
    level: str = ""
    scores: str = ""
    records: str = ""
    needs: tuple[str, ...] = ()
    repeated: Literal["refused", "dropped"] = "refused"
    run_id: str = RUN
    required: tuple[str, ...] = ()

    @property
    def specificity(self) -> tuple[int, int]:
        """How many keys a file must have for this shape, by name; and how many parts it names.

        Of two shapes that fit a file, the one with the greater specificity is meant.
        """
        paths = (self.query, self.list, self.doc)
        names = len(self.needs) + sum(map(_count_names, paths))
        parts = (self.list, self.score, self.scores, self.rank, self.level)
        return names, sum(map(bool, parts))


def find_column(
    shape: Shape, part: str, names: Sequence[str], file: str, line: int | None
) -> str | None:
    """Return the name of the column that holds a part, or None; `InputError` if it is ambiguous."""
    for path in filter(None, str(getattr(shape, part)).split("|")):
        if path in names:
            return path
        wanted = fields.NAMES.get(path, (fields.plain_name(path),))
        name = fields.find_one(file, line, names, wanted)
        if name is not None:
            return name
    return None


def need_column(shape: Shape, part: str, names: Sequence[str], file: str, line: int | None) -> str:
    """Return the name of the column that holds a part; `InputError` if there is none."""
    name = find_column(shape, part, names, file, line)
    if name is None:
        path = getattr(shape, part).split("|")[0]
        wanted = fields.NAMES.get(path, (path,))
        raise InputError(
            file,
            line,
            f"names no {wanted[0]} ({fields.shown_names(names)})",
            f"expected one of {' '.join(wanted)}, or {option('map_' + shape.kind)} '{part}=…'",
        )
    return name


def _count_names(path: str) -> int:
    """Count the names of keys in a path without `<…>` and `@…`; of alternatives, the fewest."""
    return min(
        sum(not step.startswith(("<", "@")) for step in steps.split(".") if step)
        for steps in path.split("|")
    )
