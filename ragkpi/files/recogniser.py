"""Recognise where parsed records hold queries, lists, documents, scores, ranks and levels.

Pure functions from a sample of records to maps, as ``--map-run`` takes them. A part that a name
of `ragkpi.files.column_names` settles is certain; a part that only values suggest is a guess, and
a guess is printed, never read.

Each structure becomes `_Hits`: columns beside the list, with a value a query, and columns of its
documents. Six structures are looked for (`_structures`):

1. a list of objects, or of pairs ``[document, score]``, anywhere under a record, also in a list;
2. a list of ids, which may have lists of scores and of objects beside it;
3. an object that maps documents to numbers, or to objects;
4. a document a record, with its query repeated;
5. a matrix: a query a record, and a number for each document;
6. an object of queries, ``{question: [documents]}``, or a table under a key (`_ways`).

Attributes of spans, texts of JSON, lists in a cell, and a column for each rank are unfolded before
(`ragkpi.files.json_text.unfolded`). Then `_queries`, `_documents` and `_number` choose columns by
the same rules, whatever the structure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
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
_MOST = 8  # readings: of two queries, two ids and two directions
_OF_RECORDS = re.compile(r"@value\[\]\.|\d+\.")
_MOST_IDS = 3
_HIGHEST = 10  # of the usual levels
# UUIDs, hashes, and what Elasticsearch, MongoDB and others draw; counters, also behind a word.
_DRAWN = re.compile(
    r"(?:\w+:)*(?:[0-9a-fA-F-]{16,}|(?=\D*\d)(?=[^A-Z]*[A-Z])[\w-]{20,27})|(?:\w+:)+\d+"
    r"|.*[-_/:](?=[a-f-]*\d)(?=[\d-]*[a-f])[0-9a-f-]{8,}"
)
_MACHINE = re.compile(rf"[A-Za-z]*[-_]?\d+|{_DRAWN.pattern}")

Columns: TypeAlias = "dict[str, list[Any]]"  # from a path to the values there, in file order
Lists: TypeAlias = "list[list[Any]]"  # the entries of a list in each record, in a sample
Alias: TypeAlias = "Mapping[str, Mapping[str, str]]"
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
    everywhere
        Whether each record of the sample has the list.
    """

    map: Mapping[str, str]
    guesses: tuple[str, ...] = ()
    choice: str = ""
    fold: str = ""
    everywhere: bool = True

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


class _Hits(NamedTuple):
    """Documents of queries in a structure, query behind query.

    Attributes
    ----------
    columns
        From a path in a document to its values; of long lists only some.
    sizes
        How many documents each query has.
    named
        Whether a name, or the user, says that these are documents; `doubts` are guesses otherwise.
    docs
        The ids, if the structure says where they are.
    alias
        What a column is in a map, if not a path in a document.
    places
        Whether the ids may be places in another list.
    of_row
        Whether ``id`` is that of a row, and no document's.
    parts
        The parts of a map that the structure says: the query, the list.
    order
        Compares structures of one file: small is better.
    everywhere
        Whether each record has the list.
    """

    columns: Columns
    sizes: Sequence[int]
    named: bool = True
    doubts: tuple[str, ...] = ("list",)
    docs: Sequence[_Part] = ()
    alias: Mapping[str, Mapping[str, str]] = {}
    places: bool = False
    of_row: bool = False
    query: _Part = _Part("")
    parts: Mapping[str, str] = NO_MAP
    order: tuple[int, ...] = ()
    everywhere: bool = True

    def lists(self, path: str) -> Lists:
        """Return the values of a column by query."""
        values = iter(self.columns.get(path, []))
        return [[*islice(values, size)] for size in self.sizes]

    @property
    def score_of_pairs(self) -> str:
        """The place of the score if all documents are pairs with one, the best first."""
        places = {name.partition(".")[0] for name in self.columns}
        numbers = [name for name in "01" if all(map(is_number, self.columns.get(name, [None])))]
        falls = len(numbers) == 1 and _slope(self.lists(numbers[0])) == "falls"
        return numbers[0] if falls and places == {"0", "1"} else ""


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
    arrays = bool(sample) and isinstance(sample[0], list) and nested
    readings: list[tuple[tuple[int, ...], Recognition, Lists]] = []
    for kind_of_structure, structures in enumerate((_with_lists, _rows, _matrices)):
        if any(one.is_settled for _, one, _ in readings) or (
            kind_of_structure and ("list" in search.map or arrays)
        ):
            break
        for hits in structures(sample, columns, search):
            for one, ids in _readings(hits, search):
                ordered = not fields.ORDERS.isdisjoint(one.map)
                lacking, *place = hits.order or (0,)
                guesses = len(one.guesses)
                # Scores and two ids in a list by its name come before another list.
                doubt = guesses > 0 and not (one.guesses == ("doc",) and ordered and hits.named)
                unnamed = not (hits.named or doubt)
                order = doubt, kind_of_structure, unnamed, guesses, lacking, not ordered, *place
                readings.append((order, one, ids))
    readings.sort(key=lambda reading: reading[0])
    best = [one for order, one, _ in readings if order == readings[0][0]][:_MOST]
    if best and best[0].is_settled and (others := _other_lists(readings, search)):
        return others
    scored = {one.map.get("list") for _, one, _ in readings if "score" in one.map}
    if len(best) == 1 == len(scored) and best[0].guesses == ("list",) and "score" in best[0].map:
        return [best[0]._replace(guesses=())]  # the only list with ids and scores needs no name
    return best


