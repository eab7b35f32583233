"""Runs and qrels as Python objects: mappings, lists of documents, rows and data frames.

Ids are encoded many at a time, because a step per row is slow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np

from ragkpi.arrays import FloatArray
from ragkpi.errors import UsageError
from ragkpi.files import column_names as fields
from ragkpi.files import tables
from ragkpi.files.dumps import LOOKED_AT, recognise
from ragkpi.files.lines import Tokens
from ragkpi.files.opening import Kind
from ragkpi.files.roles import BARE
from ragkpi.files.shape_reader import (
    DocumentColumns,
    Record,
    ShapeReader,
    collect_qrels,
    shape_for,
    stream_documents,
)
from ragkpi.files.shapes import Shape, rows_shape
from ragkpi.files.tables import Cell, OddIds, Piece, Row
from ragkpi.files.trec import (
    NumberError,
    Numbers,
    Origin,
    QrelsColumns,
    RunColumns,
    parse_numbers,
    parse_scores,
    plain_qrels,
)
from ragkpi.wording import decoded, named, octets

_DEEPEST = 5  # objects in a document
_LISTS = (list, tuple, set, frozenset, np.ndarray)
# By length of row, the positions of query, document and number.
_ROWS: Mapping[Kind, Mapping[int, Sequence[int]]] = {
    "run": {3: (0, 1, 2), 5: (0, 2, 4), 6: (0, 2, 4)},
    "qrels": {3: (0, 1, 2), 4: (0, 2, 3)},
}


def _empty(what: Kind) -> UsageError:
    return UsageError(f"the {what} given is empty; expected at least one row")


@dataclass
class _Table:
    """Rows as columns, and as parsed JSON (`tables.TableFile`)."""

    file: Kind
    names: list[str]
    column: Callable[[str], Any]
    records: Callable[[], list[Any]]
    line: int | None = None
    odd_ids: OddIds = "kept"
    ids: Sequence[Sequence[Any]] = ()  # of queries and documents, after reading

    @property
    def nested(self) -> list[str]:
        name = fields.find(self.names, fields.DOCUMENT)
        first = list_of(self.column(name)[:1]) if name else []
        return [name for of in first if name and isinstance(of, list)]

    def rows(self) -> Iterator[Row]:
        if not (records := self.records()):
            raise _empty(self.file)
        yield from enumerate(records, start=1)

    def pieces(self, cells: Mapping[str, Cell]) -> Iterator[Piece]:
        columns = {name: list_of(self.column(name)) for name in cells if cells[name] == "id"}
        count = len(next(iter(columns.values())))
        if not count:
            raise _empty(self.file)
        self.ids = list(columns.values())
        numbers = {name: _Numbers(self.column(name)) for name in cells if cells[name] != "id"}
        texts = {name: tokens_of(of) for name, of in columns.items()}
        levels = {name: numbers[name].texts() for name in cells if cells[name] == "level"}
        yield Piece(np.arange(1, count + 1), texts | levels, numbers)

    def id_of(self, row: int) -> tuple[bytes, bytes]:
        """Return the query and the document of a row that was read."""
        query, document, *_ = (octets(of[row]) for of in self.ids)
        return query, document


def _text_of(number: Any) -> str:
    """Write a number as in a file; a missing one as empty text."""
    return "" if number is None else str(int(number) if isinstance(number, bool) else number)


def tokens_of(ids: Sequence[Any]) -> Tokens:
    """Encode ids, like `octets`."""
    try:
        text = "".join(ids)
    except TypeError:
        if set(map(type, ids)) != {int}:
            return Tokens.from_strings(map(octets, ids))
        ids = list(map(str, ids))
        text = "".join(ids)
    if not text.isascii():  # lengths in characters differ from lengths in bytes
        return Tokens.from_strings(map(octets, ids))
    return Tokens.from_text(text.encode(), np.fromiter(map(len, ids), np.int64, len(ids)))


@dataclass
class _Numbers:
    """Numbers, written as texts on demand (`trec.NumberColumn`)."""

    values: Any

    def __len__(self) -> int:
        return len(self.values)

    def numbers(self) -> FloatArray:
        """Return numbers, also from texts; NaN for anything else."""
        try:
            return np.asarray(self.values, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            return np.array([_or_nan(value) for value in list_of(self.values)])

    def __getitem__(self, row: int, /) -> bytes:
        return octets(str(list_of(self.values)[row]))

    def texts(self) -> Tokens:
        return tokens_of(list(map(_text_of, list_of(self.values))))


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
    expected = "an integer" if numbers == "levels" else "a number"
    if (table := _table_of(data, "qrels", shape)) is not None:
        with _located("qrels", table.id_of, expected):
            return tables.read_qrels(table, shape).read_as(numbers)
    if (columns := _document_columns(data, "qrels", shape)) is not None:
        return collect_qrels("qrels", columns).read_as(numbers)
    rows, values = _of_mapping(data, "qrels")
    query = rows.query_of_rows()
    with _located("qrels", lambda row: (query[row], rows.document[row]), expected):
        level, gain = parse_numbers("qrels", values, rows.line, truth=True, numbers=numbers)
    empty = rows.query.take(np.flatnonzero(np.diff(rows.starts) == 0)).tolist()
    judged = plain_qrels("qrels", query, rows.document, level, rows.line, gain)
    return judged._replace(empty=empty)


def run_blocks(data: Any, shape: Shape | None = None) -> list[RunColumns]:
    """Read a run into blocks of rows, in any order; data as in `qrels_columns`, with scores.

    Documents in lists are best first. A retriever's objects are read by their attributes.
    """
    if (table := _table_of(data, "run", shape)) is not None:
        with _located("run", table.id_of, "a number"):
            blocks = list(tables.stream_run(table, shape))
        return [block._replace(origin=block.origin._replace(documents=BARE)) for block in blocks]
    if (columns := _document_columns(data, "run", shape)) is not None:
        return list(stream_documents("run", columns))
    rows, values = _of_mapping(data, "run")
    ids = rows.query_of_rows(), rows.document
    with _located("run", lambda row: (ids[0][row], ids[1][row]), "a number"):
        parse_scores("run", values, rows.line)
    return [rows]


@contextmanager
def _located(
    what: Kind, id_of: Callable[[int], tuple[bytes, bytes]], expected: str
) -> Iterator[None]:
    """Name the query and the document of a refused number."""
    try:
        yield
    except NumberError as problem:
        query, document = map(named, id_of((problem.line or 1) - 1))
        place = f"{what}: query {query}, document {document}"
        raise UsageError(f"{place}: {problem.fault}; expected {expected}") from None


def _lists_of(data: Any, what: Kind) -> dict[str, Any] | None:
    """Return ``{query: [document, …]}`` as parsed JSON; None for other data.

    A list can also be its own field, as in ``{"documents": […]}`` of Haystack's retrievers.
    """
    lists = _LISTS if what == "qrels" else (list, tuple, np.ndarray)
    texts = what == "qrels" and any(isinstance(of, str) for of in data.values())
    if not texts and not any(
        isinstance(_first_value(of), lists) and len(of) for of in data.values()
    ):
        return None
    # One relevant document can be without a list.
    alone = str if what == "qrels" else ()
    return {
        decoded(octets(query)): _parsed([of] if isinstance(of, alone) else of, what)
        for query, of in data.items()
    }


def _first_value(of: Any) -> Any:
    return next(iter(of.values()), None) if isinstance(of, Mapping) else of


def _parsed(value: Any, what: Kind, depth: int = 0) -> Any:
    """Return the content of a query as parsed JSON: objects by attributes, without their lists.

    The depth of a document is 2, in a list or in a list of a record. A pair is a document as well.
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
        if pair and not isinstance(inside[0], float):  # Chroma has lists of two scores
            return {"document": inside[0], "score" if what == "run" else "level": float(inside[1])}
        return inside
    inner = value if isinstance(value, Mapping) else getattr(value, "__dict__", {})
    return {
        str(name): _parsed(of, what, depth + 1)
        for name, of in inner.items()
        if depth < _DEEPEST and not (depth >= 2 and isinstance(of, _LISTS))
    }


