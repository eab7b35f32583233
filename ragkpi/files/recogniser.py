"""Recognise where parsed records hold queries, documents, scores, ranks and levels.

Pure functions from a sample of records to maps, as ``--map-run`` takes them. A part that a name
of `ragkpi.files.column_names` settles is certain; a part that only values suggest is a guess, and
a guess is printed, never read.

`ragkpi.files.structures` makes columns of documents from every structure. Of these columns
`_queries`, `_documents` and `_number` choose, by the same rules for all structures.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple

from ragkpi.files import column_names as fields
from ragkpi.files.column_names import meaning, plain_name
from ragkpi.files.json_text import is_number
from ragkpi.files.opening import Kind
from ragkpi.files.structures import (
    NO_MAP,
    Columns,
    Lists,
    Search,
    Structure,
    Values,
    differ_in,
    is_cell,
    is_record,
    list_name,
    maps_numbers,
    records_in,
    slope,
    structures,
)

_MOST = 8  # readings: of two queries, two ids and two directions
_MOST_IDS = 3
_HIGHEST = 10  # of the usual levels
_IN_LISTS = re.compile(r"@value\[\]\.|\d+\.")  # a list of records that each have a list
_NUMBERS = {*fields.ORDERS, "level", "levels"}  # parts of a map


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


class _Reading(NamedTuple):
    """A recognition, the structure that it is of, and the ids of documents by query."""

    recognition: Recognition
    hits: Structure
    ids: Lists

    @property
    def order(self) -> tuple[int, ...]:
        """Compares readings by structures of one kind: small is better.

        Scores and two ids in a list by its name come before another list.
        """
        guesses, hits = self.recognition.guesses, self.hits
        ordered = not fields.ORDERS.isdisjoint(self.recognition.map)
        doubt = bool(guesses) and not (guesses == ("doc",) and ordered and hits.named)
        lacking, *place = hits.order
        return doubt, not (hits.named or doubt), len(guesses), lacking, not ordered, *place


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
    return _of_role(Search(kind, user_map), lambda search: _of_records(records, search))


def _of_records(records: Sequence[Any], search: Search) -> list[Recognition]:
    readings: list[_Reading] = []
    for of_kind in structures(records, search):
        more = [reading for hits in of_kind for reading in _readings(hits, search)]
        if any(one.recognition.is_settled for one in more):
            readings = more
            break
        readings = readings or more
    readings.sort(key=lambda reading: reading.order)
    best = [one.recognition for one in readings if one.order == readings[0].order][:_MOST]
    if best and best[0].is_settled and (others := _other_lists(readings, search)):
        return others
    maps = [one.recognition.map for one in readings]
    scored = {map_.get("list") for map_ in maps if "score" in map_}
    if len(best) == 1 == len(scored) and best[0].guesses == ("list",) and "score" in best[0].map:
        return [best[0]._replace(guesses=())]  # the only list with ids and scores needs no name
    return best


def _other_lists(readings: Sequence[_Reading], search: Search) -> list[Recognition]:
    """Return guesses if another list may be meant as well as the first one.

    A reranked list has the same documents in another order; judgements may have a list a level.
    """
    first, *rest = readings
    path, ids = first.recognition.map.get("list", ""), first.ids
    others = {path: first.recognition}
    for one, _, of in rest:
        other = one.map.get("list", path)
        if len(of) != len(ids) or other in others or "list" in search.map:
            continue
        same = all({*here} == {*there} for here, there in zip(of, ids, strict=True))
        words, more = ({*list_name(at).split("_")} for at in (path, other))
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
    return _of_role(Search(kind, user_map), lambda search: _of_object(value, search))


def _of_role(search: Search, read: Callable[[Search], list[Recognition]]) -> list[Recognition]:
    """Return readings; none where names settle that a run holds judgements, or qrels a run."""
    readings = read(search)
    if not readings or readings[0].is_settled or search.map:
        return readings
    other = search._replace(kind="qrels" if search.kind == "run" else "run")
    others = read(other)
    if not others or not others[0].is_settled:
        return readings
    map_ = others[0].map
    if "list" in map_:
        told = list_name(map_["list"]) in other.lists or map_["list"] == "@value"
    else:
        told = not _NUMBERS.isdisjoint(map_)
    return [] if told else readings


def _of_object(value: Mapping[str, Any], search: Search) -> list[Recognition]:
    by_place: list[tuple[tuple[int, ...], list[Recognition]]] = []
    of_queries = all(isinstance(one, dict) for one in value.values()) and not is_record(value)
    if "records" not in search.map and not of_queries:
        alone = _of_records([value], search)
        alone = [one for one in alone if "query" not in one.guesses]  # nothing to compare with
        by_place.append(((0 if alone and alone[0].is_settled else len(value), 0), alone))
    for number, (path, records, keyed) in enumerate(records_in(value)):
        if search.map.get("records", path) != path:
            continue
        rest = {part: path for part, path in search.map.items() if part != "records"}
        numbers = keyed and all(map(maps_numbers, records))
        readings = [] if numbers else _of_records(records, Search(search.kind, rest))
        own = readings and "query" not in readings[0].guesses and "list" not in readings[0].map
        if keyed and not own:
            readings = _of_records(records, Search(search.kind, {"query": "@key", **rest}))
            # The objects of one response, such as Solr's, are no queries.
            readings = [one for one in readings if one.everywhere]
        # A list of records, each with a list, is no list of one query.
        readings = [one for one in readings if not _IN_LISTS.match(one.map.get("list", "@value"))]
        named = path == "$" or list_name(path) in search.lists
        doubt = ("records",) if keyed and not named else ()
        readings = [
            one._replace(
                map={"records": path, **one.map},
                guesses=(*(doubt if one.map.get("list") == "@value" else ()), *one.guesses),
            )
            for one in readings
        ]
        if path == "$" and len(records) == 1 and not search.map:
            readings = _of_only_key(records[0], readings, search)
        by_place.append(((path.count("."), number), readings))
    by_place = [one for one in by_place if one[1]]
    by_place.sort(key=lambda one: ("query" in one[1][0].guesses, len(one[1][0].guesses), one[0]))
    return by_place[0][1] if by_place else []


def _of_only_key(value: Any, readings: Sequence[Recognition], search: Search) -> list[Recognition]:
    """Return the readings by which an object's only key, such as ``data``, may be a query.

    A guess where its documents name their queries, or come back.
    """
    records = [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
    of_queries = {*fields.QUERY, *fields.QUERY_TEXT, *fields.CASE_ID[1:]}
    kept = []
    for one in readings:
        path, doc = one.map.get("list", "@value"), one.map.get("doc", "")
        names = {plain_name(name) for record in records for name in record if name != doc}
        ids = [str(record[doc]) for record in records if doc in record]
        if path != "@value" and list_name(path) not in search.lists:
            continue  # the list's key may be the query
        if names & of_queries or len({*ids}) < len(ids):
            one = one._replace(guesses=tuple(dict.fromkeys(("records", *one.guesses))))
        kept.append(one)
    return kept


def _readings(hits: Structure, search: Search) -> Iterator[_Reading]:
    """Yield the readings of documents for each query, id and order."""
    for query in _queries(hits, search):
        if hits.are_places and not (hits.named and query.settled):
            continue
        if not hits.path and "query" not in search.map and query.path == "@number":
            continue
        of_query = hits if hits.path else hits.by(query.path)
        docs = _documents(of_query, search)
        number, unsure = _number(of_query, docs, search)
        for doc in docs:
            yield from _of_document(of_query, query, doc, number, unsure, search)


def _of_document(
    hits: Structure,
    query: _Part,
    doc: _Part,
    number: Mapping[str, str],
    unsure: Sequence[str],
    search: Search,
) -> Iterator[_Reading]:
    """Yield the readings of documents by one of their ids, with each order."""
    ids = hits.lists(doc.path)
    if not hits.named and len(ids) > 1 and not differ_in(ids):
        return
    name = Values(doc.path, []).name
    # A list of what is not relevant has no levels either.
    of_name = doc.settled and name in fields.DOCUMENT[:-2] and (search.kind == "run" or number)
    doubts = () if hits.named or of_name else hits.doubts
    guesses = [*query.doubt("query"), *doubts, *doc.doubt("doc"), *unsure]
    parts = {"query": query.path, **({"list": hits.path} if hits.path else {})}
    parts |= {**hits.alias.get(doc.path, {"doc": doc.path}), **number, **search.map}
    if doc.path == "@key" and _NUMBERS.isdisjoint(parts):
        guesses.append("doc")  # an object may have any keys
    guessed = tuple(part for part in dict.fromkeys(guesses) if part not in search.map)
    reading = Recognition(parts, guessed, everywhere=hits.everywhere)
    if not doc.settled:
        reading = _with_ids(reading, ids)
    for one in _with_prefix(reading, ids) if doc.path not in hits.alias else [reading]:
        for way in _orders(one, hits) if search.kind == "run" else [one]:
            yield _Reading(way, hits, ids)


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


def _orders(reading: Recognition, hits: Structure) -> Iterator[Recognition]:
    """Yield a guess with each order that its documents may have, the likeliest first."""
    parts = {part: of for part, of in reading.map.items() if part not in ("score", "scores")}
    score = reading.map.get("score") or reading.map.get("scores", "")
    if reading.is_settled or not fields.ORDERS.isdisjoint(parts):
        yield reading
        return
    if not score:
        floats = (path for path, of in hits.columns.items() if of.has_fractions)
        score = next((path for path in floats if meaning(path) == "unknown"), "")
        if not score:
            yield reading
            return
    values = hits.lists(score)
    above = score.rpartition(".")[0]
    for other, of in hits.columns.items():
        beside = other != score and other.rpartition(".")[0] == above
        if beside and fields.is_score(score) and fields.is_score(other) and of.are_numbers:
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
    along = slope(lists)
    if (sense == "distance") != (along == "falls") or (sense == "score" and not along):
        return [("score", "")]
    if along == "rises" and sense == "unknown":
        return [("distance", "")]
    # As of Milvus and Vertex, similarities may be called distances.
    large = "similarity" if sense == "distance" else "score", "large is better"
    small = "distance", "small is better"
    return [small, large] if along == "rises" else [large, small]


def _ranked(values: Sequence[Any], path: str) -> list[int]:
    """Return the places of documents by a score, the best first."""
    sign = 1 if meaning(path) == "distance" else -1
    numbers = [sign * float(one) if is_number(one) else 0.0 for one in values]
    return sorted(range(len(numbers)), key=numbers.__getitem__)


def _queries(hits: Structure, search: Search) -> list[_Part]:
    """Find the query of records: an id by its name, else ``id``, a text, or a guess.

    Several if their names say the same and their values differ.
    """
    if "query" in search.map:
        return [_Part(search.map["query"])]
    parts = [part for of in hits.beside.values() if (part := _query(of, hits, search))]
    for path, of in hits.columns.items() if hits.path else ():
        if plain_name(path) in fields.QUERY_ID and None not in of.values:
            parts.append(_Part(f"{hits.path}[].{path}", True, (1, 9)))
    if list_name(hits.path) in fields.NUMBERED and "[]" not in hits.path:
        parts = [part for part in parts if part.order[0] < 3] or [_Part("@number")]
    if not parts:
        return [_guessed_query(hits, search)]
    parts.sort(key=lambda part: part.order)
    first = parts[0]
    if first.order[:1] != (1,):
        return [first]
    names = fields.rivals([part.path for part in parts], fields.QUERY_ID)
    unlike = _unlike(names, hits.beside) or [first.path]
    if len(unlike) > 1:
        return [_Part(path, False) for path in unlike]
    return [first._replace(path=_only(unlike[0], hits.beside, "<query id>"))]


def _query(column: Values, hits: Structure, search: Search) -> _Part | None:
    """Return a column that may be the query by its name, and how good it is."""
    steps = column.path.split(".")
    # A span has the key input.value.
    length = 2 if plain_name(".".join(steps[-2:])) in fields.QUERY_TEXT else 1
    name, above = (plain_name(".".join(of)) for of in (steps[-length:], steps[:-length]))
    names = (*fields.QUERY_ID, *fields.CASE_ID, *fields.QUERY_TEXT)
    taken = not hits.path and column.path in search.map.values()
    if taken or not column.are_scalars or name not in names:
        return None
    inside = bool(above) and plain_name(steps[-length - 1]) in fields.QUERY_TEXT[:3]
    of_case = name in fields.CASE_ID
    comes_back = not hits.path and not column.depth and _names_texts(column, hits.beside)
    if of_case:
        beside = hits.beside.values()
        of_hit = bool(hits.path) and any(plain_name(of.path) in fields.SCORE for of in beside)
        of_gold = search.kind == "qrels" and any(of.name in fields.JUDGED_DOCUMENT for of in beside)
        own = (hits.path and (name != "id" or not column.depth)) or inside or of_gold
        if of_hit or not (own or comes_back):
            return None
    if above and name in fields.QUERY_TEXT and above not in fields.OF_QUERIES:
        return None
    tier = 1 if name in fields.QUERY_ID else 2 if of_case else 3
    if inside and name in (*fields.QUERY_ID, "id"):
        tier = 0
    settled = not (name == "id" and comes_back)  # in rows it is a document's, mostly
    return _Part(column.path, settled, (tier, column.depth, names.index(name)))


def _names_texts(column: Values, columns: Columns) -> bool:
    """Whether values name the texts of queries, each of which comes back with its own."""
    name = fields.find(columns, fields.QUERY_TEXT)
    texts = columns[name].values if name else []
    pairs = len({*zip(column.values, texts, strict=True)}) if texts else 0
    return 1 < pairs < len(texts) and pairs == column.distinct == len({*texts})


def _guessed_query(hits: Structure, search: Search) -> _Part:
    """Return a column whose values suggest queries, else their number."""
    taken = () if hits.path else search.map.values()
    texts = [of for of in hits.beside.values() if of.path not in taken and of.may_be_ids]
    if hits.path:
        queries = [of for of in texts if of.distinct == len(of.values)]
    else:
        queries = [of for of in texts if 1 < 2 * of.distinct <= len(of.values)]
        queries.sort(key=lambda of: not of.are_together)
    return _Part(min(queries, key=lambda of: of.depth).path if queries else "@number", False)


def _documents(hits: Structure, search: Search) -> Sequence[_Part]:
    """Find the ids of documents: by name, the outermost first, else what values suggest."""
    columns = hits.columns
    for path, settled in hits.docs.items():
        other = () if "doc" in search.map else _rivals(columns[path], True, hits)[:1]
        return [*(_Part(of, False) for of in other), _Part(path, settled and not other)]
    if "doc" in search.map:
        return [_Part(search.map["doc"])]
    of_gold = fields.JUDGED_DOCUMENT if search.kind == "qrels" else ()
    names = (*fields.DOCUMENT, *of_gold, *(() if hits.ids_of_rows else ("id",)))
    claims = [part for of in columns.values() if (part := _document(of, names, hits))]
    claims.sort(key=lambda part: part.order)
    of_names = [part for part in claims if columns[part.path].name in fields.DOCUMENT[:-2]]
    if len(of_names) == 1 == len([part for part in claims if part.order[0] < 4]):
        claims = [of_names[0]._replace(settled=True)]  # the only name of an id, wherever it is
    parts = [part for part in claims if part.settled] or [
        part for part in claims if part.order[0] == claims[0].order[0]
    ]
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
        ids = [*_rivals(columns[first.path], first.settled, hits)[:1], first.path]
    if len(ids) > 1:
        of_values = first.order if first.by_value else ()
        near = sorted(ids, key=lambda path: _far_from_people(path, columns, ids))
        return _naming([_Part(path, False, of_values) for path in near], hits)
    return _naming([first, *(others if not first.settled else ())], hits)


def _document(column: Values, names: Sequence[str], hits: Structure) -> _Part | None:
    """Return a column that may be the id of documents, and how good it is."""
    name, above, path = column.name, column.above, column.path
    if not column.may_be_ids:
        return None
    if name in names and not (name in fields.DOCUMENT[-2:] and column.are_texts):
        settled = not above or above in fields.WRAPPERS or above.isdigit()
        return _Part(path, settled, (0 if settled else 3, column.depth, names.index(name)))
    if name in fields.SOURCES and above in fields.WRAPPERS:
        return _Part(path, True, (1, fields.SOURCES.index(name)))
    if name in fields.SOURCES[:-1] and not above and _may_name(hits.lists(path)):
        return _Part(path, True, (2, fields.SOURCES.index(name)))
    if path == "0" and hits.score_of_pairs:
        return _Part(path, hits.named, (2, 9))
    unlike = column.distinct > 1 and not column.are_texts and not is_cell(column)
    known = meaning(name) != "unknown"
    if name in (*fields.QUERY_ID, *fields.QUERY_TEXT, *fields.RUN_ID) or not unlike:
        return None
    if column.are_numbers and known and name not in fields.WRAPPERS:
        return None
    return _Part(path, False, (4, column.are_numbers, known, column.depth))


def _may_name(lists: Lists) -> bool:
    """Whether values may be ids of documents: they differ within a list, and lists differ."""
    return (len(lists) == 1 or differ_in(lists)) and all(len({*one}) == len(one) for one in lists)


def _naming(docs: Sequence[_Part], hits: Structure) -> Sequence[_Part]:
    """Return ids of documents; of those that values suggest, the best that differ in a list."""
    if not docs[0].by_value:
        return docs
    named = [doc for doc in docs if _may_name(hits.lists(doc.path))]
    if not hits.named:  # numbers that nothing names
        columns = hits.columns
        named = [one for one in named if one.path.isdigit() or not columns[one.path].are_numbers]
    return [doc for doc in named if doc.order == named[0].order][:2]


def _unlike(paths: Sequence[str], columns: Columns) -> list[str]:
    """Return paths whose values differ, in the same order.

    Without an ``id`` behind them that is a number: that of a row.
    """
    some: dict[tuple[Any, ...], str] = {}
    for path in paths:
        column = columns.get(path, Values(path, []))
        of_row = column.name == "id" and column.are_numbers
        if column.values and not (some and of_row):
            some.setdefault(tuple(column.values), path)
    return [*some.values()]


def _rivals(column: Values, settled: bool, hits: Structure) -> list[str]:
    """Return what could be the id instead of ``id`` or of a source, the likeliest first.

    Databases and packages give an ``id`` that says nothing, beside the one that people gave. Where
    a document's name has the same values, there is nothing to choose.
    """
    in_list = column.path == "@value"
    of_source = column.name in fields.SOURCES
    sure = (hits.named or in_list) and not column.are_of_machine
    of_machine = column.are_drawn or ((in_list or column.name == "id") and not sure)
    if settled and not of_source and not of_machine:
        return []
    rivals: list[tuple[bool, int, str]] = []
    for path, of in hits.columns.items():
        same = of.values == column.values
        if of.name in fields.DOCUMENT and same and path != column.path:
            return []
        of_query = of.name in (*fields.QUERY, *fields.QUERY_TEXT, *fields.RUN_ID)
        words = of.name.split("_")
        ids = of.name in fields.ID_NAMES or not fields.ID_WORDS.isdisjoint(words)
        differs = not same and (len(of.values) == 1 or of.distinct > 1)
        if of_query or not (ids and differs and of.may_be_ids and not of.are_texts):
            continue
        if of.are_of_machine or not of_source:
            rivals.append((of.are_of_machine, of.depth, path))
    return [path for _, _, path in sorted(rivals)]


def _far_from_people(path: str, columns: Columns, paths: Sequence[str]) -> tuple[bool, ...]:
    """Order ids: those that people gave first, then such as programs count, and draw.

    The last are those that end with another id: a program has put something before it.
    """
    column, others = columns[path], [columns[other].values for other in paths]
    pairs = (zip(column.values, of, strict=True) for of in others if of != column.values)
    longer = any(all(str(one).endswith((f"/{end}", f":{end}")) for one, end in of) for of in pairs)
    return longer, column.are_of_machine, column.are_drawn, column.name == "id"


def _only(path: str, columns: Columns, names: str) -> str:
    """Return the path; if two keys have its name, such as score and Score, a path to both.

    The reader refuses these. Elasticsearch's ``_id`` beside ``id`` is another name.
    """
    spellings = {one.strip("_@$") for one in columns if plain_name(one) == plain_name(path)}
    return path if len(spellings) < 2 else f"{path.rpartition('.')[0]}.{names}".lstrip(".")


def _number(
    hits: Structure, docs: Sequence[_Part], search: Search
) -> tuple[Mapping[str, str], Sequence[str]]:
    """Find what orders documents, or their levels; and which of these parts are guesses."""
    columns = hits.columns
    if not fields.ORDERS.isdisjoint(search.map):
        return {}, []
    if "@value" in columns:  # a number of each id, or ids
        lists = [of for of in hits.alias.values() if not {"scores", "levels"}.isdisjoint(of)]
        part = "score" if search.kind == "run" else "level"
        return (lists[0] if lists else {part: "@value"} if "@key" in columns else {}), []
    values = [columns[doc.path].values for doc in docs if doc.path in columns]
    ids = {doc.path for doc in docs} | {path for path, of in columns.items() if of.values in values}
    inside = [f"{path.rpartition('.')[0]}." for path in ids if "." in path]
    near: Columns = {}  # by the name that counts: of this object, or of the object of an id
    for path in reversed(columns):
        name = next((path.removeprefix(of) for of in inside if path.startswith(of)), path)
        if path not in ids and ("." not in name or plain_name(name) in fields.SCORE):
            near[plain_name(name)] = columns[path]
    return (_order_of if search.kind == "run" else _level_of)(near, hits, ids)


def _level_of(
    near: Columns, hits: Structure, ids: Set[str]
) -> tuple[Mapping[str, str], Sequence[str]]:
    """Find the levels of documents: by a name near the id, else by their values."""
    for name in fields.LEVEL:
        if name in near:
            return {"level": _only(near[name].path, hits.columns, "<level>")}, []
    far = (
        of
        for of in hits.columns.values()
        if not {of.name, of.above}.isdisjoint(fields.LEVEL) and of.path not in ids
    )
    levels = [of for of in near.values() if meaning(of.path) != "other"]
    levels = [of for of in (*levels, *far) if of.may_be_levels]
    levels.sort(key=lambda of: (not _are_on_a_scale(of.values), -of.distinct))
    return ({"level": levels[0].path}, ["level"]) if levels else ({}, [])


def _are_on_a_scale(values: Sequence[Any]) -> bool:
    """Whether numbers are on a usual scale of levels."""
    return all(abs(float(one)) <= _HIGHEST for one in values if is_number(one))


def _order_of(
    near: Columns, hits: Structure, ids: Set[str]
) -> tuple[Mapping[str, str], Sequence[str]]:
    """Find the score or rank of documents: by a name near the id, else by its place."""
    ordering = {name: of for name, of in near.items() if any(map(is_number, of.values))}
    fractions = {name for name, of in ordering.items() if of.has_fractions}
    scores = (*fields.SCORE, *fields.DISTANCE, *({"relevance"} & fractions))
    for part, names in (("score", scores), ("rank", fields.RANK)):
        some = [ordering[name].path for name in names if name in ordering]
        # A search engine may give all its documents one score, for a reranker to tell them apart.
        telling = [path for path in some if any(len({*of}) > 1 for of in hits.lists(path))]
        if some:
            path = (telling or some)[0]
            return {part: _only(path, hits.columns, f"<{part}>")}, [part] * (path != some[0])
    for name, of in reversed(ordering.items()):
        # A pair's number has no name. Further inside nothing compares numbers with the order.
        if name == hits.score_of_pairs:
            return {"score": of.path}, []
        if name.isdigit() or (of.depth and name in fractions and meaning(name) == "unknown"):
            return {"score": of.path}, ["score"]
    return {}, []
