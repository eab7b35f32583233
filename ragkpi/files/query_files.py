"""Files about single queries and documents: sizes, quality, preferences, gains, labels, texts.

A file of texts can be as large as a corpus, so it is read as a stream that keeps requested texts:
``id<TAB>text`` lines, CSV, JSON Lines (BEIR's ``corpus.jsonl``, MS MARCO's segments), parquet.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain, repeat
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ragkpi.arrays import FloatArray
from ragkpi.errors import DataError, InputError
from ragkpi.files.column_names import (
    DOCUMENT,
    QUERY,
    QUERY_ID,
    RETRIEVED,
    find,
    plain_name,
    shown_names,
)
from ragkpi.files.formats import HEAD_LENGTH, is_number, reader_of, recognise_layout
from ragkpi.files.json_files import read_objects
from ragkpi.files.lines import (
    LineColumns,
    LineShape,
    Tokens,
    blocks,
    read_table,
    refuse_invalid,
    table_of,
)
from ragkpi.files.opening import Source
from ragkpi.files.records import query_column, read_records
from ragkpi.files.sieve import words_of
from ragkpi.files.trec import QrelsColumns, judged_or_not, parse_numbers, plain_qrels, qrels_of
from ragkpi.wording import decoded, shown, visible

K = TypeVar("K")
V = TypeVar("V")
_SIZES = LineShape(("query", "size"))


def read_corpus_sizes(path: str) -> dict[bytes, int]:
    """Read the size of the corpus for each query; `DataError` if a query has two sizes."""
    table = read_table(path, _SIZES)
    query, size_text = table.column(0), table.column(1)
    size = size_text.numbers()
    whole = (size >= 1) & (size < 2.0**53) & (size == np.floor(size))
    refuse_invalid(path, table.line, size_text, whole, "size", "expected a whole number from 1")
    rows = zip(table.line, repeat(None), query, size.astype(np.int64).tolist(), strict=False)
    return _by_query(path, rows, "one size per query").get(None, {})


def _decimals(
    path: str, table: LineColumns, name: str, at: int, expected: str, least: float = -np.inf
) -> FloatArray:
    """Read a column of finite numbers; `InputError` with the line for others and smaller ones."""
    text = table.column(at)
    number = text.numbers()
    valid = np.isfinite(number) & (number >= least)
    refuse_invalid(path, table.line, text, valid, name, expected)
    return number


def _by_query(
    path: str, rows: Iterable[tuple[Any, K, bytes, V]], expected: str
) -> dict[K, dict[bytes, V]]:
    """Group values (line, group, query, value) by group and query; `DataError` for repeats."""
    values: dict[K, dict[bytes, V]] = {}
    for line, group, query, value in rows:
        of_group = values.setdefault(group, {})
        if query in of_group:
            raise DataError(f"{path}:{line}: query {shown(query)} again; expected {expected}")
        of_group[query] = value
    return values


# By run (None if the file names none), then by query.
Quality = Mapping[bytes | None, Mapping[bytes, float]]


def read_quality(path: str) -> Quality:
    """Read the quality of responses by query, and perhaps by run.

    Lines have as many columns as the first one, between spaces or commas, below an optional header.
    """
    expected, columns = "expected QUERY SCORE or QUERY RUN SCORE", 0
    rows: list[tuple[int, bytes | None, bytes, float]] = []
    with Source(path) as source:
        for line, text in chain.from_iterable(block.lines() for block in blocks(source)):
            words = text.split()
            if all(word.endswith(b",") for word in words[:-1]):
                words = text.replace(b",", b" ").split()
            if not words or words[0].startswith(b"#"):
                continue
            score, names = _decimal(words[-1]), words[:-1]
            if not columns:
                columns = len(words)
                if math.isnan(score) and plain_name(str(decoded(words[0]))) in QUERY:
                    continue
            if math.isnan(score) or len(words) != columns or not 2 <= columns <= 3:
                raise InputError(path, line, shown(text), expected)
            rows.append((line, names[1] if len(names) > 1 else None, names[0], score))
    if not rows:
        raise InputError(path, None, "no quality", expected)
    return _by_query(path, rows, "one number for each")


def _decimal(word: bytes) -> float:
    """Return a finite number; NaN for other words, and for Python's 1_000."""
    number = float(word) if is_number(word) and b"_" not in word else math.nan
    return number if math.isfinite(number) else math.nan


