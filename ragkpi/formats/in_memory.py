"""Qrels and runs that are in memory already: mappings, rows and data frames, as columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import index
from typing import Any

import numpy as np

from ragkpi.errors import UsageError
from ragkpi.formats import column_names as fields
from ragkpi.formats.tokens import Tokens
from ragkpi.formats.trec_qrels import QrelsColumns
from ragkpi.formats.trec_runs import RunColumns

Triple = tuple[Any, Any, Any]


def qrels_columns(data: Any) -> QrelsColumns:
    """Read judgements.

    Parameters
    ----------
    data
        ``{query: {document: level}}``; rows (query, document, level) or those of a file; a data
        frame of pandas, polars or pyarrow. Ids are str, bytes or int.

    Raises
    ------
    UsageError
        If it is nothing of the kind, or a level is no whole number.
    """
    query, document, levels = _columns(data, "qrels", fields.LEVEL, {3: (0, 1, 2), 4: (0, 2, 3)})
    level = [_level(value, q, d) for value, q, d in zip(levels, query, document, strict=True)]
    queries = Tokens.from_strings(query)
    return QrelsColumns(
        "qrels",
        queries,
        queries,
        Tokens.from_strings(document),
        np.array(level, dtype=np.int64),
        np.arange(1, len(level) + 1),
    )


def run_columns(data: Any) -> RunColumns:
    """Read a ranking for each query, in whatever order; as `qrels_columns`, with scores."""
    places = {3: (0, 1, 2), 5: (0, 2, 4), 6: (0, 2, 4)}
    query, document, scores = _columns(data, "run", fields.SCORE, places)
    score = np.array(
        [_score(value, q, d) for value, q, d in zip(scores, query, document, strict=True)]
    )
    number = {name: place for place, name in enumerate(dict.fromkeys(query))}
    group = np.array([number[name] for name in query])
    order = np.argsort(group, kind="stable")
    return RunColumns(
        file="run",
        query=Tokens.from_strings(number),
        starts=np.searchsorted(group[order], np.arange(len(number) + 1)),
        document=Tokens.from_strings(document).take(order),
        score=score[order],
        line=order + 1,
        run_id=b"run",
    )


def octets(id_: Any) -> bytes:
    """Return an id as the bytes that a file would hold."""
    if isinstance(id_, bytes):
        return id_
    if isinstance(id_, str):
        return id_.encode("utf-8", "surrogateescape")
    try:
        return b"%d" % index(id_)
    except TypeError:
        raise UsageError(f"an id is {id_!r}; expected text or a whole number") from None


def _columns(
    data: Any, what: str, names: Sequence[str], places: Mapping[int, tuple[int, int, int]]
) -> tuple[list[bytes], list[bytes], list[Any]]:
    """Split data into ids of queries and of documents, and what is said about both."""
    if isinstance(data, Mapping):
        triples: Iterable[Triple] = _of_mapping(data, what)
    elif hasattr(data, "columns"):
        triples = _of_frame(data, what, names)
    else:
        triples = _of_rows(data, what, names, places)
    found = list(triples)
    if not found:
        raise UsageError(f"the {what} given is empty; expected at least one row")
    query, document, number = zip(*found, strict=True)
    return list(map(octets, query)), list(map(octets, document)), list(number)


def _of_mapping(data: Mapping[Any, Any], what: str) -> Iterator[Triple]:
    for query, documents in data.items():
        if not isinstance(documents, Mapping):
            raise UsageError(
                f"the {what} given maps {query!r} to {type(documents).__name__}; expected "
                "{query: {document: number}}"
            )
        for document, number in documents.items():
            yield query, document, number


def _of_frame(frame: Any, what: str, names: Sequence[str]) -> Iterator[Triple]:
    known = [str(name) for name in getattr(frame, "column_names", frame.columns)]
    chosen = [frame[name] for name in _named(known, what, names)]
    # The scalars of pyarrow are no Python numbers.
    return zip(
        *(one.to_pylist() if hasattr(one, "to_pylist") else one for one in chosen), strict=True
    )


def _of_rows(
    rows: Any, what: str, names: Sequence[str], places: Mapping[int, tuple[int, int, int]]
) -> Iterator[Triple]:
    if not isinstance(rows, Iterable):
        raise UsageError(
            f"the {what} given is {type(rows).__name__}; expected a path, "
            "{query: {document: number}}, rows (query, document, number) or a data frame"
        )
    rows = list(rows)
    first: Any = rows[0] if rows else ()
    keys: Sequence[Any]
    if isinstance(first, Mapping):
        keys = _named(list(first), what, names)
    elif hasattr(first, "_fields"):  # a named tuple
        keys = [first._fields.index(name) for name in _named(first._fields, what, names)]
    else:
        keys = places.get(len(first), ()) if isinstance(first, Sequence) else ()
    if rows and (not keys or isinstance(first, str)):
        raise UsageError(
            f"the {what} given begins with {first!r}; expected a row (query, document, number)"
        )
    return ((row[keys[0]], row[keys[1]], row[keys[2]]) for row in rows)


def _named(known: Sequence[str], what: str, names: Sequence[str]) -> list[str]:
    """Find the columns of query, document and number among those that there are."""
    found = []
    for wanted in (fields.QUERY, fields.DOCUMENT, names):
        name = fields.find(known, wanted)
        if name is None:
            raise UsageError(
                f"the {what} given has columns {', '.join(known)}; expected one of "
                f"{', '.join(wanted)} among them"
            )
        found.append(name)
    return found


def _level(value: Any, query: bytes, document: bytes) -> int:
    try:
        level = int(value)
    except (TypeError, ValueError, OverflowError):
        level = None
    if level is None or level != value:
        raise UsageError(f"qrels: {_shown(query, document)}: level {value!r}; expected an integer")
    return level


def _score(value: Any, query: bytes, document: bytes) -> float:
    try:
        score = float(value)
    except (TypeError, ValueError):
        score = math.nan
    if math.isnan(score):
        raise UsageError(f"run: {_shown(query, document)}: score {value!r}; expected a number")
    return score


def _shown(query: bytes, document: bytes) -> str:
    names = (id_.decode("utf-8", "replace") for id_ in (query, document))
    return "query {}, document {}".format(*names)
