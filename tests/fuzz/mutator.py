"""Seeds of every format, and what is done to them: always the same for the same number."""

import random

RUN = b"".join(
    b"%d Q0 d%d %d %.3f me\n" % (query, document, document, 9 / (document + query))
    for query in range(1, 4)
    for document in range(1, 6)
)
INTERLEAVED = b"".join(
    b"q%d\t0\tdoc-%d-%d\t%d\t%d\tme\n" % (line % 3, line % 3, line, line, -line % 5)
    for line in range(12)
)
LONG_IDS = b"".join(
    b"topic-%d Q0 https://example.org/a/very/long/path/number/%d#%d 1 %de-3 a\n" % (i % 2, i, i, i)
    for i in range(6)
)
QRELS = b"1 0 d1 1\n1 0 d2 0\n1 0 d5 2\n2 0 d1 -1\n2 0 d4 1\n3 0 d3 3\nq0 0 doc-0-3 1\n"
RUNS = [RUN, INTERLEAVED, LONG_IDS]
# What stacks write: a record of each shape that has a layout of its own.
SHAPED = [
    b'{"query_id": "1", "hits": {"hits": [{"_id": "d1", "_score": 0.9}, {"_id": "d2"}]}}\n',
    b'{"id": "1", "output": [{"provenance": [{"wikipedia_id": "d1"}]}, {"answer": "x"}]}\n',
    b'{"id": "1", "output": {"retrieval_result": [{"id": "d1", "score": 0.9}]}}\n',
    b'{"query_id": "1", "source_nodes": [{"node": {"id_": "d1"}, "score": 0.9}]}\n',
    b'{"retrieved_context_ids": ["d1", "d2"], "reference_context_ids": ["d1"]}\n' * 2,
    b'{"qid": "1", "retrieved_ids": ["d1", "d2"], "retrieve_scores": [0.9, 0.5]}\n',
    b'{"mteb_model_meta": {}, "default": {"test": {"1": {"d1": 0.9}, "2": {"d1": 1}}}}',
    b'{"requests": [{"id": "1", "ratings": [{"_id": "d1", "rating": 3}]}], "metric": {}}',
    b'{"queries": {"1": "q"}, "corpus": {}, "relevant_docs": {"1": ["d1", "d2"]}}',
    b'{"1": {"contexts": [{"docid": "d1", "score": "0.9"}]}, "2": {"contexts": []}}',
    b'{\n  "1": [\n    "d1",\n    "d2"\n  ],\n  "2": [\n    "d1"\n  ]\n}\n',
]
OTHER_RUNS = [
    b"1\td1\t1\n1\td2\t2\n2\td1\t1\n",
    b"qid\tdocno\tscore\n1\td1\t2.5\n1\td2\t1\n",
    b'qid,docid,rank\n1,"d,1",1\n1,d2,2\n',
    b'{"1": {"d1": 2.5, "d2": 1e-3},\n "2": {"d\\u00e9": -3}}\n',
    b'[{"qid": 1, "hits": [{"docid": "d1", "score": 2}]}, {"qid": "2", "hits": []}]',
    b'{"query": {"qid": 1}, "candidates": [{"docid": "a", "score": 2}]}\n{"qid": 2, "docid": 3}\n',
    b'{"topic_id": "1", "references": ["d1", "d2"], "run_id": "me"}\n',
]
OTHER_QRELS = [
    b"query-id\tcorpus-id\tscore\n1\td1\t2\n1\td2\t0\n",
    b"query_id,doc_id,relevance\n1,d1,2\n",
    b'{"1": {"d1": 2, "d2": 0}}',
    b'{"query_id": "1", "doc_id": "d1", "relevance": 2}\n',
]
PIECES = [
    *(bytes([octet]) for octet in b'\n \t\r\0#"\\{}[],:.+-eE0159\x0b\x0c\x1c\x85\xa0\xc3\xff'),
    *(b"\r\n", b"\n\n", b"\xef\xbb\xbf", b"nan", b"inf", b"-Infinity", b"-0.0", b"1e400"),
    *(b"1e-400", b"4.9e-324", b"9" * 25, b"0" * 30 + b"1", b"1_0", b"0x1", b"d1", b"\xc3\xa9"),
    *(b"\\ud800", b"\\udcff", b"null", b"true", b"{}", b"[]", b'"qid"', b"score", b" " * 40),
    *(b"9007199254740993", b"0.1" + b"0" * 40 + b"1", b"-9223372036854775809", b"1 Q0 d1 1 1 me"),
]


def mutated(number, seeds):
    """Return seed and mutations number `number`: bytes, and the generator for further choices."""
    chance = random.Random(number)
    text = bytearray(chance.choice(seeds))
    for _ in range(chance.choice((0, 1, 1, 1, 2, 3, 6))):
        chance.choice(CHANGES)(text, chance)
    return bytes(text), chance


def insert(text, chance):
    place = chance.randint(0, len(text))
    text[place:place] = chance.choice(PIECES)


def replace(text, chance):
    if text:
        place = chance.randrange(len(text))
        piece = chance.choice(PIECES)
        text[place : place + chance.choice((1, len(piece)))] = piece


def flip(text, chance):
    if text:
        text[chance.randrange(len(text))] ^= 1 << chance.randrange(8)


def delete(text, chance):
    place = chance.randint(0, len(text))
    del text[place : place + chance.choice((1, 1, 2, 5, 40))]


def shorten(text, chance):
    del text[chance.randint(0, len(text)) :]


def move_lines(text, chance):
    lines = text.split(b"\n")
    chance.shuffle(lines)
    text[:] = b"\n".join(lines)


def repeat_line(text, chance):
    lines = text.split(b"\n")
    lines.insert(chance.randint(0, len(lines)), chance.choice(lines))
    text[:] = b"\n".join(lines)


def copy(text, chance):
    start, to = chance.randint(0, len(text)), chance.randint(0, len(text))
    text[to:to] = text[start : start + chance.choice((1, 3, 8, 30))]


CHANGES = [
    insert,
    insert,
    insert,
    replace,
    replace,
    flip,
    delete,
    shorten,
    move_lines,
    repeat_line,
    copy,
]
