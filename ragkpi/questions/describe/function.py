"""Descriptions of measures, formats and the JSON schema, as texts and as rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any

from ragkpi.errors import UsageError
from ragkpi.files import column_names as fields
from ragkpi.files.registry import FILE_FORMATS, FileFormat
from ragkpi.library.result import Result
from ragkpi.measures.measure import QUESTIONS, Measure
from ragkpi.measures.registry import NICKNAMES, all_measures, find_metrics
from ragkpi.reports.layout import Answer, Cell, Column
from ragkpi.reports.renderers import schema_text

_FORMATS: Mapping[str, FileFormat] = {**FILE_FORMATS["run"], **FILE_FORMATS["qrels"]}


def explanation(measure: Measure) -> str:
    """Return the help text of a measure: its docstring, and the facts in its record."""
    facts = {
        "Parameters": measure.parameters.describe(),
        "Over queries": measure.aggregate.name,
        "Reads": measure.reads,
        "Needs": ", ".join(sorted(measure.needs)) or "nothing else",
        "Sees": measure.sees,
        "Ties": measure.over_ties,
    }
    lines = [f"{label + ':':<14}{text}" for label, text in facts.items()]
    return "\n".join([measure.name, measure.help, *lines])


def kinds_of(form: FileFormat) -> str:
    """Return the kinds of a format: run, qrels or both, and which of them is read-only."""
    return " or ".join(
        kind if kind in form.writers else f"{kind}, read only" for kind in form.readers
    )


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
  doc      the id of the document, from an element of the list
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
    """Return the names of keys and columns that are recognised, part by part."""
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
        "level": fields.LEVEL,
    }
    lines = (
        fill(f"  {part:13}  {' '.join(some)}", 100, subsequent_indent=" " * 17)
        for part, some in names.items()
    )
    heading = "names: what tells the parts of a map; queryId and Query-ID are query_id, too"
    return "\n".join([heading, "", *lines])


# Beside the formats; a text is made when it is read.
_TOPICS: Mapping[str, Callable[[], str]] = {"map": lambda: _MAP, "names": _names_text}


@dataclass(frozen=True, eq=False, repr=False)
class Description(Result):
    """A description, as a text and as rows.

    Attributes
    ----------
    text
        The text that the command and ``str(result)`` print.
    """

    text: str = ""

    def __str__(self) -> str:
        return self.text


def describe_measures(*names: str) -> Description:
    """List every measure under the question that it answers, as ``ragkpi measures``.

    Parameters
    ----------
    names
        Measures or nicknames to explain. Other words are searched for: in names, in definitions,
        and in the names that other tools use.

    Examples
    --------
    >>> import ragkpi
    >>> [row["measure"] for row in ragkpi.describe_measures("bits-over-random").rows][0]
    'bor'
    >>> print(ragkpi.describe_measures("recip_rank").text.splitlines()[1])
    Reciprocal rank of the first relevant document; its mean is MRR.
    """
    measures = all_measures()
    if not names:
        return Description(_answer(measures), text=_listed(measures, NICKNAMES))
    try:
        matches = {metric.measure.name: metric.measure for metric in find_metrics(names)}
    except UsageError:
        matches = _search(names, measures)
        if not matches:
            raise
        return Description(_answer(matches), text=_listed(matches, {}))
    return Description(_answer(matches), text="\n\n".join(map(explanation, matches.values())))


def describe_formats(*names: str) -> Description:
    """List the formats of runs and qrels, and what stacks write in them, as ``ragkpi formats``.

    Parameters
    ----------
    names
        Formats to explain; ``"map"`` explains ``map_run`` and ``map_qrels``, and ``"names"``
        lists the names of keys and columns that are recognised.

    Examples
    --------
    >>> import ragkpi
    >>> ragkpi.describe_formats("trec").rows[0]["of"]
    'run or qrels'
    """
    lines = ["Formats (of what; suffixes)", *map(_format_text, _FORMATS.values()), "", _CONTENTS]
    text = "\n\n".join(map(_explained, names)) if names else "\n".join(lines)
    rows = [[form.name, kinds_of(form), form.description] for form in _FORMATS.values()]
    cells = [list(map(Cell, row)) for row in rows if not names or row[0] in names]
    columns = [*map(Column, ("name", "of", "what"))]
    return Description(Answer(columns, cells, question="formats"), text=text)


def schema() -> dict[str, Any]:
    """Return the JSON schema of `Result.to_dict` and ``--format json``, as ``ragkpi schema``."""
    document: dict[str, Any] = json.loads(schema_text())
    return document


def _search(names: Sequence[str], measures: Mapping[str, Measure]) -> dict[str, Measure]:
    """Return the measures whose names and definitions contain all words."""

    def text(measure: Measure) -> str:
        return " ".join(
            [measure.name, measure.help.splitlines()[0], *measure.aliases, *measure.resembles]
        ).casefold()

    words = [name.casefold() for name in names]
    return {n: measure for n, measure in measures.items() if all(w in text(measure) for w in words)}


def _listed(measures: Mapping[str, Measure], nicknames: Mapping[str, Sequence[str]]) -> str:
    """List the measures, one per line, under their questions."""
    width = max(map(len, [*measures, *nicknames]))
    parts: dict[str, list[str]] = {title: [] for title in [*QUESTIONS.values(), "Nicknames"]}
    for name, measure in measures.items():
        parts[QUESTIONS[measure.question]].append(f"{name:{width}}  {measure.help.splitlines()[0]}")
    parts["Nicknames"] = [f"{name:{width}}  {' '.join(of)}" for name, of in nicknames.items()]
    return "\n\n".join("\n".join([title, *lines]) for title, lines in parts.items() if lines)


def _answer(measures: Mapping[str, Measure]) -> Answer:
    heads = ["measure", "question", "definition", "better", "parameters", "over queries", "reads"]
    rows = []
    for name, measure in measures.items():
        definition, parameters = measure.help.splitlines()[0], measure.parameters.describe()
        texts = name, measure.question, definition, measure.better, parameters
        rows.append([*map(Cell, (*texts, measure.aggregate.name, measure.reads))])
    verdict = [f"'ragkpi measures {next(iter(measures))}' explains it."]
    return Answer([*map(Column, heads)], rows, verdict=verdict, question="measures")


def _explained(name: str) -> str:
    if name in _TOPICS:
        return _TOPICS[name]()
    if name not in _FORMATS:
        names = ", ".join([*_TOPICS, *_FORMATS])
        raise UsageError(f"no format is named {name!r}; expected one of {names}")
    return _format_text(_FORMATS[name])


def _format_text(form: FileFormat) -> str:
    suffixes = f"; {' '.join(form.suffixes)}" if form.suffixes else ""
    return f"  {form.name:18}  {form.description} ({kinds_of(form)}{suffixes})"
