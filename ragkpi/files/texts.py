"""Labels of queries, such as their language, by which an evaluation is cut into slices.

A file may be as large as a corpus, so it is read as a stream, and only wanted texts are kept:
``id<TAB>text`` lines, JSON Lines (BEIR's ``corpus.jsonl``, MS MARCO's segments), parquet.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from ragkpi.errors import DataError, InputError
from ragkpi.files.arrow import ArrowTable
from ragkpi.files.column_names import DOCUMENT, QUERY, RETRIEVED, find, shown_names
from ragkpi.files.opening import Source
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
    text = _label_text(path)
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


def _label_text(path: str) -> str:
    piece, parts = bytearray(1 << 20), []
    with Source(path) as source:
        while filled := source.fill(memoryview(piece)):
            parts.append(bytes(piece[:filled]))
    return b"".join(parts).decode("utf-8-sig", "surrogateescape")


_ID = ("_id", "id", *DOCUMENT[:-1], *QUERY[:-1])
_TITLE = ("title", "headings")
_TEXT = ("text", "contents", "content", "segment", "passage", "body", "query", "question")
_LONGEST = 1 << 16  # characters of a text that are kept; the rest is counted
_PIECE = 1 << 20
_ROWS_AT_ONCE = 1 << 11  # of a table
_LONGEST_LINE = 1 << 26  # bytes; a longer line is no text


class Text(tuple[str, int]):
    """The beginning of a text, and how many characters all of it has."""

    __slots__ = ()


def read_texts(path: str, wanted: Collection[bytes]) -> dict[bytes, Text]:
    """Read the texts of some ids, as far as the file has them.

    Raises
    ------
    InputError
        If the file cannot be read, or holds no ids and texts.
    """
    ids = frozenset(wanted)
    found: dict[bytes, Text] = {}
    for id_, text in _ids_and_texts(path):
        if id_ in ids and id_ not in found:
            found[id_] = Text((text[:_LONGEST], len(text)))
    return found


def texts_of_run(path: str) -> tuple[dict[bytes, Text], dict[bytes, Text]]:
    """Read the texts of queries and documents in a run of JSON Lines, by id."""
    queries: dict[bytes, Text] = {}
    documents: dict[bytes, Text] = {}
    source = Source(path)
    if source.name == "-" or not source.peek(1).startswith(b"{"):
        return queries, documents
    for _, line in _lines_with_title_and_text(source):
        record = _decoded(line)
        listed = record and find(record, RETRIEVED)
        if not record or not listed or not isinstance(record[listed], list):
            continue
        asked = record.get("query", record)
        for values in (asked, record):
            if isinstance(values, dict):
                _keep(queries, {**record, **values} if values is asked else values, QUERY)
        if isinstance(asked, str):
            _keep(queries, {**record, "text": asked}, QUERY[:-1])
        for item in record[listed]:
            if isinstance(item, dict):
                inner = item.get("doc", item.get("document"))
                _keep(documents, {**item, **inner} if isinstance(inner, dict) else item, DOCUMENT)
    return queries, documents


def _keep(texts: dict[bytes, Text], values: Mapping[str, Any], names: Iterable[str]) -> None:
    name, text = find(values, [*names, "_id"]), _title_and_text(values)
    if name is not None and text and isinstance(values[name], str | int):
        key = str(values[name]).encode("utf-8", "surrogateescape")
        texts.setdefault(key, Text((text[:_LONGEST], len(text))))


def _ids_and_texts(path: str) -> Iterator[tuple[bytes, str]]:
    source = Source(path)
    head = source.peek(4)
    if head == b"PAR1":
        yield from _of_parquet(source)
    elif head.lstrip()[:1] in (b"{", b"["):
        yield from _of_json_lines_with_title_and_text(source)
    else:
        yield from _of_lines_with_title_and_text(source)


def _of_lines_with_title_and_text(source: Source) -> Iterator[tuple[bytes, str]]:
    for number, line in _lines_with_title_and_text(source):
        id_, tab, text = line.partition(b"\t")
        if not tab:
            raise InputError(
                source.name, number, "no tab", "expected an id, a tab and a text on every line"
            )
        yield id_, text.decode("utf-8", "replace").replace("\t", " ")


def _of_json_lines_with_title_and_text(source: Source) -> Iterator[tuple[bytes, str]]:
    for number, line in _lines_with_title_and_text(source):
        values = _decoded(line)
        if values is None:
            raise InputError(source.name, number, "no JSON object", "expected an object on a line")
        name = _found(tuple(values), _ID)
        if name is None or not isinstance(values[name], str | int):
            keys = " ".join(list(values)[:10])
            raise InputError(
                source.name, number, f"no id among the keys {keys}", f"expected {' or '.join(_ID)}"
            )
        yield str(values[name]).encode("utf-8", "surrogateescape"), _title_and_text(values)


def _of_parquet(source: Source) -> Iterator[tuple[bytes, str]]:

    with ArrowTable(source) as table:
        names = table.names
        key = find(names, _ID)
        columns = [name for name in (find(names, _TITLE), find(names, _TEXT)) if name is not None]
        if key is None or not columns:
            found = f"has the columns {shown_names(names)}"
            raise InputError(source.name, None, found, "expected an id and a text")
        for rows in table.rows([key, *columns], _ROWS_AT_ONCE):
            for row in rows:
                if row[key] is not None:
                    yield str(row[key]).encode("utf-8", "surrogateescape"), _title_and_text(row)


@lru_cache(maxsize=1000)  # most records of a file have the same keys
def _found(keys: tuple[str, ...], wanted: tuple[str, ...]) -> str | None:
    return find(keys, wanted)


def _title_and_text(values: Mapping[str, Any]) -> str:
    """Return the title, if there is one, and the text of a record."""
    keys = tuple(values)
    names = (_found(keys, _TITLE), _found(keys, _TEXT))
    texts = [values[name] for name in names if name is not None and isinstance(values[name], str)]
    return "\n".join(text for text in texts if text)


def _decoded(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line.decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _lines_with_title_and_text(source: Source) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the text of each line that is not blank."""
    buffer, rest, number = bytearray(_PIECE), b"", 0
    while True:
        filled = source.fill(memoryview(buffer))
        *lines, rest = (rest + bytes(buffer[:filled])).split(b"\n")
        if not filled:
            lines, rest = ([rest] if rest else []), b""
        if len(rest) > _LONGEST_LINE:
            found = f"a line of more than {_LONGEST_LINE >> 20} MiB"
            raise InputError(source.name, number + 1, found, "expected a text on every line")
        for line in lines:
            number += 1
            if line.strip():
                yield number, line.removesuffix(b"\r")
        if not filled:
            return
