"""Runs and qrels as Python objects: mappings, lists of documents, rows and data frames.

Ids are joined and encoded many at a time, because a step per row is slow. A mapping may be as large
as a file, so it becomes blocks of whole queries.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ragkpi.arrays import BoolArray, FloatArray, IntArray
from ragkpi.errors import UsageError
from ragkpi.files import column_names as fields
from ragkpi.files.lines import Tokens, spans
from ragkpi.files.opening import Kind
from ragkpi.files.recogniser import recognise, recognise_keyed
from ragkpi.files.roles import BARE
from ragkpi.files.shape_reader import (
    DocumentColumns,
    Record,
    ShapeReader,
    collect_qrels,
    shape_for,
    stream_documents,
)
from ragkpi.files.shapes import SHAPES, Shape, id_columns, layout_of, need_column, rows_shape
from ragkpi.files.structure import LOOKED_AT
from ragkpi.files.trec import (
    LEVELS,
    Numbers,
    Origin,
    QrelsColumns,
    RunColumns,
    RunLayout,
    levels_of,
    plain_qrels,
    run_columns,
    with_words,
)
from ragkpi.wording import decoded, named, octets

_IDS_AT_ONCE = 1 << 16
_DEEPEST = 5  # objects in a document
_LISTS = (list, tuple, set, frozenset, np.ndarray)
ROWS_OF_BLOCK = 1 << 14  # of a mapping
# By length of row, the positions of query, document and number.
_ROWS: Mapping[Kind, Mapping[int, Sequence[int]]] = {
    "run": {3: (0, 1, 2), 5: (0, 2, 4), 6: (0, 2, 4)},
    "qrels": {3: (0, 1, 2), 4: (0, 2, 3)},
}


def _empty(what: Kind) -> UsageError:
    return UsageError(f"the {what} given is empty; expected at least one row")


class _Table(NamedTuple):
    """Rows by their columns, and as parsed JSON."""

    names: list[str]
    column: Callable[[str], Any]
    records: Callable[[], list[Any]]


def tokens_of(ids: Sequence[Any]) -> Tokens:
    """Encode ids, like `octets`."""
    if len(ids) <= _IDS_AT_ONCE:
        return _encoded(ids)
    parts = range(0, len(ids), _IDS_AT_ONCE)
    return Tokens.joined([_encoded(ids[first : first + _IDS_AT_ONCE]) for first in parts])


def _encoded(ids: Sequence[Any]) -> Tokens:
    try:
        text = "".join(ids)
    except TypeError:
        if set(map(type, ids)) != {int}:
            return Tokens.from_strings(map(octets, ids))
        ids = list(map(str, ids))
        text = "".join(ids)
    if not text.isascii():  # then lengths in characters are not lengths in bytes
        return Tokens.from_strings(map(octets, ids))
    return Tokens.from_text(text.encode(), np.fromiter(map(len, ids), np.int64, len(ids)))


def _numbers(values: Sequence[Any]) -> npt.NDArray[Any]:
    """Return numbers, also from texts; NaN for anything else."""
    try:
        numbers = np.asarray(values)
    except (ValueError, OverflowError):
        numbers = np.empty(0, dtype=object)
    if numbers.dtype.kind not in "iufb":
        numbers = np.array([_or_nan(value) for value in list_of(values)])
    return numbers


def _or_nan(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def list_of(column: Any) -> list[Any]:
    """Return the values of a column of a data frame, or of another sequence."""
    for name in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, name):
            return list(getattr(column, name)())
    return list(column)


def qrels_columns(
    data: Any, numbers: Numbers = "levels", shape: Shape | None = None
) -> QrelsColumns:
    """Read judgements; `UsageError` for other data, and for a level that is not a whole number.

    `data` is ``{query: {document: level}}``, ``{query: [document, …]}``, rows (query, document,
    level), rows as in a file, or a data frame of pandas, polars or pyarrow. Ids are str, bytes or
    int. ``"gains"`` allows real numbers. A `shape` names columns.
    """
    data = data if isinstance(data, Mapping) else _table_of(data, "qrels", shape)
    if (columns := _document_columns(data, "qrels", shape)) is not None:
        return collect_qrels("qrels", columns).read_as(numbers)
    ((rows, values),) = _rows(data, "qrels", sys.maxsize, shape)
    level, gain = _levels(rows, values, numbers)
    query = rows.query_of_rows()
    empty = rows.query.take(np.flatnonzero(np.diff(rows.starts) == 0)).tolist()
    judged = plain_qrels("qrels", query, rows.document, level, rows.line, gain)
    return judged._replace(empty=empty)


def run_blocks(data: Any, shape: Shape | None = None) -> list[RunColumns]:
    """Read a run into blocks of rows, in any order; data as in `qrels_columns`, with scores.

    Documents in lists are best first. A retriever's objects are read by their attributes.
    """
    data = data if isinstance(data, Mapping) else _table_of(data, "run", shape)
    if (columns := _document_columns(data, "run", shape)) is not None:
        return list(stream_documents("run", columns))
    blocks = []
    for rows, values in _rows(data, "run", ROWS_OF_BLOCK, shape):
        if (wrong := np.isnan(rows.score)).any():
            raise _wrong_number(rows, values, wrong, "score", "a number")
        blocks.append(rows)
    return blocks


def _levels(
    rows: RunColumns, values: Sequence[Any], numbers: Numbers
) -> tuple[IntArray, FloatArray | None]:
    """Return judged levels, and gains if any is fractional, as in `QrelsColumns`."""
    level = _numbers(values)
    if level.dtype.kind in "ib":
        return level.astype(np.int64), None
    level = with_words(rows.file, level, values, rows.line)
    # Beyond 2 ** 53 a float may differ from the caller's number.
    wrong = ~(np.abs(level) <= 2**53)
    fractional = level != np.floor(level)
    refused = wrong | fractional if numbers == "levels" else wrong
    if refused.any():
        expected = "an integer" if numbers == "levels" else "a number"
        raise _wrong_number(rows, values, refused, "level", expected)
    return levels_of(level.astype(np.float64))


def _wrong_number(
    rows: RunColumns, values: Sequence[Any], wrong: BoolArray, number: str, expected: str
) -> UsageError:
    """Return the error for the first wrong value, with its query and document."""
    row = int(np.flatnonzero(wrong)[0])
    query, document = named(rows.query[int(rows.group()[row])]), named(rows.document[row])
    value = values[row]
    value = value.item() if isinstance(value, np.generic) else value
    place = f"{rows.file}: query {query}, document {document}"
    return UsageError(f"{place}: {number} {value!r}; expected {expected}")


def _lists_of(data: Any, what: Kind) -> dict[str, Any] | None:
    """Return ``{query: [document, …]}`` as parsed JSON; None for other data.

    A list may also be a field of its own, as in ``{"documents": […]}`` of Haystack's retrievers.
    """
    lists = _LISTS if what == "qrels" else (list, tuple, np.ndarray)
    if not isinstance(data, Mapping):
        return None
    texts = what == "qrels" and any(isinstance(of, str) for of in data.values())
    if not texts and not any(
        isinstance(_first_value(of), lists) and len(of) for of in data.values()
    ):
        return None
    # One relevant document may stand without a list.
    alone = str if what == "qrels" else ()
    return {
        decoded(octets(query)): _parsed([of] if isinstance(of, alone) else of, what)
        for query, of in data.items()
    }


def _first_value(of: Any) -> Any:
    return next(iter(of.values()), None) if isinstance(of, Mapping) else of


def _parsed(value: Any, what: Kind, depth: int = 0) -> Any:
    """Return what a query has as parsed JSON: objects by their attributes, without their lists.

    The depth of a document is 2, in a list or in a list of a record. A pair is one, too.
    """
    if isinstance(value, bytes):
        return decoded(value)
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, _LISTS):
        inside = [_parsed(one, what, max(depth, 1) + 1) for one in value]
        pair = depth == 2 and len(inside) == 2 and isinstance(inside[1], int | float)
        if pair and not isinstance(inside[0], float):  # in Chroma's lists, two scores are none
            return {"document": inside[0], "score" if what == "run" else "level": float(inside[1])}
        return inside
    inner = value if isinstance(value, Mapping) else getattr(value, "__dict__", {})
    return {
        str(name): _parsed(of, what, depth + 1)
        for name, of in inner.items()
        if depth < _DEEPEST and not (depth >= 2 and isinstance(of, _LISTS))
    }


def _document_columns(
    data: Mapping[Any, Any] | _Table, what: Kind, shape: Shape | None
) -> Iterator[DocumentColumns] | None:
    """Read lists, and rows with lists, as a JSON file with the same content; None for others."""
    if isinstance(data, _Table):
        name = fields.find(data.names, fields.DOCUMENT)
        first = list_of(data.column(name)[:1]) if name else []
        nested = [name for of in first if name and isinstance(of, list)]
        if not data.names or rows_shape(what, data.names, shape, nested) is not None:
            return None
        records = data.records()
        find = partial(recognise, records[:LOOKED_AT], what)
        keyed: Iterable[tuple[str | None, Any]] = ((None, record) for record in records)
    elif (lists := _lists_of(data, what)) is None:
        return None
    else:
        find = partial(recognise_keyed, list(islice(lists.values(), LOOKED_AT)), what)
        keyed = lists.items()
    shape = shape_for(what, what, shape, find)
    numbered = enumerate(keyed, start=1)
    return ShapeReader(shape, what).read(
        Record(number, value, key) for number, (key, value) in numbered
    )


# Rows, whose scores may be levels or NaN, and what the caller has in their place.
_Rows: TypeAlias = "tuple[RunColumns, Sequence[Any]]"


def _rows(
    data: Mapping[Any, Any] | _Table, what: Kind, most: int, shape: Shape | None
) -> list[_Rows]:
    """Split data into queries, documents and numbers, and a mapping into blocks of rows."""
    if isinstance(data, _Table):
        parts = [_of_columns(data, what, shape)]
    elif shape is None:
        parts = list(_of_mapping(data, what, most))
    else:
        parts = [_of_columns(_Table([], data.get, list), what, shape)]
    if not any(len(rows.document) for rows, _ in parts):
        raise _empty(what)
    return parts


def _of_mapping(data: Mapping[Any, Any], what: Kind, most: int) -> Iterator[_Rows]:
    """Cut a mapping into columns of whole queries that fit the processor's cache."""
    for query, documents in data.items():
        if not isinstance(documents, Mapping | list) or (isinstance(documents, list) and documents):
            raise UsageError(
                f"the {what} given maps {query!r} to {type(documents).__name__}; expected "
                "{query: {document: number}} or {query: [document, …]}"
            )
    queries = list(data)
    sizes = np.fromiter((len(data[query]) for query in queries), np.int64, len(queries))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    for first, last in spans(starts, most):
        rankings = [data[query] or {} for query in queries[first:last]]
        values = list(chain.from_iterable(ranking.values() for ranking in rankings))
        rows = RunColumns(
            file=what,
            query=tokens_of(queries[first:last]),
            starts=starts[first : last + 1] - starts[first],
            document=tokens_of(list(chain.from_iterable(rankings))),
            score=_numbers(values).astype(np.float64),
            line=np.arange(starts[first], starts[last]) + 1,
            run_id=b"run",
            by_rank=np.zeros(len(values), dtype=bool),
            origin=Origin(BARE, "score=@value"),
        )
        yield rows, values


