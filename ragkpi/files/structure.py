"""The structure of parsed records: the lists in them, and the columns of each list.

A list of objects, of pairs, of ids, or an object that maps documents to numbers becomes a `Listing`
of columns, at any depth of a record; so do the records themselves. `tables_in` and
`queries_in` find records that are a table, or the values of an object whose keys are queries.

This module never compares values, only their types: text, number, list or object.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal, NamedTuple

from ragkpi.files import column_names as fields
from ragkpi.files.column_names import plain_name
from ragkpi.files.json_text import Path, is_number, is_scalar, listed_in, unfolded

LOOKED_AT = 100  # records
TABLE = "@table"  # in a path: the rows of a table
_LISTS_AT = 25  # records with lists
_ELEMENTS = 10  # of a list
_KEYS = 200  # of an object
_DEEPEST = 12
_LEVEL_KEY = re.compile(r"-?\d{1,2}")
_NUMBERED = re.compile(r"\.\d+\.")  # one of several, under numbered keys
_NO_KEY = re.compile(r"[,|=\[\]]|^$|^\s|\s$")  # impossible in a map


@dataclass
class Listing:
    """The content of a list or of an object of documents; path "" is the records themselves.

    `columns` has the scalars by their path in an element. Elements that are scalars are the column
    ``@value``, an object of numbers has ``@key`` and ``@value``, a list of tuples ``0``, ``1``, ….
    """

    path: str
    columns: dict[str, list[Any]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The plain name of the list."""
        return list_name(self.path)

    @property
    def around(self) -> tuple[str, bool]:
        """What neighbouring lists share: the record, and whether they are in a list."""
        return self.path.removesuffix("[]").rpartition(".")[0], self.path.endswith("[]")

    @property
    def is_of_values(self) -> bool:
        """Whether all elements are scalars."""
        return self.columns.keys() == {"@value"}

    @property
    def is_of_tuples(self) -> bool:
        """Whether elements have their parts by position."""
        return any(path.partition(".")[0].isdigit() for path in self.columns)

    def of_name(self, names: Sequence[str]) -> list[str]:
        """Return the paths whose last key has one of some names, the earliest name first."""
        found = [
            path for path in self.columns if last_name(path) in names and not _NUMBERED.search(path)
        ]
        found.sort(
            key=lambda path: (names.index(last_name(path)), path.count("."), path[:1] == "_")
        )
        return found

    def is_only(self, path: str) -> bool:
        """Whether no other key next to a path has the same name, as score and Score have."""
        above, _, key = path.rpartition(".")
        others = (one.rpartition(".")[2] for one in self.columns if one.rpartition(".")[0] == above)
        return not any(
            plain_name(other) == plain_name(key) and other.strip("_@$") != key.strip("_@$")
            for other in others
        )

    def ids_of_name(self, names: Sequence[str]) -> list[str]:
        """Return those paths of `of_name` that have texts or numbers."""
        return [path for path in self.of_name(names) if are_scalars(self.columns[path])]


def last_name(path: str) -> str:
    """Return the last key of a path as a plain name."""
    return plain_name(path.rpartition(".")[2])


def name_above(path: str) -> str:
    """Return the key before the last one as a plain name; "" at the top."""
    return last_name(path.rpartition(".")[0])


def list_name(path: str) -> str:
    """Return the plain name of a list."""
    return plain_name(re.split(r"\.|\[\]\.", path.removesuffix("[]"))[-1])


def are_scalars(values: Sequence[Any]) -> bool:
    """Whether values are texts or numbers, with some nulls at most."""
    known = [value for value in values if value is not None]
    return bool(known) and all(map(is_scalar, known))


def are_numbers(values: Sequence[Any]) -> bool:
    """Whether values are numbers, with some nulls at most."""
    known = [value for value in values if value is not None]
    return bool(known) and all(map(is_number, known))


def are_levels(values: Sequence[Any]) -> bool:
    """Whether values are numbers, or true and false, with some nulls at most."""
    known = [value for value in values if value is not None]
    return bool(known) and all(isinstance(one, bool) or is_number(one) for one in known)