_NORMS = LineShape(("query", "measure", "mean", "deviation"))


class Norm(NamedTuple):
    """The mean and the standard deviation of a measure for a query."""

    mean: float
    deviation: float


# By printed name of the value, then by query.
Norms = Mapping[bytes, Mapping[bytes, Norm]]


def read_zscores(path: str) -> Norms:
    """Read the mean and the standard deviation of measures for queries."""
    table = read_table(path, _NORMS)
    expected = "expected a decimal number"
    mean = _decimals(path, table, "mean", 2, expected)
    deviation = _decimals(path, table, "deviation", 3, f"{expected} from 0", least=0)
    norms = map(Norm, mean.tolist(), deviation.tolist())
    rows = zip(table.line, table.column(1), table.column(0), norms, strict=True)
    return _by_query(path, rows, "each measure once per query")


_PREFERENCE = LineShape(("query", "group", "subgroup", "document", "level"))


def read_preferences(path: str) -> tuple[QrelsColumns, Tokens]:
    """Read `prefs`: query, judgment group, sub-group, document, level (a decimal number).

    Return them as qrels whose iteration is the judgment group (an assessor), and the sub-groups:
    within a sub-group, a document with a higher level is preferred over one with a lower level.
    """
    table = read_table(path, _PREFERENCE)
    level = _decimals(path, table, "level", 4, "expected a decimal number such as 0, 1 or 2.5")
    query, group, subgroup, document = map(table.column, range(4))
    columns = query, group, document, judged_or_not(level), table.line, level
    return QrelsColumns(path, *columns), subgroup


_GAIN = LineShape(("query", "document", "gain"))


def read_gains(path: str) -> QrelsColumns:
    """Read lines of query, document and gain, or any format of qrels."""
    with Source(path) as source:
        reader = reader_of("qrels", source)
        words = source.peek(HEAD_LENGTH).lstrip().split(b"\n", 1)[0].split()
        if reader.name != "trec" or len(words) != 3 or not is_number(words[2]):
            return qrels_of(source, "gains") if reader.name == "trec" else reader.read(source)
        table = table_of(source, _GAIN)
        query, document, text = map(table.column, range(3))
        level, gain = parse_numbers(source.name, text, table.line)
        return plain_qrels(source.name, query, document, level, table.line, gain)


_ID = ("_id", "id", *DOCUMENT[:-1], *QUERY[:-1])
_TITLE = ("title", "headings")
_TEXT = ("text", "contents", "content", "segment", "passage", "body", "query", "question")
_LONGEST = 1 << 16  # characters kept of a text; the rest is only counted


class Text(tuple[str, int]):
    """The beginning of a text, and the length of the whole text in characters."""

    __slots__ = ()


def read_texts(path: str, ids: Collection[bytes]) -> dict[bytes, Text]:
    """Read the texts of some ids; ids missing from the file are left out."""
    ids = frozenset(ids)
    texts: dict[bytes, Text] = {}
    for id_, text in _ids_and_texts(path):
        if id_ in ids and id_ not in texts:
            texts[id_] = Text((text[:_LONGEST], len(text)))
    return texts


def read_query_ids(path: str) -> dict[bytes, bytes]:
    """Read the ids of queries by id, by the words of their texts, and by position from 1.

    Raises `DataError` if two queries have one text.
    """
    ids: dict[bytes, bytes] = {}
    rows = list(_ids_and_texts(path))
    for id_, text in rows:
        words = words_of(text.encode("utf-8", "surrogateescape"))
        if ids.setdefault(words, id_) != id_:
            fault = f"the text of query {shown(id_)} again, first of query {shown(ids[words])}"
            raise DataError(f"{path}: {fault}; expected each text once")
    places = {b"%d" % place: id_ for place, (id_, _) in enumerate(rows, start=1)}
    return {**places, **ids, **{id_: id_ for id_, _ in rows}}


