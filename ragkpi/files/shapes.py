"""Shapes: the places of queries, documents, scores and levels in JSON records and table rows.

`ragkpi.files.dumps` finds the shape of a file, or users define it (``--map-run``,
``--map-qrels``); `ragkpi.files.shape_reader` reads the file by it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from ragkpi.errors import InputError, RagkpiWarning, UsageError
from ragkpi.files import column_names as fields
from ragkpi.files.column_names import ORDER
from ragkpi.files.opening import Kind
from ragkpi.files.trec import Origin, RunLayout
from ragkpi.interface import spell


class Shape(NamedTuple):
    """The keys of the parts of a run or of qrels; `ragkpi.files.paths` explains paths.

    Attributes
    ----------
    name
        ``map`` if a user wrote it, ``recognised``, or that of a shape in this file.
    doc, score, rank, level
        Paths from an element of the list. Without score the rank counts, without rank the order;
        without level each document has level 1.
    query, list, run_id
        Paths from the record. Without list, each record is one document.
    scores, levels
        A second list, with the scores or levels of the documents in the first list.
    records
        The path to the records: empty if each line, or each element of one array, is a record;
        ``$`` for the values of one object; ``$.results`` for the values under that key.
    repeated
        Whether a repeated document in a list is ``"refused"`` or ``"dropped"``; with another
        level it is always refused.
    required
        The parts that a map names: a record must have them all.
    better
        Whether large or small scores rank first, or their name decides (`named`).
    """

    name: str
    kind: Kind
    doc: str = "@value|<document or id>"
    query: str = "<query or id>"
    list: str = ""
    score: str = ""
    rank: str = ""
    level: str = ""
    scores: str = ""
    levels: str = ""
    records: str = ""
    repeated: Literal["refused", "dropped"] = "refused"
    run_id: str = "<run>|metadata.<run>"
    required: tuple[str, ...] = ()
    better: Literal["named", "higher", "lower"] = "named"

    def score_map(self, name: str) -> str:
        """Return the map that reads these scores as this shape does."""
        return f"{fields.SCORE_PARTS[self.better]}={name}"

    @property
    def says_order(self) -> bool:
        """Whether a map names the number, or `ORDER`, that ranks the documents."""
        return not fields.ORDER_PARTS.isdisjoint(self.required)

    @property
    def says_numbers(self) -> bool:
        """Whether a map names the scores, ranks or levels."""
        return self.says_order or not {"level", "levels"}.isdisjoint(self.required)

    @property
    def partial_map(self) -> Mapping[str, str] | None:
        """Return a user's incomplete map; None if it names query and document."""
        parts = {part: str(getattr(self, part)) for part in self.required}
        if "score" in parts:
            parts[fields.SCORE_PARTS[self.better]] = parts.pop("score")
        return None if self.name != "map" or {"query", "doc"} <= parts.keys() else parts


def rows_shape(
    kind: Kind, names: Sequence[str], user: Shape | None, nested: Sequence[str] = ()
) -> Shape | None:
    """Return the shape of rows that a map, or the names of their columns, describe.

    None if the rows must be examined as well, as for lists of documents (`nested`), which pandas
    writes for groups.
    """
    if user is None and fields.find(names, fields.DOCUMENT) in nested:
        return None
    if user is not None and user.partial_map is None:
        return None if user.list else user
    parts = (user and user.partial_map) or {}
    flat = SHAPES[kind]["flat"]
    needed = [flat.query, flat.doc]
    if kind == "qrels" and len(names) > 2 and "level" not in parts:
        needed.append(flat.level)
    named = (fields.find(names, fields.NAMES[path]) is not None for path in needed)
    if not parts.keys() <= {*fields.SCORE_PARTS.values(), "rank", "level"} or not all(named):
        return None
    for of in (fields.QUERY_ID, fields.DOCUMENT):
        if len({*map(fields.plain_name, fields.rivals(names, of))}) > 1:
            return None
    if user is not None:
        numbers: dict[str, Any] = {part: getattr(user, part) for part in ("score", "rank", "level")}
        return flat._replace(required=user.required, better=user.better, **numbers)
    return flat


def find_column(
    shape: Shape, part: str, names: Sequence[str], file: str, line: int | None
) -> str | None:
    """Return the name of the column of a part, or None.

    `InputError` if it is ambiguous, or a ``score`` next to a rank or a run id is taken for a level.
    """
    for path in filter(None, str(getattr(shape, part)).split("|")):
        wanted = fields.NAMES.get(path, (fields.plain_name(path),))
        try:
            name = path if path in names else fields.find_only(names, wanted)
        except fields.KeyTwiceError as problem:
            fault = fields.shown_names([str(problem)])[1:-1]
            raise InputError(file, line, fault, "expected each name once") from None
        by_name = part == "level" and part not in shape.required
        if by_name and name is not None and fields.plain_name(name) == "score":
            other = fields.find(names, (*fields.RANK, *fields.RUN_ID))
            if other is not None:
                fault = f"contains a run ({fields.shown_names([name, other])})"
                raise InputError(file, line, fault, "expected judgements")
        if name is not None:
            return name
    return None


def names_in(path: str) -> list[str]:
    """Return the names of keys and columns that a path accepts, for a message."""
    steps = [of for of in path.split("|") if "." not in of and of != "@value"]
    names = dict.fromkeys(name for of in steps for name in fields.NAMES.get(of, (of,)))
    return list(names) or [path]


