"""Find the structures in which parsed records hold documents: each becomes columns, as `Structure`.

Six structures are looked for:

1. a list of objects, or of pairs ``[document, score]``, anywhere under a record, also in a list;
2. a list of ids, which may have lists of scores and of objects beside it (`_of_ids`);
3. an object that maps documents to numbers, or to objects;
4. a document a record, with its query repeated (`Structure.by`);
5. a matrix: a query a record, and a number for each document (`_matrices`);
6. an object of queries, ``{question: [documents]}``, or a table, under a key (`records_in`).

Attributes of spans, texts of JSON, lists in a cell, and a column for each rank are unfolded before
(`ragkpi.files.json_text.unfolded`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice, pairwise
from typing import Any, NamedTuple, TypeAlias

from ragkpi.files import column_names as fields
from ragkpi.files.column_names import find, meaning, plain_name
from ragkpi.files.json_text import alone, is_number, is_scalar, listed_in, unfolded
from ragkpi.files.opening import Kind

LOOKED_AT = 100  # records
TABLE = "@table"  # in a path: the rows of the table there
_LISTS_AT = 25  # records with lists
_ELEMENTS = 10  # of a list
_ENTRIES = 20  # of an object of numbers
_KEYS = 200  # of an object
_DEEPEST = 6
# UUIDs, hashes, and what Elasticsearch, MongoDB and others draw; counters, also behind a word.
_DRAWN = re.compile(
    r"(?:\w+:)*(?:[0-9a-fA-F-]{16,}|(?=\D*\d)(?=[^A-Z]*[A-Z])[\w-]{20,27})|(?:\w+:)+\d+"
    r"|.*[-_/:](?=[a-f-]*\d)(?=[\d-]*[a-f])[0-9a-f-]{8,}"
)
_MACHINE = re.compile(rf"[A-Za-z]*[-_]?\d+|{_DRAWN.pattern}")

Lists: TypeAlias = "list[list[Any]]"  # values of documents, by query
NO_MAP: Mapping[str, str] = {}


class Search(NamedTuple):
    """What is looked for: the parts of a run or of qrels; a user maps some of them."""

    kind: Kind
    map: Mapping[str, str]

    @property
    def lists(self) -> tuple[str, ...]:
        """The names of lists of documents."""
        return fields.RETRIEVED if self.kind == "run" else fields.JUDGED


@dataclass(frozen=True)
class Values:
    """The values on a path, one for each record or document, and what they are like."""

    path: str
    values: list[Any]

    @cached_property
    def name(self) -> str:
        """The last key as a plain name."""
        return plain_name(self.path.rpartition(".")[2])

    @cached_property
    def above(self) -> str:
        """The key before the last one as a plain name; "" at the top."""
        return plain_name(self.path.rpartition(".")[0].rpartition(".")[2])

    @property
    def depth(self) -> int:
        """How many keys are above the last one."""
        return self.path.count(".")

    @cached_property
    def are_scalars(self) -> bool:
        """Whether each is a text or a number."""
        return all(map(is_scalar, self.values))

    @cached_property
    def may_be_ids(self) -> bool:
        """Whether all are texts or whole numbers."""
        return self.are_scalars and not self.has_fractions

    @cached_property
    def are_numbers(self) -> bool:
        """Whether all are numbers."""
        return all(map(is_number, self.values))

    @cached_property
    def has_fractions(self) -> bool:
        """Whether some are numbers with a fraction."""
        return any("." in str(value) and is_number(value) for value in self.values)

    @cached_property
    def are_texts(self) -> bool:
        """Whether most are texts of several words."""
        return _are_texts(self.values)

    @cached_property
    def are_drawn(self) -> bool:
        """Whether all are ids such as programs draw."""
        return all(_DRAWN.fullmatch(str(value)) for value in self.values)

    @cached_property
    def are_of_machine(self) -> bool:
        """Whether all are ids such as programs draw or count."""
        return all(_MACHINE.fullmatch(str(value)) for value in self.values)

    @property
    def distinct(self) -> int:
        """How many values differ."""
        return len({*self.values})

    @property
    def are_together(self) -> bool:
        """Whether equal values stand together, as the queries of rows do."""
        return changes(self.values) < self.distinct

    @property
    def may_be_levels(self) -> bool:
        """Whether some are numbers, or true and false, and say more than that all count."""
        numbers = (one for one in self.values if isinstance(one, bool) or is_number(one))
        return bool({str(float(one)) for one in numbers} - {"1.0"})


Columns: TypeAlias = "dict[str, Values]"  # by path


@dataclass(frozen=True)
class Structure:
    """Documents of queries in one structure, query behind query.

    Attributes
    ----------
    columns
        Of documents, by the path in a document; of long lists only some.
    beside
        Of records, outside their lists.
    sizes
        How many documents each query has.
    path
        That of the list; "" if each record is a document.
    named
        Whether a name, or the user, says that these are documents; `doubts` are guesses otherwise.
    docs
        The columns of ids, if the structure says which, and whether it settles them.
    alias
        What a column is in a map, if not a path in a document.
    are_places
        Whether the ids may be places in another list.
    ids_of_rows
        Whether ``id`` is that of a row, and no document's.
    everywhere
        Whether each record has the list.
    order
        Compares structures of one file: small is better.
    """

    columns: Columns
    beside: Columns
    sizes: Sequence[int] = ()
    path: str = ""
    named: bool = True
    doubts: tuple[str, ...] = ("list",)
    docs: Mapping[str, bool] = field(default_factory=dict)
    alias: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    are_places: bool = False
    ids_of_rows: bool = False
    everywhere: bool = True
    order: tuple[int, ...] = (0,)

    def lists(self, path: str) -> Lists:
        """Return the values of a column by query."""
        values = iter(self.columns[path].values if path in self.columns else ())
        return [[*islice(values, size)] for size in self.sizes]

    def by(self, query: str) -> Structure:
        """Return the documents of rows by the column of their queries."""
        groups: dict[Any, list[int]] = {}
        for place, name in enumerate(self.beside[query].values if query in self.beside else ()):
            groups.setdefault(name, []).append(place)
        order = [*chain(*groups.values())]
        columns = {
            path: replace(of, values=[of.values[place] for place in order]) if order else of
            for path, of in self.columns.items()
            if path != query
        }
        sizes = [*map(len, groups.values())]
        one_a_query = max(sizes, default=0) < 2  # which may be its own `id`
        named = any(of.name in fields.DOCUMENT for of in columns.values())
        return replace(
            self,
            columns=columns,
            sizes=[] if one_a_query else sizes,
            ids_of_rows=one_a_query or query.rpartition(".")[2] == "id" or named,
        )

    @property
    def score_of_pairs(self) -> str:
        """The place of the score if all documents are pairs with one, the best first."""
        places = {path.partition(".")[0] for path in self.columns}
        numbers = [path for path in "01" if path in self.columns and self.columns[path].are_numbers]
        falls = len(numbers) == 1 and slope(self.lists(numbers[0])) == "falls"
        return numbers[0] if falls and places == {"0", "1"} else ""


def changes(values: Sequence[Any]) -> int:
    """Return how often a value differs from the one before."""
    return sum(one != other for one, other in pairwise(values))


def slope(lists: Lists) -> str:
    """Return what the numbers do along each list: ``rises``, ``falls`` or neither."""
    numbers = [[float(one) for one in of if is_number(one)] for of in lists]
    if not any(len({*of}) > 1 for of in numbers):
        return ""
    rising = all(of == sorted(of) for of in numbers)
    falling = all(of == sorted(of, reverse=True) for of in numbers)
    return "rises" if rising else "falls" if falling else ""


def differ_in(lists: Sequence[Sequence[Any]]) -> bool:
    """Whether a list differs from the first one."""
    return any(one != lists[0] for one in lists)


def structures(records: Sequence[Any], search: Search) -> Iterator[Iterable[Structure]]:
    """Yield the structures of some records, of one kind after the other; the likeliest first."""
    nested = bool(records) and any(isinstance(of, list | dict) for _, of in _walk(records[0]))
    sample = [_cut(unfolded(one)) for one in records[: _LISTS_AT if nested else LOOKED_AT]]
    columns = _columns(sample)
    yield _with_lists(sample, columns, search)
    if "list" not in search.map and not (nested and isinstance(sample[0], list)):
        yield [Structure(columns, columns)]
        yield _matrices(columns)


def _cut(value: Any) -> Any:
    """Return a value with the first elements of its lists and the last, maybe of another query."""
    value = unfolded(value) if isinstance(value, list) else value  # attributes are one object
    if isinstance(value, list):
        first = value if len(value) <= _ELEMENTS else [*value[: _ELEMENTS - 1], value[-1]]
        return [_cut(one) for one in first]
    if type(value) is not dict:
        return value
    most = _ENTRIES if len(value) > 2 * _ENTRIES and maps_numbers(value) else len(value)
    return {key: _cut(one) for key, one in islice(value.items(), most)}


def _columns(records: Sequence[Any], cell: Callable[[Any], Any] = lambda value: value) -> Columns:
    """Return the scalars, also true and false, of records by path; None where there is none."""
    columns: dict[str, list[Any]] = {}
    for number, record in enumerate(records):
        for path, of in _walk(record):
            value = cell(of)
            if not isinstance(value, dict | list):
                column = columns.setdefault(path, [])
                column += [None] * (number - len(column))
                column.append(value)
    for column in columns.values():
        column += [None] * (len(records) - len(column))
    return _named(columns)


def _named(columns: Mapping[str, list[Any]]) -> Columns:
    return {path: Values(path, values) for path, values in columns.items()}


def _walk(value: Any, path: str = "", depth: int = _DEEPEST) -> Iterator[tuple[str, Any]]:
    """Yield the path and the value of everything in objects, and in short lists by place."""
    name, inner = plain_name(path.rpartition(".")[2]), unfolded(value)
    # Ids may look like JSON; `query` and `document` may be texts of objects.
    inside = isinstance(inner, dict) and inner and name in fields.RECORDS_INSIDE
    of_id = path == "@key" or name in (*fields.QUERY, *fields.DOCUMENT)
    if inside or not isinstance(value, str) or not of_id:
        value = inner
    if path:
        yield path, value
    of_list = isinstance(value, list) and {*map(type, value)} in ({list}, {dict})
    if isinstance(value, list) and not path and not of_list:
        value = {str(place): one for place, one in enumerate(value[:4])}
    if isinstance(value, dict) and depth:
        for key, inner in islice(value.items(), _KEYS):
            if not re.search(r"[,|=\[\]]|^$|^\s|\s$", key):
                yield from _walk(inner, f"{path}.{key}" if path else key, depth - 1)


def _lists(record: Any) -> Iterator[tuple[str, list[Any]]]:
    """Yield the path and the elements of each list under a record, inner lists joined."""
    for path, value in _walk(record):
        if maps_numbers(value):
            yield path, _entries(value)
        if not isinstance(value, list):
            continue
        yield path, value
        inner: dict[str, list[Any]] = {}
        tuples = _are_tuples(value)
        for element in value[:_ELEMENTS]:
            if isinstance(element, list) and not tuples:
                inner.setdefault(f"{path}[]", []).extend(element)  # of one query
            elif isinstance(element, dict):
                for below, some in _walk(element):
                    if isinstance(some, list) or maps_numbers(some):
                        more = some if isinstance(some, list) else _entries(some)
                        inner.setdefault(f"{path}[].{below}", []).extend(more)
        yield from inner.items()


def _are_tuples(value: list[Any]) -> bool:
    """Whether lists in a list are documents with a number: pairs, or texts and numbers by place."""
    if not all(isinstance(one, list) for one in value) or len({*map(len, value)}) != 1:
        return False
    columns = [*zip(*value, strict=True)]
    numbers = [all(map(is_number, column)) for column in columns]
    levels = numbers[-1:] == [True] and all(0 <= float(one) < 10 for one in columns[-1])
    return len({*numbers}) == 2 or (len(columns) == 2 and levels)


def maps_numbers(value: Any) -> bool:
    """Whether a value is an object of numbers alone."""
    return isinstance(value, dict) and bool(value) and all(map(is_number, value.values()))


def _entries(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the keys of an object and their values, or what is in these, as documents."""
    return [
        {"@key": key, **(inner if isinstance(inner, dict) else {"@value": inner})}
        for key, inner in value.items()
    ]


