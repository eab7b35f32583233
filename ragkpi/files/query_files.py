"""Files about single queries and documents: sizes, quality, preferences, gains, labels, texts.

A file of texts may be as large as a corpus, so it is read as a stream that keeps only wanted texts:
``id<TAB>text`` lines, JSON Lines (BEIR's ``corpus.jsonl``, MS MARCO's segments), parquet.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ragkpi.arrays import FloatArray, IntArray
from ragkpi.errors import DataError, InputError
from ragkpi.files.arrow import ArrowTable
from ragkpi.files.column_names import DOCUMENT, QUERY, RETRIEVED, find, shown_names
from ragkpi.files.formats import HEAD_LENGTH, Reading, is_number, reader_of
from ragkpi.files.lines import (
    LineShape,
    Tokens,
    blocks,
    read_table,
    refuse_invalid,
    scan,
    table_of,
    whole_text,
)
from ragkpi.files.opening import Source
from ragkpi.files.sieve import words_of
from ragkpi.files.trec import QrelsColumns, parse_numbers, plain_qrels, qrels_of, read_qrels
from ragkpi.wording import shown, visible

_SIZES = LineShape(("query", "size"), "refused", "first_column")


def read_corpus_sizes(path: str) -> dict[bytes, int]:
    """Read the size of the corpus for each query; `DataError` if a query has two sizes."""
    table = read_table(path, _SIZES)
    query, size_text = table.column(0), table.column(1)
    size = size_text.numbers()
    whole = (size >= 1) & (size < 2.0**53) & (size == np.floor(size))
    refuse_invalid(path, table.line, size_text, whole, "size", "expected a whole number from 1")
    sizes: dict[bytes, int] = {}
    for line, name, number in zip(table.line, query, size.astype(np.int64).tolist(), strict=True):
        if name in sizes:
            raise DataError(
                f"{path}:{line}: query {shown(name)} again; expected one size per query"
            )
        sizes[name] = number
    return sizes


_ONE_RUN = LineShape(("query", "score"), "refused", "first_column")
_SEVERAL = LineShape(("query", "run", "score"), "refused", "first_column")
_ANY = LineShape(("query", "score"), "ignored", "first_column")

# By run (None where the file names none), then by query.
Quality = Mapping[bytes | None, Mapping[bytes, float]]


def read_quality(path: str) -> Quality:
    """Read the quality of the response to each query.

    Lines have as many columns as the first line: query and score, or query, run and score.
    """
    with Source(path) as source:
        block = whole_text(source)
    if block is None:
        raise InputError(path, None, "is empty", "expected lines of query score")
    first = next((line for line in scan(block, _ANY).stop.tolist()), 0)
    words = block.text[:first].rsplit(b"\n", 1)[-1].split()
    shape = _SEVERAL if len(words) == 3 else _ONE_RUN
    table = scan(block, shape)
    if not len(table):
        raise InputError(path, None, "no scores", "expected lines of query score")
    query, *run, score_text = (table.column(number) for number in range(len(shape.columns)))
    score = score_text.numbers()
    refuse_invalid(path, table.line, score_text, np.isfinite(score), "score", "expected a number")
    runs: list[bytes | None] = list(run[0].tolist()) if run else [None] * len(score)
    by_run: dict[bytes | None, dict[bytes, float]] = {}
    rows = zip(table.line, query.tolist(), runs, score.tolist(), strict=True)
    for line, name, of, number in rows:
        scores = by_run.setdefault(of, {})
        if name in scores:
            per = "query and run" if run else "query"
            raise DataError(
                f"{path}:{line}: query {shown(name)} again; expected one score per {per}"
            )
        scores[name] = number
    return by_run


_NORMS = LineShape(("query", "measure", "mean", "deviation"), "refused", "first_column")


class Norm(NamedTuple):
    """The mean and the standard deviation of a measure for a query."""

    mean: float
    deviation: float


# By printed name of the value, then by query.
Norms = Mapping[bytes, Mapping[bytes, Norm]]


def read_zscores(path: str) -> Norms:
    """Read the mean and the standard deviation of measures for queries."""
    table = read_table(path, _NORMS)
    query, measure, *number_texts = map(table.column, range(4))
    numbers = []
    for name, text in zip(("mean", "deviation"), number_texts, strict=True):
        number = text.numbers()
        valid, expected = np.isfinite(number), "expected a decimal number"
        if name == "deviation":
            valid, expected = valid & (number >= 0), "expected a decimal number from 0"
        refuse_invalid(path, table.line, text, valid, name, expected)
        numbers.append(number.tolist())
    norms: dict[bytes, dict[bytes, Norm]] = {}
    for line, query_id, name, *norm in zip(
        table.line.tolist(), query.tolist(), measure.tolist(), *numbers, strict=True
    ):
        of_queries = norms.setdefault(name, {})
        if query_id in of_queries:
            again = f"{name.decode()} of query {query_id.decode()} again"
            raise InputError(path, line, again, "expected each measure once per query")
        of_queries[query_id] = Norm(*norm)
    return norms


LINE = LineShape(("query", "group", "subgroup", "document", "level"), "refused", "first_column")


@dataclass(frozen=True)
class PreferenceColumns:
    """Preference judgements as columns of n rows, in file order.

    Within a query, judgment group (an assessor) and sub-group, a document with a higher level is
    preferred over a document with a lower level. `line` is the physical line.
    """

    file: str
    query: Tokens
    group: Tokens
    subgroup: Tokens
    document: Tokens
    level: FloatArray
    line: IntArray


def read_preferences(path: str) -> PreferenceColumns:
    """Read `prefs`: query, judgment group, sub-group, document, level (a decimal number)."""
    table = read_table(path, LINE)
    query, group, subgroup, document, level_text = map(table.column, range(5))
    level = level_text.numbers()
    expected = "expected a decimal number such as 0, 1 or 2.5"
    refuse_invalid(path, table.line, level_text, np.isfinite(level), "level", expected)
    return PreferenceColumns(path, query, group, subgroup, document, level, table.line)


def read_qrels_preferences(path: str) -> PreferenceColumns:
    """Read `qrels_prefs`, in qrels format; each judgment group is one sub-group."""
    qrels = read_qrels(path)
    return PreferenceColumns(
        file=qrels.file,
        query=qrels.query,
        group=qrels.iteration,
        subgroup=Tokens.repeated(b"0", len(qrels.line)),
        document=qrels.document,
        level=qrels.level.astype(np.float64),
        line=qrels.line,
    )


_LINE = LineShape(("query", "document", "gain"), "refused", "first_column")
_JSON = b'{["'  # the first byte of JSON


def read_gains(path: str, reading: Reading | str | None = None) -> QrelsColumns:
    """Read lines of query, document and gain, or any format of qrels."""
    with Source(path) as source:
        line = source.peek(HEAD_LENGTH).lstrip().split(b"\n", 1)[0]
        words = line.split()
        if line[:1] in _JSON or b"," in line or len(words) != 3 or not is_number(words[2]):
            reader = reader_of("qrels", source, reading)
            return qrels_of(source, "gains") if reader.name == "trec" else reader.read(source)
        table = table_of(source, _LINE)
        query, document, text = map(table.column, range(3))
        level, gain = parse_numbers(source.name, text, table.line)
        return plain_qrels(source.name, query, document, level, table.line, gain)


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


def read_query_ids(path: str) -> dict[bytes, bytes]:
    """Read the ids of queries by id, by the words of their texts, and by place from 1.

    Raises `DataError` if two queries have one text.
    """
    ids: dict[bytes, bytes] = {}
    rows = list(_ids_and_texts(path))
    for id_, text in rows:
        words = words_of(text.encode("utf-8", "surrogateescape"))
        if ids.setdefault(words, id_) != id_:
            found = f"the text of query {shown(id_)} again, first of query {shown(ids[words])}"
            raise DataError(f"{path}: {found}; expected each text once")
    places = {b"%d" % place: id_ for place, (id_, _) in enumerate(rows, start=1)}
    return {**places, **ids, **{id_: id_ for id_, _ in rows}}


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
