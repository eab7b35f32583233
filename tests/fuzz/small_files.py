"""Small files against a slow plain reader: `python -m tests.fuzz.small_files [COUNT] [FIRST]`.

A case is a file and what `ragkpi.evaluate` is asked for it. The reader here knows one format at a
time, a value at a time, and says what the query's measures are or that the file is refused.
"""

import contextlib
import csv
import gzip
import importlib.util
import io
import json
import math
import os
import random
import sys
import tempfile
import time
import traceback
import warnings

import ragkpi
from ragkpi.errors import RagkpiError, RagkpiNote, RagkpiWarning
from tests.fuzz.slow import NUMBER

MEASURES = ["num_ret", "map", "recip_rank", "P.2"]
NAMES = ["num_ret", "map", "recip_rank", "P_2"]
QUERIES = ["q1", "q2", "q3", "q4", "q5"]
DOCUMENTS = ["a", "b", "a#1", "a#2", "b#1", "c", "q1", "q2", "q3"]


class RefusedError(Exception):
    """The slow reader refuses the file."""


class ByRank(float):
    """A score that is a rank, or a place in a list, turned round."""


def main(count=100_000, first=0):
    began, failures, refusals = time.time(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, first + count):
            try:
                refusals += run_case(number, folder)
            except Exception:
                failures += 1
                print(f"case {number}, {family_of(number)}", flush=True)
                traceback.print_exc()
                if failures == 20:
                    break
    print(
        f"done: cases {first} to {number}, {refusals} refused by both, {failures} failures, "
        f"{time.time() - began:.0f} s"
    )
    return 1 if failures else 0


def family_of(number):
    names = list(FAMILIES)
    return names[number % len(names)]


def run_case(number, folder):
    """Make case `number` and compare; say whether both refuse it."""
    case = FAMILIES[family_of(number)](random.Random(number))
    path = os.path.join(folder, f"run{case.pop('suffix')}")
    qrels = os.path.join(folder, "qrels")
    text = case.pop("text")
    with open(path, "wb") as file:
        file.write(gzip.compress(text) if path.endswith(".gz") else text)
    judged = case.pop("qrels")
    with open(qrels, "w") as file:
        for query, documents in judged.items():
            file.writelines(
                f"{query} 0 {document} {documents[document]}\n" for document in documents
            )
    expected = None
    read = case.pop("read")
    listed = case.pop("exclude", None)
    if listed is not None:
        case["exclude"] = os.path.join(folder, "list")
        with open(case["exclude"], "w") as file:
            file.writelines(f"{query} {document}\n" for query, document in listed)
    with contextlib.suppress(RefusedError):
        expected = values(judged, read(text), listed or (), case)
    found = evaluated(qrels, path, case)
    context = f"{text!r} {judged} {listed} {case}"
    if expected is None or found is None:
        assert expected is None, f"refused: {context}"
        assert found is None, f"evaluated as {found}: {context}"
        return True
    assert found.keys() == expected.keys(), f"{found} is to be {expected}: {context}"
    for query, of_query in expected.items():
        for name, value in zip(NAMES, of_query, strict=True):
            ours = found[query][name]
            assert math.isclose(ours, value, abs_tol=1e-12), (query, name, ours, value, context)
    return False