def are_texts(values: Sequence[Any]) -> bool:
    """Whether most values are texts of several words."""
    return 2 * sum(len(str(value).split()) > 1 for value in values) > len(values)


class Structure(dict[str, Listing]):
    """The listings under some records, by path.

    `keys_of_levels` is the path to an object whose keys are levels, with lists of documents;
    `others` are keys that are impossible in a map, such as ``round(sim, 4)``.
    """

    keys_of_levels = ""
    others = frozenset[str]()

    @classmethod
    def of(cls, records: Sequence[Any], keyed: bool = False) -> Structure:
        """Gather the listings of the first records; `keyed`: of queries that are keys."""
        structure = cls()
        for number, record in enumerate(records[:LOOKED_AT]):
            if number >= _LISTS_AT and len(structure) > 1:
                break
            if keyed and maps_documents(record):
                structure._add_object("@value", record)
            else:
                structure._add(record)
        return structure

    def at(self, path: str) -> Listing:
        """Return the listing at a path; an empty one if there is none."""
        return self.get(path) or Listing(path)

    def beside(self, listing: Listing, named: Callable[[str], bool]) -> list[str]:
        """Return the lists of numbers next to a list that have such a name."""
        return [
            other.path
            for other in self.values()
            if other.path not in ("", listing.path)
            and other.around == listing.around
            and other.is_of_values
            and named(other.name)
            and are_levels(other.columns["@value"])
        ]

    def _column(self, listing: str, path: str) -> list[Any]:
        return self.setdefault(listing, Listing(listing)).columns.setdefault(path, [])

    def _add(self, value: Any, outer: str = "", path: str = "", depth: int = 0) -> None:
        """Add the content of a value, at a path in the elements of the list `outer`."""
        value = _without_text_ids(value, path)
        whole = f"{outer}[].{path}" if outer and path else outer or path
        if isinstance(value, dict):
            if value and all(map(_LEVEL_KEY.fullmatch, value)):
                lists = all(isinstance(one, list) for one in value.values())
                self.keys_of_levels = (whole or "the query") if lists else self.keys_of_levels
            if maps_numbers(value) and path:
                self._add_object(whole, value)
            for key, one in islice(value.items(), _KEYS if depth < _DEEPEST else 0):
                if _NO_KEY.search(key):
                    self.others |= {key}
                else:
                    self._add(one, outer, f"{path}.{key}" if path else key, depth + 1)
        elif isinstance(value, list):
            alone = len(value) == 1 and is_scalar(value[0])
            label = last_name(path) in fields.LEVEL and not are_numbers(value)
            if alone and (outer or label):
                self._column(outer, path).append(value[0])  # a field of a search engine, a label
            else:
                self._add_list(whole or "@value", value, depth)
        else:
            self._column(outer, path or "@value").append(value)
            if not outer and isinstance(value, str) and _is_cell(path, value):
                cell = listed_in(value)
                if isinstance(cell, dict):
                    self._add_object(path, cell)
                elif isinstance(cell, list):
                    self._add_list(path, cell, depth)

    def _add_object(self, path: str, value: Mapping[str, Any]) -> None:
        self._column(path, "@key").extend(value)
        self._column(path, "@value").extend(value.values())

    def _add_list(self, path: str, value: Sequence[Any], depth: int) -> None:
        self.setdefault(path, Listing(path))
        first = value[:_ELEMENTS]
        tuples = _are_tuples(first)
        if not tuples and {list} < {*map(type, first)}:
            return  # by position, such as Redis' count, id, score and fields
        for element in first:
            element = unfolded(element) if isinstance(element, str) else element
            if isinstance(element, list) and tuples:
                for place, one in enumerate(element):
                    self._add(one, path, str(place), depth + 1)
            elif isinstance(element, list):
                self._add_list(f"{path}[]", element, depth + 1)
            else:
                self._add(element, path, "", depth + 1)


