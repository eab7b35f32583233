"""Find queries, documents, scores and levels in parsed records by the names of their keys.

1. The keys match a stack of `ragkpi.files.stacks`: its map applies.
2. Names identify one list or row, one query, one document and at most one score or rank, at any
   depth of the structure.
3. Otherwise nothing is read: the `Recognition` lists the keys with examples, and a map with ``?``
   for each part that no name identifies.

The walk over the first records yields facts: for each list its columns. Values are never compared:
only types count (text, number, list or object), and whether texts have several words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any, Literal, NamedTuple, TypeAlias

from ragkpi.files import column_names as fields
from ragkpi.files.column_names import meaning, plain_name
from ragkpi.files.opening import Kind
from ragkpi.files.paths import any_value, is_number, is_scalar
from ragkpi.files.stacks import STACKS, Stack
from ragkpi.interface import spell
from ragkpi.wording import listed

LOOKED_AT = 25  # records
TABLE = "@table"  # in a path: the rows of a table
_ELEMENTS = 10  # of a list
_KEYS = 200  # of an object
_DEEPEST = 12
_MOST_NAMED = 4  # lists, and maps, in a message
_MOST_KEYS = 20
_LONGEST_EXAMPLE = 20
_NUMBERED = re.compile(r"\.\d+\.")  # one of several, under numbered keys
_LEVEL_KEY = re.compile(r"(.+)\.-?\d{1,2}")
_NUMBERS = {*fields.ORDER_PARTS, "level", "levels"}  # parts of a map
NO_MAP: Mapping[str, str] = {}
Root = Literal["$", "$[]", ""]
"""What the records are: one object or lines, elements of an array, or rows without records."""


def last_name(path: str) -> str:
    """Return the last key of a path as a plain name."""
    return plain_name(path.rpartition(".")[2])


def name_above(path: str) -> str:
    """Return the key before the last one as a plain name; "" at the top."""
    return last_name(path.rpartition(".")[0])


def are_some(values: Sequence[Any]) -> bool:
    """Whether not all values are null."""
    return any(one is not None for one in values)


def are_scalars(values: Sequence[Any]) -> bool:
    """Whether values are texts or numbers, with some nulls at most."""
    return are_some(values) and all(one is None or is_scalar(one) for one in values)


def are_numbers(values: Sequence[Any]) -> bool:
    """Whether values are numbers, with some nulls at most."""
    return are_scalars(values) and all(one is None or is_number(one) for one in values)


def are_levels(values: Sequence[Any]) -> bool:
    """Whether values are numbers, or true and false, with some nulls at most."""
    return are_numbers([str(int(one)) if isinstance(one, bool) else one for one in values])


def are_texts(values: Sequence[Any]) -> bool:
    """Whether most values are texts of several words."""
    return 2 * sum(len(str(value).split()) > 1 for value in values) > len(values)


class Listing(NamedTuple):
    """The columns of a list or of an object of documents; path "" is the records themselves.

    `columns` has the scalars by their path in an element. Elements that are scalars are the column
    ``@value``, an object of numbers has ``@key`` and ``@value``, a list of pairs ``0`` and ``1``.
    """

    path: str
    columns: dict[str, list[Any]]

    @property
    def name(self) -> str:
        """The plain name of the list."""
        return last_name(self.path)

    @property
    def around(self) -> tuple[str, bool]:
        """What neighbouring lists share: the record, and whether they are in a list."""
        return self.path.removesuffix("[]").rpartition(".")[0], self.path.endswith("[]")

    def of_name(self, names: Sequence[str], are: Callable[[Sequence[Any]], bool]) -> list[str]:
        """Return the paths of such values whose last key has a name, the earliest name first."""
        paths = [
            path
            for path, values in self.columns.items()
            if last_name(path) in names and not _NUMBERED.search(path) and are(values)
        ]
        return sorted(
            paths, key=lambda path: (names.index(last_name(path)), path.count("."), path[:1] == "_")
        )


Facts: TypeAlias = dict[str, Listing]


def facts_of(records: Sequence[Any], keyed: bool = False) -> Facts:
    """Return the listings of the first records by path; `keyed`: of queries that are keys."""
    facts = {"": Listing("", {})}
    for record in records[:LOOKED_AT]:
        if keyed and _maps_documents(record):
            _add_object(facts, "@value", record)
        else:
            _add(facts, record)
    return facts


def _add(facts: Facts, value: Any, outer: str = "", path: str = "", depth: int = 0) -> None:
    """Add the content of a value, at a path in the elements of the list `outer`."""
    whole = f"{outer}[].{path}" if outer and path else outer or path
    columns = facts[outer].columns
    if isinstance(value, dict):
        if path and value and all(map(is_number, value.values())):
            _add_object(facts, whole, value)
        for key, one in islice(value.items(), _KEYS if depth < _DEEPEST else 0):
            key = key or "(no name)"
            _add(facts, one, outer, f"{path}.{key}" if path else key, depth + 1)
    elif not isinstance(value, list):
        columns.setdefault(path or "@value", []).append(value)
    elif (
        len(value) == 1
        and is_scalar(value[0])
        and (outer or (last_name(path) in fields.LEVEL and not is_number(value[0])))
    ):
        columns.setdefault(path, []).append(value[0])  # a field of a search engine, a label
    else:
        _add_list(facts, whole or "@value", value, depth)


def _add_object(facts: Facts, path: str, value: Mapping[str, Any]) -> None:
    columns = facts.setdefault(path, Listing(path, {})).columns
    columns.setdefault("@key", []).extend(value)
    columns.setdefault("@value", []).extend(value.values())


def _add_list(facts: Facts, path: str, value: Sequence[Any], depth: int) -> None:
    facts.setdefault(path, Listing(path, {}))
    some = value[:_ELEMENTS]
    pairs = _are_pairs(path, some)
    kinds = {type(one) if isinstance(one, list | dict) else str for one in some if one is not None}
    if not pairs and len(kinds) > 1 and (list in kinds or path.endswith("[]")):
        return  # by position, such as Redis' count, id, score and fields
    for element in some:
        if not isinstance(element, list):
            _add(facts, element, path, "", depth + 1)
        elif pairs:
            for place, one in enumerate(element):
                _add(facts, one, path, str(place), depth + 1)
        else:
            _add_list(facts, f"{path}[]", element, depth + 1)


def _are_pairs(path: str, elements: Sequence[Any]) -> bool:
    """Whether a list has pairs of an id and a number, and not of ids or of scores by its name."""
    if not elements or not all(isinstance(one, list) and len(one) == 2 for one in elements):
        return False
    ids, numbers = zip(*elements, strict=True)
    alike = are_numbers(ids) and last_name(path) in ("ids", *fields.SCORES)
    return are_numbers(numbers) and not alike


_OF_QUERIES = {*fields.RETRIEVED, *fields.JUDGED, "run"}  # keys of objects whose keys are queries


def _maps_documents(value: Any) -> bool:
    """Whether a query's object maps ids to numbers, or to words for levels."""
    if not isinstance(value, dict) or not value:
        return False
    words = all(isinstance(one, bool) or is_scalar(one) for one in value.values())
    return are_levels([*value.values()]) or (
        words and all(plain_name(key) not in fields.RECORD_KEYS for key in value)
    )