def _of_keys(records: Sequence[Any]) -> dict[int, list[Any]]:
    """Return the documents of objects that map ids to numbers, or to objects; {} of others."""
    if not all(isinstance(one, dict) for one in records):
        return {}
    inner = [one for record in records for one in record.values()]
    numbers = all(is_number(one) or isinstance(one, bool) for one in inner)
    objects = all(isinstance(one, dict) for one in inner) and _are_ids(records)
    return dict(enumerate(map(_entries, records))) if inner and (numbers or objects) else {}


def _are_ids(keys: Sequence[Collection[str]]) -> bool:
    """Whether the keys of objects are ids: most objects lack most of all keys."""
    return len({*chain(*keys)}) * len(keys) >= 2 * sum(map(len, keys))


def _are_rows(records: Sequence[Any]) -> bool:
    """Whether records are arrays of one width whose first value comes back, as a query does."""
    arrays = [one for one in records if isinstance(one, list) and one and is_scalar(one[0])]
    if len(arrays) < len(records) or len({*map(len, arrays)}) != 1:
        return False
    first = Values("0", [one[0] for one in arrays])
    return 1 < 2 * first.distinct <= len(records) and first.are_together


class _Listing(NamedTuple):
    """A list that may hold the documents of each record.

    Attributes
    ----------
    name
        The last key of its path, as a plain name.
    lists
        Its first elements, by the place of the record.
    beside
        The elements of the lists beside it, by their path.
    named
        Whether a name, or a user, says that it is a list of documents.
    place
        The place of its name among such names.
    reranked
        Whether another list, of places in it and of scores, is as long.
    """

    path: str
    name: str
    lists: Mapping[int, list[Any]]
    beside: Mapping[str, list[Any]]
    named: bool
    place: int
    reranked: bool

    @property
    def elements(self) -> list[Any]:
        """The elements of all records."""
        return [*chain(*self.lists.values())]

    @property
    def sizes(self) -> list[int]:
        """How many elements each record has."""
        return [*map(len, self.lists.values())]