def _other_lists(
    readings: Sequence[tuple[tuple[int, ...], Recognition, Lists]], search: _Search
) -> list[Recognition]:
    """Return guesses if another list may be meant as well as the first one.

    A reranked list has the same documents in another order; judgements may have a list a level.
    """
    (_, first, ids), *rest = readings
    path = first.map.get("list", "")
    others = {path: first}
    for _, one, of in rest:
        other = one.map.get("list", path)
        if len(of) != len(ids) or other in others or "list" in search.map:
            continue
        same = all({*here} == {*there} for here, there in zip(of, ids, strict=True))
        words, more = ({*plain_name(_last(at)).split("_")} for at in (path, other))
        graded = words < more and not more.isdisjoint(fields.OF_LEVELS)
        if (same and of != ids) if search.kind == "run" else graded:
            others[other] = one
    some = sorted(others.values(), key=lambda one: "rerank" not in one.map.get("list", ""))
    return [one._replace(guesses=("list",)) for one in some] if len(some) > 1 else []


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
    if not others or not others[0].is_settled:
        return readings
    map_ = others[0].map
    if "list" in map_:
        kind: Kind = "qrels" if search.kind == "run" else "run"
        last = plain_name(_last(map_["list"].removesuffix("[]")))
        told = last in _list_names(kind) or map_["list"] == "@value"
    else:
        told = not _NUMBERS.isdisjoint(map_)
    return [] if told else readings


def _of_object(value: Mapping[str, Any], search: _Search) -> list[Recognition]:
    by_place: list[tuple[tuple[int, ...], list[Recognition]]] = []
    of_queries = all(isinstance(one, dict) for one in value.values()) and not is_record(value)
    if "records" not in search.map and not of_queries:
        alone = _of_records([value], search)
        alone = [one for one in alone if "query" not in one.guesses]  # nothing to compare with
        by_place.append(((0 if alone and alone[0].is_settled else _DEEPEST, 0), alone))
    for number, (path, records, keyed) in enumerate(_ways(value, "$")):
        if search.map.get("records", path) != path:
            continue
        rest = {part: path for part, path in search.map.items() if part != "records"}
        numbers = keyed and all(map(_maps_numbers, records))
        readings = [] if numbers else _of_records(records, _Search(search.kind, rest))
        own = readings and "query" not in readings[0].guesses and "list" not in readings[0].map
        if keyed and not own:
            readings = _of_records(records, _Search(search.kind, {"query": "@key", **rest}))
            # The objects of one response, such as Solr's, are no queries.
            readings = [one for one in readings if one.everywhere]
        # A list of records, each with a list, is no list of one query.
        readings = [one for one in readings if not _OF_RECORDS.match(one.map.get("list", "@value"))]
        named = path == "$" or plain_name(_last(path)) in _list_names(search.kind)
        doubt = ("records",) if keyed and not named else ()
        readings = [
            one._replace(
                map={"records": path, **one.map},
                guesses=(*(doubt if one.map.get("list") == "@value" else ()), *one.guesses),
            )
            for one in readings
        ]
        by_place.append(((path.count("."), number), readings))
    by_place = [one for one in by_place if one[1]]
    by_place.sort(key=lambda one: ("query" in one[1][0].guesses, len(one[1][0].guesses), one[0]))
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


