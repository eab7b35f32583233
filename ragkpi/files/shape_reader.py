"""Read records of JSON, tables and quoted CSV by a shape into the columns of a run or qrels."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, islice, repeat
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ragkpi.arrays import FloatArray, IntArray
from ragkpi.errors import InputError, MapChoice, MissingPartError, RagkpiNote
from ragkpi.files import column_names as fields
from ragkpi.files.column_names import ORDER, is_score
from ragkpi.files.json_text import (
    JoinedPath,
    Keys,
    KeyTwiceError,
    Path,
    Repeated,
    all_octets,
    is_number,
    is_scalar,
    key_twice,
    kind_of,
    octets_of,
)
from ragkpi.files.lines import Tokens
from ragkpi.files.opening import Kind
from ragkpi.files.recogniser import Recognition
from ragkpi.files.roles import unsettled
from ragkpi.files.shapes import SHAPES, Shape, find_column, map_of, mapped, warn_of_order
from ragkpi.files.trec import (
    NONE,
    Origin,
    QrelsColumns,
    RunColumns,
    descending,
    parse_numbers,
    parse_scores,
    part_of,
    path_of,
    plain_qrels,
    refuse_empty,
    run_id_of,
)
from ragkpi.interface import spell
from ragkpi.wording import shown, visible

_ROWS_OF_A_BATCH = 1 << 16
_RECORDS_AT_ONCE = 1 << 10  # of one document each
_MOST_OTHERS = 50  # of numbers that are not read
_MOST_KEYS = 1000  # of documents in which numbers are looked for
_DEEPEST = 3  # objects in a document in which scores are looked for
_LONGEST_NUMBER = 40


class DocumentColumns(NamedTuple):
    """The documents of some queries, query behind query.

    Attributes
    ----------
    counts
        How many documents each query has.
    lines
        The physical line of each document, or of its record; in a file without lines, the row
        from 1.
    values
        The texts of the scores or of the judged levels.
    by_rank
        Whether the values are negative ranks, each at most once per query.
    origin, others
        As in `RunColumns`, with the texts of the numbers.
    """

    queries: list[bytes]
    counts: list[int]
    lines: list[int]
    documents: list[bytes]
    values: list[bytes]
    run_id: bytes = b""
    by_rank: bool = False
    origin: Origin = Origin()
    others: Mapping[str, list[bytes]] = NONE

    def rows(self, places: Sequence[int]) -> DocumentColumns:
        """Return some of the documents of the only query."""
        return self._replace(
            counts=[len(places)],
            lines=[self.lines[place] for place in places],
            documents=[self.documents[place] for place in places],
            values=[self.values[place] for place in places],
            others={map_: [of[place] for place in places] for map_, of in self.others.items()},
        )


def _columns_of(
    file: str, records: Sequence[DocumentColumns]
) -> tuple[Tokens, IntArray, Tokens, Tokens, IntArray]:
    """Gather the columns of records; refuse empty ids."""
    line, counts = (
        np.fromiter(chain.from_iterable(column), np.int64)
        for column in ([of.lines for of in records], [of.counts for of in records])
    )
    query, document, value = (
        Tokens.from_strings(chain.from_iterable(column))
        for column in zip(*((of.queries, of.documents, of.values) for of in records), strict=True)
    )
    refuse_empty(file, document, line, "document id")
    first = np.cumsum(counts) - counts
    refuse_empty(file, query, np.append(line, 0)[np.minimum(first, len(line) - 1)], "query id")
    return query, counts, document, value, line


def stream_documents(file: str, records: Iterable[DocumentColumns]) -> Iterator[RunColumns]:
    """Gather records into blocks of a run; without a single document there is no block."""
    batch: list[DocumentColumns] = []
    rows = last = 0
    for record in records:
        if rows >= _ROWS_OF_A_BATCH or (batch and batch[-1].origin != record.origin):
            yield _run_columns(file, batch)
            batch, rows, last = [], 0, rows
        batch.append(record)
        rows += len(record.documents)
    if rows or (last and batch):
        yield _run_columns(file, batch)


def _run_columns(file: str, records: Sequence[DocumentColumns]) -> RunColumns:
    query, counts, document, value, line = _columns_of(file, records)
    groups = query.changes()
    run_ids = (record.run_id for record in reversed(records) if record.run_id)
    by_rank = [record.by_rank for record in records]
    return RunColumns(
        file=file,
        query=query.take(groups[:-1]),
        starts=np.append(0, np.cumsum(counts))[groups],
        document=document,
        score=parse_scores(file, value, line),
        line=line,
        run_id=next(run_ids, b"") or run_id_of(file),
        by_rank=np.repeat(by_rank, [len(record.documents) for record in records]),
        origin=records[0].origin,
        others=_others_of(records),
    )


def _others_of(records: Sequence[DocumentColumns]) -> dict[str, FloatArray]:
    """Gather the numbers that are not read; NaN where a document has none."""
    maps = dict.fromkeys(chain.from_iterable(record.others for record in records))
    return {
        map_: Tokens.from_strings(
            chain.from_iterable(
                record.others.get(map_) or [b""] * len(record.documents) for record in records
            )
        ).numbers()
        for map_ in islice(maps, _MOST_OTHERS)
    }


def collect_qrels(file: str, records: Iterable[DocumentColumns]) -> QrelsColumns:
    """Gather the records of qrels into columns; `InputError` if there are none."""
    judged = list(records)
    if not any(record.documents for record in judged):
        raise InputError(file, None, "holds no judgements", "expected qrels of at least one")
    query, counts, document, value, line = _columns_of(file, judged)
    level, gain = parse_numbers(file, value, line, truth=True)
    of_rows = query.take(np.repeat(np.arange(len(query)), counts))
    columns = plain_qrels(file, of_rows, document, level, line, gain, judged[0].origin)
    return columns._replace(empty=query.take(counts == 0).tolist())


class Record(NamedTuple):
    """A record of a file.

    `line` is its first line, `lines` are the lines of its keys if they differ. `key` is its own
    key in the enclosing object, `number` counts from 1.
    """

    line: int
    value: Any
    key: str | None = None
    lines: Sequence[int] = ()
    number: int = 1

    def line_of(self, item: int) -> int:
        """Return the line of one of its documents."""
        return self.lines[item] if item < len(self.lines) else self.line


class Records(NamedTuple):
    """Neighbouring records of a file as columns; the first one has a number from 1."""

    number: int
    lines: Sequence[int]
    values: Sequence[Any]
    keys: Sequence[str | None]
    lines_of_keys: Sequence[Sequence[int]]

    @classmethod
    def of(cls, number: int, records: Sequence[Record]) -> Records:
        lines, values, keys, lines_of_keys, _ = zip(*records, strict=True)
        return cls(number, lines, values, keys, lines_of_keys)

    def record(self, place: int) -> Record:
        lines = self.lines_of_keys[place] if self.lines_of_keys else ()
        number = self.number + place
        return Record(self.lines[place], self.values[place], self.keys[place], lines, number)

    def each(self) -> Iterator[Record]:
        return map(self.record, range(len(self.values)))


class Items(NamedTuple):
    """Documents: the key of each, if it has one, its value, and the keys that all values have."""

    keys: Sequence[Any]
    values: Sequence[Any]
    layout: Keys | None

    @property
    def pairs(self) -> list[tuple[Any, Any]]:
        return list(zip(self.keys, self.values, strict=True))

    @classmethod
    def of(cls, keys: Sequence[Any], values: Sequence[Any]) -> Items:
        return cls(keys, values, shared_keys(values))


# Scores or levels, whether the scores are negative ranks, and the map that says what they are.
_Numbers: TypeAlias = "tuple[list[bytes], bool, str]"


def shared_keys(values: Sequence[Any]) -> Keys | None:
    """Return the keys of objects if all have the same keys, else None."""
    if set(map(type, values)) != {dict}:
        return None
    layouts = set(map(tuple, values))
    return layouts.pop() if len(layouts) == 1 else None


def _dotted(keys: Keys | None) -> str:
    return shown(".".join(keys or ()))


def _decimal(value: Any) -> bytes:
    """Return the text of a number; empty for anything else."""
    text = value if isinstance(value, str) else repr(value) if is_scalar(value) else ""
    number = len(text) <= _LONGEST_NUMBER and text.isascii() and text.strip("+-.")[:1].isdigit()
    return text.encode() if number else b""


def _dotted_keys(path: Path, items: Items) -> str:
    """Return the keys that lead to the number of the first document."""
    keys = path.first(items.values[0], items.keys[0])[1] if items.values else None
    return "@number" if keys is None else ".".join(keys) or "@value"


def no_object(file: str, line: int) -> InputError:
    """Return the error for a record that is not a JSON object."""
    return InputError(
        file, line, "no JSON object", "expected an object with a query and its documents"
    )


def lacking(
    file: str, shape: Shape, record: Record, part: str, fault: str | None = None
) -> MissingPartError:
    """Return the error for a record without a part, with its keys and how to map one."""
    path = getattr(shape, part)
    if part == "list" and (numbers := _listed_numbers(record.value)):
        expected = 'expected {"query": ["document", …]}; for places, the ids that stand there'
        return MissingPartError(file, record.line, f"lists numbers, not ids ({numbers})", expected)
    if part == "doc" and isinstance(record.value, dict) and is_number(record.value.get("index")):
        fault = "an index instead of an id"  # of Cohere, Jina and Voyage
        expected = "expected the id of the document that stood there among those sent"
        return MissingPartError(file, record.line, fault, expected)
    advice = f"or {spell(f'map_{shape.kind}', f'{part}=…')}"
    value, at = Path(path.removeprefix("@value|")).first(record.value, record.key)
    if at and (part == "list" or not isinstance(value, str)):  # the key is there
        what = {"list": "a list of documents", "level": "a number"}.get(part, "an id")
        expected = f"expected {what} there, {advice}"
        return MissingPartError(file, record.line, f"{_dotted(at)} is {kind_of(value)}", expected)
    keys = fields.shown_names(record.value) if isinstance(record.value, dict) else "no keys"
    expected = f"one of {' '.join(_wanted_names(path)[: fields.MOST_NAMES])}, {advice}"
    if shape.name == "recognised" and record.number > 1 and part in ("list", "query"):
        expected = f"{part}={path}, as in the records before it"
    return MissingPartError(
        file,
        record.line,
        f"{fault or f'no {part}'} (keys: {keys})",
        f"expected {expected}",
    )


def _listed_numbers(value: Any) -> str:
    """Return some numbers of a record whose lists hold nothing else; "" for other records."""
    lists = [one for one in (value.values() if isinstance(value, dict) else [value]) if one]
    lists = [one for one in lists if isinstance(one, list)]
    flat = [one for some in lists for one in (some[0] if isinstance(some[0], list) else some)]
    return ", ".join(map(str, flat[:3])) if all(map(is_number, flat)) else ""


def _wanted_names(path: str) -> list[str]:
    """Return the key names that a path accepts, for a message."""
    names: dict[str, None] = {}
    for alternative in path.split("|"):
        if "<list>[" not in alternative and "." not in alternative and alternative != "@value":
            names.update(dict.fromkeys(fields.NAMES.get(alternative, (alternative,))))
    return list(names) or [path]


class ShapeReader:
    """Reads the records of a file by a shape."""

    def __init__(self, shape: Shape, file: str) -> None:
        self.shape = shape
        self._file = file
        self._query, self._run = Path(shape.query), Path(shape.run_id)
        self._query_inside = Path("|".join(of for of in shape.query.split("|") if "[]." in of))
        self._doc = JoinedPath(shape.doc) if "{" in shape.doc else Path(shape.doc)
        self._list = Path(shape.list)
        # A level may be true or false instead of a number.
        self._value = Path(shape.score or shape.level)
        self._rank, self._scores = Path(shape.rank), Path(shape.scores)
        self._warned = False
        self._documents_at = shape.records + shape.list
        # The keys of the first record's score and rank, in files with one document per record.
        self._first_keys: dict[str, Keys | None] = {}
        self._objects = shape.doc.startswith("@key")
        # Whether lists can be read many at a time, and have been so far.
        by_place = self._objects or shape.scores or "@number" in shape.score + shape.rank
        self._alike = shape.repeated == "refused" and not by_place
        # Whether a record may have a query and a relevant document, and nothing else.
        self._pairs = not shape.list and shape.level == "<level>"
        # Whether numbers that are not read must agree with those that are.
        self._compares = shape.kind == "run" and not shape.says_order and not self._objects

    def read(self, records: Iterable[Record]) -> Iterator[DocumentColumns]:
        """Yield the documents of each query; `InputError` with the keys of a record without any.

        Records of one document each are read many at a time.
        """
        records, number = iter(records), 1
        while some := list(islice(records, 1 if self.shape.list else _RECORDS_AT_ONCE)):
            yield from self.read_together(Records.of(number, some))
            number += len(some)

    def read_together(self, records: Records) -> Iterator[DocumentColumns]:
        """Yield the documents of records: of all at once if they are alike, else one by one."""
        columns = None
        if len(records.values) > 1 and (self._alike or not self.shape.list):
            # Raised again with the line of the record, which documents of many lists do not have.
            with suppress(KeyTwiceError, *([InputError] if self.shape.list else [])):
                columns = self._columns(records)
            self._alike = columns is not None
        if columns is not None:
            yield columns
            return
        for record in records.each():
            try:
                columns = self._columns(Records.of(record.number, [record]))
            except KeyTwiceError as problem:
                expected = "expected each key once"
                raise InputError(self._file, record.line, str(problem), expected) from None
            assert columns is not None
            yield self._without_repeated(columns) if self.shape.repeated == "dropped" else columns

    def _columns(self, records: Records) -> DocumentColumns | None:
        """Read records; None for several lists, unless all documents have the same keys."""
        first, name, counts = records.record(0), "", [1] * len(records.values)
        items, lines = Items.of(records.keys, records.values), records.lines
        several = self.shape.list and len(counts) > 1
        if self.shape.list:
            names, keys, lists = zip(*map(self._entries, records.each()), strict=True)
            name, counts = names[0], list(map(len, lists))
            items = Items.of(*(list(chain.from_iterable(column)) for column in (keys, lists)))
            lines = first.lines or list(chain.from_iterable(map(repeat, records.lines, counts)))
        for record in () if items.layout or self.shape.list else records.each():
            self._refuse(record)
        queries = self._queries(records)
        columns = self._numbered(first._replace(lines=lines), name, items)
        if several and (items.layout is None or columns.origin.map == ORDER):
            return None
        if records.number == 1:
            alone = columns.documents[: counts[0] if self.shape.list else None]
            self._refuse_fractions(first, alone)
        run_id = self._run_of(records.record(-1))
        return columns._replace(queries=queries, counts=counts, run_id=run_id)

    def _without_repeated(self, columns: DocumentColumns) -> DocumentColumns:
        """Keep the first of equal documents; two levels are refused later, as in every format."""
        levels = columns.values if self.shape.kind == "qrels" else [b""] * len(columns.values)
        first: dict[tuple[bytes, bytes], int] = {}
        for place, pair in enumerate(zip(columns.documents, levels, strict=True)):
            first.setdefault(pair, place)
        return columns.rows(list(first.values()))

    def _queries(self, records: Records) -> list[bytes]:
        layout = shared_keys(records.values)
        queries = None if self._query_inside else self._query.octets(records.values, layout)
        return queries or list(map(self._query_of, records.each()))

    def _run_of(self, record: Record) -> bytes:
        tag = None if self._objects else self._run.scalar(record.value)
        return b"" if tag is None else octets_of(tag, self._file, record.line, "run id")

    def _refuse(self, record: Record) -> None:
        """Refuse a record that is no object, and one with a key twice."""
        if not isinstance(record.value, dict | list):
            raise self._no_object(record)
        if isinstance(record.value, Repeated) and self.shape.list != "@value":
            raise key_twice(self._file, record.line, record.value.twice())

    def _numbered(self, record: Record, name: str, items: Items) -> DocumentColumns:
        """Return documents with their numbers, and without a query."""
        documents = self._documents(record, name, items)
        values, by_rank, map_ = self._numbers(record, items)
        others = self._others(items.values, items.layout, map_)
        others |= self._lists_beside(record.value, len(documents)) if map_ == ORDER else {}
        if not self._documents_at:
            find_column(self.shape, "level", list(record.value), self._file, record.line)
            self._documents_at = _dotted_keys(self._doc, items)
        as_many = len(record.lines) == len(documents)
        lines = list(record.lines) if as_many else [record.line] * len(documents)
        origin = Origin(self._documents_at, map_)
        return DocumentColumns([], [], lines, documents, values, b"", by_rank, origin, others)

    def _entries(self, record: Record) -> tuple[str, Sequence[Any], Sequence[Any]]:
        """Return the name of the list of documents in a record, its keys and its values."""
        self._refuse(record)
        value = record.value
        if self._objects and isinstance(value, dict) and self.shape.query in value:  # a matrix
            value = {
                key: one
                for key, one in value.items()
                if key != self.shape.query and one not in ("", None)
            }
        listed = self._list.listed(value, record.key, self._objects)
        if listed is None:
            by_place = self.shape.list[:1].isdigit()
            is_array = isinstance(value, list) and not by_place and not _listed_numbers(value)
            if self._objects or is_array:
                raise self._no_object(record)
            raise lacking(self._file, self.shape, record, "list", "no list of documents")
        return listed

    def _others(
        self, documents: Sequence[Any], layout: Keys | None, map_: str, above: str = ""
    ) -> dict[str, list[bytes]]:
        """Return the texts of the numbers that are not read but could order the documents.

        Beside a score these are in the same object, without any scores are looked for inside, too.
        """
        scored = path_of(map_) if part_of(map_) in fields.SCORE_PARTS.values() else None
        keys = layout or chain.from_iterable(item for item in documents if isinstance(item, dict))
        names = tuple(islice(dict.fromkeys(keys), _MOST_KEYS)) if self._compares else ()
        may_order = fields.may_order(names, scored and scored.removeprefix(above))
        others: dict[str, list[bytes]] = {}
        for name in names:
            path = f"{above}{name}"
            wraps = above.count(".") < _DEEPEST and (not scored or scored.startswith(f"{path}."))
            orders = name in may_order and (not above or is_score(path)) and path != self.shape.doc
            if not wraps and not orders:
                continue
            values = [item.get(name) if isinstance(item, dict) else None for item in documents]
            if wraps and any(isinstance(value, dict) for value in values):
                others |= self._others(values, None, map_, f"{path}.")
            all_texts = all_octets(values) if orders and _decimal(values[0]) else None
            if all_texts and b"n" in b"".join(all_texts).lower():  # nan, inf: no decimals
                all_texts = None
            if orders and any(texts := all_texts or list(map(_decimal, values))):
                others[map_of(path)] = texts
        return others

    def _lists_beside(self, record: Any, count: int) -> dict[str, list[bytes]]:
        """Return lists of as many scores beside a list of documents."""
        beside = record.items() if isinstance(record, dict) and self.shape.list else ()
        return {
            f"scores={name}": list(map(_decimal, values))
            for name, values in (beside if self._compares else ())
            if isinstance(values, list) and len(values) == count and is_score(name)
        }

    def _query_of(self, record: Record) -> bytes:
        value = self._query.scalar(record.value, record.key, record.number)
        if value is None:
            value = self._query.any_value(record.value, record.key, record.number)
            if value is None or isinstance(value, dict | list):
                raise lacking(self._file, self.shape, record, "query", "no query id")
        if len(several := dict.fromkeys(self._query_inside.scalars(record.value))) > 1:
            fault = f"one list of several queries ({fields.shown_names(map(str, several))})"
            expected = "expected a list for each query, or an array of its elements alone"
            raise InputError(self._file, record.line, fault, expected)
        name: str | None = None
        if not isinstance(value, str) and isinstance(record.value, dict) and not self.shape.records:
            name = fields.find_one(self._file, record.line, list(record.value), fields.QUERY)
        return octets_of(value, self._file, record.line, name or "query id")

    def _documents(self, record: Record, name: str, items: Items) -> list[bytes]:
        documents = None
        if self.shape.doc == "@key":
            documents = all_octets(items.keys)
        elif self.shape.doc != "@value" or not self._refuses_texts(name):
            documents = self._doc.octets(items.values, items.layout)
        return documents or [
            self._document(record, record.line_of(number), name, *item)
            for number, item in enumerate(items.pairs)
        ]

    def _refuse_fractions(self, record: Record, documents: Sequence[bytes]) -> None:
        """Refuse ids that pandas wrote as 1.0 and 2.0, unless a map names them."""
        of_pandas = all(re.fullmatch(rb"\d+\.0", id_) for id_ in documents)
        if documents and of_pandas and "doc" not in self.shape.required:
            fault = f"ids are numbers with a fraction, such as {documents[0].decode()}"
            path = self.shape.doc if "<" not in self.shape.doc else "…"
            expected = f"expected texts, or {spell('map_' + self.shape.kind, f'doc={path}')}"
            raise InputError(self._file, record.line, fault, expected)

    def _refuses_texts(self, name: str) -> bool:
        """Whether texts may stand where a list has ids: no map and no name says ids."""
        return "doc" not in self.shape.required and not name.endswith(("ids", "Ids"))

    def _document(self, record: Record, line: int, name: str, key: Any, item: Any) -> bytes:
        value = self._doc.scalar(item, key)
        if value is None and item is not None and not isinstance(item, bool | list):
            record = record._replace(value=item, line=line)
            raise lacking(self._file, self.shape, record, "doc", "a document without an id")
        if value is None:
            value = item  # `octets_of` refuses it
        octets = octets_of(value, self._file, line, "document id")
        if value is not item or not self._refuses_texts(name):
            return octets
        if fields.plain_name(name) in fields.TEXTS or len(octets.split()) != 1:
            if re.match(rb"\w+(=|\(\w+=)", octets):
                fault = f"{name} lists objects as Python prints them ({shown(octets)})"
                expected = "expected JSON of each, such as its model_dump() or to_dict()"
                raise InputError(self._file, line, fault, expected)
            raise MissingPartError(
                self._file,
                line,
                f"{name} lists texts, not ids ({shown(octets)})",
                "expected ids of documents, or where to find them: "
                f"{spell(f'map_{self.shape.kind}', 'list=…, doc=…')}",
            )
        return octets

    def _numbers(self, record: Record, items: Items) -> _Numbers:
        """Return the texts of the scores or levels of documents, and of their ranks."""
        if self.shape.kind == "run":
            return self._scores_of(record, items)
        levels = self._value.octets(items.values, items.layout)
        if levels is None:
            self._refuse_levels_beside(record, items)
            levels = [
                self._level(record, record.line_of(number), *item)
                for number, item in enumerate(items.pairs)
            ]
        return levels, False, f"level={_dotted_keys(self._value, items)}"

    def _refuse_levels_beside(self, record: Record, items: Items) -> None:
        """Refuse a list of levels beside a list of ids, all of which would have level 1."""
        if self.shape.required or not self.shape.list or not isinstance(record.value, dict):
            return
        for name, values in record.value.items():
            plain = fields.plain_name(name)
            of_levels = plain in fields.LEVEL or plain.removesuffix("s") in fields.LEVEL
            if not (of_levels and isinstance(values, list) and len(values) == len(items.values)):
                continue
            if any(v is False or _decimal(v) not in (b"", b"1", b"1.0") for v in values):
                fault = f"{shown(name)} is a list of levels beside the documents"
                expected = 'expected each level with its document: {"doc_id": …, "level": …}'
                raise InputError(self._file, record.line, fault, expected)

    def _level(self, record: Record, line: int, key: Any, item: Any) -> bytes:
        if not self.shape.level:
            return b"1"
        value = self._value.any_value(item, key)
        if value is None and self.shape.level != "@value":
            bare = self._value.first(item, key)[1] is None and (
                self.shape.unlevelled == "relevant"
                or (self._pairs and isinstance(item, dict) and len(item) == 2)
            )
            if "level" not in self.shape.required and (bare or not isinstance(item, dict)):
                return b"1"  # an id in a list of relevant documents, or no level in a map
            raise lacking(self._file, self.shape, record._replace(value=item, line=line), "level")
        if isinstance(value, bool):
            return b"1" if value else b"0"
        return octets_of(value, self._file, line, "a document's number")

    def _scores_of(self, record: Record, items: Items) -> _Numbers:
        file, line = self._file, record.line
        beside = self._scores.listed(record.value) if self._scores else None
        if beside is None and "scores" in self.shape.required:
            raise lacking(file, self.shape, record, "scores")
        if beside is not None:
            if len(beside[1]) != len(items.values):
                fault = f"{len(beside[1])} scores for {len(items.values)} documents"
                raise InputError(file, line, fault, "expected a score for each")
            values = beside[2]
            keys = [None if value is None else () for value in values]
            scores = self._texts(record, values, keys, "score") if values else []
        else:
            scores = self._all_or_none(record, self._value, items, "score")
        ranks: list[bytes] = []
        if not scores or "rank" in self.shape.required:
            ranks = self._all_or_none(record, self._rank, items, "rank")
        for part, texts in (("score", scores), ("rank", ranks)):
            if part in self.shape.required and items.values and not texts:
                raise lacking(file, self.shape, record._replace(value=items.values[0]), part)
        if beside is not None:
            return scores, False, f"scores={self._scores.text}"
        if scores:
            return scores, False, self.shape.score_map(_dotted_keys(self._value, items))
        if ranks:
            lines = map(record.line_of, range(len(ranks)))
            descents = [descending(file, at, rank) for at, rank in zip(lines, ranks, strict=True)]
            return descents, True, f"rank={_dotted_keys(self._rank, items)}"
        if not self.shape.list and not self._warned:
            names = list(record.value) if isinstance(record.value, dict) else []
            warn_of_order(file, names, self.shape)
            self._warned = True
        places = range(begin := self._begin(record), begin + len(items.values))
        return [b"-%d" % place for place in places], bool(self.shape.list), ORDER

    def _begin(self, record: Record) -> int:
        """Return the number of the first document: its place in a list, or its record's."""
        return 1 if self.shape.list else record.number

    def _all_or_none(self, record: Record, path: Path, items: Items, what: str) -> list[bytes]:
        """Return the scores or ranks of documents, all under the same keys; [] without any."""
        layout = items.layout
        if not items.values:
            return []
        path.first(items.values[0])
        name = path.name_in(layout)
        keys: Keys | None = None if path.lacks(layout) else () if name is None else (name,)
        texts = path.octets(items.values, layout) if keys is not None else []
        if texts is not None:
            self._refuse_some(record, [keys], what)
            return texts
        numbers = [
            path.first(item, key, number)
            for number, (key, item) in enumerate(items.pairs, self._begin(record))
        ]
        return self._texts(
            record,
            [value for value, _ in numbers],
            # In a list, null says that there is none.
            [None if value is None and of and self.shape.list else of for value, of in numbers],
            what,
        )

    def _texts(
        self, record: Record, values: Sequence[Any], keys: Sequence[Keys | None], what: str
    ) -> list[bytes]:
        """Return the texts of values under keys; [] if there are none."""
        if self._refuse_some(record, keys, what) is None:
            return []
        return all_octets(values) or [
            octets_of(value, self._file, record.line_of(place), what)
            for place, value in enumerate(values)
        ]

    def _refuse_some(self, record: Record, keys: Sequence[Keys | None], what: str) -> Keys | None:
        """Return the keys of the first number, None without one.

        `InputError` if another document has none or others: the rest could not be ranked.
        """

        def name_of(of: Keys | None) -> str:
            return f"no {what}" if of is None else f"a {what} under {_dotted(of or ('@value',))}"

        first = keys[0] if self.shape.list else self._first_keys.setdefault(what, keys[0])
        for place, other in enumerate(keys):
            if other != first:
                number = place + self._begin(record)
                fault = f"document {number} has {name_of(other)}, the first one {name_of(first)}"
                expected = f"expected a {what} for all or for none, under one key"
                expected += f"; {spell('map_run', ORDER)} takes the order of the file" * (
                    what == "score"
                )
                raise InputError(self._file, record.line_of(place), fault, expected)
        return first

    def _no_object(self, record: Record) -> InputError:
        if record.key is None:
            return no_object(self._file, record.line)
        expected = 'expected {"query": {"document": number, …}, …} or an array of results'
        return InputError(self._file, record.line, f"no object under {shown(record.key)}", expected)


