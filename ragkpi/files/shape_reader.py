"""Read records of JSON, tables and quoted CSV by a shape into the columns of a run or qrels."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice, repeat
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ragkpi.arrays import FloatArray, IntArray
from ragkpi.errors import InputError, MapChoice, RagkpiNote, SeparateRankingsError
from ragkpi.files import column_names as fields
from ragkpi.files.column_names import ORDER, KeyTwiceError, is_score
from ragkpi.files.json_text import (
    JoinedPath,
    Keys,
    Path,
    Repeated,
    all_octets,
    alone,
    is_number,
    is_scalar,
    key_twice,
    kind_of,
    octets_of,
)
from ragkpi.files.lines import Tokens
from ragkpi.files.opening import Kind
from ragkpi.files.recogniser import Recognition, map_text, where_texts
from ragkpi.files.roles import unsettled
from ragkpi.files.shapes import (
    SHAPES,
    Shape,
    find_column,
    map_of,
    mapped,
    names_in,
    warn_of_order,
)
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
_LISTS_AT_ONCE = 1 << 6
_MOST_OTHERS = 50  # of numbers that are not read
_MOST_KEYS = 1000  # of documents in which numbers are looked for
Finder: TypeAlias = "Callable[[Mapping[str, str]], Recognition]"
_DEEPEST = 3  # objects in a document in which scores are looked for


class DocumentColumns(NamedTuple):
    """The documents of some queries, one query after the other.

    Attributes
    ----------
    counts
        The number of documents of each query.
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
    """Gather records into blocks of a run; no block if there are no documents."""
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
    return RunColumns(
        file=file,
        query=query.take(groups[:-1]),
        starts=np.append(0, np.cumsum(counts))[groups],
        document=document,
        score=parse_scores(file, value, line),
        line=line,
        run_id=next(run_ids, b"") or run_id_of(file),
        by_rank=np.full(len(line), records[0].by_rank),
        origin=records[0].origin,
        others=_others_of(records),
    )


def _others_of(records: Sequence[DocumentColumns]) -> dict[str, FloatArray]:
    """Gather the finite numbers that are not read; NaN for a document without one."""
    others: dict[str, FloatArray] = {}
    for map_ in islice(
        dict.fromkeys(chain.from_iterable(of.others for of in records)), _MOST_OTHERS
    ):
        texts = (of.others.get(map_) or [b""] * len(of.documents) for of in records)
        numbers = Tokens.from_strings(chain.from_iterable(texts)).numbers()
        others[map_] = np.where(np.isfinite(numbers), numbers, np.nan)
    return others


def collect_qrels(file: str, records: Iterable[DocumentColumns]) -> QrelsColumns:
    """Gather the records of qrels into columns; `InputError` if there are none."""
    judged = list(records)
    if not any(record.documents for record in judged):
        raise no_judgements(file)
    query, counts, document, value, line = _columns_of(file, judged)
    level, gain = parse_numbers(file, value, line, truth=True)
    of_rows = query.take(np.repeat(np.arange(len(query)), counts))
    columns = plain_qrels(file, of_rows, document, level, line, gain, judged[0].origin)
    return columns._replace(empty=query.take(counts == 0).tolist())


class Record(NamedTuple):
    """A record of a file, or a document in its list.

    `line` is its first line, `lines` are those of its keys if they differ. `key` is its own key in
    the enclosing object, `number` counts from 1.
    """

    line: int
    value: Any
    key: str | None = None
    lines: Sequence[int] = ()
    number: int = 1


@dataclass(frozen=True)
class Records:
    """Neighbouring records of a file, or the documents in their lists, as columns."""

    lines: Sequence[int]
    values: Sequence[Any]
    keys: Sequence[str | None]
    number: int = 1  # of the first one
    lines_of_keys: Sequence[Sequence[int]] = ()

    @classmethod
    def of(cls, number: int, records: Sequence[Record]) -> Records:
        lines, values, keys, lines_of_keys, _ = zip(*records, strict=True)
        return cls(lines, values, keys, number, lines_of_keys)

    def record(self, place: int) -> Record:
        lines = self.lines_of_keys[place] if self.lines_of_keys else ()
        number = self.number + place
        return Record(self.lines[place], self.values[place], self.keys[place], lines, number)

    def each(self) -> Iterator[Record]:
        return map(self.record, range(len(self.values)))

    def at(self, path: Path) -> Sequence[Any]:
        """Return the first value on a path in each record; None without."""
        return path.column(self.values, self.keys, self.number)