_BATCHES = ("resource_spans", "scope_spans")  # lists of records in lists, of OpenTelemetry
_NUMBERS = {*fields.ORDERS, "level", "levels"}  # parts of a map
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
    if types in ({dict}, {list}) and named and not is_record(value) and not _are_records(inner):
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


def _cut(value: Any) -> Any:
    """Return a value with the first elements of its lists and the last, maybe of another query."""
    value = unfolded(value) if isinstance(value, list) else value  # attributes are one object
    if isinstance(value, list):
        first = value if len(value) <= _ELEMENTS else [*value[: _ELEMENTS - 1], value[-1]]
        return [_cut(one) for one in first]
    if type(value) is not dict:
        return value
    most = _ENTRIES if len(value) > 2 * _ENTRIES and _maps_numbers(value) else len(value)
    return {key: _cut(one) for key, one in islice(value.items(), most)}


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
        if _maps_numbers(value):
            yield path, _entries(value)
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
                        more = some if isinstance(some, list) else _entries(some)
                        inner.setdefault(f"{path}[].{below}", []).extend(more)
        yield from inner.items()


class _Listing(NamedTuple):
    """A list that may hold the documents of each record.

    Attributes
    ----------
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
    lists: Mapping[int, list[Any]]
    beside: Mapping[str, list[Any]]
    named: bool
    place: int
    reranked: bool

    @property
    def elements(self) -> list[Any]:
        """The elements of all records."""
        return [*chain(*self.lists.values())]

    def hits(self, columns: Columns, **more: Any) -> _Hits:
        """Return documents of this list."""
        sizes = [*map(len, self.lists.values())]
        return _Hits(columns=columns, sizes=sizes, named=self.named, **more)


def _with_lists(records: Sequence[Any], columns: Columns, search: _Search) -> Iterator[_Hits]:
    """Yield the documents of records that each have a list, or an object, of them."""
    for listing in _listings(records, columns, search):
        path, elements = listing.path, [unfolded(one) for one in listing.elements]
        scalars = any(is_scalar(one) or one is None for one in elements)
        inner = {} if scalars else _columns(elements, alone)
        if inner:
            some = _of_objects(listing, inner, search)
        else:
            some = _of_ids(listing, len(records), search)
        filled = sum(map(bool, listing.lists.values()))
        order = len(records) - filled, path.count("."), listing.place
        outside = {name: of for name, of in columns.items() if not name.startswith(f"{path}.")}
        for query in _queries({} if path == "@value" else outside, path, inner, search):
            for hits in some:
                if not hits.places or (listing.named and query.settled):
                    yield hits._replace(
                        query=query,
                        parts={"query": query.path, "list": path, **hits.parts},
                        everywhere=len(listing.lists) == len(records),
                        order=order,
                    )


def _listings(records: Sequence[Any], columns: Columns, search: _Search) -> Iterator[_Listing]:
    """Yield the lists under some records, also those in cells, but for lists of judgements."""
    lists: dict[str, dict[int, list[Any]]] = {}
    wanted = search.map.get("list", "")
    if wanted in ("", "@value"):
        arrays = (
            {}
            if _are_rows(records)
            else {place: one for place, one in enumerate(records) if isinstance(one, list)}
        )
        whole = arrays or (_of_keys(records) if search.map.get("query") == "@key" else {})
        lists |= {"@value": whole} if whole else {}
    for place, record in enumerate(records):
        for path, elements in _lists(record):
            lists.setdefault(path, {})[place] = elements[:_ELEMENTS]
    for path, column in columns.items():
        if path not in lists and (path == wanted or _is_cell(column, path)):
            cells = {place: listed_in(of) for place, of in enumerate(column) if isinstance(of, str)}
            if path == wanted or not _texts([*chain(*cells.values())]):
                maps = {place: _entries(of) for place, of in cells.items() if type(of) is dict}
                lists[path] = maps or cells
    names, others = (*fields.RETRIEVED, *fields.DOCUMENT), {*fields.JUDGED}
    if search.kind == "qrels":
        names = (*fields.JUDGED, *fields.DOCUMENT, *fields.JUDGED_DOCUMENT)
        others = {*fields.RETRIEVED}
    for path, some in (
        lists.items() if not wanted else [(wanted, lists.get(wanted.split("|")[0], {}))]
    ):
        last = plain_name(re.split(r"\.|\[\]\.", path.removesuffix("[]"))[-1])
        of_gold = not fields.NO_RANKING.isdisjoint(plain_name(path).split("_"))
        judged = search.kind == "run" and of_gold
        elements = [unfolded(one) for one in chain(*some.values())]
        expected = search.kind == "qrels" and of_gold and last.endswith("ids")
        beside = {
            other: [*chain(*of.values())]
            for other, of in lists.items()
            if other != path and _beside(other) == _beside(path)
        }
        if (last in others or judged) and last not in names and not wanted and not expected:
            objects = [one for one in elements if isinstance(one, dict)]
            levels = find(_columns(objects), fields.LEVEL) is not None or any(
                _are_numbers_beside(other, of, search) for other, of in beside.items()
            )
            if search.kind == "run" or not levels:
                continue
        outer, inside, below = path.rpartition("[]")
        above = [*lists.get(outer, {}).values()] if inside else []
        if any(len(of) > 1 for of in above) and (
            last not in fields.JUDGED if not below else _has_queries(above)
        ):
            continue  # a list for each of several queries
        if search.kind == "qrels" and not fields.NEGATIVE.isdisjoint(last.split("_")):
            continue
        # In a list, citations are places.
        cited = search.kind == "run" and last == "citations" and "@value" in elements[0]
        # The field of a document may be a list of one id, and an id may have bars.
        field = path in columns or (inside and below)
        known = last in names and not (field and last in fields.DOCUMENT)
        named = known or cited or expected or bool(wanted) or path == "@value"
        reranked = any(
            {"index"} <= one.keys() and find(one, fields.SCORE)
            for other, of in lists.items()
            if other != path and [*map(len, of.values())] == [*map(len, some.values())]
            for one in chain(*of.values())
            if isinstance(one, dict)
        )
        place = (*names, last).index(last)
        yield _Listing(path, some, beside, named, place, reranked)


def _are_rows(records: Sequence[Any]) -> bool:
    """Whether records are arrays of one width whose first value comes back, as a query does."""
    arrays = [one for one in records if isinstance(one, list) and one and is_scalar(one[0])]
    first = [one[0] for one in arrays]
    alike = len(arrays) == len(records) and len({*map(len, arrays)}) == 1
    return alike and 1 < 2 * len({*first}) <= len(first) and _changes(first) < len({*first})


def _beside(path: str) -> tuple[str, bool]:
    """Return what the lists beside each other share: the record, and whether they are double."""
    return path.removesuffix("[]").rpartition(".")[0], path.endswith("[]")


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
    objects = all(isinstance(one, dict) for one in inner) and _differ({*chain(*records)}, records)
    return dict(enumerate(map(_entries, records))) if inner and (numbers or objects) else {}


def _are_numbers_beside(path: str, values: Sequence[Any], search: _Search) -> bool:
    """Whether a list beside ids has their scores or levels."""
    name = plain_name(_last(path.removesuffix("[]")))
    if search.kind == "run":
        return name in _LISTS_OF_SCORES and all(map(is_number, values))
    levels = name in fields.LEVEL or name.removesuffix("s") in fields.LEVEL
    return levels and all(isinstance(one, bool) or is_number(one) for one in values)


def _of_ids(listing: _Listing, count: int, search: _Search) -> list[_Hits]:
    """Return a list of ids, which may have lists of scores and of objects beside it."""
    lists, ids = [*listing.lists.values()], listing.elements
    alike = len(lists) < count or max(map(len, lists), default=0) < 2 or not _differ_in(lists)
    if (
        not (ids or listing.named)
        or not _may_be_ids(ids)
        or ("doc" not in search.map and _texts(ids))
        or (alike and count > 1 and not listing.named)
    ):
        return []
    columns, docs = {"@value": ids}, [_Part("@value", not listing.reranked)]
    alias = {"@value": {"doc": "@value"}}
    for other, values in listing.beside.items():
        if _are_numbers_beside(other, values, search):
            columns[other], alias[other] = (
                values,
                {("scores" if search.kind == "run" else "levels"): other},
            )
        elif (
            "doc" not in search.map
            and len(values) == len(ids)
            and all(isinstance(one, dict) for one in values)
        ):
            # LangChain writes ids that say nothing, and sources beside them, in Chroma.
            objects = {"id": ids, **_columns(values)}
            for rival in _rivals(_Part("id"), objects)[:1]:
                columns[rival], alias[rival] = objects[rival], {"list": other, "doc": rival}
                docs = [_Part(rival, False), *(doc._replace(settled=False) for doc in docs)]
    places = _are_places(lists)
    last = plain_name(_last(listing.path.removesuffix("[]")))
    scored = len(columns) > 1 and meaning(last) == "unknown"  # only ids have scores
    doubts = () if scored else ("list", "doc")
    return [listing.hits(columns, docs=docs, alias=alias, doubts=doubts, places=places)]


def _of_objects(listing: _Listing, columns: Columns, search: _Search) -> list[_Hits]:
    """Return objects or pairs, unless each names its query: a document a record."""
    hits = listing.hits(columns)
    queries = [name for name in columns if plain_name(_last(name)) in fields.QUERY_ID]
    if any(len({*map(str, of)}) > 1 for name in queries for of in hits.lists(name)):
        return []
    if "@key" not in columns:
        return [hits]
    names, settled = columns["@key"], True
    if "@value" in columns and listing.path == "@value":
        # Names of measures, say, are no ids of documents.
        settled = not names or any(map(fields.may_be_document, names))
    elif "@value" in columns:
        unknown = listing.named and all(meaning(name) == "unknown" for name in names)
        differ = search.kind == "run" and _differ({*names}, hits.lists("@key"))
        if not (unknown or differ):
            return []
    return [hits._replace(docs=[_Part("@key", settled)], doubts=("list", "doc"))]


def _rows(records: Sequence[Any], columns: Columns, search: _Search) -> Iterator[_Hits]:
    """Yield a document a record, with its query repeated."""
    of_numbers = (
        "0" in columns and all(map(is_number, chain(*columns.values()))) and not _are_rows(records)
    )
    for query in _queries(columns, "", {}, search):
        if "query" not in search.map and (query.path == "@number" or of_numbers):
            continue  # a list of places
        groups: dict[Any, list[int]] = {}
        for place, name in enumerate(columns.get(query.path, [])):
            groups.setdefault(name, []).append(place)
        order = [*chain(*groups.values())] or [*range(len(records))]
        sizes = [*map(len, groups.values())]
        rest = {
            name: [of[place] for place in order]
            for name, of in columns.items()
            if name != query.path
        }
        # A row a query may be its own `id`.
        alone = max(sizes, default=0) < 2
        of_row = alone or _last(query.path) == "id" or find(map(_last, rest), fields.DOCUMENT)
        yield _Hits(
            rest,
            [] if alone else sizes,
            query=query,
            parts={"query": query.path},
            of_row=bool(of_row),
        )


def _matrices(records: Sequence[Any], columns: Columns, search: _Search) -> Iterator[_Hits]:
    """Yield a query a record, and a number for each document."""
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
    named = "0" not in columns
    alone = len(numeric) > 2 and len(queries) == 1 and not others
    if alone and unknown and named and plain_name(queries[0]) not in fields.DOCUMENT:
        yield _Hits(
            {"@key": [], "@value": []},
            [],
            named=False,
            doubts=("list", "doc"),
            docs=[_Part("@key")],
            query=_Part(queries[0]),
            parts={"query": queries[0], "list": "@value"},
        )


def _readings(hits: _Hits, search: _Search) -> Iterator[tuple[Recognition, Lists]]:
    """Yield the readings of documents, and their ids, for each column of ids and each order."""
    docs = hits.docs or _documents(hits, search)
    number, unsure = _number(hits, docs, search)
    for doc in docs:
        ids = hits.lists(doc.path)
        if not hits.named and len(ids) > 1 and not _differ_in(ids):
            continue
        of_name = doc.settled and plain_name(_last(doc.path)) in fields.DOCUMENT[:-2]
        if search.kind == "qrels" and not number:
            of_name = False  # a list of what is not relevant has no levels either
        doubts = () if hits.named or of_name else hits.doubts
        guesses = [*hits.query.doubt("query"), *doubts, *doc.doubt("doc"), *unsure]
        parts = {**hits.parts, **hits.alias.get(doc.path, {"doc": doc.path}), **number}
        parts |= search.map
        if doc.path == "@key" and _NUMBERS.isdisjoint(parts):
            guesses.append("doc")  # an object may have any keys
        reading = Recognition(
            parts,
            tuple(part for part in dict.fromkeys(guesses) if part not in search.map),
            everywhere=hits.everywhere,
        )
        if not doc.settled:
            reading = _with_ids(reading, ids)
        for one in _with_prefix(reading, ids) if doc.path not in hits.alias else [reading]:
            for way in _orders(one, hits) if search.kind == "run" else [one]:
                yield way, ids


def _with_ids(reading: Recognition, ids: Lists) -> Recognition:
    """Return a reading that says which ids it takes, and how to fold those that come back."""
    texts = [str(one) for of in ids for one in of]
    again = any(len({*of}) < len(of) for of in ids)
    fold = ("/^(.*)$/" if any("#" in one for one in texts) else "#") if again else ""
    comes_back = ", which come back: a document counts by its best passage" if again else ""
    choice = f"ids such as {texts[0]}{comes_back}" if texts else ""
    return reading._replace(choice=choice, fold=fold)


def _with_prefix(reading: Recognition, ids: Lists) -> list[Recognition]:
    """Return a reading; before it, one that folds ids with a prefix of the database, as Vespa's."""
    prefixes = {str(one).rpartition("::")[0] for of in ids for one in of}
    if len(prefixes) != 1 or prefixes == {""}:
        return [reading]
    unsure = reading._replace(guesses=tuple(dict.fromkeys((*reading.guesses, "doc"))))
    choices = f"ids without {prefixes.pop()}::", "ids as they are"
    return [
        unsure._replace(choice=choice, fold=fold)
        for choice, fold in zip(choices, ("/^.*::(.*)$/", ""), strict=True)
    ]


