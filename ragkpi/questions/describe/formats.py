"""`ragkpi formats`: the formats that ragkpi reads and writes."""

from collections.abc import Mapping
from typing import Annotated

from typer import Argument

from ragkpi.cli.signature import command
from ragkpi.errors import UsageError
from ragkpi.files import column_names as fields
from ragkpi.files.registry import FILE_FORMATS, FileFormat
from ragkpi.library.options import complete_format
from ragkpi.questions.describe import Description
from ragkpi.reports.layout import Answer, Cell, Column
from ragkpi.reports.terminal import on_terminal

_FORMATS: Mapping[str, FileFormat] = {**FILE_FORMATS["run"], **FILE_FORMATS["qrels"]}

_CONTENTS = """\
JSON and tables are recognised by the names of keys and columns, for example
  {query_id, documents: [{id, score}]}      one query with its documents per record
  {query_id, relevant_ids: [document, …]}   or judgments: [{doc_id, level}]
  query_id, doc_id, score or rank or level  one document per record or row
  {query: {document: number}}               BEIR, ranx, pytrec_eval; true is 1, false is 0
  {query: [document, …]}                    best first, or relevant
'ragkpi formats names' lists the recognised names, 'ragkpi inspect FILE' shows how a file is read,
and 'ragkpi formats map' explains how to read other files."""

_MAP = """map: the keys or columns of each part, for --map-run and --map-qrels

  --map-run 'records=$.results, query=id, list=hits.hits, doc=_id, score=_score'

Parts, separated by commas; the name of a key or column identifies an omitted part:
  records  the path to the records: omit it for one record per line or an array of records;
           $ for the values of one object, $.results for the value of a key;
           spans[] for every element of a list;
           $.@table for the rows of a table: columns and data, or one list per column
  query    the query id, in the record
  list     the list of documents, in the record; omit it if each record is one document
  doc      the document id, in an element of the list; @value for a list of ids
  score    the score; scores is a second list, parallel to the list of documents
  rank     the rank, without a score; without both, the order of the list counts
  level    the judged level (qrels); levels is a second list; without both, the level is 1
  distance a score with the smallest best, whatever its name; similarity: the largest best

A path has names separated by dots (hits.hits); a key can contain dots (node.id). name[] is every
element of a list (output[].provenance), and a number is a position from 0 (doc=0, score=1).
a|b is a, or b without a; @key is the key of a value, @value the value itself, @number the number
of the record. In CSV, TSV and tables a path is the name of a column, or its number from 1 if there
are no names: --map-run 'query=1, doc=2, score=4'. A cell can have a list, as JSON or between bars.
Every record must have the keys in the map."""


def _names_text() -> str:
    """Return the recognised names of keys and columns, part by part."""
    of_gold = tuple(f"{word}_" for word in fields.GOLD)
    names = {
        "query": (*fields.QUERY_ID, *fields.CASE_ID, *fields.QUERY_TEXT),
        "list": fields.RETRIEVED,
        "list of qrels": (
            *(name for name in fields.JUDGED if not name.startswith(of_gold)),
            f"and each of {' '.join(fields.GOLD)} before _{' _'.join(fields.GOLD_LISTS)}",
        ),
        "doc": (*fields.DOCUMENT, "id", *fields.SOURCES),
        "doc of qrels": (f"the same words before _{' _'.join(fields.GOLD_IDS)}",),
        "score": fields.SCORE,
        "scores": fields.SCORES,
        "distance": fields.DISTANCE,
        "rank": fields.RANK,
        "level": fields.LEVEL_OR_SCORE,
    }
    lines = (f"  {part:13}  {' '.join(some)}" for part, some in names.items())
    heading = "names: recognised keys and columns; queryId and Query-ID count as query_id"
    return "\n".join([heading, "", *lines])


def describe_formats(*names: str) -> Description:
    """List the formats of runs and qrels, as ``ragkpi formats``.

    Parameters
    ----------
    names
        Formats to explain; ``"map"`` explains ``map_run`` and ``map_qrels``, and ``"names"``
        lists the recognised names of keys and columns.

    Examples
    --------
    >>> import ragkpi
    >>> ragkpi.describe_formats("trec").rows[0]["of"]
    'run or qrels'
    """
    formats = {name: _format_text(form) for name, form in _FORMATS.items()}
    topics = {"map": _MAP, "names": _names_text(), **formats}
    for name in names:
        if name not in topics:
            raise UsageError(f"no format is named {name!r}; expected one of {', '.join(topics)}")
    text = "\n".join(["Formats (of what; suffixes)", *formats.values(), "", _CONTENTS])
    text = "\n\n".join(topics[name] for name in names) or text
    rows = [[form.name, _kinds_of(form), form.description] for form in _FORMATS.values()]
    cells = [list(map(Cell, row)) for row in rows if not names or row[0] in names]
    columns = [*map(Column, ("name", "of", "what"))]
    return Description(Answer(columns, cells, question="formats"), text=text)


def _format_text(form: FileFormat) -> str:
    suffixes = f"; {' '.join(form.suffixes)}" if form.suffixes else ""
    return f"  {form.name:18}  {form.description} ({_kinds_of(form)}{suffixes})"


def _kinds_of(form: FileFormat) -> str:
    """Return the kinds of a format: run, qrels or both, and whether one is read-only."""
    return " or ".join(
        kind if kind in form.writers else f"{kind}, read only" for kind in form.readers
    )


def _complete(incomplete: str) -> list[str]:
    topics = [name for name in ("map", "names") if name.startswith(incomplete)]
    return [*complete_format(incomplete), *topics]


@command(
    examples=(
        "ragkpi formats",
        "ragkpi formats csv map",
        "ragkpi formats names",
    ),
)
def shell(
    names: Annotated[
        list[str],
        Argument(
            metavar="[NAME]...",
            help="Formats to explain; map explains --map-run, names lists column names.",
            autocompletion=_complete,
        ),
    ] = [],  # noqa: B006 - typer's way to make it optional
) -> None:
    """List the formats of runs and qrels, or explain some of them.

    ragkpi recognises a file's format and the meaning of its keys or columns. Override the format
    with --run-format and --qrels-format, the meaning with --map-run and --map-qrels.
    """
    print(on_terminal(f"{describe_formats(*names)}\n"), end="")
