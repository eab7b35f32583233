"""Descriptions of measures, formats and the JSON schema, as texts and as rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragkpi.errors import UsageError
from ragkpi.files.column_names import NAMES
from ragkpi.files.registry import FILE_FORMATS, FileFormat
from ragkpi.files.shapes import SHAPES, Shape
from ragkpi.library.result import Result
from ragkpi.measures.measure import QUESTIONS, Measure
from ragkpi.measures.registry import NICKNAMES, all_measures, find_metrics
from ragkpi.reports.layout import Answer, Cell, Column, Table
from ragkpi.reports.renderers import schema_text

_FORMATS: Mapping[str, FileFormat] = {**FILE_FORMATS["run"], **FILE_FORMATS["qrels"]}
_SHAPES: Sequence[Shape] = [*SHAPES["run"].values(), *SHAPES["qrels"].values()]


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


def formats_listed() -> str:
    """Return the list of formats, one per line."""
    lines = ["Formats (of what; suffixes)", *map(_format_text, _FORMATS.values())]
    most = "in JSON and tables; others are recognised: 'ragkpi inspect FILE' says how"
    for title, shapes in (("runs", SHAPES["run"]), ("qrels", SHAPES["qrels"])):
        lines += ["", f"Shapes of {title}, {most}"]
        lines += [f"  {shape.name:18}  {shape.written_by}" for shape in shapes.values()]
    return "\n".join(lines)


def kinds_of(form: FileFormat) -> str:
    """Return the kinds of a format: run, qrels or both, and which of them is read-only."""
    return " or ".join(
        kind if kind in form.writers else f"{kind}, read only" for kind in form.readers
    )


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
  level    its judged level (qrels); without it each document has level 1
  distance a score of which the smallest is best, whatever its name; similarity: the largest

A path is names between dots (hits.hits), or a key that has dots itself (node.id); name[] goes
through a list (output[].provenance), and a number is a place in one, from 0 (doc=0, score=1).
JSON texts and lists in a cell are opened; a|b is a or else b; @key is the key of a value, @value
the value itself, @number the number of the record. In JSON a document's id may join several keys:
doc={metadata.source}#{metadata.page}. In CSV, TSV and tables a path is the name of a
column, or its number from 1 where there is no line of names: --map-run 'query=1, doc=2, score=4'.
What a map names has to be there."""


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
        Formats or shapes to explain; ``"map"`` explains ``map_run`` and ``map_qrels``.

    Examples
    --------
    >>> import ragkpi
    >>> ragkpi.describe_formats("trec").rows[0]["of"]
    'run or qrels'
    """
    text = "\n\n".join(map(_explained, names)) if names else formats_listed()
    rows = [[form.name, kinds_of(form), form.description] for form in _FORMATS.values()]
    rows += [[shape.name, shape.kind, shape.written_by] for shape in _SHAPES]
    cells = [list(map(Cell, row)) for row in rows if not names or row[0] in names]
    table = Table(list(map(Column, ("name", "of", "what"))), cells)
    return Description(Answer("formats", table, [], {}), text=text)


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
    table = Table(list(map(Column, heads)), rows)
    return Answer("measures", table, [f"'ragkpi measures {next(iter(measures))}' explains it."], {})


def _explained(name: str) -> str:
    if name == "map":
        return _MAP
    texts = [_shape_text(shape) for shape in _SHAPES if shape.name == name]
    texts += [_format_text(_FORMATS[name])] if name in _FORMATS else []
    if not texts:
        names = dict.fromkeys([*_FORMATS, *(shape.name for shape in _SHAPES)])
        raise UsageError(f"no format is named {name!r}; expected map or one of {', '.join(names)}")
    return "\n\n".join(texts)


def _format_text(form: FileFormat) -> str:
    suffixes = f"; {' '.join(form.suffixes)}" if form.suffixes else ""
    return f"  {form.name:18}  {form.description} ({kinds_of(form)}{suffixes})"


def _shape_text(shape: Shape) -> str:
    """Return a shape's description and the equivalent map."""
    parts = ("records", "query", "list", "doc", "score", "scores", "rank", "level")
    paths = {part: getattr(shape, part) for part in parts if getattr(shape, part)}
    lines = [f"{shape.name} ({shape.kind})", f"  {shape.written_by}"]
    lines += [f"  {part:8} {path}" for part, path in paths.items()]
    lines += [
        f"  {alias:18} is the first there of {' '.join(names)}"
        for alias, names in NAMES.items()
        if any(alias in path for path in paths.values())
    ]
    if shape.repeated == "dropped":
        lines.append("  a document that a list names again counts once")
    return "\n".join(lines)