def _document_columns(
    data: Mapping[Any, Any], what: Kind, shape: Shape | None
) -> Iterator[DocumentColumns] | None:
    """Read lists as a JSON file with the same content; None for others."""
    if (lists := _lists_of(data, what)) is None:
        return None
    first = [dict(islice(lists.items(), LOOKED_AT))]
    shape = shape_for(what, what, shape, lambda of: recognise(first, what, {**of, "records": "$"}))
    numbered = enumerate(lists.items(), start=1)
    return ShapeReader(shape, what).read(
        Record(number, value, key) for number, (key, value) in numbered
    )


def _of_mapping(data: Mapping[Any, Any], what: Kind) -> tuple[RunColumns, _Numbers]:
    """Return a mapping as columns, whose scores can be levels or NaN, and the caller's numbers."""
    for query, documents in data.items():
        if not isinstance(documents, Mapping | list) or (isinstance(documents, list) and documents):
            raise UsageError(
                f"the {what} given maps {query!r} to {type(documents).__name__}; expected "
                "{query: {document: number}} or {query: [document, …]}"
            )
    if not any(map(len, data.values())):
        raise _empty(what)
    queries = list(data)
    sizes = np.fromiter((len(data[query]) for query in queries), np.int64, len(queries))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    rankings = [data[query] or {} for query in queries]
    values = _Numbers(list(chain.from_iterable(ranking.values() for ranking in rankings)))
    rows = RunColumns(
        file=what,
        query=tokens_of(queries),
        starts=starts,
        document=tokens_of(list(chain.from_iterable(rankings))),
        score=values.numbers(),
        line=np.arange(starts[-1]) + 1,
        run_id=b"run",
        by_rank=np.zeros(len(values), dtype=bool),
        origin=Origin(BARE, "score=@value"),
    )
    return rows, values


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


