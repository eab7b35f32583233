"""All shapes: where records of JSON and rows of tables hold queries, documents, scores and levels.

A shape describes the dumps of a retrieval or RAG stack as data, and `ragkpi.formats.shape_reader`
reads them. To read the dumps of another stack, add a record to `run_shapes` or `qrels_shapes`;
users write a shape on the command line (``--map-run``, ``--map-qrels``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragkpi.errors import UsageError
from ragkpi.formats.column_names import Kind
from ragkpi.formats.qrels_shapes import QRELS_SHAPES
from ragkpi.formats.run_shapes import RUN_SHAPES
from ragkpi.formats.shape import Shape

SHAPES: Mapping[Kind, Mapping[str, Shape]] = {
    "run": {shape.name: shape for shape in RUN_SHAPES},
    "qrels": {shape.name: shape for shape in QRELS_SHAPES},
}


def most_specific_first(kind: Kind) -> list[Shape]:
    """Return all shapes, in the order in which they are tried on a file.

    That is by their paths and names, and never by their order in the lists of shapes.
    """
    return sorted(
        SHAPES[kind].values(), key=lambda shape: (*(-n for n in shape.specificity), shape.name)
    )


_PARTS = {
    "run": ("records", "query", "list", "doc", "score", "scores", "rank"),
    "qrels": ("records", "query", "list", "doc", "level"),
}


def parse_map(text: str, kind: Kind, option: str) -> Shape:
    """Read ``records=$.results, query=id, list=hits.hits, doc=_id, score=_score``.

    Parameters
    ----------
    text
        Parts and their paths, between commas; other parts are found by the names of keys.
    kind
        Whether a run or qrels are read.
    option
        Its name in messages, such as ``--map-run``.

    Raises
    ------
    UsageError
        For a part that is unknown, comes twice, or has no path.

    Examples
    --------
    >>> parse_map("query=id, list=hits.hits, doc=_id", "run", "--map-run").list
    'hits.hits'
    """
    paths: dict[str, str] = {}
    for piece in text.split(","):
        part, equals, path = (word.strip() for word in piece.partition("="))
        if part not in _PARTS[kind] or not equals or not path:
            raise UsageError(
                f"{option} {piece.strip() or text!r}: no part and path; expected some of "
                f"{' '.join(f'{name}=…' for name in _PARTS[kind])} between commas"
            )
        if part in paths:
            raise UsageError(f"{option} {text}: {part} twice; expected each part once")
        paths[part] = path
    return mapped(paths, kind)


def mapped(paths: Mapping[str, str], kind: Kind) -> Shape:
    """Return the shape that some paths describe; other parts are found by the names of keys."""
    base = SHAPES[kind]["lists" if "list" in paths else "flat"]
    if "records" in paths and "query" not in paths:
        base = base._replace(query=f"{base.query}|@key")
    unknown = sorted(set(paths) - set(_PARTS[kind]))
    if unknown:
        raise UsageError(
            f"a map has {', '.join(unknown)}; expected {', '.join(_PARTS[kind])} of {kind}"
        )
    # The map counts: a score in the file does not overrule a rank that the map names.
    if "rank" in paths and "score" not in paths:
        base = base._replace(score="")
    parts: dict[str, Any] = dict(paths)
    return base._replace(name="map", repeated="refused", required=tuple(paths), **parts)