def _orders(reading: Recognition, hits: _Hits) -> Iterator[Recognition]:
    """Yield a guess with each order that its documents may have, the likeliest first."""
    parts = {part: of for part, of in reading.map.items() if part not in ("score", "scores")}
    score = reading.map.get("score") or reading.map.get("scores", "")
    if reading.is_settled or not fields.ORDERS.isdisjoint(parts):
        yield reading
        return
    if not score:
        floats = (name for name, of in hits.columns.items() if any(map(_is_float, of)))
        score = next((name for name in floats if meaning(name) == "unknown"), "")
        if not score:
            yield reading
            return
    values = hits.lists(score)
    above = score.removesuffix(_last(score))
    for other, of in hits.columns.items():
        beside = other != score and other.startswith(above) and "." not in other[len(above) :]
        if beside and fields.is_score(score) and fields.is_score(other) and all(map(is_number, of)):
            pairs = zip(values, hits.lists(other), strict=True)
            if any(_ranked(of, score) != _ranked(one, other) for of, one in pairs):
                yield reading._replace(map={**parts, "score": other})
    ways = _directions(score, values)
    if score in hits.alias:  # a list beside the documents
        ways = [("rank", ""), ("scores", "")] if len(ways) > 1 else [("scores", "")]
    for part, size in ways:
        path = "@number" if part == "rank" else score
        choice = ", ".join(filter(None, (reading.choice, size)))
        yield reading._replace(map={**parts, part: path}, choice=choice)