def names_of(frame: Any) -> list[str]:
    """Return the names of the columns of a data frame; [] for other data."""
    names: Any = getattr(frame, "column_names", None)  # pyarrow
    return list(map(str, getattr(frame, "columns", ()) if names is None else names))


def column_of(data: Any, name: str, argument: str) -> Any:
    """Return a column; `UsageError` if a data frame has two of this name."""
    times = names_of(data).count(name)
    if times > 1:
        raise UsageError(f"{argument}: {times} columns named {name}; expected one")
    return data[name]


def _table_of(data: Any, what: Kind, shape: Shape | None) -> _Table:
    """Return a data frame or rows as columns; `UsageError` for anything else."""
    if hasattr(data, "collect") and not hasattr(data, "__len__"):
        raise UsageError(
            f"the {what} given is a {type(data).__name__}, which holds no rows yet; "
            "expected it collected, e.g. .collect()"
        )
    if hasattr(data, "column_names") or hasattr(data, "columns"):
        names = names_of(data)
        index = [*getattr(getattr(data, "index", None), "names", ())]  # of pandas
        if any(index) and not {*index} & {*names} and rows_shape(what, names, shape) is None:
            data = data.reset_index()
            names = names_of(data)

        column = partial(column_of, data, argument=f"the {what} given")

        def records() -> list[Any]:
            cells = zip(*(list_of(column(name)) for name in names), strict=True)
            return [_parsed(dict(zip(names, row, strict=True)), what) for row in cells]

        return _Table(names, column, records)
    if not isinstance(data, Iterable) or isinstance(data, bytes):
        raise UsageError(
            f"the {what} given is {type(data).__name__}; expected a path, "
            "{query: {document: number}}, rows (query, document, number) or a data frame"
        )
    return _table_of_rows(list(data), what, shape)


