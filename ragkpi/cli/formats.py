"""`ragkpi formats`: which files are read and written, listed or explained."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from ragkpi.cli.completion import formats_and_shapes
from ragkpi.cli.option_groups import argument
from ragkpi.errors import UsageError

if TYPE_CHECKING:
    from ragkpi.formats.file_formats import FileFormat
    from ragkpi.formats.shapes import Shape

_MAP = """map: which keys or columns hold what, for --map-run and --map-qrels

  --map-run 'records=$.results, query=id, list=hits.hits, doc=_id, score=_score'

Parts, between commas; what is not said is found by its name:
  records  where the records stand: nothing for a record a line or the elements of an array,
           $ for the values of one object, $.results for what stands under that key
  query    the id of the query, from a record
  list     the list of documents, from a record; nothing if each record is one document
  doc      the id of the document, from an element of the list
  score    its score; scores is a second list, beside the list of documents
  rank     its rank, where there is no score; without both the order of the list counts
  level    its judged level (qrels); without it each document has level 1

A path is names between dots (hits.hits); name[] goes through a list (output[].provenance); a|b is
a or else b; @key is the key under which something stands, @value what stands there, @number the
number of the record. In CSV, TSV and tables a path is the name of a column, or its number from 1
where there is no line of names: --map-run 'query=1, doc=2, score=4'."""


def command(
    names: Annotated[
        list[str] | None,
        argument(
            metavar="[NAME]...",
            help="Formats or shapes to explain; map explains --map-run.",
            complete=formats_and_shapes,
        ),
    ] = None,
) -> None:
    """List the formats of runs and qrels, and what stacks write in them, or explain those named.

    A file's format is how it is laid out; a shape is what its keys or columns mean. Both are
    recognised; --run-format and --qrels-format name one, --map-run and --map-qrels describe one.
    """
    from ragkpi.reports.fitting import on_terminal

    text = "\n\n".join(map(_explained, names)) if names else "\n".join(described())
    print(on_terminal(f"{text}\n"), end="")


def described() -> Iterator[str]:
    """Yield the list of formats, a line each."""
    from ragkpi.formats.file_formats import FILE_FORMATS
    from ragkpi.formats.shapes import SHAPES

    forms = {**FILE_FORMATS["run"], **FILE_FORMATS["qrels"]}
    yield "Formats (of what; suffixes)"
    for name, form in forms.items():
        suffixes = f"; {' '.join(form.suffixes)}" if form.suffixes else ""
        yield f"  {name:18}  {form.description} ({_kinds(form)}{suffixes})"
    for kind in ("run", "qrels"):
        yield ""
        title = "runs" if kind == "run" else kind
        yield f"Shapes of {title}, in JSON and tables, in the order in which they are tried"
        for shape in SHAPES[kind].values():
            yield f"  {shape.name:18}  {shape.written_by}"


def _kinds(form: "FileFormat") -> str:
    kinds = [
        kind if writer else f"{kind}, read only"
        for kind, reader, writer in (
            ("run", form.run, form.run_writer),
            ("qrels", form.qrels, form.qrels_writer),
        )
        if reader
    ]
    return " or ".join(kinds)


def _explained(name: str) -> str:
    from ragkpi.formats.file_formats import FILE_FORMATS
    from ragkpi.formats.shapes import SHAPES

    if name == "map":
        return _MAP
    texts = [_shape_text(SHAPES[kind][name]) for kind in ("run", "qrels") if name in SHAPES[kind]]
    form = FILE_FORMATS["run"].get(name) or FILE_FORMATS["qrels"].get(name)
    if form is not None:
        texts.append(_format_text(form))
    if not texts:
        known = dict.fromkeys(
            name for some in (FILE_FORMATS, SHAPES) for of in some.values() for name in of
        )
        raise UsageError(f"no format is named {name!r}; expected map or one of {', '.join(known)}")
    return "\n\n".join(texts)


def _format_text(form: "FileFormat") -> str:
    lines = [f"{form.name} ({_kinds(form)})", f"  {form.description}"]
    if form.suffixes:
        lines.append(f"  'ragkpi convert' writes it to {' '.join(form.suffixes)}")
    return "\n".join(lines)


def _shape_text(shape: "Shape") -> str:
    """Return what a shape is, and the map that says the same."""
    from ragkpi.formats.column_names import NAMES

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