def evaluated(qrels, path, case):
    """Return the values per query; None for a refusal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RagkpiNote)
        warnings.simplefilter("ignore", RagkpiWarning)
        try:
            return ragkpi.evaluate(qrels, path, MEASURES, **case).per_query
        except RagkpiError:
            return None


def values(judged, rows, listed, case):
    """Return the four measures of each query, from rows (query, document, score) in any order."""
    run, seen, kinds = {}, set(), {}
    fold = (lambda id_: id_.split("#")[0] or id_) if "max_passage" in case else str
    for query, document, score in rows:
        if (query, document) in seen:
            raise RefusedError
        seen.add((query, document))
        # A rank that comes twice is of two rankings; so are ranks and scores of one query.
        if isinstance(score, ByRank) and (query, "rank", score) in seen:
            raise RefusedError
        seen.add((query, "rank", score))
        if kinds.setdefault(query, isinstance(score, ByRank)) != isinstance(score, ByRank):
            raise RefusedError
        ranking = run.setdefault(query, {})
        if case.get("ignore_identical_ids") and document == query:
            continue
        if (query, document) in listed:
            continue
        parent = fold(document)
        ranking[parent] = max(score, ranking.get(parent, -math.inf))
    if not judged.keys() & run.keys():
        raise RefusedError
    found = {}
    for query, documents in judged.items():
        if query not in run and case.get("missing") == "intersection":
            continue
        levels = {}
        for document, level in documents.items():
            parent = fold(document)
            levels[parent] = max(level, levels.get(parent, level))
        ranking = sorted(
            run.get(query, {}).items(), key=lambda pair: pair[0].encode(), reverse=True
        )
        ranking.sort(key=lambda pair: -pair[1])
        hits = [levels.get(document, 0) > 0 for document, _ in ranking]
        relevant = sum(level > 0 for level in levels.values())
        at = [rank for rank, hit in enumerate(hits, start=1) if hit]
        precisions = [(number + 1) / rank for number, rank in enumerate(at)]
        found[query] = (
            len(ranking),
            sum(precisions) / relevant if relevant else 0.0,
            1 / at[0] if at else 0.0,
            sum(hits[:2]) / 2,
        )
    return found


# Filters that empty queries, in every format.


def filters(chance):
    """A sound file of any format, and filters that leave the first or other queries empty."""
    documents = DOCUMENTS if chance.random() < 0.7 else DOCUMENTS[:3]
    queries = QUERIES[: chance.randint(1, 5)]
    rows = []
    for query in queries:
        some = chance.sample(documents, chance.randint(1, len(documents)))
        if chance.random() < 0.3 and query in documents:
            some = [query]
        scores = [chance.choice((11, 12, 2.5, -3, 1e-9)) for _ in some]  # never like levels
        if chance.random() < 0.3:
            scores.sort(reverse=chance.random() < 0.5)
        rows += zip([query] * len(some), some, scores, strict=True)
    judged = {
        query: {document: chance.choice((0, 1, 2)) for document in chance.sample(documents, 2)}
        for query in QUERIES
    }
    name = chance.choice(list(WRITERS))
    if name in ("trec", "csv", "tsv", "flat.json", "flat.jsonl") and chance.random() < 0.2:
        chance.shuffle(rows)  # queries are interleaved
    case = {
        "text": WRITERS[name](rows, chance),
        "suffix": chance.choice(("", ".gz")),
        "qrels": judged,
        "read": lambda _: rows,
    }
    emptied = {query for query in queries if chance.random() < 0.5}
    listed = {(query, document) for query in emptied for document in documents}
    listed |= {(chance.choice(QUERIES), chance.choice(documents)) for _ in range(3)}
    if chance.random() < 0.8:
        case["exclude"] = sorted(listed)
    if chance.random() < 0.5:
        case["ignore_identical_ids"] = True
    if chance.random() < 0.2:
        case["max_passage"] = "#"
    if chance.random() < 0.5:
        case["missing"] = "intersection"
    return case


def _by_query(rows):
    queries = {}
    for query, document, score in rows:
        queries.setdefault(query, []).append((document, score))
    return queries


def _trec(rows, chance):
    return "".join(f"{query} Q0 {document} 1 {score} me\n" for query, document, score in rows)


def _table(separator):
    def write(rows, chance):
        out = io.StringIO()
        quoting = chance.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
        if separator == "\t":
            quoting = csv.QUOTE_MINIMAL
        ends = chance.choice(("\n", "\r\n"))
        writer = csv.writer(out, delimiter=separator, quoting=quoting, lineterminator=ends)
        with_text = chance.random() < 0.5
        writer.writerow(["qid", "docid", "score", *(["text"] if with_text else [])])
        for row in rows:
            writer.writerow([*row, *(["one, two" if separator == "," else "x"] * with_text)])
        return out.getvalue()

    return write


def _flat(rows, chance):
    return [{"qid": query, "docid": id_, "score": score} for query, id_, score in rows]


def _lists(rows, chance):
    return [
        {"qid": query, "hits": [{"docid": id_, "score": score} for id_, score in documents]}
        for query, documents in _by_query(rows).items()
    ]


def _array(make):
    return lambda rows, chance: json.dumps(make(rows, chance), indent=chance.choice((None, 1)))


def _lines(make):
    return lambda rows, chance: "".join(json.dumps(row) + "\n" for row in make(rows, chance))


def _object(rows, chance):
    return {query: dict(documents) for query, documents in _by_query(rows).items()}


WRITERS = {
    name: lambda rows, chance, write=write: write(rows, chance).encode()
    for name, write in {
        "trec": _trec,
        "csv": _table(","),
        "tsv": _table("\t"),
        "flat.json": _array(_flat),
        "flat.jsonl": _lines(_flat),
        "lists.json": _array(_lists),
        "lists.jsonl": _lines(_lists),
        "object.json": _array(_object),
    }.items()
}


# Missing, null and odd fields.

ODD_IN_JSON = (
    *(None, True, False, ..., [], [1], {}, {"a": 1}, "", "x", "nan", "1.5", "2", "1e3", "inf"),
    *(float("nan"), float("inf"), 0, -1, 7, 2.5, 9007199254740992, 1e300, -0.0),
)
ODD_IN_TABLES = (
    *("", "x", "nan", "1.5", " 2 ", "1e3", "inf", "-inf", "Infinity", "0x1", "1_0", "+1", ".5"),
    *("9007199254740992", "9007199254740991", "-1", "true", "null", "None", "5.", "--1", "0"),
)
QRELS = {query: {"a": 1, "b": 0, "c": 2} for query in QUERIES}


def _odd_rows(chance, odd):
    """Rows of three queries, with a score, a rank, both or neither, of which a few are odd."""
    numbers = chance.choice((["score"], ["score"], ["rank"], ["rank"], ["score", "rank"], []))
    rows = []
    for query in QUERIES[: chance.randint(1, 3)]:
        some = chance.sample(["a", "b", "c", "d"], chance.randint(1, 4))
        for rank, document in enumerate(some, start=1):
            row = {"qid": query, "docid": document}
            row |= {name: rank if name == "rank" else chance.randint(-3, 3) for name in numbers}
            rows.append(row)
    for _ in range(chance.choice((0, 1, 1, 1, 2, 3))):
        row = chance.choice(rows)
        row[chance.choice([*numbers, *numbers, *numbers, "docid", "qid"])] = chance.choice(odd)
    if numbers and chance.random() < 0.1:  # all of them alike
        name, value = chance.choice(numbers), chance.choice(odd)
        for row in rows:
            row[name] = value
    return rows


def tables(chance):
    """CSV and TSV."""
    rows = _odd_rows(chance, ODD_IN_TABLES)
    separator = chance.choice((",", ",", "\t"))
    names = list(rows[0])
    if separator == "," and chance.random() < 0.5:
        names.insert(chance.randint(0, len(names)), "text")
    out = io.StringIO()
    quoting = chance.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC))
    if separator == "\t":
        quoting = csv.QUOTE_MINIMAL
    writer = csv.writer(out, delimiter=separator, quoting=quoting, lineterminator="\n")
    writer.writerow(names)
    texts = ("one", "one, two", 'a "b"', "two\nlines", "")
    for row in rows:
        writer.writerow([row[name] if name in row else chance.choice(texts) for name in names])
    text = out.getvalue().encode()
    if separator == "," and chance.random() < 0.5:
        text = text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    return {
        "text": text,
        "suffix": chance.choice((".csv", ".tsv", ".gz")),
        "qrels": QRELS,
        "read": read_table,
        "run_format": "csv" if separator == "," else "tsv",
    }


def read_table(text):
    """Yield the rows of CSV or TSV; `RefusedError` for what is none."""
    text = text.decode()
    if "\t" in text:
        records = [line.split("\t") for line in text.split("\n") if line]
    else:
        records = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    names, *records = records
    rows = []
    for record in records:
        if len(record) != len(names):
            raise RefusedError
        rows.append(dict(zip(names, record, strict=True)))
    unread = []
    for number, row in enumerate(rows):
        if not row["qid"] or not row["docid"]:
            raise RefusedError
        score = -float(number)
        if "score" in row:
            score = score_of(row["score"].strip())
        elif "rank" in row:
            score = ByRank(-rank_of(row["rank"].strip()))
        unread.append((row["qid"], score, row.get("rank") if "score" in row else None))
        yield row["qid"], row["docid"], score
    refuse_other_orders(unread)


def refuse_other_orders(unread):
    """Refuse ranks beside scores if a better score of a query has a worse rank.

    `unread` has a query, the score that counts, and the text of the rank; no number says nothing.
    """
    for query, score, rank in unread:
        for other, better, worse in unread:
            if query == other and better > score and unlike(rank, worse):
                raise RefusedError


def unlike(rank, of_better):
    """Whether the text of a rank is a smaller number than that of a document above it."""
    numbers = [
        float(text) if NUMBER.fullmatch(text.encode()) else math.nan
        for text in (str(rank).strip(), str(of_better).strip())
    ]
    return numbers[0] < numbers[1]


def score_of(text):
    if not NUMBER.fullmatch(text.encode()):
        raise RefusedError
    return float(text)


def rank_of(text):
    rank = score_of(text)
    if not (0 <= rank < 2**53 and rank == math.floor(rank)):
        raise RefusedError
    return rank


def records(chance):
    """JSON and JSON Lines, a document a record or a list a query."""
    rows = _odd_rows(chance, ODD_IN_JSON)
    rows = [{key: value for key, value in row.items() if value is not ...} for row in rows]
    as_lists = chance.random() < 0.4 and all(type(row.get("qid")) is str for row in rows)
    made = rows
    if as_lists:
        queries = {}
        for row in rows:
            queries.setdefault(row.pop("qid"), []).append(row)
        made = [{"qid": query, "hits": hits} for query, hits in queries.items()]
    lines = chance.random() < 0.6
    separators = chance.choice(((", ", ": "), (",", ":")))
    if lines:
        text = "".join(json.dumps(row, separators=separators) + "\n" for row in made)
    else:
        text = json.dumps(made, separators=separators, indent=chance.choice((None, 1)))
    return {
        "text": text.encode(),
        "suffix": chance.choice((".json", ".jsonl", "", ".gz")),
        "qrels": QRELS,
        "read": read_records,
    }


def read_records(text):
    """Yield the rows of JSON or JSON Lines; `RefusedError` for what is none."""
    text = text.decode()
    made = json.loads(text) if text.startswith("[") else list(map(json.loads, text.splitlines()))
    if "hits" in made[0]:
        for record in made:
            hits = record["hits"]
            scores = column_of(hits, "score", nulls=True)
            ranks = None if scores else column_of(hits, "rank", nulls=True)
            unread = []
            for place, hit in enumerate(hits):
                score = number_of(scores, ranks, place)
                unread.append((record["qid"], score, decimal(hit.get("rank")) if scores else None))
                yield id_of(record["qid"]), id_of(hit.get("docid")), score
            refuse_other_orders(unread)
        return
    scores = column_of(made, "score", nulls=False)
    ranks = None if scores else column_of(made, "rank", nulls=False)
    unread = []
    for place, record in enumerate(made):
        query, document = id_of(record.get("qid")), id_of(record.get("docid"))
        number = number_of(scores, ranks, place)
        unread.append((query, number, decimal(record.get("rank")) if scores else None))
        yield query, document, -float(place) if scores is ranks is None else number
    refuse_other_orders(unread)


def decimal(value):
    """Return the text of a number in digits, None for anything else in a field that is not read."""
    text = value if isinstance(value, str) else json.dumps(value)
    return text if isinstance(value, str | int | float) and text[:1] in "0123456789+-." else None


def id_of(value):
    """Return an id, a text or a number's text, which may stand alone in a list."""
    if isinstance(value, list) and len(value) == 1:
        (value,) = value
    if value is None or isinstance(value, bool | list | dict) or value == "":
        raise RefusedError
    return value if isinstance(value, str) else json.dumps(value)