# Scores, whether they are negative ranks, and their map.
_Numbers: TypeAlias = "tuple[list[bytes], bool, str]"


def _path_to(keys: Keys | None, text: str = "") -> str:
    """Return the keys that lead to a value in a document; none for a position in a list."""
    by_place = text if text.isdigit() else "@value"
    return "@number" if keys is None else ".".join(keys) or by_place


def _texts_of(numbers: Sequence[Any]) -> list[bytes]:
    """Return numbers as texts; a missing one stays None, or becomes empty."""
    return all_octets(numbers) or [str(one).encode() if is_number(one) else b"" for one in numbers]


def no_object(file: str, line: int, key: str | None = None) -> InputError:
    """Return the error for a record, or the value of a key, that is not a JSON object."""
    if key is None:
        fault, expected = "not a JSON object", "expected an object with a query and its documents"
    else:
        fault = f"no object under {shown(key)}"
        expected = 'expected {"query": {"document": number, …}, …} or an array of results'
    return InputError(file, line, fault, expected)


_LACKS = {
    "list": "no list of documents",
    "query": "no query id",
    "doc": "a document without an id",
}


def lacking(file: str, shape: Shape, record: Record, part: str) -> InputError:
    """Return the error for a record without a part, with its keys and how to map one."""
    path, value = getattr(shape, part), record.value
    advice = f"or {spell(f'map_{shape.kind}', f'{part}=…')}"
    inner, at = Path(path.removeprefix("@value|")).first(value, record.key)
    if at and (part == "list" or not isinstance(inner, str)):  # the key exists
        fault = f"{shown('.'.join(at))} is {kind_of(inner)}"
        what = {"list": "a list of documents", "level": "a number"}.get(part, "an id")
        expected = f"{what} under this key, {advice}"
    else:
        keys = fields.shown_names(value) if isinstance(value, dict) else "no keys"
        fault = f"{_LACKS.get(part, f'no {part}')} (keys: {keys})"
        expected = f"one of {' '.join(names_in(path)[: fields.MOST_NAMES])}, {advice}"
        if shape.name == "recognised" and record.number > 1 and part in ("list", "query"):
            expected = f"{part}={path}, as in the records above"
    return InputError(file, record.line, fault, f"expected {expected}")