def _with_lists(records: Sequence[Any], columns: Columns, search: Search) -> Iterator[Structure]:
    """Yield the documents of records that each have a list, or an object, of them."""
    for listing in _listings(records, columns, search):
        path = listing.path
        elements = [unfolded(one) for one in listing.elements]
        scalars = any(is_scalar(one) or one is None for one in elements)
        inner = {} if scalars else _columns(elements, alone)
        hits = (
            _of_objects(listing, inner, search) if inner else _of_ids(listing, len(records), search)
        )
        if hits is None:
            continue
        outside = {name: of for name, of in columns.items() if not name.startswith(f"{path}.")}
        yield replace(
            hits,
            beside={} if path == "@value" else outside,
            sizes=listing.sizes,
            path=path,
            named=listing.named,
            everywhere=len(listing.lists) == len(records),
            order=(len(records) - sum(map(bool, listing.sizes)), path.count("."), listing.place),
        )


def _listings(records: Sequence[Any], columns: Columns, search: Search) -> Iterator[_Listing]:
    """Yield the lists under some records, also those in cells, but for lists of judgements."""
    lists = _lists_by_path(records, columns, search)
    names: tuple[str, ...] = (*fields.RETRIEVED, *fields.DOCUMENT)
    if search.kind == "qrels":
        names = (*fields.JUDGED, *fields.DOCUMENT, *fields.JUDGED_DOCUMENT)
    wanted = search.map.get("list", "")
    for path, some in lists.items():
        elements = [unfolded(one) for one in chain(*some.values())]
        name, outer = list_name(path), path.rpartition("[]")[0]
        beside = {
            other: [*chain(*of.values())]
            for other, of in lists.items()
            if other != path and _place_of(other) == _place_of(path)
        }
        if path != wanted and (wanted or _is_of_others(path, elements, beside, search)):
            continue
        if _are_of_queries(path, lists):
            continue
        # In a list, citations are places.
        of_keys = any("@value" in one for one in elements[:1] if isinstance(one, dict))
        cited = search.kind == "run" and name == "citations" and of_keys
        expected = search.kind == "qrels" and _expects_ids(path)
        # The field of a document may be a list of one id, and an id may have bars.
        of_document = path in columns or (outer and not path.endswith("[]"))
        known = name in names and not (of_document and name in fields.DOCUMENT)
        named = known or cited or expected or path in (wanted, "@value")
        place = (*names, name).index(name)
        yield _Listing(path, name, some, beside, named, place, _is_reranked(path, lists))


