"""Find queries, documents, scores and levels in parsed records by the names of their keys.

1. The keys match a stack of `ragkpi.files.stacks`: its map applies.
2. Names identify one list or row, one query, one document and at most one score or rank, at any
   depth of the structure.
3. Otherwise nothing is read: the `Recognition` lists the keys with examples, and a map with ``?``
   for each part that no name identifies.

`ragkpi.files.structure` makes columns of the lists in records; this module looks up their names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product
from typing import Any, NamedTuple

from ragkpi.files import column_names as fields
from ragkpi.files.column_names import meaning, plain_name
from ragkpi.files.json_text import Path, is_number, is_scalar
from ragkpi.files.opening import Kind
from ragkpi.files.stacks import STACKS, Stack
from ragkpi.files.structure import (
    Listing,
    Root,
    Structure,
    are_numbers,
    are_scalars,
    are_texts,
    last_name,
    name_above,
    place_at,
    places_in,
)
from ragkpi.interface import spell
from ragkpi.wording import listed

_MOST_NAMED = 4  # lists, and maps, in a message
_MOST_KEYS = 20
_LONGEST_EXAMPLE = 20
_NUMBERS = {*fields.ORDERS, "level", "levels"}  # parts of a map
NO_MAP: Mapping[str, str] = {}


class Recognition(NamedTuple):
    """The parts of a sample of records that names identify.

    Attributes
    ----------
    maps
        From parts of a map to paths, with ``?`` for a part that no name identifies; several if
        several known names match a part.
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

    def under(self, path: str) -> Recognition:
        """Return this recognition for records at a path; "" for the records themselves."""
        return self._replace(maps=[{"records": path, **of} for of in self.maps]) if path else self


def map_text(map_: Mapping[str, str]) -> str:
    """Return a map as a user writes it."""
    return ", ".join(f"{part}={path}" for part, path in map_.items())


def recognise(
    records: Sequence[Any], kind: Kind, given: Mapping[str, str] = NO_MAP, root: Root = ""
) -> Recognition:
    """Identify the parts of some records by name.

    Parameters
    ----------
    records
        Decoded JSON, or rows of a table as mappings from column to cell.
    given
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
    if not given and (stack := _stack_of(records, kind)):
        of_stack = dict(part.split("=", 1) for part in stack.map.split(", "))
        if not {"query", "doc"} <= of_stack.keys():
            return _find(records, kind, of_stack, root)
        if maps := _expanded(of_stack, stack, records[0]):
            return _of_maps(maps, stack)
    found = _find(records, kind, given, root)
    if found.fault and records and all(map(_has_empty_lists, records)):
        fault, advice = _NOTHING[kind]
        return found._replace(fault=fault, advice=advice)
    if found.fault and not found.advice and not given:
        other: Kind = "qrels" if kind == "run" else "run"
        if not _find(records, other, given, root).fault:
            advice = f"expected {spell(f'map_{kind}', map_text(found.map))}"
            return found._replace(advice=advice)  # swapped files, so no choice of maps
    return found


def _find(records: Sequence[Any], kind: Kind, given: Mapping[str, str], root: Root) -> Recognition:
    """Identify the parts of records, or else of tables and objects of queries in them."""
    rest = {part: of for part, of in given.items() if part != "records"}
    mapped = "records" in given
    places = [place_at(records, given["records"])] if mapped else places_in(records, root)
    refusals: list[Recognition] = []
    for place in places:
        search = _Search(kind, rest, place.keyed)
        found = search.find(Structure.of(place.values, place.keyed), place.root).under(place.path)
        if not found.fault or place.is_table:
            return found
        refusals.append(found)
    return refusals[0]


_NOTHING: Mapping[Kind, tuple[str, str]] = {
    "run": ("contains no results", "expected at least one document"),
    "qrels": ("contains no judgements", "expected at least one"),
}


def _has_empty_lists(record: Any) -> bool:
    """Whether a record has lists or objects of documents, all of them empty."""
    values = record.values() if isinstance(record, dict) else ()
    inner = [one for one in values if isinstance(one, dict | list)]
    return bool(inner) and all(not one or _has_empty_lists(one) for one in inner)


def recognise_keyed(
    values: Sequence[Any], kind: Kind, given: Mapping[str, str] = NO_MAP
) -> Recognition:
    """Identify the parts of some values of an object whose keys are queries."""
    search = _Search(kind, {part: of for part, of in given.items() if part != "records"}, True)
    return search.find(Structure.of(values, keyed=True), "").under("$")


def _stack_of(records: Sequence[Any], kind: Kind) -> Stack | None:
    """Return the stack that wrote some records."""
    first = records[0] if records else None
    for stack in STACKS:
        told = (Path(path).any_value(first) is not None for path in stack.told_by)
        if stack.kind == kind and all(told):
            return stack
    return None


def _expanded(map_: Mapping[str, str], stack: Stack, record: Any) -> Sequence[Mapping[str, str]]:
    """Return the maps of a stack: one for each key that the star in its path matches."""
    if "*" not in map_.get("records", ""):
        return [map_]
    values = {"$": record}
    for step in map_["records"].split(".")[1:]:
        values = {
            f"{above}.{key}": value
            for above, of in values.items()
            for key, value in of.items()
            if step in ("*", key) and key not in stack.told_by and isinstance(value, dict)
        }
    return [{**map_, "records": path} for path in values]


def _of_maps(maps: Sequence[Mapping[str, str]], stack: Stack) -> Recognition:
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
        Paths to the id; several if several known names match; none if no name does.
    order
        The numbers that rank the documents, or their levels, as parts of a map.
    claim
        3 for a list with a known name, 2 for a known name of documents, 1 for an ``id`` or a source
        next to a known number; 0 for none.
    """

    listing: Listing
    ids: Sequence[str]
    order: Mapping[str, str]
    claim: int

    @property
    def path(self) -> str:
        return self.listing.path


