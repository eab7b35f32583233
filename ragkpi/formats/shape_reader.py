"""Read the documents of records, as a shape says."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from ragkpi.errors import InputError
from ragkpi.formats import column_names as fields
from ragkpi.formats.json_text import count_keys, has_more_keys, key_twice, octets_of
from ragkpi.formats.paths import KeyTwiceError, Path, Repeated
from ragkpi.formats.record_numbers import NumberReader, Record, lacking, no_object
from ragkpi.formats.rows import Listed
from ragkpi.formats.shape import Shape
from ragkpi.interface import option
from ragkpi.wording import shown

# Ids of documents, scores or levels, and ranks.
_Columns: TypeAlias = "tuple[list[bytes], Sequence[bytes | float], list[bytes]]"


class ShapeReader:
    """Reads the records of a file by a shape."""

    def __init__(self, shape: Shape, file: str) -> None:
        self.shape = shape
        self._file = file
        self._query, self._doc, self._run = Path(shape.query), Path(shape.doc), Path(shape.run_id)
        self._list = Path(shape.list)
        self._numbers = NumberReader(shape, file)
        self._value, self._rank = self._numbers.value, self._numbers.rank
        self._objects = shape.doc.startswith("@key")
        self._option = option(f"map_{shape.kind}")

    def fits(self, record: Any, key: str | None = None) -> Literal["yes", "empty", "no"]:
        """Whether a record has this shape, by its keys and lists; "empty" if its list is empty."""
        try:
            if any(Path(name).any_value(record) is None for name in self._needed()):
                return "no"
            if self._query.scalar(record, key, 1) is None:
                return "no"
            if not self._list:
                found = self._doc.scalar(record, key) is not None and (
                    self.shape.kind == "run" or self._value.any_value(record) is not None
                )
                return "yes" if found else "no"
            listed = self._list.listed(record, key, self._objects)
            if listed is None:
                return "no"
            if not listed[1]:
                return "empty"
            name, item = listed[1][0]
            if self._objects and (self.shape.score or self.shape.level) == "@value":
                return "no" if name is None or isinstance(item, dict | list) else "yes"
            return "no" if self._doc.scalar(item, name) is None else "yes"
        except KeyTwiceError:
            return "no"

    def _needed(self) -> Sequence[str]:
        return () if self.shape.records else self.shape.needs

    def listed(self, record: Record) -> Listed:
        """Return the documents of a record.

        Raises `InputError` with the line, and the keys of the record, for one without.
        """
        quick = self._listed_quickly(record)
        if quick is not None:
            return quick
        record = record.exactly(self._file)
        file, line = self._file, record.line
        try:
            if not isinstance(record.value, dict | list) or (
                isinstance(record.value, list) and self.shape.list != "@value"
            ):
                raise self._no_object(record)
            if isinstance(record.value, Repeated) and self.shape.list != "@value":
                raise key_twice(file, line, record.value.twice())
            name, items = self._items(record)
            query = self._query_of(record)
            listed = self._of_items(record, query, name, items)
        except KeyTwiceError as problem:
            raise InputError(file, line, str(problem), "expected each key once") from None
        return listed

    def _items(self, record: Record) -> tuple[str, list[tuple[Any, Any]]]:
        if not self._list:
            return "", [(record.key, record.value)]
        listed = self._list.listed(record.value, record.key, self._objects)
        if listed is None:
            if self.shape.name == "object":
                raise self._no_object(record)
            raise lacking(self._file, self.shape, record, "list", "no list of documents")
        return listed

    def _of_items(
        self, record: Record, query: bytes, name: str, items: list[tuple[Any, Any]]
    ) -> Listed:
        lines: int | list[int] = record.line
        if record.lines and len(record.lines) == len(items):
            lines = list(record.lines)
        documents = [
            self._document(record, number, name, key, item)
            for number, (key, item) in enumerate(items)
        ]
        values, ranks, by_rank = self._numbers.of(record, items)
        if self.shape.repeated == "dropped" and len(set(documents)) < len(documents):
            # A document with two levels stays twice, and is refused as in every format.
            levels = values if self.shape.kind == "qrels" else [b""] * len(values)
            judged = list(zip(documents, levels, strict=True))
            first = {pair: place for place, pair in reversed(list(enumerate(judged)))}
            kept = sorted(first.values())
            documents = [documents[place] for place in kept]
            values = [values[place] for place in kept]
            ranks = [ranks[place] for place in kept] if ranks else []
            lines = [lines[place] for place in kept] if isinstance(lines, list) else lines
        return Listed(lines, query, documents, values, ranks, self._run_id(record), by_rank)

    def _run_id(self, record: Record) -> bytes:
        tag = None if self._objects else self._run.scalar(record.value)
        return b"" if tag is None else octets_of(tag, self._file, record.line, "run id")

    def _listed_quickly(self, record: Record) -> Listed | None:
        """Read the two usual forms: an object of documents and numbers, or a list of objects.

        None for anything unusual, which is then read item by item, with the same result.
        """
        value = record.value
        if not self._list or type(value) not in (dict, list):
            return None
        try:
            found = self._list.listed(value, record.key, self._objects)
            query = self._query.scalar(value, record.key, record.number)
            run_id = None if self._objects else self._run.scalar(value)
            if found is None or not isinstance(query, str) or isinstance(run_id, float):
                return None
            items = [item for _, item in found[1]]
            if self._objects:
                if self.shape.query != "@key" or (self.shape.score or self.shape.level) != "@value":
                    return None
                columns, keys = self._texts(list(value), items, []), len(items)
            else:
                columns = self._columns(items)
                keys = len(items) * len(items[0]) if columns is not None else 0
                if value != items:
                    name = found[0]
                    if type(value) is not dict or value.get(name) != items:
                        return None
                    keys += count_keys({**value, name: None})
        except (KeyTwiceError, RecursionError):
            return None
        if columns is None or (record.text and has_more_keys(record.text, keys)):
            return None
        lines = list(record.lines) if len(record.lines) == len(items) else record.line
        return Listed(lines, self._query_of(record), *columns, self._run_id(record))

    def _columns(self, items: Sequence[Any]) -> _Columns | None:
        """Return ids, numbers and ranks of documents, from objects that have the same keys.

        None where the keys of these are not known yet, or for anything unusual.
        """
        if (
            not items
            or type(items[0]) is not dict
            or self.shape.scores
            or self.shape.repeated != "refused"
            or "rank" in self.shape.required
        ):
            return None
        layout = tuple(items[0])
        doc, value = self._doc.name_in(layout), self._value.name_in(layout)
        rank = None if self._rank.lacks(layout) else self._rank.name_in(layout)
        if doc is None or value is None or (rank is None and not self._rank.lacks(layout)):
            return None
        one_each = self.shape.kind == "run" and not self._list
        if one_each and not self._numbers.are_as_first(value, rank):
            return None
        if set(map(type, items)) != {dict} or set(map(tuple, items)) != {layout}:
            return None
        ranks = [] if rank is None else [item[rank] for item in items]
        return self._texts([item[doc] for item in items], [item[value] for item in items], ranks)

    def _texts(
        self, documents: Sequence[Any], numbers: Sequence[Any], ranks: Sequence[Any]
    ) -> _Columns | None:
        """Return ids and numbers as texts, scores perhaps as floats; None for other values."""
        kinds = set(map(type, numbers))
        values: Sequence[bytes | float] | None = None
        if float not in kinds:
            values = _octets(numbers)
        elif kinds == {float} and self.shape.kind == "run":
            values = numbers
        elif self.shape.kind == "run":
            values = _octets([repr(score) if type(score) is float else score for score in numbers])
        ids, rank_texts = _octets(documents), _octets(ranks)
        if ids is None or values is None or rank_texts is None:
            return None
        return ids, values, rank_texts

    def flat(self, records: Sequence[Record]) -> list[Listed]:
        """Return the documents of records of one document each, neighbours of a query together."""
        values = [record.value for record in records]
        columns = self._columns(values)
        name = self._query.name_in(tuple(values[0])) if columns is not None else None
        queries = None if name is None else _octets([value[name] for value in values])
        if (
            columns is None
            or queries is None
            or not self._run.lacks(tuple(values[0]))
            or any(has_more_keys(record.text, len(values[0])) for record in records)
        ):
            return [self.listed(record) for record in records]
        documents, numbers, ranks = columns
        listed, start = [], 0
        for query, same in itertools.groupby(queries):
            part = slice(start, start + len(list(same)))
            lines = [record.line for record in records[part]]
            listed.append(Listed(lines, query, documents[part], numbers[part], ranks[part]))
            start = part.stop
        return listed

    def _query_of(self, record: Record) -> bytes:
        value = self._query.scalar(record.value, record.key, record.number)
        if value is None:
            value = self._query.any_value(record.value, record.key, record.number)
            if value is None and self.shape.name == "rank_eval":
                raise InputError(
                    self._file,
                    record.line,
                    "a request of Elasticsearch's rank_eval without an id",
                    'expected "id" in each of the requests: the query as the run calls it',
                )
            if value is None or isinstance(value, dict | list):
                raise lacking(self._file, self.shape, record, "query", "no query id")
        plain = _octets([value])
        if plain is None:
            octets = octets_of(value, self._file, record.line, self._query_name(record))
        else:
            octets = plain[0]
        if self.shape.name == "lists" and len(octets.split()) > 1 and self._is_text(record, value):
            raise lacking(self._file, self.shape, record, "query", "no query id but a text")
        return octets

    def _query_name(self, record: Record) -> str:
        if isinstance(record.value, dict) and not self.shape.records:
            return (
                fields.find_one(self._file, record.line, list(record.value), fields.QUERY)
                or "query id"
            )
        return "query id"

    @staticmethod
    def _is_text(record: Record, value: Any) -> bool:
        return any(record.value.get(name) == value for name in ("query", "topic"))

    def _document(self, record: Record, number: int, name: str, key: Any, item: Any) -> bytes:
        line = record.lines[number] if number < len(record.lines) else record.line
        value = self._doc.scalar(item, key)
        if value is None and item is not None and not isinstance(item, bool | list):
            record = record._replace(value=item, line=line)
            raise lacking(self._file, self.shape, record, "doc", "a document without an id")
        if value is None:
            value = item  # `octets_of` refuses it
        octets = octets_of(value, self._file, line, "document id")
        if value is item and self.shape.name in ("lists", "id-lists"):
            self._refuse_text(line, name, octets)
        return octets

    def _refuse_text(self, line: int, name: str, octets: bytes) -> None:
        """Raise `InputError` for a string in a list that seems to be a text, not an id."""
        if fields.plain_name(name) in fields.TEXTS or len(octets.split()) != 1:
            raise InputError(
                self._file,
                line,
                f"{name} lists texts, not ids ({shown(octets)})",
                f"expected ids of documents, or where they stand: {self._option} 'list=…, doc=…'",
            )

    def _no_object(self, record: Record) -> InputError:
        if record.key is not None:
            return InputError(
                self._file,
                record.line,
                f"no object under {shown(record.key)}",
                'expected {"query": {"document": number, …}, …} or an array of results',
            )
        return no_object(self._file, record.line)


def _octets(values: Sequence[Any]) -> list[bytes] | None:
    """Return strings and the texts of numbers as bytes; None for any other value."""
    if not all(issubclass(kind, str) for kind in set(map(type, values))):
        return None
    try:
        return list(map(str.encode, values))
    except UnicodeEncodeError:
        pass
    try:
        return [value.encode("utf-8", "surrogateescape") for value in values]
    except UnicodeEncodeError:
        return None