def column_of(rows, name, nulls):
    """Return the texts of the scores or ranks of all rows, None if none has one."""
    values = [row.get(name, ...) for row in rows]
    if nulls:
        values = [... if value is None else value for value in values]
    if all(value is ... for value in values):
        return None
    if any(
        value is ... or value is None or isinstance(value, bool | list | dict) for value in values
    ):
        raise RefusedError
    return [value if isinstance(value, str) else json.dumps(value) for value in values]


def number_of(scores, ranks, place):
    score = ByRank(-place)
    if ranks is not None:
        score = ByRank(-rank_of(ranks[place]))
    if scores is not None:
        score = score_of(scores[place])
    return score


# Arrow streams, whole or cut at some byte.


def streams(chance):
    """An Arrow stream in batches; mostly a part of it, which a killed writer leaves."""
    import pyarrow
    import pyarrow.ipc

    rows = [
        (query, document, float(chance.randint(-3, 3)))
        for query in QUERIES[: chance.randint(1, 3)]
        for document in chance.sample(["a", "b", "c", "d"], chance.randint(1, 4))
    ]
    columns = dict(zip(("qid", "docid", "score"), map(list, zip(*rows, strict=True)), strict=True))
    table = pyarrow.table(columns)
    out = io.BytesIO()
    with pyarrow.ipc.new_stream(out, table.schema) as writer:
        for batch in table.to_batches(chance.choice((1, 2, 3, 100))):
            writer.write_batch(batch)
    whole = out.getvalue()
    # Batches and the mark at the end begin at multiples of eight bytes.
    cut = chance.choice(
        (len(whole), chance.randrange(len(whole)), chance.randrange(0, len(whole), 8))
    )

    def read(text):
        if len(text) < len(whole):
            raise RefusedError
        return rows

    return {
        "text": whole[:cut],
        "suffix": chance.choice(("", ".arrow", ".gz")),
        "qrels": QRELS,
        "read": read,
    }


FAMILIES = {"filters": filters, "tables": tables, "records": records}
if importlib.util.find_spec("pyarrow"):
    FAMILIES["streams"] = streams


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
