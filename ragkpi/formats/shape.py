"""A shape: where records of JSON and rows of tables hold queries, documents, scores and levels."""

from __future__ import annotations

from typing import Literal

from ragkpi.records import NamedTuple

Kind = Literal["run", "qrels"]
ID = "<query id>|metadata.<query id>"
ANY_ID = (
    "query.<query or id>|topic.<query or id>|<query id>|metadata.<query id>|"
    "<list>[].<query id>|<query or id>"
)
ITEM = "@value|<document or id>|<document>.<document or id>|node.<document or id>"
RUN = "<run>|metadata.<run>"


class Shape(NamedTuple):
    """Where the parts of a run or of qrels stand; `ragkpi.formats.paths` explains the paths.

    Attributes
    ----------
    name
        What ``--run-format`` and ``--qrels-format`` call it.
    kind
        Whether it is a run or qrels.
    written_by
        What writes such files, and what they look like.
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
        Where the records stand: empty if each line, or each element of one array, is a record;
        ``$`` for the values of one object; ``$.results`` for what stands there. ``*`` is any key:
        under each stands another ranking of the queries, a subset, of which one is read.
    needs
        Keys beside `records`, or of the record, without which the shape is not recognised.
    repeated
        Whether a document that stands in one list again is ``"refused"`` or ``"dropped"``; one
        with another level is refused.
    run_id
        The name of the run.
    required
        The parts without which a record is refused: those that a map names.
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