def _table_of(data: Any, what: Kind, shape: Shape | None) -> _Table | None:
    """Return a data frame or rows as columns, None for a mapping; `UsageError` for others."""
    if isinstance(data, Mapping):
        flat = shape is not None and _lists_of(data, what) is None  # a map needs columns
        return _Table(what, [], data.get, list) if flat else None
    if (names := names_of(data)) and not hasattr(data, "collect"):
        index = [*getattr(getattr(data, "index", None), "names", ())]  # of pandas
        if any(index) and not {*index} & {*names} and rows_shape(what, names, shape) is None:
            data = data.reset_index()
            names = names_of(data)

        column = partial(column_of, data, argument=f"the {what} given")

        def records() -> list[Any]:
            cells = zip(*(list_of(column(name)) for name in names), strict=True)
            return [_parsed(dict(zip(names, row, strict=True)), what) for row in cells]

        return _Table(what, names, column, records)
    if not isinstance(data, Iterable) or isinstance(data, bytes):
        raise UsageError(
            f"the {what} given is {type(data).__name__}; expected a path, "
            "{query: {document: number}}, rows (query, document, number) or a data frame (of "
            "polars: collected)"
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
        width = len(first) if isinstance(first, list | tuple) else 0
        if width not in _ROWS[what]:
            raise UsageError(
                f"the {what} given begins with {_brief(first)}; "
                "expected a row (query, document, number)"
            )
        number = "score" if what == "run" else "level"
        places = dict(zip(("query_id", "doc_id", number), _ROWS[what][width], strict=True))

    def column(name: str) -> list[Any]:
        cells = []
        for row in rows:
            try:
                cells.append(row[places[name]])
            except (LookupError, TypeError):
                fault = f"the {what} given contains {_brief(row)}"
                raise UsageError(f"{fault}; expected rows like its first one") from None
        return cells

    return _Table(what, list(places), column, lambda: [_parsed(row, what) for row in rows])


def _brief(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:77]}..."