def _unsettled_parts(readings: Sequence[Recognition]) -> str:
    """Return which parts of a map no name settles, or which names claim the same part."""
    parts = list(dict.fromkeys(part for one in readings for part in one.guesses))
    paths = [list(dict.fromkeys(one.map.get(part, "") for one in readings)) for part in parts]
    documents = (*fields.DOCUMENT, "id")
    names_of_parts = {"query": ("query", fields.QUERY_ID), "doc": ("document", documents)}
    claims = []
    for part, some in zip(parts, paths, strict=True):
        what, names = names_of_parts.get(part, ("", ()))
        if len(some) > 1 and len(fields.rivals(some, names)) == len(some):
            claims.append(f"its {' and '.join(some)} differ, and each names the {what}")
    if claims and len(claims) == len(parts):
        return "; ".join(claims)
    return f"its {' and '.join(parts) or 'list'} can be guessed, but no known name says so"


def shape_for(
    kind: Kind,
    file: str,
    user: Shape | None,
    readings_of: Callable[[Mapping[str, str]], Sequence[Recognition]],
    fallback: Shape,
) -> Shape:
    """Return the shape that a user maps or that names settle, with a note what is read as what.

    A shape with all parts is the answer. Else `readings_of` gives readings from the parts of a
    user's map; without any, the `fallback` says what is missing. `UnsettledError` if a part is a
    guess.
    """
    if user is not None and user.given is None:
        return user
    readings = readings_of({} if user is None else user.given or {})
    if not readings:
        return user or fallback
    first = readings[0]
    if not first.is_settled or len(readings) > 1:
        maps = [MapChoice(one.text, one.choice, one.fold) for one in readings]
        raise unsettled(kind, file, _unsettled_parts(readings), maps)
    shape = mapped(first.map, kind)._replace(name="recognised", required=())
    if user is None and not first.is_plain:
        warnings.warn(f"{file}: read as: {visible(first.text)}", RagkpiNote, stacklevel=2)
    numbered = not first.map.keys().isdisjoint((*fields.SCORE_PARTS.values(), "scores"))
    joins = "[]" in shape.list and not numbered
    dropped = shape.list and (joins or (kind == "qrels" and shape.doc != "@key"))
    last = fields.plain_name(shape.list.rpartition(".")[2])
    graded = user is None and (not shape.list or last in fields.GRADED)
    if graded or "level" in first.map:
        shape = shape._replace(unlevelled="refused")
    if "rank" in first.map and not (user and "rank" in user.required):
        # A score that is no number is refused, not passed over.
        shape = shape._replace(score=SHAPES[kind]["lists"].score)
    return shape._replace(
        repeated="dropped" if dropped else "refused",
        required=user.required if user else (),
    )