def _says_gold(path: str) -> bool:
    """Whether a word of a path says that people, and no retriever, made what is there."""
    return not fields.NO_RANKING.isdisjoint(plain_name(path).split("_"))


def _expects_ids(path: str) -> bool:
    """Whether a path says that its list has the ids of people, as `expected.document_ids`."""
    return _says_gold(path) and list_name(path).endswith("ids")


def _is_of_others(
    path: str, elements: Sequence[Any], beside: Mapping[str, list[Any]], search: Search
) -> bool:
    """Whether a name says that a list is of judgements for a run, or of results for qrels.

    Qrels may be a list of results that has levels, or a list beside it.
    """
    name = list_name(path)
    if search.kind == "run":
        return name not in fields.RETRIEVED and (name in fields.JUDGED or _says_gold(path))
    if not fields.NEGATIVE.isdisjoint(name.split("_")):
        return True
    if name in fields.JUDGED or name not in fields.RETRIEVED:
        return False
    objects = [one for one in elements if isinstance(one, dict)]
    levels = find(_columns(objects), fields.LEVEL) is not None or any(
        _are_numbers_of(other, of, search) for other, of in beside.items()
    )
    return not levels and not _expects_ids(path)


def _are_of_queries(path: str, lists: Mapping[str, Mapping[int, list[Any]]]) -> bool:
    """Whether the lists in a list are each of another query, or inside documents."""
    outer, inside, below = path.rpartition("[]")
    above = [*lists.get(outer, {}).values()] if inside else []
    if not any(len(of) > 1 for of in above):
        return False
    return _are_hits(above) if below else list_name(path) not in fields.JUDGED