class _Query(NamedTuple):
    """Paths to the query in the elements of the list `level`, or in the record, ""."""

    level: str
    paths: Sequence[str]


class _Search(NamedTuple):
    """A search for the parts of a run or of qrels; a user or a stack gives some of them."""

    kind: Kind
    given: Mapping[str, str]
    keyed: bool = False  # whether the keys of the records name the queries

    def find(self, structure: Structure, root: Root) -> Recognition:
        """Identify the parts of records, or of records in them if these are not rows."""
        claims = self._claims(structure) or [self._unnamed(structure)]
        queries = [self._query(documents, structure) for documents in claims]
        each = list(zip(claims, queries, strict=True))
        if len(claims) > 1:
            fault = f"{_listed([one.path for one in claims])} could each be the list of documents"
        else:
            fault = next(self._faults(*each[0], root), "")
        if not fault:
            return Recognition([*self._maps(*each[0], root, claims[0].order)])
        unreadable, advice = _what_no_map_reads(structure)
        maps = [
            map_
            for documents, query in each
            for map_ in self._maps(documents, query, root, self._open_order(documents))
        ][:_MOST_NAMED]
        if not claims[0].claim and not advice and _has_texts(structure):
            advice = f"expected {spell(f'map_{self.kind}', map_text(maps[0]))}; {where_texts()}"
        return Recognition(maps, f"{unreadable or fault} {_keys(structure)}", advice)

    def _claims(self, structure: Structure) -> list[_Documents]:
        """Return the listing that contains documents; several if names are ambiguous."""
        if "list" in self.given:
            listing = structure.at(self.given["list"].split("|")[0])
            return [self._documents(listing, structure, 3)] if listing.columns else []
        found = [
            self._documents(listing, structure, claim)
            for listing in structure.values()
            if (claim := self._claim(listing, structure))
        ]
        found = [one for one in found if one.claim]
        if self.kind == "qrels":  # the numbers next to a list are its levels
            levels = fields.are_levels
            beside = {path for of in found for path in structure.beside(of.listing, levels)}
            found = [one for one in found if one.path not in beside]
        if self.keyed:
            found = [one for one in found if one.claim == 3 or not one.path]
            # A list of records, each with a list, is not the list of one query.
            found = [one for one in found if not one.path.startswith("@value[].")]
        found = [one for one in found if not _gives_way(one, found)]
        best = [one for one in found if one.claim == max(of.claim for of in found)]
        if len(best) == 1 and best[0].listing.name == "ids":
            # A database generates ids; the objects next to them can have the users' own ids.
            around = best[0].listing.around
            best += [one for one in found if one.claim == 1 and one.listing.around == around]
        return best

    def _unnamed(self, structure: Structure) -> _Documents:
        """Return the only list, or the record, if no name identifies the documents."""
        lists = [listing for listing in structure.values() if listing.path]
        if len(lists) < 2:
            return _Documents(lists[0] if lists else structure.at(""), [], {}, 0)
        numbers = (one for one in lists if self._open_order(_Documents(one, [], {}, 0)))
        listing = next(numbers, lists[0])
        return _Documents(Listing("?", listing.columns), [], self._number(listing, []), 0)

    def _claim(self, listing: Listing, structure: Structure) -> int:
        """Return the claim of a list by its name: 3 for documents, 0 for the other role."""
        name, gold = listing.name, _says_gold(listing.path)
        if not listing.path:
            return 3 if self.keyed and self.kind == "qrels" and listing.is_of_values else 2
        if self.kind == "run":
            if name in fields.RETRIEVED or (name == "citations" and "@key" in listing.columns):
                return 3
            if name in fields.JUDGED or gold:
                return 0
            return 3 if name in fields.DOCUMENT or listing.path.startswith("@value") else 2
        if not fields.NEGATIVE.isdisjoint(name.split("_")):
            return 0
        judged = listing.of_name(fields.LEVEL) or structure.beside(listing, fields.are_levels)
        if name in fields.RETRIEVED and name not in fields.JUDGED:
            if not gold:
                return 3 if judged else 0
            return 3 if judged or _says_gold(listing.path.rpartition(".")[0]) else 2
        names = (*fields.JUDGED, *fields.DOCUMENT, *fields.JUDGED_DOCUMENT)
        return 3 if name in names or listing.path.startswith("@value") else 2

    def _documents(self, listing: Listing, structure: Structure, claim: int) -> _Documents:
        """Identify the documents in a listing, whose own name makes the claim."""
        columns = listing.columns
        beside = self._beside(listing, structure) if listing.path else NO_MAP
        if "@key" in columns:
            documents = claim == 3 and any(map(fields.may_be_document, columns["@key"]))
            part = "score" if self.kind == "run" else "level"
            return _Documents(listing, ["@key"], {part: "@value"}, claim if documents else 0)
        if listing.is_of_values:
            values = columns["@value"]
            named = claim == 3 and are_scalars(values) and not are_texts(values)
            named = named and not any(is_number(one) and "." in str(one) for one in values)
            claim = 3 if named or "doc" in self.given else 0
            return _Documents(listing, ["@value"], beside, claim)
        if listing.is_of_tuples:
            some, order = self._of_tuples(columns)
            return _Documents(listing, some, order, claim if claim == 3 else 0)
        ids, of_document = self._ids(listing)
        order = {**self._number(listing, ids), **beside}
        if claim < 3 and not of_document:
            claim = 1 if ids and order and self.kind == "run" else 0
        relevant = self._says_relevant(listing, ids, structure)
        if self.kind == "qrels" and not (order or self.given or relevant):
            order = {"level": "?"}
        return _Documents(listing, ids, order, claim if columns else 0)

    def _says_relevant(self, listing: Listing, ids: Sequence[str], structure: Structure) -> bool:
        """Whether documents without levels are relevant, by a name or by having two keys only."""
        if listing.path:
            return listing.name in fields.JUDGED and listing.name not in fields.GRADED
        of_relevant = any(last_name(path) in fields.JUDGED_DOCUMENT for path in ids)
        return of_relevant or len({*listing.columns, *structure.others}) == 2

    def _of_tuples(self, columns: Mapping[str, list[Any]]) -> tuple[list[str], Mapping[str, str]]:
        """Return the id and the number of (document, score) pairs; nothing for other tuples."""
        places = {path.partition(".")[0] for path in columns}
        numbers = [of for of in places if are_numbers(columns.get(of, []))]
        names = (*fields.DOCUMENT, "id")
        ids = [
            path
            for path in columns
            if path in places - {*numbers} or (not path.isdigit() and last_name(path) in names)
        ]
        if self.kind == "run" and len(places) == 2 and len(numbers) == 1 == len(ids):
            return ids, {"score": numbers[0]}
        return [], {"score" if self.kind == "run" else "level": "?"} if numbers else {}

    def _ids(self, listing: Listing) -> tuple[list[str], bool]:
        """Return the paths of ids by name, and whether one is a document id."""
        if "doc" in self.given:
            return [self.given["doc"]], True
        names = fields.DOCUMENT
        if self.kind == "qrels" and not listing.path:
            names = (*names, *fields.JUDGED_DOCUMENT)
        of_document = [
            path
            for path in listing.ids_of_name(names) or listing.of_name(names)
            if last_name(path) not in fields.DOCUMENT[-2:] or not are_texts(listing.columns[path])
        ]
        ids = _near(listing.ids_of_name(("id", *fields.OF_DATABASES)))
        if near := _near(of_document) or ([] if ids else of_document):
            return fields.rivals(near, names), True
        # If a database can generate the id, the users' own id is further inside.
        given = [path for path in listing.columns if "." in path and _may_be_given(listing, path)]
        sources = _near(listing.ids_of_name(fields.SOURCES[:-1])) or (given if ids else [])
        return [*sources[:1], *ids[:1]], False

    def _beside(self, listing: Listing, structure: Structure) -> Mapping[str, str]:
        """Return the list of scores or of levels next to a list."""
        if self.kind == "qrels":
            found = structure.beside(listing, fields.are_levels)
            return {"levels": found[0]} if found else {}
        found = structure.beside(listing, fields.are_scores)
        return {"scores": found[0] if len(found) == 1 else "?"} if found else {}

    def _number(self, listing: Listing, ids: Sequence[str]) -> Mapping[str, str]:
        """Return the numbers that rank documents, or their levels, by name.

        A level is in the document, or in the object of its id; a score can be deeper.
        """
        inside = tuple(f"{path.rpartition('.')[0]}." for path in ids if "." in path)
        if self.kind == "qrels":
            for path in listing.of_name(fields.LEVEL_OR_SCORE):
                near = "." not in path or path.startswith(inside or "\0")
                if near and path not in ids and {*listing.columns[path]} != {None}:
                    # The retriever's score of documents that are all positive is not a level.
                    of_search = last_name(path) == "score" and "positive" in listing.name
                    return {"level": "?" if of_search or not listing.is_only(path) else path}
            return {}
        for part, names in (("score", (*fields.SCORE, *fields.DISTANCE)), ("rank", fields.RANK)):
            for path in listing.of_name(names):
                near = part == "score" or "." not in path or path.startswith(inside or "\0")
                if near and path not in ids and are_numbers(listing.columns[path]):
                    return {part: path if listing.is_only(path) else "?"}
        return {}

    def _query(self, documents: _Documents, structure: Structure) -> _Query:
        """Find the nearest query: in the documents by its id, else around them."""
        if "query" in self.given:
            return _Query("", [self.given["query"]])
        listing = structure.at(documents.path)
        if documents.path and (ids := listing.ids_of_name(fields.QUERY_ID)):
            return _Query(documents.path, fields.rivals(ids, fields.QUERY_ID))
        around = [structure.at(path) for path in _lists_around(documents.path)]
        for find in (self._queries, self._cases):
            for level in around:
                if paths := find(level, documents):
                    return _Query(level.path, paths)
        texts = _texts_of_queries(listing)
        return _Query(documents.path if texts else "", texts)

    def _queries(self, level: Listing, documents: _Documents) -> list[str]:
        """Return the paths to a query around documents: its id, the case id, else its text."""
        inside = [
            path
            for path in level.columns
            if last_name(path) in (*fields.QUERY_ID, "id")
            and name_above(path) in fields.QUERY_TEXT[:3]
        ]
        if inside:
            return inside[:1]
        if ids := level.ids_of_name(fields.QUERY_ID):
            return fields.rivals(ids, fields.QUERY_ID)
        if self.keyed and not level.path:
            return ["@key"]
        texts = _texts_of_queries(level)
        numbered = documents.listing.name in fields.NUMBERED and "[]" not in documents.path
        if numbered and not level.path:
            return self._cases(level, documents) or ["@number"]
        return texts and (self._cases(level, documents) or texts)

    def _cases(self, level: Listing, documents: _Documents) -> list[str]:
        """Return the id of a case, which is the query id; the id of a hit or a row is not."""
        rows = not documents.path
        names = {last_name(path) for path in level.columns}
        if rows and names.isdisjoint(fields.JUDGED_DOCUMENT):
            return []
        ids = [path for path in level.of_name(fields.CASE_ID) if "." not in path]
        return [path for path in ids if not (rows and path in documents.ids)][:1]

    def _faults(self, documents: _Documents, query: _Query, root: Root) -> Iterator[str]:
        """Yield the ambiguities that names leave."""
        if not documents.claim:
            yield "cannot tell which key has the documents"
        if len(query.paths) > 1:
            yield f"{_listed(query.paths)} each name the query"
        if len(documents.ids) > 1:
            known = {last_name(path) for path in documents.ids} <= {*fields.DOCUMENT}
            claim = "each name" if known else "could each name"
            yield f"{_listed(documents.ids)} {claim} the document"
        if not query.paths:
            yield "cannot tell which key is the query"
        if not documents.ids:
            yield "cannot tell which key is the document id"
        if len(documents.order) > 1 and _NUMBERS.isdisjoint(self.given):
            yield f"{_listed([*documents.order.values()])} could each order the documents"
        if "?" in documents.order.values() and _NUMBERS.isdisjoint(self.given):
            yield "cannot tell which number is the score or the level"
        if query.level and not root:
            yield "the query is inside a list"

    def _maps(
        self, documents: _Documents, query: _Query, root: Root, orders: Mapping[str, str]
    ) -> Iterator[Mapping[str, str]]:
        """Yield the maps of a listing, one for each name that matches a part."""
        each: list[Mapping[str, str]] = [{part: path} for part, path in orders.items()]
        for name, id_, order in product(
            query.paths or ["?"], documents.ids or ["?"], each or [NO_MAP]
        ):
            map_ = {"records": f"{root}.{query.level}"} if query.level else {}
            inner = f"{query.level}[]." if query.level else ""
            map_["query"] = name
            if documents.path != query.level:
                map_["list"] = documents.path.removeprefix(inner)
            map_["doc"] = id_
            if inner:
                order = {part: path.removeprefix(inner) for part, path in order.items()}
            yield {**map_, **(order if _NUMBERS.isdisjoint(self.given) else {}), **self.given}

    def _open_order(self, documents: _Documents) -> Mapping[str, str]:
        """Return the numbers that rank documents, for an incomplete map, or ``?``.

        The reader finds scores and levels at the top of a document: it compares them all.
        """
        listing, order = documents.listing, documents.order
        part = "score" if self.kind == "run" else "level"
        path = order.get(part) or order.get("rank") or "?"
        if len(order) == 1 and path[:1] not in "?@" and not path.isdigit():
            if "." not in path:
                return {}
            several = len(listing.of_name((*fields.SCORE, *fields.DISTANCE))) > 1
            return {part: "?"} if several else order
        if order:
            return order
        unknown = ("score", "distance", "rank", "unknown")
        numbers = [
            values
            for path, values in listing.columns.items()
            if path not in documents.ids and are_numbers(values) and meaning(path) in unknown
        ]
        part = "rank" if self.kind == "run" and all(map(_count_up, numbers)) else part
        return {part: "?"} if numbers else {}


