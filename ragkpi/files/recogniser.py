"""Recognise where parsed records hold queries, lists, documents, scores, ranks and levels.

Pure functions from a sample of records to maps, as ``--map-run`` takes them. A part that a name
of `ragkpi.files.column_names` settles is certain; a part that only values suggest is a guess, and
a guess is printed, never read. Eight structures are looked for:

1. a list of documents anywhere under a record, also in a list (`_of_objects`), or of their ids
   with a list of scores beside it, ``{"ids": [[…]], "distances": [[…]]}`` (`_of_ids`);
2. an object of documents in a record: ``{document: number}`` (`_of_maps`);
3. an object of queries: ``{question: [documents]}`` (`_of_object`), ``{question: {document:
   number}}`` (`_of_keys`);
4. pairs: ``[document, score]`` (`_of_objects`, whose keys are places);
5. a table: names and rows, or a list for each name (`table_rows`);
6. a document a record, with its query repeated (`_of_rows`);
7. attributes of spans, texts of JSON, lists in a cell, and a column for each rank
   (`ragkpi.files.json_text.unfolded`);
8. a matrix: a query a record, and a number for each document (`_of_matrix`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain, islice
from typing import Any, NamedTuple, TypeAlias

from ragkpi.files import column_names as fields
from ragkpi.files.column_names import find, meaning, plain_name
from ragkpi.files.json_text import Path, alone, is_number, is_scalar, listed_in, unfolded
from ragkpi.files.opening import Kind

LOOKED_AT = 100  # records
TABLE = "@table"  # in a path: the rows of the table there
_LISTS_AT = 25  # records with lists
_ELEMENTS = 10  # of a list
_KEYS = 200  # of an object
_DEEPEST = 6
_MOST = 8  # readings: of two queries, two ids and two directions
_OF_RECORDS = re.compile(r"@value\[\]\.|\d+\.")
_MOST_IDS = 3
# UUIDs, hashes, and what Elasticsearch, MongoDB and others draw; counters, also behind a word.
_DRAWN = re.compile(
    r"(?:\w+:)*(?:[0-9a-fA-F-]{16,}|(?=\D*\d)(?=[^A-Z]*[A-Z])[\w-]{20,27})|(?:\w+:)+\d+"
)
_MACHINE = re.compile(rf"[A-Za-z]*[-_]?\d+|{_DRAWN.pattern}")

Columns: TypeAlias = "dict[str, list[Any]]"  # from a path to the value in each record
Lists: TypeAlias = "list[list[Any]]"  # the entries of a list in each record, in a sample
NO_MAP: Mapping[str, str] = {}


class Recognition(NamedTuple):
    """What a sample of records seems to hold.

    Attributes
    ----------
    map
        From parts of a map (records, query, list, doc, score, …) to paths, in that order.
    guesses
        The parts that values suggest and no name settles.
    choice
        What tells this reading from another one of the same records.
    fold
        The value of ``max_passage`` that folds ids which come back; "" if none do.
    """

    map: Mapping[str, str]
    guesses: tuple[str, ...] = ()
    choice: str = ""
    fold: str = ""

    @property
    def is_settled(self) -> bool:
        """Whether names settle every part."""
        return not self.guesses

    @property
    def is_plain(self) -> bool:
        """Whether the reading goes without saying: an id of the query, and no inner keys."""
        of_id = plain_name(self.map.get("query", "")) in fields.QUERY_ID
        return self.map.get("records") == "$" or (
            of_id and not any("." in path or "[" in path for path in self.map.values())
        )

    @property
    def text(self) -> str:
        """The map as a user writes it."""
        return ", ".join(f"{part}={path}" for part, path in self.map.items())


class _Numbers(dict[str, Any]):
    """An object of numbers, which may map documents to scores: not a record in a list."""


class _Part(NamedTuple):
    """A part of a map, whether a name settles it, and how good it is: small is better."""

    path: str
    settled: bool = True
    order: tuple[int, ...] = ()

    @property
    def by_value(self) -> bool:
        """Whether values alone suggest it; of two names, neither settles it."""
        return not self.settled and bool(self.order)

    def doubt(self, name: str) -> list[str]:
        """Return the name of the part if it is a guess."""
        return [] if self.settled else [name]


class _Search(NamedTuple):
    """What is looked for: the parts of a run or of qrels; a user maps some of them."""

    kind: Kind
    map: Mapping[str, str]

    def reading(
        self,
        parts: Mapping[str, str],
        numbers: Mapping[str, str],
        guesses: Sequence[str],
        ids: Sequence[Sequence[Any]] = (),
    ) -> Recognition:
        """Return a reading; `ids` of documents, by query, tell it from others."""
        numbers = numbers if fields.ORDERS.isdisjoint(self.map) else {}
        unsettled = tuple(part for part in guesses if part not in self.map)
        texts = [str(one) for of in ids for one in of]
        again = any(len({*of}) < len(of) for of in ids)
        fold = ("/^(.*)$/" if any("#" in one for one in texts) else "#") if again else ""
        comes_back = ", which come back: a document counts by its best passage" if again else ""
        choice = f"ids such as {texts[0]}{comes_back}" if texts else ""
        return Recognition({**parts, **numbers, **self.map}, unsettled, choice, fold)


def recognise(
    records: Sequence[Any], kind: Kind, user_map: Mapping[str, str] = NO_MAP
) -> list[Recognition]:
    """Return the readings of some records, the best first; none without an id.

    Parameters
    ----------
    records
        Decoded JSON, or rows of a table as mappings from column to cell.
    user_map
        Parts that a user maps; the others are found.

    Examples
    --------
    >>> records = [{"question": "why?", "hits": [{"chunk_id": "a", "score": 0.5}]}]
    >>> recognise(records, "run")[0].text
    'query=question, list=hits, doc=chunk_id, score=score'
    """
    return _of_role(_Search(kind, user_map), lambda search: _of_records(records, search))


def _of_records(records: Sequence[Any], search: _Search) -> list[Recognition]:
    nested = any(isinstance(value, list | dict) for _, value in _walk(records[0])) if records else 0
    sample = [_cut(unfolded(one)) for one in records[: _LISTS_AT if nested else LOOKED_AT]]
    columns = _columns(sample)
    readings = _of_lists(sample, columns, search)
    of_lists = bool(sample) and isinstance(sample[0], list) and nested
    if "list" not in search.map and not of_lists and (not readings or readings[0].guesses):
        rows = [
            one
            for query in _queries(columns, "", [], search)
            for one in _of_rows(columns, query, search)
            if one.is_settled or not readings
        ]
        readings += rows + _of_matrix(columns, search)
    readings.sort(key=lambda reading: len(reading.guesses))
    fewest = len(readings[0].guesses) if readings else 0
    return [reading for reading in readings if len(reading.guesses) == fewest][:_MOST]


def recognise_object(
    value: Mapping[str, Any], kind: Kind, user_map: Mapping[str, str] = NO_MAP
) -> list[Recognition]:
    """Return the readings of one JSON object: a record, or records somewhere under its keys.

    Examples
    --------
    >>> recognise_object({"q1": {"d1": "0.5"}}, "run")[0].text
    'records=$, query=@key, list=@value, doc=@key, score=@value'
    """
    return _of_role(_Search(kind, user_map), lambda search: _of_object(value, search))


def _of_role(search: _Search, read: Callable[[_Search], list[Recognition]]) -> list[Recognition]:
    """Return readings; none where names settle that a run holds judgements, or qrels a run."""
    readings = read(search)
    if not readings or readings[0].is_settled or search.map:
        return readings
    others = read(search._replace(kind="qrels" if search.kind == "run" else "run"))
    return [] if others and others[0].is_settled else readings


def _of_object(value: Mapping[str, Any], search: _Search) -> list[Recognition]:
    by_place: list[tuple[tuple[int, ...], list[Recognition]]] = []
    of_queries = all(isinstance(one, dict) for one in value.values()) and not is_record(value)
    if "records" not in search.map and not of_queries:
        alone = _of_records([value], search)
        alone = [one for one in alone if "query" not in one.guesses]  # nothing to compare with
        by_place.append(((0 if alone and alone[0].is_settled else _DEEPEST, 0), alone))
    for number, (path, records, query) in enumerate(_ways(value, "$")):
        if search.map.get("records", path) == path:
            rest = {part: path for part, path in search.map.items() if part != "records"}
            inside = _Search(search.kind, rest)
            readings = _of_records(records, inside)
            if query and not (
                readings and "query" not in readings[0].guesses and "list" not in readings[0].map
            ):
                keyed = _Search(search.kind, {"query": "@key", **rest})
                readings = _of_keys(records, inside) or _of_records(records, keyed)
            # A list of records, each with a list, is no list of one query, and the objects of one
            # response, such as Solr's, are no queries.
            readings = [
                one
                for one in readings
                if not _OF_RECORDS.match(at := one.map.get("list", "@value"))
                and (not query or all(Path(at).listed(of, "", True) for of in records))
            ]
            named = path == "$" or plain_name(_last(path)) in _list_names(search.kind)
            readings = [
                one._replace(guesses=("records", *one.guesses))
                if query and not named and one.map.get("list") == "@value"
                else one
                for one in readings
            ]
            readings = [one._replace(map={"records": path, **one.map}) for one in readings]
            by_place.append(((path.count("."), number), readings))
    by_place = [one for one in by_place if one[1]]
    by_place.sort(key=lambda one: (len(one[1][0].guesses), one[0]))
    return by_place[0][1] if by_place else []


def table_rows(value: Any) -> list[tuple[str | None, dict[str, Any]]] | None:
    """Return the rows of a table as records, each with its query if it labels a row; else None.

    ``{"columns": […], "data" or "values" or "rows": [[…], …]}``, names being texts or objects with
    a name; ``{name: [value, …]}`` and ``{name: {row: value}}`` of one length, as pandas writes a
    frame whose index has the queries.
    """
    if not isinstance(value, dict) or not value:
        return None
    names = value.get("columns")
    rows = next((value[key] for key in ("data", "values", "rows") if key in value), None)
    if isinstance(names, list) and isinstance(rows, list):
        names = [name.get("name") if isinstance(name, dict) else name for name in names]
        if all(isinstance(row, list) and len(row) == len(names) for row in rows):
            return [(None, dict(zip(map(str, names), row, strict=True))) for row in rows]
    key = find(value, _NAMED)
    if key is None or not isinstance(value[key], list | dict) or not value[key]:
        return None
    alike = type(value[key]), len(value[key])
    columns = {
        name: of
        for name, of in value.items()
        if isinstance(of, list | dict) and (type(of), len(of)) == alike
    }
    if len(columns) < 2 or (
        alike[0] is dict and any(list(of) != list(value[key]) for of in columns.values())
    ):
        return None
    of_rows = [list(of.values() if isinstance(of, dict) else of) for of in columns.values()]
    labels: list[str | None] = [None] * alike[1]
    named = find(columns, (*fields.QUERY, *fields.QUERY_TEXT)) is not None
    if alike[0] is dict and not named and [*value[key]] != [*map(str, range(alike[1]))]:
        labels = list(value[key])
    cells = (dict(zip(columns, row, strict=True)) for row in zip(*of_rows, strict=True))
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


_BATCHES = ("resource_spans", "scope_spans")  # lists of records in lists, of OpenTelemetry
_LISTS_OF_SCORES = (*fields.SCORES, *fields.SCORE, *fields.DISTANCE)
_NAMED = (*fields.QUERY, *fields.QUERY_TEXT, *fields.DOCUMENT, "ids", "id")


def _list_names(kind: Kind) -> tuple[str, ...]:
    return fields.RETRIEVED if kind == "run" else fields.JUDGED


def _ways(value: Any, path: str, depth: int = 0) -> Iterator[tuple[str, list[Any], bool]]:
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
    named = types == {dict} or not depth or len(value) > 2 or plain_name(_last(path)) in lists
    if types in ({dict}, {list}) and named and not is_record(value):
        yield path, inner, True
    of_queries = types == {dict} and len(value) > 1 and not is_record(value) and _are_alike(inner)
    for key, child in islice(value.items(), _KEYS):
        if of_queries and plain_name(key) not in lists:
            continue  # a query's id
        below = f"{path}.{key}"
        if isinstance(child, list) and child and isinstance(child[0], dict | list):
            yield below, child[:LOOKED_AT], False
            if plain_name(key) in _BATCHES:
                yield from _ways(child[0], f"{below}[]", depth + 1)
        elif isinstance(child, dict):
            yield from _ways(child, below, depth + 1)


def _are_alike(objects: Sequence[Mapping[str, Any]]) -> bool:
    """Whether objects share types of values, as queries do, and a configuration does not."""
    types = [{*map(type, one.values())} for one in objects if one]
    return all(one & types[0] for one in types)


def _cut(value: Any) -> Any:
    """Return a value with the first elements of its lists and the last, maybe of another query."""
    value = unfolded(value) if isinstance(value, list) else value  # attributes are one object
    if isinstance(value, list):
        first = value if len(value) <= _ELEMENTS else [*value[: _ELEMENTS - 1], value[-1]]
        return [_cut(one) for one in first]
    return {key: _cut(one) for key, one in value.items()} if type(value) is dict else value


def _columns(records: Sequence[Any], cell: Callable[[Any], Any] = lambda value: value) -> Columns:
    """Return the scalars, also true and false, of records by path; None where there is none."""
    columns: Columns = {}
    for number, record in enumerate(records):
        for path, of in _walk(record):
            value = cell(of)
            if not isinstance(value, dict | list):
                column = columns.setdefault(path, [])
                column += [None] * (number - len(column))
                column.append(value)
    for column in columns.values():
        column += [None] * (len(records) - len(column))
    return columns


def _walk(value: Any, path: str = "", depth: int = _DEEPEST) -> Iterator[tuple[str, Any]]:
    """Yield the path and the value of everything in objects, and in short lists by place."""
    name, inner = plain_name(_last(path)), unfolded(value)
    # Ids may look like JSON; `query` and `document` may be texts of objects.
    inside = isinstance(inner, dict) and inner and name in fields.RECORDS_INSIDE
    if inside or not isinstance(value, str) or name not in (*fields.QUERY, *fields.DOCUMENT):
        value = inner
    if path:
        yield path, value
    if isinstance(value, list) and not path:
        value = {str(place): one for place, one in enumerate(value[:4])}
    if isinstance(value, dict) and depth:
        for key, inner in islice(value.items(), _KEYS):
            if not re.search(r"[,|=\[\]]|^$|^\s|\s$", key):
                yield from _walk(inner, f"{path}.{key}" if path else key, depth - 1)


def _lists(record: Any) -> Iterator[tuple[str, list[Any]]]:
    """Yield the path and the elements of each list under a record, inner lists joined."""
    for path, value in _walk(record):
        if _maps_numbers(value):
            yield path, [_Numbers(value)]
        if not isinstance(value, list):
            continue
        yield path, value
        inner: dict[str, list[Any]] = {}
        for element in value[:_ELEMENTS]:
            if isinstance(element, list):
                inner.setdefault(f"{path}[]", []).extend(element)  # of one query
            elif isinstance(element, dict):
                for below, some in _walk(element):
                    if isinstance(some, list) or _maps_numbers(some):
                        more = some if isinstance(some, list) else [_Numbers(some)]
                        inner.setdefault(f"{path}[].{below}", []).extend(more)
        yield from inner.items()


class _Listing(NamedTuple):
    """A list that may hold the documents of each record.

    `lists` are its elements in each record, `columns` those of elements that are objects. A name,
    or a user, says whether it is a list of documents (`named`); `place` ranks these names.
    """

    path: str
    lists: Lists
    columns: Sequence[Columns]
    named: bool
    place: int

    @property
    def elements(self) -> list[Any]:
        """The elements of all records."""
        return [one for elements in self.lists for one in elements]


def _of_lists(records: Sequence[Any], columns: Columns, search: _Search) -> list[Recognition]:
    """Read records that each have a list of documents."""
    readings: list[tuple[tuple[int, ...], Recognition]] = []
    for listing in _listings(records, columns, search):
        path, elements = listing.path, listing.elements
        outside = {name: of for name, of in columns.items() if not name.startswith(f"{path}.")}
        outside = {} if path == "@value" else outside
        lacking = sum(not of for of in listing.lists) + len(records) - len(listing.lists)
        for query in _queries(outside, path, listing.columns, search):
            if not listing.columns:
                of_list = _of_ids(listing, query, records, search)
            elif all(isinstance(one, _Numbers) for one in elements):
                of_list = _of_maps(listing, query, search)
            else:
                of_list = _of_objects(listing, query, search)
            for reading in of_list:
                ordered = not fields.ORDERS.isdisjoint(reading.map)
                order = len(reading.guesses), lacking, not ordered, path.count("."), listing.place
                readings.append((order, reading))
    readings.sort(key=lambda one: one[0])
    best = [reading for order, reading in readings if order == readings[0][0]][:_MOST]
    scored = {reading.map["list"] for _, reading in readings if "score" in reading.map}
    if len(best) == 1 == len(scored) and best[0].guesses == ("list",) and "score" in best[0].map:
        return [best[0]._replace(guesses=())]  # the only list with ids and scores needs no name
    return best


def _listings(records: Sequence[Any], columns: Columns, search: _Search) -> Iterator[_Listing]:
    """Yield the lists under some records, also those in cells, but for lists of judgements."""
    lists: dict[str, Lists] = {}
    for number, record in enumerate(records):
        if isinstance(record, list) and search.map.get("list", "@value") == "@value":
            lists.setdefault("@value", []).append(record)
        for path, elements in _lists(record):
            lists.setdefault(path, [[] for _ in range(number)]).append(elements)
    for path, column in columns.items():
        cells = [listed_in(value) for value in column if isinstance(value, str)]
        if path not in lists and _is_cell(column, path) and not _texts([*chain(*cells)]):
            lists[path] = cells
    if path := search.map.get("list", ""):
        first = path.split("|")[0]
        lists = {path: lists.get(first, [[listed_in(v)][0] for v in columns.get(first, [])])}
    names, others = fields.RETRIEVED, {*fields.JUDGED}
    if search.kind == "qrels":
        names, others = fields.JUDGED, {*fields.RETRIEVED}
    for path, some in lists.items():
        last = plain_name(re.split(r"\.|\[\]\.", path.removesuffix("[]"))[-1])
        judged = search.kind == "run" and not fields.NO_RANKING.isdisjoint(last.split("_"))
        of_elements = _element_columns(some)
        if (last in others or judged) and last not in names and "list" not in search.map:
            levels = [name for of in of_elements for name in of]
            if search.kind == "run" or find(levels, fields.LEVEL) is None:
                continue
        outer, inside, below = path.rpartition("[]")
        of_several = inside and any(len(of) > 1 for of in lists.get(outer, ()))
        if of_several and (last not in fields.JUDGED if not below else _has_queries(lists[outer])):
            continue  # a list for each of several queries
        numbers = any(isinstance(one, _Numbers) for of in some for one in of)
        # In a list, citations are places.
        cited = search.kind == "run" and numbers and last == "citations"
        named = last in names or cited or "list" in search.map or path == "@value"
        place = names.index(last) if last in names else len(names)
        yield _Listing(path, some, of_elements, named, place)


def _differ_in(lists: Sequence[Sequence[Any]]) -> bool:
    """Whether a list differs from the first one."""
    return any(one != lists[0] for one in lists)


def _has_queries(some: Lists) -> bool:
    """Whether the elements of some lists name queries."""
    names = (*fields.QUERY_ID, *fields.QUERY_TEXT)
    return any(isinstance(one, dict) and find(one, names) for of in some for one in of)


def _element_columns(some: Lists) -> list[Columns]:
    """Return the columns of the elements of some lists; none for scalars."""
    elements = [unfolded(one) for elements in some for one in elements[:_ELEMENTS]]
    if not elements or any(is_scalar(one) or one is None for one in elements):
        return []
    return [_columns(elements, alone)]


def _of_ids(
    listing: _Listing, query: _Part, records: Sequence[Any], search: _Search
) -> Iterator[Recognition]:
    """Yield the readings of a list of ids, which may have a list of scores beside it."""
    lists, named, ids = listing.lists, listing.named, listing.elements
    base = {"query": query.path, "list": listing.path}
    here = {**base, "doc": search.map.get("doc", "@value")}
    if not ids and named:
        yield Recognition(here, tuple(query.doubt("query")))
    if not ids or not _may_be_ids(ids) or (_texts(ids) and "doc" not in search.map):
        return
    alike = len(lists) < len(records) or max(map(len, lists)) < 2 or not _differ_in(lists)
    if not named and alike and len(records) > 1:
        return
    if _are_places(lists) and not (named and query.settled):
        return
    rivals = {} if "doc" in search.map else _rivals_beside(listing.path, ids, records)
    guesses = query.doubt("query") + ["list", "doc"] * (not named) + ["doc"] * bool(rivals)
    numbers = {} if search.kind == "qrels" else _beside(listing.path, records)
    orders = [numbers]
    if guesses and numbers and _goes_against(numbers["scores"], records):
        orders = [{"rank": "@number"}, numbers]
    for order in orders:
        for path, (name, values) in rivals.items():
            there = {**base, "list": path, "doc": name}
            yield search.reading(there, order, guesses, [values])
        yield search.reading(here, order, guesses, lists if rivals else ())


def _of_maps(listing: _Listing, query: _Part, search: _Search) -> Iterator[Recognition]:
    """Yield the readings of an object that maps ids to numbers."""
    maps: list[_Numbers] = listing.elements
    names = {name for one in maps for name in one}
    if not (search.kind == "run" and _differ(names, maps)) and not (
        listing.named and all(meaning(name) == "unknown" for name in names)
    ):
        return
    guesses = query.doubt("query") + ["list", "doc"] * (not listing.named)
    base = {"query": query.path, "list": listing.path, "doc": "@key"}
    number = "score" if search.kind == "run" else "level"
    rises = guesses and _slope([[*one.values()] for one in maps]) == "rises"
    for part in ("distance", number) if rises else (number,):
        reading = search.reading(base, {part: "@value"}, guesses)
        size = "small" if part == "distance" else "large"
        yield reading._replace(choice=f"{size} is better" if rises else "")


def _of_objects(listing: _Listing, query: _Part, search: _Search) -> Iterator[Recognition]:
    """Yield the readings of a list of objects, or of pairs."""
    (columns,) = listing.columns
    queries = [name for name in columns if plain_name(_last(name)) in fields.QUERY_ID]
    if any(_varies(name, listing.lists) for name in queries):
        return  # a document a record, not a list of one query
    sizes = [min(len(one), _ELEMENTS) for one in listing.lists]
    docs = _naming(
        _document(columns, search, {"id"}, listing.named),
        lambda path: _cut_into(columns[path], sizes),
    )
    numbers, unsure = _numbers(columns, docs, search.kind)
    for doc in docs:
        ids = _cut_into(columns.get(doc.path, []), sizes)
        if not listing.named and len(ids) > 1 and not _differ_in(ids):
            continue
        of_name = doc.settled and plain_name(_last(doc.path)) in fields.DOCUMENT[:-2]
        of_list = [] if listing.named or of_name else ["list"]
        reading = search.reading(
            {"query": query.path, "list": listing.path, "doc": doc.path},
            numbers,
            [*query.doubt("query"), *of_list, *doc.doubt("doc"), *unsure],
            () if doc.settled else ids,
        )
        for one in _with_prefix(reading, ids):
            yield from _orders(one, columns if search.kind == "run" else {}, listing.lists)


def _with_prefix(reading: Recognition, ids: Lists) -> list[Recognition]:
    """Return a reading; before it, one that folds ids with a prefix of the database, as Vespa's."""
    prefixes = {str(one).rpartition("::")[0] for of in ids for one in of}
    if len(prefixes) != 1 or prefixes == {""} or "doc" not in reading.map:
        return [reading]
    unsure = reading._replace(guesses=tuple(dict.fromkeys((*reading.guesses, "doc"))))
    choices = f"ids without {prefixes.pop()}::", "ids as they are"
    return [
        unsure._replace(choice=choice, fold=fold)
        for choice, fold in zip(choices, ("/^.*::(.*)$/", ""), strict=True)
    ]