def _lists_by_path(
    records: Sequence[Any], columns: Columns, search: Search
) -> dict[str, dict[int, list[Any]]]:
    """Return the first elements of lists, by their path and the place of the record."""
    lists: dict[str, dict[int, list[Any]]] = {}
    wanted = search.map.get("list", "")
    if wanted in ("", "@value"):
        arrays = {place: one for place, one in enumerate(records) if isinstance(one, list)}
        whole = {} if _are_rows(records) else arrays
        if search.map.get("query") == "@key":
            whole = whole or _of_keys(records)
        lists |= {"@value": whole} if whole else {}
    for place, record in enumerate(records):
        for path, elements in _lists(record):
            lists.setdefault(path, {})[place] = elements[:_ELEMENTS]
    for path, column in columns.items():
        if path in lists or not (path == wanted or is_cell(column)):
            continue
        cells = {
            place: listed_in(cell)
            for place, cell in enumerate(column.values)
            if isinstance(cell, str)
        }
        if path == wanted or not _are_texts([*chain(*cells.values())]):
            maps = {place: _entries(of) for place, of in cells.items() if type(of) is dict}
            lists[path] = maps or cells
    return {**lists, wanted: lists.get(wanted.split("|")[0], {})} if wanted else lists


def list_name(path: str) -> str:
    """Return the plain name of a list."""
    return plain_name(re.split(r"\.|\[\]\.", path.removesuffix("[]"))[-1])


