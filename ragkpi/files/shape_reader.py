"""Read records of JSON, tables and quoted CSV by a shape into the columns of a run or qrels."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, repeat
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from ragkpi.arrays import FloatArray, IntArray
from ragkpi.errors import InputError, MapChoice, RagkpiNote, SeparateRankingsError
from ragkpi.files import column_names as fields
from ragkpi.files.column_names import ORDER, KeyTwiceError, is_score
from ragkpi.files.dumps import Recognition, advice_on_texts, map_text
from ragkpi.files.json_text import all_octets, kind_of, octets_of
from ragkpi.files.lines import Tokens
from ragkpi.files.opening import Kind
from ragkpi.files.paths import (
    Keys,
    alone,
    column_at,
    entries_at,
    first_at,
    is_number,
    is_scalar,
    scalar_at,
)
from ragkpi.files.roles import unsettled
from ragkpi.files.shapes import (
    SHAPES,
    Shape,
    find_column,
    map_of,
    names_in,
    shape_of_map,
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

_RECORDS_AT_ONCE = 1 << 14  # of one document each
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


def _tokens_of(
    file: str, columns: DocumentColumns
) -> tuple[Tokens, Tokens, Tokens, IntArray, IntArray]:
    """Return queries, documents and values, the lines, and the ends of lists; refuse empty ids."""
    query, document, value = map(
        Tokens.from_strings, (columns.queries, columns.documents, columns.values)
    )
    line, ends = np.array(columns.lines, np.int64), np.cumsum(columns.counts, dtype=np.int64)
    refuse_empty(file, document, line, "document id")
    first = np.minimum(ends - columns.counts, len(line) - 1)
    refuse_empty(file, query, line[first] if len(line) else first, "query id")
    return query, document, value, line, ends


def stream_documents(file: str, records: Iterable[DocumentColumns]) -> Iterator[RunColumns]:
    """Return blocks of a run; no block if there are no documents."""
    begun = False
    for of in records:
        begun = begun or bool(of.documents)
        if not begun:
            continue
        query, document, value, line, ends = _tokens_of(file, of)
        groups = query.changes()
        yield RunColumns(
            file=file,
            query=query.take(groups[:-1]),
            starts=np.append(0, ends)[groups],
            document=document,
            score=parse_scores(file, value, line),
            line=line,
            run_id=of.run_id or run_id_of(file),
            by_rank=np.full(len(line), of.by_rank),
            origin=of.origin,
            others={
                map_: _finite(texts) for map_, texts in islice(of.others.items(), _MOST_OTHERS)
            },
        )


def _finite(texts: Sequence[bytes]) -> FloatArray:
    """Return numbers that are not read; NaN for a document without one."""
    numbers = Tokens.from_strings(texts).numbers()
    return np.where(np.isfinite(numbers), numbers, np.nan)


def collect_qrels(file: str, records: Iterable[DocumentColumns]) -> QrelsColumns:
    """Gather the records of qrels into columns; `InputError` if there are none."""
    some = list(records)
    if not any(of.documents for of in some):
        raise InputError(file, None, "contains no judgements", "expected at least one")
    judged = some[0]._replace(
        queries=[query for of in some for query in of.queries],
        counts=[count for of in some for count in of.counts],
        lines=[line for of in some for line in of.lines],
        documents=[id_ for of in some for id_ in of.documents],
        values=[value for of in some for value in of.values],
    )
    query, document, value, line, _ = _tokens_of(file, judged)
    level, gain = parse_numbers(file, value, line, truth=True)
    counts = np.array(judged.counts, np.int64)
    of_rows = query.take(np.repeat(np.arange(len(query)), counts))
    columns = plain_qrels(file, of_rows, document, level, line, gain, judged.origin)
    return columns._replace(empty=query.take(counts == 0).tolist())


class Record(NamedTuple):
    """A record of a file, or a document in its list, with its line.

    `key` is its own key in the enclosing object, `number` counts from 1.
    """

    line: int
    value: Any
    key: str | None = None
    number: int = 1


@dataclass(frozen=True)
class Records:
    """Neighbouring records of a file, or the documents in their lists, as columns."""

    lines: Sequence[int]
    values: Sequence[Any]
    keys: Sequence[str | None]
    number: int = 1  # of the first one

    def record(self, place: int) -> Record:
        return Record(self.lines[place], self.values[place], self.keys[place], self.number + place)

    def part(self, first: int, end: int | None) -> Records:
        some = (self.lines[first:end], self.values[first:end], self.keys[first:end])
        return Records(*some, self.number + first)

    def each(self) -> Iterator[Record]:
        return map(self.record, range(len(self.values)))

    def at(self, path: str) -> Sequence[Any]:
        """Return the first value on a path in each record; None without."""
        return column_at(path, self.values, self.keys, self.number)


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
    inner, at = first_at(path.removeprefix("@value|"), value, record.key)
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
        self.shape, self._file = shape, file
        # Of the first document's numbers; all other documents have theirs under the same keys.
        self._numbers = {"score": shape.score, "rank": shape.rank, "level": shape.level}
        self._lacks: dict[str, bool] = {}
        self._documents_at = shape.records + shape.list
        self._origin = Origin(self._documents_at, ORDER)
        self._objects = shape.doc.startswith("@key")

    def read(self, records: Iterable[Record]) -> Iterator[DocumentColumns]:
        """Yield the documents of each query; `InputError` with the keys of a record without one."""
        records, number = iter(records), 1
        many = _LISTS_AT_ONCE if self.shape.list else _RECORDS_AT_ONCE
        while some := list(islice(records, many)):
            lines, values, keys, _ = zip(*some, strict=True)
            yield from self.read_together(Records(lines, values, keys, number))
            number += len(some)

    def read_together(self, records: Records) -> Iterator[DocumentColumns]:
        """Yield the documents of records: of all at once, or up to the refused one."""
        try:
            columns = self._columns(records)
        except (KeyTwiceError, InputError) as problem:
            if (half := len(records.values) // 2) > 0:
                yield from self.read_together(records.part(0, half))
                yield from self.read_together(records.part(half, None))
                return
            if isinstance(problem, InputError):
                raise
            expected = "expected each key once"
            raise InputError(self._file, records.lines[0], str(problem), expected) from None
        yield columns

    def _columns(self, records: Records) -> DocumentColumns:
        shape, first = self.shape, records.record(0)
        names, counts, documents = self._lists(records)
        query = records.at(shape.query)
        queries = all_octets(query) or [self._id(of, "query") for of in records.each()]
        ids = all_octets(documents.at(shape.doc)) or [
            self._id(of, "doc") for of in documents.each()
        ]
        self._refuse_texts(documents, ids, names)
        if shape.kind == "run":
            values, by_rank, map_ = self._scores(first, counts, records, documents)
        else:
            (values, map_), by_rank = self._numbered("level", counts, records, documents), False
            values = values or [b"1"] * len(ids)
        if not self._documents_at:
            find_column(shape, "level", list(first.value), self._file, first.line)
            keys = first_at(shape.doc, documents.values[0], documents.keys[0])[1]
            self._documents_at = _path_to(keys)
        if records.number == 1:
            self._refuse_fractions(first, ids[: counts[0] if shape.list else None])
        # Numbers that are not read must agree with those that are.
        compares = shape.kind == "run" and not shape.says_order and not self._objects
        others = self._others(documents.values, map_) if compares else {}
        if ids:  # an empty list has the origin of the lists before it
            self._origin = Origin(self._documents_at, map_)
        last = records.record(-1)
        tag = None if self._objects else scalar_at(shape.run_id, last.value)
        run_id = b"" if tag is None else octets_of(tag, self._file, last.line, "run id")
        columns = DocumentColumns(
            queries,
            counts,
            list(documents.lines),
            ids,
            values,
            run_id,
            by_rank,
            self._origin,
            others,
        )
        return _without_repeated(columns, shape.kind) if shape.repeated == "dropped" else columns

    def _lists(self, records: Records) -> tuple[set[str], list[int], Records]:
        """Return the names of the lists, the length of each, and the documents in them."""
        if not self.shape.list:
            if set(map(type, records.values)) != {dict} and self.shape.doc != "@value":
                for record in records.each():
                    self._refuse(record)
            return {""}, [1] * len(records.values), records
        names, keys, values = zip(*map(self._entries, records.each()), strict=True)
        counts = list(map(len, values))
        lines = chain.from_iterable(map(repeat, records.lines, counts))
        of_keys, of_values = (list(chain.from_iterable(of)) for of in (keys, values))
        return {*names}, counts, Records(list(lines), of_values, of_keys)

    def _refuse(self, record: Record) -> None:
        """Refuse a record that is not an object."""
        if not isinstance(record.value, dict | list):
            raise no_object(self._file, record.line, record.key)

    def _entries(self, record: Record) -> tuple[str, Sequence[Any], Sequence[Any]]:
        """Return the name of the list of documents in a record, its keys and its values."""
        value, path = record.value, self.shape.list
        if path != "@value" or self.shape.kind == "run":
            self._refuse(record)
        entries = entries_at(path, value, record.key, self._objects)
        if entries is None and self.shape.kind == "qrels":
            one = scalar_at(path, value, record.key)
            entries = ("", [None], [one]) if isinstance(one, str) and one.split() == [one] else None
        if entries is None:
            if self._objects or (isinstance(value, list) and not path[:1].isdigit()):
                raise no_object(self._file, record.line, record.key)
            raise lacking(self._file, self.shape, record, "list")
        if self._objects and self.shape.kind == "run" and None in entries[2]:
            # A pivot table has null for a document that the query did not retrieve.
            kept = [(key, of) for key, of in zip(*entries[1:], strict=True) if of is not None]
            return entries[0], [key for key, _ in kept], [of for _, of in kept]
        return entries

    def _id(self, record: Record, part: Literal["query", "doc"]) -> bytes:
        """Return the id of a query or a document; `InputError` without."""
        path, what = getattr(self.shape, part), "query id" if part == "query" else "document id"
        value = scalar_at(path, record.value, record.key, record.number)
        if value is None:
            if part == "query" or isinstance(record.value, dict | str):
                raise lacking(self._file, self.shape, record, part)
            value = record.value  # `octets_of` refuses it
        return octets_of(value, self._file, record.line, what)

    def _refuse_texts(self, documents: Records, ids: Sequence[bytes], names: set[str]) -> None:
        """Refuse elements of a list that are texts, unless a map or a name declares them ids."""
        name = names.pop() if len(names) == 1 else ""
        objects = self._objects or set(map(type, documents.values)) == {dict}
        if objects or "doc" in self.shape.required or name.endswith(("ids", "Ids")):
            return
        of_texts = fields.plain_name(name) in fields.TEXTS
        for value, text, line in zip(documents.values, ids, documents.lines, strict=True):
            if is_scalar(value) and (of_texts or len(text.split()) != 1):
                path = self.shape.list if "<" not in self.shape.list else name
                map_ = spell(f"map_{self.shape.kind}", f"list={path or '…'}, doc=@value")
                fault = f"{name} lists texts, not ids ({shown(text)})"
                expected = f"expected ids; if these are ids, {map_}; {advice_on_texts()}"
                raise InputError(self._file, line, fault, expected)

    def _refuse_fractions(self, record: Record, documents: Sequence[bytes]) -> None:
        """Refuse ids that pandas wrote as 1.0 and 2.0, unless a map names them."""
        if documents and are_of_pandas(documents) and "doc" not in self.shape.required:
            fault = f"ids are numbers with a fraction, such as {documents[0].decode()}"
            path = self.shape.doc if "<" not in self.shape.doc else "…"
            expected = f"expected texts, or {spell('map_' + self.shape.kind, f'doc={path}')}"
            raise InputError(self._file, record.line, fault, expected)

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

    def _scores(
        self, first: Record, counts: Sequence[int], records: Records, documents: Records
    ) -> tuple[list[bytes], bool, str]:
        """Return the texts of scores or negative ranks, whether they are ranks, and their map."""
        scores, map_ = self._numbered("score", counts, records, documents)
        if not scores or "rank" in self.shape.required:
            ranks, by_rank = self._numbered("rank", counts, records, documents)
        if scores:
            return scores, False, map_
        if ranks:
            of_lines = zip(documents.lines, ranks, strict=True)
            return [descending(self._file, line, rank) for line, rank in of_lines], True, by_rank
        if self.shape.list:
            in_lists = chain.from_iterable(range(1, count + 1) for count in counts)
            return [b"-%d" % place for place in in_lists], True, ORDER
        if records.number == 1:
            names = list(first.value) if isinstance(first.value, dict) else []
            warn_of_order(self._file, names, self.shape)
        places = range(documents.number, documents.number + len(documents.values))
        return [b"-%d" % place for place in places], False, ORDER

    def _numbered(
        self, what: str, counts: Sequence[int], records: Records, documents: Records
    ) -> tuple[list[bytes], str]:
        """Return the texts of scores, ranks or levels, [] without any, and their map."""
        beside = {"score": self.shape.scores, "level": self.shape.levels}.get(what)
        if beside:
            values: Sequence[Any] = [
                of
                for record, count in zip(records.each(), counts, strict=True)
                for of in self._beside(record, count, what, beside)
            ]
            texts = self._texts(what, beside, documents, values, [of is None for of in values])
            return texts, f"{what}s={beside}"
        path = self._numbers[what]
        if not path or not documents.values:
            return [], f"{what}=@number"
        keys = first_at(path, documents.values[0], documents.keys[0], documents.number)[1]
        if keys:
            path = ".".join(keys)  # later documents must use the same name
            self._numbers[what] = self._numbers[what] if self.shape.list else path
        values = documents.at(path)
        lack = [one is None for one in values] if None in values else []
        if lack and what == "level":  # null is unrated
            lack = [first_at(path, one)[1] is None for one in documents.values]
        texts = self._texts(what, path, documents, values, lack)
        if not texts and what in self.shape.required:
            raise lacking(self._file, self.shape, documents.record(0), what)
        at = _path_to(keys, path)
        return texts, self.shape.score_map(at) if what == "score" else f"{what}={at}"

    def _beside(self, record: Record, count: int, what: str, path: str) -> Sequence[Any]:
        """Return the scores or levels in the list next to the documents of a record."""
        entries = entries_at(path, record.value)
        if entries is None:
            raise lacking(self._file, self.shape, record, f"{what}s")
        if len(entries[2]) != count:
            fault = f"{len(entries[2])} {what}s for {count} documents"
            raise InputError(self._file, record.line, fault, f"expected a {what} for each")
        return entries[2]

    def _texts(
        self, what: str, path: str, documents: Records, values: Sequence[Any], lack: Sequence[bool]
    ) -> list[bytes]:
        """Return the texts of numbers; [] without any, as `lack` says of each document.

        `InputError` if only some documents have one: the rest could not be ranked.
        """
        none = bool(lack and lack[0])
        if not self.shape.list:
            none = self._lacks.setdefault(what, none)
        others = (place for place, lacks in enumerate(lack) if lacks != none)
        place = 0 if none and values and not lack else next(others, None)
        if place is not None:
            faults = [f"a {what} under {shown(path)}", f"no {what}"]
            one, of_first = faults if none else faults[::-1]
            fault = f"document {documents.number + place} has {one}, the first one {of_first}"
            expected = f"expected a {what} for all or for none, under one key"
            if what == "score":
                expected += f"; {spell('map_run', ORDER)} uses the order of the file"
            raise InputError(self._file, documents.lines[place], fault, expected)
        if none:
            return []
        if what == "level":
            values = list(map(_level_of, values))
        return all_octets(values) or [
            octets_of(value, self._file, line, what)
            for value, line in zip(values, documents.lines, strict=True)
        ]


def _level_of(value: Any) -> Any:
    """Return a level as a number or a word: true is 1, null is unrated."""
    if isinstance(word := alone(value), str) and not is_number(word):
        return word  # labels can be a list of one
    return str(int(value)) if isinstance(value, bool) else "" if value is None else value


def _without_repeated(columns: DocumentColumns, kind: Kind) -> DocumentColumns:
    """Keep the first of equal documents of a query; different levels are refused later."""
    levels = columns.values if kind == "qrels" else [b""] * len(columns.values)
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


def are_of_pandas(ids: Iterable[bytes]) -> bool:
    """Whether ids are whole numbers that pandas wrote with a fraction, as 1.0."""
    return all(re.fullmatch(rb"[0-9]+\.0", id_) for id_ in ids)


def shape_for(kind: Kind, file: str, user: Shape | None, find: Finder) -> Shape:
    """Return the shape that a user maps or that names identify, with a note on the reading.

    A complete map is the answer. Otherwise `find` completes the parts of a user's map by name.
    `UnsettledError`, with the keys of the first records and the incomplete map, if names are
    ambiguous.
    """
    if user is not None and user.partial_map is None:
        return user
    recognition = find({} if user is None else user.partial_map or {})
    if recognition.fault and user is not None and (recognition.advice or "list" in user.required):
        return user
    if recognition.advice:
        error = SeparateRankingsError if recognition.stack else InputError
        raise error(file, None, visible(recognition.fault), recognition.advice)
    if recognition.fault:
        maps = [MapChoice(map_text(of)) for of in recognition.maps]
        raise unsettled(kind, file, visible(recognition.fault), maps)
    map_ = recognition.map
    shape = shape_of_map(map_, kind)._replace(name="recognised", required=())
    if user is None and not recognition.is_plain:
        warnings.warn(f"{file}: read as: {visible(map_text(map_))}", RagkpiNote, stacklevel=2)
    has_scores = not map_.keys().isdisjoint((*fields.SCORE_PARTS.values(), "scores"))
    joins = "[]" in shape.list and not has_scores
    dropped = shape.list and (joins or (kind == "qrels" and shape.doc != "@key"))
    if "rank" in map_ and not (user and "rank" in user.required):
        # A score that is not a number is refused, not ignored.
        shape = shape._replace(score=SHAPES[kind]["lists"].score)
    return shape._replace(
        repeated="dropped" if dropped else "refused",
        required=user.required if user else (),
    )
