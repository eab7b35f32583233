"""The one reader that interprets a shape: records to the documents that they list."""

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
    """A shape, ready to be interpreted for the records of a file."""

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
        """Say whether a record is of this shape, as far as its keys and lists tell."""
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
        """Return the documents that a record lists.

        Raises `InputError` with the line, and the keys that are there, for one without.
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
            raise lacking(
                self._file, self.shape.kind, record, "list of documents", self.shape.list, "list"
            )
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
        """Read what most records are: an object of documents and numbers, or a list of objects.

        None if anything is unusual: then it is read with care, which comes to the same.
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
        """Return what objects that all have the same keys say of documents.

        None where these are not known yet to stand under one key each, or anything is unusual.
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
        """Return ids and numbers as texts, but scores that are floats; None if others are there."""
        kinds = set(map(type, numbers))
        values: Sequence[bytes | float] | None = None
        if float not in kinds:
            values = _encoded(numbers)
        elif kinds == {float} and self.shape.kind == "run":
            values = numbers
        elif self.shape.kind == "run":
            values = _encoded([repr(one) if type(one) is float else one for one in numbers])
        ids, rank_texts = _encoded(documents), _encoded(ranks)
        if ids is None or values is None or rank_texts is None:
            return None
        return ids, values, rank_texts

    def flat(self, records: Sequence[Record]) -> list[Listed]:
        """Return what records of one document each hold, those of a query together."""
        values = [record.value for record in records]
        columns = self._columns(values)
        name = self._query.name_in(tuple(values[0])) if columns is not None else None
        queries = None if name is None else _encoded([value[name] for value in values])
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
                raise lacking(
                    self._file, self.shape.kind, record, "query id", self.shape.query, "query"
                )
        plain = _encoded([value])
        if plain is None:
            octets = octets_of(value, self._file, record.line, self._query_name(record))
        else:
            octets = plain[0]
        if self.shape.name == "lists" and len(octets.split()) > 1 and self._is_text(record, value):
            raise lacking(
                self._file,
                self.shape.kind,
                record,
                "query id but a text",
                self.shape.query,
                "query",
            )
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
        if value is None:
            if item is None or isinstance(item, bool | list):
                value = item
            else:
                raise lacking(
                    self._file,
                    self.shape.kind,
                    record._replace(value=item, line=line),
                    "document id",
                    self.shape.doc,
                    "doc",
                    "a document without an id",
                )
        octets = octets_of(value, self._file, line, "document id")
        if value is item and self.shape.name in ("lists", "id-lists"):
            self._refuse_text(line, name, octets)
        return octets

    def _refuse_text(self, line: int, name: str, octets: bytes) -> None:
        """Raise `InputError` for a string in a list that is rather a text than an id."""
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


def _encoded(values: Sequence[Any]) -> list[bytes] | None:
    """Return strings and the texts of numbers as bytes; None if there is anything else."""
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