def _place_of(path: str) -> tuple[str, bool]:
    """Return what the lists beside each other share: the record, and whether they are double."""
    return path.removesuffix("[]").rpartition(".")[0], path.endswith("[]")


def is_cell(column: Values) -> bool:
    """Whether the texts of a column are lists: several values between bars, or by its name."""
    texts = [value for value in column.values if isinstance(value, str) and value]
    if 2 * sum("|" in text for text in texts) > len(texts):
        return True
    of_name = plain_name(column.path) in (*fields.RETRIEVED, *fields.JUDGED)
    return of_name and any(mark in text for text in texts for mark in "|;,\n")


def _are_texts(values: Sequence[Any]) -> bool:
    """Whether most values are texts of several words."""
    return 2 * sum(len(str(value).split()) > 1 for value in values) > len(values)


def _are_hits(some: Sequence[list[Any]]) -> bool:
    """Whether the elements of some lists name queries, or are documents with scores themselves."""
    names = (*fields.QUERY_ID, *fields.QUERY_TEXT, *fields.SCORE)
    return any(isinstance(one, dict) and find(one, names) for of in some for one in of)


def _is_reranked(path: str, lists: Mapping[str, Mapping[int, list[Any]]]) -> bool:
    """Whether another list of as many objects has places in this one, and scores."""
    sizes = [*map(len, lists[path].values())]
    return any(
        isinstance(one, dict) and "index" in one and find(one, fields.SCORE) is not None
        for other, of in lists.items()
        if other != path and [*map(len, of.values())] == sizes
        for one in chain(*of.values())
    )


def _are_numbers_of(path: str, values: Sequence[Any], search: Search) -> bool:
    """Whether a list beside ids has their scores or levels."""
    name = list_name(path)
    if search.kind == "run":
        return name in _LISTS_OF_SCORES and all(map(is_number, values))
    return fields.are_levels(name) and all(
        isinstance(one, bool) or is_number(one) for one in values
    )


def _of_ids(listing: _Listing, count: int, search: Search) -> Structure | None:
    """Return a list of ids, which may have lists of scores and of objects beside it."""
    lists, ids = [*listing.lists.values()], Values("@value", listing.elements)
    alike = len(lists) < count or max(listing.sizes, default=0) < 2 or not differ_in(lists)
    if (
        not (ids.values or listing.named)
        or not ids.may_be_ids
        or ("doc" not in search.map and ids.are_texts)
        or (alike and count > 1 and not listing.named)
    ):
        return None
    columns, alias = {"@value": ids}, {"@value": {"doc": "@value"}}
    scored = False
    for other, values in listing.beside.items():
        if _are_numbers_of(other, values, search):
            scored = True
            columns[other] = Values(other, values)
            alias[other] = {"scores" if search.kind == "run" else "levels": other}
        elif len(values) == len(ids.values) and all(isinstance(one, dict) for one in values):
            for name, of in _columns(values).items():
                columns[name], alias[name] = of, {"list": other, "doc": name}
    rivals = [
        name
        for name, of in listing.beside.items()
        if len(of) == len(ids.values)
        and not _are_texts(of)
        and (list_name(name) in search.lists or not all(map(is_number, of)))
    ]
    # Only ids have scores.
    of_scores = scored and not rivals and meaning(listing.name) == "unknown"
    return Structure(
        columns,
        {},
        docs={"@value": not listing.reranked},
        alias=alias,
        doubts=() if of_scores else ("list", "doc"),
        are_places=_are_places(lists),
    )