def _count_up(values: Sequence[Any]) -> bool:
    """Whether numbers are positions, counted from 0 or 1 in each list."""
    places = [float(value) for value in values if value is not None]
    steps = pairwise([-1, *places])
    return len({*places}) > 1 and all(b in (0, 1) or b == a + 1 for a, b in steps)


def _gives_way(one: _Documents, found: Sequence[_Documents]) -> bool:
    """Whether a listing contains the records around another one."""
    names_query = bool(one.listing.of_name(fields.QUERY_ID) or _texts_of_queries(one.listing))
    return any(
        other.path.startswith(f"{one.path}[]") and names_query
        if one.path
        else other.path != "" and other.claim >= one.claim
        for other in found
    )


def _near(paths: Sequence[str]) -> list[str]:
    """Return the paths to keys of a document, or of a nested object that usually has its id."""
    return [path for path in paths if name_above(path) in ("", *fields.WRAPPERS)]


def _may_be_given(listing: Listing, path: str) -> bool:
    """Whether a word in the name of a nested key suggests an id that users chose."""
    words = {*last_name(path).split("_")}
    named = last_name(path) in fields.SOURCES[:-1] or not fields.ID_WORDS.isdisjoint(words)
    values = listing.columns[path]
    of_query = last_name(path) in (*fields.QUERY, *fields.RUN_ID, "id")
    inside = name_above(path) in fields.WRAPPERS and not of_query
    return named and inside and are_scalars(values) and not are_texts(values)