def _directions(path: str, lists: Lists) -> list[tuple[str, str]]:
    """Return which parts of a map a number may be, the likeliest first, and what tells them."""
    sense = "score" if path == "@value" else meaning(path)
    slope = _slope(lists)
    if (sense == "distance") != (slope == "falls") or (sense == "score" and not slope):
        return [("score", "")]
    if slope == "rises" and sense == "unknown":
        return [("distance", "")]
    # As of Milvus and Vertex, similarities may be called distances.
    large = "similarity" if sense == "distance" else "score", "large is better"
    small = "distance", "small is better"
    return [small, large] if slope == "rises" else [large, small]


def _names_texts(values: Sequence[Any], columns: Columns) -> bool:
    """Whether values name the texts of queries, each of which comes back with its own."""
    text = columns.get(find(columns, fields.QUERY_TEXT) or "", [])
    pairs = len({*zip(values, text, strict=True)}) if text else 0
    return 1 < pairs < len(text) and pairs == len({*values}) == len({*text})


def _queries(columns: Columns, path: str, inner: Columns, search: _Search) -> list[_Part]:
    """Find the query of records: an id by its name, else ``id``, a text, or a guess.

    Several if their names say the same and their values differ.
    """
    if "query" in search.map:
        return [_Part(search.map["query"])]
    parts: list[_Part] = []
    of_gold = search.kind == "qrels" and any(
        plain_name(_last(name)) in fields.JUDGED_DOCUMENT for name in columns
    )
    taken = () if path else search.map.values()
    scored = bool(path) and any(plain_name(name) in fields.SCORE for name in columns)  # a hit
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
        inside = bool(above) and plain_name(steps[-length - 1]) in fields.QUERY_TEXT[:3]
        own = (path and (last != "id" or not depth)) or inside or of_gold
        if of_case and (scored or not (own or comes_back)):
            continue
        if above and last in fields.QUERY_TEXT and above not in fields.OF_QUERIES:
            continue
        tier = 1 if last in fields.QUERY_ID else 2 if of_case else 3
        if inside and last in (*fields.QUERY_ID, "id"):
            tier = 0
        settled = not (last == "id" and comes_back)  # in rows it is a document's, mostly
        parts.append(_Part(name, settled, (tier, depth, names.index(last))))
    for name, values in inner.items():
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
        unique.sort(key=lambda name: _changes(columns[name]) >= texts[name])  # rows of one together
    return [_Part(min(unique, key=lambda name: name.count(".")) if unique else "@number", False)]