def _of_rows(columns: Columns, query: _Part, search: _Search) -> list[Recognition]:
    """Read a document a record, with its query repeated."""
    readings: list[Recognition] = []
    of_numbers = "0" in columns and all(map(is_number, chain(*columns.values())))
    if "query" not in search.map and (query.path == "@number" or of_numbers):  # a list of places
        return []
    rest = {name: of for name, of in columns.items() if name != query.path}
    rows: dict[Any, list[Any]] = {}
    for place, name in enumerate(columns.get(query.path, [])):
        rows.setdefault(name, []).append({key: of[place] for key, of in rest.items()})
    alone = max(map(len, rows.values()), default=0) < 2  # a row a query, which may be its own `id`
    of_row = alone or _last(query.path) == "id" or find(rest, fields.DOCUMENT)
    docs = _naming(
        _document(rest, search, set() if of_row else {"id"}),
        lambda path: [] if alone else [[row.get(path) for row in of] for of in rows.values()],
    )
    numbers, unsure = _numbers(rest, docs, search.kind)
    for doc in docs:
        guesses = query.doubt("query") + doc.doubt("doc")
        of_query = [[row.get(doc.path) for row in of] for of in rows.values()]
        parts = {"query": query.path, "doc": doc.path}
        reading = search.reading(parts, numbers, [*guesses, *unsure], of_query)
        readings += _orders(reading, rest if search.kind == "run" else {}, list(rows.values()))
    return readings