def _says_gold(path: str) -> bool:
    """Whether a word in a path says that its content is judged, not retrieved."""
    return not fields.NO_RANKING.isdisjoint(plain_name(path).split("_"))


def _lists_around(path: str) -> Iterator[str]:
    """Yield the lists around a list, nearest first, and "" for the record."""
    while "[]" in path:
        path = path.rpartition("[]")[0]
        yield path
    yield ""


def _texts_of_queries(listing: Listing) -> list[str]:
    """Return the path to the text of a query, or to an id under that name."""
    found = []
    for path, values in listing.columns.items():
        steps = path.split(".")
        name, above = plain_name(steps[-1]), plain_name(".".join(steps[:-1]))
        named = name in fields.QUERY_TEXT and (not above or above in fields.OF_QUERIES)
        if named and all(map(is_scalar, values)):
            found.append((len(steps), fields.QUERY_TEXT.index(name), path))
    return [path for _, _, path in sorted(found)][:1]


def where_texts() -> str:
    """Return the advice for files with texts instead of ids."""
    return f"if qrels and run have only texts, use {spell('match', 'text')}"


def _has_texts(structure: Structure) -> bool:
    """Whether records have texts in place of document ids."""
    return any(
        last_name(path) in (*fields.TEXT, *fields.RETRIEVED, *fields.NAMES["<gold texts>"])
        or (listing.is_of_values and are_texts(values))
        for listing in structure.values()
        for path, values in listing.columns.items()
    )


