"""Shapes: where records of JSON and rows of tables hold queries, documents, scores and levels.

A shape is what a retrieval or RAG stack writes, as data; `ragkpi.formats.shape_reader` interprets
all of them. To read what another stack writes, add a line to `run_shapes` or `qrels_shapes`; users
write one on the command line (``--map-run``, ``--map-qrels``).
"""

from __future__ import annotations

from collections.abc import Mapping

from ragkpi.errors import UsageError
from ragkpi.formats.qrels_shapes import QRELS_SHAPES
from ragkpi.formats.run_shapes import RUN_SHAPES
from ragkpi.formats.shape import Kind, Shape

SHAPES: Mapping[Kind, Mapping[str, Shape]] = {
    "run": {shape.name: shape for shape in RUN_SHAPES},
    "qrels": {shape.name: shape for shape in QRELS_SHAPES},
}

_PARTS = {
    "run": ("records", "query", "list", "doc", "score", "scores", "rank"),
    "qrels": ("records", "query", "list", "doc", "level"),
}


def parse_map(text: str, kind: Kind, option: str) -> Shape:
    """Read ``records=$.results, query=id, list=hits.hits, doc=_id, score=_score``.

    Parameters
    ----------
    text
        Parts and their paths, between commas; what is not said is found by its name.
    kind
        Whether a run or qrels are to be read so.
    option
        What messages call it, such as ``--map-run``.

    Raises
    ------
    UsageError
        For a part that there is not, comes twice, or has no path.

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
    """Return the shape that some paths describe; the rest is found by its name."""
    base = SHAPES[kind]["lists" if "list" in paths else "flat"]
    if "records" in paths and "query" not in paths:
        base = base._replace(query=f"{base.query}|@key")
    unknown = sorted(set(paths) - set(_PARTS[kind]))
    if unknown:
        raise UsageError(
            f"a map has {', '.join(unknown)}; expected {', '.join(_PARTS[kind])} of {kind}"
        )
    # What is named counts: a score that stands there too does not overrule the rank asked for.
    if "rank" in paths and "score" not in paths:
        base = base._replace(score="")
    return base._replace(
        name="map",
        repeated="refused",
        required=tuple(paths),
        records=paths.get("records", base.records),
        query=paths.get("query", base.query),
        list=paths.get("list", base.list),
        doc=paths.get("doc", base.doc),
        score=paths.get("score", base.score),
        scores=paths.get("scores", base.scores),
        rank=paths.get("rank", base.rank),
        level=paths.get("level", base.level),
    )