def _are_places(lists: Lists) -> bool:
    """Whether whole numbers are places in another list, as citations are, and no ids.

    They count from 0, or go from 1 to their number in each list.
    """
    flat = [*chain(*lists)]
    counted = all([*map(str, of)] == [*map(str, range(1, len(of) + 1))] for of in lists)
    return all(map(is_number, flat)) and (counted or any(str(one) == "0" for one in flat))


def _of_objects(listing: _Listing, columns: Columns, search: Search) -> Structure | None:
    """Return objects or pairs, unless each names its query: a document a record."""
    hits = Structure(columns, {}, listing.sizes)
    queries = (path for path, of in columns.items() if of.name in fields.QUERY_ID)
    if any(len({*map(str, of)}) > 1 for path in queries for of in hits.lists(path)):
        return None
    if "@key" not in columns:
        return hits
    names, settled = columns["@key"].values, True
    if "@value" in columns and listing.path == "@value":
        # Names of measures, say, are no ids of documents.
        settled = any(map(fields.may_be_document, names))
    elif "@value" in columns:
        unknown = listing.named and all(meaning(name) == "unknown" for name in names)
        if not (unknown or (search.kind == "run" and _are_ids(hits.lists("@key")))):
            return None
    return replace(hits, docs={"@key": settled}, doubts=("list", "doc"))


def _matrices(columns: Columns) -> Iterator[Structure]:
    """Yield a query a record, and a number for each document."""
    numbers: list[str] = []
    others: list[str] = []
    for path, of in columns.items():
        filled = Values(path, [one for one in of.values if one not in ("", None)])
        of_query = plain_name(path) in fields.QUERY_ID
        (numbers if filled.values and filled.are_numbers and not of_query else others).append(path)
    if len(numbers) < 3 or len(others) != 1 or "0" in columns:
        return
    query = columns[others[0]]
    if query.name not in fields.DOCUMENT and all(map(fields.may_be_document, numbers)):
        yield Structure(
            _named({"@key": [], "@value": []}),
            {query.path: query},
            path="@value",
            named=False,
            doubts=("list", "doc"),
            docs={"@key": True},
        )


_BATCHES = ("resource_spans", "scope_spans")  # lists of records in lists, of OpenTelemetry
_LISTS_OF_SCORES = (*fields.SCORES, *fields.SCORE, *fields.DISTANCE)
_NAMED = (*fields.QUERY, *fields.QUERY_TEXT, *fields.DOCUMENT, "ids", "id")


def records_in(
    value: Any, path: str = "$", depth: int = 0
) -> Iterator[tuple[str, list[Any], bool]]:
    """Yield paths to records, some of these records, and whether keys name their queries."""
    if depth > 4 or not isinstance(value, dict):
        return
    rows = table_rows(value)
    if rows:
        labelled = rows[0][0] is not None
        yield f"{path}.{TABLE}", [row for _, row in rows[:LOOKED_AT]], labelled
    inner = list(islice(value.values(), LOOKED_AT))
    types = {type(one) for one in inner}
    lists = {*fields.RETRIEVED, *fields.JUDGED}
    named = types == {dict} or not depth or len(value) > 1 or list_name(path) in lists
    keyed = types in ({dict}, {list}) and not is_record(value)
    if keyed and named and not _are_records(inner):
        yield path, inner, True
    of_queries = keyed and types == {dict} and len(value) > 1 and _are_alike(inner)
    for key, child in islice(value.items(), _KEYS):
        if of_queries and plain_name(key) not in lists:
            continue  # a query's id
        below = f"{path}.{key}"
        if isinstance(child, list) and child and isinstance(child[0], dict | list):
            yield below, child[:LOOKED_AT], False
            if plain_name(key) in _BATCHES:
                yield from records_in(child[0], f"{below}[]", depth + 1)
        elif isinstance(child, dict):
            yield from records_in(child, below, depth + 1)