class ShapeReader:
    """Reads the records of a file by a shape."""

    def __init__(self, shape: Shape, file: str) -> None:
        self.shape = shape
        self._file = file
        self._query, self._run, self._list = map(Path, (shape.query, shape.run_id, shape.list))
        self._doc = JoinedPath(shape.doc) if "{" in shape.doc else Path(shape.doc)
        self._beside = Path(shape.scores or shape.levels)
        # Of the first document's numbers; all other documents have theirs under the same keys.
        self._numbers = {part: Path(getattr(shape, part)) for part in ("score", "rank", "level")}
        self._lacks: dict[str, bool] = {}
        self._warned = False
        self._documents_at = shape.records + shape.list
        self._origin = Origin(self._documents_at, ORDER)
        self._objects = shape.doc.startswith("@key")
        # Whether numbers that are not read must agree with those that are.
        self._compares = shape.kind == "run" and not shape.says_order and not self._objects

    def read(self, records: Iterable[Record]) -> Iterator[DocumentColumns]:
        """Yield the documents of each query; `InputError` with the keys of a record without one."""
        records, number = iter(records), 1
        many = _LISTS_AT_ONCE if self.shape.list else _RECORDS_AT_ONCE
        while some := list(islice(records, many)):
            yield from self.read_together(Records.of(number, some))
            number += len(some)

    def read_together(self, records: Records) -> Iterator[DocumentColumns]:
        """Yield the documents of records: of all at once, or up to the refused one."""
        if len(records.values) > 1:
            with suppress(KeyTwiceError, InputError):
                yield self._columns(records)
                return
        for record in records.each():
            try:
                yield self._columns(Records.of(record.number, [record]))
            except KeyTwiceError as problem:
                expected = "expected each key once"
                raise InputError(self._file, record.line, str(problem), expected) from None

    def _columns(self, records: Records) -> DocumentColumns:
        names, counts, documents = self._listed(records)
        queries = self._queries(records)
        ids, at = self._documents(documents, names)
        first = records.record(0)
        if self.shape.kind == "run":
            values, by_rank, map_ = self._scores(records, counts, documents)
        else:
            (values, map_), by_rank = self._levels(records, counts, documents), False
        if not self._documents_at:
            find_column(self.shape, "level", list(first.value), self._file, first.line)
            self._documents_at = at
        if records.number == 1:
            self._refuse_fractions(first, ids[: counts[0] if self.shape.list else None])
        others = self._others(documents.values, map_) if self._compares else {}
        if ids:  # an empty list has the origin of the lists before it
            self._origin = Origin(self._documents_at, map_)
        run_id, lines = self._run_of(records.record(-1)), list(documents.lines)
        columns = DocumentColumns(
            queries, counts, lines, ids, values, run_id, by_rank, self._origin, others
        )
        return self._without_repeated(columns) if self.shape.repeated == "dropped" else columns

    def _listed(self, records: Records) -> tuple[set[str], list[int], Records]:
        """Return the names of the lists, the length of each, and the documents in them."""
        if not self.shape.list:
            if set(map(type, records.values)) != {dict} and self.shape.doc != "@value":
                for record in records.each():
                    self._refuse(record)
            return {""}, [1] * len(records.values), records
        names, keys, values = zip(*map(self._entries, records.each()), strict=True)
        counts = list(map(len, values))
        lines = [
            of.lines if len(of.lines) == count else [of.line] * count
            for of, count in zip(records.each(), counts, strict=True)
        ]
        of_lines, of_keys, of_values = (
            list(chain.from_iterable(of)) for of in (lines, keys, values)
        )
        return {*names}, counts, Records(of_lines, of_values, of_keys)

    def _without_repeated(self, columns: DocumentColumns) -> DocumentColumns:
        """Keep the first of equal documents of a query; different levels are refused later."""
        levels = columns.values if self.shape.kind == "qrels" else [b""] * len(columns.values)
        queries = chain.from_iterable(map(repeat, range(len(columns.counts)), columns.counts))
        first: dict[tuple[int, bytes, bytes], int] = {}
        for place, of in enumerate(zip(queries, columns.documents, levels, strict=True)):
            first.setdefault(of, place)
        places, counts = [*first.values()], Counter(query for query, _, _ in first)
        return columns._replace(
            counts=[counts[query] for query in range(len(columns.counts))],
            lines=[columns.lines[place] for place in places],
            documents=[columns.documents[place] for place in places],
            values=[columns.values[place] for place in places],
            others={map_: [of[at] for at in places] for map_, of in columns.others.items()},
        )

    def _run_of(self, record: Record) -> bytes:
        tag = None if self._objects else self._run.scalar(record.value)
        return b"" if tag is None else octets_of(tag, self._file, record.line, "run id")

    def _refuse(self, record: Record) -> None:
        """Refuse a record that is not an object, or that repeats a key."""
        if not isinstance(record.value, dict | list):
            raise no_object(self._file, record.line, record.key)
        if isinstance(record.value, Repeated) and self.shape.list != "@value":
            raise key_twice(self._file, record.line, record.value.twice())

    def _entries(self, record: Record) -> tuple[str, Sequence[Any], Sequence[Any]]:
        """Return the name of the list of documents in a record, its keys and its values."""
        self._refuse(record)
        value = record.value
        listed = self._list.listed(value, record.key, self._objects)
        if listed is None and self.shape.kind == "qrels":
            one = self._list.scalar(value, record.key)
            listed = ("", [None], [one]) if isinstance(one, str) and len(one.split()) == 1 else None
        if listed is None:
            by_place = self.shape.list[:1].isdigit()
            is_array = isinstance(value, list) and not by_place
            if self._objects or is_array:
                raise no_object(self._file, record.line, record.key)
            raise lacking(self._file, self.shape, record, "list")
        if self._objects and self.shape.kind == "run" and None in listed[2]:
            # A pivot table has null for a document that the query did not retrieve.
            kept = [(key, of) for key, of in zip(*listed[1:], strict=True) if of is not None]
            return listed[0], [key for key, _ in kept], [of for _, of in kept]
        return listed

    def _others(
        self, documents: Sequence[Any], map_: str, above: str = ""
    ) -> dict[str, list[bytes]]:
        """Return the texts of the numbers that are not read but could rank the documents.

        With a score, these are in the same object; without one, nested scores count as well.
        """
        scored = path_of(map_) if part_of(map_) in fields.SCORE_PARTS.values() else None
        keys = chain.from_iterable(item for item in documents if isinstance(item, dict))
        names = tuple(islice(dict.fromkeys(keys), _MOST_KEYS))
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
                others |= self._others(values, map_, f"{path}.")
            if orders and any(map(is_number, values)):
                others[map_of(path)] = _texts_of(values)
        return others

    def _queries(self, records: Records) -> list[bytes]:
        return all_octets(records.at(self._query)) or list(map(self._query_of, records.each()))

    def _query_of(self, record: Record) -> bytes:
        value = self._query.scalar(record.value, record.key, record.number)
        if value is None:
            raise lacking(self._file, self.shape, record, "query")
        return octets_of(value, self._file, record.line, "query id")

    def _documents(self, documents: Records, names: set[str]) -> tuple[list[bytes], str]:
        """Return the ids in lists of these names, and the path to the first one."""
        values = documents.at(self._doc)
        ids = all_octets(values) or list(map(self._document, documents.each()))
        name = names.pop() if len(names) == 1 else ""
        # Neither a map nor a name declares texts to be ids.
        told = self._objects or "doc" in self.shape.required or name.endswith(("ids", "Ids"))
        if not told and set(map(type, documents.values)) != {dict}:
            for document, id_, line in zip(documents.values, ids, documents.lines, strict=True):
                if is_scalar(document):
                    self._refuse_text(name, id_, line)
        keys = self._doc.first(documents.values[0], documents.keys[0])[1] if ids else None
        return ids, _path_to(keys)

    def _document(self, document: Record) -> bytes:
        value = self._doc.scalar(document.value, document.key)
        if value is None:
            if document.value is not None and not isinstance(document.value, bool | list):
                raise lacking(self._file, self.shape, document, "doc")
            value = document.value  # `octets_of` refuses it
        return octets_of(value, self._file, document.line, "document id")

    def _refuse_text(self, name: str, text: bytes, line: int) -> None:
        """Refuse an element of a list that is a text, or a printed Python object."""
        if fields.plain_name(name) not in fields.TEXTS and len(text.split()) == 1:
            return
        if re.match(rb"\w+(=|\(\w+=)", text):
            fault = f"{name} lists printed Python objects ({shown(text)})"
            expected = "expected JSON, for example from model_dump() or to_dict()"
            raise InputError(self._file, line, fault, expected)
        fault = f"{name} lists texts, not ids ({shown(text)})"
        path = self.shape.list if "<" not in self.shape.list else name
        map_ = spell(f"map_{self.shape.kind}", f"list={path or '…'}, doc=@value")
        expected = f"expected ids; if these are ids, {map_}"
        raise InputError(self._file, line, fault, f"{expected}; {where_texts()}")

    def _refuse_fractions(self, record: Record, documents: Sequence[bytes]) -> None:
        """Refuse ids that pandas wrote as 1.0 and 2.0, unless a map names them."""
        if documents and are_of_pandas(documents) and "doc" not in self.shape.required:
            fault = f"ids are numbers with a fraction, such as {documents[0].decode()}"
            path = self.shape.doc if "<" not in self.shape.doc else "…"
            expected = f"expected texts, or {spell('map_' + self.shape.kind, f'doc={path}')}"
            raise InputError(self._file, record.line, fault, expected)

    def _levels(
        self, records: Records, counts: Sequence[int], documents: Records
    ) -> tuple[list[bytes], str]:
        """Return the texts of the levels of documents, and their map."""
        if (beside := self._values_beside(records, counts, "level")) is not None:
            truths = [str(int(of)) if isinstance(of, bool) else of for of in beside]
            without = [of is None for of in truths]
            of_all = self._texts(documents, truths, without, "level", self._beside)
            return of_all, f"levels={self._beside.text}"
        levels, path = self._numbers_of(documents, "level")
        if documents.values and not levels and "level" in self.shape.required:
            raise lacking(self._file, self.shape, documents.record(0), "level")
        return levels or [b"1"] * len(documents.values), f"level={path}"

    def _level_of(self, value: Any) -> Any:
        """Return a level as a number or a word: true is 1, null is unrated."""
        if isinstance(word := alone(value), str) and not is_number(word):
            return word  # labels can be a list of one
        if isinstance(value, bool):
            return str(int(value))
        return "" if value is None else value

    def _values_beside(
        self, records: Records, counts: Sequence[int], what: str
    ) -> list[Any] | None:
        """Return the scores or levels in lists next to the documents; None without."""
        values: list[Any] = []
        for record, count in zip(records.each() if self._beside else (), counts, strict=False):
            beside = self._beside.listed(record.value)
            if beside is None:
                raise lacking(self._file, self.shape, record, f"{what}s")
            if len(beside[2]) != count:
                fault = f"{len(beside[2])} {what}s for {count} documents"
                raise InputError(self._file, record.line, fault, f"expected a {what} for each")
            values += beside[2]
        return values if self._beside else None

    def _scores(self, records: Records, counts: Sequence[int], documents: Records) -> _Numbers:
        """Return the texts of scores, of ranks, or of positions in the file."""
        if (beside := self._values_beside(records, counts, "score")) is not None:
            without = [of is None for of in beside]
            of_all = self._texts(documents, beside, without, "score", self._beside)
            return of_all, False, f"scores={self._beside.text}"
        scores, path = self._numbers_of(documents, "score")
        ranks: list[bytes] = []
        if not scores or "rank" in self.shape.required:
            ranks, at = self._numbers_of(documents, "rank")
        for part, texts in (("score", scores), ("rank", ranks)):
            if part in self.shape.required and documents.values and not texts:
                raise lacking(self._file, self.shape, documents.record(0), part)
        if scores:
            return scores, False, self.shape.score_map(path)
        if ranks:
            of_lines = zip(documents.lines, ranks, strict=True)
            descents = [descending(self._file, line, rank) for line, rank in of_lines]
            return descents, True, f"rank={at}"
        if not self.shape.list:
            if not self._warned:
                value = records.values[0]
                warn_of_order(
                    self._file, list(value) if isinstance(value, dict) else [], self.shape
                )
                self._warned = True
            places = range(documents.number, documents.number + len(documents.values))
            return [b"-%d" % place for place in places], False, ORDER
        in_lists = (range(1, count + 1) for count in counts)
        return [b"-%d" % place for place in chain.from_iterable(in_lists)], True, ORDER

    def _numbers_of(self, documents: Records, what: str) -> tuple[list[bytes], str]:
        """Return the texts of scores or ranks, [] without any, and the path to the first one."""
        path = self._numbers[what]
        if not path or not documents.values:
            return [], "@number"
        keys = path.first(documents.values[0], documents.keys[0], documents.number)[1]
        if keys:
            path = Path(".".join(keys))  # later documents must use the same name
            self._numbers[what] = self._numbers[what] if self.shape.list else path
        values = documents.at(path)
        without = self._without(documents, values, path, what)
        if what == "level":
            values = list(map(self._level_of, values))
        texts = self._texts(documents, values, without, what, path)
        return texts, _path_to(keys, path.text)

    def _without(
        self, documents: Records, values: Sequence[Any], path: Path, what: str
    ) -> list[bool]:
        """Return which documents have no number; [] if all have one.

        Null in a list, or next to a rank, means no score.
        """
        if None not in values:
            return []
        ranked = what == "score" and self.shape.rank not in ("", "<rank>")
        null_is_none = ranked or (self.shape.list and what != "level")
        of_all = (path.first(of.value, of.key)[1] for of in documents.each())
        return [
            value is None and (keys is None or bool(keys and null_is_none))
            for value, keys in zip(values, of_all, strict=True)
        ]

    def _texts(
        self,
        documents: Records,
        values: Sequence[Any],
        without: Sequence[bool],
        what: str,
        path: Path,
    ) -> list[bytes]:
        """Return the texts of scores or ranks; [] without any.

        `InputError` if only some documents have one: the rest could not be ranked.
        """
        lacks = bool(without and without[0])
        if not self.shape.list:
            lacks = self._lacks.setdefault(what, lacks)
        others = (place for place, lacks_too in enumerate(without) if lacks_too != lacks)
        place = 0 if lacks and values and not without else next(others, None)
        if place is not None:
            one, none = f"a {what} under {shown(path.text)}", f"no {what}"
            of, of_first = (one, none) if lacks else (none, one)
            fault = f"document {documents.number + place} has {of}, the first one {of_first}"
            expected = f"expected a {what} for all or for none, under one key"
            if what == "score":
                expected += f"; {spell('map_run', ORDER)} uses the order of the file"
            raise InputError(self._file, documents.lines[place], fault, expected)
        if lacks:
            return []
        return all_octets(values) or [
            octets_of(value, self._file, line, what)
            for value, line in zip(values, documents.lines, strict=True)
        ]