def _what_no_map_reads(structure: Structure) -> tuple[str, str]:
    """Return why no map can read the records, and what to do; empty texts if one can."""
    if structure.keys_of_levels:
        advice = 'expected each level with its document: {"doc_id": …, "level": …}'
        return f"the keys of {structure.keys_of_levels} are levels", advice
    for listing in structure.values():
        if listing.path and "index" in listing.columns and listing.of_name(fields.SCORE):
            advice = "expected the ids of the documents at these positions in the request"
            return "a position instead of an id", advice  # of Cohere, Jina and Voyage
        values = [one for of in listing.columns.values() for one in of]
        of_scores = fields.are_scores(listing.name) or fields.are_levels(listing.name)
        by_place = listing.is_of_values or listing.is_of_tuples
        fractions = any("." in str(one) for one in values)
        if listing.path and by_place and are_numbers(values) and not (of_scores or fractions):
            fault = f"lists numbers, not ids ({', '.join(map(str, values[:3]))})"
            return fault, "expected the ids at these positions"
    return "", ""


def _listed(paths: Sequence[str]) -> str:
    some = [path or "the record" for path in paths[:_MOST_NAMED]]
    return " and ".join([*some, *(["…"] if len(paths) > len(some) else [])])


def _keys(structure: Structure) -> str:
    """Return the keys of records, each with an example and its possible meanings."""
    keys = [
        f"{_where(listing, path)} {_example(values[0])}{_may_be(path, values)}"
        for listing in structure.values()
        for path, values in listing.columns.items()
    ]
    more = ", …" if len(keys) > _MOST_KEYS else ""
    return f"(keys: {', '.join(keys[:_MOST_KEYS])}{more})"


def _where(listing: Listing, path: str) -> str:
    """Return the path to a column from the record."""
    if not listing.path or path == "@value":
        return listing.path or path
    return f"{listing.path}[].{path}"


def _example(value: Any) -> str:
    text = str(value)
    cut = text if len(text) <= _LONGEST_EXAMPLE else f"{text[: _LONGEST_EXAMPLE - 1]}…"
    return cut if is_number(value) or not isinstance(value, str) else f"'{cut}'"


_PARTS = {
    "query": (*fields.QUERY_ID, *fields.CASE_ID, *fields.QUERY_TEXT),
    "document": (*fields.DOCUMENT, *fields.JUDGED_DOCUMENT, *fields.SOURCES[:-1], "id"),
    "level": fields.LEVEL_OR_SCORE,
}


def _may_be(path: str, values: Sequence[Any]) -> str:
    """Return the possible meanings of a key by its name, for a message."""
    parts = [part for part, names in _PARTS.items() if last_name(path) in names]
    if meaning(path) in ("score", "distance", "rank") and are_numbers(values):
        parts.append(meaning(path))
    return f" ({' or '.join(parts)}?)" if parts else ""