def _without_text_ids(value: Any, path: str) -> Any:
    """Return a value with its text parsed; an id or a query text can look like a list."""
    inner, name = unfolded(value), last_name(path)
    if not isinstance(value, str) or name not in (*fields.QUERY, *fields.DOCUMENT):
        return inner
    # `query` and `document` can be texts of objects; an id can look like one.
    return inner if inner and isinstance(inner, dict) and name in fields.RECORDS_INSIDE else value


def _is_cell(path: str, text: str) -> bool:
    """Whether a text has several values, as a cell of a table: by its name and a separator."""
    name = plain_name(path)
    of_numbers = fields.are_scores(name) or fields.are_levels(name)
    of_ids = name in (*fields.RETRIEVED, *fields.JUDGED)
    return (of_ids or of_numbers) and any(mark in text for mark in "|;,\n")


def _are_tuples(elements: Sequence[Any]) -> bool:
    """Whether lists in a list have parts by position: of one length and several types."""
    if not elements or not all(isinstance(one, list) and len(one) > 1 for one in elements):
        return False
    inner = any(isinstance(of, list) for one in elements for of in one)
    if inner or len({*map(len, elements)}) != 1:
        return False
    columns = [*zip(*elements, strict=True)]
    if (
        len(columns) == 2
        and are_numbers(columns[1])
        and all(0 <= float(one) < 10 for one in columns[1])
    ):
        return True  # levels; ids can be numbers as well
    kinds = [{"number" if is_number(one) else type(one) for one in column} for column in columns]
    return all(len(of) == 1 for of in kinds) and any(of != kinds[0] for of in kinds)


def maps_numbers(value: Any) -> bool:
    """Whether a value is an object of numbers only."""
    return isinstance(value, dict) and bool(value) and all(map(is_number, value.values()))


def maps_documents(value: Any) -> bool:
    """Whether a query's object maps ids to numbers, or to words for levels."""
    if not isinstance(value, dict) or not value:
        return False
    known = any(plain_name(key) in _OF_RECORDS for key in value)
    words = all(isinstance(one, bool) or is_scalar(one) for one in value.values())
    return are_levels([*value.values()]) or (words and not known)


_OF_RECORDS = {
    *fields.RECORD_KEYS,
    *fields.RECORDS_AROUND,
    *fields.QUERY_TEXT,
    *fields.CASE_ID,
    *fields.JUDGED_DOCUMENT,
    *fields.TEXT,
    *fields.SOURCES,
}
_OF_QUERIES = {*fields.RETRIEVED, *fields.JUDGED, "run"}  # keys of objects whose keys are queries

Root = Literal["$", "$[]", ""]
"""What the records are: one object or lines, elements of an array, or rows without records."""


class Place(NamedTuple):
    """Where records can be.

    Attributes
    ----------
    values
        Some of them.
    path
        As in the part ``records`` of a map; "" for the records of the file.
    root
        Of these.
    keyed
        Whether their keys name the queries.
    """

    values: Sequence[Any]
    path: str = ""
    root: Root = ""
    keyed: bool = False

    @property
    def is_table(self) -> bool:
        """Whether they are the rows of a table."""
        return self.path.endswith(TABLE)


def places_in(records: Sequence[Any], root: Root) -> Iterator[Place]:
    """Yield the records themselves, then tables and objects of queries in them."""
    yield Place(records, "", root)
    inner = list(_objects(records[0])) if root and records and isinstance(records[0], dict) else []
    for path, value in inner:
        if rows := table_rows(value):
            yield _table(rows, f"{root}{path}.{TABLE}")
    whole = [one for one in records if isinstance(one, dict)] if root else []
    around = any(plain_name(key) in fields.RECORDS_AROUND for one in whole for key in one)
    if len(whole) == len(records) and not around and not any(map(_is_record, whole)):
        values = [of for one in whole for of in one.values()]
        if _are_alike(values) or (len(records) == 1 and _are_words(values)):
            yield Place(values[:LOOKED_AT], root, keyed=True)
    # In a record of a query, such keys are levels.
    alone = len(records) == 1 and inner and fields.find(records[0], fields.QUERY_ID) is None
    for path, value in inner[1:] if alone else ():
        values = [*value.values()]
        if list_name(path) in _OF_QUERIES and not _is_record(value) and _are_alike(values):
            yield Place(values[:LOOKED_AT], f"{root}{path}", keyed=True)