def _changes(values: Sequence[Any]) -> int:
    return sum(one != other for one, other in pairwise(values))


def _documents(hits: _Hits, search: _Search) -> Sequence[_Part]:
    """Find the ids of documents: by name, the outermost first, else what values suggest."""
    if "doc" in search.map:
        return [_Part(search.map["doc"])]
    parts, guesses = [], []
    columns = hits.columns
    of_gold = fields.JUDGED_DOCUMENT if search.kind == "qrels" else ()
    names = (*fields.DOCUMENT, *of_gold, *(() if hits.of_row else ("id",)))
    for name, values in columns.items():
        last, above = plain_name(_last(name)), plain_name(_last(name.rpartition(".")[0]))
        if not _may_be_ids(values):
            continue
        if last in names and not (last in fields.DOCUMENT[-2:] and _texts(values)):
            settled = not above or above in fields.WRAPPERS or above.isdigit()
            parts.append(_Part(name, settled, (name.count("."), names.index(last))))
        elif last in fields.SOURCES and above in fields.WRAPPERS:
            parts.append(_Part(name, True, (8, fields.SOURCES.index(last))))
        elif last in fields.SOURCES[:-1] and not above and _may_name(hits.lists(name)):
            parts.append(_Part(name, True, (9, fields.SOURCES.index(last))))
        elif last in (*fields.QUERY_ID, *fields.QUERY_TEXT, *fields.RUN_ID):
            continue
        elif not _texts(values) and len({*values}) > 1 and not _is_cell(values, name):
            numbers = all(map(is_number, values))
            if not numbers or meaning(last) == "unknown" or last in fields.WRAPPERS:
                order = (numbers, meaning(last) != "unknown", name.count("."))
                guesses.append(_Part(name, False, tuple(map(int, order))))
    if hits.score_of_pairs and "0" in columns and not parts:
        parts.append(_Part("0", hits.named))
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
        ids = [*_rivals(first, columns, hits.named)[:1], first.path]
    if len(ids) > 1:
        of_values = first.order if first.by_value else ()
        near = sorted(ids, key=lambda path: _far_from_people(path, columns, ids))
        return _naming([_Part(path, False, of_values) for path in near], hits)
    others = [] if first.settled else [part for part in others if not part.settled]
    return _naming([first, *others], hits)


