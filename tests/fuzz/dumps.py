"""Dumps of one known run in random structures: names of several vendors, nesting, order, noise."""

import csv
import io
import json
import random
import uuid

# A run: each query with its documents, best first, and their scores.
QUERIES = [f"q{number}" for number in range(6)]
TEXTS = [
    "refund of an order",
    "who pays",
    "how long",
    "a lost card",
    "change the plan",
    "where is it",
]

QUERY = ["query_id", "qid", "queryId", "topic_id", "question_id", "request_id"]
LIST = ["hits", "documents", "results", "retrieved", "source_nodes", "matches", "liste", "found"]
DOC = ["id", "_id", "doc_id", "docid", "chunk_id", "node_id", "uuid", "key_of_document"]
SCORE = ["score", "_score", "similarity", "relevance_score", "@search.score", "wert"]
DISTANCE = ["distance", "_distance", "cosine_distance", "score", "value_of_it"]
MACHINE = ["id", "_id", "uuid", "point_id"]  # of a database, beside the document's own id
SOURCE = ["source", "file_name", "url"]
KNOWN = ["doc_id", "docid", "docno", "chunk_id", "node_id", "passage_id", "document_id", "pid"]
SCORES = ["score", "similarity", "rerank_score", "rrf_score", "relevance_score"]
WRAP = ["metadata", "payload", "node", "document", "kwargs", "fields", "stuff"]
STRUCTURES = [
    *("lists", "rows", "keyed", "keyed-ids", "parallel", "double", "pairs", "split", "columns"),
    *("values", "csv", "csv-list", "spans", "object", "texts", "steps"),
    *("ranks", "cells", "maps", "objects", "alone", "arrays"),
]


def made_run(rng):
    """Documents and falling scores of each query."""
    run = {}
    for query in QUERIES:
        count = rng.randrange(3, 7)
        scores = sorted((round(rng.uniform(0.05, 0.95), 6) for _ in range(count)), reverse=True)
        ids = rng.sample([f"d{n}" for n in range(30)], count)
        run[query] = list(zip(ids, scores, strict=True))
    return run


def wrapped(rng, item, keys, names):
    """Put some of the keys of an item into an object of their own, under one of some names."""
    inner = {key: item[key] for key in keys}
    return {**{key: of for key, of in item.items() if key not in keys}, rng.choice(names): inner}