def _of_matrix(columns: Columns, search: _Search) -> list[Recognition]:
    """Read a query a record, and a number for each document."""
    queries = [name for name in columns if plain_name(name) in fields.QUERY_ID]
    filled = {
        name: [one for one in of if one not in ("", None)]
        for name, of in columns.items()
        if name not in queries
    }
    numeric = {name for name, of in filled.items() if of and all(map(is_number, of))}
    queries = queries or [name for name in columns if name not in numeric]
    others = len(columns) - len(numeric) - 1
    unknown = all(map(fields.may_be_document, numeric))
    if len(numeric) < 3 or len(queries) != 1 or others or search.kind != "run" or not unknown:
        return []
    if "0" in columns:  # rows without names
        return []
    parts = {"query": queries[0], "list": "@value", "doc": "@key", "score": "@value"}
    return [Recognition({**parts, **search.map}, ("list", "doc"))]


def _of_keys(values: Sequence[Any], search: _Search) -> list[Recognition]:
    """Read an object of queries whose values map documents to numbers."""
    if not all(isinstance(value, dict) for value in values):
        return []
    documents = [one for value in values for one in value.values()]
    parts = {"query": "@key", "list": "@value", "doc": "@key"}
    names = {name for value in values for name in value}
    if all(is_number(one) or isinstance(one, bool) for one in documents):
        number = "score" if search.kind == "run" else "level"
        # Names of measures, say, are no ids of documents.
        named = names and not any(map(fields.may_be_document, names))
        ids = [[*value] for value in values] if named else []
        return [search.reading(parts, {number: "@value"}, ["doc"] if named else [], ids)]
    if not all(isinstance(one, dict) for one in documents) or not _differ(names, values):
        return []
    columns = _columns(documents[:LOOKED_AT])
    numbers, guesses = _numbers(columns, (), search.kind)
    reading = search.reading(parts, numbers, guesses if numbers else ["doc"])
    lists = [[*value.values()] for value in values]
    return [*_orders(reading, columns if search.kind == "run" else {}, lists)]