def _naming(docs: Sequence[_Part], hits: _Hits) -> Sequence[_Part]:
    """Return ids of documents; of those that values suggest, the best that differ in a list."""
    if not docs[0].by_value:
        return docs
    named = [doc for doc in docs if _may_name(hits.lists(doc.path))]
    if not hits.named:  # numbers that nothing names
        numbers = {path for path, of in hits.columns.items() if all(map(is_number, of))}
        named = [doc for doc in named if doc.path not in numbers or doc.path.isdigit()]
    return [doc for doc in named if doc.order == named[0].order][:2]


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
    of_machine = _are_drawn(values) or (last == "id" and not (sure and not _are_machines(values)))
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


def _number(
    hits: _Hits, docs: Sequence[_Part], search: _Search
) -> tuple[Mapping[str, str], Sequence[str]]:
    """Find what orders documents, or their levels; and which of these parts are guesses."""
    columns, kind = hits.columns, search.kind
    if not fields.ORDERS.isdisjoint(search.map):
        return {}, []
    if "@value" in columns:  # a number of each id, or ids
        lists = [of for of in hits.alias.values() if not {"scores", "levels"}.isdisjoint(of)]
        by_id = {"score" if kind == "run" else "level": "@value"} if "@key" in columns else {}
        return (lists[0] if lists else by_id), []
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
            if meaning(path) != "other" and _may_be_levels(columns[path])
        ]
        far = [path for path in columns if plain_name(_last(path)) in fields.LEVEL]
        unknown += [path for path in far if path not in ids and _may_be_levels(columns[path])]
        if level:
            return {"level": _only(level, columns, "<level>")}, []
        unknown.sort(key=lambda path: (not _are_levels(columns[path]), -len({*columns[path]})))
        return {"level": unknown[0]} if unknown else {}, ["level"] * bool(unknown)
    ordering = {name: path for name, path in near.items() if any(map(is_number, columns[path]))}
    floats = {name for name, path in ordering.items() if any(map(_is_float, columns[path]))}
    scores = (*fields.SCORE, *fields.DISTANCE, *({"relevance"} & floats))
    for part, names in (("score", scores), ("rank", fields.RANK)):
        some = [ordering[name] for name in names if name in ordering]
        # A search engine may give all its documents one score, for a reranker to tell them apart.
        telling = [path for path in some if any(len({*of}) > 1 for of in hits.lists(path))]
        if some:
            path = (telling or some)[0]
            return {part: _only(path, columns, f"<{part}>")}, [part] * (path != some[0])
    for name, path in reversed(ordering.items()):
        # A pair's number has no name. Further inside nothing compares numbers with the order.
        if name == hits.score_of_pairs:
            return {"score": path}, []
        if name.isdigit() or ("." in path and name in floats and meaning(name) == "unknown"):
            return {"score": path}, ["score"]
    return {}, []