def dump(rng, run):
    """Return a text of a random structure, its suffix, and what the scores are.

    The order of hits is told by scores ("scores"), distances or the list alone ("order").
    """
    orders = rng.choice(["scores", "scores", "distances", "order"])
    doc = rng.choice(DOC)
    number = rng.choice(DISTANCE if orders == "distances" else SCORE)
    shuffled = orders == "scores" and rng.random() < 0.3
    noise = rng.random() < 0.5
    nested = rng.random() < 0.3
    structure = rng.choice(STRUCTURES)
    named, text_too = rng.random() < 0.7, rng.random() < 0.5
    query_key = rng.choice(QUERY)
    # A second id: of a database beside the known one, or a source beside a known `id`.
    second = rng.choice(["", "", "", "machine", "source"])
    machine, source, wrap = rng.choice(MACHINE), rng.choice(SOURCE), rng.choice(WRAP[:2])
    if second == "machine" and rng.random() < 0.5:
        doc = source
    elif second == "source":
        doc = rng.choice(MACHINE[:2])

    # Other known names of the same part: a document's (its parent's, its own in another system, or
    # the same), a query's, and a score's that agrees or does not.
    rival = "" if second else rng.choice(["", "", "parent", "other", "same", "number"])
    rival_query = rng.random() < 0.15 and query_key != "request_id"
    rival_score = rng.choice(["", "", "", "agrees", "differs"])
    other_score = ""
    other_query = rng.choice([name for name in QUERY if name != query_key])
    if rival:
        doc, other_doc = rng.sample(KNOWN, 2)
    if rival == "number":
        doc, other_doc = "docno", "docid"
    elif rival and {doc, other_doc} == {"docno", "docid"}:
        doc = "chunk_id"  # `docno` is read beside `docid`
    if orders != "scores":
        rival_score = ""
    elif rival_score:
        number, other_score = rng.sample(SCORES, 2)
    rng_of_scores = random.Random(rng.random())

    def value(score):
        return round(1 - score, 6) if orders == "distances" else score

    def beside(id_, score):
        """The other known names of a document."""
        number_of = int(id_[1:])
        names = {}
        if rival:
            of = {"parent": f"p{number_of % 4}", "other": f"x-{id_}", "same": id_}
            names[other_doc] = of.get(rival, number_of + 100)
        if rival_score:
            made = score / 2 if rival_score == "agrees" else rng_of_scores.random()
            names[other_score] = round(made, 6)
        return names

    def of_query(query):
        """The other known name of a query."""
        return {other_query: f"t-{QUERIES.index(query) * 7 % 11}"} if rival_query else {}

    def hit(id_, score):
        item = {doc: id_}
        if orders != "order":
            item[number] = value(score)
        inner = beside(id_, score)
        if other_score in inner:
            item[other_score] = inner.pop(other_score)
        if second == "machine" and machine != doc:
            del item[doc]
            item = {machine: uuid.UUID(int=rng.getrandbits(128)).hex, **item, wrap: {doc: id_}}
        elif second == "source":
            item[wrap] = {source: f"note-{id_}.md"}
        elif nested and doc != number:
            keys = [doc] if rng_of_file.random() < 0.5 else [*item]
            item = wrapped(rng_of_file, item, keys, WRAP[: -1 if rival else None])
        item |= inner
        if noise:
            item |= {"text": f"some words about {id_}", "page": 3}
        pairs = list(item.items())
        return dict(pairs)

    seed = rng.random()
    listed = {}
    for query, documents in run.items():
        rng_of_file = random.Random(seed)
        some = list(documents)
        if shuffled:
            rng.shuffle(some)
        listed[query] = some
    rng_of_file = random.Random(seed)

    def hits(query):
        nonlocal rng_of_file
        items = []
        for id_, score in listed[query]:
            rng_of_file = random.Random(seed)
            items.append(hit(id_, score))
        return items

    list_key = rng.choice(LIST)
    rows = [
        {query_key: query, doc: id_, number: value(score), **beside(id_, score), **of_query(query)}
        for query in listed
        for id_, score in listed[query]
    ]
    for row in rows if orders == "order" else ():
        del row[number]
    flat = [[*row.values()] for row in rows]

    def record(query, **more):
        found = {**of_query(query), query_key: query, **more}
        if text_too:
            found = {"question": TEXTS[QUERIES.index(query)], **found}
        if noise:
            found |= {"took_ms": 12, "tags": ["a", "b"]}
        if not named and structure in ("lists", "pairs"):
            found = {"meta": {query_key: found.pop(query_key)}, **found}
        return found

    if structure == "lists":
        records = [record(query, **{list_key: hits(query)}) for query in listed]
    elif structure == "texts":  # of JSON, or as Python prints a list
        write = rng.choice([json.dumps, repr])
        records = [record(query, **{list_key: write(hits(query))}) for query in listed]
    elif structure == "steps":
        records = [record(query, steps=[{list_key: hits(query)}]) for query in listed]
    elif structure == "rows":
        records = [
            {query_key: query, **item, **of_query(query), **({"lang": "en"} if noise else {})}
            for query in listed
            for item in hits(query)
        ]
    elif structure == "keyed":
        return json.dumps({query: hits(query) for query in listed}), ".json", orders
    elif structure == "keyed-ids":
        if shuffled:
            return None
        ids = {query: [id_ for id_, _ in listed[query]] for query in listed}
        return json.dumps(ids), ".json", "order"
    elif structure == "object":
        if orders == "distances":
            return None
        numbers = {query: dict(listed[query]) for query in listed}
        return json.dumps({rng.choice(["search_results", "my_run"]): numbers}), ".json", "scores"
    elif structure == "objects":
        if orders == "order":
            return None
        objects = {
            query: {id_: {"text": "some words", number: value(of)} for id_, of in listed[query]}
            for query in listed
        }
        return json.dumps(objects), ".json", orders
    elif structure == "maps":
        maps = {query: {id_: value(of) for id_, of in listed[query]} for query in listed}
        name = rng.choice(["scores", "m", "hits", "documents"])
        records = [record(query, **{name: maps[query]}) for query in listed]
    elif structure == "alone":  # every field is a list, as search engines write them
        items = {query: hits(query) for query in listed}
        names = {key for some in items.values() for hit in some for key in hit}
        fields = {key for key in names if key not in (number, other_score, "page", *WRAP)}
        records = [
            record(
                query,
                **{
                    list_key: [
                        {key: [of] if key in fields else of for key, of in one.items()}
                        for one in items[query]
                    ]
                },
            )
            for query in listed
        ]
    elif structure == "arrays":
        if shuffled:
            return None
        rows_of = [[query, id_, value(of)] for query in listed for id_, of in listed[query]]
        lists = [[query, [id_ for id_, _ in listed[query]]] for query in listed]
        some = rng.choice([rows_of, lists])
        return "".join(json.dumps(one) + "\n" for one in some), ".jsonl", orders
    elif structure in ("ranks", "cells"):
        if shuffled:
            return None
        out = io.StringIO()
        writer = csv.writer(out)
        if structure == "cells":
            form = rng.choice([str, dict, lambda of: str([(i, f"np.float64({x})") for i, x in of])])
            writer.writerow([query_key, rng.choice(["results", "pairs", "retrieved"])])
            for query in listed:
                pairs = [(id_, value(of)) for id_, of in listed[query]]
                writer.writerow([query, str(form(pairs)).replace("'np", "np").replace(")')", "))")])
            return out.getvalue(), ".csv", orders
        name, separator = rng.choice(["doc", "top", "hit", "rank"]), rng.choice(["", "_", " "])
        scored = rng.random() < 0.5
        number = rng.choice(["distance", "score"]) if orders == "distances" else "score"
        names = [name, number][: 1 + scored]
        header = [f"{one}{separator}{n}" for n in range(1, 8) for one in names]
        writer.writerow([query_key, *header])
        for query in listed:
            cells = [cell for id_, of in listed[query] for cell in (id_, value(of))[: 1 + scored]]
            writer.writerow([query, *cells, *[""] * (len(header) - len(cells))])
        return out.getvalue(), ".csv", "order"
    elif structure in ("parallel", "double"):
        numbers = "distances" if orders == "distances" else rng.choice(["scores", "similarities"])
        numbers = rng.choice([numbers, numbers, "scores"])
        records = []
        for query in listed:
            ids = [id_ for id_, _ in listed[query]]
            scores = [value(score) for _, score in listed[query]]
            both = {rng.choice(["ids"]): ids, **({numbers: scores} if orders != "order" else {})}
            if structure == "double":
                both = {key: [of] for key, of in both.items()}
            records.append(record(query, **both))
    elif structure == "pairs":
        if orders == "order":
            return None
        records = [
            record(query, **{list_key: [[id_, value(score)] for id_, score in listed[query]]})
            for query in listed
        ]
    elif structure in ("split", "columns", "values"):
        if orders == "order":
            return None
        names = ["doc_id" if name == "_id" else name for name in rows[0]]
        if structure == "split":
            table = {"columns": names, "index": list(range(len(flat))), "data": flat}
        elif structure == "values":
            table = {"columns": [{"name": name, "type": "x"} for name in names], "values": flat}
        else:
            columns = zip(*flat, strict=True)
            table = {
                name: {str(row): one for row, one in enumerate(of)}
                for name, of in zip(names, columns, strict=True)
            }
        return json.dumps(table), ".json", orders
    elif structure in ("csv", "csv-list"):
        out = io.StringIO()
        delimiter = rng.choice([",", ",", ";", "\t"])
        writer = csv.writer(out, delimiter=delimiter, lineterminator=rng.choice(["\n", "\r\n"]))
        if structure == "csv":
            index = rng.random() < 0.3
            writer.writerow([*([""] if index else []), *rows[0]])
            for row, one in enumerate(flat):
                writer.writerow([*([row] if index else []), *one])
        else:
            if shuffled or delimiter != ",":
                return None
            writer.writerow([query_key, rng.choice(["retrieved_ids", "hits", "welche"])])
            form = rng.choice([str, json.dumps, "|".join])
            for query in listed:
                writer.writerow([query, form([id_ for id_, _ in listed[query]])])
            orders = "order"
        return out.getvalue(), ".csv" if delimiter != "\t" else ".tsv", orders
    else:  # spans
        records = []
        for query in listed:
            keys = {}
            for place, (id_, score) in enumerate(listed[query]):
                above = f"retrieval.documents.{place}.document"
                keys[f"{above}.id"] = id_
                if orders != "order":
                    keys[f"{above}.score"] = value(score)
            attributes = {"metadata": json.dumps({"query_id": query}), **keys}
            if rng.random() < 0.4:
                attributes = [
                    {
                        "key": key,
                        "value": {"doubleValue" if isinstance(of, float) else "stringValue": of},
                    }
                    for key, of in attributes.items()
                ]
            records.append({"name": "retrieve", "attributes": attributes})
    form = rng.choice(["lines", "array", "indented", "under"])
    if form == "lines":
        return "".join(json.dumps(one) + "\n" for one in records), ".jsonl", orders
    if form == "under":
        return json.dumps({"took": 3, rng.choice(["results", "data"]): records}), ".json", orders
    return json.dumps(records, indent=1 if form == "indented" else None), ".json", orders


def rankings(run):
    """The documents of each query, best first."""
    return {query: [id_ for id_, _ in documents] for query, documents in run.items()}