def _table_of_rows(rows: list[Any], what: Kind, shape: Shape | None) -> _Table:
    if not rows:
        raise _empty(what)
    first: Any = rows[0]
    places: dict[str, Any]
    if isinstance(first, Mapping):
        places = {str(name): name for name in first}
    elif hasattr(first, "_fields") or shape is not None:  # a map needs names
        places = {name: place for place, name in enumerate(getattr(first, "_fields", ()))}
    else:
        if hasattr(first, "columns") or hasattr(first, "column_names"):
            raise UsageError(f"the {what} given is a list of {type(first).__name__}; expected one")
        width = len(first) if isinstance(first, list | tuple) else 0
        if width not in _ROWS[what]:
            raise UsageError(
                f"the {what} given begins with {_brief(first)}; "
                "expected a row (query, document, number)"
            )
        number = "score" if what == "run" else "level"
        places = dict(zip(("query_id", "doc_id", number), _ROWS[what][width], strict=True))

    def column(name: str) -> list[Any]:
        try:
            return list(map(itemgetter(places[name]), rows))
        except (LookupError, TypeError):
            width = max(places.values()) if isinstance(first, tuple | list) else 0
            others = (row for row in rows if not hasattr(row, "__len__") or len(row) <= width)
            row = next(others, None) or next(row for row in rows if name not in row)
            fault = f"the {what} given holds {_brief(row)}"
            raise UsageError(f"{fault}; expected rows like its first one") from None

    return _Table(list(places), column, lambda: [_parsed(row, what) for row in rows])


def _brief(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:77]}..."


def _of_columns(table: _Table, what: Kind, shape: Shape | None) -> _Rows:
    """Read the columns that a map, or their names, say to be of ids and numbers."""
    of = rows_shape(what, table.names, shape) or shape or SHAPES[what]["flat"]
    where = table.names, what, None
    if what == "run":
        layout = layout_of(of, *where)
    else:
        query, document = id_columns(of, *where)
        level = need_column(of, "level", *where) if of.level else None
        layout = RunLayout(query, document, level, origin=LEVELS)
    queries, documents = (tokens_of(list_of(table.column(name))) for name in layout[:2])
    values: Any = []
    score = None  # a run in the order of its rows
    if what == "qrels" or layout.number is not None:
        column = [1] * len(documents) if layout.number is None else table.column(layout.number)
        values = column if isinstance(column, list) else np.asarray(column)
        score = _numbers(values).astype(np.float64)
    origin = Origin(BARE, layout.origin.map)
    others = {
        map_: _numbers(table.column(name)).astype(np.float64)
        for map_, name in layout.others.items()
    }
    columns = queries, documents, score, np.arange(1, len(documents) + 1)
    return run_columns(what, *columns, b"run", origin, others, empty_ids="kept"), values