def place_at(records: Sequence[Any], path: str) -> Place:
    """Return the records at a path of a user's map."""
    steps = path.removeprefix("$").removeprefix("[]").strip(".")
    keys = steps.removesuffix(TABLE).strip(".")
    first = records[0] if records else {}
    value = Path(keys).any_value(first) if keys else first
    if steps.endswith(TABLE):
        return _table(table_rows(value) or [], path)
    if isinstance(value, dict):
        return Place([*value.values()], path, keyed=True)
    return Place(value or [], path)


def _table(rows: Sequence[tuple[str | None, dict[str, Any]]], path: str) -> Place:
    labelled = bool(rows) and rows[0][0] is not None
    return Place([row for _, row in rows[:LOOKED_AT]], path, keyed=labelled)


def _objects(value: Mapping[str, Any], path: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield an object and the objects under its keys, with their paths."""
    yield path, value
    for key, inner in islice(value.items(), _KEYS if depth < 4 else 0):
        if isinstance(inner, dict):
            yield from _objects(inner, f"{path}.{key}", depth + 1)


def _are_alike(values: Sequence[Any]) -> bool:
    """Whether values are all objects, or all lists."""
    return any(all(isinstance(one, of) for one in values) for of in (dict, list))


def _are_words(values: Sequence[Any]) -> bool:
    """Whether values are single words: the only relevant document of each query."""
    words = all(isinstance(one, str) and len(one.split()) == 1 for one in values)
    return bool(values) and words and not are_numbers(values)


def _is_record(value: Mapping[str, Any]) -> bool:
    """Whether an object has the keys of a record, rather than ids of queries."""
    return any(
        plain_name(key) in _OF_RECORDS and not maps_documents(inner) for key, inner in value.items()
    )


_OF_PLACES = (
    *fields.RETRIEVED,
    *fields.DOCUMENT,
    *fields.JUDGED,
    *fields.JUDGED_DOCUMENT,
    *fields.SCORE,
    *fields.DISTANCE,
    *fields.LEVEL,
)
_PLACE = re.compile(r"(.+?)[-_ ]?(0|[1-9]\d*)")


def lists_of_places(names: Sequence[str]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a function that gathers numbered columns of a row into lists.

    ``doc_1``, ``doc_2``, ``score_1``, ``score_2`` become the lists ``doc`` and ``score``, without
    empty cells at their ends.
    """
    places: dict[str, dict[int, str]] = {}
    for name in names:
        match = _PLACE.fullmatch(name)
        if match and plain_name(match[1]) in _OF_PLACES and match[1] not in names:
            places.setdefault(match[1], {})[int(match[2])] = name
    lists = {name: [of[place] for place in sorted(of)] for name, of in places.items()}
    taken = {name for of in lists.values() for name in of}

    def gathered(row: dict[str, Any]) -> dict[str, Any]:
        rest = {name: cell for name, cell in row.items() if name not in taken}
        for name, of in lists.items():
            cells = [row[one] for one in of]
            while cells and cells[-1] in ("", None):
                del cells[-1]
            rest[name] = cells
        return rest

    return gathered if lists else lambda row: row


_NAMED = (*fields.QUERY, *fields.QUERY_TEXT, *fields.DOCUMENT, "ids", "id")


def table_rows(value: Any) -> list[tuple[str | None, dict[str, Any]]] | None:
    """Return the rows of a table as records, each with its query if it labels a row; else None.

    ``{"columns": […], "data" or "values" or "rows": [[…], …]}`` with names as texts or objects with
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
    key = fields.find(value, _NAMED)
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
    named = fields.find(columns, (*fields.QUERY, *fields.QUERY_TEXT)) is not None
    if alike[0] is dict and not named and [*value[key]] != [*map(str, range(alike[1]))]:
        labels = list(value[key])
    cells = (dict(zip(columns, row, strict=True)) for row in zip(*rows_of, strict=True))
    return list(zip(labels, cells, strict=True))