def need_columns(
    shape: Shape, names: Sequence[str], file: str, line: int | None, *parts: str
) -> list[str]:
    """Return the columns of what a map names and of parts; `InputError` if one is missing."""
    columns = []
    required = [part for part in shape.required if getattr(shape, part) != "@number"]
    for part in (*required, *parts):
        name = find_column(shape, part, names, file, line)
        if name is None:
            wanted = names_in(getattr(shape, part))
            fault = f"has no {wanted[0]} ({fields.shown_names(names)})"
            some = " ".join(wanted[: fields.MOST_NAMES])
            expected = f"expected one of {some}, or {spell(f'map_{shape.kind}', f'{part}=…')}"
            raise InputError(file, line, fault, expected)
        columns.append(name)
    return columns


def layout_of(shape: Shape, names: Sequence[str], file: str, line: int | None) -> RunLayout:
    """Find the columns of a run.

    A score ranks the rows, else a rank column; without both, their order, with a warning.
    """
    *_, query, document = need_columns(shape, names, file, line, "query", "doc")
    run_id = find_column(shape, "run_id", names, file, line)
    score = find_column(shape, "score", names, file, line)
    number = score or find_column(shape, "rank", names, file, line)
    if number is None and shape.rank != "@number":
        warn_of_order(file, names, shape)
    map_ = shape.score_map(score) if score else f"rank={number}" if number else ORDER
    others = () if shape.says_order else fields.may_order(tuple(names), score)
    taken = {number, shape.query, shape.doc}
    unread = {map_of(name): name for name in others if name not in taken}
    return RunLayout(query, document, number, run_id, Origin(document, map_), unread)


def warn_of_order(file: str, names: Sequence[str], shape: Shape) -> None:
    """Warn that rows have neither scores nor ranks; `InputError` if they have levels instead.

    `names` are their column names. A user's map can ignore a level.
    """
    level = None if shape.required else fields.find(names, fields.LEVEL)
    if level is not None:
        fault = f"contains judgements ({fields.shown_names([level])}), without score and rank"
        maps = spell("map_run", f"score={level}"), spell("map_run", "rank=@number")
        raise InputError(file, None, fault, f"expected a run, or one of {' or '.join(maps)}")
    fault = f"{file}: has neither scores nor ranks ({fields.shown_names(names)})"
    warnings.warn(f"{fault}; ranked by the order of the rows", RagkpiWarning, stacklevel=2)


def map_of(name: str) -> str:
    """Return the map that reads a number of the documents."""
    is_rank = fields.plain_name(name.rpartition(".")[2]) in fields.RANK
    return f"rank={name}" if is_rank else f"score={name}"


SHAPES: Mapping[Kind, Mapping[str, Shape]] = {
    "run": {
        "lists": Shape("lists", "run", list="<list>", score="<score>", rank="<rank>"),
        "flat": Shape("flat", "run", "<document>", "<query>", score="<score>", rank="<rank>"),
    },
    "qrels": {
        "lists": Shape("lists", "qrels", list="<judged>", level="<level>", repeated="dropped"),
        "flat": Shape("flat", "qrels", "<document>", "<query>", level="<level>"),
    },
}
# Lists of texts, which match by their words.
_TEXTS = Shape(
    "texts",
    "run",
    "@value",
    "<query id>|metadata.<query id>|<query text>|@number",
    repeated="dropped",
    required=("doc",),
)
TEXTS: Mapping[Kind, Shape] = {
    "run": _TEXTS._replace(list="<texts>"),
    "qrels": _TEXTS._replace(kind="qrels", list="<gold texts>"),
}
# The documents that BRIGHT excludes from its rankings: {id, excluded_ids: […]}.
EXCLUSIONS = Shape(
    "exclusions",
    "qrels",
    "@value",
    "<query or id>",
    "excluded_ids|excluded",
    repeated="dropped",
)


_PARTS = {
    "run": ("records", "query", "list", "doc", *fields.SCORE_PARTS.values(), "scores", "rank"),
    "qrels": ("records", "query", "list", "doc", "level", "levels"),
}


def parse_map(text: str, kind: Kind, option: str) -> Shape:
    """Read ``records=$.results, query=id, list=hits.hits, doc=_id, score=_score``.

    Key names reveal the parts that a map does not name. `option` is the name of the map in
    messages, such as ``--map-run``.

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
                f"{option} {piece.strip() or text!r}: not PART=PATH; expected some of "
                f"{' '.join(f'{name}=…' for name in _PARTS[kind])}, separated by commas"
            )
        if part in paths:
            raise UsageError(f"{option} {text}: {part} twice; expected each part once")
        if path == "?":
            expected = "expected a path, or doc=@value for a list of ids"
            raise UsageError(f"{option} {piece.strip()}: ? is a placeholder; {expected}")
        paths[part] = path
    return shape_of_map(paths, kind)


def shape_of_map(paths: Mapping[str, str], kind: Kind) -> Shape:
    """Return the shape that some paths describe; key names reveal the other parts."""
    if unknown := sorted(set(paths) - set(_PARTS[kind])):
        raise UsageError(
            f"unknown map parts: {', '.join(unknown)}; expected {', '.join(_PARTS[kind])} of {kind}"
        )
    base = SHAPES[kind]["lists" if "list" in paths else "flat"]
    base = base._replace(name="map", repeated="refused")
    if "records" in paths and "query" not in paths:
        base = base._replace(query=f"{base.query}|@key")
    # The map wins: a score in the file does not override a rank in the map.
    if not fields.ORDER_PARTS.isdisjoint(paths):
        base = base._replace(score="", rank="")
    parts: dict[str, Any] = dict(paths)
    for better in ("higher", "lower"):
        if fields.SCORE_PARTS[better] in parts:
            base = base._replace(better=better)
            parts = {"score": parts.pop(fields.SCORE_PARTS[better]), **parts}
    return base._replace(required=tuple(parts), **parts)