def _names_texts(values: Sequence[Any], columns: Columns) -> bool:
    """Whether values name the texts of queries, each of which comes back with its own."""
    text = columns.get(find(columns, fields.QUERY_TEXT) or "", [])
    pairs = len({*zip(values, text, strict=True)}) if text else 0
    return 1 < pairs < len(text) and pairs == len({*values}) == len({*text})


def _differ(names: Set[str], objects: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the keys of objects are ids of documents: most objects lack most of all `names`."""
    return len(names) * len(objects) >= 2 * sum(map(len, objects))


def _queries(columns: Columns, path: str, inner: Sequence[Columns], search: _Search) -> list[_Part]:
    """Find the query of records: an id by its name, else ``id``, a text, or a guess.

    Several if their names say the same and their values differ.
    """
    if "query" in search.map:
        return [_Part(search.map["query"])]
    parts: list[_Part] = []
    taken = () if path else search.map.values()
    names = (*fields.QUERY_ID, *fields.CASE_ID, *fields.QUERY_TEXT)
    for name, values in columns.items():
        depth, steps = name.count("."), name.split(".")
        # A span has the key input.value.
        length = 2 if plain_name(".".join(steps[-2:])) in fields.QUERY_TEXT else 1
        last, above = (plain_name(".".join(of)) for of in (steps[-length:], steps[:-length]))
        if name in taken or not all(map(is_scalar, values)) or last not in names:
            continue
        of_case = last in fields.CASE_ID
        comes_back = not path and not depth and _names_texts(values, columns)
        own = path and (last != "id" or not depth or above in fields.QUERY_TEXT[:3])
        if of_case and not (own or comes_back):
            continue
        if above and last in fields.QUERY_TEXT and above not in fields.OF_QUERIES:
            continue
        inside = above in fields.QUERY_TEXT[:3] and last in (*fields.QUERY_ID, "id")
        tier = 0 if inside else 1 if last in fields.QUERY_ID else 2 if of_case else 3
        settled = not (last == "id" and comes_back)  # in rows it is a document's, mostly
        parts.append(_Part(name, settled, (tier, depth, names.index(last))))
    for of in inner if path else ():
        for name, values in of.items():
            if plain_name(name) in fields.QUERY_ID and None not in values:
                parts.append(_Part(f"{path}[].{name}", True, (1, 9)))
    if plain_name(_last(path.removesuffix("[]"))) in fields.NUMBERED:
        parts = [part for part in parts if part.order[0] < 3] or [_Part("@number")]
    if parts:
        first = min(parts, key=lambda part: part.order)
        if first.order[:1] != (1,):
            return [first]
        paths = [part.path for part in sorted(parts, key=lambda part: part.order)]
        unlike = _unlike(fields.rivals(paths, fields.QUERY_ID), columns)
        if len(unlike) > 1:
            return [_Part(name, False) for name in unlike]
        return [
            first._replace(path=_only(unlike[0] if unlike else first.path, columns, "<query id>"))
        ]
    texts = {
        name: len({*values})
        for name, values in columns.items()
        if name not in taken and _may_be_ids(values)
    }
    if path:
        unique = [name for name in texts if texts[name] == len(columns[name])]
    else:
        unique = [name for name in texts if 1 < 2 * texts[name] <= len(columns[name])]
    return [_Part(min(unique, key=lambda name: name.count(".")) if unique else "@number", False)]


def _document(columns: Columns, search: _Search, more: set[str], sure: bool = True) -> list[_Part]:
    """Find the ids of documents: by name, the outermost first, else what values suggest."""
    if "doc" in search.map:
        return [_Part(search.map["doc"])]
    parts, guesses = [], []
    names = (*fields.DOCUMENT, *sorted(more))
    for name, values in columns.items():
        last, above = plain_name(_last(name)), plain_name(_last(name.rpartition(".")[0]))
        if not _may_be_ids(values):
            continue
        if last in names and not (last in fields.DOCUMENT[-2:] and _texts(values)):
            settled = not above or above in fields.WRAPPERS or above.isdigit()
            parts.append(_Part(name, settled, (name.count("."), names.index(last))))
        elif last in fields.SOURCES and above in fields.WRAPPERS:
            parts.append(_Part(name, True, (8, fields.SOURCES.index(last))))
        elif last in (*fields.QUERY_ID, *fields.QUERY_TEXT, *fields.RUN_ID):
            continue
        elif not _texts(values) and len({*values}) > 1 and not _is_cell(values, name):
            numbers = all(map(is_number, values))
            if not numbers or meaning(last) == "unknown" or last in fields.WRAPPERS:
                order = (numbers, meaning(last) != "unknown", name.count("."))
                guesses.append(_Part(name, False, tuple(map(int, order))))
    parts = [part for part in parts if part.settled] or parts or guesses
    parts.sort(key=lambda part: part.order)
    rivals = fields.rivals([part.path for part in parts if part.settled], names)
    parts = [part for part in parts if part.path in rivals] or parts
    if not parts:
        return []
    first, *others = parts
    first = first._replace(path=_only(first.path, columns, "<document or id>"))
    if first.path not in columns:
        return [first]
    ids = _unlike(rivals, columns)[:_MOST_IDS]
    if len(ids) < 2:
        ids = [*_rivals(first, columns, sure)[:1], first.path]
    if len(ids) > 1:
        of_values = first.order if first.by_value else ()
        near = sorted(ids, key=lambda path: _far_from_people(path, columns, ids))
        return [_Part(path, False, of_values) for path in near]
    return [first, *([] if first.settled else [part for part in others if not part.settled])]


def _unlike(names: Sequence[str], columns: Columns) -> list[str]:
    """Return names whose values differ, in the same order.

    Without an ``id`` behind them that is a number: that of a row.
    """
    some: dict[tuple[Any, ...], str] = {}
    for name in names:
        values = columns.get(name, [])
        of_row = plain_name(_last(name)) == "id" and all(map(is_number, values))
        if values and not (some and of_row):
            some.setdefault(tuple(values), name)
    return list(some.values())


def _rivals(part: _Part, columns: Columns, sure: bool = True) -> list[str]:
    """Return what could be the id instead of ``id`` or of a source, the likeliest first.

    Databases and packages give an ``id`` that says nothing, beside the one that people gave. Where
    a document's name has the same values, there is nothing to choose.
    """
    path, values = part.path, columns[part.path]
    last = plain_name(_last(path))
    of_source = last in fields.SOURCES
    of_machine = last == "id" and not (sure and not _are_machines(values))
    if part.settled and not of_source and not of_machine:
        return []
    rivals: list[tuple[bool, int, str]] = []
    for other, of in columns.items():
        name, machines = plain_name(_last(other)), _are_machines(of)
        if name in fields.DOCUMENT and of == values and other != path:
            return []
        ids = name in fields.ID_NAMES or not fields.ID_WORDS.isdisjoint(name.split("_"))
        differs = of != values and (len(of) == 1 or len({*of}) > 1)
        if name in (*fields.QUERY, *fields.QUERY_TEXT, *fields.RUN_ID) or not (ids and differs):
            continue
        if _may_be_ids(of) and not _texts(of) and (machines or not of_source):
            rivals.append((machines, other.count("."), other))
    return [other for _, _, other in sorted(rivals)]


def _numbers(
    columns: Columns, docs: Sequence[_Part], kind: Kind
) -> tuple[dict[str, str], list[str]]:
    """Find what orders documents, or their levels; and which of these parts are guesses."""
    columns_of_ids = [columns[doc.path] for doc in docs if doc.path in columns]
    ids = {doc.path for doc in docs} | {
        path for path, values in columns.items() if values in columns_of_ids
    }
    inside = [f"{path.rpartition('.')[0]}." for path in ids if "." in path]
    near = {}  # by the name that counts: of this object, or of the object of an id
    for path in reversed(columns):
        name = next((path.removeprefix(of) for of in inside if path.startswith(of)), path)
        if path not in ids and ("." not in name or plain_name(name) in fields.SCORE):
            near[plain_name(name)] = path
    if kind == "qrels":
        level = next((near[name] for name in fields.LEVEL if name in near), "")
        unknown = [
            path
            for path in near.values()
            if meaning(path) != "other" and any(map(_may_be_level, columns[path]))
        ]
        guess = bool(unknown)
        if level:
            return {"level": _only(level, columns, "<level>")}, []
        return {"level": unknown[0]} if guess else {}, ["level"] * guess
    ordering = {name: path for name, path in near.items() if any(map(is_number, columns[path]))}
    floats = {name for name, path in ordering.items() if any(map(_is_float, columns[path]))}
    scores = (*fields.SCORE, *fields.DISTANCE, *({"relevance"} & floats))
    for part, names in (("score", scores), ("rank", fields.RANK)):
        number = next((ordering[name] for name in names if name in ordering), None)
        if number is not None:
            return {part: _only(number, columns, f"<{part}>")}, []
    for name, path in reversed(ordering.items()):
        # A pair's number has no name. Further inside nothing compares numbers with the order.
        if name.isdigit() or ("." in path and name in floats and meaning(name) == "unknown"):
            return {"score": path}, ["score"]
    return {}, []


def _only(path: str, columns: Columns, names: str) -> str:
    """Return the path; if two keys have its name, such as score and Score, a path to both.

    The reader refuses these. Elasticsearch's ``_id`` beside ``id`` is another name.
    """
    spellings = {one.strip("_@$") for one in columns if plain_name(one) == plain_name(path)}
    return path if len(spellings) < 2 else path.removesuffix(_last(path)) + names


def _varies(path: str, some: Lists) -> bool:
    """Whether a path leads to several values within a list."""
    return any(len({str(Path(path).scalar(unfolded(one))) for one in of}) > 1 for of in some)


def _orders(reading: Recognition, near: Columns, some: Lists) -> Iterator[Recognition]:
    """Yield a guess with each order that its documents may have, the likeliest first."""
    score = reading.map.get("score", "")
    if reading.is_settled or not (fields.ORDERS - {"score"}).isdisjoint(reading.map):
        yield reading
        return
    if not score:
        unknown = (name for name, of in near.items() if any(map(_is_float, of)))
        score = next((name for name in unknown if meaning(name) == "unknown"), "")
    parts = {part: of for part, of in reading.map.items() if part != "score"}
    above = score.removesuffix(_last(score))
    for other in near:
        beside = other != score and other.startswith(above) and "." not in other[len(above) :]
        if beside and fields.is_score(score) and fields.is_score(other):
            ways = [_ranked(of, score) != _ranked(of, other) for of in some]
            if any(ways) and all(map(is_number, near[other])):
                yield reading._replace(map={**parts, "score": other})
    if not score:
        yield reading
    else:
        sense = meaning(score)
        slope = _slope([[Path(score).scalar(unfolded(one)) for one in of] for of in some])
        falls = reading._replace(map={**parts, "score": score})
        part = "similarity" if sense == "distance" else "score"  # as of Milvus and Vertex
        rises = reading._replace(map={**parts, "distance": score})
        small, large = (
            one._replace(choice=f"{one.choice and one.choice + ', '}{size} is better")
            for one, size in (
                (rises, "small"),
                (falls._replace(map={**parts, part: score}), "large"),
            )
        )
        if (sense == "distance") != (slope == "falls") or (sense == "score" and not slope):
            yield falls
        elif slope == "rises" and sense == "unknown":
            yield rises
        else:
            yield from (small, large) if slope == "rises" else (large, small)


def _ranked(some: Sequence[Any], path: str) -> list[int]:
    """Return the places of documents by a score, the best first."""
    values = [Path(path).scalar(unfolded(one)) for one in some]
    sign = 1 if meaning(path) == "distance" else -1
    numbers = [sign * float(one) if is_number(one) else 0.0 for one in values]
    return sorted(range(len(numbers)), key=numbers.__getitem__)


def _slope(lists: Lists) -> str:
    """Return what the numbers do along each list: ``rises``, ``falls`` or neither."""
    numbers = [[float(one) for one in of if is_number(one)] for of in lists]
    if not any(len({*of}) > 1 for of in numbers):
        return ""
    rising = all(of == sorted(of) for of in numbers)
    falling = all(of == sorted(of, reverse=True) for of in numbers)
    return "rises" if rising else "falls" if falling else ""


def _goes_against(path: str, records: Sequence[Any]) -> bool:
    """Whether the best of every list of scores, by their name, is its last one."""
    lists = [Path(path).listed(unfolded(record)) for record in records]
    slope = _slope([of[2] for of in lists if of])
    return slope == ("falls" if meaning(path) == "distance" else "rises")


def _neighbours(path: str, records: Sequence[Any]) -> Iterator[tuple[str, str, list[Any]]]:
    """Yield the path, the last name and the elements of the lists beside a list."""
    above = path.removesuffix("[]").rpartition(".")[0]
    lists = {other: values for record in records for other, values in _lists(record)}
    for other, values in lists.items():
        there, _, last = other.removesuffix("[]").rpartition(".")
        if there == above and other.endswith("[]") == path.endswith("[]") and other != path:
            yield other, plain_name(last), values


def _beside(path: str, records: Sequence[Any]) -> dict[str, str]:
    """Find the list of scores beside a list of ids."""
    lists = {
        name: other
        for other, name, values in _neighbours(path, records)
        if name in _LISTS_OF_SCORES and all(map(is_number, values))
    }
    return {"scores": next(lists[of] for of in _LISTS_OF_SCORES if of in lists)} if lists else {}


def _rivals_beside(
    path: str, ids: list[Any], records: Sequence[Any]
) -> dict[str, tuple[str, list[Any]]]:
    """Find ids in a list of objects beside ids that say nothing, as LangChain writes in Chroma."""
    rivals: dict[str, tuple[str, list[Any]]] = {}
    for other, _, values in _neighbours(path, records):
        if values and all(isinstance(one, dict) for one in values):
            columns = {"id": ids, **_columns(values)}
            for name in _rivals(_Part("id"), columns)[:1]:
                rivals[other] = name, columns[name]
    return rivals


def _is_cell(column: Sequence[Any], path: str) -> bool:
    """Whether the texts of a column are lists: several values between bars, or by its name."""
    texts = [value for value in column if isinstance(value, str) and value]
    of_bars = 2 * sum("|" in text for text in texts) > len(texts)
    of_name = plain_name(path) in (*fields.RETRIEVED, *fields.JUDGED)
    return of_bars or (of_name and any(mark in text for text in texts for mark in "|;,\n"))


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def _maps_numbers(value: Any) -> bool:
    return isinstance(value, dict) and bool(value) and all(map(is_number, value.values()))


def _is_float(value: Any) -> bool:
    """Whether an id would be a number with a fraction."""
    return "." in str(value) and is_number(value)


def _may_be_level(value: Any) -> bool:
    return isinstance(value, bool) or is_number(value)


def _may_be_ids(values: Sequence[Any]) -> bool:
    """Whether all values are texts or whole numbers."""
    return all(map(is_scalar, values)) and not any(map(_is_float, values))


def _naming(docs: Sequence[_Part], lists_of: Callable[[str], Lists]) -> Sequence[_Part]:
    """Return ids of documents; of those that values suggest, the best that differ in a list."""
    if not docs or not docs[0].by_value:
        return docs
    named = [doc for doc in docs if _may_name(lists_of(doc.path))]
    return [doc for doc in named if doc.order == named[0].order][:2]


def _cut_into(column: Sequence[Any], sizes: Iterable[int]) -> Lists:
    """Return the values of a column by the list that they are in."""
    values = iter(column)
    return [[*islice(values, size)] for size in sizes]


def _may_name(lists: Sequence[Sequence[Any]]) -> bool:
    """Whether values may be ids of documents: they differ within a list, and lists differ."""
    return (len(lists) == 1 or _differ_in(lists)) and all(len({*one}) == len(one) for one in lists)


def _are_places(some: Lists) -> bool:
    """Whether whole numbers are places in another list, as citations are, and no ids.

    They count from 0, or go from 1 to their number in each list.
    """
    flat = [*chain(*some)]
    counted = all([*map(str, of)] == [*map(str, range(1, len(of) + 1))] for of in some)
    return all(map(is_number, flat)) and (counted or any(str(one) == "0" for one in flat))


def _are_machines(values: Sequence[Any]) -> bool:
    """Whether all ids are such as programs draw or count."""
    return all(_MACHINE.fullmatch(str(value)) for value in values)


def _far_from_people(path: str, columns: Columns, paths: Sequence[str]) -> tuple[bool, ...]:
    """Order ids: those that people gave first, then such as programs count, and draw.

    The last are those that end with another id: a program has put something before it.
    """
    values = columns[path]
    pairs = (
        zip(values, columns[other], strict=True) for other in paths if columns[other] != values
    )
    longer = any(all(str(one).endswith((f"/{end}", f":{end}")) for one, end in of) for of in pairs)
    drawn = all(_DRAWN.fullmatch(str(value)) for value in values)
    return longer, _are_machines(values), drawn, plain_name(_last(path)) == "id"


def _texts(values: Sequence[Any]) -> bool:
    """Whether most values are texts of several words."""
    of_words = sum(len(str(value).split()) > 1 for value in values)
    return 2 * of_words > len(values)