def are_of_pandas(ids: Iterable[bytes]) -> bool:
    """Whether ids are whole numbers that pandas wrote with a fraction, as 1.0."""
    return all(re.fullmatch(rb"[0-9]+\.0", id_) for id_ in ids)


def shape_for(kind: Kind, file: str, user: Shape | None, find: Finder) -> Shape:
    """Return the shape that a user maps or that names identify, with a note on the reading.

    A complete map is the answer. Otherwise `find` completes the parts of a user's map by name.
    `UnsettledError`, with the keys of the first records and the incomplete map, if names are
    ambiguous.
    """
    if user is not None and user.given is None:
        return user
    found = find({} if user is None else user.given or {})
    if found.fault and user is not None and (found.advice or "list" in user.required):
        return user
    if found.fault:
        raise unsettled_names(kind, file, found)
    shape = mapped(found.map, kind)._replace(name="recognised", required=())
    if user is None and not found.is_plain:
        warnings.warn(f"{file}: read as: {visible(map_text(found.map))}", RagkpiNote, stacklevel=2)
    numbered = not found.map.keys().isdisjoint((*fields.SCORE_PARTS.values(), "scores"))
    joins = "[]" in shape.list and not numbered
    dropped = shape.list and (joins or (kind == "qrels" and shape.doc != "@key"))
    if "rank" in found.map and not (user and "rank" in user.required):
        # A score that is not a number is refused, not ignored.
        shape = shape._replace(score=SHAPES[kind]["lists"].score)
    return shape._replace(
        repeated="dropped" if dropped else "refused",
        required=user.required if user else (),
    )


def no_judgements(file: str) -> InputError:
    """Return the error for qrels without judgements."""
    return InputError(file, None, "contains no judgements", "expected at least one")


def unsettled_names(kind: Kind, file: str, found: Recognition) -> InputError:
    """Return the error for records whose names are ambiguous or unknown."""
    fault = visible(found.fault)
    error = unsettled(kind, file, fault, [MapChoice(map_text(of)) for of in found.maps])
    if not found.advice:
        return error
    kind_of_error = SeparateRankingsError if found.stack else InputError
    return kind_of_error(file, None, fault, found.advice)
