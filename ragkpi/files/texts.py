"""Texts of queries and documents, and the labels of queries that cut an evaluation into slices.

A file of texts may be as large as a corpus, so it is read as a stream that keeps only wanted texts:
``id<TAB>text`` lines, JSON Lines (BEIR's ``corpus.jsonl``, MS MARCO's segments), parquet.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import Any, TypeAlias

from ragkpi.errors import DataError, InputError
from ragkpi.files.arrow import ArrowTable
from ragkpi.files.column_names import DOCUMENT, QUERY, RETRIEVED, find, shown_names
from ragkpi.files.lines import blocks, whole_text
from ragkpi.files.opening import Source
from ragkpi.wording import visible

_ID = ("_id", "id", *DOCUMENT[:-1], *QUERY[:-1])
_TITLE = ("title", "headings")
_TEXT = ("text", "contents", "content", "segment", "passage", "body", "query", "question")
_LONGEST = 1 << 16  # characters kept of a text; the rest is only counted
_ROWS_AT_ONCE = 1 << 11  # of a table


class Text(tuple[str, int]):
    """The beginning of a text, and the length of the whole text in characters."""

    __slots__ = ()


def read_texts(path: str, wanted: Collection[bytes]) -> dict[bytes, Text]:
    """Read the texts of some ids; ids that the file lacks are left out."""
    ids = frozenset(wanted)
    found: dict[bytes, Text] = {}
    for id_, text in _ids_and_texts(path):
        if id_ in ids and id_ not in found:
            found[id_] = Text((text[:_LONGEST], len(text)))
    return found


def texts_of_run(path: str) -> tuple[dict[bytes, Text], dict[bytes, Text]]:
    """Read the texts of queries and of documents in a JSON Lines run, by id."""
    queries: dict[bytes, Text] = {}
    documents: dict[bytes, Text] = {}
    source = Source(path)
    if source.name == "-" or not source.peek(1).startswith(b"{"):
        return queries, documents
    for _, line in _lines(source):
        record = _decoded(line.decode("utf-8", "surrogateescape"))
        listed = find(record, RETRIEVED) if isinstance(record, dict) else None
        if not listed or not isinstance(record[listed], list):
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
        return
    of_json = head.lstrip()[:1] in (b"{", b"[")
    for number, line in _lines(source):
        if of_json:
            yield _of_json(source.name, number, line)
            continue
        id_, tab, text = line.partition(b"\t")
        if not tab:
            expected = "expected an id, a tab and a text on every line"
            raise InputError(source.name, number, "no tab", expected)
        yield id_, text.decode("utf-8", "replace").replace("\t", " ")


def _of_json(file: str, number: int, line: bytes) -> tuple[bytes, str]:
    values = _decoded(line.decode("utf-8", "surrogateescape"))
    if not isinstance(values, dict):
        raise InputError(file, number, "no JSON object", "expected an object on a line")
    name = _find(tuple(values), _ID)
    if name is None or not isinstance(values[name], str | int):
        keys = " ".join(list(values)[:10])
        expected = f"expected {' or '.join(_ID)}"
        raise InputError(file, number, f"no id among the keys {keys}", expected)
    return str(values[name]).encode("utf-8", "surrogateescape"), _title_and_text(values)


def _of_parquet(source: Source) -> Iterator[tuple[bytes, str]]:
    with ArrowTable(source) as table:
        names = table.names
        key = find(names, _ID)
        columns = [name for name in (find(names, _TITLE), find(names, _TEXT)) if name is not None]
        if key is None or not columns:
            found = f"has the columns {shown_names(names)}"
            raise InputError(source.name, None, found, "expected an id and a text")
        for row in chain.from_iterable(table.rows([key, *columns], _ROWS_AT_ONCE)):
            if row[key] is not None:
                yield str(row[key]).encode("utf-8", "surrogateescape"), _title_and_text(row)


@lru_cache(maxsize=1000)  # most records of a file have the same keys
def _find(keys: tuple[str, ...], wanted: tuple[str, ...]) -> str | None:
    return find(keys, wanted)


def _title_and_text(values: Mapping[str, Any]) -> str:
    """Return the title, if there is one, and the text of a record."""
    keys = tuple(values)
    names = (_find(keys, _TITLE), _find(keys, _TEXT))
    texts = [values[name] for name in names if name is not None and isinstance(values[name], str)]
    return "\n".join(filter(None, texts))


def _decoded(text: str) -> Any:
    """Return the value of a JSON text; None if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _lines(source: Source) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the text of each line that is not blank."""
    for block in blocks(source):
        lines = bytes(block.text).split(b"\n")[:-1]
        for number, line in enumerate(lines, start=block.first_line):
            if line.strip():
                yield number, line.removesuffix(b"\r")


_UNNAMED = "label"
_HALVES = re.compile("[\ud800-\udc7f\udd00-\udfff]")  # other surrogates: bytes that are not UTF-8

# By column, then by query.
QueryLabels = Mapping[str, Mapping[bytes, str]]
_LabelRows: TypeAlias = "Iterator[tuple[int, str, Mapping[str, str]]]"  # line, query, labels


def read_query_labels(path: str) -> QueryLabels:
    """Read one or more labels of each query, such as its language.

    The file has columns between tabs or commas, the query's id first, and perhaps a header
    (``query_id``, then the kinds of labels). Or it has JSON objects with these keys, one per line
    or in an array; or ``{query: {kind: label}}``. Empty labels are skipped.

    Raises `InputError` with the line for a malformed line, and for a file without labels, and
    `DataError` if a query has two lines.
    """
    with Source(path) as source:
        whole = whole_text(source)
    text = "" if whole is None else whole.text.decode("utf-8", "surrogateescape")
    labels: dict[str, dict[bytes, str]] = {}
    seen: dict[str, int] = {}
    read = _labels_of_json if text.lstrip()[:1] in ("{", "[") else _labels_of_lines
    for line, query, row in read(path, text):
        if query in seen:
            raise DataError(
                f"{path}:{line}: query {visible(query)} again, first labelled at line "
                f"{seen[query]}; expected a line per query"
            )
        seen[query] = line
        for column, label in row.items():
            if label:
                of_queries = labels.setdefault(column, {})
                of_queries[query.encode("utf-8", "surrogateescape")] = label
    if not labels:
        raise InputError(path, None, "no label", "expected lines of a query and its labels")
    return labels


def _labels_of_lines(path: str, text: str) -> _LabelRows:
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
    kinds = [f"{_UNNAMED} {number}" for number in range(1, len(names))]
    kinds = names[1:] if headed else kinds if len(kinds) > 1 else [_UNNAMED]
    for number, row in rows[headed:]:
        if len(row) != len(kinds) + 1 or not kinds:
            columns = f"{len(row)} column{'s' if len(row) != 1 else ''}"
            expected = f"expected {max(len(kinds), 1) + 1}: the query and its labels"
            raise InputError(path, number, columns, expected)
        query, *cells = (cell.strip() for cell in row)
        yield number, query, dict(zip(kinds, cells, strict=True))


def _labels_of_json(path: str, text: str) -> _LabelRows:
    for number, record in _json_records(text):
        name = find(record, QUERY) if isinstance(record, dict) else None
        if name is None:
            raise InputError(
                path, number, "no query's id", "expected an object with a query and its labels"
            )
        # No output can encode half of a surrogate pair.
        labels = {
            _HALVES.sub("\ufffd", key): _HALVES.sub("\ufffd", str(label))
            for key, label in record.items()
            if key != name and label is not None
        }
        yield number, _HALVES.sub("\ufffd", str(record[name])), labels


def _json_records(text: str) -> Iterator[tuple[int, Any]]:
    """Yield objects with a query and its labels, from all forms of JSON."""
    document = _decoded(text)
    if document is None:
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                yield number, _decoded(line)
        return
    if isinstance(document, dict) and all(isinstance(of, dict) for of in document.values()):
        document = [{**labels, QUERY[0]: query} for query, labels in document.items()]
    yield from enumerate(document if isinstance(document, list) else [document], start=1)