def _are_records(lists: Sequence[Any]) -> bool:
    """Whether a single list has objects with lists in them: records, not documents of one query."""
    objects = lists[0] if len(lists) == 1 and isinstance(lists[0], list) else []
    return bool(objects) and all(
        isinstance(one, dict) and any(path.count("[]") == 0 for path, _ in _lists(one))
        for one in objects
    )


def _are_alike(objects: Sequence[Mapping[str, Any]]) -> bool:
    """Whether objects share types of values, as queries do, and a configuration does not."""
    types = [{*map(type, one.values())} for one in objects if one]
    return all(one & types[0] for one in types)


def table_rows(value: Any) -> list[tuple[str | None, dict[str, Any]]] | None:
    """Return the rows of a table as records, each with its query if it labels a row; else None.

    ``{"columns": […], "data" or "values" or "rows": [[…], …]}``, names being texts or objects with
    a name; ``{name: [value, …]}`` and ``{name: {row: value}}`` of one length, as pandas writes a
    frame whose index has the queries.
    """
    if not isinstance(value, dict) or not value:
        return None
    names = value.get("columns", value.get("meta"))  # ClickHouse has meta
    rows = next((value[key] for key in ("data", "values", "rows") if key in value), None)
    if isinstance(names, list) and isinstance(rows, list):
        names = [name.get("name") if isinstance(name, dict) else name for name in names]
        if all(isinstance(row, list) and len(row) == len(names) for row in rows):
            return [(None, dict(zip(map(str, names), row, strict=True))) for row in rows]
    key = find(value, _NAMED)
    if key is not None and plain_name(key) == "queries" and isinstance(value[key], dict):
        return None  # from ids to texts
    if key is None or not isinstance(value[key], list | dict) or not value[key]:
        return None
    alike = type(value[key]), len(value[key])
    columns = {
        name: of
        for name, of in value.items()
        if isinstance(of, list | dict) and (type(of), len(of)) == alike
    }
    of_rows = [of for of in value.values() if isinstance(of, dict)]
    if len(columns) < 2 or (
        alike[0] is dict and any(list(of) != list(value[key]) for of in of_rows)
    ):
        return None
    rows_of = [list(of.values() if isinstance(of, dict) else of) for of in columns.values()]
    labels: list[str | None] = [None] * alike[1]
    named = find(columns, (*fields.QUERY, *fields.QUERY_TEXT)) is not None
    if alike[0] is dict and not named and [*value[key]] != [*map(str, range(alike[1]))]:
        labels = list(value[key])
    cells = (dict(zip(columns, row, strict=True)) for row in zip(*rows_of, strict=True))
    return list(zip(labels, cells, strict=True))


def is_record(value: Mapping[str, Any]) -> bool:
    """Whether an object has the keys of a record, rather than ids of queries.

    A query may have the id ``qid`` or ``docid`` if its value is an object of documents and numbers;
    in a record that value is an id. A record's ``query`` may be another record.
    """
    for key, inner in value.items():
        if plain_name(str(key)) in fields.RECORD_KEYS:
            numbers = isinstance(inner, dict) and all(map(is_scalar, inner.values()))
            inside = plain_name(str(key)) in fields.RECORDS_INSIDE
            names = inner if inside and isinstance(inner, dict) else ()
            if not numbers or any(plain_name(name) in fields.RECORD_KEYS for name in names):
                return True
    return False