def texts_of_run(path: str) -> tuple[dict[bytes, Text], dict[bytes, Text]]:
    """Read the texts of queries and of documents in a JSON Lines run, by id."""
    queries: dict[bytes, Text] = {}
    documents: dict[bytes, Text] = {}
    if path == "-":
        return queries, documents
    with Source(path) as source:
        if recognise_layout(source.peek(HEAD_LENGTH)) not in ("json", "jsonl"):
            return queries, documents
        for _, record in read_objects(source):
            listed = find(record, RETRIEVED) if isinstance(record, dict) else None
            if not listed or not isinstance(record[listed], list):
                continue
            query = record.get("query", record)
            if isinstance(query, dict):
                _keep(queries, {**record, **query}, QUERY)
            _keep(queries, record, QUERY)
            if isinstance(query, str):
                _keep(queries, {**record, "text": query}, QUERY[:-1])
            for item in record[listed]:
                if isinstance(item, dict):
                    inner = item.get("doc", item.get("document"))
                    inside = inner if isinstance(inner, dict) else {}
                    _keep(documents, {**item, **inside}, DOCUMENT)
    return queries, documents


def _keep(texts: dict[bytes, Text], values: Mapping[str, Any], names: Iterable[str]) -> None:
    name, text = find(values, [*names, "_id"]), _title_and_text(values)
    if name is not None and text and isinstance(values[name], str | int):
        key = str(values[name]).encode("utf-8", "surrogateescape")
        texts.setdefault(key, Text((text[:_LONGEST], len(text))))


def _ids_and_texts(path: str) -> Iterator[tuple[bytes, str]]:
    with Source(path) as source:
        layout = recognise_layout(head := source.peek(HEAD_LENGTH))
        names = head.split(b"\n", 1)[0].decode("utf-8", "replace").strip().split(",")
        if layout == "tsv" or (layout == "csv" and find(names, _ID) is None):
            yield from _of_lines(source)
            return
        for number, values in read_records(source, (*_ID, *_TITLE, *_TEXT)):
            name = find(values, _ID)
            if name is None or not isinstance(values[name], str | int):
                fault = f"no id among the keys {shown_names(values)}"
                raise InputError(source.name, number, fault, f"expected {' or '.join(_ID)}")
            yield str(values[name]).encode("utf-8", "surrogateescape"), _title_and_text(values)


def _of_lines(source: Source) -> Iterator[tuple[bytes, str]]:
    for number, line in chain.from_iterable(block.lines() for block in blocks(source)):
        id_, tab, text = line.removesuffix(b"\r").partition(b"\t")
        if tab:
            yield id_, text.decode("utf-8", "replace").replace("\t", " ")
        elif line.strip():
            expected = "expected an id, a tab and a text on every line, or CSV named id,text"
            raise InputError(source.name, number, "no tab", expected)


def _title_and_text(values: Mapping[str, Any]) -> str:
    """Return the title, if there is one, and the text of a record."""
    names = find(values, _TITLE), find(values, _TEXT)
    texts = [values[name] for name in names if name is not None and isinstance(values[name], str)]
    return "\n".join(filter(None, texts))


_HALVES = re.compile("[\ud800-\udc7f\udd00-\udfff]")  # other surrogates: bytes that are not UTF-8

# By column, then by query.
QueryLabels = Mapping[str, Mapping[bytes, str]]


def read_query_labels(path: str) -> QueryLabels:
    """Read one or more labels of each query, such as its language.

    A record has the query's id, and labels under other names; columns without names hold the id
    and labels. Empty labels are skipped.

    Raises `InputError` with the line for a malformed record, and for a file without labels, and
    `DataError` if a query has two records.
    """
    labels: dict[str, dict[bytes, str]] = {}
    lines: dict[str, int] = {}
    with Source(path) as source:
        for line, record in read_records(source, header="recognised"):
            name = query_column(tuple(record)) or ("1" if "1" in record else None)
            if name is None:
                expected = f"expected one, such as {QUERY_ID[1]}, beside its labels"
                raise InputError(path, line, f"no query's id in {shown_names(record)}", expected)
            query = _text_of(record.pop(name))
            if lines.setdefault(query, line) != line:
                raise DataError(
                    f"{path}:{line}: query {visible(query)} again, first labelled at line "
                    f"{lines[query]}; expected a line per query"
                )
            for column, label in record.items():
                if name == "1":  # columns without names
                    column = "label" if len(record) == 1 else f"label {int(column) - 1}"
                if text := _text_of(label):
                    of_queries = labels.setdefault(_text_of(column), {})
                    of_queries[query.encode("utf-8", "surrogateescape")] = text
    if not labels:
        raise InputError(path, None, "no label", "expected lines of a query and its labels")
    return labels


def _text_of(cell: Any) -> str:
    """Return a text without halves of surrogate pairs, which no output can encode."""
    return "" if cell is None else _HALVES.sub("\ufffd", str(cell).strip())