def _is_record(value: Mapping[str, Any]) -> bool:
    """Whether an object has the keys of a record, rather than ids of queries."""
    return any(
        plain_name(key) in fields.RECORD_KEYS and not _maps_documents(inner)
        for key, inner in value.items()
    )


def _are_of_queries(values: Sequence[Any]) -> bool:
    """Whether values are all objects, or all lists."""
    return any(all(isinstance(one, of) for one in values) for of in (dict, list))


class Place(NamedTuple):
    """Some records, their path as in ``records`` of a map, and whether their keys are queries."""

    values: Sequence[Any]
    path: str = ""
    root: Root = ""
    keyed: bool = False


def _places(records: Sequence[Any], root: Root) -> Iterator[Place]:
    """Yield the records themselves, then tables and objects of queries in them."""
    yield Place(records, "", root)
    if not root or not records or not all(isinstance(one, dict) for one in records):
        return
    inner = list(_objects(records[0]))
    for path, value in inner:
        if rows := table_rows(value):
            yield Place(rows, f"{root}{path}.{TABLE}")
    around = any(plain_name(key) in fields.RECORDS_AROUND for one in records for key in one)
    values = [of for one in records for of in one.values()]
    words = len(records) == 1 and are_scalars(values) and not are_numbers(values)
    one_each = words and all(len(str(one).split()) == 1 for one in values)
    if (_are_of_queries(values) or one_each) and not around and not any(map(_is_record, records)):
        yield Place(values, root, keyed=True)
    # In a record of a query, such keys are levels.
    if len(records) == 1 and fields.find(records[0], fields.QUERY_ID) is None:
        for path, value in inner[1:]:
            named = last_name(path) in _OF_QUERIES and not _is_record(value)
            if named and _are_of_queries([*value.values()]):
                yield Place([*value.values()], f"{root}{path}", keyed=True)


