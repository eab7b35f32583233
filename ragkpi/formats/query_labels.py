"""Labels of queries, such as their language, by which an evaluation is cut into slices."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ragkpi.errors import DataError, InputError
from ragkpi.formats.column_names import QUERY, find
from ragkpi.formats.opening import Source
from ragkpi.wording import visible

_UNNAMED = "label"
_HALVES = re.compile("[\ud800-\udc7f\udd00-\udfff]")  # others: bytes that are not UTF-8

# By column, then by query.
QueryLabels = Mapping[str, Mapping[bytes, str]]


def read_query_labels(path: str) -> QueryLabels:
    """Read one or more labels of each query.

    The file has columns between tabs or commas, the query's id first, and perhaps a line with
    their names (``query_id``, then the kinds of labels). Or it has JSON objects with these names
    as keys, one a line or in an array; or ``{query: {kind: label}}``. Empty labels are skipped.

    Raises
    ------
    InputError
        With the line, for a malformed line; also for a file without labels.
    DataError
        If a query has two lines.
    """
    labels: dict[str, dict[bytes, str]] = {}
    seen: dict[bytes, int] = {}
    for line, query, row in _rows(path):
        if query in seen:
            name = visible(query.decode("utf-8", "surrogateescape"))
            raise DataError(
                f"{path}:{line}: query {name} again, first labelled at line {seen[query]}; "
                "expected a line per query"
            )
        seen[query] = line
        for column, label in row.items():
            if label:
                labels.setdefault(column, {})[query] = label
    if not labels:
        raise InputError(path, None, "no label", "expected lines of a query and its labels")
    return labels


def _rows(path: str) -> Iterator[tuple[int, bytes, Mapping[str, str]]]:
    text = _text(path)
    if text.lstrip()[:1] in ("{", "["):
        yield from _of_json(path, text)
        return
    lines = text.replace("\r\n", "\n").rstrip("\n").split("\n")
    first = next((line for line in lines if line.strip()), "")
    # Values between tabs are never quoted.
    reader = (
        csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        if "\t" in first
        else csv.reader(lines, strict=True)
    )
    try:
        rows = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as problem:
        expected = "expected values separated by commas"
        raise InputError(path, reader.line_num, f"no CSV ({problem})", expected) from None
    names = rows[0][1] if rows else []
    headed = find(names[:1], QUERY) is not None
    kinds = names[1:] if headed else _kinds(len(names) - 1)
    for number, row in rows[headed:]:
        if len(row) != len(kinds) + 1 or not kinds:
            columns = f"{len(row)} column{'s' if len(row) != 1 else ''}"
            expected = f"expected {max(len(kinds), 1) + 1}: the query and its labels"
            raise InputError(path, number, columns, expected)
        cells = [cell.strip() for cell in row[1:]]
        yield number, _octets(row[0].strip()), dict(zip(kinds, cells, strict=True))


def _of_json(path: str, text: str) -> Iterator[tuple[int, bytes, Mapping[str, str]]]:
    for number, record in _records(text):
        name = find(record, QUERY) if isinstance(record, dict) else None
        if name is None:
            raise InputError(
                path, number, "no query's id", "expected an object with a query and its labels"
            )
        labels = {
            _text_of(key): _text_of(str(label))
            for key, label in record.items()
            if key != name and label is not None
        }
        yield number, _octets(_text_of(str(record[name]))), labels


def _records(text: str) -> Iterator[tuple[int, Any]]:
    """Yield objects with a query and its labels, from all forms of JSON."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                yield number, _loaded(line)
        return
    if isinstance(document, dict) and all(isinstance(of, dict) for of in document.values()):
        document = [{**labels, QUERY[0]: query} for query, labels in document.items()]
    yield from enumerate(document if isinstance(document, list) else [document], start=1)


def _loaded(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _text_of(text: str) -> str:
    """Replace halves of surrogate pairs, which no output can hold."""
    return _HALVES.sub("\ufffd", text)


def _kinds(count: int) -> list[str]:
    return [_UNNAMED] if count == 1 else [f"{_UNNAMED} {place + 1}" for place in range(count)]


def _octets(id_: str) -> bytes:
    return id_.encode("utf-8", "surrogateescape")


def _text(path: str) -> str:
    piece, parts = bytearray(1 << 20), []
    with Source(path) as source:
        while filled := source.fill(memoryview(piece)):
            parts.append(bytes(piece[:filled]))
    return b"".join(parts).decode("utf-8-sig", "surrogateescape")
