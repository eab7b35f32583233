"""`ragkpi formats`: the formats that ragkpi reads and writes."""

from collections.abc import Callable, Mapping
from textwrap import fill
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
What JSON and tables hold is recognised, such as
  {query_id, documents: [{id, score}]}      a query and its documents a record
  {query_id, relevant_ids: [document, …]}   or judgments: [{doc_id, level}]
  query_id, doc_id, score or rank or level  a document a record, or a row
  {query: {document: number}}               of BEIR, ranx, pytrec_eval; true and false are 1 and 0
  {query: [document, …]}                    best first, or relevant
'ragkpi formats names' lists the names by which, 'ragkpi inspect FILE' says how, and
'ragkpi formats map' how to say what is not recognised."""

_MAP = """map: which keys or columns hold what, for --map-run and --map-qrels

  --map-run 'records=$.results, query=id, list=hits.hits, doc=_id, score=_score'

Parts, between commas; a part left out is found by its name:
  records  where the records are: nothing for a record a line or the elements of an array,
           $ for the values of one object, $.results for the value of that key;
           spans[] goes through a list;
           $.@table for the rows of a table: columns and data, or a list for each name
  query    the id of the query, from a record
  list     the list of documents, from a record; nothing if each record is one document
  doc      the id of the document, from an element of the list; @value if the list is of ids
  score    its score; scores is a second list, beside the list of documents
  rank     its rank, where there is no score; without both the order of the list counts
  level    its judged level (qrels); levels is a second list; without either it is 1
  distance a score of which the smallest is best, whatever its name; similarity: the largest

A path is names between dots (hits.hits), or a key that has dots itself (node.id); name[] goes
through a list (output[].provenance), and a number is a place in one, from 0 (doc=0, score=1).
JSON texts and lists in a cell are opened; a|b is a or else b; @key is the key of a value, @value
the value itself, @number the number of the record. In JSON a document's id may join several keys:
doc={metadata.source}#{metadata.page}. In CSV, TSV and tables a path is the name of a
column, or its number from 1 where there is no line of names: --map-run 'query=1, doc=2, score=4'.
What a map names has to be there."""


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
    lines = (
        fill(f"  {part:13}  {' '.join(some)}", 100, subsequent_indent=" " * 17)
        for part, some in names.items()
    )
    heading = "names: keys and columns that are recognised; queryId and Query-ID count as query_id"
    return "\n".join([heading, "", *lines])


# Further topics; each text is made on request.
_TOPICS: Mapping[str, Callable[[], str]] = {"map": lambda: _MAP, "names": _names_text}


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
    lines = ["Formats (of what; suffixes)", *map(_format_text, _FORMATS.values()), "", _CONTENTS]
    text = "\n\n".join(map(_explained, names)) if names else "\n".join(lines)
    rows = [[form.name, _kinds_of(form), form.description] for form in _FORMATS.values()]
    cells = [list(map(Cell, row)) for row in rows if not names or row[0] in names]
    columns = [*map(Column, ("name", "of", "what"))]
    return Description(Answer(columns, cells, question="formats"), text=text)


def _explained(name: str) -> str:
    if name in _TOPICS:
        return _TOPICS[name]()
    if name not in _FORMATS:
        names = ", ".join([*_TOPICS, *_FORMATS])
        raise UsageError(f"no format is named {name!r}; expected one of {names}")
    return _format_text(_FORMATS[name])


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
    ] = [],  # noqa: B006 - typer's way to say that it may be left out
) -> None:
    """List the formats of runs and qrels, or explain some of them.

    ragkpi recognises a file's format and the meaning of its keys or columns. --run-format and
    --qrels-format set the format, --map-run and --map-qrels the meaning.
    """
    print(on_terminal(f"{describe_formats(*names)}\n"), end="")