def _place_at(records: Sequence[Any], path: str) -> Place:
    """Return the records at a path of a user's map."""
    steps = path.removeprefix("$").removeprefix("[]").strip(".")
    keys = steps.removesuffix(TABLE).strip(".")
    first = records[0] if records else {}
    value = any_value(keys, first) if keys else first
    if steps.endswith(TABLE):
        return Place(table_rows(value) or [], path)
    if isinstance(value, dict):
        return Place([*value.values()], path, keyed=True)
    return Place(value or [], path)


def _objects(value: Mapping[str, Any], path: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield an object and the objects under its keys, with their paths."""
    yield path, value
    for key, inner in islice(value.items(), _KEYS if depth < 4 else 0):
        if isinstance(inner, dict):
            yield from _objects(inner, f"{path}.{key}", depth + 1)


_NAMED = (*fields.QUERY, *fields.QUERY_TEXT, *fields.DOCUMENT, "ids", "id")


def table_rows(value: Any) -> list[dict[str, Any]] | None:
    """Return the rows of a table as records; None for anything else.

    ``{"columns": […], "data" or "values" or "rows": [[…], …]}`` with names as texts or objects with
    a name; ``{name: [value, …]}`` and ``{name: {"0": value, …}}`` of one length.
    """
    if not isinstance(value, dict):
        return None
    names = value.get("columns", value.get("meta"))  # ClickHouse has meta
    rows = next((value[key] for key in ("data", "values", "rows") if key in value), None)
    if isinstance(names, list) and isinstance(rows, list):
        names = [str(name.get("name") if isinstance(name, dict) else name) for name in names]
        if all(isinstance(row, list) and len(row) == len(names) for row in rows):
            return [dict(zip(names, row, strict=True)) for row in rows]
    key = fields.find(value, _NAMED)
    first = None if key is None else value[key]
    if isinstance(first, dict) and list(first) != list(map(str, range(len(first)))):
        return None
    if not first or not isinstance(first, list | dict):
        return None
    columns = {
        name: list(of.values() if isinstance(of, dict) else of)
        for name, of in value.items()
        if type(of) is type(first) and len(of) == len(first)
    }
    rows_of = zip(*columns.values(), strict=True) if len(columns) > 1 else ()
    return [dict(zip(columns, row, strict=True)) for row in rows_of] or None


class Recognition(NamedTuple):
    """The parts of a sample of records that names identify.

    Attributes
    ----------
    maps
        From parts of a map to paths, with ``?`` for a part that no name identifies; several if
        several names match a part.
    fault
        Why nothing is read; "" if names identify every part.
    advice
        What to do if no map reads the file.
    stack
        The name of the stack whose map is complete; "" if names identify parts of it.
    """

    maps: Sequence[Mapping[str, str]]
    fault: str = ""
    advice: str = ""
    stack: str = ""

    @property
    def map(self) -> Mapping[str, str]:
        """The first map."""
        return self.maps[0]

    @property
    def is_plain(self) -> bool:
        """Whether the reading needs no note: a query id and no nested keys."""
        if self.map.get("records") == "$":
            return "list" in self.map
        of_id = plain_name(self.map.get("query", "")) in fields.QUERY_ID
        return of_id and not any("." in path or "[" in path for path in self.map.values())


def map_text(map_: Mapping[str, str]) -> str:
    """Return a map as a user writes it."""
    return ", ".join(f"{part}={path}" for part, path in map_.items())


_NOTHING: Mapping[Kind, tuple[str, str]] = {
    "run": ("contains no results", "expected at least one document"),
    "qrels": ("contains no judgements", "expected at least one"),
}


def recognise(
    records: Sequence[Any], kind: Kind, parts: Mapping[str, str] = NO_MAP, root: Root = ""
) -> Recognition:
    """Identify the parts of some records by name.

    Parameters
    ----------
    records
        Decoded JSON, or rows of a table as mappings from column to cell.
    parts
        Parts that a user maps; names identify the others.
    root
        The path to the records.

    Examples
    --------
    >>> records = [{"question": "why?", "hits": [{"chunk_id": "a", "score": 0.5}]}]
    >>> map_text(recognise(records, "run").map)
    'query=question, list=hits, doc=chunk_id, score=score'
    >>> map_text(recognise([{"q1": {"d1": "0.5"}}], "run", root="$").map)
    'records=$, query=@key, list=@value, doc=@key, score=@value'
    """
    if not parts and (stack := _stack_of(records, kind)):
        of_stack = dict(part.split("=", 1) for part in stack.map.split(", "))
        if not {"query", "doc"} <= of_stack.keys():
            return _find(records, kind, of_stack, root)
        if maps := _maps_of(of_stack, stack, records[0]):
            return _recognition_of(maps, stack)
    recognition = _find(records, kind, parts, root)
    if recognition.fault and records and all(map(_has_empty_lists, records)):
        fault, advice = _NOTHING[kind]
        return recognition._replace(fault=fault, advice=advice)
    other: Kind = "qrels" if kind == "run" else "run"
    if (
        not recognition.fault
        or recognition.advice
        or parts
        or _find(records, other, {}, root).fault
    ):
        return recognition
    # Swapped files, so no choice of maps.
    advice = f"expected {spell(f'map_{kind}', map_text(recognition.map))}"
    return recognition._replace(advice=advice)


def _find(records: Sequence[Any], kind: Kind, parts: Mapping[str, str], root: Root) -> Recognition:
    """Identify the parts of records, or else of tables and objects of queries in them."""
    rest = {part: of for part, of in parts.items() if part != "records"}
    path = parts.get("records")
    refusals: list[Recognition] = []
    for place in _places(records, root) if path is None else [_place_at(records, path)]:
        facts = facts_of(place.values, place.keyed)
        recognition = _Search(kind, rest, place.keyed, facts).find(place.root)
        if place.path:
            maps = [{"records": place.path, **of} for of in recognition.maps]
            recognition = recognition._replace(maps=maps)
        if not recognition.fault or place.path.endswith(TABLE):
            return recognition
        refusals.append(recognition)
    return refusals[0]


def _has_empty_lists(record: Any) -> bool:
    """Whether a record has lists or objects of documents, all of them empty."""
    values = record.values() if isinstance(record, dict) else ()
    inner = [one for one in values if isinstance(one, dict | list)]
    return bool(inner) and all(not one or _has_empty_lists(one) for one in inner)


def _stack_of(records: Sequence[Any], kind: Kind) -> Stack | None:
    """Return the stack that wrote some records."""
    first = records[0] if records else None
    for stack in STACKS:
        values = (any_value(path, first) for path in stack.keys)
        if stack.kind == kind and all(value is not None for value in values):
            return stack
    return None


def _maps_of(map_: Mapping[str, str], stack: Stack, record: Any) -> Sequence[Mapping[str, str]]:
    """Return the maps of a stack: one for each key that the star in its path matches."""
    values = {"$": record}
    for step in map_.get("records", "").split(".")[1:]:
        values = {
            f"{above}.{key}": value
            for above, of in values.items()
            for key, value in of.items()
            if step == key or (step == "*" and key not in stack.keys and isinstance(value, dict))
        }
    return [{**map_, "records": path} for path in values] if "records" in map_ else [map_]


def _recognition_of(maps: Sequence[Mapping[str, str]], stack: Stack) -> Recognition:
    """Return the recognition by the maps of a stack; several maps are separate rankings."""
    if len(maps) == 1:
        return Recognition(maps, stack=stack.name)
    paths = [map_["records"].encode("utf-8", "surrogatepass") for map_ in maps]
    fault = f"{len(maps)} separate rankings of the queries ({listed(paths, _MOST_KEYS)})"
    such = spell(f"map_{stack.kind}", map_text(maps[0]))
    return Recognition(maps, fault, f"expected one of them, such as {such}", stack.name)


class _Documents(NamedTuple):
    """A listing that could contain documents.

    Attributes
    ----------
    ids
        Paths to the id; several if several names match; none if no name does.
    order
        The numbers that rank the documents, or their levels, as parts of a map.
    claim
        3 for a list whose name says documents, 2 for one with a document id, 1 for one with an
        ``id`` or a source next to a score; 0 if it has no documents. The greatest claim wins.
    """

    listing: Listing
    ids: Sequence[str]
    order: Mapping[str, str]
    claim: int


_Query: TypeAlias = tuple[str, Sequence[str]]
"""The list in whose elements the query is, or "", and its paths."""


@dataclass(frozen=True)
class _Search:
    """A search for the parts of a run or of qrels; a user or a stack gives the `parts`."""

    kind: Kind
    parts: Mapping[str, str]
    keyed: bool  # whether the keys of the records name the queries
    facts: Facts

    def find(self, root: Root) -> Recognition:
        """Identify the parts of records, or of records in them if these are not rows."""
        claims = self._claims()
        if not claims:  # the only list, or the record, or one of several lists
            lists = [listing for listing in self.facts.values() if listing.path]
            columns = {path: of for one in lists for path, of in one.columns.items()}
            some = Listing("?", columns) if len(lists) > 1 else [*lists, self.facts[""]][0]
            claims = [_Documents(some, [], {}, 0)]
        queries = [self._query(one) for one in claims]
        faults = self._faults(claims, queries[0], root)
        if not faults:
            return Recognition([*self._maps(claims[0], queries[0], root, claims[0].order)])
        maps = [
            map_
            for one, query in zip(claims, queries, strict=True)
            for map_ in self._maps(one, query, root, self._open_order(one))
        ]
        levels = [of[1] for of in map(_LEVEL_KEY.fullmatch, self.facts) if of]
        advice = ""
        if levels and self.kind == "qrels":
            faults = [f"the keys of {levels[0]} are levels"]
            advice = 'expected each level with its document: {"doc_id": …, "level": …}'
        elif not claims[0].claim and self._has_texts():
            advice = f"expected {spell(f'map_{self.kind}', map_text(maps[0]))}; {advice_on_texts()}"
        return Recognition(maps[:_MOST_NAMED], f"{faults[0]} {_keys(self.facts)}", advice)

    def _claims(self) -> list[_Documents]:
        """Return the listing that contains documents; several if names are ambiguous."""
        if "list" in self.parts:
            listing = self.facts.get(self.parts["list"].split("|")[0])
            return [self._documents(listing, 3)] if listing and listing.columns else []
        claims = ((listing, self._claim_of(listing)) for listing in self.facts.values())
        each = [self._documents(listing, claim) for listing, claim in claims if claim]
        each = [one for one in each if one.claim]
        if self.keyed:  # a list of records, each with a list, is not the list of one query
            each = [one for one in each if not one.listing.path or one.claim == 3]
            each = [one for one in each if not one.listing.path.startswith("@value[].")]
        beside = {path for one in each for path in self._beside(one.listing).values()}
        each = [one for one in each if one.listing.path not in beside or self.kind == "run"]
        each = [one for one in each if not any(_gives_way(one, other) for other in each)]
        best = [one for one in each if one.claim == max(of.claim for of in each)]
        if len(best) == 1 and best[0].listing.name == "ids":
            # A database generates ids; the objects next to them can have the users' own ids.
            around = best[0].listing.around
            best += [one for one in each if one.claim == 1 and one.listing.around == around]
        return best

    def _claim_of(self, listing: Listing) -> int:
        """Return the claim of a list by its name: 2 if that says nothing, 0 for another role."""
        name, columns = listing.name, listing.columns
        values = columns.keys() == {"@value"}
        if not listing.path:
            return 3 if self.keyed and self.kind == "qrels" and values else 2
        above = not fields.NO_RANKING.isdisjoint(plain_name(listing.path).split("_"))
        if self.kind == "run":
            if name in fields.RETRIEVED or (name == "citations" and "@key" in columns):
                return 3
            if name in fields.JUDGED or above:
                return 0
            return 3 if name in fields.DOCUMENT or listing.path.startswith("@value") else 2
        if not fields.NEGATIVE.isdisjoint(name.split("_")):
            return 0
        if name in fields.RETRIEVED and name not in fields.JUDGED:
            judged = listing.of_name(fields.LEVEL, bool) or self._beside(listing)
            return 3 if judged else 2 if above else 0
        names = (*fields.JUDGED, *fields.DOCUMENT, *fields.JUDGED_DOCUMENT)
        return 3 if name in names or listing.path.startswith("@value") else 2

    def _documents(self, listing: Listing, claim: int) -> _Documents:
        """Identify the documents in a listing, whose own name makes the claim."""
        columns, named = listing.columns, claim == 3
        part = "score" if self.kind == "run" else "level"
        beside = self._beside(listing) if listing.path else NO_MAP
        if "@key" in columns:
            named = named and any(map(fields.may_be_document, columns["@key"]))
            return _Documents(listing, ["@key"], {part: "@value"}, 3 if named else 0)
        if columns.keys() == {"@value"}:
            values = columns["@value"]
            named = named and are_scalars(values) and not are_texts(values)
            named = named and not any(is_number(one) and "." in str(one) for one in values)
            return _Documents(listing, ["@value"], beside, 3 if named or "doc" in self.parts else 0)
        if "1" in columns and listing.path:  # pairs
            have_scores = self.kind == "run" and {"0", "1"} == columns.keys()
            have_scores = have_scores and not are_numbers(columns["0"])
            ids, order = (["0"], {part: "1"}) if have_scores else ([], {part: "?"})
            return _Documents(listing, ids, order, 3 if named else 0)
        ids, of_document = self._ids(listing)
        order = {**self._number(listing, ids), **beside}
        if not named and not of_document:
            claim = 1 if ids and order and self.kind == "run" else 0
        # Documents without levels are relevant by a name, or if they have two keys only.
        relevant = listing.name in fields.JUDGED and listing.name not in fields.GRADED
        if not listing.path:
            relevant = len(columns) == 2 or any(
                last_name(of) in fields.JUDGED_DOCUMENT for of in ids
            )
        if self.kind == "qrels" and not (order or self.parts or relevant):
            order = {"level": "?"}
        return _Documents(listing, ids, order, claim if columns else 0)

    def _ids(self, listing: Listing) -> tuple[list[str], bool]:
        """Return the paths of ids by name, and whether one is a document id."""
        if "doc" in self.parts:
            return [self.parts["doc"]], True
        rows = self.kind == "qrels" and not listing.path
        names = (*fields.DOCUMENT, *(fields.JUDGED_DOCUMENT if rows else ()))
        of_document = [
            path
            for path in listing.of_name(names, are_scalars) or listing.of_name(names, bool)
            if last_name(path) not in fields.DOCUMENT[-2:] or not are_texts(listing.columns[path])
        ]
        ids = _near(listing.of_name(("id", *fields.OF_DATABASES), are_scalars))
        if near := _near(of_document) or ([] if ids else of_document):
            return fields.rivals(near, names), True
        # If a database can generate the id, the users' own id can be in an object next to it.
        taken = (*fields.QUERY, *fields.RUN_ID, "id")
        users = [
            path
            for path, values in listing.columns.items()
            if name_above(path) in fields.WRAPPERS and last_name(path) not in taken
            if not fields.ID_WORDS.isdisjoint(last_name(path).split("_")) and are_scalars(values)
        ]
        sources = _near(listing.of_name(fields.SOURCES[:-1], are_scalars)) or (users if ids else [])
        return [*sources[:1], *ids[:1]], False

    def _beside(self, listing: Listing) -> Mapping[str, str]:
        """Return the list of scores or of levels next to a list; ``?`` if there are several."""
        part, named = "scores", fields.are_scores
        if self.kind == "qrels":
            part, named = "levels", fields.are_levels
        paths = [
            other.path
            for other in self.facts.values()
            if other.path not in ("", listing.path)
            and other.around == listing.around
            and other.columns.keys() == {"@value"}
            and named(other.name)
            and are_levels(other.columns["@value"])
        ]
        return {part: paths[0] if len(paths) == 1 else "?"} if paths else {}

    def _number(self, listing: Listing, ids: Sequence[str]) -> Mapping[str, str]:
        """Return the number that ranks documents, or their level, by name.

        A level is in the document, or in the object of its id; a score can be deeper.
        """
        inside = tuple(f"{path.rpartition('.')[0]}." for path in ids if "." in path) or ("\0",)
        parts: list[tuple[str, Sequence[str]]] = [("level", fields.LEVEL_OR_SCORE)]
        if self.kind == "run":
            parts = [("score", (*fields.SCORE, *fields.DISTANCE)), ("rank", fields.RANK)]
        for part, names in parts:
            for path in listing.of_name(names, are_some if part == "level" else are_numbers):
                near = part == "score" or "." not in path or path.startswith(inside)
                if near and path not in ids:
                    # The retriever's score of documents that are all positive is not a level.
                    search = part == "level" and last_name(path) == "score"
                    of_name = listing.of_name((last_name(path),), bool)
                    twins = {of.strip("_@$") for of in of_name if of.count(".") == path.count(".")}
                    unclear = len(twins) > 1 or (search and "positive" in listing.name)
                    return {part: "?" if unclear else path}  # score and Score
        return {}

    def _query(self, documents: _Documents) -> _Query:
        """Find the nearest query: in the documents by its id, else around them."""
        listing = documents.listing
        if "query" in self.parts:
            return "", [self.parts["query"]]
        if listing.path and (ids := listing.of_name(fields.QUERY_ID, are_scalars)):
            return listing.path, fields.rivals(ids, fields.QUERY_ID)
        parts = listing.path.split("[]")
        around = [self.facts["[]".join(parts[:count])] for count in range(len(parts) - 1, 0, -1)]
        for find in (self._queries, self._cases):
            for level in (*around, self.facts[""]):
                if paths := find(level, documents):
                    return level.path, paths
        texts = _texts_of_queries(listing)
        return listing.path if texts else "", texts

    def _queries(self, level: Listing, documents: _Documents) -> list[str]:
        """Return the paths to a query around documents: its id, the case id, else its text."""
        for path in level.of_name((*fields.QUERY_ID, "id"), bool):
            if name_above(path) in fields.QUERY_TEXT[:3]:
                return [path]
        if ids := level.of_name(fields.QUERY_ID, are_scalars):
            return fields.rivals(ids, fields.QUERY_ID)
        if self.keyed and not level.path:
            return ["@key"]
        texts = _texts_of_queries(level)
        path = documents.listing.path
        if documents.listing.name in fields.NUMBERED and "[]" not in path and not level.path:
            return self._cases(level, documents) or ["@number"]
        return texts and (self._cases(level, documents) or texts)

    def _cases(self, level: Listing, documents: _Documents) -> list[str]:
        """Return the id of a case, which is the query id; that of a row or an index is not."""
        rows = not documents.listing.path
        names = {last_name(path) for path in level.columns}
        if "_index" in level.columns or (rows and names.isdisjoint(fields.JUDGED_DOCUMENT)):
            return []
        ids = [path for path in level.of_name(fields.CASE_ID, bool) if "." not in path]
        return [path for path in ids if not (rows and path in documents.ids)][:1]

    def _faults(self, claims: Sequence[_Documents], query: _Query, root: Root) -> list[str]:
        """Return the ambiguities that names leave."""
        if len(claims) > 1:
            lists = _some_of([one.listing.path for one in claims])
            return [f"{lists} could each be the list of documents"]
        documents, (level, queries) = claims[0], query
        numbers = [] if self.parts.keys() & _NUMBERS else [*documents.order.values()]
        weak = {last_name(path) for path in documents.ids} - {*fields.DOCUMENT}
        name = "could each name" if weak else "each name"
        faults = {
            "cannot tell which key has the documents": not documents.claim,
            f"{_some_of(queries)} each name the query": len(queries) > 1,
            f"{_some_of(documents.ids)} {name} the document": len(documents.ids) > 1,
            "cannot tell which key is the query": not queries,
            "cannot tell which key is the document id": not documents.ids,
            f"{_some_of(numbers)} could each order the documents": len(numbers) > 1,
            "cannot tell which number is the score or the level": "?" in numbers,
            "the query is inside a list": level and not root,
        }
        return [fault for fault, holds in faults.items() if holds]

    def _maps(
        self, documents: _Documents, query: _Query, root: Root, orders: Mapping[str, str]
    ) -> Iterator[Mapping[str, str]]:
        """Yield the maps of a listing, one for each name that matches a part."""
        (level, queries), path = query, documents.listing.path
        inner = f"{level}[]." if level else ""
        each = [{part: of.removeprefix(inner)} for part, of in orders.items()] or [{}]
        for name, id_, order in product(queries or ["?"], documents.ids or ["?"], each):
            map_ = {"records": f"{root}.{level}"} if level else {}
            map_["query"] = name
            if path != level:
                map_["list"] = path.removeprefix(inner)
            map_["doc"] = id_
            yield {**map_, **({} if self.parts.keys() & _NUMBERS else order), **self.parts}

    def _open_order(self, documents: _Documents) -> Mapping[str, str]:
        """Return the numbers that rank documents, for an incomplete map, or ``?``.

        The reader finds scores and levels at the top of a document: it compares them all.
        """
        listing, order = documents.listing, documents.order
        part = "score" if self.kind == "run" else "level"
        path = order.get(part) or order.get("rank") or "?"
        if len(order) == 1 and path[:1] not in "?@" and not path.isdigit():
            return order if "." in path else {}
        numbers = [
            values
            for path, values in listing.columns.items()
            if path not in documents.ids and are_numbers(values) and meaning(path) != "other"
        ]
        counted = all({*map(str, of)} == {*map(str, range(1, len({*of}) + 1))} for of in numbers)
        part = "rank" if self.kind == "run" and counted else part
        return order or ({part: "?"} if numbers else {})

    def _has_texts(self) -> bool:
        """Whether records have texts in place of document ids."""
        names = (*fields.TEXT, *fields.RETRIEVED, *fields.NAMES["<gold texts>"])
        return any(
            last_name(path) in names or (listing.columns.keys() == {"@value"} and are_texts(values))
            for listing in self.facts.values()
            for path, values in listing.columns.items()
        )


def _gives_way(one: _Documents, other: _Documents) -> bool:
    """Whether a listing contains the records around another one."""
    listing, path = one.listing, other.listing.path
    if not listing.path:
        return path != "" and other.claim >= one.claim
    names_query = bool(listing.of_name(fields.QUERY_ID, bool) or _texts_of_queries(listing))
    return path.startswith(f"{listing.path}[]") and names_query


def _near(paths: Sequence[str]) -> list[str]:
    """Return the paths to keys of a document, or of a nested object that usually has its id."""
    return [path for path in paths if name_above(path) in ("", *fields.WRAPPERS)]


def _texts_of_queries(listing: Listing) -> list[str]:
    """Return the path to the text of a query, or to an id under that name."""
    paths = [
        path
        for path in listing.of_name(fields.QUERY_TEXT, are_scalars)
        if plain_name(path.rpartition(".")[0]) in ("", *fields.OF_QUERIES)
    ]
    return sorted(paths, key=lambda path: path.count("."))[:1]


def advice_on_texts() -> str:
    """Return the advice for files with texts instead of ids."""
    return f"if qrels and run have only texts, use {spell('match', 'text')}"


def _some_of(paths: Sequence[str]) -> str:
    some = [path or "the record" for path in paths[:_MOST_NAMED]]
    return " and ".join([*some, *(["…"] if len(paths) > len(some) else [])])


_PARTS = {
    "query": (*fields.QUERY_ID, *fields.CASE_ID, *fields.QUERY_TEXT),
    "document": (*fields.DOCUMENT, *fields.JUDGED_DOCUMENT, *fields.SOURCES[:-1], "id"),
    "level": fields.LEVEL_OR_SCORE,
}


def _keys(facts: Facts) -> str:
    """Return the keys of records, each with an example and its possible meanings."""
    keys = []
    for listing in facts.values():
        for path, values in listing.columns.items():
            parts = [part for part, names in _PARTS.items() if last_name(path) in names]
            if meaning(path) in ("score", "distance", "rank") and are_numbers(values):
                parts.append(meaning(path))
            where = f"{listing.path}[].{path}" if listing.path else path
            may_be = f" ({' or '.join(parts)}?)" if parts else ""
            keys.append(f"{where.removesuffix('[].@value')} {_example(values[0])}{may_be}")
    more = ", …" if len(keys) > _MOST_KEYS else ""
    return f"(keys: {', '.join(keys[:_MOST_KEYS])}{more})"


def _example(value: Any) -> str:
    text = str(value)
    cut = text if len(text) <= _LONGEST_EXAMPLE else f"{text[: _LONGEST_EXAMPLE - 1]}…"
    return cut if is_number(value) or not isinstance(value, str) else f"'{cut}'"