def _only(path: str, columns: Columns, names: str) -> str:
    """Return the path; if two keys have its name, such as score and Score, a path to both.

    The reader refuses these. Elasticsearch's ``_id`` beside ``id`` is another name.
    """
    spellings = {one.strip("_@$") for one in columns if plain_name(one) == plain_name(path)}
    return path if len(spellings) < 2 else path.removesuffix(_last(path)) + names


def _ranked(values: Sequence[Any], path: str) -> list[int]:
    """Return the places of documents by a score, the best first."""
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


def _differ_in(lists: Sequence[Sequence[Any]]) -> bool:
    """Whether a list differs from the first one."""
    return any(one != lists[0] for one in lists)


def _has_queries(some: Sequence[list[Any]]) -> bool:
    """Whether the elements of some lists name queries, or are documents with scores themselves."""
    names = (*fields.QUERY_ID, *fields.QUERY_TEXT, *fields.SCORE)
    return any(isinstance(one, dict) and find(one, names) for of in some for one in of)


def _differ(names: Set[str], objects: Sequence[Collection[Any]]) -> bool:
    """Whether the keys of objects are ids of documents: most objects lack most of all `names`."""
    return len(names) * len(objects) >= 2 * sum(map(len, objects))


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


def _are_levels(values: Sequence[Any]) -> bool:
    """Whether numbers are on a usual scale."""
    return all(abs(float(one)) <= _HIGHEST for one in values if is_number(one))


def _may_be_levels(values: Sequence[Any]) -> bool:
    """Whether some values are numbers, or true and false, and say more than that all count."""
    numbers = [str(float(one)) for one in values if isinstance(one, bool) or is_number(one)]
    return bool({*numbers} - {"1.0"})


def _may_be_ids(values: Sequence[Any]) -> bool:
    """Whether all values are texts or whole numbers."""
    return all(map(is_scalar, values)) and not any(map(_is_float, values))


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


def _are_drawn(values: Sequence[Any]) -> bool:
    """Whether all ids are such as programs draw."""
    return all(_DRAWN.fullmatch(str(value)) for value in values)


def _far_from_people(path: str, columns: Columns, paths: Sequence[str]) -> tuple[bool, ...]:
    """Order ids: those that people gave first, then such as programs count, and draw.

    The last are those that end with another id: a program has put something before it.
    """
    values = columns[path]
    pairs = (
        zip(values, columns[other], strict=True) for other in paths if columns[other] != values
    )
    longer = any(all(str(one).endswith((f"/{end}", f":{end}")) for one, end in of) for of in pairs)
    return longer, _are_machines(values), _are_drawn(values), plain_name(_last(path)) == "id"


def _texts(values: Sequence[Any]) -> bool:
    """Whether most values are texts of several words."""
    of_words = sum(len(str(value).split()) > 1 for value in values)
    return 2 * of_words > len(values)
